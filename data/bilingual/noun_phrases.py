"""Noun phrases: a noun with determiner, adjective, owner and relative clause."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import replace

from bilingual.adjectives import ADJECTIVES, Adj
from bilingual.determiners import Determiners
from bilingual.french_forms import BEFORE_VOWEL, inflect
from bilingual.nouns import (
    HUMAN,
    MASS,
    PAIRS,
    PLACE_CLASSES,
    PLURAL_SPORTS,
    SINGULAR_ONLY,
    UNIQUE,
    Noun,
    has_noun,
    pools,
)
from bilingual.reference import NP, Ref, article_fr
from bilingual.words import EMPTY, Frag, en_words, fr_words, linked, new_key


class NounPhrases(Determiners, ABC):
    """Draws noun phrases."""

    def __init__(self, rng: random.Random):
        super().__init__(rng)
        self.rich = 0.0

    @abstractmethod
    def relative(self, noun: Noun, ref: Ref, depth: int) -> Frag:
        """A relative clause for a noun; it holds a clause, so that only a layer above clauses can draw it."""

    def noun(self, classes: tuple[str, ...]) -> Noun:
        """A noun of one of the classes."""
        groups = pools(classes)
        return self.zipf(self.rng.choices(groups, weights=[min(len(g), 5) for g in groups])[0])

    def adjectives(self, noun: Noun, kind: str) -> list[Adj]:
        """The attributive adjectives that suit a noun with this kind of determiner."""
        if noun.cls == "kin":
            return []
        return [
            adj
            for adj in ADJECTIVES
            if has_noun(adj.classes, noun)
            and "predicative" not in adj.traits
            and "mood" not in adj.traits
            and not (adj.fr == "ancien" and kind not in ("my", "gen"))
            and not (adj.fr == "vieux" and noun.cls in ("boss", "school"))
        ]

    def noun_phrase(
        self,
        noun: Noun,
        *,
        kind: str = "",
        plural: bool | None = None,
        neg: bool = False,
        habit: bool = False,
        near: Ref | None = None,
        depth: int = 0,
        plain: bool = False,
    ) -> NP:
        """A noun with determiner and, unless `plain`, perhaps an adjective and a relative clause."""
        if noun.cls in ("city", "country", "language", "sport", "hand", "tooth", "limb"):
            return self.special_noun(noun, near)
        mass = noun.cls in ("bread", "drink") or noun.en in MASS
        if plural is None:
            plural = self.countable(noun) and self.chance(
                1 if habit and noun.en != "newspaper" else 0.3
            )
            plural = plural or noun.en in PAIRS
            plural = plural or (noun.cls == "kin" and noun.en not in UNIQUE and self.chance(0.08))
        kind = kind or self.determiner_kind(noun, plural, neg, habit)
        human = noun.cls in HUMAN
        ref = Ref(3, plural, noun.fem, human=human)
        adj = None
        if (
            not plain
            and self.chance(0.2 + self.rich / 4)
            and (options := self.adjectives(noun, kind))
        ):
            adj = self.zipf(options)
        key = new_key()
        core = Frag(
            en_words(noun.en_plural if plural else noun.en, key),
            fr_words(noun.fr_plural if plural else noun.fr, key),
        )
        if adj:
            core = self.attribute(core, adj, ref)
        if kind == "neg" and mass:
            kind = "negmass"
        if kind == "gen":
            frag = self.genitive(core, ref, named=noun.cls == "kin")
        else:
            frag = self.determiner(kind, noun.fem, plural, bool(adj and adj.before), near) + core
        if (
            not plain
            and depth > 0
            and kind in ("the", "a", "all", "thenum")
            and self.chance(self.rich)
            and (human or not adj)
        ):
            relative = self.relative(noun, ref, depth - 1)
            frag += replace(relative, open=bool(relative.en))
        return NP(frag, ref, noun.cls, new_key(), noun)

    def countable(self, noun: Noun) -> bool:
        """Whether the noun is freely used in the plural."""
        singular = (
            SINGULAR_ONLY
            | PLACE_CLASSES
            | {"instrument", "kin", "boss", "transit", "bread", "drink"}
        )
        return noun.cls not in singular and noun.en not in MASS

    def special_noun(self, noun: Noun, near: Ref | None) -> NP:
        """Names of places, languages and sports, and parts of the body."""
        plural = noun.en in PLURAL_SPORTS or noun.cls in ("hand", "tooth")
        core = linked(noun.en, noun.fr)
        if noun.cls in ("hand", "tooth", "limb"):
            assert near is not None
            key = new_key()
            if near.person == 2:
                self.you_used = True
            article = Frag(
                en_words(near.en("poss"), key),
                fr_words(article_fr(noun.fem, plural), key, role="art"),
            )
            return NP(article + core, Ref(3, plural, noun.fem, human=False), noun.cls, key, noun)
        article = (
            EMPTY
            if noun.cls == "city"
            else self.determiner("generic", noun.fem, plural, False, None)
        )
        return NP(article + core, Ref(3, plural, noun.fem, human=False), noun.cls, new_key(), noun)

    def attribute(self, core: Frag, adj: Adj, ref: Ref) -> Frag:
        """A noun with an adjective before it in English and on its own side in French."""
        key = new_key()
        form = inflect(adj.fr, ref.fem, ref.plural)
        special = (
            BEFORE_VOWEL.get(adj.fr, "") if adj.before and not ref.fem and not ref.plural else ""
        )
        words = fr_words(form, key)
        if special:
            words = (replace(words[0], before_vowel=special),)
        return Frag(
            en_words(adj.en, key) + core.en, words + core.fr if adj.before else core.fr + words
        )

    def genitive(self, core: Frag, ref: Ref, named: bool) -> Frag:
        """Possession by a person: "Paul's car", "la voiture de Paul"."""
        owner = self.name().frag if named or self.chance(0.65) else self.plain_owner()
        key = new_key()
        mark = en_words("'s", key)
        article = fr_words(article_fr(ref.fem, ref.plural), key, role="art")
        return Frag(owner.en + mark + core.en, article + core.fr + fr_words("de", key) + owner.fr)

    def plain_owner(self) -> Frag:
        """A short noun phrase for a possessor."""
        noun = self.noun(("kin", "job", "boss"))
        return self.noun_phrase(
            noun, kind="the" if noun.cls == "job" else "my", plural=False, plain=True
        ).frag
