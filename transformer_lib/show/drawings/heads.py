"""Multi-head attention: the heads split and joined, the reshape that splits, the sum that joins.

A head keeps its colour. Lesson 09.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lib.attention import attention_weights
from transformer_lib.show.drawings.marks import fitted, number, text_width
from transformer_lib.show.drawings.scene import (
    CELL,
    Box,
    Number,
    Part,
    Scene,
    Step,
    Vector,
    arrow,
    label,
    operation,
    row,
    straight,
)
from transformer_lib.show.drawings.stack import hear_shapes, shape_of

LANE, MAP = 190, 88  # the width of a head, and of its map
PROJECTIONS = {"k_proj": "key", "v_proj": "value", "q_proj": "query"}


def multi_head_attention(module: nn.Module, x: Float[Tensor, "1 time d_model"]) -> Scene:
    """Project, split, attend, join, project: every shape, and every head's weights, from a run."""
    shapes, heads = hear_shapes(module, x, x, x), module.num_heads
    d_head = x.size(-1) // heads
    parts = _projected(shapes, shape_of(x), LANE * heads / 2)
    cut = f"(1, {heads} heads, {x.size(1)}, {d_head})"
    wide = max(LANE * heads, 570)
    split = Box(
        "split", LANE * heads / 2, 416, wide, 50, "split each width into heads", "token", cut
    )
    parts += [
        straight(part, split, "top", role=part.role) for part in parts if part.name in PROJECTIONS
    ]
    parts.append(split)
    again = f"side by side again {shape_of(x)}"
    joined = Box("joined", split.x, 66, max(LANE * heads, 300), 30, again, "token")
    out = Box("out_proj", split.x, 0, 190, 50, "out_proj", "output", shapes["out_proj"])
    for h, weights in enumerate(head_weights(module, x)):
        parts += _lane(h, weights, f"({x.size(1)}, {d_head})", split)
    parts += [joined, straight(joined, out, "top", role="output"), out]
    names = tuple(f"head{h}" for h in range(heads))
    steps = [
        Step(("x",), "The same vectors serve as queries, keys and values."),
        Step(("x", *PROJECTIONS), "Project: three matrices, each over the whole width."),
        Step(
            (*PROJECTIONS, "split"),
            f"Split: {x.size(-1)} numbers are cut into {heads} times {d_head}.",
        ),
        Step((*names, "join"), "Attend: every head has weights of its own."),
        Step(("join", "joined"), f"Join: {heads} times {d_head} numbers stand side by side again."),
        Step(("joined", "out_proj"), "Project: the one place where the heads are mixed."),
    ]
    return fitted(f"Multi-head attention, {heads} heads", parts, steps)


def head_weights(
    module: nn.Module, x: Float[Tensor, "1 time d_model"]
) -> Float[Tensor, "head time time"]:
    """The weights of every head, from the module's own projections."""
    with torch.no_grad():
        q, k = (
            project(x).unflatten(-1, (module.num_heads, -1)).transpose(1, 2)
            for project in (module.q_proj, module.k_proj)
        )
        return attention_weights(q, k)[0]


def _projected(shapes: dict[str, str], shape: str, middle: Number) -> list[Part]:
    source = Box("x", middle, 600, 190, 50, "x", "output", shape)
    parts = [source]
    for i, (name, role) in enumerate(PROJECTIONS.items()):
        box = Box(name, middle + (i - 1) * 200, 506, 170, 50, name, role, shapes[name])
        corners = [] if box.x == middle else [(middle, 553), (box.x, 553)]
        parts += [arrow(source, box, source.on("top"), *corners, box.on("bottom")), box]
    return parts


def _lane(h: int, weights: Tensor, shape: str, split: Box) -> list[Part]:
    """One head: its keys below its weights, its query beside them, its values above."""
    name, color, left = f"head{h}", f"head {h % 4}", LANE * h
    x, size, dot = left + 84, MAP, MAP / len(weights)
    low = 270 + size / 2
    rows = [
        Vector(
            f"{name}.weights{i}",
            x,
            270 - size / 2 + dot * (i + 0.5),
            size,
            dot,
            ("",) * len(shares),
            "weight",
            shares=tuple(shares),
        )
        for i, shares in enumerate(weights.tolist())
    ]
    k = Box(f"{name}.k", x, low + 34, 36, 28, "K", "key")
    q = Box(f"{name}.q", left + 160, 270, 36, size, "Q", "query")  # a query for every row
    mix = operation(f"{name}.mix", x, 270 - size / 2 - 36, "Σ")
    v = Box(f"{name}.v", left + 22, mix.y, 32, 28, "V", "value")
    joined = Box(f"join.{h}", left + LANE / 2, 106, LANE, 50, f"head {h}", color, shape)
    return [
        arrow(split, k, split.on("top", k.x - split.x), k.on("bottom"), role="key"),
        arrow(split, q, split.on("top", q.x - split.x), q.on("bottom"), role="query"),
        arrow(split, v, split.on("top", v.x - split.x), v.on("bottom"), role="value"),
        k,
        q,
        *rows,
        v,
        mix,
        joined,
        straight(k, rows[-1], "top", role="key"),
        *(straight(q, line, "left", role="query") for line in rows),
        straight(rows[0], mix, "top", role="weight"),
        straight(v, mix, "right", role="value"),
        arrow(mix, joined, mix.on("top"), joined.on("bottom", x - joined.x), role="output"),
    ]


def reshapes(tokens: Sequence[str], heads: int, d_head: int) -> Scene:
    """A table of numbers cut into heads twice: rightly, and so that positions mix."""
    time, width = len(tokens), heads * d_head
    numbers = torch.arange(time * width)
    before = numbers.view(time, heads, d_head)
    ways = {
        "Right: view, then transpose": before.transpose(0, 1),
        "Wrong: view alone": numbers.view(heads, time, d_head),
    }
    apart = CELL[1] * time + 84  # from one way to the other
    left, middle = CELL[0] * width + 90, time // 2
    table = [
        _slice(
            *(f"before.{t}.{h}", h * d_head * CELL[0], apart / 2 + CELL[1] * t),
            *(before[t, h], width, d_head),
        )
        for t in range(time)
        for h in range(heads)
    ]
    parts = [*_words(tokens, -12, apart / 2, "end", "before"), *table]
    here = table[heads * middle + heads - 1]
    bend = (here.on("right")[0] + left) / 2
    for w, (title, after) in enumerate(ways.items()):
        top = w * apart
        parts.append(label(f"{w}.title", left, top - 52, title, anchor="start", bold=True, size=17))
        cut = _cut(f"{w}", tokens, after, left, top, width)
        there = next(part for part in cut if part.name == f"{w}.after.0.{middle}")
        way = here.on("right"), (bend, here.y), (bend, there.y), there.on("left")
        parts += [*cut, arrow(here, there, *way)]
    return fitted("Right and wrong reshape", parts)


def _cut(
    name: str, tokens: Sequence[str], after: Tensor, left: Number, top: Number, width: int
) -> list[Part]:
    """The heads side by side; beside a row its word, and whose numbers stand there instead."""
    heads, time, d_head = after.shape
    longest = max(text_width(f"{a}: from {b}", 15, bold=True) for a in tokens for b in tokens)
    parts = []
    for h in range(heads):
        x = left + h * (CELL[0] * d_head + 30 + longest)
        middle, head = x + d_head * CELL[0] / 2, f"head {h}"
        parts.append(label(f"{name}.head{h}", middle, top - 26, head, role=head, bold=True))
        for t in range(time):
            y = top + CELL[1] * t
            found = _slice(f"{name}.after.{h}.{t}", x, y, after[h, t], width, d_head)
            whose = tokens[int(after[h, t, 0]) // width]
            wrong = whose != tokens[t]
            words = f"{tokens[t]}: from {whose}" if wrong else tokens[t]
            look = {"role": "wrong" if wrong else "words", "bold": wrong, "anchor": "start"}
            beside = found.on("right")[0] + 10
            parts += [found, label(f"{found.name}.token", beside, y, words, **look)]
    return parts


def _words(tokens: Sequence[str], x: Number, top: Number, anchor: str, name: str) -> list[Part]:
    """The words beside the rows of a table."""
    return [
        label(f"{name}.token{t}", x, top + CELL[1] * t, token, anchor=anchor, spoken=False)
        for t, token in enumerate(tokens)
    ]


def _slice(name: str, left: Number, y: Number, numbers: Tensor, width: int, d_head: int) -> Vector:
    """Some neighbours in one row, in the colour of the head to which they belong."""
    owner = int(numbers[0]) % width // d_head
    cells = [str(number) for number in numbers.tolist()]
    return row(name, left, y, cells, f"head {owner}", label=name.split(".")[0])


def sum_of_heads(
    found: Float[Tensor, "head d_head"], w_o: Float[Tensor, "d_model d_model"]
) -> Scene:
    """The last projection is a sum over heads: each head has rows of W_O of its own."""
    heads, d_head = found.shape
    parts: list[Part] = []
    total = row(
        "total",
        0,
        0,
        [number(n) for n in (found.flatten() @ w_o).tolist()],
        "output",
        label="output",
        strong=True,
    )
    right = CELL[0] * d_head + 60
    for h in range(heads):
        top = h * (25 * d_head + 44)
        middle = top + 25 * (d_head - 1) / 2
        rows = w_o[h * d_head : (h + 1) * d_head]
        own = row(
            f"found.{h}",
            0,
            middle,
            [number(n) for n in found[h].tolist()],
            f"head {h}",
            label=f"output of head {h}",
        )
        matrix = [
            row(
                f"w.{h}.{i}",
                right,
                top + 25 * i,
                [number(n) for n in line],
                f"head {h}",
                label=f"W_O, row {h * d_head + i}",
            )
            for i, line in enumerate(rows.tolist())
        ]
        part = row(
            f"part.{h}",
            right + CELL[0] * w_o.size(1) + 70,
            middle,
            [number(n) for n in (found[h] @ rows).tolist()],
            f"head {h}",
            label=f"part of head {h}",
        )
        times = label(f"times.{h}", right - 30, middle, "×", size=20)
        parts += [
            _over(own, f"output of head {h}", own.y),
            _over(matrix[0], "its rows of W_O", top),
            _over(part, "its part", part.y),
            own,
            times,
            *matrix,
            arrow(matrix[0], part, (matrix[0].on("right")[0], middle), part.on("left")),
            part,
        ]
    return fitted("W_O as a sum over heads", [*parts, *_summed(parts, total)])


def _over(vector: Vector, said: str, y: Number) -> Part:
    """What stands above a row."""
    name = f"said.{vector.name}"
    return label(name, vector.x, y - 26, said, role=vector.role, spoken=False)


def _summed(parts: list[Part], total: Vector) -> list[Part]:
    """The heads' parts run into one sum."""
    ends = [part for part in parts if part.name.startswith("part.")]
    plus = operation("plus", ends[0].on("right")[0] + 60, (ends[0].y + ends[-1].y) / 2, "+")
    there = row("total", plus.x + 50, plus.y, total.cells, "output", label="output", strong=True)
    into = [
        arrow(
            end,
            plus,
            end.on("right"),
            (plus.x, end.y),
            plus.on("top" if end.y < plus.y else "bottom"),
            role=end.role,
        )
        for end in ends
    ]
    said = _over(there, "output", there.y)
    return [*into, plus, straight(plus, there, "right", role="output"), said, there]
