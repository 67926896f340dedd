"""Multi-head attention, whole. Lesson 09."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib import attention
from transformer_lib.exercises.checking.classes import Build, Case
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
    uses = [
        ("without a mask", (12, 3), (query, key, value)),
        ("in another size", (10, 2), (x, y, y)),
        ("with a causal mask", (10, 2), (x, x, x, causal_mask(4))),
        ("with a padding mask", (12, 3), (query, key, value, padding)),
        ("with a row that may see nothing", (12, 3), (query, key, value, blind)),
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
    task="Multi-head attention: project, split, attend, join, project. `query` (batch, query, d_model), "
    "`key` and `value` (batch, key, d_model); `mask` broadcasts to (batch, heads, query, key), True = "
    "may look. Call the four projections `q_proj`, `k_proj`, `v_proj` and `out_proj`, each "
    "`nn.Linear(d_model, d_model)`.",
    cases=_cases,
    hints=(
        "Five lines: project three times; split each into heads; attend; join; project. Write the "
        "shape of the result behind each.",
        "Split: `x.unflatten(-1, (num_heads, -1)).transpose(1, 2)`, (batch, heads, time, d_head). The "
        "attention of lesson 04 does not mind the axis of the heads.",
        "Join is split backwards: `.transpose(1, 2).flatten(2)`. Then `out_proj`, whose rows mix what "
        "the heads found. `scaled_dot_product_attention(q, k, v, mask)` knows masks.",
    ),
    passed="Output, gradients and masks are those of the library and of `nn.MultiheadAttention`. Which of "
    "your lines mixes positions, and which mixes heads?",
    reference=attention.MultiHeadAttention,
    twin=_twin,
)


@MultiHeadAttention.solution
class MyMultiHeadAttention(nn.Module):
    """num_heads attentions side by side, each on its own part of the width."""

    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def split(self, x):
        x = x.unflatten(-1, (self.num_heads, -1))  # (B, T, H, D)
        return x.transpose(1, 2)  # (B, H, T, D)

    def forward(self, query, key, value, mask=None):
        q = self.split(self.q_proj(query))
        k = self.split(self.k_proj(key))
        v = self.split(self.v_proj(value))
        scores = q @ k.mT / math.sqrt(q.size(-1))  # (B, H, Tq, Tk)
        weights = masked_softmax(scores, mask)
        heads = weights @ v  # (B, H, Tq, D)
        joined = heads.transpose(1, 2).flatten(2)  # (B, Tq, C)
        return self.out_proj(joined)


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


class _Steps(MyMultiHeadAttention):
    """The solution in steps, each of which a mistake may do otherwise."""

    def forward(self, query, key, value, mask=None):
        q, k, v = self.project(query, key, value)
        q, k, v = self.split(q), self.split(k), self.split(v)
        weights = self.weigh(q @ k.mT * self.scale(q, k), mask)
        return self.finish(self.join(weights @ v))

    def project(self, query, key, value):
        return self.q_proj(query), self.k_proj(key), self.v_proj(value)

    def scale(self, q, k):
        return q.size(-1) ** -0.5

    def weigh(self, scores, mask):
        return masked_softmax(scores, mask)

    def join(self, heads):
        return heads.transpose(1, 2).flatten(2)

    def finish(self, joined):
        return self.out_proj(joined)


_mistake = MultiHeadAttention.mistake


@_mistake("Projection: the keys go through `q_proj`. Each of the three has its own: `k_proj(key)`.")
class _(_Steps):
    def project(self, query, key, value):
        return self.q_proj(query), self.q_proj(key), self.v_proj(value)


@_mistake("Projection: `k_proj` and `v_proj` are exchanged.")
class _(_Steps):
    def project(self, query, key, value):
        return self.q_proj(query), self.v_proj(key), self.k_proj(value)


@_mistake("Projection: the values are projected from `key`. They come from `value`.")
class _(_Steps):
    def project(self, query, key, value):
        return self.q_proj(query), self.k_proj(key), self.v_proj(key)


@_mistake(
    "Projection: queries, keys and values all come from `query`. That is self-attention alone; here key "
    "and value may be another sequence."
)
class _(_Steps):
    def project(self, query, key, value):
        return self.q_proj(query), self.k_proj(query), self.v_proj(query)


@_mistake(
    "Split: you cut the sentence into pieces, not the width. Cut the last axis alone, "
    "`unflatten(-1, (num_heads, -1))`, then exchange two axes."
)
class _(_Steps):
    def split(self, x):
        return x.reshape(len(x), self.num_heads, x.size(1), -1)


@_mistake(
    "Split: your head 0 takes every num_heads-th entry of the width; it should take the first d_head in "
    "a row. (num_heads, d_head), in this order."
)
class _(_Steps):
    def split(self, x):
        return x.unflatten(-1, (-1, self.num_heads)).permute(0, 3, 1, 2)


@_mistake(
    "Split: the width is cut, but the axes of heads and time are not exchanged. So the heads of one "
    "token attend to each other, and no token sees another."
)
class _(_Steps):
    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1))

    def join(self, heads):
        return heads.flatten(2)


@_mistake("Split: you made heads of width num_heads. num_heads says how many there are.")
class _(_Steps):
    def split(self, x):
        return x.unflatten(-1, (-1, self.num_heads)).transpose(1, 2)


_LENGTHS = (
    "Split: keys and values have a length of their own; you split them with that of the query."
)


class _OneLength(_Steps):
    def project(self, query, key, value):
        self.length = query.size(1)
        return super().project(query, key, value)


@_mistake(_LENGTHS)
class _(_OneLength):
    def split(self, x):
        shape = len(x), self.length, self.num_heads, x.size(-1) // self.num_heads
        return x.view(shape).transpose(1, 2)


@_mistake(_LENGTHS)
class _(_OneLength):
    def split(self, x):
        return x.view(len(x), self.length, self.num_heads, -1).transpose(1, 2)


@_mistake("Split: there is only one head. Cut the width into num_heads pieces before you attend.")
class _(_Steps):
    def split(self, x):
        return x[:, None]


@_mistake("Scale: the scores are not divided by √d_head.")
class _(_Steps):
    def scale(self, q, k):
        return 1.0


@_mistake(
    "Scale: you divide by √d_model. Each score is a sum over the d_head entries of one head: √d_head."
)
class _(_Steps):
    def scale(self, q, k):
        return self.q_proj.in_features**-0.5


@_mistake("Scale: you divide by d_head. Its root keeps the size of the scores.")
class _(_Steps):
    def scale(self, q, k):
        return 1 / q.size(-1)


@_mistake("Scale: you divide by √num_heads. Each score is a sum over d_head entries: √d_head.")
class _(_Steps):
    def scale(self, q, k):
        return self.num_heads**-0.5


@_mistake(
    "Scale: you divide by the root of a length. Each score is a sum over d_head entries: √d_head."
)
class _(_Steps):
    def scale(self, q, k):
        return k.size(-2) ** -0.5


@_mistake(
    "Softmax: yours runs over the queries. Over the keys, the last axis, the shares add up to 1."
)
class _(_Steps):
    def weigh(self, scores, mask):
        if mask is None:
            return scores.softmax(dim=-2)
        return scores.masked_fill(~mask, float("-inf")).softmax(dim=-2)


@_mistake("Mask: yours is never used. Without a mask all is right.")
class _(_Steps):
    def weigh(self, scores, mask):
        return scores.softmax(dim=-1)


@_mistake(
    "Mask: it has an axis for the heads already: it broadcasts to (batch, heads, query, key) as it is."
)
class _(_Steps):
    def weigh(self, scores, mask):
        return masked_softmax(scores, None if mask is None else mask.unsqueeze(1))


@_mistake("Mask: yours is the wrong way round. True means that the query may look.")
class _(_Steps):
    def weigh(self, scores, mask):
        return masked_softmax(scores, None if mask is None else ~mask)


@_mistake(
    "Mask: right, but for a row that may see nothing: it is NaN. It must be 0 before `out_proj`, as "
    "`masked_softmax` makes it."
)
class _(_Steps):
    def weigh(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return scores.softmax(dim=-1)


@_mistake(
    "Mask: right, but for a row that may see nothing: it averages all values. With any finite fill all "
    "scores of that row are equal; fill with -inf, and the NaN after it with 0: `masked_softmax`."
)
class _(_Steps):
    def weigh(self, scores, mask):
        return (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(dim=-1)


@_mistake(
    "Mask: you set the hidden weights to 0 after the softmax. The others no longer add up to 1: mask the "
    "scores, before it."
)
class _(_Steps):
    def weigh(self, scores, mask):
        weights = scores.softmax(dim=-1)
        return weights if mask is None else weights.masked_fill(~mask, 0.0)


@_mistake(
    "Join: axes 1 and 2 are not exchanged back before the heads are laid side by side, so each row holds "
    "pieces of several tokens."
)
class _(_Steps):
    def join(self, heads):
        batch, count, time, width = heads.shape
        return heads.reshape(batch, time, count * width)


@_mistake(
    "Join: the heads are interleaved. Head 0 gives the first d_head entries of a row, head 1 the next."
)
class _(_Steps):
    def join(self, heads):
        return heads.permute(0, 2, 3, 1).flatten(2)


@_mistake("`out_proj` is missing: after the join the heads still have to be mixed.")
class _(_Steps):
    def finish(self, joined):
        return joined


@_mistake(
    "In train() yours does something else than in eval(). Masks never depend on the mode, and this class "
    "has no dropout."
)
class _(_Steps):
    def weigh(self, scores, mask):
        return masked_softmax(scores, None if self.training else mask)
