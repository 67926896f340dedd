"""The routes through the lessons, for the README, the site and the teaching plan.

A route runs: what a lesson asks for, behind **Before:** in its title cell, stands earlier in it.
What of a lesson is on which route stands in its row (`base.lessons`), its minutes in its notes.
"""

from dataclasses import dataclass
from functools import cache

from transformer_lib.base.lessons import LESSONS
from transformer_lib.publish.lessons import find_lessons, read_lesson


@dataclass(frozen=True)
class Stop:
    """A lesson on a route: its number, its minutes in class, and what of it, "" if all of it."""

    lesson: str
    minutes: int
    part: str = ""


@dataclass(frozen=True)
class Route:
    """A way through the lessons, and what one can do at its end."""

    name: str
    promise: str
    stops: tuple[Stop, ...]

    @property
    def minutes(self) -> int:
        return sum(stop.minutes for stop in self.stops)


PARTS = (
    "Where a route takes a part of a lesson, run the other cells unread, because later ones use their "
    "names. Leave out a question on what the route skips, and of a pause what is about it."
)
BEFORE = {"18": "14"}  # on the way to GPT: the lesson that comes before its number would have it


@cache
def routes() -> tuple[Route, Route, Route]:
    """The whole, one day, and to GPT in two weeks."""
    whole = dict.fromkeys(LESSONS, ())
    day, gpt = (
        {number: getattr(row, way) for number, row in LESSONS.items()} for way in ("day", "gpt")
    )
    order = sorted(gpt, key=lambda number: (BEFORE.get(number, number), number not in BEFORE))
    return (
        Route(
            "The whole",
            "From the first idea of attention to a Transformer of your own, trained, measured and "
            "taken apart.",
            _stops(whole),
        ),
        Route(
            "One day",
            "Six hours from scores and weights to a Transformer that translates; the exercises stay "
            "for home.",
            _stops(day),
        ),
        Route(
            "To GPT in two weeks",
            "Ten sessions of 90 minutes, without recurrent networks, to a GPT of your own layers, "
            "trained and judged.",
            _stops({number: gpt[number] for number in order}),
        ),
    )


def _stops(parts: dict[str, tuple | None]) -> tuple[Stop, ...]:
    taken = ((number, part) for number, part in parts.items() if part is not None)
    return tuple(
        Stop(number, *part) if part else Stop(number, _minutes(number)) for number, part in taken
    )


@cache
def _minutes(number: str) -> int:
    return read_lesson(*find_lessons([number])).minutes
