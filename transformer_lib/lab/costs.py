"""What a run costs: operations and bytes, which can be counted, and seconds. Lesson 17."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode


def operations(run: Callable[[], Any]) -> int:
    """The multiplications and additions in all matrix products of `run`, forward and backward.

    Attention counts as the formula has it, with its two products, whichever kernel would make it.
    """
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


@contextmanager
def _silent() -> Iterator[None]:
    """A block in which torch's profiler does not speak of itself."""
    before = os.environ.get("KINETO_LOG_LEVEL")
    os.environ["KINETO_LOG_LEVEL"] = before or "99"
    try:
        yield
    finally:
        if before is None:
            del os.environ["KINETO_LOG_LEVEL"]


@torch.inference_mode()
def peak_bytes(run: Callable[[], Any]) -> int:
    """The most bytes that tensors held at once during `run` on CPU, beyond those there before."""
    with _silent(), profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        run()
    held = most = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            most = max(most, held)
    return most


def kept_bytes(run: Callable[[], Any], model: nn.Module) -> int:
    """The bytes of all tensors that `run` keeps for its backward pass.

    The parameters of `model` are there anyway, and not counted.
    """
    own = {parameter.data_ptr() for parameter in model.parameters()}
    kept: dict[int, Tensor] = {}  # held here, so that no address is given out twice

    def note(tensor: Tensor) -> Tensor:
        if tensor.untyped_storage().data_ptr() not in own:
            kept[tensor.untyped_storage().data_ptr()] = tensor
        return tensor

    with saved_tensors_hooks(note, lambda tensor: tensor):
        result = run()
    del result
    return sum(tensor.untyped_storage().nbytes() for tensor in kept.values())


def seconds(run: Callable[[], Any], repeats: int = 1) -> float:
    """The CPU time of `run`: the mean of `repeats` runs, after one that does not count."""
    run()
    began = time.process_time()
    for _ in range(repeats):
        run()
    return (time.process_time() - began) / repeats
