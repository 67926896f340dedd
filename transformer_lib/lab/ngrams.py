"""Language models that count: which words stood behind the last few, and how often. Lesson 18.

They know words as ids, and of a vocabulary its size alone.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from transformer_lib.base.tokens import BOS_ID
from transformer_lib.metrics import perplexity

Run = tuple[int, ...]


class KneserNey:
    """Counts of runs of up to `longest` words, each count cut by one `discount` D.

    p(w | c) = (max(n(c w) - D, 0) + D · kinds(c) · p(w | c without its first word)) / n(c), with
    n(c) = n(c w) summed over w, and kinds(c) how many different words follow c. Of the longest runs,
    and of those that begin a sentence, n counts how often they came; of all others, behind how many
    different words. The shortest context falls back on equal shares, a context that never came on
    the next shorter one. (Kneser & Ney 1995; interpolated, as Chen & Goodman 1999 advise)
    """

    def __init__(
        self,
        sentences: Iterable[Sequence[int]],
        vocab_size: int,
        longest: int,
        discount: float = 0.75,
    ):
        if longest < 1:
            raise ValueError(f"longest={longest}, but a run has at least 1 word")
        if not 0 < discount < 1:
            raise ValueError(
                f"discount={discount}: each count is cut by more than 0 and less than 1"
            )
        self.vocab_size, self.longest, self.discount = vocab_size, longest, discount
        came = [Counter() for _ in range(longest)]  # how often, by the length of the context
        for ids in sentences:
            for word, before in _with_what_stands_before(ids, longest):
                for length in range(len(before) + 1):
                    came[length][(*before[len(before) - length :], word)] += 1
        self.n = Counter(came[-1])
        for shorter, longer in pairwise(came):
            self.n.update({run: times for run, times in shorter.items() if run[0] == BOS_ID})
            self.n.update(run[1:] for run in longer)  # each different run once
        self.total, self.kinds = Counter(), Counter()
        for run, times in self.n.items():
            self.total[run[:-1]] += times
            self.kinds[run[:-1]] += 1

    def share(self, word: int, before: Sequence[int] = ()) -> float:
        """p(word | before): of the words before it, <bos> among them, the last few are read."""
        before = tuple(before)[max(0, len(before) - self.longest + 1) :]
        p = 1 / self.vocab_size
        for length in range(len(before) + 1):
            c = before[len(before) - length :]
            if c not in self.total:
                break
            kept = max(self.n.get((*c, word), 0) - self.discount, 0)
            p = (kept + self.discount * self.kinds[c] * p) / self.total[c]
        return p

    def tune(
        self, sentences: Sequence[Sequence[int]], discounts: Iterable[float] = (0.5, 0.75, 0.9)
    ) -> "KneserNey":
        """Take the discount with which unseen sentences have the lowest perplexity."""
        found = {}
        for self.discount in discounts:
            found[self.perplexity(sentences)] = self.discount
        self.discount = found[min(found)]
        return self

    def perplexity(self, sentences: Iterable[Sequence[int]]) -> float:
        """Of all words of these sentences, each read behind a <bos> and the words before it."""
        nats = [
            -math.log(self.share(word, before))
            for ids in sentences
            for word, before in _with_what_stands_before(ids, self.longest)
        ]
        return perplexity(sum(nats) / len(nats))


def _with_what_stands_before(ids: Sequence[int], longest: int) -> Iterator[tuple[int, Run]]:
    """Every word of a sentence with at most `longest` - 1 before it, the first of all <bos>."""
    read = (BOS_ID, *ids)
    for at in range(1, len(read)):
        yield read[at], read[max(0, at - longest + 1) : at]
