"""The quiz as files for learning platforms, read back by Python's own parsers of XML and HTML.

What an importer asks of the files is written here from what is public: for Moodle its page on the
format, and the fixtures of its own tests; for QTI 1.2 the document type that IMS has published, and
what Canvas's importer looks at.
"""

import re
import xml.etree.ElementTree as ET
import zipfile
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from transformer_lib.exercises.quiz.questions import QUESTIONS, Question, numbered
from transformer_lib.publish import quiz
from transformer_lib.publish.__main__ import main
from transformer_lib.publish.lessons import find_lessons, read_lesson

QTI = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"
PACKAGE = "{http://www.imsglobal.org/xsd/imscp_v1p1}"
NASTY = "`a < b` & ]]> <script>alert('x')</script> “ä ß é” √d ≤ ⅓ e¹⁰⁰⁰ W_q \"quoted\" 中"
SIGNS = {"code": ("`", "`"), "em": ("*", "*"), "sub": ("_", ""), "p": ("", "")}
ALLOWED = {  # by the document type of QTI 1.2: the children of each element, in their order
    "questestinterop": "assessment",
    "assessment": "section",
    "section": "item*",
    "item": "itemmetadata presentation resprocessing itemfeedback*",
    "itemmetadata": "qtimetadata",
    "qtimetadata": "qtimetadatafield*",
    "qtimetadatafield": "fieldlabel fieldentry",
    "presentation": "material response_lid",
    "response_lid": "render_choice",
    "render_choice": "response_label*",
    "response_label": "material",
    "material": "mattext",
    "resprocessing": "outcomes respcondition*",
    "outcomes": "decvar",
    "respcondition": "conditionvar setvar? displayfeedback?",
    "conditionvar": "other? varequal?",
    "itemfeedback": "flow_mat",
    "flow_mat": "material",
}


class Words(HTMLParser):
    """HTML as a question's text is written: code in backticks, stress in stars, W_q."""

    def __init__(self, source):
        super().__init__()
        self.text, self.open = "", []
        self.feed(source or "")
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert not attrs
        self.open.append(tag)
        self.text += SIGNS[tag][0]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.text += SIGNS[tag][1]

    def handle_data(self, data):
        self.text += data


def read_moodle(path):
    """Every question under its number: (category, text, general feedback, answers)."""
    root = ET.parse(path).getroot()
    assert root.tag == "quiz"
    found, category = {}, ""
    for entry in root:
        assert entry.tag == "question"
        if entry.get("type") == "category":
            category = entry.findtext("category/text")
            continue
        assert entry.get("type") == "multichoice"
        assert entry.findtext("single") == "true"
        assert entry.findtext("shuffleanswers") == "false"  # the letters are those of the lessons
        assert entry.find("questiontext").get("format") == "html"
        answers = [
            (a.findtext("text"), float(a.get("fraction")), a.findtext("feedback/text"))
            for a in entry.iterfind("answer")
        ]
        number = entry.findtext("name/text").split()[0]
        found[number] = (
            category,
            entry.findtext("questiontext/text"),
            entry.findtext("generalfeedback/text"),
            answers,
        )
    return found


def read_qti(path):
    """The same, as Canvas's importer goes about it: from the manifest to conditions and feedback."""
    found = {}
    with zipfile.ZipFile(path) as package:
        assert package.testzip() is None
        manifest = ET.fromstring(package.read("imsmanifest.xml"))
        resources = manifest.findall(f"{PACKAGE}resources/{PACKAGE}resource")
        named = [resource.find(f"{PACKAGE}file").get("href") for resource in resources]
        assert {resource.get("type") for resource in resources} == {"imsqti_xmlv1p2"}
        assert sorted([*named, "imsmanifest.xml"]) == sorted(package.namelist())
        for name in named:
            root = ET.fromstring(package.read(name))
            for element in root.iter():
                element.tag = element.tag.removeprefix(QTI)
            for element in root.iter():
                order = ALLOWED.get(element.tag, "")
                form = "".join(
                    f"({part.rstrip('*?')} )" + (part[-1] if part[-1] in "*?" else "")
                    for part in order.split()
                )
                assert re.fullmatch(form, "".join(f"{child.tag} " for child in element))
            assessment = root.find("assessment")
            for item in assessment.iterfind("section/item"):
                number = item.get("title").split()[0]
                found[number] = (assessment.get("title"), *read_item(item))
    return found


def read_item(item):
    def html(element):
        text = element.find(".//mattext")
        assert text.get("texttype") == "text/html"
        return text.text

    fields = {f[0].text: f[1].text for f in item.iter("qtimetadatafield")}
    assert fields == {"question_type": "multiple_choice_question", "points_possible": "1"}
    feedback = {f.get("ident"): html(f) for f in item.iterfind("itemfeedback")}
    score, told, general = {}, {}, None
    for condition in item.iter("respcondition"):
        choice = condition.findtext("conditionvar/varequal")
        shown = condition.find("displayfeedback")
        if condition.find("conditionvar/other") is not None:
            general = feedback[shown.get("linkrefid")]
        elif shown is not None:
            told[choice] = feedback[shown.get("linkrefid")]
        if condition.find("setvar") is not None:
            score[choice] = float(condition.findtext("setvar"))
    labels = list(item.iter("response_label"))
    assert len(feedback) == len(labels) + 1
    assert {label.get("ident") for label in labels} == set(told)
    # Canvas takes a feedback for the whole question's if its name has one of these words
    assert all(re.fullmatch(r"\d+_fb|general_fb", name) for name in feedback)
    answers = [
        (html(label), score.get(label.get("ident"), 0.0), told[label.get("ident")])
        for label in labels
    ]
    return html(item.find("presentation/material")), general, answers


READERS = {"moodle": read_moodle, "qti": read_qti}
EACH = pytest.mark.parametrize("platform", READERS)


@EACH
def test_every_text_choice_right_letter_and_feedback_comes_back(platform, tmp_path):
    path, count = quiz.write_quiz(platform, [], tmp_path)
    found = READERS[platform](path)
    assert count == len(QUESTIONS)
    assert list(found) == list(numbered())
    for number, question in numbered().items():
        part, text, general, answers = found[number]
        (lesson,) = find_lessons([question.lesson])
        assert part.endswith(f"Lesson {read_lesson(lesson).title}")
        assert Words(text).text == question.text
        shown = f"Lesson {question.lesson} shows it in “{question.shown}”."
        assert Words(general).text == shown
        assert ["ABCD"[i] for i, (_, points, _) in enumerate(answers) if points] == [question.right]
        assert [points for _, points, _ in answers if points] == [100]
        assert len(answers) == len(question.choices)
        for (choice, _, why), (wanted, reason) in zip(
            answers, question.choices.items(), strict=True
        ):
            assert (Words(choice).text, Words(why).text) == (wanted, reason)


@EACH
def test_signs_of_markup_mathematics_and_other_alphabets_survive(platform, tmp_path, monkeypatch):
    odd = Question("04", "odd", NASTY, {NASTY + "1": NASTY + "2", "<": ">"}, "A", "Divide by √d")
    monkeypatch.setattr(quiz, "numbered", lambda: {"04.1": odd})
    path, _ = quiz.write_quiz(platform, ["04"], tmp_path)
    _, text, general, answers = READERS[platform](path)["04.1"]
    assert Words(text).text == NASTY
    assert "<code>a &lt; b</code>" in text
    assert "W<sub>q</sub>" in text
    assert "<script" not in text
    assert "√d" in Words(general).text
    assert [points for _, points, _ in answers] == [100, 0]
    assert [Words(part).text for part in answers[0][::2]] == [NASTY + "1", NASTY + "2"]
    assert (answers[1][0], answers[1][2]) == ("&lt;", "&gt;")


@EACH
def test_the_same_questions_are_the_same_bytes(platform, tmp_path):
    first, _ = quiz.write_quiz(platform, ["04"], tmp_path / "a")
    again, _ = quiz.write_quiz(platform, ["04"], tmp_path / "b")
    assert first.read_bytes() == again.read_bytes()
    if platform == "qti":  # and on another day
        with zipfile.ZipFile(first) as package:
            assert {entry.date_time for entry in package.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_a_choice_has_an_ident_that_no_other_has(tmp_path):
    parts = [quiz._part(path) for path in find_lessons([])]
    items = [item for part in parts for item in part.items]
    for idents in (
        [part.ident for part in parts],
        [item.ident for item in items],
        [choice.ident for item in items for choice in item.choices],
    ):
        assert len(set(idents)) == len(idents)


def test_lessons_are_chosen_and_named_in_the_file(tmp_path, capsys):
    assert main(["quiz", "--for", "qti", "09", "04", "--out", str(tmp_path)]) == 0
    (path,) = tmp_path.iterdir()
    assert path.name == "quiz_09_04_qti.zip"
    assert {number[:2] for number in read_qti(path)} == {"04", "09"}
    assert f"{len(read_qti(path))} questions in {path}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("lesson", "said"), [("19", "no question on 19"), ("31", "no lesson '31'")]
)
def test_a_lesson_without_questions_is_named_and_nothing_written(lesson, said, tmp_path, capsys):
    assert main(["quiz", "--for", "moodle", lesson, "--out", str(tmp_path)]) == 1
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_help_says_where_to_click_and_that_nobody_has_tried(capsys):
    with pytest.raises(SystemExit):
        main(["quiz", "--help"])
    told = " ".join(capsys.readouterr().out.split())
    for words in (
        "Question bank",
        "Moodle XML format",
        "Import Course Content",
        "QTI .zip file",
        "Not tried in a real Moodle or Canvas",
        "public",
    ):
        assert words in told


@pytest.mark.parametrize(
    "fault",
    [
        lambda item: replace(item, text=item.text.replace("scores", "score")),
        lambda item: replace(item, choices=item.choices[::-1]),
        lambda item: replace(item, shown=""),
        lambda item: replace(
            item, choices=[replace(choice, right=not choice.right) for choice in item.choices]
        ),
        lambda item: replace(
            item, choices=[replace(choice, why=item.choices[0].why) for choice in item.choices]
        ),
    ],
    ids=["text", "order", "general", "right", "feedback"],
)
@EACH
def test_a_fault_of_the_writer_is_seen(platform, fault, tmp_path, monkeypatch):
    made = quiz._item
    monkeypatch.setattr(quiz, "_item", lambda number, question: fault(made(number, question)))
    with pytest.raises((AssertionError, IndexError)):
        test_every_text_choice_right_letter_and_feedback_comes_back(platform, tmp_path)
