"""How everything here is measured: the median of the ratios of two CPU times.

One thread, both sides in one process and in turn. Times of this machine mean little; ratios travel.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple


class Row(NamedTuple):
    """A figure: the median of several rounds, the lowest and the highest, and what it should be."""

    what: str
    median: float
    low: float
    high: float
    aim: str = ""

    def __str__(self):
        spread = f"{self.low:.2f} to {self.high:.2f}"
        return f"{self.what:72} {self.median:8.2f}   {spread:18} {self.aim}"


def row(what: str, values: Iterable[float], aim: str = "") -> Row:
    values = list(values)
    return Row(what, statistics.median(values), min(values), max(values), aim)


def cpu_seconds(run: Callable[[], object], repeats: int = 1) -> float:
    began = time.process_time()
    for _ in range(repeats):
        run()
    return time.process_time() - began


def ratios(ours: Callable, theirs: Callable, *, repeats: int, rounds: int) -> list[float]:
    """Our CPU time over theirs, a number a round, after a warm-up of each."""
    cpu_seconds(ours, 2), cpu_seconds(theirs, 2)
    return [cpu_seconds(ours, repeats) / cpu_seconds(theirs, repeats) for _ in range(rounds)]


def show(rows: Iterable[Row], as_json: bool = False) -> None:
    """Each row as soon as it is measured, for people; or all of them as JSON."""
    if as_json:
        json.dump([row._asdict() for row in rows], sys.stdout, indent=1)
        return
    print(f"{'':72} {'median':>8}   {'low to high':18} aim")
    for found in rows:
        print(found, flush=True)
