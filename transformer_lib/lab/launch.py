"""Other Pythons, started from this one: a command, or a function run by several. Lesson 17."""

import inspect
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

TORCHRUN = "-m torch.distributed.run --standalone --nproc-per-node={}"  # torchrun's long name
MARK = "what this process returns: "
PROGRAM = """
import json, torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

{function}
dist.init_process_group("gloo")
found = [None] * dist.get_world_size()
dist.all_gather_object(found, {name}())
if dist.get_rank() == 0:
    print({mark!r} + json.dumps(found), flush=True)
dist.destroy_process_group()
"""


def python(options: str, *more: str, processes: int = 1) -> str:
    """What Python prints that is started with these options; under torchrun, if by several.

    One thread each, and no progress bars. Raises RuntimeError with what was printed where it fails,
    subprocess.TimeoutExpired after 300 seconds.
    """
    several = TORCHRUN.format(processes) if processes > 1 else ""
    command = [sys.executable, *shlex.split(several), *shlex.split(options), *more]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TQDM_DISABLE": "1"}
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        env=environment,
        timeout=300,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stdout)
    return done.stdout


def together(function: Callable[[], object], processes: int = 2) -> list:
    """What `function` returns in each of several processes that know each other (by Gloo).

    Its source is run there, so it may use torch, dist (torch.distributed), nn and
    DistributedDataParallel, and nothing else from outside. It returns numbers, words, lists of them.
    """
    source = inspect.getsource(function)
    program = PROGRAM.format(function=source, name=function.__name__, mark=MARK)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(program, encoding="utf-8")
        said = python("", str(file), processes=processes)
    (line,) = [line for line in said.splitlines() if line.startswith(MARK)]
    return json.loads(line.removeprefix(MARK))
