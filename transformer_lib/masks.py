"""Who may look at whom: the one place where masks are made and applied.

A mask is boolean and True means "this query may attend to this key". It broadcasts to (batch,
heads, query, key), so masks combine with `&`. Lesson 12 draws them all.
"""

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor

Mask = Bool[Tensor, "..."]  # broadcasts to (batch, heads, query, key); True = may attend


def causal_mask(q_len: int, k_len: int | None = None, device=None) -> Bool[Tensor, "query key"]:
    """True where key j is not in the future of query i; the last query sits on the last key.

    With `k_len > q_len` the queries are the newest positions of a longer sequence, as in cached
    decoding. Fewer keys than queries are no such sequence, and raise ValueError.
    """
    k_len = q_len if k_len is None else k_len
    if k_len < q_len:
        raise ValueError(
            f"{q_len} queries, but {k_len} keys: the queries are the last positions of the keys' "
            f"sequence, so it has at least {q_len}"
        )
    return torch.ones(q_len, k_len, dtype=torch.bool, device=device).tril(k_len - q_len)


def padding_mask(ids: Int[Tensor, "batch key"], pad_id: int) -> Bool[Tensor, "batch 1 1 key"]:
    """True at real tokens, for every head and every query."""
    return (ids != pad_id)[:, None, None, :]


def length_mask(lengths: Int[Tensor, "*rows"], max_len: int) -> Bool[Tensor, "*rows {max_len}"]:
    """True at the first `lengths[...]` of `max_len` positions: d2l's `valid_lens`.

    One length a batch row, or one a query.
    """
    return torch.arange(max_len, device=lengths.device) < lengths[..., None]


def window_mask(
    center: Float[Tensor, " batch"], width: int, k_len: int
) -> Bool[Tensor, "batch 1 {k_len}"]:
    """True at source positions at most `width` from the center (Luong et al. 2015, D)."""
    return (torch.arange(k_len, device=center.device) - center[:, None, None]).abs() <= width


def boolean(mask: Shaped[Tensor, "..."]) -> Mask:
    """The mask itself, where it is boolean; TypeError where it holds numbers.

    For numbers mean one thing to some and another to others: none of them is guessed.
    """
    if mask.dtype != torch.bool:
        raise TypeError(
            f"the mask is {mask.dtype}, not torch.bool. Here True means that the query may attend to "
            "the key. Where 1 says so and 0 hides, as in the Annotated Transformer, write mask != 0; "
            "where the numbers are added to the scores, 0 or -inf, as torch allows, write mask == 0"
        )
    return mask


def four_axes(mask: Mask) -> Bool[Tensor, "batch heads query key"]:
    """The mask with each of its axes: of the size it has, or of 1, which broadcasts."""
    return mask[(None,) * (4 - mask.dim())]


def mask_row(mask: Mask, position: int, count: int = 1) -> Bool[Tensor, "batch heads query key"]:
    """What the query at `position` may attend to of the keys up to itself.

    It is the row that `step` needs of the mask that `forward` takes whole; `count` of them for as
    many queries, with the keys up to the last one. Raises ValueError for a position behind the
    mask's last.
    """
    mask, last = four_axes(mask), position + count - 1
    for axis, size in zip(("queries", "keys"), mask.shape[-2:], strict=True):
        if 1 < size <= last:
            raise ValueError(
                f"position {last}, but the target's mask has {size} {axis}: "
                "make it for as many positions as are decoded"
            )
    row = mask if mask.size(-2) == 1 else mask[..., position : last + 1, :]
    return row if row.size(-1) == 1 else row[..., : last + 1]


def masked_softmax(
    scores: Float[Tensor, "*batch query key"],
    mask: Bool[Tensor, "*#batch #query #key"] | None = None,
) -> Float[Tensor, "*batch query key"]:
    """Softmax over the keys that `mask` allows; exactly 0 elsewhere.

    A row that may attend to nothing is all 0. The fill is -inf, not a large number: -1e9 does not fit
    float16, and on an empty row every finite fill averages all values in silence (lesson 12).
    `scores` is left as it was.
    """
    if mask is None:
        return scores.softmax(dim=-1)
    hidden = ~boolean(mask)
    empty = hidden.all(dim=-1, keepdim=True)  # softmax over nothing would be NaN
    weights = scores.masked_fill(hidden & ~empty, float("-inf")).softmax(dim=-1)
    return weights.masked_fill(hidden, 0.0)
