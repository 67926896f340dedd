"""Where a token stands, because attention itself cannot see order. Lesson 10.

There are two ways in: codes that are added to the embeddings, and `RelativePositions`, which act
inside self-attention. `POSITIONS` is the table of them all; a new kind is a line of it.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn


def sinusoid_table(
    max_len: int, d_model: int, base: float = 10000.0
) -> Float[Tensor, "{max_len} {d_model}"]:
    """P[t, 2i] = sin(t / base^(2i/d)), P[t, 2i+1] = cos of the same angle.

    Pair i has an angular frequency of its own, base^(-2i/d). Computed in float64, returned in the
    default dtype. An odd `d_model` leaves the last sine without its cosine. (Vaswani et al. 2017,
    section 3.5)
    """
    time = torch.arange(max_len, dtype=torch.float64)[:, None]
    pair = torch.arange(0, d_model, 2, dtype=torch.float64)
    angle = time / base ** (pair / d_model)  # (max_len, ceil(d_model / 2))
    table = torch.stack((angle.sin(), angle.cos()), dim=-1).flatten(1)
    return table[:, :d_model].to(torch.get_default_dtype())


class _AddedPositions(nn.Module):
    """x + code[offset : offset + time], then dropout. Subclasses say where the codes come from."""

    def __init__(self, dropout: float):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch time d_model"], offset: int = 0
    ) -> Float[Tensor, "batch time d_model"]:
        """`x` with the codes of positions offset, offset + 1, … added, in the dtype of `x`.

        `x` itself is left alone. `offset` is how many positions came before, as in step-by-step
        decoding. Raises ValueError past `max_len`.
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
    """One trained vector a position; where training never came, it is an untrained one."""

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

    The pair (2i, 2i + 1) at position t turns by the angle t / base^(2i/d): it is a complex number,
    and to turn it is one multiplication. Values are not turned. No parameters.
    """

    def __init__(self, d_head: int, max_len: int, *, base: float = 10000.0):
        super().__init__()
        if d_head % 2:
            raise ValueError(f"d_head={d_head} is odd: rotary positions turn pairs")
        self.register_buffer("table", sinusoid_table(max_len, d_head, base), persistent=False)

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


class RotaryHalves(RotaryPositions):
    """The same turns with the other layout: pair i is (i, i + d_head/2), not (2i, 2i + 1).

    Weights that were trained with one layout mean nothing to the other: the rows of the projections
    of queries and keys stand in another order, and the shapes agree. (Hugging Face's Llama has this
    layout; the paper and Meta's code have neighbours.)
    """

    def turn(
        self, x: Float[Tensor, "*batch time d_head"], offset: int = 0
    ) -> Float[Tensor, "*batch time d_head"]:
        """`x`, the first row of which stands at position `offset`, turned."""
        neighbours = x.unflatten(-1, (2, -1)).mT.flatten(-2)
        return super().turn(neighbours, offset).unflatten(-1, (-1, 2)).mT.flatten(-2)


def alibi_slopes(num_heads: int) -> Float[Tensor, " {num_heads}"]:
    """2^(-8h/H) for head h = 1 to H, where H is a power of two: of eight heads 1/2, 1/4 to 1/256.

    Any other number of heads gets what the authors' code gives it, so that their models can be
    computed: the slopes of the next smaller power of two, then every second one of twice as many.
    """
    if num_heads < 1:
        raise ValueError(f"num_heads={num_heads}, but attention has at least 1 head")
    power = 2 ** (num_heads.bit_length() - 1)
    fewer, more = ([2 ** (-8 * h / n) for h in range(1, n + 1)] for n in (power, 2 * power))
    return torch.tensor([*fewer, *more[::2]][:num_heads])


class AlibiPositions(RelativePositions):
    """Takes slope · distance off the score of every pair, each head with a slope of its own.

    So a head of a large slope looks at neighbours, one of a small slope far around, at any length
    (Press et al. 2022, https://arxiv.org/abs/2108.12409). The paper's models only look back; an
    encoder looks both ways, hence the distance |i - j|. No parameters, and no longest length.
    """

    def __init__(self, num_heads: int):
        super().__init__()
        self.register_buffer("slopes", alibi_slopes(num_heads), persistent=False)

    def bias(
        self, q: Float[Tensor, "batch heads query d_head"], k_len: int
    ) -> Float[Tensor, "1 heads query {k_len}"]:
        """-slope · |i - j| for query i and key j, in the dtype of the queries."""
        heads, q_len = q.shape[1:3]
        if heads != len(self.slopes):
            raise ValueError(f"{heads} heads for slopes of num_heads={len(self.slopes)}")
        if q_len > k_len:
            raise ValueError(f"{q_len} queries, but {k_len} keys: the queries are the last of them")
        places = torch.arange(k_len, device=q.device)
        distance = (places[k_len - q_len :, None] - places).abs()
        return (-self.slopes[:, None, None] * distance).to(q.dtype)[None]


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
    "alibi": PositionKind(relative=lambda d_model, num_heads, max_len: AlibiPositions(num_heads)),
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
