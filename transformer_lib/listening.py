"""Attention weights are heard while a model runs: no layer returns them and none keeps them.

A module that makes weights is `Listened` and tells them; `listen` collects what chosen modules
tell, and `attention.record_attention` listens to every module of a model.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

from jaxtyping import Float
from torch import Tensor, nn

Key = TypeVar("Key")
Weights = Float[Tensor, "*batch query key"]


class Listened(nn.Module):
    """A module whose attention weights can be heard.

    `record` is None where nobody listens: such a module may leave its weights unmade.
    """

    record: list[Tensor] | None = None

    def tell(self, weights: Weights) -> None:
        """Hand the weights, as they are before dropout, to whoever listens."""
        if self.record is not None:
            self.record.append(weights.detach())


@contextmanager
def listen(modules: Mapping[Key, Listened]) -> Iterator[dict[Key, list[Weights]]]:
    """Collect what these modules tell inside the block, under their keys, in the order of calls.

    Outputs are those of the fast path. On leaving, also by an exception, every module is fast
    again.
    """
    before = {key: module.record for key, module in modules.items()}
    maps = {key: [] for key in modules}
    for key, module in modules.items():
        module.record = maps[key]
    try:
        yield maps
    finally:
        for key, module in modules.items():
            module.record = before[key]
