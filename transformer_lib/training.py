"""Teaching a model: the loop that makes its loss smaller, step by step. Lesson 14.

Of a model it knows nothing but `logits = model(src, tgt_in)`.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

import pandas as pd
import torch
from torch import nn

from transformer_lib.base.distributed import parallel, rank, synchronised, total, world_size
from transformer_lib.base.machine import autocast, keep_freed_memory
from transformer_lib.base.report import progress_bar
from transformer_lib.base.views import eval_view
from transformer_lib.batching import Batch
from transformer_lib.losses import loss_on_batch


class Diverged(ValueError):
    """A loss that is no number any more; what came before is kept."""


@dataclass
class History:
    """What a training run measured: a row a step, and a row an evaluation."""

    steps: list[dict] = field(default_factory=list)
    evaluations: list[dict] = field(default_factory=list)

    @property
    def frame(self) -> pd.DataFrame:
        """A row a step: step, epoch, loss (nats per token), learning_rate, tokens_per_second."""
        return pd.DataFrame(self.steps)

    @property
    def evaluation_frame(self) -> pd.DataFrame:
        """A row an evaluation: step, and what `evaluate` returned (validation_loss, BLEU, …)."""
        return pd.DataFrame(self.evaluations)


@torch.inference_mode()
def validation_loss(model: nn.Module, batches: Iterable[Batch], precision: str = "fp32") -> float:
    """Mean loss per real token over all batches, without smoothing, in eval().

    Only a view of the model is in eval(). Several processes share the batches out.
    """
    model, device = eval_view(model), next(model.parameters()).device
    nats, tokens = 0.0, 0
    for batch in islice(batches, rank(), None, world_size()):
        batch = batch.to(device)
        with autocast(device, precision):
            loss = loss_on_batch(
                model, batch.src, batch.tgt_in, batch.tgt_out, src_mask=batch.src_mask
            )
        nats, tokens = nats + loss.item() * batch.num_tokens, tokens + batch.num_tokens
    nats, tokens = total(nats, tokens, device=device)
    return nats / tokens


def decay_groups(model: nn.Module, weight_decay: float) -> list[dict]:
    """The parameters for torch.optim.AdamW: what decays, and what does not.

    Matrices decay, embeddings among them: every parameter with two axes or more. Biases, and the γ
    and β of a norm, have one axis and stay. (Loshchilov and Hutter 2019 for the decay; what is
    exempt is a custom.)
    """
    parameters = list(model.parameters())
    return [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0},
    ]


def fit(
    model: nn.Module,
    batches: Iterable[Batch],
    *,
    steps: int,
    learning_rate: Callable[[int], float] | float = 1e-3,
    label_smoothing: float = 0.1,
    clip: float = 1.0,
    weight_decay: float = 0.0,
    accumulate: int = 1,
    precision: str = "fp32",
    compile: bool = False,
    minutes: float | None = None,
    evaluate: Callable[[nn.Module], dict] | None = None,
    evaluate_every: int | None = None,
    save: Callable[[dict], None] | None = None,
    save_every: int | None = None,
    resume: dict | None = None,
    progress: bool = True,
) -> History:
    """Train `model` for `steps` updates with AdamW, and say what happened.

    `batches` is iterated once an epoch; one that has `set_epoch` (TokenBatches) is told which.
    `learning_rate` is a number or a function of the step, counted from 1. Each update averages over
    the real tokens of `accumulate` batches, as one large batch would, cuts the gradient's norm at
    `clip`, and takes `weight_decay` times the learning rate off every matrix (`decay_groups`; 0
    leaves Adam). `compile` lets torch.compile write kernels for the model first.
    `minutes` ends the run early by the clock. The process keeps the memory it trained in
    (`keep_freed_memory`).

    Several processes (`distributed.process_group`) call `fit` alike, with the same batches: each
    trains on its share of every batch, and the update is that of the whole batch.

    `evaluate(model)` returns numbers for the history, every `evaluate_every` steps and at the end.
    `save(snapshot)` gets all that a later call needs as `resume=snapshot` to go on as if it had not
    stopped; every `save_every` steps, at the end, and on Ctrl-C. Raises ValueError on the first
    loss, or result of `evaluate`, that is not a number.

    The model trains in train(), but what is in eval() inside a model in train() stays so, and is
    trained without its dropout. At the end all is in eval(); after an exception it is as it was.
    """
    keep_freed_memory()
    run = _Run(model, batches, weight_decay, precision, compile, resume)
    rate = learning_rate if callable(learning_rate) else lambda step: learning_rate
    deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
    bar = progress_bar(total=steps, initial=run.step, unit="step", show=progress)
    with bar, run.modes(), _interrupt_after_step() as came:
        for group in run.groups(accumulate):
            interrupted, late = run.any_process(bool(came), time.monotonic() > deadline)
            if run.step >= steps or interrupted or late:
                break
            row = run.update(group, rate(run.step + 1), label_smoothing, clip)
            bar.set_postfix(
                loss=f"{row['loss']:.3f}",
                tokens_per_s=f"{row['tokens_per_second']:.0f}",
                refresh=False,
            )
            bar.update()
            if run.step == steps:
                break
            if evaluate and evaluate_every and run.step % evaluate_every == 0:
                run.evaluate(evaluate)
            if save and save_every and run.step % save_every == 0:
                save(run.snapshot())
        if evaluate and not interrupted:
            run.evaluate(evaluate)
        if save:
            save(run.snapshot())
        if came or interrupted:
            saved = ", saved" if save else ""
            raise KeyboardInterrupt(f"stopped after step {run.step} of {steps}{saved}")
    model.eval()
    return run.history


@contextmanager
def _interrupt_after_step() -> Iterator[list]:
    """Hold Ctrl-C back until the step is whole; a second one acts at once.

    The list yielded is empty until the first one came.
    """
    came = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def handler(*_):
        came.append(True)
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, handler)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


def _set_modes(modes: dict[nn.Module, bool]) -> None:
    for part, training in modes.items():
        part.training = training


class _Run:
    """The state of a training run: what must be kept to stop anywhere and go on the same."""

    def __init__(
        self,
        model: nn.Module,
        batches: Iterable[Batch],
        weight_decay: float,
        precision: str,
        compile: bool,
        resume: dict | None,
    ):
        self.model, self.batches, self.precision = model, batches, precision
        self.device = next(model.parameters()).device
        self.found_in = {part: part.training for part in model.modules()}
        # A model in train() may have parts that are not: whoever froze them meant it.
        self.trained_in = {part: mode or not model.training for part, mode in self.found_in.items()}
        self.optimizer = torch.optim.AdamW(
            decay_groups(model, weight_decay) if weight_decay else model.parameters(),
            betas=(0.9, 0.98),
            eps=1e-9,
            weight_decay=0.0,
            fused=True,
        )
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=precision == "fp16")
        self.history = History()
        # updates made; where in the data the next one begins
        self.step, self.epoch, self.in_epoch = 0, 0, 0
        if resume:
            self._restore(resume)
        self.parallel = parallel(torch.compile(model) if compile else model)
        if rank():  # other dropout than process 0's
            torch.manual_seed(torch.initial_seed() + 1_000_003 * (self.step + 1) + rank())

    @contextmanager
    def modes(self) -> Iterator[None]:
        """A block that an exception leaves with every part in the mode it was found in."""
        try:
            yield
        except BaseException:
            _set_modes(self.found_in)
            raise

    def any_process(self, *flags: bool) -> list[bool]:
        """Each flag, true where any process raised it: all of them stop after the same step."""
        return [count > 0 for count in total(*flags, device=self.device)]

    def groups(self, accumulate: int) -> Iterator[list[Batch]]:
        """The batches of each update, epoch after epoch, from where the run stands."""
        while True:
            if hasattr(self.batches, "set_epoch"):
                self.batches.set_epoch(self.epoch)
            epoch = islice(self.batches, self.in_epoch, None)
            empty = True
            while group := list(islice(epoch, accumulate)):
                empty = False
                yield group
            if empty and not self.in_epoch:
                raise ValueError(
                    f"epoch {self.epoch} has no batch: `batches` is empty, or cannot be iterated again"
                )
            self.epoch, self.in_epoch = self.epoch + 1, 0

    def update(
        self, group: list[Batch], learning_rate: float, label_smoothing: float, clip: float
    ) -> dict:
        """One step of the optimizer on the mean loss per real token over all batches of `group`."""
        began = time.perf_counter()
        _set_modes(self.trained_in)
        tokens = sum(batch.num_tokens for batch in group)
        for parameters in self.optimizer.param_groups:
            parameters["lr"] = learning_rate
        nats = 0.0
        for number, whole in enumerate(group, start=1):
            batch = whole.share(rank(), world_size()).to(self.device)
            with synchronised(self.parallel, now=number == len(group)):
                with autocast(self.device, self.precision):
                    loss = loss_on_batch(
                        self.parallel,
                        batch.src,
                        batch.tgt_in,
                        batch.tgt_out,
                        src_mask=batch.src_mask,
                        label_smoothing=label_smoothing,
                    )
                part = loss * (batch.num_tokens / tokens)
                # Gradients are averaged over the processes, but the parts must add up.
                self.scaler.scale(part * world_size()).backward()
            nats += part.detach()
        (value,) = total(nats.item(), device=self.device)
        self._must_be_finite("the loss", value, f"step {self.step + 1}", learning_rate)
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), clip)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        self.in_epoch += len(group)
        row = {
            "step": self.step,
            "epoch": self.epoch,
            "loss": value,
            "learning_rate": learning_rate,
            "tokens_per_second": tokens / (time.perf_counter() - began),
        }
        self.history.steps.append(row)
        return row

    def evaluate(self, evaluate: Callable[[nn.Module], dict]) -> None:
        """Put what `evaluate` finds into the history."""
        row = {"step": self.step, **evaluate(self.model)}
        rate = self.optimizer.param_groups[0]["lr"]
        for name, value in row.items():
            if isinstance(value, float):
                self._must_be_finite(name, value, f"the evaluation after step {self.step}", rate)
        self.history.evaluations.append(row)

    def _must_be_finite(self, name: str, value: float, where: str, learning_rate: float) -> None:
        if not math.isfinite(value):
            raise Diverged(
                f"{name} is {value} at {where}, learning rate {learning_rate:.2g}: "
                "lower the rate, lengthen the warm-up, or train in fp32"
            )

    def snapshot(self) -> dict:
        """Everything `_restore` needs: nested dicts and lists of tensors, numbers and strings."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scaler": self.scaler.state_dict(),
            "random": {"cpu": torch.get_rng_state()}
            | (
                {"cuda": torch.cuda.get_rng_state(self.device)}
                if self.device.type == "cuda"
                else {}
            ),
            "step": self.step,
            "epoch": self.epoch,
            "in_epoch": self.in_epoch,
            "history": {"steps": self.history.steps, "evaluations": self.history.evaluations},
        }

    def _restore(self, snapshot: dict) -> None:
        self.model.load_state_dict(snapshot["model"])
        self.optimizer.load_state_dict(snapshot["optimizer"])
        self.scaler.load_state_dict(snapshot["scaler"])
        torch.set_rng_state(snapshot["random"]["cpu"])
        if "cuda" in snapshot["random"] and self.device.type == "cuda":
            torch.cuda.set_rng_state(snapshot["random"]["cuda"], self.device)
        self.step, self.epoch, self.in_epoch = (
            snapshot[name] for name in ("step", "epoch", "in_epoch")
        )
        self.history = History(**snapshot["history"])
