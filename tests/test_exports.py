"""What an LMS or an autograder is given, read back by what it documents. None of them was asked."""

import base64
import csv
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import unicodedata
import zipfile
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import jsonschema
import nbformat
import planted_class
import pytest
from bs4 import BeautifulSoup
from ruamel.yaml import YAML
from test_workflows import judged

from transformer_lib.cli import main
from transformer_lib.exercises.quiz.handing_in import HANDED_IN
from transformer_lib.exercises.quiz.questions import QUESTIONS
from transformer_lib.grading import autograders
from transformer_lib.grading.classroom import MISTAKE, PASSED, Grades, Result, Row, grade_class
from transformer_lib.grading.give_back import check_target, give_back
from transformer_lib.grading.gradebooks import CANVAS, GRADEBOOKS, MOODLE, PLAIN, as_csv, fill
from transformer_lib.grading.homework import homework
from transformer_lib.grading.points import read_points
from transformer_lib.grading.returns import canvas_zip, moodle_zip
from transformer_lib.grading.sheet import read_sheet
from transformer_lib.grading.students import Student
from transformer_lib.grading.table import Table, marks

LESSON = homework("00")
MIX, SOFTMAX = LESSON.asked
HALF = (Result(PASSED), Result(MISTAKE, "Right, but it calls <softmax>.", "a case"))


def grades_of(*students, results=HALF):
    rows = []
    for who in students:
        row = Row(who, dict(zip((MIX.exercise, SOFTMAX.exercise), results, strict=True)))
        row.remark("a remark for the teacher")
        rows.append(row)
    return Grades([LESSON], rows)


def marked(grades):
    return marks(grades, read_points(Path("no such file")), Table())


def filled(book, text, *students, column="", tmp_path):
    path = tmp_path / "exported.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    grades = grades_of(*students)
    return fill(book, path, grades, marked(grades), column)


def table_of(content, delimiter=","):
    return list(
        csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=delimiter)
    )


# ------------------------------------------------------------------- cells are changed, bytes are not

ODD = [
    'name,"a ""b""",c\r\n"x,y",,"1\r\n2"\r\n\r\nlast,2,3\r\n',
    "a;b\n1,5;2\n",
    "﻿a\tb\n1\t2",
    "a,b\r1,2\r",
    '"a","b"\n"",""\n',
    '"a; b; c",d\n1,2\n',
]


@pytest.mark.parametrize("text", ODD)
def test_a_file_without_changes_comes_back_byte_for_byte(text, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    sheet = read_sheet(path)
    assert sheet.changed() == text.encode()
    rows = [row for row in table_of(text.encode(), sheet.delimiter) if row]
    assert [[cell.value for cell in row] for row in sheet.rows] == rows


def test_behind_the_end_of_a_row_a_cell_says_nothing_and_takes_nothing(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1\n")
    sheet = read_sheet(tmp_path / "x.csv")
    assert (sheet.value(1, 0), sheet.value(1, 1)) == ("1", "")
    with pytest.raises(ValueError, match="row 2: 1 cells, where the first row has 2"):
        sheet.change(1, 1, "x")


def test_of_random_tables_exactly_the_changed_cells_are_others(tmp_path):
    draw = random.Random(5)
    path = tmp_path / "x.csv"
    for _ in range(60):
        delimiter, end = draw.choice(",;\t"), draw.choice(["\n", "\r\n"])
        cells = ["", "a", "ä b", 'q"q', "x,y;z\tw", "1\n2", " 3 ", "'=1"]
        table = [["first", "second", "third"]]
        table += [[draw.choice(cells) for _ in range(3)] for _ in range(draw.randint(1, 5))]
        table = [row if any(row) else ["a", "", ""] for row in table]
        text = io.StringIO()
        quoting = draw.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
        csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting).writerows(table)
        path.write_bytes(text.getvalue().encode())
        sheet = read_sheet(path)
        row, column = draw.randrange(1, len(table)), draw.randrange(3)
        value = draw.choice(["2.5", 'new "text"' + delimiter, "two\nlines", "two\rlines", ""])
        sheet.change(row, column, value)
        table[row][column] = value
        assert table_of(sheet.changed(), delimiter) == table


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b'a,b\n1,"2\n', "line 2: a quotation mark is not closed"),
        (b'a,b\n"1"x,2\n', "line 2: .* something stands behind"),
        ("Jörg,b\n".encode("latin-1"), "is not UTF-8"),
    ],
)
def test_what_is_no_csv_file_is_refused(content, message, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_sheet(path)


# -------------------------------------------------------------------------------------- an LMS's file

CANVAS_FILE = (
    "Student,ID,SIS User ID,SIS Login ID,Section,Quiz 1 (111),Lesson 00 (98765),Final Score\r\n"
    ",,,,,,Manual Posting,\r\n"
    "    Points Possible,,,,,10,2,(read only)\r\n"
    '"Müller, Tina",12345,S-1,tmueller,"A, B",9,,88.1\r\n'
    '"Klein, Eva",12346,S-2,eklein,A,8,1,\r\n'
    "'=cmd,12347,S-3,cmd,A,,,\r\n"
    '"Fehlt, Ute",12348,S-4,ute,A,,0.5,\r\n'
    '"Student, Test",999,,,A,,,\r\n'
)
TINA, EVA = Student("muellertina", id="12345"), Student("Eva Klein")
CMD, UTE = Student("=cmd"), Student("Fehlt", login="UTE")


def test_canvas_gets_its_own_file_with_our_points_in_the_one_column(tmp_path):
    done = filled(CANVAS, CANVAS_FILE, TINA, EVA, CMD, UTE, column="Lesson 00", tmp_path=tmp_path)
    new = [line.split(",") for line in done.content.decode().split("\r\n")]
    old = [line.split(",") for line in CANVAS_FILE.split("\r\n")]
    changed = {
        (n, line[-2]) for n, (line, was) in enumerate(zip(new, old, strict=True)) if line != was
    }
    assert changed == {(3, "1.5"), (4, "1.5"), (5, "1.5"), (6, "1.5")}
    assert [line[:-2] + line[-1:] for line in new] == [line[:-2] + line[-1:] for line in old]
    assert done.matched == 4
    tina = Student("T. M.", id="S-1")
    assert filled(CANVAS, CANVAS_FILE, tina, column="Lesson 00", tmp_path=tmp_path).matched == 1


def test_what_stood_there_and_who_is_left_is_said(tmp_path):
    stranger = Student("Nobody Knows", id="4711", email="n@example.org")
    done = filled(
        CANVAS, CANVAS_FILE, TINA, EVA, stranger, column="Lesson 00 (98765)", tmp_path=tmp_path
    )
    assert done.matched == 2
    assert done.notes == [
        "Eva Klein had 1 there, and has 1.5 now",
        "Nobody Knows (4711), 1.5 points, is not matched: no row has that name or id",
        "nothing of these was graded, and their cells stay: =cmd; Fehlt, Ute; Student, Test",
    ]


def test_another_number_of_points_possible_is_said(tmp_path):
    text = CANVAS_FILE.replace(",10,2,", ",10,20,")
    done = filled(CANVAS, text, TINA, column="Lesson 00", tmp_path=tmp_path)
    said = "Canvas has 20 as the most there is, and here it is 2: change one of them"
    assert any(note.startswith(said) for note in done.notes)


def test_which_column_is_meant_is_asked_and_not_guessed(tmp_path):
    with pytest.raises(
        ValueError, match=r"give --column one of 'Quiz 1 \(111\)', 'Lesson 00 \(98765\)'"
    ):
        filled(CANVAS, CANVAS_FILE, TINA, tmp_path=tmp_path)
    with pytest.raises(ValueError, match=r"no column 'Lesson 07'.*'Lesson 00 \(98765\)'"):
        filled(CANVAS, CANVAS_FILE, TINA, column="Lesson 07", tmp_path=tmp_path)
    with pytest.raises(ValueError, match="no column 'Lesson 0'"):
        filled(CANVAS, CANVAS_FILE, TINA, column="Lesson 0", tmp_path=tmp_path)
    only = CANVAS_FILE.replace("Quiz 1 (111)", "Notes")
    assert filled(CANVAS, only, TINA, tmp_path=tmp_path).matched == 1


MOODLE_FILE = (
    '﻿Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",'
    '"Last modified (submission)","Last modified (grade)","Feedback comments"\n'
    '"Participant 123457","Jörg Groß",joerg@example.org,"Submitted for grading",,2.00,Yes,'
    '"Monday, 1 June 2026, 9:00 AM",-,\n'
    '"Participant 123458","Max Weber",max1@example.org,"No submission",,2.00,Yes,-,-,\n'
    '"Participant 123459","Max Weber",max2@example.org,"No submission",1.50,2.00,Yes,-,-,"<p>mine</p>"\n'
    '"Participant 123460","Ann Abel",Ann@Example.org,"No submission",,2.00,Yes,-,-,\n'
)
JOERG, MAX = Student("Jörg Groß", id="123457"), Student("Max Weber", id="123459")
ANN = Student("A. Abel", email="ann@example.org")


def test_moodle_gets_its_worksheet_with_grades_and_comments(tmp_path):
    done = filled(MOODLE, MOODLE_FILE, JOERG, MAX, ANN, tmp_path=tmp_path)
    assert done.content.startswith("﻿Identifier".encode())
    old, new = table_of(MOODLE_FILE.encode()), table_of(done.content)
    grade, comment = old[0].index("Grade"), old[0].index("Feedback comments")
    assert [row[grade] for row in new[1:]] == ["1.5", "", "1.5", "1.5"]
    assert new[3][comment] == "<p>mine</p>", "what a teacher wrote there stays"
    assert new[1][comment] == (
        "00 my_mix: passed<br>00 my_softmax: mistake: Right, but it calls &lt;softmax&gt;."
    )
    for was, line in zip(old, new, strict=True):
        assert line[:grade] + line[grade + 1 : comment] == was[:grade] + was[grade + 1 : comment]
    assert done.notes == ["nothing of these was graded, and their cells stay: Max Weber"]
    ungraded = MOODLE_FILE.replace('for grading",,', 'for grading",-,').replace(",,2.00", ",,")
    assert filled(MOODLE, ungraded, JOERG, MAX, ANN, tmp_path=tmp_path).notes == done.notes


def test_moodle_shows_a_comment_as_text_and_is_asked_for_its_maximum(tmp_path):
    path = tmp_path / "exported.csv"
    path.write_text(MOODLE_FILE.replace("2.00", "20.00"), encoding="utf-8")
    grades = grades_of(Student(unicodedata.normalize("NFD", "Jörg Groß")))  # as macOS spells it
    done = fill(MOODLE, path, grades, [replace(marked(grades)[0], comment="=1+1 <b>")])
    assert table_of(done.content)[1][-1].startswith("'=1+1 &lt;b&gt;<br>00 my_mix: passed")
    assert done.notes[-1].startswith("Moodle has 20.00 as the most there is, and here it is 2")


def test_of_two_with_one_name_none_is_taken_for_the_other(tmp_path):
    done = filled(MOODLE, MOODLE_FILE, Student("Max Weber"), tmp_path=tmp_path)
    assert done.content == MOODLE_FILE.encode()
    assert "Max Weber, 1.5 points, is not matched: 2 rows have that name" in done.notes
    one = "\n".join(line for line in MOODLE_FILE.split("\n") if "123458" not in line)
    other = Student("Max Weber", id="123458")
    done = filled(MOODLE, one, JOERG, other, tmp_path=tmp_path)
    assert any(
        "123458" in note and "there is only Participant 123459" in note for note in done.notes
    )
    done = filled(MOODLE, one, replace(JOERG, id="S1"), replace(other, id="S2"), tmp_path=tmp_path)
    assert done.matched == 2, "where the ids are of another kind, a name that is one alone counts"
    for text, who in (
        (MOODLE_FILE.replace("123458", "123459"), MAX),
        (MOODLE_FILE.replace("max1@", "max2@"), Student("M. W.", email="max2@example.org")),
    ):
        assert filled(MOODLE, text, who, tmp_path=tmp_path).matched == 0
    twins = (Student("Jörg Groß"), Student("Groß, Jörg"))
    assert filled(MOODLE, MOODLE_FILE, *twins, tmp_path=tmp_path).matched == 0


def test_a_teachers_own_table_is_filled_by_name_or_mail_and_keeps_its_semicolons(tmp_path):
    text = "Name;E-Mail; Punkte;Notiz\nAnn Abel;ann@example.org;;=SUM(A1)\nEva Klein;;1,5;x\n"
    done = filled(PLAIN, text, ANN, EVA, column="Punkte", tmp_path=tmp_path)
    assert done.content.decode() == text.replace("org;;", "org;1.5;").replace(";1,5;", ";1.5;")
    assert done.notes == [], "of 1,5 points that are 1.5 points"
    text = "E-Mail,Points\nann@example.org,\n"
    assert filled(PLAIN, text, ANN, tmp_path=tmp_path).content.decode() == text.replace(
        ",\n", ",1.5\n"
    )


@pytest.mark.parametrize("book", GRADEBOOKS)
def test_the_file_of_another_program_is_refused(book, tmp_path):
    other = {"canvas": MOODLE_FILE, "moodle": CANVAS_FILE, "csv": "a,b\n1,2\n"}[book]
    path = tmp_path / "exported.csv"
    path.write_text(other, encoding="utf-8")
    with pytest.raises(ValueError, match=r"has no column '|has not one column for the points"):
        check_target(book, path, "")


def test_a_gradebook_that_nobody_fills_is_refused(tmp_path):
    with pytest.raises(ValueError, match="--gradebook needs --for canvas, moodle, csv"):
        check_target(None, tmp_path / "x.csv", "")
    with pytest.raises(ValueError, match="--column needs --for"):
        check_target("github", None, "x")


def test_without_an_exported_file_each_has_its_documented_columns(tmp_path):
    grades = grades_of(replace(TINA, login="tm"), CMD)
    canvas, moodle, plain = (
        table_of(as_csv(book.new(grades, marked(grades), ""))) for book in GRADEBOOKS.values()
    )
    assert canvas == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lesson 00"],
        ["    Points Possible", "", "", "", "", "2"],
        ["muellertina", "12345", "", "tm", "", "1.5"],
        ["'=cmd", "", "", "", "", "1.5"],
    ]
    rows = [dict(zip(moodle[0], row, strict=True)) for row in moodle[1:]]
    assert [row["Identifier"] for row in rows] == ["Participant 12345", ""]
    assert {(row["Grade"], row["Last modified (grade)"]) for row in rows} == {("1.5", "-")}
    assert plain[0][:5] == ["name", "id", "login", "email", "points"]
    assert plain[2][0] == "'=cmd"


@pytest.mark.parametrize("book", GRADEBOOKS)
def test_what_is_written_new_can_be_filled_again(book, tmp_path):
    grades = grades_of(replace(TINA, login="tm"), CMD, UTE)
    text = as_csv(GRADEBOOKS[book].new(grades, marked(grades), ""))
    column = {"canvas": "Lesson 00"}.get(book, "")
    done = filled(GRADEBOOKS[book], text, TINA, CMD, UTE, column=column, tmp_path=tmp_path)
    assert (done.matched, done.notes, done.content) == (3, [], text)


# ---------------------------------------------------------------------------------- feedback in a zip


def test_moodle_finds_each_page_by_the_folder_that_it_named(tmp_path):
    """Its importer splits a folder at `_`: the name, a number, assignsubmission, file."""
    entry = "Jörg Groß_123457_assignsubmission_file_"
    flat = "Max Weber_123459_assignsubmission_file_00_start_here.ipynb"
    odd = replace(MAX, name="Max_We/ber", entry=flat)
    grades = grades_of(replace(JOERG, entry=entry), odd, replace(EVA, id="S-2"))
    assert moodle_zip(tmp_path / "f.zip", grades, marked(grades)) == ["Eva Klein"]
    with zipfile.ZipFile(tmp_path / "f.zip") as file:
        names = file.namelist()
        page = BeautifulSoup(file.read(names[0]), "html.parser")
    assert names[0] == f"{entry}/feedback.html"
    assert page.h1.text.startswith("Jörg Groß: ")
    for name, number in zip(names, ("123457", "123459"), strict=True):
        folder, file_name = name.split("/")
        _, participant, kind, plugin, rest = folder.split("_", 4)
        assert (participant, kind, plugin, rest) == (number, "assignsubmission", "file", "")
        assert file_name == "feedback.html"


def test_canvas_finds_each_notebook_by_the_two_numbers_in_its_name(tmp_path):
    """It takes the first two parts that are digits alone: the user and the file that was handed in."""
    name = "muellertina_LATE_12345_678910_00_start_here-1.ipynb"
    handed = tmp_path / name
    handed.write_text(json.dumps(planted_class.RIGHT), encoding="utf-8")
    grades = grades_of(TINA, EVA)
    grades.rows[0].taken["00"] = handed
    grades.rows[1].taken["00"] = tmp_path / "00_start_here.ipynb"
    was = handed.read_bytes()
    assert canvas_zip(tmp_path / "f.zip", grades, marked(grades)) == ["Eva Klein"]
    with zipfile.ZipFile(tmp_path / "f.zip") as file:
        assert file.namelist() == [name]
        notebook = nbformat.reads(file.read(name).decode(), 4)
    assert [part for part in name.split("_") if part.isdigit()][:2] == ["12345", "678910"]
    nbformat.validate(notebook)
    first, *rest = notebook.cells
    assert "1.5 of 2 points" in first.source
    assert first.id == "feedback", "which a notebook of today has to have"
    assert rest == nbformat.reads(json.dumps(planted_class.RIGHT), 4).cells
    assert handed.read_bytes() == was
    for cell in notebook.cells:
        del cell["id"]
    handed.write_text(json.dumps({**notebook, "nbformat_minor": 4}), encoding="utf-8")
    canvas_zip(tmp_path / "again.zip", grades, marked(grades))
    with zipfile.ZipFile(tmp_path / "again.zip") as file:
        again = json.loads(file.read(name))
    assert len(again["cells"]) == len(notebook.cells), "in place of what was said before"
    assert not any("id" in cell for cell in again["cells"]), "and one of yesterday must not"


def test_beside_a_notebook_canvas_is_given_what_is_said_of_its_lesson_alone(tmp_path):
    handed = tmp_path / "muellertina_12345_678910_00_start_here.ipynb"
    handed.write_text(json.dumps(planted_class.RIGHT), encoding="utf-8")
    other, grades = homework("03"), grades_of(TINA)
    grades.rows[0].taken["00"] = handed
    grades.rows[0].results |= {asked.exercise: Result(PASSED) for asked in other.asked}
    grades = Grades([LESSON, other], grades.rows)
    canvas_zip(tmp_path / "f.zip", grades, marked(grades))
    with zipfile.ZipFile(tmp_path / "f.zip") as file:
        first = json.loads(file.read(handed.name))["cells"][0]["source"]
    assert MIX.answer in first
    assert other.asked[0].answer not in first


def test_without_a_gradebook_there_is_a_new_one_a_zip_and_who_is_not_in_it(tmp_path):
    grades = grades_of(JOERG, EVA)
    site = "https://lessons.example"
    said = list(
        give_back("moodle", tmp_path / "g.csv", grades, marked(grades), column="HW 7", site=site)
    )
    assert "HW 7" in table_of((tmp_path / "g.moodle.csv").read_bytes())[0]
    with zipfile.ZipFile(tmp_path / "g.moodle.zip") as file:
        (name,) = file.namelist()
        assert f'href="{site}/' in file.read(name).decode()
    assert said[-1].endswith("has no file name of theirs: Eva Klein")
    again = list(give_back("moodle", tmp_path / "g.csv", grades_of(JOERG), marked(grades)[:1]))
    assert not any("not in it" in line for line in again)


@pytest.mark.parametrize("text", ["print(1)", json.dumps(planted_class.of_format_3())])
def test_what_has_no_cells_of_today_gets_none_and_is_named(text, tmp_path):
    handed = tmp_path / "kleineva_12346_678901_00_start_here.py"
    handed.write_text(text, encoding="utf-8")
    grades = grades_of(EVA)
    grades.rows[0].taken["00"] = handed
    assert canvas_zip(tmp_path / "f.zip", grades, marked(grades)) == ["Eva Klein"]


def test_a_notebook_in_the_zip_that_canvas_gave_is_found_in_it(tmp_path):
    name = "muellertina_12345_678910_00_start_here.ipynb"
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as file:
        file.writestr(name, json.dumps(planted_class.RIGHT))
    grades = grades_of(TINA, EVA)
    grades.rows[0].taken["00"] = tmp_path / "submissions.zip" / name
    grades.rows[1].taken["00"] = tmp_path / "submissions.zip" / f"klein_1_2_{name}"
    assert canvas_zip(tmp_path / "f.zip", grades, marked(grades)) == ["Eva Klein"]
    with zipfile.ZipFile(tmp_path / "f.zip") as file:
        assert file.namelist() == [name]


# ---------------------------------------------------------------------------------------- autograders

# From Gradescope's documentation of results.json: every key, and the words that are allowed.
FORMAT = {"enum": ["text", "html", "simple_format", "md", "ansi"]}
VISIBLE = {"enum": ["hidden", "after_due_date", "after_published", "visible"]}
GRADESCOPE = {
    "type": "object",
    "anyOf": [{"required": ["score"]}, {"required": ["tests"]}],
    "additionalProperties": False,
    "properties": {
        "score": {"type": "number"},
        "execution_time": {"type": "number"},
        "output": {"type": "string"},
        **dict.fromkeys(("output_format", "test_output_format", "test_name_format"), FORMAT),
        "visibility": VISIBLE,
        "stdout_visibility": VISIBLE,
        "extra_data": {"type": "object"},
        "leaderboard": {"type": "array"},
        "tests": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "score": {"type": "number"},
                    "max_score": {"type": "number"},
                    "status": {"enum": ["passed", "failed"]},
                    "name": {"type": "string"},
                    "name_format": FORMAT,
                    "number": {"type": "string"},
                    "output": {"type": "string"},
                    "output_format": FORMAT,
                    "tags": {"type": "array"},
                    "visibility": VISIBLE,
                    "extra_data": {"type": "object"},
                },
            },
        },
    },
}


def test_gradescope_reads_points_tests_and_the_smallest_case():
    grades = grades_of(TINA)
    results = json.loads(json.dumps(autograders.gradescope_results(grades, marked(grades)[0])))
    jsonschema.validate(results, GRADESCOPE)
    assert results["score"] == 1.5 == sum(test["score"] for test in results["tests"])
    assert [test["status"] for test in results["tests"]] == ["passed", "failed"]
    assert "a case" in results["tests"][1]["output"]
    assert "remark" not in json.dumps(results)
    assert "no notebook of lesson 00 that can be read" in results["output"]
    grades.rows[0].taken["00"] = Path("00.ipynb")
    assert "no notebook" not in autograders.gradescope_results(grades, marked(grades)[0])["output"]
    most = {MIX.exercise: Decimal(3), SOFTMAX.exercise: Decimal(1)}
    by_hand = replace(marked(grades)[0], by_hand=Decimal(2), comment="See me.", most=most)
    results = autograders.gradescope_results(grades, by_hand)
    assert (results["score"], results["output"]) == (2, "See me.")
    shown = [(test["max_score"], test["visibility"]) for test in results["tests"]]
    assert shown == [(3, "visible"), (1, "visible")]


def test_github_classroom_adds_up_the_points_of_the_tests():
    """As its reporter does: `score` of every test, and `max_score` of the runner."""
    grades = grades_of(TINA)
    results = json.loads(json.dumps(autograders.github_results(grades, marked(grades)[0])))
    assert (sum(test["score"] for test in results["tests"]), results["max_score"]) == (1.5, 2)
    assert (results["version"], results["status"]) == (1, "fail")
    assert [test["status"] for test in results["tests"]] == ["pass", "fail"]
    right = grades_of(TINA, results=(Result(PASSED), Result(PASSED)))
    assert autograders.github_results(right, marked(right)[0])["status"] == "pass"


@pytest.mark.parametrize("target", ["gradescope", "github"])
def test_results_of_one_student_are_not_those_of_a_class(target, tmp_path):
    grades = grades_of(TINA, EVA)
    with pytest.raises(ValueError, match="of one student, and 2 are here"):
        list(give_back(target, tmp_path / "g.csv", grades, marked(grades)))


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """The zip for Gradescope, unpacked as Gradescope does: into source/."""
    folder = tmp_path_factory.mktemp("autograder")
    path = folder / "autograder.zip"
    assert main(["autograder", "gradescope", "--lessons", "00", "--out", str(path)]) == 0
    with zipfile.ZipFile(path) as file:
        names = file.namelist()
        runs = file.getinfo("run_autograder").external_attr >> 16
        file.extractall(folder / "source")
    return folder, names, runs


def test_the_zip_has_its_two_scripts_at_the_root_and_the_project_without_leftovers(archive):
    folder, names, runs = archive
    assert {"setup.sh", "run_autograder", "points.toml"} == {n for n in names if "/" not in n}
    assert runs & 0o111 == 0o111, "it can be executed"
    assert "project/pyproject.toml" in names
    assert "project/transformer_lib/exercises/own/mine.py" in names
    assert not [n for n in names if re.search(r"__pycache__|/\.|notebooks/", n)]
    for script in ("setup.sh", "run_autograder"):
        text = (folder / "source" / script).read_text(encoding="utf-8")
        assert text.startswith("#!/usr/bin/env bash\n")
        done = subprocess.run(
            ["bash", "-n"], input=text, text=True, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert read_points(folder / "source" / "points.toml").most(MIX) == 1


def test_the_light_torch_is_the_line_that_readme_has(archive):
    folder, *_ = archive
    line = next(x for x in (folder / "source/setup.sh").read_text().splitlines() if "grep" in x)
    shown = f'{line}\necho "$PIP_EXTRA_INDEX_URL"'
    done = subprocess.run(
        ["bash", "-e", "-c", shown],
        cwd=folder / "source",
        capture_output=True,
        text=True,
        check=True,
    )
    readme = (autograders.PROJECT / "README.md").read_text(encoding="utf-8")
    assert f"\nexport PIP_EXTRA_INDEX_URL={done.stdout}" in readme
    assert done.stdout.startswith("https://")


def submitted(folder, name):
    """What a student of the planted class has handed in, in a folder of its own."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text = planted_class.text_of(planted_class.SUBMISSIONS[f"{name}.ipynb"])
    (folder / f"{name}.ipynb").write_text(text, encoding="utf-8")
    return folder


def test_gradescope_github_and_the_teacher_get_the_same_verdicts(archive, tmp_path):
    """Of the planted class: at once, by the script in the zip, and by the commands for one student."""
    root, *_ = archive
    for name in ("bob", "mia", "pam"):
        submitted(tmp_path / "class" / name, name)
    out = tmp_path / "grades.csv"
    assert main(["grade", str(tmp_path / "class"), "--out", str(out), "--jobs", "2"]) == 0
    with out.open(encoding="utf-8-sig", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}

    def agrees(name, tests, score, said):
        told = [rows[name][f"00 {asked.exercise}"] for asked in LESSON.asked]
        assert [test["status"][:4] == "pass" for test in tests] == [x == "passed" for x in told]
        for test, verdict in zip(tests, told, strict=True):
            assert test[said].startswith(verdict)
        assert f"{score:g}" == rows[name]["points"]

    submitted(root / "submission", "bob")
    environment = {**os.environ, "AUTOGRADER": str(root), "PYTHON": sys.executable}
    script = ["bash", str(root / "source/run_autograder")]
    subprocess.run(script, env=environment, check=True, capture_output=True)
    results = json.loads((root / "results/results.json").read_text(encoding="utf-8"))
    jsonschema.validate(results, GRADESCOPE)
    agrees("bob", results["tests"], results["score"], "output")
    for name, target, said in (("mia", "github", "message"), ("pam", "gradescope", "output")):
        where = ["--out", str(tmp_path / f"{name}.csv"), "--lessons", "00", "--for", target]
        folder = submitted(tmp_path / f"one {name}" / name, name).parent
        assert main(["grade", str(folder), *where]) == 0
        results = json.loads((tmp_path / f"{name}.{target}.json").read_text(encoding="utf-8"))
        agrees(name, results["tests"], sum(test["score"] for test in results["tests"]), said)


def test_where_grading_fails_there_are_results_too_that_say_why(archive):
    root, *_ = archive
    points = root / "source" / "points.toml"
    was = points.read_text(encoding="utf-8")
    points.write_text("[states]\npased = 1", encoding="utf-8")
    submitted(root / "submission", "ann")
    environment = {**os.environ, "AUTOGRADER": str(root), "PYTHON": sys.executable}
    script = ["bash", str(root / "source/run_autograder")]
    subprocess.run(script, env=environment, check=True, capture_output=True)
    points.write_text(was, encoding="utf-8")
    results = json.loads((root / "results/results.json").read_text(encoding="utf-8"))
    jsonschema.validate(results, GRADESCOPE)
    assert results["score"] == 0
    assert "points.toml, line 2: there is no state 'pased'" in results["output"]


@pytest.fixture
def workflow(tmp_path):
    path = tmp_path / ".github" / "workflows" / "classroom.yml"
    words = ["autograder", "github", "--lessons", "00", "03", "--library", "some-one/lib.x"]
    assert main([*words, "--out", str(path)]) == 0
    return path


def test_the_workflow_keeps_githubs_schema_and_reports_what_it_graded(workflow):
    done = judged(workflow, "github-workflows")
    assert done.returncode == 0, done.stdout
    read = YAML(typ="safe").load(workflow)
    job = read["jobs"]["run-autograding-tests"]  # the name that the reporter looks for
    steps = {step.get("id") or step.get("name") or step["uses"]: step for step in job["steps"]}
    report = steps["Report"]
    assert report["with"]["runners"] == "grade"
    assert report["env"] == {"GRADE_RESULTS": "${{ steps.grade.outputs.result }}"}
    assert read["permissions"] == {"checks": "write", "actions": "read", "contents": "read"}
    checkouts = [
        s["with"] for s in job["steps"] if s.get("uses", "").startswith("actions/checkout")
    ]
    assert [c.get("repository") for c in checkouts] == [None, "some-one/lib.x"]


def test_the_workflows_commands_are_ours_and_hand_over_the_results(workflow, tmp_path, monkeypatch):
    """Its step runs in bash with a Python that only notes how it was called."""
    (step,) = [
        step
        for step in YAML(typ="safe").load(workflow)["jobs"]["run-autograding-tests"]["steps"]
        if step.get("id") == "grade"
    ]
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "python").write_text(
        '#!/bin/bash\nprintf "%s\\n" "$@" > called\nmkdir grades_feedback\n'
        "echo hello > grades_feedback/student.md\necho '{\"a\": 1}' > grades.github.json\n"
    )
    (tools / "python").chmod(0o755)
    files = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", **files}
    subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, check=True)
    words = (tmp_path / "called").read_text().split("\n")[2:-1]
    from transformer_lib.cli import parser

    args = parser().parse_args(words)
    assert (args.folder, args.lessons, args.target) == (Path("class"), ["00", "03"], "github")
    name, result = (tmp_path / "GITHUB_OUTPUT").read_text().rstrip("\n").split("=", 1)
    assert name == "result"
    assert json.loads(base64.b64decode(result)) == {"a": 1}
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text() == "hello\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["github", "--lessons", "00"], "--library '': give the repository"),
        (["github", "--lessons", "00", "--library", "https://x.org/a/b"], "as OWNER/NAME"),
        (["github", "--lessons", "77", "--library", "a/b"], "There is no lesson '77'"),
        (["gradescope", "--lessons", "00", "--points", "{tmp}/bad.toml"], "bad.toml, line 1: 'x'"),
    ],
)
def test_an_autograder_that_cannot_be_written_says_why(words, message, tmp_path, capsys):
    (tmp_path / "bad.toml").write_text("x = 1")
    words = [word.format(tmp=tmp_path) for word in words]
    assert main(["autograder", *words, "--out", str(tmp_path / "new")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_an_autograder_writes_over_nothing(tmp_path, capsys):
    (tmp_path / "there").write_text("mine")
    words = ["github", "--lessons", "00", "--library", "a/b", "--out", str(tmp_path / "there")]
    assert main(["autograder", *words]) == 1
    assert "is there already" in capsys.readouterr().err
    assert (tmp_path / "there").read_text() == "mine"


# ------------------------------------------------------------------------------- the command as a whole


def test_grading_again_keeps_what_a_teacher_did_and_only_changes_one_row(tmp_path, capsys):
    """A gradebook filled, points by hand, and one student who hands in anew."""
    folder, out = tmp_path / "class", tmp_path / "grades.csv"
    for name in ("bob", "ann"):
        submitted(folder / name, name)
    exported = tmp_path / "exported.csv"
    exported.write_text("name,points,note\nann,,=1\nbob,1,\nCleo,3,\n", encoding="utf-8")
    to = ["--out", str(out), "--for", "csv", "--gradebook", str(exported), "--jobs", "2"]
    assert main(["grade", str(folder), *to]) == 0
    said = capsys.readouterr().out
    assert "nothing of these was graded, and their cells stay: Cleo" in said
    lms = (tmp_path / "grades.gradebook.csv").read_text(encoding="utf-8")
    assert lms == "name,points,note\nann,2,=1\nbob,1,\nCleo,3,\n"
    assert '"basics.mix" = 1' in (tmp_path / "points.toml").read_text(encoding="utf-8")
    page = (tmp_path / "grades.html").read_bytes()

    text = out.read_text(encoding="utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    rows[0] |= {"by hand": "1.5", "comment": "see me"}
    with out.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    was = out.read_bytes()
    submitted(folder / "bob", "ann")
    assert main(["grade", str(folder), "--out", str(out), "--only", "BOB"]) == 0
    said = capsys.readouterr().out
    assert "bob: 2 of 2 points" in said
    kept = Path(re.search(r"the table as it was: (.+)", said)[1])
    assert kept.read_bytes() == was
    with out.open(encoding="utf-8-sig", newline="") as file:
        ann, bob = csv.DictReader(file)
    assert ann == rows[0]
    assert (bob["points"], bob["00 basics.softmax"]) == ("2", "passed")
    assert (tmp_path / "grades.html").read_bytes() == page
    assert main(["grade", str(folder), "--out", str(out), "--only", "bop"]) == 1
    assert "no student is called 'bop'. Did you mean bob" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("files", "words", "message"),
    [
        ({"grades.csv": "student,by hand\nann,good\n"}, [], "line 2: 'by hand' has 'good'"),
        ({"points.toml": "[states]\npassed = 2"}, [], "points.toml, line 2: 'passed' is 2"),
        ({}, ["--gradebook", "x.csv"], "--gradebook needs --for canvas, moodle, csv"),
        (
            {"e.csv": "a,b\n"},
            ["--for", "moodle", "--gradebook", "{tmp}/e.csv"],
            "no column 'Identifier'",
        ),
        ({}, ["--for", "moodle", "--gradebook", "{tmp}/e.csv"], "No such file"),
    ],
)
def test_what_cannot_be_given_back_is_said_before_a_class_is_graded(
    files, words, message, tmp_path, capsys
):
    submitted(tmp_path / "class" / "fay", "fay")  # it would take a minute
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    words = [word.format(tmp=tmp_path) for word in words]
    out = tmp_path / "grades.csv"
    assert main(["grade", str(tmp_path / "class"), "--out", str(out), *words]) == 1
    assert message in capsys.readouterr().err
    for name, text in files.items():
        assert (tmp_path / name).read_text(encoding="utf-8") == text


def test_the_quiz_that_was_handed_in_is_counted_on_the_lessons_that_are_graded(tmp_path):
    """Right on the one question of lesson 00 at the second try; what is no such file is remarked.

    Of two such files the newest counts.
    """
    first = next(question for question in QUESTIONS if question.lesson == "00")
    wrong = next(letter for letter in "ABCD" if letter != first.right)
    answers = {first.name: {"first": wrong, "last": first.right}}
    text_of_ann = json.dumps({"who": "Ann", "answers": answers})
    for name, text in (("ann", text_of_ann), ("bob", "{")):
        (submitted(tmp_path / "class" / name, "dan") / HANDED_IN).write_text(text, encoding="utf-8")
    older = tmp_path / "class" / "ann" / "before" / HANDED_IN
    older.parent.mkdir()
    older.write_text(json.dumps({"who": "Ann", "answers": {}}), encoding="utf-8")
    os.utime(older, (1e9, 1e9))
    canvas = {"_12346_678901_quiz_answers-1.json": text_of_ann, "_12346_678902_mine.py": "x = 1"}
    for name, text in canvas.items():
        (tmp_path / "class" / f"eva{name}").write_text(text, encoding="utf-8")
    ann, bob, eva = grade_class(tmp_path / "class", seconds=60, mebibytes=2000, jobs=2).rows
    of = sum(question.lesson == "00" for question in QUESTIONS)
    assert str(ann.quiz) == f"0 of {of} right at the first try, 1 in the end, 1 answered"
    assert bob.quiz is None
    assert any(f"{HANDED_IN} is not JSON" in remark for remark in bob.remarks)
    assert not any("not read" in remark for remark in ann.remarks)
    assert (str(eva.quiz), eva.unread) == (str(ann.quiz), {}), "under the names that Canvas gives"
