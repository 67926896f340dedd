import pytest
import torch

from transformer_lib.batching import (
    Example,
    TokenBatches,
    encode_pairs,
    make_batch,
    pad,
    shift_right,
)
from transformer_lib.corpus import SentencePair


def examples(n=200):
    generator = torch.Generator().manual_seed(3)
    sizes = torch.randint(1, 20, (n, 2), generator=generator).tolist()
    return [Example([10 + i] * s, [10 + i] * t) for i, (s, t) in enumerate(sizes)]


def test_padding_and_shifting_by_hand():
    assert pad([[5, 6, 2], [7, 2]]).tolist() == [[5, 6, 2], [7, 2, 0]]
    assert shift_right(torch.tensor([[5, 6, 2], [7, 2, 0]])).tolist() == [[1, 5, 6], [1, 7, 2]]


def test_a_batch_predicts_at_every_position_the_token_that_comes_next():
    batch = make_batch([Example([8, 9, 2], [5, 6, 7, 2]), Example([8, 2], [4, 2])])
    assert batch.tgt_in.tolist() == [[1, 5, 6, 7], [1, 4, 2, 0]]
    assert batch.tgt_out.tolist() == [[5, 6, 7, 2], [4, 2, 0, 0]]
    assert batch.src_mask[:, 0, 0].tolist() == [[True, True, True], [True, True, False]]
    assert batch.num_tokens == 6


def test_pairs_become_ids_with_eos_and_long_ones_are_left_out():
    pairs = [SentencePair("a b", "c"), SentencePair("a b c d", "e"), SentencePair("", "x")]
    numbers = lambda text: [ord(c) for c in text if c != " "]
    assert encode_pairs(pairs, numbers, numbers, max_len=4) == [
        ([97, 98, 2], [99, 2]),
        ([2], [120, 2]),
    ]


def test_an_epoch_holds_every_example_once_within_the_budget():
    batches = TokenBatches(examples(), max_tokens=60)
    seen = [int(row[0]) for batch in batches for row in batch.src]
    assert sorted(seen) == [10 + i for i in range(200)]
    assert all(max(batch.src.numel(), batch.tgt_out.numel()) <= 60 for batch in batches)
    assert len(list(batches)) == len(batches)


def test_sentences_of_similar_length_share_a_batch():
    def padding(batches):
        return sum((b.tgt_out == 0).sum().item() for b in batches) / sum(
            b.tgt_out.numel() for b in batches
        )

    unsorted = [make_batch(examples()[i : i + 10]) for i in range(0, 200, 10)]
    assert padding(TokenBatches(examples(), max_tokens=120)) < 0.2 * padding(unsorted)


def test_the_order_depends_on_seed_and_epoch_alone():
    def order(seed, epoch):
        batches = TokenBatches(examples(), max_tokens=60, seed=seed)
        batches.set_epoch(epoch)
        return [batch.src[:, 0].tolist() for batch in batches]

    assert order(0, 3) == order(0, 3)
    assert order(0, 3) != order(0, 4)
    assert order(0, 3) != order(1, 3)


def test_what_cannot_be_batched_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match="30 tokens .* max_tokens=20"):
        TokenBatches([Example([1] * 30, [1])], max_tokens=20)
    with pytest.raises(ValueError, match="no examples"):
        TokenBatches([])
