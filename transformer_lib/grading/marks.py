"""What a student gets for what was handed in, with what the teacher says of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from transformer_lib.grading.classroom import Row
from transformer_lib.grading.homework import Asked
from transformer_lib.grading.points import Points, in_digits
from transformer_lib.grading.students import Student


@dataclass(frozen=True)
class Mark:
    """A student's row, the points of each exercise, and what was typed by hand.

    `earned` and `most` have a number for each exercise. Points typed `by_hand` win over their sum.
    """

    row: Row
    earned: dict[str, Decimal]
    most: dict[str, Decimal]
    by_hand: Decimal | None = None
    comment: str = ""

    @property
    def who(self) -> Student:
        return self.row.who

    @property
    def points(self) -> str:
        """In digits, what counts."""
        computed = sum(self.earned.values(), Decimal(0))
        return in_digits(computed if self.by_hand is None else self.by_hand)

    @property
    def out_of(self) -> str:
        """In digits, the most there is."""
        return in_digits(sum(self.most.values(), Decimal(0)))


def mark(
    row: Row,
    asked: Sequence[Asked],
    points: Points,
    by_hand: Decimal | None = None,
    comment: str = "",
) -> Mark:
    """The mark of a row, by a table of points."""
    earned = {a.exercise: points.earned(a, row.results[a.exercise]) for a in asked}
    return Mark(row, earned, {a.exercise: points.most(a) for a in asked}, by_hand, comment)
