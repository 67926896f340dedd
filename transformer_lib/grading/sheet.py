"""A CSV file in which cells are changed, and every other byte stays as another program wrote it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from transformer_lib.grading.cells import neutral
from transformer_lib.grading.table import decoded, delimiter_of


class _Cell(NamedTuple):
    """What a cell says, and where in the text it stands."""

    value: str
    begin: int
    end: int


@dataclass
class Sheet:
    """The cells of a CSV file (RFC 4180), the head first; `changes` are not in `text` yet."""

    path: Path
    text: str
    delimiter: str
    rows: list[list[_Cell]]
    changes: dict[_Cell, str]

    @property
    def head(self) -> list[str]:
        return [cell.value for cell in self.rows[0]]

    def value(self, row: int, column: int) -> str:
        """What a cell says; "" behind the end of its row."""
        cells = self.rows[row]
        return cells[column].value if column < len(cells) else ""

    def change(self, row: int, column: int, value: str) -> None:
        """Let a cell say something else; raises ValueError where its row has none."""
        if column >= len(self.rows[row]):
            raise ValueError(
                f"{self.path}, row {row + 1}: {len(self.rows[row])} cells, where the first row has "
                f"{len(self.head)}. Export it again"
            )
        self.changes[self.rows[row][column]] = value

    def changed(self) -> bytes:
        """The file with its changes."""
        parts, at = [], 0
        for cell, value in sorted(self.changes.items(), key=lambda item: item[0].begin):
            parts += [self.text[at : cell.begin], self._written(value)]
            at = cell.end
        return "".join([*parts, self.text[at:]]).encode()

    def _written(self, value: str) -> str:
        value = neutral(value)
        if re.search(rf'[{self.delimiter}"\r\n]', value):
            return '"' + value.replace('"', '""') + '"'
        return value


def read_sheet(path: Path) -> Sheet:
    """The cells of a file; raises ValueError where it is no CSV in UTF-8."""
    text = decoded(path)
    mark = path.read_bytes().startswith(b"\xef\xbb\xbf")
    delimiter = delimiter_of(text)
    try:
        rows = [row for row in _rows(text, delimiter) if len(row) > 1 or row[0].value]
    except _Unclosed as unclosed:
        raise ValueError(
            f"{path}, line {unclosed}: a quotation mark is not closed, or something stands behind "
            "it. Export it again"
        ) from None
    if not rows:
        raise ValueError(f"{path} is empty: export it again")
    if mark:
        shifted = [[_Cell(c.value, c.begin + 1, c.end + 1) for c in row] for row in rows]
        return Sheet(path, "\ufeff" + text, delimiter, shifted, {})
    return Sheet(path, text, delimiter, rows, {})


class _Unclosed(ValueError):
    """The number of a line that cannot be read."""


def _rows(text: str, delimiter: str) -> Iterator[list[_Cell]]:
    cell = re.compile(rf'"((?:[^"]|"")*)"|[^{delimiter}\r\n]*')
    after = re.compile(rf"{delimiter}|\r\n|\n|\r|\Z")
    at, row = 0, []
    while True:
        found = cell.match(text, at)
        behind = after.match(text, found.end())
        if behind is None or (text.startswith('"', at) and found[1] is None):
            raise _Unclosed(text.count("\n", 0, at) + 1)
        value = found[0] if found[1] is None else found[1].replace('""', '"')
        row.append(_Cell(value, found.start(), found.end()))
        at = behind.end()
        if behind[0] != delimiter:
            yield row
            row = []
            if at == len(text):
                return
