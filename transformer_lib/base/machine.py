"""Where the code runs: on which device, in how many threads, from which seed, in what memory."""

import ctypes
import os
import random
import sys
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import torch

from transformer_lib.base.optional import needed

PRECISIONS = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def pick_device(prefer: str | torch.device | None = None) -> torch.device:
    """The device asked for, else the best one present: cuda, then mps, then cpu.

    From here on cuDNN, which runs a GRU on CUDA, keeps all 23 bits of an fp32 number's fraction; by
    torch's own choice it would keep 10 (TF32). Raises ValueError for a device that is not here.
    """
    torch.backends.cudnn.allow_tf32 = False
    here = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    present = [*(name for name in here if here[name]), "cpu"]  # the best first
    if prefer is not None and str(prefer).split(":")[0] not in present:
        raise ValueError(f"device {str(prefer)!r} is not here: {', '.join(present)}")
    return torch.device(present[0] if prefer is None else prefer)


def seed_everything(seed: int) -> None:
    """Start Python's, NumPy's and torch's random numbers (on every device) from `seed`."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  libraries that draw from the global state
    torch.manual_seed(seed)


def use_threads(number: int) -> None:
    """torch works with `number` threads from here on.

    Where TRANSFORMER_LIB_THREADS is set in the environment, that number counts instead. Lessons
    call it with 1: for models this small, more threads only wait for each other. What they store
    comes out with two as well (`make portable`).
    """
    variable = os.environ.get("TRANSFORMER_LIB_THREADS")
    for name, asked in (("number", number), ("TRANSFORMER_LIB_THREADS", variable or number)):
        if not str(asked).isdecimal() or int(asked) < 1:
            raise ValueError(f"{name}={asked!r} is no number of threads: 1 or more")
    torch.set_num_threads(int(asked))


def autocast(device: torch.device | str, precision: str = "fp32") -> AbstractContextManager:
    """A block in which matrix products run in `precision` (fp32, bf16 or fp16) on `device`."""
    if precision not in PRECISIONS:
        raise ValueError(f"precision={precision!r} is none of {', '.join(PRECISIONS)}")
    if precision == "fp32":
        return nullcontext()
    return torch.autocast(torch.device(device).type, dtype=PRECISIONS[precision])


def peak_memory(device: torch.device | str = "cpu") -> float:
    """The most memory held so far, in MiB: torch's tensors on CUDA, the whole process elsewhere."""
    if torch.device(device).type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 2**20
    try:
        import resource
    except ModuleNotFoundError:  # on Windows
        psutil = needed("psutil", "reading the process's memory")
        return psutil.Process().memory_info().peak_wset / 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def keep_freed_memory() -> None:
    """Keep the memory that tensors give back for the tensors to come: no new page at every update.

    glibc would return it to the system, which clears each page it gives out again; that was a tenth
    of a small model's training. For the whole process, and for good; nothing happens where the C
    library is another. (mallopt(3))
    """
    if sys.platform != "linux" or not hasattr(libc := ctypes.CDLL(None), "mallopt"):
        return
    trim_threshold, mmap_threshold = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD in malloc.h
    libc.mallopt(trim_threshold, 2**31 - 1)
    libc.mallopt(mmap_threshold, 2**25)  # the largest that every glibc takes
