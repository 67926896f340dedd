"""How good a translation is, and how good an alignment. Lessons 05, 06, 15."""

import importlib.util
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import sacrebleu

from transformer_lib.corpus import AnyVocabulary, blankless, no_string

Links = frozenset[tuple[int, int]] | set[tuple[int, int]]


class Score(NamedTuple):
    """A score from 0 to 100, and its signature.

    Without the signature it cannot be compared with another.
    """

    score: float
    signature: str


def corpus_bleu(
    hypotheses: Sequence[str], references: Sequence[str], language: str = "en", lower: bool = True
) -> Score:
    """Corpus BLEU by sacrebleu on text as people write it (Post 2018).

    Each hypothesis has one reference. The words are cut as `language` needs it, by 13a where blanks
    part them; without `lower` a wrong capital is a wrong word.
    """
    metric = sacrebleu.BLEU(lowercase=lower, tokenize=_words_of(language))
    return _score(metric, hypotheses, references)


def chrf(hypotheses: Sequence[str], references: Sequence[str], lower: bool = True) -> Score:
    """chrF by sacrebleu: runs of up to six letters that the two share (Popović 2015).

    It needs no words, and so it suits every script.
    """
    return _score(sacrebleu.CHRF(lowercase=lower), hypotheses, references)


def _words_of(language: str) -> str:
    """The tokenizer of sacrebleu that cuts this language into words, or else into letters."""
    if not blankless(language):
        return "13a"
    if language.startswith("zh"):
        return "zh"
    mecab = all(importlib.util.find_spec(name) for name in ("MeCab", "ipadic"))
    return "ja-mecab" if language.startswith("ja") and mecab else "char"


def ceiling(references: Sequence[str], vocabulary: AnyVocabulary) -> float:
    """What a perfect translation would score: the BLEU of the references, tokenised and back.

    It is below 100 where a vocabulary cannot know how people write (`3.50€`, `R&B`).
    """
    perfect = list(map(vocabulary.rewritten, references))
    return corpus_bleu(perfect, references, vocabulary.language, vocabulary.lower).score


def paired_bootstrap(
    ours: Sequence[str], theirs: Sequence[str], references: Sequence[str], samples: int = 1000
) -> float:
    """p, 0 to 1: how often two equally good systems get BLEUs at least so far apart, by chance.

    Test sets are drawn from the sentences, with replacement, and both systems are scored on each
    (Koehn 2004). The leads so drawn are moved until the real lead lies at 0; p counts those that
    are at least as far from 0 as the real lead is, on either side. Lesson 07. (sacrebleu's own
    paired bootstrap counts one side where a lead is clear, and finds about half.)
    """
    counts = [_counts(hypotheses, references) for hypotheses in (ours, theirs)]
    chosen = np.random.default_rng(12345).integers(len(references), size=(samples, len(references)))
    times = np.stack([np.bincount(draw, minlength=len(references)) for draw in chosen])
    lead = _bleu(counts[0].sum(axis=0)) - _bleu(counts[1].sum(axis=0))
    leads = [_bleu(a) - _bleu(b) for a, b in zip(*(times @ each for each in counts), strict=True)]
    return sum(abs(drawn - lead) >= abs(lead) for drawn in leads) / samples


def _counts(hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """What BLEU counts in each sentence, (sentences, 10): runs found, runs there, both lengths."""
    _same_number(hypotheses, references)
    metric = sacrebleu.BLEU(lowercase=True, effective_order=True)
    scores = [metric.sentence_score(h, [r]) for h, r in zip(hypotheses, references, strict=True)]
    return np.array([[*s.counts, *s.totals, s.sys_len, s.ref_len] for s in scores])


def _bleu(counted: np.ndarray) -> float:
    """BLEU of a corpus in which this was counted."""
    found, there, (said, wanted) = counted[:4], counted[4:8], counted[8:]
    return sacrebleu.BLEU.compute_bleu(
        found.tolist(), there.tolist(), said, wanted, smooth_method="exp"
    ).score


def exact_match(hypotheses: Sequence[str], references: Sequence[str], lower: bool = True) -> float:
    """The share, 0 to 1, of hypotheses equal to their reference but for white space.

    With `lower` capitals do not count either.
    """
    _same_number(hypotheses, references)
    same = [_bare(h, lower) == _bare(r, lower) for h, r in zip(hypotheses, references, strict=True)]
    return sum(same) / len(same)


def translation_scores(
    hypotheses: Sequence[str], references: Sequence[str], language: str = "en", lower: bool = True
) -> dict:
    """Number of pairs, BLEU and chrF with their signatures, and the share of exact matches."""
    bleu = corpus_bleu(hypotheses, references, language, lower)
    letters = chrf(hypotheses, references, lower)
    return {
        "pairs": len(references),
        "bleu": bleu.score,
        "signature": bleu.signature,
        "chrf": letters.score,
        "chrf_signature": letters.signature,
        "exact_match": exact_match(hypotheses, references, lower),
    }


def _score(metric, hypotheses: Sequence[str], references: Sequence[str]) -> Score:
    _same_number(hypotheses, references)
    found = metric.corpus_score(list(hypotheses), [list(references)]).score
    return Score(found, str(metric.get_signature()))


def alignment_error_rate(predicted: Sequence[Links], gold: Sequence[Links]) -> float:
    """1 − 2·|P ∩ G| / (|P| + |G|) over all sentences (Och and Ney 2003).

    It is 0 where every link is right, 1 where none is. The gold links all count as sure.
    """
    _same_number(predicted, gold)
    hits = sum(len(set(p) & set(g)) for p, g in zip(predicted, gold, strict=True))
    links = sum(map(len, predicted)) + sum(map(len, gold))
    if not links:
        raise ValueError("alignment_error_rate of no links at all is undefined")
    return 1 - 2 * hits / links


def _bare(sentence: str, lower: bool) -> str:
    return "".join((sentence.lower() if lower else sentence).split())


def perplexity(loss: float) -> float:
    """e to the mean loss per token in nats.

    The model hesitates as if among so many equally likely tokens.
    """
    return math.exp(loss)


def _same_number(ours: Sequence, theirs: Sequence) -> None:
    no_string(ours, "hypotheses")
    no_string(theirs, "references")
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} hypotheses for {len(theirs)} references")
    if not len(ours):
        raise ValueError("nothing to score: 0 hypotheses for 0 references")
