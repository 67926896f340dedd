"""What a drawing is made of: parts on a plane in the order of the data, and steps that light them.

One vocabulary serves every lesson. Lengths are pixels at natural size, x to the right, y down; a
part stands around its middle.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

Number = int | float
Point = tuple[Number, Number]
CELL = (54, 25)  # of a vector's numbers


@dataclass(frozen=True)
class Part:
    """Something that stands at a place and has a name of its own in its scene."""

    name: str
    x: Number
    y: Number
    width: Number
    height: Number

    def on(self, side: str, shift: Number = 0) -> Point:
        """The middle of a side, moved along it by `shift`."""
        half_width, half_height = self.width / 2, self.height / 2
        return {
            "left": (self.x - half_width, self.y + shift),
            "right": (self.x + half_width, self.y + shift),
            "top": (self.x + shift, self.y - half_height),
            "bottom": (self.x + shift, self.y + half_height),
        }[side]

    def told(self) -> str:
        """What the part says in the alt text; nothing where it only leads the eye."""
        return ""


@dataclass(frozen=True)
class Box(Part):
    """A module: coloured by its role, with what it puts out and the lesson that builds it.

    `mixes` says whether a position sees the others in it; None: the question does not arise.
    `ports` are what enters: its role, the side, and how far from the middle of it. `size` is that of
    the label; what it puts out is written two smaller.
    """

    label: str
    role: str
    shape: str = ""
    lesson: str = ""
    mixes: bool | None = None
    ports: tuple[tuple[str, str, Number], ...] = ()
    size: int = 15

    def told(self) -> str:
        return f"{self.label} {self.shape}".strip()


@dataclass(frozen=True)
class Vector(Part):
    """A row of cells, or a column of them; `shares` colours each by its share from 0 to 1."""

    cells: tuple[str, ...]
    role: str
    label: str = ""
    down: bool = False
    shares: tuple[Number, ...] = ()
    strong: bool = False
    size: int = 14

    def told(self) -> str:
        return f"{self.label} {', '.join(filter(None, self.cells))}" if self.label else ""


@dataclass(frozen=True)
class Operation(Part):
    """A circle with a sign in it; without a sign it is where a line forks."""

    sign: str = ""

    def told(self) -> str:
        return self.sign


@dataclass(frozen=True)
class Label(Part):
    """Words. They hang on their place by `anchor`: start, middle or end."""

    text: str
    role: str = "words"
    size: int = 15
    anchor: str = "middle"
    bold: bool = False
    spoken: bool = True

    def told(self) -> str:
        return self.text if self.spoken else ""


@dataclass(frozen=True)
class Frame(Part):
    """The grey frame around what belongs together, such as a layer."""

    label: str = ""

    def told(self) -> str:
        return self.label


@dataclass(frozen=True)
class Shape(Part):
    """A free outline, as an SVG path around the part's own middle."""

    path: str
    role: str
    filled: bool = False


@dataclass(frozen=True)
class Arrow(Part):
    """A line from part to part, with right angles and round corners."""

    source: str
    target: str
    points: tuple[Point, ...]
    role: str = "flow"
    head: bool = True
    strong: bool = False


@dataclass(frozen=True)
class Step:
    """The parts that are lit, by their names or the beginnings of them, and one sentence."""

    lit: tuple[str, ...]
    caption: str

    def lights(self, name: str) -> bool:
        """Whether the part of this name is lit; a line: where both its ends are, or it is named."""
        if ">" in name and name not in self.lit:
            return all(self.lights(end) for end in name.split(">"))
        return any(name == lit or name.startswith((f"{lit}.", f"{lit}>")) for lit in self.lit)


@dataclass(frozen=True)
class Scene:
    """A drawing as data: its parts in the order in which the data meets them, and its steps."""

    title: str
    width: Number
    height: Number
    parts: tuple[Part, ...]
    steps: tuple[Step, ...] = ()

    def alt(self) -> str:
        """The drawing in words, for those who cannot see it."""
        told = "; ".join(filter(None, (part.told() for part in self.parts)))
        return f"{self.title}. In the order of the data: {told}."


def fork(name: str, x: Number, y: Number) -> Operation:
    """A dot on a line, where another leaves it."""
    return Operation(name, x, y, 8, 8)


def operation(name: str, x: Number, y: Number, sign: str) -> Operation:
    """A circle with a sign."""
    return Operation(name, x, y, 26, 26, sign)


def label(name: str, x: Number, y: Number, text: str, **look: object) -> Label:
    """Words at a place; see `Label` for their look."""
    return Label(name, x, y, 0, 0, text, **look)


def row(
    name: str, left: Number, y: Number, cells: Sequence[str], role: str, **look: object
) -> Vector:
    """A vector as a row of cells that begins at `left`."""
    width = CELL[0] * len(cells)
    return Vector(name, left + width / 2, y, width, CELL[1], tuple(cells), role, **look)


def column(
    name: str, x: Number, top: Number, cells: Sequence[str], role: str, **look: object
) -> Vector:
    """A vector as a column of cells that begins at `top`."""
    height = CELL[1] * len(cells)
    return Vector(
        name, x, top + height / 2, *(CELL[0], height), tuple(cells), role, **look, down=True
    )


def arrow(source: Part, target: Part, *points: Point, **look: object) -> Arrow:
    """A line from the border of one part to the border of another, through corners."""
    for (x, y), (next_x, next_y) in pairwise(points):
        if x != next_x and y != next_y:
            raise ValueError(
                f"{source.name} to {target.name}: from {x, y} to {next_x, next_y} is neither "
                "across nor down; add the corner between them"
            )
    name = f"{source.name}>{target.name}"
    return Arrow(name, *points[0], 0, 0, source.name, target.name, points, **look)


def straight(source: Part, target: Part, side: str, **look: object) -> Arrow:
    """An arrow that leaves by this side and arrives without a corner."""
    opposite = {"left": "right", "right": "left", "top": "bottom", "bottom": "top"}[side]
    if side in ("left", "right"):  # at the height of the smaller one
        line = min(source, target, key=lambda part: part.height).y
        ends = source.on(side, line - source.y), target.on(opposite, line - target.y)
    else:
        line = min(source, target, key=lambda part: part.width).x
        ends = source.on(side, line - source.x), target.on(opposite, line - target.x)
    return arrow(source, target, *ends, **look)


def moved(part: Part, prefix: str, x: Number, y: Number) -> Part:
    """The part at another place, its name behind a prefix."""
    there = replace(part, name=_within(prefix, part.name), x=part.x + x, y=part.y + y)
    if isinstance(there, Arrow):
        points = tuple((px + x, py + y) for px, py in there.points)
        return replace(
            there, points=points, source=prefix + there.source, target=prefix + there.target
        )
    return there


def _within(prefix: str, name: str) -> str:
    """A name behind a prefix; of a line, both its ends."""
    return ">".join(f"{prefix}{end}" for end in name.split(">"))


def beside(title: str, *scenes: Scene, gap: Number = 30) -> Scene:
    """Scenes side by side in one, each under its own title, standing on one ground."""
    height, left, parts, steps = max(scene.height for scene in scenes), 0, [], []
    for number, scene in enumerate(scenes):
        down = 40 + height - scene.height
        heading = label("title", scene.width / 2, -20 - (height - scene.height), scene.title)
        parts += [
            moved(part, f"{number}.", left, down)
            for part in (replace(heading, bold=True, size=17), *scene.parts)
        ]
        steps += [
            replace(step, lit=tuple(_within(f"{number}.", name) for name in step.lit))
            for step in scene.steps
        ]
        left += scene.width + gap
    return Scene(title, left - gap, height + 40, tuple(parts), tuple(steps))
