"""The library behind the attention and Transformer lessons.

Import from the modules (`from transformer_lib.attention import MultiHeadAttention`): each holds one
concept and says so in its first line. Only what a program of yours wants stands here as well:
`from transformer_lib import Translator`. `publish/pages/names.md` maps our names to those of
d2l, the Annotated Transformer and torch.nn.
"""

import importlib
import sys

from transformer_lib.base.moved import Signpost

__all__ = ["Translator"]

if not any(isinstance(finder, Signpost) for finder in sys.meta_path):
    sys.meta_path.append(Signpost())


def __getattr__(name: str):
    """Imports what `__all__` names when it is asked for, and not before."""
    if name in __all__:
        return getattr(importlib.import_module("transformer_lib.translation"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
