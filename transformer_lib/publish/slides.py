"""A lesson as one self-contained reveal.js deck: `make slides`.

A heading starts a slide to the right, a subslide one below. Paragraphs go into the speaker's view,
and a short one also on the slide where there is room, so that a slide says what it shows; with the
instructor's notes the speaker's view has the seconds that they leave for each slide. What goes deeper
stands behind the last slide, after one that lists it, and takes no time of the class. What is too
much for 1280 by 720 is continued on a further slide, by the heights estimated here; the last few
per cent are the business of slides.js, which makes the type of a slide smaller until it fits.
"""

import math
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from markupsafe import Markup
from nbformat import NotebookNode

from transformer_lib.publish import render, tables
from transformer_lib.publish.lessons import (
    ASIDE,
    DEEPER,
    GLOSSARY,
    PAUSE,
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

ROOM = 590  # pixels below the heading, of 720
PARAGRAPH, CODE_LINE, ROW = 38, 31, 45  # pixels a line
FIGURE = 300  # a figure takes what is left, but no less
ROWS, LETTERS = 11, 90  # of a table on one slide
WORDS = 60  # of a paragraph that can be read on a slide
LISTING, LONGEST = 540, 24  # pixels and lines of one listing: small type first, then a continuation
WIDE, WRAPPED = 110, 88  # columns that can still be read; a longer line is wrapped
FORMULA = re.compile(r"\$\$.*?\$\$", re.S)
QUESTION = re.compile(r"(?=\*\*(?:Predict first|Break it))")
ASKING = re.compile(r"(recall|quiz)\(")
RIGHT = re.compile(
    r"<summary>([^<]*(?:<(?!/summary).*?)?)</summary><p><strong>Right\.</strong> (.*?)</p>"
)


@dataclass(frozen=True)
class Block:
    """Something that stands on a slide: its HTML and the pixels that it needs at least."""

    kind: str
    html: Markup
    height: int
    lines: int = 1  # of a listing
    columns: int = 1
    tall: int = 0  # pixels of a picture as it is
    note: Markup | None = None  # for the speaker alone


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

    def has_room(self, more: list[Step]) -> bool:
        return sum(step.height for step in self.steps + more) <= ROOM


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
            render.static("slides/slides.css"),
        ],
        scripts=[
            *([render.vega()] if charts else []),
            render.static("charts.js"),
            render.static("mathjax.js"),
            render.vendored("mathjax/tex-svg.js"),
            render.vendored("reveal/reveal.js"),
            render.vendored("reveal/notes.js"),
            render.static("slides/slides.js"),
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
    block = _prose(f"\n{listed}")
    note = Markup("<p>To be read at home: no minute of the class is meant for it.</p>")
    return Slide(Section("Going deeper"), True, [Step([block], fragment=False)], [note])


def slides(section: Section) -> list[Slide]:
    """The slides of a section, each no fuller than the screen.

    The section's minutes are shared out evenly.
    """
    found, asked, lead = [Slide(section, opens=True)], [], []
    for cell in section.cells:
        if note := instructor_note(cell):  # to be read before the section begins
            minutes = Markup("<h4>For the instructor · {} min</h4>").format(note.minutes)
            found[0].notes[:0] = [minutes, _html(note.text)]
        elif place(cell) == "notes":
            lead = _say(cell, found, asked)
            _warn(cell, found)
        elif place(cell) in SHOWN:
            asked, lead = _show(cell, found, asked, lead) or asked, []
    if section.heading.startswith(PAUSE):
        found[0].notes.append(Markup("<p>Who reads alone pauses here; a class goes on.</p>"))
    for before, slide in pairwise(found):
        slide.notes = slide.notes or before.notes[-1:]
    for after, slide in pairwise(reversed(found)):
        slide.notes = slide.notes or after.notes[:1]
    for slide in found:
        slide.seconds = round(60 * section.minutes / len(found))
    return found


def _say(cell: NotebookNode, found: list[Slide], asked: list[Step]) -> list[Step]:
    """Gives a paragraph to the speaker, and to the slide what it has room for.

    An answer that finds none stands under its question again. What announces the next thing is
    handed back instead, to stand above it.
    """
    said = [[Step([_prose(text)], fragment=True)] for text in reversed(_sentences(cell))]
    fitting = next(filter(found[-1].has_room, said), [])
    if said and asked and cell.source.startswith("<details>") and fitting != said[0]:
        found.append(Slide(found[-1].section, opens=False, steps=[*asked]))
        fitting = said[0]
    found[-1].notes.append(_html(unfolded(cell.source)))
    if cell.source.endswith(":") and said:
        return said[0]
    found[-1].steps += fitting
    return []


def _warn(cell: NotebookNode, found: list[Slide]) -> None:
    """Puts **Careful** and **In short** on the slide, or on one of their own."""
    for aside in ASIDE.finditer(cell.source):
        step = Step([_prose(aside[0])], fragment=True)
        if not found[-1].has_room([step]):
            found.append(Slide(found[-1].section, opens=False))
            step.fragment = False
        found[-1].steps.append(step)


def _show(
    cell: NotebookNode, found: list[Slide], asked: list[Step], lead: list[Step]
) -> list[Step]:
    """Puts what a cell shows on the slide or on further ones; the question, should it ask one.

    An answer that stands on a slide of its own stands under its question.
    """
    section, shown = found[-1].section, list(steps(cell))
    again = asked if is_predicted(cell) else []
    if place(cell) == "subslide":
        found.append(Slide(section, opens=False, steps=[*again]))
        if lead:
            found[-1].notes.append(found[-2].notes.pop())
    if found[-1].has_room(lead + shown[:1]):
        found[-1].steps += lead
    for step in shown:
        if found[-1].steps and not found[-1].has_room([step]):
            found.append(Slide(section, opens=False, steps=[*again]))
        found[-1].steps.append(step)
        found[-1].notes += [block.note for block in step.blocks if block.note]
    return _question(shown)


def _sentences(cell: NotebookNode) -> list[str]:
    """The first sentence of what is said, the first two, and so on, as far as a slide bears it.

    None that announces a formula or a list which does not stand on the slide.
    """
    aside = ("|", "#", "$$", "<", ">", "**Next:**")
    paragraphs = re.split(
        r"(?<!:)\n\n(?!\$\$)", unfolded(cell.source)
    )  # a formula stays where it is
    first = next((text for text in paragraphs if not text.startswith(aside)), "")
    ends = [found.start() for found in re.finditer(r"(?<=[.?!])\s+(?=[A-Z`*“$])|\Z", first)]
    short = [first[:end] for end in ends if len(FORMULA.sub("", first[:end]).split()) <= WORDS]
    return [text for text in short if cell.source.endswith(":") or not text.endswith(":")]


def _question(shown: list[Step]) -> list[Step]:
    """The question that is asked, to stand above its answer on a slide of its own again."""
    asked = [b for step in shown for b in step.blocks if b.kind == "question"]
    return [Step([replace(asked[-1], kind="question asked")], fragment=False)] if asked else []


def steps(cell: NotebookNode) -> Iterator[Step]:
    """What a cell shows, at once or, where the result is to be predicted, one after the other."""
    fragment = place(cell) == "fragment"
    if cell.cell_type == "markdown":
        source = unfolded(re.sub(r"^#+ .*\n*", "", cell.source))
        for part in filter(None, QUESTION.split(source)):
            for portion in _portions(part):
                yield Step([_prose(portion)], fragment)
        return
    hidden = "hide-input" in tags(cell) or ASKING.match(cell.source)
    shown = [] if hidden else _listing(cell.source, "code")
    result = [block for piece in render.pieces(cell) for block in _blocks(piece, cell.source)]
    apart = is_predicted(cell) or sum(block.height for block in shown + result) > ROOM
    if shown and not apart:
        yield Step(shown + result, fragment)
        return
    for block in shown:
        yield Step([block], fragment)
    for block in result:
        yield Step([block], fragment or is_predicted(cell))


def _blocks(piece: render.Piece, source: str) -> Iterator[Block]:
    """What a cell with this source has put out, in portions that fit on a slide."""
    if piece.kind == "text":
        for part in tables.split(source, piece.plain):
            if isinstance(part, str):
                yield from _listing(part, "output")
            else:
                for portion in part.portions(ROWS, LETTERS):
                    yield Block("table", portion.html(), ROW * (1 + len(portion.rows)))
    elif piece.kind == "markup":
        for part in re.split(r"\n(?=<p><strong>\d\d\.\d)", piece.html):
            yield Block("markup", Markup(part), _markup_height(part), note=_answer(part))
    else:
        height = {"figure": FIGURE, "chart": min(piece.size[0] + 60, ROOM)}[piece.kind]
        yield Block(piece.kind, piece.html, height, tall=piece.size[0])


def _markup_height(html: str) -> int:
    """An estimate: a row of a table, a choice of a question, and its lines."""
    rows = ROW * len(re.findall("<(?:tr|details)", html))
    asked = Markup(re.sub("<(table|details).*", "", html, flags=re.S)).striptags()
    return rows + PARAGRAPH * math.ceil(len(asked) / 75)


def _answer(html: str) -> Markup | None:
    """The right choice of a question of the quiz, and why it is right."""
    found = RIGHT.search(html)
    return Markup(f"<p><strong>{found[1]}</strong> {found[2]}</p>") if found else None


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


def _portions(source: str) -> list[str]:
    """A cell that is a table of terms in portions that fit on a slide; anything else as it is."""
    if not source.startswith(GLOSSARY):
        return [source]
    head, rule, *rows = source.strip().splitlines()
    fitting: list[list[str]] = [[]]
    for row in rows:
        more = "\n".join([head, rule, *fitting[-1], row])
        if fitting[-1] and _prose_height(more) > ROOM - PARAGRAPH * 2:
            fitting.append([])
        fitting[-1].append(row)
    return ["\n".join([head, rule, *some]) for some in fitting]


def _prose(source: str) -> Block:
    kind = "question" if QUESTION.match(source) else "prose"
    return Block(kind, _html(source), _prose_height(source))


def _prose_height(source: str) -> int:
    """An estimate, on the safe side, of formulas, tables and paragraphs."""
    height = 0
    for part in re.split(r"\n\n+", source):
        if part.startswith("|"):
            rows = part.splitlines()
            wide = 70 if part.startswith(GLOSSARY) else 105  # letters: of three columns one wraps
            height += sum(44 * math.ceil(len(row) / wide) for row in rows) - 20
        elif part.startswith("$$"):
            height += 90 + 34 * part.count("\\\\")
        else:
            plain = re.sub(r"\\[a-z]+|[{}$*_^`]", "", part)
            lines = part.count("\n- ") or math.ceil(len(plain) / 80)
            height += PARAGRAPH * lines + 18
    return height


def _html(source: str) -> Markup:
    """Markdown as HTML whose links to a section of the lesson lead to its slide."""
    return Markup(str(render.markdown(source)).replace('href="#', 'href="#/'))
