"""The gradebook of an LMS, as a CSV file: its columns, who is who in it, and our points in it.

What the columns are called is taken from Canvas's and Moodle's documentation and source. No Canvas
and no Moodle was at hand to try it.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from transformer_lib.grading.cells import neutral, restored
from transformer_lib.grading.classroom import Grades
from transformer_lib.grading.marks import Mark
from transformer_lib.grading.sheet import Sheet, read_sheet
from transformer_lib.grading.students import Student

Lines = list[list[str]]


@dataclass(frozen=True)
class Gradebook:
    """What an LMS calls its columns: for a student's id, login, e-mail and name, and their points.

    Names are patterns, the first that fits counts. `must` have to be there for it to be this LMS's
    file. `most` is the column of the most there is, or its row; `comments` is filled where it
    is there and a cell of it is empty. `new` writes such a file without an exported one.
    """

    name: str
    what: str
    must: tuple[str, ...]
    id: str
    login: str
    email: str
    student: str
    points: str
    new: Callable[[Grades, Sequence[Mark], str], Lines]
    most: str = "Points Possible"
    comments: str = ""


@dataclass
class Filled:
    """A file with our points in it, and what is to be said of it, a sentence each."""

    content: bytes
    matched: int = 0
    notes: list[str] = field(default_factory=list)


def fill(
    book: Gradebook, path: Path, grades: Grades, marked: Sequence[Mark], column: str = ""
) -> Filled:
    """An exported gradebook with the points of these students; all else is as it was.

    Raises ValueError where the file is not that LMS's, or where it is not clear which column is meant.
    """
    sheet = read_sheet(path)
    head = [name.strip() for name in sheet.head]
    for name in book.must:
        if name not in head:
            raise ValueError(
                f"{path} has no column {name!r}, so it is not {book.what}. Its columns are "
                f"{', '.join(head)}. Was it exported in English, and from the right page?"
            )
    at = head.index(_points_column(book, path, head, column))
    comments = head.index(book.comments) if book.comments in head else None
    people, done = _People(book, sheet, head), Filled(b"")
    same_ids = any(people.with_id(mark.who.id) for mark in marked)
    found = [people.find(mark.who, same_ids) for mark in marked]
    for mark, (row, why) in zip(marked, found, strict=True):
        if row is not None and found.count((row, "")) > 1:
            row, why = None, f"its row would be {people.name(row)}, and somebody else's too"
        if row is None:
            done.notes.append(f"{_who(mark)}, {mark.points} points, is not matched: {why}")
            continue
        was = sheet.value(row, at).strip()
        if was not in ("", "-") and not _equal(was, mark.points):
            done.notes.append(f"{_who(mark)} had {was} there, and has {mark.points} now")
        sheet.change(row, at, mark.points)
        done.matched += 1
        if comments is not None and not sheet.value(row, comments).strip():
            sheet.change(row, comments, in_a_cell(grades, mark))
    taken = {row for row, _ in found}
    if left := [people.name(row) for row in people.people if row not in taken]:
        done.notes.append(f"nothing of these was graded, and their cells stay: {'; '.join(left)}")
    done.notes += _most(book, sheet, head, at, marked)
    done.content = sheet.changed()
    return done


def _points_column(book: Gradebook, path: Path, head: Sequence[str], column: str) -> str:
    near = [name for name in head if column and re.sub(r" \(\d+\)$", "", name) == column]
    fitting = [column] if column in head else near
    fitting = fitting if column else [name for name in head if re.fullmatch(book.points, name)]
    if len(fitting) == 1:
        return fitting[0]
    said = f"no column {column!r}" if column and not near else "not one column for the points"
    among = fitting or [name for name in head if re.fullmatch(book.points, name)] or head
    raise ValueError(f"{path} has {said}: give --column one of {', '.join(map(repr, among))}")


class _People:
    """The students of a gradebook, row by row."""

    def __init__(self, book: Gradebook, sheet: Sheet, head: Sequence[str]):
        self.sheet = sheet
        self.columns = {
            key: [n for n, name in enumerate(head) if re.fullmatch(getattr(book, key), name)]
            for key in ("id", "login", "email", "student")
        }
        self.people = [
            row
            for row in range(1, len(sheet.rows))
            if "Points Possible" not in sheet.value(row, 0) and self.name(row)
        ]

    def _cells(self, row: int, key: str) -> list[str]:
        return [restored(self.sheet.value(row, at).strip()) for at in self.columns[key]]

    def name(self, row: int) -> str:
        """What a row calls its student, "" where it is nobody's."""
        keys = ("student", "id", "login", "email")
        return next(filter(None, (cell for key in keys for cell in self._cells(row, key))), "")

    def with_id(self, id: str) -> list[int]:
        """The rows with an id; Moodle's worksheet says “Participant 123456”."""
        known = {row: self._cells(row, "id") for row in self.people if id}
        return [r for r, ids in known.items() if any(id in (i, i.rpartition(" ")[2]) for i in ids)]

    def find(self, who: Student, same_ids: bool) -> tuple[int | None, str]:
        """The row of a student, by id, login, e-mail or name; None, and why, where it is not one.

        Where its ids are the `same_ids` that we have, a name with another id is somebody else.
        """
        if rows := self.with_id(who.id):
            return (rows[0], "") if len(rows) == 1 else (None, f"{len(rows)} rows have that id")
        for key, ours in (("login", who.login), ("email", who.email)):
            ours = ours.casefold()
            rows = [r for r in self.people if ours in map(str.casefold, self._cells(r, key))]
            if ours and len(rows) == 1:
                return rows[0], ""
        rows = [r for r in self.people if _names(*self._cells(r, "student")) & _names(who.name)]
        if len(rows) != 1:
            return (
                None,
                f"{len(rows)} rows have that name" if rows else "no row has that name or id",
            )
        if who.id and same_ids:
            return None, f"of that name there is only {', '.join(self._cells(rows[0], 'id'))}"
        return rows[0], ""


def _names(*names: str) -> set[str]:
    """Names without blanks, `Müller, Tina` as Canvas's files have it and as `Tina Müller`."""
    forms = set()
    for name in names:
        text = unicodedata.normalize("NFC", name).casefold()
        last, _, first = text.partition(",")
        forms |= {re.sub(r"\W", "", text), re.sub(r"\W", "", first + last)}
    return forms - {""}


def _equal(a: str, b: str) -> bool:
    try:
        return float(a.replace(",", ".")) == float(b)
    except ValueError:
        return False


def _most(
    book: Gradebook, sheet: Sheet, head: Sequence[str], at: int, marked: Sequence[Mark]
) -> list[str]:
    """A note where the LMS has another number for the most there is."""
    column = next((n for n, name in enumerate(head) if re.fullmatch(book.most, name)), None)
    rows = range(1, len(sheet.rows))
    if column is None:
        said = {sheet.value(r, at) for r in rows if re.search(book.most, sheet.value(r, 0))}
    else:
        said = {sheet.value(r, column) for r in rows}
    return [
        f"{book.name} has {number} as the most there is, and here it is {marked[0].out_of}: change "
        "one of them, there or in points.toml, and grade again"
        for number in sorted({cell.strip() for cell in said} - {""})
        if marked and not _equal(number, marked[0].out_of)
    ]


def _who(mark: Mark) -> str:
    return f"{mark.who.name} ({mark.who.id})" if mark.who.id else mark.who.name


def in_a_cell(grades: Grades, mark: Mark) -> str:
    """What a student is told, on one line of HTML: Moodle shows its feedback comments as HTML."""
    said = [mark.comment] if mark.comment else []
    said += [f"{a.lesson} {a.answer}: {mark.row.results[a.exercise]}" for a in grades.asked]
    return "<br>".join(escape(line, quote=False) for line in said)


def as_csv(lines: Lines) -> bytes:
    """Lines as a CSV file in UTF-8, none of its cells a formula."""
    text = io.StringIO()
    csv.writer(text).writerows([neutral(cell) for cell in line] for line in lines)
    return text.getvalue().encode()


def _title(grades: Grades) -> str:
    return f"Lesson {', '.join(lesson.number for lesson in grades.lessons)}"


def _canvas(grades: Grades, marked: Sequence[Mark], column: str) -> Lines:
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column or _title(grades)]
    most = ["    Points Possible", "", "", "", "", marked[0].out_of]
    return [head, most, *([m.who.name, m.who.id, "", m.who.login, "", m.points] for m in marked)]


def _moodle(grades: Grades, marked: Sequence[Mark], column: str) -> Lines:
    head = ["Identifier", "Full name", "Email address", "Status", column or "Grade"]
    head += ["Maximum grade", "Grade can be changed", "Last modified (submission)"]
    head += ["Last modified (grade)", "Feedback comments"]
    lines = [head]
    for m in marked:
        number = f"Participant {m.who.id}" if m.who.id else ""
        line = [number, m.who.name, m.who.email, "", m.points, m.out_of, "Yes", "-", "-"]
        lines.append([*line, in_a_cell(grades, m)])
    return lines


def _plain(_: Grades, marked: Sequence[Mark], column: str) -> Lines:
    head = ["name", "id", "login", "email", column or "points", "out of", "comment"]
    whose = [[m.who.name, m.who.id, m.who.login, m.who.email] for m in marked]
    rest = [[m.points, m.out_of, m.comment] for m in marked]
    return [head, *(a + b for a, b in zip(whose, rest, strict=True))]


CANVAS = Gradebook(
    name="Canvas",
    what="the gradebook that Canvas exports",
    must=("Student", "ID", "Section"),
    id="ID|SIS User ID",
    login="SIS Login ID",
    email="",
    student="Student",
    points=r".+ \(\d+\)",
    new=_canvas,
)
MOODLE = Gradebook(
    name="Moodle",
    what="the grading worksheet that a Moodle assignment gives",
    must=("Identifier", "Grade", "Last modified (grade)"),
    id="Identifier",
    login="Username",
    email="Email address",
    student="Full name",
    points="Grade",
    most="(?i)maximum grade",
    comments="Feedback comments",
    new=_moodle,
)
PLAIN = Gradebook(
    name="the table",
    what="a table with a column of names",
    must=(),
    id="(?i)(student )?(id|number)",
    login="(?i)login|user ?name|user",
    email="(?i)e-?mail( address)?",
    student="(?i)(full )?name|student",
    points="(?i)points|grade|score|mark",
    most="out of",
    new=_plain,
)
GRADEBOOKS = {"canvas": CANVAS, "moodle": MOODLE, "csv": PLAIN}
