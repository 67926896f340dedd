import pytest
import torch
from checked import unchecked
from torch.testing import assert_close

from transformer_lib.attention import MultiHeadAttention, record_attention
from transformer_lib.decoding import greedy
from transformer_lib.masks import (
    causal_mask,
    length_mask,
    masked_softmax,
    padding_mask,
    window_mask,
)
from transformer_lib.models import create_model

HALF = (torch.float32, torch.bfloat16, torch.float16)


def test_a_query_sees_itself_and_what_came_before():
    assert causal_mask(3).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_the_last_query_sits_on_the_last_key():
    assert causal_mask(2, 5).tolist() == [[True, True, True, True, False], [True] * 5]


def test_padding_is_hidden_from_every_head_and_query():
    ids = torch.tensor([[7, 4, 0, 0], [5, 0, 6, 9]])
    assert padding_mask(ids, 0).shape == (2, 1, 1, 4)
    assert padding_mask(ids, 0)[:, 0, 0].tolist() == [
        [True, True, False, False],
        [True, False, True, True],
    ]


def test_lengths_become_masks_of_any_rank():
    assert length_mask(torch.tensor([2, 0]), 3).tolist() == [[True, True, False], [False] * 3]
    assert length_mask(torch.tensor([[1, 3, 2]]), 4).shape == (1, 3, 4)


def test_windows_by_hand():
    windows = window_mask(torch.tensor([1.0, 3.5]), 1, 6)
    assert windows.int().tolist() == [[[1, 1, 1, 0, 0, 0]], [[0, 0, 0, 1, 1, 0]]]


def test_five_tokens_of_which_two_are_padding():
    scores = torch.tensor([[1.0, 2.0, 3.0, 4.0, 5.0]])
    weights = masked_softmax(scores, length_mask(torch.tensor([3]), 5))
    e = torch.e
    expected = torch.tensor([[1, e, e**2, 0, 0]]) / (1 + e + e**2)
    assert_close(weights, expected)
    assert weights[0, 3:].tolist() == [0, 0]


def test_masking_before_softmax_equals_zeroing_after_it_and_renormalising():
    scores, mask = torch.randn(2, 3, 5, 7), torch.rand(2, 1, 5, 7) > 0.3
    mask[..., 0] = True
    kept = scores.softmax(-1) * mask
    assert_close(masked_softmax(scores, mask), kept / kept.sum(-1, keepdim=True))


def test_the_scores_are_left_as_they_were():
    scores = torch.randn(2, 3, 4)
    before = scores.clone()
    masked_softmax(scores, length_mask(torch.tensor([1, 2]), 4)[:, None])
    assert torch.equal(scores, before)


@pytest.mark.parametrize("dtype", HALF)
def test_a_row_that_sees_nothing_is_zero_with_finite_gradients(dtype):
    scores = torch.randn(2, 3, 5, dtype=dtype, requires_grad=True)
    mask = torch.ones(2, 3, 5, dtype=torch.bool)
    mask[1, 2] = False
    weights = masked_softmax(scores, mask)
    (weights.float() * torch.randn(2, 3, 5)).sum().backward()
    assert weights[1, 2].eq(0).all()
    assert scores.grad.isfinite().all()
    assert scores.grad[1, 2].eq(0).all()
    assert scores.grad[0].ne(0).any()


def test_fewer_keys_than_queries_are_refused_with_both_numbers():
    with pytest.raises(ValueError, match="4 queries, but 2 keys"):
        causal_mask(4, 2)


def test_an_empty_row_passes_the_hunt_for_what_is_no_number():
    scores = torch.randn(2, 3, 5, requires_grad=True)
    mask = torch.rand(2, 3, 5) > 0.4
    mask[1, 2] = False
    with torch.autograd.set_detect_anomaly(True):
        masked_softmax(scores, mask).pow(2).sum().backward()
    assert scores.grad[1, 2].eq(0).all()


NUMBERS = {
    "1 and 0": lambda mask: mask.float(),
    "0 and -inf": lambda mask: torch.zeros(mask.shape).masked_fill(~mask, float("-inf")),
    "whole numbers": lambda mask: mask.long(),
    "bytes": lambda mask: mask.byte(),
}


@pytest.mark.parametrize("numbers", NUMBERS.values(), ids=NUMBERS)
def test_a_mask_of_numbers_is_refused_wherever_it_comes_in(numbers):
    mask = torch.tensor([[True, True, True, False]])[:, None, None]
    wrong, x, src = numbers(mask), torch.randn(1, 4, 12), torch.tensor([[4, 5, 6, 0]])
    attention = MultiHeadAttention(12, 3)
    transformer, recurrent = (create_model(name, 9, 9) for name in ("transformer", "luong-general"))
    for use in (
        lambda: masked_softmax(torch.randn(1, 3, 4, 4), wrong),
        lambda: attention(x, x, x, wrong),
        lambda: attention(x, x, x, wrong, is_causal=True),
        lambda: transformer(src, src, wrong),
        lambda: transformer(src, src, mask, wrong),
        lambda: greedy(transformer, src, wrong),
        lambda: greedy(transformer, src, tgt_mask=wrong),
        lambda: recurrent(src, src, wrong),
        lambda: greedy(recurrent, src, wrong),
    ):
        with (
            unchecked(),
            pytest.raises(TypeError, match=r"the mask is torch\.\w+, not torch\.bool"),
        ):
            use()
    with (
        record_attention(attention),
        unchecked(),
        pytest.raises(TypeError, match=r"mask != 0.* mask == 0"),
    ):
        attention(x, x, x, wrong)


@pytest.mark.parametrize("name", ["transformer", "luong-general", "bahdanau"])
@pytest.mark.parametrize("axes", [1, 2, 3, 4])
def test_a_mask_of_any_number_of_axes_means_the_same_in_both_lives(name, axes):
    model = create_model(name, 9, 9, dropout=0.0).eval()
    src, tgt = torch.randint(4, 9, (3, 5)), torch.randint(4, 9, (3, 2))
    mask = torch.tensor([True, True, True, False, False])[(None,) * (axes - 1)]
    whole, state = model(src, tgt, mask), model.start(src, mask)
    assert_close(whole, model(src[:, :3], tgt))
    for t in range(2):
        logits, state = model.step(tgt[:, t], state)
        assert_close(logits, whole[:, t])
