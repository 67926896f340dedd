"""What a student recalls of the quiz, counted from the file that `hand_in` writes.

The answers stand folded in the lessons, so the first letter given says more than the last one, and
neither is an exam.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass

from transformer_lib.exercises.quiz.questions import QUESTIONS, Question

LARGEST = 1_000_000  # bytes; all answers take ten thousand


@dataclass(frozen=True)
class QuizScore:
    """Of so many questions, so many `answered`, `right` in the end, `first_right` at once."""

    who: str
    first_right: int
    right: int
    answered: int
    of: int

    def __str__(self) -> str:
        return (
            f"{self.first_right} of {self.of} right at the first try, {self.right} in the end, "
            f"{self.answered} answered"
        )


def quiz_score(content: bytes, name: str, lessons: Collection[str] = ()) -> QuizScore:
    """The score of what a `quiz_answers.json` holds, on the questions of `lessons` or on all.

    Answers to questions that there are no longer do not count. Raises ValueError, with the file's
    `name` and what is wrong in it, for any other content.
    """
    found = _read(content, name)
    asked = [question for question in QUESTIONS if not lessons or question.lesson in lessons]
    given = {
        question.name: _letters(found["answers"][question.name], question, name)
        for question in asked
        if question.name in found["answers"]
    }
    right = {question.name: question.right for question in asked}
    return QuizScore(
        who=found["who"],
        first_right=sum(first == right[name] for name, (first, _) in given.items()),
        right=sum(last == right[name] for name, (_, last) in given.items()),
        answered=len(given),
        of=len(asked),
    )


def _read(content: bytes, name: str) -> dict:
    if len(content) > LARGEST:
        raise ValueError(
            f"{name} has {len(content)} bytes, and answers to the quiz take at most {LARGEST}"
        )
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise _broken(name, "is not JSON") from None
    if not isinstance(found, dict):
        raise _broken(name, f"holds {found!r:.40}")
    if not isinstance(found.get("who"), str):
        raise _broken(name, "does not say whose answers they are")
    if not isinstance(found.get("answers"), dict):
        raise _broken(name, "has no answers by question")
    return found


def _letters(given: object, question: Question, name: str) -> tuple[str, str]:
    letters = {letter for letter, _, _ in question.lettered()}
    match given:
        case {"first": str(first), "last": str(last)} if {first, last} <= letters:
            return first, last
    raise _broken(
        name,
        f"answers {question.name!r} with {given!r:.60}, and the choices are "
        f"{', '.join(sorted(letters))}",
    )


def _broken(name: str, what: str) -> ValueError:
    return ValueError(
        f'{name} {what}: it should be the file that hand_in("Ann Lee") wrote, unchanged'
    )
