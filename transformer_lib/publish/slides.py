"""A lesson as one self-contained reveal.js deck: `make slides`.

A heading starts a slide to the right, a subslide one below. Paragraphs and the instructor's notes
go into the speaker's view, and each slide tells it the seconds that the notes leave for it. What goes
deeper stands behind the last slide, after one that lists it, and takes no time of the class. What is
too much for 1280 by 720 is continued on a further slide, by the heights estimated here; the last
few per cent are the business of slides.js, which makes the type of a slide smaller until it fits.
"""

import math
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from markupsafe import Markup
from nbformat import NotebookNode

from transformer_lib.publish import render
from transformer_lib.publish.lessons import (
    DEEPER,
    SHOWN,
    Lesson,
    Section,
    instructor_note,
    is_predicted,
    place,
    read_lesson,
    tags,
    unfolded,
)

ROOM = 575  # pixels below the heading, of 720
PARAGRAPH, CODE_LINE = 38, 31  # pixels a line
FIGURE = 330  # a figure takes what is left, but no less
LISTING, LONGEST = 540, 24  # pixels and lines of one listing: small type first, then a continuation
WIDE, WRAPPED = 110, 88  # columns that can still be read; a longer line is wrapped


@dataclass(frozen=True)
class Block:
    """Something that stands on a slide: its HTML and the pixels that it needs at least."""

    kind: str
    html: Markup
    height: int
    lines: int = 1  # of a listing
    columns: int = 1
    tall: int = 0  # pixels of a picture as it is


@dataclass
class Step:
    """Blocks that appear together."""

    blocks: list[Block]
    fragment: bool

    @property
    def height(self) -> int:
        return sum(block.height for block in self.blocks)


@dataclass
class Slide:
    """One screen: what it shows step by step, and what the speaker reads meanwhile."""

    section: Section
    opens: bool  # the first slide of its section, under the section's heading
    steps: list[Step] = field(default_factory=list)
    notes: list[Markup] = field(default_factory=list)
    seconds: int = 0

    @property
    def height(self) -> int:
        return sum(step.height for step in self.steps)


def write_deck(path: Path, directory: Path) -> Path:
    """Writes the deck of a notebook to `directory` and returns its file."""
    lesson = read_lesson(path)
    columns = [slides(section) for section in lesson.core]
    if lesson.deeper:
        columns += [[separator(lesson)], *(slides(section) for section in lesson.deeper)]
    every = [slide for column in columns for slide in column]
    charts = any(b.kind == "chart" for s in every for step in s.steps for b in step.blocks)
    deck = render.render(
        "deck.html.j2",
        lesson=lesson,
        columns=columns,
        styles=[
            render.vendored("reveal/reveal.css"),
            render.static("tokens.css"),
            render.static("slides.css"),
        ],
        scripts=[
            *([render.vega()] if charts else []),
            render.static("charts.js"),
            render.static("mathjax.js"),
            render.vendored("mathjax/tex-svg.js"),
            render.vendored("reveal/reveal.js"),
            render.vendored("reveal/notes.js"),
            render.static("slides.js"),
        ],
        licences=render.licences(),
    )
    written = directory / lesson.page
    written.parent.mkdir(parents=True, exist_ok=True)
    written.write_text(deck, encoding="utf-8")
    return written


def separator(lesson: Lesson) -> Slide:
    """The slide between the core and what goes deeper, with a link to each section of it."""
    listed = "\n".join(
        f"- [{section.heading.removeprefix(DEEPER)}](#{section.slug})"
        + (f" · {section.effort.minutes} min · {section.effort.dots}" if section.effort else "")
        for section in lesson.deeper
    )
    block = Block("prose", _html(listed), _prose_height(f"\n{listed}"))
    return Slide(Section("Going deeper"), opens=True, steps=[Step([block], fragment=False)])


def slides(section: Section) -> list[Slide]:
    """The slides of a section, each no fuller than the screen.

    The section's minutes are shared out evenly.
    """
    found, asked = [Slide(section, opens=True)], None
    for cell in section.cells:
        if instructor_note(cell):
            found[0].notes.insert(0, _spoken(cell))  # to be read before the section begins
        elif place(cell) == "notes":
            found[-1].notes.append(_spoken(cell))
        elif place(cell) in SHOWN:
            if place(cell) == "subslide":
                found.append(Slide(section, opens=False))
            shown = list(steps(cell))
            if place(cell) == "subslide" and is_predicted(cell) and asked:
                shown.insert(0, Step([asked], fragment=False))
            asked = _question(shown) or (None if is_predicted(cell) else asked)
            for step in shown:
                if found[-1].steps and found[-1].height + step.height > ROOM:
                    found.append(Slide(section, opens=False))
                found[-1].steps.append(step)
    for slide in found:
        slide.seconds = round(60 * section.minutes / len(found))
    return found


def _question(shown: list[Step]) -> Block | None:
    """The question that a step asks, to stand above its answer on a slide of its own again."""
    for step in shown:
        for block in step.blocks:
            if block.kind == "question":
                return replace(block, kind="question asked")
    return None


def steps(cell: NotebookNode) -> Iterator[Step]:
    """What a cell shows, at once or, where the result is to be predicted, one after the other."""
    fragment = place(cell) == "fragment"
    if cell.cell_type == "markdown":
        source = unfolded(re.sub(r"^#+ .*\n*", "", cell.source))
        if source:
            kind = "question" if source.startswith(("**Predict first", "**Break it")) else "prose"
            yield Step([Block(kind, _html(source), _prose_height(source))], fragment)
        return
    shown = [] if "hide-input" in tags(cell) else _listing(cell.source, "code")
    result = [block for piece in render.pieces(cell) for block in _blocks(piece)]
    apart = is_predicted(cell) or sum(block.height for block in shown + result) > ROOM
    if shown and not apart:
        yield Step(shown + result, fragment)
        return
    for block in shown:
        yield Step([block], fragment)
    for block in result:
        yield Step([block], fragment or is_predicted(cell))


def _blocks(piece: render.Piece) -> list[Block]:
    if piece.kind == "text":
        return _listing(piece.plain, "output")
    height = {"figure": FIGURE, "chart": min(piece.size[0] + 60, ROOM)}.get(piece.kind, PARAGRAPH)
    return [Block(piece.kind, piece.html, height, tall=piece.size[0])]


def _listing(source: str, kind: str) -> list[Block]:
    """Code or printed text in portions that fit on a slide, as equal as possible."""
    lines = [part for line in source.split("\n") for part in _wrapped(line, kind)]
    portions = math.ceil(len(lines) / LONGEST)
    size = math.ceil(len(lines) / portions)
    blocks = []
    for start in range(0, len(lines), size):
        portion = lines[start : start + size]
        plain = "\n".join(portion)
        html = render.code(plain) if kind == "code" else render.text(plain).html
        height = min(CODE_LINE * len(portion), LISTING) + 28
        blocks.append(Block(kind, html, height, len(portion), max(map(len, portion))))
    return blocks


def _wrapped(line: str, kind: str) -> list[str]:
    if kind == "code" or len(line) <= WIDE:
        return [line]
    return textwrap.wrap(line, WRAPPED, replace_whitespace=False, drop_whitespace=False)


def _prose_height(source: str) -> int:
    """An estimate, on the safe side, of formulas, tables and paragraphs."""
    height = 0
    for part in re.split(r"\n\n+", source):
        if part.startswith("|"):
            rows = part.splitlines()
            height += sum(44 * math.ceil(len(row) / 105) for row in rows) - 20
        elif part.startswith("$$"):
            height += 90 + 34 * part.count("\\\\")
        else:
            plain = re.sub(r"\\[a-z]+|[{}$*_^`]", "", part)
            lines = part.count("\n- ") or math.ceil(len(plain) / 80)
            height += PARAGRAPH * lines + 18
    return height


def _spoken(cell: NotebookNode) -> Markup:
    note = instructor_note(cell)
    if note:
        return Markup("<h4>For the instructor · {} min</h4>{}").format(
            note.minutes, _html(note.text)
        )
    return _html(unfolded(cell.source))


def _html(source: str) -> Markup:
    """Markdown as HTML whose links to a section of the lesson lead to its slide."""
    return Markup(str(render.markdown(source)).replace('href="#', 'href="#/'))
