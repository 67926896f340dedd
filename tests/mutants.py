"""Lines of the core, broken one at a time: each must turn a test red.  make mutants

Fifteen chosen ones, each a mistake that somebody could make; with --random N others, drawn by
--seed: a sign, a comparison, a constant. The tests are those nearest to the file (`near.py`); the
library is broken in a copy. One that survives is printed, and wants a test.
"""

import argparse
import ast
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

import house
from near import near
from tqdm import tqdm

ROOT = house.LIBRARY.parent
CORE = [name for names in house.FLOORS for name in names if name not in house.FOLDERS]


class Mutant(NamedTuple):
    """A line of a file of the library, and what stands there instead."""

    file: str
    line: str
    instead: str


CHOSEN = [
    Mutant("attention.py", "context = F.dropout(weights, dropout) @ v", "context = weights @ v"),
    Mutant("attention.py", "/ math.sqrt(query.size(-1))", "/ math.sqrt(key.size(-2))"),
    Mutant("attention.py", "and q_len == k_len:", "and q_len <= k_len:"),
    Mutant("masks.py", ".tril(k_len - q_len)", ".tril(0)"),
    Mutant("masks.py", "return weights.masked_fill(hidden, 0.0)", "return weights"),
    Mutant(
        "layers.py",
        "return self.down_proj(self.dropout(F.relu(self.up_proj(x))))",
        "return self.dropout(self.down_proj(F.relu(self.up_proj(x))))",
    ),
    Mutant("positions.py", "10000 ** (pair / d_model)", "10000 ** (pair / 2 / d_model)"),
    Mutant(
        "transformer.py",
        "            if isinstance(part, nn.Linear):",
        "            if isinstance(getattr(part, 'weight', None), Tensor) and part.weight.dim() > 1:",
    ),
    Mutant("transformer.py", "offset=state.position", "offset=0"),
    Mutant("batching.py", "tgt_out[:, :-1]), dim=1)", "tgt_out[:, 1:]), dim=1)"),
    Mutant("losses.py", "real = tgt_out != pad_id", "real = tgt_in != pad_id"),
    Mutant("schedules.py", "math.sqrt(warmup / step)", "math.sqrt(warmup) / step"),
    Mutant("training.py", "        if rank():  # other", "        if False:  # other"),
    Mutant("decoding.py", "((5 + torch.as_tensor(length, device=src.device)) / 6)", "(1 + length)"),
    Mutant("metrics.py", "return 1 - 2 * hits / links", "return 1 - hits / links"),
]
COMPARED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
COMPUTED = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.BitAnd: "|"}


def broken(node: ast.AST, source: str) -> str | None:
    """The node with one thing changed, as text; None where there is nothing to change."""
    text = lambda part: ast.get_source_segment(source, part)
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        return f"({text(node.left)} {COMPUTED[type(node.op)]} {text(node.right)})"
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARED:
        return f"({text(node.left)} {COMPARED[type(node.ops[0])]} {text(node.comparators[0])})"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        return f"({text(node.operand)})"
    if isinstance(node, ast.Constant) and type(node.value) in (bool, int, float):
        return repr(not node.value if isinstance(node.value, bool) else node.value + 1)
    return None


def possible(name: str) -> Iterator[Mutant]:
    """Every change to a line of code of that module; annotations and docstrings are no code."""
    source = house.MODULES[name].read_text(encoding="utf-8")
    tree = ast.parse(source)
    for node in ast.walk(tree):
        node.code = not isinstance(node, ast.arg | ast.AnnAssign)
    left_out = {
        id(inner)
        for node in ast.walk(tree)
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if part is not None
        for inner in ast.walk(part)
    }
    for node in ast.walk(tree):
        new = None if id(node) in left_out else broken(node, source)
        if new and node.lineno == node.end_lineno:
            line = source.split("\n")[node.lineno - 1]
            start, end = (
                len(line.encode()[:n].decode()) for n in (node.col_offset, node.end_col_offset)
            )
            if line.strip() and source.count(line) == 1:
                yield Mutant(f"{name}.py", line, line[:start] + new + line[end:])


def survives(mutant: Mutant) -> bool:
    """Whether the nearest tests are green all the same."""
    path = house.LIBRARY / mutant.file
    source = path.read_text(encoding="utf-8")
    assert source.count(mutant.line) == 1, f"{mutant.file}: {mutant.line!r} is not there once"
    with tempfile.TemporaryDirectory() as folder:
        for entry in ROOT.iterdir():
            if entry.name not in ("transformer_lib", ".git"):
                (Path(folder) / entry.name).symlink_to(entry)
        copy = Path(folder) / "transformer_lib"
        shutil.copytree(house.LIBRARY, copy, ignore=shutil.ignore_patterns("__pycache__"))
        copied = copy / mutant.file
        copied.write_text(source.replace(mutant.line, mutant.instead), encoding="utf-8")
        tests = [test.relative_to(ROOT) for test in near([path])]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "--dist", "loadfile"]
        command += ["-p", "no:cacheprovider", *map(str, tests)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    red = done.returncode in (1, 2) and re.search("^(FAILED|ERROR) tests", done.stdout, re.M)
    assert red or done.returncode == 0, done.stdout + done.stderr
    return not red


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N others, at random")
    parser.add_argument("--seed", type=int, default=0, help="of those at random")
    args = parser.parse_args(arguments)
    mutants = CHOSEN
    if args.random:
        draw = random.Random(args.seed)
        mutants = draw.sample([mutant for name in CORE for mutant in possible(name)], args.random)
    alive = 0
    for mutant in tqdm(mutants, unit="line", disable=not sys.stderr.isatty()):
        if survives(mutant):
            alive += 1
            print(
                f"alive: {mutant.file}: {mutant.line.strip()}  →  {mutant.instead.strip()}",
                flush=True,
            )
        else:
            print(f"red:   {mutant.file}: {mutant.instead.strip()}", flush=True)
    print(f"{len(mutants) - alive} of {len(mutants)} broken lines turn a test red")
    return int(alive > 0)


if __name__ == "__main__":
    sys.exit(main())
