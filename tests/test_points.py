"""A table of points that a teacher edits, and a table of grades that keeps what they typed."""

import csv
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import PurePosixPath

import pytest

from transformer_lib.grading import classroom
from transformer_lib.grading.cells import neutral, restored
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
from transformer_lib.grading.files import File
from transformer_lib.grading.homework import homework
from transformer_lib.grading.points import default_points, in_digits, note_unsaid, read_points
from transformer_lib.grading.quiz_scores import QuizScore
from transformer_lib.grading.students import Student
from transformer_lib.grading.table import Table, marks, read_table, write_table
from transformer_lib.grading.versions import Version

LESSON = homework("00")
MIX, SOFTMAX = LESSON.asked
RESULTS = {
    "all right": (Result(PASSED), Result(PASSED)),
    "one mistake": (Result(PASSED), Result(MISTAKE, "At large scores this fails: in 32 bits …")),
    "half": (Result(PASSED), Result(MISTAKE, "Right, but it calls `softmax`: write it yourself.")),
    "not judged": (Result(UNJUDGED, "its time was up"), Result(OPEN)),
    "nothing": (Result(ABSENT), Result(ABSENT)),
}


def grades_of(**students):
    """A class by name: (id, what of `RESULTS` became of their exercises)."""
    rows = []
    for name, (number, which) in students.items():
        results = dict(zip((MIX.exercise, SOFTMAX.exercise), RESULTS[which], strict=True))
        rows.append(Row(Student(name, id=number), results))
    return Grades([LESSON], rows)


def written(tmp_path, text):
    path = tmp_path / "points.toml"
    path.write_text(text, encoding="utf-8")
    return path


def points_of(path, which):
    one = grades_of(x=("", which))
    (mark,) = marks(one, read_points(path), Table())
    return mark.points, mark.out_of


@pytest.mark.parametrize(
    ("which", "points"),
    [
        ("all right", "2"),
        ("one mistake", "1"),
        ("half", "1.5"),
        ("not judged", "0"),
        ("nothing", "0"),
    ],
)
def test_what_is_written_first_says_the_same_as_no_file(which, points, tmp_path):
    path = written(tmp_path, default_points(LESSON.asked))
    assert points_of(path, which) == points_of(tmp_path / "none", which) == (points, "2")


def test_a_teacher_changes_points_states_and_a_named_mistake(tmp_path):
    path = written(
        tmp_path,
        "\ufeff"  # Windows marks UTF-8
        '[exercises]\n"basics.mix" = 3\nbasics.softmax = 1.5\n'
        '[states]\n"not judged" = 1\n"right, but" = 0.75\n'
        '[mistakes."basics.softmax"]\n"large scores" = 0.2\n',
    )
    assert points_of(path, "all right") == ("4.5", "4.5")
    assert points_of(path, "one mistake") == ("3.3", "4.5"), "3 + 0.2 of 1.5"
    assert points_of(path, "half") == ("4.13", "4.5"), "3 + 0.75 of 1.5 is 4.125"
    assert points_of(path, "not judged") == ("3", "4.5")


def test_what_goes_deeper_counts_nothing_unless_a_teacher_says_so(tmp_path):
    deeper = replace(MIX, deeper=True)
    assert read_points(tmp_path / "none").most(deeper) == 0
    as_written = read_points(written(tmp_path, default_points([deeper, SOFTMAX])))
    assert (as_written.most(deeper), as_written.most(SOFTMAX)) == (0, 1)
    path = written(tmp_path, f'[exercises]\n"{deeper.exercise}" = 2')
    assert read_points(path).most(deeper) == 2


def test_of_what_goes_deeper_a_pass_is_not_counted():
    """Its pass in a table of one counted exercise, and beside another version."""
    lesson = replace(LESSON, asked=(replace(MIX, deeper=True), SOFTMAX))
    grades = Grades([lesson], grades_of(ann=("", "one mistake")).rows)
    assert grades.table()[1][:3] == ["ann", "0", "1"]
    version = Version(File(PurePosixPath("x.ipynb"), bytes), lesson, [])
    version.results = grades.rows[0].results
    assert classroom._how(version) == "passes 0 of 1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[exercises]\n\nbasics.mix 1", "is no TOML: .*line 3"),
        ('[exercises]\n"basics.mix" = "two"', "line 2: 'basics.mix' is two: it should be a number"),
        (
            '[exercises]\n"basics.mix" = -1',
            "line 2: 'basics.mix' is -1: it should be a number of 0",
        ),
        ('[exercises]\n"basics.mix" = true', "line 2: .* is True: it should be a number"),
        ('[exercises]\n"basics.mix" = nan', "line 2: .* is NaN: it should be a number"),
        ('[exercises]\n# basics.mixx\n"basics.mixx" = 1', "line 3: .*Did you mean basics.mix"),
        ("[states]\npased = 1", "line 2: there is no state 'pased', only passed, right, but"),
        ("[states]\npassed = 2", "line 2: 'passed' is 2: it should be a number from 0 to 1"),
        (
            '[mistakes]\n"Right" = 0.5',
            "line 2: there is no exercise 'Right'.*mistakes.\"EXERCISE\"",
        ),
        ('[mistakes]\n"basics.mix" = 0.5', 'line 2: of which mistake.*mistakes."basics.mix"'),
        ('[mistakes."basics.mix"]\n"Right" = 5', "line 2: 'Right' is 5: .* from 0 to 1"),
        ("\n[exercise]\n", "line 2: 'exercise' is none of the tables exercises, states"),
        ("exercises = 3", "line 1: 'exercises' is none of the tables"),
    ],
)
def test_what_is_no_table_of_points_is_refused_with_its_line(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read_points(written(tmp_path, text))


def test_an_exercise_that_the_file_does_not_name_is_told_with_the_line_to_add(tmp_path):
    path = written(tmp_path, '[exercises]\n"basics.mix" = 2')
    with pytest.warns(UserWarning, match='"basics.softmax" = 1  # lesson 00, `my_softmax`'):
        note_unsaid(read_points(path), path, LESSON.asked)


def test_points_are_written_as_people_write_them():
    told = ["2", "2.50", "0.333333", "10", "0.125", "100"]
    assert [in_digits(Decimal(x)) for x in told] == ["2", "2.5", "0.33", "10", "0.13", "100"]


# ---------------------------------------------------------------------------------------- grades.csv


def lines_of(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def graded(path, grades, points):
    """Grade into a file as the command does: by what is in it already."""
    before = read_table(path)
    marked = marks(grades, points, before)
    return marked, write_table(path, grades, marked, before)


@pytest.fixture
def table(tmp_path):
    """(path, points): a class of three, graded once."""
    path, points = tmp_path / "grades.csv", read_points(tmp_path / "none")
    graded(path, grades_of(ann=("7", "half"), bob=("8", "nothing"), cleo=("", "all right")), points)
    return path, points


def edit(path, change):
    """What a teacher does in a spreadsheet: rows as dictionaries, saved again."""
    rows = lines_of(path)
    change(rows)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_row_has_points_and_room_for_the_teachers(table):
    path, _ = table
    (ann, bob, _cleo) = lines_of(path)
    assert (ann["student"], ann["id"], ann["points"], ann["out of"]) == ("ann", "7", "1.5", "2")
    assert (ann["by hand"], ann["comment"], bob["points"]) == ("", "", "0")
    assert path.read_bytes().startswith(b"\xef\xbb\xbf"), "by which Excel knows UTF-8"


def test_what_was_typed_by_hand_survives_and_its_points_win(table):
    path, points = table

    def change(rows):
        for row in rows:
            row["group"] = f"of {row['student']}"
        rows[0] |= {"by hand": "1,75", "comment": "Well done, but\nname it."}
        rows[2]["by hand"] = "0"
        rows.reverse()

    edit(path, change)
    later = grades_of(ann=("7", "one mistake"), bob=("8", "all right"), cleo=("", "half"))
    marked, _ = graded(path, later, points)
    rows = lines_of(path)
    assert [row["student"] for row in rows] == ["cleo", "bob", "ann"], "the teacher's order"
    assert [row["group"] for row in rows] == ["of cleo", "of bob", "of ann"]
    ann = rows[2]
    assert (ann["by hand"], ann["points"]) == ("1,75", "1.75")
    assert ann["comment"] == "Well done, but\nname it."
    assert ann["00 basics.softmax"].startswith("mistake: At large scores"), (
        "the result is the new one"
    )
    assert rows[0]["points"] == "0", "of cleo, who would have 1.5"
    assert (marked[0].points, marked[0].comment) == ("1.75", "Well done, but\nname it.")
    assert rows[1]["points"] == "2"


def test_a_spreadsheets_semicolons_are_read_and_kept(table):
    path, points = table
    edit(path, lambda rows: rows[1].update({"by hand": "1", "comment": "late; excused"}))
    rows = lines_of(path)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=";")
        writer.writeheader()
        writer.writerows(rows)
    graded(path, grades_of(bob=("8", "nothing")), points)
    with path.open(encoding="utf-8-sig", newline="") as file:
        bob = list(csv.DictReader(file, delimiter=";"))[1]
    assert (bob["by hand"], bob["points"], bob["comment"]) == ("1", "1", "late; excused")


def test_who_is_not_graded_now_keeps_the_row(table):
    path, points = table
    before = lines_of(path)
    graded(path, grades_of(bob=("8", "all right"), dan=("9", "half")), points)
    after = lines_of(path)
    assert [row["student"] for row in after] == ["ann", "bob", "cleo", "dan"]
    assert (after[0], after[2]) == (before[0], before[2])
    assert after[1]["points"] == "2"


def test_the_table_as_it_was_is_kept_and_only_where_something_changes(table):
    path, points = table
    was = path.read_bytes()
    same = grades_of(ann=("7", "half"), bob=("8", "nothing"), cleo=("", "all right"))
    assert graded(path, same, points)[1] is None
    kept = graded(path, grades_of(ann=("7", "all right")), points)[1]
    assert kept.read_bytes() == was
    assert sorted(os.listdir(path.parent)) == sorted([path.name, kept.name])
    again = graded(path, grades_of(ann=("7", "nothing")), points)[1]
    assert len({path, kept, again}) == len(os.listdir(path.parent)) == 3, "each that was replaced"


def test_two_students_of_one_name_are_told_apart_by_id_and_never_share_a_row(tmp_path):
    path, points = tmp_path / "grades.csv", read_points(tmp_path / "none")
    max1, max2 = (grades_of(Max=(number, "half")).rows[0] for number in ("1", "2"))
    graded(path, Grades([LESSON], [max1, max2]), points)
    edit(path, lambda rows: rows[1].update({"by hand": "2"}))
    marked, _ = graded(path, Grades([LESSON], [max2, max1]), points)
    assert [(m.who.id, m.points) for m in marked] == [("2", "2"), ("1", "1.5")]
    path.unlink()
    graded(path, grades_of(Max=("", "half")), points)
    graded(path, Grades([LESSON], [max1, max2]), points)
    assert [row["id"] for row in lines_of(path)] == ["", "1", "2"], "whose it was is not guessed"


def test_a_student_is_followed_by_id_whatever_the_name(tmp_path):
    path, points = tmp_path / "grades.csv", read_points(tmp_path / "none")
    graded(path, grades_of(Max=("1", "half"), Ann=("", "nothing")), points)
    graded(path, grades_of(Ann=("1", "all right")), points)
    graded(path, grades_of(Ann=("2", "half"), Max=("3", "half")), points)
    assert [(row["student"], row["id"]) for row in lines_of(path)] == [
        ("Ann", "1"),
        ("Ann", "2"),
        ("Max", "3"),
    ]


def test_empty_lines_go_and_a_column_called_like_a_formula_keeps_its_name(table):
    path, points = table
    edit(path, lambda rows: [row.update({"=n": "x"}) for row in rows])
    with path.open("a", encoding="utf-8") as file:
        file.write("," * (len(lines_of(path)[0]) - 1) + "\r\n")
    for which in ("half", "all right"):
        graded(path, grades_of(ann=("7", which)), points)
    rows = lines_of(path)
    assert [row["student"] for row in rows] == ["ann", "bob", "cleo"]
    assert [name for name in rows[0] if "=" in name] == ["'=n"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"student,by hand\nann,good\n", r"line 2: 'by hand' has 'good', where points"),
        (b"student,by hand\nann,-1\n", r"line 2: 'by hand' has '-1'"),
        (b"student,id\nann\n", "line 2: 1 cells below 2 columns"),
        (b"name,points\nann,1\n", "its first line is name, points, where student"),
        (b"student,note,note\n", "each once"),
        ("student\nJörg\n".encode("latin-1"), "is not UTF-8 .* “CSV UTF-8”"),
    ],
)
def test_a_table_that_cannot_be_read_is_left_alone_and_says_why(content, message, tmp_path):
    path = tmp_path / "grades.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(path)
    assert path.read_bytes() == content


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "'=1", "''=1", "＝1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_is_a_formula_and_each_comes_back(text):
    assert neutral(text).startswith("'")
    assert restored(neutral(text)) == text


@pytest.mark.parametrize(
    "text", ["", "Ann", "-3", "+4", "-2,5", "-50%", "'-3", "-", "O'Neil", "'tis", "1=1"]
)
def test_what_is_no_formula_stays_as_it_is(text):
    assert neutral(text) == text == restored(text)


def test_a_student_called_like_a_formula_finds_the_row_again(tmp_path):
    path, points = tmp_path / "grades.csv", read_points(tmp_path / "none")
    grades = grades_of(**{"=cmd": ("", "half"), "'=cmd": ("", "nothing")})
    graded(path, grades, points)
    assert [row["student"] for row in lines_of(path)] == ["'=cmd", "''=cmd"]
    edit(path, lambda rows: rows[0].update({"by hand": "2", "comment": "=HYPERLINK(1)"}))
    marked, _ = graded(path, grades, points)
    assert [mark.points for mark in marked] == ["2", "0"]
    assert lines_of(path)[0]["comment"] == "'=HYPERLINK(1)"


def test_the_quiz_has_a_column_and_counts_for_no_point(tmp_path):
    path, points = tmp_path / "grades.csv", read_points(tmp_path / "none")
    grades = grades_of(ann=("7", "half"), bob=("8", "half"))
    grades.rows[0].quiz = QuizScore("Ann", first_right=2, right=3, answered=4, of=5)
    graded(path, grades, points)
    ann, bob = lines_of(path)
    assert ann["quiz"] == "2 of 5 right at the first try, 3 in the end, 4 answered"
    assert (bob["quiz"], ann["points"]) == ("", bob["points"])
