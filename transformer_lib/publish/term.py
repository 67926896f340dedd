"""A term's calendar: sessions of 90 minutes, homework and its points, and what to ask.

All of it is counted from the lessons: minutes from their notes, exercises from their checks,
questions from the quiz. A lesson is cut at a pause where it is longer than half a session.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from transformer_lib.base.lessons import LESSONS
from transformer_lib.exercises.own.parts import WARM_UPS
from transformer_lib.exercises.quiz.questions import numbered
from transformer_lib.publish.lessons import PAUSE, Lesson, Section

SESSION = 90  # minutes
ALONE = 1.6  # times the stated minutes an exercise takes at home, as the times of the lessons say


@dataclass(frozen=True)
class Part:
    """What of a lesson is heard without a break: sections without exercises."""

    lesson: Lesson
    sections: tuple[Section, ...]
    first: bool
    last: bool

    @property
    def minutes(self) -> int:
        return sum(section.minutes for section in self.sections)

    @property
    def name(self) -> str:
        """The lesson; of a part of one also where it begins and ends."""
        if self.first and self.last:
            return self.lesson.title
        first, last = self.sections[0].heading, self.sections[-1].heading
        return f"{self.lesson.title}, from “{first}” to “{last}”"


@dataclass(frozen=True)
class Task:
    """An exercise of a lesson."""

    lesson: Lesson
    section: Section

    @property
    def points(self) -> int:
        """For each check one a dot of the section's difficulty; for a warm-up one."""
        each = (
            1 if name in WARM_UPS else self.section.effort.difficulty
            for name in self.section.exercises
        )
        return sum(each)

    @property
    def alone(self) -> int:
        """Minutes at home."""
        return round(ALONE * self.section.effort.minutes)


@dataclass
class Session:
    """One class: parts of lessons, exercises as far as there is time, and the homework."""

    parts: list[Part] = field(default_factory=list)
    in_class: list[Task] = field(default_factory=list)
    homework: list[Task] = field(default_factory=list)

    @property
    def heard(self) -> int:
        """The minutes of its parts."""
        return sum(part.minutes for part in self.parts)

    @property
    def minutes(self) -> int:
        return self.heard + sum(task.section.minutes for task in self.in_class)

    @property
    def points(self) -> int:
        """Those of the homework."""
        return sum(task.points for task in self.homework)

    @property
    def clock(self) -> Iterator[tuple[int, str]]:
        """From which minute on what happens."""
        minute = 0
        for part in self.parts:
            yield minute, part.name
            minute += part.minutes
        for task in self.in_class:
            yield minute, f"{task.lesson.number}, in class: {task.section.heading}"
            minute += task.section.minutes

    @property
    def questions(self) -> Iterator[tuple[int, list[str]]]:
        """The questions of the quiz by the minute: those that open a lesson, then its others."""
        minute = 0
        for part in self.parts:
            if part.first:
                yield minute, list(LESSONS[part.lesson.number].opening)
            minute += part.minutes
        ended = [part.lesson.number for part in self.parts if part.last]
        opened = {*ended, *(part.lesson.number for part in self.parts)}
        asked = {name for number in opened for name in LESSONS[number].opening}
        last = [name for name in numbered() if name[:2] in ended and name not in asked]
        if last:
            yield self.minutes, last


def term(lessons: Sequence[Lesson]) -> list[Session]:
    """The sessions that hear these lessons in their order, each no longer than 90 minutes."""
    sessions = [Session()]
    for lesson in lessons:
        for part in _parts(lesson):
            if sessions[-1].heard + part.minutes > SESSION:
                sessions.append(Session())
            sessions[-1].parts.append(part)
    for session in sessions:
        for part in session.parts:
            for section in part.lesson.core if part.last else ():
                if section.exercises:
                    task = Task(part.lesson, section)
                    fits = session.minutes + section.minutes <= SESSION
                    (session.in_class if fits else session.homework).append(task)
    return sessions


def _parts(lesson: Lesson) -> list[Part]:
    """A lesson's core without its exercises: in one, or where it is long from pause to pause."""
    pieces: list[list[Section]] = [[]]
    for section in lesson.core:
        if section.heading.startswith(PAUSE):
            pieces.append([])
        elif not section.exercises:
            pieces[-1].append(section)
    if sum(section.minutes for piece in pieces for section in piece) <= SESSION / 2:
        pieces = [[section for piece in pieces for section in piece]]
    pieces = [piece for piece in pieces if piece]
    return [
        Part(lesson, tuple(piece), n == 0, n == len(pieces) - 1) for n, piece in enumerate(pieces)
    ]
