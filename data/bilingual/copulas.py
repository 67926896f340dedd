"""Clauses around "be": a quality, a comparison, a place, a trade."""

from __future__ import annotations

from bilingual.adjectives import ADJECTIVES, DEGREES, EXCESSIVE, Adj
from bilingual.clause import AdjP, Clause, Trade
from bilingual.frames import Frames
from bilingual.nouns import ANIMAL, PEERS
from bilingual.reference import NP, accepts
from bilingual.verbs import BE
from bilingual.words import EMPTY, Frag, texts

# qualities of a person that last, and that are compared among brothers and sisters only
OF_AGE_AND_SIZE = ("old", "young", "tall")


def places_for(subject: NP) -> tuple[str, ...]:
    """The classes of places where the subject may be."""
    if subject.ref.human:
        return ("room", "at", "spot", "city", "country")
    if subject.cls in ANIMAL:
        return ("room", "garden", "street", "park")
    return ("table", "kitchen") if subject.cls == "cup" else ("on", "on", "room")


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
        predicate = self.predicate(subject, adj)
        tense = self.be_tense(group, 0.7, lasting=adj.en in OF_AGE_AND_SIZE)
        neg = ""
        if not predicate.relation and not predicate.degree.en and self.chance(0.2):
            neg = self.weighted({"pas": 4, "plus": "mood" in adj.traits})
        return Clause(subject, BE, tense, neg, predicate=predicate, contract=self.chance(0.75))

    def predicate(self, subject: NP, adj: Adj) -> AdjP:
        """The adjective alone, with a degree, or in a comparison of people of one kind."""
        if "absolute" in adj.traits:
            return AdjP(adj)
        if self.chance(0.3):
            return AdjP(adj, self.degree(adj))
        comparable = subject.ref.human and "mood" not in adj.traits
        peer = adj.en not in OF_AGE_AND_SIZE or subject.noun is None or subject.noun.en in PEERS
        if comparable and self.chance(0.35) and peer:
            other = self.compared(subject)
            return AdjP(adj, EMPTY, other.frag, self.weighted({"more": 3, "as": 1}))
        return AdjP(adj)

    def compared(self, subject: NP) -> NP:
        """Someone to compare the subject with."""
        if self.chance(0.5):
            return self.name(avoid=subject)
        noun = self.noun(PEERS)
        return self.noun_phrase(noun, near=subject.ref, plain=True, kind="my", plural=False)

    def be_tense(self, group: str, present: float, lasting: bool = False) -> str:
        """A tense of "be"; `present` is the probability of the present where both would do."""
        fixed = {"past": "past", "before": "past", "future": "fut", "cond": "cond", "now": "pres"}
        return fixed.get(group) or ("pres" if self.chance(present) or lasting else "past")

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
            subject = self.subject(depth=depth) if self.chance(0.6) else self.movable(depth)
        tense = self.be_tense(group, 0.65)
        neg = "pas" if self.chance(0.12) else ""
        place = self.place(subject, places_for(subject), subject.ref.human)
        return Clause(subject, BE, tense, neg, tail=place, contract=self.chance(0.75))

    def movable(self, depth: int) -> NP:
        """A thing that may lie about."""
        noun = self.noun(("tool", "text", "cup", "garment", "gift"))
        return self.noun_phrase(noun, kind=self.weighted({"the": 3, "my": 4}), depth=depth)

    def trade(self, subject: NP | None, group: str, depth: int = 0) -> Clause:
        """Someone has a trade."""
        if subject is None or subject.cls == "job":
            kin = self.noun_phrase(self.noun(("kin",)), depth=depth)
            subject = self.rng.choice([self.name(), self.person_pronoun(), kin])
        tense = {"past": "past", "before": "past"}.get(group, "pres")
        if group == "any":
            tense = self.weighted({"pres": 6, "past": 2, "fut": 1})
        neg = "pas" if self.chance(0.1) else ""
        job = Trade(self.noun(("job",)))
        return Clause(subject, BE, tense, neg, predicate=job, contract=self.chance(0.75))
