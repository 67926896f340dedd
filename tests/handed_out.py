"""What a hand-out's checks say beside what the course's say: `python tests/handed_out.py [NAME ...]`.

Without names it takes every exercise and every mistake, and half an hour. With names it takes some
mistakes of each. What differs is printed, a line an answer.
"""

import sys
import tempfile
import types
from dataclasses import replace
from pathlib import Path

import torch
from tqdm import tqdm

from transformer_lib.exercises import exercises
from transformer_lib.exercises.checking import withheld
from transformer_lib.exercises.checking.classes import Build
from transformer_lib.exercises.checking.stored import Stored
from transformer_lib.grading.stripped import STORED, WITH_CODE_OF_CASES, stripped


def handed_out(name, folder, mistakes=None):
    """An exercise with so many of its mistakes, all where None, and the same as a hand-out has it."""
    known = exercises()[name]
    every = max(1, len(known._mistakes) // mistakes) if mistakes else 1
    whole = replace(known, _mistakes=known._mistakes[::every], _made={}, pairs=False)
    stored = Stored.of(whole)
    stored.write(folder / f"{name}.safetensors")
    withheld.FOLDER = folder
    withheld.withheld.cache_clear()
    way = WITH_CODE_OF_CASES if stored.cases is None else STORED
    module = types.ModuleType(known.solutions[0].__module__)
    exec(stripped({name: way}, [])[module.__name__], vars(module))
    return whole, vars(module)[name.rpartition(".")[2]]


def untouched(*arguments):
    """An answer that nobody has begun."""


def raises(*arguments):
    raise ValueError("no idea")


def of_another_shape(*arguments):
    return torch.zeros(1, 7)


def differences(name, folder, mistakes=None):
    """(sentence or word for the answer, what the course says, what the hand-out says)."""
    whole, handed = handed_out(name, folder, mistakes)
    answers = [("right", answer) for answer in whole.solutions] + whole.mistakes
    answers += [(answer.__name__, answer) for answer in (untouched, raises, of_another_shape)]
    for about, answer in [*answers, ("3", 3)]:
        both = [exercise.judge(answer) for exercise in (whole, handed)]
        if len({(verdict.kind, verdict.message) for verdict in both}) > 1:
            yield about, *(f"{verdict.kind}: {verdict.message}" for verdict in both)
    if handed.told != whole.told:
        yield "told", str(whole.told), str(handed.told)


def main(names):
    judged = [name for name, e in exercises().items() if not hasattr(e, "examine")]
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in tqdm(names or judged, disable=None):
            some = (3 if isinstance(exercises()[name], Build) else 6) if names else None
            for found in differences(name, Path(folder), some):
                print(name, *found, sep=" | ", flush=True)
                count += 1
    return bool(count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
