"""Two processes train as one: same losses, no overlap, and they stop and go on together."""

import json
import os
import signal
import subprocess
import sys

import pytest
import torch
from test_survival import go_on, losses, newest, wait_for

from transformer_lib.base.distributed import gather, parallel, rank, share, total, world_size
from transformer_lib.batching import Example, make_batch

SETTINGS = [
    *("--corpus", "everyday", "--evaluate-every", "25", "--max-tokens", "300", "--dropout", "0"),
    *("--d-model", "32", "--num-heads", "4", "--d-ff", "64", "--accumulate", "2"),
]


def start(processes, *arguments):
    several = ("-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}")
    command = [*several, "-m", "transformer_lib", "train", *arguments]
    return subprocess.Popen([sys.executable, *map(str, command)], stderr=subprocess.PIPE, text=True)


def train(processes, *arguments):
    process = start(processes, *arguments)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return errors


def metrics(directory):
    newest = max(directory.glob("step-*"))
    return json.loads((newest / "checkpoint.json").read_text(encoding="utf-8"))["metrics"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    directory = tmp_path_factory.mktemp("alone")
    code, errors = go_on(*SETTINGS, "--steps", 50, "--out", directory)
    assert code == 0, errors
    return directory


def test_two_processes_have_the_losses_and_scores_of_one_and_only_the_first_speaks(alone, tmp_path):
    errors = train(2, *SETTINGS, "--steps", 50, "--out", tmp_path)
    assert losses(tmp_path) == pytest.approx(losses(alone), abs=1e-5)
    assert len(losses(alone)) == 50
    assert metrics(tmp_path) == pytest.approx(metrics(alone), abs=1e-4)
    assert errors.count("2 processes, 50 steps") == 1
    assert errors.count("saved ") == 2


def test_a_killed_worker_ends_the_run_and_resume_goes_on(alone, tmp_path):
    process = start(2, *SETTINGS, "--steps", 50, "--out", tmp_path)
    wait_for(lambda: newest(tmp_path) >= 25)
    workers = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True, check=True
    )
    os.kill(int(workers.stdout.split()[-1]), signal.SIGKILL)
    process.communicate(timeout=120)
    assert process.returncode != 0
    assert newest(tmp_path) == 25
    train(2, "--resume", "--out", tmp_path)
    assert losses(tmp_path) == pytest.approx(losses(alone), abs=1e-5)


def batch_of(rows):
    lengths = torch.arange(rows) % 4 + 2
    return make_batch([Example([5] * int(n), [*range(6, 6 + int(n)), 2]) for n in lengths])


@pytest.mark.parametrize(("rows", "processes"), [(7, 3), (4, 4), (2, 3), (1, 2)])
def test_every_row_is_trained_on_once(rows, processes):
    batch = batch_of(rows)
    shares = [batch.share(number, processes) for number in range(processes)]
    assert sum(part.num_tokens for part in shares) == batch.num_tokens
    dealt = [row for part in shares if part.num_tokens for row in part.tgt_out.tolist()]
    assert sorted(dealt) == sorted(batch.tgt_out.tolist())
    assert all(len(part.src) for part in shares), "a process without rows would not be heard"


def test_one_process_keeps_all_there_is():
    model, items = torch.nn.Linear(2, 3), ["a", "b", "c"]
    assert (rank(), world_size()) == (0, 1)
    assert parallel(model) is model
    assert share(items) == gather(items) == items
    assert total(2.5, 7) == [2.5, 7]
    assert batch_of(3).share(0, 1).num_tokens == batch_of(3).num_tokens
