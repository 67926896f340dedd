# My own library: what has passed its check in the lessons. `mine("EncoderLayer")` gives it back.
# Every part is read by itself, with these imports. `mine.forget("EncoderLayer")` takes one out.
import copy
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_lib.attention import attention_weights, scaled_dot_product_attention
from transformer_lib.exercises import mine
from transformer_lib.layers import AddNorm, PositionwiseFeedForward
from transformer_lib.masks import causal_mask, length_mask, masked_softmax, padding_mask
from transformer_lib.positions import RotaryPositions


# ---- Transformer: MyTransformer, lesson 13 ----
import math


import torch


from torch import nn


from transformer_lib import transformer, twins


from transformer_lib.exercises.classes import Build, Case


from transformer_lib.exercises.mine import mine


from transformer_lib.masks import padding_mask


from transformer_lib.transformer import TransformerConfig


def _cases():
    torch.manual_seed(13)
    src, tgt = torch.randint(1, 11, (2, 5)), torch.randint(1, 11, (2, 7))
    src[0, 3:] = 0
    tgt[1, 4:] = 0
    masked = (src, tgt, padding_mask(src, 0))
    sizes = {"d_model": 12, "num_heads": 3, "d_ff": 17, "num_layers": 2, "max_len": 20}
    pre = {"norm_first": True}

    def case(about, inputs=(src, tgt), words=13, training=False, random=False, **changes):
        config = TransformerConfig(11, words, **{**sizes, "dropout": 0.0, **changes})
        return Case(about, (config,), {}, inputs, training, random)

    return [
        case("post-norm"),
        case("pre-norm", **pre),
        case("with padding in the source", masked, **pre),
        case("with padding in both", (*masked, padding_mask(tgt, 0)), **pre),
        case("with tie_weights='target'", tie_weights="target", **pre),
        case("with tie_weights='all'", masked, words=11, tie_weights="all"),
        case("in train() without dropout", masked, training=True, **pre),
        case("in eval() with dropout=0.5", dropout=0.5),
        case("in train() with dropout=0.5", dropout=0.5, training=True, random=True),
        case("in train() with dropout=1", dropout=1.0, training=True, **pre),
    ]


def _twin(model, *inputs):
    """torch's logits, where nothing is dropped: the twin has no dropout."""
    dropped = model.training and model.config.dropout
    return None if dropped else twins.transformer_logits(model, *inputs)


def _newborn(model):
    """Its words should begin with entries of about 1/√d, which √d brings to 1."""
    for side in (model.encoder, model.decoder):
        weight = side.embedding.weight
        if weight.std() > 2 * weight.size(1) ** -0.5:
            return (
                "It computes rightly, but its words begin too loud: `nn.Embedding` starts with variance 1, "
                "and √d comes on top. In its `__init__`: `nn.init.normal_(self.weight, std=d_model**-0.5)`."
            )
    return None


Transformer = Build(
    task="The Transformer: source ids (batch, source) and target ids (batch, target) in, logits (batch, "
    "target, vocab) out. `config` is a `TransformerConfig`. The parts are called `encoder` and "
    "`decoder`, each with `embedding`, `layers` and, where `norm_first`, a last `norm`, and "
    "`generator`, an `nn.Linear` without bias. `src_mask` hides padding from encoder and "
    "cross-attention, `tgt_mask` from the decoder.",
    cases=_cases,
    hints=(
        "Four steps, and four classes: embedding and positions; encoder; decoder; all of it with the "
        "generator. Each `forward` has at most four lines.",
        '`mine("EncoderLayer")` and `mine("DecoderLayer")` are your layers; an `nn.ModuleList` holds '
        "`config.num_layers` of them. Every decoder layer reads the same memory.",
        "Embeddings are multiplied by √d_model before the code of the place is added. A matrix is tied "
        "by assigning the parameter: `self.generator.weight = self.decoder.embedding.weight`.",
    ),
    passed="It computes as the library's and as `nn.Transformer`, with the weights of `make_model`, tied or "
    "not. You have built a Transformer.",
    seconds=20.0,
    reference=transformer.Transformer,
    twin=_twin,
    newborn=_newborn,
)


class MyEmbedding(nn.Embedding):
    """A vector a token, times √d_model, and the code of its place."""

    def __init__(self, vocab_size, d_model, dropout):
        super().__init__(vocab_size, d_model)
        nn.init.normal_(self.weight, std=d_model**-0.5)
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids):
        x = super().forward(ids) * math.sqrt(self.embedding_dim)  # (B, T, C)
        positions = mine("sinusoids")(ids.size(1), self.embedding_dim)  # (T, C)
        return self.dropout(x + positions.to(x))


def my_layers(name, c):
    """As many layers of that kind as the config says."""
    sizes = c.d_model, c.num_heads, c.d_ff
    options = {"dropout": c.dropout, "norm_first": c.norm_first}
    return nn.ModuleList(mine(name)(*sizes, **options) for _ in range(c.num_layers))


class MyEncoder(nn.Module):
    """Source ids in, memory out."""

    def __init__(self, config):
        super().__init__()
        self.embedding = MyEmbedding(config.src_vocab_size, config.d_model, config.dropout)
        self.layers = my_layers("EncoderLayer", config)
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(self, src, src_mask=None):
        x = self.embedding(src)
        for layer in self.layers:
            x = layer(x, src_mask)
        return self.norm(x)


class MyDecoder(nn.Module):
    """Target ids and the memory in, what the generator reads out; all layers read one memory."""

    def __init__(self, config):
        super().__init__()
        self.embedding = MyEmbedding(config.tgt_vocab_size, config.d_model, config.dropout)
        self.layers = my_layers("DecoderLayer", config)
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(self, tgt_in, memory, tgt_mask=None, src_mask=None):
        x = self.embedding(tgt_in)
        for layer in self.layers:
            x = layer(x, memory, tgt_mask, src_mask)
        return self.norm(x)


@Transformer.solution
class MyTransformer(nn.Module):
    """Source and target ids in, logits of every next target token out."""

    def __init__(self, config):
        super().__init__()
        self.encoder = MyEncoder(config)
        self.decoder = MyDecoder(config)
        self.generator = nn.Linear(config.d_model, config.tgt_vocab_size, bias=False)
        if config.tie_weights != "none":
            self.generator.weight = self.decoder.embedding.weight
        if config.tie_weights == "all":
            self.encoder.embedding.weight = self.decoder.embedding.weight

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        memory = self.encoder(src, src_mask)
        hidden = self.decoder(tgt_in, memory, tgt_mask, src_mask)
        return self.generator(hidden)
