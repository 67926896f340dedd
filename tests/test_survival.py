"""Training that is killed, interrupted, or runs out of disk, and goes on as if nothing had happened."""

import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from transformer_lib.checkpoints import checkpoints_in, load_model
from transformer_lib.cli import main

resource = pytest.importorskip("resource")  # not on Windows

TRAIN = ["-m", "transformer_lib", "train"]
SETTINGS = [
    *("--corpus", "everyday", "--steps", "16", "--evaluate-every", "4", "--max-tokens", "256"),
    *("--num-layers", "1", "--d-model", "32", "--num-heads", "4", "--d-ff", "64"),
]


def start(*arguments, code=None, **options):
    command = [sys.executable, *(["-c", code] if code else TRAIN), *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def train(*arguments, **options):
    """The exit status and what was said of a run in a process of its own, which may die."""
    process = start(*arguments, **options)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


def go_on(*arguments):
    """The same of a run in this process: what was left behind is all that it knows of the other."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = main(["train", *map(str, arguments)])
    return code, said.getvalue()


def losses(directory: Path) -> list[float]:
    """The loss of every step, as the newest checkpoint remembers it."""
    newest = checkpoints_in(directory)[-1]
    packed = dict(json.loads((newest / "training.json").read_text(encoding="utf-8"))["dict"])
    rows = dict(packed["history"]["dict"])["steps"]["list"]
    return [dict(row["dict"])["loss"] for row in rows]


def newest(directory: Path) -> int:
    return max((int(path.name[5:]) for path in checkpoints_in(directory)), default=0)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The directory of a run that nothing disturbed."""
    directory = tmp_path_factory.mktemp("whole")
    code, errors = go_on(*SETTINGS, "--out", directory)
    assert code == 0, errors
    return directory


def wait_for(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_killed_run_goes_on_with_the_same_losses(whole, tmp_path):
    process = start(*SETTINGS, "--out", tmp_path)
    wait_for(lambda: newest(tmp_path) >= 8)
    process.kill()
    process.communicate()
    assert 8 <= newest(tmp_path) < 16
    code, errors = go_on("--resume", "--out", tmp_path)
    assert code == 0, errors
    assert losses(tmp_path) == losses(whole)


def test_a_run_killed_while_it_writes_goes_on_from_the_checkpoint_before(whole, tmp_path):
    dies_at_the_second = """
import os, signal, sys
from transformer_lib import checkpoints
from transformer_lib.cli import main
whole = checkpoints.save_file
def half(tensors, path):
    whole(tensors, path)
    if "step-000008" in str(path):
        os.truncate(path, os.path.getsize(path) // 2)
        os.kill(os.getpid(), signal.SIGKILL)
checkpoints.save_file = half
main(["train", *sys.argv[1:]])
"""
    code, _ = train(*SETTINGS, "--out", tmp_path, code=dies_at_the_second)
    assert code == -signal.SIGKILL
    assert newest(tmp_path) == 4
    assert list(tmp_path.glob(".step-000008.*.partial")), "it died in the middle"
    code, errors = go_on("--resume", "--out", tmp_path)
    assert code == 0, errors
    assert losses(tmp_path) == losses(whole)
    assert not list(tmp_path.glob(".step*"))


def test_ctrl_c_saves_says_how_to_go_on_and_loses_no_step(whole, tmp_path):
    process = start(*SETTINGS, "--out", tmp_path)
    wait_for(lambda: newest(tmp_path) >= 4)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "saved. Go on with: python -m transformer_lib train --resume --out" in errors
    code, errors = go_on("--resume", "--out", tmp_path)
    assert code == 0, errors
    assert losses(tmp_path) == losses(whole)


@pytest.mark.parametrize("name", ["training.safetensors", "model.safetensors", "training.json"])
def test_a_truncated_checkpoint_is_refused_and_the_one_before_it_used(whole, tmp_path, name):
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    damaged = max(tmp_path.glob("step-*")) / name
    os.truncate(damaged, damaged.stat().st_size // 2)
    code, errors = go_on("--resume", "--out", tmp_path)
    assert code == 0, errors
    assert f"step-000016: {name} was truncated or changed" in errors
    assert losses(tmp_path) == losses(whole)


def test_a_second_run_into_the_same_folder_stops_at_once_and_the_first_goes_on(whole, tmp_path):
    process = start(*SETTINGS, "--out", tmp_path)
    wait_for(lambda: (tmp_path / ".run.owner").exists())
    process.send_signal(signal.SIGSTOP)  # before its first checkpoint, or soon after
    try:
        for more in ([], ["--resume"]):
            code, errors = go_on(*SETTINGS, "--out", tmp_path, *more)
            assert code == 1
            assert f"{tmp_path} is being trained into by process {process.pid} on " in errors
            assert ", since 20" in errors
    finally:
        process.send_signal(signal.SIGCONT)
    wait_for(lambda: checkpoints_in(tmp_path))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        while process.poll() is None:  # loading disturbs nobody either, and sees whole checkpoints
            assert load_model(tmp_path).info["step"] in (4, 8, 12, 16)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    assert losses(tmp_path) == losses(whole)


def test_a_lock_that_was_left_behind_stops_nobody(whole, tmp_path):
    (tmp_path / ".run.lock").touch()
    (tmp_path / ".run.owner").write_text("process 1 on another machine, since 2020")
    code, errors = go_on(*SETTINGS, "--out", tmp_path)
    assert code == 0, errors
    assert losses(tmp_path) == losses(whole)
    assert not (tmp_path / ".run.owner").exists()


def test_foreign_things_stop_no_run(whole, tmp_path):
    (tmp_path / "step-notes.txt").write_text("try a lower rate")
    (tmp_path / "step-000100-backup").mkdir()
    (tmp_path / ".ipynb_checkpoints").mkdir()
    code, errors = go_on(*SETTINGS, "--out", tmp_path)
    assert code == 0, errors
    assert losses(tmp_path) == losses(whole)


def test_a_full_disk_stops_the_run_in_words_and_loses_nothing(tmp_path):
    code, errors = go_on(*SETTINGS, "--steps", "4", "--out", tmp_path)
    assert code == 0, errors

    def small_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    code, errors = train("--resume", "--steps", "8", "--out", tmp_path, preexec_fn=small_disk)
    assert code == 1
    assert "error:" in errors
    assert {path.name for path in tmp_path.iterdir()} == {".run.lock", "step-000004"}
    assert go_on("--resume", "--steps", "8", "--out", tmp_path)[0] == 0
    assert newest(tmp_path) == 8
