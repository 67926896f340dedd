"""What a lesson asks for: its exercises, the section each stands in, and its set-up.

It is read from `homework.json`, so that a class is graded where there are no notebooks of the
course. `make tables` writes that file from the notebooks; a test holds it to them.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("homework.json")


@dataclass(frozen=True)
class Asked:
    """An exercise as a lesson asks for it.

    `answer` is the name of the function or class, `cell` the id of the cell in which its `stub`
    stands, `check` that of the cell that checks it, and `section` the heading above it. What goes
    `deeper` is not counted, and warm-ups are not asked for.
    """

    lesson: str
    exercise: str
    answer: str
    cell: str
    stub: str
    check: str
    section: str
    address: str
    deeper: bool


@dataclass(frozen=True)
class Homework:
    """A lesson's number, its notebook's name, its title, set-up cells, and exercises in order."""

    number: str
    stem: str
    title: str
    setup: tuple[str, ...]
    asked: tuple[Asked, ...]


@cache
def every() -> dict[str, Homework]:
    """What each lesson asks for, by its number."""
    lessons = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        lesson["number"]: Homework(
            **{
                **lesson,
                "setup": tuple(lesson["setup"]),
                "asked": tuple(Asked(**asked) for asked in lesson["asked"]),
            }
        )
        for lesson in lessons
    }


def homework(name: str) -> Homework:
    """What a lesson asks for, by its number or its notebook's name; ValueError if there is none."""
    for lesson in every().values():
        if Path(name).stem in (lesson.number, lesson.stem):
            return lesson
    there_are = ", ".join(lesson.stem for lesson in every().values())
    raise ValueError(f"There is no lesson {name!r}. There are: {there_are}")
