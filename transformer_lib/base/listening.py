"""Attention weights are heard while a model runs: no layer returns them and none keeps them.

A module that makes weights is `Listened` and tells them; `listen` collects what chosen modules
tell, and `attention.record_attention` listens to every module of a model. Who listens is known to
the context of the call (`contextvars`) and never to the module: two threads may use one model, and
each hears its own calls alone.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from jaxtyping import Float
from torch import Tensor, nn

Key = TypeVar("Key")
Weights = Float[Tensor, "*batch query key"]

_heard: ContextVar[Mapping[object, list[Tensor]]] = ContextVar(
    "heard", default=MappingProxyType({})
)
_open_blocks, _count = 0, Lock()  # in all threads; while it is 0 a compiled model is one graph


class Listened(nn.Module):
    """A module whose attention weights can be heard; while nobody listens it need not make them."""

    def __init__(self):
        super().__init__()
        self._voice = object()  # what a module and its views (`views.eval_view`) are known by

    @property
    def is_heard(self) -> bool:
        """Whether somebody listens to this module, in this thread."""
        return _open_blocks > 0 and self._voice in _heard.get()

    def tell(self, weights: Weights) -> None:
        """Hand the weights, as they are before dropout, to whoever listens."""
        if self.is_heard:
            _heard.get()[self._voice].append(weights.detach())


class AttentionMap(NamedTuple):
    """What was heard of one head, with the words of its axes: a row a query, a column a key."""

    kind: str  # encoder, decoder or cross
    layer: int
    head: int
    queries: list[str]
    keys: list[str]
    weights: Float[Tensor, "query key"]


@contextmanager
def listen(modules: Mapping[Key, Listened]) -> Iterator[dict[Key, list[Weights]]]:
    """Collect what these modules tell inside the block, under their keys, in the order of calls.

    Heard is what the thread runs that opened the block, be it on a module or on a view of it.
    Outputs are those of the fast path. Of two blocks, one inside the other, the inner one hears.
    """
    maps = {key: [] for key in modules}
    voices = {module._voice: maps[key] for key, module in modules.items()}
    before = _heard.set({**_heard.get(), **voices})
    _count_blocks(1)
    try:
        yield maps
    finally:
        _count_blocks(-1)
        _heard.reset(before)


def _count_blocks(change: int) -> None:
    global _open_blocks
    with _count:
        _open_blocks += change
