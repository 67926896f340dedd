"""All lessons as one web site that opens from the file system: `make site`.

A page a lesson, an index with the route, a glossary, and a search that needs no server: its index
is a script. Notes for the instructor are left out; solutions, hints, the set-up, the answers to
predictions and what goes deeper are folded.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from nbformat import NotebookNode

from transformer_lib.exercises import exercises
from transformer_lib.exercises.machinery import Exercise
from transformer_lib.publish import render
from transformer_lib.publish.lessons import (
    CHECK,
    EFFORT,
    GLOSSARY,
    Lesson,
    Section,
    is_predicted,
    read_lesson,
    slug,
    tags,
)
from transformer_lib.runtime import progress_bar

FORMULA = re.compile(r"\$\$.*?\$\$", re.S)
TITLE = "Attention and Transformers, lesson by lesson"


@dataclass(frozen=True)
class Term:
    """A key term in two languages, and where the lessons explain it."""

    english: str
    chinese: str
    lessons: tuple[Lesson, ...]

    @property
    def slug(self) -> str:
        return term_slug(self.english)


@dataclass(frozen=True)
class Part:
    """A cell on a page: `kind` is prose, code, figure, chart, output, exercise or set-up."""

    kind: str
    html: Markup
    folded: str = ""  # what the fold over it says


def write_site(paths: list[Path], directory: Path) -> Path:
    """Writes the pages of these notebooks to `directory` and returns the index."""
    lessons = [read_lesson(path) for path in paths]
    assets = directory / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    scripts = {
        "site.js": render.static("site.js"),
        "charts.js": render.static("charts.js"),
        "mathjax.js": render.static("mathjax.js"),
        "tex-svg.js": render.vendored("mathjax/tex-svg.js"),
        "vega.js": render.vega(),
        "site.css": render.static("tokens.css") + render.static("site.css"),
        "search-index.js": f"const SEARCH_INDEX = {json.dumps(search_index(lessons), ensure_ascii=False)};",
        "LICENCES.txt": render.licences(),
    }
    for name, content in scripts.items():
        (assets / name).write_text(content, encoding="utf-8")
    terms = glossary(lessons)
    pages = {
        "index.html": ("index.html.j2", {"minutes": sum(lesson.minutes for lesson in lessons)}),
        "glossary.html": ("glossary.html.j2", {"terms": terms}),
    }
    neighbours = zip([None, *lessons], lessons, [*lessons[1:], None], strict=False)
    for before, lesson, after in neighbours:
        pages[lesson.page] = (
            "lesson.html.j2",
            {"lesson": lesson, "before": before, "after": after},
        )
    for name, (template, values) in progress_bar(pages.items(), desc="pages"):
        page = render.render(
            template, site=TITLE, lessons=lessons, here=name, parts=parts, **values
        )
        (directory / name).write_text(page, encoding="utf-8")
    return directory / "index.html"


def parts(section: Section) -> Iterator[Part]:
    """What a page shows of a section, in order."""
    for cell in section.cells:
        if "instructor" in tags(cell):
            continue
        if cell.cell_type == "markdown":
            source = cell.source.partition("\n")[2] if cell.source.startswith("#") else cell.source
            source = EFFORT.sub("", source) if section.deeper else source  # the fold says it
            kind = "question" if source.startswith("**Predict first") else "prose"
            yield Part(kind, render.markdown(_linked(source)))
        elif "check" in tags(cell):
            yield from _help(CHECK.search(cell.source)[1])
        else:
            yield from _code(cell)


def _code(cell: NotebookNode) -> Iterator[Part]:
    setup = "setup" in tags(cell)
    drawing = cell.metadata.get("jupyter", {}).get("source_hidden")
    shown = "answer" if is_predicted(cell) else "figure"
    folded = "Set-up of this lesson" if setup else f"Code of this {shown}" if drawing else ""
    yield Part("code", render.code(cell.source), folded)
    answer = "See what happens" if is_predicted(cell) else ""
    for piece in render.pieces(cell):
        yield Part("output" if piece.kind in ("text", "markup") else piece.kind, piece.html, answer)


def _help(name: str) -> Iterator[Part]:
    """The hints and the solution of an exercise, each under a fold."""
    exercise: Exercise = exercises()[name]
    for number, hint in enumerate(exercise.hints, start=1):
        yield Part("hint", render.markdown(hint), f"Hint {number} of {len(exercise.hints)}")
    yield Part("solution", render.code(exercise.source()), "Solution")


def term_slug(english: str) -> str:
    """Where a term stands in the glossary: under its name.

    What is in parentheses explains it, and is no part of the name.
    """
    return slug(re.sub(r"\(.*?\)", "", english))


def _linked(source: str) -> str:
    """A table of key terms with a link from each to its entry; another text as it is."""
    if not source.startswith(GLOSSARY):
        return source
    head, rule, *rows = source.splitlines()
    for number, row in enumerate(rows):
        _, english, rest = row.split("|", 2)
        rows[number] = f"|[{english.strip()}](glossary.html#{term_slug(english)})|{rest}"
    return "\n".join([head, rule, *rows])


def glossary(lessons: list[Lesson]) -> list[Term]:
    """Every key term once, in alphabetical order, with all lessons that list it."""
    found: dict[str, Term] = {}
    for lesson in lessons:
        for english, chinese in lesson.terms:
            key = term_slug(english)
            before = found.get(key, Term(english, chinese, ()))
            found[key] = Term(before.english, before.chinese, (*before.lessons, lesson))
    return [found[key] for key in sorted(found)]


def search_index(lessons: list[Lesson]) -> list[dict[str, str]]:
    """An entry a section: its address, its heading, its lesson, and all its words."""
    return [
        {
            "url": f"{lesson.page}#{section.slug}",
            "heading": render.plain(section.heading),
            "lesson": render.plain(lesson.title),
            "text": " ".join(
                render.plain(FORMULA.sub(" ", cell.source))
                if cell.cell_type == "markdown"
                else cell.source
                for cell in section.cells
                if not {"instructor", "setup", "check"} & set(tags(cell))
            ),
        }
        for lesson in lessons
        for section in lesson.sections
    ]
