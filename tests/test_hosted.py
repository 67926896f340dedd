"""The first cell of a lesson on Colab, on Kaggle or at home; and what the project's address fills."""

import re
import sys
from importlib.metadata import requires
from itertools import pairwise
from pathlib import Path
from types import ModuleType, SimpleNamespace

import nbformat
import pytest
from packaging.requirements import Requirement

from transformer_lib.publish import addresses, first_cell
from transformer_lib.publish.lessons import find_lessons
from transformer_lib.publish.takeaway import installing_cell

WHEEL = "attention_lessons-9.9-py3-none-any.whl"
COLAB = {"torch": "2.6.0+cu124", "numpy": "2.0.2", "pandas": "2.2.2", "ipython": "7.20.0"}
REQUIRED = ["torch<3,>=2.6", "ipython>=7.34", "pooch<2,>=1.8", 'd2l==0.17.0; extra == "lessons"']
REQUIRED += ['jupyterlab<5,>=4.2; extra == "lessons"']


@pytest.fixture
def place(monkeypatch, tmp_path):
    """A Python with some packages; what pip is asked for is noted, and is there afterwards."""
    here = dict(COLAB)
    asked = []

    def pip(*arguments):
        constraints = dict(pairwise(arguments)).get("--constraint")
        asked.append((arguments, Path(constraints).read_text() if constraints else ""))
        for what in arguments[arguments.index("--constraint") + 2 if constraints else 1 :]:
            name = "attention-lessons" if what.endswith(".whl") else what.partition("=")[0]
            here[name.partition("<")[0]] = "9.9"

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(first_cell, "versions", lambda: dict(here))
    monkeypatch.setattr(first_cell, "requires", lambda name: REQUIRED)
    monkeypatch.setattr(first_cell, "pip_install", pip)
    (tmp_path / WHEEL).touch()
    return SimpleNamespace(here=here, asked=asked, folder=tmp_path)


def prepare(**others):
    first_cell.prepare_lesson(**{"wheel": WHEEL, "repository": "", "beside": []} | others)


def test_what_is_missing_is_installed_and_what_is_there_is_held(place, capsys):
    place.here["python-debian"] = "0.1.43ubuntu1"  # pip would refuse the whole file for it
    prepare()
    library, missing, book = place.asked
    assert library == (("--no-deps", WHEEL), "")
    assert missing[0][2:] == ("pooch<2,>=1.8",)
    assert missing[1].splitlines() == [f"{name}=={version}" for name, version in COLAB.items()]
    assert book == (("--no-deps", "d2l==0.17.0"), "")
    said = capsys.readouterr().out
    assert "Installed: attention-lessons 9.9, d2l 9.9, pooch 9.9." in said
    assert "No other package has changed (torch 2.6.0+cu124, numpy 2.0.2, pandas 2.2.2)." in said
    assert "ipython 7.20.0 was here and stays; the lessons were tried with >=7.34." in said


def test_a_second_run_installs_nothing(place, capsys):
    prepare()
    place.asked.clear()
    prepare()
    assert place.asked == []
    assert "Nothing was missing." in capsys.readouterr().out.split("mine.json")[1]


def test_an_installation_that_was_interrupted_goes_on(place):
    place.here |= {"attention-lessons": "9.9", "d2l": "0.17.0"}
    prepare()
    assert [arguments[2:] for arguments, _ in place.asked] == [("pooch<2,>=1.8",)]


def test_another_version_of_the_library_is_replaced_and_the_kernel_spoken_of(place, capsys):
    place.here |= {"attention-lessons": "0.1"}
    prepare()
    assert place.asked[0][0] == ("--no-deps", WHEEL)
    assert "attention-lessons 0.1 is now 9.9: restart the kernel" in capsys.readouterr().out


def test_a_package_that_changed_all_the_same_is_named(capsys):
    first_cell.tell({"numpy": "2.0.2"}, {"numpy": "2.4.6"}, [])
    assert "Changed all the same: numpy 2.0.2 is now 2.4.6." in capsys.readouterr().out


def test_without_the_wheel_beside_it_comes_from_the_repository_or_is_asked_for(place):
    (place.folder / WHEEL).unlink()
    with pytest.raises(FileNotFoundError, match=f"{WHEEL} is not in {place.folder}. Upload it"):
        prepare()
    assert place.asked == []
    prepare(repository="https://github.com/somebody/course")
    assert place.asked[0][0][1] == f"https://github.com/somebody/course/raw/hosted/{WHEEL}"


def test_on_kaggle_the_wheel_is_found_among_the_inputs(place, monkeypatch):
    (place.folder / WHEEL).unlink()
    uploaded = place.folder / "input" / "lessons" / WHEEL
    uploaded.parent.mkdir(parents=True)
    uploaded.touch()
    monkeypatch.setattr(first_cell, "KAGGLE", place.folder / "input")
    prepare()
    assert place.asked[0][0] == ("--no-deps", str(uploaded))


def test_pip_s_own_words_are_in_the_error(monkeypatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    with pytest.raises(RuntimeError, match=r"(?s)no_such_thing.*No matching distribution.*network"):
        first_cell.pip_install("--no-deps", "no_such_thing==1")


def test_the_versions_are_those_that_python_imports():
    import numpy
    import pandas

    found = first_cell.versions()
    assert (found["numpy"], found["pandas"]) == (numpy.__version__, pandas.__version__)


@pytest.fixture
def colab(monkeypatch, place):
    """Colab's module; its Drive is a folder."""
    mounted = []
    drive = ModuleType("google.colab.drive")
    drive.mount = mounted.append
    module = ModuleType("google.colab")
    module.drive = drive
    monkeypatch.setitem(sys.modules, "google.colab", module)
    monkeypatch.setattr(first_cell, "DRIVE", place.folder / "drive" / "MyDrive" / "lessons")
    (place.folder / "drive" / "MyDrive").mkdir(parents=True)
    return SimpleNamespace(drive=first_cell.DRIVE, mounted=mounted)


def test_on_colab_it_says_what_goes_and_how_to_keep_it(place, colab, capsys):
    prepare()
    said = capsys.readouterr().out
    assert "Colab deletes them with this session" in said
    assert "tick\nkeep_on_drive" in said
    assert not colab.mounted


def test_on_drive_the_work_is_taken_along_and_nothing_written_over(place, colab):
    (place.folder / "mine.py").write_text("new")
    (place.folder / ".mine.json").write_text("{}")
    colab.drive.mkdir()
    (colab.drive / "mine.py").write_text("of last week")
    prepare(keep_on_drive=True)
    assert colab.mounted == [str(place.folder / "drive")]
    assert Path.cwd() == colab.drive
    assert (colab.drive / "mine.py").read_text() == "of last week"
    assert (place.folder / "mine.py").read_text() == "new"
    assert (colab.drive / ".mine.json").read_text() == "{}"


def test_a_lesson_gets_the_file_that_it_reads_from_its_folder(place, monkeypatch):
    prepare(beside=["one_page.py"])
    assert "class Matrix" in (place.folder / "one_page.py").read_text("utf-8")


@pytest.mark.parametrize("path", find_lessons(["00", "13"]), ids=lambda path: path.stem)
def test_the_cell_is_whole_python_that_needs_nothing_of_the_project(path, monkeypatch):
    monkeypatch.setenv("REPOSITORY_URL", "https://github.com/somebody/course/")
    cell = installing_cell(nbformat.read(path, as_version=4), WHEEL)
    called = []
    source = cell.source.replace("\nprepare_lesson(", "\ncalled(")
    exec(compile(source, "cell", "exec"), {"called": lambda **given: called.append(given)})
    assert not re.search("(?m)^(import|from) transformer_lib", source)
    assert called == [
        {
            "wheel": WHEEL,
            "repository": "https://github.com/somebody/course",
            "beside": ["one_page.py"] if path.stem.startswith("13") else [],
            "keep_on_drive": False,
        }
    ]


def test_what_lessons_import_stands_in_the_projects_extras():
    extras = {Requirement(line).name for line in requires("attention-lessons") if "extra" in line}
    assert set(first_cell.LESSONS) <= extras


def test_without_an_address_nothing_links_anywhere(monkeypatch):
    monkeypatch.delenv("REPOSITORY_URL", raising=False)
    monkeypatch.setattr(addresses, "SETTINGS", addresses.NOTEBOOKS / "no.toml")
    assert (addresses.repository(), addresses.places("00_start_here")) == ("", {})
    assert addresses.linked("| Colab | how |") == "| Colab | how |"


def test_one_setting_fills_the_table_of_places_and_empties_it(monkeypatch, tmp_path):
    monkeypatch.delenv("REPOSITORY_URL", raising=False)
    settings = tmp_path / "pyproject.toml"
    settings.write_text('[tool.attention-lessons]\nrepository = "https://github.com/a/b"\n')
    monkeypatch.setattr(addresses, "SETTINGS", settings)
    page = "| place | how |\n|---|---|\n| Colab | how |\n| A server | how |\n"
    filled = addresses.linked(page)
    lesson = "https://colab.research.google.com/github/a/b/blob/hosted/00_start_here.ipynb"
    assert f"| [Colab]({lesson}) | how |" in filled
    assert addresses.linked(filled) == filled
    settings.write_text("[tool.other]\n")
    assert addresses.linked(filled) == page


@pytest.mark.parametrize(
    "wrong", ["github.com/a/b", "https://example.org/a/b", "https://github.com/a"]
)
def test_an_address_of_another_form_is_refused_with_the_right_form(monkeypatch, wrong):
    monkeypatch.setenv("REPOSITORY_URL", wrong)
    with pytest.raises(ValueError, match=f"{wrong}.*https://github.com/OWNER/NAME"):
        addresses.repository()
