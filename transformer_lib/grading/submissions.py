"""What was handed in: who it is from, which lesson it is, and which of its cells are to run.

A cell tagged `exercise` runs whole. Of the other cells only the definitions, imports and constants
run that these need, and only the definition of an answer that stands there; so no training runs.
"""

import ast
import json
import re
import symtable
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from transformer_lib.exercises.own.cells import bound, with_what_it_needs
from transformer_lib.grading.homework import Asked, Homework, homework
from transformer_lib.grading.judge import Step
from transformer_lib.publish.lessons import find_lessons

LARGEST = 64  # MiB of a notebook
_TITLE = re.compile(r"# (\d\d) ·")
_MAGIC = re.compile(r"(?m)^([ \t]*)[%!?](.*)$")
_DEFINES = (ast.FunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


class Unusable(ValueError):
    """Why a notebook cannot be graded, in words for the teacher."""


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook, whatever program wrote it."""

    id: str
    tags: tuple[str, ...]
    source: str
    is_code: bool


@dataclass(frozen=True)
class Program:
    """What runs, and `unfound`: for each exercise without an answer, why there is none."""

    steps: list[Step]
    unfound: dict[str, str]


def find_submissions(folder: Path) -> dict[str, list[Path]]:
    """The notebooks of each student: `folder/student.ipynb`, or all below `folder/student/`."""
    if not folder.is_dir():
        raise ValueError(f"{folder} is no folder: give the one that holds what was handed in")
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.ipynb")):
        parts = path.relative_to(folder).parts
        if not any(
            part.startswith((".", "__")) for part in parts
        ):  # checkpoints, and what zip adds
            found.setdefault(parts[0].removesuffix(".ipynb"), []).append(path)
    if not found:
        raise ValueError(
            f"{folder} holds no notebook: it should hold {folder}/STUDENT.ipynb for each student, "
            f"or {folder}/STUDENT/03_scoring_functions.ipynb"
        )
    return found


def read_cells(path: Path) -> list[Cell]:
    """The cells of a notebook; raises Unusable with what is wrong with it."""
    try:
        if (size := path.stat().st_size / 2**20) > LARGEST:
            raise Unusable(f"it has {size:.0f} MiB, and is read up to {LARGEST}")
        notebook = json.loads(path.read_bytes())
    except OSError as error:
        raise Unusable(f"it cannot be read ({error.strerror})") from None
    except RecursionError:
        raise Unusable("it is no notebook: its JSON is nested without end") from None
    except ValueError as error:
        if isinstance(error, Unusable):
            raise
        raise Unusable(f"it is no JSON, so no notebook ({error})") from None
    try:
        return [_cell(cell) for cell in notebook["cells"]]
    except (KeyError, TypeError, AttributeError):
        raise Unusable(
            "it is JSON, but no notebook of format 4 with its list of cells: open it in JupyterLab, "
            "and save it"
        ) from None


def _cell(cell: dict) -> Cell:
    source, known = cell["source"], cell.get("metadata", {}).get("tags", [])
    text = source if isinstance(source, str) else "".join(source)
    is_code = cell["cell_type"] == "code"
    return Cell(str(cell.get("id", "")), tuple(map(str, known)), text, is_code)


def number_of(path: Path, cells: Sequence[Cell]) -> str:
    """The number of the lesson that a notebook is, as its title has it.

    Without a title it is the lesson most of whose answers have cells here. Raises Unusable if it is
    none, or if the file's name says another.
    """
    named = re.match(r"\d\d(?=_)", path.name)
    titles = [found[1] for c in cells if not c.is_code and (found := _TITLE.match(c.source))]
    known = [lesson.stem[:2] for lesson in find_lessons()]
    if titles:
        number = titles[0]
    else:
        shares = {n: _share(homework(n), cells) for n in known}
        number = max(shares, key=shares.get)
        if not shares[number]:
            raise Unusable(
                "it has no lesson's title (`# 03 · …`), and none of any lesson's answers"
            )
    if number not in known:
        raise Unusable(f"its title says lesson {number}, which there is not")
    if named and named[0] != number:
        raise Unusable(f"its name says lesson {named[0]}, and what stands in it is lesson {number}")
    return number


def _share(lesson: Homework, cells: Sequence[Cell]) -> float:
    """The part of a lesson's answers that the cells define."""
    found = [any(_binds(c, asked.answer) for c in cells if c.is_code) for asked in lesson.asked]
    return sum(found) / max(len(found), 1)


def program(cells: Sequence[Cell], lesson: Homework) -> Program:
    """What is to run, and where each answer is judged: below the last cell that defines it.

    The lesson's own set-up comes first, whatever became of it in the notebook; then the student's,
    where it is another. An exercise's stub, and the cells of other exercises, do not count as long
    as something else defines the answer.
    """
    code = [cell for cell in cells if cell.is_code]
    tagged = [cell for cell in code if "exercise" in cell.tags]
    setup = [cell for cell in code if "setup" in cell.tags and cell.source not in lesson.setup]
    loose = [c for c in code if not {"exercise", "check", "setup"} & {*c.tags}]
    chosen = {asked.exercise: _home(asked, lesson, tagged, loose) for asked in lesson.asked}
    unfound = {a.exercise: _why(a, tagged) for a in lesson.asked if not chosen[a.exercise]}

    steps = [Step("the lesson's own set-up", source, fatal=True) for source in lesson.setup]
    steps += [Step("the changed set-up cell", _plain(cell.source)) for cell in setup]
    away = [cell for cell in loose if cell in chosen.values()]
    steps += [
        Step("a definition outside of the exercises", s) for s in _needed(tagged + away, loose)
    ]
    for cell in [*tagged, *away]:
        here = [asked for asked in lesson.asked if chosen[asked.exercise] is cell]
        names = " and ".join(f"`{asked.answer}`" for asked in here) or "another exercise"
        if cell in tagged:
            steps.append(Step(f"the cell of {names}", _plain(cell.source)))
        else:
            steps += [
                Step(f"the cell of {names}", source)
                for asked in here
                for source in _definition(cell, asked.answer)
            ]
        steps += [
            Step(f"the check of `{a.answer}`", exercise=a.exercise, answer=a.answer) for a in here
        ]
    return Program(steps, unfound)


def _home(
    asked: Asked, lesson: Homework, tagged: Sequence[Cell], loose: Sequence[Cell]
) -> Cell | None:
    """The cell in which the answer is to be found, None if there is none."""
    others = {a.cell for a in lesson.asked} - {asked.cell}
    defining = [cell for cell in (*tagged, *loose) if _binds(cell, asked.answer)]
    own = [cell for cell in defining if cell.id not in others] or defining
    written = [cell for cell in own if cell.source.strip() != asked.stub.strip()]
    return (written or own or [None])[-1]


def _why(asked: Asked, tagged: Sequence[Cell]) -> str:
    """Why an exercise has no answer."""
    for cell in tagged:
        if cell.id == asked.cell:
            names = sorted({name for part in _parsed(cell.source) for name in bound(part)})
            said = ", ".join(f"`{name}`" for name in names) or "nothing"
            return f"its cell does not define `{asked.answer}`, but {said}"
    return f"its cell is gone, and no other defines `{asked.answer}`"


def _plain(source: str) -> str:
    """Python, where IPython also knows lines like `%timeit` and `!pip`: they do nothing."""
    return source if _compiles(source) else _MAGIC.sub(r"\1pass  # \2", source)


def _compiles(source: str) -> bool:
    with warnings.catch_warnings():  # of a backslash in a student's string, say
        warnings.simplefilter("ignore")
        try:
            compile(source, "cell", "exec")  # it minds more than `ast.parse`
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


@lru_cache(maxsize=1024)
def _parsed(source: str) -> list[ast.stmt]:
    """The statements of a cell, none where it is no Python."""
    return ast.parse(_plain(source)).body if _compiles(_plain(source)) else []


def _binds(cell: Cell, name: str) -> bool:
    """Whether the cell defines that name; of one that is no Python, whether it seems to."""
    if not _compiles(_plain(cell.source)):
        return bool(re.search(rf"(?m)^(def|class) {name}\b", cell.source))
    table = symtable.symtable(_plain(cell.source), "cell", "exec")
    known = [symbol for symbol in table.get_symbols() if symbol.get_name() == name]
    return any(s.is_assigned() or s.is_imported() or s.is_namespace() for s in known)


def _needed(cells: Sequence[Cell], loose: Sequence[Cell]) -> list[str]:
    """What the cells need of the loose ones, in the order of the notebook."""
    at_hand = list(_definitions(loose))
    wanted = [
        part
        for cell in cells
        for top in _parsed(cell.source)
        for part in with_what_it_needs(top, at_hand)
    ]
    return [ast.unparse(part) for part in at_hand if part in wanted]


def _definitions(cells: Sequence[Cell]) -> Iterator[ast.stmt]:
    for cell in cells:
        for part in _parsed(cell.source):
            if isinstance(part, _DEFINES) or (isinstance(part, ast.Assign) and _is_constant(part)):
                yield part


def _is_constant(part: ast.Assign) -> bool:
    try:
        ast.literal_eval(part.value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _definition(cell: Cell, name: str) -> list[str]:
    """What a loose cell says of an answer, without what else it does; all that is no Python."""
    parsed = _parsed(cell.source)
    return [ast.unparse(part) for part in parsed if name in bound(part)] or [_plain(cell.source)]
