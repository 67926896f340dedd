"""The learning rate at every step of a training. Lesson 14."""

import math


def warmup_inverse_sqrt(step: int, *, peak: float, warmup: int) -> float:
    """The paper's schedule: up in a line to `peak` at step `warmup`, then down as 1/√step.

    Steps count from 1. The paper's own peak is `paper_peak(d_model, warmup)`. (Vaswani et al. 2017,
    eq. 3)
    """
    _from_one(step)
    return peak * min(step / warmup, math.sqrt(warmup / step)) if warmup else peak / math.sqrt(step)


def paper_peak(d_model: int, warmup: int) -> float:
    """1/√(d_model · warmup): the highest learning rate of equation 3."""
    return (d_model * warmup) ** -0.5


def warmup_cosine(step: int, *, peak: float, warmup: int, steps: int) -> float:
    """Up in a line to `peak` at step `warmup`, then along half a cosine to 0 at `steps`.

    Steps count from 1. For runs whose length is known.
    """
    _from_one(step)
    if step < warmup:
        return peak * step / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warmup) / max(1, steps - warmup))))


def _from_one(step: int) -> None:
    if step < 1:
        raise ValueError(
            f"step={step}, but steps count from 1: to LambdaLR, which counts from 0, "
            "give lambda step: schedule(step + 1)"
        )
