"""Sentences of two clauses: coordination, cause, time, condition, purpose."""

from __future__ import annotations

from dataclasses import replace

from bilingual.adjectives import ADJECTIVES, Adj
from bilingual.adverbials import with_manner
from bilingual.circumstances import MANNER, TIME_OF, TIMES
from bilingual.clause import AdjP, Clause
from bilingual.nouns import HUMAN
from bilingual.realisation import realise, realise_as
from bilingual.reference import NP
from bilingual.sentences import Sentences
from bilingual.situations import (
    BEFORE_PAIRS,
    BEFORE_WHAT,
    CAUSES,
    PURPOSES,
    SINCE,
    WHILE_PAIRS,
    WHILE_WHAT,
    WISHES,
)
from bilingual.verbs import BE, verb_for
from bilingual.words import EMPTY, Frag, comma, linked, phrase, texts

MOODS = {adj.en for adj in ADJECTIVES if "mood" in adj.traits}


def state_of_mind(name: str) -> Adj:
    """The adjective of this name that describes people."""
    return next(adj for adj in ADJECTIVES if adj.en == name and "pron" in adj.classes)


def arranged(conj: Frag, sub: Frag, main: Frag) -> Frag:
    """A subordinate clause before its main clause."""
    return conj + sub + comma() + main


class ComplexSentences(Sentences):
    """Draws sentences of two clauses."""

    def purpose(self, depth: int) -> Frag:
        """Someone goes somewhere to do something."""
        place, name, classes = self.rng.choice(PURPOSES)
        subject = self.subject(short=True)
        tense = self.weighted({"past": 4, "prog": 2, "fut": 2})
        where = self.noun_phrase(self.noun((place,)), kind="the" if self.chance(0.8) else "this")
        go = verb_for("go", "at")
        main = Clause(subject, go, tense, obj=where, contract=self.chance(0.7))
        aim = self.aim(subject, name, classes, depth)
        if self.chance(0.35) and not aim.open:
            aim = replace(aim, tail=self.phrase(TIMES[TIME_OF[tense]][:5]))
        return realise(main) + linked("to", "pour") + realise(aim, "inf")

    def aim(self, subject: NP, name: str, classes: str, depth: int) -> Clause:
        """What someone goes somewhere for."""
        if not classes:
            return Clause(subject, verb_for(name, ""), "inf")
        noun = self.noun(tuple(classes.split()))
        verb = verb_for(name, noun.cls, noun.en)
        if noun.cls in HUMAN:
            return Clause(subject, verb, "inf", obj=self.human_object(verb, subject, 0))
        obj = self.noun_phrase(noun, near=subject.ref, depth=depth)
        return Clause(subject, verb, "inf", obj=obj)

    def together(self, depth: int) -> Frag:
        """Someone does something before or while doing something else."""
        subject = self.subject(short=True)
        before = self.chance(0.4)
        ongoing = {"prog": 2, "past": 2, "pastprog": 1}
        tense = self.weighted({"past": 3, "fut": 1} if before else ongoing)
        name, cls = self.zipf(BEFORE_PAIRS if before else WHILE_PAIRS)
        name2, cls2 = self.zipf(BEFORE_WHAT if before else WHILE_WHAT)
        obj = self.plain_object(cls, subject)
        main = Clause(subject, verb_for(name, cls), tense, obj=obj, contract=self.chance(0.7))
        rest = Clause(subject, verb_for(name2, cls2), "inf", obj=self.plain_object(cls2, subject))
        if before:
            return realise(main) + linked("before", "avant de") + realise_as(rest, "ing", "inf")
        return realise(main) + linked("while", "en") + realise(rest, "ing")

    def coordination(self, depth: int) -> Frag:
        """Two clauses joined by "and" or "but"."""
        group = self.weighted({"past": 5, "now": 1.5, "future": 2})
        subject = self.subject(depth=depth)
        first = self.affirmed(subject, group, depth)
        self.open_reference = False
        same = self.chance(0.4)
        who = self.same_subject(subject) if same else self.other_subject(subject, depth)
        second = self.affirmed(who, group, depth)
        conj = linked("but", "mais") if not same and self.chance(0.35) else linked("and", "et")
        return realise(first) + conj + realise(second)

    def stateless_subject(self, depth: int) -> NP:
        """A person as subject of whose state nothing is said yet.

        There is no "the woman who is happy is sad".
        """
        while True:
            subject = self.subject(depth=depth)
            if not MOODS & set(texts(subject.frag)):
                return subject

    def because(self, depth: int) -> Frag:
        """A state and what brought it about."""
        name, cause, cls = self.rng.choice(CAUSES)
        subject = self.stateless_subject(depth)
        adj = state_of_mind(name)
        graded = self.chance(0.35) and "absolute" not in adj.traits
        state = AdjP(adj, self.degree(adj, excess=False) if graded else EMPTY)
        now = self.chance(0.6)
        tense = "pres" if now else "past"
        main = Clause(subject, BE, tense, predicate=state, contract=self.chance(0.75))
        self.open_reference = False
        obj = self.owned_object(cls, subject, depth) if cls else None
        who, tense = self.same_subject(subject), "past" if now else "plup"
        inner = Clause(who, verb_for(cause, cls), tense, obj=obj, contract=self.chance(0.75))
        if not cls:
            inner = with_manner(inner, phrase(MANNER[cause][-1]))
        elif now and not inner.open and self.chance(0.3):
            inner = replace(inner, tail=self.time("past", inner))
        return realise(main) + linked("because", "parce que") + realise(inner)

    def owned_object(self, cls: str, subject: NP, depth: int) -> NP:
        """An object of the class, the subject's own where that makes sense."""
        noun = self.noun((cls,))
        may_own = noun.cls in ("tool", "text", "garment", "gift", "pet")
        kind = "my" if may_own and self.chance(0.8) else "the"
        return self.noun_phrase(noun, kind=kind, near=subject.ref, depth=depth)

    def subordination(self, depth: int) -> Frag:
        """A clause of time or condition, and its main clause."""
        kind = self.weighted(
            {
                "when_past": 4,
                "when_future": 4,
                "as_soon_as": 2,
                "if_real": 5,
                "if_unreal": 2,
                "while_on": 3,
                "since": 2,
            }
        )
        return getattr(self, kind)(self.subject(depth=depth), depth)

    def when_past(self, subject: NP, depth: int) -> Frag:
        """When Paul arrived, Marie was reading."""
        sub = self.punctual(subject, "past")
        main = self.durative(self.other_subject(subject, depth), "pastprog", depth)
        return arranged(linked("when", "quand"), realise(sub), realise(main))

    def when_future(self, subject: NP, depth: int) -> Frag:
        """When Paul arrives, he will read."""
        return self.after(linked("when", "quand"), subject, "whenfut", depth)

    def as_soon_as(self, subject: NP, depth: int) -> Frag:
        """As soon as Paul arrives, he will read."""
        return self.after(linked("as soon as", "dès que"), subject, "whenfut", depth)

    def if_real(self, subject: NP, depth: int) -> Frag:
        """If it rains tomorrow, or if Paul arrives, he will read."""
        conj = linked("if", "si")
        if not self.chance(0.35):
            return self.after(conj, subject, "pres", depth)
        sub = self.phrase(["it/a rains/b = il/a pleut/b", "it/a snows/b = il/a neige/b"])
        sub += self.phrase(TIMES["future"][:1]) if self.chance(0.5) else EMPTY
        main = self.clause(subject, "future", depth, short=True, time=False)
        return arranged(conj, sub, realise(main))

    def if_unreal(self, subject: NP, depth: int) -> Frag:
        """If Paul had a car, he would visit Rome."""
        owned, name, cls = self.zipf(WISHES)
        kind = "mass" if owned == "money" else "a"
        obj = self.noun_phrase(self.noun((owned,)), kind=kind, plural=False, plain=True)
        sub = Clause(subject, verb_for("have", "drive"), "past", obj=obj)
        kind = "a" if name == "buy" else ""
        aim = self.noun_phrase(self.noun((cls,)), near=subject.ref, kind=kind)
        main = Clause(self.same_subject(subject), verb_for(name, cls), "cond", obj=aim)
        return arranged(linked("if", "si"), realise(sub), realise(main))

    def while_on(self, subject: NP, depth: int) -> Frag:
        """While Paul was reading, Marie was singing."""
        tense = self.weighted({"prog": 1, "pastprog": 2})
        sub = self.durative(subject, tense, depth)
        main = self.durative(self.other_subject(subject, depth), tense, depth)
        while main.verb == sub.verb:
            main = self.durative(main.subject, tense, depth)
        return arranged(linked("while", "pendant que"), realise(sub), realise(main))

    def after(self, conj: Frag, subject: NP, tense: str, depth: int) -> Frag:
        """A short event to come, and what someone will do then."""
        sub = self.punctual(subject, tense)
        who = self.second_subject(subject, depth)
        while True:
            main = self.clause(who, "future", depth, short=True, time=False)
            if main.verb != sub.verb:
                return arranged(conj, realise(sub), realise(main))

    def since(self, subject: NP, depth: int) -> Frag:
        """Since someone is ill, someone else will help them."""
        subject = self.stateless_subject(depth)
        adj, name, who = self.zipf(SINCE)
        tense = self.weighted({"fut": 2, "going": 1})
        again = self.same_subject(subject)
        if who == "same":
            neg = "pas" if name == "go out" else ""
            main = Clause(again, verb_for(name, ""), tense, neg)
        else:
            main = Clause(self.other_subject(subject), verb_for(name, "kin"), tense, obj=again)
        sub = Clause(subject, BE, "pres", predicate=AdjP(state_of_mind(adj)))
        return arranged(linked("since", "puisque"), realise(sub), realise(self.timed(main)))
