"""The layer of 2017 beside today's: what has changed in it, and what has not. Lesson 18.

Each is a stream that grows upwards, and two sublayers read it and add to it. A change has a number,
which stands in both at what has changed.
"""

from dataclasses import replace
from itertools import pairwise

from transformer_lib.show.drawings.marks import fitted, rectangle
from transformer_lib.show.drawings.scene import (
    Box,
    Frame,
    Number,
    Part,
    Scene,
    Shape,
    Step,
    Vector,
    arrow,
    fork,
    label,
    moved,
    operation,
    straight,
)

APART = 522  # from one stream to the other
RIGHT, PANEL = -124, 284  # of a sublayer: its right side, seen from the stream, and its width
SPLIT, TURN = RIGHT - 12, RIGHT - 48  # in it: where what is read forks, and where it is turned
HEADS, CELL = 4, (42, 30)  # how many heads of queries, and how large one is
ROWS, ONE, TWO = -300, -196, -330  # the middle of the heads, and of the network's two columns
READS, ADDS = (-165, -400), (-280, -512)  # how high a sublayer reads the stream, and adds to it
LOW, TOP = 0, -690  # the embedding and the output
NORM = (92, 30, "RMSNorm", "norm")
CHANGES = {  # of each: what is lit, and what is said
    "norm": (
        ("2017.norm", "today.norm"),
        "Norm: LayerNorm on the stream, behind each sum. Now RMSNorm in front, and at the top.",
    ),
    "positions": (
        ("2017.positions", "today.positions", "today.split", "today.query", "today.key"),
        "Positions: sines, added once. Now every layer turns its queries and keys.",
    ),
    "network": (
        ("2017.network", "today.network"),
        "Network: ReLU between two matrices. Now a gate times up, and no biases.",
    ),
    "keys and values": (
        ("2017.key", "2017.value", "today.key", "today.value"),
        "Keys and values: each head had its own. Now heads share them.",
    ),
}


def today_beside_2017() -> Scene:
    """Both layers from the embedding to the output, and the four things that have changed."""
    parts = [*_stack("2017", False), *(moved(part, "", APART, 0) for part in _stack("today", True))]
    for number, (name, x) in enumerate(zip(CHANGES, (-266, -116, 78, 252), strict=True), 1):
        look = {"role": "changed", "size": 18, "bold": True, "anchor": "start"}
        parts.append(_number(f"change.{number}", x, 62, number))
        parts.append(label(f"change.{number}.name", x + 22, 62, name, **look))
    steps = [
        Step((f"change.{number}", *lit), said)
        for number, (lit, said) in enumerate(CHANGES.values(), 1)
    ]
    return fitted("A layer of 2017, and a layer of today", parts, steps, margin=12)


def _stack(side: str, now: bool) -> list[Part]:
    """All layers of one kind of model, its stream at x = 0, in the order of the data."""
    low, top = (
        Box(f"{side}.{name}", 0, y, 150, 44, name, role, size=18)
        for name, y, role in (("embedding", LOW, "embedding"), ("output", TOP, "output"))
    )
    title = "a layer of today, pre-norm" if now else "the layer of 2017, post-norm"
    found: list[Part] = [
        label(f"{side}.title", -174, -744, title, bold=True, size=20),
        Frame(f"{side}.layer", -174, -356, 492, 472),
        label(f"{side}.times", -408, -572, "× N layers", anchor="start", size=18),
        low,
    ]
    stream: list[Part] = [low]
    if not now:
        place = RIGHT - PANEL / 2, -68, PANEL - 50, 52
        told = "positions", "embedding", "sines, added once"
        sines = Box(f"{side}.positions", *place, *told, size=18)
        add = operation(f"{side}.positions.sum", 0, sines.y, "+")
        stream.append(add)
        found += [sines, *_marked(2, sines), add, straight(sines, add, "right")]
    for i, sublayer in enumerate((_attention, _network)):
        here = fork(f"{side}.read.{i}", 0, READS[i])
        add = operation(f"{side}.sum.{i}", 0, ADDS[i], "+")
        stream += [here, add]
        if now:
            norm = Box(f"{side}.norm.{i}", -63, here.y, *NORM, size=16)
            found += [here, straight(here, norm, "left", head=False), norm, *_above(norm)]
            found += [*sublayer(side, now, norm, add), add]
        else:
            norm = Box(f"{side}.norm.{i}", 0, add.y - 46, 110, 30, "LayerNorm", "norm", size=16)
            stream.append(norm)
            found += [here, *sublayer(side, now, here, add), add, norm, *_marked(1, norm)]
    if now:
        last = Box(f"{side}.norm.top", 0, -630, *NORM, size=16)
        stream.append(last)
        found += [last, *_marked(1, last)]
    stream.append(top)
    lines = [straight(a, b, "top", role="stream", head=b is top) for a, b in pairwise(stream)]
    return [*found, top, *lines]


def _number(name: str, x: Number, y: Number, number: int) -> Vector:
    return Vector(name, x, y, 26, 26, (str(number),), "changed", "change", strong=True, size=18)


def _marked(number: int, part: Part, corner: int = 1) -> list[Part]:
    """A ring around what has changed, and its number on the corner: right 1, left −1."""
    width, height = part.width + 10, part.height + 10
    ring = rectangle(width, height, 9)
    x, y = part.x + corner * width / 2, part.y - height / 2
    return [
        Shape(f"change.{number}.ring.{part.name}", part.x, part.y, width, height, ring, "changed"),
        _number(f"change.{number}.{part.name}", x, y, number),
    ]


def _above(norm: Box) -> list[Part]:
    """The mark of a norm that stands on no stream: its number above it, not on the line."""
    ring, number = _marked(1, norm, 0)
    return [ring, replace(number, y=number.y - 12)]


def _panel(name: str, top: Number, bottom: Number, role: str) -> Shape:
    """The outline of a sublayer, beside its stream."""
    place = RIGHT - PANEL / 2, (top + bottom) / 2, PANEL, bottom - top
    return Shape(name, *place, rectangle(PANEL, bottom - top, 9), role)


def _attention(side: str, now: bool, last: Part, add: Part) -> list[Part]:
    """Heads as a table: a key is as wide as the queries that share it."""
    shared = HEADS // 2 if now else HEADS
    values, keys, queries = (
        Vector(
            *(f"{side}.{role}", ROWS, READS[0] - CELL[1] * i, HEADS * CELL[0], CELL[1]),
            *(tuple(f"{role[0]}{n}" for n in range(count)), role, f"{role} heads"),
            size=16,
        )
        for i, (role, count) in enumerate((("value", shared), ("key", shared), ("query", HEADS)))
    )
    box = Box(
        *(f"{side}.attention", ROWS, add.y, queries.width, 36, "attention", "attention"), size=18
    )
    split = fork(f"{side}.split", SPLIT, values.y)
    found: list[Part] = [
        _panel(f"{side}.panel.attention", box.y - 34, values.y + 32, "attention"),
        split,
        straight(last, split, "left", head=False),
    ]
    end = None
    if now:
        turn = (keys.y + queries.y) / 2
        end = Box(f"{side}.positions", TURN, turn, 48, 54, "turn", "embedding", size=16)
        found += [end, *_marked(2, end)]
    for part in (queries, keys):
        there = end or part
        way = split.on("top"), (split.x, part.y), there.on("right", part.y - there.y)
        line = arrow(split, there, *way, role=part.role, head=end is None)
        found.append(replace(line, name=f"{split.name}.{part.role}>{there.name}"))
        if end:
            ways = end.on("left", part.y - end.y), part.on("right")
            found.append(arrow(end, part, *ways, role=part.role))
    return [
        *(*found, straight(split, values, "left", role="value"), queries, keys, values),
        *_marked(4, Part(f"{side}.value", ROWS, values.y - CELL[1] / 2, values.width, 60), -1),
        straight(queries, box, "top", role="output"),
        box,
        straight(box, add, "right"),
    ]


def _network(side: str, now: bool, last: Part, add: Part) -> list[Part]:
    """The network of one token, bottom up: two matrices, or two that multiply and a third."""
    low, middle = READS[1], (READS[1] + add.y) / 2
    boxes = {
        name: Box(f"{side}.network.{name}", x, y, 92, 36, name, "feed-forward", size=17)
        for name, x, y in (
            [
                ("W_up", ONE, low),
                ("W_gate", TWO, low),
                ("swish", TWO, middle),
                ("W_down", ONE, add.y),
            ]
            if now
            else [("W1, b1", ONE, low), ("ReLU", ONE, middle), ("W2, b2", ONE, add.y)]
        )
    }
    panel = _panel(f"{side}.network", add.y - 32, low + 46, "feed-forward")
    title = label(f"{side}.network.title", TWO, add.y, "network", bold=True, size=18)
    has = label(
        f"{side}.network.has", TWO, add.y + 23, "no biases" if now else "with biases", size=16
    )
    found: list[Part] = [title, *_marked(3, panel), panel, has]
    if not now:
        chain = list(boxes.values())
        found += [*chain, *(straight(a, b, "top") for a, b in pairwise(chain))]
        return [*found, straight(last, chain[0], "left"), straight(chain[-1], add, "right")]
    up, gate, swish, down = boxes.values()
    times = operation(f"{side}.network.times", ONE, middle, "×")
    split = fork(f"{side}.network.split", SPLIT, low)
    way = split.on("bottom"), (split.x, low + 32), (gate.x, low + 32), gate.on("bottom")
    return [
        *(*found, split, gate, swish, up, times, down),
        straight(last, split, "left", head=False),
        straight(split, up, "left"),
        arrow(split, gate, *way),
        straight(gate, swish, "top"),
        straight(swish, times, "right"),
        straight(up, times, "top"),
        straight(times, down, "top"),
        straight(down, add, "right"),
    ]
