"""Every benchmark in one table: make bench, or python tests/benchmarks [NAME …] [--json FILE]."""

import argparse
import importlib
from itertools import chain
from pathlib import Path

import torch
from measure import show, write

NAMES = (
    "training_step",
    "bahdanau_step",
    "attention",
    "decoding",
    "throughput",
    "imports",
)


def rows(name):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    return importlib.import_module(name).measure()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python tests/benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES), default=NAMES)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the table there, too")
    args = parser.parse_args()
    if unknown := set(args.names) - set(NAMES):
        parser.error(f"no benchmark {', '.join(unknown)}: {', '.join(NAMES)}")
    if args.json and not args.json.parent.is_dir():
        parser.error(f"--json {args.json}: there is no folder {args.json.parent}")
    found = show(chain.from_iterable(map(rows, args.names)))
    if args.json:
        write(args.json, found)
