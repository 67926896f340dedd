"""All lessons as one web site that opens from the file system: `make site`.

A page a lesson, a home page with the routes, a glossary, the papers, notebooks and wheel to take
home, and a search that needs no server: its index is a script. Notes for the instructor are left
out; solutions, hints, the set-up, the answers to predictions and what goes deeper are folded. Where
there is a repository it is linked to, and SITE_URL in the environment is where the pages will stand.
"""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from markupsafe import Markup
from nbformat import NotebookNode

from transformer_lib.base.lessons import LESSONS
from transformer_lib.base.optional import needed
from transformer_lib.base.report import progress_bar
from transformer_lib.batching import encode_pairs, make_batch
from transformer_lib.checkpoints import load_model
from transformer_lib.corpus import DATA, load_corpus
from transformer_lib.exercises import exercises
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.publish import render, tables
from transformer_lib.publish.addresses import linked, places, repository
from transformer_lib.publish.glossary import Marker, Term, glossary, term_slug
from transformer_lib.publish.lessons import (
    CHECK,
    EFFORT,
    GLOSSARY,
    Lesson,
    Section,
    is_predicted,
    read_lesson,
    tags,
)
from transformer_lib.publish.papers import papers
from transformer_lib.publish.playground import write_playground
from transformer_lib.publish.routes import PARTS, routes
from transformer_lib.publish.sheets import write_sheets
from transformer_lib.publish.takeaway import ONE_PAGE, write_takeaway
from transformer_lib.show import drawings
from transformer_lib.transformer import make_model

FORMULA = re.compile(r"\$\$.*?\$\$", re.S)
TITLE = "Attention and Transformers, lesson by lesson"
# an alt text begins with the figure's title; a stop before a closing quotation mark does not end it
CAPTION = re.compile(r"([A-Z“](?:[^.:?!]|[.:?!](?=”))*[?!]?)[.:?! ]")
LISTING = re.compile(r"(.*<pre>(?:<span></span>)?)(.*?)\n?(</pre>.*)", re.S)
PLAYED = {  # lessons with something of theirs in the playground
    "13": "send a sentence of yours through this drawing, and see the numbers at each box",
    "15": "translate a sentence of yours, see every head at it, and switch heads off",
    "16": "see what a model considers at every word, greedily, by beam or drawn",
}
SOCIAL = """\
<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630" font-family="sans-serif">
<path d="M0,0H1200V630H0Z" fill="#ffffff"/><path d="M0,0H14V630H0Z" fill="#00578a"/>
<text x="64" y="240" font-size="58" font-weight="bold" fill="#1b1f24">Attention and</text>
<text x="64" y="312" font-size="58" font-weight="bold" fill="#1b1f24">Transformers</text>
<text x="64" y="372" font-size="34" fill="#57606a">lesson by lesson</text>
<svg x="520" y="25" width="660" height="580" viewBox="0 0 {width} {height}">{picture}</svg>
</svg>
"""


@dataclass(frozen=True)
class Part:
    """A cell on a page.

    `kind` is prose, question, code, figure, chart, output, hint or solution.
    """

    kind: str
    html: Markup
    folded: str = ""  # what the fold over it says
    number: str = ""  # of a figure: 06.3
    caption: str = ""
    svg: Callable[[], str] | None = None

    @property
    def anchor(self) -> str:
        return f"figure-{self.number.replace('.', '-')}"


@dataclass(frozen=True)
class Page:
    """A page beside the lessons: what README has no room for."""

    file: str
    title: str
    html: Markup


def pages_beside() -> list[Page]:
    """The pages in `publish/pages`, written as Markdown; their pictures lie with the lessons."""
    found = []
    for path in sorted((render.HERE / "pages").glob("*.md")):
        source = linked(path.read_text(encoding="utf-8")).replace("../../../notebooks/", "")
        title = source.partition("\n")[0].removeprefix("# ")
        if path.stem == ONE_PAGE.stem:  # behind what is said about it, the file itself
            source += f"\n```python\n{ONE_PAGE.read_text(encoding='utf-8')}```\n"
        found.append(Page(f"{path.stem}.html", title, render.markdown(source)))
    return found


def write_site(paths: list[Path], directory: Path) -> Path:
    """Writes the pages of these notebooks to `directory` and returns the index."""
    lessons = [read_lesson(path) for path in paths]
    terms = glossary(lessons)
    scene = machine()
    write_assets(lessons, terms, scene, directory / "assets")
    wheel = write_takeaway(paths, directory / "downloads")
    shutil.copy(ONE_PAGE, directory)
    address = os.environ.get("SITE_URL", "")
    image = f"{address.rstrip('/')}/assets/social.png".removeprefix("/")
    write_playground(directory, home="index.html", image=image)
    everywhere = {
        "site": TITLE,
        "lessons": lessons,
        "repository": repository(),
        "image": image,
    }
    home = {
        "stages": stages(lessons),
        "routes": routes(),
        "parts": PARTS,
        "numbered": {lesson.number: lesson for lesson in lessons},
        "pages": pages_beside(),
        "minutes": sum(lesson.minutes for lesson in lessons),
        "chart": render.living(drawings.stepped(scene).to_dict()),
        "wheel": wheel.name,
    }
    pages = {
        "index.html": ("index.html.j2", home),
        "glossary.html": ("glossary.html.j2", {"terms": terms}),
        "papers.html": ("papers.html.j2", {"papers": papers(lessons)}),
    }
    pages |= {page.file: ("page.html.j2", {"page": page}) for page in home["pages"]}
    drawn: list[Part] = []
    neighbours = zip([None, *lessons], lessons, [*lessons[1:], None], strict=False)
    for before, lesson, after in neighbours:
        played = PLAYED.get(lesson.number)
        values = {"lesson": lesson, "before": before, "after": after, "played": played}
        values["places"] = places(lesson.stem)
        sections = content(lesson, terms)
        drawn += [part for _, parts_of in sections for part in parts_of if part.number]
        pages[lesson.page] = ("lesson.html.j2", {**values, "sections": sections})
    for name, (template, values) in progress_bar(pages.items(), desc="pages"):
        page = render.render(template, here=name, **everywhere, **values)
        (directory / name).write_text(page, encoding="utf-8")
    write_figures(drawn, directory / "figures")
    write_sheets(paths, directory, image)
    return directory / "index.html"


def write_figures(drawn: list[Part], directory: Path) -> None:
    """Every figure as a file of its own, to be taken into a talk: as SVG and as PNG."""
    directory.mkdir(parents=True, exist_ok=True)
    png = needed("vl_convert", "the figures as PNG").svg_to_png
    for part in progress_bar(drawn, desc="figures"):
        picture = part.svg()
        (directory / f"{part.anchor}.svg").write_text(picture, encoding="utf-8")
        (directory / f"{part.anchor}.png").write_bytes(png(picture, scale=1.5))


def write_assets(
    lessons: list[Lesson], terms: list[Term], scene: drawings.Scene, directory: Path
) -> None:
    """What the pages share: styles, scripts, the index of the search, the picture for previews."""
    directory.mkdir(parents=True, exist_ok=True)
    index = json.dumps(search_index(lessons, terms), ensure_ascii=False)
    files = {
        "site.js": render.static("site/search.js") + render.static("site/site.js"),
        "charts.js": render.static("charts.js"),
        "mathjax.js": render.static("mathjax.js"),
        "tex-svg.js": render.vendored("mathjax/tex-svg.js"),
        "vega.js": render.vega(),
        "site.css": render.static("tokens.css") + render.static("site/site.css"),
        "search-index.js": f"const SEARCH_INDEX = {index};",
        "LICENCES.txt": render.licences(),
    }
    for name, text in files.items():
        (directory / name).write_text(text, encoding="utf-8")
    picture = drawings.svg(scene)
    card = SOCIAL.format(width=scene.width, height=scene.height, picture=picture)
    vl_convert = needed("vl_convert", "the picture for previews")
    (directory / "social.png").write_bytes(vl_convert.svg_to_png(card))


def machine() -> drawings.Scene:
    """The Transformer as lesson 13 draws it, a layer a side, reading and writing *I'm home*."""
    _, english, french, _ = load_model(DATA / "models" / "lessons")
    home = [pair for pair in load_corpus("everyday").train if pair.source == "I'm home."]
    batch = make_batch(encode_pairs(home, english.encode, french.encode, max_len=20))
    read, given = english.tokens(batch.src[0].tolist()), french.tokens(batch.tgt_in[0].tolist())
    model = make_model(len(english), len(french), "tiny", num_layers=1).eval()
    return drawings.transformer(model, batch.src, batch.tgt_in, read, given)


def stages(lessons: list[Lesson]) -> list[tuple[str, list[Lesson]]]:
    """The lessons under the names of their stages, as the drawing of the route has them."""
    of = {number: row.stage for number, row in LESSONS.items()}
    found: dict[str, list[Lesson]] = {}
    for lesson in lessons:
        found.setdefault(of[lesson.number], []).append(lesson)
    return list(found.items())


def content(lesson: Lesson, terms: list[Term]) -> list[tuple[Section, list[Part]]]:
    """What a lesson's page shows, section by section; figures are numbered through."""
    known = [term for term in terms if term.lessons[0].stem <= lesson.stem]
    numbers = (f"{lesson.number}.{n}" for n in count(1))
    return [
        (section, list(parts(section, Marker(known, section.slug), numbers)))
        for section in lesson.sections
    ]


def parts(section: Section, mark: Marker, numbers: Iterator[str]) -> Iterator[Part]:
    """What a page shows of a section, in order."""
    for cell in section.cells:
        if "instructor" in tags(cell):
            continue
        if cell.cell_type == "markdown":
            source = cell.source.partition("\n")[2] if cell.source.startswith("#") else cell.source
            source = EFFORT.sub("", source) if section.deeper else source  # the fold says it
            kind = "question" if source.startswith("**Predict first") else "prose"
            yield Part(kind, mark(render.markdown(_linked(source))))
        elif "check" in tags(cell):
            yield from _help(CHECK.search(cell.source)[1])
        else:
            yield from _code(cell, numbers)


def _code(cell: NotebookNode, numbers: Iterator[str]) -> Iterator[Part]:
    setup = "setup" in tags(cell)
    drawing = cell.metadata.get("jupyter", {}).get("source_hidden")
    found = render.pieces(cell)
    pictured = any(piece.kind in ("figure", "chart") for piece in found)
    shown = "answer" if is_predicted(cell) else "figure" if pictured else "step"
    folded = "Set-up of this lesson" if setup else f"Code of this {shown}" if drawing else ""
    yield Part("code", continued(render.code(cell.source)), folded)
    answer = "See what happens" if is_predicted(cell) else ""
    for piece in found:
        if piece.kind in ("figure", "chart"):
            title = CAPTION.match(piece.plain)
            caption = title[1] if title else ""
            yield Part(piece.kind, piece.html, answer, next(numbers), caption, piece.svg)
        else:
            html = _printed(cell.source, piece.plain) if piece.kind == "text" else piece.html
            yield Part("output", html, answer)


def _printed(source: str, plain: str) -> Markup:
    """What the cell with this source printed: its frames as tables, the rest line by line."""
    return Markup("\n").join(
        continued(render.text(part).html) if isinstance(part, str) else part.html()
        for part in tables.split(source, plain)
    )


def _help(name: str) -> Iterator[Part]:
    """The hints and the solution of an exercise, each under a fold."""
    exercise: Exercise = exercises()[name]
    for number, hint in enumerate(exercise.hints, start=1):
        yield Part("hint", render.markdown(hint), f"Hint {number} of {len(exercise.hints)}")
    yield Part("solution", continued(render.code(exercise.source())), "Solution")


def continued(listing: Markup) -> Markup:
    """Code or printed text whose lines know their indentation: a long one goes on below it."""
    head, body, tail = LISTING.fullmatch(listing).groups()
    lines = []
    for line in body.split("\n"):
        words = re.sub("<[^>]+>", "", line)
        indent = len(words) - len(words.lstrip())
        lines.append(f'<span class="line" style="--indent: {indent}">{line}\n</span>')
    return Markup("".join([head, *lines, tail]))


def _linked(source: str) -> str:
    """A table of key terms with a link from each to its entry; another text as it is."""
    if not source.startswith(GLOSSARY):
        return source
    head, rule, *rows = source.splitlines()
    for number, row in enumerate(rows):
        _, english, rest = row.split("|", 2)
        rows[number] = f"|[{english.strip()}](glossary.html#{term_slug(english)})|{rest}"
    return "\n".join([head, rule, *rows])


def search_index(lessons: list[Lesson], terms: list[Term]) -> list[dict[str, str]]:
    """An entry a key term or section: its address, its heading, its lesson, and all its words.

    A dollar is the border of a formula, and nothing else.
    """
    defined = [
        {
            "url": f"glossary.html#{term.slug}",
            "heading": render.plain(term.english),
            "lesson": "Glossary",
            "text": f"{term.chinese} {render.plain(term.meaning)}",
        }
        for term in terms
    ]
    return defined + [
        {
            "url": f"{lesson.page}#{section.slug}",
            "heading": render.plain(section.heading),
            "lesson": render.plain(lesson.title),
            "text": " ".join(
                render.plain(FORMULA.sub(" ", cell.source))
                if cell.cell_type == "markdown"
                else cell.source.replace("$", "")
                for cell in section.cells
                if not {"instructor", "setup", "check"} & set(tags(cell))
            ),
        }
        for lesson in lessons
        for section in lesson.sections
    ]
