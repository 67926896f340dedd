"""How an exercise went, in one of five words."""

from dataclasses import dataclass

PASSED, MISTAKE, OPEN = "passed", "mistake", "not attempted"
UNJUDGED, ABSENT = "not judged", "not handed in"
BEST_FIRST = (PASSED, MISTAKE, OPEN, UNJUDGED, ABSENT)


@dataclass(frozen=True)
class Result:
    """How an exercise went: one of the five words above, and what is to be said of it.

    `case` is the smallest case that goes wrong, whole, where the check has one.
    """

    state: str
    message: str = ""
    case: str = ""

    def __str__(self) -> str:
        return f"{self.state}: {self.message}" if self.message else self.state
