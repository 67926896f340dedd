"""The library as somebody installs it: built into a wheel, and run where there is no checkout."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from transformer_lib.publish.takeaway import write_wheel

ROOT = Path(__file__).parent.parent
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet"]


def done(command, **options):
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The one that the site offers."""
    return write_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder that holds the library alone; what it depends on is this environment's."""
    folder = tmp_path_factory.mktemp("installed")
    done([*PIP, "install", "--no-deps", "--target", folder, wheel])
    return folder


@pytest.fixture(scope="module")
def away(installed, tmp_path_factory):
    """Runs Python with the installed library, in a folder that has nothing to do with the checkout."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    environment |= {"PYTHONPATH": str(installed), "OMP_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"}

    def python(*arguments):
        return done([sys.executable, *arguments], cwd=elsewhere, env=environment)

    return python


def test_the_wheel_holds_every_file_that_the_library_reads(wheel):
    inside = set(zipfile.ZipFile(wheel).namelist())
    parts = {"transformer_lib": ROOT / "transformer_lib", "transformer_lib/data": ROOT / "data"}
    for prefix, folder in parts.items():
        for path in folder.rglob("*"):
            generator = "bilingual" in path.parts or "__pycache__" in path.parts
            lock = path.suffix == ".lock"  # left by a ladder that was stopped
            if path.is_file() and not generator and not lock:
                assert f"{prefix}/{path.relative_to(folder)}" in inside
    assert not any("bilingual" in name or name.startswith("tests") for name in inside)
    lessons = {name for name in inside if name.startswith("transformer_lib/notebooks/")}
    wanted = [*(ROOT / "notebooks").glob("[0-9]*.ipynb"), ROOT / "notebooks/one_page.py"]
    assert lessons == {f"transformer_lib/notebooks/{path.name}" for path in wanted}


def test_everything_it_runs_is_the_installed_one(away, installed):
    program = """
import pkgutil, importlib, transformer_lib
from transformer_lib.corpus import DATA
for found in pkgutil.walk_packages(transformer_lib.__path__, "transformer_lib."):
    if not found.name.endswith("__main__"):
        print(importlib.import_module(found.name).__file__)
print(DATA)
"""
    files = away("-c", program).splitlines()
    assert len(files) > 40
    assert all(file.startswith(str(installed)) for file in files), files


def test_it_trains_and_translates(away):
    small = ["--steps", "2", "--evaluate-every", "2", "--max-tokens", "256", "--d-model", "16"]
    small += ["--num-heads", "2", "--d-ff", "16"]
    away("-m", "transformer_lib", "train", "--corpus", "everyday", "--out", "runs/x", *small)
    said = away("-m", "transformer_lib", "translate", "--model", "runs/x", "I'm home.", "Go.")
    assert len(said.splitlines()) == 2
    assert "is unchanged" in away("-m", "transformer_lib", "data", "verify")


def test_the_shipped_model_translates_and_exercises_are_checked(away):
    program = """
from transformer_lib.checkpoints import load_model
from transformer_lib.corpus import DATA
from transformer_lib.exercises import check
from transformer_lib.translation import Translator
print(Translator(*load_model(DATA / "models" / "lessons")[:3]).translate(["I'm home."])[0])
check("scoring.masked_softmax", lambda scores, mask: None)
"""
    french, *said = away("-c", program).splitlines()
    assert french.endswith(".")
    assert said


def test_lessons_are_there_without_the_checkout(away, installed):
    """A teacher's `grade` and lesson 19 read them; a wheel is built from the project's own files."""
    program = """
from transformer_lib.grading.homework import homework
from transformer_lib.publish.lessons import find_lessons
print(len(find_lessons()), homework("03").title)
from transformer_lib.publish.__main__ import main
print(main(["hosted", "03"]))
"""
    counted, code = away("-c", program).splitlines()
    assert counted == "20 03 · Scoring functions"
    assert code == "1"
