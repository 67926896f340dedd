"""Draws from lists and tables: by a probability, by given weights, by Zipf weights."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from functools import cache

from bilingual.words import Frag, phrase


@cache
def zipf(n: int) -> tuple[float, ...]:
    """Cumulative Zipf weights for a list of n entries."""
    return tuple(itertools.accumulate(1 / (rank + 1.6) for rank in range(n)))


class Chance:
    """Random draws; one object per corpus."""

    def __init__(self, rng: random.Random):
        self.rng = rng

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self.rng.random() < p

    def zipf(self, items: Sequence):
        """An item of a list that is ordered by frequency."""
        return self.rng.choices(items, cum_weights=zipf(len(items)))[0]

    def weighted(self, table: dict):
        """A key of a table of weights."""
        return self.rng.choices(list(table), weights=list(table.values()))[0]

    def phrase(self, notations: Sequence[str]) -> Frag:
        """A fixed phrase from a list ordered by frequency."""
        return phrase(self.zipf(notations))
