"""From a fragment to a pair of sentences, as people write them.

That takes elision, contraction, a and an, spaces, capitals and links.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bilingual.words import Frag, Word
from transformer_lib.corpus import tokenize


@dataclass(frozen=True)
class Pair:
    """A sentence, its translation, and the links (i, j) between their tokens."""

    en: str
    fr: str
    links: tuple[tuple[int, int], ...]

    def line(self) -> str:
        """The pair as one line of a corpus file."""
        return f"{self.en}\t{self.fr}\t{' '.join(f'{i}-{j}' for i, j in self.links)}"


ASPIRATED = (
    "hibou",
    "harpe",
    "hamster",
    "haut",
    "héros",
    "haricot",
    "huit",
    "hangar",
    "homard",
    "hockey",
)

CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def vowel_sound(word: str, language: str) -> bool:
    """Whether the word calls for "an" (English) or for elision (French)."""
    word = word.lower()
    if language == "en":
        return word.startswith(("hour", "honest")) or (
            word[0] in "aeiou" and not word.startswith(("uni", "use", "eu"))
        )
    if word.startswith("h"):
        return not word.startswith(ASPIRATED)
    return (word[0] in "aeiouàâéèêëîïôùûœ" and not word.startswith(("oui", "onz"))) or word == "y"


def surface_en(words: Sequence[Word]) -> list[Word]:
    """English words with "a" and "an" chosen."""
    out = list(words)
    for i, (word, following) in enumerate(itertools.pairwise(words)):
        if word.text == "a" and vowel_sound(following.text, "en"):
            out[i] = replace(word, text="an")
    return out


def surface_fr(words: Sequence[Word]) -> list[Word]:
    """French words as they are written beside each other.

    "Des" is lost after "de", clitics are hyphenated, then come elision and contraction.
    """
    return contracted(elided(attached(words)))


def attached(words: Sequence[Word]) -> list[Word]:
    """French words where "de" has swallowed "des" and clitics hang on their verb."""
    out: list[Word] = []
    for word in words:
        last = out[-1] if out else Word("")
        if last.text.lower() == "de" and not last.role and word.role == "part":
            out[-1] = replace(last, keys=last.keys | word.keys)
        elif out and word.text.startswith("-"):
            out[-1] = Word(last.text + word.text, last.keys | word.keys, role=last.role)
        else:
            out.append(word)
    return out


def elided(words: list[Word]) -> list[Word]:
    """French words in the forms that stand before a vowel."""
    out = list(words)
    for i, (word, following) in enumerate(itertools.pairwise(words)):
        if word.before_vowel and vowel_sound(following.text, "fr"):
            out[i] = replace(word, text=word.before_vowel)
        elif word.text == "si" and following.text in ("il", "ils"):
            out[i] = replace(word, text="s'")
    return out


def contracted(words: list[Word]) -> list[Word]:
    """French words with "du", "des", "au" and "aux"."""
    out: list[Word] = []
    for word in words:
        form = out and word.role and CONTRACTED.get((out[-1].text, word.text))
        if form:
            out[-1] = replace(out[-1], text=form, keys=out[-1].keys | word.keys)
        else:
            out.append(word)
    return out


def spell(words: Sequence[Word], language: str) -> str:
    """The sentence as people write it."""
    text = ""
    for word in words:
        glued = (
            word.text[0] in "',."
            if language == "en"
            else word.text in (",", ".") or text.endswith("'")
        )
        if language == "en" and word.text in ("?", "!"):
            glued = True
        text += word.text if glued or not text else " " + word.text
    return text[0].upper() + text[1:]


def finish(frag: Frag) -> Pair:
    """The pair of sentences of a complete fragment, with the links read off the keys."""
    en, fr = surface_en(frag.en), surface_fr(frag.fr)
    links = tuple(
        (i, j) for i, e in enumerate(en) for j, f in enumerate(fr) if not e.keys.isdisjoint(f.keys)
    )
    pair = Pair(spell(en, "en"), spell(fr, "fr"), links)
    for text, words, language in ((pair.en, en, "en"), (pair.fr, fr, "fr")):
        if tokenize(text, language) != [word.text.lower() for word in words]:
            raise ValueError(f"tokens and words differ: {text}")
    return pair
