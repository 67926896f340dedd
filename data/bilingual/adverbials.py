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

EVENT_TENSES = {"past": 10, "perf": 2.5, "fut": 4, "going": 2, "just": 1.5}
ACTION_TENSES = {
    "prog": 6, "past": 6, "pres": 4, "fut": 3, "going": 1.5, "pastprog": 1, "since": 2, "perf": 0.6, "used": 0.8,
}  # fmt: skip


def with_manner(clause: Clause, manner: Frag) -> Clause:
    """The clause with an adverb that ends it in English.

    Short ones precede the French participle ("a bien dormi").
    """
    if manner.fr[0].text in ("bien", "mal", "beaucoup"):
        return replace(clause, mid=Frag((), manner.fr), tail=Frag(manner.en, ()))
    return replace(clause, tail=manner)


def may_last(clause: Clause) -> bool:
    """Whether the clause can say how long something went on."""
    stranded = clause.obj is None and clause.verb.en_prep
    return clause.verb.fr in LASTING and not (clause.neg or clause.modal or stranded)


class Adverbials(Participants):
    """Draws tenses, negations, times and places."""

    def tense(self, verb: Verb, group: str) -> str:
        """A tense of the group that suits the verb: any, now, past, future, cond or before."""
        state, punctual = "state" in verb.traits, "punctual" in verb.traits
        if group == "future":
            return "fut"
        if "timeless" in verb.traits:
            return {"now": "prog", "any": "prog", "before": "pastprog"}.get(group, "past")
        if group in ("cond", "past"):
            return group
        if group == "before":
            return "past" if state else "plup" if punctual or self.chance(0.5) else "pastprog"
        if group == "now":
            return "pres" if state else "perf" if punctual else "prog"
        if state:
            return self.weighted({"pres": 7, "past": 3})
        if punctual:
            unforeseen = {"fut": 0, "going": 0} if verb.en in MISHAPS else {}
            return self.weighted(EVENT_TENSES | unforeseen)
        return self.weighted(ACTION_TENSES | ({} if verb.en in ENDURING else {"since": 0}))

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

    def timed(self, clause: Clause) -> Clause:
        """The clause with the adverb of frequency or time that its tense calls for."""
        traits = (clause.modal or clause.verb).traits
        if clause.tense == "pres" and "state" not in traits:
            return self.habitual(clause)
        if clause.tense == "since":
            if clause.open:
                return replace(clause, tense="prog")
            return replace(clause, tail=clause.tail + self.time("since", clause))
        plain = not clause.neg and not clause.mid.fr
        if clause.tense == "perf" and plain and self.chance(0.35):
            return replace(clause, mid=phrase("already/a = déjà/a"))
        group = TIME_OF.get(clause.tense, "")
        full = clause.open or (clause.obj is not None and clause.obj.heavy)
        timeless = "state" in traits or "timeless" in clause.verb.traits
        if not group or full or timeless or not self.chance(0.42):
            return clause
        if clause.tense == "past" and may_last(clause) and self.chance(0.4):
            group = "duration"
        return replace(clause, tail=clause.tail + self.time(group, clause))

    def habitual(self, clause: Clause) -> Clause:
        """A clause in the present with what makes it a habit.

        One that has no room for it is in progress.
        """
        if clause.open:
            return clause if clause.neg or clause.mid.fr else replace(clause, tense="prog")
        if clause.neg == "jamais" or (clause.neg and (clause.obj is not None or self.chance(0.7))):
            return clause
        if self.chance(0.45) and not clause.neg and not clause.mid.fr:
            return replace(clause, mid=self.frequency(clause.verb))
        return replace(clause, tail=clause.tail + self.time("habit", clause))

    def frequency(self, verb: Verb) -> Frag:
        """An adverb of frequency; nobody always learns."""
        return self.phrase(
            [adverb for adverb in MID_ADVERBS if verb.en != "learn" or "always" not in adverb]
        )

    def time(self, group: str, clause: Clause) -> Frag:
        """A time of the group on the verb's scale: weeks to build a house, hours to wash a cup."""
        far = "weeks" in clause.verb.traits or clause.verb.fr in FAR_VERBS
        near = "weeks" not in clause.verb.traits
        return self.phrase(
            [
                time
                for time in TIMES[group]
                if (far if any(word in time for word in FAR_TIMES) else near)
            ]
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
