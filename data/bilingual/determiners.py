"""Determiners that suit a noun."""

from __future__ import annotations

from bilingual.nouns import BODY, MASS, NUMBERS, OWNED_PERSONS, OWNED_PLACES, PLACE_CLASSES, Noun
from bilingual.persons import Persons
from bilingual.reference import Ref, article_fr, possessive_fr
from bilingual.words import Frag, en_words, fr_words, linked, new_key, phrase

# no "my" and no "Paul's" is drawn for nouns of these classes
NEVER_OWNED = ("plant", "food", "film", "stage", "bird", "farm", "match2", "topic")
UNCOUNTED = ("drive", "device", "home", "plan", "door")


def fixed_determiner(kind: str, fem: bool, plural: bool) -> Frag:
    """The determiner of a kind that leaves nothing to chance."""
    key = new_key()
    if kind == "the":
        return Frag(en_words("the", key), fr_words(article_fr(fem, plural), key, role="art"))
    if kind == "generic":
        return Frag((), fr_words(article_fr(fem, plural), role="art"))
    if kind in ("neg", "negmass"):
        word = "any" if plural or kind == "negmass" else "a"
        return Frag(en_words(word, key), fr_words("de", key, role="part"))
    return {
        "a": linked("a", "une" if fem else "un"),
        "several": linked("several", "plusieurs"),
        "few": linked("a few", "quelques"),
        "all": phrase("all/a the/b = toutes/a les/b" if fem else "all/a the/b = tous/a les/b"),
    }[kind]


def free_kinds(noun: Noun, plural: bool, neg: bool, habit: bool) -> dict[str, float]:
    """The kinds of determiner, with weights, of a noun whose class leaves them open."""
    may_own = noun.cls not in ("person", "job") or noun.en in OWNED_PERSONS
    owned = 3 if may_own and noun.cls not in NEVER_OWNED else 0
    if habit and plural:
        table = {"a": 6, "my": owned, "the": 0.5, "many": 1}
    elif habit:
        table = {"my": owned, "the": 1}
    else:
        the = 0 if noun.en == "friend" else 4
        table = {"the": the, "a": 3, "my": owned, "this": 1.2, "gen": 0.8 if owned else 0}
        if plural:
            table |= {"num": 1.5, "all": 0.6, "thenum": 0.4}
        if plural and noun.cls not in UNCOUNTED:
            table |= {"many": 0.7, "several": 0.5, "few": 0.5}
    if neg:
        table |= {"neg": table.get("a", 1), "a": 0, "num": 0, "several": 0, "few": 0, "all": 0}
    return table


class Determiners(Persons):
    """Draws determiners."""

    def determiner_kind(self, noun: Noun, plural: bool, neg: bool, habit: bool) -> str:
        """The kind of determiner that suits the noun."""
        cls = noun.cls
        if cls in ("kin", "boss"):
            return "my" if self.chance(0.85) else "gen"
        if cls in ("drink", "bread") or noun.en in MASS:
            return "neg" if neg else self.weighted({"mass": 6, "the": 3, "this": 1})
        if cls in ("truth", "river", "instrument", "match", "floor", "light", "radio", "transit"):
            return "the"
        if cls in PLACE_CLASSES - {"home"}:
            return self.weighted({"the": 7, "my": 3 if noun.en in OWNED_PLACES else 0, "this": 1})
        if cls in BODY:
            return "my"
        return self.weighted(free_kinds(noun, plural, neg, habit))

    def determiner(
        self, kind: str, fem: bool, plural: bool, bare_des: bool, near: Ref | None
    ) -> Frag:
        """The determiner in both languages.

        `bare_des` asks for "de" before an adjective instead of "des".
        """
        if kind in ("a", "mass") and (plural or kind == "mass"):
            return self.partitive(kind, fem, plural, bare_des)
        if kind == "my":
            return self.possessive(fem, plural, near)
        if kind == "this":
            return self.demonstrative(fem, plural)
        if kind == "num":
            return linked(*self.zipf(NUMBERS[:6]).split())
        if kind == "thenum":
            return fixed_determiner("the", fem, plural) + linked(*self.zipf(NUMBERS[:3]).split())
        if kind == "many":
            return linked(*("many", "beaucoup de") if self.chance(0.7) else ("too many", "trop de"))
        return fixed_determiner(kind, fem, plural)

    def partitive(self, kind: str, fem: bool, plural: bool, bare_des: bool) -> Frag:
        """The words "some" or none, "du" or "des"."""
        some = self.chance(0.5 if kind == "mass" else 0.4)
        keys = (new_key(),) if some else ()
        de = fr_words("de", *keys, role="part")
        article = fr_words(article_fr(fem, plural), *keys, role="part")
        english = en_words("some", *keys) if some else ()
        return Frag(english, de if bare_des and plural else de + article)

    def possessive(self, fem: bool, plural: bool, near: Ref | None) -> Frag:
        """A possessive such as "my" or "his", most often the subject's."""
        owner = self.owner(near)
        return linked(owner.en("poss"), possessive_fr(owner, fem, plural))

    def demonstrative(self, fem: bool, plural: bool) -> Frag:
        """The words "this" or "that"; French has one for both."""
        english = ("these", "those") if plural else ("this", "that")
        french = "ces" if plural else "cette" if fem else "ce"
        return linked(english[not self.chance(0.65)], french)
