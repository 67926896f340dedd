"""From parts to marks: every part becomes paths and texts, the only things a renderer knows.

Colours go by role and are those of the figures (`plotting`); they mean the same in every lesson.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import singledispatch

from matplotlib.colors import to_hex, to_rgb

from transformer_lib.show.drawings.scene import (
    Arrow,
    Box,
    Frame,
    Label,
    Number,
    Operation,
    Part,
    Point,
    Scene,
    Shape,
    Step,
    Vector,
    moved,
)
from transformer_lib.show.plotting import COLORS, HEAT_MAP

INK, GREY, GROUND = "#1a1a1a", "#767676", "#ffffff"
ROLES = {
    "query": COLORS[1],
    "key": COLORS[3],
    "value": COLORS[2],
    "score": GREY,
    "weight": COLORS[0],
    "output": INK,
    "attention": COLORS[0],
    "feed-forward": COLORS[4],
    "embedding": COLORS[5],
    "recurrent": COLORS[4],
    "norm": GREY,
    "token": GREY,
    "stream": INK,
    "flow": "#555555",
    "words": INK,
    "aside": "#595959",
    "wrong": COLORS[1],
    "red": "#c8102e",
    "paper": "#ffffff",
    "changed": "#6a3fb0",
    "head 0": COLORS[5],
    "head 1": COLORS[4],
    "head 2": "#999999",
    "head 3": "#882255",
}
BARE = ("norm", "token", "score")  # white inside
MIXING = "M-11,9L11,-9M0,9L0,-9M11,9L-11,-9"
ALONE = "M-11,9L-11,-9M0,9L0,-9M11,9L11,-9"
NARROW, WIDE = set("iljtfrI.,:;'|()[]! ·\u202f"), set("mwMW→—")


@dataclass(frozen=True)
class Path:
    """An outline around (x, y), in SVG's own words."""

    part: str
    x: Number
    y: Number
    path: str
    fill: str
    stroke: str
    width: Number = 1.5
    dashed: bool = False


@dataclass(frozen=True)
class Text:
    """Words on a baseline."""

    part: str
    x: Number
    y: Number
    text: str
    size: int = 15
    anchor: str = "middle"
    color: str = INK
    bold: bool = False

    def extent(self) -> tuple[Number, Number, Number, Number]:
        """Left, top, right and bottom, in a font as wide as the common ones get."""
        width = text_width(self.text, self.size, self.bold)
        left = self.x - {"start": 0, "middle": width / 2, "end": width}[self.anchor]
        return left, self.y - 0.75 * self.size, left + width, self.y + 0.22 * self.size


def text_width(text: str, size: Number, bold: bool = False) -> float:
    """How wide a text is at most, in pixels: an estimate for the usual sans-serif fonts."""
    ems = math.fsum(0.36 if c in NARROW else 0.92 if c in WIDE else 0.61 for c in text)
    return size * ems * (1.07 if bold else 1)


def tint(color: str, strength: float = 0.16) -> str:
    """A colour thinned with white."""
    return to_hex([1 - strength * (1 - c) for c in to_rgb(color)])


def shade(color: str) -> str:
    """A colour dark enough for words on white."""
    return to_hex([0.72 * c for c in to_rgb(color)])


def marks(scene: Scene) -> list[Path | Text]:
    """All marks of a scene: frames first, then lines, then what stands on them."""
    depth = {Frame: 0, Arrow: 1}
    parts = sorted(scene.parts, key=lambda part: depth.get(type(part), 2))
    return [mark for part in parts for mark in marks_of(part)]


def fitted(
    title: str, parts: Iterable[Part], steps: Iterable[Step] = (), margin: Number = 24
) -> Scene:
    """The scene of these parts: moved into the corner, and as large as they need."""
    parts = tuple(parts)
    lefts, tops, rights, bottoms = zip(*map(_extent, parts), strict=True)
    left, top = margin - min(lefts), margin - min(tops)
    size = max(rights) + left + margin, max(bottoms) + top + margin
    return Scene(title, *size, tuple(moved(part, "", left, top) for part in parts), tuple(steps))


def _extent(part: Part) -> tuple[Number, Number, Number, Number]:
    if isinstance(part, Label):
        return marks_of(part)[0].extent()
    if isinstance(part, Arrow):
        xs, ys = zip(*part.points, strict=True)
        return min(xs), min(ys), max(xs), max(ys)
    return *part.on("left")[:1], part.on("top")[1], part.on("right")[0], part.on("bottom")[1]


@singledispatch
def marks_of(part: Part) -> list[Path | Text]:
    """The marks of one part."""
    raise ValueError(f"{part.name}: no marks for a {type(part).__name__}")


@marks_of.register
def _(part: Box) -> list[Path | Text]:
    color = ROLES[part.role]
    fill = GROUND if part.role in BARE else tint(color)
    outline = rectangle(part.width, part.height, 7)
    found = [Path(part.name, part.x, part.y, outline, fill, color, 2)]
    glyph, badge = part.mixes is not None, bool(part.lesson)
    if glyph:
        path = MIXING if part.mixes else ALONE
        found.append(Path(part.name, part.x - part.width / 2 + 24, part.y, path, "none", INK, 1.3))
    if badge:
        found += _badge(part)
    middle = part.x + 17 * glyph - 15 * badge
    lines = [(part.label, part.size, True)] * bool(part.label or part.shape)
    lines += [(part.shape, part.size - 2, False)] * bool(part.shape)
    for i, (text, size, bold) in enumerate(lines):
        y = part.y + ((part.size + 4) * i - 4 if len(lines) > 1 else round(part.size / 3))
        found.append(Text(part.name, middle, y, text, size, bold=bold))
    return found + [_port(part, *port) for port in part.ports]


def _port(part: Box, role: str, side: str, shift: Number) -> Path:
    return Path(part.name, *part.on(side, shift), circle(4.5), ROLES[role], GROUND, 1)


def _badge(part: Box) -> list[Path | Text]:
    x = part.x + (part.width / 2 - 21) * bool(part.label)
    return [
        Path(part.name, x, part.y, rectangle(27, 20, 5), "#444444", "#444444"),
        Text(part.name, x, part.y + 5, part.lesson, 13, color=GROUND, bold=True),
    ]


@marks_of.register
def _(part: Vector) -> list[Path | Text]:
    color, found = ROLES[part.role], []
    width, height = part.width, part.height
    step = height / len(part.cells) if part.down else width / len(part.cells)
    for i, text in enumerate(part.cells):
        offset = (i - (len(part.cells) - 1) / 2) * step
        x, y = (part.x, part.y + offset) if part.down else (part.x + offset, part.y)
        size = (width, step) if part.down else (step, height)
        share = part.shares[i] if part.shares else None
        fill = tint(color) if share is None else to_hex(HEAT_MAP(float(share)))
        ink = GROUND if share is not None and share > 0.5 else INK
        found.append(Path(part.name, x, y, rectangle(*size, 0), fill, color, 0.8))
        if text:
            below = y + round(part.size / 3)
            found.append(Text(part.name, x, below, text, part.size, color=ink, bold=part.strong))
    outline = rectangle(width, height, 0)
    return [
        *found,
        Path(part.name, part.x, part.y, outline, "none", color, 3 if part.strong else 1.5),
    ]


@marks_of.register
def _(part: Operation) -> list[Path | Text]:
    fill = GROUND if part.sign else INK
    mark = Path(part.name, part.x, part.y, circle(part.width / 2), fill, INK, 2)
    return [mark, Text(part.name, part.x, part.y + 6, part.sign, 18)] if part.sign else [mark]


@marks_of.register
def _(part: Label) -> list[Path | Text]:
    color = shade(ROLES[part.role])
    return [
        Text(part.name, part.x, part.y + 5, part.text, part.size, part.anchor, color, part.bold)
    ]


@marks_of.register
def _(part: Frame) -> list[Path | Text]:
    outline = rectangle(part.width, part.height, 12)
    found = [Path(part.name, part.x, part.y, outline, "#f4f4f4", "#b0b0b0", 1.5)]
    if part.label:
        left, top = part.x - part.width / 2, part.y - part.height / 2
        found.append(Text(part.name, left + 10, top + 18, part.label, 14, "start", ROLES["aside"]))
    return found


@marks_of.register
def _(part: Shape) -> list[Path | Text]:
    color = ROLES[part.role]
    return [Path(part.name, part.x, part.y, part.path, color if part.filled else "none", color, 2)]


@marks_of.register
def _(part: Arrow) -> list[Path | Text]:
    color, width = ROLES[part.role], 5 if part.strong else 3.5 if part.role == "stream" else 2
    found = [Path(part.name, 0, 0, polyline(part.points), "none", color, width)]
    if part.head:
        found.append(Path(part.name, 0, 0, _head(*part.points[-2:]), color, color, 1))
    return found


def slanted(name: str, start: Point, stop: Point, role: str) -> tuple[Shape, Shape]:
    """An arrow that is neither across nor down: its line, and its tip."""
    (x, y), (to_x, to_y) = start, stop
    line = f"M{plain(x)},{plain(y)}L{plain(to_x)},{plain(to_y)}"
    tip = _tip(to_x - x, to_y - y)
    return (
        Shape(name, 0, 0, 0, 0, line, role),
        Shape(f"{name}.tip", to_x, to_y, 0, 0, tip, role, filled=True),
    )


def _tip(along: Number, down: Number) -> str:
    """The head of a slanting arrow whose tip is at the origin."""
    length = math.hypot(along, down)
    u, v = along / length, down / length
    corners = [(-11 * u - s * 5 * v, -11 * v + s * 5 * u) for s in (1, -1)]
    return "M0,0" + "".join(f"L{plain(x)},{plain(y)}" for x, y in corners) + "Z"


def rectangle(width: Number, height: Number, radius: Number) -> str:
    """A rectangle around the origin, its corners rounded."""
    w, h, r = width / 2, height / 2, radius
    if not r:
        return _path("M", (-w, -h), "L", (w, -h), "L", (w, h), "L", (-w, h)) + "Z"
    sides = ("M", (r - w, -h), "L", (w - r, -h), "Q", (w, -h), (w, r - h), "L", (w, h - r))
    sides += ("Q", (w, h), (w - r, h), "L", (r - w, h), "Q", (-w, h), (-w, h - r))
    return _path(*sides, "L", (-w, r - h), "Q", (-w, -h), (r - w, -h)) + "Z"


def circle(radius: Number) -> str:
    """A circle around the origin."""
    r = plain(radius)
    return f"M-{r},0A{r},{r} 0 1 1 {r},0A{r},{r} 0 1 1 -{r},0Z"


def polyline(points: tuple[Point, ...], radius: Number = 9) -> str:
    """A line through the points, round at each corner."""
    words = ["M", points[0]]
    for before, here, after in zip(points, points[1:], points[2:], strict=False):
        words += ["L", _towards(here, before, radius), "Q", here, _towards(here, after, radius)]
    return _path(*words, "L", points[-1])


def _towards(here: Point, there: Point, radius: Number) -> Point:
    """A place on the way, at most half of it."""
    along, down = there[0] - here[0], there[1] - here[1]
    length = abs(along) + abs(down)
    part = min(radius, length / 2) / length if length else 0
    return here[0] + along * part, here[1] + down * part


def _head(before: Point, tip: Point) -> str:
    x, y = _towards(tip, before, 10)
    sideways = (0, 5) if y == tip[1] else (5, 0)
    corners = [(x + sign * sideways[0], y + sign * sideways[1]) for sign in (1, -1)]
    return _path("M", tip, "L", corners[0], "L", corners[1]) + "Z"


def _path(*words: str | Point) -> str:
    return "".join(w if isinstance(w, str) else f"{plain(w[0])},{plain(w[1])} " for w in words)


def plain(number: Number) -> str:
    """A number with at most two decimals, and none that say nothing."""
    return f"{round(float(number), 2) + 0.0:.2f}".rstrip("0").rstrip(".")


def number(value: Number) -> str:
    """A number for a cell: whole ones as they are, all others with two decimals."""
    short = f"{value:.0f}" if value == int(value) else f"{value:.2f}"
    return short.replace("-0.00", "0.00").replace("-", "−")


def thousands(value: int) -> str:
    """A whole number whose thousands stand apart by a thin space that never breaks."""
    return f"{value:,}".replace(",", "\u202f")
