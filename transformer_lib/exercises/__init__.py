"""Exercises that say which mistake they see: `check`, `hint`, `solution` and `progress`.

A lesson gives a stub and calls `check("scoring.masked_softmax", my_masked_softmax)`. The part
before the dot names a module of this package, the part after it an exercise there. What was tried
is remembered beside `mine.py` (`own.memory`); nothing leaves the machine.

What a Transformer is built from is kept besides: `mine("masked_softmax")` gives the student's own.
There are two ways into such a part: `skeleton("masked_softmax")`, or the empty stub of the lesson.
"""

import difflib
import importlib
import pkgutil
from collections import Counter
from typing import Any

import pandas as pd
from IPython.display import Markdown, display

from transformer_lib.exercises.checking.machinery import Exercise
from transformer_lib.exercises.own.library import Unreadable, is_off, keep, standing
from transformer_lib.exercises.own.memory import Done, remember, remembered
from transformer_lib.exercises.own.mine import mine
from transformer_lib.exercises.own.parts import BY_EXERCISE, PARTS
from transformer_lib.exercises.quiz import score

__all__ = ["check", "exercises", "hint", "mine", "progress", "skeleton", "solution"]

_hinted: Counter[str] = Counter()  # in this kernel: hints begin anew in the next


def exercises() -> dict[str, Exercise]:
    """Every exercise there is, by its name."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        loaded = vars(importlib.import_module(f"{__name__}.{module.name}"))
        named = {k: v for k, v in loaded.items() if isinstance(v, Exercise) and k[0] != "_"}
        found |= {f"{module.name}.{k}": v for k, v in named.items()}
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
    display(verdict)

    def done(memory: Done) -> None:
        memory.tried[name] = memory.tried.get(name, 0) + verdict.attempted
        memory.passed |= {name: True} if verdict.passed else {}

    if verdict.attempted and (trouble := remember(done)):
        _say(trouble)
    if verdict.passed and name in BY_EXERCISE and not is_off():
        _say(keep(BY_EXERCISE[name], answer, lambda again: exercise.judge(again).passed))


def hint(name: Any) -> None:
    """Give the next hint, the first one a nudge, the last one nearly a recipe."""
    found = _find(name)
    if found is None:
        return
    name, exercise = found
    given = min(_hinted[name], len(exercise.hints) - 1)
    _hinted[name] = given + 1
    remember(lambda memory: memory.hints.update({name: max(given + 1, memory.hints.get(name, 0))}))
    last = given + 1 == len(exercise.hints)
    back = "".join(f" Lesson {s[:2]} explains it in “{s[3:]}”." for s in exercise.sections[:1])
    shown = "." if exercise.withheld else f'; `solution("{name}")` shows a solution.'
    end = f"{back} This was the last{shown}" if last else ""
    _say(f"Hint {given + 1} of {len(exercise.hints)}: {exercise.hints[given]}{end}")


def solution(name: Any, *, force: bool = False) -> None:
    """Print a solution, once something was tried, now or before (or with `force=True`)."""
    found = _find(name)
    if found is None:
        return
    name, exercise = found
    if force or exercise.withheld or _memory()[0].tried.get(name):
        print(exercise.source())
    else:
        _say(
            "Try it first, even wrongly: the check will say what it sees. "
            f'`solution("{name}", force=True)` shows it all the same.'
        )


def skeleton(name: Any) -> None:
    """Print the solution with its comments and shapes, and `...` where you are to think."""
    if found := _find(name):
        print(found[1].skeleton())


def progress() -> None:
    """Show what was done, in this lesson and before: exercises, hints, and the quiz's score."""
    try:
        stands, trouble = standing(), ""
    except Unreadable as error:
        stands, trouble = {}, f" {error}."
    memory, damage = _memory()
    own = {PARTS[key].exercise: wrong for key, wrong in stands.items() if key in PARTS}
    done = set(memory.passed) | {name for name, wrong in own.items() if not wrong}

    def state(name: str) -> str:
        if own.get(name):
            return "✗ kept, but broken"
        if name in own:
            return "✓ kept in mine.py"
        if name in memory.passed:
            return "✓ passed"
        return f"✗ tried {memory.tried[name]} ×" if memory.tried.get(name) else "○ open"

    table = pd.DataFrame({"exercise": list(exercises())})
    table["state"] = table.exercise.map(state)
    table["hints"] = [memory.hints.get(name) or "" for name in table.exercise]
    of_mine = f" In `mine.py` stand {', '.join(stands)}." if stands else ""
    counted = len(done & set(table.exercise))
    _say(f"{counted} of {len(table)} exercises passed.{of_mine}{trouble}{damage} {score()}")
    display(table.style.set_uuid("progress").hide(axis="index"))


def _memory() -> tuple[Done, str]:
    """What was done, and what is wrong with the file that should say so."""
    try:
        return remembered(), ""
    except Unreadable as error:
        return Done(), f" {error}."


def _find(name: Any) -> tuple[str, Exercise] | None:
    """(name, exercise); the word before the dot may be left out."""
    known = exercises()
    if not isinstance(name, str):
        _say(
            'The name of the exercise comes first, in quotes: `check("basics.softmax", my_softmax)`.'
        )
        return None
    name = next((full for full in known if full.rpartition(".")[2] == name), name)
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.4) or sorted(known)
        _say(f"There is no exercise {name!r}. Did you mean {', '.join(map(repr, near))}?")
        return None
    return name, known[name]


def _say(text: str) -> None:
    display(Markdown(text))
