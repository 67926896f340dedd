"""A clause in both languages at once, with the keys that link them."""

from __future__ import annotations

from dataclasses import replace

from bilingual.clause import Clause, Fixed, Keys
from bilingual.english_clause import english
from bilingual.french_clause import french
from bilingual.words import Frag, fr_words


def realise(c: Clause, mode: str = "decl", keys: Keys | None = None) -> Frag:
    """A clause in both languages; mode is decl, ask, inf, ing or imp."""
    k = keys or Keys()
    if c.predicate:
        c = replace(c, predicate=Fixed(c.predicate.frag(c.subject.ref)))
    fr = french(c, k, "decl" if mode == "ask" else mode)
    if mode == "ask":
        fr = fr_words("est-ce que", k.ask) + fr
    return Frag(english(c, k, mode), fr)


def realise_as(c: Clause, english_mode: str, french_mode: str) -> Frag:
    """A clause in different moods: "before leaving", "avant de partir"."""
    k = Keys()
    return Frag(english(c, k, english_mode), french(c, k, french_mode))
