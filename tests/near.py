"""The tests nearest to a change: make near, or python tests/near.py [FILE …] [-- PYTEST OPTIONS]

Of each file of the library, by default of those changed since the last commit: its own tests, and
those of the modules that import it, and that import these. Green within a minute says that the
change is probably right; `make test` says that it is.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import house

ROOT, LIBRARY = house.LIBRARY.parent, house.LIBRARY
TESTS = ROOT / "tests"
STEPS = 2
WHOLE = ("cli", "drawings", "exercises", "grading", "publish")  # folders with one file of tests


def importers() -> dict[str, set[str]]:
    """Of each module of the library, by its last name, those that import it."""
    modules = [m for m, path in house.MODULES.items() if _named(path) == path.stem]
    found = {module.split(".")[-1]: set() for module in modules}
    for module in modules:
        for other in house.imports(module):
            found.get(other.split(".")[-1], set()).add(module.split(".")[-1])
    return found


def near(files: list[Path]) -> list[Path]:
    """The tests of these files and of what stands on them, the nearest first."""
    names = [TESTS / path.name for path in files if TESTS in path.parents]
    ring = [_named(path) for path in files if LIBRARY in path.parents]
    above, seen = importers(), []
    for _ in range(STEPS + 1):
        seen += [name for name in ring if name not in seen]
        ring = sorted(set().union(*(above.get(name, set()) for name in ring)) - set(seen))
    names += [TESTS / f"test_{name}.py" for name in seen]
    return [path for path in dict.fromkeys(names) if path.exists() and path.name[:5] == "test_"]


def _named(path: Path) -> str:
    """The module of a file; of one in a folder whose tests stand in one file, the folder."""
    return next((part for part in path.parts if part in WHOLE), path.stem)


def changed() -> list[Path]:
    """The files that differ from the last commit."""
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    lines = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / line[3:].split(" -> ")[-1] for line in lines.splitlines()]


def main(arguments: list[str]) -> int:
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    files = [Path(name).resolve() for name in arguments[:cut]] or changed()
    if missing := [path for path in files if arguments[:cut] and not path.exists()]:
        sys.exit(f"no file {missing[0]}")
    tests = near(files)
    if not tests:
        sys.exit("No test is near: nothing of transformer_lib or tests has changed.")
    print("near:", *(path.name for path in tests), flush=True)
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile"]
    return subprocess.run([*command, *map(str, tests), *arguments[cut + 1 :]], cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
