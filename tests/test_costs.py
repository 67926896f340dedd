"""What is counted is what arithmetic says: B, T, C = 3, 7, 12."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lib.attention import scaled_dot_product_attention
from transformer_lib.lab.costs import kept_bytes, operations, peak_bytes, seconds
from transformer_lib.transformer import make_model

B, T, C = 3, 7, 12


def test_a_product_is_two_operations_an_entry_and_four_more_on_the_way_back():
    linear, x = nn.Linear(C, 5), torch.randn(B, T, C, requires_grad=True)
    assert operations(lambda: linear(x)) == 2 * B * T * C * 5
    assert operations(lambda: linear(x).sum().backward()) == 6 * B * T * C * 5


@pytest.mark.parametrize(
    "attend",
    [scaled_dot_product_attention, F.scaled_dot_product_attention],
    ids=["formula", "fused"],
)
def test_attention_counts_as_the_formula_has_it(attend):
    q, k, v = torch.randn(3, B, 2, T, C)
    assert operations(partial(attend, q, k, v)) == 2 * 2 * B * 2 * T * T * C


def test_a_model_of_shapes_alone_is_counted_as_one_of_numbers():
    ids, counts = [[4, 5, 6, 7, 8]] * 3, []
    for device in ("cpu", "meta"):
        with torch.device(device):
            model = make_model(31, 37, d_model=24, num_heads=2, d_ff=40)
            counts.append(operations(partial(model, torch.tensor(ids), torch.tensor(ids))))
    assert counts[0] == counts[1] > 0


def test_the_most_that_was_held_at_once_is_counted_not_the_sum():
    def run():
        for _ in range(4):
            torch.empty(1000)

    assert 4000 <= peak_bytes(run) < 8000
    assert 8000 <= peak_bytes(lambda: (torch.empty(1000), torch.empty(1000))) < 12000


def test_a_linear_layer_keeps_its_input_and_not_its_weights():
    linear, x = nn.Linear(C, 5), torch.randn(B, T, C, requires_grad=True)
    assert kept_bytes(lambda: linear(x), linear) == 4 * B * T * C
    with torch.no_grad():
        assert kept_bytes(lambda: linear(x), linear) == 0


def test_what_two_operations_keep_is_counted_once():
    x = torch.randn(B, T, requires_grad=True)
    assert kept_bytes(lambda: x.sin() + x.cos(), nn.Module()) == 4 * B * T


def test_the_first_run_does_not_count_among_the_seconds():
    calls = []
    assert seconds(lambda: calls.append(1), repeats=3) >= 0
    assert len(calls) == 4
