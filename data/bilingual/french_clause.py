"""A clause in French: clitics, negation, compound tenses, agreement of the participle."""

from __future__ import annotations

from dataclasses import replace

from bilingual.clause import Clause, Keys
from bilingual.french_forms import command, conjugate, gerund, inflect, participle
from bilingual.reference import NP, Ref
from bilingual.words import ELIDED, Word, fr_words

SIMPLE_TENSES = {
    "pres": "pres",
    "prog": "pres",
    "since": "pres",
    "pastprog": "imparf",
    "used": "imparf",
    "fut": "fut",
    "whenfut": "fut",
    "cond": "cond",
}


def clitics_fr(
    c: Clause, k: Keys, lexical: int
) -> tuple[list[tuple[str, int, Word]], tuple[Word, ...]]:
    """The clitics as (case, rank, word), and the pronouns that cannot be clitics as a phrase after the verb."""
    clitics: list[tuple[str, int, Word]] = []
    phrase_after: tuple[Word, ...] = ()
    if c.verb.reflexive:
        keys = {c.obj.key} if "body" in c.verb.traits and c.obj else {lexical}
        word = fr_words(c.subject.ref.fr("refl"), *keys)[0]
        clitics.append(("refl", 0, word))
    if c.obj is not None and c.obj.is_pronoun:
        ref, prep, key = c.obj.ref, c.verb.fr_prep, c.obj.key
        if not prep:
            form = ref.fr("dir")
            clitics.append(("dir", 0 if ref.person < 3 else 1, fr_words(form, key)[0]))
        elif not ref.human and prep in ("à", "de"):
            form = "y" if prep == "à" else "en"
            clitics.append((form, 3 + (prep == "de"), fr_words(form, key, k.prep)[0]))
        elif prep == "à" and "stressed" not in c.verb.traits:
            form = ref.fr("ind")
            clitics.append(("ind", 0 if ref.person < 3 else 2, fr_words(form, key, k.prep)[0]))
        else:
            phrase_after = fr_words(prep, k.prep if c.verb.en_prep else lexical) + fr_words(
                ref.fr("stress"), key
            )
    if c.recipient is not None and c.recipient.is_pronoun:
        ref = c.recipient.ref
        clitics.append(
            ("ind", 0 if ref.person < 3 else 2, fr_words(ref.fr("ind"), c.recipient.key)[0])
        )
    return sorted(clitics, key=lambda clitic: clitic[1]), phrase_after


def objects_fr(c: Clause, k: Keys, lexical: int) -> tuple[Word, ...]:
    """Objects and recipient after the French verb."""
    words: tuple[Word, ...] = ()
    if c.obj is not None and not c.obj.is_pronoun:
        prep = fr_words(c.verb.fr_prep, k.prep if c.verb.en_prep else lexical)
        words += located_fr(prep, c.obj)
    if c.recipient is not None and not c.recipient.is_pronoun:
        words += fr_words("à", c.recipient.key) + c.recipient.frag.fr
    return words


def located_fr(prep: tuple[Word, ...], np: NP) -> tuple[Word, ...]:
    """A preposition before a noun phrase; feminine countries take "en" without article."""
    if np.cls == "country" and np.ref.fem and prep and prep[0].text in ("à", "de"):
        text = "en" if prep[0].text == "à" else "de"
        return (replace(prep[0], text=text, before_vowel=ELIDED.get(text, "")), *np.frag.fr[1:])
    return prep + np.frag.fr


def agreement(c: Clause, clitics: list[tuple[str, int, Word]]) -> Ref | None:
    """The referent that the past participle agrees with."""
    if c.verb.reflexive:
        return None if "body" in c.verb.traits else c.subject.ref
    if "être" in c.verb.traits:
        return c.subject.ref
    if any(case == "dir" for case, _, _ in clitics) and c.obj is not None:
        return c.obj.ref
    return c.gap


def french(c: Clause, k: Keys, mode: str) -> tuple[Word, ...]:
    """The French of a clause; questions are declarative here."""
    head = c.modal or c.verb
    lexical = k.main if c.modal else k.verb
    ref = c.subject.ref
    clitics, stressed = clitics_fr(c, k, lexical)
    clitic_words = tuple(word for _, _, word in clitics)
    tail = fr_words(" ".join(head.fr_tail), k.tail if head.en_tail else k.verb)
    after = objects_fr(c, k, lexical) + stressed + c.tail.fr
    if c.predicate:
        after = c.predicate.frag(ref).fr + after
    if mode in ("inf", "ing"):
        form = c.verb.fr if mode == "inf" else gerund(c.verb.fr)
        return clitic_words + fr_words(form, k.verb) + tail + after
    if mode == "imp":
        return imperative_fr(c, k, clitics, after)
    subject = c.subject.frag.fr or fr_words(ref.fr("subj"), c.subject.key)
    ne, pas = (fr_words("ne", k.neg), fr_words(c.neg, k.neg)) if c.neg else ((), ())
    past_tense = "imparf" if "state" in head.traits else "compound"
    tense = (
        "cond"
        if "conditional" in head.traits
        else SIMPLE_TENSES.get(c.tense) or {"past": past_tense}.get(c.tense, "compound")
    )
    if c.tense in ("going", "just"):
        finite = fr_words(
            conjugate("aller" if c.tense == "going" else "venir", "pres", ref.slot_fr), k.aux
        )
        link = () if c.tense == "going" else fr_words("de", k.aux)
        verb = link + clitic_words + fr_words(head.fr, k.verb) + tail
        return subject + ne + finite + pas + c.mid.fr + verb + after
    if tense == "compound":
        auxiliary = (
            "être" if "être" in head.traits or (c.verb.reflexive and not c.modal) else "avoir"
        )
        aux_tense = "imparf" if c.tense == "plup" else "pres"
        finite = fr_words(conjugate(auxiliary, aux_tense, ref.slot_fr), k.aux)
        with_ref = None if c.modal else agreement(c, clitics)
        form = inflect(
            participle(head.fr), *((with_ref.fem, with_ref.plural) if with_ref else (False, False))
        )
        rest = fr_words(form, k.verb) + tail
    else:
        finite = fr_words(conjugate(head.fr, tense, ref.slot_fr), k.aux, k.verb)
        rest = tail
    if c.modal:
        prep = fr_words(c.modal.fr_prep, k.to)
        main_tail = fr_words(" ".join(c.verb.fr_tail), k.tail if c.verb.en_tail else k.main)
        infinitive = fr_words(c.verb.fr, k.main) if prep else fr_words(c.verb.fr, k.main, k.to)
        rest = rest + prep + clitic_words + infinitive + main_tail
        clitic_words = ()
    return subject + ne + clitic_words + finite + pas + c.mid.fr + rest + after


def imperative_fr(
    c: Clause, k: Keys, clitics: list[tuple[str, int, Word]], after: tuple[Word, ...]
) -> tuple[Word, ...]:
    """A command: clitics follow a positive verb with hyphens and precede a negative one."""
    form = command(c.verb.fr, c.subject.ref.slot_fr)
    if c.neg:
        return (
            fr_words("ne", k.neg)
            + tuple(w for _, _, w in clitics)
            + fr_words(form, k.verb)
            + fr_words(c.neg, k.neg)
            + after
        )
    order = sorted(clitics, key=lambda clitic: clitic[0] != "dir")
    suffixes = tuple(
        replace(
            word, text="-" + {"me": "moi", "te": "toi"}.get(word.text, word.text), before_vowel=""
        )
        for _, _, word in order
    )
    return fr_words(form, k.verb) + suffixes + after
