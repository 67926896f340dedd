"""Rows of symbols to copy, reverse or sort: nothing can be guessed. Lessons 05 to 07."""

from collections.abc import Sequence
from functools import partial

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lib.base.tokens import EOS_ID
from transformer_lib.base.views import eval_view
from transformer_lib.batching import Example, make_batch
from transformer_lib.schedules import warmup_cosine
from transformer_lib.training import History, fit

TASKS = {"copy": list, "reverse": lambda row: row[::-1], "sort": sorted}
FIRST, SYMBOLS = EOS_ID + 2, 8  # behind <unk>
VOCABULARY_SIZE = FIRST + SYMBOLS


def toy_examples(
    task: str, n: int, seed: int, lengths: tuple[int, int] = (10, 10)
) -> list[Example]:
    """`n` random rows of ids 4 to 11 and what the task makes of them, both ended by <eos>.

    `lengths`: the shortest and the longest row, both equally likely as any between. Raises
    ValueError for an unknown task.
    """
    if task not in TASKS:
        raise ValueError(f"no toy task {task!r}; there are {', '.join(TASKS)}")
    draw = torch.Generator().manual_seed(seed)
    sizes = torch.randint(lengths[0], lengths[1] + 1, (n,), generator=draw).tolist()
    ids = torch.randint(FIRST, VOCABULARY_SIZE, (sum(sizes),), generator=draw).split(sizes)
    rows = [part.tolist() for part in ids]
    return [Example([*row, EOS_ID], [*TASKS[task](row), EOS_ID]) for row in rows]


def practise(model: nn.Module, examples: Sequence[Example], rows: int = 64) -> History:
    """Read the examples once, an update for every `rows`: up to a rate of 0.01 in 20, then down."""
    batches = [make_batch(examples[i : i + rows]) for i in range(0, len(examples), rows)]
    rate = partial(warmup_cosine, peak=0.01, warmup=20, steps=len(batches))
    return fit(model, batches, steps=len(batches), learning_rate=rate, label_smoothing=0.0)


@torch.no_grad()
def share_right(model: nn.Module, examples: Sequence[Example]) -> Float[Tensor, " target"]:
    """Of rows of one length, the share that is right at each place, <eos> the last.

    The model reads the right symbols before each place (teacher forcing), in eval().
    """
    batch = make_batch(examples)
    said = eval_view(model)(batch.src, batch.tgt_in, batch.src_mask).argmax(dim=-1)
    return (said == batch.tgt_out).double().mean(dim=0)
