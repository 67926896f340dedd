"""What a recurrent translator is made of: sizes, an encoder, and the decoders of three papers.

Lessons 05, 06, 07. A decoder is a step, `advance`: an embedded word and a state in; what the output
layer reads and the next state out.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from transformer_lib.base.tokens import MAX_LEN
from transformer_lib.masks import Mask, window_mask
from transformer_lib.scoring import (
    AdditiveScore,
    Attention,
    GeneralScore,
    dot_score,
    gaussian_prior,
)

SCORES = {
    "dot": lambda query, key: dot_score,
    "general": GeneralScore,
    "concat": lambda query, key: AdditiveScore(query, key, query),
}
Found = tuple[Float[Tensor, "batch d_hidden"], ...]  # what a step has for the readout
LOCAL = ("none", "monotonic", "predictive")


@dataclass(frozen=True)
class RecurrentConfig:
    """Every size of a recurrent encoder-decoder.

    `score`, `local`, `window` and `input_feeding` are Luong's alone.
    """

    src_vocab_size: int
    tgt_vocab_size: int
    d_model: int = 128  # of the embeddings
    d_hidden: int = 256  # of the states; a bidirectional encoder has half of it in each direction
    num_layers: int = 1
    bidirectional: bool = True
    dropout: float = 0.1
    max_len: int = MAX_LEN
    score: str = "general"
    # monotonic: a window at the step's own number; predictive: where the model says
    local: str = "none"
    window: int = 5  # D: positions on either side of the center
    input_feeding: bool = True

    def __post_init__(self):
        if self.bidirectional and self.d_hidden % 2:
            raise ValueError(f"d_hidden={self.d_hidden} is odd: a bidirectional encoder halves it")
        for name, allowed in {"score": SCORES, "local": LOCAL}.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name}={getattr(self, name)!r} is none of {', '.join(allowed)}")
        if self.window < 1:
            raise ValueError(f"window={self.window}, but a window holds at least 1 neighbour")


class RecurrentEncoder(nn.Module):
    """Source ids in; out a state for each token, and the last state of each layer.

    Padding is never read: a sentence has the same states in a padded batch as alone.
    """

    def __init__(self, config: RecurrentConfig):
        super().__init__()
        self.embedding = nn.Embedding(config.src_vocab_size, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.gru = nn.GRU(
            config.d_model,
            config.d_hidden // (2 if config.bidirectional else 1),
            num_layers=config.num_layers,
            batch_first=True,
            dropout=config.dropout if config.num_layers > 1 else 0.0,
            bidirectional=config.bidirectional,
        )

    def forward(
        self, src: Int[Tensor, "batch source"], src_mask: Mask | None = None
    ) -> tuple[Float[Tensor, "batch source d_hidden"], Float[Tensor, "layers batch d_hidden"]]:
        x = self.dropout(self.embedding(src))
        if src_mask is None:
            states, last = self.gru(x)
        else:
            lengths = src_mask[:, 0, 0].sum(dim=-1).cpu()
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            states, last = self.gru(packed)
            states, _ = pad_packed_sequence(states, batch_first=True, total_length=src.size(1))
        if self.gru.bidirectional:
            last = torch.cat([last[0::2], last[1::2]], dim=-1)
        return states, last


@dataclass(frozen=True)
class RecurrentState:
    """What a decoder remembers between steps.

    Nothing in it ever changes, so it may be kept and branched.
    """

    hidden: tuple[Float[Tensor, "batch d_hidden"], ...]  # a layer each
    context: Float[Tensor, "batch d_hidden"]  # joined to the next input, where the model wants it
    memory: Float[Tensor, "batch source d_hidden"]
    keys: Float[Tensor, "batch source _"]  # the memory as the score wants it, projected once
    memory_mask: Bool[Tensor, "batch 1 source"] | None = None
    position: int = 0  # of the next token

    def select(self, rows: Int[Tensor, " rows"]) -> "RecurrentState":
        """The state of these batch rows, in this order."""

        def pick(t):
            return None if t is None else t.index_select(0, rows)

        return RecurrentState(
            tuple(map(pick, self.hidden)),
            pick(self.context),
            pick(self.memory),
            pick(self.keys),
            pick(self.memory_mask),
            self.position,
        )


class RecurrentDecoder(nn.Module):
    """What the three decoders share: embedding, a stack of GRU cells, a readout, and the start."""

    def __init__(self, config: RecurrentConfig, *, readout_size: int):
        super().__init__()
        self.embedding = nn.Embedding(config.tgt_vocab_size, config.d_model)
        self.cells = nn.ModuleList(
            nn.GRUCell(
                config.d_hidden if layer else config.d_model + config.d_hidden, config.d_hidden
            )
            for layer in range(config.num_layers)
        )
        self.readout = nn.Linear(readout_size, config.d_model)
        self.dropout = nn.Dropout(config.dropout)

    def start(
        self,
        memory: Float[Tensor, "batch source d_hidden"],
        last: Float[Tensor, "layers batch d_hidden"],
        memory_mask: Mask | None = None,
    ) -> RecurrentState:
        """The state before the first target token: the encoder's last one."""
        mask = None if memory_mask is None else memory_mask[:, 0]
        keys = self.prepare(memory)
        return RecurrentState(tuple(last.unbind(0)), self.first_context(last), memory, keys, mask)

    def prepare(self, memory: Float[Tensor, "batch source d_hidden"]) -> Float[Tensor, "..."]:
        """The keys that the attention will meet at every step."""
        return self.attention.project(memory)

    def first_context(
        self, last: Float[Tensor, "layers batch d_hidden"]
    ) -> Float[Tensor, "batch d_hidden"]:
        """What is joined to the first input."""
        return torch.zeros_like(last[-1])

    def recur(
        self,
        x: Float[Tensor, "batch d_model"],
        context: Float[Tensor, "batch d_hidden"],
        state: RecurrentState,
    ) -> tuple[Float[Tensor, "batch d_hidden"], ...]:
        """One step of all layers, the lowest reading the embedding and the context."""
        x = torch.cat([x, context], dim=-1)
        hidden = []
        for cell, before in zip(self.cells, state.hidden, strict=True):
            hidden.append(cell(self.dropout(x) if hidden else x, before))
            x = hidden[-1]
        return tuple(hidden)

    def deep_output(
        self, x: Float[Tensor, "*time d_model"], *found: Float[Tensor, "*time d_hidden"]
    ) -> Float[Tensor, "*time d_model"]:
        """What the output layer reads, from the embedding and what `advance` found.

        Of one step, or of all at once.
        """
        return torch.tanh(self.readout(torch.cat([*found, x], dim=-1)))


class PlainDecoder(RecurrentDecoder):
    """No attention: the encoder's last state is all that the decoder ever learns of the source.

    It starts there, and reads it again at every step, in the GRU and where the word is chosen (Cho
    et al. 2014).
    """

    def __init__(self, config: RecurrentConfig):
        super().__init__(config, readout_size=2 * config.d_hidden + config.d_model)

    def prepare(self, memory):
        return memory

    def first_context(self, last):
        return last[-1]

    def advance(
        self, x: Float[Tensor, "batch d_model"], state: RecurrentState
    ) -> tuple[Found, RecurrentState]:
        hidden = self.recur(x, state.context, state)
        after = replace(state, hidden=hidden, position=state.position + 1)
        return (hidden[-1], state.context), after


class BahdanauDecoder(RecurrentDecoder):
    """The query is the state before the step, s_{t−1}; what it finds is joined to the input.

    Bahdanau et al. 2015.
    """

    def __init__(self, config: RecurrentConfig):
        super().__init__(config, readout_size=2 * config.d_hidden + config.d_model)
        self.attention = Attention(
            AdditiveScore(config.d_hidden, config.d_hidden, config.d_hidden // 2)
        )

    def advance(
        self, x: Float[Tensor, "batch d_model"], state: RecurrentState
    ) -> tuple[Found, RecurrentState]:
        query = state.hidden[-1][:, None]  # s_{t−1}
        context = self.attention.attend(query, state.keys, state.memory, state.memory_mask)[:, 0]
        hidden = self.recur(x, context, state)
        after = replace(state, hidden=hidden, context=context, position=state.position + 1)
        return (hidden[-1], context), after


class LuongDecoder(RecurrentDecoder):
    """The query is the state after the step, s_t; h̃ = tanh(W_c [c; s_t]) says the word.

    h̃ is joined to the next input (input feeding) where the config says so. `local` looks at a
    window of the source only: around the step's own number (monotonic), or around a position that
    the model predicts, near keys first (predictive). Luong et al. 2015.
    """

    def __init__(self, config: RecurrentConfig):
        super().__init__(config, readout_size=config.d_hidden)
        self.attention = Attention(SCORES[config.score](config.d_hidden, config.d_hidden))
        self.combine = nn.Linear(2 * config.d_hidden, config.d_hidden, bias=False)
        self.local, self.window, self.feeding = config.local, config.window, config.input_feeding
        if config.local == "predictive":
            self.locate = nn.Sequential(
                nn.Linear(config.d_hidden, config.d_hidden // 2, bias=False),
                nn.Tanh(),
                nn.Linear(config.d_hidden // 2, 1, bias=False),
            )

    def advance(
        self, x: Float[Tensor, "batch d_model"], state: RecurrentState
    ) -> tuple[Found, RecurrentState]:
        hidden = self.recur(x, state.context, state)
        query = hidden[-1][:, None]  # s_t
        mask, prior = self.look_where(query, state)
        context = self.attention.attend(query, state.keys, state.memory, mask, prior=prior)[:, 0]
        combined = torch.tanh(self.combine(torch.cat([context, hidden[-1]], dim=-1)))  # h̃
        fed = combined if self.feeding else state.context
        after = replace(state, hidden=hidden, context=fed, position=state.position + 1)
        return (combined,), after

    def deep_output(self, x, combined):
        return self.readout(combined)

    def look_where(
        self, query: Float[Tensor, "batch 1 d_hidden"], state: RecurrentState
    ) -> tuple[Bool[Tensor, "batch 1 source"] | None, Float[Tensor, "batch 1 source"] | None]:
        """The mask of this step, and the prior that is added to its scores."""
        if self.local == "none":
            return state.memory_mask, None
        batch, source = state.memory.shape[:2]
        if self.local == "monotonic":
            center, prior = query.new_full((batch,), float(state.position)), None
        else:
            lengths = source if state.memory_mask is None else state.memory_mask[:, 0].sum(dim=-1)
            center = (lengths - 1) * torch.sigmoid(self.locate(query)[:, 0, 0])
            prior = gaussian_prior(center, self.window, source)
        mask = window_mask(center, self.window, source)
        return mask if state.memory_mask is None else mask & state.memory_mask, prior
