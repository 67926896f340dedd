"""What a Transformer is stacked from: feed-forward, Add & Norm, encoder and decoder layer.

Lessons 11, 12.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.masks import Mask
from transformer_lib.positions import RelativePositions

# Projected and split into heads: of targets of any length, and of the memory.
KeysValues = tuple[Float[Tensor, "batch heads _ d_head"], Float[Tensor, "batch heads _ d_head"]]
MemoryKeysValues = tuple[
    Float[Tensor, "sentence heads source d_head"], Float[Tensor, "sentence heads source d_head"]
]


@dataclass(frozen=True)
class Past:
    """What a model remembers of the tokens that it has read: their keys and values.

    Nothing in it ever changes, so a state may be kept, branched and used again.
    """

    past: tuple[KeysValues, ...]  # a layer each, and in it a row a hypothesis
    position: int  # of the next token

    def back(self, count: int) -> "Past":
        """The state as it was before the last `count` tokens."""
        if count > self.position:
            raise ValueError(f"{count} tokens back, but the state has read {self.position}")
        position = self.position - count
        past = tuple(tuple(t[:, :, :position] for t in layer) for layer in self.past)
        return replace(self, past=past, position=position)


def rows_of(layers: tuple[tuple[Tensor, ...], ...], rows: Int[Tensor, " rows"]) -> tuple:
    """These rows, in this order, of the keys and values of every layer."""
    return tuple(tuple(t.index_select(0, rows) for t in layer) for layer in layers)


class PositionwiseFeedForward(nn.Module):
    """max(0, x W₁ + b₁) W₂ + b₂ at every position alike: it mixes no positions.

    Vaswani et al. 2017, section 3.3.
    """

    def __init__(self, d_model: int, d_ff: int, *, dropout: float = 0.0):
        super().__init__()
        self.up_proj = nn.Linear(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)
        self.down_proj = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        return self.down_proj(self.dropout(F.relu(self.up_proj(x))))


class AddNorm(nn.Module):
    """A residual connection around a sublayer, with layer normalisation.

    The norm is over the features of each token alone. Post-norm, as in the paper:
    norm(x + sublayer(x)). Pre-norm (`norm_first`): x + sublayer(norm(x)), which leaves a clean path
    from the last layer to the first and trains at depths where post-norm does not (lesson 14).
    """

    def __init__(self, d_model: int, *, dropout: float = 0.0, norm_first: bool = False):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(
        self, x: Float[Tensor, "batch time d_model"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "batch time d_model"]:
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each in an Add & Norm.

    Equal to `nn.TransformerEncoderLayer`.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.1,
        attention_dropout: float = 0.0,
        norm_first: bool = False,
        relative: RelativePositions | None = None,
    ):
        super().__init__()
        self.self_attn = MultiHeadAttention(
            d_model, num_heads, dropout=attention_dropout, relative=relative
        )
        self.add_norm1 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)
        self.feed_forward = PositionwiseFeedForward(d_model, d_ff, dropout=dropout)
        self.add_norm2 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)

    def forward(
        self, x: Float[Tensor, "batch source d_model"], mask: Mask | None = None
    ) -> Float[Tensor, "batch source d_model"]:
        x = self.add_norm1(x, lambda y: self.self_attn(y, y, y, mask))
        return self.add_norm2(x, self.feed_forward)


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the memory, feed-forward, each in an Add & Norm.

    Equal to `nn.TransformerDecoderLayer`. It is causal by itself, in train() and in eval().
    `forward` takes all positions at once, `step` one after the other; both give the same (lesson
    12). `attention_dropout` falls on the weights of both attentions, unless cross-attention has its
    own.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.1,
        attention_dropout: float = 0.0,
        cross_attention_dropout: float | None = None,
        norm_first: bool = False,
        relative: RelativePositions | None = None,
    ):
        super().__init__()
        if cross_attention_dropout is None:
            cross_attention_dropout = attention_dropout
        self.self_attn = MultiHeadAttention(
            d_model, num_heads, dropout=attention_dropout, relative=relative
        )
        self.add_norm1 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)
        self.cross_attn = MultiHeadAttention(d_model, num_heads, dropout=cross_attention_dropout)
        self.add_norm2 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)
        self.feed_forward = PositionwiseFeedForward(d_model, d_ff, dropout=dropout)
        self.add_norm3 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)

    def forward(
        self,
        x: Float[Tensor, "batch target d_model"],
        memory: Float[Tensor, "batch source d_model"],
        tgt_mask: Mask | None = None,
        memory_mask: Mask | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        x = self.add_norm1(x, lambda y: self.self_attn(y, y, y, tgt_mask, is_causal=True))
        x = self.add_norm2(x, lambda y: self.cross_attn(y, memory, memory, memory_mask))
        return self.add_norm3(x, self.feed_forward)

    def step(
        self,
        x: Float[Tensor, "batch new d_model"],
        past: KeysValues,
        memory: MemoryKeysValues,
        memory_mask: Mask | None = None,
        tgt_mask: Mask | None = None,
    ) -> tuple[Float[Tensor, "batch new d_model"], KeysValues]:
        """The next position alone, from projected keys and values: `past` and those of the memory.

        Or the next few at once. Returns the output and `past` grown by them; the `past` given is
        left as it was, so that beams may branch from it. The memory may have fewer rows, each for
        as many rows of `x`. `tgt_mask` has the rows of these positions: over `past` and themselves.
        """

        def attend_to_past(y: Tensor) -> Tensor:
            nonlocal past
            new = self.self_attn.keys_values(y, y, offset=past[0].size(-2))
            past = tuple(torch.cat(pair, dim=-2) for pair in zip(past, new, strict=True))
            # One query alone has no future.
            return self.self_attn.attend(y, *past, tgt_mask, is_causal=y.size(1) > 1)

        def attend_to_memory(y: Tensor) -> Tensor:
            beams = y.reshape(memory[0].size(0), -1, y.size(-1))  # as queries to one memory
            return self.cross_attn.attend(beams, *memory, memory_mask).view_as(y)

        x = self.add_norm1(x, attend_to_past)
        x = self.add_norm2(x, attend_to_memory)
        return self.add_norm3(x, self.feed_forward), past
