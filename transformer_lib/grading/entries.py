"""Who handed in what: the entries of a folder, and of an LMS's download, by student.

Canvas puts all files into one folder, `kleineva_LATE_12346_678912_03_scoring-1.ipynb`: a name, the
student's number, that of the file, and behind the file's name which attempt it is. Moodle makes a
folder a student, `Eva Klein_123456_assignsubmission_file_`. Both are known from their documents and
from files that people showed, and were not tried here with a real LMS.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from transformer_lib.grading import roster
from transformer_lib.grading.files import File, entries
from transformer_lib.grading.students import Student

_CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<id>\d{3,})_\d{3,}_(?P<file>.+)")
_MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(file_)?(?P<file>.*)")
_ATTEMPT = re.compile(r"-(\d+)(?=\.\w+$)")


@dataclass
class Entry:
    """A student, the files they handed in, and what there is to be said of these."""

    who: Student
    files: list[File] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def handed_in(folder: Path, names: Sequence[Student] = ()) -> list[Entry]:
    """An entry for each student, by name; of `names`, the roster, for those without a file, too.

    Raises ValueError where the folder is none, or is empty.
    """
    found: dict[tuple[str, str], Entry] = {}

    def add(who: Student, files: Sequence[File], remark: str = "") -> None:
        entry = found.setdefault((who.id, "" if who.id else who.name), Entry(who))
        entry.files += files
        entry.remarks += [remark] if remark else []

    for name, files in entries(folder).items():
        parts = {file.path.parts[1:2] for file in files}
        if parts and all(part and student_of(part[0], lms=True) for part in parts):
            for file in files:  # a download of an LMS as it is, in a folder or a zip
                add(student_of(file.path.parts[1]), [file])
        else:
            add(student_of(name), files, "" if files else "the folder is empty")
    if not found:
        raise ValueError(
            f"{folder} is empty: it should hold {folder}/STUDENT.ipynb for each student, or "
            f"{folder}/STUDENT/03_scoring_functions.ipynb, or what your LMS gives you"
        )
    return sorted(
        _on_roster(found.values(), names) if names else found.values(),
        key=lambda entry: (entry.who.name.casefold(), entry.who.id),
    )


def the_one(found: Sequence[Entry], called: str) -> Entry:
    """The entry of the student who is called that; raises ValueError if it is not one."""
    wanted = called.casefold()
    ids = [entry for entry in found if entry.who.id == called]
    names = [entry for entry in found if wanted in map(str.casefold, entry.who.called)]
    if len(fitting := ids or names) == 1:
        return fitting[0]
    if fitting:
        numbers = ", ".join(entry.who.id or entry.who.entry for entry in fitting)
        raise ValueError(f"{len(fitting)} students are called {called!r}: give one of {numbers}")
    known = [entry.who.name for entry in found]
    near = get_close_matches(called, known, cutoff=0.4) or known[:1]
    raise ValueError(f"no student is called {called!r}. Did you mean {', '.join(near)}?")


def student_of(name: str, *, lms: bool = False) -> Student | None:
    """Whose an entry of that name is; with `lms`, None where no LMS has named it."""
    if found := _MOODLE.fullmatch(name):
        return Student(found["name"], found["id"], entry=name)
    if found := _CANVAS.fullmatch(name):
        return Student(found["name"], found["id"], entry=f"{found['name']}_{found['id']}")
    if lms:
        return None
    plain = re.sub(r"(?i)\.(ipynb|py|zip|pdf|html?|docx?|txt)$", "", name)
    return Student(plain, entry=name)


def own_name(file: File) -> PurePosixPath:
    """What its student called a file: an LMS puts theirs in front, Canvas the attempt behind it."""
    if found := _CANVAS.fullmatch(file.path.name):
        return PurePosixPath(_ATTEMPT.sub("", found["file"]))
    found = _MOODLE.fullmatch(file.path.name)
    return PurePosixPath(found["file"] if found else file.path.name)


def _on_roster(found: Iterable[Entry], names: Sequence[Student]) -> list[Entry]:
    """The entries by the roster's names; who is not on it keeps their own."""
    listed: dict[Student, Entry] = {who: Entry(who) for who in names}
    others, numbers = [], {}
    for entry in found:
        known = roster.find(entry.who, names)
        if known is None or numbers.setdefault(known, entry.who.id) != entry.who.id:
            entry.remarks.append("not on the roster")
            others.append(entry)
            continue
        mine = listed[known]
        mine.who = replace(
            known, id=known.id or entry.who.id, entry=mine.who.entry or entry.who.entry
        )
        mine.files += entry.files
        mine.remarks += entry.remarks
    for entry in listed.values():
        if not entry.who.entry:
            entry.remarks.append("handed in nothing")
    return [*listed.values(), *others]


def age(file: File) -> tuple[bool, int, float]:
    """What is known of when a file was handed in; of two, the larger is the newer.

    First an LMS's word that it is late, then the number of the attempt, then the file's own time.
    """
    canvas = next((found for part in file.path.parts if (found := _CANVAS.fullmatch(part))), None)
    if canvas is None:
        return False, 0, file.time
    attempt = _ATTEMPT.search(PurePosixPath(canvas[0]).name)
    return bool(canvas["late"]), int(attempt[1]) if attempt else 0, file.time
