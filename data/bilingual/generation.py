"""The corpus: sentences drawn, filtered, split and written."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bilingual.discourse import Discourse
from bilingual.filters import clumsy, contradicts
from bilingual.nouns import NAMES
from bilingual.reference import TU
from bilingual.spelling import Pair, finish
from bilingual.words import EMPTY, comma, linked, texts
from transformer_lib.corpus import tokenize


class Style(NamedTuple):
    """How often each type of sentence comes, and how much its parts hold."""

    types: dict[str, float]
    rich: float
    depth: int


SHORT = Style({
    "statement": 36, "yes_no": 9, "wh_question": 10, "imperative": 7, "coordination": 7, "because": 4,
    "subordination": 8, "report": 7, "indirect_question": 3, "script": 13, "there_is": 2, "missing": 1.5, "age": 0.6,
    "weather": 0.3, "purpose": 2.5, "together": 2,
}, rich=0.18, depth=1)  # fmt: skip
LONG = Style({
    "statement": 3, "yes_no": 1, "coordination": 4, "because": 2, "subordination": 4, "report": 3,
    "indirect_question": 1, "script": 3, "purpose": 1, "joined": 9,
}, rich=0.55, depth=2)  # fmt: skip
JOINED = LONG._replace(types={"joined": 1})

QUESTIONS = {"yes_no", "wh_question"}
MAX_SHORT, MAX_LONG = 16, 35
JOIN = re.compile(", (and|but) ")  # two whole sentences in one


def sentence(grammar: Discourse, style: Style) -> Pair:
    """One sentence with its final punctuation and, sometimes, a vocative."""
    while True:
        grammar.rich = style.rich
        grammar.you_used, grammar.open_reference = False, True
        vocative, grammar.you = grammar.vocative() if grammar.chance(0.2) else (EMPTY, TU)
        kind = grammar.weighted(style.types)
        frag = getattr(grammar, kind)(style.depth)
        if contradicts(texts(frag)):
            continue
        if vocative.en:
            if not grammar.you_used or set(texts(vocative)) & set(texts(frag)) & set(NAMES):
                continue
            first = grammar.chance(0.5)
            frag = vocative + comma() + frag if first else frag + comma() + vocative
        mark = "?" if kind in QUESTIONS else "."
        if kind == "imperative" and grammar.chance(0.3):
            mark = "!"
        pair = finish(frag + linked(mark, mark))
        if not clumsy(pair):
            return pair


def draw(
    grammar: Discourse, count: int, seen: set[str], keep: Callable[[Pair, int], bool], style: Style
) -> list[Pair]:
    """`count` new pairs that pass the test, which sees the pair and its English length."""
    pairs: list[Pair] = []
    while len(pairs) < count:
        pair = sentence(grammar, style)
        if pair.en not in seen and keep(pair, english_length(pair)):
            seen.add(pair.en)
            pairs.append(pair)
    return pairs


def generate(seed: int = 2024, train: int = 20000, held_out: int = 1000) -> dict[str, list[Pair]]:
    """The five parts of the corpus, by name.

    Held-out sentences use only words that train has at least twice, and none stands anywhere else,
    with another final mark either.
    """
    grammar = Discourse(random.Random(seed))
    seen: set[str] = set()
    parts = {"train": draw(grammar, train, seen, lambda pair, n: n <= MAX_SHORT, SHORT)}
    known = Counter(word for pair in parts["train"] for word in words_of(pair))

    def apart(pair: Pair) -> bool:
        """New, in words that train knows."""
        return seen.isdisjoint(pair.en[:-1] + mark for mark in ".!?") and all(
            known[word] > 1 for word in words_of(pair)
        )

    def short(pair: Pair, n: int) -> bool:
        return n <= MAX_SHORT and apart(pair)

    def long(pair: Pair, n: int) -> bool:
        return MAX_SHORT < n <= MAX_LONG and not JOIN.search(pair.en) and apart(pair)

    parts["valid"] = draw(grammar, held_out, seen, short, SHORT)
    parts["test"] = draw(grammar, held_out, seen, short, SHORT)
    parts["test_long"] = draw(grammar, held_out, seen, long, LONG)
    lengths = Counter(english_length(pair) for pair in parts["test_long"])

    def joined(pair: Pair, n: int) -> bool:
        """As long as one of test_long that has no counterpart yet."""
        good = lengths[n] > 0 and JOIN.search(pair.en) is not None and apart(pair)
        lengths[n] -= good
        return good

    parts["test_joined"] = draw(grammar, held_out, seen, joined, JOINED)
    return parts


def english_length(pair: Pair) -> int:
    """The number of English tokens."""
    return len(tokenize(pair.en, "en"))


def words_of(pair: Pair) -> list[tuple[str, str]]:
    """The tokens of both sides, each with its language."""
    return [
        (language, token)
        for language, text in (("en", pair.en), ("fr", pair.fr))
        for token in tokenize(text, language)
    ]


def write(directory: Path | str, seed: int = 2024) -> dict[str, list[Pair]]:
    """Generate the corpus and write its files; returns what was written."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    parts = generate(seed)
    for name, pairs in parts.items():
        text = "".join(pair.line() + "\n" for pair in pairs)
        (directory / f"{name}.tsv").write_text(text, encoding="utf-8", newline="\n")
    return parts
