"""Clauses around "be": a quality, a comparison, a place, a trade."""

from __future__ import annotations

from bilingual.adjectives import ADJECTIVES, DEGREES, EXCESSIVE, Adj
from bilingual.clause import AdjP, Clause, Trade
from bilingual.frames import Frames
from bilingual.nouns import ANIMAL, PEERS
from bilingual.reference import NP, accepts
from bilingual.verbs import BE
from bilingual.words import EMPTY, Frag, texts


class Copulas(Frames):
    """Draws clauses with "be"."""

    def adjectives_for(self, subject: NP, passing: bool = False) -> list[Adj]:
        """The predicative adjectives for the subject, or only those of passing states.

        A relative clause tells of a state or a judgement; a lasting quality stands before the noun ("the small house").
        """
        relative = texts(subject.frag) in (["who"], ["that"])
        return [
            adj
            for adj in ADJECTIVES
            if accepts(adj.classes, subject)
            and "attributive" not in adj.traits
            and ("mood" in adj.traits or not passing)
            and ({"mood", "condition", "judgement"} & adj.traits or not relative)
            and adj.en not in texts(subject.frag)
        ]

    def be_adjective(self, subject: NP | None, group: str, depth: int = 0) -> Clause:
        """Something is so, more so, or as much so."""
        if subject is None:
            subject = self.thing(depth) if self.chance(0.35) else self.subject(depth=depth)
        options = self.adjectives_for(subject, passing=group in ("future", "cond"))
        if not options:
            return self.be_adjective(None, group, depth)
        adj = self.zipf(options)
        gradable = "absolute" not in adj.traits
        human = subject.ref.human
        predicate = AdjP(adj)
        if gradable and self.chance(0.3):
            predicate = AdjP(adj, self.degree(adj))
        elif (
            gradable
            and human
            and "mood" not in adj.traits
            and self.chance(0.35)
            and not (
                adj.en in ("old", "young", "tall")
                and subject.noun is not None
                and subject.noun.en not in PEERS
            )
        ):
            other = (
                self.name(avoid=subject).frag
                if self.chance(0.5)
                else self.noun_phrase(
                    self.noun(PEERS), near=subject.ref, plain=True, kind="my", plural=False
                ).frag
            )
            predicate = AdjP(adj, EMPTY, other, self.weighted({"more": 3, "as": 1}))
        tense = {"past": "past", "before": "past", "future": "fut", "cond": "cond"}.get(group) or (
            "pres"
            if group == "now" or self.chance(0.7) or adj.en in ("old", "young", "tall")
            else "past"
        )
        neg = (
            ""
            if predicate.relation or predicate.degree.en or not self.chance(0.2)
            else self.weighted({"pas": 4, "plus": "mood" in adj.traits})
        )
        return Clause(subject, BE, tense, neg, predicate=predicate, contract=self.chance(0.75))

    def degree(self, adj: Adj, excess: bool = True) -> Frag:
        """A degree that suits the adjective; not everything can be too much."""
        return self.phrase(
            [
                degree
                for degree in DEGREES
                if not degree.startswith("too") or (excess and adj.en in EXCESSIVE)
            ]
        )

    def be_place(self, subject: NP | None, group: str, depth: int = 0) -> Clause:
        """Someone or something is somewhere."""
        if subject is None:
            things = ("tool", "text", "cup", "garment", "gift")
            subject = (
                self.subject(depth=depth)
                if self.chance(0.6)
                else self.noun_phrase(
                    self.noun(things), kind=self.weighted({"the": 3, "my": 4}), depth=depth
                )
            )
        animate = subject.ref.human or subject.cls in ANIMAL
        where = (
            ("room", "at", "spot", "city", "country")
            if subject.ref.human
            else (
                ("room", "garden", "street", "park")
                if animate
                else ("table", "shelf", "kitchen")
                if subject.cls == "cup"
                else ("on", "on", "room")
            )
        )
        tense = {"past": "past", "before": "past", "future": "fut", "cond": "cond"}.get(group) or (
            "pres" if group == "now" or self.chance(0.65) else "past"
        )
        neg = "pas" if self.chance(0.12) else ""
        return Clause(
            subject,
            BE,
            tense,
            neg,
            tail=self.place(subject, where, subject.ref.human),
            contract=self.chance(0.75),
        )

    def trade(self, subject: NP | None, group: str, depth: int = 0) -> Clause:
        """Someone has a trade."""
        if subject is None or subject.cls == "job":
            kin = self.noun_phrase(self.noun(("kin",)), depth=depth)
            subject = self.rng.choice([self.name(), self.person_pronoun(), kin])
        tense = (
            self.weighted({"pres": 6, "past": 2, "fut": 1})
            if group == "any"
            else {"past": "past", "before": "past"}.get(group, "pres")
        )
        neg = "pas" if self.chance(0.1) else ""
        return Clause(
            subject,
            BE,
            tense,
            neg,
            predicate=Trade(self.noun(("job",))),
            contract=self.chance(0.75),
        )
