import math

import pytest
import torch
from torch.testing import assert_close

from transformer_lib.positions import LearnedPositions, SinusoidalPositions, sinusoid_table

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


def test_fixed_codes_are_not_in_checkpoints_and_learned_ones_are():
    assert not SinusoidalPositions(6, 9).state_dict()
    assert list(LearnedPositions(6, 9).state_dict()) == ["table"]
