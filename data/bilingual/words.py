"""Words with link keys, and fragments that hold a stretch of English and its French."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

new_key: Callable[[], int] = itertools.count().__next__


@dataclass(frozen=True)
class Word:
    """A token to be; words of the two languages that share a key are linked.

    `before_vowel` is the form taken before a vowel sound (l', cet, mon, bel).  `role` tells articles ("art") and
    the words of an indefinite article that "de" swallows ("part") from clitics spelt alike.
    """

    text: str
    keys: frozenset[int] = frozenset()
    before_vowel: str = ""
    role: str = ""


@dataclass(frozen=True)
class Frag:
    """A stretch of English and the stretch of French that translates it.

    `open` tells that it ends in a relative clause, which would draw a following adverbial to itself.
    """

    en: tuple[Word, ...] = ()
    fr: tuple[Word, ...] = ()
    open: bool = False

    def __add__(self, other: Frag) -> Frag:
        ends_open = other.open if other.en or other.fr else self.open
        return Frag(self.en + other.en, self.fr + other.fr, ends_open)


EMPTY = Frag()

ELIDED = {
    "le": "l'", "la": "l'", "je": "j'", "me": "m'", "te": "t'", "se": "s'", "ne": "n'", "de": "d'", "que": "qu'",
    "puisque": "puisqu'", "ce": "cet", "ma": "mon", "ta": "ton", "sa": "son",
}  # fmt: skip


def en_words(text: str, *keys: int) -> tuple[Word, ...]:
    """English words that all carry the same keys."""
    shared = frozenset(keys)
    return tuple(Word(token, shared) for token in text.split())


def fr_words(text: str, *keys: int, role: str = "") -> tuple[Word, ...]:
    """French words that all carry the same keys and know their form before a vowel."""
    shared = frozenset(keys)
    return tuple(Word(token, shared, ELIDED.get(token, ""), role) for token in text.split())


def linked(en: str, fr: str) -> Frag:
    """Two stretches, every word of the one linked to every word of the other."""
    key = new_key()
    return Frag(en_words(en, key), fr_words(fr, key))


def comma() -> Frag:
    """A comma in both languages."""
    return linked(",", ",")


@cache
def parse_notation(notation: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The two sides of a notation as (word, labels).

    A notation is, for instance, "last/b week/a = la/a semaine/a dernière/b".
    """
    sides = []
    for side in notation.split(" = "):
        parts = (word.partition("/") for word in side.split())
        sides.append(tuple((text, labels) for text, _, labels in parts))
    return tuple(sides)


def phrase(notation: str) -> Frag:
    """A fixed phrase; words of the two sides with a common label are linked.

    For instance "at/a noon/b = à/a midi/b".
    """
    sides = parse_notation(notation)
    keys = {label: new_key() for side in sides for _, labels in side for label in labels}
    en, fr = (
        [
            Word(
                text,
                frozenset(keys[label] for label in labels),
                ELIDED.get(text, "") if french else "",
            )
            for text, labels in side
        ]
        for french, side in enumerate(sides)
    )
    return Frag(tuple(en), tuple(fr))


def texts(frag: Frag) -> list[str]:
    """The English words of a fragment."""
    return [word.text for word in frag.en]
