"""Chance without luck: every way in which the draws of a program can fall, gone once. Lesson 16."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode


def distribution(run: Callable[[], Hashable]) -> dict[Hashable, float]:
    """Each result that `run` can have, with its probability: not measured, computed.

    `run` is called once for every way in which its draws can fall, by `torch.multinomial` one of a
    row, by `torch.bernoulli` yes or no. Of these draws alone, and of nothing from outside, its
    result may depend. As many calls as ways: it is for what one could draw as a tree.
    """
    found: Counter[Hashable] = Counter()
    beginnings: list[tuple[int, ...]] = [()]  # how the first draws fall, of ways not gone yet
    while beginnings:
        with _Fate(beginnings.pop()) as fate:
            result = run()
        found[result] += fate.probability
        beginnings += fate.forks
    return dict(found)


class _Fate(TorchFunctionMode):
    """A block whose first draws fall as `told`, each later one to its first possible side."""

    def __init__(self, told: Sequence[int]):
        super().__init__()
        self.told, self.fallen, self.probability = told, [], 1.0
        self.forks: list[tuple[int, ...]] = []  # where the later draws could have gone otherwise

    def __torch_function__(
        self, function: Callable, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        if function is torch.multinomial:
            return torch.tensor([[self._fall(shares)] for shares in args[0].tolist()])
        if function is torch.bernoulli:
            fallen = [self._fall((1 - chance, chance)) for chance in args[0].tolist()]
            return torch.tensor(fallen, dtype=args[0].dtype)
        return function(*args, **(kwargs or {}))

    def _fall(self, shares: Sequence[float]) -> int:
        """The side to which a draw falls; its share of the whole is taken note of."""
        if len(self.fallen) < len(self.told):
            side = self.told[len(self.fallen)]
        else:
            side, *others = (i for i, share in enumerate(shares) if share > 0)
            self.forks += [(*self.fallen, other) for other in others]
        self.fallen.append(side)
        self.probability *= shares[side] / sum(shares)
        return side
