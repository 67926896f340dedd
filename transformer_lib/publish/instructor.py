"""The instructor's edition: `make instructor`.

The notebooks with each exercise solved, each note and each predicted answer unfolded, executed; and
a teaching plan of one page.
"""

import copy
import os
import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from transformer_lib.exercises import exercises
from transformer_lib.publish import render
from transformer_lib.publish.lessons import (
    CHECK,
    Lesson,
    Section,
    instructor_note,
    read_lesson,
    tags,
)

CLASSES = (45, 90)  # minutes
# A bar would be stored, and stand still; and no one's own library belongs in the edition.
UNDISTURBED = {"TQDM_DISABLE": "1", "TRANSFORMER_LIB_MINE": "off"}
ERRORS = re.compile(
    r"\b(wrong|slips?|traps?|mistakes?|mistaken|confuse[sd]?|forget|forgotten|hurdle|stumbl\w+|fails?"
    r"|nobody|easily|misread\w*|overlook\w*|Some (will )?(say|see))\b"
)
ORDERS = re.compile(
    r"(Then |Before|After|Afterwards )?(ask|let|vote|draw|do|keep|close|cover|give)\b", re.I
)
CORRECTED = "What people get wrong"


def write_notebook(path: Path, directory: Path, *, execute: bool = True) -> Path:
    """Writes the instructor's edition of a notebook and returns its file.

    An exercise whose solution does not pass its check stops it.
    """
    notebook = solved(nbformat.read(path, as_version=4))
    if execute:
        NotebookClient(
            notebook,
            timeout=1800,
            resources={"metadata": {"path": str(path.parent)}},
            extra_arguments=["--log-level=ERROR"],
        ).execute(env={**os.environ, **UNDISTURBED})
        for cell in notebook.cells:
            if "check" in tags(cell):
                verdict = cell.outputs[-1].data["text/plain"]
                if not verdict.startswith("✓"):
                    raise ValueError(f"{path.name}: {cell.source} says {verdict}")
    directory.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, directory / path.name)
    return directory / path.name


def solved(notebook: NotebookNode) -> NotebookNode:
    """A copy in which stubs hold their solutions and nothing is folded."""
    notebook = copy.deepcopy(notebook)
    stubs = []
    for cell in notebook.cells:
        cell.metadata.get("jupyter", {}).pop("outputs_hidden", None)
        cell.metadata.pop("collapsed", None)
        if note := instructor_note(cell):
            cell.source = f"> **For the instructor · {note.minutes} min**\n>\n" + "\n".join(
                f"> {line}".rstrip() for line in note.text.splitlines()
            )
        elif "exercise" in tags(cell):
            stubs.append(cell)
        elif "check" in tags(cell):
            stubs.pop(0).source = exercises()[CHECK.search(cell.source)[1]].source()
    return notebook


# --------------------------------------------------------------------------------- the teaching plan


@dataclass(frozen=True)
class Plan:
    """What to know of a lesson before teaching it.

    It has sentences of the notes under the headings where they stand, and for each length of a
    class the sections to leave out.
    """

    lesson: Lesson
    ask: dict[str, str]
    errors: dict[str, str]
    misbeliefs: list[str]
    skipped: dict[int, list[Section]]

    def spare(self, minutes: int) -> int:
        """The minutes that remain of a class of this length."""
        return minutes - _minutes(self.lesson, self.skipped[minutes])


def write_plan(paths: list[Path], directory: Path) -> Path:
    """Writes the teaching plan of these notebooks and returns its file."""
    page = render.render(
        "plan.html.j2",
        plans=[plan(read_lesson(path)) for path in paths],
        classes=CLASSES,
        styles=[render.static("tokens.css"), render.static("site.css")],
        scripts=[
            render.static("mathjax.js").replace("typeset: false", "typeset: true"),
            render.vendored("mathjax/tex-svg.js"),
        ],
        licences=render.licences(),
    )
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "teaching_plan.html").write_text(page, encoding="utf-8")
    return directory / "teaching_plan.html"


def plan(lesson: Lesson) -> Plan:
    """The notes sorted into what to ask and what goes wrong, and what a short class leaves out.

    What goes wrong begins with a sentence that says so, and ends where the next one gives an order.
    """
    ask, errors = {}, {}
    for section in lesson.sections:
        for note in section.notes:
            goes_wrong = False
            for told in sentences(note.text):
                goes_wrong = bool(ERRORS.search(told)) or (goes_wrong and not ORDERS.match(told))
                (errors if goes_wrong else ask).setdefault(section.heading, []).append(told)
    misbeliefs = [
        found[1]
        for cell in lesson.notebook.cells
        if (found := re.match(r"\*\*“(.+?)”\*\*", cell.source, re.S))
    ]
    return Plan(
        lesson,
        {heading: " ".join(told) for heading, told in ask.items()},
        {heading: " ".join(told) for heading, told in errors.items()},
        misbeliefs,
        {minutes: leave_out(lesson, minutes) for minutes in CLASSES},
    )


def sentences(text: str) -> list[str]:
    """The sentences of a note, whole, with their formulas and quotations."""
    return re.split(r"(?<=[.!?:”])\s+(?=[A-Z“])", " ".join(text.split()))


def leave_out(lesson: Lesson, minutes: int) -> list[Section]:
    """The sections to leave out so that the lesson fits into a class.

    One after the other, until it fits: the exercises, from the last (they become homework); “What
    people get wrong” (to be read at home); then sections without a prediction, from the last; then
    the others, from the last. What fits again is put back. The opening, the first section and the
    recap stay.
    """
    first, last = lesson.sections[:2], lesson.sections[-1]
    middle = [s for s in reversed(lesson.sections) if s not in first and s is not last]
    middle.sort(key=_rank)  # stable: from the last within each rank
    gone = []
    for section in middle:
        if _minutes(lesson, gone) <= minutes:
            break
        gone.append(section)
    for section in reversed(gone):  # the last one may have been longer than was needed
        if _minutes(lesson, [s for s in gone if s is not section]) <= minutes:
            gone = [s for s in gone if s is not section]
    return [section for section in lesson.sections if section in gone]


def _minutes(lesson: Lesson, gone: list[Section]) -> int:
    return round(sum(s.minutes for s in lesson.sections if s not in gone))


def _rank(section: Section) -> int:
    predicted = any("**Predict first" in cell.source for cell in section.cells)
    return 0 if section.exercises else 1 if section.heading == CORRECTED else 2 + predicted
