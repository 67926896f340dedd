"""A hand-out: a lesson with its checks and its library, and without the solutions of its exercises.

The checks run from what the right answer and every known mistake made of each case
(`exercises.checking.stored`). The library keeps its layers: what is withheld is what an exercise asks
for, not the subject.
"""

import ast
import importlib.metadata
import inspect
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import nbformat
import torch
from nbformat import NotebookNode

from transformer_lib.base.report import progress_bar
from transformer_lib.corpus import DATA
from transformer_lib.exercises import exercises
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.checking.stored import Stored
from transformer_lib.grading.stripped import (
    EXAMINED,
    PACKAGE,
    STORED,
    UNJUDGED,
    WITH_CODE_OF_CASES,
    Way,
    content,
    stripped,
)
from transformer_lib.publish.lessons import CHECK, find_lessons

LIBRARY = Path(__file__).parents[1]
LEFT_OUT = ("data", "grading", "publish")  # folders; the data are laid where they are looked for
STILL_IN = ("publish/__init__.py", "publish/lessons.py")  # lesson 19 reads lessons with it
SHORT = 20  # characters: shorter lines are in every program
_SHOWS = re.compile(r"^\s*(solution|skeleton)\(", re.M)
_SIGNATURE = ("@", "def ", "class ")
_README = """\
# Lesson {titles}
1. Install once, with Python 3.11 or later (1.5 GB): `python3 -m venv .venv`, \
`.venv/bin/pip install -r requirements.txt` (on Linux without an NVIDIA GPU first \
`export PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu`, \
or it takes 5 GB).
2. Open the lesson: `.venv/bin/jupyter lab {first}` (on Windows `.venv\\Scripts\\` in the place of `.venv/bin/`).
3. {what}
4. {judged}
5. `transformer_lib`, beside the lesson, is the course's library. It contains the layers themselves{subject}.
6. The answers to the quiz stand folded in the lesson: they are there to recall by, not to be marked.
7. What passes is kept in `mine.py`, in this folder, and `mine("…")` gives it back.{mine}
8. Links to other lessons lead nowhere here. What the lesson trains or draws runs as it does in the course.
9. Hand in the notebook, under the name that it has. It is graded by the course's own checks.
10. Not tried: Windows, Colab, any learning management system.
"""
_CHECKED = (
    "`check(…)` says whether an answer is right and which mistake it sees; `hint(…)` explains."
)


@dataclass(frozen=True)
class HandOut:
    """What was written: the folder, its size in MiB, the exercises, and lines of solutions in it.

    `unjudged` are the exercises whose check would tell the answer. `elsewhere` maps a file to the lines of
    solutions that stand in it all the same: modules of the library, the lesson's own cells, and sentences.
    """

    folder: Path
    size: float
    judged: tuple[str, ...]
    unjudged: tuple[str, ...] = ()
    searched: int = 0
    elsewhere: Mapping[str, Sequence[str]] = field(default_factory=dict)


def write_hand_out(lessons: Sequence[str], folder: Path, withhold: str = "solutions") -> HandOut:
    """Write what a student gets of these lessons into a folder that is new or empty.

    `lessons` are numbers or names. Nothing is left behind where something goes wrong. Raises
    ValueError for a folder that holds something, for an unknown lesson, and where a line of a
    solution would be handed out.
    """
    if withhold not in ("solutions", "nothing"):
        raise ValueError(f"withhold={withhold!r}: it is 'solutions' or 'nothing'")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(
            f"{folder} is there already, and is no empty folder: name another, or empty it"
        )
    if not lessons:
        raise ValueError("no lesson is named: for instance ['04']")
    paths = sorted(set(find_lessons(lessons)))
    notebooks = {path.name: nbformat.read(path, as_version=4) for path in paths}
    asked = list(dict.fromkeys(name for book in notebooks.values() for name in _asked(book)))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as made:
        new = Path(made) / folder.name
        for name, book in notebooks.items():
            _copy_lesson(book, new / name)
        hand_out = (_with_all if withhold == "nothing" else _without_solutions)(
            new, asked, notebooks
        )
        if folder.exists():
            folder.rmdir()
        shutil.move(new, folder)
    return replace(hand_out, folder=folder)


def _with_all(new: Path, asked: Sequence[str], notebooks: Mapping[str, NotebookNode]) -> HandOut:
    """The library as it is."""
    _copy_library(new / LIBRARY.name, without=())
    judged = "The checks are those of the course, and nothing is withheld."
    shown = f"{_CHECKED} `solution(…)` shows a solution after a try."
    _write_pages(new, list(notebooks), what=shown, judged=judged, subject="", mine="")
    return HandOut(new, _mebibytes(new), tuple(asked))


def _without_solutions(
    new: Path, asked: Sequence[str], notebooks: Mapping[str, NotebookNode]
) -> HandOut:
    """The library with stored checks in the place of its exercises, and a search for solutions."""
    _copy_library(new / LIBRARY.name, without=set(map(_file, content())))
    used = [found for book in notebooks.values() for found in _imported(book)]
    ways = _store_checks(new / LIBRARY.name / "exercises" / "stored", asked)
    modules = _write_modules(new, stripped(ways, used), ways)
    unjudged = tuple(name for name, way in ways.items() if way is UNJUDGED)
    parts = ", ".join(name.rpartition(".")[2] for name in unjudged)
    _write_pages(
        new,
        list(notebooks),
        what=f"{_CHECKED} `solution(…)` and `skeleton(…)` are withheld.",
        judged="The checks run from what the right answer and the known mistakes gave. Two mistakes at once are "
        "not told apart." + (f" Only your teacher's grading judges {parts}." if parts else ""),
        subject=": what is withheld is the solutions of the exercises, not the subject",
        mine=" Where the library has no such part, that cell waits until your check has passed.",
    )
    lines = _lines(exercises()[name] for name in asked)
    for file in modules:
        code = {_plain(line).strip() for line in file.read_text(encoding="utf-8").splitlines()}
        if foul := code & lines:
            raise ValueError(f"{file.name} would hand out a line of a solution: {min(foul)!r}")
    judged = tuple(name for name in asked if name not in unjudged)
    return HandOut(new, _mebibytes(new), judged, unjudged, len(lines), _search(new, lines))


def _asked(book: NotebookNode) -> Iterator[str]:
    """The exercises that a lesson checks."""
    for cell in book.cells:
        if cell.cell_type == "code":
            yield from CHECK.findall(cell.source)


def _imported(book: NotebookNode) -> Iterator[tuple[str, str]]:
    """(module, name) of what a lesson imports from the exercises."""
    for cell in book.cells:
        if cell.cell_type != "code" or PACKAGE not in cell.source:
            continue
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom):
                yield from ((node.module, alias.name) for alias in node.names)


def _copy_lesson(book: NotebookNode, to: Path) -> None:
    """The lesson without the outputs of cells that show a solution."""
    for cell in book.cells:
        if cell.cell_type == "code" and _SHOWS.search(cell.source):
            cell.outputs = []
    to.parent.mkdir(exist_ok=True)
    nbformat.write(book, to)


def _copy_library(to: Path, without: Collection[Path]) -> None:
    """The library and its data, but for some modules and what hands these on."""
    left_out = {*without, *map(_room, without)}
    for path in LIBRARY.rglob("*"):
        part = path.relative_to(LIBRARY)
        kept = part.parts[0] not in LEFT_OUT or part.as_posix() in STILL_IN
        if kept and part not in left_out:
            _copy(path, to / part)
    for path in DATA.rglob("*"):
        if "bilingual" not in path.parts:
            _copy(path, to / "data" / path.relative_to(DATA))


def _copy(path: Path, to: Path) -> None:
    if path.is_file() and "__pycache__" not in path.parts:
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)


def _file(module: str) -> Path:
    """Where a module stands in the library."""
    return Path(*module.split(".")[1:]).with_suffix(".py")


def _room(file: Path) -> Path:
    """The package that hands on the exercises of a file, the file itself where none does."""
    return file if len(file.parts) == 2 else file.parent / "__init__.py"


def _store_checks(folder: Path, asked: Sequence[str]) -> dict[str, Way]:
    """Write what answers made of the cases of each exercise; how each is handed out."""
    folder.mkdir()
    ways = {}
    for name in progress_bar(asked, desc="storing checks"):
        exercise = exercises()[name]
        if hasattr(exercise, "examine"):
            ways[name] = UNJUDGED if exercise.tells else EXAMINED
            continue
        stored = Stored.of(exercise)
        stored.write(folder / f"{name}.safetensors")
        ways[name] = WITH_CODE_OF_CASES if stored.cases is None else STORED
    return ways


def _write_modules(new: Path, sources: Mapping[str, str], ways: Mapping[str, Way]) -> list[Path]:
    """Write these modules, and the packages that hand on what they make."""
    handed_on: dict[Path, str] = {}
    for module, source in sources.items():
        file = _file(module)
        handed_on[file] = source
        if _room(file) != file:
            names = [n.rpartition(".")[2] for n in content()[module] if n in ways]
            line = f"from {module} import {', '.join(names)}\n" if names else ""
            handed_on[_room(file)] = handed_on.get(_room(file), "") + line
    for file, source in handed_on.items():
        path = new / LIBRARY.name / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return [new / LIBRARY.name / file for file in handed_on]


def _write_pages(folder: Path, lessons: list[str], **said: str) -> None:
    """README, and what is to be installed."""
    titles = ", ".join(Path(name).stem.replace("_", " ") for name in lessons)
    readme = _README.format(titles=titles, first=lessons[0], **said)
    (folder / "README.md").write_text(readme, encoding="utf-8")
    about = f"# The checks were stored with torch {torch.__version__.partition('+')[0]}."
    needs = "\n".join([about, *_requirements(), ""])
    (folder / "requirements.txt").write_text(needs, encoding="utf-8")


def _mebibytes(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 2**20


def _requirements() -> Iterator[str]:
    """What the library and its lessons need, as this installation knows it."""
    for line in importlib.metadata.requires("attention-lessons") or []:
        need, _, condition = line.partition(";")
        if not condition or 'extra == "lessons"' in condition:
            yield need.strip()


def _lines(asked: Iterable[Exercise]) -> set[str]:
    """The lines of all solutions that are long enough to tell, but for signatures."""
    sources = [inspect.getsource(answer) for exercise in asked for answer in exercise.solutions]
    lines = {
        line.partition("  # ")[0].strip() for source in sources for line in source.splitlines()
    }
    lines = {line for line in lines if len(line) > SHORT and not line.startswith(_SIGNATURE)}
    return set(map(_plain, lines))


def _search(folder: Path, lines: Iterable[str]) -> dict[str, list[str]]:
    """In which files which of these lines stand, also within a sentence."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".ipynb", ".md", ".json", ".safetensors"):
            text = _plain(path.read_bytes().decode("utf-8", "replace"))
            if here := [line for line in lines if line in text]:
                found[path.relative_to(folder).as_posix()] = sorted(here)
    return found


def _plain(text: str) -> str:
    """The text with one sort of quotes: they are written otherwise in a notebook's file."""
    return text.replace('\\"', "'").replace('"', "'")
