"""What a student has done: exercises tried and passed, hints taken, questions answered.

One small file beside `mine.py` holds it, so that another kernel and another lesson know it. With
`TRANSFORMER_LIB_MINE=off` nothing is written and nothing read; then a kernel remembers its own.
"""

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import filelock

from transformer_lib.exercises.own.library import Unreadable, is_off

_SECONDS = 10.0  # that another kernel may take to write


@dataclass
class Done:
    """Exercises and questions by their names; `answers` are the first letter and the last one."""

    passed: dict[str, bool] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)
    hints: dict[str, int] = field(default_factory=dict)
    answers: dict[str, tuple[str, str]] = field(default_factory=dict)


_here = Done()  # in this kernel


def memory_path() -> Path:
    """Where it stands: in the folder that the lesson runs in."""
    return Path.cwd() / ".mine.json"


def remembered() -> Done:
    """What was done, in this kernel and in those before. Raises Unreadable for a damaged file."""
    if is_off():
        return _here
    stored = _stored()
    return Done(
        stored.passed | _here.passed,
        {n: max(stored.tried.get(n, 0), c) for n, c in (stored.tried | _here.tried).items()},
        {n: max(stored.hints.get(n, 0), c) for n, c in (stored.hints | _here.hints).items()},
        stored.answers,
    )


def remember(change: Callable[[Done], None]) -> str:
    """Write down what was done; says what went wrong. Never raises for the disk."""
    if is_off():
        change(_here)
        return ""
    try:
        with filelock.FileLock(memory_path().with_name(".mine.lock"), timeout=_SECONDS):
            stored = _stored()
            change(stored)
            _write(stored)
    except Exception as error:  # a damaged file, a full disk, another kernel that never lets go
        change(_here)
        return f"Not kept: {error}."
    return ""


def _stored() -> Done:
    path = memory_path()
    before = path.with_name(".mine.quiz.json")  # of the second edition: the answers alone
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if not found and before.exists():
            found = {"answers": json.loads(before.read_text(encoding="utf-8"))}
        answers = {name: (a, b) for name, (a, b) in found.get("answers", {}).items()}
        done = Done(**{**found, "answers": answers})
        if not all(isinstance(n, int) for n in (done.tried | done.hints).values()):
            raise TypeError("counts are whole numbers")
        return done
    except (OSError, ValueError, TypeError, AttributeError):
        raise Unreadable(
            f"what you have done, in {path.name}, cannot be read. Move the file away to begin anew"
        ) from None


def _write(done: Done) -> None:
    """The whole file at once: whoever reads, or is killed meanwhile, has the old or the new one."""
    new = memory_path().with_name(".mine.json.new")
    with new.open("w", encoding="utf-8") as file:
        json.dump(asdict(done), file, indent=1, sort_keys=True)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, memory_path())
