"""A picture whose words a hall can read: they grow where they stand, or it is shown in parts too.

A word stays inside what frames it and crosses nothing that it did not cross before; where it is too
wide for that it is set a little narrower. A picture in which some words find no place stands there
without them first, and then part by part with all of them.
"""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import matplotlib

SVG = "http://www.w3.org/2000/svg"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
FONT = "Arial, 'Liberation Sans', Helvetica, sans-serif"  # of the widths that are reckoned with
RISE, FALL = 0.76, 0.22  # of a letter above and below its line, in its size
NARROWER = (1, 0.92, 0.84, 0.78)  # as narrow as a word is still read with ease
EDGE = 6  # pixels that stay free at the edge of a picture
CLOSER = (0, 0.25, 0.5, 0.75, 1)  # from the whole of a picture to what is lit in it
LARGEST = 2.2  # times its own size a picture is shown

Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Word:
    """A text of a picture: which of its elements, and how it is set."""

    number: int
    text: str
    x: float
    y: float
    size: float
    anchor: str
    bold: bool
    faint: bool
    turned: float  # by so many degrees: 0, -90, or in between where labels slant
    squeeze: float = 1
    home: Box | None = None  # the smallest frame around it
    clear: tuple[Box, ...] = ()  # the frames and lines that it does not touch

    @cached_property
    def width(self) -> float:
        return self.size * self.squeeze * sum(_widths(self.bold).get(c, 0.6) for c in self.text)

    @cached_property
    def box(self) -> Box:
        """What it takes; of a word that slants its beginning, for the next one slants as well."""
        if self.turned not in (0, -90):
            return self.x, self.y - RISE * self.size, self.x + self.size, self.y
        before = {"start": 0, "middle": self.width / 2, "end": self.width}[self.anchor]
        above, below = RISE * self.size, FALL * self.size
        if self.turned:
            return self.x - above, self.y + before - self.width, self.x + below, self.y + before
        return self.x - before, self.y - above, self.x - before + self.width, self.y + below

    @cached_property
    def reach(self) -> Box:
        """All that it takes."""
        if self.turned in (0, -90):
            return self.box
        along, up = math.cos(math.radians(self.turned)), -math.sin(math.radians(self.turned))
        corner = self.x + along * self.width, self.y - up * self.width - along * self.size
        return _union([self.box, (self.x, corner[1], corner[0], self.y)])

    def grown(self, size: float) -> "Word":
        """At least of this size, around the same middle."""
        if size <= self.size:
            return self
        if self.turned not in (0, -90):
            return replace(self, size=size)
        down = (RISE - FALL) / 2 * (size - self.size)
        moved = {"x": self.x + down} if self.turned else {"y": self.y + down}
        return replace(self, size=size, **moved)


@dataclass(frozen=True)
class Picture:
    """An SVG as far as its words are concerned: they, and what frames them.

    `view` is the part of it that is shown.
    """

    root: ElementTree.Element
    view: Box
    words: tuple[Word, ...]
    frames: tuple[Box, ...]

    @property
    def width(self) -> float:
        return self.view[2] - self.view[0]

    @property
    def height(self) -> float:
        return self.view[3] - self.view[1]

    def scale(self, room: tuple[int, int]) -> float:
        """How many times its own size it may be shown."""
        return min(room[0] / self.width, room[1] / self.height, LARGEST)


@dataclass(frozen=True)
class Shown:
    """A picture as a slide shows it: its SVG, and its width and height there in pixels."""

    svg: str
    width: int
    height: int


def enlarged(svg: str, room: tuple[int, int], least: float) -> list[Shown]:
    """The picture in a room of this width and height, its words at least this many pixels high.

    The whole comes first; its parts follow if words had to be left out of it.
    """
    picture = read(svg)
    whole, placed = _grown(picture, room, least)
    shown = [_written(whole, placed, room)]
    if not _complete(whole, placed):
        shown += [_written(part, words, room) for part, words in _parts(picture, room, least)]
    return shown


def stepped(
    frames: Sequence[tuple[str, str]], room: tuple[int, int], least: float
) -> list[tuple[str, list[Shown]]]:
    """Each stop of a stepped drawing: its sentence, and the pictures that show what it lights.

    The first is the whole, in parts only where the steps would not show every word.
    """
    (title, whole), *steps = frames
    lit = [(sentence, _near(svg, room, least)) for sentence, svg in steps]
    first = enlarged(whole, room, least)
    told = {word.number for _, svg in steps for word in read(svg).words if not word.faint}
    if told >= {word.number for word in read(whole).words}:
        first = first[:1]
    return [(title, first), *lit]


def _near(svg: str, room: tuple[int, int], least: float) -> list[Shown]:
    """As much of it as leaves room for every word that is not faint, in parts if need be."""
    picture = read(svg)
    lit = [word for word in picture.words if not word.faint]
    homes = [word.home or word.box for word in lit]
    near = _union([_rim(box) for box in homes])
    for closer in CLOSER:
        pairs = zip(picture.view, near, strict=True)
        view = tuple(far + closer * (close - far) for far, close in pairs)
        shown, placed = _grown(replace(picture, view=view), room, least)
        if _complete(picture, placed):
            return [_written(shown, placed, room)]
    close = replace(picture, view=near)
    return [_written(part, words, room) for part, words in _parts(close, room, least)]


def read(svg: str) -> Picture:
    """The words of an SVG of ours or of matplotlib's, and what stands around them."""
    root = ElementTree.fromstring(svg)
    x, y, width, height = map(float, root.get("viewBox").replace(",", " ").split())
    words = [_word(n, element) for n, element in enumerate(_texts(root))]
    frames, lines = [], []
    for element in root.iterfind(f"{{{SVG}}}path"):  # those of a drawing; a plot's stand in groups
        corners = _corners(element)
        if element.get("d").endswith("Z"):
            xs, ys = zip(*corners, strict=True)
            frames.append((min(xs), min(ys), max(xs), max(ys)))
        else:
            lines += [_around(*ends) for ends in pairwise(corners)]
    settled = tuple(_settled(word, frames, lines) for word in words)
    return Picture(root, (x, y, x + width, y + height), settled, tuple(frames))


def _settled(word: Word, frames: Sequence[Box], lines: Sequence[Box]) -> Word:
    """A word that knows what stands around it."""
    around = [frame for frame in frames if _inside(word.box, frame, 3)]
    ground = max(around, key=_area, default=None)
    home = min((frame for frame in around if frame != ground), key=_area, default=None)
    clear = tuple(box for box in (*frames, *lines) if not _meet(box, word.box))
    return replace(word, home=home, clear=clear)


def _texts(root: ElementTree.Element) -> list[ElementTree.Element]:
    """All but those in pieces, such as a power of ten on an axis, which stay as they are."""
    return [
        element
        for element in root.iter(f"{{{SVG}}}text")
        if {"style", "font-size"} & set(element.attrib)
    ]


def _word(number: int, element: ElementTree.Element) -> Word:
    style = element.get("style", "")
    size = element.get("font-size") or re.search(r"([\d.]+)px", style)[1]
    anchor = (
        element.get("text-anchor") or (re.findall(r"text-anchor: (\w+)", style) or ["start"])[0]
    )
    transform = element.get("transform", "")
    turned, *place = re.findall(r"-?[\d.]+", transform) if "rotate" in transform else [0]
    x, y = place or (element.get("x"), element.get("y"))
    if x is None:
        x, y = re.findall(r"-?[\d.]+", transform)
    return Word(
        number,
        "".join(element.itertext()),
        float(x),
        float(y),
        float(size),
        anchor,
        bool(element.get("font-weight") or re.search(r"font: [67]00|weight: [67b]", style)),
        element.get("opacity") is not None,
        float(turned),
    )


def _corners(element: ElementTree.Element) -> list[tuple[float, float]]:
    found = [map(float, pair) for pair in re.findall(r"(-?[\d.]+),(-?[\d.]+)", element.get("d"))]
    moved = re.search(r"translate\((\S+) (\S+)\)", element.get("transform", "translate(0 0)"))
    return [(x + float(moved[1]), y + float(moved[2])) for x, y in found]


def _around(one: tuple[float, float], other: tuple[float, float]) -> Box:
    (x, y), (to_x, to_y) = one, other
    return min(x, to_x) - 1, min(y, to_y) - 1, max(x, to_x) + 1, max(y, to_y) + 1


@cache
def _widths(bold: bool) -> dict[str, float]:
    """The width of each letter at size 1, by Helvetica's own table, which Arial keeps to."""
    name = f"fonts/pdfcorefonts/Helvetica{'-Bold' * bold}.afm"
    table = Path(matplotlib.get_data_path(), name).read_text(encoding="latin-1")
    found = re.findall(r"^C (\d+) ; WX (\d+)", table, flags=re.M)
    return {chr(int(code)): int(width) / 1000 for code, width in found if int(code) < 127}


def _grown(picture: Picture, room: tuple[int, int], least: float) -> tuple[Picture, list[Word]]:
    """The picture with a rim as wide as its words ask for, and those of them that find a place."""
    for _ in range(4):
        size = least / picture.scale(room)
        words = list(_spread(picture, [word.grown(size) for word in picture.words]))
        wanted = _union([picture.view, *(_rim(word.reach) for word in words if not word.faint)])
        if wanted == picture.view:
            break
        picture = replace(picture, view=wanted)
    size = least / picture.scale(room)
    words = list(_spread(picture, [word.grown(size) for word in picture.words]))
    return picture, _placed(picture, words)


def _spread(picture: Picture, words: Sequence[Word]) -> Iterator[Word]:
    """Lines of one frame, moved apart so that they stand below each other again."""
    homes: dict[Box | None, list[int]] = {}
    for n, word in enumerate(picture.words):
        homes.setdefault(word.home, []).append(n)
    down = [0.0] * len(words)
    for home, members in homes.items():
        lines = sorted(members, key=lambda n: picture.words[n].y)
        if home is None or any(words[n].turned for n in lines):
            continue
        for above, below in pairwise(lines):
            one, other = words[above].box, words[below].box
            if one[0] < other[2] and other[0] < one[2]:
                down[below] = max(0, one[3] + down[above] - other[1])
        shift = sum(down[n] for n in lines) / len(lines)
        for n in lines:
            down[n] -= shift
    return (replace(word, y=word.y + far) for word, far in zip(words, down, strict=True))


def _placed(picture: Picture, words: Sequence[Word]) -> list[Word]:
    """The words that find a place: those that are lit first, then the larger ones."""
    found: list[Word] = []
    pairs = sorted(zip(picture.words, words, strict=True), key=lambda pair: _rank(pair[0]))
    for was, word in pairs:
        for squeeze in NARROWER:
            narrow = replace(word, squeeze=squeeze)
            if (
                _inside(narrow.box, picture.view, 0)
                and (was.home is None or _inside(narrow.box, was.home, 2))
                and not any(_meet(narrow.box, other.box) for other in found)
                and not any(_meet(narrow.box, other) for other in was.clear)
            ):
                found.append(narrow)
                break
    return found


def _complete(picture: Picture, placed: Sequence[Word]) -> bool:
    """Whether every word has its place that is not faint."""
    return sum(not word.faint for word in placed) == sum(not word.faint for word in picture.words)


def _rank(word: Word) -> tuple[bool, float]:
    return word.faint, -word.size


def _parts(
    picture: Picture, room: tuple[int, int], least: float, depth: int = 4
) -> Iterator[tuple[Picture, list[Word]]]:
    """Cut where the fewest words and frames are cut, until every word of a part has its place."""
    grown, placed = _grown(picture, room, least)
    if _complete(picture, placed) or not depth:
        yield grown, placed
        return
    for half in _halves(picture, across=picture.width / room[0] > picture.height / room[1]):
        yield from _parts(half, room, least, depth - 1)


def _halves(picture: Picture, across: bool) -> Iterator[Picture]:
    axis = 0 if across else 1
    start, length = picture.view[axis], (picture.width, picture.height)[axis]

    def cost(cut: float) -> tuple[float, float]:
        words = sum(w.box[axis] < cut < w.box[axis + 2] for w in picture.words)
        small = [f for f in picture.frames if f[axis + 2] - f[axis] < length / 2]
        frames = sum(f[axis] < cut < f[axis + 2] for f in small)
        return 10 * words + frames, abs(cut - start - length / 2)

    cut = min((start + length * n / 100 for n in range(34, 67)), key=cost)
    for low, high in ((start, cut), (cut, start + length)):
        words = tuple(w for w in picture.words if low <= sum(w.box[axis::2]) / 2 < high)
        if words:
            yield replace(picture, view=_view(picture, words, axis, low, high), words=words)


def _view(picture: Picture, words: Iterable[Word], axis: int, low: float, high: float) -> Box:
    """The range from `low` to `high`, and all of the words in it."""
    view = list(picture.view)
    view[axis], view[axis + 2] = low, high
    return _union([tuple(view), *(_rim(word.box) for word in words)])


def _written(picture: Picture, words: Sequence[Word], room: tuple[int, int]) -> Shown:
    """The picture with these words, on a ground as large as what is shown of it."""
    root, kept = deepcopy(picture.root), {word.number: word for word in words}
    parents = {child: parent for parent in root.iter() for child in parent}
    for n, element in enumerate(_texts(root)):
        if n in kept:
            _set(element, kept[n])
        else:
            parents[element].remove(element)
    left, top, right, bottom = picture.view
    ground = {"d": f"M{left:g},{top:g}H{right:g}V{bottom:g}H{left:g}Z", "fill": "#ffffff"}
    root.insert(0, ElementTree.Element(f"{{{SVG}}}path", ground))
    scale = picture.scale(room)
    width, height = round(picture.width * scale), round(picture.height * scale)
    root.set("viewBox", f"{left:g} {top:g} {picture.width:g} {picture.height:g}")
    root.set("width", str(width))
    root.set("height", str(height))
    return Shown(ElementTree.tostring(root, encoding="unicode"), width, height)


def _set(element: ElementTree.Element, word: Word) -> None:
    """Writes a word as it is placed, as wide as it was reckoned on every machine."""
    look = {
        "x": f"{word.x:.2f}",
        "y": f"{word.y:.2f}",
        "font-size": f"{word.size:.2f}",
        "font-family": FONT,
        "text-anchor": word.anchor,
    }
    if len(word.text) > 1:
        look |= {"textLength": f"{word.width:.2f}", "lengthAdjust": "spacingAndGlyphs"}
    if word.bold:
        look["font-weight"] = "bold"
    if word.turned:
        look["transform"] = f"rotate({word.turned:g} {word.x:.2f} {word.y:.2f})"
    elif "style" in element.attrib:
        element.attrib.pop("transform", None)
    fill = re.search(r"fill: ([^;]+)", element.attrib.pop("style", ""))
    if fill:
        look["fill"] = fill[1]
    element.attrib.update(look)


def _area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _rim(box: Box) -> Box:
    return box[0] - EDGE, box[1] - EDGE, box[2] + EDGE, box[3] + EDGE


def _union(boxes: Sequence[Box]) -> Box:
    lefts, tops, rights, bottoms = zip(*boxes, strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _inside(box: Box, around: Box, over: float) -> bool:
    left, top, right, bottom = around
    return (
        left - over <= box[0]
        and top - over <= box[1]
        and box[2] <= right + over
        and box[3] <= bottom + over
    )
