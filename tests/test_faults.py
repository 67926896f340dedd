"""Deliberate faults, one at a time, and the properties that notice them.

`properties.py` says what must hold. Here the library is broken in the ways in which Transformers are
broken in the wild, and some property must fail each time: never only one that no other fault touches,
since that would be a test written for the fault.
"""

import dataclasses
import functools
import math
from types import SimpleNamespace

import pytest
from checked import unchecked
from properties import PROPERTIES
from torch import nn
from torch.nn import functional as F

from transformer_lib import (
    attention,
    batching,
    layers,
    losses,
    masks,
    positions,
    training,
    transformer,
)

FAULTS = {}


def fault(function):
    FAULTS[function.__name__] = function
    return function


MHA = attention.MultiHeadAttention
ATTEND, FUSED = MHA.attend, F.scaled_dot_product_attention
DECODER_LAYER, DECODER = transformer.DecoderLayer, transformer.Decoder
ADDED = positions.SinusoidalPositions


@fault
def root_d_dropped(patch):
    def wrong(query, key, mask=None, *, bias=None):
        return masks.masked_softmax(query @ key.transpose(-2, -1), mask)

    patch.setattr(attention, "attention_weights", wrong)
    fuse(patch, functools.partial(FUSED, scale=1.0))


def fuse(patch, kernel):
    """Exchange the fused kernel in our module alone: torch's own layers, the reference, call it too."""
    ours = SimpleNamespace(scaled_dot_product_attention=kernel, dropout=F.dropout)
    patch.setattr(attention, "F", ours)


@fault
def softmax_over_the_queries(patch):
    def wrong(scores, mask=None):
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return scores.softmax(dim=-2).nan_to_num()

    patch.setattr(attention, "masked_softmax", wrong)
    fuse(patch, by_formula)


def by_formula(q, k, v, mask=None, dropout=0.0, is_causal=False):
    if is_causal:
        mask = masks.causal_mask(q.size(-2), k.size(-2))
    return attention.attention_weights(q, k, mask) @ v


@fault
def mask_inverted(patch):
    def wrong(self, query, k, v, mask=None, *, is_causal=False):
        return ATTEND(self, query, k, v, None if mask is None else ~mask, is_causal=is_causal)

    patch.setattr(MHA, "attend", wrong)


@fault
def mask_after_softmax_without_renormalising(patch):
    def wrong(scores, mask=None):
        weights = scores.softmax(dim=-1)
        return weights if mask is None else weights.masked_fill(~mask, 0.0)

    patch.setattr(attention, "masked_softmax", wrong)
    fuse(patch, by_formula)


@fault
def heads_split_across_time(patch):
    def wrong(self, x):
        return x.reshape(x.size(0), self.num_heads, x.size(1), -1)

    patch.setattr(MHA, "_split", wrong)


@fault
def keys_and_values_swapped(patch):
    right = MHA.keys_values
    patch.setattr(MHA, "keys_values", lambda self, key, value: right(self, key, value)[::-1])


@fault
def norm_over_time(patch):
    class OverTime(nn.LayerNorm):
        def forward(self, x):
            return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True, correction=0) + self.eps)

    patch.setattr(layers.nn, "LayerNorm", OverTime)


@fault
def norm_on_the_wrong_side(patch):
    right = layers.AddNorm.__init__

    def wrong(self, d_model, *, dropout=0.0, norm_first=False):
        right(self, d_model, dropout=dropout, norm_first=not norm_first)

    patch.setattr(layers.AddNorm, "__init__", wrong)


@fault
def residual_forgotten(patch):
    def wrong(self, x, sublayer):
        return sublayer(self.norm(x)) if self.norm_first else self.norm(sublayer(x))

    patch.setattr(layers.AddNorm, "forward", wrong)


@fault
def positions_off_by_one(patch):
    right = positions._AddedPositions.forward
    patch.setattr(ADDED, "forward", lambda self, x, offset=0: right(self, x, offset + 1))


@fault
def positions_forgotten(patch):
    patch.setattr(ADDED, "forward", lambda self, x, offset=0: x)


@fault
def every_new_token_at_position_0(patch):
    right = DECODER.step
    patch.setattr(
        DECODER,
        "step",
        lambda self, ids, state: right(self, ids, dataclasses.replace(state, position=0)),
    )


@fault
def embeddings_not_scaled(patch):
    patch.setattr(transformer.TokenEmbedding, "forward", nn.Embedding.forward)


@fault
def target_not_shifted(patch):
    patch.setattr(batching, "shift_right", lambda tgt_out, bos_id=1: tgt_out)


@fault
def cache_without_the_newest_token(patch):
    right = DECODER_LAYER.step

    def wrong(self, x, past, memory, memory_mask=None):
        out, grown = right(self, x, past, memory, memory_mask)
        return out, tuple(t[..., 1:, :] for t in grown) if grown[0].size(-2) > 1 else grown

    patch.setattr(DECODER_LAYER, "step", wrong)


@fault
def cache_not_reordered_with_its_rows(patch):
    right = transformer.DecoderState.select

    def wrong(self, rows):
        return dataclasses.replace(right(self, rows), past=right(self, rows.sort().values).past)

    patch.setattr(transformer.DecoderState, "select", wrong)


@fault
def causality_only_in_training(patch):
    def wrong(self, query, k, v, mask=None, *, is_causal=False):
        return ATTEND(self, query, k, v, mask, is_causal=is_causal and self.training)

    patch.setattr(MHA, "attend", wrong)


@fault
def causality_forgotten(patch):
    def wrong(self, query, k, v, mask=None, *, is_causal=False):
        return ATTEND(self, query, k, v, mask)

    patch.setattr(MHA, "attend", wrong)


@fault
def cross_attention_reads_the_target(patch):
    right = DECODER_LAYER.forward
    patch.setattr(
        DECODER_LAYER,
        "forward",
        lambda self, x, memory, tgt_mask=None, memory_mask=None: right(
            self, x, x, tgt_mask, tgt_mask
        ),
    )


@fault
def decoder_reads_the_embeddings_instead_of_the_memory(patch):
    patch.setattr(
        transformer.Encoder,
        "forward",
        lambda self, src, src_mask=None: self.positions(self.embedding(src)),
    )


@fault
def padding_of_the_source_is_read(patch):
    right = transformer.Transformer.forward
    patch.setattr(
        transformer.Transformer,
        "forward",
        lambda self, src, tgt_in, src_mask=None, tgt_mask=None, *, only=None: right(
            self, src, tgt_in, None, tgt_mask, only=only
        ),
    )


@fault
def padding_counts_in_the_loss(patch):
    def wrong(model, src, tgt_in, tgt_out, *, src_mask=None, pad_id=0, label_smoothing=0.0):
        logits = model(src, tgt_in, src_mask).flatten(0, 1)
        return F.cross_entropy(logits, tgt_out.flatten(), label_smoothing=label_smoothing)

    for module in (losses, training):
        patch.setattr(module, "loss_on_batch", wrong)


@fault
def smoothing_mass_on_padding(patch):
    patch.setattr(
        losses,
        "label_smoothed_cross_entropy",
        lambda logits, targets, smoothing, pad_id=0: F.cross_entropy(
            logits, targets, label_smoothing=smoothing
        ),
    )


@fault
def smoothing_forgotten(patch):
    patch.setattr(
        losses,
        "label_smoothed_cross_entropy",
        lambda logits, targets, smoothing, pad_id=0: F.cross_entropy(logits, targets),
    )


@fault
def loss_summed_over_sentences(patch):
    right = losses.label_smoothed_cross_entropy
    patch.setattr(
        losses,
        "label_smoothed_cross_entropy",
        lambda logits, targets, smoothing, pad_id=0: (
            right(logits, targets, smoothing, pad_id) * len(targets)
        ),
    )


@fault
def dropout_active_in_evaluation(patch):
    patch.setattr(nn.Dropout, "forward", lambda self, x: F.dropout(x, self.p, training=True))


@fault
def dropout_never_active(patch):
    patch.setattr(nn.Dropout, "forward", lambda self, x: x)


@fault
def every_layer_is_the_first_layer(patch):
    right = DECODER.__init__

    def wrong(self, config):
        right(self, config)
        self.layers = nn.ModuleList([self.layers[0]] * config.num_layers)

    patch.setattr(DECODER, "__init__", wrong)


def failing() -> set[str]:
    """The properties that do not hold now; an annotation that notices first does not count."""
    broken = set()
    for check in PROPERTIES:
        try:
            with unchecked():
                check()
        except Exception:
            broken.add(check.__name__)
    return broken


@pytest.fixture(scope="module")
def caught():
    """For each fault, the properties that notice it."""
    found = {}
    for name, plant in FAULTS.items():
        with pytest.MonkeyPatch.context() as patch:
            plant(patch)
            found[name] = failing()
    return found


def test_every_property_holds_of_the_library_as_it_is():
    assert failing() == set()


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_noticed_by_a_property_that_notices_other_faults_too(caught, name):
    noticing = {
        check for check in caught[name] if sum(check in others for others in caught.values()) > 1
    }
    assert noticing, f"only {caught[name] or 'nothing'} fails"


def test_no_property_is_idle(caught):
    assert {check.__name__ for check in PROPERTIES} == set().union(*caught.values())


def test_the_fault_that_hides_behind_torch_alone_is_not_the_rule(caught):
    """Most faults are seen without a reference implementation: a reader could have asked the question."""
    without = [
        name for name, checks in caught.items() if checks - {"it_is_the_transformer_of_torch"}
    ]
    assert len(without) >= math.floor(0.75 * len(caught))
