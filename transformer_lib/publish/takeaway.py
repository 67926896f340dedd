"""What a reader takes home from the site: the notebooks, one by one or all at once, and the wheel.

A notebook that is taken home begins with a cell that installs the library, if it is missing, from
the wheel that lies beside it. The wheel brings data and models; `[lessons]` brings JupyterLab and
what else the lessons import.
"""

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import nbformat

from transformer_lib.publish.lessons import NOTEBOOKS, read_lesson

INSTALL = """\
# Installs the course's library, if it is missing: from {wheel},
# which must lie in the folder of this notebook. It brings torch, data and models along: 1.5 GB.
from importlib.util import find_spec

if find_spec("transformer_lib") is None:
    %pip install --quiet "./{wheel}[lessons]"
"""


def write_takeaway(paths: list[Path], directory: Path) -> Path:
    """Writes notebooks, archive and wheel to `directory` and returns the wheel."""
    directory.mkdir(parents=True, exist_ok=True)
    wheel = write_wheel(directory)
    written = [wheel]
    for path in paths:
        notebook = read_lesson(path).notebook
        first = nbformat.v4.new_code_cell(INSTALL.format(wheel=wheel.name), id="install")
        notebook.cells.insert(0, first)
        written.append(directory / path.name)
        nbformat.write(notebook, written[-1])
    written.append(Path(shutil.copy(NOTEBOOKS / "one_page.py", directory)))  # lesson 13 reads it
    with zipfile.ZipFile(directory / "all_lessons.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in written:
            archive.write(path, f"lessons/{path.name}")
    return wheel


def write_wheel(directory: Path) -> Path:
    """Builds the library's wheel without a network; the checkout stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        source, built = Path(folder, "source"), Path(folder, "built")
        source.mkdir()
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(NOTEBOOKS.parent / name, source)
        without = shutil.ignore_patterns("__pycache__", "bilingual")
        for name in ("transformer_lib", "data"):
            shutil.copytree(NOTEBOOKS.parent / name, source / name, ignore=without)
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel"]
        command = [*pip, "--no-deps", "--no-build-isolation", "--wheel-dir", built, source]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ValueError(f"the wheel could not be built: {done.stderr[-2000:]}")
        (wheel,) = built.iterdir()
        return Path(shutil.copy(wheel, directory))
