"""A class whose mistakes are known, graded exactly; and what stops a command before it begins."""

import ast
import copy
import csv
import io
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from collections import deque
from contextlib import redirect_stderr
from dataclasses import replace
from pathlib import Path, PurePosixPath

import natural_ways
import nbformat
import psutil
import pytest
import tables
import torch
from bs4 import BeautifulSoup
from IPython.core.interactiveshell import InteractiveShell
from planted_class import (
    ADDITIVE,
    EXPECTED,
    LESSONS,
    MASKED,
    MEBIBYTES,
    MIX,
    NAIVE,
    OWN_WAY,
    RIGHT,
    SECONDS,
    SOFTMAX,
    TOO_LARGE,
    answered,
    cell_of,
    check_of,
    lesson,
    loose,
    put,
    quin,
    stub_left,
    text_of,
    write_roster,
    zipped,
)
from planted_class import plant as plant_class

from transformer_lib.base import report
from transformer_lib.cli import main
from transformer_lib.exercises import exercises
from transformer_lib.exercises.checking import running
from transformer_lib.exercises.checking.running import Outcome
from transformer_lib.grading import (
    classroom,
    crashes,
    files,
    judge,
    limits,
    remarks,
    roster,
    versions,
)
from transformer_lib.grading import homework as asked
from transformer_lib.grading.classroom import grade_class
from transformer_lib.grading.entries import Entry, handed_in, student_of, the_one
from transformer_lib.grading.files import Unusable
from transformer_lib.grading.homework import homework
from transformer_lib.grading.notebooks import number_of, read_cells
from transformer_lib.grading.points import PARTS, Points
from transformer_lib.grading.programs import program
from transformer_lib.grading.roster import read_roster
from transformer_lib.grading.students import Student
from transformer_lib.grading.table import Table, marks, write_table
from transformer_lib.grading.versions import Version
from transformer_lib.publish.instructor import solved
from transformer_lib.publish.lessons import find_lessons


def plant(folder, submissions):
    """A folder of these entries."""
    folder.mkdir(exist_ok=True)
    for name, content in submissions.items():
        put(folder, name, content)
    return folder


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The folder with grades.csv and grades.html of the class."""
    folder, out = tmp_path_factory.mktemp("class"), tmp_path_factory.mktemp("out")
    plant_class(folder)
    write_roster(out / "names.csv")
    options = ["--lessons", *LESSONS, "--seconds", str(SECONDS), "--memory", str(MEBIBYTES)]
    options += ["--roster", str(out / "names.csv"), "--site", "../site/", "--jobs", "3"]
    options += ["--for", "moodle"]
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(io.StringIO()) as said:
        patch.setattr(report, "LINE_EVERY", 0.0)
        patch.delenv("TQDM_DISABLE", raising=False)
        assert main(["grade", str(folder), "--out", str(out / "grades.csv"), *options]) == 0
    (out / "log.txt").write_text(said.getvalue(), encoding="utf-8")
    return out


def rows_of(graded):
    with (graded / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        table = list(csv.reader(file))
    assert table[0][4:9] == ["points", "out of", "by hand", "comment", "quiz"]
    return [[line[0], *line[2:4], *line[9:]] for line in table]


def test_a_class_is_graded_exactly(graded):
    head, *rows = rows_of(graded)
    assert head[:3] == ["student", "passed", "of"]
    assert head[-1] == "remarks"
    assert [row[0].removeprefix("'") for row in rows] == sorted(
        (row.name for row in EXPECTED), key=str.casefold
    )
    for row, expected in zip(rows, sorted(EXPECTED, key=lambda e: e.name.casefold()), strict=True):
        found = dict(
            zip([column.partition(" ")[2] for column in head[3:-1]], row[3:], strict=False)
        )
        there = {name: said for name, said in found.items() if said != "not handed in"}
        assert (expected.name, there) == (expected.name, expected.results)
        assert int(row[1]) == sum(said == "passed" for said in there.values())


def test_every_remark_is_foreseen_and_every_foreseen_remark_is_made(graded):
    for row, expected in zip(
        rows_of(graded)[1:], sorted(EXPECTED, key=lambda e: e.name.casefold()), strict=True
    ):
        said = row[-1]
        for remark in expected.remarks:
            assert remark in said, expected.name
        assert bool(said) == bool(expected.remarks), expected.name


def test_a_log_says_now_and_then_how_many_notebooks_are_judged(graded):
    assert re.search(r"^7 of \d\d, \d\d:\d\d so far$", (graded / "log.txt").read_text(), re.M)


def test_a_file_that_cannot_be_read_is_not_judged_in_what_is_given_back_either(graded):
    (page,) = (graded / "grades_feedback").glob("jim*.html")
    exercises = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").find_all("article")
    assert len(exercises) == 6
    assert all("could not be judged" in one.h3.text for one in exercises)
    assert all("jim.ipynb: it is no JSON" in one.p.text for one in exercises)
    with (graded / "grades.moodle.csv").open(encoding="utf-8", newline="") as file:
        said = {row["Full name"]: row["Feedback comments"] for row in csv.DictReader(file)}
    assert said["jim"].count("not judged: jim.ipynb: it is no JSON") == 6


def test_a_relative_site_is_found_from_each_page_and_not_linked_in_what_is_uploaded(graded):
    (page,) = (graded / "grades_feedback").glob("bob*.html")
    links = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser").find_all("a")
    assert [link["href"] for link in links] == ["../../site/00_start_here.html#build-softmax"]
    with zipfile.ZipFile(graded / "grades.moodle.zip") as file:
        pages = [file.read(name).decode() for name in file.namelist()]
    assert any("Go back to 00 · Build: softmax" in text for text in pages)
    assert not any("<a " in text for text in pages)


def test_a_student_is_known_as_the_roster_and_the_lms_know_them(tmp_path):
    expected = plant_class(tmp_path / "class")
    write_roster(tmp_path / "names.csv")
    found = {
        (who.name, who.id, who.login, who.email, who.entry)
        for entry in handed_in(tmp_path / "class", read_roster(tmp_path / "names.csv"))
        if (who := entry.who).id
    }
    wanted = {(e.name, e.id, e.login, e.email, e.entry) for e in expected if e.id}
    assert found == wanted
    assert ("Ute Fehlt", "21", "ute", "ute@example.org", "") in found


def test_the_page_has_the_most_frequent_mistake_first_and_the_section_that_addresses_it(graded):
    page = BeautifulSoup((graded / "grades.html").read_text(encoding="utf-8"), "html.parser")
    rows = page.find("h2", id="mistakes").find_next("table").tbody.find_all("tr")
    first = [" ".join(cell.text.split()) for cell in rows[0].find_all("td")]
    those = "=cmd+1, bob, eve, leo, Max Weber, pia"
    assert first == [
        "6",
        f"{TOO_LARGE.removeprefix('mistake: ')} {those}",
        "00 · Build: softmax",
    ]
    assert rows[0].a["href"] == "../site/00_start_here.html#build-softmax"
    counts = [int(row.td.text) for row in rows]
    mistakes = sum(said.startswith("mistake: ") for e in EXPECTED for said in e.results.values())
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == mistakes


def test_the_page_asks_nothing_of_a_network_and_shows_what_students_wrote_as_text(graded):
    text = (graded / "grades.html").read_text(encoding="utf-8")
    assert "<b>" not in text
    page = BeautifulSoup(text, "html.parser")
    assert "<b>no idea</b>" in page.text
    assert not page.find_all(["script", "link", "img", "iframe"])
    assert all(a["href"].startswith("../site/0") for a in page.find_all("a"))
    assert "://" not in text


def test_nobody_can_put_there_what_an_answer_is_compared_with():
    """Neither before it is judged nor while it is: a verdict begins with nothing known."""
    library = judge.Library()
    softmax = library.known["basics.softmax"]

    def answer(scores):
        softmax._known.outcomes.update(
            ((softmax.right, i), Outcome(scores - scores)) for i in range(len(softmax.cases()))
        )
        return scores - scores

    def right(scores):
        return (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()

    answer(torch.zeros(2, 3))
    step = judge.Step("", exercise="basics.softmax", answer="my_softmax")
    try:
        assert not judge._judged(library, step, {"my_softmax": answer})["passed"]
        assert judge._judged(library, step, {"my_softmax": right})["passed"]
    finally:
        softmax._known.outcomes.clear()


def test_the_solutions_of_a_lesson_with_a_class_pass_without_a_remark(tmp_path):
    (path,) = find_lessons(["09"])
    folder = plant(tmp_path, {"wim.ipynb": nbformat.writes(solved(nbformat.read(path, 4)))})
    (row,) = grade_class(folder, seconds=60, mebibytes=MEBIBYTES, jobs=1).rows
    assert {str(result) for result in row.results.values()} == {"passed"}
    assert row.remarks == []


@pytest.mark.parametrize("way", [w for w in natural_ways.WAYS if w not in natural_ways.ENDLESS])
def test_each_natural_way_passes_in_a_kernel(way):
    """Executed from top to bottom in one namespace, with the verdict of the library's own check."""
    verdicts, shell = {}, InteractiveShell()
    set_up, *cells = natural_ways.sources(way)
    shell.run_cell(set_up, silent=True)
    shell.user_ns["check"] = lambda name, answer: verdicts.update(
        {name: exercises()[name].judge(answer).passed}
    )
    for source in cells:
        shell.run_cell(source, silent=True)
    assert verdicts["scoring.masked_softmax"]


def test_what_passes_in_a_kernel_passes_in_grade(tmp_path):
    names = {f"{number:02}": way for number, way in enumerate(natural_ways.WAYS)}
    folder = plant(tmp_path, {f"{n}.ipynb": natural_ways.laid_out(way) for n, way in names.items()})
    rows = grade_class(folder, seconds=30, mebibytes=MEBIBYTES, jobs=2).rows
    failed = {
        names[row.student]: str(result)
        for row in rows
        if (result := row.results["scoring.masked_softmax"]).state != "passed"
    }
    assert failed == {}
    remarks = {remark for row in rows for remark in row.remarks}
    assert not {
        remark for remark in remarks if "is equal to that of" not in remark
    }  # two are alike


def plan_of(notebook, number):
    return program(cells_of(notebook), homework(number))


def cells_of(notebook, name="x.ipynb"):
    return read_cells(PurePosixPath(name), text_of(notebook).encode())


def test_what_runs_is_set_up_exercises_and_what_they_need():
    notebook = quin()
    plan = plan_of(notebook, "00")
    ours, *sources, _check = [step.source for step in plan.steps]
    assert ours == "".join(lesson("00")["cells"][2]["source"])
    assert not any("while" in source or "1 / 0" in source for source in sources)
    assert [s for s in sources if s.startswith("STEPS") or s.startswith("def highest")] == [
        "STEPS = -1",
        "def highest(x):\n    return x.amax(dim=STEPS, keepdim=True)",
    ]


def sources_with(*above, below=()):
    """What runs of lesson 00 where these cells stand above an answer that needs W, and those behind all."""
    own = "def my_mix(weights, values):\n    return sum([W]) + weights @ values"
    notebook = answered("00", my_mix=own, my_softmax=SOFTMAX)
    at = notebook["cells"].index(cell_of(notebook, "my_mix"))
    notebook["cells"][at:at] = map(loose, above)
    notebook["cells"] += map(loose, below)
    plan = plan_of(notebook, "00")
    return [step.source for step in plan.steps], plan.trains


def test_what_changes_a_name_in_place_runs_and_a_step_that_is_given_something_trains_nothing():
    needed = ["W = torch.ones(2)", "torch.nn.init.zeros_(W)", "W = W + decoder.step(W)"]
    sources, trains = sources_with("torch.set_printoptions(precision=2)", *needed)
    assert "torch.set_printoptions(precision=2)" not in sources, (
        "it changes no name of the notebook"
    )
    assert [source for source in sources if source in needed] == needed
    assert trains == []
    for training in ("W = W + optimizer.step()", "W = W + fit(net)"):
        assert sources_with(needed[0], training)[1] == [training]


def test_of_what_stands_below_only_the_first_runs_and_only_what_is_nowhere_else():
    below = ["W = 1", "W = 2", "sum = 3"]
    sources, _ = sources_with(below=below)
    assert [source for source in sources if source in below] == ["W = 1"]


def test_an_answer_is_judged_as_it_is_at_its_last_check():
    check = 'check("basics.mix", my_mix)'
    sources, _ = sources_with(below=["W = 1", check, "W = 2", check])
    assert "W = 2" in sources


def test_an_answer_above_its_stub_is_judged_where_it_stands():
    notebook = lesson("00")
    notebook["cells"].insert(3, loose(MIX))
    steps = plan_of(notebook, "00").steps
    homes = [steps[step.home].source for step in steps if step.answer == "my_mix"]
    assert MIX.strip() in homes


def test_a_stub_that_is_left_beside_an_answer_is_not_judged():
    judged = [step.answer for step in plan_of(stub_left(), "00").steps if step.exercise]
    assert judged == ["my_mix", "my_softmax"]


def test_an_answer_is_the_last_that_stands_outside_of_other_exercises():
    notebook = answered("00", my_softmax=NAIVE)
    notebook["cells"].append(loose(SOFTMAX))
    cell_of(notebook, "my_mix")["source"] = f"{MIX}\ndef my_softmax(x):\n    return x"
    plan = plan_of(notebook, "00")
    *_, at = [n for n, step in enumerate(plan.steps) if step.exercise == "basics.softmax"]
    assert plan.steps[at - 1].source == SOFTMAX.strip()
    notebook = answered("00", my_mix=MIX, my_softmax=f"{SOFTMAX}\ndef my_mix(x, y):\n    return x")
    plan = plan_of(notebook, "00")
    (at,) = [n for n, step in enumerate(plan.steps) if step.exercise == "basics.mix"]
    assert plan.steps[at - 1].source == MIX


def test_a_script_is_cut_where_jupytext_and_nbconvert_begin_a_cell():
    script = "# %%\na = 1\n# %% [markdown]\n# 00\n# In[3]:\nb = 2\n"
    cells = read_cells(PurePosixPath("X.PY"), b"\xef\xbb\xbf" + script.encode())
    assert [cell.source.strip() for cell in cells] == ["a = 1", "# 00", "b = 2"]
    with pytest.raises(Unusable, match="nested without end"):
        read_cells(PurePosixPath("x.ipynb"), b"[" * 200_000)


def test_without_its_title_a_notebook_is_the_lesson_whose_answers_it_has():
    notebook = answered("03", my_additive_score=ADDITIVE)
    del notebook["cells"][0]
    assert number_of(PurePosixPath("25_11_abgabe.ipynb"), cells_of(notebook)) == "03"
    titles = [{**lesson(number)["cells"][0]} for number in ("03", "04")]
    assert number_of(PurePosixPath("x.ipynb"), cells_of({"cells": titles})) == "03", "the first"
    with pytest.raises(Unusable, match="none of any lesson's answers"):
        number_of(PurePosixPath("x.ipynb"), cells_of({"cells": [loose("print(1)")]}))


@pytest.mark.parametrize("number", [path.stem[:2] for path in find_lessons()])
def test_of_every_lesson_as_it_is_stored_each_exercise_has_its_place(number):
    plan = plan_of(lesson(number), number)
    asked = homework(number).asked
    assert asked
    assert plan.unfound == {}
    checks = [n for n, step in enumerate(plan.steps) if step.exercise]
    assert [plan.steps[n].exercise for n in checks] == [one.exercise for one in asked]
    assert [plan.steps[n - 1].source for n in checks] == [one.stub for one in asked]


def test_what_lessons_ask_for_is_what_the_notebooks_ask_for():
    assert asked.FILE.read_text(encoding="utf-8") == tables.asked(), "make tables writes it anew"


def files_of(tmp_path, name, content):
    put(tmp_path, name, content)
    return files.entries(tmp_path)[name]


def test_a_zip_is_read_and_nothing_of_it_is_written(tmp_path):
    inner = zipped(
        {".": "", "b.ipynb": "b", "__MACOSX/._b.ipynb": "x", ".ipynb_checkpoints/b.ipynb": "x"}
        | {"~$b.ipynb": "x"}
    )
    found = files_of(tmp_path, "ann.zip", zipped({"a.ipynb": "a", "in.zip": inner}))
    assert {file.told: file.read() for file in found} == {"a.ipynb": b"a", "in.zip/b.ipynb": b"b"}
    assert [path.name for path in tmp_path.rglob("*")] == ["ann.zip"]


@pytest.mark.parametrize(
    "name", ["../a.ipynb", "x/../../a.ipynb", "/a.ipynb", "C:/a.ipynb", "..\\a.ipynb"]
)
def test_a_path_that_leaves_a_zip_is_named_and_not_read(name, tmp_path):
    (found,) = files_of(tmp_path, "ann.zip", zipped({name: "a"}))
    with pytest.raises(Unusable, match="a path leads out of it"):
        found.read()


def test_a_zip_bomb_ends_by_what_comes_out_of_it_whatever_it_declares(tmp_path):
    """The sizes in the zip are made small, as a bomb's would be; zipfile alone would stop there."""
    bomb = zipped({"a.ipynb": bytes(100 * 2**20)})
    (found,) = files_of(tmp_path, "ann.zip", bomb)
    with pytest.raises(Unusable, match="it has more than 64 MiB"):
        found.read()
    size = (100 * 2**20).to_bytes(4, "little")
    assert bomb.count(size) == 2
    (found,) = files_of(tmp_path, "bob.zip", bomb.replace(size, (10).to_bytes(4, "little")))
    with pytest.raises(Unusable, match="it cannot be unpacked"):
        found.read()


def test_three_zips_in_each_other_are_opened_and_a_fourth_is_named(tmp_path):
    content = b"x"
    for depth in range(1, 5):
        content = zipped({"a.ipynb" if depth == 1 else "in.zip": content})
        if depth >= 3:
            (found,) = files_of(tmp_path, f"{depth}.zip", content)
            if depth == 3:
                assert found.read() == b"x"
    with pytest.raises(Unusable, match="a zip in 3 others"):
        found.read()


def test_many_files_of_a_zip_are_read_up_to_one_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_IN_ALL", 2)
    found = files_of(tmp_path, "ann.zip", zipped({f"{n}.ipynb": bytes(2**20) for n in range(4)}))
    assert [len(file.read()) for file in found[:2]] == [2**20, 2**20]
    for file in found[2:]:
        with pytest.raises(Unusable, match="holds more than 2 MiB"):
            file.read()


def test_a_link_is_not_followed(tmp_path):
    put(tmp_path, "solutions.ipynb", "secret")
    try:
        (tmp_path / "class").mkdir()
        (tmp_path / "class" / "ann.ipynb").symlink_to(tmp_path / "solutions.ipynb")
    except OSError:
        pytest.skip("no links here")
    ((found,),) = files.entries(tmp_path / "class").values()
    with pytest.raises(Unusable, match="it is a link"):
        found.read()


def test_an_lms_download_in_one_zip_is_a_class(tmp_path):
    name = "Eva Klein_123_assignsubmission_file_"
    held = {f"{name}/03.ipynb": "a", "Ed Lim_124_assignsubmission_file_/03.ipynb": "b"}
    plant(tmp_path, {"all.zip": zipped(held)})
    found = [(entry.who.name, entry.who.id, entry.who.entry) for entry in handed_in(tmp_path)]
    assert found == [
        ("Ed Lim", "124", "Ed Lim_124_assignsubmission_file_"),
        ("Eva Klein", "123", name),
    ]


CANVAS = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Homework (7)\n,,,,,Manual Posting\n"
    '    Points Possible,,,,,10\n"Müller, Tina",12345,S1,tmueller,A,\n"Student, Test",9,,,A,\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status\nParticipant 12345,Tina Müller,t@example.org,-\n"
)


@pytest.mark.parametrize(
    ("text", "student"),
    [
        (CANVAS, ("Müller, Tina", "12345", "tmueller", "")),
        (MOODLE, ("Tina Müller", "12345", "", "t@example.org")),
        (
            "Vorname;Nachname;E-Mail-Adresse\nTina;Müller;t@x.org\n",
            ("Tina Müller", "", "", "t@x.org"),
        ),
        ("name\tid\nTina Müller\t007\n", ("Tina Müller", "007", "", "")),
    ],
)
def test_a_roster_is_read_by_its_header(text, student, tmp_path):
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        (tmp_path / "names.csv").write_text(text, encoding=encoding)
        ((one),) = read_roster(tmp_path / "names.csv")
        assert (one.name, one.id, one.login, one.email) == student


@pytest.mark.parametrize(
    "name", ["tina mueller", "Müller Tina", "muellertina", "mullertina", "tmueller"]
)
def test_a_student_is_found_on_the_roster_however_the_name_is_spelt(name, tmp_path):
    (tmp_path / "names.csv").write_text(CANVAS, encoding="utf-8")
    folder = plant(tmp_path / "class", {f"{name}/x.pdf": b"x"})
    (entry,) = handed_in(folder, read_roster(tmp_path / "names.csv"))
    assert (entry.who.id, entry.remarks) == ("12345", [])


def test_the_letter_of_a_students_number_is_part_of_it(tmp_path):
    (tmp_path / "names.csv").write_text("name,id\nTina Müller,S1234567\n", encoding="utf-8")
    folder = plant(tmp_path / "class", {"s1234567/x.pdf": b"x"})
    (entry,) = handed_in(folder, read_roster(tmp_path / "names.csv"))
    assert (entry.who.name, entry.who.id, entry.remarks) == ("Tina Müller", "S1234567", [])


def test_a_roster_may_have_short_lines_and_double_ones_and_needs_whole_names(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("name,id,mail\nTina\nTina\nEva Klein,2,e.k@example.org\n", encoding="utf-8")
    people = read_roster(path)
    assert [(who.name, who.id) for who in people] == [("Tina", ""), ("Eva Klein", "2")]
    assert roster.find(Student("E.K"), people) is people[1]
    path.write_text("Vorname,id\nTina,1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="Its columns are: Vorname, id"):
        read_roster(path)


def test_two_numbers_of_an_lms_are_two_students_also_where_the_roster_has_one(tmp_path):
    name = "Max Weber_{}_assignsubmission_file_/x.pdf"
    folder = plant(tmp_path, {name.format(n): b"x" for n in (1001, 1002)})
    found = handed_in(folder, [Student("Max Weber")])
    assert [(entry.who.id, entry.remarks) for entry in found] == [
        ("1001", []),
        ("1002", ["not on the roster"]),
    ]
    assert student_of("max_3_4_x.ipynb", lms=True) is None, "Canvas's numbers are longer"


def test_all_that_one_student_handed_in_is_theirs_under_the_rosters_number(tmp_path):
    folder = plant(
        tmp_path,
        {
            "ann/": None,
            "Ann Lee.pdf": b"x",
            "Max Weber_1001_assignsubmission_file_/x.pdf": b"x",
            "max/eva_2001_3001_x.pdf": b"x",
            "max/y.pdf": b"x",
            "bo_4001_5001_x.pdf": b"x",
            "boris_4001_5002_x-1.pdf": b"x",
        },
    )
    known = [Student("Ann Lee", "7", "ann"), Student("Max Weber", "8")]
    found = [
        (entry.who.name, entry.who.id, entry.who.entry, len(entry.files), entry.remarks)
        for entry in handed_in(folder, known)
    ]
    assert found == [
        ("Ann Lee", "7", "Ann Lee.pdf", 1, ["the folder is empty"]),
        ("bo", "4001", "bo_4001", 2, ["not on the roster"]),
        ("max", "", "max", 2, ["not on the roster"]),
        (
            "Max Weber",
            "8",
            "Max Weber_1001_assignsubmission_file_",
            1,
            [],
        ),
    ]


def test_two_of_one_name_are_not_guessed_apart(tmp_path):
    (tmp_path / "names.csv").write_text("name,id\nMax Weber,1\nMax Weber,2\n", encoding="utf-8")
    folder = plant(tmp_path / "class", {"max weber/x.pdf": b"x"})
    found = [
        (entry.who.id, entry.remarks)
        for entry in handed_in(folder, read_roster(tmp_path / "names.csv"))
    ]
    assert found == [
        ("", ["not on the roster"]),
        ("1", ["handed in nothing"]),
        ("2", ["handed in nothing"]),
    ]


def test_the_newest_version_counts_by_the_lms_then_by_the_attempt_then_by_its_time(tmp_path):
    half = answered("00", my_mix=MIX)
    folder = plant(
        tmp_path,
        {
            "ann_1001_2001_00.ipynb": RIGHT,
            "ann_1001_2002_00-1.ipynb": half,
            "bob_1002_2003_00-2.ipynb": RIGHT,
            "bob_LATE_1002_2004_00.ipynb": half,
            "cat/old.ipynb": RIGHT,
            "cat/zz.ipynb": half,
            "cat/zz-Copy1.ipynb": lesson("00"),
        },
    )
    for age, name in enumerate(["cat/old.ipynb", "cat/zz.ipynb", "cat/zz-Copy1.ipynb"]):
        os.utime(folder / name, (1e9 + age, 1e9 + age))
    best, newest = (
        grade_class(folder, seconds=30, mebibytes=MEBIBYTES, jobs=1, newest=newest)
        for newest in (False, True)
    )
    taken = lambda grades: [row.taken["00"].name for row in grades.rows]
    assert taken(best) == ["ann_1001_2001_00.ipynb", "bob_1002_2003_00-2.ipynb", "old.ipynb"]
    assert taken(newest) == ["ann_1001_2002_00-1.ipynb", "bob_LATE_1002_2004_00.ipynb", "zz.ipynb"]
    assert [row.passed(newest.counted) for row in newest.rows] == [1, 1, 1]


def version_of(notebook, number="00"):
    file = files.File(PurePosixPath("x.ipynb"), bytes)
    version = Version(file, homework(number), cells_of(notebook))
    version.plan()
    return version


def test_a_sum_too_long_to_be_taken_apart_costs_its_own_row_only():
    version = version_of(answered("00", my_mix=f"x = {'1+' * 1000}1\n{MIX}"))
    assert version.remarks == ["it cannot be taken apart (RecursionError)"]
    assert {result.state for result in version.results.values()} == {"not judged"}


def test_a_notebook_that_is_closed_keeps_the_verdicts_that_it_has():
    version = version_of(RIGHT)
    mix, _ = (n for n, step in enumerate(version.program.steps) if step.exercise)
    verdict = {"passed": False, "attempted": True, "message": "All rows mix the first table."}
    versions._enter(version, mix, verdict)
    versions._close(version, "its time was up")
    assert [str(result) for result in version.results.values()] == [
        "mistake: All rows mix the first table.",
        "not judged: its time was up",
    ]


@pytest.mark.parametrize(
    ("why", "fatal", "all_of_it"),
    [
        ("memory", False, False),
        ("itself", False, False),
        ("time", False, True),
        ("sleep", False, True),
        ("memory", True, True),
    ],
)
def test_time_that_is_up_and_a_crash_of_the_set_up_end_all(why, fatal, all_of_it):
    step = judge.Step("", fatal=fatal)
    assert crashes.ends_all(step, limits.End(why, -9, 1.0, 1.0)) is all_of_it


def test_a_check_of_another_answer_was_edited_and_one_that_is_gone_was_not():
    notebook = {
        **RIGHT,
        "cells": [c for c in RIGHT["cells"] if "check(" not in "".join(c["source"])],
    }
    assert list(remarks.about_checks(cells_of(notebook), homework("00"))) == []
    for edited in ('check("basics.mix", lambda w, v: w @ v)', 'check("basics.softmax", my_mix)'):
        notebook = copy.deepcopy(RIGHT)
        check_of(notebook, "my_mix")["source"] = edited
        assert list(remarks.about_checks(cells_of(notebook), homework("00"))) == [
            "the check of `my_mix` was edited"
        ]


def test_alike_are_two_to_four_who_have_not_the_courses_solution():
    asked_for = homework("03")
    own = cells_of(answered("03", my_additive_score=OWN_WAY))
    for number in (1, 2, 4, 5):
        found = list(remarks.alike(asked_for, dict.fromkeys(range(number), own)))
        assert [student for student, *_ in found] == (
            list(range(number)) if number in (2, 4) else []
        )
    (path,) = find_lessons(["09"])
    theirs = cells_of(solved(nbformat.read(path, 4)))
    assert list(remarks.alike(homework("09"), {1: theirs, 2: theirs})) == []


def test_alike_is_what_differs_in_names_and_annotations_and_not_in_what_is_called():
    def shape(source):
        return remarks.shape(ast.parse(source).body[0])[0]

    one = shape("def f(x):\n    y = x.sum()\n    return y")
    assert one == shape("def g(a: Tensor) -> Tensor:\n    b: Tensor = a.sum()\n    return b")
    assert one != shape("def f(x):\n    y = x.max()\n    return y")


def test_exit_in_a_cell_ends_the_cell_and_not_what_judges_it():
    said = judge._run(judge.Step("", "import sys\nsys.exit()"), {})
    assert said == "raised `SystemExit`"
    untold = "class Odd(Exception):\n    def __str__(self):\n        raise KeyError\nraise Odd"
    assert judge._run(judge.Step("", untold), {}) == "raised `Odd`"


def test_what_torch_or_python_has_is_no_answer_of_ones_own():
    assert judge._foreign(torch.softmax)
    assert judge._foreign(torch.nn.functional.relu)
    assert judge._foreign(max)
    assert not judge._foreign(lambda scores: scores.softmax(-1))


def test_a_verdict_is_written_as_it_is_whatever_json_has_become(monkeypatch, tmp_path):
    say = judge._speaker(str(tmp_path / "log"), "word")
    with monkeypatch.context() as patch:
        patch.setattr(json, "dumps", lambda *_: "{}")
        say(begun=1)
    assert json.loads((tmp_path / "log").read_text()) == {"word": "word", "begun": 1}


def test_what_is_handed_in_a_second_time_is_the_newest_again():
    first, second = cells_of(RIGHT), cells_of(answered("00", my_mix=MIX))
    versions = [
        Version(files.File(PurePosixPath(f"{n}.ipynb"), bytes, n), homework("00"), cells)
        for n, cells in enumerate((first, second, first))
    ]
    (newest,) = classroom._to_run(versions, newest=True)
    assert newest.told == "2.ipynb"


def test_a_busy_machine_makes_no_loop_of_an_answer(monkeypatch):
    """By the clock ten seconds pass while the processor computes one: nine others have it."""
    monkeypatch.setattr(running.time, "monotonic", lambda: 10 * time.process_time())

    def slow():
        until = time.process_time() + 0.3
        while time.process_time() < until:
            pass
        return "done"

    (outcome,) = running.run(slow, [()], (), 1.0)
    assert outcome.value == "done"


def test_what_sleeps_is_late_at_four_times_its_time_and_what_computes_a_little_is_not():
    assert running.is_asleep(spent=0.0, passed=20.1, seconds=5)
    assert not running.is_asleep(spent=0.0, passed=19.9, seconds=5)
    assert not running.is_asleep(spent=2.0, passed=39.0, seconds=5), "a busy machine"
    assert running.is_asleep(spent=2.0, passed=41.0, seconds=5)


BURNING = "import time\nwhile time.process_time() < {}:\n    pass"


def test_a_process_is_limited_by_the_processor_and_not_by_the_clock():
    """Four compute at a time, on however few processors: each has its own seconds."""
    tasks = deque([limits.Task(exec, (BURNING.format(1),), 8.0, n) for n in range(4)])
    assert {end.why for _, end in limits.run_limited(tasks, 4, 2000)} == {"itself"}
    ((_, end),) = limits.run_limited(
        deque([limits.Task(exec, (BURNING.format(60),), 1.0)]), 1, 2000
    )
    assert end.why == "time"
    assert end.seconds < 8


def test_what_trains_is_left_out_and_what_takes_long_is_stopped():
    notebook = answered("03", my_masked_softmax=MASKED, my_additive_score=ADDITIVE)
    at = notebook["cells"].index(cell_of(notebook, "my_masked_softmax"))
    training = "def learn():\n    optimizer.step()\n    return 1\nNEG = learn()"
    notebook["cells"].insert(at, loose(training))
    plan = plan_of(notebook, "03")
    assert plan.trains == ["NEG = learn()"]
    assert not any("learn" in step.source for step in plan.steps)
    notebook["cells"][at] = loose("NEG = -torch.inf\nlosses = fit(net)\nwhile True:\n    pass")
    (brief,) = [step for step in plan_of(notebook, "03").steps if step.brief]
    assert brief.source == "NEG = -torch.inf"


def test_a_needed_statement_that_never_ends_is_stopped_and_named(monkeypatch):
    monkeypatch.setattr(running, "SECONDS", 0.3)
    step = judge.Step("a statement", "while True:\n    NEG = 1", brief=True)
    assert judge._run(step, {}) == "was stopped after 0.3 seconds"


def test_what_a_process_has_started_ends_with_it():
    mark = "a process that a process has started"
    started = [sys.executable, "-c", f"import time; time.sleep(60); {mark!r}"]
    tasks = deque([limits.Task(subprocess.run, (started,), 1.0, "it")])
    ((task, end),) = limits.run_limited(tasks, 1, 1000)
    assert (task.about, end.why) == ("it", "sleep")
    lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert not any(mark in word for line in lines for word in line)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{tmp}/nowhere", "--out", "{tmp}/g.csv"], "nowhere is no folder"),
        (["{tmp}/empty", "--out", "{tmp}/g.csv"], "empty is empty: it should hold"),
        (["{tmp}/full/ann.ipynb", "--out", "{tmp}/g.csv"], "ann.ipynb is no folder"),
        (["{tmp}/full", "--out", "{tmp}/g.html"], "end it in .csv"),
        (
            ["{tmp}/full", "--out", "{tmp}/none/g.csv"],
            "cannot be written (No such file or directory)",
        ),
        (["{tmp}/full", "--out", "{tmp}/full"], "cannot be written (Is a directory)"),
        (["{tmp}/full", "--out", "{tmp}/g.csv", "--lessons", "77"], "There is no lesson '77'"),
    ],
)
def test_what_cannot_be_begun_says_why(arguments, message, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    plant(tmp_path / "full", {"ann.ipynb": lesson("00")})
    assert main(["grade", *(argument.format(tmp=tmp_path) for argument in arguments)]) == 1
    assert message in capsys.readouterr().err


def test_a_class_without_one_usable_notebook_has_its_rows_too(tmp_path):
    folder = plant(tmp_path, {"=jim.ipynb": "{"})
    grades = grade_class(folder, seconds=1, mebibytes=1, jobs=1)
    assert [row[:3] for row in grades.table()] == [["student", "passed", "of"], ["=jim", "0", "0"]]
    write_table(tmp_path / "g.csv", grades, marks(grades, Points({}, PARTS, {}), Table()), Table())
    text = Path(tmp_path / "g.csv").read_text(encoding="utf-8-sig")
    assert text.splitlines()[1].startswith("'=jim,,0,0,"), "no spreadsheet takes it for a formula"


@pytest.mark.parametrize("name", ["03", "03_scoring_functions", "x/03_scoring_functions.ipynb"])
def test_a_lesson_is_named_by_its_number_its_notebook_or_a_path_to_it(name):
    assert homework(name).number == "03"
    with pytest.raises(ValueError, match="There is no lesson '03_s'. There are: 00_start_here"):
        homework("03_s")


def test_one_student_is_asked_for_by_whatever_is_known_of_them():
    ann = Student("Ann Lee", "7", "alee", "ann@example.org", "Ann Lee_7_assignsubmission_file_")
    others = [Student("7", entry="7.ipynb"), Student("Bo", "1"), Student("bo", entry="bo.ipynb")]
    found = [Entry(who) for who in (ann, *others)]
    for called in ("ann lee", "ALEE", "Ann@example.org", ann.entry, "7"):
        assert the_one(found, called).who is ann
    with pytest.raises(ValueError, match="2 students are called 'BO': give one of 1, bo.ipynb"):
        the_one(found, "BO")


def test_of_two_on_the_roster_who_could_both_be_meant_neither_is_taken():
    two = [Student("Ann Lee", "1"), Student("Ann Lee", "2")]
    assert roster.find(Student("Lee, Ann"), two) is None
    assert roster.find(Student("Somebody", "2"), two) == two[1]
    assert roster.find(Student("Ann Lee", "1"), [two[0], replace(two[0], name="Bo")]) is None
    assert roster.find(Student("Lee, Ann"), two[:1]) == two[0]
