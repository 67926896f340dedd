"""The tables in what a cell printed: frames of pandas, as rows of cells again.

pandas ends every column where its name and all of its values end, so the columns of a printed
frame are the places where all of its lines end a word. What does not keep to that stays text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise

from markupsafe import Markup

PRINTS = re.compile(r"report_table\(|to_string\(|print\(pd\.")
PAIR = re.compile(r" [±/] (≈ )?")  # two numbers of one cell: 40.3 ± 1.2, ≈ 0.96 / ≈ 0.19


@dataclass(frozen=True)
class Table:
    """A frame as it was printed: the names of its columns, and its rows, each under its name."""

    corner: str
    columns: list[str]
    rows: list[tuple[str, list[str]]]

    def html(self) -> Markup:
        """The table, its numbers under each other."""
        named = any(name for name, _ in self.rows)
        first = Markup("<th scope='row'>{}</th>") if named else Markup("{}")
        corner = Markup("<th scope='col'>{}</th>" if self.corner else "<td></td>" if named else "")
        head = Markup("").join(Markup("<th scope='col'>{}</th>").format(c) for c in self.columns)
        body = Markup("").join(
            Markup("<tr>{}{}</tr>").format(
                first.format(name), Markup("").join(Markup("<td>{}</td>").format(c) for c in cells)
            )
            for name, cells in self.rows
        )
        return Markup(
            "<table class='frame'><thead><tr>{}{}</tr></thead><tbody>{}</tbody></table>"
        ).format(corner.format(self.corner), head, body)

    def portions(self, length: int, width: int) -> Iterator["Table"]:
        """The table in parts of at most so many rows and about so many letters in a row.

        Each stands under the names of its columns, and its rows after theirs.
        """
        for start in range(0, len(self.rows), length):
            rows = self.rows[start : start + length]
            for left, right in pairwise(self._borders(width)):
                kept = [(name, cells[left:right]) for name, cells in rows]
                yield Table(self.corner, self.columns[left:right], kept)

    def _borders(self, width: int) -> list[int]:
        """Where a row is cut, so that no part is wider; columns are three letters apart."""
        names = max(len(name) for name, _ in self.rows)
        columns = zip(self.columns, *(cells for _, cells in self.rows), strict=True)
        borders, room = [0], width - names
        for place, column in enumerate(columns):
            needed = 3 + max(map(len, column))
            if needed > room and place > borders[-1]:
                borders.append(place)
                room = width - names
            room -= needed
        return [*borders, len(self.columns)]


def split(source: str, plain: str) -> Iterator[str | Table]:
    """What the cell with this source printed: its tables, and what stands around them."""
    if not PRINTS.search(source):
        yield plain
        return
    lines = []
    for _, group in groupby(_trimmed(plain.split("\n")), key=len):
        block = list(group)
        if table := _table(block, indexed="index=False" not in source):
            if "".join(lines).strip():
                yield "\n".join(lines).strip("\n")
            yield table
            lines = []
        else:
            lines += block
    if "".join(lines).strip():
        yield "\n".join(lines).strip("\n")


def _trimmed(lines: list[str]) -> Iterator[str]:
    """The lines without the blank that `print(frame, "\\n")` puts behind the last row."""
    for before, line in pairwise(["", *lines]):
        yield line[:-1] if line.endswith(" ") and len(line) == len(before) + 1 else line


def _table(lines: list[str], *, indexed: bool) -> Table | None:
    """The frame that these lines of one length print, None where they print something else."""
    lines = [PAIR.sub(lambda pair: pair[0].replace(" ", "\xa0"), line) for line in lines]
    head, *rows = (re.sub("≈( *)", r"\1≈", line) for line in lines)
    if not rows or (indexed and not head.startswith(" ")):
        return None
    corner = rows.pop(0).strip() if rows[0].endswith(" ") else ""
    ends = [
        end
        for end in range(1, len(head) + 1)
        if all(row[end - 1] != " " and row[end : end + 1] in (" ", "") for row in (head, *rows))
    ]
    if not rows or not ends or ends[-1] != len(head):
        return None
    blank = (
        place
        for place in range(ends[0])
        if not head[: place + 1].strip() and all(row[place] == " " for row in rows)
    )
    starts = [max(blank, default=0) if indexed else 0, *ends[:-1]]
    names = [row[: starts[0]].rstrip() for row in rows]
    if indexed and not all(names):
        return None

    def cells(row: str) -> list[str]:
        found = (row[a:b].strip() for a, b in zip(starts, ends, strict=True))
        return [re.sub("≈(?!\xa0)", "≈\xa0", cell) for cell in found]

    return Table(corner, cells(head), list(zip(names, map(cells, rows), strict=True)))
