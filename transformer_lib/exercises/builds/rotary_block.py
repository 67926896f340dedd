"""A causal block with two changes: RMSNorm in front, rotary positions inside. Lesson 18."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib.exercises.checking.classes import Build, Case
from transformer_lib.positions import RotaryPositions


def _cases():
    torch.manual_seed(18)
    x, y = torch.randn(2, 5, 12), torch.randn(3, 4, 10)
    return [
        Case("in one size", (12, 3, 17), {}, (x,)),
        Case("in another size", (20, 5, 7), {}, (torch.cat([y, y.flip(1)], dim=-1),)),
        Case("in train()", (12, 3, 17), {}, (x.flip(1),), training=True),
    ]


class MyRotaryBlock(nn.Module):
    """Pre-norm, causal, with places that turn queries and keys."""

    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.num_heads = num_heads
        self.norm1 = nn.RMSNorm(d_model)
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, d_model, bias=False)
        self.v_proj = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        self.norm2 = nn.RMSNorm(d_model)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # (B, H, T, D)

    def attention(self, x):
        q, k, v = (self.split(p(x)) for p in (self.q_proj, self.k_proj, self.v_proj))
        rotary = RotaryPositions(q.size(-1), x.size(1)).to(x.device)
        q, k = rotary.turn(q), rotary.turn(k)  # (B, H, T, D)
        heads = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out_proj(heads.transpose(1, 2).flatten(2))  # (B, T, C)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down_proj(F.relu(self.up_proj(self.norm2(x))))


class _Parts(MyRotaryBlock):
    """The block in steps, each of which a mistake may do otherwise."""

    def forward(self, x):
        y = self.norm1(x)
        q, k, v = (self.split(p(y)) for p in (self.q_proj, self.k_proj, self.v_proj))
        x = x + self.out_proj(self.attend(*self.turn(q, k, v)).transpose(1, 2).flatten(2))
        return x + self.think(self.norm2(x))

    def turn(self, q, k, v):
        rotary = RotaryPositions(q.size(-1), q.size(-2))
        return rotary.turn(q), rotary.turn(k), v

    def attend(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    def think(self, y):
        return self.down_proj(F.relu(self.up_proj(y)))


RotaryBlock = Build(
    task="A block of a decoder without memory: causal self-attention and feed-forward, each with RMSNorm "
    "before it and a residual around it; queries and keys are turned by their places. x (batch, time, "
    "d_model). The parts are `norm1`, `q_proj`, `k_proj`, `v_proj`, `out_proj`, `norm2`, `up_proj`, "
    "`down_proj`; no biases.",
    cases=_cases,
    hints=(
        "`x + attention(norm1(x))`, then `x + feed_forward(norm2(x))`. `nn.RMSNorm(d_model)` is torch's.",
        "`RotaryPositions(d_head, time).turn(q)` of `transformer_lib.positions` turns the pairs "
        "(2i, 2i + 1) of every head; values are not turned.",
        "`F.scaled_dot_product_attention(q, k, v, is_causal=True)` between split and join.",
    ),
    passed="No place was added to x anywhere: what a head sees of places are distances.",
    reference=_Parts,
    twin=lambda model, x: None,
)


RotaryBlock.solution(MyRotaryBlock)
RotaryBlock.solution(_Parts)
_mistake = RotaryBlock.mistake


@_mistake("Positions: nothing is turned, so that only the causal mask knows an order.")
class _(_Parts):
    def turn(self, q, k, v):
        return q, k, v


@_mistake("Positions: the values are turned too. What is heard should not depend on the place.")
class _(_Parts):
    def turn(self, q, k, v):
        q, k, _ = super().turn(q, k, v)
        return q, k, super().turn(v, v, v)[0]


@_mistake(
    "Positions: only the queries are turned. The product knows a distance if the keys are, too."
)
class _(_Parts):
    def turn(self, q, k, v):
        return super().turn(q, k, v)[0], k, v


@_mistake(
    "Positions: you turn before you split, over the whole width. All heads should turn at the same speeds."
)
class _(_Parts):
    def turn(self, q, k, v):
        whole = (x.transpose(1, 2).flatten(2) for x in (q, k))
        q, k, _ = super().turn(*whole, None)
        return self.split(q), self.split(k), v


@_mistake("Attention: yours sees the future. `is_causal=True`.")
class _(_Parts):
    def attend(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v)


@_mistake("Feed-forward: the ReLU between `up_proj` and `down_proj` is missing.")
class _(_Parts):
    def think(self, y):
        return self.down_proj(self.up_proj(y))


@_mistake("Residual: x is not added to what attention and feed-forward make of it.")
class _(_Parts):
    def forward(self, x):
        y = self.norm1(x)
        q, k, v = (self.split(p(y)) for p in (self.q_proj, self.k_proj, self.v_proj))
        x = self.out_proj(self.attend(*self.turn(q, k, v)).transpose(1, 2).flatten(2))
        return self.think(self.norm2(x))


@_mistake(
    "Norm: that is a LayerNorm. RMSNorm divides by the root mean square and takes off no mean."
)
class _(_Parts):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        for norm in (self.norm1, self.norm2):
            norm.forward = lambda x, n=norm: F.layer_norm(x, x.shape[-1:], n.weight)
