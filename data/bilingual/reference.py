"""Persons and noun phrases: what agreement and pronouns need to know."""

from __future__ import annotations

from dataclasses import dataclass

from bilingual.nouns import Noun
from bilingual.words import EMPTY, Frag, new_key

PRONOUNS_EN = {
    0: ("I", "me", "my"), 3: ("we", "us", "our"), 4: ("you", "you", "your"), 5: ("they", "them", "their"),
    "he": ("he", "him", "his"), "she": ("she", "her", "her"), "it": ("it", "it", "its"),
}  # fmt: skip

PRONOUNS_FR = (
    "je me me me moi",
    "tu te te te toi",
    "il/elle le/la lui se lui/elle",
    "nous nous nous nous nous",
    "vous vous vous vous vous",
    "ils/elles les leur se eux/elles",
)

POSSESSIVES_FR = (
    "mon ma mes",
    "ton ta tes",
    "son sa ses",
    "notre notre nos",
    "votre votre vos",
    "leur leur leurs",
)


@dataclass(frozen=True)
class Ref:
    """What agreement and pronouns need to know of a person or thing.

    That is person, number, French gender, vous, and human or not.
    """

    person: int = 3
    plural: bool = False
    fem: bool = False
    vous: bool = False
    human: bool = True

    @property
    def slot_en(self) -> int:
        """Row of the English paradigms; "you" conjugates as a plural."""
        return self.person - 1 + 3 * (self.plural or self.person == 2)

    @property
    def slot_fr(self) -> int:
        """Row of the French paradigms; a polite "vous" conjugates as a plural."""
        return self.person - 1 + 3 * (self.plural or self.vous)

    def en(self, case: str) -> str:
        """The English pronoun in the case "subj", "obj" or "poss"."""
        row = (
            self.slot_en
            if self.slot_en != 2
            else ("he" if not self.fem else "she")
            if self.human
            else "it"
        )
        return PRONOUNS_EN[row][("subj", "obj", "poss").index(case)]

    def fr(self, case: str) -> str:
        """The French pronoun in the case "subj", "dir", "ind", "refl" or "stress"."""
        row = PRONOUNS_FR[self.slot_fr].split()[
            ("subj", "dir", "ind", "refl", "stress").index(case)
        ]
        return row.split("/")[self.fem and "/" in row]


ME, WE = Ref(1), Ref(1, plural=True)
TU = Ref(2)
HE, SHE, THEY = Ref(3), Ref(3, fem=True), Ref(3, plural=True)


@dataclass(frozen=True)
class NP:
    """A noun phrase, or a pronoun in its place.

    A pronoun has no words of its own: its form depends on its place in the clause.
    """

    frag: Frag
    ref: Ref
    cls: str
    key: int = -1
    noun: Noun | None = None

    @property
    def is_pronoun(self) -> bool:
        """Whether the phrase is a personal pronoun."""
        return self.cls == "pron"

    @property
    def heavy(self) -> bool:
        """Whether the phrase is long enough to hold a clause."""
        return len(self.frag.en) > 4


def pronoun(ref: Ref) -> NP:
    """The personal pronoun for a referent."""
    return NP(EMPTY, ref, "pron", new_key())


def possessive_fr(owner: Ref, fem: bool, plural: bool) -> str:
    """The French possessive determiner."""
    return POSSESSIVES_FR[owner.slot_fr].split()[2 if plural else fem]


def article_fr(fem: bool, plural: bool) -> str:
    """The French definite article."""
    return "les" if plural else "la" if fem else "le"


def accepts(classes: tuple[str, ...], np: NP) -> bool:
    """Whether a list of classes admits the noun phrase."""
    return np.cls in classes or (np.noun is not None and np.noun.en in classes)
