"""Sentences not to keep: clumsy ones, and those whose pronouns contradict the French gender."""

from __future__ import annotations

import re
from collections.abc import Iterable

from bilingual.nouns import NAMES, NOUNS, WOMEN
from bilingual.spelling import Pair

# the same word twice running, a name that owns something in its own sentence, "the doctor's doctor", a word again in a
# relative clause ("open the door that she opened"), "but" twice, "cher à" ("dear to" someone), and "too many" with
# "anymore"
CLUMSY = (
    re.compile(r"\b(?!her|you|nous|vous)(\w+) \1\b", re.I),
    re.compile(r"\b([A-Z]\w+)\b.* \1's "),
    re.compile(r"\b(\w+)'s \1\b"),
    re.compile(
        r"\b(?!they|their|your|this|that|have|will|would)(\w{4,})\w* [^,]*\bthat ([\w']+ ){0,4}\1",
        re.I,
    ),
    re.compile(r"\bbut\b.*\bbut\b"),
    re.compile(r"\bch(er|ère)s? (à|au|aux)\b"),
    re.compile(r"\btoo many\b.*\banymore\b"),
)


def clumsy(pair: Pair) -> bool:
    """Whether either sentence reads badly."""
    return any(pattern.search(text) for text in (pair.en, pair.fr) for pattern in CLUMSY)


# words that English leaves open to either sex, by the gender of their French translation, and words that name a sex
EITHER_SEX = {
    noun.en: noun.fem
    for cls in ("person", "kin", "job", "boss")
    for noun in NOUNS[cls]
    if noun.other
    or noun.en in ("friend", "child", "neighbour", "guest", "tourist", "cousin", "boss")
}

ONE_SEX = (
    {noun.en: noun.fem for cls in ("person", "kin") for noun in NOUNS[cls]}
    | {name: name in WOMEN for name in NAMES}
    | {"he": False, "him": False, "his": False, "she": True, "her": True}
)

PRONOUNS_OF_SEX = ("he", "him", "his", "she", "her")
SUBORDINATORS = ("when", "while", "if", "since", "soon")


def contradicts(words: Iterable[str]) -> bool:
    """Whether a pronoun seems to give a person the other sex than French does.

    In "my guest is in her house" it does: a noun of either sex stands before it and no word of the
    pronoun's own sex; "him" and "her" need that word before the noun, for they skip their own
    subject ("the singer left but Irene phoned her").  Or when a noun of either sex follows a
    subordinate clause with a pronoun that had nobody to refer to: "while she slept, my guest ...".
    """
    named: set[bool] = set()
    implied: set[bool] = set()
    early: dict[bool, set[bool]] = {}
    awaited: set[bool] = set()
    subordinate = False
    for word in words:
        subordinate |= word in SUBORDINATORS
        if word in PRONOUNS_OF_SEX and ONE_SEX[word] not in named | implied:
            if implied:
                return True
            if subordinate:
                awaited.add(ONE_SEX[word])
        if word in ("him", "her") and ONE_SEX[word] not in early.get(
            not ONE_SEX[word], {ONE_SEX[word]}
        ):
            return True
        if word in EITHER_SEX:
            if awaited - {EITHER_SEX[word]}:
                return True
            early.setdefault(EITHER_SEX[word], named | implied)
            implied.add(EITHER_SEX[word])
        elif word in ONE_SEX:
            named.add(ONE_SEX[word])
    return False
