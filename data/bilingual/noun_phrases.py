"""Noun phrases: a noun with determiner, adjective, owner and relative clause."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from dataclasses import replace

from bilingual.adjectives import ADJECTIVES, Adj
from bilingual.determiners import Determiners, fixed_determiner
from bilingual.french_forms import BEFORE_VOWEL, inflect
from bilingual.nouns import (
    BODY,
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
from bilingual.words import Frag, en_words, fr_words, linked, new_key


class NounPhrases(Determiners, ABC):
    """Draws noun phrases."""

    def __init__(self, rng: random.Random):
        super().__init__(rng)
        self.rich = 0.0

    @abstractmethod
    def relative(self, noun: Noun, ref: Ref, depth: int) -> Frag:
        """A relative clause for a noun.

        It holds a clause, so that only a layer above clauses can draw it.
        """

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
        """A noun with determiner, and perhaps with an adjective and a relative clause.

        A `plain` one has neither of the two.
        """
        if noun.cls in ("city", "country", "language", "sport"):
            return self.named(noun)
        if noun.cls in BODY:
            return self.body_part(noun, near)
        if plural is None:
            plural = self.plural(noun, habit)
        kind = kind or self.determiner_kind(noun, plural, neg, habit)
        ref = Ref(3, plural, noun.fem, human=noun.cls in HUMAN)
        adj = None if plain else self.attributive(noun, kind)
        core = linked(noun.en_plural, noun.fr_plural) if plural else linked(noun.en, noun.fr)
        if adj:
            core = self.attribute(core, adj, ref)
        if kind == "neg" and (noun.cls in ("bread", "drink") or noun.en in MASS):
            kind = "negmass"
        if kind == "gen":
            frag = self.genitive(core, ref, named=noun.cls == "kin")
        else:
            frag = self.determiner(kind, noun.fem, plural, bool(adj and adj.before), near) + core
        may_extend = not plain and depth > 0 and kind in ("the", "a", "all", "thenum")
        if may_extend and self.chance(self.rich) and (ref.human or not adj):
            relative = self.relative(noun, ref, depth - 1)
            frag += replace(relative, open=bool(relative.en))
        return NP(frag, ref, noun.cls, new_key(), noun)

    def plural(self, noun: Noun, habit: bool) -> bool:
        """Whether to put the noun into the plural."""
        if self.countable(noun) and self.chance(1 if habit and noun.en != "newspaper" else 0.3):
            return True
        several_kin = noun.cls == "kin" and noun.en not in UNIQUE
        return noun.en in PAIRS or (several_kin and self.chance(0.08))

    def attributive(self, noun: Noun, kind: str) -> Adj | None:
        """An adjective beside the noun, most often none."""
        options = self.adjectives(noun, kind) if self.chance(0.2 + self.rich / 4) else []
        return self.zipf(options) if options else None

    def countable(self, noun: Noun) -> bool:
        """Whether the noun is freely used in the plural."""
        singular = (
            SINGULAR_ONLY
            | PLACE_CLASSES
            | {"instrument", "kin", "boss", "transit", "bread", "drink"}
        )
        return noun.cls not in singular and noun.en not in MASS

    def named(self, noun: Noun) -> NP:
        """Names of places, languages and sports, with the article that French gives them."""
        ref = Ref(3, noun.en in PLURAL_SPORTS, noun.fem, human=False)
        core = linked(noun.en, noun.fr)
        if noun.cls != "city":
            core = fixed_determiner("generic", ref.fem, ref.plural) + core
        return NP(core, ref, noun.cls, new_key(), noun)

    def body_part(self, noun: Noun, near: Ref | None) -> NP:
        """A part of the subject's body: "her hands", "les mains"."""
        assert near is not None
        if near.person == 2:
            self.you_used = True
        ref = Ref(3, noun.cls in ("hand", "tooth"), noun.fem, human=False)
        key = new_key()
        article = fr_words(article_fr(ref.fem, ref.plural), key, role="art")
        owned = Frag(en_words(near.en("poss"), key), article) + linked(noun.en, noun.fr)
        return NP(owned, ref, noun.cls, key, noun)

    def attribute(self, core: Frag, adj: Adj, ref: Ref) -> Frag:
        """A noun with an adjective before it in English and on its own side in French."""
        key = new_key()
        words = fr_words(inflect(adj.fr, ref.fem, ref.plural), key)
        if adj.fr in BEFORE_VOWEL and not ref.fem and not ref.plural:
            words = (replace(words[0], before_vowel=BEFORE_VOWEL[adj.fr]),)
        french = words + core.fr if adj.before else core.fr + words
        return Frag(en_words(adj.en, key) + core.en, french)

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
