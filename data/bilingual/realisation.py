"""A clause in both languages at once, with the keys that link them."""

from __future__ import annotations

from dataclasses import replace

from bilingual.clause import Clause, Fixed, Keys
from bilingual.english_clause import english
from bilingual.french_clause import french
from bilingual.words import Frag, fr_words


def realise(clause: Clause, mode: str = "decl", keys: Keys | None = None) -> Frag:
    """A clause in both languages; mode is decl, ask, inf, ing or imp."""
    keys = keys or Keys()
    if clause.predicate:
        clause = replace(clause, predicate=Fixed(clause.predicate.frag(clause.subject.ref)))
    fr = french(clause, keys, "decl" if mode == "ask" else mode)
    if mode == "ask":
        fr = fr_words("est-ce que", keys.ask) + fr
    return Frag(english(clause, keys, mode), fr)


def realise_as(clause: Clause, english_mode: str, french_mode: str) -> Frag:
    """A clause in different moods: "before leaving", "avant de partir"."""
    keys = Keys()
    return Frag(english(clause, keys, english_mode), french(clause, keys, french_mode))
