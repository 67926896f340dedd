"""What a check says: of what kind, in which words, and the smallest case that went wrong."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import torch
from torch import Tensor

from transformer_lib.exercises.checking.comparing import describe, kind, plain

KINDS = ("passed", "empty", "mistake", "relation", "different", "error")
Place = tuple[int, ...]
_WIDE = 76  # characters: what stands side by side
_MANY = 12  # rows or columns of a table; of more the middle is left out


@dataclass(frozen=True)
class Paper:
    """One case, whole, as one would work it on paper: what goes in, what came out, what should.

    `place` is where the two first differ; `how` says in one line how the right entry comes about.
    """

    given: Sequence[tuple[str, Any]]
    yours: Any
    wanted: Any
    about: str = ""
    place: Place | None = None
    how: str = ""

    def __str__(self) -> str:
        blocks = [_block(name, value) for name, value in self.given]
        text = _side_by_side(blocks)
        digits = _digits(self.yours, self.wanted, self.place)
        both = isinstance(self.yours, Tensor) and isinstance(self.wanted, Tensor)
        of = lambda x: f", {kind(x)}" if both and kind(self.yours) != kind(self.wanted) else ""
        ours = _block(f"yours{of(self.yours)}", self.yours, self.place, digits)
        theirs = _block(f"wanted{of(self.wanted)}", self.wanted, self.place, digits)
        head = f"The smallest of our cases that goes wrong{self.about and f' ({self.about})'}:"
        return "\n\n".join(
            filter(None, [head, text, _side_by_side([ours, theirs]), self.how])
        ).rstrip()


@dataclass(frozen=True)
class Verdict:
    """The answer to an answer: its kind, one or two sentences, and the case for paper.

    Drawn as Markdown in a notebook. `data` gives the same to a program.
    """

    kind: str
    message: str
    paper: Paper | None = field(default=None, compare=False)

    @property
    def passed(self) -> bool:
        return self.kind == "passed"

    @property
    def attempted(self) -> bool:
        return self.kind != "empty"

    @property
    def data(self) -> dict[str, Any]:
        return {"kind": self.kind, "message": self.message, "case": str(self.paper or "")}

    @property
    def _sign(self) -> str:
        return "✓" if self.passed else "✗" if self.attempted else "○"

    def __repr__(self) -> str:
        return "\n\n".join(
            [f"{self._sign} {self.message}", *([str(self.paper)] if self.paper else [])]
        )

    def _repr_markdown_(self) -> str:
        case = f"\n\n```text\n{self.paper}\n```" if self.paper else ""
        return f"**{self._sign}** {self.message}{case}"


def smallness(case: Sequence[Any]) -> int:
    """How many numbers a case holds."""
    return sum(_numbers(value) for value in case)


def _numbers(value: Any) -> int:
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, list | tuple | set | frozenset):
        return sum(map(_numbers, value))
    return len(value) if isinstance(value, str | dict) else 1


def first_difference(yours: Any, wanted: Any, tolerance: float) -> Place | None:
    """Where two tensors of one shape first differ, in a tuple with its index in front."""
    if isinstance(yours, tuple) and isinstance(wanted, tuple):
        places = (first_difference(a, b, tolerance) for a, b in zip(yours, wanted, strict=False))
        return next(((i, *place) for i, place in enumerate(places) if place is not None), None)
    if isinstance(yours, Tensor) and isinstance(wanted, Tensor) and yours.shape == wanted.shape:
        if yours.is_complex() or wanted.is_complex():
            return None
        off = ~torch.isclose(plain(yours), plain(wanted), 0.0, tolerance, equal_nan=True)
        return tuple(off.nonzero()[0].tolist()) if off.any() else None
    return None


def _digits(yours: Any, wanted: Any, place: Place | None) -> int:
    """So many digits behind the point that the difference is seen."""
    if place is not None and isinstance(yours, tuple):
        return _digits(yours[place[0]], wanted[place[0]], place[1:])
    if place is None or not isinstance(yours, Tensor):
        return 2
    a, b = yours[place].item(), wanted[place].item()
    seen = lambda x, n: not x or round(x, n) != 0
    told = (n for n in range(2, 7) if round(a, n) != round(b, n) and seen(a, n) and seen(b, n))
    return next(told, 6)


def _block(name: str, value: Any, mark: Place | None = None, digits: int = 2) -> list[str]:
    """A value under its name: a table, or tables under each other, or one line."""
    if isinstance(value, tuple) and any(isinstance(item, Tensor) for item in value):
        marks = [mark[1:] if mark and mark[0] == i else None for i in range(len(value))]
        both = zip(value, marks, strict=True)
        items = [_block(f"{name}[{i}]", *pair, digits) for i, pair in enumerate(both)]
        return [line for item in items for line in [*item, ""]]
    if not isinstance(value, Tensor):
        return [f"{name} = {_short(value)}"]
    if value.dim() == 0:
        return [f"{name} = {_entry(value.item(), digits)}"]
    lines = [f"{name} {tuple(value.shape)}"]
    if value.dim() == 1:
        return lines + _table(value[None], None if mark is None else (0, *mark), digits)
    for index in product(*map(range, value.shape[:-2])):
        inner = mark[-2:] if mark is not None and mark[:-2] == index else None
        lines += [str(list(index))] if index else []
        lines += _table(value[index], inner, digits)
    return lines


def _table(rows: Tensor, mark: Place | None, digits: int) -> list[str]:
    whole = not rows.is_floating_point() or (
        bool(rows.isfinite().all()) and bool((rows == rows.round()).all()) and digits == 2
    )
    cells = [[_entry(x, 0 if whole else digits) for x in row] for row in rows.tolist()]
    if mark is not None:
        row, column = mark
        cells[row][column] = f"▸{cells[row][column]}◂"
    width = max((len(cell) for row in cells for cell in row), default=1)
    return ["".join(f" {cell:>{width}}" for cell in _cut(row)) for row in _cut(cells, ["…"])]


def _cut(items: list, gap: Any = "…") -> list:
    return items if len(items) <= _MANY else [*items[: _MANY - 2], gap, items[-1]]


def _entry(x: Any, digits: int) -> str:
    if isinstance(x, bool):
        return "T" if x else "F"
    if isinstance(x, int):
        return str(x)
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    if math.isnan(x):
        return "NaN"
    return f"{round(x, digits) + 0.0:.{digits}f}" if abs(x) < 1e5 else f"{x:.1e}"


def _short(value: Any) -> str:
    """On one line; a function by what its docstring says that it does."""
    if callable(value):
        return (value.__doc__ or "a function").strip().rstrip(".")
    text = repr(_rounded(value)) if not isinstance(value, float) else f"{value:.6g}"
    return text if len(text) <= 300 else describe(value)


def _rounded(value: Any) -> Any:
    if type(value) in (list, tuple):
        return type(value)(map(_rounded, value))
    return float(f"{value:.6g}") if isinstance(value, float) else value


def _side_by_side(blocks: list[list[str]]) -> str:
    """Blocks beside each other where the line has room, else below."""
    rows: list[list[list[str]]] = [[]]
    for block in blocks:
        used = sum(max(map(len, b)) + 4 for b in rows[-1])
        sentence = any(len(b) == 1 and len(b[0]) > _WIDE // 3 for b in [block, *rows[-1]])
        if rows[-1] and (sentence or used + max(map(len, block)) > _WIDE):
            rows.append([])
        rows[-1].append(block)
    return "\n\n".join("\n".join(_joined(row)) for row in rows if row)


def _joined(blocks: list[list[str]]) -> list[str]:
    high = max(map(len, blocks))
    widths = [max(map(len, block)) for block in blocks]
    padded = [block + [""] * (high - len(block)) for block in blocks]
    return [
        "    ".join(f"{line:<{w}}" for line, w in zip(row, widths, strict=True)).rstrip()
        for row in zip(*padded, strict=True)
    ]
