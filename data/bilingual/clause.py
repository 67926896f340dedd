"""A clause before it is put into words, and the predicates of "be"."""

from __future__ import annotations

from dataclasses import dataclass, field

from bilingual.adjectives import Adj
from bilingual.english_forms import compare_en
from bilingual.french_forms import inflect, plural_fr
from bilingual.nouns import Noun
from bilingual.reference import NP, Ref
from bilingual.verbs import Verb
from bilingual.words import EMPTY, Frag, en_words, fr_words, new_key, phrase


@dataclass(frozen=True)
class AdjP:
    """A predicate: an adjective with its degree, or a comparison with another noun phrase."""

    adj: Adj
    degree: Frag = EMPTY
    than: Frag = EMPTY
    relation: str = ""

    def frag(self, ref: Ref) -> Frag:
        """The predicate agreeing with its subject."""
        key = new_key()
        fr = fr_words(inflect(self.adj.fr, ref.fem, ref.plural), key)
        if not self.relation:
            return self.degree + Frag(en_words(self.adj.en, key), fr)
        if self.relation == "as":
            return (
                phrase("as/a = aussi/a")
                + Frag(en_words(self.adj.en, key), fr)
                + phrase("as/a = que/a")
                + self.than
            )
        one_word = compare_en(self.adj.en)
        if self.adj.en == "good":
            head = Frag(
                en_words("better", key), fr_words(inflect("meilleur", ref.fem, ref.plural), key)
            )
        elif one_word:
            more = new_key()
            head = Frag(en_words(one_word, key, more), fr_words("plus", more) + fr)
        else:
            head = phrase("more/a = plus/a") + Frag(en_words(self.adj.en, key), fr)
        return head + phrase("than/a = que/a") + self.than


@dataclass(frozen=True)
class Trade:
    """A predicate naming a trade: "is a singer", "est chanteuse"."""

    noun: Noun

    def frag(self, ref: Ref) -> Frag:
        """The trade without article in French, in the gender and number of its subject."""
        key = new_key()
        form = self.noun.fr if ref.fem == self.noun.fem else self.noun.other
        if ref.plural:
            return Frag(en_words(self.noun.en_plural, key), fr_words(plural_fr(form), key))
        return Frag(en_words("a") + en_words(self.noun.en, key), fr_words(form, key))


@dataclass(frozen=True)
class Fixed:
    """A predicate already in words."""

    words: Frag

    def frag(self, ref: Ref) -> Frag:
        """The words, whatever the subject."""
        return self.words


@dataclass(frozen=True)
class Clause:
    """A clause before it is put into words.

    tense: pres, prog, past, pastprog, fut, going, perf, just, plup, cond, used, since (present in French), or whenfut
    (present in English, future in French).
    neg: "", "pas", "plus" or "jamais".  gap: the referent of an object that stands before the verb.
    """

    subject: NP
    verb: Verb
    tense: str
    neg: str = ""
    obj: NP | None = None
    recipient: NP | None = None
    recipient_first: bool = False
    predicate: AdjP | Trade | Fixed | None = None
    modal: Verb | None = None
    mid: Frag = EMPTY
    tail: Frag = EMPTY
    gap: Ref | None = None
    contract: bool = True

    @property
    def open(self) -> bool:
        """Whether the clause ends in a relative clause in either language.

        No adverbial may follow one.
        """
        if self.tail.en or self.tail.fr:
            return self.tail.open
        ends = [self.obj, self.recipient]
        return any(np.frag.open for np in ends if np is not None)


@dataclass(frozen=True)
class Keys:
    """The link keys of a verb group.

    They belong to auxiliary, verb, infinitive after a modal, preposition, negation and question.
    """

    aux: int = field(default_factory=new_key)
    verb: int = field(default_factory=new_key)
    main: int = field(default_factory=new_key)
    to: int = field(default_factory=new_key)
    tail: int = field(default_factory=new_key)
    prep: int = field(default_factory=new_key)
    neg: int = field(default_factory=new_key)
    ask: int = field(default_factory=new_key)
