"""A causal block with two changes: RMSNorm in front, rotary positions inside. Lesson 18."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib.exercises.checking.classes import Build, Case
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.model import Written
from transformer_lib.positions import RotaryPositions


def _one_sentence():
    torch.manual_seed(17)
    paper = (
        torch.tensor([[1.0, 7.0], [5.0, -5.0]]),
        Written("(y): y + the number of the row", lambda y: y + torch.arange(len(y))[:, None]),
        Written("(query, key, value): query + 2·key + 4·value", lambda q, k, v: q + 2 * k + 4 * v),
        Written("(y): y², entry by entry", torch.square),
    )

    def drawn(tokens, d_model):
        up, down = torch.randn(5, d_model), torch.randn(d_model, 5)
        return (
            torch.randn(tokens, d_model) + 1,
            Written("rotary positions", lambda y: RotaryPositions(d_model, 9).turn(y)),
            Written("causal attention of query, key, value", _causal),
            Written("a network", lambda y: F.relu(y @ up.T) @ down.T),
        )

    return [paper, drawn(4, 4), drawn(3, 6), drawn(1, 2)]


def _causal(query, key, value):
    return F.scaled_dot_product_attention(query[None], key[None], value[None], is_causal=True)[0]


rotary_block_for_one = Exercise(
    sections=(
        "18 A norm with less in it",
        "10 Turn queries and keys",
    ),
    task="The wires of the block for one sentence, x (tokens, d_model) to (tokens, d_model). `turn` of (y) turns each "
    "row by its position, `attend` is a function of (query, key, value), `think` one of (y). In front of each of the "
    "two stands an RMSNorm without weights, to be written by hand: a row divided by the root of the mean of its "
    "squares. Around each there is a residual. Query and key are turned, the value is not.",
    cases=_one_sentence,
    hints=(
        "RMSNorm makes rows equally long and leaves their direction. Square the entries, take the mean of each row, "
        "and of that the root. `keepdim=True` keeps an axis of length 1, (tokens, 1), so that each row is divided by "
        "its own number.",
        "Pre-norm means that the stream itself is never normed: a sublayer reads norm(x), and what it returns is added "
        "to x as it was. The second sublayer does the same with the sum.",
        "Without projections query, key and value are all the normed x. The query and the key go through `turn` first; "
        "the value is what a token contributes, and that should not depend on where it stands.",
    ),
    passed="In the class each of the three is projected and split into heads before anything is turned.",
    without=("rms_norm", "RMSNorm"),
    gaps=(
        "x.square().mean(dim=-1, keepdim=True)",
        "mean_square.sqrt()",
        "attend(turn(y), turn(y), y)",
        "think(norm(h))",
    ),
)


@rotary_block_for_one.solution
def my_rotary_block_for_one(x, turn, attend, think):
    def norm(x):
        # One number for each row; keepdim leaves it an axis of length 1.
        mean_square = x.square().mean(dim=-1, keepdim=True)  # (tokens, 1)
        return x / mean_square.sqrt()  # (tokens, d_model)

    # The norm is for what the sublayer reads. What comes out is added to x itself.
    y = norm(x)  # (tokens, d_model)
    # Positions are for the scores: query and key are turned, the value is not.
    h = x + attend(turn(y), turn(y), y)  # (tokens, d_model)
    # The same once more, with the sum.
    return h + think(norm(h))  # (tokens, d_model)


@rotary_block_for_one.solution
def _(x, turn, attend, think):
    def sublayer(x, function):
        return x + function(F.normalize(x, dim=-1) * x.size(-1) ** 0.5)

    x = sublayer(x, lambda y: attend(turn(y), turn(y), y))
    return sublayer(x, think)


rotary_block_for_one.edits("""
turn(y), turn(y), y → y, y, y
    You turn nothing: query and key should each go through `turn`.
turn(y), turn(y), y → turn(y), turn(y), turn(y)
    You turn the value too. What a token contributes should not depend on where it stands.
turn(y), turn(y), y → turn(y), y, y
turn(y), turn(y), y → y, turn(y), y
    You turn only one of query and key. Their product knows the distance if both are.
turn(y), turn(y), y → y, turn(y), turn(y)
turn(y), turn(y), y → turn(y), y, turn(y)
    You turn the value, and only one of query and key. The order is query, key, value: turn the first two, and leave
    the last one.
y = norm(x) → x = turn(x) ⏎ y = norm(x) ; turn(y), turn(y), y → y, y, y
    You turn x itself, so that the value and the residual are turned too. Turn what attention gets as query and key.
y = norm(x) → y = norm(turn(x)) ; turn(y), turn(y), y → y, y, y
    You turn x in front of the norm, and so the value too. Norm first, then turn query and key.
turn(y), turn(y), y → turn(x), turn(x), x
turn(y), turn(y), y → turn(y), turn(x), x
turn(y), turn(y), y → turn(y), turn(y), x
    In yours attention reads x itself. Query, key and value are all to be made from norm(x).
y = norm(x) → y = x ; x + attend( → norm(x + attend( ; turn(y), y) → turn(y), y)) ; h + think(norm( → norm(h + think(
    Your norms come behind the sums: that is post-norm. Here they stand in front, on what a sublayer reads.
think(norm(h)) → think(h)
    In yours the norm in front of `think` is missing.
think(norm(h)) → think(y)
think(norm(h)) → think(norm(x))
    Your `think` reads the old x. It should read the norm of the sum, with what attention has added.
h = x + → h = y + ; return h + → return norm(h) +
    You add to the normed stream, both times. The norm is for what a sublayer reads; what it returns is added to the
    stream as it was.
h = x + → h = y +
    You add what attention returns to norm(x). The norm is for what attention reads; what it returns is added to x
    itself.
return h + → return norm(h) +
    You add what `think` returns to the normed sum. The norm is for what `think` reads; what it returns is added to the
    sum as it was.
h = x + → h = ; return h + → return
    In yours both residuals are missing: what attention returns is to be added to x, what `think` returns to the sum.
h = x + → h =
    In yours the residual around attention is missing: what it returns is to be added to x.
return h + → return
    In yours the residual around `think` is missing: what it returns is to be added to the sum.
return h + → return x +
    You add the old x at the end, so what attention has added is lost.
return h + think(norm(h)) → return h
    In yours `think` is missing: it is the second sublayer.
x + attend(turn(y), turn(y), y) → x
    In yours attention is missing: it is the first sublayer.
attend(turn(y), turn(y), y) → think(y) ; think(norm(h)) → attend(turn(norm(h)), turn(norm(h)), norm(h))
    Your `think` comes first. Attention should be the first sublayer.
y = norm(x) → y = x ; think(norm(h)) → think(h)
    You norm nothing. In front of each of the two stands an RMSNorm.
y = norm(x) → y = x ; attend(turn(y), turn(y), y) → norm(attend(turn(y), turn(y), y)) ; think(norm(h)) → norm(think(h))
    Your norms come behind the sublayers. They stand in front, on what a sublayer reads.
.mean(dim=-1, keepdim=True) → .sum(dim=-1, keepdim=True)
    You divide by the root of the sum of the squares. It is the root of their mean.
mean_square.sqrt() → mean_square
    In yours the root is missing: a row is to be divided by the root of the mean of its squares.
dim=-1 → dim=0
    Your norm goes over the tokens. Each row has its own: the last axis, `dim=-1`.
dim=-1, keepdim=True → dim=-1
    Your one number for each row, (tokens,), meets the columns. `keepdim=True` keeps it a column, (tokens, 1).
mean_square = → x = x - x.mean(dim=-1, keepdim=True) ⏎ mean_square =
x / mean_square.sqrt() → F.layer_norm(x, x.shape[-1:])
x / mean_square.sqrt() → (x - x.mean(dim=-1, keepdim=True)) / mean_square.sqrt()
x / mean_square.sqrt() → (x - x.mean(dim=-1, keepdim=True)) / x.std(dim=-1, keepdim=True)
    Yours is a layer norm: it takes the mean off first. RMSNorm only divides.
""")


def _cases():
    torch.manual_seed(18)
    paper = torch.tensor([[[1.0, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 2]]])
    uses = [
        ("with two heads of width 2", (4, 2, 3), paper),
        ("with as many heads as tokens and sentences", (4, 2, 4), torch.randn(2, 2, 4)),
        ("with wider heads", (8, 2, 5), torch.randn(1, 5, 8)),
        ("with more heads than tokens", (8, 4, 5), torch.randn(2, 3, 8)),
    ]
    cases = [Case(about, sizes, {}, (x,)) for about, sizes, x in uses]
    return [*cases, Case("in train()", (4, 2, 3), {}, (torch.randn(2, 3, 4),), training=True)]


class MyRotaryBlock(nn.Module):
    """Pre-norm and causal; queries and keys are turned by their positions."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.num_heads = num_heads
        # Each sublayer has a norm of its own in front; no linear map has a bias.
        self.norm1 = nn.RMSNorm(d_model)
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, d_model, bias=False)
        self.v_proj = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        self.norm2 = nn.RMSNorm(d_model)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def split(self, x):
        # Cut the width, then put the heads in front of the tokens.
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def attend(self, x):
        q = self.split(self.q_proj(x))  # (batch, heads, tokens, d_head)
        k = self.split(self.k_proj(x))  # (batch, heads, tokens, d_head)
        v = self.split(self.v_proj(x))  # (batch, heads, tokens, d_head)
        # The heads turn alike, so this comes after the split; a value stays as it is.
        turn = RotaryPositions(q.size(-1), x.size(1)).to(x.device).turn
        q, k = turn(q), turn(k)  # (batch, heads, tokens, d_head)
        # It divides by √d_head itself.
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        joined = heads.transpose(1, 2).flatten(2)  # (batch, tokens, d_model)
        return self.out_proj(joined)

    def think(self, x):
        hidden = F.relu(self.up_proj(x))  # (batch, tokens, d_ff)
        return self.down_proj(hidden)

    def forward(self, x):
        # What a sublayer reads is normed; what it returns is added to the stream as it was.
        y = x + self.attend(self.norm1(x))  # (batch, tokens, d_model)
        return y + self.think(self.norm2(y))  # (batch, tokens, d_model)


RotaryBlock = Build(
    sections=(
        "18 A norm with less in it",
        "10 Turn queries and keys",
    ),
    task="A block of a decoder without memory, x (batch, tokens, d_model) to the same shape: causal self-attention and "
    "feed-forward, each with an RMSNorm of its own in front of it and a residual around it. After the split into heads "
    "queries and keys are turned by their positions, values are not; scores are divided by √d_head; the feed-forward "
    "network has a ReLU. The parts are `norm1`, `q_proj`, `k_proj`, `v_proj`, `out_proj`, `norm2`, `up_proj`, "
    "`down_proj`, and no linear map has a bias. It is made as `(d_model, num_heads, d_ff)`.",
    cases=_cases,
    hints=(
        "There are two sublayers, attention and feed-forward, and one pattern for both: the sublayer reads the norm of "
        "x, and what it returns is added to x itself. `nn.RMSNorm(d_model)` is torch's norm.",
        "In attention project, split, turn, attend, join, project. `RotaryPositions(d_head, tokens).turn(q)` of "
        "`transformer_lib.positions` turns (batch, heads, tokens, d_head). It counts positions along the last axis but "
        "one, so the heads have to stand in front of the tokens already.",
        "`F.scaled_dot_product_attention(q, k, v, is_causal=True)` stands between turn and join; it divides by √d_head "
        "and takes the softmax itself. Join is split backwards: `.transpose(1, 2)`, then `.flatten(2)`.",
    ),
    passed="No position was added to x anywhere: what a head knows of positions are distances.",
    gaps=(
        "self.num_heads, -1",
        "self.split(self.q_proj(x))",
        "self.split(self.k_proj(x))",
        "self.split(self.v_proj(x))",
        "turn(q), turn(k)",
        "heads.transpose(1, 2).flatten(2)",
        "F.relu(self.up_proj(x))",
        "self.attend(self.norm1(x))",
        "self.think(self.norm2(y))",
    ),
    reference=MyRotaryBlock,
    twin=lambda model, x: None,
)
RotaryBlock.solution(MyRotaryBlock)


@RotaryBlock.solution
class _ByHand(MyRotaryBlock):
    """RMSNorm, turning, scores and mask written out."""

    def forward(self, x):
        x = x + self.attend(self.normed(x, self.norm1))
        return self.down_proj(self.up_proj(self.normed(x, self.norm2)).clamp(min=0)) + x

    def normed(self, x, norm):
        return norm.weight * x * x.square().mean(dim=-1, keepdim=True).rsqrt()

    def attend(self, y):
        time, d_head = y.size(1), y.size(2) // self.num_heads
        speeds = 10000 ** (-torch.arange(0, d_head, 2) / d_head)
        sin, cos = (
            (torch.arange(time)[:, None] * speeds).sin(),
            (torch.arange(time)[:, None] * speeds).cos(),
        )
        later = torch.ones(time, time).triu(1).bool()
        joined = []
        for q, k, v in zip(
            *(p(y).split(d_head, -1) for p in (self.q_proj, self.k_proj, self.v_proj)), strict=True
        ):
            q, k = (self.turned(z[..., ::2], z[..., 1::2], sin, cos) for z in (q, k))
            scores = (q @ k.mT / d_head**0.5).masked_fill(later, float("-inf"))
            joined.append(scores.softmax(dim=-1) @ v)
        return self.out_proj(torch.cat(joined, dim=-1))

    def turned(self, a, b, sin, cos):
        return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


RotaryBlock.edits("""
x.size(1)).to → 99).to ; = turn(q), turn(k) → = (turn(z.transpose(1, 2)).transpose(1, 2) for z in (q, k))
q, k = turn(q), turn(k) →
    Positions: no score depends on them in yours. As (batch, tokens, heads, d_head) queries and keys are turned by the
    number of the head, which is as good as not turned: `turn` counts along the last axis but one. Exchange the axes of
    heads and tokens first, then turn both.
q, k = turn(q), turn(k) → q = turn(q)
q, k = turn(q), turn(k) → k = turn(k)
    Positions: you turn only one of queries and keys. Their product knows the distance if both are.
q, k = turn(q), turn(k) → q, k, v = turn(q), turn(k), turn(v)
    Positions: you turn the values too. What a token contributes should not depend on its position.
turn(q), turn(k) → self.split(turn(self.q_proj(x))), self.split(turn(self.k_proj(x))) ; (q.size(-1), → (x.size(-1),
    Positions: you turn before you split, over the whole width, so that every head gets other angular frequencies. All
    heads turn alike: split first.
attend(self, x): → attend(self, x): ⏎     x = RotaryPositions(x.size(-1), x.size(1)).turn(x) ; turn(q), turn(k) → q, k
attend(self, x): → attend(self, x): ⏎     x = RotaryPositions(x.size(-1), x.size(1)).turn(x)
    Positions: you turn x before it is projected, and so the values too. It is the projected queries and keys that
    are turned, after the split.
turn(q), turn(k) → turn(q.transpose(1, 2)).transpose(1, 2), turn(k.transpose(1, 2)).transpose(1, 2)
    Positions: you turn by the number of the head. `turn` counts along the last axis but one, and that has to be the
    tokens: first exchange the axes, (batch, heads, tokens, d_head).
, is_causal=True →
    Attention: yours is not causal, so a token attends to what comes later: `is_causal=True`.
is_causal=True → attn_mask=torch.ones(x.size(1), x.size(1)).triu().bool()
    Attention: your mask is the wrong way round. A token attends to itself and to what comes before it.
attention(q, k, v → attention(q / q.size(-1) ** 0.5, k, v
    Attention: you divide by √d_head twice. `F.scaled_dot_product_attention` does it itself.
is_causal=True → is_causal=True, scale=1.0
    Attention: you do not divide the scores by √d_head.
is_causal=True → is_causal=True, scale=x.size(-1) ** -0.5
    Attention: you divide by √d_model. Each score is a sum over the entries of one head: √d_head.
attention(q, k, v → attention(k, q, v
    Attention: in yours queries and keys are exchanged.
self.k_proj(x) → self.q_proj(x)
self.v_proj(x) → self.k_proj(x)
self.q_proj(x) → self.k_proj(x)
    Projection: in yours two of the three go through one matrix. Each has its own: `q_proj`, `k_proj`, `v_proj`.
self.split(self.q_proj(x)) → self.split(x)
self.split(self.k_proj(x)) → self.split(x)
self.split(self.v_proj(x)) → self.split(x)
    Projection: you do not project one of the three at all. Each has its own matrix: `q_proj`, `k_proj`, `v_proj`.
x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) → x.reshape(len(x), self.num_heads, x.size(1), -1)
    Split: you cut the sentence into pieces, not the width. Cut the last axis alone,
    `unflatten(-1, (num_heads, -1))`, then exchange two axes.
(self.num_heads, -1)).transpose(1, 2) → (-1, self.num_heads)).permute(0, 3, 1, 2)
    Split: your head 0 takes every num_heads-th entry of the width; it should take the first d_head in a row.
.transpose(1, 2) →
    Split: you do not exchange the axes of heads and tokens, so the heads of one token attend to each other.
heads.transpose(1, 2).flatten(2) → heads.reshape(x.shape)
    Join: you do not exchange axes 1 and 2 back before you lay the heads side by side, so each row holds pieces of
    several tokens.
self.out_proj(joined) → joined
    Join: in yours `out_proj` is missing; it mixes what the heads have found.
F.relu(self.up_proj(x)) → self.up_proj(x)
    Feed-forward: in yours the ReLU between `up_proj` and `down_proj` is missing.
F.relu(self.up_proj(x)) → F.gelu(self.up_proj(x))
F.relu(self.up_proj(x)) → F.silu(self.up_proj(x))
F.relu(self.up_proj(x)) → F.leaky_relu(self.up_proj(x))
    Feed-forward: in yours another function than ReLU, `F.relu`, stands between `up_proj` and `down_proj`.
F.relu(self.up_proj(x)) → self.up_proj(x) ; self.down_proj(hidden) → F.relu(self.down_proj(hidden))
    Feed-forward: the ReLU comes last in yours. It stands between `up_proj` and `down_proj`.
self.think(self.norm2(y)) → self.think(self.norm2(x))
    Feed-forward: yours reads the old x. It should read the sum, with what attention has added.
return y + self.think(self.norm2(y)) → return y
    Feed-forward: in yours it is missing.
x + self.attend(self.norm1(x)) → x
    Attention: in yours it is missing.
self.attend(self.norm1(x)) → self.think(self.norm2(x)) ; self.think(self.norm2(y)) → self.attend(self.norm1(y))
    Feed-forward comes first in yours. Attention should be the first sublayer.
y = x + → y = ; return y + → return
    Residual: you have neither of the two. What attention returns is to be added to x, and what feed-forward returns
    to the sum.
y = x + → y =
    Residual: in yours the one around attention is missing. What attention returns is to be added to x.
return y + → return
    Residual: in yours the one around feed-forward is missing. What feed-forward returns is to be added to what
    attention has left.
return y + → return x +
    Residual: you add the old x at the end, so what attention has added is lost.
y = x + → y = self.norm1(x) + ; return y + → return self.norm2(y) +
y = x + → y = self.norm1(x) +
return y + → return self.norm2(y) +
    Norm: it stands on the stream in yours, so the residual adds the normed x. Only what a sublayer reads is normed:
    `x + attend(norm1(x))`, with the x as it was.
x + self.attend(self.norm1( → self.norm1(x + self.attend( ; y + self.think(self.norm2( → self.norm2(y + self.think(
x + self.attend(self.norm1(x)) → x + self.norm1(self.attend(x)) ; self.think(self.norm2(y)) → self.norm2(self.think(y))
    Norm: it comes behind the sublayer in yours. It stands in front, on what the sublayer reads.
self.norm2(y) → self.norm1(y)
    Norm: one serves both sublayers in yours. Each has its own, `norm1` and `norm2`.
self.norm1(x) → self.norm2(x) ; self.norm2(y) → self.norm1(y)
    Norm: you have exchanged the two. `norm1` is for attention, `norm2` for feed-forward.
self.norm1(x) → x
    Norm: in yours the one in front of attention is missing.
self.norm2(y) → y
    Norm: in yours the one in front of feed-forward is missing.
self.norm1(x) → x ; self.norm2(y) → y
    Norm: you call neither of the two.
nn.RMSNorm(d_model) → nn.LayerNorm(d_model, bias=False)
norm2 = nn.RMSNorm(d_model) → norm2 = nn.LayerNorm(d_model, bias=False)
norm1 = nn.RMSNorm(d_model) → norm1 = nn.LayerNorm(d_model, bias=False)
    Norm: yours is a LayerNorm, which takes the mean off first. RMSNorm divides by the root of the mean square, and
    that is all: `nn.RMSNorm`.
""")
