"""What goes deeper uses the core's names, changes none of them, and knows no other deeper section."""

import ast
import symtable
import textwrap

from rules import parts
from transformer_lib.publish.lessons import tags

IN_PLACE = {"append", "clear", "extend", "insert", "load_state_dict", "pop", "remove", "update"}


def stand_alone(notebook):
    """A deeper section takes no name from another deeper section."""
    sections = [s for s in parts.lesson_of(notebook).sections if s.deeper]
    defined = {s.heading: set().union(*map(bound, _trees(s.cells))) for s in sections}
    at_home = set().union(*map(bound, _trees(parts.core(notebook))))
    return [
        f"{section.heading!r} takes {name!r} from {other!r}"
        for section in sections
        for name in sorted(_needed(section) - at_home)
        for other in defined
        if other != section.heading and name in defined[other]
    ]


def leave_the_core_alone(notebook):
    """A deeper section binds no name of the core again, and changes nothing that the core holds.

    What the core only loops over belongs to nobody, and may be used again.
    """
    of_core = [cell for cell in parts.core(notebook) if not {"exercise", "check"} & set(tags(cell))]
    core = set().union(*(bound(tree, loops=False) for tree in _trees(of_core)))
    wrong = []
    for tree in _trees(parts.deeper(notebook)):
        wrong += [f"{name!r} of the core is bound again" for name in sorted(bound(tree) & core)]
        wrong += [f"{name!r} of the core is changed" for name in sorted(_changed(tree) & core)]
    return wrong


def bound(tree, *, loops=True):
    """The names that a cell leaves behind; without those of its loops and comprehensions."""
    return {name for node in tree.body for name in _bound(node, loops)}


def _bound(node, loops):
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(
        node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ):
        yield from (n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
    else:
        skipped = getattr(node, "target", None) if isinstance(node, ast.For) and not loops else None
        for child in ast.iter_child_nodes(node):
            if child is not skipped:
                yield from _bound(child, loops)


def _needed(section):
    """The names that a section uses before it has bound them itself."""
    needed, own = set(), set()
    for tree in _trees(section.cells):
        for node in tree.body:
            needed |= _used(node) - own - _looped(node)
            own |= set(_bound(node, loops=True))
    return needed


def _looped(node):
    """What a statement binds before it uses it: the variables of its loops, and what it opens."""
    inner = [n for n in ast.walk(node) if isinstance(n, ast.For | ast.With)]
    return {name for statement in inner for name in _bound(statement, loops=True)}


def _used(node):
    """The global names that a statement reads, also within its functions.

    Within a function, what a comprehension binds is its own in every version of Python.
    """
    own = sorted(set(_bound(node, loops=True)))
    lines = [f"global {', '.join(own)}"] * bool(own) + [ast.unparse(node)]
    source = "def cell():\n" + textwrap.indent("\n".join(lines), "    ")
    tables = symtable.symtable(source, "cell", "exec").get_children()
    found = set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        found |= {s.get_name() for s in table.get_symbols() if s.is_referenced() and s.is_global()}
    return found


def _changed(tree):
    """The global names whose attributes or entries a cell assigns, or which it changes in place."""
    local = {name for n in ast.walk(tree) if _is_function(n) for name in _own(n)}
    targets = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute | ast.Subscript)]
    stored = [n for n in targets if not isinstance(n.ctx, ast.Load)]
    called = [n.func for n in ast.walk(tree) if isinstance(n, ast.Call)]
    called = [f for f in called if isinstance(f, ast.Attribute) and _in_place(f.attr)]
    return {root for node in [*stored, *called] if (root := _root(node))} - local


def _is_function(node):
    return isinstance(node, ast.FunctionDef | ast.Lambda)


def _own(function):
    """The parameters of a function, and what it binds."""
    yield from (
        argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)
    )
    for node in function.body if isinstance(function.body, list) else []:
        yield from _bound(node, loops=True)


def _in_place(method):
    return method in IN_PLACE or (method.endswith("_") and not method.endswith("__"))


def _root(node):
    """The name at the left end of model.layers[0].weight; None where there is none."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _trees(cells):
    return [ast.parse(cell.source) for cell in cells if cell.cell_type == "code"]
