"""Questions for yes or no, and with a question word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bilingual.clause import AdjP, Clause
from bilingual.english_clause import be_form
from bilingual.french_forms import conjugate
from bilingual.nouns import HUMAN, Noun
from bilingual.realisation import realise
from bilingual.reference import NP, Ref, pronoun
from bilingual.relatives import Relatives
from bilingual.verbs import INTRANSITIVE, VERBS, Verb
from bilingual.words import EMPTY, Frag, en_words, fr_words, linked, new_key, phrase


class Questions(Relatives):
    """Draws questions."""

    def yes_no(self, depth: int) -> Frag:
        """A question for yes or no."""
        subject = pronoun(self.address()) if self.chance(0.45) else None
        while True:
            c = self.clause(subject, "any", depth)
            modal_ok = c.modal is None or (not c.neg and c.modal.en != "must")
            if (
                c.tense != "used"
                and c.subject.ref.person != 1
                and c.neg in ("", "pas")
                and modal_ok
            ):
                return realise(replace(c, contract=True), "ask")

    def wh_question(self, depth: int) -> Frag:
        """A question with where, when, why, what, who, which, how many."""
        return getattr(
            self,
            "ask_"
            + self.weighted(
                {
                    "where": 3,
                    "when": 2,
                    "why": 4,
                    "what": 3,
                    "who": 3,
                    "whom": 2,
                    "which": 4,
                    "many": 2,
                    "be_where": 2,
                    "age": 1,
                    "time": 1,
                }
            ),
        )(depth)

    def asked(self, wh: Frag, c: Clause) -> Frag:
        """A question word before an inverted clause."""
        return wh + realise(replace(c, contract=True), "ask")

    def asker_subject(self) -> NP:
        """The subject of a question."""
        while True:
            np = pronoun(self.address()) if self.chance(0.4) else self.subject(short=True)
            if np.ref.person != 1:
                return np

    def positive(self, make: Callable[[], Clause], tenses: Sequence[str]) -> Clause:
        """A clause without negation or modal in one of the tenses, without time or place."""
        while True:
            c = make()
            if (
                not c.neg
                and not c.modal
                and c.tense in tenses
                and not c.mid.fr
                and c.subject.ref.person != 1
            ):
                return replace(c, tail=EMPTY)

    def ask_where(self, depth: int) -> Frag:
        """Where ...?"""
        names = (
            "find",
            "buy",
            "lose",
            "live",
            "work",
            "sleep",
            "meet",
            "hide",
            "see",
            "wait",
            "eat",
            "play",
            "learn",
        )
        c = self.positive(
            lambda: self.clause(self.asker_subject()), ("past", "pres", "prog", "fut")
        )
        if c.verb.en not in names:
            return self.ask_where(depth)
        return self.asked(linked("where", "où"), c)

    def ask_when(self, depth: int) -> Frag:
        """When ...?"""
        c = self.positive(lambda: self.clause(self.asker_subject()), ("past", "fut", "going"))
        if "state" in c.verb.traits:
            return self.ask_when(depth)
        return self.asked(linked("when", "quand"), c)

    def ask_why(self, depth: int) -> Frag:
        """Why ...?"""
        while True:
            c = self.clause(self.asker_subject(), "any", depth)
            if (
                c.tense in ("past", "prog", "pres")
                and c.neg in ("", "pas")
                and not c.mid.fr
                and not c.modal
                and not (
                    isinstance(c.predicate, AdjP)
                    and (c.predicate.relation or "mood" not in c.predicate.adj.traits)
                )
            ):
                return self.asked(linked("why", "pourquoi"), c)

    def ask_what(self, depth: int) -> Frag:
        """What ...?"""
        names = (
            "eat",
            "read",
            "buy",
            "drink",
            "write",
            "look",
            "find",
            "prepare",
            "learn",
            "choose",
            "lose",
            "see",
        )
        verb = self.zipf(
            [v for v in VERBS if v.en in names and not v.fr_prep and v.fr != "regarder"]
        )
        tense = self.tense(verb, self.weighted({"now": 3, "past": 3, "future": 1}))
        tense = "past" if tense == "perf" else tense
        c = self.timed(Clause(self.asker_subject(), verb, tense))
        what = new_key()
        return self.asked(Frag(en_words("what", what), fr_words("que", what)), c)

    def ask_whom(self, depth: int) -> Frag:
        """Who did you see?"""
        names = ("see", "meet", "call", "help", "invite", "thank", "look", "wait")
        verb = self.zipf(
            [
                v
                for v in VERBS
                if v.en in names and "pron" in v.object and not v.fr_prep and v.fr != "regarder"
            ]
        )
        tense = (
            "prog"
            if "punctual" not in verb.traits and self.chance(0.5)
            else self.weighted({"past": 3, "fut": 1})
        )
        return self.asked(
            linked("who", "qui"), self.timed(Clause(self.asker_subject(), verb, tense))
        )

    def ask_who(self, depth: int) -> Frag:
        """Who is singing?"""
        subject = NP(linked("who", "qui"), Ref(), "name")
        while True:
            c = self.clause(subject, self.weighted({"past": 3, "now": 3, "future": 1}), 0)
            if (
                c.subject is subject
                and not c.neg
                and not (isinstance(c.predicate, AdjP) and c.predicate.relation)
            ):
                return realise(c)

    def ask_which(self, depth: int) -> Frag:
        """Which letters did you read? - the participle agrees."""
        verb = self.zipf(
            [
                v
                for v in VERBS
                if v.en
                in (
                    "see",
                    "buy",
                    "read",
                    "choose",
                    "take",
                    "write",
                    "sell",
                    "repair",
                    "open",
                    "wear",
                    "eat",
                    "wash",
                )
                and not v.reflexive
            ]
        )
        noun = self.noun(tuple(cls for cls in verb.object if cls not in HUMAN | {"bread"}))
        plural = self.chance(0.45)
        ref = Ref(3, plural, noun.fem, human=False)
        return self.asked(self.which(noun, ref), self.gapped(verb, ref))

    def which(self, noun: Noun, ref: Ref) -> Frag:
        """which letters - quelles lettres"""
        quel = ("quels", "quelles", "quel", "quelle")[2 * (not ref.plural) + ref.fem]
        return linked("which", quel) + (
            linked(noun.en_plural, noun.fr_plural) if ref.plural else linked(noun.en, noun.fr)
        )

    def gapped(self, verb: Verb, ref: Ref) -> Clause:
        """A clause whose object stands before it."""
        tense = self.weighted({"past": 5, "fut": 1, "prog": 0 if "punctual" in verb.traits else 2})
        return self.timed(Clause(self.asker_subject(), verb, tense, gap=ref))

    def ask_many(self, depth: int) -> Frag:
        """How many apples did you eat?"""
        verb = self.zipf(
            [
                v
                for v in VERBS
                if v.en
                in (
                    "see",
                    "buy",
                    "read",
                    "eat",
                    "write",
                    "sell",
                    "find",
                    "plant",
                    "draw",
                    "invite",
                    "break",
                )
                and not v.reflexive
            ]
        )
        noun = self.noun(
            tuple(cls for cls in verb.object if cls not in ("name", "pron", "kin", "boss", "bread"))
        )
        ref = Ref(3, True, noun.fem, human=noun.cls in HUMAN)
        if noun.cls == "bread":
            return self.ask_many(depth)
        wh = linked("how many", "combien de") + linked(noun.en_plural, noun.fr_plural)
        return self.asked(wh, self.gapped(verb, ref))

    def ask_be_where(self, depth: int) -> Frag:
        """Where is the key?"""
        noun = self.noun(("tool", "text", "gift", "garment", "kin", "at", "pet"))
        np = self.noun_phrase(noun, plain=True, kind="the" if noun.cls == "at" else "my", near=None)
        be = linked(be_form("pres", np.ref), conjugate("être", "pres", np.ref.slot_fr))
        return linked("where", "où") + be + np.frag

    def ask_age(self, depth: int) -> Frag:
        """How old is your sister?"""
        np = self.noun_phrase(self.noun(("kin", "pet")), plain=True, kind="my", plural=False)
        key, age = new_key(), new_key()
        return (
            Frag(
                en_words("how old", age) + en_words("is", key),
                fr_words("quel âge", age) + fr_words("a", key),
            )
            + np.frag
        )

    def ask_time(self, depth: int) -> Frag:
        """What time will the train arrive?"""
        verb = self.zipf(
            [
                v
                for v in INTRANSITIVE
                if v.en in ("leave", "arrive", "get", "wake", "go") and v.fr != "sortir"
            ]
        )
        c = Clause(
            self.subject_of(verb, short=True),
            verb,
            self.weighted({"fut": 2, "past": 2, "going": 1}),
        )
        return self.asked(phrase("what/a time/b = à/a quelle/a heure/b"), c)
