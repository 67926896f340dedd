"""The quiz: questions shown with folded answers, answers judged and counted.  Lesson 19.

The answers are folded in the HTML itself: it needs no kernel, no script and no network, and looks
the same in a notebook, on a slide and on a page. As plain text the answers are left out.
"""

import html
import re
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from IPython.display import Markdown, display

from transformer_lib.base.lessons import LESSONS
from transformer_lib.exercises.checking.verdict import Verdict
from transformer_lib.exercises.own.library import Unreadable, is_off
from transformer_lib.exercises.own.memory import Done, remember, remembered
from transformer_lib.exercises.quiz.questions import QUESTIONS, Question


@dataclass(frozen=True)
class Sheet:
    """Questions under their numbers, drawn in a notebook with every answer folded."""

    questions: dict[str, Question]

    def __repr__(self) -> str:
        return "\n\n".join(
            "\n".join(
                [f"{number} {question.text}"]
                + [f"  {letter}. {choice}" for letter, choice, _ in question.lettered()]
            )
            for number, question in self.questions.items()
        )

    def _repr_html_(self) -> str:
        return "\n".join(_drawn(number, question) for number, question in self.questions.items())


def quiz(*wanted: Any) -> None:
    """Show the questions of lessons, `quiz("03", "12")`, single ones, `quiz("03.1")`, or all."""
    lessons, every = _lessons(), numbered()
    asked = [str(name).zfill(2) for name in wanted] or lessons
    unknown = [name for name in asked if name not in {*lessons, *every}]
    if unknown:
        display(
            Markdown(
                f"The quiz has no {', '.join(map(repr, unknown))}. It has the lessons "
                f"{', '.join(lessons)}, and single questions such as '{next(iter(every))}'."
            )
        )
        return
    display(Sheet({n: q for n, q in every.items() if n in asked or q.lesson in asked}))


def answer(number: Any, letter: Any) -> None:
    """Say whether a choice is right, and if not, why not: `answer("04.2", "B")`. Never raises.

    The first and the last answer to a question are kept beside `mine.py`; `progress()` counts them.
    """
    question = numbered().get(str(number))
    if question is None:
        _say(f"The quiz has no question {number!r}. A number is as in `answer('04.2', 'B')`.")
        return
    whys = {letter: why for letter, _, why in question.lettered()}
    given = str(letter).strip().upper()
    if given not in whys:
        _say(f"{number} has the choices {', '.join(whys)}, and no {letter!r}.")
        return
    right = given == question.right
    shown = f" (Lesson {question.lesson}: {question.shown})" if right else ""
    display(
        Verdict(
            "passed" if right else "mistake",
            f"{'Right' if right else 'Wrong'}. {whys[given]}{shown}",
        )
    )

    def keep(done: Done) -> None:
        first, _ = done.answers.get(question.name, (given, given))
        done.answers[question.name] = first, given

    if not is_off() and (trouble := remember(keep)):
        _say(trouble)


def score() -> str:
    """How many questions were answered, and how many of them rightly, in a sentence."""
    try:
        given = remembered().answers
    except Unreadable as error:
        return f"Quiz: {error}."
    found = [
        (question.right, *given[question.name]) for question in QUESTIONS if question.name in given
    ]
    if not found:
        return f"Quiz: none of {len(QUESTIONS)} questions answered yet."
    right = sum(last == letter for letter, _, last in found)
    at_once = sum(first == letter for letter, first, _ in found)
    return (
        f"Quiz: {len(found)} of {len(QUESTIONS)} questions answered, {right} rightly, {at_once} of them "
        "at the first try."
    )


def _say(text: str) -> None:
    display(Markdown(text))


def recall(lesson: Any) -> None:
    """Show the three questions that open a lesson, two of them on earlier ones: `recall("09")`."""
    display(Sheet(recalled(lesson)))


def recalled(lesson: Any) -> dict[str, Question]:
    """The questions that open a lesson, as its row in `base.lessons` has them."""
    every = numbered()
    return {number: every[number] for number in LESSONS[f"{int(lesson):02}"].opening}


def _lessons() -> list[str]:
    return sorted({question.lesson for question in QUESTIONS})


def numbered() -> dict[str, Question]:
    """Every question under the number of its lesson and its own: 03.1, 03.2 and so on."""
    return {
        f"{lesson}.{number}": question
        for lesson, group in groupby(QUESTIONS, key=lambda question: question.lesson)
        for number, question in enumerate(group, start=1)
    }


def _drawn(number: str, question: Question) -> str:
    lines = [f"<p><strong>{number}</strong> {_marked(question.text)}</p>"]
    for letter, choice, why in question.lettered():
        right = letter == question.right
        shown = f" <em>Lesson {question.lesson}: {_marked(question.shown)}</em>" if right else ""
        lines.append(
            '<details style="margin: 0.2em 0 0.2em 1.5em">'
            f"<summary>{letter}. {_marked(choice)}</summary>"
            f"<p><strong>{'Right' if right else 'Wrong'}.</strong> {_marked(why)}{shown}</p></details>"
        )
    return "\n".join(lines)


def _marked(text: str) -> str:
    """As HTML: what stands between backticks as code, and the letter of W_q lower."""
    text = re.sub("`(.+?)`", r"<code>\1</code>", html.escape(text))
    return re.sub(r"\b([A-Za-z])_([A-Za-z])(?![a-z_])", r"\1<sub>\2</sub>", text)
