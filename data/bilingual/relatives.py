"""Relative clauses: who, that, whose, where."""

from __future__ import annotations

from bilingual.circumstances import PLACES_OF
from bilingual.clause import Clause, Keys
from bilingual.clauses import Clauses
from bilingual.nouns import ANIMAL, Noun, has_noun
from bilingual.realisation import realise
from bilingual.reference import NP, Ref, article_fr
from bilingual.verbs import VERBS, Verb, verb_for
from bilingual.words import EMPTY, Frag, en_words, fr_words, linked, new_key


class Relatives(Clauses):
    """Draws relative clauses, and so makes noun phrases complete."""

    def relative(self, noun: Noun, ref: Ref, depth: int) -> Frag:
        """A relative clause for a noun."""
        animate = ref.human or noun.cls in ANIMAL
        table = {
            "subject": 5 if animate else 2,
            "object": 4,
            "dont": 1.5,
            "to": 1.5,
            "whose": 1.2 if ref.human else 0,
            "where": 4 if noun.cls in ("home", "at", "spot", "room", "school", "in") else 0,
        }
        if noun.cls in ("in", "on"):
            table |= {"object": 0, "subject": 0, "dont": 0, "to": 0}
        while any(table.values()):
            kind = self.weighted(table)
            frag = getattr(self, "relative_" + kind)(noun, ref, depth)
            if frag is not None:
                return frag
            table[kind] = 0
        return EMPTY

    def relative_subject(self, noun: Noun, ref: Ref, depth: int) -> Frag | None:
        """who/that ... - qui ..."""
        link = linked("who" if ref.human else "that", "qui")
        subject = NP(link, ref, noun.cls, new_key(), noun)
        if ref.human or noun.cls in ANIMAL:
            group = "now" if self.chance(0.6) else "past"
            return realise(self.clause(subject, group, depth, short=True, time=group == "past"))
        movable = noun.cls in ("tool", "text", "cup", "garment", "gift", "picture")
        if (movable and self.chance(0.4)) or not self.adjectives_for(subject):
            return realise(self.be_place(subject, "now")) if movable else None
        return realise(self.be_adjective(subject, "now"))

    def object_verbs(self, noun: Noun, prep: str) -> list[Verb]:
        """The verbs with a person as subject that take the noun as their object."""
        return [
            verb
            for verb in VERBS
            if has_noun(verb.object, noun)
            and verb.fr_prep == prep
            and "generic" not in verb.traits
            and "pron" in verb.subject
            and verb.traits.isdisjoint({"body", "bare"})
            and verb.en not in ("eat", "drink", "have")
        ]

    def relative_object(self, noun: Noun, ref: Ref, depth: int) -> Frag | None:
        """that ... - que ..., with the participle agreeing."""
        verbs = self.object_verbs(noun, "")
        if not verbs:
            return None
        verb = self.zipf(verbs)
        subject = self.subject_of(
            verb, short=not (depth > 0 and self.chance(self.rich)), depth=depth
        )
        tense = self.tense(verb, "now" if "state" in verb.traits and self.chance(0.6) else "past")
        clause = Clause(subject, verb, tense, gap=ref, contract=self.chance(0.6))
        if self.chance(0.25):
            clause = self.timed(clause)
        return self.linker(ref, "que") + realise(clause)

    def linker(self, ref: Ref, french_word: str) -> Frag:
        """The relative word; English may leave it out, French may not."""
        if self.chance(0.3):
            return Frag((), fr_words(french_word))
        return linked("who" if ref.human and self.chance(0.4) else "that", french_word)

    def relative_dont(self, noun: Noun, ref: Ref, depth: int) -> Frag | None:
        """that ... about/of - dont ..."""
        verbs = self.object_verbs(noun, "de")
        if not verbs:
            return None
        verb = self.zipf(verbs)
        key = new_key()
        link = Frag(en_words("that", key), fr_words("dont", key))
        return link + realise(
            Clause(self.subject_of(verb, short=True), verb, self.tense(verb, "now")),
            keys=Keys(prep=key),
        )

    def relative_to(self, noun: Noun, ref: Ref, depth: int) -> Frag | None:
        """that ... to/about - à qui, auquel ..."""
        verbs = [verb for verb in self.object_verbs(noun, "à") if "destination" not in verb.traits]
        if not verbs:
            return None
        verb = self.zipf(verbs)
        key = new_key()
        which = (
            "à qui"
            if ref.human
            else ("auquel", "à laquelle", "auxquels", "auxquelles")[2 * ref.plural + ref.fem]
        )
        link = Frag(en_words("that", key), fr_words(which, key))
        tense = self.tense(verb, self.weighted({"past": 1, "now": 1}))
        return link + realise(
            Clause(self.subject_of(verb, short=True), verb, tense), keys=Keys(prep=key)
        )

    def relative_whose(self, noun: Noun, ref: Ref, depth: int) -> Frag:
        """whose car is ... - dont la voiture est ..."""
        owned = self.noun(("kin", "drive", "home", "pet"))
        key, link = new_key(), linked("whose", "dont")
        inner = Frag(
            en_words(owned.en, key),
            fr_words(article_fr(owned.fem, False)) + fr_words(owned.fr, key),
        )
        subject = NP(
            link + inner,
            Ref(3, False, owned.fem, human=owned.cls == "kin"),
            owned.cls,
            new_key(),
            owned,
        )
        if owned.cls == "kin":
            return realise(self.clause(subject, "now", 0, short=True))
        return realise(self.be_adjective(subject, "now"))

    def relative_where(self, noun: Noun, ref: Ref, depth: int) -> Frag:
        """where ... - où ..."""
        link = linked("where", "où")
        kind = self.weighted(
            {
                "live": 2 if noun.en in ("house", "flat", "village", "street") else 0,
                "meet": 2,
                "work": 3 if has_noun(PLACES_OF["work"], noun) else 0,
                "play": noun.en == "park",
            }
        )
        person = self.subject(short=True)
        if kind == "meet":
            verb = next(verb for verb in VERBS if verb.en == "meet")
            obj = self.object(verb, person, "past")
            return link + realise(Clause(person, verb, "past", obj=obj))
        if kind == "play":
            sport = self.noun_phrase(self.noun(("sport",)))
            return link + realise(Clause(person, verb_for("play", "sport"), "pres", obj=sport))
        return link + realise(
            Clause(person, verb_for(kind, ""), "pres" if self.chance(0.7) else "used")
        )
