"""How good a translation is, and how good an alignment. Lessons 05, 06, 15."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import sacrebleu
from sacrebleu.significance import PairedTest

from transformer_lib.corpus import detokenize, no_string, tokenize

Links = frozenset[tuple[int, int]] | set[tuple[int, int]]


class Bleu(NamedTuple):
    """A BLEU score from 0 to 100, and its signature.

    Without the signature it cannot be compared with another.
    """

    score: float
    signature: str


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> Bleu:
    """Corpus BLEU by sacrebleu on text as people write it (Post 2018).

    The tokens are 13a's, lower-cased; each hypothesis has one reference.
    """
    _same_number(hypotheses, references)
    metric = sacrebleu.BLEU(lowercase=True)
    return Bleu(
        metric.corpus_score(list(hypotheses), [list(references)]).score, str(metric.get_signature())
    )


def ceiling(references: Sequence[str], language: str) -> float:
    """What a perfect translation would score: the BLEU of the references, tokenised and back.

    It is below 100 where `detokenize` cannot know how people write (`3.50€`, `R&B`).
    """
    perfect = [detokenize(tokenize(text, language), language) for text in references]
    return corpus_bleu(perfect, references).score


def paired_bootstrap(
    ours: Sequence[str], theirs: Sequence[str], references: Sequence[str], samples: int = 1000
) -> float:
    """How often chance alone would give two systems a BLEU at least so different: p, 0 to 1.

    Test sets are drawn from the sentences, with replacement; both systems are scored on each (Koehn
    2004, by sacrebleu, from its fixed seed).
    """
    _same_number(ours, references)
    _same_number(theirs, references)
    if corpus_bleu(ours, references).score == corpus_bleu(theirs, references).score:
        return 1.0  # sacrebleu counts only what exceeds a difference of 0, and would say 0.001
    test = PairedTest(
        [("ours", list(ours)), ("theirs", list(theirs))],
        {"BLEU": sacrebleu.BLEU(lowercase=True)},
        references=[list(references)],
        test_type="bs",
        n_samples=samples,
    )
    _, scores = test()
    return float(scores["BLEU"][1].p_value)


def exact_match(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """The share, 0 to 1, of hypotheses equal to their reference but for case and white space."""
    _same_number(hypotheses, references)
    same = [_bare(h) == _bare(r) for h, r in zip(hypotheses, references, strict=True)]
    return sum(same) / len(same)


def translation_scores(hypotheses: Sequence[str], references: Sequence[str]) -> dict:
    """Number of pairs, corpus BLEU with its signature, and the share of exact matches."""
    bleu = corpus_bleu(hypotheses, references)
    return {
        "pairs": len(references),
        "bleu": bleu.score,
        "signature": bleu.signature,
        "exact_match": exact_match(hypotheses, references),
    }


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


def _bare(sentence: str) -> str:
    return "".join(sentence.lower().split())


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
