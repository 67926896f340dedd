"""Multi-head attention, whole. Lesson 09."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib import attention
from transformer_lib.exercises.checking.classes import Build, Case
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.lab import twins
from transformer_lib.masks import causal_mask, masked_softmax


def _cases():
    torch.manual_seed(9)
    query, key, value = torch.randn(2, 5, 12), torch.randn(2, 7, 12), torch.randn(2, 7, 12)
    x, y = torch.randn(3, 4, 10), torch.randn(3, 6, 10)
    padding = (torch.arange(7) < torch.tensor([4, 7])[:, None])[:, None, None, :]
    blind = torch.ones(2, 1, 5, 7, dtype=torch.bool)
    blind[1, 0, 2] = False
    per_head = torch.rand(2, 3, 5, 7) < 0.7
    per_head[..., 0] = True
    one, other, third = (torch.randint(-1, 3, (1, n, 4)).float() for n in (2, 3, 3))
    some = torch.tensor([[True, True, False], [True, False, False]])
    none = torch.tensor([[True, True, False], [False, False, False]])
    square = torch.randn(3, 3, 6)
    late = torch.tensor([[True, False, True], [True, True, False], [False, False, False]])
    uses = [
        ("without a mask", (4, 2), (one, other, third)),
        ("with a mask", (4, 2), (one, other, third, some)),
        ("with a row that may attend to nothing", (4, 2), (one, other, third, none)),
        (
            "with as many heads as tokens and sentences",
            (6, 3),
            (square, square.flip(1), square.flip(2)),
        ),
        (
            "with as many heads as tokens, and a row that may attend to nothing",
            (6, 3),
            (square, square.flip(1), square.flip(2), late),
        ),
        ("in another size", (12, 3), (query, key, value)),
        ("with two heads", (10, 2), (x, y, y)),
        ("with a causal mask", (10, 2), (x, x, x, causal_mask(4))),
        ("with a padding mask", (12, 3), (query, key, value, padding)),
        ("with a row that may attend to nothing", (12, 3), (query, key, value, blind)),
        ("with a mask for each head", (12, 3), (query, key, value, per_head)),
    ]
    cases = [Case(about, sizes, {}, inputs) for about, sizes, inputs in uses]
    return [*cases, Case("in train()", (10, 2), {}, (x, x, x, causal_mask(4)), training=True)]


def _twin(model, query, key, value, mask=None):
    if mask is None:
        return twins.attention(model)(query, key, value, need_weights=False)[0]
    hidden = ~mask.expand(len(query), model.num_heads, query.size(1), key.size(1))
    if hidden.all(dim=-1).any():
        return None  # torch gives NaN
    return twins.attention(model)(query, key, value, attn_mask=hidden.flatten(0, 1))[0]


MultiHeadAttention = Build(
    sections=(
        "09 Project: where the heads meet",
        "09 Split: cut the width, not the sentence",
    ),
    task="Multi-head attention: project, split, attend, join, project. `query` (batch, queries, d_model), "
    "`key` and `value` (batch, keys, d_model); `mask` broadcasts to (batch, heads, queries, keys), True = "
    "may attend. A row that may attend to nothing has weights of 0, as in lesson 03. It returns the output "
    "alone, (batch, queries, d_model), the same in train() and in eval(). Call the four projections "
    "`q_proj`, `k_proj`, `v_proj` and `out_proj`, each `nn.Linear(d_model, d_model)`.",
    cases=_cases,
    hints=(
        "Queries are made of `query`, keys of `key` and values of `value`, each by its own projection. Then "
        "the width is cut into num_heads parts of d_head entries, because each head compares the tokens in a "
        "way of its own. Attention works on the last two axes, (tokens, d_head); the axis of the heads has to "
        "stand in front of them, like a batch.",
        "Split: `x.unflatten(-1, (num_heads, -1))` cuts the width, (batch, tokens, heads, d_head), and "
        "`.transpose(1, 2)` exchanges two axes, (batch, heads, tokens, d_head). Then come the lines of "
        "lesson 04: scores divided by the root of d_head, `masked_softmax(scores, mask)`, weights times "
        "values. The mask broadcasts to the scores as it is, without another axis, and it may be None.",
        "Join is split backwards: `.transpose(1, 2)` puts the heads of one token side by side again, and "
        "`.flatten(2)` makes one width of them. `out_proj` then mixes what the heads found.",
    ),
    passed="Output, gradients and masks are those of the library and of `nn.MultiheadAttention`. Which of "
    "your lines mixes positions, and which mixes heads?",
    without=("MultiHeadAttention", "MultiheadAttention", "multi_head_attention"),
    gaps=(
        "self.num_heads, -1",
        "x.transpose(1, 2)",
        "self.q_proj(query)",
        "self.k_proj(key)",
        "self.v_proj(value)",
        "q @ k.mT",
        "q.size(-1)",
        "weights @ v",
        "heads.transpose(1, 2).flatten(2)",
    ),
    reference=attention.MultiHeadAttention,
    twin=_twin,
)


@MultiHeadAttention.solution
class MyMultiHeadAttention(nn.Module):
    """num_heads attentions side by side, each on its own part of the width."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        # One matrix serves all heads: each reads its own d_head of the d_model columns.
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def split(self, x):
        # Cut the width, the last axis alone: head 0 gets the first d_head entries in a row.
        x = x.unflatten(-1, (self.num_heads, -1))  # (batch, tokens, heads, d_head)
        # Attention works on the last two axes, so the heads go in front of the tokens.
        return x.transpose(1, 2)  # (batch, heads, tokens, d_head)

    def forward(self, query, key, value, mask=None):
        q = self.split(self.q_proj(query))  # (batch, heads, queries, d_head)
        k = self.split(self.k_proj(key))  # (batch, heads, keys, d_head)
        v = self.split(self.v_proj(value))  # (batch, heads, keys, d_head)
        # Lesson 04, in all heads at once.
        scores = q @ k.mT / math.sqrt(q.size(-1))  # (batch, heads, queries, keys)
        weights = masked_softmax(scores, mask)  # (batch, heads, queries, keys)
        heads = weights @ v  # (batch, heads, queries, d_head)
        # Join is split backwards: exchange the axes, then lay the heads side by side.
        joined = heads.transpose(1, 2).flatten(2)  # (batch, queries, d_model)
        # Only here do the heads meet.
        return self.out_proj(joined)  # (batch, queries, d_model)


@MultiHeadAttention.solution
class _HeadByHead(MyMultiHeadAttention):
    def forward(self, query, key, value, mask=None):
        q, k, v = (
            project(x).chunk(self.num_heads, dim=-1)
            for project, x in ((self.q_proj, query), (self.k_proj, key), (self.v_proj, value))
        )
        heads = []
        for head, (q_h, k_h, v_h) in enumerate(zip(q, k, v, strict=True)):
            per_head = mask is not None and mask.dim() == 4
            own = mask[:, head % mask.size(1)] if per_head else mask
            heads.append(F.scaled_dot_product_attention(q_h, k_h, v_h, own))
        return self.out_proj(torch.cat(heads, dim=-1))


def _filled(scores, mask, fill=float("-inf")):
    """What the edits begin with that do not call `masked_softmax`."""
    return scores if mask is None else scores.masked_fill(~mask, fill)


def _causal(scores, mask):
    """Causal besides what the mask says."""
    causal = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return causal if mask is None else causal & mask


def _looped(scores, v, mask):
    """Head by head, with the same mask, all its axes, for each."""
    pairs = zip(scores.unbind(1), v.unbind(1), strict=True)
    return torch.cat([masked_softmax(s, mask) @ u for s, u in pairs], dim=-1)


MultiHeadAttention.edits("""
super().__init__() → pass
    `super().__init__()` is missing. It is the first line of `__init__`, because it makes room for the layers
    that follow.
self.k_proj(key) → self.q_proj(key)
    Projection: the keys go through `q_proj`. Each of the three has its own: `k_proj(key)`.
self.q_proj(query) → self.k_proj(query)
    Projection: `q_proj` is never called, the queries go through `k_proj`. Each of the three has its own:
    `q_proj(query)`.
self.v_proj(value) → self.q_proj(value)
    Projection: the values go through `q_proj`. Each of the three has its own: `v_proj(value)`.
self.v_proj(value) → self.k_proj(value)
    Projection: the values go through `k_proj`. Each of the three has its own: `v_proj(value)`.
self.k_proj(key) → self.v_proj(key) ; self.v_proj(value) → self.k_proj(value)
    Projection: `k_proj` and `v_proj` are exchanged.
self.q_proj(query) → self.k_proj(query) ; self.k_proj(key) → self.q_proj(key)
    Projection: `q_proj` and `k_proj` are exchanged.
self.k_proj(key) → self.k_proj(query)
    Projection: the keys are projected from `query`. They come from `key`, which may be another sequence.
self.v_proj(value) → self.v_proj(query)
    Projection: the values are projected from `query`. They come from `value`, which may be another sequence.
self.k_proj(key) → self.k_proj(value) ; self.v_proj(value) → self.v_proj(key)
    Projection: the keys are projected from `value` and the values from `key`. Exchange the two.
self.q_proj(query) → self.q_proj(key) ; self.k_proj(key) → self.k_proj(query)
    Projection: the queries are projected from `key` and the keys from `query`. Exchange the two.
self.k_proj(key) → self.k_proj(value)
    Projection: the keys are projected from `value`. They come from `key`.
self.v_proj(value) → self.v_proj(key)
    Projection: the values are projected from `key`. They come from `value`.
self.k_proj(key) → self.k_proj(query) ; self.v_proj(value) → self.v_proj(query)
    Projection: queries, keys and values all come from `query`. That is self-attention alone; here key and
    value may be another sequence.
self.q_proj(query) → query
self.k_proj(key) → key
self.v_proj(value) → value
    Projection: one of the three is not projected at all: `self.q_proj(query)`, and likewise for key and
    value.
x.unflatten(-1, (self.num_heads, -1)) → x ; x.transpose(1, 2) → x.reshape(len(x), self.num_heads, x.size(1), -1)
    Split: you cut the sentence into pieces, not the width. Cut the last axis alone,
    `unflatten(-1, (num_heads, -1))`, then exchange two axes.
(self.num_heads, -1) → (-1, self.num_heads) ; x.transpose(1, 2) → x.permute(0, 3, 1, 2)
    Split: your head 0 takes every num_heads-th entry of the width; it should take the first d_head in a
    row. (num_heads, d_head), in this order.
return x.transpose(1, 2) → return x ; heads.transpose(1, 2).flatten(2) → heads.flatten(2)
    Split: the width is cut, but the axes of heads and tokens are not exchanged. So the heads of one token
    attend to each other, and no token attends to another.
(self.num_heads, -1) → (-1, self.num_heads)
    Split: you made heads of width num_heads. num_heads says how many there are.
(self.num_heads, -1) → (self.num_heads, x.size(-1) / self.num_heads)
x.unflatten(-1, (self.num_heads, -1)) → x.view(len(x), x.size(1), self.num_heads, x.size(-1) / self.num_heads)
x.unflatten(-1, (self.num_heads, -1)) → x.reshape(len(x), x.size(1), self.num_heads, x.size(-1) / self.num_heads)
    Split: `/` gives a float, 2.0, and a width must be whole: use `//`.
x.unflatten(-1, (self.num_heads, -1)) → x ; x.transpose(1, 2) → x[:, None]
x.unflatten(-1, (self.num_heads, -1)) → x ; return x.transpose(1, 2) → return x ; .transpose(1, 2).flatten(2) →
    Split: there is only one head. Cut the width into num_heads parts before you attend.
(self.num_heads, -1) → (2, -1)
(self.num_heads, -1) → (2, -1) ; math.sqrt(q.size(-1)) → math.sqrt(query.size(-1) // self.num_heads)
(self.num_heads, -1) → (4, -1)
(self.num_heads, -1) → (4, -1) ; math.sqrt(q.size(-1)) → math.sqrt(query.size(-1) // self.num_heads)
    Split: you wrote the number of heads into the class. It is `self.num_heads`.
self.split(self.k_proj(key)) → self.k_proj(key).view(len(key), query.size(1), self.num_heads, -1).transpose(1, 2)
self.split(self.k_proj(key)) → self.k_proj(key).view(q.transpose(1, 2).shape).transpose(1, 2)
    Split: keys and values have a length of their own; you split them with that of the query.
 / math.sqrt(q.size(-1)) →
    Scale: the scores are not divided by √d_head.
/ math.sqrt(q.size(-1)) → * math.sqrt(q.size(-1))
    Scale: the scores are multiplied by √d_head. They are to be divided by it.
 / math.sqrt(q.size(-1)) → ; heads = weights @ v → heads = weights @ v / math.sqrt(q.size(-1))
    Scale: √d_head divides what comes behind the softmax. It belongs on the scores, before the softmax.
math.sqrt(q.size(-1)) → math.sqrt(query.size(-1))
    Scale: you divide by √d_model. Each score is a sum over the d_head entries of one head: √d_head.
math.sqrt(q.size(-1)) → q.size(-1)
    Scale: in yours the scores are divided by d_head in all. Either the root is missing, or you divide by
    √d_head twice: `scaled_dot_product_attention` does it already.
math.sqrt(q.size(-1)) → math.sqrt(self.num_heads)
    Scale: you divide by √num_heads. Each score is a sum over d_head entries: √d_head.
math.sqrt(q.size(-1)) → math.sqrt(k.size(-2))
math.sqrt(q.size(-1)) → math.sqrt(q.size(-2))
    Scale: you divide by the root of a length. Each score is a sum over d_head entries: √d_head.
q @ k.mT → q @ k
    Score: in `q @ k` a row of q meets a column of k. A key is a row: turn the last two axes, `q @ k.mT`.
q @ k.mT → q @ k.permute(3, 2, 1, 0)
    Score: `k.T` turns all four axes round, batch and heads too. `k.mT` exchanges the last two alone.
q @ k.mT → q @ k.transpose(1, 2)
    Score: axes 1 and 2 of k are heads and tokens. The last two are to be exchanged: `k.mT`, or
    `k.transpose(-2, -1)`.
q @ k.mT → k @ q.mT
    Score: your rows are keys and your columns queries. Each query has a row: `q @ k.mT`.
q @ k.mT → q @ v.mT
    Score: you compare the queries with the values. They are compared with the keys: `q @ k.mT`.
weights @ v → weights @ k
    Sum: the weights come from queries and keys, but what they add up are the values: `weights @ v`.
masked_softmax(scores, mask) → masked_softmax(scores.mT, None if mask is None else mask.mT).mT
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=-2)
masked_softmax(scores, mask) → _filled(scores, mask, -1e9).softmax(dim=-2)
    Softmax: yours runs over the queries. Over the keys, the last axis, the weights add up to 1.
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=1)
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=1).nan_to_num()
masked_softmax(scores, mask) → _filled(scores, mask, -1e9).softmax(dim=1)
    Softmax: yours runs over the heads. Over the keys, the last axis, the weights add up to 1.
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=0)
    Softmax: yours runs over the sentences. Over the keys, the last axis, the weights add up to 1.
masked_softmax(scores, mask) → _filled(scores, mask, 0.0)
masked_softmax(scores, mask) → _filled(scores, mask)
masked_softmax(scores, mask) → _filled(scores, mask, -1e9)
    Softmax: there is none. Scores are not weights.
masked_softmax(scores, mask) → masked_softmax(scores, mask).softmax(dim=-1)
masked_softmax(scores, mask) → masked_softmax(scores.softmax(dim=-1), mask)
    Softmax: there are two, one after the other. `masked_softmax` takes scores and gives weights.
masked_softmax(scores, mask) → masked_softmax(mask, scores)
    Mask: scores and mask are exchanged. The scores come first, `masked_softmax(scores, mask)`.
masked_softmax(scores, mask) → masked_softmax(scores, _causal(scores, mask))
    Mask: yours is always causal. A query may attend to every key that `mask` allows, also to a later one.
masked_softmax(scores, mask) → masked_softmax(scores, None)
    Mask: yours is never used. Without a mask all is right.
masked_softmax(scores, mask) → masked_softmax(scores, None if mask is None else ~mask)
masked_softmax(scores, mask) → _filled(scores, None if mask is None else ~mask).softmax(dim=-1)
masked_softmax(scores, mask) → _filled(scores, None if mask is None else ~mask, -1e9).softmax(dim=-1)
    Mask: yours is the wrong way round. True means that the query may attend to that key.
masked_softmax(scores, mask) → masked_softmax(scores, None if mask is None else mask.unsqueeze(1))
masked_softmax(scores, mask) → masked_softmax(scores, None if mask is None else mask[:, None, None])
masked_softmax(scores, mask) → _filled(scores, None if mask is None else mask.unsqueeze(1)).softmax(dim=-1)
masked_softmax(scores, mask) → _filled(scores, None if mask is None else mask.unsqueeze(1), -1e9).softmax(dim=-1)
    Mask: you insert an axis. It broadcasts to (batch, heads, queries, keys) as it is; with one axis more, the
    rows of a mask (queries, keys) meet the heads.
masked_softmax(scores, mask) → _filled(scores, mask).softmax(dim=-1)
    Mask: a row that may attend to nothing is NaN in yours. It must be 0 before `out_proj`, as
    `masked_softmax` makes it.
masked_softmax(scores, mask) → _filled(scores, mask, -1e9).softmax(dim=-1)
    Mask: a row that may attend to nothing averages all values in yours. With any finite fill all
    scores of that row are equal; fill with −∞, and the NaN after it with 0: `masked_softmax`.
masked_softmax(scores, mask) → scores.softmax(dim=-1) * (1 if mask is None else mask)
    Mask: you set the weights that are masked out to 0 after the softmax. The others no longer add up to 1:
    mask the scores, before it.
masked_softmax(scores, mask) → _filled(scores.softmax(dim=-1), mask)
    Mask: you set weights to −∞. It is the score that becomes −∞, before the softmax; its weight then comes
    out as 0.
masked_softmax(scores, mask) → _filled(scores, mask, 0.0).softmax(dim=-1)
    Mask: a score of 0 is not an impossible key, since e⁰ = 1. A score that is masked out is −∞.
masked_softmax(scores, mask) → masked_softmax(scores + (0 if mask is None else mask), None)
    Mask: True counts as 1 in a sum, so you add 1 to the allowed scores. `masked_softmax(scores, mask)`
    takes the mask as it is.
masked_softmax(scores, mask) → scores.masked_fill(~mask, float("-inf")).softmax(dim=-1).nan_to_num()
masked_softmax(scores, mask) → scores.masked_fill(mask == 0, float("-inf")).softmax(dim=-1)
masked_softmax(scores, mask) → scores.masked_fill(~mask, float("-inf")).softmax(dim=-1)
    Mask: without a mask yours fails, because `mask` is then None. `masked_softmax` takes None too; else ask
    `if mask is not None` first.
masked_softmax(scores, mask) → masked_softmax(scores, mask if mask else None)
    Mask: `if mask:` asks for one truth value, and a mask has many: `if mask is not None:`.
masked_softmax(scores, mask) → masked_softmax(scores, None if mask is None else mask[None])
masked_softmax(scores, mask) → masked_softmax(scores, None if mask is None else mask[None, None])
    Mask: you put an axis in front. A mask of four axes has five then and no longer fits (batch, heads, queries,
    keys); it broadcasts as it is.
heads.transpose(1, 2).flatten(2) → _looped(scores, v, mask)
    Mask: it has an axis for the heads, and in a loop each head needs its own part of it. Without a loop, with
    all heads on an axis of their own, the mask fits as it is.
heads.transpose(1, 2).flatten(2) → heads.reshape(len(query), query.size(1), -1)
    Join: axes 1 and 2 are not exchanged back before the heads are laid side by side, so each row holds
    pieces of several tokens.
heads.transpose(1, 2).flatten(2) → heads.transpose(1, 2).view(len(query), query.size(1), -1)
    Join: after `transpose` the entries lie in memory in another order than the axes, and `view` refuses.
    `reshape` and `flatten` copy them.
heads.transpose(1, 2).flatten(2) → heads.transpose(2, 3).flatten(2)
heads.transpose(1, 2).flatten(2) → heads.transpose(2, 3).reshape(len(query), query.size(1), -1)
    Join: you exchange tokens and entries, axes 2 and 3. Heads and tokens are to be exchanged, axes 1 and 2.
heads.transpose(1, 2).flatten(2) → heads.permute(0, 2, 3, 1).flatten(2)
    Join: the heads are interleaved. Head 0 gives the first d_head entries of a row, head 1 the next.
heads.transpose(1, 2).flatten(2) → heads.flip(1).transpose(1, 2).flatten(2)
    Join: the heads are in the opposite order. Head 0 gives the first d_head entries of a row.
self.split(self.q_proj(query)) → self.q_proj(self.split(query))
heads.transpose(1, 2).flatten(2) → heads
heads.transpose(1, 2).flatten(2) → heads.transpose(1, 2)
    Split or join: the rows of one head, d_head entries wide, go into a projection, and it wants d_model. So
    project the whole vectors before you split them, and lay the heads side by side before `out_proj`.
heads.transpose(1, 2).flatten(2) → heads.mean(dim=1)
    Join: the axis of the heads is gone, so a row has d_head entries alone. Heads are neither averaged nor
    added up, and none is picked: they stand side by side, each keeps its own part of the width.
self.out_proj(joined) → joined
    `out_proj` is missing: after the join the heads still have to be mixed.
self.out_proj(joined) → self.out_proj(self.out_proj(joined))
    `out_proj` is applied twice. Once is enough.
self.out_proj(joined) → self.out_proj(joined) + query
    There is a residual in yours: the query is added. That comes in the layer around it, in lesson 11.
self.out_proj(joined) → self.out_proj(joined).relu()
    There is a ReLU behind `out_proj`. Attention ends with the projection.
masked_softmax(scores, mask) → masked_softmax(scores, mask if self.training else None)
    In train() yours does something else than in eval(). Masks never depend on the mode, and this class has
    no dropout.
""")


def _one_sentence():
    torch.manual_seed(10)
    paper = (  # d_head is 1, so nothing has to be divided
        torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        torch.tensor([[1.0, 0.0], [1.0, 2.0]]),
        torch.tensor([[0.0, 1.0], [1.0, 0.0]]),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
        torch.tensor([[1.0, 0.0], [1.0, 1.0]]),
        2,
    )
    wholes = torch.randint(2, (2, 4)), *torch.randint(-1, 2, (3, 4, 2)), torch.randint(2, (2, 4)), 2
    fewer = *(x.float() for x in wholes[:-1]), 2  # a width of 2, so d_head is 1
    twos = torch.randn(2, 4), *torch.randn(4, 4, 4), 2
    threes = torch.randn(3, 3), *torch.randn(4, 3, 3), 3
    wider = torch.randn(5, 4), *torch.randn(3, 4, 6), torch.randn(6, 4), 2  # d_head is 3
    narrower = torch.randn(3, 6), *torch.randn(3, 6, 4), torch.randn(4, 6), 2  # d_head is 2
    many = torch.randn(2, 4), *torch.randn(4, 4, 4), 4  # more heads than tokens
    return [paper, fewer, twos, threes, many, wider, narrower]


multi_head_attention_for_one = Exercise(
    sections=(
        "09 Project: where the heads meet",
        "09 Split: cut the width, not the sentence",
    ),
    task="Multi-head attention within one sentence, without a batch and without a mask. x (tokens, d_model); "
    "`W_q`, `W_k` and `W_v` (d_model, width), `W_o` (width, d_model); they stand on the right, `x @ W_q`. "
    "Each head has d_head = width / num_heads columns of what is projected, head 0 the first, and divides by "
    "the root of d_head. Returns (tokens, d_model).",
    cases=_one_sentence,
    hints=(
        "Project the whole sentence first, three times: each result is (tokens, width). Then each head "
        "does what lesson 04 does, with columns of its own.",
        "The columns of head i begin at i · d_head and end before (i + 1) · d_head: `q[:, start:end]` takes "
        "them, (tokens, d_head). A score is a sum over d_head products, so divide by the root of d_head.",
        "Put what each head gives into a list. `torch.cat(heads, dim=-1)` lays them side by side, (tokens, "
        "width), and W_o mixes them.",
    ),
    passed="The loop runs one small product after the other. For all heads at once they need an axis of "
    "their own: where should it stand, so that the last two axes are those of lesson 04?",
    without=("MultiHeadAttention", "MultiheadAttention", "multi_head_attention"),
    gaps=(
        "x @ W_q, x @ W_k, x @ W_v",
        "i * d_head, (i + 1) * d_head",
        "q_i @ k_i.T",
        "weights @ v_i",
        "torch.cat(heads, dim=-1)",
    ),
)


@multi_head_attention_for_one.solution
def my_multi_head_attention_for_one(x, W_q, W_k, W_v, W_o, num_heads):
    # Each head reads the whole vector, so first all is projected.
    q, k, v = x @ W_q, x @ W_k, x @ W_v  # (tokens, width), each
    d_head = q.size(-1) // num_heads
    heads = []
    for i in range(num_heads):
        # Head i has d_head columns of its own.
        start, end = i * d_head, (i + 1) * d_head
        q_i, k_i, v_i = q[:, start:end], k[:, start:end], v[:, start:end]  # (tokens, d_head), each
        # Lesson 04, on these columns.
        scores = q_i @ k_i.T / math.sqrt(d_head)  # (tokens, tokens)
        weights = scores.softmax(dim=-1)  # (tokens, tokens)
        heads.append(weights @ v_i)  # (tokens, d_head)
    # Side by side, head 0 first.
    joined = torch.cat(heads, dim=-1)  # (tokens, width)
    # Only here do the heads meet.
    return joined @ W_o  # (tokens, d_model)


@multi_head_attention_for_one.solution
def _(x, W_q, W_k, W_v, W_o, num_heads):
    q, k, v = ((x @ W).unflatten(-1, (num_heads, -1)).transpose(0, 1) for W in (W_q, W_k, W_v))
    return F.scaled_dot_product_attention(q, k, v).transpose(0, 1).flatten(1) @ W_o


def _block(W, num_heads):
    """What is left of a matrix if each head reads its own part of x alone."""
    rows, columns = (torch.arange(n) // (W.size(1) // num_heads) for n in W.shape)
    return W * (rows[:, None] == columns)


def _all_scores(q, k, num_heads):
    """The scores of all heads, (heads, tokens, tokens)."""
    q, k = (torch.stack(y.chunk(num_heads, dim=-1)) for y in (q, k))
    return q @ k.mT / math.sqrt(q.size(-1))


multi_head_attention_for_one.edits("""
return joined @ W_o → return heads
    You return the heads one by one, in a list. Lay them side by side, `torch.cat(heads, dim=-1)`; then W_o mixes
    them.
heads.append(weights @ v_i) → heads.append(weights @ v_i) ⏎ return weights @ v_i @ W_o[start:end]
heads.append(weights @ v_i) → heads.append(weights @ v_i) ⏎ return weights @ v_i
    Your `return` stands inside the loop, so head 0 is the only one. It stands behind the loop, one level to the left.
return joined @ W_o → return joined
    `W_o` is missing: after the join the heads still have to be mixed.
x @ W_q, x @ W_k, x @ W_v → x @ W_q.T, x @ W_k.T, x @ W_v.T
x @ W_q, x @ W_k, x @ W_v → x @ W_q.T, x @ W_k.T, x @ W_v.T ; joined @ W_o → joined @ W_o.T
joined @ W_o → joined @ W_o.T
    A `.T` too many: these matrices stand on the right as they are, `x @ W_q`, and a head has columns of
    them.
x @ W_q, x @ W_k, x @ W_v → W_q @ x, W_k @ x, W_v @ x
    The rows of x are tokens, so the matrix stands on the right: `x @ W_q`.
joined @ W_o → W_o @ joined
    The rows of what you have joined are tokens, so W_o stands on the right: `joined @ W_o`.
x @ W_q, x @ W_k, x @ W_v → x, x, x
x @ W_q, x @ W_k, x @ W_v → x @ W_q, x @ W_k, x
    Something is not projected: q is `x @ W_q`, k is `x @ W_k` and v is `x @ W_v`.
x @ W_q, x @ W_k, x @ W_v → x @ W_q, x @ W_q, x @ W_v
    Your keys are projected with `W_q`. They have a matrix of their own, `x @ W_k`.
x @ W_q, x @ W_k, x @ W_v → x @ W_q, x @ W_k, x @ W_q
    Your values are projected with `W_q`. They have a matrix of their own, `x @ W_v`.
x @ W_q, x @ W_k, x @ W_v → x @ W_q, x @ W_k, x @ W_k
weights @ v_i → weights @ k_i
    What your weights add up is projected with `W_k`. They add up the values, which are `x @ W_v`.
x @ W_q, x @ W_k, x @ W_v → x @ W_q, x @ W_v, x @ W_k
    You exchange `W_k` and `W_v`: k is `x @ W_k`, and v is `x @ W_v`.
x @ W_q, x @ W_k, x @ W_v → x @ W_q, x @ W_q, x @ W_q
    You project all three with `W_q`. Keys and values have matrices of their own, `W_k` and `W_v`.
x @ W_q, x @ W_k, x @ W_v → (x @ _block(W, num_heads) for W in (W_q, W_k, W_v))
    You cut x before you project it, so a head reads its own entries of x alone. Each head reads the whole
    vector: first `x @ W_q`, then the cut.
q[:, start:end], k[:, start:end], v[:, start:end] → (y.view(num_heads, len(x), -1)[i] for y in (q, k, v))
[:, start → [start ; i * d_head, (i + 1) * d_head → -i * (n := -len(x) // num_heads), -i * n - n ; heads, dim=-1 → heads
    You cut the sentence into pieces, not the width, so a token hears its own piece alone. A head has columns,
    `q[:, start:end]`; `chunk`, `split` and `cat` take axis 0, the tokens, unless you say `dim=-1`.
math.sqrt(d_head) → math.sqrt(x.size(-1))
math.sqrt(d_head) → math.sqrt(q.size(-1))
    You divide by the root of a whole width. Each score is a sum over the d_head columns of one head: √d_head.
math.sqrt(d_head) → math.sqrt(x.size(-1) // num_heads)
    You divide by the root of d_model / num_heads. A head has width / num_heads columns, where width is that of q.
math.sqrt(d_head) → math.sqrt(num_heads)
    You divide by √num_heads. Each score is a sum over d_head columns: √d_head.
math.sqrt(d_head) → math.sqrt(len(x))
    You divide by the root of the number of tokens. Each score is a sum over d_head columns: √d_head.
/ math.sqrt(d_head) → * math.sqrt(d_head)
    You multiply the scores by √d_head. They are to be divided by it.
 / math.sqrt(d_head) → ; weights @ v_i → weights @ v_i / math.sqrt(d_head)
    In yours √d_head divides what comes behind the softmax. It belongs on the scores, before the softmax.
 / math.sqrt(d_head) →
    The scores are not divided by √d_head.
math.sqrt(d_head) → d_head
    In yours the scores are divided by d_head in all: either the root is missing, or you divide by √d_head twice.
start:end → i::num_heads
    Your head takes every num_heads-th column. It should take d_head columns in a row.
i * d_head, (i + 1) * d_head → i, i + d_head
    Your heads overlap: head i begins at column i. It begins at i · d_head.
i * d_head, (i + 1) * d_head → 0, d_head
    Every head has the columns of head 0. Head i begins at column i · d_head.
q_i @ k_i.T → q @ k.T
    A head compares the whole width. It compares its own columns alone.
start:end → :
weights @ v_i → weights @ v
    A head adds up the whole values, so the heads together are num_heads times too wide. Head i adds up its
    own columns of v.
[:, start:end] → [start:end]
    `q[start:end]` takes rows, which are tokens. The heads share the columns: `q[:, start:end]`.
q_i @ k_i.T → k_i @ q_i.T
    Your rows are keys and your columns queries. Each query has a row: q on the left, `k.T` on the right.
q_i @ k_i.T → q_i @ v_i.T
    You compare the queries with the values. They are compared with the keys: `q_i @ k_i.T`.
k_i.T → k_i
    In `q_i @ k_i` a row of q meets a column of k. A key is a row: `k_i.T`.
// → /
    `/` gives a float, and an index must be whole: `//`.
d_head = q.size(-1) // num_heads → d_head = len(x) // num_heads
    `len(x)` is the number of tokens. The heads share the width of q, `q.size(-1)`.
d_head = q.size(-1) → d_head = x.size(-1)
d_head = q.size(-1) → d_head = x.size(-1) ; math.sqrt(d_head) → math.sqrt(q_i.size(-1))
[:, start:end] → .view(len(x), num_heads, d_head)[:, i] ; q.size(-1) // → x.size(-1) //
    You cut d_model, the width of x, into heads. W_q may be narrower or wider: what the heads share is the width
    of q, `q.size(-1)`.
range(num_heads) → range(d_head) ; i * d_head, (i + 1) * d_head → i * num_heads, (i + 1) * num_heads
d_head = q.size(-1) // num_heads → d_head = num_heads
d_head = q.size(-1) // num_heads → d_head = num_heads ; range(num_heads) → range(q.size(-1) // num_heads)
    You made heads of width num_heads. num_heads says how many there are.
softmax(dim=-1) → softmax(dim=0)
    Your softmax runs over the queries. Over the keys, the last axis, the weights add up to 1.
scores.softmax(dim=-1) → _all_scores(q, k, num_heads).softmax(dim=0)[i]
    Your softmax runs over the heads. Over the keys, the last axis, the weights of each head add up to 1.
scores.softmax(dim=-1) → scores
    There is no softmax: scores are not weights.
scores.softmax(dim=-1) → scores.softmax(dim=-1).softmax(dim=-1)
    There are two softmaxes in yours, one after the other. One makes weights of the scores.
d_head = q.size(-1) // num_heads → num_heads, d_head = 1, q.size(-1)
    There is only one head in yours. Cut the width into num_heads parts before you attend.
d_head = q.size(-1) // num_heads → num_heads, d_head = 2, q.size(-1) // 2
    You wrote the number of heads into the function. It is `num_heads`.
torch.cat(heads, dim=-1) → torch.cat(heads[::-1], dim=-1)
    Your heads stand in the opposite order. Head 0 gives the first d_head columns.
torch.cat(heads, dim=-1) → torch.cat(heads, dim=0)
torch.cat(heads, dim=-1) → torch.stack(heads)
    You lay the heads one behind the other, so a row is as narrow as before. Side by side is the last axis:
    `torch.cat(heads, dim=-1)`.
torch.cat(heads, dim=-1) → torch.stack(heads, dim=-1)
    `stack` gives the heads an axis of their own. `cat` lays them side by side: `torch.cat(heads, dim=-1)`.
torch.cat(heads, dim=-1) → torch.stack(heads).reshape(q.shape)
torch.cat(heads, dim=-1) → torch.stack(heads).reshape(x.shape)
    In yours a row holds several tokens of one head. It should hold one token of every head:
    `torch.cat(heads, dim=-1)`.
torch.cat(heads, dim=-1) → torch.cat(heads, dim=-1).reshape(x.shape)
    You give the joined heads the shape of x. They are as wide as q, (tokens, width), which may be narrower or
    wider than x; `joined @ W_o` has the shape of x again.
torch.cat(heads, dim=-1) → sum(heads)
range(num_heads) → range(1, num_heads + 1)
end = i * d_head, (i + 1) * d_head → end = i * d_head, i * d_head + 1
q, k, v = x @ W_q, x @ W_k, x @ W_v → q, k, v = (x[:, : x.size(-1) // num_heads] @ W for W in (W_q, W_k, W_v))
    What meets one of your four matrices is too narrow. If it is W_q, W_k or W_v, you cut x too early: project the
    whole of x first. If it is W_o, it meets one head, or the sum of the heads: lay all of them side by side first.
weights @ v_i → weights @ v_i @ W_o[:, start:end]
    The part of W_o that belongs to a head is rows, `W_o[start:end]`, because they meet the columns of the head.
torch.cat(heads, dim=-1) → torch.stack(heads, dim=-1).flatten(1)
    The heads alternate in a row. All columns of head 0 come first.
return joined @ W_o → return joined @ W_o + x
    There is a residual in yours: x is added. That comes in the layer around it, in lesson 11.
return joined @ W_o → return (joined @ W_o).relu()
    There is a ReLU behind `W_o`. Attention ends with the projection.
""")
