"""Sentences of one clause: statements, commands, and fixed patterns."""

from __future__ import annotations

from dataclasses import replace

from bilingual.circumstances import TIME_OF, WEATHER
from bilingual.clause import Clause, Keys
from bilingual.english_clause import be_form, english
from bilingual.french_clause import french
from bilingual.nouns import NUMBERS, PEERS
from bilingual.questions import Questions
from bilingual.realisation import realise
from bilingual.reference import NP, WE, pronoun
from bilingual.verbs import COMMANDS, DITRANSITIVE, MISS, WARNINGS
from bilingual.words import EMPTY, Frag, comma, en_words, fr_words, linked, new_key


class Sentences(Questions):
    """Draws sentences of one clause."""

    def statement(self, depth: int) -> Frag:
        """A declarative clause; its time may stand first."""
        group = self.weighted({"past": 3, "future": 2}) if self.chance(0.06) else "any"
        clause = self.clause(None, group, depth, time=group == "any")
        event = "state" not in (clause.modal or clause.verb).traits and clause.tense in (
            "past",
            "fut",
        )
        if event and (group != "any" or (clause.open and self.chance(0.4))):
            return self.time(TIME_OF[clause.tense], clause) + comma() + realise(clause)
        return realise(clause)

    def imperative(self, depth: int) -> Frag:
        """A command to tu or vous, or "Let's ..."."""
        if self.chance(0.14):
            return self.proposal(depth)
        neg = "pas" if self.chance(0.22) else ""
        who = NP(EMPTY, self.address(), "pron", new_key())
        verb = self.zipf(WARNINGS if neg and self.chance(0.5) else COMMANDS)
        clause = Clause(
            who,
            verb,
            "pres",
            neg,
            self.object(verb, who, "imp", bool(neg), 0 if verb in DITRANSITIVE else depth)
            if verb.object
            else None,
        )
        if verb in DITRANSITIVE:
            recipient = self.recipient(who)
            clause = replace(
                clause, recipient=recipient, recipient_first="double-object" in verb.traits
            )
        elif {"placeable", "needs-place"} & verb.traits and not verb.object:
            clause = replace(clause, tail=self.place_of(verb, who))
        return realise(clause, "imp")

    def proposal(self, depth: int) -> Frag:
        """Let's read the letter."""
        who = pronoun(WE)
        verb = self.zipf([verb for verb in COMMANDS if verb not in DITRANSITIVE])
        clause = Clause(
            who,
            verb,
            "pres",
            obj=self.object(verb, who, "imp", False, depth) if verb.object else None,
        )
        frag, key = realise(clause, "imp"), new_key()
        first = replace(frag.fr[0], keys=frag.fr[0].keys | {key})
        return Frag(en_words("let 's", key) + frag.en, (first, *frag.fr[1:]))

    def there_is(self, depth: int) -> Frag:
        """There is a book on the table."""
        tense = self.weighted({"pres": 3, "past": 2})
        where, classes = self.weighted(
            {
                ("table", "tool text cup food gift"): 3,
                ("room", "boy girl child dog cat"): 1,
                ("park garden street", "person bird tree dog"): 3,
                ("museum beach station market", "tourist man woman child policeman"): 2,
            }
        )
        noun = self.noun(tuple(classes.split()))
        neg = self.chance(0.2)
        plural = self.chance(0.5)
        kinds = (
            {"neg": 1}
            if neg
            else {"a": 3, "num": 2, "many": 1, "several": 1, "few": 1}
            if plural
            else {"a": 1}
        )
        np = self.noun_phrase(noun, kind=self.weighted(kinds), plural=plural, depth=0)
        key, no = new_key(), new_key()
        be = be_form(tense, np.ref)
        finite = "a" if tense == "pres" else "avait"
        en = en_words("there", key) + (
            en_words(be + "n", key) + en_words("'t", no) if neg else en_words(be, key)
        )
        fr = (
            fr_words("il", key) + (fr_words("ne", no) if neg else ()) + fr_words("y " + finite, key)
        )
        return (
            Frag(en, fr + (fr_words("pas", no) if neg else ()))
            + np.frag
            + self.place(None, tuple(where.split()))
        )

    def missing(self, depth: int) -> Frag:
        """I miss my sister - ma sœur me manque."""
        one = (
            self.person_pronoun()
            if self.chance(0.6)
            else self.name()
            if self.chance(0.5)
            else self.subject(short=True)
        )
        if self.chance(0.35):
            two = self.person_pronoun(avoid=one.ref)
        elif self.chance(0.6):
            two = self.noun_phrase(
                self.noun(("kin", "kin", "friend", "dog")), kind="my", near=one.ref, plain=True
            )
        else:
            two = self.name(avoid=one)
        tense = self.weighted({"pres": 5, "past": 2, "fut": 2})
        neg = "pas" if self.chance(0.15) else ""
        keys = Keys()
        en = english(Clause(one, MISS, tense, neg, two), keys, "decl")
        fr = french(Clause(two, MISS, tense, neg, one), keys, "decl")
        return Frag(en, fr)

    def age(self, depth: int) -> Frag:
        """My brother is ten years old."""
        np = (
            self.name()
            if self.chance(0.4)
            else self.noun_phrase(
                self.noun((*PEERS, "son", "daughter", "pet")), kind="my", plural=False, plain=True
            )
        )
        key, unit = new_key(), new_key()
        number, nombre = self.zipf(NUMBERS).split()
        return (
            np.frag
            + Frag(en_words("is", key), fr_words("a", key))
            + linked(number, nombre)
            + Frag(en_words("years old", unit), fr_words("ans", unit))
        )

    def weather(self, depth: int = 0, group: str = "") -> Frag:
        """It is raining."""
        group = group or self.weighted({"now": 2, "past": 2, "future": 2})
        return self.phrase(WEATHER[group])
