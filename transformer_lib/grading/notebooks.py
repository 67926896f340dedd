"""A notebook or a script as cells, whatever program wrote it, and which lesson it is."""

import ast
import json
import re
import symtable
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from transformer_lib.exercises.own.cells import bound
from transformer_lib.grading.files import Unusable
from transformer_lib.grading.homework import Homework, every

READ = (".ipynb", ".py")
_TITLE = re.compile(r"(?m)^#+ (?:# )?(\d\d) ·")
_TITLE_IN_JSON = re.compile(r'"# (\d\d) (?:·|\\u00b7)')
_MAGIC = re.compile(r"(?m)^([ \t]*)([%!?].*|[\w.]+\?\??[ \t]*)$")
_CONFLICT = re.compile(r"(?m)^\s*\"?(<<<<<<<|>>>>>>>) ")
_PART = re.compile(r"(?m)^# (?:%%|In\[).*$")  # what jupytext and nbconvert write between cells
_MERGED = (
    "git's conflict marks (`<<<<<<<`) stand in it: of the two versions between them one is to stay"
)


@dataclass(frozen=True)
class Cell:
    """A cell of a notebook, whatever program wrote it."""

    id: str
    tags: tuple[str, ...]
    source: str
    is_code: bool


def read_cells(path: PurePosixPath, content: bytes) -> list[Cell]:
    """The cells of a notebook or a script; raises Unusable with what is wrong with it."""
    if not content.strip():
        raise Unusable("the file is empty")
    if path.suffix.lower() == ".py":
        text = content.decode(json.detect_encoding(content), errors="replace").lstrip("\ufeff")
        return [Cell("", (), part, True) for part in _PART.split(text) if part.strip()]
    try:
        notebook = json.loads(content)
    except RecursionError:
        raise Unusable("it is no notebook: its JSON is nested without end") from None
    except ValueError as error:
        text = content.decode(json.detect_encoding(content), errors="replace")
        said = _MERGED if _CONFLICT.search(text) else f"it is no JSON, so no notebook ({error})"
        raise Unusable(said) from None
    try:
        sheets = notebook.get("worksheets", [notebook])  # of format 3
        return [_cell(cell) for sheet in sheets for cell in sheet["cells"]]
    except (KeyError, TypeError, AttributeError):
        raise Unusable(
            "it is JSON, but no notebook with its list of cells: open it in JupyterLab, and save it"
        ) from None


def _cell(cell: dict) -> Cell:
    source = cell["source"] if "source" in cell else cell["input"]
    known = cell.get("metadata", {}).get("tags", [])
    text = source if isinstance(source, str) else "".join(source)
    return Cell(str(cell.get("id", "")), tuple(map(str, known)), text, cell["cell_type"] == "code")


def in_words(cells: Sequence[Cell]) -> str:
    """What is to be said of cells that can be read, "" if nothing."""
    return _MERGED if any(_CONFLICT.search(cell.source) for cell in cells if cell.is_code) else ""


def number_of(path: PurePosixPath, cells: Sequence[Cell]) -> str:
    """The number of the lesson that a notebook is, as its title has it.

    Without a title it is the lesson most of whose answers have cells here; the number in the file's
    name decides between two. Raises Unusable if it is none.
    """
    titles = [found[1] for cell in cells if (found := _title(cell))]
    if titles:
        if titles[0] not in every():
            raise Unusable(f"its title says lesson {titles[0]}, which there is not")
        return titles[0]
    shares = {n: (_share(one, cells), n == path.name[:2]) for n, one in every().items()}
    number = max(shares, key=shares.get)
    if not shares[number][0]:
        raise Unusable("it has no lesson's title (`# 03 · …`), and none of any lesson's answers")
    return number


def _title(cell: Cell) -> re.Match | None:
    return _TITLE.search(cell.source) if cell.is_code else _TITLE.match(cell.source)


def named_otherwise(path: PurePosixPath, number: str) -> str:
    """The number of another lesson whose name the file bears, "" if there is none."""
    return next((n for n in _named(path) if n != number), "")


def seems_to_be(path: PurePosixPath, content: bytes) -> str:
    """The lesson that a file was which cannot be read, by the number in its title or its name.

    "" if neither has one.
    """
    text = content.decode(json.detect_encoding(content), errors="replace")
    found = [*_TITLE_IN_JSON.findall(text), *_named(path)]
    return next((number for number in found if number in every()), "")


def _named(path: PurePosixPath) -> list[str]:
    return [n for n, one in every().items() if path.stem.lower().startswith(one.stem)]


def _share(lesson: Homework, cells: Sequence[Cell]) -> float:
    """The part of a lesson's answers that the cells define."""
    found = [any(binds(c, asked.answer) for c in cells if c.is_code) for asked in lesson.asked]
    return sum(found) / max(len(found), 1)


def plain(source: str) -> str:
    """Python, where IPython also knows lines like `%timeit`, `!pip` and `sum?`: they do nothing."""
    return source if _compiles(source) else _MAGIC.sub(r"\1pass  # \2", source)


@lru_cache(maxsize=4096)
def _compiles(source: str) -> bool:
    with warnings.catch_warnings():  # of a backslash in a student's string, say
        warnings.simplefilter("ignore")
        try:
            compile(source, "cell", "exec")  # it minds more than `ast.parse`
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


@lru_cache(maxsize=1024)
def parsed(source: str) -> list[ast.stmt]:
    """The statements of a cell, none where it is no Python."""
    return ast.parse(plain(source)).body if _compiles(plain(source)) else []


@lru_cache(maxsize=4096)
def _table(source: str) -> symtable.SymbolTable:
    return symtable.symtable(plain(source), "cell", "exec")


def binds(cell: Cell, name: str) -> bool:
    """Whether the cell defines that name; of one that is no Python, whether it seems to."""
    if not _compiles(plain(cell.source)):
        return bool(re.search(rf"(?m)^(def|class) {name}\b", cell.source))
    known = [symbol for symbol in _table(cell.source).get_symbols() if symbol.get_name() == name]
    return any(s.is_assigned() or s.is_imported() or s.is_namespace() for s in known)


def names_in(cell: Cell) -> list[str]:
    """The names that a cell binds at its left edge, in order of the alphabet."""
    return sorted({name for part in parsed(cell.source) for name in bound(part)})
