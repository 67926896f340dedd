"""Three ways into a part that is to be built: a skeleton with gaps, its signature, an empty cell.

Both texts are made from the solution, so that they fit it always.
"""

import ast
from collections.abc import Sequence

from transformer_lib.exercises.checking.machinery import Exercise

GAP = "..."


def skeleton_of(exercise: Exercise) -> str:
    """The solution with `...` for every value and condition: steps, names and shapes are left."""
    source = exercise.source()
    nodes = list(ast.walk(ast.parse(source)))
    values = [n.value for n in nodes if isinstance(n, ast.Assign | ast.AugAssign | ast.Return)]
    return _replaced(source, values + [n.test for n in nodes if isinstance(n, ast.If)])


def signature_of(exercise: Exercise, attributes: Sequence[str] = ()) -> str:
    """What is called, and with what: the definition with `...` for every body.

    Of a class it is `__init__` and `forward`; a comment names the attributes that weights are
    copied by.
    """
    node = ast.parse(exercise.source()).body[-1]
    if isinstance(node, ast.ClassDef):
        node.body = [f for f in node.body if getattr(f, "name", "") in ("__init__", "forward")]
    for function in node.body if isinstance(node, ast.ClassDef) else [node]:
        function.body = [ast.Expr(ast.Constant(...))]
    names = ", ".join(f"self.{name}" for name in attributes)
    return ast.unparse(node).replace(":\n\n", ":\n", 1) + (
        f"\n\n# It has {names}." if names else ""
    )


def _replaced(source: str, values: list[ast.expr]) -> str:
    """`source` with a gap for each of these expressions, the last first, so that places hold."""
    lines = [line.encode() for line in source.split("\n")]  # ast counts bytes
    for value in sorted(values, key=lambda v: (v.lineno, v.col_offset), reverse=True):
        first, last = value.lineno - 1, value.end_lineno - 1
        rest = lines[last][value.end_col_offset :]
        lines[first : last + 1] = [lines[first][: value.col_offset] + GAP.encode() + rest]
    return b"\n".join(lines).decode()
