"""Determiners that suit a noun."""

from __future__ import annotations

from bilingual.nouns import MASS, NUMBERS, OWNED_PERSONS, OWNED_PLACES, PLACE_CLASSES, Noun
from bilingual.persons import Persons
from bilingual.reference import Ref, article_fr, possessive_fr
from bilingual.words import Frag, en_words, fr_words, linked, new_key, phrase


class Determiners(Persons):
    """Draws determiners."""

    def determiner_kind(self, noun: Noun, plural: bool, neg: bool, habit: bool) -> str:
        """The kind of determiner that suits the noun."""
        cls = noun.cls
        if cls == "kin" or cls == "boss":
            return "my" if self.chance(0.85) else "gen"
        if cls == "drink" or cls == "bread" or noun.en in MASS:
            return "neg" if neg else self.weighted({"mass": 6, "the": 3, "this": 1})
        if cls in ("truth", "river", "instrument", "match", "floor", "light", "radio", "transit"):
            return "the"
        if cls in PLACE_CLASSES - {"home"}:
            return self.weighted({"the": 7, "my": 3 if noun.en in OWNED_PLACES else 0, "this": 1})
        if cls in ("hand", "tooth", "limb"):
            return "my"
        owned = 3 if cls not in ("person", "job") or noun.en in OWNED_PERSONS else 0
        if cls in ("plant", "food", "film", "stage", "bird", "farm", "match", "match2", "topic"):
            owned = 0
        table = {
            "the": 4 * (noun.en != "friend"),
            "a": 3,
            "my": owned,
            "this": 1.2,
            "gen": 0.8 if owned else 0,
        }
        if plural:
            table |= {"num": 1.5, "all": 0.6, "thenum": 0.4}
            if cls not in ("drive", "device", "home", "instrument", "plan", "light", "door"):
                table |= {"many": 0.7, "several": 0.5, "few": 0.5}
        if habit and plural:
            table = {"a": 6, "my": owned, "the": 0.5, "many": 1}
        elif habit:
            table = {"my": owned, "the": 1, "this": 0, "gen": 0}
        if neg:
            table |= {"neg": table.get("a", 1), "a": 0, "num": 0, "several": 0, "few": 0, "all": 0}
        return self.weighted(table)

    def determiner(
        self, kind: str, fem: bool, plural: bool, bare_des: bool, near: Ref | None
    ) -> Frag:
        """The determiner in both languages; `bare_des` asks for "de" before an adjective instead of "des"."""
        key = new_key()
        article = article_fr(fem, plural)
        if kind == "the":
            return Frag(en_words("the", key), fr_words(article, key, role="art"))
        if kind == "generic":
            return Frag((), fr_words(article, role="art"))
        if kind == "a" and not plural:
            return Frag(en_words("a", key), fr_words("une" if fem else "un", key))
        if kind in ("a", "mass"):
            some = en_words("some", key) if self.chance(0.5 if kind == "mass" else 0.4) else ()
            keys = (key,) if some else ()
            de = fr_words("de", *keys, role="part")
            return Frag(
                some, de if bare_des and plural else de + fr_words(article, *keys, role="part")
            )
        if kind in ("neg", "negmass"):
            word = "any" if plural or kind == "negmass" else "a"
            return Frag(en_words(word, key), fr_words("de", key, role="part"))
        if kind == "my":
            owner = self.owner(near)
            return Frag(
                en_words(owner.en("poss"), key), fr_words(possessive_fr(owner, fem, plural), key)
            )
        if kind == "this":
            word = (
                ("these" if plural else "this")
                if self.chance(0.65)
                else ("those" if plural else "that")
            )
            return Frag(
                en_words(word, key), fr_words("ces" if plural else "cette" if fem else "ce", key)
            )
        if kind == "num":
            return linked(*self.zipf(NUMBERS[:6]).split())
        if kind == "thenum":
            return Frag(en_words("the", key), fr_words("les", key, role="art")) + linked(
                *self.zipf(NUMBERS[:3]).split()
            )
        if kind == "many":
            return (
                linked("many", "beaucoup de") if self.chance(0.7) else linked("too many", "trop de")
            )
        if kind == "several":
            return linked("several", "plusieurs")
        if kind == "few":
            return linked("a few", "quelques")
        if kind == "all":
            return phrase("all/a the/b = toutes/a les/b" if fem else "all/a the/b = tous/a les/b")
        raise ValueError(kind)
