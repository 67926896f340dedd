"""What counts as a crash of a student's notebook, what is lost by it, and how it is said."""

import signal
from collections.abc import Iterator

from transformer_lib.grading.judge import Step
from transformer_lib.grading.limits import End


def how_it_ended(end: End, mebibytes: float) -> str:
    """What ended a process, in words."""
    if end.why == "time":
        return "its time was up. Does a loop never end?"
    if end.why == "sleep":
        return f"it did next to nothing for {end.passed:.0f} seconds. What does it wait for?"
    if end.why == "memory":
        return f"it held more than {mebibytes:g} MiB of memory"
    if end.code < 0:
        return f"its process was killed ({signal.strsignal(-end.code)})"
    return f"it ended its process (exit code {end.code})"


def ends_all(step: Step, end: End) -> bool:
    """Whether nothing more of a notebook is judged whose process ended in this step."""
    return step.fatal or end.why in ("time", "sleep")


def lost_with(steps: list[Step], begun: int) -> Iterator[int]:
    """The checks that fall away where this step ends the process: itself, or its answers'."""
    for number, step in enumerate(steps):
        if step.exercise and begun in (number, step.home):
            yield number
