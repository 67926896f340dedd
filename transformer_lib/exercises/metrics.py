"""Judging a translation, and the heads that made it. Lesson 15."""

import math
import statistics
from collections import Counter
from itertools import combinations, pairwise

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _translations():
    def words(*sentences):
        return tuple(sentence.split() for sentence in sentences)

    return [
        words("le le chat dort", "le chat ne dort pas"),
        words("suis je moi chez .", "je suis chez moi ."),  # all the words, and not one pair
        words("elle dort ici", "il mange là"),
        words("il est très très calme .", "il est calme ."),
        words("le chat le chat", "le chat dort le soir"),
        words("il dort et il dort", "il dort , il dort ici"),
        words("le chat", "le chat et le chien"),
        words("il sont venus", "ils ont venus"),  # no pair, unless a pair is written as one word
        words("il dort ici", "il dort ici ."),  # shorter, and else all right
    ]


bleu = Exercise(
    sections=("15 From sentence to score",),
    task="BLEU with words and pairs of neighbours, for one candidate and one reference, lists of two words "
    "or more. A precision is how many of the candidate's words (or pairs) the reference has too, each "
    "counted at most as often as the reference has it, divided by the number of the candidate's. BLEU is "
    "the root of the product of the two precisions, times the brevity penalty min(1, e^(1 − r/c)) with c "
    "words in the candidate and r in the reference. Return it as a number from 0 to 1; it is 0 where a "
    "precision is 0. Leave both lists as they are.",
    cases=_translations,
    hints=(
        "A candidate that says one good word again and again must not profit from it. So we need to know "
        "how often each word stands in a list: `Counter(candidate)` counts that, and "
        "`Counter(candidate) & Counter(reference)` keeps the smaller count of each word. `.total()` adds "
        "the counts up.",
        "Words alone say nothing about their order, so the same is done for pairs of neighbours. "
        "`pairwise(words)` gives them (and so does `zip(words, words[1:])`); c words make c − 1 pairs. A "
        "pair is a tuple, which a Counter counts like a word.",
        "The root of the product, `math.sqrt`, is 0 by itself where one precision is 0. The brevity penalty "
        "takes something from a candidate that leaves words out, c < r; `min(1.0, …)` sees to it that a "
        "longer one gains nothing.",
    ),
    passed="sacrebleu goes up to four words in a row, and adds up over the whole corpus before it divides. Why "
    "would the mean of the BLEU of single sentences be another number?",
    tolerance=1e-6,
    without=("corpus_bleu", "sentence_bleu", "BLEU", "translation_scores"),
    gaps=(
        "Counter(ours) & Counter(theirs)",
        "len(ours)",
        "pairwise(candidate)",
        "pairwise(reference)",
        "math.sqrt(of_words * of_pairs)",
        "1.0, math.exp(1 - r / c)",
    ),
)


@bleu.solution
def my_bleu(candidate, reference):
    def precision(ours, theirs):
        # `&` keeps the smaller count: nothing counts more often than the reference has it.
        both = Counter(ours) & Counter(theirs)
        # Divided by how many the candidate has.
        return both.total() / len(ours)

    # Words say nothing about their order, pairs of neighbours do: c words make c − 1 pairs.
    pairs, their_pairs = list(pairwise(candidate)), list(pairwise(reference))
    of_words = precision(candidate, reference)
    of_pairs = precision(pairs, their_pairs)
    # The geometric mean of two numbers is the root of their product: 0 if one of them is 0.
    mean = math.sqrt(of_words * of_pairs)
    # A candidate shorter than its reference loses by it, a longer one gains nothing.
    c, r = len(candidate), len(reference)
    penalty = min(1.0, math.exp(1 - r / c))
    return penalty * mean


@bleu.solution
def _(candidate, reference):
    logs = []
    for n in (1, 2):
        ours = [tuple(candidate[i : i + n]) for i in range(len(candidate) - n + 1)]
        theirs = [tuple(reference[i : i + n]) for i in range(len(reference) - n + 1)]
        right = sum(min(ours.count(run), theirs.count(run)) for run in set(ours))
        if not right:
            return 0.0
        logs.append(math.log(right / len(ours)))
    return math.exp(min(0.0, 1 - len(reference) / len(candidate)) + sum(logs) / 2)


bleu.edits("""
both.total() → sum(x in theirs for x in ours)
precision(candidate, reference) → sum(w in reference for w in candidate) / len(candidate)
precision(pairs, their_pairs) → sum(p in their_pairs for p in pairs) / len(pairs)
    Repetition pays in yours: “le le chat” gets two for `le` although the reference has one. A word, and a pair, counts
    at most as often as the reference has it: `Counter & Counter` keeps the smaller count.
both.total() → len(both)
    You count each different word or pair once, however often both have it: that is what a set does, and the `len` of
    a Counter. Count with a `Counter` on both sides: `&` keeps the smaller counts, and they are added up.
both.total() / len(ours) → len(both) / len(set(ours))
    You compare sets, above the line and below it: what stands there twice counts once. A `Counter` keeps how often each
    stands there.
both.total() → sum(min(ours.count(x), theirs.count(x)) for x in ours)
precision(pairs, their_pairs) → sum(min(pairs.count(p), their_pairs.count(p)) for p in pairs) / len(pairs)
    A word or a pair that the candidate has twice comes up twice in your loop, and its count is added each time. Go over
    the different ones, `set(…)`, or add up what `Counter & Counter` keeps.
both.total() → sum(x in ours for x in theirs)
    You go over the reference and count what the candidate has. It is the candidate that is judged, each word at most as
    often as the reference has it.
both.total() → sum(both)
    You take the `sum` of a Counter, which goes over its words, and not over their counts: `.total()`, or
    `sum(both.values())`.
/ len(ours) → / len(set(ours))
    You divide by the number of *different* words or pairs: that is the `len` of a Counter or of a set. Divide by all
    that the candidate has: c words, c − 1 pairs, or `.total()`.
precision(pairs, their_pairs) → precision(*(["".join(p) for p in of] for of in (pairs, their_pairs)))
    You write the two words of a pair as one, without a blank: then “il sont” and “ils ont” are the same pair. Keep the
    two words apart, as a tuple.
precision(pairs, their_pairs) → precision(*([tuple(sorted(p)) for p in of] for of in (pairs, their_pairs)))
    Your pairs have no order: (je, suis) counts as (suis, je). The order of the words is what the pairs are there for,
    so “suis je moi chez .” has none of them right.
precision(pairs, their_pairs) → precision(pairs[::2], their_pairs[::2])
precision(pairs, their_pairs) → precision(pairs[::2], their_pairs[::2]) * len(pairs[::2]) / len(pairs)
    You cut the sentence into pairs, words 0 and 1, words 2 and 3. The pairs overlap: each word but the last begins one,
    `zip(words, words[1:])`.
precision(pairs, their_pairs) → precision(pairs, their_pairs) * len(pairs) / len(candidate)
    You divide the pairs by the number of words. Of c words there are c − 1 pairs.
precision(pairs, their_pairs) → precision([*pairs, candidate[-1]], [*their_pairs, reference[-1]])
    Your last “pair” is a single word: a slice at the end is shorter. Of c words there are c − 1 pairs, and `zip(words,
    words[1:])` makes no other.
list(pairwise(candidate)) → [(candidate[i], candidate[i + 1]) for i in range(len(candidate))]
    You ask for a neighbour of the last word, and it has none. c words make c − 1 pairs: `range(len(candidate) - 1)`.
precision(pairs, their_pairs) → precision(pairs[:-1], their_pairs[:-1])
precision(pairs, their_pairs) → (Counter(pairs[:-1]) & Counter(their_pairs[:-1])).total() / len(pairs)
    Your last pair is missing. c words make c − 1 pairs: the first begins at 0, the last at c − 2, and `range(c - 1)`
    stops there.
Counter(ours) & Counter(theirs) → Counter(ours[:-1]) & Counter(theirs[:-1])
Counter(ours) & Counter(theirs) → Counter(ours[:-1]) & Counter(theirs[:-1]) ; / len(ours) → / max(1, len(ours) - 1)
    In yours the last word and the last pair are missing: in c words the last run of n words begins at c − n, and
    `range(c - n)` stops before it. `range(c - n + 1)`.
both.total() → sum(a == b for a, b in zip(ours, theirs))
    You compare position with position, so one word too many at the beginning makes all the rest wrong. A word or a pair
    counts wherever it stands in the reference.
/ len(ours) → / len(theirs)
precision(candidate, reference) → precision(candidate, reference) * len(candidate) / len(reference)
precision(pairs, their_pairs) → precision(pairs, their_pairs) * len(pairs) / len(their_pairs)
    You divide by the count of the reference: that is recall. A precision is divided by the candidate's.
/ len(ours) → / len(theirs) ; c, r = → r, c =
    In yours candidate and reference are exchanged: it judges the reference by the candidate.
len(candidate), len(reference) → len(candidate.split()), len(reference)
    You call `split`, but both are lists of words already: leave it out.
len(candidate), len(reference) → len(set(candidate)), len(set(reference))
    Your brevity penalty counts the *different* words. It counts all: c and r are the lengths of the lists.
math.sqrt(of_words * of_pairs) → of_words
math.sqrt(of_words * of_pairs) → math.sqrt(of_words)
    Yours has the words alone: the precision of the pairs is missing. It is what notices the order.
math.sqrt(of_words * of_pairs) → of_pairs
math.sqrt(of_words * of_pairs) → math.sqrt(of_pairs)
    Yours has the pairs alone: the precision of the single words is missing.
math.sqrt(of_words * of_pairs) → precision([*candidate, *pairs], [*reference, *their_pairs])
    You throw words and pairs into one count. Each has a precision of its own; BLEU takes the root of their product.
math.sqrt(of_words * of_pairs) → (of_words + of_pairs) / 2
math.sqrt(of_words * of_pairs) → (of_words + of_pairs) / 2 * (of_pairs > 0)
    You took the arithmetic mean of the precisions, the sum divided by 2. BLEU takes the geometric one, the root of the
    product.
math.sqrt(of_words * of_pairs) → 2 * of_words * of_pairs / (of_words + of_pairs or 1)
    You took the harmonic mean of the precisions, 2ab/(a + b). BLEU takes the geometric one, the root of the product.
math.sqrt(of_words * of_pairs) → (of_words * of_pairs) ** 0.25
    You take the fourth root, as the whole BLEU does with its four lengths. Here there are two: the square root.
penalty * mean → min(penalty, mean)
    You take the smaller one of penalty and mean. BLEU is their product.
penalty * mean → (penalty, mean)
    You return two things, the penalty and the mean. Return their product.
math.sqrt(of_words * of_pairs) → of_words + of_pairs
math.sqrt(of_words * of_pairs) → math.sqrt(of_words + of_pairs)
    You add the precisions. BLEU takes the root of their product.
both.total() / len(ours) → (both.total() + 1) / (len(ours) + 1)
both.total() / len(ours) → (both.total() + 1) / len(ours)
precision(pairs, their_pairs) → ((Counter(pairs) & Counter(their_pairs)).total() + 1) / (len(pairs) + 1)
precision(pairs, their_pairs) → ((Counter(pairs) & Counter(their_pairs)).total() + 1) / len(pairs)
    You add 1 to the counts, as smoothed BLEU does; here a precision of 0 makes 0. Leave the counts as they are.
both.total() / len(ours) → max(both.total(), 0.1) / len(ours)
both.total() / len(ours) → max(both.total(), 1e-9) / len(ours)
both.total() / len(ours) → (both.total() or 0.5) / len(ours)
    You put a small number in place of a count of 0, as smoothed BLEU does. Here a precision of 0 makes 0.
math.sqrt(of_words * of_pairs) → math.sqrt(of_words) * of_pairs
    Only one of the two precisions is under your root. It is the root of their product.
math.sqrt(of_words * of_pairs) → of_words * of_pairs
    You multiplied the precisions (or added their logarithms, which is the same). The geometric mean of two is the root
    of the product: e to half the sum of the logarithms.
math.sqrt(of_words * of_pairs) → of_words**0.5 * of_pairs**0.25
    The pairs count less than the words in yours, as in d2l (lesson 05). Here both are under one root.
* mean → * math.exp(math.log(mean))
    Yours fails where a precision is 0: you take its logarithm, and 0 has none. BLEU is 0 there, so return 0.0 before
    you take logarithms.
* mean → + mean
    You add the brevity penalty. It is a factor, from 0 to 1: multiply by it.
return penalty → return 100 * penalty
    You return a number from 0 to 100, as sacrebleu does. Here it is from 0 to 1.
min(1.0, math.exp(1 - r / c)) → 1.0
    In yours short candidates get too much: the brevity penalty is missing.
min(1.0, math.exp(1 - r / c)) → min(1.0, math.exp(1 - r / c)) ** 2
    In yours the brevity penalty counts twice, perhaps once for the words and once for the pairs. It belongs to the
    whole.
min(1.0, math.exp(1 - r / c)) → math.sqrt(min(1.0, math.exp(1 - r / c)))
    In yours the brevity penalty is under the root. It belongs outside: penalty times the root of the product.
min(1.0, math.exp(1 - r / c)) → math.exp(1 - r / c)
    Yours rewards a candidate that is longer than its reference: the brevity penalty is at most 1.
min(1.0, math.exp(1 - r / c)) → max(1.0, math.exp(1 - r / c))
    In yours short candidates lose nothing and long ones gain: e^(1 − r/c) belongs to those with c < r, and 1 to the
    others. `min` does both.
1 - r / c → 1 - c / r
1 - r / c → r / c - 1
    Your brevity penalty is the wrong way round: long candidates lose and short ones do not. The exponent is 1 − r/c,
    with r of the reference and c of the candidate.
min(1.0, math.exp(1 - r / c)) → math.exp(1 - c / r)
min(1.0, math.exp(1 - r / c)) → max(1.0, math.exp(1 - c / r))
min(1.0, math.exp(1 - r / c)) → max(1.0, math.exp(r / c - 1))
    Your exponent is the wrong way round, so a short candidate gains by it. It is 1 − r/c, with r of the reference and
    c of the candidate.
math.exp(1 - r / c) → math.exp((1 - r) / c)
math.exp(1 - r / c) → math.exp(1 - r) / c
math.exp(1 - r / c) → math.exp(1 - r // c)
    You divide something else than r, or with `//`. In 1 − r/c it is r alone that is divided by c, and all of it is in
    the exponent.
math.exp(1 - r / c) → c / r
math.exp(1 - r / c) → r / c
    Your penalty is c/r (or r/c) itself. That of a short candidate is e to the power 1 − r/c.
math.exp(1 - r / c) → 1 - r / c
    Your penalty is 1 − r/c itself. The `exp` is missing: it is e to this power.
""")


@bleu.mistake(
    "Yours goes up to runs of four words, as sacrebleu does. Here it is words and pairs alone."
)
def _(candidate, reference):
    product = 1.0
    for n in (1, 2, 3, 4):
        ours = Counter(tuple(candidate[i : i + n]) for i in range(len(candidate) - n + 1))
        theirs = Counter(tuple(reference[i : i + n]) for i in range(len(reference) - n + 1))
        product *= (ours & theirs).total() / ours.total()
    return min(1.0, math.exp(1 - len(reference) / len(candidate))) * product**0.25


@bleu.mistake("Your pairs are any two words. A pair is a word and the one right behind it.")
def _(candidate, reference):
    product = 1.0
    for n in (1, 2):
        ours, theirs = (Counter(combinations(words, n)) for words in (candidate, reference))
        product *= (ours & theirs).total() / ours.total()
    return min(1.0, math.exp(1 - len(reference) / len(candidate))) * math.sqrt(product)


@bleu.mistake(
    "Yours fails where a precision is 0, because `statistics.geometric_mean` refuses a 0. BLEU is 0 "
    "there: `math.sqrt` of the product gives it by itself."
)
def _(candidate, reference):
    precisions = []
    for runs in (lambda words: words, lambda words: list(pairwise(words))):
        ours, theirs = Counter(runs(candidate)), Counter(runs(reference))
        precisions.append((ours & theirs).total() / ours.total())
    penalty = min(1.0, math.exp(1 - len(reference) / len(candidate)))
    return penalty * statistics.geometric_mean(precisions)


@bleu.mistake(
    "You take words out of `reference` while you count them, and then look for the pairs in what is "
    "left. The list that you were given is changed, too. Work on a copy, `list(reference)`."
)
def _(candidate, reference):
    def precision(ours, left):
        right = 0
        for run in ours:
            if run in left:
                left.remove(run)
                right += 1
        return right / len(ours)

    c, r = len(candidate), len(reference)
    of_words = precision(candidate, reference)
    of_pairs = precision(list(pairwise(candidate)), list(pairwise(reference)))
    return min(1.0, math.exp(1 - r / c)) * math.sqrt(of_words * of_pairs)


bleu_for_one = Exercise(
    sections=("15 From sentence to score",),
    task="The precision of words alone: how many words of the candidate the reference has too, each counted at "
    "most as often as the reference has it, divided by the number of the candidate's words. Both are lists "
    "of words. Return a number from 0 to 1.",
    cases=_translations,
    hints=(
        "In “le le chat dort” the reference “le chat ne dort pas” has `le`, `chat` and `dort`, but it has "
        "`le` only once: 3 of 4. So one has to know how often each word stands in each list.",
        "`Counter(candidate) & Counter(reference)` keeps the smaller count of each word, and `.total()` "
        "adds up what is left. Divide it by `len(candidate)`.",
    ),
    passed="For pairs of neighbours it is the same once more, with `pairwise(words)` in place of the words.",
    gaps=("Counter(candidate) & Counter(reference)", "len(candidate)"),
)


@bleu_for_one.solution
def my_bleu_for_one(candidate, reference):
    # `&` keeps the smaller count of each word: none counts more often than the reference has it.
    both = Counter(candidate) & Counter(reference)
    # `total` adds up the counts; a precision is divided by what the candidate has.
    return both.total() / len(candidate)


@bleu_for_one.solution
def _(candidate, reference):
    left, right = list(reference), 0
    for word in candidate:
        if word in left:
            left.remove(word)
            right += 1
    return right / len(candidate)


bleu_for_one.edits("""
both.total() → sum(word in reference for word in candidate)
    Repetition pays in yours: “le le chat” gets two for `le` although the reference has one. A word counts at most as
    often as the reference has it: `Counter & Counter` keeps the smaller count.
both.total() → len(both)
    You count each different word once, however often both have it: that is what a set does, and the `len` of a
    Counter. Count with a `Counter` on both sides: `&` keeps the smaller counts, and they are added up.
both.total() / len(candidate) → len(both) / len(set(candidate))
    You compare sets: what stands there twice counts once. A `Counter` keeps how often each word stands there.
both.total() → sum(min(candidate.count(x), reference.count(x)) for x in candidate)
    A word that the candidate has twice comes up twice in your loop, and its count is added each time. Go over the
    different ones, `set(…)`, or add up what `Counter & Counter` keeps.
both.total() → sum(x in candidate for x in reference)
    You go over the reference and count what the candidate has. It is the candidate's words that are judged, each at
    most as often as the reference has it.
both.total() → sum(both)
    You take the `sum` of a Counter, which goes over its words, and not over their counts: `.total()`, or
    `sum(both.values())`.
both.total() / len(candidate) → both
    You return the Counter of what both have. Add up its counts, and divide by how many words there are.
/ len(candidate) → / len(set(candidate))
    You divide by the number of *different* words. Divide by all of them: `len(candidate)`.
/ len(candidate) → / len(reference)
    You divide by the length of the reference: that is recall. A precision is divided by the candidate's.
both.total() → sum(a == b for a, b in zip(candidate, reference))
    You compare position with position. A word counts wherever it stands in the reference.
both.total() / len(candidate) → both.total()
    You return how many words are right. Divide by how many there are: `len(candidate)`.
both.total() / len(candidate) → (both.total() + 1) / (len(candidate) + 1)
both.total() / len(candidate) → (both.total() + 1) / len(candidate)
    You add 1 to the count, as smoothed BLEU does. Leave it as it is: where no word is right, the precision is 0.
Counter(candidate) & Counter(reference) → Counter(candidate[:-1]) & Counter(reference[:-1])
    In yours the last word is missing: `range(len(…) - 1)` and `[:-1]` stop before it.
len(candidate) → len(candidate.split())
    You call `split`, but both are lists of words already: leave it out.
both.total() / len(candidate) → 100 * both.total() / len(candidate)
    Yours is in percent. Here it is a number from 0 to 1.
""")


def _heads():
    torch.manual_seed(9)
    paper = torch.tensor(
        [
            [[0.0, 0.9, 0.1, 0.0], [0.8, 0.0, 0.1, 0.1], [0.0, 0.0, 0.3, 0.7]],
            [[0.2, 0.6, 0.1, 0.1], [0.2, 0.1, 0.4, 0.3], [0.3, 0.4, 0.1, 0.2]],
        ]
    )
    cases = [(paper, {(1, 0), (2, 1), (3, 1)})]  # target 1 has two links, target 2 has none
    # The first head has more weight on the gold links, the second is right.
    loud = [[[0.9, 0.1, 0.0], [0.6, 0.4, 0.0]], [[0.5, 0.25, 0.25], [0.25, 0.45, 0.3]]]
    cases.append((torch.tensor(loud), {(0, 0), (1, 1)}))
    # The strongest source of each target, head by head; which of them are sure of it; the gold links.
    for strongest, width, sure, gold in (
        ([[2, 0]], 3, 0, {(2, 0), (1, 1)}),
        ([[1, 1, 2], [0, 2, 1], [2, 2, 0]], 3, 2, {(0, 0), (2, 1), (1, 0)}),
        ([[0, 1, 1, 0], [1, 0, 1, 1], [0, 0, 1, 0]], 2, 0, {(0, 1), (1, 2), (1, 3)}),
        ([[0, 1, 2, 4], [3, 0, 4, 2]], 5, 1, {(0, 0), (2, 2), (3, 2), (0, 3)}),
    ):
        strongest = torch.tensor(strongest)
        weights = 0.2 * torch.rand(*strongest.shape, width)
        weights.scatter_add_(2, strongest[..., None], 0.25 + torch.zeros(*strongest.shape, 1))
        weights[sure].scatter_add_(1, strongest[sure][:, None], torch.ones(strongest.size(1), 1))
        cases.append((weights / weights.sum(dim=-1, keepdim=True), gold))
    return cases


aligning_head = Exercise(
    sections=("15 Where does it look?",),
    task="Which head aligns best? Weights (heads, target, source) and a set of gold links (source, target). In "
    "each head, link each target word that has a gold link with the source word of its largest weight; "
    "target words without a gold link are left out. A hit is a link that is a gold link too, and the error "
    "rate of a head is 1 − 2 · hits / (links + gold links). Return two things: the number of the head with "
    "the lowest rate, counted from 0, and that rate.",
    cases=_heads,
    hints=(
        "One head after the other: a row of its weights belongs to one target word, so which source word has "
        "the largest weight there? `head.argmax(dim=1)` says it for all rows at once, as positions, and "
        "`.tolist()` makes Python integers of them, as the gold links have them.",
        "Collect the links as a set of pairs (source, target), as the gold links are one; `enumerate` counts "
        "the target words. Leave out a target word that is in no gold link. Then "
        "`len(links & gold)` is the number of hits, and the error rate follows from three lengths.",
        "With all rates in a list, `min(rates)` is the lowest, and `rates.index(...)` says whose it is.",
    ),
    passed="Choose the head on validation sentences, then report it on test sentences.",
    without=("alignment_error_rate",),
    gaps=(
        "{target for _, target in gold}",
        "head.argmax(dim=1).tolist()",
        "links & gold",
        "2 * hits / (len(links) + len(gold))",
        "rates.index(min(rates))",
    ),
)


@aligning_head.solution
def my_aligning_head(weights, gold):
    # The target words that have a gold link; about the others nobody can be right.
    linked = {target for _, target in gold}
    rates = []
    for head in weights:  # (target, source)
        # The source word with the largest weight, for each target word: a list of integers.
        strongest = head.argmax(dim=1).tolist()
        links = {(source, target) for target, source in enumerate(strongest) if target in linked}
        hits = len(links & gold)
        rates.append(1 - 2 * hits / (len(links) + len(gold)))
    # A low error rate is a good one.
    best = rates.index(min(rates))
    return best, rates[best]


@aligning_head.solution
def _(weights, gold):
    def rate(head):
        links = [(int(weights[head, j].argmax()), j) for j in sorted({j for _, j in gold})]
        return 1 - 2 * sum(link in gold for link in links) / (len(links) + len(gold))

    best = min(range(len(weights)), key=rate)
    return best, rate(best)


aligning_head.edits("""
if target in linked →
    The target words without a gold link count in yours. Nobody can be right there, so leave them out.
if target in linked → if source in {s for s, _ in gold}
    You keep the links whose *source* word has a gold link. It is the target words without one that are left out.
target for _, target in gold → source for source, _ in gold
    Your set of linked target words holds source words: in a gold link, (source, target), you take the first of the
    two.
if target in linked → if (source, target) in gold
    You keep only the links that are right, so that a wrong one costs nothing. All links of target words that have a
    gold link count.
len(links & gold) → sum((strongest[t], t) in gold for _, t in gold)
len(links & gold) → sum((strongest[t], t) in gold for _, t in gold) ; len(links) + len → len(gold) + len
    You go through the gold links, so a hit of a target word with two of them counts twice. Each target word has one
    link: go through the target words.
len(links & gold) → sum(float(head[target, source]) for source, target in gold)
    You add up the weights on the gold links as your hits. A link is a hit or not, 1 or 0, however large its weight is.
links = {( → links = [( ; if target in linked} → if target in linked]
    Your links are a list, and a list has no `&`. Collect them in a set: `{…}`, or `set(links)`.
{(source, target) for → {(target, source) for
{(source, target) for → {(target, source) for ; if target in linked →
{(source, target) for → {(target, source) for ; target for _, target in gold → source for source, _ in gold
    Your links are (target, source), the gold ones (source, target): they hardly ever meet.
.tolist() →
    None of your links is ever among the gold links, so every rate is 1. A gold link has two integers: `argmax` gives
    the positions (`max` gives the weights), and `.tolist()` or `int` makes integers of a tensor. A target word with a
    gold link is the second of such a pair.
dim=1 → dim=0
dim=1 → dim=0 ; for target, source in enumerate → for source, target in enumerate
    Your `argmax` runs over the target words: it names a target word for each source word. In a head, (target, source),
    the source words are the last axis.
for target, source in enumerate(strongest) → for target, source in enumerate(strongest, start=1)
{(source, target) for → {(source, target + 1) for
{(source, target) for → {(source + 1, target) for
    You count the words of one side from 1. The gold links count both sides from 0.
for target, source in enumerate(strongest) if → for target, source in (head > 0.5).nonzero().tolist() if
    You link wherever the weight is above ½. Each target word has one link, with its strongest source word, however
    small that weight is.
for head in weights: → for head in [weights.mean(dim=0)]:
    You average the heads. Each is to be judged by itself.
1 - 2 * hits / (len(links) + len(gold)) → 1 - hits / len(links)
    Your rate is the part of the links that is wrong: 1 less precision. It ignores the gold links that were never
    found.
1 - 2 * hits / (len(links) + len(gold)) → 1 - hits / len(gold)
    Your rate is 1 less recall, as if there were as many links as gold links. If you go through the gold links, a
    target word with two of them is linked twice: each target word is linked once.
1 - 2 * hits / → 1 - hits /
    In yours a hit counts once. It should count twice, since it is among the links and among the gold links: 2 · hits.
1 - 2 * hits / (len(links) + len(gold)) → hits ; min(rates) → max(rates)
1 - 2 * hits / (len(links) + len(gold)) → hits
    Your rate is the number of hits. The error rate compares them with the number of links and of gold links.
1 - 2 * hits / (len(links) + len(gold)) → len(links) + len(gold) - 2 * hits
    Yours is how many links are wrong or were not found. A rate is divided by links + gold links.
1 - 2 * hits / (len(links) + len(gold)) → hits / len(links) ; min(rates) → max(rates)
1 - 2 * hits / (len(links) + len(gold)) → hits / len(links)
    Yours is the precision, hits / links. The error rate counts the gold links too.
1 - 2 * hits / (len(links) + len(gold)) → hits / len(gold) ; min(rates) → max(rates)
1 - 2 * hits / (len(links) + len(gold)) → hits / len(gold)
    Yours is the recall, hits / gold links. The error rate counts the links that were made too.
1 - 2 * hits / (len(links) + len(gold)) → 1 - hits / len(links | gold)
    You divide by the union, which counts each hit once. The error rate divides by the sum, links + gold links, and
    counts the hits twice above.
(len(links) + len(gold)) → len(links) + len(gold)
    In yours brackets are missing, and only the first length divides. Links and gold links are added first.
1 - 2 * hits / → 2 * hits / ; min(rates) → max(rates)
1 - 2 * hits / → 2 * hits /
    Yours says how much is right. The error rate is 1 less that.
min(rates) → max(rates)
    You take the worst head: a low error rate is good.
rates.index(min(rates)) → int(weights.amax(dim=2).mean(dim=1).argmax())
    You choose the head that is surest of itself. It need not be right: compare the rates.
rates.index(min(rates)) → int(sum(weights[:, target, source] for source, target in gold).argmax())
    You choose the head that puts the most weight on the gold links. Choose the one with the lowest error rate: a link
    counts as made or not, however large its weight is.
rates.index(min(rates)) → 0
    Yours is always the first head. Does a `return` stand in the loop, or is the lowest rate never looked for?
return best, rates[best] → return best, sum(rates) / len(rates)
    Your rate is the mean over all heads. Return that of the best head.
return best, rates[best] → return best
    You return the head alone. Return two things: the head, then its rate.
return best, rates[best] → return rates[best]
    You return the rate alone. Return two things: the head, then its rate.
return best, rates[best] → return rates[best], best
    You return the two in the other order. The head should come first, then its rate.
return best, rates[best] → return best + 1, rates[best]
    You count the heads from 1. The first has the number 0.
return best, rates[best] → return rates
return best, rates[best] → return best, rates
    You return the rates of all heads. Return the number of the best one and its own rate.
""")


@aligning_head.mistake(
    "A dictionary keeps one gold link for each target word, and a target word may have two. The gold "
    "links are a set: ask whether a pair is in it, and count all of them, `len(gold)`."
)
def _(weights, gold):
    of_target = {target: source for source, target in sorted(gold)}
    rates = []
    for head in weights:
        strongest = head.argmax(dim=1).tolist()
        hits = sum(strongest[target] == source for target, source in of_target.items())
        rates.append(1 - 2 * hits / (2 * len(of_target)))
    return rates.index(min(rates)), min(rates)


@aligning_head.mistake(
    "`dict(gold)` keeps one gold link for each source word, and a source word may have two. The gold "
    "links are a set: ask whether a pair is in it, and count all of them, `len(gold)`."
)
def _(weights, gold):
    of_source = dict(sorted(gold))
    rates = []
    for head in weights:
        strongest = head.argmax(dim=1).tolist()
        links = {(source, target) for target, source in enumerate(strongest)}
        hits = len(links & set(of_source.items()))
        rates.append(1 - 2 * hits / (len(of_source) + len(gold)))
    return rates.index(min(rates)), min(rates)


@aligning_head.mistake(
    "You begin with a lowest rate of 0, and no rate is lower, so no head is ever chosen. Begin with "
    "one that every rate is below, `math.inf`, or take `min` of all rates."
)
def _(weights, gold):
    best, lowest = 0, 0.0
    for number, head in enumerate(weights):
        strongest = head.argmax(dim=1).tolist()
        linked = {target for _, target in gold}
        links = {(source, target) for target, source in enumerate(strongest) if target in linked}
        rate = 1 - 2 * len(links & gold) / (len(links) + len(gold))
        if rate < lowest:
            best, lowest = number, rate
    return best, lowest
