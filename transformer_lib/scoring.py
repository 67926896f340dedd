"""How well a query matches a key, as a number: the scores that softmax turns into weights.

Every score is callable as `score(query, key)`, (..., Tq, Q) and (..., Tk, K) to (..., Tq, Tk), and
`Attention` runs with any of them. Lessons 03, 06, 07.
"""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lib.base.listening import Listened
from transformer_lib.masks import Mask, masked_softmax

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


class ProjectedScore(nn.Module):
    """A score in two parts: `project` the keys, then `compare` each query with them.

    No query changes the projected keys: a decoder makes them once a sentence.
    """

    query_size: int
    k_proj: nn.Linear

    def forward(
        self,
        query: Float[Tensor, "*batch query query_size"],
        key: Float[Tensor, "*batch key key_size"],
    ) -> Float[Tensor, "*batch query key"]:
        for name, given, wanted in (
            ("query", query.size(-1), self.query_size),
            ("key", key.size(-1), self.k_proj.in_features),
        ):
            if given != wanted:
                raise ValueError(f"{name} of width {given} for {name}_size={wanted}")
        return self.compare(query, self.project(key))

    def project(self, key: Float[Tensor, "*time key_size"]) -> Float[Tensor, "*time _"]:
        return self.k_proj(key)


class GeneralScore(ProjectedScore):
    """qᵀWk: a dot product in which a matrix translates between two widths (Luong et al. 2015)."""

    def __init__(self, query_size: int, key_size: int):
        super().__init__()
        self.query_size = query_size
        self.k_proj = nn.Linear(key_size, query_size, bias=False)

    def compare(
        self,
        query: Float[Tensor, "*batch query query_size"],
        projected: Float[Tensor, "*batch key query_size"],
    ) -> Float[Tensor, "*batch query key"]:
        """The scores, from keys that are already projected."""
        return dot_score(query, projected)


class AdditiveScore(ProjectedScore):
    """wᵥᵀ tanh(W_q q + W_k k): a network with one hidden layer, for any two widths.

    Bahdanau et al. 2015; the `concat` score of Luong et al. 2015. wᵥ makes the hidden vector a
    number. Without biases, as d2l's `AdditiveAttention`.
    """

    def __init__(self, query_size: int, key_size: int, d_hidden: int):
        super().__init__()
        self.query_size = query_size
        self.q_proj = nn.Linear(query_size, d_hidden, bias=False)
        self.k_proj = nn.Linear(key_size, d_hidden, bias=False)
        self.v_proj = nn.Linear(d_hidden, 1, bias=False)

    def compare(
        self,
        query: Float[Tensor, "*batch query query_size"],
        projected: Float[Tensor, "*batch key d_hidden"],
    ) -> Float[Tensor, "*batch query key"]:
        """The scores, from keys that are already projected."""
        hidden = self.q_proj(query)[..., :, None, :] + projected[..., None, :, :]
        return self.v_proj(torch.tanh(hidden)).squeeze(-1)  # (..., Tq, Tk, hidden) before


class Attention(Listened):
    """The values, averaged with weights masked_softmax(score(q, k)): one attention, any score.

    With `AdditiveScore` it equals d2l's `AdditiveAttention`, with `scaled_dot_score` its
    `DotProductAttention`. `dropout` falls on the weights in training. `record_attention` hears the
    weights as they are before dropout.
    """

    def __init__(self, score: Score, *, dropout: float = 0.0):
        super().__init__()
        self.score = score
        self.dropout = dropout

    def forward(
        self,
        query: Float[Tensor, "*batch query query_size"],
        key: Float[Tensor, "*batch key key_size"],
        value: Float[Tensor, "*batch key value_size"],
        mask: Mask | None = None,
    ) -> Float[Tensor, "*batch query value_size"]:
        return self._average(self.score(query, key), value, mask)

    def project(self, key: Float[Tensor, "*batch key key_size"]) -> Float[Tensor, "*batch key _"]:
        """The part of the score that no query changes: a decoder computes it once a sentence."""
        return self.score.project(key) if isinstance(self.score, ProjectedScore) else key

    def attend(
        self,
        query: Float[Tensor, "*batch query query_size"],
        projected: Float[Tensor, "*batch key _"],
        value: Float[Tensor, "*batch key value_size"],
        mask: Mask | None = None,
        *,
        prior: Float[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "*batch query value_size"]:
        """`forward` from keys that `project` has prepared; `prior` is added to the scores."""
        projects = isinstance(self.score, ProjectedScore)
        scores = (self.score.compare if projects else self.score)(query, projected)
        return self._average(scores if prior is None else scores + prior, value, mask)

    def _average(self, scores: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        weights = masked_softmax(scores, mask)
        self.tell(weights)
        return F.dropout(weights, self.dropout, self.training) @ value


def gaussian_prior(
    center: Float[Tensor, " batch"], width: int, k_len: int
) -> Float[Tensor, "batch 1 {k_len}"]:
    """−(s − center)²/2σ² with σ = width/2, to be added to the scores (Luong et al. 2015, eq. 10).

    The paper multiplies the weights by its exponential after the softmax, so that they no longer
    add up to 1; added before it, the weights are the paper's, renormalised.
    """
    distance = torch.arange(k_len, device=center.device) - center[:, None, None]
    return -distance.square() / (2 * (width / 2) ** 2)
