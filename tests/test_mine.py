"""The student's own library: what is kept from a cell, what is not and why, and what goes wrong."""

import ast
import inspect
import linecache
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import torch
from nbclient import NotebookClient
from torch import nn

from transformer_lib import exercises, gpt
from transformer_lib.exercises import mine
from transformer_lib.exercises.builds.multi_head import MyMultiHeadAttention
from transformer_lib.exercises.checking.classes import Build
from transformer_lib.exercises.checking.verdict import Verdict
from transformer_lib.exercises.own import memory
from transformer_lib.exercises.own.library import HEADER
from transformer_lib.exercises.own.parts import PARTS, part_named
from transformer_lib.exercises.review import invented_language
from transformer_lib.positions import RotaryHalves
from transformer_lib.transformer import TransformerConfig, make_model

EACH = pytest.mark.parametrize("key", PARTS)
EXERCISES = exercises.exercises()
SOFTMAX = """
def my_masked_softmax(scores, mask):
    hidden = scores.masked_fill(~mask, float("-inf"))
    return hidden.softmax(dim=-1).masked_fill(~mask, 0.0)
"""
HEADS = re.sub("^@.*\n", "", inspect.getsource(MyMultiHeadAttention))  # 3.13 leaves it out itself
SETUP = "import math\nimport torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
SETUP += "from transformer_lib.exercises import mine\n"
SETUP += "from transformer_lib.masks import masked_softmax"


class Notebook:
    """Cells as ipykernel runs them: compiled under a name of their own that linecache knows."""

    def __init__(self, shown):
        self.names, self.count, self.shown = {"__name__": "__main__"}, 0, shown

    def run(self, source):
        self.count += 1
        name = f"/tmp/ipykernel_7/{id(self)}{self.count}.py"
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        exec(compile(source, name, "exec"), self.names)
        return self

    def check(self, exercise, answer):
        """Everything that the check shows, as one text."""
        self.shown.clear()
        exercises.check(exercise, self.names[answer])
        return "\n".join(str(s) if isinstance(s, Verdict) else s.data for s in self.shown)


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    """A notebook in a folder of its own, in which parts are kept; nothing said yet."""
    monkeypatch.delenv("TRANSFORMER_LIB_MINE")
    monkeypatch.chdir(tmp_path)
    shown = []
    monkeypatch.setattr(exercises, "display", shown.append)
    monkeypatch.setattr(memory, "_here", memory.Done())
    monkeypatch.setattr(mine, "_said", set())
    return Notebook(shown).run(SETUP)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "mine.py"


# ------------------------------------------------------------------------------------------- the table


@EACH
def test_every_part_has_a_check_of_its_name(key):
    exercise = EXERCISES[PARTS[key].exercise]
    assert PARTS[key].exercise.endswith(f".{key}")
    assert exercise.name.lower().startswith("my")


def test_every_class_that_is_checked_is_a_part():
    """But for the two checkpoints of lesson 13, whose classes are kept in the whole's cell."""
    builds = {name for name, exercise in EXERCISES.items() if isinstance(exercise, Build)}
    kept = {part.exercise for part in PARTS.values()}
    assert builds - kept == {"builds.Encoder", "builds.Decoder"}


@EACH
def test_the_signature_is_that_of_solution_and_library(key):
    part = PARTS[key]
    solution = EXERCISES[part.exercise].solutions[0]
    wanted, _, forward = part.signature.partition(" · ")
    assert str(inspect.signature(solution)) == wanted
    if forward:
        ours = str(inspect.signature(solution.forward)).replace("(self, ", "forward(")
        assert ours == forward
    if part.library:
        theirs = list(inspect.signature(part.counterpart()).parameters)
        required = [n for n, p in inspect.signature(solution).parameters.items()]
        assert set(required) <= set(theirs)


@EACH
def test_the_attributes_are_those_of_the_librarys_class(key):
    part = PARTS[key]
    exercise = EXERCISES[part.exercise]
    assert bool(part.attributes) == isinstance(exercise, Build)
    if part.attributes:
        case = exercise.cases()[0]
        model = exercise.reference(*case.sizes, **case.options)
        assert {name for name, _ in model.named_children()} >= set(part.attributes)


def test_minutes_are_ten_for_a_function_twenty_for_a_layer_forty_for_the_whole():
    """A class of few lines takes less than a layer."""
    others = {"Transformer": 40, "capstone": 40, "SwiGLU": 5, "Block": 10}
    for key, part in PARTS.items():
        assert part.minutes == others.get(key, 20 if part.attributes else 10)


def test_the_lessons_come_in_order():
    lessons = [part.lesson for part in PARTS.values()]
    assert lessons == sorted(lessons)


def test_a_misspelt_part_is_guessed():
    with pytest.raises(ValueError, match="Did you mean MultiHeadAttention"):
        mine("MultiHeadAtention")
    assert part_named("builds.EncoderLayer") is PARTS["EncoderLayer"]


# ------------------------------------------------------------------------------------ the three entries


def test_but_for_two_of_the_last_block_every_part_has_a_warm_up():
    assert [key for key, part in PARTS.items() if not part.warm_up] == [
        "SwiGLU",
        "GroupedAttention",
    ]


@EACH
def test_a_part_and_its_warm_up_have_a_skeleton_that_runs_and_is_no_attempt(key):
    for name in filter(None, (PARTS[key].exercise, PARTS[key].warm_up)):
        exercise = EXERCISES[name]
        names = {}
        exec(HEADER, names)
        exec(exercise.skeleton(), names)
        assert exercise.judge(names[exercise.name]).kind == "empty", name


@pytest.mark.parametrize(
    "name", [n for part in PARTS.values() for n in (part.exercise, part.warm_up) if n]
)
def test_a_skeleton_is_the_solution_with_gaps_its_comments_and_shapes_stay(name):
    exercise = EXERCISES[name]
    for gap in exercise.gaps:
        assert gap in exercise.source(), gap
    skeleton, source = exercise.skeleton().splitlines(), exercise.source().splitlines()
    comments = lambda lines: [line.partition("# ")[2] for line in lines]
    assert comments(skeleton) == comments(source)
    assert skeleton != source
    assert any(comments(source))


def test_a_skeleton_is_printed(capsys):
    exercises.skeleton("MultiHeadAttention")
    text = capsys.readouterr().out
    assert "    return ...  # (batch, heads, tokens, d_head)\n" in text
    assert "transpose" not in text


# ---------------------------------------------------------------------------------------------- keeping


def test_a_function_that_passes_is_kept_as_it_was_written(notebook, file, capsys):
    said = notebook.run(SOFTMAX).check("scoring.masked_softmax", "my_masked_softmax")
    assert "Passed." in said
    assert "Kept in `mine.py`" in said
    text = file.read_text()
    assert SOFTMAX.strip() in text
    assert "# ---- masked_softmax: my_masked_softmax, lesson 03 ----" in text
    own = mine("masked_softmax")
    assert own.__name__ == "my_masked_softmax"
    assert own is not notebook.names["my_masked_softmax"]
    assert capsys.readouterr().out == "masked_softmax: your own my_masked_softmax, from mine.py.\n"


def test_a_class_is_kept_although_inspect_cannot_find_it(notebook, file):
    notebook.run("x = 1\n\n" + HEADS + "\n\nprint(end='')")
    if sys.version_info < (3, 13):  # from then on a class knows its first line
        with pytest.raises((OSError, TypeError)):
            inspect.getsource(notebook.names["MyMultiHeadAttention"])
    assert "Kept in" in notebook.check("MultiHeadAttention", "MyMultiHeadAttention")
    assert HEADS.strip() in file.read_text()
    assert "x = 1" not in file.read_text()


def test_the_file_is_plain_python_that_imports(notebook, file):
    notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    notebook.run(HEADS).check("MultiHeadAttention", "MyMultiHeadAttention")
    names = {}
    exec(compile(file.read_text(), "mine.py", "exec"), names)
    assert {"my_masked_softmax", "MyMultiHeadAttention"} <= set(names)


def test_what_fails_is_not_kept(notebook, file):
    notebook.run("def my_masked_softmax(scores, mask): return scores")
    assert "Kept" not in notebook.check("masked_softmax", "my_masked_softmax")
    assert not file.exists()


def test_what_is_no_part_is_not_kept(notebook, file):
    notebook.run("def my_scale(d, std): return std**2 * d**0.5")
    assert "Passed" in notebook.check("attention.scale", "my_scale")
    assert not file.exists()


def test_passing_again_replaces_the_part_and_loses_nothing(notebook, file):
    notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    notebook.run(HEADS).check("MultiHeadAttention", "MyMultiHeadAttention")
    before = file.read_text()
    notebook.check("masked_softmax", "my_masked_softmax")
    assert file.read_text() == before
    notebook.run(SOFTMAX.replace("hidden", "kept")).check("masked_softmax", "my_masked_softmax")
    text = file.read_text()
    assert text.count("# ---- masked_softmax") == 1
    assert "kept = " in text
    assert HEADS.strip() in text
    assert SOFTMAX.strip() in file.with_name("mine.old.py").read_text()


def test_helpers_of_the_same_cell_are_kept_with_it(notebook, file):
    source = "import itertools\nLARGE = -math.inf\n\ndef hide(scores, mask):\n"
    source += "    next(itertools.count())\n    return scores.masked_fill(~mask, LARGE)\n"
    source += "unused = 3\n"
    source += SOFTMAX.replace('scores.masked_fill(~mask, float("-inf"))', "hide(scores, mask)")
    assert "Kept in" in notebook.run(source).check("masked_softmax", "my_masked_softmax")
    text = file.read_text()
    assert "import itertools\n" in text
    assert "LARGE = -math.inf\n" in text
    assert "unused" not in text
    assert mine("masked_softmax")(torch.zeros(2, 3), torch.ones(2, 3, dtype=torch.bool)).shape == (
        2,
        3,
    )


def test_a_name_of_another_cell_passes_is_not_kept_and_is_named(notebook, file):
    notebook.run("def hide(scores, mask):\n    return scores.masked_fill(~mask, -math.inf)")
    source = SOFTMAX.replace('scores.masked_fill(~mask, float("-inf"))', "hide(scores, mask)")
    said = notebook.run(source).check("masked_softmax", "my_masked_softmax")
    assert "Passed." in said
    assert "not kept: `hide` comes from another cell. Put it into the same cell" in said
    assert not file.exists()


@pytest.mark.parametrize("name", ["copy", "math"])
def test_what_another_cell_imports_is_kept_where_the_header_imports_it_too(notebook, file, name):
    notebook.run(f"import {name}")
    source = SOFTMAX.replace("    return", f"    {name}.__name__\n    return")
    assert "Kept in" in notebook.run(source).check("masked_softmax", "my_masked_softmax")


def test_a_name_of_the_header_that_means_something_else_is_named(notebook, file):
    notebook.run("def masked_softmax(scores, mask):\n    return torch.softmax(scores, -1) * 1")
    notebook.run("from transformer_lib.masks import masked_softmax as right")
    notebook.run("masked_softmax = lambda *args: right(*args)")
    said = notebook.run(HEADS).check("MultiHeadAttention", "MyMultiHeadAttention")
    assert "`masked_softmax` comes from another cell" in said
    assert not file.exists()


def test_what_was_patched_after_its_definition_is_not_kept(notebook, file):
    wrong = HEADS.replace("joined = heads.transpose(1, 2).flatten(2)", "joined = heads")
    notebook.run(HEADS)
    right = notebook.names["MyMultiHeadAttention"].forward
    notebook.run(wrong)
    notebook.names["MyMultiHeadAttention"].forward = right
    said = notebook.check("MultiHeadAttention", "MyMultiHeadAttention")
    assert "run by itself it no longer passes" in said or "was not found" in said
    assert not file.exists()


@pytest.mark.parametrize(
    "answer", [nn.Softmax(dim=-1), lambda scores: scores.softmax(-1), torch.nn.Softmax(-1).forward]
)
def test_what_has_no_definition_is_not_kept(notebook, file, answer):
    notebook.names["answer"] = answer
    said = notebook.check("basics.softmax", "answer")
    assert "Kept" not in said
    if "Passed" in said:
        assert "is not kept" in said
    assert not file.exists()


def test_a_later_part_uses_an_earlier_one(notebook, file, capsys):
    """The student's layer holds the student's attention, and follows when that changes."""
    heads = HEADS.replace(
        "self.num_heads = num_heads", "self.num_heads = num_heads; self.own = True"
    )
    notebook.run(heads).check("MultiHeadAttention", "MyMultiHeadAttention")
    notebook.run(EXERCISES["builds.EncoderLayer"].source())
    assert "Kept in" in notebook.check("EncoderLayer", "MyEncoderLayer")
    assert mine("EncoderLayer")(12, 3, 17).self_attn.own
    mine.forget("MultiHeadAttention")
    assert not hasattr(mine("EncoderLayer")(12, 3, 17).self_attn, "own")


def test_a_capstone_is_kept_with_what_its_lesson_imports(notebook, file, monkeypatch, capsys):
    """Judged as passed whatever it says: what is asked here is whether its names are at hand."""
    capstone = EXERCISES["review.capstone"]
    monkeypatch.setattr(capstone, "examine", lambda *_: Verdict("passed", "Passed."))
    monkeypatch.setattr(capstone, "cases", lambda: [invented_language(0, train=30)])
    for module, names in {
        "batching": "TokenBatches, encode_pairs",
        "corpus": "Vocabulary",
        "decoding": "with_steps",
        "schedules": "warmup_cosine",
        "training": "fit",
        "transformer": "make_model",
        "translation": "Translator",
    }.items():
        notebook.run(f"from transformer_lib.{module} import {names}")
    source = capstone.source().replace("steps=300", "steps=2")
    assert "Kept in" in notebook.run(source).check("capstone", "my_capstone")
    assert "Transformer: the library's." in capsys.readouterr().out
    assert mine("capstone").__name__ == "my_capstone"


def test_a_whole_transformer_of_own_parts_takes_make_models_weights(notebook):
    """Every part kept, then the same logits as the library's model, at its initial weights."""
    for key in ("sinusoids", "MultiHeadAttention", "EncoderLayer", "DecoderLayer", "Transformer"):
        exercise = EXERCISES[PARTS[key].exercise]
        notebook.run("from transformer_lib.layers import AddNorm, PositionwiseFeedForward\n")
        notebook.run("from transformer_lib.masks import causal_mask\n").run(exercise.source())
        assert "Kept in" in notebook.check(key, exercise.name)
    library = make_model(11, 13, d_model=12, num_heads=3, d_ff=17).eval()
    own = mine("Transformer")(library.config).eval()
    assert type(own).__module__ == "mine.Transformer"
    assert type(own.encoder.layers[0].self_attn).__name__ == "MyMultiHeadAttention"
    own.load_state_dict(library.state_dict())
    src, tgt = torch.randint(1, 11, (2, 5)), torch.randint(1, 13, (2, 7))
    torch.testing.assert_close(own(src, tgt), library(src, tgt), atol=1e-5, rtol=0)
    assert isinstance(library.config, TransformerConfig)


def test_a_block_of_own_parts_takes_the_librarys_weights(notebook):
    for key in ("SwiGLU", "GroupedAttention", "Block"):
        exercise = EXERCISES[PARTS[key].exercise]
        assert "Kept in" in notebook.run(exercise.source()).check(key, exercise.name)
    sizes = 12, 6, 2, 7, RotaryHalves(2, 9)
    own, library = mine("Block")(*sizes, qk_norm=True), gpt.Block(*sizes, qk_norm=True)
    assert type(own.attention).__name__ == "MyGroupedAttention"
    assert type(own.feed_forward).__name__ == "MySwiGLU"
    own.load_state_dict(library.state_dict())
    x = torch.randn(2, 5, 12)
    torch.testing.assert_close(own(x), library(x), atol=1e-5, rtol=0)


def test_a_course_without_own_parts_uses_the_librarys_and_says_so_once(notebook, capsys):
    assert mine("EncoderLayer") is PARTS["EncoderLayer"].counterpart()
    mine("EncoderLayer")
    assert capsys.readouterr().out == "EncoderLayer: the library's.\n"
    assert mine("warmup") is EXERCISES["training.warmup"].solutions[0]
    assert "the course's solution, until yours is kept" in capsys.readouterr().out


# ------------------------------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (
            lambda text: text.replace("def my_masked_softmax(", "def my_masked_softmax(("),
            "SyntaxError",
        ),
        (lambda text: text.replace("def my_masked_softmax", "def other"), "is not defined"),
        (lambda text: text[: text.index("def my_masked_softmax")], "is not defined"),
        (
            lambda text: text.replace("hidden = ", "hidden = helper + "),
            "uses helper, unknown there",
        ),
        (lambda text: text.replace("    return hidden", "1 / 0\n#"), "ZeroDivisionError"),
        (lambda text: text.replace("    return hidden", "exit()\n#"), "SystemExit"),
    ],
)
def test_a_broken_part_is_said_in_words_and_harms_no_other(notebook, file, capsys, damage, words):
    notebook.run(HEADS).check("MultiHeadAttention", "MyMultiHeadAttention")
    notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    file.write_text(damage(file.read_text()))
    assert mine("masked_softmax") is PARTS["masked_softmax"].counterpart()
    said = capsys.readouterr().out
    assert words in said
    assert "the library's" in said
    assert 'mine.forget("masked_softmax")' in said
    assert mine("MultiHeadAttention").__name__ == "MyMultiHeadAttention"
    assert "Kept in" in notebook.check("masked_softmax", "my_masked_softmax")
    assert mine("masked_softmax").__name__ == "my_masked_softmax"
    assert mine("MultiHeadAttention").__name__ == "MyMultiHeadAttention"


def test_a_file_that_is_no_text_is_left_alone(notebook, file, capsys):
    file.write_bytes(b"\xff\xfe\x00")
    assert mine("EncoderLayer") is PARTS["EncoderLayer"].counterpart()
    assert "cannot be read" in capsys.readouterr().out
    said = notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    assert "is not kept: mine.py cannot be read" in said
    mine.forget("masked_softmax")
    assert "cannot be read" in capsys.readouterr().out
    exercises.progress()
    assert file.read_bytes() == b"\xff\xfe\x00"


def test_a_folder_that_cannot_be_written_is_said(notebook, file):
    file.mkdir()
    said = notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    assert "Passed." in said
    assert "not kept" in said or "could not be written" in said


def test_the_students_own_lines_stay(notebook, file):
    """A header with notes, and a section whose mark was half deleted."""
    notebook.run(HEADS).check("MultiHeadAttention", "MyMultiHeadAttention")
    file.write_text("# my notes\n" + file.read_text().replace("lesson 09 ----", "lesson"))
    notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    text = file.read_text()
    assert text.startswith("# my notes\n")
    assert HEADS.strip() in text
    assert mine("masked_softmax").__name__ == "my_masked_softmax"


def test_a_section_that_swallowed_another_is_set_aside_not_lost(notebook, file):
    notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    notebook.run(HEADS).check("MultiHeadAttention", "MyMultiHeadAttention")
    lines = file.read_text().splitlines(True)
    file.write_text("".join(line for line in lines if not line.startswith("# ---- MultiHead")))
    notebook.run(SOFTMAX.replace("hidden", "kept")).check("masked_softmax", "my_masked_softmax")
    both = file.read_text() + file.with_name("mine.old.py").read_text()
    assert HEADS.strip() in both


def test_forget_takes_one_part_out(notebook, file, capsys):
    notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    notebook.run(HEADS).check("MultiHeadAttention", "MyMultiHeadAttention")
    mine.forget("scoring.masked_softmax")
    mine.forget("masked_softmax")
    assert capsys.readouterr().out.endswith(
        "moved to mine.old.py.\nmasked_softmax is not in mine.py.\n"
    )
    assert mine("masked_softmax") is PARTS["masked_softmax"].counterpart()
    assert mine("MultiHeadAttention").__name__ == "MyMultiHeadAttention"
    assert SOFTMAX.strip() in file.with_name("mine.old.py").read_text()


def test_off_nothing_is_read_nor_kept(notebook, file, monkeypatch, capsys):
    notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    before = file.read_text()
    monkeypatch.setenv("TRANSFORMER_LIB_MINE", "off")
    assert mine("masked_softmax") is PARTS["masked_softmax"].counterpart()
    assert capsys.readouterr().out == "masked_softmax: the library's.\n"
    said = notebook.run(HEADS).check("MultiHeadAttention", "MyMultiHeadAttention")
    assert "Passed." in said
    assert "Kept" not in said
    assert file.read_text() == before
    exercises.progress()
    assert "mine.py" not in notebook.shown[-2].data


def test_progress_lasts_and_names_what_stands(notebook, file, monkeypatch):
    notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    notebook.run(HEADS).check("MultiHeadAttention", "MyMultiHeadAttention")
    monkeypatch.setattr(memory, "_here", memory.Done())  # another kernel
    exercises.progress()
    line, table = notebook.shown[-2].data, notebook.shown[-1].data.set_index("exercise").state
    assert line.startswith(f"2 of {len(EXERCISES)}")
    assert "masked_softmax, MultiHeadAttention" in line
    assert table["builds.MultiHeadAttention"] == "✓ kept in mine.py"
    file.write_text(file.read_text().replace("class MyMulti", "class MyMulti("))
    exercises.progress()
    table = notebook.shown[-1].data.set_index("exercise").state
    assert table["builds.MultiHeadAttention"] == "✗ kept, but broken"


# ------------------------------------------------------------------- kernels, processes, and being killed

PROGRAM = """
import linecache, os, signal, sys
from transformer_lib import exercises
exercises.display = lambda shown: print(getattr(shown, "data", shown))
source, name = sys.stdin.read(), sys.argv[2]
linecache.cache["cell"] = (len(source), None, source.splitlines(True), "cell")
names = {}
exec(compile(source, "cell", "exec"), names)
if "killed" in sys.argv[4:]:
    replace = os.replace
    kill = lambda: os.kill(os.getpid(), signal.SIGKILL)
    os.replace = lambda old, new: kill() if str(new).endswith("mine.py") else replace(old, new)
for _ in range(int(sys.argv[3])):
    exercises.check(sys.argv[1], names[name])
    exercises.mine.forget(sys.argv[1]) if "forgets" in sys.argv[4:] else None
"""


def process(folder, exercise, name, source, *more):
    environment = {k: v for k, v in os.environ.items() if k != "TRANSFORMER_LIB_MINE"}
    environment["PYTHONPATH"] = str(Path(__file__).parent.parent)
    command = [sys.executable, "-c", PROGRAM, exercise, name, *more]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = subprocess.Popen(command, cwd=folder, env=environment, text=True, **pipes)
    started.stdin.write(source)
    started.stdin.close()
    return started


def test_two_processes_write_at_once_and_nothing_is_lost(tmp_path, file):
    mix = "def my_softmax(scores):\n    top = scores.max(dim=-1, keepdim=True).values\n"
    mix += "    e = (scores - top).exp()\n    return e / e.sum(dim=-1, keepdim=True)\n"
    both = [
        process(tmp_path, "masked_softmax", "my_masked_softmax", SOFTMAX, "30", "forgets"),
        process(tmp_path, "softmax", "my_softmax", mix, "30"),
    ]
    said = [one.stdout.read() + one.stderr.read() for one in both]
    assert [one.wait() for one in both] == [0, 0], said
    text = file.read_text()
    assert mix.strip() in text
    ast.parse(text)
    assert text.count("# ---- softmax") == 1
    assert said[0].count("Kept in") == said[1].count("Kept in") == 30


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_kernel_killed_while_it_writes_leaves_the_old_file_and_no_lock(notebook, file, tmp_path):
    notebook.run(HEADS).check("MultiHeadAttention", "MyMultiHeadAttention")
    before = file.read_text()
    killed = process(tmp_path, "masked_softmax", "my_masked_softmax", SOFTMAX, "1", "killed")
    assert killed.wait() == -9, killed.stderr.read()
    assert file.read_text() == before
    assert (tmp_path / ".mine.new").exists()
    assert "Kept in" in notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    assert HEADS.strip() in file.read_text()


def test_a_disk_that_is_full_keeps_the_old_file(notebook, file, monkeypatch):
    notebook.run(HEADS).check("MultiHeadAttention", "MyMultiHeadAttention")
    before = file.read_text()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    said = notebook.run(SOFTMAX).check("masked_softmax", "my_masked_softmax")
    assert "could not be written to mine.py: [Errno 28]" in said
    assert file.read_text() == before


def test_a_real_kernel_keeps_a_class_and_the_next_one_has_it(tmp_path, monkeypatch):
    monkeypatch.delenv("TRANSFORMER_LIB_MINE")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent.parent))
    first = [
        SETUP,
        "from transformer_lib.exercises import check",
        HEADS,
        'check("MultiHeadAttention", MyMultiHeadAttention)',
    ]
    second = [SETUP, 'print(mine("MultiHeadAttention")(12, 3).__class__.__name__)']
    outputs = []
    for cells in (first, second):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        NotebookClient(notebook, timeout=120, resources={"metadata": {"path": tmp_path}}).execute()
        outputs.append(str([out for cell in notebook.cells for out in cell.outputs]))
    assert "Passed." in outputs[0]
    assert "Kept in `mine.py`" in outputs[0]
    assert HEADS.strip() in (tmp_path / "mine.py").read_text()
    assert "your own MyMultiHeadAttention, from mine.py" in outputs[1]
    assert "\\nMyMultiHeadAttention" in outputs[1]


def test_git_knows_nothing_of_a_students_library():
    root = Path(__file__).parent.parent
    for name in (
        "mine.py",
        "mine.old.py",
        ".mine.lock",
        ".mine.new",
        "../runs/mine/model.safetensors",
    ):
        command = ["git", "check-ignore", "-q", f"notebooks/{name}"]
        assert subprocess.run(command, cwd=root).returncode == 0, name
    inside = ["git", "check-ignore", "-q", "transformer_lib/exercises/own/mine.py"]
    assert subprocess.run(inside, cwd=root).returncode == 1


def test_what_is_tested_stored_and_published_runs_without_it():
    makefile = (Path(__file__).parent.parent / "Makefile").read_text()
    (line,) = [line for line in makefile.splitlines() if "TRANSFORMER_LIB_MINE := off" in line]
    for target in (
        "test",
        "unit",
        "lessons",
        "notebooks",
        "portable",
        "slides",
        "site",
        "instructor",
    ):
        assert target in line.partition(":")[0].split()
    assert os.environ["TRANSFORMER_LIB_MINE"] == "off"
