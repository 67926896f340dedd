"""What happens in the process of one notebook: its cells run, and the library judges their answers.

A verdict is not what the notebook says, but a line that this module writes to a file, with a word
that no cell was told. Before each verdict, what the cells have changed in the library and in torch
is undone; an answer that changes it while it is judged is not judged at all.
"""

import inspect
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from IPython import get_ipython
from IPython.display import display
from tqdm import tqdm

import transformer_lib
from transformer_lib.exercises import exercises
from transformer_lib.exercises.checking import running
from transformer_lib.exercises.checking.comparing import said
from transformer_lib.exercises.checking.machinery import Exercise

# No one's own library is read, no bar is drawn, and no figure opens a window.
UNDISTURBED = {"TRANSFORMER_LIB_MINE": "off", "TQDM_DISABLE": "1", "MPLBACKEND": "Agg"}
GUARDED = ("builtins", "torch", "torch.nn", "torch.nn.functional")  # besides the whole library
# What changes by itself: `copy` notes a class's slots, torch's compiler wraps a function of torch.
RESTLESS = ("__slotnames__", "__annotations_cache__", "manual_seed")
LIBRARY = Path(transformer_lib.__file__).parent
NOT_OWN = ("transformer_lib", "torch", "d2l")


@dataclass(frozen=True)
class Step:
    """One thing to do: run the source of a cell or, where `exercise` is given, judge `answer`.

    `about` completes "it happened in …", and `fatal` says that nothing goes on without this step.
    `home` is the number of the step that is to define the answer. A `brief` step is stopped when it
    takes longer than the check of an answer may.
    """

    about: str
    source: str = ""
    exercise: str = ""
    answer: str = ""
    fatal: bool = False
    home: int = 0
    brief: bool = False


def judge(steps: list[Step], skip: set[int], folder: str, results: str, word: str) -> None:
    """Do the steps but those to skip, and write a line of JSON to `results` before and after each.

    The process ends here. What a cell prints is not kept; it runs in `folder`.
    """
    os.environ.update(UNDISTURBED)
    torch.set_num_threads(1)
    tqdm.set_lock(threading.RLock())  # its own lock would outlive a process that is ended
    os.chdir(folder)
    say = _speaker(results, word)
    _be_silent()
    library, names = None, _as_main()
    for number, step in enumerate(steps):
        if number in skip:
            continue
        say(begun=number)
        if library is None and not step.fatal:  # the lesson's own set-up loads more of the library
            library = Library()
        if step.exercise:
            say(ended=number, **_judged(library, step, names))
        else:
            say(ended=number, failed=_run(step, names))
    say(finished=True)
    os._exit(0)  # threads that never stop are left behind


def _speaker(results: str, word: str) -> Callable[..., None]:
    file = open(results, "ab", buffering=0)  # noqa: SIM115  open until the process ends
    written = json.dumps

    def say(**event: Any) -> None:
        file.write(written({"word": word, **event}).encode() + b"\n")

    return say


def _be_silent() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115


def _as_main() -> dict[str, Any]:
    """The names of a new `__main__`: cells see what they would in a notebook, not this module."""
    sys.modules["__main__"] = ModuleType("__main__")
    vars(sys.modules["__main__"]).update(display=display, get_ipython=get_ipython)
    return vars(sys.modules["__main__"])


def _run(step: Step, names: dict[str, Any]) -> str:
    """What became of a source, to complete "it …"; "" if it ran."""

    def cell() -> None:
        exec(compile(step.source, "<cell>", "exec"), names)

    if step.brief:
        (outcome,) = running.run(cell, [()], ())
        if isinstance(outcome.error, running.TimeUp):
            return f"was stopped after {running.SECONDS:g} seconds"
        return f"raised {_said(outcome.error)}" if outcome.error else ""
    try:
        cell()
    except BaseException as error:  # exit() and Ctrl-C among them
        return f"raised {_said(error)}"
    return ""


def _said(error: BaseException) -> str:
    try:
        return said(error)
    except Exception:  # a student's error may not know how to be told
        return f"`{type(error).__name__}`"


def _judged(library: "Library", step: Step, names: dict[str, Any]) -> dict[str, Any]:
    """The verdict as an event."""
    before = library.restore()
    if step.answer not in names:
        return {"missing": True, "changed": before}
    answer = names[step.answer]
    if foreign := _foreign(answer):
        message = f"`{step.answer}` is `{foreign}` itself, not an answer of one's own."
        return {"passed": False, "attempted": True, "message": message, "changed": before}
    # a copy: what is compared with is computed after the cells, and no cell can have put it there
    verdict = replace(library.known[step.exercise]).judge(answer)
    event = {"passed": verdict.passed, "attempted": verdict.attempted, **verdict.data}
    if verdict.passed:
        event["borrowed"] = _borrowed(library.known[step.exercise], answer)
    return {**event, "changed": before, "meddled": library.restore()}


def _borrowed(exercise: Exercise, answer: Any) -> str:
    """The function of the library that an answer calls, and no solution does; "" if none."""
    heard = _of_the_library(exercise, answer)
    known = {
        name for solution in exercise.solutions for name in _of_the_library(exercise, solution)
    }
    return next((name for name in heard if name not in known), "")


def _of_the_library(exercise: Exercise, answer: Any) -> list[str]:
    """What an answer calls of that which lessons teach, the outermost first."""
    heard = exercise.heard(answer)
    files = {name: code.co_filename for name, code in heard.items() if code}
    return [name for name, file in files.items() if Path(file).parent == LIBRARY]


def _foreign(answer: Any) -> str:
    """The name of what was not written by a student, "" for what was."""
    module = str(getattr(answer, "__module__", None) or "")
    if inspect.isbuiltin(answer) or module.partition(".")[0] in NOT_OWN:
        return f"{module}.{getattr(answer, '__qualname__', '?')}".lstrip(".")
    return ""


class Library:
    """The library, torch's functions and Python's own as they were, and the exercises.

    Modules and classes are compared name by name, functions by their code as well, exercises by all
    that is in them.
    """

    def __init__(self):
        self.known: dict[str, Exercise] = exercises()
        self.spaces = [(name, space, dict(vars(space))) for name, space in _spaces()]
        self.codes = [
            (f"{name}.{key}", thing, thing.__code__)
            for name, _, was in self.spaces
            for key, thing in was.items()
            if inspect.isfunction(thing)
        ]
        self.contents = [(name, e, _content(e)) for name, e in self.known.items()]

    def restore(self) -> list[str]:
        """Make it as it was; the names of what was different."""
        changed = []
        for name, space, was in self.spaces:
            for key, value in dict(vars(space)).items():
                if key in RESTLESS:
                    continue
                # a module may load a part of itself; a class gets no new method by itself
                if key not in was and inspect.isclass(space):
                    delattr(space, key)
                    changed.append(f"{name}.{key}")
                elif key in was and value is not was[key]:
                    setattr(space, key, was[key])
                    changed.append(f"{name}.{key}")
            for key in was.keys() - vars(space).keys():
                setattr(space, key, was[key])
                changed.append(f"{name}.{key}")
        for name, function, code in self.codes:
            if function.__code__ is not code:
                function.__code__ = code
                changed.append(name)
        for name, exercise, was in self.contents:
            if not _alike(vars(exercise), was):
                vars(exercise).clear()
                vars(exercise).update({k: list(v) if _is_list(v) else v for k, v in was.items()})
                changed.append(name)
        return sorted(changed)


def _spaces() -> Iterator[tuple[str, Any]]:
    """(name, module or class) of all that is guarded."""
    for name, module in list(sys.modules.items()):
        if name in GUARDED or name.partition(".")[0] == "transformer_lib":
            yield name, module
            for thing in list(vars(module).values()):
                if inspect.isclass(thing) and thing.__module__ == name and name not in GUARDED:
                    yield f"{name}.{thing.__qualname__}", thing
    yield "torch.Tensor", torch.Tensor
    yield "torch.nn.Module", torch.nn.Module


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _content(exercise: Exercise) -> dict[str, Any]:
    return {k: list(v) if _is_list(v) else v for k, v in vars(exercise).items()}


def _alike(now: dict[str, Any], was: dict[str, Any]) -> bool:
    """Whether the same things are in both, the same objects also inside of lists."""
    if now.keys() != was.keys():
        return False
    pairs = [(now[key], was[key]) for key in was]
    lists = [(a, b) for a, b in pairs if _is_list(a) and _is_list(b)]
    return all(a is b for a, b in pairs if not (_is_list(a) and _is_list(b))) and all(
        len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True)) for a, b in lists
    )
