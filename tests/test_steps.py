"""The steps that students write are the decoders of the library, whose weights they are given."""

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.exercises.steps import my_bahdanau_step, my_gru_step, my_luong_step
from transformer_lib.recurrent_parts import (
    BahdanauDecoder,
    LuongDecoder,
    PlainDecoder,
    RecurrentConfig,
)

B, S, C, D = 3, 5, 6, 8


@pytest.fixture
def met():
    """An embedded word, the encoder's states, and its last one."""
    torch.manual_seed(0)
    return torch.randn(B, C), torch.randn(B, S, D), torch.randn(1, B, D)


def decoder_of(kind):
    return kind(RecurrentConfig(20, 20, d_model=C, d_hidden=D)).eval()


@torch.no_grad()
def stepped(decoder, x, memory, last):
    """The library's step: (what its readout gives, the next state)."""
    found, after = decoder.advance(x, decoder.start(memory, last))
    return decoder.deep_output(x, *found), after


@torch.no_grad()
def test_lesson_05s_step_is_the_plain_decoders(met):
    x, memory, last = met
    decoder = decoder_of(PlainDecoder)
    out, state = my_gru_step(x, last[0], last[0], decoder.cells[0], decoder.readout)
    expected, after = stepped(decoder, x, memory, last)
    assert_close(out, expected)
    assert_close(state, after.hidden[0])


@torch.no_grad()
def test_lesson_06s_step_is_bahdanaus(met):
    x, memory, last = met
    decoder = decoder_of(BahdanauDecoder)
    score = decoder.attention.score
    weights = score.q_proj.weight, score.k_proj.weight, score.v_proj.weight[0]
    out, state = my_bahdanau_step(x, last[0], memory, decoder.cells[0], decoder.readout, *weights)
    expected, after = stepped(decoder, x, memory, last)
    assert_close(out, expected)
    assert_close(state, after.hidden[0])


@torch.no_grad()
def test_lesson_07s_step_is_luongs_also_when_it_is_fed(met):
    x, memory, last = met
    decoder = decoder_of(LuongDecoder)
    W, W_c = decoder.attention.score.k_proj.weight, decoder.combine.weight
    state, fed = last[0], torch.zeros(B, D)
    theirs = decoder.start(memory, last)
    for word in (x, x.flip(0)):
        fed, state = my_luong_step(word, state, fed, memory, decoder.cells[0], W, W_c)
        (h_tilde,), theirs = decoder.advance(word, theirs)
        assert_close(fed, h_tilde)
        assert_close(state, theirs.hidden[0])
