"""Judging a translation, and the heads that made it. Lesson 15."""

import itertools
import math
from collections import Counter

import torch

from transformer_lib.exercises.checking.machinery import Exercise


def _translations():
    def words(*sentences):
        return tuple(sentence.split() for sentence in sentences)

    return [
        words("il est calme .", "il est très calme ."),
        words("le le le chat", "le chat est là"),
        words("le chat le chat", "le chat dort le soir"),
        words("je suis rentré chez moi hier .", "je suis chez moi ."),
        words("elle dort ici", "il mange là"),
    ]


bleu = Exercise(
    task="BLEU with words and pairs of words, for one candidate and one reference (lists of words): "
    "the geometric mean of the two clipped precisions, times the brevity penalty "
    "min(1, e^(1 − r/c)). A number from 0 to 1.",
    cases=_translations,
    hints=(
        "`Counter(candidate) & Counter(reference)` counts each word as often as both have it.",
        "The pairs of a list are `zip(words, words[1:])`. A precision is the matches over all "
        "words (or pairs) of the candidate.",
        "r and c are the numbers of words of reference and candidate. Where a precision is 0, BLEU "
        "is 0.",
    ),
    passed="sacrebleu goes up to four words in a row and counts over the whole corpus first.",
)


def _matches(candidate, reference, n):
    ours, theirs = (Counter(zip(*[s[i:] for i in range(n)])) for s in (candidate, reference))  # noqa: B905
    return sum((ours & theirs).values()), sum(ours.values())


def _bleu(candidate, reference, precisions, mean=math.prod, penalty=None):
    r, c = len(reference), len(candidate)
    short = min(1.0, math.exp(1 - r / c)) if penalty is None else penalty(r, c)
    return short * mean(precisions)


@bleu.solution
def my_bleu(candidate, reference):
    bleu = min(1.0, math.exp(1 - len(reference) / len(candidate)))
    for n in (1, 2):
        ours, theirs = (
            Counter(tuple(s[i : i + n]) for i in range(len(s) - n + 1))
            for s in (candidate, reference)
        )
        bleu *= math.sqrt((ours & theirs).total() / ours.total())
    return bleu


@bleu.solution
def _(candidate, reference):
    precisions = [a / b for a, b in (_matches(candidate, reference, n) for n in (1, 2))]
    if 0 in precisions:
        return 0.0
    r, c = len(reference), len(candidate)
    return math.exp(min(0.0, 1 - r / c) + sum(math.log(p) for p in precisions) / 2)


def _root(precisions):
    return math.sqrt(math.prod(precisions))


def _clipped(candidate, reference):
    return [a / b for a, b in (_matches(candidate, reference, n) for n in (1, 2))]


@bleu.mistake(
    "“le le le chat” gets too much: a word counts only as often as the reference has it. "
    "`Counter & Counter` clips."
)
def _(candidate, reference):
    def precision(ours, theirs):
        return sum(w in theirs for w in ours) / len(ours)

    pairs = [list(itertools.pairwise(s)) for s in (candidate, reference)]
    return _bleu(candidate, reference, [precision(candidate, reference), precision(*pairs)], _root)


@bleu.mistake(
    "You count each word once, however often it stands there: a set forgets that. A `Counter` does "
    "not."
)
def _(candidate, reference):
    precisions = []
    for n in (1, 2):
        ours, theirs = (set(zip(*[s[i:] for i in range(n)])) for s in (candidate, reference))  # noqa: B905
        precisions.append(len(ours & theirs) / (len(candidate) - n + 1))
    return _bleu(candidate, reference, precisions, _root)


@bleu.mistake(
    "You compare sets, of your words and of theirs: repeated ones must count. A `Counter` keeps how "
    "often."
)
def _(candidate, reference):
    precisions = []
    for n in (1, 2):
        ours, theirs = (set(zip(*[s[i:] for i in range(n)])) for s in (candidate, reference))  # noqa: B905
        precisions.append(len(ours & theirs) / len(ours))
    return _bleu(candidate, reference, precisions, _root)


@bleu.mistake(
    "Your last pair is a single word: of c words there are c − 1 pairs. `zip(words, words[1:])` makes "
    "no other."
)
def _(candidate, reference):
    precisions = []
    for n in (1, 2):
        ours, theirs = (
            Counter(tuple(s[i : i + n]) for i in range(len(s))) for s in (candidate, reference)
        )
        precisions.append((ours & theirs).total() / ours.total())
    return _bleu(candidate, reference, precisions, _root)


@bleu.mistake("You return a number from 0 to 100, as sacrebleu does. Here it is from 0 to 1.")
def _(candidate, reference):
    return 100 * _bleu(candidate, reference, _clipped(candidate, reference), _root)


@bleu.mistake("The penalty of a short candidate is not c/r itself: it is e to the power 1 − r/c.")
def _(candidate, reference):
    return _bleu(
        candidate, reference, _clipped(candidate, reference), _root, lambda r, c: min(1.0, c / r)
    )


@bleu.mistake("Short candidates get too much: the brevity penalty is missing.")
def _(candidate, reference):
    return _root(_clipped(candidate, reference))


@bleu.mistake(
    "A candidate longer than its reference is rewarded: the brevity penalty is at most 1."
)
def _(candidate, reference):
    return _bleu(
        candidate,
        reference,
        _clipped(candidate, reference),
        _root,
        lambda r, c: math.exp(1 - r / c),
    )


@bleu.mistake("You divide by the reference's count: that is recall. Divide by the candidate's.")
def _(candidate, reference):
    matched = [_matches(candidate, reference, n)[0] for n in (1, 2)]
    theirs = [len(reference), len(reference) - 1]
    return _bleu(candidate, reference, [a / b for a, b in zip(matched, theirs, strict=True)], _root)


@bleu.mistake("You took the arithmetic mean of the precisions. BLEU takes the root of the product.")
def _(candidate, reference):
    return _bleu(candidate, reference, _clipped(candidate, reference), lambda p: sum(p) / 2)


@bleu.mistake("You multiplied the precisions. Of two numbers, the mean is the root of the product.")
def _(candidate, reference):
    return _bleu(candidate, reference, _clipped(candidate, reference))


@bleu.mistake(
    "The brevity penalty is the wrong way round: short candidates lose, long ones do not."
)
def _(candidate, reference):
    return _bleu(
        candidate,
        reference,
        _clipped(candidate, reference),
        _root,
        lambda r, c: min(1.0, math.exp(1 - c / r)),
    )


def _heads():
    torch.manual_seed(9)
    gold = {(0, 0), (1, 1), (2, 1), (4, 3), (5, 4)}  # target word 2 has no link
    cases = []
    for closest in (1, 2):
        weights = torch.rand(3, 5, 6)
        rows = torch.arange(5)
        weights[closest, rows, torch.tensor([0, 1, 3, 4, 2])] += 1.0
        weights[3 - closest, rows, torch.tensor([1, 0, 2, 2, 0])] += 1.0  # wrong everywhere
        weights[0, :, 4] += 5.0  # sure of itself, and nearly always wrong
        cases.append((weights / weights.sum(dim=-1, keepdim=True), gold))
    # here the best head puts an unlinked target word on a linked source word, and the reverse
    weights = 0.1 * torch.rand(4, 5, 7)
    for head, sources in enumerate(
        ([0, 3, 2, 5, 6], [1, 0, 4, 4, 3], [2, 2, 0, 1, 5], [6, 5, 1, 3, 0])
    ):
        weights[head, torch.arange(5), torch.tensor(sources)] += 1.0
    return [*cases, (weights / weights.sum(dim=-1, keepdim=True), {(0, 0), (2, 1), (2, 3), (6, 4)})]


aligning_head = Exercise(
    task="Weights (heads, target, source) and gold links (source, target): link each target word "
    "to its strongest source word, leave out target words without a gold link, and return the "
    "number of the head with the lowest alignment error rate, and that rate.",
    cases=_heads,
    hints=(
        "`weights[h].argmax(dim=1)` is the strongest source word of each target word.",
        "The error rate is 1 − 2 · hits / (links + gold links).",
        "Count hits with sets: `len(links & gold)`. Return `min(range(heads), key=...)` and its "
        "rate.",
    ),
    passed="Choose the head on validation sentences, then report it on test sentences.",
)


def _error_rate(links, gold):
    return 1 - 2 * len(links & gold) / (len(links) + len(gold))


def _rates(weights, gold, *, counts=lambda i, j, gold: j in {t for _, t in gold}, rate=_error_rate):
    """The rate of every head, from the links (source i, target j) that count."""
    for head in weights.argmax(dim=2).tolist():
        yield rate({(i, j) for j, i in enumerate(head) if counts(i, j, gold)}, gold)


def _lowest(rates):
    rates = list(rates)
    return rates.index(min(rates)), min(rates)


@aligning_head.solution
def my_aligning_head(weights, gold):
    linked = {j for _, j in gold}
    rates = []
    for head in weights:
        links = {(i, j) for j, i in enumerate(head.argmax(dim=1).tolist()) if j in linked}
        rates.append(1 - 2 * len(links & gold) / (len(links) + len(gold)))
    best = min(range(len(rates)), key=rates.__getitem__)
    return best, rates[best]


@aligning_head.solution
def _(weights, gold):
    return _lowest(_rates(weights, gold))


@aligning_head.mistake("You kept the target words without a gold link. Nobody can be right there.")
def _(weights, gold):
    return _lowest(_rates(weights, gold, counts=lambda i, j, gold: True))


@aligning_head.mistake(
    "You kept the links whose source word has a gold link. It is the target words without one that "
    "are left out."
)
def _(weights, gold):
    return _lowest(_rates(weights, gold, counts=lambda i, j, gold: i in {s for s, _ in gold}))


@aligning_head.mistake("This is the worst head: a low error rate is good.")
def _(weights, gold):
    rates = list(_rates(weights, gold))
    return rates.index(max(rates)), max(rates)


@aligning_head.mistake(
    "Your links are (target, source), the gold ones (source, target): they hardly ever meet."
)
def _(weights, gold):
    def turned(links, gold):
        return _error_rate({(j, i) for i, j in links}, gold)

    return _lowest(_rates(weights, gold, rate=turned))


@aligning_head.mistake(
    "This is the share of wrong links among those found. It ignores gold links never found."
)
def _(weights, gold):
    return _lowest(
        _rates(weights, gold, rate=lambda links, gold: 1 - len(links & gold) / len(links))
    )


@aligning_head.mistake(
    "A head that is sure of itself need not be right: compare with the gold links."
)
def _(weights, gold):
    surest = int(weights.amax(dim=2).mean(dim=1).argmax())
    return surest, list(_rates(weights, gold))[surest]


@aligning_head.mistake("That is the head alone. Return the pair: head, rate.")
def _(weights, gold):
    return _lowest(_rates(weights, gold))[0]
