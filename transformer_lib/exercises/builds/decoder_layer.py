"""The decoder layer, whole. Lesson 12."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib import layers
from transformer_lib.exercises.checking.classes import UNSTEADY, Build, Case
from transformer_lib.exercises.own.mine import mine
from transformer_lib.lab import twins
from transformer_lib.layers import AddNorm, PositionwiseFeedForward
from transformer_lib.masks import causal_mask


def _cases():
    torch.manual_seed(12)
    x, memory = torch.randn(2, 5, 12), torch.randn(2, 7, 12)
    y, other = torch.randn(3, 4, 10), torch.randn(3, 6, 10)
    in_target = (torch.arange(5) < torch.tensor([3, 5])[:, None])[:, None, None, :]
    in_source = (torch.arange(7) < torch.tensor([7, 4])[:, None])[:, None, None, :]
    post, pre = ({"dropout": 0.0, "norm_first": first} for first in (False, True))
    half, wide, narrow = {"dropout": 0.5}, (12, 3, 17), (10, 2, 7)
    return [
        Case("post-norm", wide, post, (x, memory)),
        Case("pre-norm", narrow, pre, (y, other)),
        Case("with padding in the target", wide, post, (x, memory, in_target)),
        Case("with padding in the source", wide, pre, (x, memory, None, in_source)),
        Case("with padding in both", wide, post, (x, memory, in_target, in_source)),
        Case("in train() without dropout", narrow, pre, (y, other), training=True),
        Case("in eval() with dropout=0.5", narrow, half, (y, other)),
        Case("in train() with dropout=0.5", narrow, half, (y, other), training=True, random=True),
    ]


def _twin(model, x, memory, tgt_mask=None, memory_mask=None):
    return twins.decoder_layer(model).train()(
        x,
        memory,
        tgt_mask=~causal_mask(x.size(1)),
        tgt_key_padding_mask=None if tgt_mask is None else ~tgt_mask[:, 0, 0],
        memory_key_padding_mask=None if memory_mask is None else ~memory_mask[:, 0, 0],
    )


DecoderLayer = Build(
    task="A decoder layer: causal self-attention, attention to the memory, feed-forward, each in an Add & "
    "Norm. x (batch, target, d_model), memory (batch, source, d_model); the masks hide padding, the "
    "layer is causal by itself. The parts are called `self_attn`, `add_norm1`, `cross_attn`, "
    "`add_norm2`, `feed_forward`, `add_norm3`; `AddNorm` and `PositionwiseFeedForward` of "
    "`transformer_lib.layers` may serve.",
    cases=_cases,
    hints=(
        "An encoder layer with a third sublayer in the middle. Who asks there, and who answers?",
        "`causal_mask(x.size(1))` is who may look at whom in time; with padding both must hold, so "
        "`&` joins them.",
        "`x = self.add_norm2(x, lambda y: self.cross_attn(y, memory, memory, memory_mask))` is the "
        "middle one.",
    ),
    passed="It is the library's and `nn.TransformerDecoderLayer`, and it never sees the future, in train() "
    "nor in eval().",
    reference=layers.DecoderLayer,
    twin=_twin,
)


@DecoderLayer.solution
class MyDecoderLayer(nn.Module):
    """Every target token hears those before it, then the source, then works by itself."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.1, norm_first=False):
        super().__init__()
        self.self_attn = mine("MultiHeadAttention")(d_model, num_heads)
        self.add_norm1 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)
        self.cross_attn = mine("MultiHeadAttention")(d_model, num_heads)
        self.add_norm2 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)
        self.feed_forward = PositionwiseFeedForward(d_model, d_ff)
        self.add_norm3 = AddNorm(d_model, dropout=dropout, norm_first=norm_first)

    def forward(self, x, memory, tgt_mask=None, memory_mask=None):
        mask = causal_mask(x.size(1), device=x.device)  # (Tq, Tq)
        if tgt_mask is not None:
            mask = mask & tgt_mask
        x = self.add_norm1(x, lambda y: self.self_attn(y, y, y, mask))
        x = self.add_norm2(x, lambda y: self.cross_attn(y, memory, memory, memory_mask))
        return self.add_norm3(x, self.feed_forward)


class _Parts(layers.DecoderLayer):
    """The library's layer in steps, each of which a mistake may do otherwise."""

    def forward(self, x, memory, tgt_mask=None, memory_mask=None):
        self.x, self.memory, self.masks = x, memory, (tgt_mask, memory_mask)
        x = self.around(self.add_norm1, x, self.look_back)
        x = self.around(self.add_norm2, x, self.look_across)
        return self.around(self.add_norm3, x, self.feed_forward)

    def around(self, add_norm, x, sublayer):
        return add_norm(x, sublayer)

    def look_back(self, y):
        return self.self_attn(y, y, y, self.masks[0], is_causal=True)

    def look_across(self, y):
        return self.cross_attn(y, self.memory, self.memory, self.masks[1])


DecoderLayer.solution(_Parts)
_mistake = DecoderLayer.mistake


@_mistake("Self-attention: yours sees the future. A decoder layer is causal by itself.")
class _(_Parts):
    def look_back(self, y):
        return self.self_attn(y, y, y, self.masks[0])


@_mistake(
    "Self-attention: where `tgt_mask` is given, the causal mask is forgotten. Both must hold: `&`."
)
class _(_Parts):
    def look_back(self, y):
        return self.self_attn(y, y, y, self.masks[0], is_causal=self.masks[0] is None)


@_mistake("Self-attention: yours is causal, but `tgt_mask` is never used.")
class _(_Parts):
    def look_back(self, y):
        return self.self_attn(y, y, y, is_causal=True)


@_mistake("Self-attention: yours is causal in train() alone. In eval() it must be so too.")
class _(_Parts):
    def look_back(self, y):
        return self.self_attn(y, y, y, self.masks[0], is_causal=self.training)


@_mistake(
    "Self-attention: your causal mask is turned round, so that a token sees what comes after it."
)
class _(_Parts):
    def look_back(self, y):
        future = causal_mask(y.size(1)).mT
        mask = future if self.masks[0] is None else future & self.masks[0]
        return self.self_attn(y, y, y, mask)


@_mistake("Self-attention: your diagonal is hidden. A token may see itself.")
class _(_Parts):
    def look_back(self, y):
        past = causal_mask(y.size(1)).tril(-1)
        mask = past if self.masks[0] is None else past & self.masks[0]
        return self.self_attn(y, y, y, mask)


@_mistake("Cross-attention: `memory_mask` is never used, so the padding of the source is heard.")
class _(_Parts):
    def look_across(self, y):
        return self.cross_attn(y, self.memory, self.memory)


@_mistake(
    "Cross-attention: in yours the memory asks and the target answers. The query is the target's."
)
class _(_Parts):
    def look_across(self, y):
        return self.cross_attn(self.memory, y, y, self.masks[1])


@_mistake(
    "Masks: the two are exchanged. `tgt_mask` is for self-attention, `memory_mask` for cross-attention."
)
class _(_Parts):
    def look_back(self, y):
        mask = causal_mask(y.size(1))
        return self.self_attn(y, y, y, mask if self.masks[1] is None else mask & self.masks[1])

    def look_across(self, y):
        return self.cross_attn(y, self.memory, self.memory, self.masks[0])


@_mistake("Cross-attention: it never reads the memory. Keys and values are the memory's.")
class _(_Parts):
    def look_across(self, y):
        return self.cross_attn(y, y, y)


@_mistake(
    "Cross-attention: it is causal in yours. The whole source is known, so no part of it is future."
)
class _(_Parts):
    def look_across(self, y):
        causal = torch.ones(y.size(1), self.memory.size(1), dtype=torch.bool).tril()
        mask = causal if self.masks[1] is None else causal & self.masks[1]
        return self.cross_attn(y, self.memory, self.memory, mask)


@_mistake("Cross-attention: its query is what came into the layer. It is what self-attention gave.")
class _(_Parts):
    def look_across(self, y):
        x = self.add_norm2.norm(self.x) if self.add_norm2.norm_first else self.x
        return self.cross_attn(x, self.memory, self.memory, self.masks[1])


@_mistake("Cross-attention: `self_attn` does its work in yours. The two have weights of their own.")
class _(_Parts):
    def look_across(self, y):
        return self.self_attn(y, self.memory, self.memory, self.masks[1])


@_mistake(
    "The two attentions are exchanged: yours looks back with `cross_attn` and across with `self_attn`."
)
class _(_Parts):
    def look_back(self, y):
        return self.cross_attn(y, y, y, self.masks[0], is_causal=True)

    def look_across(self, y):
        return self.self_attn(y, self.memory, self.memory, self.masks[1])


@_mistake(
    "Cross-attention: in pre-norm you norm the memory as well. The norm is of x alone; the encoder has "
    "normed the memory already."
)
class _(_Parts):
    def look_across(self, y):
        norm = self.add_norm2.norm if self.add_norm2.norm_first else nn.Identity()
        memory = norm(self.memory)
        return self.cross_attn(y, memory, memory, self.masks[1])


@_mistake("Cross-attention: it is missing. Without it nothing of the source is heard.")
class _(_Parts):
    def look_across(self, y):
        return torch.zeros_like(y)


@_mistake("Order: yours looks at the source first, and then at what it has written.")
class _(_Parts):
    def forward(self, x, memory, tgt_mask=None, memory_mask=None):
        self.memory, self.masks = memory, (tgt_mask, memory_mask)
        x = self.add_norm1(x, self.look_across)
        x = self.add_norm2(x, self.look_back)
        return self.add_norm3(x, self.feed_forward)


def _without_residual(add_norm, x, sublayer):
    return sublayer(add_norm.norm(x)) if add_norm.norm_first else add_norm.norm(sublayer(x))


@_mistake("Residual: x is not added to what the sublayers make of it.")
class _(_Parts):
    def around(self, add_norm, x, sublayer):
        return _without_residual(add_norm, x, sublayer)


@_mistake("Residual: around the feed-forward network it is missing. All three sublayers have one.")
class _(_Parts):
    def forward(self, x, memory, tgt_mask=None, memory_mask=None):
        self.x, self.memory, self.masks = x, memory, (tgt_mask, memory_mask)
        x = self.add_norm2(self.add_norm1(x, self.look_back), self.look_across)
        return _without_residual(self.add_norm3, x, self.feed_forward)


@_mistake("Residual: around cross-attention it is missing. All three sublayers have one.")
class _(_Parts):
    def forward(self, x, memory, tgt_mask=None, memory_mask=None):
        self.x, self.memory, self.masks = x, memory, (tgt_mask, memory_mask)
        x = self.add_norm1(x, self.look_back)
        x = _without_residual(self.add_norm2, x, self.look_across)
        return self.add_norm3(x, self.feed_forward)


@_mistake("`norm_first` changes nothing in yours: it is post-norm always.")
class _(_Parts):
    def around(self, add_norm, x, sublayer):
        return add_norm.norm(x + add_norm.dropout(sublayer(x)))


@_mistake("Norm: one serves all three sublayers in yours. Each has its own gamma and beta.")
class _(_Parts):
    def around(self, add_norm, x, sublayer):
        return self.add_norm1(x, sublayer)


@_mistake("Feed-forward: the third sublayer is missing.")
class _(_Parts):
    def forward(self, x, memory, tgt_mask=None, memory_mask=None):
        self.memory, self.masks = memory, (tgt_mask, memory_mask)
        return self.add_norm2(self.add_norm1(x, self.look_back), self.look_across)


@_mistake(UNSTEADY[False])
class _(_Parts):
    def around(self, add_norm, x, sublayer):
        return add_norm(x, lambda y: F.dropout(sublayer(y), add_norm.dropout.p))


@_mistake("Dropout: there is none in yours. It falls on what each sublayer adds to x.")
class _(_Parts):
    def forward(self, *inputs):
        self.eval()
        return super().forward(*inputs)
