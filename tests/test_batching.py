from itertools import pairwise

import pytest
import torch

from transformer_lib.batching import (
    Example,
    TokenBatches,
    encode_pairs,
    make_batch,
    pad,
    padding_share,
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
    pairs = [SentencePair("a b c", "c"), SentencePair("a b c d", "e"), SentencePair("", "x")]
    numbers = lambda text: [ord(c) for c in text if c != " "]
    assert encode_pairs(pairs, numbers, numbers, max_len=4) == [
        ([97, 98, 99, 2], [99, 2]),
        ([2], [120, 2]),
    ]


def test_an_epoch_holds_every_example_once_within_the_budget():
    batches = TokenBatches(examples(), max_tokens=60)
    seen = [int(row[0]) for batch in batches for row in batch.src]
    assert sorted(seen) == [10 + i for i in range(200)]
    assert all(max(batch.src.numel(), batch.tgt_out.numel()) <= 60 for batch in batches)
    assert len(list(batches)) == len(batches)


def test_a_batch_is_closed_only_when_the_next_sentence_does_not_fit():
    batches = list(TokenBatches(examples(), max_tokens=60, shuffle=False))
    for batch, after in pairwise(batches):
        first = (after.src[0] != 0).sum(), (after.tgt_out[0] != 0).sum()
        widest = max(batch.src.size(1), batch.tgt_out.size(1), *first)
        assert (len(batch.src) + 1) * widest > 60
    assert len(list(TokenBatches([Example([5] * 3, [6] * 5)] * 4, max_tokens=10))) == 2


def test_sentences_of_similar_length_share_a_batch():
    def padding(batches):
        return sum((b.tgt_out == 0).sum().item() for b in batches) / sum(
            b.tgt_out.numel() for b in batches
        )

    unsorted = [make_batch(examples()[i : i + 10]) for i in range(0, 200, 10)]
    assert padding(TokenBatches(examples(), max_tokens=120)) < 0.2 * padding(unsorted)


def test_short_and_long_batches_come_in_turn():
    widths = [batch.tgt_out.size(1) for batch in TokenBatches(examples(), max_tokens=60)]
    falls = sum(after < before for before, after in pairwise(widths))
    assert len(widths) / 4 < falls < 3 * len(widths) / 4


def test_the_share_of_padding_counts_both_sides_of_all_batches():
    full = make_batch([Example([5, 2], [6, 7, 2])] * 2)  # 10 positions
    holed = make_batch([Example([5, 2], [6, 2]), Example([5, 6, 7, 2], [2])])  # 9 of 12 are real
    assert padding_share([full]) == 0
    assert padding_share([holed]) == pytest.approx(3 / 12)
    assert padding_share(iter([full, holed])) == pytest.approx(3 / 22)


@pytest.mark.parametrize("processes", [2, 3, 5])
def test_processes_share_the_rows_out_and_who_gets_none_weighs_nothing(processes):
    pairs = [([8, 9, 2], [5, 6, 7, 2]), ([8, 2], [4, 2]), ([7, 2], [9, 2])]
    batch = make_batch([Example(*pair) for pair in pairs])
    shares = [batch.share(number, processes) for number in range(processes)]
    assert [share.num_tokens for share in shares if not share.num_tokens] == [0] * (processes - 3)
    assert all(len(share.src) for share in shares)
    rows = [row for share in shares if share.num_tokens for row in share.tgt_out.tolist()]
    assert sorted(rows) == sorted(batch.tgt_out.tolist())
    assert sum(share.num_tokens for share in shares) == 8


def test_the_order_depends_on_seed_and_epoch_alone():
    def order(seed, epoch):
        batches = TokenBatches(examples(), max_tokens=60, seed=seed)
        batches.set_epoch(epoch)
        return [batch.src[:, 0].tolist() for batch in batches]

    assert order(0, 3) == order(0, 3)
    assert order(0, 3) != order(0, 4)
    assert order(0, 3) != order(1, 3)
    assert order(0, 4) != order(1, 3)


def test_what_cannot_be_batched_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match="21 tokens .* max_tokens=20"):
        TokenBatches([Example([1] * 21, [1])], max_tokens=20)
    assert len(TokenBatches([Example([1] * 20, [1])], max_tokens=20)) == 1
    with pytest.raises(ValueError, match="no examples"):
        TokenBatches([])
