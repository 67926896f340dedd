"""What is said, known and asked, and stories whose second clause takes up the first."""

from __future__ import annotations

from dataclasses import replace

from bilingual.adjectives import ADJECTIVES
from bilingual.circumstances import MID_ADVERBS, VOCATIVES
from bilingual.clause import AdjP, Clause
from bilingual.complex_sentences import ComplexSentences
from bilingual.nouns import Noun
from bilingual.realisation import realise
from bilingual.reference import NP, Ref, accepts, pronoun
from bilingual.situations import CONJUNCTIONS, REASONS_AGAINST, SCRIPTS
from bilingual.verbs import (
    BE,
    CONTROL,
    DITRANSITIVE,
    FIND_BACK,
    INTRANSITIVE,
    KNOW,
    REPORTING,
    TELL,
    WONDER,
    Verb,
    verb_for,
)
from bilingual.words import EMPTY, Frag, comma, fr_words, linked, phrase, texts

CAN = next(verb for verb in CONTROL if verb.en == "can")
# a story speaks of "the film", "a film" or "this film", never of "my film"
UNOWNED_IN_STORIES = ("film", "song", "food", "plant", "picture", "tale", "person")
ASKED_TENSES = {"where": ("past", "pres", "prog"), "when": ("past", "fut", "going")}
ASKED_WHERE = ("find", "buy", "lose", "live", "work", "meet", "put")


def deed(np: NP, name: str) -> Verb:
    """The verb without object that tells what the noun phrase does."""
    return next(
        verb
        for verb in INTRANSITIVE
        if " ".join((verb.en, *verb.en_tail)) == name and accepts(verb.subject, np)
    )


def answers(clause: Clause, wh: str) -> bool:
    """Whether one may ask for the clause with the question word."""
    if clause.neg or clause.mid.fr or clause.modal:
        return False
    if wh in ("where", "when") and clause.tail.en:
        return False
    if wh == "where" and clause.verb.en not in ASKED_WHERE:
        return False
    if wh == "when" and "state" in clause.verb.traits:
        return False
    return clause.tense in ASKED_TENSES.get(wh, ("past", "pres", "prog", "fut"))


class Discourse(ComplexSentences):
    """Draws reports, indirect questions and stories."""

    def report(self, depth: int) -> Frag:
        """Someone thinks, knows or says that ..."""
        subject = self.subject(short=depth == 0)
        head = self.reporting(subject)
        self.open_reference = False
        past = {"before": 3, "cond": 2}
        group = self.weighted(past if head.tense == "past" else {"any": 4, "future": 2})
        who = self.second_subject(subject, depth)
        inner = self.clause(who, group, depth)
        while inner.tense in ("since", "used"):
            inner = self.clause(who, group, depth)
        pointing = texts(inner.subject.frag)[:1] in (["that"], ["those"])
        bare = (who.is_pronoun and self.chance(0.5)) or pointing
        that = Frag((), fr_words("que")) if bare else linked("that", "que")
        return realise(head) + that + realise(inner)

    def reporting(self, subject: NP) -> Clause:
        """The clause that a report depends on."""
        past = self.chance(0.4)
        if self.chance(0.25):
            told = self.recipient(subject)
            return Clause(subject, TELL, "past", recipient=told, recipient_first=True)
        verb = self.zipf(REPORTING)
        now = "state" in verb.traits or (verb.en == "say" and subject.ref.person == 3)
        return Clause(subject, verb, "pres" if now and not past else "past")

    def indirect_question(self, depth: int) -> Frag:
        """Someone does not know where, why, when or if ..."""
        subject = self.subject(short=True)
        wh, french = self.weighted(
            {
                ("why", "pourquoi"): 3,
                ("when", "quand"): 1.5,
                ("if", "si"): 3,
                ("where", "où"): 2,
            }
        )
        self.open_reference = False
        if wh == "if" and self.chance(0.5):
            head = Clause(subject, WONDER, "prog" if self.chance(0.3) else "pres")
        else:
            head = Clause(subject, KNOW, "pres", "pas" if wh == "if" or self.chance(0.6) else "")
        who = self.other_subject(subject, depth)
        while True:
            inner = self.clause(who, "any", depth, short=True)
            if answers(inner, wh):
                return realise(head) + linked(wh, french) + realise(inner)

    def script(self, depth: int) -> Frag:
        """Two clauses where the second takes up the object of the first as a pronoun."""
        classes, verb1, tense1, conj, kind, what, tense2 = self.rng.choice(SCRIPTS)
        neg1, verb1 = ("pas", verb1[1:]) if verb1.startswith("-") else ("", verb1)
        neg2, tense2 = ("pas", tense2[1:]) if tense2.startswith("-") else ("", tense2)
        noun = self.noun(tuple(classes.split()))
        subject = self.subject(short=not self.chance(self.rich), depth=depth)
        verb = verb_for(verb1, noun.cls, noun.en)
        # a singular antecedent after a plural subject, lest "they" have two antecedents
        plural = (
            False
            if noun.cls == "transit" or (subject.ref.person == 3 and subject.ref.plural)
            else None
        )
        kind1 = self.antecedent_determiner(noun, verb, bool(neg1))
        np = self.noun_phrase(noun, kind=kind1, plural=plural, near=subject.ref, plain=kind == "is")
        if kind1 == "the" and self.chance(self.rich) and self.object_verbs(noun, ""):
            relative = self.relative_object(noun, np.ref, 0)
            np = replace(np, frag=np.frag + replace(relative, open=True)) if relative else np
        first = Clause(subject, verb, tense1, neg1, np, contract=self.chance(0.75))
        if tense1 == "past" and not np.frag.open and not np.heavy and self.chance(0.35):
            first = replace(first, tail=self.time("past", first))
        self.open_reference = False
        return (
            realise(first)
            + linked(conj, CONJUNCTIONS[conj])
            + self.sequel(subject, np, kind, what, tense2, neg2)
        )

    def antecedent_determiner(self, noun: Noun, verb: Verb, neg: bool) -> str:
        """The determiner of a noun that a pronoun will take up."""
        if noun.cls == "city":
            return ""
        if noun.cls == "kin":
            return "my"
        if noun.cls in ("bread", "drink", "at", "transit", "topic"):
            return "the"
        kinds = ["the", "this"] + ["a"] * (not neg)
        if verb.en != "buy" and noun.cls not in UNOWNED_IN_STORIES:
            kinds.append("my")
        return self.rng.choice(kinds)

    def sequel(self, subject: NP, np: NP, kind: str, what: str, tense: str, neg: str) -> Frag:
        """The second clause of a script."""
        it = pronoun(np.ref)
        contract = self.chance(0.75)
        if kind == "is":
            quality = self.quality(np, what)
            return realise(Clause(it, BE, tense, neg, predicate=quality, contract=contract))
        if kind == "does":
            verb = deed(np, what)
            return realise(Clause(it, verb, tense, neg, contract=contract))
        other = kind == "other"
        who = self.other_subject(subject) if other else self.same_subject(subject)
        if kind == "give":
            verb = next(verb for verb in DITRANSITIVE if verb.en == what)
            recipient = self.third_person(subject)
            return realise(Clause(who, verb, tense, neg, it, recipient, contract=contract))
        modal = CAN if kind == "can" else None
        verb = verb_for(what, np.cls, np.noun.en) if what != "find back" else FIND_BACK
        habit = tense == "pres" and "state" not in verb.traits and not modal
        mid = self.phrase(MID_ADVERBS[:1]) if habit else EMPTY
        return realise(Clause(who, verb, tense, neg, it, modal=modal, mid=mid, contract=contract))

    def quality(self, np: NP, names: str) -> AdjP:
        """One of the adjectives, with a degree that fits a reason for or against."""
        options = [
            adj for adj in ADJECTIVES if adj.en in names.split() and accepts(adj.classes, np)
        ]
        adj = self.rng.choice(options)
        if "absolute" in adj.traits or self.chance(0.4):
            return AdjP(adj)
        too = names in REASONS_AGAINST and self.chance(0.7)
        return AdjP(adj, phrase("too/a = trop/a" if too else "very/a = très/a"))

    def third_person(self, subject: NP) -> NP:
        """A recipient other than the speaker and the hearer."""
        while True:
            recipient = self.recipient(subject)
            if not recipient.is_pronoun or recipient.ref.person == 3:
                return recipient

    def joined(self, depth: int) -> Frag:
        """Two sentences of any declarative type in one."""
        kinds = {
            "statement": 3,
            "because": 2,
            "subordination": 3,
            "report": 2,
            "script": 3,
            "coordination": 2,
        }
        first = getattr(self, self.weighted(kinds))(1)
        self.open_reference = False
        second = getattr(self, self.weighted(kinds))(1)
        return (
            first
            + comma()
            + linked(*self.weighted({("and", "et"): 3, ("but", "mais"): 2}))
            + second
        )

    def vocative(self) -> tuple[Frag, Ref]:
        """Someone addressed by name or title, and the referent of "you"."""
        if self.chance(0.35):
            np = self.name()
            return np.frag, Ref(2, False, np.ref.fem)
        notation, (plural, fem, vous) = self.zipf(VOCATIVES)
        return phrase(notation), Ref(2, plural, fem, vous)
