"""The teaching plan, a page for all lessons: a term's calendar, what to ask, what goes wrong."""

import re
from dataclasses import dataclass
from pathlib import Path

from transformer_lib.publish import render
from transformer_lib.publish.lessons import MISBELIEFS, Lesson, Section, read_lesson
from transformer_lib.publish.routes import PARTS, routes
from transformer_lib.publish.term import SESSION, term

CLASSES = (45, 90)  # minutes
TITLES = {  # of what it tells, in its order
    "Ask": "What to ask and do",
    "In a hall": "What works with eighty students",
    "Goes wrong": "What goes wrong",
    "Skip if late": "What to skip if it is late",
    "Model answer": "What to hear in “explain it to a friend”",
}


@dataclass(frozen=True)
class Plan:
    """What to know of a lesson before teaching it.

    `told` has, under each of its titles, what a note or the text says, by the heading of its section;
    `skipped` has for each length of a class the sections to leave out.
    """

    lesson: Lesson
    told: dict[str, dict[str, str]]
    misbeliefs: list[str]
    skipped: dict[int, list[Section]]

    def spare(self, minutes: int) -> int:
        """The minutes that remain of a class of this length, fewer than 0 where it takes longer."""
        kept = [s for s in self.lesson.core if s not in self.skipped[minutes]]
        return minutes - sum(section.minutes for section in kept)


def write_plan(paths: list[Path], directory: Path) -> Path:
    """Writes the teaching plan of these notebooks and returns its file."""
    plans = [plan(read_lesson(path)) for path in paths]
    page = render.render(
        "plan.html.j2",
        plans=plans,
        classes=CLASSES,
        routes=routes(),
        parts=PARTS,
        sessions=term([plan.lesson for plan in plans]),
        session=SESSION,
        lessons={plan.lesson.stem[:2]: plan.lesson for plan in plans},
        titles=TITLES,
        styles=[render.static("tokens.css"), render.static("site/site.css")],
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
    """The plan as the notes have it: 45 minutes for the core, 90 with its exercises."""
    misbeliefs = [
        found[1]
        for section in lesson.core
        if section.heading == MISBELIEFS
        for cell in section.cells
        if (found := re.match(r"\*\*“(.+?)”", cell.source, re.S))
    ]
    homework = [section for section in lesson.core if section.exercises]
    skipped = dict(zip(CLASSES, (homework, []), strict=True))
    return Plan(lesson, written(lesson), misbeliefs, skipped)


def written(lesson: Lesson) -> dict[str, dict[str, str]]:
    """By title, then by the heading of a section, what its note and its text say."""
    told = {part: {} for part in TITLES}
    for section in lesson.core:
        parts = {"Goes wrong": section.careful, "Model answer": section.model_answer}
        for note in section.notes:
            parts |= note.parts
        for part, text in parts.items():
            if text:
                told[part][section.heading] = text
    return told
