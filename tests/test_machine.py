import platform
import random
import subprocess
import sys

import checked
import numpy as np
import psutil
import pytest
import torch

from transformer_lib.base.machine import (
    autocast,
    peak_memory,
    pick_device,
    seed_everything,
    use_threads,
)


def test_the_device_asked_for_is_taken_else_the_best():
    assert pick_device("cpu") == torch.device("cpu")
    with pytest.raises(ValueError, match="device 'cdua' is not here: cpu"):
        pick_device("cdua")
    assert pick_device().type == (
        "cuda"
        if torch.cuda.is_available()
        else "mps"
        if torch.backends.mps.is_available()
        else "cpu"
    )


def test_fp32_means_fp32_on_cuda_too_once_a_device_is_picked():
    torch.backends.cudnn.allow_tf32 = True  # as torch has it
    pick_device("cpu")
    assert not torch.backends.cudnn.allow_tf32
    assert not torch.backends.cuda.matmul.allow_tf32


def test_the_environment_overrides_the_number_of_threads(monkeypatch):
    before = torch.get_num_threads()
    monkeypatch.delenv("TRANSFORMER_LIB_THREADS", raising=False)
    use_threads(3)
    assert torch.get_num_threads() == 3
    monkeypatch.setenv("TRANSFORMER_LIB_THREADS", "2")
    use_threads(3)
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


@pytest.mark.parametrize("wrong", ["many", "0", "-1", "1.5"])
def test_a_wrong_number_of_threads_from_the_environment_is_named_as_the_environments(
    monkeypatch, wrong
):
    monkeypatch.setenv("TRANSFORMER_LIB_THREADS", wrong)
    with pytest.raises(ValueError, match=f"TRANSFORMER_LIB_THREADS='{wrong}' is no number"):
        use_threads(3)


@pytest.mark.parametrize("wrong", [0, -1, 1.5])
@pytest.mark.parametrize("environment", ["", "2"])
def test_a_wrong_number_of_threads_from_the_caller_is_named_as_the_callers(
    monkeypatch, wrong, environment
):
    monkeypatch.setenv("TRANSFORMER_LIB_THREADS", environment)
    with checked.unchecked(), pytest.raises(ValueError, match=f"^number={wrong} is no number of"):
        use_threads(wrong)


def test_a_seed_repeats_every_generator():
    draw = lambda: (random.random(), np.random.rand(), torch.rand(1).item())  # noqa: NPY002
    seed_everything(7)
    first = draw()
    assert draw() != first
    seed_everything(7)
    assert draw() == first


@pytest.mark.parametrize(
    ("precision", "dtype"),
    [("fp32", torch.float32), ("bf16", torch.bfloat16), ("fp16", torch.float16)],
)
def test_matrix_products_run_in_the_precision_asked_for(precision, dtype, device):
    x = torch.randn(3, 3, device=device)
    with autocast(device, precision):
        assert (x @ x).dtype == dtype
    with pytest.raises(ValueError, match="'fp8' is none of fp32, bf16, fp16"):
        autocast(device, "fp8")


def test_the_peak_of_memory_lies_between_what_is_held_and_what_there_is():
    held, there = psutil.Process().memory_info().rss, psutil.virtual_memory().total
    assert held / 2**20 * 0.99 < peak_memory() < there / 2**20
    kept = torch.ones(64, 2**18)  # 64 MiB
    assert peak_memory() >= psutil.Process().memory_info().rss / 2**20 * 0.99
    assert kept.sum() == 2**24


NEW_MEMORY = """
import resource
import sys
import torch
from transformer_lib.base.machine import keep_freed_memory

if sys.argv[1] == "keep":
    keep_freed_memory()
for _ in range(10):
    small = [torch.ones(2**20) for _ in range(32)]  # 4 MiB each
    del small
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for mib in (12, 18, 24, 30):
    torch.ones(mib * 2**18)
pages = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(pages * resource.getpagesize() / 2**20)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library than glibc")
def test_memory_that_small_tensors_gave_back_serves_a_large_one():
    def new_mib(how: str) -> float:
        command = [sys.executable, "-c", NEW_MEMORY, how]
        return float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)

    assert new_mib("keep") < 1 < new_mib("give back")
