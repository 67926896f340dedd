"""Where a token stands, because attention itself cannot see order. Lesson 10.

There are two ways in: codes that are added to the embeddings, and `RelativePositions`, which act
inside self-attention. `POSITIONS` is the table of them all; a new kind is a line of it.
"""

from collections.abc import Callable
from typing import NamedTuple

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

    def __init__(self, dropout: float):
        super().__init__()
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
        return self.dropout(x + _rows(self.table, offset, x.size(1)).to(x.dtype))


class SinusoidalPositions(_AddedPositions):
    """Fixed sine and cosine codes; nothing is learned and nothing is stored in a checkpoint."""

    def __init__(self, d_model: int, max_len: int, *, dropout: float = 0.0):
        super().__init__(dropout)
        self.register_buffer("table", sinusoid_table(max_len, d_model), persistent=False)


class LearnedPositions(_AddedPositions):
    """One trained vector a position; a position that training never reached has an untrained one."""

    def __init__(self, d_model: int, max_len: int, *, dropout: float = 0.0):
        super().__init__(dropout)
        self.table = nn.Parameter(torch.randn(max_len, d_model) * d_model**-0.5)


class NoPositions(nn.Module):
    """Dropout alone: for a model without order, or one that gets it from `RelativePositions`."""

    def __init__(self, d_model: int, max_len: int, *, dropout: float = 0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch time d_model"], offset: int = 0
    ) -> Float[Tensor, "batch time d_model"]:
        return self.dropout(x)


class RelativePositions(nn.Module):
    """What acts inside self-attention: it may turn queries and keys, and add to their scores.

    `MultiHeadAttention(..., relative=...)` asks it for both; here neither happens. For
    self-attention alone: queries and keys must be places of one sequence, the queries its last.
    """

    def turn(
        self, x: Float[Tensor, "*batch time d_head"], offset: int = 0
    ) -> Float[Tensor, "*batch time d_head"]:
        """Queries or keys, the first of which stands at position `offset`, as they are to meet."""
        return x

    def bias(
        self, q: Float[Tensor, "batch heads query d_head"], k_len: int
    ) -> Float[Tensor, "1 heads query {k_len}"] | None:
        """What is added to the scores of these queries, the last of `k_len` positions."""
        return None


class RotaryPositions(RelativePositions):
    """Turns queries and keys, so that their products know distances and no places (Su et al. 2021).

    The pair (2i, 2i + 1) at position t turns by the angle t / 10000^(2i/d): it is a complex number,
    and to turn it is one multiplication. Values are not turned. No parameters.
    """

    def __init__(self, d_head: int, max_len: int):
        super().__init__()
        if d_head % 2:
            raise ValueError(f"d_head={d_head} is odd: rotary positions turn pairs")
        self.register_buffer("table", sinusoid_table(max_len, d_head), persistent=False)

    def turn(
        self, x: Float[Tensor, "*batch time d_head"], offset: int = 0
    ) -> Float[Tensor, "*batch time d_head"]:
        """`x`, the first row of which stands at position `offset`, turned."""
        if x.size(-1) != self.table.size(-1):
            raise ValueError(f"input of width {x.size(-1)} for d_head={self.table.size(-1)}")
        dtype = torch.promote_types(x.dtype, torch.float32)  # complex numbers come no smaller
        sin, cos = _rows(self.table, offset, x.size(-2)).to(dtype).unflatten(-1, (-1, 2)).unbind(-1)
        pairs = torch.view_as_complex(x.to(dtype).unflatten(-1, (-1, 2)).contiguous())
        turned = torch.view_as_real(pairs * torch.complex(cos, sin))
        return turned.flatten(-2).to(x.dtype)


class PositionKind(NamedTuple):
    """A way to know places: what it adds to the embeddings, and what acts inside self-attention."""

    added: Callable[..., nn.Module] = NoPositions  # of d_model, max_len and dropout=
    relative: Callable[..., RelativePositions | None] = lambda d_model, num_heads, max_len: None


POSITIONS = {
    "sinusoidal": PositionKind(SinusoidalPositions),
    "learned": PositionKind(LearnedPositions),
    "rotary": PositionKind(
        relative=lambda d_model, num_heads, max_len: RotaryPositions(d_model // num_heads, max_len)
    ),
    "none": PositionKind(),
}


def _rows(table: Tensor, offset: int, time: int) -> Tensor:
    """Rows offset, offset + 1, … of a table of positions."""
    if offset < 0:
        raise ValueError(f"a first position of {offset}: there are more queries than keys")
    if offset + time > len(table):
        raise ValueError(
            f"{offset + time} positions do not fit max_len={len(table)}: "
            "shorten the sequence or build with a larger max_len"
        )
    return table[offset : offset + time]
