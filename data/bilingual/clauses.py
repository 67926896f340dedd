"""Clauses of any frame, and clauses that fit beside another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from bilingual.clause import Clause
from bilingual.copulas import Copulas
from bilingual.frames import candidates
from bilingual.nouns import CHILDREN, HUMAN
from bilingual.reference import NP
from bilingual.verbs import CONTROL, INTRANSITIVE, VERBS, Verb
from bilingual.words import EMPTY


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
        human = subject is None or subject.cls in HUMAN or subject.ref.human
        table = {
            "transitive": 46,
            "intransitive": 20,
            "ditransitive": 9,
            "placing": 3,
            "be_adjective": 10,
            "be_place": 5,
            "trade": 3,
            "control": 13,
        }
        if subject is not None and not candidates(INTRANSITIVE, subject, lambda verb: True):
            table["intransitive"] = 0
        if not human:
            table |= {"transitive": 0, "ditransitive": 0, "placing": 0, "trade": 0, "control": 0}
        if group in ("future", "cond", "before"):
            table |= {"be_adjective": int(human), "trade": 0, "be_place": 3}
        if subject is not None and not self.adjectives_for(subject):
            table["be_adjective"] = 0
        if subject is not None and subject.noun is not None:
            table["trade"] *= subject.cls != "job" and subject.noun.en not in CHILDREN
        if event:
            table |= {"be_adjective": 0, "trade": 0, "be_place": 0, "control": 0}
        frame = self.weighted(table)
        options = (
            {"plain": True}
            if event and frame.endswith("transitive") and frame != "ditransitive"
            else {}
        )
        clause = getattr(self, frame)(subject, group, depth if not short else 0, **options)
        return (
            self.timed(clause)
            if (time and not (short and self.chance(0.6))) or clause.tense in ("since", "pres")
            else clause
        )

    def control(self, subject: NP | None, group: str, depth: int) -> Clause:
        """A modal or a verb such as "want" with an infinitive."""
        wanted = {
            "past": ("want", "try", "decide", "refuse", "forget", "begin"),
            "now": ("can", "want", "must", "need"),
            "before": ("want",),
            "any": None,
        }.get(group, ("have",))
        modal = self.zipf([modal for modal in CONTROL if wanted is None or modal.en in wanted])
        if modal.en == "have":
            tenses = (
                {"fut": 1}
                if group == "future"
                else {"cond": 1}
                if group == "cond"
                else {"pres": 3, "past": 3, "fut": 2}
            )
        elif "modal" in modal.traits:
            tenses = {"pres": 1}
        elif "conditional" in modal.traits:
            tenses = {"cond": 1}
        elif "state" in modal.traits:
            tenses = {"pres": 3, "past": 1.5}
        elif modal.en in ("try", "learn"):
            tenses = {"prog": 3, "past": 3}
        else:
            tenses = {"past": 3, "perf": 1}
        if group in ("past", "before"):
            tenses = {"past": 1}
        if group == "now":
            tenses = {"pres": 1}
        tense = self.weighted(tenses)
        negatable = modal.en in ("can", "want", "must", "should", "need")
        neg = "pas" if negatable and self.chance(0.25) else ""
        inner = self.transitive if self.chance(0.7) else self.intransitive
        while True:
            clause = inner(
                subject if subject is not None else self.subject(depth=depth),
                "past",
                depth,
                plain=True,
            )
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
        verb = self.zipf(
            [
                verb
                for verb in INTRANSITIVE
                if verb.en in ("arrive", "come", "leave", "wake", "go", "get")
            ]
        )
        return Clause(subject, verb, tense)

    def durative(self, subject: NP, tense: str, depth: int) -> Clause:
        """Something that goes on."""
        ok: Callable[[Verb], bool] = lambda verb: verb.traits.isdisjoint(
            {"state", "punctual", "needs-place", "être"}
        )
        if self.chance(0.45):
            verb = self.verb(INTRANSITIVE, subject, ok)
            place = (
                self.place_of(verb, subject, depth)
                if "placeable" in verb.traits and self.chance(0.6)
                else EMPTY
            )
            return Clause(subject, verb, tense, tail=place, contract=self.chance(0.75))
        verb = self.verb(VERBS, subject, ok)
        return Clause(
            subject,
            verb,
            tense,
            obj=self.object(verb, subject, tense, False, depth),
            contract=self.chance(0.75),
        )
