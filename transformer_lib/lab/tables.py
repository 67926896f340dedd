"""A model that is a table: what one finds on paper, a search must find too. Lesson 16."""

import math
from collections.abc import Callable, Mapping

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.base.tokens import EOS_ID, PAD_ID, SPECIAL
from transformer_lib.masks import Mask

EOS = SPECIAL[EOS_ID]


class TableModel(nn.Module):
    """A model small enough for paper: after what was said, a table gives the next word's shares.

    `next_words(said)` is {word: share}; each sentence must come to its <eos>. `words` are all that
    it can say, an id is a place in them. It reads no source, but takes one as every model does, a
    sentence a row.
    """

    def __init__(self, next_words: Callable[[tuple[str, ...]], Mapping[str, float]]):
        super().__init__()
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
        return torch.tensor(
            [[p.get(word, 0.0) for word in self.words] for p in shares]
        ).log(), state

    def _after(self, said: tuple[str, ...]) -> Mapping[str, float]:
        """The shares after these words; what has ended, or cannot be said, is only filled up."""
        over = EOS in said or said not in self.sayable
        return {SPECIAL[PAD_ID]: 1.0} if over else self.next_words(said)


class Said(tuple):
    """What each row has said: the state of a `TableModel`."""

    def select(self, rows: Int[Tensor, " rows"]) -> "Said":
        """The state of these rows, in this order."""
        return Said(self[i] for i in rows.tolist())
