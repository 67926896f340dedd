"""Other processes say what they were asked for, and what went wrong."""

import pytest

from transformer_lib.lab.launch import python, together


def rank_and_sum():
    import torch
    import torch.distributed as dist

    mine = torch.tensor([1.0 + dist.get_rank()])
    dist.all_reduce(mine)
    return [dist.get_rank(), mine.item()]


def test_every_process_runs_the_function_and_knows_the_others():
    assert together(rank_and_sum) == [[0, 3.0], [1, 3.0]]


def test_another_python_says_what_it_prints():
    assert python("-c 'print(6 * 7)'").strip() == "42"


def test_a_failure_is_told_in_its_own_words():
    with pytest.raises(RuntimeError, match="three apples"):
        python("-c", "raise SystemExit('three apples')")
