"""Exercises that say which mistake they see: `check`, `hint`, `solution` and `progress`.

A lesson gives a stub and calls `check("scoring.masked_softmax", my_masked_softmax)`. The part
before the dot names a module of this package, the part after it an exercise there. What was tried
is remembered until the kernel stops; nothing leaves the machine.
"""

import difflib
import importlib
import pkgutil
from collections import Counter
from typing import Any

import pandas as pd
from IPython.display import Markdown, display

from transformer_lib.exercises.machinery import Exercise

_tried: Counter[str] = Counter()
_hinted: Counter[str] = Counter()
_passed: set[str] = set()


def exercises() -> dict[str, Exercise]:
    """Every exercise there is, by its name."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        loaded = vars(importlib.import_module(f"{__name__}.{module.name}"))
        found |= {f"{module.name}.{k}": v for k, v in loaded.items() if isinstance(v, Exercise)}
    return found


def check(name: Any, answer: Any = None) -> None:
    """Say whether `answer` is right, and if not, which mistake it is. Never raises."""
    exercise = _find(name)
    if exercise is None:
        return
    verdict = exercise.judge(answer)
    _tried[name] += verdict.attempted
    if verdict.passed:
        _passed.add(name)
    display(verdict)


def hint(name: Any) -> None:
    """Give the next hint, the first one a nudge, the last one nearly a recipe."""
    exercise = _find(name)
    if exercise is None:
        return
    given = min(_hinted[name], len(exercise.hints) - 1)
    _hinted[name] = given + 1
    last = given + 1 == len(exercise.hints)
    end = f' This was the last; `solution("{name}")` shows a solution.' if last else ""
    _say(f"Hint {given + 1} of {len(exercise.hints)}: {exercise.hints[given]}{end}")


def solution(name: Any, *, force: bool = False) -> None:
    """Print a solution, once something was tried (or with `force=True`)."""
    exercise = _find(name)
    if exercise is None:
        return
    if _tried[name] or force:
        print(exercise.source())
    else:
        _say(
            "Try it first, even wrongly: the check will say what it sees. "
            f'`solution("{name}", force=True)` shows it all the same.'
        )


def progress() -> None:
    """Show which exercises are done in this session."""

    def state(name: str) -> str:
        if name in _passed:
            return "✓ passed"
        return f"✗ tried {_tried[name]} ×" if _tried[name] else "○ open"

    table = pd.DataFrame({"exercise": list(exercises())})
    table["state"] = table.exercise.map(state)
    _say(f"{len(_passed)} of {len(table)} exercises passed in this session.")
    display(table.style.hide(axis="index"))


def _find(name: Any) -> Exercise | None:
    known = exercises()
    if not isinstance(name, str):
        _say(
            'The name of the exercise comes first, in quotes: `check("basics.softmax", my_softmax)`.'
        )
        return None
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.4) or sorted(known)
        _say(f"There is no exercise {name!r}. Did you mean {', '.join(map(repr, near))}?")
    return known.get(name)


def _say(text: str) -> None:
    display(Markdown(text))
