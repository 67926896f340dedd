"""A folder of submissions becomes a table: a row a student, and in it a result an exercise."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from transformer_lib.base.report import progress_bar
from transformer_lib.exercises.quiz.handing_in import HANDED_IN
from transformer_lib.grading.entries import age, handed_in, own_name, the_one
from transformer_lib.grading.files import File, Unusable
from transformer_lib.grading.homework import Asked, Homework, every, homework
from transformer_lib.grading.notebooks import (
    READ,
    named_otherwise,
    number_of,
    read_cells,
    seems_to_be,
)
from transformer_lib.grading.programs import is_untouched
from transformer_lib.grading.quiz_scores import QuizScore, quiz_score
from transformer_lib.grading.remarks import about_checks, alike
from transformer_lib.grading.results import ABSENT, MISTAKE, OPEN, PASSED, UNJUDGED, Result
from transformer_lib.grading.students import Student
from transformer_lib.grading.versions import Version, run

__all__ = [
    "ABSENT",
    "MISTAKE",
    "OPEN",
    "PASSED",
    "UNJUDGED",
    "Grades",
    "Result",
    "Row",
    "grade_class",
]

_NAMED = 5  # files in one remark


@dataclass
class Row:
    """A student, with a result for each exercise, and remarks on what was handed in.

    `taken` has for each lesson the notebook that counts, `unread` what was handed in and cannot be
    judged, with the number of its lesson ("" if it may be any, "none" if it is of none), `quiz` what
    they recall, where they handed that in.
    """

    who: Student
    results: dict[str, Result] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    taken: dict[str, Path] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)
    quiz: QuizScore | None = None

    @property
    def student(self) -> str:
        """The name that is shown."""
        return self.who.name

    def remark(self, text: str) -> None:
        """Say something of what was handed in, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def without(self, lesson: str) -> Result:
        """How the exercises of a lesson went of which nothing can be judged."""
        said = [told for told, number in self.unread.items() if number in ("", lesson)]
        return Result(UNJUDGED, said[0]) if said else Result(ABSENT)

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


def grade_class(
    folder: Path,
    numbers: Sequence[str] = (),
    *,
    seconds: float,
    mebibytes: float,
    jobs: int,
    roster: Sequence[Student] = (),
    newest: bool = False,
    progress: bool = False,
    only: str = "",
) -> Grades:
    """Judge what `folder` holds: the lessons of these numbers or, without any, all that are there.

    A notebook may take `seconds` of the processor's time, and `mebibytes`. Who is on the `roster`
    has a row, whatever they handed in. Of several versions of a lesson that which passes most
    counts, or with `newest` the last one. `only` is the name or the id of the one student to grade.
    Raises ValueError for a folder without entries, or a lesson or a student that there is not.
    """
    asked_for = [homework(name).number for name in numbers]
    entries = handed_in(folder, roster)
    entries = [the_one(entries, only)] if only else entries
    rows = [Row(entry.who, remarks=list(entry.remarks)) for entry in entries]
    handed = [
        _versions(row, entry.files, asked_for) for row, entry in zip(rows, entries, strict=True)
    ]
    there = {number for found in handed for number in found}
    there |= {number for row in rows for number in row.unread.values() if number in every()}
    lessons = [homework(number) for number in sorted({*asked_for} or there)]
    for row, entry in zip(rows, entries, strict=True):
        _count_quiz(row, entry.files, [lesson.number for lesson in lessons])
    chosen = [{n: _to_run(found, newest) for n, found in one.items()} for one in handed]
    works = [version for one in chosen for found in one.values() for version in found]
    for version in works:
        version.seconds = seconds
        version.plan()
    to_run = [version for version in works if version.runs]
    with (
        tempfile.TemporaryDirectory() as logs,
        progress_bar(total=len(to_run), desc="notebooks", show=progress) as bar,
    ):
        for _ in run(to_run, Path(logs), mebibytes, jobs):
            bar.update()
    counts = [
        {number: max(versions, key=_best) for number, versions in one.items()} for one in chosen
    ]
    for row, found, best in zip(rows, handed, counts, strict=True):
        row.results = {a.exercise: row.without(one.number) for one in lessons for a in one.asked}
        for number, version in best.items():
            _take(row, folder, version, found[number])
    for lesson in lessons:
        cells = {n: c[lesson.number].cells for n, c in enumerate(counts) if lesson.number in c}
        for n, answer, others in alike(lesson, cells):
            names = ", ".join(rows[other].student for other in others)
            rows[n].remark(
                f"{lesson.number}: `{answer}` is equal to that of {names}, but for names, comments and "
                "formatting"
            )
    return Grades(lessons, rows)


def _versions(
    row: Row, files: Sequence[File], asked_for: Sequence[str]
) -> dict[str, list[Version]]:
    """The notebooks of each lesson that a student handed in; what cannot be used is remarked."""
    found: dict[str, list[Version]] = {}
    others, foreign = [], []
    for file in files:
        kind, named, content = file.path.suffix.lower(), own_name(file), b""
        if named.name == HANDED_IN:
            continue
        if kind not in (*READ, ".zip") or named.name == "mine.py":
            others.append(file.told)
            continue
        try:
            content = file.read()
            cells = read_cells(file.path, content)
        except Unusable as error:
            row.unread[f"{file.told}: {error}"] = seems_to_be(named, content)
            continue
        try:
            number = number_of(named, cells)
        except Unusable as error:
            foreign.append(f"{file.told}: {error}")
            continue
        if asked_for and number not in asked_for:
            told = f"it is lesson {number}, and {', '.join(asked_for)} was asked for"
            row.unread[f"{file.told}: {told}"] = number
            continue
        if other := named_otherwise(named, number):
            row.remark(f"{file.told}: its name says lesson {other}, and what stands in it {number}")
        found.setdefault(number, []).append(Version(file, homework(number), cells))
    row.unread |= dict.fromkeys(foreign, "none" if found else "")
    for told in row.unread:
        row.remark(told)
    if others:
        more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
        names = ", ".join(others[:_NAMED]) + more
        row.remark(f"{'not read' if found else 'nothing that can be judged'}: {names}")
        if not found and not all(name.endswith("mine.py") for name in others):
            row.unread[f"{names}: no notebook of a lesson"] = ""
    return found


def _count_quiz(row: Row, files: Sequence[File], lessons: Sequence[str]) -> None:
    """The score of the newest answers to the quiz that a student handed in, on these lessons."""
    found = [file for file in files if own_name(file).name == HANDED_IN]
    for file in sorted(found, key=age)[-1:]:
        try:
            row.quiz = quiz_score(file.read(), HANDED_IN, lessons)
        except ValueError as error:
            row.remark(f"{file.told}: {error}")


def _to_run(versions: Sequence[Version], newest: bool) -> list[Version]:
    """Those that may count: no untouched copy of a lesson that was worked on, and none twice."""
    touched = [one for one in versions if not is_untouched(one.cells, one.lesson)]
    distinct = {one.code: one for one in sorted(touched or versions[:1], key=_age)}
    return [max(distinct.values(), key=_age)] if newest else list(distinct.values())


def _age(version: Version) -> tuple[bool, int, float]:
    return age(version.file)


def _best(version: Version) -> tuple:
    return version.worth, _age(version)


def _take(row: Row, folder: Path, counts: Version, versions: Sequence[Version]) -> None:
    """Enter the version that counts, and name it where there are others."""
    number = counts.lesson.number
    row.results |= counts.results
    row.taken[number] = folder / counts.file.path
    for remark in [*counts.remarks, *about_checks(counts.cells, counts.lesson)]:
        row.remark(f"{number}: {remark}")
    if len(versions) > 1:
        others = [f"{one.told} ({_how(one)})" for one in versions if one is not counts]
        row.remark(f"{number}: {counts.told} counts ({_how(counts)}), not {', '.join(others)}")


def _how(version: Version) -> str:
    if version.results:
        core = sum(not asked.deeper for asked in version.lesson.asked)
        return f"passes {version.passed} of {core}"
    return "untouched" if is_untouched(version.cells, version.lesson) else "older, or the same"
