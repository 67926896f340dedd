"""What was done lasts: from kernel to kernel, from lesson to lesson, and through what may go wrong."""

import json
import os

import pytest

from transformer_lib import exercises
from transformer_lib.exercises import mine
from transformer_lib.exercises.own import memory
from transformer_lib.exercises.own.parts import PARTS

RIGHT = exercises.exercises()["cues.entropy"].solutions[1]


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Begins another kernel in one folder; gives what is shown from then on."""
    monkeypatch.delenv("TRANSFORMER_LIB_MINE")
    monkeypatch.chdir(tmp_path)
    shown = []
    monkeypatch.setattr(exercises, "display", shown.append)

    def begin():
        monkeypatch.setattr(memory, "_here", memory.Done())
        monkeypatch.setattr(exercises, "_hinted", exercises.Counter())
        shown.clear()
        return shown

    begin()
    return begin


def states(shown):
    exercises.progress()
    table = shown[-1].data.set_index("exercise")
    return table.state, table.hints, shown[-2].data


def test_what_was_passed_tried_and_hinted_is_there_in_the_next_kernel(kernel):
    exercises.check("cues.entropy", RIGHT)
    exercises.check("attention.scale", lambda d, std: d)
    exercises.check("attention.scale", lambda d, std: d + 1)
    exercises.hint("attention.scale")
    exercises.hint("attention.scale")
    state, hints, said = states(kernel())
    assert said.startswith("1 of")
    assert state["cues.entropy"] == "✓ passed"
    assert state["attention.scale"] == "✗ tried 2 ×"
    assert state["basics.mix"] == "○ open"
    assert hints["attention.scale"] == 2
    assert hints["basics.mix"] == ""


def test_a_passed_exercise_that_is_tried_again_wrongly_stays_passed(kernel):
    exercises.check("cues.entropy", RIGHT)
    exercises.check("cues.entropy", lambda weights: 0.0)
    state, _, _ = states(kernel())
    assert state["cues.entropy"] == "✓ passed"


def test_the_solution_remembers_that_something_was_tried(kernel, capsys):
    exercises.check("attention.scale", lambda d, std: d)
    kernel()
    exercises.solution("attention.scale")
    assert "def my_scale(d, std):" in capsys.readouterr().out


def test_an_open_stub_is_not_written_down(kernel, tmp_path):
    def empty(d, std): ...

    exercises.check("attention.scale", empty)
    assert not list(tmp_path.iterdir())


def test_hints_begin_anew_in_another_kernel(kernel):
    shown = kernel()
    exercises.hint("attention.scale")
    exercises.hint("attention.scale")
    shown = kernel()
    exercises.hint("attention.scale")
    assert shown[0].data.startswith("Hint 1 of")


@pytest.mark.parametrize("damage", ["{", "[]", '{"tried": 3}', '{"hints": {"a": "b"}}', "\0"])
def test_a_damaged_file_is_told_and_left_alone_and_the_check_goes_on(kernel, damage):
    shown = kernel()
    memory.memory_path().write_text(damage)
    exercises.check("cues.entropy", RIGHT)
    assert shown[0].passed
    assert "in .mine.json, cannot be read. Move the file away" in shown[1].data
    assert memory.memory_path().read_text() == damage
    shown.clear()
    exercises.progress()
    assert "cannot be read" in shown[0].data


def test_a_write_that_is_cut_off_leaves_the_old_file(kernel, monkeypatch):
    exercises.check("cues.entropy", RIGHT)
    before = memory.memory_path().read_text()
    monkeypatch.setattr(json, "dump", lambda *_, **__: 1 / 0)
    exercises.check("attention.scale", lambda d, std: d)
    assert memory.memory_path().read_text() == before


def test_a_full_disk_is_told_and_this_kernel_still_knows(kernel, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    shown = kernel()
    monkeypatch.setattr(os, "replace", full)
    exercises.check("cues.entropy", RIGHT)
    assert "Not kept: no space left." in shown[1].data
    state, _, _ = states(shown)
    assert state["cues.entropy"] == "✓ passed"


def test_off_nothing_is_written_and_this_kernel_knows(kernel, monkeypatch, tmp_path):
    shown = kernel()
    monkeypatch.setenv("TRANSFORMER_LIB_MINE", "off")
    exercises.check("cues.entropy", RIGHT)
    assert not list(tmp_path.iterdir())
    state, _, _ = states(shown)
    assert state["cues.entropy"] == "✓ passed"


def test_mine_without_a_name_lists_the_parts_and_whose_they_are(kernel, tmp_path):
    table = mine()
    assert list(table.index) == list(PARTS)
    assert set(table.whose) == {"not yet yours"}
    (tmp_path / "mine.py").write_text(
        "# ---- softmax: my_softmax, lesson 00 ----\ndef my_softmax(scores):\n    return scores\n"
    )
    assert mine().whose["softmax"] == "yours"
