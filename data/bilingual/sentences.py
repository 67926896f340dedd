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
from bilingual.reference import NP, WE, Ref, pronoun
from bilingual.verbs import COMMANDS, DITRANSITIVE, MISS, WARNINGS
from bilingual.words import Frag, comma, en_words, fr_words, linked, new_key

# places, and who or what may be there
SCENES = {
    ("table", "tool text cup food gift"): 3,
    ("room", "boy girl child dog cat"): 1,
    ("park garden street", "person bird tree dog"): 3,
    ("museum beach station market", "tourist man woman child"): 2,
}


def existence(tense: str, ref: Ref, neg: bool) -> Frag:
    """The words "there is" with their negation."""
    key, no = new_key(), new_key()
    be = be_form(tense, ref)
    finite = "y a" if tense == "pres" else "y avait"
    if not neg:
        return Frag(en_words("there " + be, key), fr_words("il " + finite, key))
    french = fr_words("il", key) + fr_words("ne", no) + fr_words(finite, key) + fr_words("pas", no)
    return Frag(en_words(f"there {be}n", key) + en_words("'t", no), french)


class Sentences(Questions):
    """Draws sentences of one clause."""

    def statement(self, depth: int) -> Frag:
        """A declarative clause; its time may stand first."""
        group = self.weighted({"past": 3, "future": 2}) if self.chance(0.06) else "any"
        clause = self.clause(None, group, depth, time=group == "any")
        state = "state" in (clause.modal or clause.verb).traits
        if state or clause.tense not in ("past", "fut"):
            return realise(clause)
        if group != "any" or (clause.open and self.chance(0.4)):
            return self.time(TIME_OF[clause.tense], clause) + comma() + realise(clause)
        return realise(clause)

    def imperative(self, depth: int) -> Frag:
        """A command to tu or vous, or "Let's ..."."""
        if self.chance(0.14):
            return self.proposal(depth)
        neg = "pas" if self.chance(0.22) else ""
        who = pronoun(self.address())
        verb = self.zipf(WARNINGS if neg and self.chance(0.5) else COMMANDS)
        clause = Clause(who, verb, "pres", neg)
        if verb.object:
            extent = 0 if verb in DITRANSITIVE else depth
            clause = replace(clause, obj=self.object(verb, who, "imp", bool(neg), extent))
        if verb in DITRANSITIVE:
            first = "double-object" in verb.traits
            clause = replace(clause, recipient=self.recipient(who), recipient_first=first)
        elif {"placeable", "needs-place"} & verb.traits and not verb.object:
            clause = replace(clause, tail=self.place_of(verb, who))
        return realise(clause, "imp")

    def proposal(self, depth: int) -> Frag:
        """Let's read the letter."""
        who = pronoun(WE)
        verb = self.zipf([verb for verb in COMMANDS if verb not in DITRANSITIVE])
        obj = self.object(verb, who, "imp", False, depth) if verb.object else None
        frag, key = realise(Clause(who, verb, "pres", obj=obj), "imp"), new_key()
        first = replace(frag.fr[0], keys=frag.fr[0].keys | {key})
        return Frag(en_words("let 's", key) + frag.en, (first, *frag.fr[1:]))

    def there_is(self, depth: int) -> Frag:
        """There is a book on the table."""
        tense = self.weighted({"pres": 3, "past": 2})
        where, classes = self.weighted(SCENES)
        noun = self.noun(tuple(classes.split()))
        neg = self.chance(0.2)
        plural = self.chance(0.5)
        several = {"a": 3, "num": 2, "many": 1, "several": 1, "few": 1}
        kind = self.weighted({"neg": 1} if neg else several if plural else {"a": 1})
        np = self.noun_phrase(noun, kind=kind, plural=plural)
        return existence(tense, np.ref, neg) + np.frag + self.place(None, tuple(where.split()))

    def missing(self, depth: int) -> Frag:
        """I miss my sister - ma sœur me manque."""
        one = self.misser()
        two = self.missed(one)
        tense = self.weighted({"pres": 5, "past": 2, "fut": 2})
        neg = "pas" if self.chance(0.15) else ""
        keys = Keys()
        en = english(Clause(one, MISS, tense, neg, two), keys, "decl")
        fr = french(Clause(two, MISS, tense, neg, one), keys, "decl")
        return Frag(en, fr)

    def misser(self) -> NP:
        """A person who misses someone."""
        if self.chance(0.6):
            return self.person_pronoun()
        return self.name() if self.chance(0.5) else self.subject(short=True)

    def missed(self, one: NP) -> NP:
        """A person or pet that is missed."""
        if self.chance(0.35):
            return self.person_pronoun(avoid=one.ref)
        if self.chance(0.6):
            noun = self.noun(("kin", "kin", "friend", "dog"))
            return self.noun_phrase(noun, kind="my", near=one.ref, plain=True)
        return self.name(avoid=one)

    def age(self, depth: int) -> Frag:
        """My brother is ten years old."""
        if self.chance(0.4):
            np = self.name()
        else:
            noun = self.noun((*PEERS, "son", "daughter", "pet"))
            np = self.noun_phrase(noun, kind="my", plural=False, plain=True)
        number = linked(*self.zipf(NUMBERS).split())
        return np.frag + linked("is", "a") + number + linked("years old", "ans")

    def weather(self, depth: int) -> Frag:
        """It is raining."""
        return self.phrase(WEATHER[self.weighted({"now": 2, "past": 2, "future": 2})])
