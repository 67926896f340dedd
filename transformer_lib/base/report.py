"""How a lesson says what it measured, shows what runs, and how far it is."""

import inspect
import math
import os
import sys

import pandas as pd
from tqdm.asyncio import tqdm_asyncio
from tqdm.auto import tqdm

LINE_EVERY = 30.0  # seconds: how often somebody who reads a log is told how far it is


def progress_bar(*args, show: bool = True, **options) -> tqdm:
    """tqdm's bar, a widget in JupyterLab, that leaves nothing behind.

    Where standard error is a file, it is a line of text every `LINE_EVERY` seconds. There is none
    where the environment has TQDM_DISABLE. tqdm itself does not hear that variable in a notebook,
    where a stored bar would differ from run to run.
    """
    hidden = not show or bool(os.environ.get("TQDM_DISABLE"))
    if tqdm is tqdm_asyncio and not sys.stderr.isatty():  # neither in JupyterLab nor in a terminal
        options |= {"file": _Lines(), "mininterval": LINE_EVERY, "delay": LINE_EVERY}
        options["bar_format"] = "{n_fmt} of {total_fmt}, {elapsed} so far{postfix}"
    return tqdm(*args, leave=False, disable=hidden, **options)


class _Lines:
    """Standard error, where a bar that is drawn anew is a new line."""

    def write(self, text: str) -> None:
        if line := text.strip():
            print(line, file=sys.stderr, flush=True)

    def flush(self) -> None:
        pass


def show_source(thing) -> None:
    """Print the live source of a function or class: no lesson can drift from the library."""
    print(inspect.getsource(inspect.unwrap(thing)).rstrip())


def report(
    name: str,
    value: float,
    low: float | None = None,
    high: float | None = None,
    *,
    unit: str = "",
    digits: int = 1,
) -> None:
    """Print a measured number with the band it must fall in.

    It reads `held-out BLEU ≈ 93.4 (expected 88 to 100)`. Raises AssertionError outside the band. The
    test suite masks the number after ≈ and compares the rest, so a number that depends on training
    can be printed and still be checked. Without a band (times, memory) only the text is compared.
    """
    measured = f"{name} ≈ {value:.{digits}f}{unit}"
    if low is None and high is None:
        print(measured)
        return
    low, high = (-math.inf if low is None else low), (math.inf if high is None else high)
    band = f"expected {low:g} to {high:g}"
    if math.isinf(low) or math.isinf(high):
        band = f"expected at most {high:g}" if math.isinf(low) else f"expected at least {low:g}"
    print(f"{measured} ({band})")
    if not low <= value <= high:
        raise AssertionError(f"{measured}, but {band}")


def report_table(
    frame: pd.DataFrame, bands: dict[str, tuple[float, float]] | None = None, *, digits: int = 1
) -> None:
    """`report` for a table: every float is printed behind ≈.

    `bands` gives columns the range their values must keep.
    """

    def cell(value):
        return f"≈ {value:>7.{digits}f}" if isinstance(value, float) else value

    print(frame.map(cell).to_string())
    for column, (low, high) in (bands or {}).items():
        outside = frame[column][~frame[column].between(low, high)]
        print(f"{column}: expected {low:g} to {high:g}")
        if len(outside):
            raise AssertionError(f"{column} outside {low:g} to {high:g}: {outside.to_dict()}")
