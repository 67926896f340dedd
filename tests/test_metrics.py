import math
import random

import pytest
import sacrebleu
from checked import unchecked

from transformer_lib.corpus import ByteSubwords, Vocabulary
from transformer_lib.metrics import (
    alignment_error_rate,
    ceiling,
    chrf,
    corpus_bleu,
    exact_match,
    paired_bootstrap,
    perplexity,
    translation_scores,
)


def test_bleu_of_the_sentence_whose_score_is_known_by_hand():
    # "this is a fest" for "this is a test": precisions 3/4, 2/3, 1/2 and 1/2 by exponential smoothing of 0/1
    expected = 100 * (3 / 4 * 2 / 3 * 1 / 2 * 1 / 2) ** (1 / 4)
    assert corpus_bleu(["This is a fest"], ["this is a test"]).score == pytest.approx(expected)
    assert corpus_bleu(["Il est calme."], ["il est calme ."]).score == pytest.approx(100)


def test_bleu_carries_the_signature_that_makes_it_comparable():
    signature = corpus_bleu(["a b c d"], ["a b c d"]).signature
    assert "case:lc" in signature
    assert "tok:13a" in signature


@pytest.mark.parametrize("hypothesis", ["", "a", "a b"])
def test_short_hypotheses_score_without_an_error(hypothesis):
    assert 0 <= corpus_bleu([hypothesis], ["a b c d e"]).score < 30


def test_brevity_is_punished_over_the_corpus():
    assert corpus_bleu(
        ["a b c d", "e f g h"], ["a b c d", "e f g h i j k l"]
    ).score == pytest.approx(100 * math.exp(1 - 12 / 8))


def test_exact_match_ignores_case_and_space():
    assert exact_match(["Va!", "Il est  calme."], ["va !", "il est triste."]) == 0.5


def test_alignment_error_rate_by_hand():
    gold = [{(0, 0), (1, 2)}, {(0, 0)}]
    assert alignment_error_rate(gold, gold) == 0
    assert alignment_error_rate([{(0, 0), (1, 1)}, {(0, 0)}], gold) == pytest.approx(1 - 2 * 2 / 6)
    assert alignment_error_rate([{(5, 5)}, set()], gold) == 1


def test_perplexity_of_a_uniform_guess_is_the_number_of_choices():
    assert perplexity(math.log(7)) == pytest.approx(7)


def test_one_string_is_no_list_of_sentences():
    for score in (corpus_bleu, exact_match, translation_scores):
        with (
            unchecked(),
            pytest.raises(TypeError, match=r"hypotheses is one string, .* \['the cat'\]"),
        ):
            score("the cat", "the cat")
        with (
            unchecked(),
            pytest.raises(TypeError, match=r"references is one string, .* \['the cat'\]"),
        ):
            score(["the cat"], "the cat")


def test_the_ceiling_is_below_100_where_white_space_has_to_be_guessed():
    plain = ["The cat sat on the mat at 10:30.", 'He said: "come here"!']
    words, pieces = Vocabulary(["the"], "en"), ByteSubwords.build(plain, "en", 300)
    assert ceiling(plain, words) == pytest.approx(100)
    guessed = [*plain, "It costs 3.50€ in a R&B shop."]
    assert ceiling(guessed, words) < 99
    assert ceiling(guessed, pieces) == pytest.approx(100)


def test_equal_sentences_score_100_in_every_script_and_the_signature_says_how():
    same = ["我在家。", "猫喜欢鱼，也喜欢牛奶。", "他明天来北京看我们。"]
    for language, words in {"zh": "tok:zh", "ja": "tok:char", "th": "tok:char"}.items():
        score, signature = corpus_bleu(same, same, language)
        assert score == pytest.approx(100)
        assert words in signature or "tok:ja-mecab" in signature
    assert corpus_bleu(same, same).score < 100  # 13a sees one word a sentence
    assert chrf(same, same).score == pytest.approx(100)


def test_a_wrong_capital_counts_where_capitals_are_kept():
    ours, theirs = ["der mann sieht das haus ."], ["Der Mann sieht das Haus ."]
    lowered, kept = (translation_scores(ours, theirs, "de", lower) for lower in (True, False))
    assert lowered["bleu"] == pytest.approx(100)
    assert lowered["exact_match"] == 1
    assert kept["bleu"] == pytest.approx(sacrebleu.corpus_bleu(ours, [theirs]).score)
    assert kept["chrf"] == pytest.approx(sacrebleu.corpus_chrf(ours, [theirs]).score)
    assert kept["exact_match"] == 0
    assert "case:mixed" in kept["signature"]
    assert "case:lc" in lowered["signature"]


def test_unequal_or_empty_lists_are_refused():
    with pytest.raises(ValueError, match="2 hypotheses for 1 references"):
        corpus_bleu(["a", "b"], ["a"])
    with pytest.raises(ValueError, match="nothing to score"):
        exact_match([], [])
    with pytest.raises(ValueError, match="no links"):
        alignment_error_rate([set()], [set()])


def test_the_paired_bootstrap_agrees_with_one_by_hand():
    draw = random.Random(0)
    words = [
        "le",
        "chat",
        "noir",
        "dort",
        "sur",
        "un",
        "petit",
        "tapis",
        "rouge",
        "devant",
        "la",
        "grande",
        "maison",
    ]
    references = [" ".join(draw.choices(words, k=8)) for _ in range(60)]

    def worse(share):
        return [
            " ".join(w if draw.random() > share else "?" for w in r.split()) for r in references
        ]

    ours, theirs = worse(0.30), worse(0.33)
    score = lambda hyps, rows: corpus_bleu([hyps[i] for i in rows], [references[i] for i in rows])[
        0
    ]
    every = range(60)
    lead = score(ours, every) - score(theirs, every)
    drawn = [draw.choices(every, k=60) for _ in range(1000)]
    gaps = [score(ours, rows) - score(theirs, rows) for rows in drawn]
    by_hand = sum(abs(g - lead) >= abs(lead) for g in gaps) / len(gaps)
    assert 0.1 < by_hand < 0.9
    assert paired_bootstrap(ours, theirs, references) == pytest.approx(by_hand, abs=0.06)
    assert paired_bootstrap(theirs, ours, references) == paired_bootstrap(ours, theirs, references)


def test_the_paired_bootstrap_counts_both_sides():
    # One sentence of a hundred decides: it is drawn k times, and k is Poisson to a percent. The lead
    # is as good as proportional to k, so that p is that of k = 0 or k >= 2: 1/e + (1 - 2/e).
    references = [f"The cat number {i} sleeps on the red carpet." for i in range(100)]
    slips = ["The cat number 0 slept", *references[1:]]
    assert paired_bootstrap(references, slips, references) == pytest.approx(0.63, abs=0.05)


def test_the_paired_bootstrap_knows_what_is_clear_and_what_is_not():
    references = [f"The cat number {i} sleeps on the red carpet." for i in range(80)]
    slips = [r if i % 4 else "No." for i, r in enumerate(references)]
    assert paired_bootstrap(references, slips, references) < 0.01
    assert paired_bootstrap(slips, slips, references) == 1
    same_score = [slip.replace("No.", "NO.") for slip in slips]
    assert paired_bootstrap(slips, same_score, references) == 1
    one = ["No.", *slips[1:3], "No.", *slips[4:]]
    assert paired_bootstrap(one, slips, references) > 0.05
    with pytest.raises(ValueError, match="79 hypotheses for 80 references"):
        paired_bootstrap(slips, slips[1:], references)
