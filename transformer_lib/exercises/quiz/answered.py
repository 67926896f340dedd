"""Which questions of the quiz a student has answered, and how: kept beside `mine.py`.

The file holds letters by the names of the questions, the first answer and the last one. With
`TRANSFORMER_LIB_MINE=off` nothing is kept and nothing read.
"""

import json
import os
from pathlib import Path

import filelock

from transformer_lib.exercises.own.library import Unreadable, is_off

_SECONDS = 10.0  # that another kernel may take to write


def score_path() -> Path:
    """Where the answers stand: in the folder that the lesson runs in."""
    return Path.cwd() / ".mine.quiz.json"


def answers() -> dict[str, tuple[str, str]]:
    """(first letter, last letter) of every question that was answered, by its name.

    Raises Unreadable for a file that is damaged.
    """
    if is_off() or not score_path().exists():
        return {}
    try:
        found = json.loads(score_path().read_text(encoding="utf-8"))
        return {str(name): (str(first), str(last)) for name, (first, last) in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        raise Unreadable(
            f"your answers in {score_path().name} cannot be read. Move the file away to begin anew"
        ) from None


def keep_answer(name: str, letter: str) -> str:
    """Write an answer down; what went wrong in words, "" if nothing. Never raises for the disk."""
    if is_off():
        return ""
    try:
        with filelock.FileLock(score_path().with_name(".mine.lock"), timeout=_SECONDS):
            found = answers()
            first, _ = found.get(name, (letter, letter))
            _write({**found, name: (first, letter)})
    except Unreadable as error:
        return f"Not kept: {error}."
    except Exception as error:  # a full disk, another kernel that never lets go
        return f"Not kept: {error}."
    return ""


def _write(found: dict[str, tuple[str, str]]) -> None:
    """The whole file at once: whoever reads, or is killed meanwhile, has the old or the new one."""
    new = score_path().with_name(".mine.quiz.new")
    with new.open("w", encoding="utf-8") as file:
        json.dump(found, file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, score_path())
