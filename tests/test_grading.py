"""A class whose mistakes are known, graded exactly; and what stops a command before it begins."""

import csv
import subprocess
import sys
from collections import deque
from pathlib import Path, PurePosixPath

import nbformat
import psutil
import pytest
import torch
from bs4 import BeautifulSoup
from planted_class import (
    ADDITIVE,
    EXPECTED,
    LESSONS,
    MEBIBYTES,
    MIX,
    NAIVE,
    SECONDS,
    SOFTMAX,
    TOO_LARGE,
    answered,
    cell_of,
    lesson,
    loose,
    put,
    quin,
    text_of,
    write_roster,
)
from planted_class import plant as plant_class

from transformer_lib.cli import main
from transformer_lib.exercises.checking.running import Outcome
from transformer_lib.grading import judge, limits
from transformer_lib.grading.classroom import grade_class
from transformer_lib.grading.entries import handed_in
from transformer_lib.grading.files import Unusable
from transformer_lib.grading.homework import homework
from transformer_lib.grading.notebooks import number_of, read_cells
from transformer_lib.grading.points import PARTS, Points
from transformer_lib.grading.programs import program
from transformer_lib.grading.roster import read_roster
from transformer_lib.grading.table import Table, marks, write_table
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
    assert main(["grade", str(folder), "--out", str(out / "grades.csv"), *options]) == 0
    return out


def rows_of(graded):
    with (graded / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        table = list(csv.reader(file))
    assert table[0][4:8] == ["points", "out of", "by hand", "comment"]
    return [[line[0], *line[2:4], *line[8:]] for line in table]


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
    assert "http" not in text


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


def test_without_its_title_a_notebook_is_the_lesson_whose_answers_it_has():
    notebook = answered("03", my_additive_score=ADDITIVE)
    del notebook["cells"][0]
    assert number_of(PurePosixPath("25_11_abgabe.ipynb"), cells_of(notebook)) == "03"
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
