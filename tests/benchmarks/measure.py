"""How everything here is measured: the median of the ratios of two CPU times.

One thread, both sides in one process and in turn. Times of this machine mean little; ratios travel.
"""

import importlib.metadata
import json
import platform
import statistics
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import torch


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


def show(rows: Iterable[Row]) -> list[Row]:
    """Each row as soon as it is measured; then all of them."""
    print(f"{'':72} {'median':>8}   {'low to high':18} aim")
    found = []
    for one in rows:
        print(one, flush=True)
        found.append(one)
    return found


def write(path: Path, rows: Iterable[Row]) -> None:
    """The rows as JSON, and what they were measured with."""
    tools = ("torch", "d2l")
    content = {
        "versions": {
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in tools},
        },
        "kernels": torch.backends.cpu.get_cpu_capability(),
        "processor": platform.machine(),
        "threads": torch.get_num_threads(),
        "rows": [one._asdict() for one in rows],
    }
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
