"""Questions for yes or no, and with a question word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bilingual.clause import AdjP, Clause
from bilingual.english_clause import be_form
from bilingual.french_forms import conjugate
from bilingual.nouns import HUMAN, Noun
from bilingual.realisation import realise
from bilingual.reference import NP, Ref, pronoun
from bilingual.relatives import Relatives
from bilingual.verbs import INTRANSITIVE, VERBS, Verb, verbs_named
from bilingual.words import EMPTY, Frag, linked, phrase

# what one asks for with "where", "what", "who", "which", "how many" and "what time"
LOCATED = set("find buy lose live work sleep meet see wait eat play learn".split())
PLAIN_VERBS = [verb for verb in VERBS if not verb.fr_prep and verb.fr != "regarder"]
WHAT_VERBS = verbs_named(
    PLAIN_VERBS, "eat read buy drink write look find prepare learn choose lose see"
)
WHOM_VERBS = [
    verb
    for verb in verbs_named(PLAIN_VERBS, "see meet call help invite look wait")
    if "pron" in verb.object
]
OWN_VERBS = [verb for verb in VERBS if not verb.reflexive]
WHICH_VERBS = verbs_named(
    OWN_VERBS, "see buy read choose take write sell repair open wear eat wash"
)
MANY_VERBS = verbs_named(OWN_VERBS, "see buy read eat write sell find invite break")
TIME_VERBS = [
    verb for verb in verbs_named(INTRANSITIVE, "leave arrive get wake go") if verb.fr != "sortir"
]


class Questions(Relatives):
    """Draws questions."""

    def yes_no(self, depth: int) -> Frag:
        """A question for yes or no."""
        subject = pronoun(self.address()) if self.chance(0.45) else None
        while True:
            clause = self.clause(subject, "any", depth)
            modal_fits = clause.modal is None or (not clause.neg and clause.modal.en != "must")
            simple = clause.tense != "used" and clause.neg in ("", "pas")
            if simple and modal_fits and clause.subject.ref.person != 1:
                return realise(replace(clause, contract=True), "ask")

    def wh_question(self, depth: int) -> Frag:
        """A question with where, when, why, what, who, which, how many."""
        table = {
            "where": 3, "when": 2, "why": 4, "what": 3, "who": 3, "whom": 2, "which": 4, "many": 2, "be_where": 2,
            "age": 1, "time": 1,
        }  # fmt: skip
        return getattr(self, "ask_" + self.weighted(table))(depth)

    def asked(self, wh: Frag, clause: Clause) -> Frag:
        """A question word before an inverted clause."""
        return wh + realise(replace(clause, contract=True), "ask")

    def asker_subject(self) -> NP:
        """The subject of a question."""
        while True:
            np = pronoun(self.address()) if self.chance(0.4) else self.subject(short=True)
            if np.ref.person != 1:
                return np

    def positive(self, tenses: Sequence[str]) -> Clause:
        """A clause without negation or modal in one of the tenses, without time or place."""
        while True:
            clause = self.clause(self.asker_subject())
            plain = not (clause.neg or clause.modal or clause.mid.fr)
            if plain and clause.tense in tenses and clause.subject.ref.person != 1:
                return replace(clause, tail=EMPTY)

    def ask_where(self, depth: int) -> Frag:
        """Where ...?"""
        clause = self.positive(("past", "pres", "prog", "fut"))
        if clause.verb.en not in LOCATED:
            return self.ask_where(depth)
        return self.asked(linked("where", "où"), clause)

    def ask_when(self, depth: int) -> Frag:
        """When ...?"""
        clause = self.positive(("past", "fut", "going"))
        if "state" in clause.verb.traits:
            return self.ask_when(depth)
        return self.asked(linked("when", "quand"), clause)

    def ask_why(self, depth: int) -> Frag:
        """Why ...?"""
        while True:
            clause = self.clause(self.asker_subject(), "any", depth)
            state = clause.predicate
            lasting = isinstance(state, AdjP) and (state.relation or "mood" not in state.adj.traits)
            modified = clause.neg not in ("", "pas") or clause.mid.fr or clause.modal
            if clause.tense in ("past", "prog", "pres") and not modified and not lasting:
                return self.asked(linked("why", "pourquoi"), clause)

    def ask_what(self, depth: int) -> Frag:
        """What ...?"""
        verb = self.zipf(WHAT_VERBS)
        tense = self.tense(verb, self.weighted({"now": 3, "past": 3, "future": 1}))
        tense = "past" if tense == "perf" else tense
        clause = self.timed(Clause(self.asker_subject(), verb, tense))
        return self.asked(linked("what", "que"), clause)

    def ask_whom(self, depth: int) -> Frag:
        """Who did you see?"""
        verb = self.zipf(WHOM_VERBS)
        ongoing = "punctual" not in verb.traits and self.chance(0.5)
        tense = "prog" if ongoing else self.weighted({"past": 3, "fut": 1})
        clause = self.timed(Clause(self.asker_subject(), verb, tense))
        return self.asked(linked("who", "qui"), clause)

    def ask_who(self, depth: int) -> Frag:
        """Who is singing?"""
        subject = NP(linked("who", "qui"), Ref(), "name")
        while True:
            clause = self.clause(subject, self.weighted({"past": 3, "now": 3, "future": 1}), 0)
            compares = isinstance(clause.predicate, AdjP) and clause.predicate.relation
            if clause.subject is subject and not clause.neg and not compares:
                return realise(clause)

    def ask_which(self, depth: int) -> Frag:
        """Which letters did you read? - the participle agrees."""
        verb = self.zipf(WHICH_VERBS)
        noun = self.noun(tuple(cls for cls in verb.object if cls not in HUMAN | {"bread"}))
        ref = Ref(3, self.chance(0.45), noun.fem, human=False)
        return self.asked(self.which(noun, ref), self.gapped(verb, ref))

    def which(self, noun: Noun, ref: Ref) -> Frag:
        """The words "which letters" and "quelles lettres", for instance."""
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
        verb = self.zipf(MANY_VERBS)
        uncounted = ("name", "pron", "kin", "boss", "bread")
        noun = self.noun(tuple(cls for cls in verb.object if cls not in uncounted))
        ref = Ref(3, True, noun.fem, human=noun.cls in HUMAN)
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
        return linked("how old", "quel âge") + linked("is", "a") + np.frag

    def ask_time(self, depth: int) -> Frag:
        """What time will the train arrive?"""
        verb = self.zipf(TIME_VERBS)
        subject = self.subject_of(verb, short=True)
        clause = Clause(subject, verb, self.weighted({"fut": 2, "past": 2, "going": 1}))
        return self.asked(phrase("what/a time/b = à/a quelle/a heure/b"), clause)
