"""What a student recalls of the quiz, counted from the file that `hand_in` writes.

The answers stand folded in the lessons, so the first letter given says more than the last one, and
neither is an exam.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

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


def quiz_score(path: Path, lessons: Collection[str] = ()) -> QuizScore:
    """The score of a `quiz_answers.json`, of the questions on `lessons`, or on all without any.

    Answers to questions that there are no longer do not count. Raises ValueError, with the file's
    name and what is wrong in it, for any other file.
    """
    found = _read(path)
    asked = [question for question in QUESTIONS if not lessons or question.lesson in lessons]
    given = {
        question.name: _letters(found["answers"][question.name], question, path)
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


def _read(path: Path) -> dict:
    if path.stat().st_size > LARGEST:
        raise ValueError(
            f"{path.name} has {path.stat().st_size} bytes, and answers to the quiz take at most {LARGEST}"
        )
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError):
        raise _broken(path, "is not JSON") from None
    if not isinstance(found, dict):
        raise _broken(path, f"holds {found!r:.40}")
    if not isinstance(found.get("who"), str):
        raise _broken(path, "does not say whose answers they are")
    if not isinstance(found.get("answers"), dict):
        raise _broken(path, "has no answers by question")
    return found


def _letters(given: object, question: Question, path: Path) -> tuple[str, str]:
    letters = {letter for letter, _, _ in question.lettered()}
    match given:
        case {"first": str(first), "last": str(last)} if {first, last} <= letters:
            return first, last
    raise _broken(
        path,
        f"answers {question.name!r} with {given!r:.60}, and the choices are "
        f"{', '.join(sorted(letters))}",
    )


def _broken(path: Path, what: str) -> ValueError:
    return ValueError(
        f'{path.name} {what}: it should be the file that hand_in("Ann Lee") wrote, unchanged'
    )
