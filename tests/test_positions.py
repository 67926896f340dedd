import math

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention
from transformer_lib.positions import (
    AlibiPositions,
    LearnedPositions,
    NoPositions,
    RelativePositions,
    RotaryHalves,
    RotaryPositions,
    SinusoidalPositions,
    alibi_slopes,
    sinusoid_table,
)

BOTH = pytest.mark.parametrize("kind", [SinusoidalPositions, LearnedPositions])


def test_two_positions_by_hand():
    assert_close(
        sinusoid_table(2, 4),
        torch.tensor([[0, 1, 0, 1], [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]]),
    )


def test_a_shift_is_the_same_rotation_wherever_it_starts():
    table = sinusoid_table(60, 6).unflatten(-1, (3, 2))  # (position, pair, sin and cos)
    for shift in (1, 7, 40):
        turn = [
            torch.tensor([[math.cos(a), math.sin(a)], [-math.sin(a), math.cos(a)]])
            for a in shift / 10000 ** (torch.arange(0, 6, 2) / 6)
        ]
        for pair in range(3):
            assert_close(
                table[:-shift, pair] @ turn[pair].T, table[shift:, pair], atol=1e-4, rtol=0
            )


@pytest.mark.parametrize("d_model", [1, 5, 7])
def test_an_odd_width_is_the_even_one_without_its_last_cosine(d_model):
    table = sinusoid_table(9, d_model)
    assert table.shape == (9, d_model)
    assert_close(table[:, -1], torch.sin(torch.arange(9) / 10000 ** ((d_model - 1) / d_model)))


def test_codes_do_not_depend_on_the_longest_length():
    assert torch.equal(sinusoid_table(50, 8), sinusoid_table(1000, 8)[:50])


@BOTH
def test_the_codes_are_added_to_what_comes_in(kind):
    """What is a sum with nothing is the code itself, and what comes in twice comes out once more."""
    code, x = kind(6, 9), torch.randn(2, 4, 6)
    assert_close(code(torch.zeros(1, 4, 6), offset=3)[0], code.table[3:7])
    assert_close(code(2 * x) - code(x), x)


@BOTH
def test_the_input_is_left_as_it_was(kind):
    x = torch.zeros(2, 5, 6, requires_grad=True)
    out = kind(6, 9)(x)
    assert x.eq(0).all()
    assert out.ne(0).any()


@BOTH
def test_an_offset_continues_the_sequence(kind):
    positions = kind(6, 9)
    x = torch.randn(2, 7, 6)
    assert_close(
        torch.cat([positions(x[:, :3]), positions(x[:, 3:], offset=3)], dim=1), positions(x)
    )


@BOTH
def test_another_width_is_refused_with_both_numbers(kind):
    with pytest.raises(ValueError, match="input of width 8 for d_model=6"):
        kind(6, 9)(torch.zeros(2, 4, 8))


@BOTH
def test_past_max_len_is_refused_with_both_numbers(kind):
    with pytest.raises(ValueError, match=r"10 positions .* max_len=9"):
        kind(6, 9)(torch.zeros(1, 4, 6), offset=6)


@BOTH
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_follows_the_model_and_keeps_the_dtype_of_its_input(kind, dtype, device):
    x = torch.zeros(1, 5, 6, dtype=dtype, device=device)
    assert kind(6, 9).to(device, dtype)(x).dtype == dtype
    assert kind(6, 9).to(device)(x).dtype == dtype
    assert kind(6, 9).to(device)(x).device == x.device


def test_rotary_is_a_product_of_complex_numbers():
    """Pair i at position t, read as a complex number, times e^(i t / 10000^(2i/d))."""
    x = torch.randn(2, 3, 7, 6, dtype=torch.float64)
    angle = torch.arange(7)[:, None] / 10000 ** (torch.arange(0, 6, 2, dtype=torch.float64) / 6)
    pairs = torch.view_as_complex(x.unflatten(-1, (3, 2)))
    turned = pairs * torch.polar(torch.ones_like(angle), angle)
    got = RotaryPositions(6, 9).double().turn(x)
    assert_close(got, torch.view_as_real(turned).flatten(-2), atol=1e-6, rtol=0)
    assert_close(got[..., 0, :], x[..., 0, :])
    assert_close(got.norm(dim=-1), x.norm(dim=-1), atol=1e-6, rtol=0)


def test_a_rotary_dot_product_depends_on_the_distance_alone():
    turn = RotaryPositions(8, 50).turn
    query, key = torch.randn(2, 1, 8)
    for distance in (0, 3, 11):
        products = [
            turn(query, offset=start + distance) @ turn(key, offset=start).T for start in (0, 5, 30)
        ]
        assert_close(products[0], products[1], atol=1e-5, rtol=0)
        assert_close(products[0], products[2], atol=1e-5, rtol=0)
    assert not torch.allclose(turn(query, offset=3) @ key.T, query @ key.T, atol=1e-3)


def test_rotary_goes_on_at_an_offset_and_refuses_what_it_cannot_turn():
    rotary, x = RotaryPositions(6, 9), torch.randn(2, 7, 6)
    turn = rotary.turn
    assert_close(torch.cat([turn(x[:, :3]), turn(x[:, 3:], 3)], dim=1), turn(x))
    assert turn(x.half()).dtype == torch.half
    assert not rotary.state_dict()
    with pytest.raises(ValueError, match=r"10 positions .* max_len=9"):
        turn(x, 3)
    with pytest.raises(ValueError, match="more queries than keys"):
        turn(x, -1)
    with pytest.raises(ValueError, match="input of width 4 for d_head=6"):
        turn(x[..., :4])
    with pytest.raises(ValueError, match="d_head=5 is odd"):
        RotaryPositions(5, 9)


def test_rotary_halves_are_a_product_of_complex_numbers_whose_parts_stand_half_a_head_apart():
    """Entry i is the real part and entry i + d/2 the imaginary one: GPT-NeoX's `rotate_half`."""
    x = torch.randn(2, 3, 7, 6, dtype=torch.float64)
    angle = torch.arange(7)[:, None] / 500000 ** (torch.arange(0, 6, 2, dtype=torch.float64) / 6)
    numbers = torch.complex(x[..., :3], x[..., 3:]) * torch.polar(torch.ones_like(angle), angle)
    got = RotaryHalves(6, 9, base=500000).double().turn(x)
    assert_close(got, torch.cat([numbers.real, numbers.imag], dim=-1), atol=1e-6, rtol=0)
    rotated = torch.cat([-x[..., 3:], x[..., :3]], dim=-1)
    cos, sin = (torch.cat([wave, wave], dim=-1) for wave in (angle.cos(), angle.sin()))
    assert_close(got, x * cos + rotated * sin, atol=1e-6, rtol=0)


@pytest.mark.parametrize("base", [10000, 500000])
def test_either_layout_is_the_other_once_the_rows_of_queries_and_keys_are_exchanged(base):
    """Rows 0, 2, 4, 1, 3, 5 of each head, and its biases; values and all else stay as they are."""
    one, other = (
        MultiHeadAttention(12, 2, relative=kind(6, 9, base=base))
        for kind in (RotaryPositions, RotaryHalves)
    )
    other.load_state_dict(one.state_dict())  # the shapes agree, so nothing is refused
    x = torch.randn(2, 7, 12)
    assert not torch.allclose(one(x, x, x), other(x, x, x), atol=1e-3)
    rows = torch.tensor([0, 2, 4, 1, 3, 5])
    for projection in (other.q_proj, other.k_proj):
        for weight in projection.parameters():
            weight.data = torch.cat([head[rows] for head in weight.data.chunk(2)])
    assert_close(one(x, x, x), other(x, x, x))


def test_a_larger_base_has_longer_wavelengths_and_leaves_the_first_pair_alone():
    """By the formula: pair i repeats after 2π · base^(2i/d) positions."""
    assert_close(sinusoid_table(40, 8, 10.0)[:, :2], sinusoid_table(40, 8)[:, :2])
    for base in (10.0, 500000.0):
        steps = sinusoid_table(2, 8, base)[1, 0::2].double().asin()  # the angle of one position
        wanted = [base ** (-2 * i / 8) for i in range(4)]
        assert_close(steps, torch.tensor(wanted, dtype=torch.float64), atol=1e-6, rtol=1e-4)


def test_alibi_slopes_are_the_papers():
    """Press et al. 2022, section 3: eight heads have 1/2, 1/4 to 1/256, sixteen 1/√2, 1/2 to 1/256."""
    assert alibi_slopes(8).tolist() == [
        1 / 2,
        1 / 4,
        1 / 8,
        1 / 16,
        1 / 32,
        1 / 64,
        1 / 128,
        1 / 256,
    ]
    assert_close(alibi_slopes(16)[::2], torch.tensor(2.0).sqrt() * alibi_slopes(8))
    assert_close(alibi_slopes(16)[1::2], alibi_slopes(8))


@pytest.mark.parametrize(
    ("num_heads", "exponents"),
    [
        (1, [8]),
        (3, [4, 8, 2]),
        (6, [2, 4, 6, 8, 1, 3]),
        (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5]),
    ],
)
def test_alibi_slopes_of_other_numbers_of_heads_are_those_of_the_authors_code(num_heads, exponents):
    """get_slopes in fairseq/models/transformer.py of ofirpress/attention_with_linear_biases."""
    assert_close(alibi_slopes(num_heads), torch.tensor([2.0**-e for e in exponents]))


def test_an_alibi_bias_by_hand():
    """Two queries, the last of four keys; the slopes of two heads are 1/16 and 1/256."""
    distance = torch.tensor([[2.0, 1, 0, 1], [3, 2, 1, 0]])
    bias = AlibiPositions(2).bias(torch.randn(1, 2, 2, 6), 4)
    assert_close(bias, torch.stack([-distance / 16, -distance / 256])[None])


def test_an_alibi_bias_knows_the_distance_alone_and_goes_on_when_cached():
    alibi, q = AlibiPositions(3), torch.randn(2, 3, 7, 4)
    bias = alibi.bias(q, 7)
    for offset in range(-6, 7):
        along = bias.diagonal(offset, dim1=-2, dim2=-1)
        assert_close(along, along[..., :1].expand_as(along))
    assert_close(bias, bias.mT)
    assert_close(alibi.bias(q[:, :, 5:], 7), bias[:, :, 5:])
    assert_close(alibi.bias(q[:, :, 6:], 7), bias[:, :, 6:])


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_an_alibi_bias_has_the_dtype_and_device_of_the_queries(dtype, device):
    alibi, q = AlibiPositions(3).to(device), torch.randn(1, 3, 5, 4, dtype=dtype, device=device)
    for move in (torch.float32, dtype):  # mixed precision, then all of one
        bias = alibi.to(move).bias(q, 5)
        assert (bias.dtype, bias.device) == (q.dtype, q.device)


def test_alibi_refuses_what_it_cannot_place_and_has_nothing_to_learn():
    alibi = AlibiPositions(3)
    with pytest.raises(ValueError, match="2 heads for slopes of num_heads=3"):
        alibi.bias(torch.randn(1, 2, 5, 4), 5)
    with pytest.raises(ValueError, match="5 queries, but 4 keys"):
        alibi.bias(torch.randn(1, 3, 5, 4), 4)
    with pytest.raises(ValueError, match="num_heads=0"):
        AlibiPositions(0)
    assert not alibi.state_dict()
    assert not list(alibi.parameters())


def test_what_acts_inside_attention_may_do_without_either_part():
    x, plain = torch.randn(2, 3, 7, 4), RelativePositions()
    assert plain.turn(x, 5) is x
    assert plain.bias(x, 7) is None
    assert AlibiPositions(3).turn(x, 5) is x
    assert RotaryPositions(4, 20).bias(x, 7) is None


def test_no_positions_change_nothing():
    x = torch.randn(2, 7, 6)
    assert torch.equal(NoPositions(6, 3, dropout=0.5).eval()(x, offset=4), x)


def test_fixed_codes_are_not_in_checkpoints_and_learned_ones_are():
    assert not SinusoidalPositions(6, 9).state_dict()
    assert list(LearnedPositions(6, 9).state_dict()) == ["table"]
