"""Clauses around a full verb: transitive, intransitive, with a recipient, with a place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bilingual.adverbials import Adverbials, with_manner
from bilingual.circumstances import MANNER
from bilingual.clause import Clause
from bilingual.reference import NP, accepts
from bilingual.verbs import DITRANSITIVE, INTRANSITIVE, PLACING, UNPLANNED, VERBS, Verb


def candidates(
    verbs: Sequence[Verb], subject: NP | None, ok: Callable[[Verb], bool] = lambda verb: True
) -> list[Verb]:
    """The verbs that admit a subject and pass a test."""
    return [
        verb for verb in verbs if ok(verb) and (subject is None or accepts(verb.subject, subject))
    ]


# what people can mean to do
PLANNED = [
    verb
    for verb in INTRANSITIVE
    if verb.traits.isdisjoint({"state", "needs-place"}) and verb.en not in UNPLANNED
]


class Frames(Adverbials):
    """Draws clauses by the frame of their verb."""

    def verb(
        self,
        verbs: Sequence[Verb],
        subject: NP | None,
        ok: Callable[[Verb], bool] = lambda verb: True,
    ) -> Verb:
        """A verb that admits the subject and passes the test."""
        return self.zipf(candidates(verbs, subject, ok))

    def transitive(self, subject: NP | None, group: str, depth: int, plain: bool = False) -> Clause:
        """A verb with an object."""
        planned = plain or group in ("future", "cond")
        verb = self.verb(
            VERBS,
            subject,
            lambda verb: not (planned and ("state" in verb.traits or verb.en in UNPLANNED)),
        )
        subject = subject or self.subject_of(verb, depth=depth)
        tense = self.tense(verb, group)
        neg = self.negation(verb, tense)
        if tense == "pres" and "destination" in verb.traits:
            neg = ""
        obj = self.object(verb, subject, tense, bool(neg), depth)
        clause = Clause(subject, verb, tense, neg, obj, contract=self.chance(0.75))
        if neg == "plus" and obj.frag.open:
            clause = replace(clause, neg="pas")
        if "placeable" in verb.traits and self.chance(0.16) and not (obj.frag.open or obj.heavy):
            clause = replace(clause, tail=self.place_of(verb, subject))
        return clause

    def intransitive(
        self, subject: NP | None, group: str, depth: int, plain: bool = False
    ) -> Clause:
        """A verb without object, perhaps with a place or an adverb of manner."""
        planned = plain or group in ("future", "cond")
        if planned and (subject is None or subject.ref.human):
            verbs = [verb for verb in PLANNED if not (plain and verb.en == "arrive")]
        else:
            verbs = INTRANSITIVE
        verb = self.verb(verbs, subject)
        subject = subject or self.subject_of(verb, depth=depth)
        tense = self.tense(verb, group)
        neg = self.negation(verb, tense)
        clause = Clause(subject, verb, tense, neg, contract=self.chance(0.75))
        if "needs-place" in verb.traits or ("placeable" in verb.traits and self.chance(0.45)):
            return replace(clause, tail=self.place_of(verb, subject, depth))
        # a device that works does so without manner
        mannered = verb.en in MANNER and "pron" in verb.subject
        if mannered and self.chance(0.4) and not plain and tense not in ("prog", "just", "perf"):
            return with_manner(clause, self.phrase(MANNER[verb.en]))
        return clause

    def ditransitive(self, subject: NP | None, group: str, depth: int) -> Clause:
        """A verb with an object and a recipient."""
        verb = self.verb(DITRANSITIVE, subject)
        subject = subject or self.subject(depth=depth)
        tense = self.tense(verb, group)
        neg = self.negation(verb, tense)
        recipient = self.recipient(subject)
        first = (
            "double-object" in verb.traits
            and (verb.en in ("tell", "ask") or self.chance(0.5))
            and not recipient.heavy
        )
        # an object with a relative clause must stand last in both languages
        last = first and recipient.is_pronoun
        obj = self.object(verb, subject, tense, bool(neg), depth if last else 0)
        if verb.en == "ask":
            obj = self.noun_phrase(self.noun(("question",)), kind="neg" if neg else "a", plain=True)
        if neg == "plus" and obj.frag.open:
            neg = "pas"
        return Clause(subject, verb, tense, neg, obj, recipient, first, contract=self.chance(0.75))

    def placing(self, subject: NP | None, group: str, depth: int) -> Clause:
        """Something left or put somewhere."""
        verb = self.verb(PLACING, subject)
        subject = subject or self.subject(depth=depth)
        tense = self.tense(verb, group)
        neg = self.negation(verb, tense)
        noun = self.noun(verb.object)
        obj = self.noun_phrase(
            noun, kind=self.weighted({"the": 2, "my": 3, "this": 1}), near=subject.ref
        )
        where = ("on", "on", "room") if verb.en == "put" or self.chance(0.4) else ("room", "at")
        return Clause(
            subject,
            verb,
            tense,
            neg,
            obj,
            tail=self.place(subject, where),
            contract=self.chance(0.75),
        )
