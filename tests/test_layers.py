"""B, Tq, Tk, C, H, F = 2, 5, 7, 12, 3, 20."""

import pytest
import torch
import twins
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib.attention import record_attention
from transformer_lib.layers import AddNorm, DecoderLayer, EncoderLayer, PositionwiseFeedForward
from transformer_lib.positions import SinusoidalPositions

B, TQ, TK, C, H, D_FF = 2, 5, 7, 12, 3, 20
NORM = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def padding(lengths, size):
    return (torch.arange(size) < torch.tensor(lengths)[:, None])[:, None, None]


def double(*shape):
    return torch.randn(*shape, dtype=torch.float64).requires_grad_()


def assert_same_gradients(ours, theirs, inputs, twin_inputs):
    direction = torch.randn_like(ours)
    (ours * direction).sum().backward()
    (theirs * direction).sum().backward()
    for a, b in zip(inputs, twin_inputs, strict=True):
        assert_close(a.grad, b.grad, atol=1e-10, rtol=0)


def test_feed_forward_by_hand_and_position_by_position():
    layer = PositionwiseFeedForward(C, D_FF)
    x = torch.randn(B, TQ, C)
    up, down = layer.up_proj, layer.down_proj
    assert_close(layer(x), (x @ up.weight.T + up.bias).clamp(min=0) @ down.weight.T + down.bias)
    changed = x.clone()
    changed[:, 3] += 1
    moved = (layer(changed) != layer(x)).any(dim=-1)
    assert moved.tolist() == [[False, False, False, True, False]] * B


def test_dropout_falls_between_the_two_projections_of_the_feed_forward():
    """As in torch's layer; behind them it would hide the bias of the second as well."""
    layer = PositionwiseFeedForward(C, D_FF, dropout=0.5).train()
    torch.nn.init.zeros_(layer.down_proj.weight)
    torch.nn.init.ones_(layer.down_proj.bias)
    assert torch.equal(layer(torch.randn(B, TQ, C)), torch.ones(B, TQ, C))
    torch.nn.init.ones_(layer.down_proj.weight)
    x = torch.randn(B, TQ, C)
    assert not torch.equal(layer(x), layer(x))


@NORM
def test_add_norm_puts_the_norm_where_it_says(norm_first):
    add_norm = AddNorm(4, norm_first=norm_first)
    x = torch.tensor([[[1.0, 2, 3, 4], [0, 0, 4, 4]]])
    unit = torch.tensor(
        [-1.3416, -0.4472, 0.4472, 1.3416]
    )  # of 1 2 3 4, by hand: mean 2.5, variance 1.25
    if norm_first:
        assert_close(add_norm(x, lambda y: 10 * y)[0, 0], x[0, 0] + 10 * unit, atol=1e-3, rtol=0)
    else:
        assert_close(add_norm(x, lambda y: 10 * y)[0, 0], unit, atol=1e-3, rtol=0)


def test_a_token_is_normalised_alone():
    add_norm = AddNorm(C)
    x = torch.randn(B, TQ, C)
    assert_close(add_norm(x, torch.zeros_like)[1:, 2:3], add_norm(x[1:, 2:3], torch.zeros_like))
    assert_close(add_norm(x, torch.zeros_like), F.layer_norm(x, (C,)))


@NORM
def test_encoder_layer_equals_torchs(norm_first):
    ours = EncoderLayer(C, H, D_FF, dropout=0.0, norm_first=norm_first).double()
    twin = twins.encoder_layer(ours)
    x = double(B, TK, C)
    y = x.detach().clone().requires_grad_()
    mask = padding((7, 4), TK)
    out, theirs = ours(x, mask), twin(y, src_key_padding_mask=~mask[:, 0, 0])
    assert_close(out, theirs, atol=1e-10, rtol=0)
    assert_same_gradients(out, theirs, [x], [y])
    twins.assert_same_gradients(ours, twin, twins.encoder_layer)


@NORM
@pytest.mark.parametrize("training", [True, False])
def test_decoder_layer_equals_torchs(norm_first, training):
    ours = DecoderLayer(C, H, D_FF, dropout=0.0, norm_first=norm_first).double().train(training)
    twin = twins.decoder_layer(ours).train(training)
    x, memory = double(B, TQ, C), double(B, TK, C)
    y, twin_memory = (t.detach().clone().requires_grad_() for t in (x, memory))
    tgt_mask, memory_mask = padding((5, 3), TQ), padding((4, 7), TK)
    out = ours(x, memory, tgt_mask, memory_mask)
    theirs = twin(
        y,
        twin_memory,
        tgt_mask=nn.Transformer.generate_square_subsequent_mask(TQ).isinf(),
        tgt_key_padding_mask=~tgt_mask[:, 0, 0],
        memory_key_padding_mask=~memory_mask[:, 0, 0],
    )
    assert_close(out, theirs, atol=1e-10, rtol=0)
    assert_same_gradients(out, theirs, [x, memory], [y, twin_memory])
    twins.assert_same_gradients(ours, twin, twins.decoder_layer)


@NORM
def test_stepping_equals_the_whole_target_at_once(norm_first):
    layer = DecoderLayer(C, H, D_FF, norm_first=norm_first).double().eval()
    x, memory, mask = double(B, TQ, C), double(B, TK, C), padding((4, 7), TK)
    past = layer.self_attn.keys_values(x[:, :0], x[:, :0])
    kept = layer.cross_attn.keys_values(memory, memory)
    whole = layer(x, memory, memory_mask=mask)
    for t in range(TQ):
        before = past
        out, past = layer.step(x[:, t : t + 1], past, kept, mask)
        assert_close(out, whole[:, t : t + 1], atol=1e-12, rtol=0)
        assert before[0].size(-2) == t, "a state that was given away has grown"


def test_cross_attention_asks_the_memory_and_self_attention_does_not():
    layer = DecoderLayer(C, H, D_FF).eval()
    x, memory = torch.randn(B, TQ, C), torch.randn(B, TK, C)
    with record_attention(layer) as maps:
        layer(x, memory)
        layer(x, memory + 1)
    assert torch.equal(*maps["self_attn"])
    assert not torch.equal(*maps["cross_attn"])
    assert maps["cross_attn"][0].shape == (B, H, TQ, TK)


@pytest.mark.parametrize(
    "layer",
    [
        EncoderLayer(C, H, D_FF, dropout=0.5),
        EncoderLayer(C, H, D_FF, dropout=0.0, attention_dropout=0.5),
        PositionwiseFeedForward(C, D_FF, dropout=0.5),
        SinusoidalPositions(C, TK, dropout=0.5),
        AddNorm(C, dropout=0.5),
        AddNorm(C, dropout=0.5, norm_first=True),
    ],
    ids=["layer", "attention", "feed-forward", "embedding", "post-norm", "pre-norm"],
)
def test_every_dropout_acts_in_training_only(layer):
    x = torch.randn(B, TK, C)
    inputs = (x, torch.sin) if isinstance(layer, AddNorm) else (x,)
    assert not torch.equal(layer.train()(*inputs), layer(*inputs))
    assert torch.equal(layer.eval()(*inputs), layer(*inputs))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("heard", [True, False])
@NORM
def test_a_sentence_that_sees_nothing_stays_finite_in_every_precision(dtype, heard, norm_first):
    encoder = EncoderLayer(C, H, D_FF, norm_first=norm_first).to(dtype)
    decoder = DecoderLayer(C, H, D_FF, norm_first=norm_first).to(dtype)
    x, nothing = torch.randn(B, TK, C, dtype=dtype), padding((7, 0), TK)
    both = nn.ModuleList([encoder, decoder])
    with record_attention(both) if heard else torch.enable_grad():
        out = decoder(x, encoder(x, nothing), nothing, nothing)
    out.float().square().sum().backward()
    assert out.isfinite().all()
    assert all(p.grad.isfinite().all() for p in both.parameters())
