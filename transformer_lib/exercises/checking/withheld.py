"""Exercises of a hand-out: they judge by stored outcomes, and hold no solution and no mistake.

`python -m transformer_lib assignment` writes modules that are made of these. An answer is compared
with what the right one and the known mistakes made of the same cases, so the verdicts are those of the
whole course, but for one thing: two mistakes at once are not told apart.
"""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from transformer_lib.exercises.checking.comparing import same
from transformer_lib.exercises.checking.machinery import Exercise, is_stub
from transformer_lib.exercises.checking.running import Answer
from transformer_lib.exercises.checking.stored import Stored, tensors_in
from transformer_lib.exercises.checking.verdict import Verdict

NEAR = 1e-6  # what another processor may round otherwise
FOLDER = Path(__file__).parents[1] / "stored"
NO_SOLUTION = "# The solution is withheld in this hand-out. `hint(...)` explains, and the check says what it sees."
NO_SKELETON = (
    "# A skeleton is the solution with gaps, and in this hand-out the solution is withheld. Begin with the empty\n"
    "# stub of the lesson: `hint(...)` explains, and the check says what it sees."
)
NOT_JUDGED = (
    "Not judged here: a check of this exercise would hold its answer, which this hand-out withholds. It is judged "
    "when your work is graded."
)
OTHERWISE = (
    "this torch draws other cases than the one that the hand-out was written with: install the version that "
    "requirements.txt names"
)


class Mistake:
    """A mistake that is known by its outcomes alone."""


@cache
def withheld(kind: type[Exercise], name: str = "") -> type[Exercise]:
    """A kind of exercise without solutions. With a name it judges by what is stored under it."""
    if not name:
        return type(kind.__name__, (_Silent, kind), {})
    return type(kind.__name__, (_Stored, kind), {"stored": FOLDER / f"{name}.safetensors"})


class _Silent:
    """What an exercise says instead of showing a solution."""

    withheld = True

    def source(self) -> str:
        return NO_SOLUTION

    def skeleton(self) -> str:
        return NO_SKELETON


class _Stored(_Silent):
    """How an exercise judges without solutions. `stored` is its file."""

    stored: Path

    def solution(self, answer: Answer) -> Answer:
        """File the name and the arguments of a solution, and read what it and the mistakes did."""
        read = self._read = Stored.read(self.stored)
        self.solutions, self.pairs = [answer], False
        self._mistakes = [(wrong.message, Mistake()) for wrong in read.mistakes]
        self._known.cases = read.cases
        found = zip((mistake for _, mistake in self._mistakes), read.mistakes, strict=True)
        made = {mistake: wrong.outcomes for mistake, wrong in found}
        made |= {answer: read.right} if read.right else {}
        self._known.outcomes = {(a, i): o for a, all_ in made.items() for i, o in enumerate(all_)}
        self.how = self._told_how if any(read.how) else None
        return answer

    def _drawn(self):
        was_drawn = self._known.cases is not None
        cases = super()._drawn()
        if not was_drawn and not same(tensors_in(cases), self._read.inputs, self.tolerance):
            raise ValueError(OTHERWISE)
        return cases

    def _told_how(self, place, *case) -> str:
        return self._read.how[self._at(case)].get(tuple(place), "")

    def _steps(self, case: tuple) -> dict[str, Any]:
        return self._read.steps[self._at(case)]

    def _called_again(self, of: Answer, case: tuple) -> Callable[[Sequence[Any]], Any]:
        """Of the right answer what is stored; ValueError where nothing is."""
        if of is not self.right or self._read.right is None:
            return super()._called_again(of, case)
        asked, given = self._read.asked[self._at(case)], [x for _, x in self._named(case)]

        def again(values: Sequence[Any]) -> Any:
            for others, result in asked:
                stored = [others.get(i, x) for i, x in enumerate(given)]
                if all(a is b or same(a, b, NEAR) for a, b in zip(values, stored, strict=True)):
                    return result
            raise ValueError("the right answer to this is not stored")

        return again

    def _at(self, case: tuple) -> int:
        """Which case it is: the arguments are the very same objects."""
        ids = [*map(id, case)]
        return next(i for i, known in enumerate(self._known.cases) if [*map(id, known)] == ids)


class Unjudged(_Silent, Exercise):
    """An exercise whose check would hold its answer: nothing is judged, and that is said."""

    def _judge(self, answer: Any) -> Verdict:
        return super()._judge(answer) if is_stub(answer) else Verdict("empty", NOT_JUDGED)
