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
    clause: Clause, keys: Keys, lexical: int
) -> tuple[list[tuple[str, int, Word]], tuple[Word, ...]]:
    """The clitics as (case, rank, word), and the pronouns that cannot be clitics as a phrase after the verb."""
    clitics: list[tuple[str, int, Word]] = []
    phrase_after: tuple[Word, ...] = ()
    if clause.verb.reflexive:
        key = clause.obj.key if "body" in clause.verb.traits and clause.obj else lexical
        word = fr_words(clause.subject.ref.fr("refl"), key)[0]
        clitics.append(("refl", 0, word))
    if clause.obj is not None and clause.obj.is_pronoun:
        ref, prep, key = clause.obj.ref, clause.verb.fr_prep, clause.obj.key
        if not prep:
            form = ref.fr("dir")
            clitics.append(("dir", 0 if ref.person < 3 else 1, fr_words(form, key)[0]))
        elif not ref.human and prep in ("à", "de"):
            form = "y" if prep == "à" else "en"
            clitics.append((form, 3 + (prep == "de"), fr_words(form, key, keys.prep)[0]))
        elif prep == "à" and "stressed" not in clause.verb.traits:
            form = ref.fr("ind")
            clitics.append(("ind", 0 if ref.person < 3 else 2, fr_words(form, key, keys.prep)[0]))
        else:
            phrase_after = fr_words(prep, keys.prep if clause.verb.en_prep else lexical) + fr_words(
                ref.fr("stress"), key
            )
    if clause.recipient is not None and clause.recipient.is_pronoun:
        ref = clause.recipient.ref
        clitics.append(
            ("ind", 0 if ref.person < 3 else 2, fr_words(ref.fr("ind"), clause.recipient.key)[0])
        )
    return sorted(clitics, key=lambda clitic: clitic[1]), phrase_after


def objects_fr(clause: Clause, keys: Keys, lexical: int) -> tuple[Word, ...]:
    """Objects and recipient after the French verb."""
    words: tuple[Word, ...] = ()
    if clause.obj is not None and not clause.obj.is_pronoun:
        prep = fr_words(clause.verb.fr_prep, keys.prep if clause.verb.en_prep else lexical)
        words += located_fr(prep, clause.obj)
    if clause.recipient is not None and not clause.recipient.is_pronoun:
        words += fr_words("à", clause.recipient.key) + clause.recipient.frag.fr
    return words


def located_fr(prep: tuple[Word, ...], np: NP) -> tuple[Word, ...]:
    """A preposition before a noun phrase; feminine countries take "en" without article."""
    if np.cls == "country" and np.ref.fem and prep and prep[0].text in ("à", "de"):
        text = "en" if prep[0].text == "à" else "de"
        return (replace(prep[0], text=text, before_vowel=ELIDED.get(text, "")), *np.frag.fr[1:])
    return prep + np.frag.fr


def agreement(clause: Clause, clitics: list[tuple[str, int, Word]]) -> Ref | None:
    """The referent that the past participle agrees with."""
    if clause.verb.reflexive:
        return None if "body" in clause.verb.traits else clause.subject.ref
    if "être" in clause.verb.traits:
        return clause.subject.ref
    if any(case == "dir" for case, _, _ in clitics) and clause.obj is not None:
        return clause.obj.ref
    return clause.gap


def french(clause: Clause, keys: Keys, mode: str) -> tuple[Word, ...]:
    """The French of a clause; questions are declarative here."""
    head = clause.modal or clause.verb
    lexical = keys.main if clause.modal else keys.verb
    ref = clause.subject.ref
    clitics, stressed = clitics_fr(clause, keys, lexical)
    clitic_words = tuple(word for _, _, word in clitics)
    tail = fr_words(" ".join(head.fr_tail), keys.tail if head.en_tail else keys.verb)
    after = objects_fr(clause, keys, lexical) + stressed + clause.tail.fr
    if clause.predicate:
        after = clause.predicate.frag(ref).fr + after
    if mode in ("inf", "ing"):
        form = clause.verb.fr if mode == "inf" else gerund(clause.verb.fr)
        return clitic_words + fr_words(form, keys.verb) + tail + after
    if mode == "imp":
        return imperative_fr(clause, keys, clitics, after)
    subject = clause.subject.frag.fr or fr_words(ref.fr("subj"), clause.subject.key)
    ne, pas = (fr_words("ne", keys.neg), fr_words(clause.neg, keys.neg)) if clause.neg else ((), ())
    past_tense = "imparf" if "state" in head.traits else "compound"
    tense = (
        "cond"
        if "conditional" in head.traits
        else SIMPLE_TENSES.get(clause.tense) or {"past": past_tense}.get(clause.tense, "compound")
    )
    if clause.tense in ("going", "just"):
        finite = fr_words(
            conjugate("aller" if clause.tense == "going" else "venir", "pres", ref.slot_fr),
            keys.aux,
        )
        link = () if clause.tense == "going" else fr_words("de", keys.aux)
        verb = link + clitic_words + fr_words(head.fr, keys.verb) + tail
        return subject + ne + finite + pas + clause.mid.fr + verb + after
    if tense == "compound":
        auxiliary = (
            "être"
            if "être" in head.traits or (clause.verb.reflexive and not clause.modal)
            else "avoir"
        )
        aux_tense = "imparf" if clause.tense == "plup" else "pres"
        finite = fr_words(conjugate(auxiliary, aux_tense, ref.slot_fr), keys.aux)
        with_ref = None if clause.modal else agreement(clause, clitics)
        form = inflect(
            participle(head.fr), *((with_ref.fem, with_ref.plural) if with_ref else (False, False))
        )
        rest = fr_words(form, keys.verb) + tail
    else:
        finite = fr_words(conjugate(head.fr, tense, ref.slot_fr), keys.aux, keys.verb)
        rest = tail
    if clause.modal:
        prep = fr_words(clause.modal.fr_prep, keys.to)
        main_tail = fr_words(
            " ".join(clause.verb.fr_tail), keys.tail if clause.verb.en_tail else keys.main
        )
        infinitive = (
            fr_words(clause.verb.fr, keys.main)
            if prep
            else fr_words(clause.verb.fr, keys.main, keys.to)
        )
        rest = rest + prep + clitic_words + infinitive + main_tail
        clitic_words = ()
    return subject + ne + clitic_words + finite + pas + clause.mid.fr + rest + after


def imperative_fr(
    clause: Clause, keys: Keys, clitics: list[tuple[str, int, Word]], after: tuple[Word, ...]
) -> tuple[Word, ...]:
    """A command: clitics follow a positive verb with hyphens and precede a negative one."""
    form = command(clause.verb.fr, clause.subject.ref.slot_fr)
    if clause.neg:
        return (
            fr_words("ne", keys.neg)
            + tuple(word for _, _, word in clitics)
            + fr_words(form, keys.verb)
            + fr_words(clause.neg, keys.neg)
            + after
        )
    order = sorted(clitics, key=lambda clitic: clitic[0] != "dir")
    suffixes = tuple(
        replace(
            word, text="-" + {"me": "moi", "te": "toi"}.get(word.text, word.text), before_vowel=""
        )
        for _, _, word in order
    )
    return fr_words(form, keys.verb) + suffixes + after
