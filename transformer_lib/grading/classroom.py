"""A folder of submissions becomes a table: a row a student, and in it a result an exercise."""

import json
import secrets
import tempfile
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from transformer_lib.base.report import progress_bar
from transformer_lib.grading.crashes import ends_all, how_it_ended, lost_with
from transformer_lib.grading.homework import Asked, Homework, homework
from transformer_lib.grading.judge import judge
from transformer_lib.grading.limits import End, Task, run_limited
from transformer_lib.grading.students import Student
from transformer_lib.grading.submissions import (
    Cell,
    Program,
    Unusable,
    find_submissions,
    number_of,
    program,
    read_cells,
)
from transformer_lib.publish.lessons import find_lessons

PASSED, MISTAKE, OPEN = "passed", "mistake", "not attempted"
UNJUDGED, ABSENT = "not judged", "not handed in"


@dataclass(frozen=True)
class Result:
    """How an exercise went: one of the five words above, and what is to be said of it.

    `case` is the smallest case that goes wrong, whole, where the check has one.
    """

    state: str
    message: str = ""
    case: str = ""

    def __str__(self) -> str:
        return f"{self.state}: {self.message}" if self.message else self.state


@dataclass
class Row:
    """A student, with a result for each exercise, and remarks on what was handed in.

    `taken` has for each lesson the notebook that counts.
    """

    who: Student
    results: dict[str, Result] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    taken: dict[str, Path] = field(default_factory=dict)

    @property
    def student(self) -> str:
        """The name that is shown."""
        return self.who.name

    def remark(self, text: str) -> None:
        """Say something of what was handed in, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def passed(self, asked: Sequence[Asked]) -> int:
        """How many of these exercises it passes."""
        return sum(self.results[one.exercise].state == PASSED for one in asked)


@dataclass(frozen=True)
class Mistake:
    """A message, the exercise it belongs to, and the students who are told so."""

    asked: Asked
    message: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class Grades:
    """The table of a class, and the lessons that it is about."""

    lessons: list[Homework]
    rows: list[Row]

    @property
    def asked(self) -> list[Asked]:
        """Every exercise, in the order of the lessons."""
        return [asked for lesson in self.lessons for asked in lesson.asked]

    @property
    def counted(self) -> list[Asked]:
        """The exercises that are not behind the core."""
        return [asked for asked in self.asked if not asked.deeper]

    @property
    def mistakes(self) -> list[Mistake]:
        """Every mistake, the most frequent first."""
        made: dict[tuple[str, str], list[str]] = {}
        for row in self.rows:
            for exercise, result in row.results.items():
                if result.state == MISTAKE:
                    made.setdefault((exercise, result.message), []).append(row.student)
        by_name = {asked.exercise: asked for asked in self.asked}
        found = [Mistake(by_name[e], message, tuple(who)) for (e, message), who in made.items()]
        order = [asked.exercise for asked in self.asked]
        return sorted(found, key=lambda m: (-len(m.students), order.index(m.asked.exercise)))

    def states(self, asked: Asked) -> Counter[str]:
        """How often an exercise went which way."""
        return Counter(row.results[asked.exercise].state for row in self.rows)

    def table(self) -> list[list[str]]:
        """The lines of the table, the head first."""
        deeper = {
            asked.exercise: " (deeper, not counted)" if asked.deeper else "" for asked in self.asked
        }
        head = [f"{asked.lesson} {asked.exercise}{deeper[asked.exercise]}" for asked in self.asked]
        lines = [["student", "passed", "of", *head, "remarks"]]
        for row in self.rows:
            results = [str(row.results[asked.exercise]) for asked in self.asked]
            count = row.passed(self.counted), len(self.counted)
            lines.append([row.student, *map(str, count), *results, "; ".join(row.remarks)])
        return lines


@dataclass
class _Work:
    """A notebook on its way: what is left of its time, and the steps that are not to run again."""

    row: Row
    lesson: Homework
    program: Program
    seconds: float
    word: str = field(default_factory=secrets.token_hex)
    skip: set[int] = field(default_factory=set)
    raised: dict[int, str] = field(default_factory=dict)
    log: Path = Path()


def grade_class(
    folder: Path,
    numbers: Sequence[str] = (),
    *,
    seconds: float,
    mebibytes: float,
    jobs: int,
    progress: bool = False,
    only: str = "",
) -> Grades:
    """Judge what `folder` holds: the lessons of these numbers or, without any, all that are there.

    A notebook may take `seconds` and `mebibytes`. `only` is the name or the id of the one student to
    grade. Raises ValueError for a folder without notebooks, or for a lesson or a student that there
    is not.
    """
    submissions = find_submissions(folder)
    numbers = [path.stem[:2] for path in find_lessons(numbers)] if numbers else []
    wanted = {number: homework(number) for number in numbers}
    rows = [Row(Student(name, entry=name)) for name in submissions]
    rows = [_the_one(rows, only)] if only else rows
    handed = {row.student: _handed_in(row, submissions[row.student], numbers) for row in rows}
    for number in sorted({number for one in handed.values() for number in one} - {*wanted}):
        wanted[number] = homework(number)
    lessons = [wanted[number] for number in sorted(wanted)]
    works = []
    for row in rows:
        for lesson in lessons:
            for asked in lesson.asked:
                row.results[asked.exercise] = Result(ABSENT)
            if lesson.number in handed[row.student]:
                works += _work(row, lesson, handed[row.student][lesson.number], seconds)
    with (
        tempfile.TemporaryDirectory() as logs,
        progress_bar(total=len(works), desc="notebooks", show=progress) as bar,
    ):
        for _ in _done(works, Path(logs), mebibytes, jobs, _imported(lessons)):
            bar.update()
    return Grades(lessons, rows)


def _the_one(rows: list[Row], called: str) -> Row:
    """The row of the student who is called that; raises ValueError if it is not one."""
    wanted = called.casefold()
    found = [row for row in rows if called == row.who.id]
    found = found or [row for row in rows if wanted in map(str.casefold, row.who.called)]
    if len(found) != 1:
        ids = ", ".join(row.who.id or row.who.entry for row in found)
        near = get_close_matches(called, [row.student for row in rows], cutoff=0.4)
        raise ValueError(
            f"{len(found)} students are called {called!r}: give one of the ids {ids}"
            if found
            else f"no student is called {called!r}. Did you mean {', '.join(near) or rows[0].student}?"
        )
    return found[0]


def _handed_in(row: Row, paths: list[Path], numbers: Sequence[str]) -> dict[str, list[Cell]]:
    """The cells of each lesson that a student handed in; what cannot be used is remarked."""
    found: dict[str, list[Cell]] = {}
    names: dict[str, str] = {}
    for path in paths:
        try:
            cells = read_cells(path)
            number = number_of(path, cells)
            if numbers and number not in numbers:
                raise Unusable(f"it is lesson {number}, and {', '.join(numbers)} was asked for")
            if number in names:
                raise Unusable(f"{names[number]} is lesson {number} too, and was taken")
        except Unusable as error:
            row.remark(f"{path.name}: {error}")
        else:
            found[number], names[number], row.taken[number] = cells, path.name, path
    return found


def _work(row: Row, lesson: Homework, cells: list[Cell], seconds: float) -> Iterator[_Work]:
    """What is to be done for a notebook, which exercises have no answer set down already."""
    try:
        plan = program(cells, lesson)
    except Exception as error:  # whatever a file may hold, it costs its own row only
        row.remark(f"{lesson.number}: it cannot be taken apart ({type(error).__name__})")
        plan = Program([], {asked.exercise: row.remarks[-1] for asked in lesson.asked})
    for asked in lesson.asked:
        why = plan.unfound.get(asked.exercise, "its turn never came")
        row.results[asked.exercise] = Result(UNJUDGED, why)
    if len(plan.unfound) < len(lesson.asked):
        yield _Work(row, lesson, plan, seconds)


def _imported(lessons: list[Homework]) -> list[str]:
    """The modules that the set-ups of these lessons name, and those of the judge."""
    lines = (line.split() for lesson in lessons for s in lesson.setup for line in s.splitlines())
    named = {words[1] for words in lines if words[:1] in (["from"], ["import"])}
    return [judge.__module__, *sorted(named)]


def _done(
    works: list[_Work], logs: Path, mebibytes: float, jobs: int, preload: list[str]
) -> Iterator[_Work]:
    """Run the notebooks, and give each when nothing of it is left to do.

    One whose process was ended goes on behind the step at which that happened, in the time that it
    has left.
    """
    tasks: deque[Task] = deque()

    def add(work: _Work) -> None:
        work.log = Path(tempfile.mkdtemp(dir=logs)) / "log"
        place = tempfile.mkdtemp(dir=logs)
        arguments = (work.program.steps, work.skip, place, str(work.log), work.word)
        tasks.append(Task(judge, arguments, work.seconds, work))

    for work in works:
        add(work)
    for task, end in run_limited(tasks, jobs, mebibytes, preload):
        work = task.about
        if _goes_on(work, end, mebibytes):
            add(work)
        else:
            yield work


def _goes_on(work: _Work, end: End, mebibytes: float) -> bool:
    """Enter what a process left behind; whether another one is to go on with the rest."""
    steps, begun, finished = work.program.steps, None, False
    for event in _events(work):
        finished = finished or "finished" in event
        if "begun" in event:
            begun = event["begun"]
        elif "ended" in event:
            begun = None
            _enter(work, event["ended"], event)
    if finished:
        return False
    if begun is None:
        _close(work, f"outside of its cells, {how_it_ended(end, mebibytes)}")
        return False
    words = f"in {steps[begun].about}, {how_it_ended(end, mebibytes)}"
    if ends_all(steps[begun], end):
        _close(work, words)
        return False
    work.row.remark(f"{work.lesson.number}: {words}")
    work.skip.add(begun)
    for number in lost_with(steps, begun):
        work.skip.add(number)
        work.row.results[steps[number].exercise] = Result(UNJUDGED, words)
    work.seconds -= end.seconds
    return any(step.exercise and n not in work.skip for n, step in enumerate(steps))


def _events(work: _Work) -> Iterator[dict[str, Any]]:
    """What the judge wrote; a line that does not know the word is not the judge's."""
    with suppress(FileNotFoundError), work.log.open("rb") as file:
        for line in file:
            with suppress(ValueError, TypeError, KeyError):
                event = json.loads(line)
                if event["word"] == work.word:
                    yield event


def _close(work: _Work, words: str) -> None:
    """Nothing more of this notebook is judged."""
    work.row.remark(f"{work.lesson.number}: {words}")
    for number, step in enumerate(work.program.steps):
        if step.exercise and number not in work.skip:
            work.row.results[step.exercise] = Result(UNJUDGED, words)


def _enter(work: _Work, number: int, event: dict[str, Any]) -> None:
    """What became of one step; a check that is done is not done again."""
    step, row = work.program.steps[number], work.row
    if changed := [*event.get("changed", ()), *event.get("meddled", ())]:
        row.remark(f"{work.lesson.number}: it changes {', '.join(changed)}")
    if event.get("raised") and number not in work.raised:
        work.raised[number] = event["raised"]
        row.remark(f"{work.lesson.number}: {step.about} raised {event['raised']}")
    if not step.exercise:
        return
    work.skip.add(number)
    if event.get("missing"):
        before = max(n for n in range(number) if not work.program.steps[n].exercise)
        what = f"raised {work.raised[before]}" if before in work.raised else "ran"
        result = Result(UNJUDGED, f"its cell {what}, and `{step.answer}` is not defined")
    elif event.get("meddled"):
        result = Result(UNJUDGED, f"while it was judged, it changed {', '.join(event['meddled'])}")
    elif event["passed"]:
        result = Result(PASSED)
    elif not event["attempted"]:
        result = Result(OPEN)
    else:
        result = Result(MISTAKE, event["message"], event.get("case", ""))
    row.results[step.exercise] = result
