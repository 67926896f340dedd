"""Do a lesson's bands hold on other seeds and other kernels?  python tests/bands.py LESSON …

Runs the lesson with every seed shifted, five times on each of two settings of `make portable`, and
notes what `report` and `report_table` get. A band should hold the mean ± 4 standard deviations: then a
run of another seed, or on another processor, that leaves it means something. A bound of 0, 1 or 100 is
taken for the end of the scale, which values may touch. Takes ten times as long as the lesson, in two
processes.
"""

import argparse
import json
import math
import statistics
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import nbformat
import pandas as pd
import portable
from nbclient import NotebookClient
from tqdm import tqdm

ENDS = (0, 1, 100)
LISTEN = """
import json, random
import numpy, torch
from transformer_lib.base import report as said

def _listen(shift, path):
    for home in (random, numpy.random, torch):
        name = "manual_seed" if home is torch else "seed"
        setattr(home, name, lambda n, seed=getattr(home, name): seed(n + shift))

    class Generator(torch.Generator):
        def manual_seed(self, n):
            return super().manual_seed(n + shift)

    torch.Generator = Generator
    seen, begun = {}, [-1]  # the cell that runs, as nbval counts: code cells from 0

    def count(*_):
        begun[0] += 1

    get_ipython().events.register("pre_run_cell", count)

    def note(name, value, low, high):
        cell = begun[0]
        times = seen[cell, name] = seen.get((cell, name), 0) + 1
        name = name if times == 1 else f"{name} ({times})"
        with open(path, "a") as file:
            print(json.dumps([cell, name.strip(), float(value), float(low), float(high)]), file=file)

    def report(name, value, low=None, high=None, **_):
        if (low, high) != (None, None):
            infinite = float("inf")
            note(name, value, -infinite if low is None else low, infinite if high is None else high)

    def report_table(frame, bands=None, **_):
        for column, (low, high) in (bands or {}).items():
            for row, value in frame[column].items():
                note(f"{row}: {column}", value, low, high)

    said.report, said.report_table = report, report_table

_listen(%d, %r)
"""


def measured(lesson: str, setting: str, shift: int) -> tuple[list, list]:
    """[cell, name, value, low, high] of each banded number, and [cell, error] of each cell that raised."""
    notebook = nbformat.read(lesson, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.jsonl"
        path.touch()
        notebook.cells.insert(0, nbformat.v4.new_code_cell(LISTEN % (shift, str(path))))
        client = NotebookClient(
            notebook,
            allow_errors=True,
            extra_arguments=["--log-level=40"],  # no word about encryption
            timeout=1800,
            resources={"metadata": {"path": str(portable.ROOT / "notebooks")}},
        )
        client.execute(
            env=portable.environment(setting)
            | {"OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1", "TRANSFORMER_LIB_MINE": "off"}
        )
        numbers = [json.loads(line) for line in path.read_text().splitlines()]
    code = [cell for cell in notebook.cells if cell.cell_type == "code"][1:]
    errors = [
        (number, f"{output.ename}: {output.evalue}".splitlines()[0][:90])
        for number, cell in enumerate(code)
        for output in cell.outputs
        if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", [])
    ]
    return numbers, errors


def verdict(values: list[float], low: float, high: float) -> str:
    """`holds`, `nearly` where the values are inside but mean ± 4 standard deviations is not, `fails`."""
    if not all(low <= value <= high for value in values):
        return "fails"
    mean, reach = statistics.mean(values), 4 * statistics.stdev(values)
    inside = (low in ENDS or mean - reach >= low) and (high in ENDS or mean + reach <= high)
    return "holds" if inside else "nearly"


def table(runs: list[list]) -> pd.DataFrame:
    """A row a banded number: the values of all runs against its band."""
    values, bands = defaultdict(list), {}
    for cell, name, value, low, high in (number for run in runs for number in run):
        values[cell, name].append(value)
        bands[cell, name] = low, high
    rows = []
    for (cell, name), each in sorted(values.items()):
        low, high = bands[cell, name]
        spread = statistics.stdev(each) if len(each) > 1 else math.nan
        rows.append(
            {
                "cell": cell,
                "number": name[:60],
                "runs": len(each),
                "mean": statistics.mean(each),
                "sd": spread,
                "least": min(each),
                "most": max(each),
                "band": f"{low:g} to {high:g}",
                "verdict": verdict(each, low, high) if len(each) > 1 else "one run",
            }
        )
    return pd.DataFrame(rows)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/bands.py", description=__doc__)
    parser.add_argument("lessons", nargs="+", metavar="LESSON", help="notebooks/16_decoding.ipynb")
    parser.add_argument("--seeds", type=int, default=5, help="how many shifts of the seeds (5)")
    parser.add_argument(
        "--settings", nargs="+", choices=portable.SETTINGS, default=["own", "baseline"]
    )
    parser.add_argument("--all", action="store_true", help="the bands that hold as well")
    args = parser.parse_args()
    red = 0
    for lesson in args.lessons:
        with ProcessPoolExecutor(2) as pool:
            runs = [
                pool.submit(measured, lesson, setting, 100 * shift)
                for shift in range(args.seeds)
                for setting in args.settings
            ]
            for _ in tqdm(as_completed(runs), total=len(runs), desc=Path(lesson).stem, unit="run"):
                pass
        numbers, errors = zip(*(run.result() for run in runs), strict=True)
        found = table(numbers)
        wrong = found[found.verdict != "holds"] if len(found) else found
        print(f"{Path(lesson).stem}: {len(found) - len(wrong)} of {len(found)} bands hold")
        shown = found if args.all else wrong
        if len(shown):
            print(shown.round(4).to_string(index=False))
        raised = [error for run in errors for error in run]
        for cell, error in sorted(set(raised)):
            print(
                f"cell {cell} raised in {raised.count((cell, error))} of {len(runs)} runs: {error}"
            )
        red += len(wrong) + len(raised)
    return bool(red)


if __name__ == "__main__":
    sys.exit(main())
