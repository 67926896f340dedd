"""The lessons as they are taken away: to Colab and Kaggle, or home from the site.

A notebook that is taken away has one more cell, `first_cell.py`, which installs the library if it is
missing: from the wheel that lies beside it, or from the repository. The wheel brings data, models
and notebooks; `[lessons]` brings JupyterLab and what else the lessons import.
"""

import ast
import inspect
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from transformer_lib.publish import first_cell
from transformer_lib.publish.addresses import repository
from transformer_lib.publish.lessons import NOTEBOOKS, find_lessons, read_lesson

ROOT = NOTEBOOKS.parent
ONE_PAGE = NOTEBOOKS / "one_page.py"  # is read and run beside the lessons, and imports none
CELL = """\
# @title Set-up: installs what is missing, and nothing that is here
keep_on_drive = False  # @param {{type:"boolean"}}

{program}

prepare_lesson(
    wheel="{wheel}",
    repository="{repository}",
    beside={beside},
    keep_on_drive=keep_on_drive,
)
"""


def write_takeaway(paths: list[Path], directory: Path) -> Path:
    """Writes notebooks, archive and wheel to `directory` and returns the wheel."""
    directory.mkdir(parents=True, exist_ok=True)
    wheel = write_wheel(directory)
    written = [wheel]
    for path in paths:
        notebook = read_lesson(path).notebook
        notebook.cells.insert(1, installing_cell(notebook, wheel.name))
        written.append(directory / path.name)
        nbformat.write(notebook, written[-1])
    written.append(Path(shutil.copy(ONE_PAGE, directory)))
    with zipfile.ZipFile(directory / "all_lessons.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in written:
            archive.write(path, f"lessons/{path.name}")
    return wheel


def installing_cell(notebook: NotebookNode, wheel: str) -> NotebookNode:
    """The cell for this lesson: its code is folded, in JupyterLab and in Colab's form view."""
    reads = any(ONE_PAGE.name in cell.source for cell in notebook.cells)
    source = CELL.format(
        program=_program(),
        wheel=wheel,
        repository=repository(),
        beside=[ONE_PAGE.name] if reads else [],
    )
    folded = {"tags": ["hosted"], "cellView": "form", "jupyter": {"source_hidden": True}}
    return nbformat.v4.new_code_cell(source.strip(), id="install", metadata=folded)


def _program() -> str:
    """The file without its docstring, which speaks to those who write it."""
    source = inspect.getsource(first_cell)
    lines = source.splitlines()[ast.parse(source).body[0].end_lineno :]
    return "\n".join(lines).strip()


def write_wheel(directory: Path) -> Path:
    """Builds the library's wheel without a network; the checkout stays as it is.

    Raises FileNotFoundError where there is no checkout.
    """
    if not (ROOT / "pyproject.toml").exists():
        raise FileNotFoundError(
            f"a wheel is built from the project's files, and {ROOT} holds none of them: run this in "
            "a checkout, after `make setup`"
        )
    with tempfile.TemporaryDirectory() as folder:
        source, built = Path(folder, "source"), Path(folder, "built")
        source.mkdir()
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, source)
        without = shutil.ignore_patterns("__pycache__", "bilingual")
        for name in ("transformer_lib", "data"):
            shutil.copytree(ROOT / name, source / name, ignore=without)
        (source / "notebooks").mkdir()
        for path in (*find_lessons(), ONE_PAGE):  # and nobody's mine.py
            shutil.copy(path, source / "notebooks")
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel"]
        command = [*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", built, source]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ValueError(f"the wheel could not be built: {done.stderr[-2000:]}")
        (wheel,) = built.iterdir()
        return Path(shutil.copy(wheel, directory))
