"""What broadcasting repeats, drawn. Lesson 00."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lib.show.drawings.marks import fitted
from transformer_lib.show.drawings.marks import number as written
from transformer_lib.show.drawings.scene import CELL, Part, Scene, label, operation, row

GAP = 76  # between two tables, for the sign


def broadcasting(left: Float[Tensor, "..."], right: Float[Tensor, "..."]) -> Scene:
    """A sum of two tables: what each brings along is coloured, what broadcasting repeats is pale.

    Either may lack the first axis, or have length 1 in an axis. Shapes that do not fit
    raise torch's error. Above each table stands the shape that it was given with.
    """
    total = left + right
    tables = {"left": left, "right": right, "sum": total}
    wide = total.size(-1) * CELL[0] + GAP
    parts: list[Part] = []
    for place, (name, table) in enumerate(tables.items()):
        x = place * wide
        middle = x + (wide - GAP) / 2
        parts.append(label(f"{name}.shape", middle, -18, str(tuple(table.shape)), bold=True))
        parts += _grid(name, x, table, total.shape)
        if place:
            y = total.size(0) * CELL[1] / 2
            parts.append(operation(f"{name}.sign", x - GAP / 2, y, "+" if place == 1 else "="))
    return fitted("What broadcasting repeats", parts, margin=12)


def _grid(name: str, x: float, table: Tensor, size: torch.Size) -> list[Part]:
    """The table at its full size, row by row: first what is its own, then what is repeated."""
    given = table.reshape(1, -1) if table.dim() == 1 else table
    rows = []
    for i, line in enumerate(given.expand(size).tolist()):
        own = given.size(1) if i < given.size(0) else 0
        y, middle, cells = (i + 0.5) * CELL[1], x + own * CELL[0], list(map(written, line))
        if own:
            role = "output" if name == "sum" else "weight"
            rows.append(row(f"{name}.{i}", x, y, cells[:own], role, label=f"row {i}:"))
        if cells[own:]:
            rows.append(row(f"{name}.{i}.repeated", middle, y, cells[own:], "token"))
    return rows
