"""A class whose mistakes are known, graded exactly; and what stops a command before it begins."""

import csv
import json
import subprocess
import sys
from collections import deque
from pathlib import Path

import nbformat
import psutil
import pytest
import torch
from bs4 import BeautifulSoup

from transformer_lib.cli import main
from transformer_lib.exercises.checking.running import Outcome
from transformer_lib.grading import judge, limits
from transformer_lib.grading.classroom import grade_class
from transformer_lib.grading.homework import homework
from transformer_lib.grading.points import PARTS, Points
from transformer_lib.grading.submissions import Unusable, number_of, program, read_cells
from transformer_lib.grading.table import Table, marks, write_table
from transformer_lib.publish.instructor import solved
from transformer_lib.publish.lessons import find_lessons

SECONDS, MEBIBYTES = 25, 1000


def lesson(number):
    """A lesson as it is stored, without what was put out."""
    (path,) = find_lessons([number])
    return json.loads(path.read_text(encoding="utf-8"))


def cell_of(notebook, answer):
    """The cell in which the stub of that answer stands."""
    return next(
        cell
        for cell in notebook["cells"]
        if "exercise" in cell["metadata"].get("tags", [])
        and f" {answer}(" in "".join(cell["source"])
    )


def loose(source):
    return {"cell_type": "code", "id": "new", "metadata": {}, "source": source, "outputs": []}


def answered(number, **answers):
    """A lesson in which these answers stand in place of their stubs."""
    notebook = lesson(number)
    for answer, source in answers.items():
        cell_of(notebook, answer)["source"] = source
    return notebook


MIX = "def my_mix(weights, values):\n    return weights @ values\n"
SOFTMAX = (
    "def my_softmax(scores):\n"
    "    e = (scores - scores.max(dim=-1, keepdim=True).values).exp()\n"
    "    return e / e.sum(dim=-1, keepdim=True)\n"
)
NAIVE = (
    "def my_softmax(scores):\n    return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)\n"
)
ADDITIVE = (
    "def my_additive_score(query, key, W_q, W_k, w_v):\n"
    "    return torch.tanh((query @ W_q.T)[:, None] + (key @ W_k.T)[None]) @ w_v\n"
)
ATTEND = (
    "def my_scaled_dot_product_attention(query, key, value, mask=None):\n"
    "    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))\n"
    "    return masked_softmax(scores, mask) @ value\n"
)
TOO_LARGE = (
    "mistake: At large scores this fails: in 32 bits e to the power of 90 is infinite and e to the power of "
    "−200 is 0, and neither makes a weight. So first subtract the largest score of the row."
)
OTHER_AXIS = (
    "mistake: Two things at once. (1) Your weights add up to 1 over another axis. Each row needs a sum of its "
    "own: along the last axis, `dim=-1`. (Python's `sum` goes along the first one.) (2) "
    + TOO_LARGE.removeprefix("mistake: ")
)
CALLS = "mistake: Right, but it calls `softmax`: write it yourself here."
PATCHES = (
    "from transformer_lib.exercises import exercises\n"
    "from transformer_lib.exercises.checking import machinery\n"
    "machinery.Exercise.judge = lambda *_: machinery.Verdict('passed', 'Passed.')\n"
    "torch.allclose = lambda *_, **__: True\n"
    "exercises()['basics.mix'].tolerance = 1e9\n"
    "def my_mix(weights, values):\n    return weights @ values[0]\n"
)
PATCHES_WHEN_CALLED = (
    "def my_softmax(scores):\n"
    "    from transformer_lib.exercises.checking import machinery\n"
    "    machinery.Exercise._verdict = lambda *_: machinery.Verdict('passed', 'Passed.')\n"
    "    return scores\n"
)
FORGES = (
    "import json, os\n"
    "for fd in os.listdir('/proc/self/fd'):\n"
    "    if os.readlink(f'/proc/self/fd/{fd}').endswith('/log'):\n"
    "        for step in range(9):\n"
    "            line = {'word': '', 'ended': step, 'passed': True, 'attempted': True, 'message': ''}\n"
    "            os.write(int(fd), (json.dumps(line) + '\\n').encode())\n"
    "        os._exit(0)\n"
)
EATER = (
    "def my_mix(weights, values):\n"
    "    eaten = []\n"
    "    while True:\n"
    "        eaten.append(torch.ones(2**21))\n"
)


def ann():
    """All is right, with lines that only IPython knows."""
    return answered("00", my_mix=f"%matplotlib inline\n{MIX}", my_softmax=f"{SOFTMAX}!echo done")


def fay():
    return answered(
        "00", my_mix=MIX, my_softmax=f"import time\nwhile True:\n    time.sleep(1)\n{SOFTMAX}"
    )


def gus():
    slow = "import time\ndef my_softmax(scores):\n    while True:\n        time.sleep(0.01)\n"
    return answered("00", my_mix=MIX, my_softmax=slow)


def leo():
    """The stub and a wrong answer, below checks that say passed whatever stands there."""
    notebook = answered("00", my_softmax=NAIVE)
    for cell in notebook["cells"]:
        if "check" in cell["metadata"].get("tags", []):
            cell["source"] = 'print("✓ Passed.")'
    return notebook


def quin():
    """A cell is gone; its answer, its helper and a constant stand elsewhere, with endless training."""
    notebook = answered("00", my_mix=MIX)
    notebook["cells"].remove(cell_of(notebook, "my_softmax"))
    notebook["cells"] += [
        loose("STEPS = -1\ndef highest(x):\n    return x.amax(dim=STEPS, keepdim=True)"),
        loose("while True:\n    loss = 1"),
        loose(
            SOFTMAX.replace("scores.max(dim=-1, keepdim=True).values", "highest(scores)") + "1 / 0"
        ),
    ]
    return notebook


def rob():
    """Nothing of the two exercises is left."""
    notebook = lesson("00")
    for answer in ("my_mix", "my_softmax"):
        notebook["cells"].remove(cell_of(notebook, answer))
    return notebook


def tom():
    """No set-up, and the library's own function in place of an answer."""
    right = "my_masked_softmax = masked_softmax"
    notebook = answered("03", my_additive_score=ADDITIVE, my_masked_softmax=right)
    return {
        **notebook,
        "cells": [c for c in notebook["cells"] if "setup" not in c["metadata"].get("tags", [])],
    }


def una():
    """A set-up that asks for what is not here, and an answer that stands above an error."""
    notebook = answered(
        "00", my_mix=f"{MIX}my_mix(1, 2)", my_softmax="def my_softmax(scores:\n    ..."
    )
    notebook["cells"][2]["source"] = "import no_such_module"
    return notebook


SUBMISSIONS = {
    "ann.ipynb": ann(),
    "bob.ipynb": answered("00", my_mix=MIX, my_softmax=NAIVE),
    "cat.ipynb": answered(
        "00",
        my_mix="def my_mix(weights, values):\n    return values @ weights",
        my_softmax="def my_softmax(scores):\n    return scores.exp() / scores.exp().sum(dim=0)",
    ),
    "dan.ipynb": lesson("00"),
    "eve.ipynb": answered(
        "00",
        my_mix="def my_mix(weights, values):\n    raise ValueError('<b>no idea</b>')",
        my_softmax=NAIVE,
    ),
    "fay.ipynb": fay(),
    "gus.ipynb": gus(),
    "hal.ipynb": answered("00", my_mix=EATER, my_softmax=SOFTMAX),
    "ida.ipynb": answered("00", my_mix=f"import os\nos._exit(0)\n{MIX}", my_softmax=SOFTMAX),
    "jim.ipynb": '{"cells": [',
    "kay.ipynb": '["no", "notebook"]',
    "leo.ipynb": leo(),
    "mia.ipynb": answered(
        "00", my_mix=PATCHES, my_softmax="def my_softmax(scores):\n    return scores.softmax(-1)"
    ),
    "nia.ipynb": answered("00", my_mix=MIX, my_softmax=PATCHES_WHEN_CALLED),
    "oli.ipynb": lesson("01"),
    "pam.ipynb": answered("00", my_mix=MIX, my_softmax=SOFTMAX.replace("my_softmax", "shares")),
    "quin.ipynb": quin(),
    "rob.ipynb": rob(),
    "ron/03_scoring_functions.ipynb": answered(
        "03",
        my_additive_score=ADDITIVE,
        my_masked_softmax="def my_masked_softmax(scores, mask):\n    return scores.softmax(dim=-1)",
    ),
    "ron/04_scaled_dot_product.ipynb": answered(
        "04",
        my_scale="def my_scale(d, std):\n    return math.sqrt(d)",
        my_scaled_dot_product_attention=ATTEND,
    ),
    "ron/.ipynb_checkpoints/04_scaled_dot_product-checkpoint.ipynb": lesson("04"),
    "sue/03_scoring_functions.ipynb": lesson("04"),
    "tom.ipynb": tom(),
    "una.ipynb": una(),
    "vic.ipynb": answered("00", my_mix=FORGES + MIX, my_softmax=SOFTMAX),
}
AWAY = ["not handed in"] * 2
JIM = "jim.ipynb: it is no JSON, so no notebook (Expecting value: line 1 column 12 (char 11))"
KAY = (
    "kay.ipynb: it is JSON, but no notebook of format 4 with its list of cells: open it in JupyterLab, "
    "and save it"
)
SUE = "03_scoring_functions.ipynb: its name says lesson 03, and what stands in it is lesson 04"
FAY = "in the cell of `my_softmax`, its time was up. Does a loop never end?"
HAL = f"in the check of `my_mix`, it held more than {MEBIBYTES} MiB of memory"
IDA = "in the cell of `my_mix`, it ended its process (exit code 0)"
MEDDLED = "transformer_lib.exercises.checking.machinery.Exercise._verdict"
MIA = "basics.mix, torch.allclose, transformer_lib.exercises.checking.machinery.Exercise.judge"
PAM = "not judged: its cell does not define `my_softmax`, but `shares`"
GONE = "not judged: its cell is gone, and no other defines"
EVE = (
    "mistake: `my_mix(weights, values)`, given a tensor of shape (2, 1, 2), a tensor of shape (2, 2, 2), "
    "raised `ValueError: <b>no idea</b>`."
)
GUS = (
    "mistake: `my_softmax(scores)` was still running after 5 seconds. Does a loop never end? (Should the "
    "kernel stay busy, restart it.)"
)
ORDER = "mistake: The order counts: weights first, `weights @ values`. Its rows meet the columns of values."
FIRST = "mistake: All rows of weights mix the first table. Each of the n batches has its own."
SYNTAX = "`SyntaxError: '(' was never closed (<cell>, line 1)`"
EXPECTED = [
    [
        "student",
        "passed",
        "of",
        "00 basics.mix",
        "00 basics.softmax",
        "03 scoring.additive_score",
        "03 scoring.masked_softmax",
        "04 attention.scale",
        "04 attention.scaled_dot_product_attention",
        "remarks",
    ],
    ["ann", "2", "6", "passed", "passed", *AWAY, *AWAY, ""],
    ["bob", "1", "6", "passed", TOO_LARGE, *AWAY, *AWAY, ""],
    ["cat", "0", "6", ORDER, OTHER_AXIS, *AWAY, *AWAY, ""],
    ["dan", "0", "6", "not attempted", "not attempted", *AWAY, *AWAY, ""],
    ["eve", "0", "6", EVE, TOO_LARGE, *AWAY, *AWAY, ""],
    ["fay", "1", "6", "passed", f"not judged: {FAY}", *AWAY, *AWAY, f"00: {FAY}"],
    ["gus", "1", "6", "passed", GUS, *AWAY, *AWAY, ""],
    ["hal", "1", "6", f"not judged: {HAL}", "passed", *AWAY, *AWAY, f"00: {HAL}"],
    ["ida", "1", "6", f"not judged: {IDA}", "passed", *AWAY, *AWAY, f"00: {IDA}"],
    ["jim", "0", "6", *AWAY, *AWAY, *AWAY, JIM],
    ["kay", "0", "6", *AWAY, *AWAY, *AWAY, KAY],
    ["leo", "0", "6", "not attempted", TOO_LARGE, *AWAY, *AWAY, ""],
    ["mia", "0", "6", FIRST, CALLS, *AWAY, *AWAY, f"00: it changes {MIA}"],
    [
        *["nia", "1", "6", "passed", f"not judged: while it was judged, it changed {MEDDLED}"],
        *[*AWAY, *AWAY, f"00: it changes {MEDDLED}"],
    ],
    [
        "oli",
        "0",
        "6",
        *AWAY,
        *AWAY,
        *AWAY,
        "oli.ipynb: it is lesson 01, and 00, 03, 04 was asked for",
    ],
    ["pam", "1", "6", "passed", PAM, *AWAY, *AWAY, ""],
    ["quin", "2", "6", "passed", "passed", *AWAY, *AWAY, ""],
    ["rob", "0", "6", f"{GONE} `my_mix`", f"{GONE} `my_softmax`", *AWAY, *AWAY, ""],
    [
        *["ron", "2", "6", *AWAY, "passed"],
        "mistake: Your mask changes no score: in a row that may attend to anything each key has its full "
        "weight.",
        "mistake: Right for std = 1. The spread of the entries counts as well: what if std is 3?",
        *["passed", ""],
    ],
    ["sue", "0", "6", *AWAY, *AWAY, *AWAY, SUE],
    [
        *["tom", "1", "6", *AWAY, "passed"],
        "mistake: `my_masked_softmax` is `transformer_lib.masks.masked_softmax` itself, not an answer of "
        "one's own.",
        *[*AWAY, ""],
    ],
    [
        *["una", "1", "6", "passed"],
        f"not judged: its cell raised {SYNTAX}, and `my_softmax` is not defined",
        *[*AWAY, *AWAY],
        "00: the changed set-up cell raised `ModuleNotFoundError: No module named 'no_such_module'`; "
        "00: the cell of `my_mix` raised `TypeError: unsupported operand type(s) for @: 'int' and 'int'`; "
        f"00: the cell of `my_softmax` raised {SYNTAX}",
    ],
    ["vic", "1", "6", f"not judged: {IDA}", "passed", *AWAY, *AWAY, f"00: {IDA}"],
]


def plant(folder, submissions):
    for name, notebook in submissions.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = notebook if isinstance(notebook, str) else json.dumps(notebook)
        path.write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The folder with grades.csv and grades.html of the class."""
    folder = plant(tmp_path_factory.mktemp("class"), SUBMISSIONS)
    out = tmp_path_factory.mktemp("out")
    options = ["--lessons", "00", "03", "04", "--seconds", str(SECONDS), "--memory", str(MEBIBYTES)]
    where = ["--out", str(out / "grades.csv"), "--site", "../site/"]
    assert main(["grade", str(folder), *where, *options, "--jobs", "3"]) == 0
    return out


def test_a_class_is_graded_exactly(graded):
    with (graded / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        table = list(csv.reader(file))
    for (student, _id, passed, of, *_points, comment), found, expected in zip(
        (line[:8] for line in table), (line[8:] for line in table), EXPECTED, strict=True
    ):
        assert comment in ("", "comment")
        assert [student, passed, of, *found] == expected


def test_the_page_has_the_most_frequent_mistake_first_and_the_section_that_addresses_it(graded):
    page = BeautifulSoup((graded / "grades.html").read_text(encoding="utf-8"), "html.parser")
    rows = page.find("h2", id="mistakes").find_next("table").tbody.find_all("tr")
    first = [" ".join(cell.text.split()) for cell in rows[0].find_all("td")]
    assert first == [
        "3",
        f"{TOO_LARGE.removeprefix('mistake: ')} bob, eve, leo",
        "00 · Build: softmax",
    ]
    assert rows[0].a["href"] == "../site/00_start_here.html#build-softmax"
    counts = [int(row.td.text) for row in rows]
    mistakes = sum(cell.startswith("mistake: ") for line in EXPECTED for cell in line)
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


def plan_of(tmp_path, notebook, number):
    (path,) = plant(tmp_path, {"x.ipynb": notebook}).iterdir()
    return program(read_cells(path), homework(number))


def test_what_runs_is_set_up_exercises_and_what_they_need(tmp_path):
    notebook = quin()
    plan = plan_of(tmp_path, notebook, "00")
    ours, *sources, _check = [step.source for step in plan.steps]
    assert ours == "".join(lesson("00")["cells"][2]["source"])
    assert not any("while" in source or "1 / 0" in source for source in sources)
    assert [s for s in sources if s.startswith("STEPS") or s.startswith("def highest")] == [
        "STEPS = -1",
        "def highest(x):\n    return x.amax(dim=STEPS, keepdim=True)",
    ]


def test_an_answer_is_the_last_that_stands_outside_of_other_exercises(tmp_path):
    notebook = answered("00", my_softmax=NAIVE)
    notebook["cells"].append(loose(SOFTMAX))
    cell_of(notebook, "my_mix")["source"] = f"{MIX}\ndef my_softmax(x):\n    return x"
    plan = plan_of(tmp_path, notebook, "00")
    (at,) = [n for n, step in enumerate(plan.steps) if step.exercise == "basics.softmax"]
    assert plan.steps[at - 1].source == SOFTMAX.strip()
    notebook = answered("00", my_mix=MIX, my_softmax=f"{SOFTMAX}\ndef my_mix(x, y):\n    return x")
    plan = plan_of(tmp_path, notebook, "00")
    (at,) = [n for n, step in enumerate(plan.steps) if step.exercise == "basics.mix"]
    assert plan.steps[at - 1].source == MIX


def test_without_its_title_a_notebook_is_the_lesson_whose_answers_it_has(tmp_path):
    notebook = answered("03", my_additive_score=ADDITIVE)
    del notebook["cells"][0]
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(notebook), encoding="utf-8")
    assert number_of(path, read_cells(path)) == "03"
    path.write_text(json.dumps({"cells": [loose("print(1)")]}), encoding="utf-8")
    with pytest.raises(Unusable, match="none of any lesson's answers"):
        number_of(path, read_cells(path))


@pytest.mark.parametrize("number", [path.stem[:2] for path in find_lessons()])
def test_of_every_lesson_as_it_is_stored_each_exercise_has_its_place(number, tmp_path):
    plan = plan_of(tmp_path, lesson(number), number)
    asked = homework(number).asked
    assert asked
    assert plan.unfound == {}
    checks = [n for n, step in enumerate(plan.steps) if step.exercise]
    assert [plan.steps[n].exercise for n in checks] == [one.exercise for one in asked]
    assert [plan.steps[n - 1].source for n in checks] == [one.stub for one in asked]


def test_what_a_process_has_started_ends_with_it():
    mark = "a process that a process has started"
    started = [sys.executable, "-c", f"import time; time.sleep(60); {mark!r}"]
    tasks = deque([limits.Task(subprocess.run, (started,), 2.0, "it")])
    ((task, end),) = limits.run_limited(tasks, 1, 1000)
    assert (task.about, end.why) == ("it", "time")
    lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    assert not any(mark in word for line in lines for word in line)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{tmp}/nowhere", "--out", "{tmp}/g.csv"], "nowhere is no folder"),
        (["{tmp}/empty", "--out", "{tmp}/g.csv"], "empty holds no notebook: it should hold"),
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
