"""The house from its roof to its foundation, and the map of it that `make tables` draws.

A module imports only from lower floors, or from its own folder. `test_design.py` reads the imports.
"""

import ast
from pathlib import Path

LIBRARY = Path(__file__).parent.parent / "transformer_lib"
FLOORS = [  # from the roof down; what lessons teach has no folder
    ["__main__"],
    ["cli"],
    ["grading"],
    ["publish"],
    ["exercises"],
    ["run", "show", "lab"],
    ["translation"],
    ["checkpoints"],
    ["models"],
    ["experts"],
    ["gpt", "gpt2", "recurrent", "transformer"],
    ["layers", "recurrent_parts", "training"],
    ["attention", "batching", "decoding", "losses", "metrics", "scoring"],
    ["corpus", "masks", "pooling", "positions", "schedules"],
    ["pair_files"],
    ["base"],
]
HEIGHT = {name: height for height, names in enumerate(reversed(FLOORS)) for name in names}
MODULES = {  # by what `import` calls them, behind transformer_lib
    ".".join(path.relative_to(LIBRARY).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(LIBRARY.rglob("*.py"))
    if path.parent != LIBRARY or path.stem != "__init__"
}
FOLDERS = {name for name, path in MODULES.items() if path.name == "__init__.py"}


def room(module: str) -> str:
    """Where a module stands: its folder, or itself."""
    return module.split(".")[0]


def imports(module: str) -> set[str]:
    """The modules of the library that this one imports, wherever in it the import stands."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            parts = name.split(".")
            while parts[0] == "transformer_lib" and len(parts) > 1:
                if (known := ".".join(parts[1:])) in MODULES:
                    found.add(known)
                    break
                parts.pop()
    return found - {module}


def circle() -> list[str]:
    """Modules that import each other in a ring; none, if there is none."""
    done: set[str] = set()

    def walk(module: str, path: list[str]) -> list[str]:
        if module in path:
            return path[path.index(module) :]
        if module in done:
            return []
        for other in sorted(imports(module)):
            if found := walk(other, [*path, module]):
                return found
        done.add(module)
        return []

    return next((found for module in MODULES if (found := walk(module, []))), [])


def says(name: str) -> str:
    """The first sentence of a module's or a folder's docstring."""
    text = ast.get_docstring(ast.parse(MODULES[name].read_text(encoding="utf-8")))
    return text.split("\n")[0].rstrip(".")


def drawn() -> str:
    """The map, a line a room, a blank line a floor; below a folder the files in it."""
    lines = []
    for names in FLOORS[1:]:
        for name in names:
            folder = name in FOLDERS
            lines.append(f"{name + '/' if folder else name:16}{says(name)}")
            inside = sorted({m.split(".")[1] for m in MODULES if m.startswith(f"{name}.")})
            inside = [f"{m}/" if f"{name}.{m}" in FOLDERS else m for m in inside]
            if len(inside) > 12:
                inside = [*(m for m in inside if m[-1] == "/"), "and a file a concept"]
            lines += [f"{'':16}  {' '.join(inside)}"] if folder else []
        lines.append("")
    return "\n".join(lines).rstrip()
