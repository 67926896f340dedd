"""A model that is a table: what one finds on paper, a search must find too. Lesson 16."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.base.tokens import BOS_ID, EOS_ID, PAD_ID, SPECIAL
from transformer_lib.masks import Mask

EOS = SPECIAL[EOS_ID]


class TableModel(nn.Module):
    """A model small enough for paper: after what was said, a table gives the next word's shares.

    `next_words(said)` is {word: share}; each sentence must come to its <eos>. `words` are all that
    it can say, an id is a place in them. It reads no source, but takes one as every model does, a
    sentence a row. Like every model's its logits are of double precision after `double()`.
    """

    def __init__(self, next_words: Callable[[tuple[str, ...]], Mapping[str, float]]):
        super().__init__()
        self.register_buffer("one", torch.ones(()), persistent=False)  # of the logits' precision
        self.next_words = next_words
        self.sayable = {(), *self.beginnings()}
        spoken = dict.fromkeys(said[-1] for said in self.beginnings())
        self.words = [*SPECIAL, *(word for word in spoken if word not in SPECIAL)]

    def beginnings(self, said: tuple[str, ...] = ()) -> dict[tuple[str, ...], float]:
        """All that can be said on, in the order of the tree, with the share of its last word."""
        found = {}
        for word, share in self.next_words(said).items():
            found[(*said, word)] = share
            if word != EOS:
                found |= self.beginnings((*said, word))
        return found

    def sentences(self) -> dict[tuple[str, ...], float]:
        """Every sentence with its probability, the most probable first."""
        shares = self.beginnings()
        found = {
            said: math.prod(shares[said[:t]] for t in range(1, len(said) + 1))
            for said in shares
            if said[-1] == EOS
        }
        return dict(sorted(found.items(), key=lambda entry: -round(entry[1], 12)))

    def read(self, ids: Int[Tensor, " target"]) -> tuple[str, ...]:
        """The words of these ids, without what fills up the row."""
        return tuple(self.words[i] for i in ids.tolist() if i != PAD_ID)

    def start(self, src: Int[Tensor, "batch source"], src_mask: Mask | None = None) -> "Said":
        """Nothing is said yet."""
        return Said([()] * len(src))

    def step(
        self, ids: Int[Tensor, " batch"], state: "Said"
    ) -> tuple[Float[Tensor, "batch vocab"], "Said"]:
        """The logarithms of the shares after `ids` (at first <bos>), and what was said by then."""
        state = Said((*said, self.words[i]) for said, i in zip(state, ids.tolist(), strict=True))
        shares = [self._after(said[1:]) for said in state]  # <bos> is no word
        table = [[p.get(word, 0.0) for word in self.words] for p in shares]
        return self.one.new_tensor(table).log(), state

    def _after(self, said: tuple[str, ...]) -> Mapping[str, float]:
        """The shares after these words; what has ended, or cannot be said, is only filled up."""
        over = EOS in said or said not in self.sayable
        return {SPECIAL[PAD_ID]: 1.0} if over else self.next_words(said)


class Said(tuple):
    """What each row has said: the state of a `TableModel`."""

    def select(self, rows: Int[Tensor, " rows"]) -> "Said":
        """The state of these rows, in this order."""
        return Said(self[i] for i in rows.tolist())


class Bigrams(nn.Module):
    """A model that knows of what was said the last token alone: how often which came behind it.

    `sentences` are ids that end with <eos> and have no <bos>. Behind a token that never had one
    behind it all are alike. It reads no source, and a step looks up one row: a cheap draft.
    """

    def __init__(self, sentences: Iterable[Sequence[int]], vocab_size: int):
        super().__init__()
        pairs = torch.tensor([pair for ids in sentences for pair in pairwise((BOS_ID, *ids))])
        counts = torch.zeros(vocab_size, vocab_size)
        counts.index_put_(tuple(pairs.T), torch.ones(len(pairs)), accumulate=True)
        counts[counts.sum(dim=1) == 0] = 1
        self.register_buffer("counts", counts)

    def start(
        self, src: Int[Tensor, "batch source"], src_mask: Mask | None = None
    ) -> "NothingKept":
        """Nothing is kept of the source."""
        return NothingKept()

    def step(
        self, ids: Int[Tensor, " batch"], state: "NothingKept"
    ) -> tuple[Float[Tensor, "batch vocab"], "NothingKept"]:
        """The logarithms of the shares behind `ids` (at first <bos>)."""
        counts = self.counts[ids].double()
        return (counts / counts.sum(dim=-1, keepdim=True)).log(), state


class NothingKept:
    """The state of a model that remembers nothing."""

    def select(self, rows: Int[Tensor, " rows"]) -> "NothingKept":
        """The state of these rows."""
        return self
