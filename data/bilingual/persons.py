"""Persons named or referred to: pronouns, names, owners."""

from __future__ import annotations

import random

from bilingual.chance import Chance
from bilingual.nouns import FRENCH_NAMES, NAMES, WOMEN
from bilingual.reference import HE, ME, NP, SHE, THEY, TU, WE, Ref, pronoun
from bilingual.words import linked


class Persons(Chance):
    """Draws persons; what a sentence has said of them so far is its state."""

    def __init__(self, rng: random.Random):
        super().__init__(rng)
        self.you = TU
        self.you_used = False
        self.open_reference = True

    def address(self) -> Ref:
        """The addressee of the sentence, noted as mentioned."""
        self.you_used = True
        return self.you

    def person_pronoun(self, avoid: Ref | None = None) -> NP:
        """A pronoun for a person, never of the grammatical person of `avoid`.

        Unless that is the third: "he" may see "her".
        """
        table = {
            "I": 8,
            "you": 7,
            "he": 6,
            "she": 6,
            "we": 4,
            "they": 3 if self.open_reference else 0,
        }
        if avoid is not None and avoid.person < 3:
            for name in ("I", "we") if avoid.person == 1 else ("you",):
                table[name] = 0
        name = self.weighted(table)
        if name == "you":
            return pronoun(self.address())
        return pronoun({"I": ME, "we": WE, "he": HE, "she": SHE, "they": THEY}[name])

    def name(self, avoid: NP | None = None) -> NP:
        """A first name."""
        while True:
            name = self.zipf(NAMES)
            if avoid is None or name not in {word.text for word in avoid.frag.en}:
                break
        return NP(linked(name, FRENCH_NAMES.get(name, name)), Ref(fem=name in WOMEN), "name")

    def owner(self, near: Ref | None) -> Ref:
        """The referent of a possessive; most often the subject of the clause."""
        if near is not None and near.human and self.chance(0.7):
            if near.person == 2:
                self.you_used = True
            return near
        choice = self.weighted({"my": 6, "your": 3, "his": 3, "her": 3, "our": 2})
        return (
            self.address()
            if choice == "your"
            else {"my": ME, "his": HE, "her": SHE, "our": WE}[choice]
        )
