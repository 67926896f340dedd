"""The routes through the lessons, for the README, the site and the teaching plan.

A route runs: what a lesson asks for, behind **Before:** in its title cell, stands earlier in it.
"""

from dataclasses import dataclass


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


ROUTES = (
    Route(
        "The whole",
        "From the first idea of attention to a Transformer of your own, trained, measured and taken "
        "apart.",
        (
            Stop("00", 53),
            Stop("01", 47),
            Stop("02", 61),
            Stop("03", 65),
            Stop("04", 62),
            Stop("05", 118),
            Stop("06", 65),
            Stop("07", 65),
            Stop("08", 62),
            Stop("09", 79),
            Stop("10", 62),
            Stop("11", 80),
            Stop("12", 75),
            Stop("13", 133),
            Stop("14", 59),
            Stop("15", 65),
            Stop("16", 68),
            Stop("17", 55),
            Stop("18", 79),
            Stop("19", 80),
        ),
    ),
    Route(
        "One day",
        "Six hours from scores and shares to a Transformer that translates; the exercises stay for "
        "home.",
        (
            Stop("00", 19, "shapes, products of matrices, softmax"),
            Stop("01", 19, "query, key and value"),
            Stop("02", 20, "pooling as a softmax, and one step downhill"),
            Stop("03", 18, "the dot score and the masked softmax"),
            Stop("04", 35, "the formula, the gradient, nn.Module"),
            Stop("05", 22, "part one: words, batches, shift, loss"),
            Stop("08", 32, "roles, order, ways and costs"),
            Stop("09", 36, "two heads, from projection to projection"),
            Stop("10", 28, "clocks, added to the words"),
            Stop("11", 30, "the parts of a block"),
            Stop("12", 33, "three masks, two lives"),
            Stop("13", 51, "the whole machine, assembled"),
            Stop("15", 17, "a trained translator, shown"),
        ),
    ),
    Route(
        "To GPT in two weeks",
        "Ten sessions of 90 minutes, without recurrent networks, to a GPT of your own layers, "
        "trained and judged.",
        (
            Stop("00", 53),
            Stop("01", 47),
            Stop("02", 37, "pooling as a softmax, its width learned"),
            Stop("03", 65),
            Stop("04", 62),
            Stop("05", 41, "part one: words, batches, shift, loss"),
            Stop("08", 62),
            Stop("09", 79),
            Stop("10", 62),
            Stop("11", 80),
            Stop("12", 75),
            Stop("18", 79),
            Stop("14", 59),
            Stop("16", 46, "greedy, sampling and the cache"),
            Stop("17", 28, "one change at a time, and what a large run costs"),
            Stop("19", 25, "the three questions, and what you still know"),
        ),
    ),
)
