"""The first code cell of a lesson that is opened elsewhere: on Colab, on Kaggle, at home.

The text of this file is written into the notebook. It runs where nothing of the project is there
yet, so it imports only what every notebook's Python has.
"""

import importlib
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import distributions, requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

LIBRARY = "attention-lessons"
LESSONS = ("d2l", "nbformat")  # what lessons import beyond what the library asks for
KAGGLE = Path("/kaggle/input")  # where Kaggle puts what was uploaded
DRIVE = Path("/content/drive/MyDrive/attention_lessons")
KEPT = ("mine.py", ".mine.json", "runs")


def prepare_lesson(
    *, wheel: str, repository: str, beside: list[str], keep_on_drive: bool = False
) -> None:
    """Installs what the lesson needs and this Python lacks; no version that is here changes.

    The library comes from `wheel` beside the notebook, else from the branch `hosted` of
    `repository`; `beside` are files of the project that the lesson reads from its own folder.
    Raises FileNotFoundError where there is neither wheel nor repository, RuntimeError with pip's own
    words where pip fails.
    """
    before = versions()
    version = wheel.split("-")[1]
    if before.get(LIBRARY) != version:
        print(f"Installing the course's library, {LIBRARY} {version}.")
        pip_install("--no-deps", where_the_library_is(wheel, repository))
    needed = [r for r in map(Requirement, requires(LIBRARY)) if not r.marker or r.name in LESSONS]
    install_missing([r for r in needed if canonicalize_name(r.name) not in before], before)
    tell(before, versions(), needed)
    keep_work(keep_on_drive)
    for name in beside:
        if not Path(name).exists():
            from transformer_lib.publish.lessons import NOTEBOOKS

            shutil.copy(NOTEBOOKS / name, name)


def versions() -> dict[str, str]:
    """The version of every package that this Python has, by its name."""
    importlib.invalidate_caches()
    found = {}
    for package in distributions():  # of two with one name, the first is imported
        found.setdefault(canonicalize_name(package.metadata["Name"] or ""), package.version)
    return found


def where_the_library_is(wheel: str, repository: str) -> str:
    """What pip can install: the wheel beside the notebook, or its address."""
    for path in (Path(wheel), *KAGGLE.rglob(wheel)):
        if path.exists():
            return str(path)
    if repository:
        return f"{repository}/raw/hosted/{wheel}"
    raise FileNotFoundError(
        f"{wheel} is not in {Path.cwd()}. Upload it there (Colab: the folder on the left; Kaggle: "
        "Add Input, Upload), and run this cell again."
    )


def install_missing(missing: list[Requirement], before: dict[str, str]) -> None:
    """pip may add packages; the constraints forbid it to touch those that are here."""
    asked = {r.name: f"{r.name}{r.specifier}" for r in missing}
    alone = asked.pop("d2l", "")  # it asks for the whole of Jupyter, and is read without it
    if asked:
        print(f"Installing what is missing: {', '.join(asked)}. A minute, or two.")
        with tempfile.TemporaryDirectory() as folder:
            constraints = Path(folder, "constraints.txt")
            constraints.write_text("".join(f"{n}=={v}\n" for n, v in before.items() if sound(v)))
            pip_install("--constraint", str(constraints), *asked.values())
    if alone:
        pip_install("--no-deps", alone)


def sound(version: str) -> bool:
    """Whether pip can read it: a Linux distribution's packages have versions like 0.1.43ubuntu1."""
    try:
        Version(version)
    except InvalidVersion:
        return False
    return True


def pip_install(*arguments: str) -> None:
    """Lets pip install, and shows what it fetches."""
    quiet = ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    command = [sys.executable, "-m", "pip", "install", *quiet, *arguments]
    said = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        for line in pip.stdout:
            said.append(line)
            if line.startswith("Collecting "):
                print(" ", line.split()[1])
    if pip.returncode:
        raise RuntimeError(
            f"pip could not install {arguments[-1]}:\n{''.join(said[-8:])}"
            "Is there a network? On Kaggle: Settings, Turn on internet. Then run this cell again."
        )


def tell(before: dict[str, str], after: dict[str, str], needed: list[Requirement]) -> None:
    """What was installed, what was here, and what is of a version that was not tried."""
    new = [f"{name} {version}" for name, version in after.items() if name not in before]
    changed = {n: f"{n} {v} is now {after.get(n)}" for n, v in before.items() if after.get(n) != v}
    print(f"Installed: {', '.join(sorted(new))}." if new else "Nothing was missing.")
    if updated := changed.pop(LIBRARY, ""):
        print(f"{updated}: restart the kernel if you had already run cells of this lesson.")
    main = ", ".join(f"{n} {before[n]}" for n in ("torch", "numpy", "pandas") if n in before)
    kept = f"No other package has changed ({main or 'none of torch, numpy, pandas was here'})."
    print(f"Changed all the same: {', '.join(changed.values())}." if changed else kept)
    for r in needed:
        has = after[canonicalize_name(r.name)]
        if sound(has) and not r.specifier.contains(has, prereleases=True):
            print(f"{r.name} {has} was here and stays; the lessons were tried with {r.specifier}.")


def keep_work(keep_on_drive: bool) -> None:
    """On Colab: works in a folder of the student's Drive, where that is asked for."""
    here = f"What you write is kept in {Path.cwd()}: mine.py and .mine.json."
    if "google.colab" not in sys.modules:
        print(here)
    elif keep_on_drive:
        from google.colab import drive

        drive.mount(str(DRIVE.parents[1]))
        DRIVE.mkdir(exist_ok=True)
        for name in KEPT:
            if Path(name).exists() and not (DRIVE / name).exists():
                shutil.move(name, DRIVE)
        os.chdir(DRIVE)
        print("What you write is kept on your Drive, in attention_lessons: mine.py and .mine.json.")
    else:
        print(f"{here} Colab deletes them with this session. To keep them on your Drive, tick")
        print("keep_on_drive above and run this cell again; so in every lesson.")
