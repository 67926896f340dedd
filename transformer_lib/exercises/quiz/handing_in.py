"""A student's answers to the quiz as one file to hand in: `hand_in("Ann Lee")`, or the command.

`grading.quiz_scores` reads it. The answers stand folded in the lessons, and the file is plain text:
it says what somebody recalls, and is no exam.
"""

import json
import os
from importlib import metadata
from pathlib import Path

from transformer_lib.exercises.own.library import is_off
from transformer_lib.exercises.own.memory import remembered

HANDED_IN = "quiz_answers.json"


def hand_in(who: str) -> Path:
    """Write `quiz_answers.json` beside the lessons, and return its path.

    It holds the name, the library's version, and the first and the last letter given to each
    question. Raises ValueError where there is nothing to hand in; the old file then stays.
    """
    if not who.strip():
        raise ValueError("hand_in('') names nobody: give your name, as in hand_in('Ann Lee')")
    if is_off():
        raise ValueError(
            "no answer is kept while TRANSFORMER_LIB_MINE=off: unset it, and answer in a lesson"
        )
    given = remembered().answers
    if not given:
        raise ValueError(
            f"no question is answered in {Path.cwd()}: go to the folder with the lessons in which you "
            "have answered, or begin with answer('00.1', 'A')"
        )
    written = {
        "who": who.strip(),
        "library": _version(),
        "answers": {name: {"first": a, "last": b} for name, (a, b) in sorted(given.items())},
    }
    path, new = Path.cwd() / HANDED_IN, Path.cwd() / f"{HANDED_IN}.new"
    new.write_text(json.dumps(written, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    os.replace(new, path)
    return path


def _version() -> str:
    try:
        return metadata.version("attention-lessons")
    except metadata.PackageNotFoundError:  # run from its folder, without an installation
        return "not installed"
