"""A clause in French: clitics, negation, compound tenses, agreement of the participle."""

from __future__ import annotations

from dataclasses import replace

from bilingual.clause import Clause, Keys
from bilingual.french_forms import command, conjugate, gerund, inflect, participle
from bilingual.reference import NP, Ref
from bilingual.verbs import Verb
from bilingual.words import ELIDED, Word, fr_words

Clitics = list[tuple[str, int, Word]]  # case, rank and word of each

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


def clitics_fr(clause: Clause, keys: Keys, lexical: int) -> tuple[Clitics, tuple[Word, ...]]:
    """The clitics as (case, rank, word), and the pronouns that cannot be clitics.

    These make a phrase after the verb.
    """
    clitics: Clitics = []
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


def objects_fr(clause: Clause, keys: Keys) -> tuple[Word, ...]:
    """Objects and recipient after the French verb."""
    lexical = keys.main if clause.modal else keys.verb
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


def agreement(clause: Clause, clitics: Clitics) -> Ref | None:
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
    clitics, stressed = clitics_fr(clause, keys, keys.main if clause.modal else keys.verb)
    predicate = clause.predicate.frag(clause.subject.ref).fr if clause.predicate else ()
    after = predicate + objects_fr(clause, keys) + stressed + clause.tail.fr
    if mode == "imp":
        return imperative_fr(clause, keys, clitics, after)
    if mode in ("inf", "ing"):
        form = clause.verb.fr if mode == "inf" else gerund(clause.verb.fr)
        verb = fr_words(form, keys.verb) + particles_fr(clause.verb, keys)
        return bare_words(clitics) + verb + after
    return finite_clause_fr(clause, keys, clitics, after)


def bare_words(clitics: Clitics) -> tuple[Word, ...]:
    """The clitics in their order before the verb."""
    return tuple(word for _, _, word in clitics)


def particles_fr(head: Verb, keys: Keys) -> tuple[Word, ...]:
    """What belongs to a verb beside its form: "peur" of "avoir peur"."""
    return fr_words(" ".join(head.fr_tail), keys.tail if head.en_tail else keys.verb)


def finite_clause_fr(
    clause: Clause, keys: Keys, clitics: Clitics, after: tuple[Word, ...]
) -> tuple[Word, ...]:
    """Subject, negation around the finite verb, and the rest."""
    ref = clause.subject.ref
    subject = clause.subject.frag.fr or fr_words(ref.fr("subj"), clause.subject.key)
    ne = fr_words("ne", keys.neg) if clause.neg else ()
    pas = fr_words(clause.neg, keys.neg)
    before = bare_words(clitics)
    if clause.tense in ("going", "just"):
        finite, rest = near_tense_fr(clause, keys, before)
        before = ()
    else:
        finite, rest = verb_group_fr(clause, keys, clitics)
        if clause.modal:
            rest += infinitive_fr(clause, keys, before)
            before = ()
    return subject + ne + before + finite + pas + clause.mid.fr + rest + after


def near_tense_fr(
    clause: Clause, keys: Keys, clitics: tuple[Word, ...]
) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The futur proche or passé récent: "va" and "lire", "vient" and "de lire"."""
    head = clause.modal or clause.verb
    going = clause.tense == "going"
    auxiliary = conjugate("aller" if going else "venir", "pres", clause.subject.ref.slot_fr)
    link = () if going else fr_words("de", keys.aux)
    infinitive = fr_words(head.fr, keys.verb) + particles_fr(head, keys)
    return fr_words(auxiliary, keys.aux), link + clitics + infinitive


def tense_fr(head: Verb, tense: str) -> str:
    """The French tense: a form of the verb, or "compound"."""
    if "conditional" in head.traits:
        return "cond"
    if tense == "past" and "state" in head.traits:
        return "imparf"
    return SIMPLE_TENSES.get(tense, "compound")


def verb_group_fr(
    clause: Clause, keys: Keys, clitics: Clitics
) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The finite form, and the participle and particles after it."""
    head = clause.modal or clause.verb
    slot = clause.subject.ref.slot_fr
    tense = tense_fr(head, clause.tense)
    if tense != "compound":
        finite = fr_words(conjugate(head.fr, tense, slot), keys.aux, keys.verb)
        return finite, particles_fr(head, keys)
    with_be = "être" in head.traits or (clause.verb.reflexive and not clause.modal)
    aux_tense = "imparf" if clause.tense == "plup" else "pres"
    finite = fr_words(conjugate("être" if with_be else "avoir", aux_tense, slot), keys.aux)
    ref = None if clause.modal else agreement(clause, clitics)
    form = participle(head.fr)
    if ref:
        form = inflect(form, ref.fem, ref.plural)
    return finite, fr_words(form, keys.verb) + particles_fr(head, keys)


def infinitive_fr(clause: Clause, keys: Keys, clitics: tuple[Word, ...]) -> tuple[Word, ...]:
    """The infinitive that depends on the clause's modal, with its clitics."""
    assert clause.modal is not None
    verb = clause.verb
    prep = fr_words(clause.modal.fr_prep, keys.to)
    infinitive = fr_words(verb.fr, keys.main) if prep else fr_words(verb.fr, keys.main, keys.to)
    tail = fr_words(" ".join(verb.fr_tail), keys.tail if verb.en_tail else keys.main)
    return prep + clitics + infinitive + tail


def imperative_fr(
    clause: Clause, keys: Keys, clitics: Clitics, after: tuple[Word, ...]
) -> tuple[Word, ...]:
    """A command: clitics follow a positive verb with hyphens and precede a negative one."""
    form = command(clause.verb.fr, clause.subject.ref.slot_fr)
    if clause.neg:
        return (
            fr_words("ne", keys.neg)
            + bare_words(clitics)
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
