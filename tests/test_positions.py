import math

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.positions import (
    LearnedPositions,
    NoPositions,
    RelativePositions,
    RotaryPositions,
    SinusoidalPositions,
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


def test_what_acts_inside_attention_may_do_without_either_part():
    x, plain = torch.randn(2, 3, 7, 4), RelativePositions()
    assert plain.turn(x, 5) is x
    assert plain.bias(x, 7) is None
    assert RotaryPositions(4, 20).bias(x, 7) is None


def test_no_positions_change_nothing():
    x = torch.randn(2, 7, 6)
    assert torch.equal(NoPositions(6, 3, dropout=0.5).eval()(x, offset=4), x)


def test_fixed_codes_are_not_in_checkpoints_and_learned_ones_are():
    assert not SinusoidalPositions(6, 9).state_dict()
    assert list(LearnedPositions(6, 9).state_dict()) == ["table"]
