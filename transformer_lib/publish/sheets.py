"""The closing sheets, each on one page to be printed, and all as a booklet: `make sheets`.

A sheet is what a lesson closes with: its formula, its shapes, its code, its terms, its three
mistakes. Where the system has a Chromium, each page is there as PDF too.
"""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from transformer_lib.base.report import progress_bar
from transformer_lib.publish import render
from transformer_lib.publish.lessons import Lesson, Section, read_lesson, tags

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")
BOOKLET = "booklet"
PRINTING = 60  # seconds
ASSETS = {  # beside the pages, as the site has them
    "sheets.css": lambda: render.static("tokens.css") + render.static("sheets.css"),
    "mathjax.js": lambda: render.static("mathjax.js"),
    "tex-svg.js": lambda: render.vendored("mathjax/tex-svg.js"),
    "LICENCES.txt": render.licences,
}


def write_sheets(paths: Sequence[Path], directory: Path, image: str = "") -> list[Path]:
    """Writes the sheets of these notebooks and the booklet, and returns their files.

    `image` is the address of the picture for previews.
    """
    lessons = [read_lesson(path) for path in paths]
    (directory / "assets").mkdir(parents=True, exist_ok=True)
    for name, text in ASSETS.items():
        (directory / "assets" / name).write_text(text(), encoding="utf-8")
    pages = {f"sheet_{lesson.number}": [lesson] for lesson in lessons} | {BOOKLET: lessons}
    written = []
    for name, some in progress_bar(pages.items(), desc="sheets"):
        page = directory / f"{name}.html"
        page.write_text(_page(name, some, image), encoding="utf-8")
        written += [page, *_printed(page)]
    return written


def _page(name: str, lessons: list[Lesson], image: str) -> str:
    title = (
        "All lessons, each on one sheet" if name == BOOKLET else f"{lessons[0].title}: the sheet"
    )
    numbers = ", ".join(lesson.number for lesson in lessons)
    return render.render(
        "sheets.html.j2",
        title=render.plain(title),
        description=f"Formula, shapes, code, terms and mistakes on one page, to print. Lesson {numbers}"
        f"{', as a booklet' if name == BOOKLET else ''}.",
        image=image,
        sheets=[(one, sheet, list(_blocks(sheet))) for one in lessons for sheet in one.sheets],
    )


def _blocks(sheet: Section) -> Iterator[tuple[str, Markup]]:
    """What stands on a sheet, in the lesson's order; the heading stands above it."""
    for cell in sheet.cells[1:]:
        if "instructor" in tags(cell):
            continue
        if cell.cell_type == "markdown":
            yield "prose", render.markdown(cell.source)
        else:
            yield "code", render.code(cell.source)


def _printed(page: Path) -> list[Path]:
    """The page as PDF, if a browser is there to print it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser:
        return []
    pdf = page.with_suffix(".pdf")
    options = ["--headless", "--disable-gpu", "--no-sandbox", "--no-pdf-header-footer"]
    options += ["--virtual-time-budget=20000", f"--print-to-pdf={pdf}"]
    subprocess.run(
        [browser, *options, page.resolve().as_uri()], capture_output=True, timeout=PRINTING
    )
    return [pdf] if pdf.exists() else []
