"""Clauses of any frame, and clauses that fit beside another one."""

from __future__ import annotations

from dataclasses import replace

from bilingual.clause import Clause
from bilingual.copulas import Copulas
from bilingual.frames import candidates
from bilingual.nouns import CHILDREN, HUMAN
from bilingual.reference import NP
from bilingual.verbs import CONTROL, INTRANSITIVE, VERBS, Verb, verbs_named
from bilingual.words import EMPTY

FRAMES = {
    "transitive": 46, "intransitive": 20, "ditransitive": 9, "placing": 3, "be_adjective": 10, "be_place": 5,
    "trade": 3, "control": 13,
}  # fmt: skip
ARRIVALS = verbs_named(INTRANSITIVE, "arrive come leave wake go get")
# the verbs with an infinitive for each group of tenses; "have" for all others
MODALS_OF = {
    "past": ("want", "try", "decide", "refuse", "forget", "begin"),
    "now": ("can", "want", "must", "need"),
    "before": ("want",),
    "any": tuple(verb.en for verb in CONTROL),
}


def modal_tenses(modal: Verb, group: str) -> dict[str, float]:
    """The tenses, with weights, that a verb with an infinitive takes within a group."""
    if group in ("past", "before"):
        return {"past": 1}
    if group == "now":
        return {"pres": 1}
    if modal.en == "have":
        only = {"future": {"fut": 1}, "cond": {"cond": 1}}
        return only.get(group, {"pres": 3, "past": 3, "fut": 2})
    if "modal" in modal.traits:
        return {"pres": 1}
    if "conditional" in modal.traits:
        return {"cond": 1}
    if "state" in modal.traits:
        return {"pres": 3, "past": 1.5}
    return {"prog": 3, "past": 3} if modal.en == "try" else {"past": 3, "perf": 1}


def goes_on(verb: Verb) -> bool:
    """Whether the verb tells of something that goes on for a while."""
    return verb.traits.isdisjoint({"state", "punctual", "needs-place", "être"})


class Clauses(Copulas):
    """Draws clauses."""

    def clause(
        self,
        subject: NP | None = None,
        group: str = "any",
        depth: int = 0,
        short: bool = False,
        event: bool = False,
        time: bool = True,
    ) -> Clause:
        """A clause of any frame that suits the subject, or of an action."""
        frame = self.weighted(self.frames(subject, group, event))
        plain = {"plain": True} if event and frame in ("transitive", "intransitive") else {}
        clause = getattr(self, frame)(subject, group, 0 if short else depth, **plain)
        timed = time and not (short and self.chance(0.6))
        return self.timed(clause) if timed or clause.tense in ("since", "pres") else clause

    def frames(self, subject: NP | None, group: str, event: bool) -> dict[str, float]:
        """The frames, with weights, that suit the subject and the group of tenses."""
        human = subject is None or subject.cls in HUMAN or subject.ref.human
        table = dict(FRAMES)
        if not human:
            table |= {"transitive": 0, "ditransitive": 0, "placing": 0, "trade": 0, "control": 0}
        if group in ("future", "cond", "before"):
            table |= {"be_adjective": int(human), "trade": 0, "be_place": 3}
        if event:
            table |= {"be_adjective": 0, "trade": 0, "be_place": 0, "control": 0}
        if subject is None:
            return table
        if not candidates(INTRANSITIVE, subject):
            table["intransitive"] = 0
        if not self.adjectives_for(subject):
            table["be_adjective"] = 0
        if subject.cls == "job" or (subject.noun is not None and subject.noun.en in CHILDREN):
            table["trade"] = 0
        return table

    def control(self, subject: NP | None, group: str, depth: int) -> Clause:
        """A modal or a verb such as "want" with an infinitive."""
        modal = self.zipf([verb for verb in CONTROL if verb.en in MODALS_OF.get(group, ("have",))])
        tense = self.weighted(modal_tenses(modal, group))
        negatable = modal.en in ("can", "want", "must", "should", "need")
        neg = "pas" if negatable and self.chance(0.25) else ""
        frame = self.transitive if self.chance(0.7) else self.intransitive
        while True:
            who = subject if subject is not None else self.subject(depth=depth)
            clause = frame(who, "past", depth, plain=True)
            if not clause.neg:
                break
        if neg and clause.obj is not None and not clause.obj.is_pronoun:
            clause = replace(clause, obj=self.object(clause.verb, clause.subject, "inf", True, 0))
        return replace(clause, modal=modal, tense=tense, neg=neg, contract=self.chance(0.75))

    def affirmed(self, subject: NP, group: str, depth: int) -> Clause:
        """A clause that tells of an action, without negation."""
        while True:
            clause = self.clause(subject, group, depth, event=True, time=group != "now")
            if not clause.neg:
                return clause

    def punctual(self, subject: NP, tense: str) -> Clause:
        """A short event to hang another one on."""
        return Clause(subject, self.zipf(ARRIVALS), tense)

    def durative(self, subject: NP, tense: str, depth: int) -> Clause:
        """Something that goes on."""
        if self.chance(0.45):
            verb = self.verb(INTRANSITIVE, subject, goes_on)
            placed = "placeable" in verb.traits and self.chance(0.6)
            place = self.place_of(verb, subject, depth) if placed else EMPTY
            return Clause(subject, verb, tense, tail=place, contract=self.chance(0.75))
        verb = self.verb(VERBS, subject, goes_on)
        obj = self.object(verb, subject, tense, False, depth)
        return Clause(subject, verb, tense, obj=obj, contract=self.chance(0.75))
