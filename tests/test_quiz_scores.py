"""Answers to the quiz as they are handed in, and as they are counted."""

import json
import os

import pytest

from transformer_lib.cli import main
from transformer_lib.exercises import quiz as module
from transformer_lib.exercises.own import memory
from transformer_lib.exercises.quiz import answer, hand_in
from transformer_lib.exercises.quiz.questions import QUESTIONS
from transformer_lib.grading.quiz_scores import QuizScore, quiz_score


def score_of(path, lessons=()):
    return quiz_score(path.read_bytes(), path.name, lessons)


@pytest.fixture
def lessons(tmp_path, monkeypatch):
    """An empty folder in which answers are kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRANSFORMER_LIB_MINE", "on")
    monkeypatch.setattr(module, "display", lambda _: None)
    monkeypatch.setattr(memory, "_here", memory.Done())
    return tmp_path


def answered():
    answer("00.1", "A")  # wrong, then right
    answer("00.1", "C")
    answer("00.2", "B")  # right at once
    answer("04.2", "C")  # wrong, and left so


def test_what_is_handed_in_can_be_read_by_anybody(lessons):
    answered()
    path = hand_in(" Zoë Müller ")
    assert path == lessons / "quiz_answers.json"
    found = json.loads(path.read_bytes())
    assert found.pop("library")
    assert found == {
        "who": "Zoë Müller",
        "answers": {
            "a_column": {"first": "A", "last": "C"},
            "a_thousand_more": {"first": "B", "last": "B"},
            "four_times_as_wide": {"first": "C", "last": "C"},
        },
    }
    assert "Zoë" in path.read_text(encoding="utf-8")


def test_first_and_last_answers_are_counted_apart(lessons):
    answered()
    path = hand_in("Ann")
    of_00 = sum(question.lesson == "00" for question in QUESTIONS)
    assert score_of(path) == QuizScore("Ann", 1, 2, 3, len(QUESTIONS))
    assert score_of(path, ["00"]) == QuizScore("Ann", 1, 2, 2, of_00)
    assert str(score_of(path, ["00"])) == (
        f"1 of {of_00} right at the first try, 2 in the end, 2 answered"
    )


def test_all_right_and_all_wrong_are_all_and_none(lessons):
    path = lessons / "quiz_answers.json"
    for right in (True, False):
        answers = {}
        for question in QUESTIONS:
            letter = question.right if right else "AB"[question.right == "A"]
            answers[question.name] = {"first": letter, "last": letter}
        path.write_text(json.dumps({"who": "Ann", "answers": answers}))
        count = len(QUESTIONS) if right else 0
        assert score_of(path) == QuizScore("Ann", count, count, len(QUESTIONS), len(QUESTIONS))


def test_a_question_that_is_gone_and_a_mark_of_windows_do_no_harm(lessons):
    path = lessons / "quiz_answers.json"
    text = '{"who": "Ann", "answers": {"gone": {"first": "Z", "last": "Z"}}}'
    path.write_text(text, encoding="utf-8-sig")
    assert score_of(path).answered == 0


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1, 2]", "holds [1, 2]"),
        ('{"answers": {}}', "whose"),
        ('{"who": "Ann"}', "no answers"),
        ('{"who": "Ann", "answers": {"a_column": "C"}}', "'a_column' with 'C'"),
        ('{"who": "Ann", "answers": {"a_column": {"first": "C"}}}', "'a_column'"),
        ('{"who": "Ann", "answers": {"a_column": "' + "C" * 1000 + '"}}', "'a_column'"),
        ('{"who": "Ann", "answers": {"a_column": {"first": "D", "last": "C"}}}', "A, B, C"),
        ('{"who": "Ann", "answers": {"a_column": {"first": ["C"], "last": "C"}}}', "'a_column'"),
        ('{"who": "' + "x" * 1_000_001 + '"}', "bytes"),
    ],
    ids=range(12),
)
def test_of_a_damaged_file_it_is_said_what_is_wrong(lessons, damage, said):
    path = lessons / "ann_quiz_answers.json"
    path.write_text(damage)
    with pytest.raises(ValueError, match="ann_quiz_answers.json") as error:
        score_of(path)
    assert said in str(error.value)
    assert len(str(error.value)) < 300


def test_bytes_that_are_no_text_are_said_to_be_none(lessons):
    path = lessons / "quiz_answers.json"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not JSON"):
        score_of(path)


def test_who_has_nothing_to_hand_in_is_told_where_to_begin(lessons, monkeypatch):
    with pytest.raises(ValueError, match="no question is answered in"):
        hand_in("Ann")
    with pytest.raises(ValueError, match="names nobody"):
        hand_in(" ")
    monkeypatch.setenv("TRANSFORMER_LIB_MINE", "off")
    with pytest.raises(ValueError, match="TRANSFORMER_LIB_MINE=off"):
        hand_in("Ann")
    assert list(lessons.iterdir()) == []


def test_a_disk_that_is_full_leaves_the_old_file(lessons, monkeypatch):
    answered()
    before = hand_in("Ann").read_bytes()
    answer("00.3", "C")

    def full(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(OSError, match="no space left"):
            hand_in("Ann")
    assert (lessons / "quiz_answers.json").read_bytes() == before


def test_the_command_writes_the_same_file_and_says_the_score(lessons, capsys):
    assert main(["quiz"]) == 0
    assert "none of" in capsys.readouterr().out
    assert main(["quiz", "--hand-in", "Ann"]) == 1
    assert "no question is answered in" in capsys.readouterr().err
    answered()
    assert main(["quiz", "--hand-in", "Ann"]) == 0
    said = capsys.readouterr().out
    assert str(lessons / "quiz_answers.json") in said
    assert "3 of" in said
    assert score_of(lessons / "quiz_answers.json").first_right == 1
