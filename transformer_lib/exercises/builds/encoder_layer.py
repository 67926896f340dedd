"""The encoder layer, whole. Lesson 11."""

import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib import layers
from transformer_lib.exercises.checking.classes import UNSTEADY, Build, Case
from transformer_lib.exercises.own.mine import mine
from transformer_lib.lab import twins


def _cases():
    torch.manual_seed(11)
    x, y = torch.randn(2, 5, 12), torch.randn(3, 4, 10)
    padding = (torch.arange(5) < torch.tensor([3, 5])[:, None])[:, None, None, :]
    blind = torch.ones(3, 1, 4, 4, dtype=torch.bool)
    blind[1, 0, 2] = False
    post, pre = ({"dropout": 0.0, "norm_first": first} for first in (False, True))
    half = {"dropout": 0.5}
    return [
        Case("post-norm", (12, 3, 17), post, (x,)),
        Case("pre-norm", (10, 2, 7), pre, (y,)),
        Case("with a padding mask", (12, 3, 17), post, (x, padding)),
        Case("with a row that may see nothing", (10, 2, 7), pre, (y, blind)),
        Case("in train() without dropout", (12, 3, 17), pre, (x, padding), training=True),
        Case("in eval() with dropout=0.5", (10, 2, 7), half, (y,)),
        Case("in train() with dropout=0.5", (10, 2, 7), half, (y,), training=True, random=True),
        Case("in train() with dropout=1", (12, 3, 17), {"dropout": 1.0}, (x,), training=True),
    ]


def _twin(model, x, mask=None):
    if model.training and model.add_norm1.dropout.p:
        return None  # the twin has no dropout
    if mask is None:
        return twins.encoder_layer(model).train()(x)
    if not mask.any(dim=-1).all():
        return None  # torch gives NaN
    return twins.encoder_layer(model).train()(x, src_key_padding_mask=~mask[:, 0, 0])


EncoderLayer = Build(
    task="An encoder layer: self-attention, then the feed-forward network, each with a residual, dropout "
    "on what it adds, and a layer norm: after the sum (post-norm), or before the sublayer "
    "(`norm_first`). x (batch, time, d_model). The parts are called `self_attn`, `add_norm1`, "
    "`feed_forward` (with `up_proj`, ReLU, `down_proj`), `add_norm2` (each with a `norm`).",
    cases=_cases,
    hints=(
        "Three small classes. Add & Norm is given x and a function: the sublayer.",
        "Post-norm `norm(x + dropout(sublayer(x)))`, pre-norm `x + dropout(sublayer(norm(x)))`: what "
        "is added to x is the same in both, what is normed is not.",
        "`x = self.add_norm1(x, lambda y: self.self_attn(y, y, y, mask))`, then "
        "`self.add_norm2(x, self.feed_forward)`.",
    ),
    passed="It is the library's and `nn.TransformerEncoderLayer`, post-norm and pre-norm. On which line "
    "does a token hear of another?",
    reference=layers.EncoderLayer,
    twin=_twin,
)


class MyFeedForward(nn.Module):
    """max(0, x W₁ + b₁) W₂ + b₂ at every position alike."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.up_proj = nn.Linear(d_model, d_ff)
        self.down_proj = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.down_proj(F.relu(self.up_proj(x)))


class MyAddNorm(nn.Module):
    """x and what a sublayer makes of it; the norm after the sum, or before the sublayer."""

    def __init__(self, d_model, dropout, norm_first):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, sublayer):
        if self.norm_first:
            return x + self.dropout(sublayer(self.norm(x)))
        return self.norm(x + self.dropout(sublayer(x)))


@EncoderLayer.solution
class MyEncoderLayer(nn.Module):
    """Every token hears the others, then thinks by itself."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.1, norm_first=False):
        super().__init__()
        self.self_attn = mine("MultiHeadAttention")(d_model, num_heads)
        self.add_norm1 = MyAddNorm(d_model, dropout, norm_first)
        self.feed_forward = MyFeedForward(d_model, d_ff)
        self.add_norm2 = MyAddNorm(d_model, dropout, norm_first)

    def forward(self, x, mask=None):
        x = self.add_norm1(x, lambda y: self.self_attn(y, y, y, mask))
        return self.add_norm2(x, self.feed_forward)


EncoderLayer.needs = (MyFeedForward, MyAddNorm)


class _Parts(nn.Module):
    """The library's parts; subclasses wire them."""

    def __init__(self, d_model, num_heads, d_ff, *, dropout=0.1, norm_first=False):
        super().__init__()
        self.self_attn = layers.MultiHeadAttention(d_model, num_heads)
        self.add_norm1 = layers.AddNorm(d_model, dropout=dropout, norm_first=norm_first)
        self.feed_forward = layers.PositionwiseFeedForward(d_model, d_ff)
        self.add_norm2 = layers.AddNorm(d_model, dropout=dropout, norm_first=norm_first)

    def forward(self, x, mask=None):
        self.mask, pre = mask, self.add_norm1.norm_first
        x = (self.pre if pre else self.post)(x, self.attend, self.add_norm1)
        return (self.pre if pre else self.post)(x, self.think, self.add_norm2)

    def attend(self, y):
        return self.self_attn(y, y, y, self.mask)

    def think(self, y):
        return self.feed_forward(y)

    def post(self, x, sublayer, around):
        return around.norm(x + around.dropout(sublayer(x)))

    def pre(self, x, sublayer, around):
        return x + around.dropout(sublayer(around.norm(x)))

    def post_alone(self, x, sublayer, around):
        return around.norm(around.dropout(sublayer(x)))

    def pre_alone(self, x, sublayer, around):
        return around.dropout(sublayer(around.norm(x)))


EncoderLayer.solution(_Parts)
_mistake = EncoderLayer.mistake


@_mistake("Attention: the mask never reaches it. Without one all is right.")
class _(_Parts):
    def attend(self, y):
        return self.self_attn(y, y, y)


@_mistake("Attention: yours is causal. In an encoder every token may see every other.")
class _(_Parts):
    def attend(self, y):
        return self.self_attn(y, y, y, self.mask, is_causal=True)


@_mistake("Residual: x is not added to what the sublayers make of it.")
class _(_Parts):
    def post(self, x, sublayer, around):
        return around.norm(around.dropout(sublayer(x)))

    def pre(self, x, sublayer, around):
        return around.dropout(sublayer(around.norm(x)))


@_mistake(
    "Residual: there is none around the feed-forward network. What it says is added to what it reads, as "
    "with the attention."
)
class _(_Parts):
    def forward(self, x, mask=None):
        self.mask, pre = mask, self.add_norm1.norm_first
        x = (self.pre if pre else self.post)(x, self.attend, self.add_norm1)
        return (self.pre_alone if pre else self.post_alone)(x, self.think, self.add_norm2)


@_mistake(
    "Residual: there is none around the attention. What it says is added to x, as with the network."
)
class _(_Parts):
    def forward(self, x, mask=None):
        self.mask, pre = mask, self.add_norm1.norm_first
        x = (self.pre_alone if pre else self.post_alone)(x, self.attend, self.add_norm1)
        return (self.pre if pre else self.post)(x, self.think, self.add_norm2)


@_mistake(
    "Residual: both sublayers add the x that came into the layer. The second adds what comes out of the "
    "first."
)
class _(_Parts):
    def forward(self, x, mask=None):
        self.first = x
        return super().forward(x, mask)

    def post(self, x, sublayer, around):
        return around.norm(self.first + around.dropout(sublayer(x)))

    def pre(self, x, sublayer, around):
        return self.first + around.dropout(sublayer(around.norm(x)))


@_mistake(
    "Pre-norm: you add the normed x. The residual carries x as it is; only the sublayer sees the norm."
)
class _(_Parts):
    def pre(self, x, sublayer, around):
        y = around.norm(x)
        return y + around.dropout(sublayer(y))


@_mistake("`norm_first` changes nothing in yours: it is post-norm always.")
class _(_Parts):
    def pre(self, x, sublayer, around):
        return self.post(x, sublayer, around)


@_mistake("`norm_first` changes nothing in yours: it is pre-norm always.")
class _(_Parts):
    def post(self, x, sublayer, around):
        return self.pre(x, sublayer, around)


@_mistake(
    "`norm_first` is the wrong way round: when it is True, the norm comes before the sublayer."
)
class _(_Parts):
    def post(self, x, sublayer, around):
        return super().pre(x, sublayer, around)

    def pre(self, x, sublayer, around):
        return super().post(x, sublayer, around)


@_mistake(
    "Post-norm: you add what the sublayer says to the normed x. First the sum, then the norm: "
    "`norm(x + …)`, not `norm(x) + …`."
)
class _(_Parts):
    def post(self, x, sublayer, around):
        return around.norm(x) + around.dropout(sublayer(x))


@_mistake("Post-norm: you norm what the sublayer says, and add it then. The norm is of the sum.")
class _(_Parts):
    def post(self, x, sublayer, around):
        return x + around.norm(around.dropout(sublayer(x)))


@_mistake(
    "`add_norm1` is given what attention returns. It calls the sublayer itself, on x or on the normed "
    "x: give it a function, `lambda y: self.self_attn(y, y, y, mask)`."
)
class _(_Parts):
    def forward(self, x, mask=None):
        x = self.add_norm1(x, self.self_attn(x, x, x, mask))
        return self.add_norm2(x, self.feed_forward)


@_mistake("Norm: there is none in yours, neither before the sublayers nor after the sums.")
class _(_Parts):
    def post(self, x, sublayer, around):
        return x + around.dropout(sublayer(x))

    def pre(self, x, sublayer, around):
        return x + around.dropout(sublayer(x))


@_mistake("Norm: one serves both sublayers in yours. Each has its own gamma and beta.")
class _(_Parts):
    def forward(self, x, mask=None):
        self.mask, pre = mask, self.add_norm1.norm_first
        x = (self.pre if pre else self.post)(x, self.attend, self.add_norm1)
        return (self.pre if pre else self.post)(x, self.think, self.add_norm1)


@_mistake("Order: your feed-forward network comes first. Attention does, with `add_norm1`.")
class _(_Parts):
    def attend(self, y):
        return super().think(y)

    def think(self, y):
        return super().attend(y)


@_mistake("Feed-forward: the ReLU between `up_proj` and `down_proj` is missing.")
class _(_Parts):
    def think(self, y):
        return self.feed_forward.down_proj(self.feed_forward.up_proj(y))


@_mistake("Feed-forward: that is a GELU. The paper's layer, and this one, has a ReLU.")
class _(_Parts):
    def think(self, y):
        return self.feed_forward.down_proj(F.gelu(self.feed_forward.up_proj(y)))


@_mistake("Feed-forward: it is missing. After the attention every token still thinks by itself.")
class _(_Parts):
    def think(self, y):
        return torch.zeros_like(y)


@_mistake(UNSTEADY[False])
class _(_Parts):
    def post(self, x, sublayer, around):
        return around.norm(x + F.dropout(sublayer(x), around.dropout.p))


@_mistake("Dropout: there is none in yours. It falls on what each sublayer adds to x.")
class _(_Parts):
    def post(self, x, sublayer, around):
        return around.norm(x + sublayer(x))


@_mistake(
    "Dropout: it falls on the sum in yours, and so on the residual. It is meant for what the sublayer adds."
)
class _(_Parts):
    def post(self, x, sublayer, around):
        return around.norm(around.dropout(x + sublayer(x)))

    def pre(self, x, sublayer, around):
        return around.dropout(x + sublayer(around.norm(x)))


@_mistake(
    "Dropout: it falls on the output in post-norm, behind the norm. It is meant for what the sublayer adds."
)
class _(_Parts):
    def post(self, x, sublayer, around):
        return around.dropout(around.norm(x + sublayer(x)))
