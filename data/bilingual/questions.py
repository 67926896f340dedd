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
            clause = self.clause(subject, "any", depth)
            modal_ok = clause.modal is None or (not clause.neg and clause.modal.en != "must")
            if (
                clause.tense != "used"
                and clause.subject.ref.person != 1
                and clause.neg in ("", "pas")
                and modal_ok
            ):
                return realise(replace(clause, contract=True), "ask")

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

    def asked(self, wh: Frag, clause: Clause) -> Frag:
        """A question word before an inverted clause."""
        return wh + realise(replace(clause, contract=True), "ask")

    def asker_subject(self) -> NP:
        """The subject of a question."""
        while True:
            np = pronoun(self.address()) if self.chance(0.4) else self.subject(short=True)
            if np.ref.person != 1:
                return np

    def positive(self, make: Callable[[], Clause], tenses: Sequence[str]) -> Clause:
        """A clause without negation or modal in one of the tenses, without time or place."""
        while True:
            clause = make()
            if (
                not clause.neg
                and not clause.modal
                and clause.tense in tenses
                and not clause.mid.fr
                and clause.subject.ref.person != 1
            ):
                return replace(clause, tail=EMPTY)

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
        clause = self.positive(
            lambda: self.clause(self.asker_subject()), ("past", "pres", "prog", "fut")
        )
        if clause.verb.en not in names:
            return self.ask_where(depth)
        return self.asked(linked("where", "où"), clause)

    def ask_when(self, depth: int) -> Frag:
        """When ...?"""
        clause = self.positive(lambda: self.clause(self.asker_subject()), ("past", "fut", "going"))
        if "state" in clause.verb.traits:
            return self.ask_when(depth)
        return self.asked(linked("when", "quand"), clause)

    def ask_why(self, depth: int) -> Frag:
        """Why ...?"""
        while True:
            clause = self.clause(self.asker_subject(), "any", depth)
            if (
                clause.tense in ("past", "prog", "pres")
                and clause.neg in ("", "pas")
                and not clause.mid.fr
                and not clause.modal
                and not (
                    isinstance(clause.predicate, AdjP)
                    and (clause.predicate.relation or "mood" not in clause.predicate.adj.traits)
                )
            ):
                return self.asked(linked("why", "pourquoi"), clause)

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
            [
                verb
                for verb in VERBS
                if verb.en in names and not verb.fr_prep and verb.fr != "regarder"
            ]
        )
        tense = self.tense(verb, self.weighted({"now": 3, "past": 3, "future": 1}))
        tense = "past" if tense == "perf" else tense
        clause = self.timed(Clause(self.asker_subject(), verb, tense))
        what = new_key()
        return self.asked(Frag(en_words("what", what), fr_words("que", what)), clause)

    def ask_whom(self, depth: int) -> Frag:
        """Who did you see?"""
        names = ("see", "meet", "call", "help", "invite", "thank", "look", "wait")
        verb = self.zipf(
            [
                verb
                for verb in VERBS
                if verb.en in names
                and "pron" in verb.object
                and not verb.fr_prep
                and verb.fr != "regarder"
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
            clause = self.clause(subject, self.weighted({"past": 3, "now": 3, "future": 1}), 0)
            if (
                clause.subject is subject
                and not clause.neg
                and not (isinstance(clause.predicate, AdjP) and clause.predicate.relation)
            ):
                return realise(clause)

    def ask_which(self, depth: int) -> Frag:
        """Which letters did you read? - the participle agrees."""
        verb = self.zipf(
            [
                verb
                for verb in VERBS
                if verb.en
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
                and not verb.reflexive
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
                verb
                for verb in VERBS
                if verb.en
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
                and not verb.reflexive
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
                verb
                for verb in INTRANSITIVE
                if verb.en in ("leave", "arrive", "get", "wake", "go") and verb.fr != "sortir"
            ]
        )
        clause = Clause(
            self.subject_of(verb, short=True),
            verb,
            self.weighted({"fut": 2, "past": 2, "going": 1}),
        )
        return self.asked(phrase("what/a time/b = à/a quelle/a heure/b"), clause)
