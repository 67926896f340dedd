"""The quiz as it is shown, judged and counted."""

import html
import json
import os
import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from IPython.core.formatters import DisplayFormatter

from transformer_lib import exercises as package
from transformer_lib.exercises import exercises
from transformer_lib.exercises import quiz as module
from transformer_lib.exercises.own import memory
from transformer_lib.exercises.quiz import (
    QUESTIONS,
    Sheet,
    answer,
    quiz,
    recall,
    recalled,
)
from transformer_lib.exercises.quiz.questions import Question

BY_NAME = {question.name: question for question in QUESTIONS}


class Well(HTMLParser):
    """Fails on a tag that is not closed in its place; keeps what it has read."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], Counter(), ""

    def handle_starttag(self, tag, attrs):
        assert {name for name, _ in attrs} <= {"style"}
        self.open.append(tag)
        self.seen[tag] += 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(source):
    parser = Well()
    parser.feed(source)
    parser.close()
    assert not parser.open
    return parser


@pytest.fixture
def shown(monkeypatch):
    """What `quiz` displays."""
    shown = []
    monkeypatch.setattr(module, "display", shown.append)
    monkeypatch.setattr(memory, "_here", memory.Done())
    return shown


def test_the_html_needs_nothing_else():
    page = read(Sheet(BY_NAME)._repr_html_())
    choices = sum(len(question.choices) for question in QUESTIONS)
    assert page.seen["details"] == page.seen["summary"] == choices
    assert set(page.seen) <= {"p", "details", "summary", "strong", "code", "em", "sub"}
    assert page.text.count("Right.") == len(QUESTIONS)
    assert page.text.count("Wrong.") == choices - len(QUESTIONS)
    said = re.sub("[_*]", "", page.text)
    for question in QUESTIONS:
        for text in (question.text, *question.choices, *question.choices.values()):
            assert re.sub("[`_*]", "", text) in said


def test_a_choice_says_right_or_wrong_behind_its_own_fold():
    question = Question("03", "q", "?", {"a": "no", "b": "yes", "c": "nor"}, "B", "Here")
    folds = re.findall("<details.*?</details>", Sheet({"03.1": question})._repr_html_(), flags=re.S)
    assert ["Right." in fold for fold in folds] == [False, True, False]
    assert ["Lesson 03" in fold for fold in folds] == [False, True, False]
    for fold, (choice, why) in zip(folds, question.choices.items(), strict=True):
        summary, answer = fold.split("</summary>")
        assert summary.endswith(f". {choice}")
        assert why in answer


def test_text_is_escaped():
    nasty = "`a < b` & <script>alert('x')</script>"
    question = Question("00", "q", nasty, {nasty + "1": nasty + "2", "c": "d"}, "A", nasty)
    page = read(Sheet({"03.1": question})._repr_html_())
    assert "script" not in page.seen
    assert page.text.count("<script>alert('x')</script>") == 4
    assert f"<code>{html.escape('a < b')}</code>" in Sheet({"03.1": question})._repr_html_()


def test_code_stress_and_low_letters_are_marked_each_in_its_own_way():
    assert module.marked("W_q x, not `W_q * x * y`; *not so*, 2 * 3 * 4, d_ff & `<pad>`") == (
        "W<sub>q</sub> x, not <code>W_q * x * y</code>; <em>not so</em>, 2 * 3 * 4, d_ff &amp; "
        "<code>&lt;pad&gt;</code>"
    )


def test_plain_text_keeps_the_secret():
    plain = repr(Sheet(BY_NAME))
    for question in QUESTIONS:
        assert question.text in plain
        for _, choice, why in question.lettered():
            assert choice in plain
            assert why not in plain
        assert f"Lesson {question.lesson}" not in plain
    assert "Right." not in plain
    assert "Wrong." not in plain


def test_a_notebook_stores_html_and_plain_text():
    """No Markdown: a page would take that before the HTML."""
    data, _ = DisplayFormatter().format(Sheet({"00.1": QUESTIONS[0]}))
    assert set(data) == {"text/html", "text/plain"}
    assert data["text/plain"].startswith("00.1 ")


def test_lessons_are_chosen(shown):
    quiz("03", "12")
    quiz("12", 3)  # as people write it
    quiz("12.2", "00")
    quiz()
    quiz("4.2", 4.3)
    two, again, some, every, padded = (sheet.questions for sheet in shown)
    assert list(padded) == ["04.2", "04.3"]
    assert two == again
    assert {question.lesson for question in two.values()} == {"03", "12"}
    assert list(some) == ["00.1", "00.2", "00.3", "00.4", "00.5", "12.2"]
    assert list(every.values()) == QUESTIONS
    assert {**every, **two, **some} == every  # a number does not depend on what is asked
    assert list(every) == sorted(every)


@pytest.mark.parametrize("unknown", ["31", "03.9", "attention"])
def test_an_unknown_lesson_is_named(shown, unknown):
    quiz("03", unknown)
    (message,) = shown
    assert repr(unknown) in message.data
    assert "'03'" not in message.data
    assert all(f"{lesson:02}" in message.data for lesson in range(18))


def test_the_exercises_do_not_notice():
    assert not [name for name in exercises() if name.startswith("quiz.")]


@pytest.mark.parametrize("turn", range(1, 20))
def test_a_lesson_opens_with_three_questions_two_of_them_on_earlier_lessons(turn):
    drawn = [question.lesson for question in recalled(f"{turn:02}").values()]
    assert len(drawn) == 3
    assert sum(int(lesson) < turn for lesson in drawn) >= 2
    assert max(map(int, drawn)) <= turn
    if turn > 1:
        assert len(set(drawn)) > 1


def test_the_first_lesson_has_no_earlier_ones_to_ask_of():
    assert {question.lesson for question in recalled("00").values()} == {"00"}


def test_no_question_opens_more_than_three_lessons():
    asked = Counter(number for turn in range(20) for number in recalled(turn))
    assert max(asked.values()) <= 3


def test_recall_shows_what_it_draws(capsys):
    recall("09")
    shown = capsys.readouterr().out
    for number, question in recalled("09").items():
        assert f"{number} {question.text}" in shown


# The score.


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """What is displayed, while answers are kept in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRANSFORMER_LIB_MINE", "on")
    shown = []
    monkeypatch.setattr(module, "display", shown.append)
    monkeypatch.setattr(memory, "_here", memory.Done())
    return shown


def test_an_answer_says_why_and_is_kept(kept):
    answer("00.1", "A")
    answer("00.1", "c")  # as people write it
    answer("00.2", "B")
    said = [repr(verdict) for verdict in kept]
    assert [text.split()[:2] for text in said] == [
        ["✗", "Wrong."],
        ["✓", "Right."],
        ["✓", "Right."],
    ]
    assert "You pair the first with the first" in said[0]
    assert "Lesson 00" not in said[0]
    assert "Lesson 00" in said[1]
    assert module.score() == (
        f"Quiz: 2 of {len(QUESTIONS)} questions answered, 2 rightly, 1 of them at the first try."
    )
    assert json.loads(memory.memory_path().read_text())["answers"] == {
        "a_column": ["A", "C"],
        "a_thousand_more": ["B", "B"],
    }


@pytest.mark.parametrize("number", ["04.2", "4.2", 4.2, " 4.2 "])
def test_a_number_is_understood_as_people_write_it(kept, number):
    answer(number, "b")
    assert repr(kept[0]).startswith("✓ Right.")
    assert json.loads(memory.memory_path().read_text())["answers"] == {
        "four_times_as_wide": ["B", "B"]
    }


def test_nothing_answered_yet(kept):
    assert module.score() == f"Quiz: none of {len(QUESTIONS)} questions answered yet."


@pytest.mark.parametrize("wrong", [("31.1", "A"), (4, "A"), ("00.1", "Z"), ("00.1", None)])
def test_what_is_no_question_or_no_choice_is_said(kept, wrong):
    answer(*wrong)
    assert "no " in kept[0].data
    assert not memory.memory_path().exists()


@pytest.mark.parametrize(
    "damage",
    [
        "{",
        "[1, 2]",
        '{"answers": {"a_column": "ABC"}}',
        '{"answers": {"a_column": 3}}',
        '{"x": 1}',
        "\0",
    ],
)
def test_a_damaged_file_gives_words_and_is_left_alone(kept, damage):
    memory.memory_path().write_text(damage)
    assert "cannot be read" in module.score()
    answer("00.1", "C")
    assert repr(kept[0]).startswith("✓ Right.")
    assert "Not kept: what you have done, in .mine.json, cannot be read" in kept[1].data
    assert memory.memory_path().read_text() == damage


def test_a_folder_that_cannot_be_written_is_said(kept, monkeypatch):
    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    answer("00.1", "C")
    assert "Not kept: no space left." in kept[1].data


def test_a_write_that_is_cut_off_leaves_the_old_file(kept, monkeypatch):
    answer("00.1", "C")
    before = memory.memory_path().read_text()
    monkeypatch.setattr(json, "dump", lambda *_, **__: 1 / 0)
    answer("00.2", "C")
    assert memory.memory_path().read_text() == before


def test_off_nothing_is_kept_and_nothing_read(kept, monkeypatch):
    answer("00.1", "C")
    monkeypatch.setenv("TRANSFORMER_LIB_MINE", "off")
    answer("00.2", "B")
    assert "none of" in module.score()
    assert list(json.loads(memory.memory_path().read_text())["answers"]) == ["a_column"]
    assert [repr(verdict)[0] for verdict in kept] == ["✓", "✓"]


def test_a_question_that_is_gone_does_not_count(kept):
    memory.memory_path().write_text('{"answers": {"gone": ["A", "B"]}}')
    assert "none of" in module.score()


def test_progress_shows_the_score(kept, monkeypatch):
    answer("00.1", "C")
    shown = []
    monkeypatch.setattr(package, "display", shown.append)
    package.progress()
    assert shown[0].data.endswith(module.score())
    assert "Quiz: 1 of" in shown[0].data


def test_answers_of_the_second_edition_count_on(kept):
    """They stood in a file of their own."""
    memory.memory_path().with_name(".mine.quiz.json").write_text('{"a_column": ["A", "C"]}')
    answer("00.2", "B")
    assert module.score().startswith("Quiz: 2 of")
