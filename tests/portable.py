"""Lessons on the kernels of other processors: make portable, or python tests/portable.py [LESSON …]

By default the lessons changed since the last commit, on the oldest kernels: minutes. With --all
every lesson and the unit tests, on the machine's own kernels, AVX2's, the oldest, and with two
threads: an hour.

A number that a lesson stores without ≈ must come out on the reader's machine, whatever its processor
and however many threads it has. torch, oneDNN and MKL can be told to behave as on an older one.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import near
import pandas as pd

ROOT = Path(__file__).parent.parent
NOTEBOOKS = ROOT / "notebooks"
OLDEST = "baseline"
SETTINGS = {
    "own": {},
    "AVX2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
    "baseline": {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_ENABLE_INSTRUCTIONS": "SSE4_2",
        "MKL_CBWR": "COMPATIBLE",  # without it products keep their bits on some processors
    },
    # Threads that wait do not spin: two test processes share two cores.
    "two threads": {"TRANSFORMER_LIB_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE"},
}
PROBE = """
import json, torch
from transformer_lib.base.machine import use_threads

use_threads(1)
torch.manual_seed(0)
a, b = torch.rand(300, 400), torch.rand(400, 200)  # the bits of rand hang on no kernel, randn's do
print(json.dumps({
    "kernels": torch.backends.cpu.get_cpu_capability(),
    "threads": torch.get_num_threads(),
    "product": (a @ b).flatten().tolist(),
    "softmax": (8 * a).softmax(dim=-1).flatten().tolist(),
}))
"""


def changed() -> list[Path]:
    """The lessons that differ from the last commit."""
    return [path for path in near.changed() if path.suffix == ".ipynb" and path.exists()]


def environment(setting: str) -> dict[str, str]:
    """This process's environment with the variables of that setting, and of no other."""
    of_any = set().union(*SETTINGS.values())
    return {k: v for k, v in os.environ.items() if k not in of_any} | SETTINGS[setting]


def probe(setting: str) -> dict:
    """What kernels torch says it uses there, and what a fixed product and softmax come to."""
    command = [sys.executable, "-c", PROBE]
    done = subprocess.run(command, env=environment(setting), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{setting}: the probe failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout)


def run(setting: str, tests: list[str], folder: Path) -> dict[str, str | None]:
    """Every test's name, with the first line that differs or None where it passed."""
    report = folder / f"{setting.replace(' ', '-')}.xml"
    report.unlink(missing_ok=True)
    options = (
        "-n 2 --dist loadfile --no-loadscope-reorder --ignore tests/browser -p no:cacheprovider"
    )
    command = [sys.executable, "-m", "pytest", *options.split(), "--nbval", f"--junitxml={report}"]
    command += ["-o", "verbosity_assertions=2", *tests]  # whole lines of what differs
    done = subprocess.run(command, cwd=ROOT, env=environment(setting))
    if done.returncode > 1 or not report.exists():  # 1: some tests failed
        raise RuntimeError(f"{setting}: pytest stopped before it could report")
    return outcomes(ElementTree.parse(report))


def outcomes(report: ElementTree.ElementTree) -> dict[str, str | None]:
    """(test, first line that differs or None) of a JUnit report; what was skipped is left out."""
    found = {}
    for case in report.iter("testcase"):
        if case.find("skipped") is None:
            red = [part for part in case if part.tag in ("failure", "error")]
            name = f"{case.get('classname')}::{case.get('name')}"
            found[name] = first_difference(red[0].text or red[0].get("message")) if red else None
    return found


def first_difference(failure: str) -> str:
    """The line that says most: stored and fresh output where a cell differs, else the error."""
    plain = re.sub(r"(\x1b|#x1B)\[[0-9;]*m", "", failure)  # no colours; XML spells the escape out
    lines = [line.strip() for line in plain.splitlines()]
    stored, fresh = ([line[2:] for line in lines if line.startswith(s)] for s in ("+ ", "- "))
    if "reference_output == test_output" in plain and (stored or fresh):
        return f"stored: {(stored or ['nothing'])[0]}  fresh: {(fresh or ['nothing'])[0]}"
    errors = [line for line in lines if re.match(r"E  |[\w.]*(Error|Exception|Interrupt):", line)]
    silent = errors and errors[0].endswith("Error:")  # as of a bare assert: its line says more
    arrows = [line for line in lines if silent and re.match(r"-+> *\d+ ", line)]
    return (arrows[-1:] or errors or [line for line in lines if line] or ["?"])[0]


def table(probes: dict[str, dict], found: dict[str, dict], minutes: dict[str, float]) -> str:
    """A row a setting, then each test that is red in some of them."""
    first = next(iter(probes.values()))
    rows = {}
    for setting, seen in probes.items():
        red = {test: line for test, line in found[setting].items() if line is not None}
        differing = {
            f"{what} differs": f"{sum(map(float.__ne__, first[what], seen[what]))} of {len(seen[what])}"
            for what in ("product", "softmax")
        }
        rows[setting] = {
            "kernels": seen["kernels"],
            "threads": seen["threads"],
            **differing,
            "passed": len(found[setting]) - len(red),
            "failed": len(red),
            "minutes": round(minutes[setting], 1),
        }
    text = [pd.DataFrame.from_dict(rows, orient="index").to_string()]
    for setting in found:
        text += [f"{setting}: {test}\n    {line}" for test, line in found[setting].items() if line]
    return "\n".join(text)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/portable.py", description=__doc__)
    parser.add_argument("lessons", nargs="*", metavar="LESSON", help="those changed, if none")
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, help=f"if none: {OLDEST}")
    parser.add_argument("--all", action="store_true", help="all lessons, unit tests, settings")
    args = parser.parse_args()
    lessons = args.lessons or sorted(map(str, NOTEBOOKS.glob("*.ipynb") if args.all else changed()))
    if not lessons:
        parser.error("no lesson has changed: name one, or say --all")
    settings = args.settings or (list(SETTINGS) if args.all else [OLDEST])
    tests = [*lessons, "tests" if args.all else "tests/conftest.py"]
    folder = ROOT / "build" / "portable"
    folder.mkdir(parents=True, exist_ok=True)
    probes, found, minutes = {}, {}, {}
    for setting in settings:
        print(f"\n{setting}: {SETTINGS[setting] or 'as it is'}", flush=True)
        probes[setting], began = probe(setting), time.monotonic()
        found[setting] = run(setting, tests, folder)
        minutes[setting] = (time.monotonic() - began) / 60
    print(f"\n{table(probes, found, minutes)}")
    return any(line for tests in found.values() for line in tests.values())


if __name__ == "__main__":
    sys.exit(main())
