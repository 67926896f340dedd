"""The source of what a notebook's cell defines, with all that it needs of the same cell.

`inspect.getsource` fails for a class of a notebook. Its methods know their cell, `linecache` knows
the cell's text, and `ast` finds the class in it.
"""

import ast
import builtins
import inspect
import linecache
import symtable
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_DEFINED = (ast.FunctionDef, ast.ClassDef)


class NotKept(ValueError):
    """Why a source cannot be kept, and the way out, in words for a student."""


def source_to_keep(answer: Callable[..., Any], known: Mapping[str, Any]) -> str:
    """What to write down so that `answer` can be made again from it and from the names in `known`.

    It is the definition and, in the order of the cell, all that it uses from that cell. Raises
    NotKept with the names that come from elsewhere.
    """
    code = _code_of(answer)
    text = "".join(linecache.getlines(code.co_filename))
    try:
        cell = ast.parse(text).body
    except SyntaxError:
        cell = []
    node = _definition(cell, answer.__name__)
    if node is None:
        raise NotKept(
            f"its source was not found. Define `{answer.__name__}` with `def` or `class` at the left "
            "edge of a cell, run that cell, and check again"
        )
    needed = with_what_it_needs(node, cell)
    source = "\n\n\n".join(_text(part, text) for part in sorted(needed, key=_first_line))
    foreign = names_from_elsewhere(source, known, globals_of(answer))
    if foreign:
        raise NotKept(_way_out(foreign))
    return source


def globals_of(answer: Callable[..., Any]) -> dict[str, Any]:
    """The names of the notebook in which `answer` was defined."""
    return next(_functions(answer)).__globals__


def names_from_elsewhere(
    source: str, known: Mapping[str, Any], here: Mapping[str, Any] | None = None
) -> list[str]:
    """The names that `source` uses, but neither defines nor finds in `known`.

    With `here`, a name of `known` that means something else there is from elsewhere too.
    """
    used, defined = _used(symtable.symtable(source, "cell", "exec"))

    def at_hand(name: str) -> bool:
        if name in known:
            return here is None or here.get(name, known[name]) is known[name]
        return hasattr(builtins, name) and (here is None or name not in here)

    return sorted(name for name in used - defined if not at_hand(name))


def _way_out(names: list[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names)
    if len(names) == 1:
        return (
            f"{listed} comes from another cell. Put it into the same cell, or inside your "
            "definition, and check again; a part that you have kept is `mine(...)`"
        )
    return (
        f"{listed} come from other cells. Put them into the same cell, or inside your definition, "
        "and check again; a part that you have kept is `mine(...)`"
    )


def _functions(answer: Any) -> Iterator[Any]:
    """The Python functions of a class, its own ones, or the function itself."""
    inner = vars(answer).values() if inspect.isclass(answer) else [answer]
    for thing in inner:
        thing = inspect.unwrap(getattr(thing, "__func__", thing))
        if inspect.isfunction(thing):
            yield thing


def _code_of(answer: Any):
    function = next(_functions(answer), None)
    if function is None or answer.__name__ == "<lambda>":
        raise NotKept("only what you write yourself, with `def` or `class`, can be kept")
    return function.__code__


def _definition(cell: list[ast.stmt], name: str) -> ast.stmt | None:
    found = [node for node in cell if isinstance(node, _DEFINED) and node.name == name]
    return found[-1] if found else None


def with_what_it_needs(node: ast.stmt, cell: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of the cell that bind what `node` uses, and what they use, and `node`."""
    needed, open_ = [], [node]
    while open_:
        needed.append(current := open_.pop())
        used, own = _used(symtable.symtable(ast.unparse(current), "cell", "exec"))
        open_ += [o for o in cell if o not in needed + open_ and (used - own) & bound(o)]
    return needed


def bound(node: ast.stmt) -> set[str]:
    """The names that a statement at the left edge binds; none if it only does something."""
    if isinstance(node, _DEFINED):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and _stores(n)}
    return set()


def _stores(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _used(table: symtable.SymbolTable) -> tuple[set[str], set[str]]:
    """(names looked up at the left edge of the notebook, names bound at that of this source)."""
    top = table.get_type() == "module"
    used = {
        s.get_name() for s in table.get_symbols() if s.is_referenced() and (top or s.is_global())
    }
    for child in table.get_children():
        used |= _used(child)[0]
    defined = {s.get_name() for s in table.get_symbols() if top and _binds(s)}
    return used - {"__class__"}, defined


def _binds(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()


def _first_line(node: ast.stmt) -> int:
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def _text(node: ast.stmt, text: str) -> str:
    return "\n".join(text.splitlines()[_first_line(node) - 1 : node.end_lineno])
