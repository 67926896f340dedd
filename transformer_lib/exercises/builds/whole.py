"""The Transformer, whole: embedding and positions, encoder, decoder, generator. Lesson 13."""

import math
from dataclasses import replace

import torch
from torch import nn

from transformer_lib import transformer
from transformer_lib.exercises.checking.classes import Build, Case
from transformer_lib.exercises.own.mine import mine
from transformer_lib.lab import twins
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


Transformer.needs = (MyEmbedding, my_layers, MyEncoder, MyDecoder)


class _Parts(transformer.Transformer):
    """The library's parts in steps, each of which a mistake may do otherwise."""

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        memory = self.encode(src, src_mask)
        return self.speak(self.decode(tgt_in, memory, tgt_mask, src_mask))

    def embed(self, side, ids):
        embedded = side.embedding(ids)  # times √d_model
        return side.positions(embedded)

    def encode(self, src, src_mask):
        x = self.embed(self.encoder, src)
        for layer in self.encoder.layers:
            x = layer(x, src_mask)
        return self.encoder.norm(x)

    def decode(self, tgt_in, memory, tgt_mask, src_mask):
        x = self.embed(self.decoder, tgt_in)
        for layer in self.decoder.layers:
            x = layer(x, memory, tgt_mask, src_mask)
        return self.decoder.norm(x)

    def speak(self, hidden):
        return self.generator(hidden)


Transformer.solution(_Parts)
_mistake = Transformer.mistake


@_mistake("Embedding: the factor √d_model is missing.")
class _(_Parts):
    def embed(self, side, ids):
        return side.positions(nn.Embedding.forward(side.embedding, ids))


@_mistake(
    "Embedding: you scale embedding and position together. Only the embedding gets the √d_model."
)
class _(_Parts):
    def embed(self, side, ids):
        x = side.positions(nn.Embedding.forward(side.embedding, ids))
        return math.sqrt(x.size(-1)) * x


@_mistake("Positions: there are none in yours, so that it cannot know the order of the words.")
class _(_Parts):
    def embed(self, side, ids):
        return side.positions.dropout(side.embedding(ids))


@_mistake("Encoder: `src_mask` never reaches its layers, so padding is heard.")
class _(_Parts):
    def encode(self, src, src_mask):
        return super().encode(src, None)


@_mistake("Encoder: one layer is run over and over. Each of `layers` has weights of its own.")
class _(_Parts):
    def encode(self, src, src_mask):
        x = self.embed(self.encoder, src)
        for _ in self.encoder.layers:
            x = self.encoder.layers[0](x, src_mask)
        return self.encoder.norm(x)


@_mistake("Memory: decoder layer i reads encoder layer i. All read the output of the last one.")
class _(_Parts):
    def encode(self, src, src_mask):
        x, memories = self.embed(self.encoder, src), []
        for layer in self.encoder.layers:
            x = layer(x, src_mask)
            memories.append(self.encoder.norm(x))
        return memories

    def decode(self, tgt_in, memory, tgt_mask, src_mask):
        x = self.embed(self.decoder, tgt_in)
        for layer, own in zip(self.decoder.layers, memory, strict=True):
            x = layer(x, own, tgt_mask, src_mask)
        return self.decoder.norm(x)


@_mistake(
    "Decoder: `src_mask` never reaches its cross-attention, so the padding of the source is heard."
)
class _(_Parts):
    def decode(self, tgt_in, memory, tgt_mask, src_mask):
        return super().decode(tgt_in, memory, tgt_mask, None)


@_mistake(
    "Masks: the decoder gets them in the wrong order. `tgt_mask` is for its self-attention, `src_mask` for "
    "its cross-attention."
)
class _(_Parts):
    def decode(self, tgt_in, memory, tgt_mask, src_mask):
        return super().decode(tgt_in, memory, src_mask, tgt_mask)


@_mistake("Decoder: `tgt_mask` is never used.")
class _(_Parts):
    def decode(self, tgt_in, memory, tgt_mask, src_mask):
        return super().decode(tgt_in, memory, None, src_mask)


@_mistake("Decoder: it sees the future. Its self-attention has to be causal.")
class _(_Parts):
    def decode(self, tgt_in, memory, tgt_mask, src_mask):
        x = self.embed(self.decoder, tgt_in)
        for part in self.decoder.layers:
            x = part.add_norm1(x, lambda y, a=part.self_attn: a(y, y, y, tgt_mask))
            x = part.add_norm2(x, lambda y, a=part.cross_attn: a(y, memory, memory, src_mask))
            x = part.add_norm3(x, part.feed_forward)
        return self.decoder.norm(x)


@_mistake("Norms: in pre-norm the encoder ends in one, `encoder.norm`. Yours is never called.")
class _(_Parts):
    def encode(self, src, src_mask):
        x = self.embed(self.encoder, src)
        for layer in self.encoder.layers:
            x = layer(x, src_mask)
        return x


@_mistake("Norms: in pre-norm the decoder ends in one, `decoder.norm`. Yours is never called.")
class _(_Parts):
    def decode(self, tgt_in, memory, tgt_mask, src_mask):
        x = self.embed(self.decoder, tgt_in)
        for layer in self.decoder.layers:
            x = layer(x, memory, tgt_mask, src_mask)
        return x


@_mistake("Generator: these are probabilities. Logits go out; the loss takes the softmax.")
class _(_Parts):
    def speak(self, hidden):
        return self.generator(hidden).softmax(dim=-1)


@_mistake("Tying: there is none in yours. `config.tie_weights` is 'none', 'target' or 'all'.")
class _(_Parts):
    def __init__(self, config):
        super().__init__(replace(config, tie_weights="none"))


@_mistake(
    "Tying: two matrices with the same numbers are not one. Assign the parameter: "
    "`self.generator.weight = self.decoder.embedding.weight`."
)
class _(_Parts):
    def __init__(self, config):
        super().__init__(config)
        self.generator.weight = nn.Parameter(self.generator.weight.detach().clone())


@_mistake(
    "Tying: 'target', too, makes the generator's matrix the decoder's table, not 'all' alone."
)
class _(_Parts):
    def __init__(self, config):
        super().__init__(config)
        if config.tie_weights == "target":
            self.generator.weight = nn.Parameter(self.generator.weight.detach().clone())


@_mistake("Tying: with `tie_weights='all'` the source's embedding is the same matrix too.")
class _(_Parts):
    def __init__(self, config):
        super().__init__(config)
        own = self.encoder.embedding.weight.detach().clone()
        self.encoder.embedding.weight = nn.Parameter(own)


@_mistake("Dropout: there is none in yours. `config.dropout` is its rate.")
class _(_Parts):
    def forward(self, *inputs):
        self.eval()
        return super().forward(*inputs)


@_mistake("Dropout: it falls on the row before the code is added. It is meant for their sum.")
class _(_Parts):
    def embed(self, side, ids):
        x = side.positions.dropout(side.embedding(ids))
        return x + side.positions.table[: x.size(1)]


@_mistake("Dropout: the layers drop, but the sum of embedding and position does not.")
class _(_Parts):
    def embed(self, side, ids):
        x = side.embedding(ids)
        return x + side.positions.table[: x.size(1)]
