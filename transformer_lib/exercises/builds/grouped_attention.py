"""Causal self-attention in which heads of queries share heads of keys and values. Lesson 18."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib import gpt
from transformer_lib.exercises.checking.classes import Build, Case
from transformer_lib.positions import RelativePositions, RotaryHalves, RotaryPositions


def _cases():
    torch.manual_seed(18)
    paper = torch.tensor([[[1.0, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 2]]])
    norms = {"qk_norm": True}
    pairs, halves = RotaryPositions(4, 9), RotaryHalves(4, 9)
    uses = [
        ("with one head of keys for two of queries", (4, 2, 1, RotaryPositions(2, 9)), {}, paper),
        (
            "with two heads of keys for six of queries",
            (12, 6, 2, RotaryPositions(2, 9)),
            {},
            torch.randn(2, 3, 12),
        ),
        (
            "with as many heads of keys as of queries, and as many tokens and sentences",
            (8, 2, 2, halves),
            {},
            torch.randn(2, 2, 8),
        ),
        (
            "with two heads of keys for four of queries, and another base",
            (16, 4, 2, RotaryPositions(4, 9, base=100.0)),
            {},
            torch.randn(2, 3, 16),
        ),
        (
            "with positions that turn nothing",
            (12, 4, 2, RelativePositions()),
            {},
            torch.randn(1, 4, 12),
        ),
        ("with norms on queries and keys", (8, 2, 1, pairs), norms, paper.repeat(1, 1, 2)),
    ]
    cases = [Case(about, sizes, options, (x,)) for about, sizes, options, x in uses]
    last = (24, 6, 2, halves), norms, (torch.randn(2, 5, 24),)
    return [*cases, Case("in train(), with norms on queries and keys", *last, training=True)]


_HEADS = (
    r"\g<0> A head is d_head = d_model / num_heads entries wide, and there are num_kv_heads heads of keys and as many "
    "of values: `nn.Linear(d_model, num_kv_heads * d_head)`. (The class is made with num_heads before num_kv_heads.)"
)
_QUERIES = (
    r"\g<0> A head is d_head = d_model / num_heads entries wide, and there are num_heads heads of queries: num_heads "
    "· d_head is d_model, for `q_proj` and for `out_proj`."
)
_ONE_HEAD = r"\g<0> The norm goes over the entries of one head: `nn.RMSNorm(d_head)`."
_NO_NORM = (
    "Norm: `q_norm` and `k_norm` have weights in yours where no `qk_norm` is asked for. Then they are "
    "`nn.Identity()`, which returns what it is given."
)
_UNMADE = r"Weights are missing: \1. Where `qk_norm` is True, each of the two is an `nn.RMSNorm(d_head)` of its own."
_NARROW = (
    "Split: keys and values are cut into num_heads heads in yours. They have num_kv_heads heads, each d_head wide "
    "like those of the queries: `unflatten(-1, (-1, d_head))` cuts all three rightly."
)
_EXPAND = (
    "Groups: `expand` repeats an axis of length 1 alone. `k.unsqueeze(2)` gives each head one, (batch, kv_heads, 1, "
    "tokens, d_head); then come `expand` and `flatten(1, 2)`, or `repeat_interleave` does it all."
)
_WIDE = (
    r"Positions: `turn` is handed rows of \1 entries, and a head has \2. It turns (batch, heads, tokens, d_head): "
    "project, split, and turn then, queries and keys each by themselves."
)
_CALLED = "Positions: `positions` is no function. It has a method: `self.positions.turn(q)`, and the same for k."
_OVER_ALL = (
    "Norm: what you norm is not d_head entries wide. Each head is normed by itself, all by the same "
    "norm: project, split, and norm then."
)
_CURES = (
    (r"^`[kv]_proj\.weight` has the shape .*$", _HEADS),
    (r"^`(q|out)_proj\.weight` has the shape .*$", _QUERIES),
    (r"^`[qk]_norm\.weight` has the shape .*$", _ONE_HEAD),
    (r"^`k_norm`, `q_norm` should not be there", _NO_NORM),
    (r"^Weights are missing: ((?:`[qk]_norm`(?:, )?)+) \(", _UNMADE),
    (r"^input of width 1 for d_head=2$", _NARROW),
    (r"^input of width (\d+) for d_head=(\d+)$", _WIDE),
    (r'Positions\] is missing the required "forward"|Positions. object is not callable', _CALLED),
    (r"^Given normalized_shape=", _OVER_ALL),
    (r"^shape '\[1, 3, 2, 2\]' is invalid for input of size 6$", _NARROW),
    (r"^unflatten: Provided sizes \[2, 2\] don't multiply up to the size of dim 2 \(2\)", _NARROW),
    (r"^The expanded size of the tensor \(\d+\) must match the existing size", _EXPAND),
)

GroupedAttention = Build(
    sections=("18 Heads that share", "10 Turn queries and keys"),
    task="Causal self-attention, x (batch, tokens, d_model) to the same shape, in which heads of queries share keys "
    "and values. There are num_heads heads of queries and num_kv_heads of keys and of values, all d_head = d_model / "
    "num_heads entries wide. Each head of keys serves num_heads / num_kv_heads heads of queries in a row: the first "
    "one serves the first of these. It is made as `(d_model, num_heads, num_kv_heads, positions, *, qk_norm=False)`. "
    "`positions.turn(q)` turns (batch, heads, tokens, d_head) by the positions of the tokens; queries and keys are "
    "turned, values are not. With `qk_norm` queries and keys are normed first, each by a norm of its own over the "
    "entries of a head. Scores are divided by √d_head. The parts are `q_proj`, `k_proj`, `v_proj` and `out_proj`, "
    "none with a bias, and `q_norm` and `k_norm`: `nn.RMSNorm(d_head)`, or `nn.Identity()` without `qk_norm`.",
    cases=_cases,
    hints=(
        "Keys and values are what a model keeps while it writes. So they get fewer heads, and what is shared is not "
        "the query: every head still asks a question of its own. `k_proj` and `v_proj` lead to num_kv_heads · d_head "
        "entries, fewer than d_model.",
        "Project, split, norm, turn, attend, join, project. `unflatten(-1, (-1, d_head))` cuts any of the three into "
        "as many heads as it has, and `.transpose(1, 2)` puts them in front of the tokens. Then come the norms, which "
        "are `nn.Identity()` where none are asked for, and then `self.positions.turn`, for q and for k.",
        "With two heads of keys and six of queries the keys have to stand as 0 0 0 1 1 1. `k.repeat_interleave(3, "
        "dim=1)` makes that, and `k.repeat` would make 0 1 0 1 0 1. With v the same; then "
        "`F.scaled_dot_product_attention(q, k, v, is_causal=True)` divides by √d_head and takes the softmax, and "
        "`.transpose(1, 2)` and `.flatten(2)` join.",
    ),
    passed="With num_kv_heads = num_heads it is multi-head attention. Which of your tensors would a cache keep, and "
    "how much smaller are they?",
    without=(
        "GroupedAttention",
        "MultiHeadAttention",
        "MultiheadAttention",
        "multi_head_attention",
    ),
    gaps=(
        "num_heads // num_kv_heads",
        "-1, self.d_head",
        "self.split(self.q_proj(x))",
        "self.split(self.k_proj(x))",
        "self.split(self.v_proj(x))",
        "self.positions.turn(self.q_norm(q))",
        "self.positions.turn(self.k_norm(k))",
        "k.repeat_interleave(self.group, dim=1)",
        "v.repeat_interleave(self.group, dim=1)",
        "heads.transpose(1, 2).flatten(2)",
    ),
    reference=gpt.GroupedAttention,
    twin=lambda model, x: None,
    cures=_CURES,
)


@GroupedAttention.solution
class MyGroupedAttention(nn.Module):
    """num_heads heads of queries, and num_kv_heads of keys and values, which they share."""

    def __init__(self, d_model, num_heads, num_kv_heads, positions, *, qk_norm=False):
        super().__init__()
        self.d_head = d_model // num_heads
        # So many heads of queries read the same keys and values.
        self.group = num_heads // num_kv_heads
        kv_width = num_kv_heads * self.d_head
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, kv_width, bias=False)
        self.v_proj = nn.Linear(d_model, kv_width, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        # Over the entries of one head; all heads of queries share the weights of one norm.
        self.q_norm = nn.RMSNorm(self.d_head) if qk_norm else nn.Identity()
        self.k_norm = nn.RMSNorm(self.d_head) if qk_norm else nn.Identity()
        self.positions = positions

    def split(self, x):
        # As many heads of d_head entries as there are; then the heads go in front of the tokens.
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def forward(self, x):
        q = self.split(self.q_proj(x))  # (batch, heads, tokens, d_head)
        k = self.split(self.k_proj(x))  # (batch, kv_heads, tokens, d_head)
        v = self.split(self.v_proj(x))  # (batch, kv_heads, tokens, d_head)
        # First the norm, then the turn. A value stays as it is.
        q = self.positions.turn(self.q_norm(q))  # (batch, heads, tokens, d_head)
        k = self.positions.turn(self.k_norm(k))  # (batch, kv_heads, tokens, d_head)
        # Each head of keys and values serves some heads of queries in a row.
        k = k.repeat_interleave(self.group, dim=1)  # (batch, heads, tokens, d_head)
        v = v.repeat_interleave(self.group, dim=1)  # (batch, heads, tokens, d_head)
        # It divides by √d_head itself.
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        joined = heads.transpose(1, 2).flatten(2)  # (batch, tokens, d_model)
        return self.out_proj(joined)


@GroupedAttention.solution
class _GroupByGroup(MyGroupedAttention):
    """The queries of a group lie side by side, and no key is copied."""

    def forward(self, x):
        batch, time, _ = x.shape
        q, k, v = (
            p(x).view(batch, time, -1, self.d_head) for p in (self.q_proj, self.k_proj, self.v_proj)
        )
        q, k = (self.positions.turn(z.transpose(1, 2)) for z in (self.q_norm(q), self.k_norm(k)))
        q = q.view(batch, -1, self.group, time, self.d_head)
        scores = torch.einsum("bgrqd,bgkd->bgrqk", q, k) / math.sqrt(self.d_head)
        scores = scores + torch.full((time, time), -torch.inf).triu(1)
        context = torch.einsum("bgrqk,bkgd->bqgrd", scores.softmax(-1), v)
        return self.out_proj(context.reshape(batch, time, -1))


def _square(x):
    """A mask that lets every token attend to every other, for mistakes."""
    return torch.ones(x.size(1), x.size(1), dtype=torch.bool)


def _weights(q, k, mask, *, fill=-math.inf, dim=-1):
    """Attention's weights as a student may write them, for mistakes."""
    scores = q @ k.mT / math.sqrt(q.size(-1))
    return scores.masked_fill(~mask, fill).softmax(dim=dim)


def _by_head(positions, x):
    """Turned by the number of the head, for mistakes."""
    return positions.turn(x.transpose(1, 2)).transpose(1, 2)


def _added(positions, x):
    """Turned, and added to what was not, for mistakes."""
    return x + positions.turn(x)


def _normed(positions, norm, x):
    """Normed behind the turn, for mistakes."""
    return norm(positions.turn(x))


def _fewer(q, group):
    """One head of queries for each group, for mistakes."""
    return q.unflatten(1, (-1, group)).mean(dim=2)


_MOD = (
    "Groups: in yours query head h reads key head h mod num_kv_heads, as `repeat` lays them: 0 1 0 1. They stand in a "
    "row, 0 0 1 1: `repeat_interleave`, or `unsqueeze(2)`, `expand` and `flatten`."
)
_UNSHARED = (
    "Groups: there are fewer heads of keys and values than of queries. Each of them serves num_heads / num_kv_heads "
    "heads of queries: `k.repeat_interleave(num_heads // num_kv_heads, dim=1)`, and the same with v."
)
_COUNT = "Groups: you repeat by another number. Each head is needed num_heads / num_kv_heads times."
_AXIS = "Groups: you repeat along another axis. The heads stand along axis 1, (batch, heads, tokens, d_head): `dim=1`."
_OWN = (
    "Positions: you turn with positions of your own. What is given as `positions` may have another layout or another "
    "base, and may turn nothing: `self.positions.turn`."
)
_BY_HEAD = (
    "Positions: you turn by the number of the head. `turn` counts along the last axis but one, and that has to be the "
    "tokens: first exchange the axes, (batch, heads, tokens, d_head)."
)

GroupedAttention.edits(f"""
self.positions.turn(self.q_norm(q)) → self.q_norm(q) ; self.positions.turn(self.k_norm(k)) → self.k_norm(k)
    Positions: you turn nothing, so no score depends on them: `self.positions.turn`, for queries and keys.
self.positions.turn(self.k_norm(k)) → self.k_norm(k)
self.positions.turn(self.q_norm(q)) → self.q_norm(q)
    Positions: you turn only one of queries and keys. Their product knows the distance if both are.
v = v.rep → v = self.positions.turn(v).rep
    Positions: you turn the values too. What a token contributes should not depend on its position.
self.positions.turn( → _added(self.positions,
    Positions: you add what is turned to what is not. A query that is turned takes the place of the query.
k = k. → q, k = self.positions.turn(q), self.positions.turn(k) ⏎ k = k.
    Positions: you turn twice. Once is enough.
k = k. → q, k = self.positions.turn(q, k) ⏎ k = k.
    Positions: `turn` takes one tensor. Queries and keys are turned one after the other.
heads.transpose(1, 2).flatten(2) → self.positions.turn(heads).transpose(1, 2).flatten(2)
    Positions: you turn what the heads have gathered. Queries and keys are turned, before they meet.
self.positions.turn( → self.positions(
    {_CALLED}
self.positions.turn( → RotaryPositions(q.size(-1), x.size(1)).turn(
self.positions.turn( → RotaryPositions(2 * (self.d_head // 2), 9).turn(
self.positions.turn( → RotaryHalves(q.size(-1), x.size(1)).turn(
self.positions.turn( → type(self.positions)(q.size(-1), x.size(1)).turn(
    {_OWN}
self.positions.turn( → _by_head(self.positions,
self.d_head)).transpose(1, 2) → self.d_head)) ; k = k.rep → q, k, v = (z.transpose(1, 2) for z in (q, k, v)) ⏎ k = k.rep
    {_BY_HEAD}
turn(self.q_norm(q)) → turn(self.q_norm(q), 1)
turn(self.k_norm(k)) → turn(self.k_norm(k), 1)
    Positions: the first query and the first key stand at the same position. One of the two is a position further in
    yours.
self.positions.turn( → _normed(self.positions, ; self.q_norm(q) → self.q_norm, q ; self.k_norm(k) → self.k_norm, k
positions.turn(self.q_norm(q)) → q_norm(self.positions.turn(q))
positions.turn(self.k_norm(k)) → k_norm(self.positions.turn(k))
    Norm: it comes behind the turn in yours. The norm has a weight for each entry, and the turn mixes pairs of entries:
    first the norm, then the turn.
self.q_norm(q) → q ; self.k_norm(k) → k
    Norm: you make `q_norm` and `k_norm`, and call neither. They stand between split and turn.
self.q_norm(q) → q
self.k_norm(k) → k
    Norm: only one of queries and keys is normed in yours. Both are, each by a norm of its own.
self.k_norm(k) → self.q_norm(k)
self.q_norm(q) → self.k_norm(q)
    Norm: one serves queries and keys in yours. Each has its own, `q_norm` and `k_norm`.
self.q_norm(q) → self.k_norm(q) ; self.k_norm(k) → self.q_norm(k)
    Norm: you have exchanged the two. `q_norm` is for the queries, `k_norm` for the keys.
self.q_norm(q) → self.q_norm(self.q_norm(q)) ; self.k_norm(k) → self.k_norm(self.k_norm(k))
    Norm: you norm twice. Once is enough.
v = v.rep → v = self.k_norm(v).rep
    Norm: you norm the values too. Norms keep scores from growing, and values make no scores.
self.q_norm(q) → F.normalize(q, dim=-1) ; self.k_norm(k) → F.normalize(k, dim=-1)
self.q_norm(q) → F.rms_norm(q, q.shape[-1:]) ; self.k_norm(k) → F.rms_norm(k, k.shape[-1:])
k = k. → q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1) ⏎ k = k.
k = k. → q, k = F.rms_norm(q, q.shape[-1:]), F.rms_norm(k, k.shape[-1:]) ⏎ k = k.
    Norm: you norm queries and keys by hand, also where no `qk_norm` is asked for. `self.q_norm(q)` and
    `self.k_norm(k)` do what `qk_norm` says, and nothing else.
nn.RMSNorm(self.d_head) → nn.LayerNorm(self.d_head, bias=False)
    Norm: yours is a LayerNorm, which takes the mean off first. RMSNorm divides by the root of the mean square, and
    that is all: `nn.RMSNorm`.
self.split(self.q_proj(x)) → self.split(self.q_norm(self.q_proj(x))) ; turn(self.q_norm(q)) → turn(q)
self.q_proj(x) → self.q_proj(self.q_norm(x))
    {_OVER_ALL}
self.d_head) if qk_norm else nn.Identity() → self.d_head)
    {_NO_NORM}
repeat_interleave(self.group, dim=1) → repeat(1, self.group, 1, 1)
    {_MOD}
k.repeat_interleave(self.group, dim=1) → k.repeat(1, self.group, 1, 1)
v.repeat_interleave(self.group, dim=1) → v.repeat(1, self.group, 1, 1)
    Groups: keys and values are repeated in two orders in yours. Both by `repeat_interleave`: 0 0 1 1.
self.group, dim=1) → self.group, dim=1).flip(1)
    Groups: the heads of keys stand in the opposite order in yours. The first one serves the first heads of queries.
k = k.repeat_interleave(self.group, dim=1) → ; v = v.repeat_interleave(self.group, dim=1) →
k = k.repeat_interleave(self.group, dim=1) →
v = v.repeat_interleave(self.group, dim=1) →
q, k, v, is_causal=True) → q, k[:, ::self.group], v[:, ::self.group], is_causal=True)
    {_UNSHARED}
k = k.rep → q = q.rep ; v = v.repeat_interleave(self.group, dim=1) →
k.repeat_interleave(self.group, dim=1) → k ; v = v. → q = q.repeat_interleave(self.group, dim=1) ⏎ v = v.
    Groups: you repeat the queries. There are enough of them; keys and values are repeated.
k = k.repeat_interleave(self.group, dim=1) → q = _fewer(q, self.group) ; v = v.repeat_interleave(self.group, dim=1) →
    Groups: you make fewer queries. Each of the num_heads heads asks a question of its own; keys and values are what is
    shared.
self.group, dim=1 → self.group, dim=0
self.group, dim=1 → self.group, dim=2
self.group, dim=1 → self.group, dim=-1
self.group, dim=1 → self.group
    {_AXIS}
group = num_heads // num_kv_heads → group = num_heads
group = num_heads // num_kv_heads → group = num_kv_heads
group = num_heads // num_kv_heads → group = 2
group = num_heads // num_kv_heads → group = num_kv_heads // num_heads
group = num_heads // num_kv_heads → group = d_model // num_heads
group = num_heads // num_kv_heads → group = num_heads - num_kv_heads + 1
    {_COUNT}
q, k, v, is_causal=True) → q, k[:, :1].expand_as(q), v[:, :1].expand_as(q), is_causal=True)
    Groups: in yours all heads of queries read the first head of keys. Each group has a head of its own.
group = num_heads // num_kv_heads → group = num_heads / num_kv_heads
    Groups: `/` gives a float, 2.0, and a number of heads must be whole: `//`.
x.unflatten(-1, (-1, self.d_head)) → x.unflatten(-1, (self.q_proj.out_features // self.d_head, -1))
    {_NARROW}
kv_width = num_kv_heads * self.d_head → kv_width = d_model
    `k_proj.weight` has the shape (4, 4); it should be (2, 4). A head is d_head = d_model / num_heads entries wide, and
    there are num_kv_heads heads of keys and as many of values: `nn.Linear(d_model, num_kv_heads * d_head)`. (The class
    is made with num_heads before num_kv_heads.)
, is_causal=True →
    Attention: yours is not causal, so a token attends to what comes later: `is_causal=True`.
is_causal=True → is_causal=self.training
is_causal=True → is_causal=not self.training
    Attention: yours is causal in one mode alone. It is causal in train() and in eval().
is_causal=True → attn_mask=_square(x).triu()
is_causal=True → attn_mask=_square(x).triu(1)
F.scaled_dot_product_attention(q, k, v, is_causal=True) → _weights(q, k, _square(x).triu(1)) @ v
    Attention: your mask is the wrong way round. True means may attend, and a token attends to itself and to what comes
    before it.
is_causal=True → attn_mask=_square(x).tril(-1)
F.scaled_dot_product_attention(q, k, v, is_causal=True) → _weights(q, k, _square(x).tril(-1)) @ v
    Attention: your diagonal is masked out, so the first token has nothing to attend to. A token may attend to itself.
is_causal=True → attn_mask=_square(x).tril().float()
is_causal=True → attn_mask=_square(x).triu(1).float()
    Attention: your mask is a table of floats, which is added to the scores. A mask is True and False:
    `is_causal=True`.
F.scaled_dot_product_attention(q, k, v, is_causal=True) → _weights(q, k, _square(x)).tril() @ v
    Attention: you take the later tokens off behind the softmax, so the weights no longer add up to 1. Mask the scores,
    before it, or let `is_causal=True` do so.
F.scaled_dot_product_attention(q, k, v, is_causal=True) → _weights(q, k, _square(x).tril(), fill=0.0) @ v
    Attention: a score of 0 is not an impossible key, since e⁰ = 1. A score that is masked out is −∞.
attention(q, k, v → attention(q / q.size(-1) ** 0.5, k, v
    Attention: you divide by √d_head twice. `F.scaled_dot_product_attention` does it itself.
is_causal=True → is_causal=True, scale=1.0
    Attention: you do not divide the scores by √d_head.
is_causal=True → is_causal=True, scale=self.d_head ** 0.5
    Attention: you multiply the scores by √d_head. They are to be divided by it.
F.scaled_dot_product_attention(q, k, v, is_causal=True) → _weights(q, k, _square(x).tril(), dim=-2) @ v
F.scaled_dot_product_attention(q, k, v, is_causal=True) → _weights(q, k, _square(x).tril(), dim=1) @ v
    Attention: your softmax runs over another axis. Over the keys, the last axis, the weights add up to 1.
F.scaled_dot_product_attention(q, k, v, is_causal=True) → (q @ k.mT / q.size(-1) ** 0.5).tril() @ v
F.scaled_dot_product_attention(q, k, v, is_causal=True) → (q @ k.mT / q.size(-1) ** 0.5) @ v
    Attention: there is no softmax in yours. Scores are not weights.
is_causal=True → is_causal=True, scale=x.size(-1) ** -0.5
    Attention: you divide by √d_model. Each score is a sum over the entries of one head: √d_head.
is_causal=True → is_causal=True, scale=self.k_proj.out_features ** -0.5
    Attention: you divide by the root of the width of all heads. Each score is a sum over the entries of one head:
    √d_head.
is_causal=True → is_causal=True, scale=k.size(1) ** -0.5
is_causal=True → is_causal=True, scale=x.size(1) ** -0.5
    Attention: you divide by the root of the number of heads or of tokens. Each score is a sum over the entries of one
    head: √d_head.
attention(q, k, v → attention(k, q, v
    Attention: in yours queries and keys are exchanged.
attention(q, k, v → attention(q, v, k
    Attention: in yours keys and values are exchanged.
attention(q, k, v → attention(q, k, k
    Attention: your weights add up keys. They add up the values.
attention(q, k, v → attention(v, k, v
attention(q, k, v → attention(q, q, v
    Attention: in yours queries meet queries, or values keys. Queries meet keys: (q, k, v).
self.v_proj(x) → self.k_proj(x)
self.k_proj(x) → self.v_proj(x)
    Projection: in yours keys and values go through one matrix. Each has its own: `k_proj`, `v_proj`.
self.k_proj(x) → self.v_proj(x) ; self.v_proj(x) → self.k_proj(x)
    Projection: `k_proj` and `v_proj` are exchanged.
self.split(self.k_proj(x)) → self.split(self.q_proj(x))
self.split(self.v_proj(x)) → self.split(self.q_proj(x))
    Projection: in yours keys or values go through `q_proj`. Each has its own matrix: `k_proj`, `v_proj`.
self.split(self.q_proj(x)) → self.split(x)
self.split(self.k_proj(x)) → self.split(x)
self.split(self.v_proj(x)) → self.split(x)
self.split(self.k_proj(x)) → self.split(x[..., : self.k_proj.out_features])
    Projection: you do not project one of the three at all. Each has its own matrix: `q_proj`, `k_proj`, `v_proj`.
x.unflatten(-1, (-1, self.d_head)).transpose(1, 2) → x.reshape(len(x), -1, x.size(1), self.d_head)
    Split: you cut the sentence into pieces, not the width. Cut the last axis alone, `unflatten(-1, (-1, d_head))`,
    then exchange two axes.
x.unflatten(-1, (-1, self.d_head)).transpose(1, 2) → x.unflatten(-1, (self.d_head, -1)).permute(0, 3, 1, 2)
    Split: your head 0 takes entries with gaps between them. It should take the first d_head entries in a row.
heads.transpose(1, 2).flatten(2) → heads.reshape(x.shape)
    Join: you do not exchange axes 1 and 2 back before you lay the heads side by side, so each row holds pieces of
    several tokens.
heads.transpose(1, 2).flatten(2) → heads.transpose(1, 2).view(x.shape)
    Join: after `transpose` the entries lie in memory in another order than the axes, and `view` refuses. `reshape` and
    `flatten` copy them.
heads.transpose(1, 2).flatten(2) → heads
heads.transpose(1, 2).flatten(2) → heads.transpose(1, 2)
heads.transpose(1, 2).flatten(2) → heads.mean(dim=1)
heads.transpose(1, 2).flatten(2) → heads[:, 0]
    Join: what goes into `out_proj` is d_head entries wide. The heads stand side by side, each keeps its own part of
    the width: exchange axes 1 and 2, then `flatten(2)`.
heads.transpose(1, 2).flatten(2) → heads.permute(0, 2, 3, 1).flatten(2)
    Join: the heads are interleaved. Head 0 gives the first d_head entries of a row.
self.out_proj(joined) → joined
    Join: in yours `out_proj` is missing; it mixes what the heads have found.
self.out_proj(joined) → x + self.out_proj(joined)
    Residual: yours adds x. The block around it does that.
""")
