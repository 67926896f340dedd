"""Who takes part in a clause: subjects, objects, recipients."""

from __future__ import annotations

from dataclasses import replace

from bilingual.adjectives import ADJECTIVES
from bilingual.noun_phrases import NounPhrases
from bilingual.nouns import HUMAN, MASS, NAMES, OWNED_PERSONS, Noun, has_noun
from bilingual.reference import NP, Ref, pronoun
from bilingual.verbs import CREATING, Verb
from bilingual.words import linked, new_key, phrase, texts


class Participants(NounPhrases):
    """Draws subjects and objects."""

    def subject(self, short: bool = False, depth: int = 0) -> NP:
        """A person as subject."""
        kind = self.weighted(
            {
                "pron": 34,
                "name": 22,
                "kin": 14,
                "noun": 6 if short else 22,
                "pair": 0 if short else 4,
            }
        )
        if kind == "pron":
            return self.person_pronoun()
        if kind == "name":
            return self.name()
        if kind == "pair":
            one = self.name()
            two = self.name(avoid=one)
            frag = one.frag + phrase("and/a = et/a") + two.frag
            return NP(frag, Ref(3, True, one.ref.fem and two.ref.fem), "name")
        noun = self.noun(("kin",) if kind == "kin" else ("person", "job", "boss"))
        return self.subject_noun(noun, depth, short)

    def subject_noun(self, noun: Noun, depth: int = 0, plain: bool = False) -> NP:
        """A noun phrase fit to be a subject: never "some" or a bare plural."""
        plural = False if noun.cls in ("transit", "on") else None
        while True:
            np = self.noun_phrase(noun, depth=depth, plain=plain, plural=plural)
            indefinite = np.frag.en[0].text == "a" and self.chance(0.5)
            if np.frag.fr[0].role != "part" and not indefinite:
                return np

    def subject_of(self, verb: Verb, short: bool = False, depth: int = 0) -> NP:
        """A subject that the verb admits."""
        if "pron" in verb.subject and (len(verb.subject) < 7 or self.chance(0.75)):
            return self.subject(short, depth)
        classes = tuple(cls for cls in verb.subject if cls not in ("pron", "name"))
        noun = self.noun(classes)
        return self.subject_noun(noun, depth, short)

    def other_subject(self, first: NP, depth: int = 0) -> NP:
        """A second person, not confusable with the first."""
        self.open_reference = False
        while True:
            np = self.subject(short=depth == 0, depth=depth)
            same_noun = np.noun is not None and first.noun is not None and np.noun == first.noun
            clash = np.is_pronoun and (np.ref.person == 3 or np.ref.person == first.ref.person)
            if (
                not clash
                and not same_noun
                and not (set(texts(np.frag)) & set(texts(first.frag)) & set(NAMES))
            ):
                return np

    def same_subject(self, first: NP) -> NP:
        """The first person again, as a pronoun."""
        return pronoun(first.ref)

    def second_subject(self, first: NP, depth: int = 0) -> NP:
        """The same person or another."""
        self.open_reference = False
        return (
            self.same_subject(first)
            if first.ref.human and self.chance(0.4)
            else self.other_subject(first, depth)
        )

    def object(self, verb: Verb, subject: NP, tense: str, neg: bool = False, depth: int = 0) -> NP:
        """An object that the verb admits."""
        if verb.en in CREATING:
            depth = 0
        if "pron" in verb.object and (set(verb.object) <= HUMAN or self.chance(0.4)):
            return self.human_object(verb, subject, depth, neg)
        classes = tuple(cls for cls in verb.object if cls not in HUMAN or "pron" not in verb.object)
        noun = self.noun(classes)
        if "bare" in verb.traits:
            return NP(linked(noun.en, noun.fr), Ref(human=False), noun.cls, new_key(), noun)
        if "generic" in verb.traits and noun.cls not in ("city", "sport"):
            return self.generic_object(noun, subject.ref, depth)
        habit = tense == "pres" and "state" not in verb.traits
        near = None if verb.en == "buy" else subject.ref
        plural, kind = None, ""
        if tense == "imp" or (neg and verb.fr_prep):
            plural = self.chance(0.25) if self.countable(noun) else False
            kind = self.determiner_kind(noun, plural, False, habit)
            definite = kind in ("the", "my", "this", "gen")
            kind = kind if definite or (kind == "mass" and (not neg or verb.fr_prep)) else "the"
        return self.noun_phrase(
            noun, kind=kind, plural=plural, neg=neg, habit=habit, near=near, depth=depth
        )

    def generic_object(self, noun: Noun, near: Ref, depth: int) -> NP:
        """What one likes: all of its kind, or a certain one."""
        mass = noun.cls in ("bread", "drink") or noun.en in MASS
        if self.chance(0.75) or mass or noun.cls == "food":
            return self.noun_phrase(noun, kind="generic", plural=not mass, plain=True)
        kind = "my" if noun.cls == "pet" else "this"
        return self.noun_phrase(noun, near=near, depth=depth, kind=kind)

    def human_object(self, verb: Verb, subject: NP, depth: int, neg: bool = False) -> NP:
        """A person as object."""
        table = {"pron": 4, "name": 3, "kin": 3 if "kin" in verb.object else 0, "noun": 3}
        kind = self.weighted(table)
        if kind == "pron":
            return self.person_pronoun(avoid=subject.ref)
        if kind == "name":
            return self.name(avoid=subject)
        noun = self.noun(("kin",) if kind == "kin" else ("person", "job"))
        if noun == subject.noun:
            return self.human_object(verb, subject, depth, neg)
        definite = noun.cls != "kin" and (
            "generic" in verb.traits or (neg and (verb.fr_prep or "state" in verb.traits))
        )
        return self.noun_phrase(
            noun, near=subject.ref, depth=depth, neg=neg, kind="the" if definite else ""
        )

    def plain_object(self, cls: str, subject: NP) -> NP | None:
        """A short object of the class, or none."""
        if not cls:
            return None
        noun = self.noun((cls,))
        if noun.cls in HUMAN:
            return self.name(avoid=subject)
        return self.noun_phrase(
            noun, near=subject.ref, plural=False if noun.cls == "door" else None
        )

    def recipient(self, subject: NP) -> NP:
        """The person something is given to."""
        kind = self.weighted({"pron": 5, "name": 3, "kin": 3, "noun": 3})
        if kind == "pron":
            return self.person_pronoun(avoid=subject.ref)
        noun = self.noun(("kin",) if kind == "kin" else ("person", "job"))
        np = (
            self.name(avoid=subject)
            if kind == "name"
            else self.noun_phrase(
                noun,
                near=subject.ref,
                kind="my" if noun.cls == "kin" or noun.en in OWNED_PERSONS else "the",
            )
        )
        return replace(np, key=new_key())

    def thing(self, depth: int = 0) -> NP:
        """A thing or place that can be described."""
        things = "tool garment text drive home room film stage song topic plan food tale device door plant"
        noun = self.noun((*things.split(), "event", "picture"))
        if not any(
            has_noun(adj.classes, noun) and "attributive" not in adj.traits for adj in ADJECTIVES
        ):
            return self.thing(depth)
        kind = self.weighted({"the": 5, "my": 3, "this": 2})
        if kind == "my" and noun.cls in ("at", "food", "film", "stage", "plant", "spot"):
            kind = "the"
        return self.noun_phrase(noun, kind=kind, depth=depth)
