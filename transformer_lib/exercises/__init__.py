"""Exercises that say which mistake they see: `check`, `hint`, `solution` and `progress`.

A lesson gives a stub and calls `check("scoring.masked_softmax", my_masked_softmax)`. The part
before the dot names a module of this package, the part after it an exercise there. What was tried
is remembered until the kernel stops; nothing leaves the machine.

What a Transformer is built from is kept besides: `mine("masked_softmax")` gives the student's own.
There are three ways into such a part: `skeleton("masked_softmax")`, `signature("masked_softmax")`,
or an empty cell.
"""

import difflib
import importlib
import pkgutil
from collections import Counter
from typing import Any

import pandas as pd
from IPython.display import Markdown, display

from transformer_lib.exercises.checking.entries import signature_of, skeleton_of
from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.own.library import Unreadable, is_off, keep, standing
from transformer_lib.exercises.own.mine import mine
from transformer_lib.exercises.own.parts import BY_EXERCISE, PARTS
from transformer_lib.exercises.quiz import score

__all__ = ["check", "exercises", "hint", "mine", "progress", "signature", "skeleton", "solution"]

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
    """Say whether `answer` is right, and if not, which mistake it is. Never raises.

    A part that passes is kept in the student's own library, `mine.py`, and `mine` gives it back.
    """
    found = _find(name)
    if found is None:
        return
    name, exercise = found
    verdict = exercise.judge(answer)
    _tried[name] += verdict.attempted
    display(verdict)
    if verdict.passed:
        _passed.add(name)
        if name in BY_EXERCISE and not is_off():
            _say(keep(BY_EXERCISE[name], answer, lambda again: exercise.judge(again).passed))


def hint(name: Any) -> None:
    """Give the next hint, the first one a nudge, the last one nearly a recipe."""
    found = _find(name)
    if found is None:
        return
    name, exercise = found
    given = min(_hinted[name], len(exercise.hints) - 1)
    _hinted[name] = given + 1
    last = given + 1 == len(exercise.hints)
    end = f' This was the last; `solution("{name}")` shows a solution.' if last else ""
    _say(f"Hint {given + 1} of {len(exercise.hints)}: {exercise.hints[given]}{end}")


def solution(name: Any, *, force: bool = False) -> None:
    """Print a solution, once something was tried (or with `force=True`)."""
    found = _find(name)
    if found is None:
        return
    name, exercise = found
    if _tried[name] or force:
        print(exercise.source())
    else:
        _say(
            "Try it first, even wrongly: the check will say what it sees. "
            f'`solution("{name}", force=True)` shows it all the same.'
        )


def signature(name: Any) -> None:
    """Print what is called with what, to be filled: a way in with little help."""
    if found := _find(name):
        part = PARTS.get(BY_EXERCISE.get(found[0], ""))
        print(signature_of(found[1], part.attributes if part else ()))


def skeleton(name: Any) -> None:
    """Print the steps with `...` for every value, to be filled: a way in with much help."""
    if found := _find(name):
        print(skeleton_of(found[1]))


def progress() -> None:
    """Show which exercises are done, in this session or kept in `mine.py`, and the quiz's score."""
    try:
        stands, trouble = standing(), ""
    except Unreadable as error:
        stands, trouble = {}, f" {error}."
    own = {PARTS[key].exercise: wrong for key, wrong in stands.items() if key in PARTS}
    done = _passed | {name for name, wrong in own.items() if not wrong}

    def state(name: str) -> str:
        if own.get(name):
            return "✗ kept, but broken"
        if name in own:
            return "✓ kept in mine.py"
        if name in _passed:
            return "✓ passed"
        return f"✗ tried {_tried[name]} ×" if _tried[name] else "○ open"

    table = pd.DataFrame({"exercise": list(exercises())})
    table["state"] = table.exercise.map(state)
    of_mine = f" In `mine.py` stand {', '.join(stands)}." if stands else ""
    _say(f"{len(done)} of {len(table)} exercises passed.{of_mine}{trouble} {score()}")
    display(table.style.set_uuid("progress").hide(axis="index"))


def _find(name: Any) -> tuple[str, Exercise] | None:
    """(name, exercise); a part may be called without the word before the dot."""
    known = exercises()
    if not isinstance(name, str):
        _say(
            'The name of the exercise comes first, in quotes: `check("basics.softmax", my_softmax)`.'
        )
        return None
    name = PARTS[name].exercise if name in PARTS else name
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.4) or sorted(known)
        _say(f"There is no exercise {name!r}. Did you mean {', '.join(map(repr, near))}?")
        return None
    return name, known[name]


def _say(text: str) -> None:
    display(Markdown(text))
