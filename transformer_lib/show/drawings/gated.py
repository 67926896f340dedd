"""A gated network at one token: two paths, multiplied entry by entry. Lesson 18."""

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from transformer_lib.show.drawings.marks import fitted, number, rectangle
from transformer_lib.show.drawings.scene import (
    Label,
    Number,
    Part,
    Scene,
    Shape,
    Step,
    Vector,
    arrow,
    fork,
    label,
    operation,
    straight,
)

CELL = (66, 34)
LANE, TOP = 190, 62  # from the middle to a path, and how low its matrix begins
X = torch.tensor([1.0, 2])
W_GATE = torch.tensor([[0.0, 2, 1], [1, -1, -1]])
W_UP = torch.tensor([[1.0, 1, 0], [0, 1, 1]])
W_DOWN = torch.tensor([[1.0, 0], [1, 1], [0, 2]])


def gate(
    x: Float[Tensor, " d_model"] = X,
    W_gate: Float[Tensor, "d_model d_ff"] = W_GATE,
    W_up: Float[Tensor, "d_model d_ff"] = W_UP,
    W_down: Float[Tensor, "d_ff d_model"] = W_DOWN,
) -> Scene:
    """What a gated network makes of one token: (swish(x W_gate) ⊙ x W_up) W_down, in numbers."""
    before, up = x @ W_gate, x @ W_up
    opened = F.silu(before)
    lane = max(LANE, CELL[0] * (len(up) + 1) / 2)
    low = TOP + CELL[1] * len(W_gate)  # the lower side of the two matrices
    token = _row("x", 0, 0, x, "token", "x, one token")
    split = fork("x.fork", 0, (TOP + low) / 2)
    gates = _matrix("gate.W", -lane, TOP, W_gate, "W_gate")
    ups = _matrix("up.W", lane, TOP, W_up, "W_up")
    sums = _row("gate.sums", -lane, low + 48, before, "score", "x W_gate")
    swish = _row("gate.swish", -lane, low + 124, opened, "weight", "swish", strong=True)
    says = _row("up.sums", lane, low + 48, up, "value", "x W_up", strong=True)
    times = operation("times", 0, swish.y, "×")
    both = _row("product", 0, swish.y + 70, opened * up, "output", "gate times up", strong=True)
    downs = _matrix("down.W", 0, both.y + 50, W_down, "W_down")
    end = downs[0].on("bottom")[1] + 48
    out = _row("down", 0, end, (opened * up) @ W_down, "output", "output", strong=True)
    lines = [
        straight(token, split, "bottom", head=False),
        straight(split, gates[0], "left"),
        straight(split, ups[0], "right"),
        straight(gates[0], sums, "bottom"),
        straight(sums, swish, "bottom"),
        straight(ups[0], says, "bottom"),
        straight(swish, times, "right", role="weight"),
        arrow(says, times, says.on("bottom"), (says.x, times.y), times.on("right"), role="value"),
        straight(times, both, "bottom", role="output"),
        straight(both, downs[0], "bottom"),
        straight(downs[0], out, "bottom", role="output"),
    ]
    rows = [token, sums, swish, says, both, out]
    names = [_name(part, part.label) for part in rows]
    names += [
        _name(w[0], text) for w, text in ((gates, "W_gate"), (ups, "W_up"), (downs, "W_down"))
    ]
    drawn = [token, split, *gates, sums, swish, *ups, says, times, both, *downs, out]
    steps = [
        Step(("x", "gate"), "The gate: x W_gate, then swish(a) = a · σ(a) of each entry."),
        Step(("x", "up"), "What is gated: x W_up, as it is."),
        Step(("gate.swish", "up.sums", "times", "product"), "Entry by entry, gate times up."),
        Step(("product", "down"), "Down: times W_down, and it is as wide as the token again."),
    ]
    return fitted("A gated network at one token", [*drawn, *names, *lines], steps, margin=12)


def _row(
    name: str, x: Number, y: Number, entries: Tensor, role: str, told: str, **look: object
) -> Vector:
    cells = tuple(number(entry) for entry in entries.tolist())
    return Vector(name, x, y, CELL[0] * len(cells), CELL[1], cells, role, told, size=18, **look)


def _matrix(name: str, x: Number, top: Number, entries: Tensor, told: str) -> list[Part]:
    """The rows of a matrix, and before them its outline, at which lines end."""
    high, wide = CELL[1] * len(entries), CELL[0] * entries.size(1)
    outline = rectangle(wide, high, 0)
    rows = [
        _row(f"{name}.{i}", x, top + CELL[1] * (i + 0.5), row, "feed-forward", f"{told}, row {i}:")
        for i, row in enumerate(entries)
    ]
    return [Shape(name, x, top + high / 2, wide, high, outline, "feed-forward"), *rows]


def _name(part: Part, text: str) -> Label:
    """What a row or a matrix is, on the side where no line runs."""
    side, anchor, away = ("left", "end", -14) if part.x < 0 else ("right", "start", 14)
    look = {"anchor": anchor, "size": 18, "bold": True, "spoken": False}
    return label(f"{part.name}.name", part.on(side)[0] + away, part.y, text, **look)
