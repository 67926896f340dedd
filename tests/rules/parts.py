"""What the rules count and look at: core and deeper cells, words, lines, predictions."""

import re
from itertools import pairwise
from pathlib import Path

from transformer_lib.publish.lessons import PAUSE, SHEET, Lesson, Section, cut, tags

BUILD = "Build: "
EXERCISE = ("Exercise: ", BUILD)


def lesson_of(notebook):
    """The notebook as publishing cuts it."""
    return Lesson(Path(f"{number(notebook)}.ipynb"), notebook, cut(notebook))


def number(notebook):
    """The lesson's, from its title: 09."""
    return notebook.cells[0].source[2:4]


def core(notebook):
    return [cell for cell in notebook.cells if "deeper" not in tags(cell)]


def deeper(notebook):
    return [cell for cell in notebook.cells if "deeper" in tags(cell)]


def read(cells):
    """Those that a student reads: all but the instructor's notes."""
    return [cell for cell in cells if "instructor" not in tags(cell)]


def is_pause(section: Section):
    """Whether one sitting ends there and the next begins."""
    return section.heading.startswith(PAUSE)


def sittings(sections):
    """The sections of each sitting, a pause with what follows it."""
    return _cut(sections, lambda _, section: is_pause(section))


def parted(sections):
    """The sections of each part: a part ends with a sheet before a pause, or with the lesson."""
    return _cut(sections, lambda before, here: is_pause(here) and before.heading.startswith(SHEET))


def _cut(sections, begins):
    """Cut before each section that begins something, seen beside the one before it."""
    found = [sections[:1]]
    for before, section in pairwise(sections):
        if begins(before, section):
            found.append([])
        found[-1].append(section)
    return found


def taught(section: Section):
    """Whether it is part of the lesson and no exercise."""
    return not section.deeper and not section.heading.startswith(EXERCISE)


def prose(cells):
    return [cell.source for cell in read(cells) if cell.cell_type == "markdown"]


def words(cells):
    """Whatever stands between two spaces, also a mark of a table or a part of a formula."""
    return sum(len(text.split()) for text in prose(cells))


def lines(cell):
    """The lines of a cell that hold something."""
    return sum(bool(line.strip()) for line in cell.source.splitlines())


def code(cells):
    """Code that is read: without set-up, stubs and checks."""
    unread = {"setup", "exercise", "check"}
    return [c for c in cells if c.cell_type == "code" and not unread & set(tags(c))]


def in_sight(cell):
    """Whether its code is read without a click."""
    return not cell.metadata.get("jupyter", {}).get("source_hidden")


def is_prediction(cell):
    return cell.cell_type == "markdown" and "**Predict first" in cell.source


def asks(cell):
    """Whether it is a quiz: recall("09"), or quiz("08.1", "05.2", "09.1")."""
    return cell.cell_type == "code" and bool(re.match(r"(recall|quiz)\(", cell.source.strip()))


def count(cells, pattern):
    return sum(bool(re.search(pattern, text, re.M)) for text in prose(cells))
