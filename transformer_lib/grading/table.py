"""grades.csv: a row a student. What a teacher has typed there stays when the class is graded again.

The teacher's are the columns `by hand` and `comment`, and every column that has another name than
ours. Whatever is replaced is kept beside it, in a file with its time in its name.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from pathlib import Path

from transformer_lib.grading.cells import neutral, restored
from transformer_lib.grading.classroom import Grades
from transformer_lib.grading.marks import Mark, mark
from transformer_lib.grading.points import Points
from transformer_lib.grading.students import Student

STUDENT, ID, POINTS, OUT_OF = "student", "id", "points", "out of"
BY_HAND, COMMENT, QUIZ = "by hand", "comment", "quiz"


@dataclass(frozen=True)
class Table:
    """A table as it was left: its columns, its rows, and what stands between its cells."""

    head: list[str] = field(default_factory=list)
    rows: list[dict[str, str]] = field(default_factory=list)
    delimiter: str = ","

    @property
    def lessons(self) -> list[str]:
        """The numbers of the lessons that it has results of."""
        return sorted({name[:2] for name in self.head if re.match(r"\d\d [a-z_]+\.\w+", name)})

    def rows_of(self, students: Sequence[Student]) -> list[dict[str, str]]:
        """The row of each student, by id or else by name; {} where it is not one alone."""
        found = [self._row_of(who) for who in students]
        return [row if sum(row is other for other in found) == 1 else {} for row in found]

    def _row_of(self, who: Student) -> dict[str, str]:
        ids = [row for row in self.rows if who.id and row.get(ID) == who.id]
        names = [
            row
            for row in self.rows
            if row[STUDENT] == who.name and not (who.id and row.get(ID) and row[ID] != who.id)
        ]
        found = ids or names
        return found[0] if len(found) == 1 else {}


def read_table(path: Path) -> Table:
    """The table in a file, whatever program saved it; an empty one if there is no file.

    Raises ValueError with the line that cannot be read, and what should stand there.
    """
    if not path.exists() or not path.stat().st_size:
        return Table()
    text = decoded(path)
    delimiter = delimiter_of(text)
    lines = csv.reader(io.StringIO(text), delimiter=delimiter)
    head = [restored(name) for name in next(lines)]
    if STUDENT not in head or len({*head}) < len(head):
        raise ValueError(
            f"{path} is no table of grades: its first line is {', '.join(head)}, where {STUDENT} "
            "and other names should stand, each once. Give another --out, or move it away"
        )
    rows = []
    for cells in lines:
        if not any(cells):
            continue
        if len(cells) != len(head):
            raise ValueError(
                f"{path}, line {lines.line_num}: {len(cells)} cells below {len(head)} columns. "
                "Mend the line, or move the file away"
            )
        rows.append(dict(zip(head, map(restored, cells), strict=True)))
        _points(rows[-1], f"{path}, line {lines.line_num}")
    return Table(head, rows, delimiter)


def decoded(path: Path) -> str:
    """A file's text with its line ends as they are; raises ValueError if it is not UTF-8."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path} is not UTF-8 (byte {error.start}): save it as “CSV UTF-8”, or export it again"
        ) from None


def delimiter_of(text: str) -> str:
    """What stands between the cells of the first line: a comma, a semicolon or a tab."""
    head = re.sub(r'"[^"]*"', "", text.partition("\n")[0])
    return max(",;\t", key=head.count)


def _points(row: dict[str, str], where: str = "") -> Decimal | None:
    """What is typed by hand; a comma stands for a point."""
    if not (typed := row.get(BY_HAND, "").strip().replace(",", ".")):
        return None
    if not re.fullmatch(r"\d+(\.\d+)?", typed):
        raise ValueError(
            f"{where}: {BY_HAND!r} has {typed!r}, where points should stand (2.5), or nothing"
        )
    return Decimal(typed)


def marks(grades: Grades, points: Points, before: Table) -> list[Mark]:
    """A mark for each row of the class, with what the teacher typed into the table before."""
    typed = before.rows_of([row.who for row in grades.rows])
    return [
        mark(row, grades.asked, points, _points(old), old.get(COMMENT, ""))
        for row, old in zip(grades.rows, typed, strict=True)
    ]


def write_table(path: Path, grades: Grades, marked: Sequence[Mark], before: Table) -> Path | None:
    """Write the class into the table before; where a file of other content was, where it is now.

    Students and columns that are not of this class stay, and so does the order of the students.
    """
    (student, passed, of, *names), *lines = grades.table()
    ours = [student, ID, passed, of, POINTS, OUT_OF, BY_HAND, COMMENT, QUIZ, *names]
    head = [*ours, *(name for name in before.head if name not in ours)]
    rows, places = [*before.rows], {id(row): n for n, row in enumerate(before.rows)}
    known = before.rows_of([one.who for one in marked])
    for one, old, (shown, count, most, *results) in zip(marked, known, lines, strict=True):
        numbers = [shown, one.who.id, count, most, one.points, one.out_of]
        said = [old.get(BY_HAND, ""), one.comment, str(one.row.quiz or "")]
        row = old | dict(zip(ours, [*numbers, *said, *results], strict=True))
        if old:
            rows[places[id(old)]] = row
        else:
            rows.append(row)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=before.delimiter)
    writer.writerow([neutral(name) for name in head])
    writer.writerows([neutral(row.get(name, "")) for name in head] for row in rows)
    return replaced(path, b"\xef\xbb\xbf" + text.getvalue().encode())


def replaced(path: Path, content: bytes) -> Path | None:
    """Write a file; what was in it before and is another stays beside it, at the path returned."""
    kept = None
    if path.exists() and (was := path.read_bytes()) and was != content:
        time = datetime.fromtimestamp(path.stat().st_mtime)
        kept = path.with_stem(f"{path.stem}.{time:%Y-%m-%d-%H%M%S-%f}")
        kept.write_bytes(was)
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_bytes(content)
    unfinished.replace(path)
    return kept
