"""Several processes that train one model, on one machine or on many. Lesson 17.

`torchrun --nproc-per-node=2 -m transformer_lib train …` starts them, and every process runs the same
program. Where there is only one, each function here does what is left to do: nothing.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


@contextmanager
def process_group(device: torch.device) -> Iterator[torch.device]:
    """A block in which the processes that torchrun has started know each other.

    They talk by NCCL on CUDA, each with a GPU of its own, and by Gloo on CPU. Yields the device of
    this process.
    """
    if "LOCAL_RANK" not in os.environ:
        yield device
        return
    if device.type == "cuda":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield device
    finally:
        dist.destroy_process_group()


def rank() -> int:
    """The number of this process, from 0: process 0 is the one that writes and prints."""
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    """How many processes there are."""
    return dist.get_world_size() if dist.is_initialized() else 1


def parallel(model: nn.Module) -> nn.Module:
    """`model`, its gradients averaged over the processes whenever `backward` runs."""
    if world_size() == 1:
        return model
    device = next(model.parameters()).device
    return DistributedDataParallel(model, device_ids=[device] if device.type == "cuda" else None)


def synchronised(model: nn.Module, now: bool) -> AbstractContextManager:
    """A block whose `backward` averages the gradients only if `now`.

    Where several batches make one update, to average at the last is enough.
    """
    return nullcontext() if now or world_size() == 1 else model.no_sync()


def share(items: Sequence) -> Sequence:
    """What this process takes of `items`: every item goes to exactly one."""
    return items[rank() :: world_size()]


def gather(mine: Sequence) -> list:
    """The results of all processes, in the order of the items that `share` dealt out."""
    if world_size() == 1:
        return list(mine)
    parts: list = [None] * world_size()
    dist.all_gather_object(parts, list(mine))
    dealt = [None] * sum(map(len, parts))
    for number, part in enumerate(parts):
        dealt[number :: len(parts)] = part
    return dealt


def total(*numbers: float, device: torch.device | str = "cpu") -> list[float]:
    """Each number, added up over the processes."""
    if world_size() == 1:
        return list(numbers)
    sums = torch.tensor(numbers, dtype=torch.float64, device=device)
    dist.all_reduce(sums)
    return sums.tolist()
