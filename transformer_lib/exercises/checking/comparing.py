"""When two results are the same, and what a value is in few words."""

import textwrap
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def same(a: Any, b: Any, tolerance: float) -> bool:
    """Equal within the tolerance: tensors in shape, kind and value, numbers in value.

    Sequences and dictionaries are compared item by item.
    """
    if is_number(b) and not is_number(a):
        a = _unwrapped(a)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.shape == b.shape and kind(a) == kind(b) and close(a, b, tolerance)
    if is_number(a) and is_number(b):
        return bool(a == b or abs(a - b) <= tolerance) or (a != a and b != b)  # ∞ − ∞ is NaN
    if isinstance(a, list | tuple) and type(a) is type(b):
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in pairs)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], tolerance) for key in a)
    if isinstance(a, Tensor) or isinstance(b, Tensor) or type(a) is not type(b):
        return False
    return bool(a == b)


def kind(value: Any) -> str:
    """Of what kind the entries are; their precision does not matter."""
    if value.dtype == torch.bool:
        return "truth values"
    return (
        "complex numbers"
        if value.is_complex()
        else "floats"
        if value.is_floating_point()
        else "integers"
    )


def close(a: Any, b: Any, tolerance: float) -> bool:
    """Whether two tensors of one shape are equal within the tolerance, of whatever kind."""
    if a.is_complex() or b.is_complex():
        return False
    return torch.allclose(plain(a), plain(b), 0.0, tolerance, equal_nan=True)


def plain(value: Any) -> Tensor:
    """The numbers alone, in double precision: neither their kind nor what they depend on."""
    return value.detach().cpu().double()


def _unwrapped(value: Any) -> Any:
    """The number in a 0-d tensor or a NumPy scalar; anything else as it is."""
    single = getattr(value, "shape", None) == () and hasattr(value, "item")
    return value.item() if single and not getattr(value, "requires_grad", False) else value


def is_number(value: Any) -> bool:
    """An int or a float, but not a truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def describe(value: Any) -> str:
    """What a value is, in few words: a tensor by its shape."""
    if isinstance(value, Tensor):
        kind = "a mask" if value.dtype == torch.bool else "a tensor"
        return f"{kind} of shape {tuple(value.shape)}"
    if is_number(value):
        return f"{value:.4g}"
    if value is None or isinstance(value, bool | str):
        return f"{value!r}"
    if isinstance(value, list | tuple) and len(value) <= 6 and all(map(is_number, value)):
        return f"the {type(value).__name__} {value}"
    if isinstance(value, set | frozenset) and len(value) <= 6:
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    if callable(value):
        return "a function"
    return f"a {type(value).__name__}"


def said(error: BaseException) -> str:
    """An error as one line of code."""
    sentence = textwrap.shorten(str(error), 160, placeholder=" …")
    return f"`{type(error).__name__}: {sentence}`" if sentence else f"`{type(error).__name__}`"


def nth(i: int) -> str:
    """A place, counted from 0, in words."""
    return ("first", "second", "third", "fourth", "fifth", "sixth")[i] if i < 6 else f"{i + 1}th"


def listed(places: Sequence[int]) -> str:
    """Places in words, joined."""
    return " and ".join(map(nth, places))
