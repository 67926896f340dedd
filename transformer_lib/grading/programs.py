"""What of a notebook runs, in which order, and where its answers are judged.

The lesson's own set-up runs, and each cell tagged `exercise` as a whole. Of all other cells those
statements run that an answer or such a cell needs, and that these need in turn: what was bound last
above the place where a name is looked up. All of it in the order of the notebook, so that a name
means what it meant in the kernel. What needs a name that is bound further below only gets it from
there: cells are not always run from top to bottom.

Nothing is trained: a statement that calls `fit` or an optimizer's `step()`, itself or by a function
of the notebook, is left out, and the program says so; what else takes longer than the check of an
answer may is stopped. Nor is seen what a function does to what it is given: `fill(TABLE)` changes
TABLE in the kernel, and does not run here.
"""

import ast
import builtins
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from transformer_lib.grading.homework import Asked, Homework
from transformer_lib.grading.judge import Step
from transformer_lib.grading.notebooks import Cell, binds, names_in, parsed, plain

_DEFINES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_WHOLE = (*_DEFINES, *_IMPORTS, ast.Assign, ast.AnnAssign)  # bind a name whatever it was before


@dataclass(frozen=True)
class Program:
    """What runs, and what cannot.

    `unfound` says for each exercise without an answer why there is none, `trains` what was needed
    and left out.
    """

    steps: list[Step]
    unfound: dict[str, str] = field(default_factory=dict)
    trains: list[str] = field(default_factory=list)


def program(cells: Sequence[Cell], lesson: Homework) -> Program:
    """What is to run, and where each answer is judged.

    That is where the notebook's last check of it stands, and right below its last definition where
    that check is of another; the better verdict counts. An exercise's stub, and the cells of other
    exercises, do not count as long as something else defines the answer.
    """
    return _Planned(cells, lesson).program()


def definition(cells: Sequence[Cell], asked: Asked, lesson: Homework) -> ast.stmt | None:
    """The statement that defines an answer last, None where there is none."""
    homes = _homes(asked, lesson, [cell for cell in cells if cell.is_code])
    found = [part for cell in homes[-1:] for part in parsed(cell.source)]
    return next((p for p in reversed(found) if asked.answer in _Part(p).bound), None)


def is_untouched(cells: Sequence[Cell], lesson: Homework) -> bool:
    """Whether no answer is anything but its stub."""
    code = [cell for cell in cells if cell.is_code]
    homes = (_homes(asked, lesson, code) for asked in lesson.asked)
    stubs = [asked.stub.strip() for asked in lesson.asked]
    return all(
        home.source.strip() == stub
        for found, stub in zip(homes, stubs, strict=True)
        for home in found
    )


def _homes(asked: Asked, lesson: Homework, code: Sequence[Cell]) -> list[Cell]:
    """The cells in which the answer is to be found, the one that counts last."""
    others = {a.cell for a in lesson.asked} - {asked.cell}
    defining = [cell for cell in code if binds(cell, asked.answer)]
    own = [cell for cell in defining if cell.id not in others] or defining
    return [cell for cell in own if cell.source.strip() != asked.stub.strip()] or own


def _why(asked: Asked, code: Sequence[Cell]) -> str:
    """Why an exercise has no answer."""
    for cell in code:
        if cell.id == asked.cell and "exercise" in cell.tags:
            said = ", ".join(f"`{name}`" for name in names_in(cell)) or "nothing"
            return f"its cell does not define `{asked.answer}`, but {said}"
    return f"its cell is gone, and no other defines `{asked.answer}`"


@dataclass(eq=False)
class _Part:
    """A statement at the left edge of a cell, and what it does to names."""

    node: ast.stmt
    place: int = 0  # among all of the notebook
    cell: int = 0

    @cached_property
    def _table(self) -> symtable.SymbolTable:
        return symtable.symtable(ast.unparse(self.node), "cell", "exec")

    @cached_property
    def bound(self) -> set[str]:
        """The names that it binds, inside of a loop or a condition as well."""
        known = self._table.get_symbols()
        return {
            s.get_name() for s in known if s.is_assigned() or s.is_imported() or s.is_namespace()
        }

    @cached_property
    def changed(self) -> set[str]:
        """The names that it binds, and those whose values it changes: `x[0] = 1`, `x.append(1)`."""
        found = set(self.bound)
        for node in ast.walk(self.node) if not isinstance(self.node, _DEFINES) else ():
            if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
                found |= _base(node)
            elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                call = node.value
                found |= _base(call.func) if isinstance(call.func, ast.Attribute) else set()
                if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
                    found |= set().union(*map(_base, call.args))  # nn.init.zeros_(x)
        return found

    @cached_property
    def used(self) -> set[str]:
        """The names that it looks up at the notebook's left edge, when it runs or is called."""
        return set(_looked_up(self._table, top=True))

    @property
    def renews(self) -> bool:
        """Whether what its names meant before no longer counts."""
        return isinstance(self.node, _WHOLE) and not self.used & self.bound

    @property
    def is_import(self) -> bool:
        return isinstance(self.node, _IMPORTS)

    @cached_property
    def trains(self) -> bool:
        """Whether there is a call in it that trains a model."""
        return any(_is_training(node) for node in ast.walk(self.node) if isinstance(node, ast.Call))


def _base(node: ast.expr) -> set[str]:
    """The name that an expression such as `x[0].data` begins with."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return {node.id} if isinstance(node, ast.Name) else set()


def _is_training(call: ast.Call) -> bool:
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    bare = not call.args and not call.keywords  # a decoder's step is given something
    return name == "fit" or (name == "step" and bare and isinstance(call.func, ast.Attribute))


def _looked_up(table: symtable.SymbolTable, top: bool = False) -> Iterator[str]:
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _looked_up(child)


class _Planned:
    """The plan of one notebook."""

    def __init__(self, cells: Sequence[Cell], lesson: Homework):
        self.lesson = lesson
        self.code = [cell for cell in cells if cell.is_code and cell.source not in lesson.setup]
        nodes = [(at, node) for at, cell in enumerate(self.code) for node in parsed(cell.source)]
        self.parts = [_Part(node, place, at) for place, (at, node) in enumerate(nodes)]
        ours = [_Part(node) for source in lesson.setup for node in parsed(source)]
        self.imported = {n for p in [*ours, *self.parts] if p.is_import for n in p.bound}
        self.at_hand = {*dir(builtins)}.union(*(part.bound for part in ours))
        self.trains: list[str] = []

    def program(self) -> Program:
        homes = {a.exercise: _homes(a, self.lesson, self.code) for a in self.lesson.asked}
        unfound = {
            a.exercise: _why(a, self.code) for a in self.lesson.asked if not homes[a.exercise]
        }
        judged = [
            (at, asked, home)
            for asked in self.lesson.asked
            for at, home in self._places(asked, homes[asked.exercise])
        ]
        whole = [p for p in self.parts if _runs_whole(self.code[p.cell])]
        stars = [p for p in self.parts if p.is_import and p.node.names[0].name == "*"]
        chosen = set(stars).union(*(self._needed(part.used, part.place) for part in whole))
        early: dict[int, set[_Part]] = {}  # what stands below the check that it is needed for
        for at, asked, _ in judged:
            place = sum(part.cell <= at for part in self.parts)
            needed = self._needed({asked.answer}, place, also_below=True)
            early.setdefault(at, set()).update(part for part in needed if part.place >= place)
            chosen |= needed
        steps = [Step("the lesson's own set-up", s, fatal=True) for s in self.lesson.setup]
        begun = {}
        for at, cell in enumerate(self.code):
            begun[id(cell)] = len(steps)
            names = [a.answer for a in self.lesson.asked if cell in homes[a.exercise]]
            steps += self._of_cell(at, names, chosen)
            first = early.get(at, set()) & chosen
            steps += [_outside(part) for part in sorted(first, key=lambda part: part.place)]
            chosen -= first
            steps += [
                Step(f"the check of `{a.answer}`", "", a.exercise, a.answer, home=begun[id(home)])
                for where, a, home in judged
                if where == at
            ]
        return Program(steps, unfound, list(dict.fromkeys(self.trains)))

    def _places(self, asked: Asked, homes: Sequence[Cell]) -> Iterator[tuple[int, Cell]]:
        """Behind which cells an answer is judged, and the cell that is taken to define it there."""
        if not homes:
            return
        last = self.code.index(homes[-1])
        checks = [at for at, cell in enumerate(self.code) if _checks(cell, asked)]
        at = max([at for at in checks if at >= self.code.index(homes[0])], default=-1)
        above = [cell for cell in self.code[: at + 1] if binds(cell, asked.answer)]
        if above:
            yield at, above[-1]
        if homes[-1] not in above[-1:]:
            yield last, homes[-1]

    def _of_cell(self, at: int, answers: Sequence[str], chosen: set[_Part]) -> list[Step]:
        """What of a cell runs at its place."""
        cell = self.code[at]
        about = f"the cell of {' and '.join(f'`{a}`' for a in answers) or 'another exercise'}"
        if "setup" in cell.tags:
            return [Step("the changed set-up cell", plain(cell.source))]
        if "exercise" in cell.tags:
            return [Step(about, plain(cell.source))]
        if answers and not parsed(cell.source):  # no Python, which is for Python to say
            return [Step(about, cell.source)]
        return [
            Step(about, ast.unparse(part.node)) if part.bound & {*answers} else _outside(part)
            for part in self.parts
            if part.cell == at and part in chosen
        ]

    def _needed(self, names: set[str], place: int, *, also_below: bool = False) -> set[_Part]:
        """The parts that give these names to what is looked up before a place, and what they need.

        With `also_below`, a name that nothing above gives is looked for further below.
        """
        chosen: set[_Part] = set()
        done: set[tuple[str, int]] = set()
        open_ = [(name, place) for name in names]
        while open_:
            name, place = asked_for = open_.pop()
            if asked_for in done:
                continue
            done.add(asked_for)
            found = list(self._giving(name, place))
            if not found and also_below and name not in self.at_hand:
                found = [part for part in self.parts[place:] if name in part.bound][:1]
            for part in found:
                if self._is_left_out(part):
                    continue
                chosen.add(part)
                open_ += [(one, part.place) for one in part.used]
                if isinstance(part.node, _DEFINES):  # it is called later than it is made
                    open_ += [(one, max(place, part.place)) for one in part.used - {name}]
        return chosen

    def _giving(self, name: str, place: int) -> Iterator[_Part]:
        """The parts above a place that made a name what it is there, the last first."""
        for part in reversed(self.parts[:place]):
            given = name in part.bound
            if given or (name in part.changed and name not in self.imported):
                yield part
                if given and part.renews:
                    return

    def _is_left_out(self, part: _Part) -> bool:
        """Whether a statement trains; then that is noted."""
        if isinstance(part.node, _DEFINES) or _runs_whole(self.code[part.cell]):
            return False
        trains = self._trains(part, part.place, set())
        if trains:
            self.trains.append(ast.unparse(part.node).splitlines()[0])
        return trains

    def _trains(self, part: _Part, place: int, seen: set[_Part]) -> bool:
        """Whether a statement trains, itself or by what the notebook defines and it calls."""
        if part.trains or part in seen:
            return part.trains
        seen.add(part)
        called = [one for name in part.used for one in self._giving(name, place)]
        return any(self._trains(p, place, seen) for p in called if isinstance(p.node, _DEFINES))


def _runs_whole(cell: Cell) -> bool:
    return "exercise" in cell.tags or "setup" in cell.tags


def _outside(part: _Part) -> Step:
    quick = isinstance(part.node, (*_DEFINES, *_IMPORTS))
    return Step("a statement outside of the exercises", ast.unparse(part.node), brief=not quick)


def _checks(cell: Cell, asked: Asked) -> bool:
    """Whether a cell calls `check` with that answer."""
    return any(is_check(node, asked) for part in parsed(cell.source) for node in ast.walk(part))


def is_check(node: ast.AST, asked: Asked) -> bool:
    """Whether a node is `check("basics.mix", my_mix)`, for that exercise and its answer."""
    if not isinstance(node, ast.Call) or len(node.args) != 2:
        return False
    called = getattr(node.func, "id", getattr(node.func, "attr", ""))
    name, answer = node.args
    is_it = isinstance(name, ast.Constant) and name.value == asked.exercise
    return called == "check" and is_it and ast.unparse(answer) == asked.answer
