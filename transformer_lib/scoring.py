"""How well a query matches a key, as a number: the scores that softmax turns into weights.

Every score is callable as `score(query, key)`, (..., Tq, Q) and (..., Tk, K) to (..., Tq, Tk), and
`Attention` runs with any of them. Lesson 03.
"""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lib.masks import masked_softmax

Score = Callable[[Tensor, Tensor], Tensor]


def dot_score(
    query: Float[Tensor, "*batch query width"], key: Float[Tensor, "*batch key width"]
) -> Float[Tensor, "*batch query key"]:
    """qᵀk: no parameters, one matrix product, and query and key must have one width."""
    return query @ key.transpose(-2, -1)


def scaled_dot_score(
    query: Float[Tensor, "*batch query width"], key: Float[Tensor, "*batch key width"]
) -> Float[Tensor, "*batch query key"]:
    """qᵀk/√d, which keeps variance 1 where the entries of q and k have it (lesson 04)."""
    return dot_score(query, key) / math.sqrt(query.size(-1))


class AdditiveScore(nn.Module):
    """wᵥᵀ tanh(W_q q + W_k k): a network with one hidden layer, for queries and keys of any two
    widths (Bahdanau et al. 2015).

    wᵥ makes the hidden vector a number. Without biases, as d2l's `AdditiveAttention`.
    """

    def __init__(self, query_size: int, key_size: int, d_hidden: int):
        super().__init__()
        self.q_proj = nn.Linear(query_size, d_hidden, bias=False)
        self.k_proj = nn.Linear(key_size, d_hidden, bias=False)
        self.v_proj = nn.Linear(d_hidden, 1, bias=False)

    def forward(
        self,
        query: Float[Tensor, "*batch query query_size"],
        key: Float[Tensor, "*batch key key_size"],
    ) -> Float[Tensor, "*batch query key"]:
        for name, given, wanted in (
            ("query", query.size(-1), self.q_proj.in_features),
            ("key", key.size(-1), self.k_proj.in_features),
        ):
            if given != wanted:
                raise ValueError(f"{name} of width {given} for {name}_size={wanted}")
        hidden = self.q_proj(query)[..., :, None, :] + self.k_proj(key)[..., None, :, :]
        return self.v_proj(torch.tanh(hidden)).squeeze(-1)  # (..., Tq, Tk, hidden) before


class Attention(nn.Module):
    """The values, averaged with weights masked_softmax(score(q, k)): one attention, any score.

    With `AdditiveScore` it equals d2l's `AdditiveAttention`, with `scaled_dot_score` its
    `DotProductAttention`. `dropout` falls on the weights in training. `record_attention` hears the
    weights as they are before dropout.
    """

    def __init__(self, score: Score, *, dropout: float = 0.0):
        super().__init__()
        self.score = score
        self.dropout = dropout
        self.record: list[Tensor] | None = None  # a list while `record_attention` listens

    def forward(
        self,
        query: Float[Tensor, "*batch query query_size"],
        key: Float[Tensor, "*batch key key_size"],
        value: Float[Tensor, "*batch key value_size"],
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "*batch query value_size"]:
        weights = masked_softmax(self.score(query, key), mask)
        if self.record is not None:
            self.record.append(weights.detach())
        return F.dropout(weights, self.dropout, self.training) @ value
