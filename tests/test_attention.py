"""B, Tq, Tk, C, H = 2, 5, 7, 12, 3: a swapped axis cannot pass by luck."""

import math
import subprocess
import sys
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
import torch
import twins
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

from transformer_lib import attention
from transformer_lib.attention import (
    MultiHeadAttention,
    attention_weights,
    for_the_kernel,
    record_attention,
    scaled_dot_product_attention,
)
from transformer_lib.masks import causal_mask
from transformer_lib.positions import AlibiPositions, RotaryPositions

B, TQ, TK, C, H = 2, 5, 7, 12, 3


def inputs(dtype=torch.float64, requires_grad=False):
    return [torch.randn(B, t, C, dtype=dtype).requires_grad_(requires_grad) for t in (TQ, TK, TK)]


def padded(lengths=(7, 4)):
    return (torch.arange(TK) < torch.tensor(lengths)[:, None])[:, None, None]


MASKS = {
    "no mask": None,
    "padding": padded(),
    "a mask a head": torch.rand(B, H, TQ, TK, generator=torch.Generator().manual_seed(1)) > 0.4,
    "padding and causal": padded() & causal_mask(TQ, TK),
}
RELATIVE = {
    "no positions": lambda: None,
    "rotary": lambda: RotaryPositions(C // H, 20),
    "alibi": lambda: AlibiPositions(H),
}
EVERY_RELATIVE = pytest.mark.parametrize("relative", RELATIVE.values(), ids=RELATIVE)


def test_weights_of_two_queries_and_three_keys_by_hand():
    query = torch.tensor([[2.0, 0, 0, 0], [0, 0, 0, 0]])
    key = torch.tensor([[math.log(4), 0, 0, 0], [0, 1, 0, 0], [0, 0, 5, 0]])
    # scores 2·ln 4 / √4 = ln 4, 0, 0; then all 0
    assert_close(
        attention_weights(query, key), torch.tensor([[4 / 6, 1 / 6, 1 / 6], [1 / 3, 1 / 3, 1 / 3]])
    )


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_the_formula_equals_torchs_fused_kernel(mask):
    q, k, v = (torch.randn(B, H, t, w, dtype=torch.float64) for t, w in ((TQ, 4), (TK, 4), (TK, 6)))
    mask = None if mask is None else mask
    assert_close(
        scaled_dot_product_attention(q, k, v, mask), F.scaled_dot_product_attention(q, k, v, mask)
    )


def test_the_formula_equals_d2ls():
    from transformer_lib.lab.d2l_bridge import load_d2l

    d2l = load_d2l()
    q, k, v = torch.randn(B, TQ, C), torch.randn(B, TK, C), torch.randn(B, TK, 9)
    lengths = torch.tensor([7, 4])
    theirs = d2l.DotProductAttention(dropout=0)(q, k, v, lengths)
    assert_close(scaled_dot_product_attention(q, k, v, padded()[:, 0]), theirs)


def test_dropout_scales_what_it_keeps():
    q, k = torch.randn(1, 50, 4), torch.randn(1, 60, 4)
    out = scaled_dot_product_attention(q, k, torch.eye(60)[None], dropout=0.25)
    kept = out != 0
    assert_close(out[kept], attention_weights(q, k)[kept] / 0.75)
    assert 0.7 < kept.float().mean() < 0.8


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_equals_torchs_multihead_attention_in_outputs_weights_and_gradients(mask, bias):
    ours = MultiHeadAttention(C, H, bias=bias).double()
    twin = twins.attention(ours)
    x, y = inputs(requires_grad=True), None
    y = [t.detach().clone().requires_grad_() for t in x]
    # torch wants (B·H, Tq, Tk) and True where a key is hidden
    hidden = None if mask is None else ~mask.expand(B, H, TQ, TK).flatten(0, 1)
    theirs, their_weights = twin(*y, attn_mask=hidden, average_attn_weights=False)
    with record_attention(ours) as maps:
        recorded = ours(*x, mask)
    out = ours(*x, mask)
    assert_close(out, theirs, atol=1e-10, rtol=0)
    assert_close(recorded, theirs, atol=1e-10, rtol=0)
    assert_close(maps[""][0], their_weights, atol=1e-10, rtol=0)
    direction = torch.randn_like(out)
    (out * direction).sum().backward()
    (theirs * direction).sum().backward()
    for a, b in zip(x, y, strict=True):
        assert_close(a.grad, b.grad, atol=1e-10, rtol=0)
    assert_close(
        torch.cat([p.weight.grad for p in (ours.q_proj, ours.k_proj, ours.v_proj)]),
        twin.in_proj_weight.grad,
        atol=1e-10,
        rtol=0,
    )
    assert_close(ours.out_proj.weight.grad, twin.out_proj.weight.grad, atol=1e-10, rtol=0)


def test_equals_d2ls_multihead_attention():
    from transformer_lib.lab.d2l_bridge import load_d2l

    ours = MultiHeadAttention(C, H, bias=False)
    theirs = load_d2l().MultiHeadAttention(C, C, C, C, H, dropout=0)
    for mine, name in (
        (ours.q_proj, "W_q"),
        (ours.k_proj, "W_k"),
        (ours.v_proj, "W_v"),
        (ours.out_proj, "W_o"),
    ):
        getattr(theirs, name).load_state_dict(mine.state_dict())
    q, k, v = inputs(torch.float32)
    assert_close(ours(q, k, v, padded()), theirs(q, k, v, torch.tensor([7, 4])))


@EVERY_RELATIVE
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_listening_does_not_change_the_output(mask, is_causal, relative):
    attn = MultiHeadAttention(C, H, relative=relative()).double()
    q, k, v = inputs()
    fast = attn(q, k, v, mask, is_causal=is_causal)
    with record_attention(attn) as maps:
        heard = attn(q, k, v, mask, is_causal=is_causal)
    assert_close(fast, heard, atol=1e-12, rtol=0)
    assert maps[""][0].shape == (B, H, TQ, TK)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
def test_alibi_takes_slope_times_distance_off_the_scores(mask, is_causal):
    """Press et al. 2022, section 3, head by head; the slopes of three heads are 1/16, 1/256, 1/4."""
    attn = MultiHeadAttention(C, H, relative=AlibiPositions(H)).double()
    q, k, v = inputs()
    seen = torch.ones(B, H, TQ, TK, dtype=torch.bool) if mask is None else mask.expand(B, H, TQ, TK)
    distance = torch.tensor([[abs(TK - TQ + i - j) for j in range(TK)] for i in range(TQ)])
    heads = []
    for head, slope in enumerate((1 / 16, 1 / 256, 1 / 4)):
        rows = slice(4 * head, 4 * head + 4)
        qh, kh, vh = (
            x @ p.weight[rows].T + p.bias[rows]
            for x, p in ((q, attn.q_proj), (k, attn.k_proj), (v, attn.v_proj))
        )
        scores = qh @ kh.mT / 4**0.5 - slope * distance
        shares = scores.exp() * (
            seen[:, head] & causal_mask(TQ, TK) if is_causal else seen[:, head]
        )
        heads.append((shares / shares.sum(-1, keepdim=True)).nan_to_num() @ vh)
    out = attn(q, k, v, mask, is_causal=is_causal)
    assert_close(out, attn.out_proj(torch.cat(heads, dim=-1)), atol=1e-12, rtol=0)


@pytest.mark.parametrize("is_causal", [False, True])
def test_only_a_bias_makes_the_fused_kernel_take_numbers_for_a_mask(monkeypatch, is_causal):
    """On four axes or two: with three it falls back to the formula."""
    taken = []

    def kernel(q, k, v, mask=None, dropout=0.0, is_causal=False):
        taken.append((None if mask is None else (mask.dtype, mask.dim()), is_causal))
        return F.scaled_dot_product_attention(q, k, v, mask, dropout, is_causal)

    fused = SimpleNamespace(scaled_dot_product_attention=kernel)
    monkeypatch.setattr(attention, "F", fused)
    x = torch.randn(B, TK, C)
    for relative in RELATIVE.values():
        MultiHeadAttention(C, H, relative=relative())(x, x, x, is_causal=is_causal)
    MultiHeadAttention(C, H)(x, x, x, padded())
    numbers = ((torch.float32, 4), False)
    assert taken == [(None, is_causal), (None, is_causal), numbers, ((torch.bool, 4), False)]


@EVERY_RELATIVE
def test_where_precision_is_mixed_listening_still_changes_nothing(relative):
    attn = MultiHeadAttention(C, H, relative=relative())
    x = inputs(torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        fast = attn(*x, padded())
        with record_attention(attn) as maps:
            heard = attn(*x, padded())
    assert fast.dtype == heard.dtype == torch.bfloat16
    assert maps[""][0].dtype == torch.bfloat16
    assert_close(fast, heard, atol=0.02, rtol=0)


def test_recording_names_modules_keeps_the_order_of_calls_and_ends_with_the_block():
    model = nn.ModuleDict({"first": MultiHeadAttention(C, H), "second": MultiHeadAttention(C, H)})
    q, k, v = inputs(torch.float32)
    with pytest.raises(KeyError), record_attention(model) as maps:
        model["second"](q, k, v)
        model["second"](q[:, :2], k, v)
        model["third"]
    assert [w.shape[2] for w in maps["second"]] == [TQ, 2]
    assert maps["first"] == []
    model["second"](q, k, v)
    assert len(maps["second"]) == 2


def test_recorded_rows_are_distributions_before_dropout_even_in_training():
    attn = MultiHeadAttention(C, H, dropout=0.5).train()
    with record_attention(attn) as maps:
        attn(*inputs(torch.float32))
    assert_close(maps[""][0].sum(-1), torch.ones(B, H, TQ))


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("heard", [True, False])
def test_nothing_leaks_from_the_future(training, heard):
    attn = MultiHeadAttention(C, H).double().train(training)
    x = torch.randn(B, TK, C, dtype=torch.float64, requires_grad=True)
    recording = record_attention(attn) if heard else torch.enable_grad()
    with recording:
        out = attn(x, x, x, is_causal=True)
        changed = x.detach().clone()
        changed[:, 4:] += 3.0
        after = attn(changed, changed, changed, is_causal=True)
    assert_close(out[:, :4], after[:, :4])
    assert not torch.allclose(out[:, 4:], after[:, 4:])
    out[:, 3].sum().backward()
    assert x.grad[:, 4:].eq(0).all()
    assert x.grad[:, :4].ne(0).any(dim=-1).all()


def test_padded_keys_are_invisible_whatever_they_hold():
    attn = MultiHeadAttention(C, H).double()
    q, k, v = inputs()
    short = attn(q[1:], k[1:, :4], v[1:, :4])
    k[1, 4:], v[1, 4:] = 99.0, -99.0
    assert_close(attn(q, k, v, padded())[1:], short)


def test_permuting_keys_with_their_values_changes_nothing_and_permuting_queries_permutes_outputs():
    attn = MultiHeadAttention(C, H).double()
    q, k, v = inputs()
    keys, queries = torch.randperm(TK), torch.randperm(TQ)
    assert_close(attn(q[:, queries], k[:, keys], v[:, keys]), attn(q, k, v)[:, queries])


@EVERY_RELATIVE
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("heard", [True, False])
def test_a_row_that_sees_nothing_gathers_zero_and_gradients_stay_finite(
    dtype, heard, device, relative
):
    attn = MultiHeadAttention(C, H, bias=False, relative=relative()).to(device, dtype)
    x = [t.detach().to(device).requires_grad_() for t in inputs(dtype)]
    mask = padded((7, 0)).to(device)  # the second sentence is all padding
    recording = record_attention(attn) if heard else torch.enable_grad()
    with recording:
        out = attn(*x, mask)
    out.float().square().sum().backward()
    assert out[1].eq(0).all()
    assert out[0].ne(0).any()
    assert out.isfinite().all()
    for tensor in [*x, *attn.parameters()]:
        assert tensor.grad.isfinite().all()


@EVERY_RELATIVE
def test_one_query_at_a_time_with_kept_keys_equals_all_at_once(relative):
    attn = MultiHeadAttention(C, H, relative=relative()).double()
    x = torch.randn(B, TK, C, dtype=torch.float64)
    k, v = attn.keys_values(x, x)
    steps = [
        attn.attend(x[:, t : t + 1], k[:, :, : t + 1], v[:, :, : t + 1], is_causal=True)
        for t in range(TK)
    ]
    assert_close(torch.cat(steps, dim=1), attn(x, x, x, is_causal=True))


@pytest.mark.parametrize(("d_model", "num_heads"), [(10, 3), (12, 0)])
def test_sizes_that_do_not_divide_are_refused_with_both_values(d_model, num_heads):
    with pytest.raises(ValueError, match=rf"d_model={d_model} .* num_heads={num_heads}"):
        MultiHeadAttention(d_model, num_heads)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("q(5, 12), q(7, 12), q(2, 12)", "7 keys, but 2 values"),
        ("q(5, 10), q(7, 12), q(7, 12)", "width 10 for d_model=12"),
        ("q(5, 12), q(7, 12), q(7, 12), m(7, 5)", "(7, 5) for weights of shape (2, 3, 5, 7)"),
        ("q(5, 12), q(7, 12), q(7, 12), m(4, 1, 1, 7)", "mask of shape (4, 1, 1, 7)"),
    ],
)
def test_inputs_that_do_not_fit_are_refused_with_both_values(arguments, message):
    """In a process of its own: under pytest jaxtyping would object first."""
    code = f"""
import torch
from transformer_lib.attention import MultiHeadAttention
q = lambda *size: torch.randn(2, *size)
m = lambda *size: torch.ones(size, dtype=torch.bool)
try:
    MultiHeadAttention(12, 3)({arguments})
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert message in done.stdout


@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_dropout_falls_on_the_weights_that_are_heard_as_on_the_others(dropout):
    """Of a mean over many draws: dropped weights are the same on average, and vary."""
    net, x = MultiHeadAttention(C, H, dropout=dropout).train(), torch.randn(1, TQ, C)
    spread = []
    for heard in (True, False):
        with record_attention(net) if heard else nullcontext():
            drawn = torch.stack([net(x, x, x) for _ in range(400)])
        spread.append(drawn.std(dim=0))
        assert_close(drawn.mean(dim=0), net.eval()(x, x, x), atol=0.1, rtol=0)
        net.train()
    assert_close(spread[0], spread[1], atol=0.05, rtol=0)
    assert (spread[0].max() > 0.01) == (dropout > 0)


SOME = torch.tensor([[True, False, True, True]]).expand(4, 4)
BIAS = torch.arange(16.0).view(1, 1, 4, 4)
CAUSAL = torch.tensor(
    [[True, False, False, False], [True] * 2 + [False] * 2, [True] * 3 + [False], [True] * 4]
)
INFINITE = float("-inf")


@pytest.mark.parametrize(
    ("mask", "bias", "is_causal", "q_len", "wanted"),
    [
        (None, None, False, 4, (None, False)),
        (SOME, None, False, 4, (SOME, False)),
        (None, None, True, 4, (None, True)),
        (SOME, None, True, 4, (SOME & CAUSAL, False)),
        (None, None, True, 2, (CAUSAL[2:], False)),
        (None, BIAS, False, 4, (BIAS, False)),
        (SOME, BIAS, False, 4, (BIAS.where(SOME, INFINITE), False)),
        (None, BIAS, True, 4, (BIAS.where(CAUSAL, INFINITE), False)),
        (SOME, BIAS, True, 4, (BIAS.where(SOME & CAUSAL, INFINITE), False)),
    ],
)
def test_the_kernel_gets_one_mask_or_its_own_causality(mask, bias, is_causal, q_len, wanted):
    found, causal = for_the_kernel(mask, bias, is_causal, q_len, 4, torch.device("cpu"))
    assert causal == wanted[1]
    assert (found is None) == (wanted[0] is None)
    assert found is None or torch.equal(found, wanted[0])
