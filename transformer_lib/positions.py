"""Where a token stands: codes that are added to the embeddings, because attention itself cannot see
order. Lesson 10.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def sinusoid_table(max_len: int, d_model: int) -> Float[Tensor, "{max_len} {d_model}"]:
    """P[t, 2i] = sin(t / 10000^(2i/d)), P[t, 2i+1] = cos of the same: pair i turns at its own
    speed.

    Computed in float64, returned in the default dtype. An odd `d_model` leaves the last sine
    without its cosine. (Vaswani et al. 2017, section 3.5)
    """
    time = torch.arange(max_len, dtype=torch.float64)[:, None]
    pair = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = time / 10000 ** (pair / d_model)  # (max_len, ceil(d_model / 2))
    table = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
    return table[:, :d_model].to(torch.get_default_dtype())


class _AddedPositions(nn.Module):
    """x + code[offset : offset + time], then dropout; the subclass says where the codes come from."""

    def __init__(self, max_len: int, dropout: float):
        super().__init__()
        self.max_len = max_len
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch time d_model"], offset: int = 0
    ) -> Float[Tensor, "batch time d_model"]:
        """`x` with the codes of positions offset, offset + 1, … added; `x` itself is left alone,
        its dtype kept.

        Raises ValueError past `max_len`. `offset` is how many positions came before, as in
        step-by-step decoding.
        """
        if x.size(-1) != self.table.size(-1):
            raise ValueError(f"input of width {x.size(-1)} for d_model={self.table.size(-1)}")
        end = offset + x.size(1)
        if end > self.max_len:
            raise ValueError(
                f"{end} positions do not fit max_len={self.max_len}: "
                "shorten the sequence or build with a larger max_len"
            )
        return self.dropout(x + self.table[offset:end].to(x.dtype))


class SinusoidalPositions(_AddedPositions):
    """Fixed sine and cosine codes; nothing is learned and nothing is stored in a checkpoint."""

    def __init__(self, d_model: int, max_len: int, *, dropout: float = 0.0):
        super().__init__(max_len, dropout)
        self.register_buffer("table", sinusoid_table(max_len, d_model), persistent=False)


class LearnedPositions(_AddedPositions):
    """One trained vector a position; a position that training never reached has an untrained one."""

    def __init__(self, d_model: int, max_len: int, *, dropout: float = 0.0):
        super().__init__(max_len, dropout)
        self.table = nn.Parameter(torch.randn(max_len, d_model) * d_model**-0.5)
