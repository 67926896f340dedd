"""The quiz as a file that a learning platform imports, with what is said to each choice.

Moodle reads an XML of its own. Canvas reads QTI: we write 1.2, which it exports itself, and whose
importer is public. What the formats look like is for the templates to say; as on the site, code and
letters set low are HTML.
"""

import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from transformer_lib.exercises.quiz import marked
from transformer_lib.exercises.quiz.questions import Question, numbered
from transformer_lib.publish import render
from transformer_lib.publish.lessons import find_lessons, read_lesson

COURSE = "Attention and Transformers"
WRITTEN = (1980, 1, 1, 0, 0, 0)  # the same questions are the same bytes


@dataclass(frozen=True)
class Choice:
    """A choice and what is said to whoever takes it, as HTML."""

    ident: str
    text: str
    why: str
    right: bool


@dataclass(frozen=True)
class Item:
    """A question as HTML, where it is `shown`, and its choices in the order of their letters."""

    ident: str
    title: str
    text: str
    shown: str
    choices: list[Choice]


@dataclass(frozen=True)
class Part:
    """A lesson's questions."""

    ident: str
    title: str
    items: list[Item]

    @property
    def file(self) -> str:
        """Its place in a package."""
        return f"{self.ident}/{self.ident}.xml"


def write_moodle(parts: list[Part], path: Path) -> None:
    """Moodle's XML: a category a lesson. Moodle has its own HTML stand unescaped, in CDATA."""
    text = render.render("quiz_moodle.xml.j2", course=COURSE, parts=parts)
    path.write_text(text, encoding="utf-8")


def write_qti(parts: list[Part], path: Path) -> None:
    """A package of QTI 1.2: a quiz a lesson, and the manifest that names them."""
    files = {"imsmanifest.xml": render.render("imsmanifest.xml.j2", parts=parts)}
    files |= {part.file: render.render("quiz_qti.xml.j2", part=part) for part in parts}
    with zipfile.ZipFile(path, "w") as package:
        for name, text in files.items():
            package.writestr(zipfile.ZipInfo(name, WRITTEN), text, zipfile.ZIP_DEFLATED)


FORMATS = {"moodle": (write_moodle, "moodle.xml"), "qti": (write_qti, "qti.zip")}


def write_quiz(platform: str, lessons: Iterable[str], directory: Path) -> tuple[Path, int]:
    """Writes the questions on `lessons`, or all; gives the file, and how many are in it."""
    write, ending = FORMATS[platform]
    parts = [part for path in find_lessons(lessons) if (part := _part(path)).items]
    if not parts:
        raise ValueError(
            f"the quiz has no question on {', '.join(lessons)}. The last lesson asks those of the others"
        )
    directory.mkdir(parents=True, exist_ok=True)
    chosen = [part.ident[-2:] for part in parts] if lessons else []
    path = directory / "_".join(["quiz", *chosen, ending])
    write(parts, path)
    return path, sum(len(part.items) for part in parts)


def _part(path: Path) -> Part:
    lesson = path.stem[:2]
    return Part(
        f"attention_quiz_{lesson}",
        f"Lesson {read_lesson(path).title}",
        [_item(number, q) for number, q in numbered().items() if q.lesson == lesson],
    )


def _item(number: str, question: Question) -> Item:
    """A platform knows an item by its ident, so that a second import replaces the first.

    Idents of choices are digits: in words Canvas would look for `correct`, `wrong` and the like.
    """
    choices = [
        Choice(
            f"1{number.replace('.', '')}{place}",
            marked(choice),
            marked(why),
            letter == question.right,
        )
        for place, (letter, choice, why) in enumerate(question.lettered(), start=1)
    ]
    return Item(
        f"attention_{question.name}",
        f"{number} {question.name.replace('_', ' ')}",
        f"<p>{marked(question.text)}</p>",
        f"<p>Lesson {question.lesson} shows it in “{marked(question.shown)}”.</p>",
        choices,
    )
