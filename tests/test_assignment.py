"""A hand-out: what may not be in it, that its checks say what the course's say, and that it runs."""

import inspect
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import handed_out
import nbformat
import pytest
import torch
from checked import unchecked

from transformer_lib.cli import main
from transformer_lib.exercises import exercises
from transformer_lib.exercises.checking.running import Outcome
from transformer_lib.exercises.checking.stored import Stored, Wrong
from transformer_lib.grading import assignment
from transformer_lib.grading.classroom import grade_class
from transformer_lib.grading.stripped import (
    EXAMINED,
    UNJUDGED,
    WITH_CODE_OF_CASES,
    content,
    stripped,
)

ASKED = {  # of the two lessons that are handed out here, in order
    *("scoring.additive_score_for_one", "scoring.additive_score"),
    *("scoring.masked_softmax_for_one", "scoring.masked_softmax"),
    *("attention.scale", "attention.scaled_dot_product_attention"),
    "attention.scaled_dot_product_attention_for_one",
}
OTHERS = (  # of lessons 05, 09, 11, 12, 13, 15, 18 and 19: tables, modules, functions and classes
    *("heads.split", "builds.MultiHeadAttention"),
    *("masks.causal_and_padding", "builds.decoder_layer_for_one"),
    *("steps.gru_step", "blocks.add_norm", "model.tie", "builds.SwiGLU"),
    *("metrics.bleu", "review.capstone_for_one"),
)


@pytest.fixture(scope="module")
def hand_out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hand") / "out"
    folder.mkdir()  # one that is there and empty is taken
    with unchecked():
        assert main(["assignment", "--lessons", "03", "04", "--out", str(folder)]) == 0
    return folder


# --------------------------------------------------------------------------------- what it withholds


def telling_lines(names):
    """The lines of all solutions, but for comments and signatures, in one sort of quotes."""
    for name in names:
        for answer in exercises()[name].solutions:
            for line in inspect.getsource(answer).splitlines():
                line = line.partition("  # ")[0].strip().replace('"', "'")
                if len(line) > 20 and not line.startswith(("@", "def ", "class ")):
                    yield line


def test_lines_of_solutions_stand_only_where_the_library_or_the_lesson_has_them(hand_out):
    found = {}
    lines = set(telling_lines(ASKED))
    assert len(lines) > 20
    for path in hand_out.rglob("*"):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace").replace('\\"', "'")
            if here := {line for line in lines if line in text.replace('"', "'")}:
                found[path.relative_to(hand_out).as_posix()] = here
    assert found == {
        "transformer_lib/scoring.py": {"weights = masked_softmax(scores, mask)"},
        "03_scoring_functions.ipynb": {
            "weights = scores.softmax(dim=-1)",
            "return weights @ value",
        },
    }


def test_of_exercises_there_are_the_lessons_own_and_what_judges_them(hand_out):
    inside = hand_out / "transformer_lib" / "exercises"
    modules = {path.name for path in inside.glob("*.py")}
    assert modules == {"__init__.py", "attention.py", "scoring.py", "broken.py"}
    folders = {path.name for path in inside.iterdir() if path.is_dir()}
    assert folders == {"checking", "own", "quiz", "stored"}
    assert {path.stem for path in (inside / "stored").iterdir()} == ASKED
    assert not (hand_out / "transformer_lib" / "grading").exists()


def ways():
    """How each exercise may be handed out, without running it."""
    for name, exercise in exercises().items():
        if hasattr(exercise, "examine"):
            yield name, UNJUDGED if exercise.tells else EXAMINED
        else:
            yield name, WITH_CODE_OF_CASES


def test_no_module_that_is_handed_out_has_a_line_of_a_solution_or_files_a_mistake():
    lines = set(telling_lines(exercises()))
    sources = stripped(dict(ways()), [("transformer_lib.exercises.review", "invented_language")])
    assert sources.keys() == content().keys()
    for module, source in sources.items():
        code = {line.strip().replace('"', "'") for line in source.splitlines()}
        assert code & lines == set(), module
        assert ".mistake(" not in source, module
        assert ".edits(" not in source, module
        assert "gaps=" not in source, module
    assert "FAULTY" not in sources["transformer_lib.exercises.review"]  # which lines have the bugs


# ---------------------------------------------------------------------------------- what it answers


def test_a_hand_out_says_what_the_course_says():
    """Of right answers, some known mistakes, a stub, one that raises, and another shape."""
    program = Path(__file__).with_name(
        "handed_out.py"
    )  # apart: here shapes are checked at run time
    run = [sys.executable, str(program), *sorted(ASKED), *OTHERS]
    done = subprocess.run(run, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("", 0), done.stderr


def test_a_mistake_that_is_stored_with_another_outcome_is_told_otherwise(tmp_path, monkeypatch):
    """What compares the two sees a difference."""
    of = Stored.of

    def with_wrong_outcomes(exercise):
        stored = of(exercise)
        stored.mistakes = [wrong._replace(outcomes=stored.right) for wrong in stored.mistakes]
        return stored

    monkeypatch.setattr(Stored, "of", with_wrong_outcomes)
    with unchecked():
        found = [about for about, *_ in handed_out.differences("attention.scale", tmp_path, 3)]
    sentences = [message for message, _ in exercises()["attention.scale"].mistakes]
    assert found
    assert set(found) <= set(sentences)


def test_what_is_stored_comes_back_as_it_was(tmp_path):
    table, mask = torch.randn(2, 3), torch.tensor([True, False])
    leaf = torch.ones(2, requires_grad=True)
    cases = [(table, mask, None, 3, float("inf"), "é", {1, 2}, [1, (2.5, True)], {"a": leaf})]
    wrong = [Outcome((table, 1), changed=("x",)), Outcome(error=KeyError("no"))]
    here = Stored(cases, [], [Outcome(table)], [Wrong("This.", wrong)], [{(0, 1): "2"}], [{}], [[]])
    here.write(tmp_path / "one")
    again = Stored.read(tmp_path / "one")
    ((a, b, *plain, named),) = again.cases
    assert torch.equal(a, table)
    assert b.tolist() == [True, False]
    assert plain == [None, 3, float("inf"), "é", {1, 2}, [1, (2.5, True)]]
    assert named["a"].requires_grad
    assert again.how == [{(0, 1): "2"}]
    ((message, (first, second)),) = again.mistakes
    assert (message, first.changed, first.value[1]) == ("This.", ("x",), 1)
    assert (type(second.error), str(second.error)) == (KeyError, "'no'")


def test_a_stored_check_is_tensors_and_json_as_safetensors_documents_them(hand_out):
    for path in (hand_out / "transformer_lib" / "exercises" / "stored").iterdir():
        data = path.read_bytes()
        (length,) = struct.unpack("<Q", data[:8])  # then as much JSON, then the numbers alone
        header = json.loads(data[8 : 8 + length])
        assert isinstance(json.loads(header.pop("__metadata__")["check"]), dict)
        ends = [entry["data_offsets"][1] for entry in header.values()]
        assert 8 + length + max(ends, default=0) == len(data)


def test_cases_that_are_drawn_otherwise_than_they_were_are_not_judged_by(tmp_path):
    with unchecked():
        whole, handed = handed_out.handed_out("steps.gru_step", tmp_path, 2)
        handed._read.inputs[0] += 1  # as another version of torch might draw them
        verdict = handed.judge(whole.right)
    assert verdict.kind == "error"
    assert "draws other cases" in verdict.message
    assert "requirements.txt names" in verdict.message


def test_an_exercise_whose_check_holds_its_answer_says_that_it_is_not_judged(tmp_path):
    name = "review.culprits"
    assert assignment._store_checks(tmp_path / "stored", [name]) == {name: UNJUDGED}
    source = stripped({"review.culprits": UNJUDGED}, [])["transformer_lib.exercises.review"]
    space = {}
    exec(source, space)
    assert space["culprits"].judge(lambda: {"A": (7, "")}).message.startswith("Not judged here")
    assert space["culprits"].judge(handed_out.untouched).message.startswith("Not attempted yet")
    assert space["culprits"].hints == exercises()["review.culprits"].hints


# ------------------------------------------------------------------------------------ that it works

STUDENT = """
import math
import transformer_lib
from transformer_lib.exercises import check, hint, mine, skeleton, solution
from transformer_lib.masks import masked_softmax
print(transformer_lib.__file__)

def my_scaled_dot_product_attention(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    return masked_softmax(scores, mask) @ value

def unscaled(query, key, value, mask=None):
    return masked_softmax(query @ key.mT, mask) @ value

from IPython.display import Markdown
import transformer_lib.exercises as of_the_course
of_the_course.display = lambda shown: print(shown.data if isinstance(shown, Markdown) else shown)
check("attention.scaled_dot_product_attention", my_scaled_dot_product_attention)
check("attention.scaled_dot_product_attention", unscaled)
solution("attention.scale")
skeleton("attention.scale")
hint("attention.scale"); hint("attention.scale"); hint("attention.scale")
print(mine("masked_softmax").__module__)
try:
    mine("softmax")
except ValueError as error:
    print(error)
"""


def test_a_student_works_in_the_folder_alone(hand_out):
    run = [sys.executable, "-c", STUDENT]
    apart = {**os.environ, "PYTHONPATH": "", "MPLBACKEND": "Agg"}
    done = subprocess.run(run, cwd=hand_out, env=apart, capture_output=True, text=True, check=True)
    library, *lines = done.stdout.splitlines()
    assert library == str(hand_out / "transformer_lib" / "__init__.py")
    text = "\n".join(lines)
    assert "✓ Passed." in text
    assert "✗ Scale: the scores are not divided by √d." in text
    assert "The solution is withheld" in text
    assert "in this hand-out the solution is withheld" in text
    assert "This was the last." in text
    assert "transformer_lib.masks" in lines
    assert 'check("basics.softmax", …)` of lesson 00' in lines[-1]


def test_what_is_handed_in_again_is_graded_by_the_course(hand_out, tmp_path):
    book = nbformat.read(hand_out / "03_scoring_functions.ipynb", as_version=4)
    for name in ("additive_score", "masked_softmax"):
        exercise = exercises()[f"scoring.{name}"]
        cell = next(
            c
            for c in book.cells
            if "exercise" in c.metadata.get("tags", []) and f" {exercise.name}(" in c.source
        )
        cell.source = exercise.source() if name == "masked_softmax" else cell.source
    (tmp_path / "class" / "ann").mkdir(parents=True)
    nbformat.write(book, tmp_path / "class" / "ann" / "03_scoring_functions.ipynb")
    grades = grade_class(tmp_path / "class", ["03"], seconds=60, mebibytes=2000, jobs=1)
    (row,) = grades.rows
    assert row.results["scoring.masked_softmax"].state == "passed"
    assert row.results["scoring.additive_score"].state == "not attempted"


def test_its_readme_has_ten_lines_and_its_requirements_are_the_librarys(hand_out):
    title, *lines = (hand_out / "README.md").read_text(encoding="utf-8").splitlines()
    assert title == "# Lesson 03 scoring functions, 04 scaled dot product"
    assert [line.partition(". ")[0] for line in lines] == [str(n) for n in range(1, 11)]
    assert "contains the layers themselves" in " ".join(lines)
    assert "Not tried: Windows" in lines[-1]
    about, *needed = (hand_out / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert about.endswith(torch.__version__.partition("+")[0] + ".")
    assert {"torch", "safetensors", "jupyterlab"} <= {
        line.split("<")[0].split(">")[0] for line in needed
    }


# ---------------------------------------------------------------------------------- what it refuses


@pytest.mark.parametrize(
    ("lessons", "message"),
    [(["03"], "name another, or empty it"), (["44"], "There is no lesson '44'")],
)
def test_what_cannot_be_written_leaves_everything_as_it_was(lessons, message, tmp_path, capsys):
    folder = tmp_path / "out"
    if lessons == ["03"]:
        folder.mkdir()
        (folder / "notes.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    assert main(["assignment", "--lessons", *lessons, "--out", str(folder)]) == 1
    assert message in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


def test_where_nothing_is_withheld_the_exercises_are_the_courses_own(tmp_path, capsys):
    folder = tmp_path / "out"
    call = ["assignment", "--lessons", "04", "--out", str(folder), "--withhold", "nothing"]
    assert main(call) == 0
    handed = folder / "transformer_lib" / "exercises" / "attention.py"
    module = sys.modules[exercises()["attention.scale"].solutions[0].__module__]
    assert handed.read_text(encoding="utf-8") == inspect.getsource(module)
    assert "nothing is withheld" in (folder / "README.md").read_text(encoding="utf-8")
    assert "searched" not in capsys.readouterr().out
