"""The encoder-decoder Transformer of "Attention Is All You Need", and sizes to build it in.

Vaswani et al. 2017. Lesson 13.
"""

import inspect
import math
from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lib.base.listening import Listened
from transformer_lib.base.tokens import MAX_LEN
from transformer_lib.layers import DecoderLayer, EncoderLayer, MemoryKeysValues, Past, rows_of
from transformer_lib.masks import Mask, four_axes, mask_row
from transformer_lib.positions import POSITIONS


@dataclass(frozen=True)
class TransformerConfig:
    """Every size of a Transformer. The defaults are the paper's base model.

    `PRESETS` names smaller and larger ones.
    """

    src_vocab_size: int
    tgt_vocab_size: int
    d_model: int = 512
    num_heads: int = 8
    d_ff: int = 2048
    num_layers: int = 6
    max_len: int = MAX_LEN
    dropout: float = 0.1
    attention_dropout: float = 0.0  # on attention weights; not in the paper
    cross_attention_dropout: float | None = None  # on those of cross-attention; None: the same
    norm_first: bool = False
    positions: str = "sinusoidal"  # a kind of `POSITIONS`
    tie_weights: str = "none"  # target: output = target embedding; all: source embedding too

    def __post_init__(self):
        if self.tie_weights == "all" and self.src_vocab_size != self.tgt_vocab_size:
            raise ValueError(
                f"tie_weights='all' needs one vocabulary, but src_vocab_size={self.src_vocab_size} "
                f"and tgt_vocab_size={self.tgt_vocab_size}"
            )
        for name, allowed in {
            "positions": POSITIONS,
            "tie_weights": ("none", "target", "all"),
        }.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r} is none of {', '.join(allowed)}")


def stack(layer: type[nn.Module], config: TransformerConfig) -> nn.ModuleList:
    """`num_layers` such layers, which share one `RelativePositions`.

    A layer gets each field of `config` that its constructor asks for by name.
    """
    asked = inspect.signature(layer).parameters.keys() & vars(config).keys()
    make_relative = POSITIONS[config.positions].relative
    relative = make_relative(config.d_model, config.num_heads, config.max_len)
    sizes = {name: getattr(config, name) for name in asked}
    return nn.ModuleList(layer(**sizes, relative=relative) for _ in range(config.num_layers))


class TokenEmbedding(nn.Embedding):
    """A vector a token, times √d_model: size 1 a component, like the position codes.

    The entries themselves have variance 1/d_model, so that the same matrix can serve as the output
    projection (`tie_weights`).
    """

    def reset_parameters(self):
        nn.init.normal_(self.weight, std=self.embedding_dim**-0.5)

    def forward(self, ids: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time d_model"]:
        return super().forward(ids) * math.sqrt(self.embedding_dim)


class Encoder(nn.Module):
    """Source ids in, memory out: a vector a token, each of which has seen the whole sentence."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.embedding = TokenEmbedding(config.src_vocab_size, config.d_model)
        added = POSITIONS[config.positions].added
        self.positions = added(config.d_model, config.max_len, dropout=config.dropout)
        self.layers = stack(EncoderLayer, config)
        # Post-norm ends in a norm already.
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(
        self, src: Int[Tensor, "batch source"], src_mask: Mask | None = None
    ) -> Float[Tensor, "batch source d_model"]:
        x = self.positions(self.embedding(src))
        for layer in self.layers:
            x = layer(x, src_mask)
        return self.norm(x)


@dataclass(frozen=True)
class DecoderState(Past):
    """What `Decoder.step` remembers: besides the target so far, the memory."""

    memory: tuple[MemoryKeysValues, ...]  # a layer each, made once, and in it a row a sentence
    memory_mask: Mask | None
    tgt_mask: Mask | None = None  # of all positions that may come

    def select(self, rows: Int[Tensor, " rows"]) -> "DecoderState":
        """The state of these rows, in this order.

        It serves to drop the finished sentences, and to reorder or repeat beams. Beams of one
        sentence that stand side by side share its memory, where every sentence has as many.
        """
        held = self.memory[0][0].size(0)  # sentences
        of = rows // (self.past[0][0].size(0) // held)
        sentences, beams = of.unique_consecutive(return_counts=True)
        if (beams != beams[:1]).any():
            sentences = of
        tgt_mask = _mask_of(self.tgt_mask, rows)
        state = replace(self, past=rows_of(self.past, rows), tgt_mask=tgt_mask)
        if torch.equal(sentences, torch.arange(held, device=rows.device)):
            return state
        mask = _mask_of(self.memory_mask, sentences)
        return replace(state, memory=rows_of(self.memory, sentences), memory_mask=mask)


def _mask_of(mask: Mask | None, rows: Int[Tensor, " rows"]) -> Mask | None:
    return mask if mask is None or mask.size(0) == 1 else mask.index_select(0, rows)


class Decoder(nn.Module):
    """Target ids and the memory in, one vector a target position out.

    Position t has seen targets 0 to t, no later one. Every layer reads the same memory, the output
    of the last encoder layer.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.embedding = TokenEmbedding(config.tgt_vocab_size, config.d_model)
        added = POSITIONS[config.positions].added
        self.positions = added(config.d_model, config.max_len, dropout=config.dropout)
        self.layers = stack(DecoderLayer, config)
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(
        self,
        tgt_in: Int[Tensor, "batch target"],
        memory: Float[Tensor, "batch source d_model"],
        tgt_mask: Mask | None = None,
        memory_mask: Mask | None = None,
    ) -> Float[Tensor, "batch target d_model"]:
        x = self.positions(self.embedding(tgt_in))
        for layer in self.layers:
            x = layer(x, memory, tgt_mask, memory_mask)
        return self.norm(x)

    def start(
        self,
        memory: Float[Tensor, "batch source d_model"],
        memory_mask: Mask | None = None,
        tgt_mask: Mask | None = None,
    ) -> DecoderState:
        """The state before the first target token.

        `tgt_mask` is that of `forward`, over all positions that may come.
        """
        nothing = memory[:, :0]
        return DecoderState(
            past=tuple(layer.self_attn.keys_values(nothing, nothing) for layer in self.layers),
            memory=tuple(layer.cross_attn.keys_values(memory, memory) for layer in self.layers),
            memory_mask=None if memory_mask is None else four_axes(memory_mask),
            position=0,
            tgt_mask=None if tgt_mask is None else four_axes(tgt_mask),
        )

    def step(
        self, ids: Int[Tensor, " batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch d_model"], DecoderState]:
        """The next position of `forward`, from one new token a row."""
        hidden, state = self.steps(ids[:, None], state)
        return hidden.squeeze(1), state

    def steps(
        self, ids: Int[Tensor, "batch new"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch new d_model"], DecoderState]:
        """The next positions of `forward` in one pass, from some new tokens a row."""
        new, mask = ids.size(1), state.tgt_mask
        x = self.positions(self.embedding(ids), offset=state.position)
        mask = None if mask is None else mask_row(mask, state.position, new)
        past = []
        for layer, layer_past, memory in zip(self.layers, state.past, state.memory, strict=True):
            x, grown = layer.step(x, layer_past, memory, state.memory_mask, mask)
            past.append(grown)
        return self.norm(x), replace(state, past=tuple(past), position=state.position + new)


class Transformer(nn.Module):
    """An encoder, a decoder and a projection to the target vocabulary.

    It computes as `nn.Transformer` under copied weights. `model(src, tgt_in, ...)` gives the logits
    of every next token at once, for training. `start` and `step` give the same logits one token at
    a time, for decoding, without computing anything twice.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)
        self.generator = nn.Linear(config.d_model, config.tgt_vocab_size, bias=False)
        for part in self.modules():
            if isinstance(part, nn.Linear):  # all else is initialised where it is defined
                nn.init.xavier_uniform_(part.weight)
        if config.tie_weights != "none":
            self.generator.weight = self.decoder.embedding.weight
        if config.tie_weights == "all":
            self.encoder.embedding.weight = self.decoder.embedding.weight

    def forward(
        self,
        src: Int[Tensor, "batch source"],
        tgt_in: Int[Tensor, "batch target"],
        src_mask: Mask | None = None,
        tgt_mask: Mask | None = None,
        *,
        only: Bool[Tensor, "batch target"] | None = None,
    ) -> Float[Tensor, "batch target vocab"] | Float[Tensor, "kept vocab"]:
        """Logits (batch, target, vocab); with `only`, those of its True positions: (kept, vocab).

        The kept ones come row by row. `src_mask` hides padding; `tgt_mask` is whatever more than
        causality the decoder's self-attention should obey (a window, padding).
        """
        memory = self.encoder(src, src_mask)
        hidden = self.decoder(tgt_in, memory, tgt_mask, src_mask)
        return self.generator(hidden if only is None else hidden[only])

    def start(
        self,
        src: Int[Tensor, "batch source"],
        src_mask: Mask | None = None,
        tgt_mask: Mask | None = None,
    ) -> DecoderState:
        """Read the source once; what it returns goes to the first `step`.

        Each `step` obeys its row of `tgt_mask`, which must reach as far as the steps do.
        """
        return self.decoder.start(self.encoder(src, src_mask), src_mask, tgt_mask)

    def step(
        self, ids: Int[Tensor, " batch"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch vocab"], DecoderState]:
        """Logits for the token after `ids` (at first <bos>), and the state for the step after."""
        hidden, state = self.decoder.step(ids, state)
        return self.generator(hidden), state

    def steps(
        self, ids: Int[Tensor, "batch new"], state: DecoderState
    ) -> tuple[Float[Tensor, "batch new vocab"], DecoderState]:
        """As many steps in one pass: after each of the `ids`, the logits of the token after it.

        It serves to check tokens that somebody guessed; `state.back` drops those that were wrong.
        """
        hidden, state = self.decoder.steps(ids, state)
        return self.generator(hidden), state

    def attentions(self) -> dict[tuple[str, int], Listened]:
        """Every attention, by its kind (encoder, decoder or cross) and its layer."""
        found = {("encoder", i): layer.self_attn for i, layer in enumerate(self.encoder.layers)}
        for i, layer in enumerate(self.decoder.layers):
            found["decoder", i], found["cross", i] = layer.self_attn, layer.cross_attn
        return found


PRESETS = {
    "tiny": {"num_layers": 2, "d_model": 128, "num_heads": 4, "d_ff": 512, "norm_first": True},
    "small": {"num_layers": 3, "d_model": 256, "num_heads": 8, "d_ff": 1024, "norm_first": True},
    "base": {"num_layers": 6, "d_model": 512, "num_heads": 8, "d_ff": 2048},
    "big": {"num_layers": 6, "d_model": 1024, "num_heads": 16, "d_ff": 4096},
}


def make_model(
    src_vocab_size: int, tgt_vocab_size: int, preset: str = "tiny", **overrides
) -> Transformer:
    """A freshly initialised Transformer of a preset's sizes.

    `tiny` and `small` are pre-norm, `base` and `big` the paper's, post-norm. `overrides` are fields
    of `TransformerConfig`: `make_model(500, 600, "small", dropout=0.3, tie_weights="target")`.
    """
    if preset not in PRESETS:
        raise ValueError(f"preset={preset!r} is none of {', '.join(PRESETS)}")
    return Transformer(
        TransformerConfig(src_vocab_size, tgt_vocab_size, **{**PRESETS[preset], **overrides})
    )
