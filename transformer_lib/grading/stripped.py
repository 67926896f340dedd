"""The source of modules of exercises without their solutions and mistakes, for a hand-out.

Of a module stay the tasks with their hints, what those and the notebook use, and of each solution the
name with its arguments. What answers made of the cases is stored beside it (`exercises.checking.stored`).
"""

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import NamedTuple

from transformer_lib.exercises import exercises
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.own.cells import bound, with_what_it_needs

PACKAGE = "transformer_lib.exercises"
_NOTHING = ast.parse("raise NotImplementedError").body[0]
_STANDINS = {"cases": "list", "twin": "lambda *_: None"}  # for arguments that a kind has to have


class Way(NamedTuple):
    """How an exercise is handed out: what makes it there, and the arguments that are left out."""

    made_by: str
    without: frozenset[str]

    def __call__(self, kind: str, name: str) -> str:
        """The source of what is called to make it."""
        return self.made_by.format(kind=kind, name=name)


_HOW = {"gaps", "how", "twin"}  # say how the right answer comes about
STORED = Way("withheld({kind}, {name!r})", frozenset({*_HOW, "cases"}))
WITH_CODE_OF_CASES = Way("withheld({kind}, {name!r})", frozenset(_HOW))
EXAMINED = Way("withheld({kind})", frozenset(_HOW))
UNJUDGED = Way("Unjudged", frozenset({*_HOW, "cases", "examine", "tells"}))


def content() -> dict[str, dict[str, Exercise]]:
    """The exercises of each module that holds some, by their full names."""
    found: dict[str, dict[str, Exercise]] = {}
    for name, exercise in exercises().items():
        found.setdefault(exercise.solutions[0].__module__, {})[name] = exercise
    return found


def stripped(ways: Mapping[str, Way], used: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The source of every module that is needed, by the module's name, without any solution.

    `ways` are those of the exercises that are handed out, by their full names; `used` are (module, name)
    of what else is imported from modules.
    """
    whole = content()
    of_exercises = [(m, n.rpartition(".")[2]) for m in whole for n in whole[m] if n in ways]
    wanted: dict[str, set[str]] = {}
    written: dict[str, str] = {}
    open_ = [*of_exercises, *used]
    while open_:
        changed = set()
        for module, name in open_:
            if module in whole and name not in wanted.setdefault(module, set()):
                wanted[module].add(name)
                changed.add(module)
        open_ = []
        for module in sorted(changed):
            page = _Page(sys.modules[module], whole[module], ways, wanted[module])
            written[module] = page.source
            open_ += page.imported
    return written


class _Page:
    """One module: what is wanted of it, and what that needs."""

    def __init__(
        self,
        module: ModuleType,
        inside: Mapping[str, Exercise],
        ways: Mapping[str, Way],
        wanted: set[str],
    ):
        self._full = {name.rpartition(".")[2]: name for name in inside}
        self._first = {
            name: inside[full].solutions[0].__name__ for name, full in self._full.items()
        }
        self._ways, self._wanted = ways, wanted
        tree = ast.parse(inspect.getsource(module))
        body = [kept for statement in tree.body if (kept := self._without_answers(statement))]
        needed = _with_what_acts([s for s in body if self._is_wanted(s)], body)
        needed = list(_imports_used(needed, wanted))
        self.imported = [
            (str(n.module), a.name)
            for n in needed
            if isinstance(n, ast.ImportFrom)
            for a in n.names
        ]
        makers = {ways[full].made_by.partition("(")[0] for full in self._of_wanted()}
        lines = [repr(f"{ast.get_docstring(tree)}\n\nSolutions and mistakes are withheld.")]
        lines += [f"from {PACKAGE}.checking.withheld import {name}" for name in sorted(makers)]
        self.source = "\n\n".join([*lines, *map(ast.unparse, needed)]) + "\n"

    def _of_wanted(self) -> Iterator[str]:
        return (full for name, full in self._full.items() if name in self._wanted)

    def _is_wanted(self, statement: ast.stmt) -> bool:
        return bool(bound(statement) & self._wanted or _filed_as(statement) & self._full.keys())

    def _without_answers(self, statement: ast.stmt) -> ast.stmt | None:
        """The statement as it may be handed out, None where it may not."""
        if filed := _filed_as(statement) & self._full.keys():
            return self._stub(statement, *filed)
        if made := bound(statement) & self._full.keys():
            (name,) = made
            return self._exercise(statement, name) if name in self._wanted else None
        if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom):
            return statement
        mentioned = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
        is_docstring = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        return None if is_docstring or mentioned & self._full.keys() else statement

    def _exercise(self, statement: ast.Assign, name: str) -> ast.stmt:
        """The exercise, without what says how its answer comes about."""
        call, way = statement.value, self._ways[self._full[name]]
        call.func = _expression(way(ast.unparse(call.func), self._full[name]))
        for argument in [k for k in call.keywords if k.arg in way.without]:
            if argument.arg in _STANDINS:
                argument.value = _expression(_STANDINS[argument.arg])
            else:
                call.keywords.remove(argument)
        return statement

    def _stub(self, statement: ast.stmt, name: str) -> ast.stmt | None:
        """The name and the arguments of the first solution of a wanted exercise."""
        if name not in self._wanted or self._first[name] != statement.name:
            return None
        if isinstance(statement, ast.FunctionDef):
            statement.body = [_NOTHING]
            return statement
        methods = [f for f in statement.body if isinstance(f, ast.FunctionDef)]
        statement.bases = []
        statement.body = [f for f in methods if f.name in ("__init__", "forward")]
        for method in statement.body:
            method.body = [_NOTHING]
        return statement


def _expression(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


def _filed_as(statement: ast.stmt) -> set[str]:
    """The first names of what decorates a definition, as of `name.solution`."""
    found = set()
    for node in getattr(statement, "decorator_list", []):
        node = node.func if isinstance(node, ast.Call) else node
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(node.value.id)
    return found


def _with_what_acts(starts: list[ast.stmt], body: list[ast.stmt]) -> list[ast.stmt]:
    """What is wanted, what it needs, and what binds nothing but does something to these."""
    needed = [n for start in starts for n in with_what_it_needs(start, body)]
    names = set().union(*map(bound, needed))
    for statement in body:
        uses = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
        if not bound(statement) and names & uses:
            needed += with_what_it_needs(statement, body)
    kept = set(map(id, needed))
    return [statement for statement in body if id(statement) in kept]


def _imports_used(needed: list[ast.stmt], wanted: Iterable[str]) -> Iterator[ast.stmt]:
    """The statements, and of each import the names alone that the others use."""
    others = [s for s in needed if not isinstance(s, ast.Import | ast.ImportFrom)]
    used = {n.id for s in others for n in ast.walk(s) if isinstance(n, ast.Name)} | set(wanted)
    for statement in needed:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            names = [a for a in statement.names if (a.asname or a.name).partition(".")[0] in used]
            statement.names = names
            if not names:
                continue
        yield statement
