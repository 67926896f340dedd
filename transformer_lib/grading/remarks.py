"""What a teacher may want to look at: checks that were edited, and answers that are alike.

Two answers are alike if they are equal but for names, annotations, comments, docstrings and
formatting. That is a similarity, not a verdict: it is said of both. What is short is written alike
by honest people too, so an answer of less than `LONG` parts (of its syntax tree) does not count, nor
does one that is a solution of the course but for names, nor one that more than `FEW` share. Who
changes the order of two lines, or copies from outside of the class, is not found.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from transformer_lib.exercises import exercises
from transformer_lib.grading.homework import Asked, Homework
from transformer_lib.grading.notebooks import Cell, binds, parsed
from transformer_lib.grading.programs import definition, is_check

LONG, FEW = 45, 4


def about_checks(cells: Sequence[Cell], lesson: Homework) -> Iterator[str]:
    """That the check of an exercise was edited, or `check` is no longer the library's."""
    code = [cell for cell in cells if cell.is_code]
    nodes = [node for c in code for part in parsed(c.source) for node in ast.walk(part)]
    there = {cell.id for cell in code}
    edited = [
        f"`{asked.answer}`"
        for asked in lesson.asked
        if asked.check in there and not any(is_check(node, asked) for node in nodes)
    ]
    if edited:
        plural = "s" if len(edited) > 1 else ""
        was = "were" if plural else "was"
        yield f"the check{plural} of {' and '.join(edited)} {was} edited"
    if any(binds(cell, "check") and not _imports_check(cell) for cell in code):
        yield "`check` is overwritten"


def _imports_check(cell: Cell) -> bool:
    imports = [part for part in parsed(cell.source) if isinstance(part, ast.ImportFrom)]
    names = [a.name for i in imports if i.module == "transformer_lib.exercises" for a in i.names]
    stores = [
        n for p in parsed(cell.source) for n in ast.walk(p) if getattr(n, "id", "") == "check"
    ]
    return "check" in names and all(isinstance(node.ctx, ast.Load) for node in stores)


def alike(
    lesson: Homework, students: Mapping[int, Sequence[Cell]]
) -> Iterator[tuple[int, str, list[int]]]:
    """(student, answer, the others whose answer is equal but for names), by the students' keys."""
    for asked in lesson.asked:
        known = {shape(tree)[0] for tree in _solutions(asked)}
        sharing: dict[str, list[int]] = {}
        for student, cells in students.items():
            tree = definition(cells, asked, lesson)
            text, size = shape(tree) if tree else ("", 0)
            if size >= LONG and text not in known:
                sharing.setdefault(text, []).append(student)
        for those in sharing.values():
            if 1 < len(those) <= FEW:
                for student in those:
                    yield student, asked.answer, [one for one in those if one != student]


def _solutions(asked: Asked) -> Iterator[ast.stmt]:
    for solution in exercises()[asked.exercise].solutions:
        yield ast.parse(textwrap.dedent(inspect.getsource(solution))).body[0]


def shape(tree: ast.stmt) -> tuple[str, int]:
    """A definition without what a copy changes first, and the number of its parts."""
    bare = _Bare(tree).visit(ast.parse(ast.unparse(tree)).body[0])
    parts = sum(not isinstance(node, ast.expr_context) for node in ast.walk(bare))
    return ast.dump(bare), parts


class _Bare(ast.NodeTransformer):
    """Names that it gives itself become numbers, and what changes no result is dropped."""

    def __init__(self, tree: ast.stmt):
        own: list[str] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.arg):
                own.append(node.arg)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                own.append(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                own.append(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                own.append(node.attr)
        self.numbers = {name: f"n{number}" for number, name in enumerate(dict.fromkeys(own))}

    def _number(self, name: str) -> str:
        return self.numbers.get(name, name)

    def _without_docstring(self, node):
        self.generic_visit(node)
        node.name, node.decorator_list = self._number(node.name), []
        node.body = [part for part in node.body if not _is_text(part)] or [ast.Pass()]
        return node

    def visit_FunctionDef(self, node):
        node.returns = None
        return self._without_docstring(node)

    visit_ClassDef = _without_docstring

    def visit_arg(self, node):
        return ast.arg(self._number(node.arg))

    def visit_Name(self, node):
        return ast.Name(self._number(node.id), node.ctx)

    def visit_Attribute(self, node):
        self.generic_visit(node)
        return ast.Attribute(node.value, self._number(node.attr), node.ctx)

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        return ast.Assign([node.target], node.value) if node.value else None


def _is_text(part: ast.stmt) -> bool:
    return isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)
