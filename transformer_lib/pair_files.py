"""Sentence pairs in files as people have them: what was read, and what was left out.

A table holds source, target, and what else there may be: separated by tabs, or in a .csv file by
commas or semicolons; plain, in a .gz or in a .zip. Or two files hold lines that belong together.
"""

import codecs
import csv
import gzip
import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from transformer_lib.base.language_names import language_named

LONGEST = 5000  # characters: no sentence has so many, but a quotation that was never closed has
HEADINGS = {"source", "target", "src", "tgt", "trg", "text", "translation", "sentence", "original"}
SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons"}
EVEN = 0.9  # of the rows have as many cells, or a separator is none


class Pair(NamedTuple):
    """Source and target of a row, and its third cell; empty where it has none."""

    source: str = ""
    target: str = ""
    third: str = ""


@dataclass
class PairFile:
    """What was read of a file, and the numbers of the lines that were left out, by the reason.

    `header` holds the two headings, and `header_line` their line, where the first row is a header.
    """

    name: str
    pairs: list[Pair] = field(default_factory=list)
    left_out: dict[str, list[int]] = field(default_factory=dict)
    header: tuple[str, str] | None = None
    header_line: int = 0

    @property
    def languages(self) -> tuple[str, str] | None:
        """The codes of the two languages that the header names; None where it does not."""
        codes = tuple(_heading(text) for text in self.header or ())
        return codes if codes and all(codes) else None

    def note(self) -> str:
        """What a reader should know in a line: rows left out, a header; empty if all are pairs."""
        said = []
        if self.left_out:
            reasons = (_counted(reason, lines) for reason, lines in self.left_out.items())
            said.append(f"left out: {', '.join(reasons)}")
        if self.header:
            said.append(f"row {self.header_line} is a header ({', '.join(self.header)})")
        count = f"{len(self.pairs)} pair{'' if len(self.pairs) == 1 else 's'}"
        return f"{self.name}: {'; '.join([count, *said])}" if said else ""


def _counted(reason: str, lines: list[int]) -> str:
    shown = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
    s = "" if len(lines) == 1 else "s"
    return f"{len(lines)} {reason.format(s=s)} (line{s} {shown})"


def read_pairs(path: Path, other: Path | None = None) -> PairFile:
    """The pairs of a table, or of two files whose n-th lines belong together.

    A header is seen; rows with an empty cell, with another number of cells than the others or with a
    text of over `LONGEST` characters, and pairs that stood there before, are left out and counted.
    Raises ValueError for what cannot be read, or can be read in two ways.
    """
    if other is None:
        return _sift(path.name, _table(path))
    return _sift(f"{path.name} + {other.name}", _beside(path, other))


def read_plain(path: Path, other: Path | None = None) -> list[Pair]:
    """Every pair of files whose form is known: tabs and no quoted cells, or lines that match."""
    rows = _literal(_read(path)[1]) if other is None else _beside(path, other)
    pairs = (_pair(row.cells) for row in rows)
    return [pair for pair in pairs if pair.source and pair.target]


# -------------------------------------------------------------------------------------------- bytes


def _read(path: Path) -> tuple[str, str]:
    """How the name ends, packing aside, and the text."""
    try:
        name, raw = _unpacked(path)
    except (gzip.BadGzipFile, zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path.name} is damaged or not a {path.suffix} file ({error}): fetch it again"
        ) from None
    if _is_utf16(raw):
        raise ValueError(
            f"{path.name} is UTF-16 (Excel's “Unicode text”): save it as UTF-8, or as “CSV UTF-8”"
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{path.name} is not UTF-8: byte 0x{raw[error.start]:02x} on line {line}. "
            f"Save it as UTF-8 and load it again: iconv -f LATIN1 -t UTF-8 {name} > utf8-{name} "
            "(LATIN1, or whatever its encoding is)"
        ) from None
    if not re.search(r'[^\s,;"]', text):
        raise ValueError(f"{path.name} is empty")
    return Path(name).suffix.lower(), text


def _unpacked(path: Path) -> tuple[str, bytes]:
    if path.suffix == ".gz":
        return path.stem, gzip.decompress(path.read_bytes())
    if path.suffix != ".zip":
        return path.name, path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        inside = [
            n
            for n in archive.namelist()
            if n.endswith((".txt", ".tsv", ".csv")) and Path(n).name[0] not in "._"
        ]
        if len(inside) != 1:
            raise ValueError(
                f"{path.name} should hold one .txt, .tsv or .csv file of pairs, "
                f"but holds {inside or 'none'}"
            )
        return inside[0], archive.read(inside[0])


def _is_utf16(raw: bytes) -> bool:
    """By its byte order mark, or by zero bytes that make tabs or line ends of two bytes."""
    if raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    for encoding in ("utf-16-le", "utf-16-be") if b"\0" in raw else ():
        try:
            if set("\t\n") & set(raw.decode(encoding)):
                return True
        except UnicodeDecodeError:
            continue
    return False


# --------------------------------------------------------------------------------------------- rows


class Row(NamedTuple):
    """The cells of a row, and the number of the line on which it begins."""

    line: int
    cells: list[str]


def _table(path: Path) -> list[Row]:
    suffix, text = _read(path)
    if suffix == ".csv":
        return _separated(path.name, text)
    if "\t" in text:
        return _tabbed(path.name, text)
    marks = [SEPARATORS[mark] for mark in _readings(text)]
    way_out = f"It looks like CSV with {' or '.join(marks)}: let its name end in .csv"
    raise ValueError(
        f"{path.name} has one column: a line should be source TAB target. "
        + (way_out if marks else "Of two files whose lines belong together, give both")
    )


def _tabbed(name: str, text: str) -> list[Row]:
    """Cells as a spreadsheet quotes them if the whole file is quoted so, else as they stand there.

    A tab in a quoted cell says that the marks are no quotes: they would swallow a border.
    """
    try:
        rows = _quoted(text, "\t")
        wrong = next((row.line for row in rows if any("\t" in cell for cell in row.cells)), 0)
    except _Unquoted as error:
        wrong = error.line
    if not wrong:
        return rows
    rows = _literal(text)
    for line, cells in rows:
        if len(cells) == 1 and cells[0].count('"') % 2:
            raise ValueError(
                f"{name} can be read in two ways: line {line} has a quotation mark whose partner is "
                "on another line, as if a cell had a line break, but "
                f"line {wrong} is not quoted as spreadsheets do it. Mend one of the two"
            )
    return rows


def _separated(name: str, text: str) -> list[Row]:
    """The rows of a .csv file, by the one separator that cuts them evenly."""
    readings = _readings(text)
    ways = sorted(readings, key=lambda mark: readings[mark][0], reverse=True)
    if not set(text) & set(SEPARATORS):
        raise ValueError(f"{name} has one column: a row should be source,target or source;target")
    if not ways:
        raise ValueError(
            f"{name} is not cut into rows of equally many cells, two at least ({_obstacles(text)}). "
            "Put cells that hold a comma in quotation marks, or save it tab-separated, as .tsv"
        )
    if len(ways) > 1 and readings[ways[0]][0] == readings[ways[1]][0]:
        both = " and ".join(SEPARATORS[mark] for mark in ways[:2])
        raise ValueError(
            f"{name} can be read in two ways: {both} cut it evenly. Put every cell in quotation "
            "marks, or save it tab-separated, as .tsv"
        )
    return readings[ways[0]][1]


def _readings(text: str) -> dict[str, tuple[float, list[Row]]]:
    """By separator: the share of rows with the usual number of cells, and all rows.

    Only where cells are quoted well, and nearly all rows have as many of them, two at least.
    """
    found = {}
    for mark in SEPARATORS:
        try:
            rows = _written(_quoted(text, mark))
        except _Unquoted:
            continue
        usual = _usual(rows)
        share = sum(len(row.cells) == usual for row in rows) / len(rows)
        if share >= EVEN:
            found[mark] = share, rows
    return found


def _obstacles(text: str) -> str:
    """What keeps each separator from being the file's."""
    said = []
    for mark, called in SEPARATORS.items():
        try:
            sizes = sorted({len(row.cells) for row in _written(_quoted(text, mark))})
            said.append(f"{called}: rows of {', '.join(map(str, sizes[:3]))}")
        except _Unquoted as error:
            said.append(f"{called}: line {error.line} is not well quoted")
    return "; ".join(said)


class _Unquoted(Exception):
    """The text is not quoted as CSV is, on this line."""

    def __init__(self, line: int):
        super().__init__(line)
        self.line = line


def _quoted(text: str, mark: str) -> list[Row]:
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=mark, strict=True, skipinitialspace=True)
    rows, begins = [], 1
    try:
        for cells in reader:
            rows.append(Row(begins, cells))
            begins = reader.line_num + 1
    except csv.Error:
        raise _Unquoted(begins) from None
    return rows


def _literal(text: str) -> list[Row]:
    return [Row(n, line.split("\t")) for n, line in enumerate(text.split("\n"), start=1)]


def _written(rows: Iterable[Row]) -> list[Row]:
    """The rows that are not blank."""
    return [row for row in rows if any(map(str.strip, row.cells))]


def _beside(*paths: Path) -> list[Row]:
    """A row for each line of two files.

    Blank lines at the end of one count only where the other has text.
    """
    texts = [_read(path)[1].removesuffix("\n") for path in paths]
    sides, counts = [text.split("\n") for text in texts], [_lines(text.rstrip()) for text in texts]
    if min(map(len, sides)) < max(counts):
        raise ValueError(
            f"{paths[0].name} has {counts[0]} lines, {paths[1].name} has {counts[1]}: "
            "they do not belong together"
        )
    return [Row(n, list(cells)) for n, cells in enumerate(zip(*sides, strict=False), start=1)]


def _lines(text: str) -> int:
    return text.count("\n") + 1


# -------------------------------------------------------------------------------------------- pairs


def _sift(name: str, rows: Iterable[Row]) -> PairFile:
    """The rows that are pairs, and the lines of those that are not."""
    rows, read, seen = _written(rows), PairFile(name), set()
    if _is_header(rows[0].cells):
        read.header_line, read.header = rows[0].line, _pair(rows.pop(0).cells)[:2]
    usual = _usual(rows)
    for line, cells in rows:
        pair = _pair(cells)
        if len(cells) < usual or any(map(str.strip, cells[usual:])):
            reason = f"row{{s}} with more or fewer cells than {usual}"
        elif not pair.source or not pair.target:
            reason = "row{s} with an empty cell"
        elif max(map(len, pair[:2])) > LONGEST:
            reason = f"row{{s}} with a cell of over {LONGEST} characters"
        elif pair[:2] in seen:
            reason = "duplicate{s}"
        else:
            seen.add(pair[:2])
            read.pairs.append(pair)
            continue
        read.left_out.setdefault(reason, []).append(line)
    if not read.pairs:
        raise ValueError(f"{read.note()}: no pair is left")
    return read


def _usual(rows: list[Row]) -> int:
    """The number of cells, two at least, that most rows have; of several such the smallest."""
    counts = Counter(len(row.cells) for row in rows if len(row.cells) > 1)
    return min(counts, key=lambda size: (-counts[size], size), default=2)


def _pair(cells: list[str]) -> Pair:
    """The first three cells without blanks around them, a line break in them as a blank."""
    return Pair(*(re.sub(r"\s*[\r\n]\s*", " ", cell.strip()) for cell in cells[:3]))


def _is_header(cells: list[str]) -> bool:
    """Whether the first two cells are headings, and not a word and its translation."""
    found = [_heading(cell) for cell in cells[:2]]
    if len(found) < 2 or None in found:
        return False
    return found[0] != found[1] if any(found) else cells[0].strip() != cells[1].strip()


def _heading(cell: str) -> str | None:
    """The language that a heading names, "" if it names none; None if the cell is no heading.

    `German`, `de`, `de-AT`, `source`, `source_de`, `German sentence`.
    """
    if language := language_named(re.sub(r"[-_][A-Z]{2}$", "", cell.strip())):
        return language
    words = re.split(r"[\s_]+", cell.strip())
    named = [language_named(word) for word in words if word.lower() not in HEADINGS]
    if len(named) > 1 or None in named:
        return None
    return named[0] if named else ""
