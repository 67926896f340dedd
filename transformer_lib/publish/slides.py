"""A lesson as one self-contained reveal.js deck: `make slides`.

A heading starts a slide to the right, a subslide one below. Paragraphs go into the speaker's view,
and as much of one on the slide as there is room for. No slide shows code or an output without a
sentence: one that announces it or reads it, said again where a listing goes on. Pictures are as large
as the slide and their words 20 pixels high (`enlarged`); a drawing with a slider is a slide a step.
With the instructor's notes the speaker's view has the seconds that they leave for each slide. What
goes deeper stands behind the last slide, after one that lists it, and takes no time of the class. What
is too much for 1280 by 720 is continued on a further slide, by the heights estimated here; the last
few per cent are the business of slides.js, which makes the type of a slide smaller until it fits.
"""

import math
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from pathlib import Path

from markupsafe import Markup
from nbformat import NotebookNode

from transformer_lib.publish import enlarged, render, tables
from transformer_lib.publish.lessons import (
    ASIDE,
    DEEPER,
    EFFORT,
    GLOSSARY,
    PAUSE,
    ROAD_MAP,
    SHEET,
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
from transformer_lib.show.drawings import frames, is_stepped

ROOM = 590  # pixels below the heading, of 720
PARAGRAPH, CODE_LINE, ROW = 38, 31, 45  # pixels a line
SAID = 100  # pixels kept for words on a slide that shows something
WIDTH = 1232  # pixels that a picture may take, of 1280
DRAWN, PLOTTED = 20, 14  # pixels of the least words of a drawing, and of a plot
LEGIBLE = 1.3  # times its own size a chart that moves has letters of 14 pixels
ROWS, LETTERS = 9, 90  # of a table on one slide
WORDS = 60  # of a paragraph that can be read on a slide
LISTING, LONGEST = 440, 19  # pixels and lines of one listing: small type first, then a continuation
WIDE, WRAPPED = 110, 88  # columns that can still be read; a longer line is wrapped
FORMULA = re.compile(r"\$\$.*?\$\$", re.S)
DRAWING = 'font-family="sans-serif"'  # ours, and not a plot
SENTENCE = re.compile(r"(?:(?<=[.?!])|(?<=[.?!]\)))\s+(?=\(?[A-Z`*“$])")  # between two of them
APART = ("|", "#", "$$", "<", ">", "**Next:**", ROAD_MAP)  # begins what is no paragraph
QUESTION = re.compile(r"(?=\*\*(?:Predict first|Break it))")
ASKING = re.compile(r"(recall|quiz)\(")
CHOICE = re.compile(r"<summary>(.*?)</summary><p><strong>(Right|Wrong)\.</strong> (.*?)</p>")
SHOWING = {"code", "output", "figure", "chart", "table", "markup"}
TODAY = "Today in three sentences"
IN_CODE = "The lesson in a few lines of code:"


@dataclass(frozen=True)
class Block:
    """Something that stands on a slide: its HTML and the pixels that it needs at least."""

    kind: str
    html: Markup
    height: int
    lines: int = 1  # of a listing
    columns: int = 1
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
    minute: int | None = None  # of the class, in which it begins; None behind the core

    @property
    def blocks(self) -> list[Block]:
        return [block for step in self.steps for block in step.blocks]

    @property
    def silent(self) -> bool:
        """Whether it shows code or an output and no word of ours beside it."""
        kinds = {block.kind.split()[0] for block in self.blocks}
        return bool(kinds & SHOWING) and not kinds & {"prose", "question", "quiz"}

    @property
    def begun(self) -> bool:
        """Whether it has a section's heading and so far nothing but the road map below it."""
        return self.opens and all('class="road"' in block.html for block in self.blocks)

    def may_take(self, step: Step) -> bool:
        """One picture a slide, so that each has its sentence."""
        return not all(any(b.kind == "figure" for b in bs) for bs in (self.blocks, step.blocks))

    def has_room(self, more: list[Step]) -> bool:
        """Whether these fit too, and beside what would be silent a sentence."""
        then = Slide(self.section, self.opens, self.steps + more)
        return sum(step.height for step in then.steps) <= ROOM - SAID * then.silent


def write_deck(path: Path, directory: Path) -> Path:
    """Writes the deck of a notebook to `directory` and returns its file."""
    lesson = read_lesson(path)
    core = [slides(section) for section in lesson.core]
    _set_clock([slide for column in core for slide in column])
    columns = [*core, [today(lesson)]]
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


def _set_clock(core: list[Slide]) -> None:
    starts = accumulate((slide.seconds for slide in core), initial=0)
    for slide, start in zip(core, starts, strict=False):
        slide.minute = start // 60


def today(lesson: Lesson) -> Slide:
    """What the lesson said, in three sentences of its own: those that its sections end with."""
    shorts = [
        text for section in lesson.core for mark, text in section.asides if mark == "In short"
    ]
    said = [SENTENCE.split(text) for text in shorts]
    ranked = sorted((rank, n) for n, some in enumerate(said) for rank in range(len(some)))
    firsts = [place for place in ranked if place[0] == 0]
    if len(firsts) > 3:
        ranked = [firsts[0], firsts[len(firsts) // 2], firsts[-1]]
    chosen = sorted((n, rank) for rank, n in ranked[:3])
    listed = "\n".join(f"{i}. {said[n][rank]}" for i, (n, rank) in enumerate(chosen, start=1))
    note = Markup("<p>Let the class say them first: cover the slide, and ask for one each.</p>")
    return Slide(Section(TODAY), True, [Step([_prose(listed)], fragment=False)], [note])


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
    shown: list[tuple[Slide, int]] = []  # and which cell a slide shows
    for n, cell in enumerate(section.cells):
        if note := instructor_note(cell):  # to be read before the section begins
            minutes = Markup("<h4>For the instructor · {} min</h4>").format(note.minutes)
            found[0].notes[:0] = [minutes, _html(note.text)]
        elif place(cell) == "notes":
            lead = _say(cell, found, asked)
            _warn(section, n, found)
        elif place(cell) in SHOWN:
            start = len(found) - 1
            asked, lead = _show(cell, found, asked, lead) or asked, []
            shown += [(slide, n) for slide in found[start:]]
    for slide, n in shown:
        if slide.silent:
            _tell(slide, section, n)
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

    An answer that finds none stands under its question again. A paragraph that announces the next
    thing, or its last sentence, is handed back, to stand above it.
    """
    before, _, last = unfolded(cell.source).rpartition("\n\n")
    lead = _last_words(last) if last.endswith(":") else []
    lead = lead[-1:] if _is_bearable(last) else lead[:1]
    texts = _sentences(cell) if before or not lead else []
    said = [[Step([_prose(text)], fragment=True)] for text in reversed(texts)]
    fitting = next(filter(found[-1].has_room, said), [])
    if said and asked and cell.source.startswith("<details>") and fitting != said[0]:
        found.append(Slide(found[-1].section, opens=False, steps=[*asked]))
        fitting = said[0]
    spoken = [before, last] if lead else [unfolded(cell.source)]
    found[-1].notes += [_html(text) for text in spoken if text]
    found[-1].steps += fitting
    return lead


def _warn(section: Section, n: int, found: list[Slide]) -> None:
    """Puts **Careful** and **In short** on the slide, or on one with the words that they follow."""
    source = section.cells[n].source
    for aside in ASIDE.finditer(source):
        step = Step([_prose(aside[0])], fragment=True)
        if not found[-1].has_room([step]):
            before = _last_words(source[: aside.start()]) or _announcing(section, n)
            found.append(Slide(section, opens=False, steps=before[-1:]))
            step.fragment = False
        found[-1].steps.append(step)


def _show(
    cell: NotebookNode, found: list[Slide], asked: list[Step], lead: list[Step]
) -> list[Step]:
    """Puts what a cell shows on the slide or on further ones; the question, should it ask one.

    An answer that stands on a slide of its own stands under its question.
    """
    section = found[-1].section
    again = asked if is_predicted(cell) else []
    shown = list(steps(cell, ROOM - max(SAID, sum(step.height for step in again))))
    if again and [block.kind for block in found[-1].blocks] == ["question"]:
        found[-1].steps += shown[:1]  # below its question, and not on a further slide
        shown = shown[1:]
    elif place(cell) == "subslide" and not (found[-1].begun and found[-1].has_room(shown[:1])):
        if found[-1].begun and not found[-1].has_room(lead + shown[:1]):
            found[-1].steps += lead
        found.append(Slide(section, opens=False, steps=[*again]))
        if lead:
            found[-1].notes.append(found[-2].notes.pop())
    if found[-1].has_room(lead + shown[:1]):
        found[-1].steps += lead
    for step in shown:
        begun = found[-1].steps not in ([], again)
        if begun and not (found[-1].has_room([step]) and found[-1].may_take(step)):
            found.append(Slide(section, opens=False, steps=[*again]))
        found[-1].steps.append(step)
        found[-1].notes += [block.note for block in step.blocks if block.note]
    return _question(shown)


def _tell(slide: Slide, section: Section, n: int) -> None:
    """Gives a slide of the n-th cell the sentence that announces it, or that reads it."""
    after = next((c for c in section.cells[n + 1 :] if place(c) != "skip"), None)
    read = _sentences(after) if after and _is_said(after) else []
    reading = [Step([_prose(text)], fragment=True) for text in read]
    announcing = _announcing(section, n)
    code = any(block.kind == "code" for block in slide.blocks)
    for words in (announcing, reading) if code else (reading, announcing):
        fitting = [step for step in words if slide.has_room([step])][-1:]
        if fitting:
            slide.steps = slide.steps + fitting if words is reading else fitting + slide.steps
            return


def _announcing(section: Section, n: int) -> list[Step]:
    """The words before the n-th cell."""
    if section.heading.startswith(SHEET):
        return [Step([_prose(IN_CODE)], fragment=False)]
    before = (c for c in reversed(section.cells[:n]) if c.cell_type == "markdown")
    sources = (re.sub(r"^#+ .*\n*", "", c.source) for c in before if not instructor_note(c))
    return next(filter(None, (_last_words(unfolded(source)) for source in sources)), [])


def _is_said(cell: NotebookNode) -> bool:
    return place(cell) == "notes" and not instructor_note(cell)


def _last_words(source: str) -> list[Step]:
    """The last sentence before something, the last two, and so on, as far as a slide bears it."""
    paragraphs = EFFORT.sub("", source).strip().split("\n\n")
    paragraphs = [p for p in paragraphs if p and not p.startswith(APART)]
    if not paragraphs:
        return []
    starts = [0, *(found.end() for found in SENTENCE.finditer(paragraphs[-1]))]
    said = [paragraphs[-1][start:] for start in reversed(starts)]
    return [Step([_prose(text)], fragment=False) for text in said if _is_bearable(text)]


def _sentences(cell: NotebookNode) -> list[str]:
    """The first sentence of what is said, the first two, and so on, as far as a slide bears it.

    None that announces a formula or a list which does not stand on the slide.
    """
    paragraphs = re.split(
        r"(?<!:)\n\n(?!\$\$)", unfolded(cell.source)
    )  # a formula stays where it is
    first = next((text for text in paragraphs if not text.startswith(APART)), "")
    ends = [*(found.start() for found in SENTENCE.finditer(first)), len(first)]
    return [text for end in ends if _is_bearable(text := first[:end]) and not text.endswith(":")]


def _is_bearable(text: str) -> bool:
    """Not too long for a slide, and no emphasis or bracket is cut in two."""
    whole = text.count("*") % 2 == 0 and text.count("(") == text.count(")")
    return whole and 0 < len(FORMULA.sub("x", text).split()) <= WORDS


def _question(shown: list[Step]) -> list[Step]:
    """The question that is asked, to stand above its answer on a slide of its own again."""
    asked = [b for step in shown for b in step.blocks if b.kind == "question"]
    return [Step([replace(asked[-1], kind="question asked")], fragment=False)] if asked else []


def steps(cell: NotebookNode, room: int = ROOM - SAID) -> Iterator[Step]:
    """What a cell shows, at once or, where the result is to be predicted, one after the other.

    `room` are the pixels for a picture, from top to bottom.
    """
    fragment = place(cell) == "fragment"
    if cell.cell_type == "markdown":
        source = unfolded(re.sub(r"^#+ .*\n*", "", cell.source))
        for part in filter(None, QUESTION.split(source)):
            for portion in _portions(part):
                yield Step([_prose(portion)], fragment)
        return
    hidden = "hide-input" in tags(cell) or ASKING.match(cell.source)
    shown = [] if hidden else _listing(cell.source, "code")
    pieces = render.pieces(cell)
    result = [step for piece in pieces for step in _steps(piece, cell.source, room)]
    blocks = [block for step in result for block in step]
    apart = is_predicted(cell) or sum(block.height for block in shown + blocks) > ROOM - SAID
    if shown and not apart:
        yield Step(shown + blocks, fragment)
        return
    for block in shown:
        yield Step([block], fragment)
    for step in result:
        yield Step(step, fragment or is_predicted(cell))


def _steps(piece: render.Piece, source: str, room: int) -> Iterator[list[Block]]:
    """What appears together of what a cell has put out: a drawing with each of its sentences."""
    if piece.kind == "figure":
        least = DRAWN if DRAWING in piece.svg() else PLOTTED
        for picture in enlarged.enlarged(piece.svg(), (WIDTH, room), least):
            yield [_pictured(picture, piece.plain)]
    elif piece.chart and is_stepped(piece.chart):
        whole, *lit = enlarged.stepped(frames(piece.chart), (WIDTH, room), DRAWN)
        for picture in whole[1]:  # its title is no sentence
            yield [_pictured(picture, piece.plain)]
        for sentence, pictures in lit:
            for picture in pictures:
                yield [_prose(sentence), _pictured(picture, f"{piece.plain} Here: {sentence}")]
    else:
        together = []
        for block in _blocks(piece, source):
            together.append(block)
            if (block.kind, block.lines) != ("output", 1):  # a line heads the table behind it
                yield together
                together = []
        if together:
            yield together


def _pictured(picture: enlarged.Shown, alt: str) -> Block:
    html = render.image(picture.svg, picture.width, picture.height, alt)
    return Block("figure", html, picture.height)


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
            note = _answers(part)
            yield Block("quiz" if note else "markup", Markup(part), _markup_height(part), note=note)
    else:
        height = round(LEGIBLE * piece.size[0]) + 60  # with its controls
        yield Block(piece.kind, piece.html, min(height, ROOM - SAID))


def _markup_height(html: str) -> int:
    """An estimate: a row of a table, a choice of a question, and its lines."""
    rows = ROW * len(re.findall("<(?:tr|details)", html))
    asked = Markup(re.sub("<(table|details).*", "", html, flags=re.S)).striptags()
    return rows + PARAGRAPH * math.ceil(len(asked) / 75)


def _answers(html: str) -> Markup | None:
    """The right choice of a question of the quiz and why, then what each wrong one shows."""
    choices = sorted(CHOICE.findall(html), key=lambda choice: choice[1])
    told = (
        f"<p><strong>{verdict}: {choice}</strong> {why}</p>" for choice, verdict, why in choices
    )
    return Markup("".join(told)) if choices else None


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
    kind = (
        "effort" if EFFORT.fullmatch(source.strip()) else kind
    )  # minutes and dots are no sentence
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
