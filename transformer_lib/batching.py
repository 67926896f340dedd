"""Sentences of unequal length as tensors. Lessons 05, 14.

They are padded, shifted, and grouped so that little of a batch is padding.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lib.base.tokens import BOS_ID, EOS_ID, PAD_ID
from transformer_lib.corpus import SentencePair
from transformer_lib.masks import padding_mask


class Example(NamedTuple):
    """A sentence pair as ids, both ended by <eos>."""

    src: list[int]
    tgt: list[int]


@dataclass(frozen=True)
class Batch:
    """What one training step reads.

    The model gets `tgt_in`, <bos> and all but the last token, and must say `tgt_out`.
    """

    src: Int[Tensor, "batch source"]
    src_mask: Bool[Tensor, "batch 1 1 source"]
    tgt_in: Int[Tensor, "batch target"]
    tgt_out: Int[Tensor, "batch target"]
    num_tokens: int  # real target tokens, <eos> included

    def to(self, device: torch.device | str) -> "Batch":
        return self._each(lambda tensor: tensor.to(device, non_blocking=True))

    def share(self, number: int, of: int) -> "Batch":
        """The rows that process `number` of `of` takes.

        Where none is left for it, one row whose `num_tokens` is 0: it weighs nothing.
        """
        if of == 1:
            return self
        rows = slice(number, None, of) if number < len(self.src) else slice(0, 1)
        part = self._each(lambda tensor: tensor[rows])
        mine = int((part.tgt_out != PAD_ID).sum()) if number < len(self.src) else 0
        return replace(part, num_tokens=mine)

    def _each(self, change: Callable[[Tensor], Tensor]) -> "Batch":
        names = ("src", "src_mask", "tgt_in", "tgt_out")
        return replace(self, **{name: change(getattr(self, name)) for name in names})


def pad(rows: Sequence[Sequence[int]], pad_id: int = PAD_ID) -> Int[Tensor, "batch time"]:
    """The rows side by side, filled up with `pad_id` to the longest."""
    longest = max(map(len, rows))
    filled = [[*row, *[pad_id] * (longest - len(row))] for row in rows]
    return torch.tensor(filled, dtype=torch.long)


def shift_right(
    tgt_out: Int[Tensor, "batch target"], bos_id: int = BOS_ID
) -> Int[Tensor, "batch target"]:
    """What the decoder reads to predict `tgt_out`: <bos> first, every token one step later.

    The last token drops out.
    """
    return torch.cat((torch.full_like(tgt_out[:, :1], bos_id), tgt_out[:, :-1]), dim=1)


def make_batch(examples: Sequence[Example]) -> Batch:
    """One batch of these examples, in their order, as the model reads it and is judged by it."""
    src, tgt_out = pad([e.src for e in examples]), pad([e.tgt for e in examples])
    num_tokens = sum(len(e.tgt) for e in examples)
    return Batch(src, padding_mask(src, PAD_ID), shift_right(tgt_out), tgt_out, num_tokens)


def encode_pairs(
    pairs: Iterable[SentencePair], encode_source: Callable, encode_target: Callable, max_len: int
) -> list[Example]:
    """The pairs as ids, each sentence ended by <eos>, none longer than `max_len`.

    Pairs in which a side is longer are left out.
    """
    examples = (
        Example([*encode_source(p.source), EOS_ID], [*encode_target(p.target), EOS_ID])
        for p in pairs
    )
    return [e for e in examples if max(len(e.src), len(e.tgt)) <= max_len]


def padding_share(batches: Iterable[Batch]) -> float:
    """How much of what the encoder and the decoder are given is padding, from 0 to 1."""
    sides = [side for batch in batches for side in (batch.src, batch.tgt_out)]
    return 1 - sum(int((side != PAD_ID).sum()) for side in sides) / sum(map(torch.numel, sides))


class TokenBatches:
    """Batches of at most `max_tokens` padded positions a side, in a new order each epoch.

    Sentences of similar length come together. Iterate to get the batches of the current epoch;
    `set_epoch(n)` chooses it. The order depends on `seed` and epoch alone, so a run that stopped
    can go on where it was.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        max_tokens: int = 2048,
        *,
        shuffle: bool = True,
        seed: int = 0,
    ):
        longest = max((max(len(e.src), len(e.tgt)) for e in examples), default=0)
        if not examples:
            raise ValueError("no examples to make batches of")
        if longest > max_tokens:
            raise ValueError(
                f"a sentence of {longest} tokens does not fit a batch of max_tokens={max_tokens}"
            )
        self.examples = examples
        self.max_tokens = max_tokens
        self.shuffle = shuffle
        self.seed = seed
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        self._groups = self._group(epoch)

    def __len__(self) -> int:
        return len(self._groups)

    def __iter__(self) -> Iterator[Batch]:
        return (make_batch([self.examples[i] for i in group]) for group in self._groups)

    def _group(self, epoch: int) -> list[list[int]]:
        generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
        order = (
            torch.randperm(len(self.examples), generator=generator).tolist()
            if self.shuffle
            else None
        )
        # sorted is stable: sentences of one length stay mixed
        by_length = sorted(order or range(len(self.examples)), key=self._size)
        groups, widest = [[]], (0, 0)
        for i in by_length:
            widest = tuple(map(max, widest, self._size(i)))
            if max(widest) * (len(groups[-1]) + 1) > self.max_tokens:
                groups.append([])
                widest = self._size(i)
            groups[-1].append(i)
        if self.shuffle:
            groups = [groups[i] for i in torch.randperm(len(groups), generator=generator).tolist()]
        return groups

    def _size(self, i: int) -> tuple[int, int]:
        return len(self.examples[i].tgt), len(self.examples[i].src)
