"""Multi-head attention: its five steps, what lies in memory, a table of guests. Lesson 09."""

import math
from collections.abc import Collection, Sequence
from itertools import pairwise

from transformer_lib.show.drawings.marks import circle, fitted, plain
from transformer_lib.show.drawings.scene import (
    CELL,
    Box,
    Label,
    Part,
    Scene,
    Shape,
    Vector,
    arrow,
    label,
    row,
    straight,
)

STEPS = ("project", "split", "attend", "join", "project back")
WIDE, HIGH, APART = 128, 54, 166  # of a step, and from one to the next
BETWEEN = 118  # from the strip in memory to the one that is wanted
ROUND, SEAT = 122, (66, 34)  # from the middle of the table to a guest, and a guest


def five_steps(current: int, time: int, heads: int, d_head: int) -> Scene:
    """Project, split, attend, join, project back, and their outputs; the current one is filled.

    Steps are counted from 0. The shapes are those of one sentence.
    """
    whole, cut = f"(1, {time}, {heads * d_head})", f"(1, {heads}, {time}, {d_head})"
    axes = {whole: "(B, T, C)", cut: "(B, H, T, D)"}
    source = Box("x", 0, 0, 96, HIGH, "x", "token", axes[whole])
    boxes, below = [source], [_shape(source, whole)]
    for i, (name, shape) in enumerate(zip(STEPS, (whole, cut, cut, whole, whole), strict=True)):
        role = "attention" if i == current else "token"
        box = Box(f"step.{i}", -16 + (i + 1) * APART, 0, WIDE, HIGH, name, role, axes[shape])
        boxes.append(box)
        below.append(_shape(box, shape))
    flow = [straight(before, after, "right") for before, after in pairwise(boxes)]
    parts = [part for pair in zip(boxes, below, strict=True) for part in pair]
    return fitted(f"Five steps, and here: {STEPS[current]}", [*parts, *flow], margin=12)


def _shape(box: Box, text: str) -> Label:
    return label(f"{box.name}.shape", box.x, HIGH / 2 + 18, text, size=14, role="aside")


def in_memory(tokens: Sequence[str], heads: int, d_head: int, follow: int = 0) -> Scene:
    """The outputs of the heads as they lie in memory, and in the order that the join wants.

    A head keeps its colour. Arrows follow the pieces of one token.
    """
    time = len(tokens)
    found = [(h, t) for h in range(heads) for t in range(time)]
    wanted = [(h, t) for t in range(time) for h in range(heads)]
    parts: list[Part] = [
        label("memory.title", 0, -64, "in memory: head by head", anchor="start", bold=True),
        label("joined.title", 0, BETWEEN + 66, "wanted: token by token", anchor="start", bold=True),
    ]
    strips = {"memory": (found, 0, -30), "joined": (wanted, BETWEEN, 30)}
    pieces: dict[str, dict[tuple[int, int], Vector]] = {}
    for name, (order, y, over) in strips.items():
        pieces[name] = {}
        for i, (h, t) in enumerate(order):
            cells = [str((h * time + t) * d_head + n) for n in range(d_head)]
            place = f"{name}.{h}.{t}", i * d_head * CELL[0], y, cells, f"head {h % 4}"
            piece = row(*place, label=f"{name}, head {h}, {tokens[t]}", strong=t == follow)
            pieces[name][h, t] = piece
            look = {"size": 14, "bold": t == follow, "spoken": False}
            parts += [piece, label(f"{piece.name}.token", piece.x, y + over, tokens[t], **look)]
    for h in range(heads):
        here, there = pieces["memory"][h, follow], pieces["joined"][h, follow]
        bend = 42 + 12 * h
        corners = [] if here.x == there.x else [(here.x, bend), (there.x, bend)]
        way = here.on("bottom"), *corners, there.on("top")
        parts.append(arrow(here, there, *way, role=here.role))
    return fitted("The outputs of the heads in memory", parts, margin=12)


def round_table(guests: Sequence[str], pieces: int = 1, asks: Collection[int] = ()) -> Scene:
    """Guests around a table, counter-clockwise: each has the one before it on the left.

    Cut into `pieces`, the table keeps a link only between neighbours in one piece. For one whole
    table, `asks` colours guests who ask, and their neighbours, whose gifts they guess.
    """
    seats = [_seat(i, len(guests)) for i in range(len(guests))]
    own = len(guests) // pieces
    parts: list[Part] = [
        Shape("table", 0, 0, 0, 0, circle(52), "token"),
        label("told", 0, 0, "table", role="aside", spoken=False),
    ]
    for i, seat in enumerate(seats):
        beside = (i + 1) % len(guests)
        if i // own == beside // own:
            line = f"M{_point(seat)}L{_point(seats[beside])}"
            parts.append(Shape(f"link.{i}", 0, 0, 0, 0, line, "flow"))
        else:
            across = [_seat(i + 0.5, len(guests), ROUND * far) for far in (0.62, 1.12)]
            line = f"M{_point(across[0])}L{_point(across[1])}"
            parts.append(Shape(f"cut.{i}", 0, 0, 0, 0, line, "red"))
    for i, (guest, (x, y)) in enumerate(zip(guests, seats, strict=True)):
        role = f"head {i // own % 4}" if pieces > 1 else _part_of(i, len(guests), asks)
        role = "token" if own == 1 else role  # alone: no colour that another has as well
        parts.append(Box(f"guest.{i}", x, y, *SEAT, guest, role))
    lost = sum(part.name.startswith("cut") for part in parts) * 2
    told = f"{lost} of {2 * len(guests)} gifts are out of reach"
    if pieces > 1:
        parts.append(label("lost", 0, ROUND + 42, told, size=14))
    else:
        parts += [
            label(f"side.{i}", *place, text, size=14) for i, place, text in _sides(seats, asks)
        ]
    title = "A round table" if pieces == 1 else f"In {pieces} pieces"
    return fitted(title, parts, margin=12)


def _seat(i: float, guests: int, far: float = ROUND) -> tuple[float, float]:
    """The first one sits at the bottom, the next to the right of it."""
    angle = 2 * math.pi * i / guests
    return 1.25 * far * math.sin(angle), far * math.cos(angle)


def _point(place: tuple[float, float]) -> str:
    return ",".join(map(plain, place))


def _part_of(i: int, guests: int, asks: Collection[int]) -> str:
    """Whether a guest asks, is asked, or neither."""
    if i in asks:
        return "query"
    near = {(a + way) % guests for a in asks for way in (-1, 1)}
    return "value" if i in near else "token"


def _sides(seats: Sequence[tuple[float, float]], asks: Collection[int]) -> list[tuple]:
    found = []
    for a in asks:
        for way, text in ((-1, "left"), (1, "right")):
            i = (a + way) % len(seats)
            found.append((i, (seats[i][0], seats[i][1] + 32), text))
    return found
