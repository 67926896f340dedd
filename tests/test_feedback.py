"""A student's page says what went wrong and where to go back to, and nothing of anybody else."""

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import PurePosixPath

import mistune
import pytest
from bs4 import BeautifulSoup

from transformer_lib.exercises import exercises
from transformer_lib.grading.classroom import (
    ABSENT,
    MISTAKE,
    OPEN,
    PASSED,
    UNJUDGED,
    Grades,
    Result,
    Row,
)
from transformer_lib.grading.feedback import as_html, as_markdown, write_feedback
from transformer_lib.grading.files import File
from transformer_lib.grading.homework import homework
from transformer_lib.grading.judge import Library, Step, _judged
from transformer_lib.grading.page import SIGNS, told
from transformer_lib.grading.points import read_points
from transformer_lib.grading.quiz_scores import QuizScore
from transformer_lib.grading.students import Student
from transformer_lib.grading.table import Table, marks
from transformer_lib.grading.versions import Version, _enter

SCORES, MASKED = homework("03").asked[:2]
CASE = "The smallest of our cases that goes wrong:\n\nscores (3,)\n  0 88 90\n\nyours ▸0◂    wanted ▸1◂\n```\n<b>"
SITE = "https://lessons.example"


def grades_of(*rows):
    """The first two exercises of lesson 03, given results for each student."""
    lesson = replace(homework("03"), asked=(SCORES, MASKED))
    return Grades([lesson], list(rows))


def row(name, first, second, **about):
    who = Student(name, **about)
    return Row(who, {SCORES.exercise: first, MASKED.exercise: second})


def page_of(grades, n=0, tmp=None, site=SITE, **changed):
    (mark, *_) = marks(grades, read_points(tmp), Table())[n:]
    mark = replace(mark, **changed)
    html = BeautifulSoup(as_html(grades, mark, site), "html.parser")
    return html, as_markdown(grades, mark, site)


def words(page):
    return " ".join(page.text.split())


@pytest.fixture
def nowhere(tmp_path):
    return tmp_path / "points.toml"


WRONG = Result(MISTAKE, "Your `mask` changes no score: <i>all</i> of W_q*x_* count.", CASE)


def test_it_has_the_sentence_the_case_and_the_link_of_what_is_wrong(nowhere):
    html, _ = page_of(grades_of(row("Ann", Result(PASSED), WRONG)), tmp=nowhere)
    assert html.h1.text == "Ann: 1 of 2 points"
    right, wrong = html.find_all("article")
    assert words(right.h3) == f"✓ {SCORES.answer} passed 1 of 1"
    assert right.find("a") is None
    assert words(wrong.h3) == f"✗ {MASKED.answer} not right yet 0 of 1"
    assert wrong.p.text == "Your mask changes no score: <i>all</i> of W_q*x_* count."
    assert wrong.p.code.text == "mask"
    assert wrong.pre.text == CASE
    assert wrong.a["href"] == f"{SITE}/{MASKED.address}"


def test_pasted_as_markdown_it_says_the_same(nowhere):
    _, text = page_of(grades_of(row("Ann *B* <b>", Result(PASSED), WRONG)), tmp=nowhere)
    html = BeautifulSoup(mistune.html(text), "html.parser")
    assert html.strong.text == "Ann *B* <b>: 1 of 2 points"
    assert "Your mask changes no score: <i>all</i> of W_q*x_* count." in html.text
    assert html.find("pre").text.rstrip("\n") == CASE
    assert html.a["href"] == f"{SITE}/{MASKED.address}"
    assert [code.text for code in html.find_all("code")][:2] == [SCORES.answer, MASKED.answer]
    assert not html.find_all(["em", "i", "b"])


def test_each_of_the_five_states_is_told_in_words(nowhere):
    for result, said in (
        (Result(OPEN), "not attempted"),
        (Result(UNJUDGED, "its time was up"), "could not be judged"),
        (Result(ABSENT), "not handed in"),
    ):
        html, text = page_of(grades_of(row("Ann", Result(PASSED), result)), tmp=nowhere)
        article = html.find_all("article")[1]
        assert said in article.h3.text
        assert f"`{MASKED.answer}`: {said} (0 of 1)." in text
        assert result.message in article.text
        assert (article.a is not None) == ("Go back to" in text) == (result.state != ABSENT)
    assert len(set(SIGNS.values())) == 5


def test_of_a_message_what_stands_between_two_backticks_is_code_and_nothing_else():
    shown = BeautifulSoup(told("`a < b` and <i>`c`</i>"), "html.parser")
    assert [code.text for code in shown.find_all("code")] == ["a < b", "c"]
    assert shown.text == "a < b and <i>c</i>"


def test_what_is_worth_nothing_has_no_points_beside_it(nowhere):
    lesson = replace(homework("03"), asked=(replace(SCORES, deeper=True), MASKED))
    grades = Grades([lesson], [row("Ann", Result(PASSED), Result(PASSED))])
    html, text = page_of(grades, tmp=nowhere)
    assert [len(part.find_all(class_="points")) for part in html.find_all("article")] == [0, 1]
    assert "passed.\n" in text
    assert "passed (1 of 1).\n" in text


def test_the_quiz_is_told_where_it_was_handed_in_and_counts_for_nothing(nowhere):
    ann, bob = (row(name, Result(PASSED), Result(PASSED)) for name in ("Ann", "Bob"))
    ann.quiz = QuizScore("Ann", first_right=2, right=3, answered=4, of=5)
    pages = [page_of(grades_of(ann, bob), n, tmp=nowhere) for n in (0, 1)]
    for said in (words(pages[0][0]), pages[0][1]):
        assert f"Quiz: {ann.quiz}. It does not count." in said
    assert not any("Quiz" in str(said) for said in pages[1])


def test_as_markdown_it_is_of_the_lessons_that_are_asked_for(nowhere):
    other = homework("00")
    ann = row("Ann", Result(PASSED), WRONG)
    ann.results |= {asked.exercise: Result(ABSENT) for asked in other.asked}
    grades = Grades([other, *grades_of(ann).lessons], [ann])
    (mark,) = marks(grades, read_points(nowhere), Table())
    for lessons in (["03"], ["00"], ["00", "03"], []):
        text = as_markdown(grades, mark, lessons=lessons)
        assert (MASKED.answer in text) == (lessons != ["00"])
        assert (other.asked[0].answer in text) == (lessons != ["03"])


def test_without_a_site_a_section_is_named_and_no_link(nowhere):
    html, text = page_of(grades_of(row("Ann", Result(PASSED), WRONG)), tmp=nowhere, site="")
    assert html.find("a") is None
    assert f"03 · {MASKED.section}" in html.text
    assert f"Go back to 03 · {MASKED.section}." in text


def test_it_asks_nothing_of_a_network_and_runs_nothing(nowhere):
    evil = row(
        "<script>1</script>", Result(MISTAKE, "<img src=x onerror=1>", "</pre><script>"), WRONG
    )
    html, _ = page_of(grades_of(evil), tmp=nowhere, comment="<script>")
    assert not html.find_all(["script", "link", "img", "iframe"])
    assert html.title.text.startswith("<script>1</script>")
    assert all(a["href"].startswith(SITE) for a in html.find_all("a"))
    assert not re.search(r"url\(|@import|https?:(?!//lessons\.example)", str(html))


def test_it_names_no_other_student_and_no_remark_for_the_teacher(nowhere):
    ann = row("Ann", Result(PASSED), WRONG)
    ann.remark("03: my_masked_softmax is like that of Bob")
    grades = grades_of(ann, row("Bob", Result(PASSED), WRONG))
    html, text = page_of(grades, tmp=nowhere)
    for said in (str(html), text):
        assert "Ann" in said
        assert "Bob" not in said


def test_what_the_teacher_says_and_sets_by_hand_stands_on_top(nowhere):
    grades = grades_of(row("Ann", Result(PASSED), WRONG))
    html, text = page_of(grades, tmp=nowhere, by_hand=Decimal("1.5"), comment="Nice.\nGo on!")
    assert html.h1.text == "Ann: 1.5 of 2 points"
    assert "set by your teacher" in html.find(class_="lead").text
    assert html.blockquote.text == "Nice.\nGo on!"
    assert text.startswith("**Ann: 1.5 of 2 points**\n\nNice.\nGo on!")
    html, text = page_of(grades, tmp=nowhere, by_hand=Decimal(0), comment="2 *a* ` <b>\n\n` *c*")
    assert "set by your teacher" in html.find(class_="lead").text
    assert text.startswith("**Ann: 0 of 2 points**")
    assert not BeautifulSoup(mistune.html(text), "html.parser").find_all(["em", "b"])


def test_a_file_that_could_not_be_read_is_named_to_its_student(nowhere):
    ann = row("Ann", Result(ABSENT), Result(ABSENT))
    ann.unread["03_scoring_functions.ipynb: the file is empty"] = "03"
    for shown in (
        words(page_of(grades_of(ann), tmp=nowhere)[0]),
        page_of(grades_of(ann), tmp=nowhere)[1],
    ):
        assert "Could not be judged: 03" in shown
        assert "the file is empty." in shown


def test_no_solution_and_no_wrong_answer_of_ours_is_on_a_page(nowhere):
    """A naive softmax, judged for real: its page has the case, and no line of a solution."""
    library = Library()

    def my_softmax(scores):
        return scores.exp() / scores.exp().sum(dim=-1, keepdim=True)

    (asked,) = [a for a in homework("00").asked if a.answer == "my_softmax"]
    event = _judged(library, Step("", exercise=asked.exercise, answer="my_softmax"), locals())
    version = Version(File(PurePosixPath("ann.ipynb"), bytes), homework("00"), [])
    version.program.steps.append(Step("", exercise=asked.exercise, answer="my_softmax"))
    version.results[asked.exercise] = Result(OPEN)
    _enter(version, 0, event)
    result = version.results[asked.exercise]
    one = Row(Student("Ann"), version.results)
    assert result.state == MISTAKE
    assert result.message.startswith("At large scores this fails")
    assert re.search(r"scores \(3,\)\n.*yours \(3,\) +wanted \(3,\)", result.case, re.S)
    html, text = page_of(Grades([replace(homework("00"), asked=(asked,))], [one]), tmp=nowhere)
    assert result.case in html.text
    assert result.case in text
    for code in ("amax", "max(", "keepdim", "def my_softmax", "return "):
        assert code not in html.text + text
    assert exercises()[asked.exercise].told["hints"][-1] not in html.text


def test_each_gets_two_files_also_those_whose_names_no_file_may_have(nowhere, tmp_path):
    names = ["a/b", "a:b", "a\\b", "=cmd", "ann", "Ann", "..", "x" * 300, "名前", "Max"]
    grades = grades_of(*(row(name, Result(PASSED), WRONG) for name in names[:-1]))
    grades.rows.append(row("Max", Result(PASSED), WRONG, entry="Max_7_assignsubmission_file_"))
    marked = marks(grades, read_points(nowhere), Table())
    paths = write_feedback(tmp_path / "pages", grades, marked)
    files = {path.name for path in (tmp_path / "pages").iterdir()}
    assert len({name.casefold() for name in files}) == 2 * len(names)
    for name, path in zip(names, paths, strict=True):
        page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        assert page.h1.text == f"{name}: 1 of 2 points"
        assert path.with_suffix(".md").exists()
    assert "=cmd.html" in files
    assert "Max_7_assignsubmission_file_.html" in files, "of two of that name it says which"
    assert not any(set(name) & set('/\\:*?"<>|') for name in files), "no system takes these"
    assert "名前.html" in files
