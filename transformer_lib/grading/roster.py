"""The names of a class, from a table as a spreadsheet or an LMS writes it."""

import csv
import io
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer_lib.grading.students import Student

_COLUMNS = {  # what a header calls them; of two that are there, the first counts
    "name": ("student", "name", "full name", "student name", "vollständiger name"),
    "first": ("first name", "given name", "vorname"),
    "last": ("last name", "surname", "family name", "nachname"),
    "id": ("id", "identifier", "student id", "user id", "kennung", "matrikelnummer", "sis user id"),
    "login": ("sis login id", "login", "login id", "username", "user name", "anmeldename"),
    "email": ("email", "e-mail", "email address", "e-mail address", "mail", "e-mail-adresse"),
}
_NOBODY = ("", "points possible", "student, test", "test student")  # rows of Canvas's gradebook


def read_roster(path: Path) -> list[Student]:
    """The students of a table with a header: Canvas's gradebook, Moodle's worksheet, or one's own.

    Names are `name`, or `first name` and `last name`; `id`, `login` and `email` may be missing.
    Columns are parted by commas, semicolons or tabs. Raises ValueError where it cannot be read.
    """
    try:
        lines = _text(path.read_bytes()).splitlines()
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}): another --roster?") from None
    head = lines[0] if lines else ""
    mark = max(",;\t", key=head.count)
    header, *rows = csv.reader(io.StringIO("\n".join(lines), newline=""), delimiter=mark) or [[]]
    places = {what: at for what in _COLUMNS if (at := _place(header, what)) is not None}
    if "name" not in places and not {"first", "last"} <= places.keys():
        raise ValueError(
            f"{path} has no column `name`, nor `first name` and `last name`. Its columns are: "
            f"{', '.join(header) or 'none, the file is empty'}"
        )
    students = list(dict.fromkeys(_students(rows, places)))
    if not students:
        raise ValueError(f"{path} has a header, {head!r}, and nobody below it")
    return students


def _text(content: bytes) -> str:
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16", errors="replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")  # a spreadsheet on Windows


def _place(header: Sequence[str], what: str) -> int | None:
    plain = [column.strip().casefold() for column in header]
    return next((plain.index(name) for name in _COLUMNS[what] if name in plain), None)


def _students(rows: Sequence[list[str]], places: dict[str, int]) -> Iterator[Student]:
    for row in rows:
        cells = {what: row[at].strip() for what, at in places.items() if at < len(row)}
        name = cells.get("name") or f"{cells.get('first', '')} {cells.get('last', '')}".strip()
        if name.casefold() in _NOBODY:
            continue
        # Moodle's worksheet has "Participant 123456", and its folders the number; S1234567 is whole
        number = re.sub(r"^\D+ (?=\d+$)", "", cells.get("id", ""))
        yield Student(name, number, cells.get("login", ""), cells.get("email", ""))


def find(who: Student, names: Sequence[Student]) -> Student | None:
    """The one on the roster who has handed this in; None where nobody or more than one fits.

    A number that an LMS has put there decides, then login and e-mail, then the name, whichever of
    its parts comes first.
    """
    if who.id and (found := [one for one in names if one.id == who.id]):
        return found[0] if len(found) == 1 else None
    plain = who.name.casefold()
    for keys in (
        lambda one: {one.login.casefold(), one.id.casefold()},
        lambda one: {one.email.casefold(), one.email.casefold().partition("@")[0]},
    ):
        found = [one for one in names if plain in keys(one)]
        if len(found) == 1:
            return found[0]
    spelt = _spellings(who.name)
    found = [one for one in names if spelt & _spellings(one.name)]
    return found[0] if len(found) == 1 else None


def _spellings(name: str) -> set[str]:
    """A name without blanks, commas and accents, with its last word last and first."""
    found = set()
    for text in (name, _german(name)):
        bare = unicodedata.normalize("NFKD", text.casefold())
        text = "".join(letter for letter in bare if not unicodedata.combining(letter))
        words = re.findall(r"[^\W_]+", text)
        found |= {"".join(words[n:] + words[:n]) for n in range(len(words))}
    return found


def _german(name: str) -> str:
    """ä as ae: how people write their names where there are no umlauts."""
    composed = unicodedata.normalize("NFC", name.casefold())
    return composed.translate(str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"}))
