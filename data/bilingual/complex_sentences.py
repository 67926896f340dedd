"""Sentences of two clauses: coordination, cause, time, condition, purpose."""

from __future__ import annotations

from dataclasses import replace

from bilingual.adjectives import ADJECTIVES
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


class ComplexSentences(Sentences):
    """Draws sentences of two clauses."""

    def purpose(self, depth: int) -> Frag:
        """Someone goes somewhere to do something."""
        place, verb_en, classes = self.rng.choice(PURPOSES)
        subject = self.subject(short=True)
        verb = verb_for("go", "at")
        tense = self.weighted({"past": 4, "prog": 2, "fut": 2})
        place_np = self.noun_phrase(self.noun((place,)), kind="the" if self.chance(0.8) else "this")
        main = Clause(subject, verb, tense, obj=place_np, contract=self.chance(0.7))
        obj = None
        if classes:
            noun = self.noun(tuple(classes.split()))
            inner = verb_for(verb_en, noun.cls, noun.en)
            obj = (
                self.human_object(inner, subject, 0)
                if noun.cls in HUMAN
                else self.noun_phrase(noun, near=subject.ref, depth=depth)
            )
        else:
            inner = verb_for(verb_en, "")
        end = EMPTY
        if self.chance(0.35) and not (obj is not None and obj.frag.open):
            end = self.phrase(TIMES[TIME_OF[tense]][:5])
        to = linked("to", "pour")
        return realise(main) + to + realise(Clause(subject, inner, "inf", obj=obj, tail=end), "inf")

    def together(self, depth: int) -> Frag:
        """Someone does something while doing something else, or before it."""
        subject = self.subject(short=True)
        before = self.chance(0.4)
        tense = (
            self.weighted({"past": 3, "fut": 1})
            if before
            else self.weighted({"prog": 2, "past": 2, "pastprog": 1})
        )
        name, cls = self.zipf(BEFORE_PAIRS if before else WHILE_PAIRS)
        name2, cls2 = self.zipf(BEFORE_WHAT if before else WHILE_WHAT)
        main = Clause(
            subject,
            verb_for(name, cls),
            tense,
            obj=self.plain_object(cls, subject),
            contract=self.chance(0.7),
        )
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
        second = self.affirmed(
            self.same_subject(subject) if same else self.other_subject(subject, depth), group, depth
        )
        conj = linked("but", "mais") if not same and self.chance(0.35) else linked("and", "et")
        return realise(first) + conj + realise(second)

    def stateless_subject(self, depth: int) -> NP:
        """A person as subject of whose state nothing is said yet: no "the woman who is happy is sad"."""
        while True:
            subject = self.subject(depth=depth)
            if not set(texts(subject.frag)) & {
                adj.en for adj in ADJECTIVES if "mood" in adj.traits
            }:
                return subject

    def because(self, depth: int) -> Frag:
        """A state and what brought it about."""
        adj_en, cause, cls = self.rng.choice(CAUSES)
        subject = self.stateless_subject(depth)
        adj = next(adj for adj in ADJECTIVES if adj.en == adj_en and "pron" in adj.classes)
        degree = (
            self.degree(adj, excess=False)
            if self.chance(0.35) and "absolute" not in adj.traits
            else EMPTY
        )
        verb = verb_for(cause, cls)
        now = self.chance(0.6)
        main = Clause(
            subject,
            BE,
            "pres" if now else "past",
            predicate=AdjP(adj, degree),
            contract=self.chance(0.75),
        )
        self.open_reference = False
        other = self.same_subject(subject)
        obj = None
        if cls:
            noun = self.noun((cls,))
            kind = (
                "my"
                if noun.cls in ("tool", "text", "garment", "gift", "pet") and self.chance(0.8)
                else "the"
            )
            obj = self.noun_phrase(noun, kind=kind, near=subject.ref, depth=depth)
        inner = Clause(other, verb, "past" if now else "plup", obj=obj, contract=self.chance(0.75))
        if not cls:
            inner = with_manner(inner, phrase(MANNER[cause][-1]))
        elif now and not inner.open and self.chance(0.3):
            inner = replace(inner, tail=self.time("past", inner))
        return realise(main) + linked("because", "parce que") + realise(inner)

    def subordination(self, depth: int) -> Frag:
        """A main clause and a clause of time or condition, in either order."""
        kind = self.weighted(
            {
                "when_past": 4,
                "when_future": 4,
                "as_soon": 2,
                "if": 5,
                "if_cond": 2,
                "while": 3,
                "since": 2,
            }
        )
        subject = self.subject(depth=depth)
        if kind == "when_past":
            sub = self.punctual(subject, "past")
            main = self.durative(self.other_subject(subject, depth), "pastprog", depth)
            conj = linked("when", "quand")
        elif kind in ("when_future", "as_soon"):
            sub = self.punctual(subject, "whenfut")
            main = self.consequence(subject, sub, depth)
            conj = (
                linked("when", "quand")
                if kind == "when_future"
                else linked("as soon as", "dès que")
            )
        elif kind == "if":
            conj = linked("if", "si")
            if self.chance(0.35):
                sub_frag = phrase(
                    self.zipf(["it/a rains/b = il/a pleut/b", "it/a snows/b = il/a neige/b"])
                )
                sub_frag += self.phrase(TIMES["future"][:1]) if self.chance(0.5) else EMPTY
                main = self.clause(subject, "future", depth, short=True, time=False)
                return self.arranged(conj + sub_frag, realise(main))
            sub = self.punctual(subject, "pres")
            main = self.consequence(subject, sub, depth)
        elif kind == "if_cond":
            conj = linked("if", "si")
            owned, name, cls = self.zipf(WISHES)
            thing = self.noun((owned,))
            kind_of = "mass" if owned == "money" else "a"
            obj = self.noun_phrase(thing, kind=kind_of, plural=False, plain=True)
            sub = Clause(subject, verb_for("have", "drive"), "past", obj=obj)
            aim = (
                self.noun_phrase(
                    self.noun((cls,)), near=subject.ref, kind="a" if name == "buy" else ""
                )
                if cls
                else None
            )
            main = Clause(self.same_subject(subject), verb_for(name, cls), "cond", obj=aim)
        elif kind == "while":
            conj = linked("while", "pendant que")
            tense = self.weighted({"prog": 1, "pastprog": 2})
            sub = self.durative(subject, tense, depth)
            main = self.durative(self.other_subject(subject, depth), tense, depth)
            while main.verb == sub.verb:
                main = self.durative(main.subject, tense, depth)
        else:
            return self.since(self.stateless_subject(depth))
        return self.arranged(conj + realise(sub), realise(main))

    def consequence(self, subject: NP, sub: Clause, depth: int) -> Clause:
        """What someone will do when something else has happened."""
        who = self.second_subject(subject, depth)
        while True:
            main = self.clause(who, "future", depth, short=True, time=False)
            if main.verb != sub.verb:
                return main

    def since(self, subject: NP) -> Frag:
        """Since someone is ill, someone else will help them."""
        adj_en, name, who = self.zipf(SINCE)
        adj = next(adj for adj in ADJECTIVES if adj.en == adj_en and "pron" in adj.classes)
        tense = self.weighted({"fut": 2, "going": 1})
        if who == "same":
            verb = verb_for(name, "")
            main = Clause(
                self.same_subject(subject), verb, tense, "pas" if name == "go out" else ""
            )
        else:
            other = self.other_subject(subject)
            main = Clause(other, verb_for(name, "kin"), tense, obj=self.same_subject(subject))
        sub = Clause(subject, BE, "pres", predicate=AdjP(adj))
        return self.arranged(linked("since", "puisque") + realise(sub), realise(self.timed(main)))

    def arranged(self, sub: Frag, main: Frag) -> Frag:
        """A subordinate clause before its main clause."""
        return sub + comma() + main
