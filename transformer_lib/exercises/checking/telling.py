"""How a call went another way than it should have, in words."""

from typing import Any

import torch
from torch import Tensor

from transformer_lib.exercises.checking import errors, running
from transformer_lib.exercises.checking.comparing import (
    describe,
    is_number,
    kind,
    listed,
    nth,
    plain,
    said,
    same,
)
from transformer_lib.exercises.checking.running import Outcome, TimeUp


def failure(
    got: Outcome, called: str, given: str, seconds: float | None = None, answer: Any = None
) -> str | None:
    """In words, that a call gave no value at all; None if it gave one."""
    if isinstance(got.error, TimeUp):
        limit = running.SECONDS if seconds is None else seconds
        return (
            f"{called} was still running after {limit:g} seconds. Does a loop never end? (Should the "
            "kernel stay busy, restart it.)"
        )
    if got.error is not None:
        call = f"{called}, given {given}," if given else called
        return f"{call} raised {errors.told(got.error, answer)}"
    if got.value is None:
        return f"{called} returned None. Is its last line a `return`?"
    return None


def difference(
    got: Outcome,
    wanted: Outcome,
    called: str,
    given: str,
    tolerance: float,
    seconds: float | None = None,
    answer: Any = None,
) -> str:
    """In words, how a call went another way than it should have."""
    if failed := failure(got, called, given, seconds, answer):
        return failed
    if wanted.error is not None:
        return f"{called}, given {given}, should raise {said(wanted.error)}"
    if not same(got.value, wanted.value, tolerance):
        return f"{called} returned {_against(got.value, wanted.value, tolerance)}"
    names = " and ".join(f"`{name}`" for name in got.changed)
    return f"The result is right, but the call changed its input {names}. Work on a copy."


def _against(got: Any, wanted: Any, tolerance: float) -> str:
    if isinstance(wanted, Tensor) and isinstance(got, Tensor):
        if got.shape != wanted.shape:
            return f"a shape of {tuple(got.shape)}; it should be {tuple(wanted.shape)}."
        if wanted.dtype == torch.bool and got.dtype != torch.bool:
            return f"{got.dtype}; a mask is torch.bool."
        if got.isnan().any():
            return (
                f"NaN in {int(got.isnan().sum())} of {got.numel()} entries. A division by zero, or "
                "infinity minus infinity?"
            )
        off = (plain(got) - plain(wanted)).abs() > tolerance
        if not off.any():
            return f"a tensor of {kind(got)}; {kind(wanted)} are wanted."
        place = tuple(off.nonzero()[0].tolist())
        ours, theirs = describe(got[place].item()), describe(wanted[place].item())
        if not place:
            return f"{ours}; it should be {theirs}."
        return (
            f"{ours} at {list(place)}; it should be {theirs}. "
            f"{int(off.sum())} of {off.numel()} entries differ."
        )
    if isinstance(wanted, Tensor) and wanted.dim() == 0 and is_number(got):
        return (
            f"the Python number {got:.4g}; it should be a tensor, {describe(wanted.item())}: a "
            "gradient must be able to flow through it."
        )
    if isinstance(wanted, tuple) and isinstance(got, tuple) and len(got) != len(wanted):
        return f"{len(got)} things; {len(wanted)} are wanted."
    if isinstance(wanted, tuple) and isinstance(got, tuple):
        wrong = [
            i for i, (a, b) in enumerate(zip(got, wanted, strict=True)) if not same(a, b, tolerance)
        ]
        rest = [i for i in range(len(got)) if i not in wrong]
        parts = [f"The {nth(i)} is {_against(got[i], wanted[i], tolerance)}" for i in wrong]
        right = f" The {listed(rest)} {'is' if len(rest) == 1 else 'are'} right." if rest else ""
        return f"{len(got)} things.{right} {' '.join(parts)}"
    if type(got) is not type(wanted) and not (is_number(got) and is_number(wanted)):
        way = ""
        if isinstance(wanted, Tensor) and isinstance(got, list | tuple):
            way = " (`torch.tensor` makes one of numbers, `torch.stack` of tensors)"
        elif isinstance(wanted, tuple):
            way = " (`return a, b`)"
        elif callable(got):
            way = " (return what it gives: call it)"
        return f"{describe(got)}; it should be {describe(wanted)}{way}."
    return f"{_value(got)}; it should be {_value(wanted)}."


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value!r}"[:120]
