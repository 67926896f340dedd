"""Encoder-decoders with gated recurrent units: without attention, with Bahdanau's, with Luong's.

All three are models as `Transformer` is one: `model(src, tgt_in, src_mask)` for training, `start`
and `step` for decoding. Their forward pass is a loop of steps, so the two cannot differ. Lessons
05, 06, 07.
"""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lib.base.listening import Listened
from transformer_lib.masks import Mask, boolean, four_axes
from transformer_lib.recurrent_parts import (
    BahdanauDecoder,
    LuongDecoder,
    PlainDecoder,
    RecurrentConfig,
    RecurrentDecoder,
    RecurrentEncoder,
    RecurrentState,
)


class RecurrentModel(nn.Module):
    """An encoder, one of the decoders, and an output layer. Subclasses name their decoder.

    The output layer shares its matrix with the target embedding.
    """

    decoder_class: type[RecurrentDecoder]

    def __init__(self, config: RecurrentConfig):
        super().__init__()
        self.config = config
        self.encoder = RecurrentEncoder(config)
        self.decoder = self.decoder_class(config)
        self.generator = nn.Linear(config.d_model, config.tgt_vocab_size, bias=False)
        nn.init.normal_(self.generator.weight, std=config.d_model**-0.5)
        self.decoder.embedding.weight = self.generator.weight  # times √d_model where it is read

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

        The kept ones come row by row. `tgt_mask` is not needed: a state has seen no later word.
        """
        state = self.start(src, src_mask)
        embedded, steps = self._embed(tgt_in), []
        for x in embedded.unbind(dim=1):
            found, state = self.decoder.advance(x, state)
            steps.append(found)
        found = (torch.stack(part, dim=1) for part in zip(*steps, strict=True))
        out = self.decoder.deep_output(embedded, *found)
        return self._logits(out if only is None else out[only])

    def start(
        self, src: Int[Tensor, "batch source"], src_mask: Mask | None = None
    ) -> RecurrentState:
        """Read the source once; what it returns goes to the first `step`."""
        if src_mask is not None:
            src_mask = four_axes(boolean(src_mask)).expand(len(src), -1, -1, -1)
        return self.decoder.start(*self.encoder(src, src_mask), src_mask)

    def step(
        self, ids: Int[Tensor, " batch"], state: RecurrentState
    ) -> tuple[Float[Tensor, "batch vocab"], RecurrentState]:
        """Logits for the token after `ids` (at first <bos>), and the state for the step after."""
        x = self._embed(ids)
        found, state = self.decoder.advance(x, state)
        return self._logits(self.decoder.deep_output(x, *found)), state

    def attentions(self) -> dict[tuple[str, int], Listened]:
        """Every attention, by its kind and its layer: the decoder's one, to the source."""
        return {("cross", 0): self.decoder.attention}

    def _embed(self, ids: Tensor) -> Tensor:
        scale = self.config.d_model**0.5
        return self.decoder.dropout(self.decoder.embedding(ids) * scale)

    def _logits(self, out: Tensor) -> Tensor:
        return self.generator(self.decoder.dropout(out))


class PlainSeq2Seq(RecurrentModel):
    """Sequence to sequence, no attention (Sutskever et al. 2014, Cho et al. 2014). Lesson 05."""

    decoder_class = PlainDecoder

    def attentions(self):
        return {}


class BahdanauSeq2Seq(RecurrentModel):
    """Sequence to sequence with additive attention (Bahdanau et al. 2015). Lesson 06."""

    decoder_class = BahdanauDecoder


class LuongSeq2Seq(RecurrentModel):
    """Sequence to sequence with multiplicative attention (Luong et al. 2015). Lesson 07.

    Global or local.
    """

    decoder_class = LuongDecoder
