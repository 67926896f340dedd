"""Tense, negation, and the times and places that go with them."""

from __future__ import annotations

from dataclasses import replace

from bilingual.circumstances import (
    ANYWHERE,
    FAR_TIMES,
    FAR_VERBS,
    GENERAL_PLACES,
    MID_ADVERBS,
    PLACES,
    PLACES_OF,
    TIME_OF,
    TIMES,
)
from bilingual.clause import Clause
from bilingual.french_clause import located_fr
from bilingual.participants import Participants
from bilingual.reference import NP
from bilingual.verbs import ENDURING, LASTING, MISHAPS, Verb
from bilingual.words import Frag, en_words, fr_words, linked, new_key, phrase


def with_manner(c: Clause, manner: Frag) -> Clause:
    """The clause with an adverb that ends it in English; short ones precede the French participle ("a bien dormi")."""
    if manner.fr[0].text in ("bien", "mal", "beaucoup"):
        return replace(c, mid=Frag((), manner.fr), tail=Frag(manner.en, ()))
    return replace(c, tail=manner)


class Adverbials(Participants):
    """Draws tenses, negations, times and places."""

    def tense(self, verb: Verb, group: str) -> str:
        """A tense of the group that suits the verb: any, now, past, future, cond or before."""
        state, punctual = "state" in verb.traits, "punctual" in verb.traits
        if group == "future":
            return "fut"
        if "timeless" in verb.traits and not state:
            return {"now": "prog", "any": "prog", "before": "pastprog"}.get(group, "past")
        if group == "cond":
            return "cond"
        if group == "before":
            return "past" if state else "plup" if punctual or self.chance(0.5) else "pastprog"
        if group == "past":
            return "past"
        if group == "now":
            return "pres" if state else "perf" if punctual else "prog"
        if state:
            return self.weighted({"pres": 7, "past": 3})
        if punctual:
            ahead = verb.en not in MISHAPS
            return self.weighted(
                {"past": 10, "perf": 2.5, "fut": 4 * ahead, "going": 2 * ahead, "just": 1.5}
            )
        return self.weighted(
            {
                "prog": 6,
                "past": 6,
                "pres": 4,
                "fut": 3,
                "going": 1.5,
                "pastprog": 1,
                "since": 2 * (verb.en in ENDURING),
                "perf": 0.6,
                "used": 0.8,
            }
        )

    def negation(self, verb: Verb, tense: str) -> str:
        """A negation that the tense admits, most often none."""
        if tense in ("just", "since", "used") or not self.chance(0.17):
            return ""
        if tense == "perf":
            return "jamais"
        if tense == "pres":
            return self.weighted(
                {"pas": 6, "plus": 2.5, "jamais": 0 if "state" in verb.traits else 4}
            )
        return "pas"

    def timed(self, c: Clause) -> Clause:
        """The clause with the adverb of frequency or time that its tense calls for."""
        traits = (c.modal or c.verb).traits
        if c.tense == "pres" and "state" not in traits:
            if c.open:
                return c if c.neg or c.mid.fr else replace(c, tense="prog")
            if c.neg == "jamais" or (c.neg and (c.obj is not None or self.chance(0.7))):
                return c
            if self.chance(0.45) and not c.neg and not c.mid.fr:
                return replace(c, mid=self.frequency(c.verb))
            return replace(c, tail=c.tail + self.time("habit", c))
        full = c.open or (c.obj is not None and c.obj.heavy)
        stranded = c.obj is None and c.verb.en_prep
        if c.tense == "since":
            if c.open:
                return replace(c, tense="prog")
            return replace(c, tail=c.tail + self.time("since", c))
        if c.tense == "perf" and not c.neg and not c.mid.fr and self.chance(0.35):
            return replace(c, mid=phrase("already/a = déjà/a"))
        group = TIME_OF.get(c.tense, "")
        if (
            not group
            or full
            or "state" in traits
            or "timeless" in c.verb.traits
            or not self.chance(0.42)
        ):
            return c
        if (
            c.tense == "past"
            and c.verb.fr in LASTING
            and not c.neg
            and not c.modal
            and not stranded
            and self.chance(0.4)
        ):
            group = "duration"
        return replace(c, tail=c.tail + self.time(group, c))

    def frequency(self, verb: Verb) -> Frag:
        """An adverb of frequency; nobody always learns."""
        return self.phrase([a for a in MID_ADVERBS if verb.en != "learn" or "always" not in a])

    def time(self, group: str, c: Clause) -> Frag:
        """A time of the group on the scale of the verb: weeks to build a house, hours to wash a cup."""
        far = "weeks" in c.verb.traits or c.verb.fr in FAR_VERBS
        near = "weeks" not in c.verb.traits
        return self.phrase(
            [t for t in TIMES[group] if (far if any(word in t for word in FAR_TIMES) else near)]
        )

    def place(
        self,
        near: NP | None = None,
        classes: tuple[str, ...] = GENERAL_PLACES,
        fixed: bool = False,
        depth: int = 0,
    ) -> Frag:
        """A place where something is or happens; `fixed` admits phrases such as "at home"."""
        if fixed and self.chance(0.25):
            return self.phrase(PLACES)
        noun = self.noun(classes)
        key = new_key()
        np = self.noun_phrase(noun, depth=depth, near=near.ref if near else None)
        if noun.cls in ("city", "country"):
            return Frag(en_words("in", key) + np.frag.en, located_fr(fr_words("à", key), np))
        prepositions = {"at": ("at", "à"), "school": ("at", "à"), "on": ("on", "sur")}.get(
            noun.cls, ("in", "dans")
        )
        return linked(*prepositions) + np.frag

    def place_of(self, verb: Verb, subject: NP, depth: int = 0) -> Frag:
        """A place where one does what the verb says."""
        return self.place(
            subject, PLACES_OF.get(verb.en, GENERAL_PLACES), verb.en in ANYWHERE, depth
        )
