"""What a lesson asks for: its exercises, the section each stands in, and its set-up."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from transformer_lib.exercises.own.parts import WARM_UPS
from transformer_lib.publish.lessons import Section, find_lessons, read_lesson, tags

_CHECK = re.compile(r'check\("([A-Za-z_.]+)", (\w+)\)')


@dataclass(frozen=True)
class Asked:
    """An exercise as a lesson asks for it.

    `answer` is the name of the function or class, `cell` the id of the cell in which its `stub`
    stands, and `section` the heading above it. What goes `deeper` is not counted, and warm-ups are
    not asked for.
    """

    lesson: str
    exercise: str
    answer: str
    cell: str
    stub: str
    section: str
    address: str
    deeper: bool


@dataclass(frozen=True)
class Homework:
    """A lesson's number, title, set-up cells, and exercises in order."""

    number: str
    title: str
    setup: tuple[str, ...]
    asked: tuple[Asked, ...]


@cache
def homework(number: str) -> Homework:
    """What the lesson of that number asks for; raises ValueError if there is none."""
    (path,) = find_lessons([number])
    lesson = read_lesson(path)
    setup = (cell.source for cell in lesson.notebook.cells if "setup" in tags(cell))
    asked = (found for section in lesson.sections for found in _asked(number, lesson.page, section))
    return Homework(number, lesson.title, tuple(setup), tuple(asked))


def _asked(number: str, page: str, section: Section) -> Iterator[Asked]:
    stub = None
    for cell in section.cells:
        if "exercise" in tags(cell):
            stub = cell
        elif "check" in tags(cell):
            exercise, answer = _CHECK.search(cell.source).groups()
            if exercise in WARM_UPS:  # for the student alone
                continue
            yield Asked(
                number,
                exercise,
                answer,
                stub.id,
                stub.source,
                section.heading,
                f"{page}#{section.slug}",
                section.deeper,
            )
