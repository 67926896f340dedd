"""Kneser-Ney counts: worked by hand, shares that add up to 1, and no word without a share."""

import math
from collections import Counter

import pytest
import torch

from transformer_lib.corpus import BOS_ID
from transformer_lib.lab.ngrams import KneserNey

WE, AM, HOME, STOP, HERE, GO = range(10, 16)
TEXT = [[WE, AM, HOME, STOP], [WE, AM, HERE, STOP], [GO, HOME, STOP]]


def test_a_bigram_by_hand():
    model = KneserNey(TEXT, vocab_size=6, longest=2, discount=0.5)
    # home stands behind two different words, of eight such pairs; six words share what is given away
    assert model.share(HOME) == (2 - 0.5 + 0.5 * 6 / 6) / 8 == 0.25
    assert model.share(HOME, [AM]) == (1 - 0.5 + 0.5 * 2 * 0.25) / 2 == 0.375
    assert model.share(WE, [BOS_ID]) == (2 - 0.5 + 0.5 * 2 * (1 - 0.5 + 0.5) / 8) / 3


def test_a_unigram_counts_how_often_and_not_behind_how_many():
    model = KneserNey(TEXT, vocab_size=6, longest=1, discount=0.5)
    assert model.share(STOP) == (3 - 0.5 + 0.5 * 6 / 6) / 11
    assert model.share(STOP, [HOME]) == model.share(STOP)


def test_a_frequent_word_behind_one_word_only_is_rare_elsewhere():
    """As Francisco behind San: six times in the text, and less likely than what came twice."""
    san, francisco = 20, 21
    text = [*[[san, francisco]] * 6, [WE, HOME], [GO, HOME]]
    model = KneserNey(text, vocab_size=8, longest=2)
    assert model.share(francisco, [AM]) < model.share(HOME, [AM])
    assert model.share(francisco, [san]) > 0.8


@pytest.mark.parametrize("longest", [1, 2, 3, 5])
@pytest.mark.parametrize("discount", [0.1, 0.75, 0.99])
def test_shares_are_positive_and_add_up_to_1(longest, discount):
    dice = torch.Generator().manual_seed(longest)
    text = [torch.randint(2, 9, (n % 7 + 1,), generator=dice).tolist() for n in range(60)]
    model = KneserNey(text, vocab_size=9, longest=longest, discount=discount)
    for before in ([], [BOS_ID], [BOS_ID, 3], [4, 4, 4, 4], [8, 7, 6, 5, 4, 3], [99]):
        shares = [model.share(word, before) for word in range(9)]
        assert min(shares) > 0
        assert math.fsum(shares) == pytest.approx(1)


def test_the_perplexity_is_that_of_the_shares():
    model = KneserNey(TEXT, vocab_size=6, longest=3)
    told = [([], GO), ([GO], HOME), ([GO, HOME], STOP)]
    nats = [-math.log(model.share(word, [BOS_ID, *before])) for before, word in told]
    assert model.perplexity([[GO, HOME, STOP]]) == pytest.approx(math.exp(sum(nats) / 3))


def test_tuning_takes_the_discount_that_is_best_on_other_sentences():
    held_out = [[GO, HERE, STOP], [WE, AM, HOME, STOP]]
    costs = {
        discount: KneserNey(TEXT, 6, 2, discount).perplexity(held_out)
        for discount in (0.2, 0.5, 0.8)
    }
    model = KneserNey(TEXT, vocab_size=6, longest=2).tune(held_out, discounts=costs)
    assert model.discount == min(costs, key=costs.get)
    assert model.perplexity(held_out) == min(costs.values())


def test_only_the_last_words_count():
    model = KneserNey(TEXT, vocab_size=6, longest=3)
    assert model.share(STOP, [GO, AM, HOME]) == model.share(STOP, [HERE, AM, HOME])
    assert model.share(STOP, [AM, HOME]) != model.share(STOP, [HOME])


def test_the_counts_of_the_longest_runs_are_those_of_the_text():
    model = KneserNey(TEXT, vocab_size=6, longest=2)
    pairs = Counter(pair for ids in TEXT for pair in zip([BOS_ID, *ids], ids, strict=False))
    assert {run: n for run, n in model.n.items() if len(run) == 2} == pairs


@pytest.mark.parametrize(
    ("options", "said"), [({"longest": 0}, "at least 1 word"), ({"discount": 1.0}, "discount=1.0")]
)
def test_what_cannot_be_counted_is_said(options, said):
    with pytest.raises(ValueError, match=said):
        KneserNey(TEXT, **{"vocab_size": 6, "longest": 2, **options})
