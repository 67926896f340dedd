"""The reference is what one multiplies by hand."""

import pytest
import torch

from transformer_lib.lab.chance import distribution


def test_two_draws_make_the_products_of_their_shares():
    table = torch.tensor([[0.25, 0.0, 0.75], [0.5, 0.5, 0.0]])
    found = distribution(lambda: tuple(torch.multinomial(table, 1)[:, 0].tolist()))
    assert found == {(0, 0): 0.125, (0, 1): 0.125, (2, 0): 0.375, (2, 1): 0.375}


def test_a_draw_may_depend_on_the_one_before_and_ways_to_one_result_add_up():
    def run():
        heads = 0
        while heads < 2 and torch.bernoulli(torch.tensor([0.25])).bool().item():
            heads += 1
        return min(heads, 1)

    found = distribution(run)
    assert found == pytest.approx({0: 0.75, 1: 0.25}, abs=1e-15)


def test_weights_are_drawn_by_their_share_of_the_sum_and_afterwards_chance_is_back():
    found = distribution(lambda: torch.multinomial(torch.tensor([[1.0, 3.0]]), 1).item())
    assert found == {0: 0.25, 1: 0.75}
    drawn = torch.multinomial(torch.ones(1, 2).expand(100, 2), 1)
    assert set(drawn.flatten().tolist()) == {0, 1}


def test_what_is_certain_is_run_once():
    calls = []

    def run():
        calls.append(torch.bernoulli(torch.tensor([1.0, 0.0])).tolist())
        return tuple(calls[-1])

    assert distribution(run) == {(1.0, 0.0): 1.0}
    assert len(calls) == 1
