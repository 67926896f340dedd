"""The library behind the attention and Transformer lessons.

Import from the modules (`from transformer_lib.attention import MultiHeadAttention`): each holds one
concept and says so in its first line. `publish/pages/names.md` maps our names to those of
d2l, the Annotated Transformer and torch.nn.
"""

import sys

from transformer_lib.base.moved import Signpost

if not any(isinstance(finder, Signpost) for finder in sys.meta_path):
    sys.meta_path.append(Signpost())
