"""A clause in English: auxiliaries, negation, contraction, order."""

from __future__ import annotations

from dataclasses import replace

from bilingual.clause import Clause, Keys
from bilingual.english_forms import en_form
from bilingual.reference import Ref
from bilingual.verbs import Verb
from bilingual.words import Word, en_words

CONTRACTIONS = {"am": "'m", "is": "'s", "are": "'re", "will": "'ll", "would": "'d", "have": "'ve"}
NEGATIVE_STEMS = {"will": "won", "can": "can", "must": "mustn", "would": "wouldn"}
BE_FORMS = {"pres": ("am", "is", "are"), "past": ("was", "was", "were")}


def be_form(tense: str, ref: Ref) -> str:
    """A finite form of "be"."""
    forms = BE_FORMS[tense]
    return forms[2] if ref.slot_en > 2 else forms[0] if ref.person == 1 else forms[1]


def finite_en(verb: str, tense: str, ref: Ref) -> str:
    """A one-word finite form."""
    if verb == "be":
        return be_form(tense, ref)
    if tense == "past":
        return en_form(verb, "past")
    return en_form(verb, "s" if ref.slot_en == 2 else "base")


def verb_group_en(
    verb: Verb, tense: str, ref: Ref, keys: Keys
) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The auxiliary that inverts and takes "not", and the rest of the group."""
    base = verb.en
    if "modal" in verb.traits:
        return en_words(base, keys.aux, keys.verb), ()
    if tense in ("pres", "whenfut", "past"):
        word = en_words(
            finite_en(base, "past" if tense == "past" else "pres", ref), keys.aux, keys.verb
        )
        return (word, ()) if base == "be" else ((), word)
    if tense in ("prog", "pastprog"):
        aux = be_form("pres" if tense == "prog" else "past", ref)
        return en_words(aux, keys.aux), en_words(en_form(base, "ing"), keys.verb)
    if tense in ("fut", "cond"):
        return en_words("will" if tense == "fut" else "would", keys.aux), en_words(base, keys.verb)
    if tense == "going":
        return en_words(be_form("pres", ref), keys.aux), en_words("going to", keys.aux) + en_words(
            base, keys.verb
        )
    if tense == "used":
        return (), en_words("used to", keys.aux) + en_words(base, keys.verb)
    have = en_words("had" if tense == "plup" else finite_en("have", "pres", ref), keys.aux)
    if tense == "since" and "state" not in verb.traits:
        return have, en_words("been", keys.aux) + en_words(en_form(base, "ing"), keys.verb)
    just = en_words("just", keys.aux) if tense == "just" else ()
    return have, just + en_words(en_form(base, "pp"), keys.verb)


def infinitive_en(clause: Clause, keys: Keys) -> tuple[Word, ...]:
    """The infinitive that depends on the clause's modal."""
    assert clause.modal is not None
    if "modal" in clause.modal.traits:
        return en_words(clause.verb.en, keys.main)
    return en_words("to", keys.to) + en_words(clause.verb.en, keys.main)


def objects_en(clause: Clause, keys: Keys) -> tuple[Word, ...]:
    """Particles, objects and recipient in English order."""
    lexical = keys.main if clause.modal else keys.verb
    tail = en_words(" ".join(clause.verb.en_tail), keys.tail if clause.verb.fr_tail else lexical)
    prep_key = keys.prep if clause.verb.fr_prep else lexical
    if clause.obj is not None and clause.obj.is_pronoun:
        if "destination" in clause.verb.traits:
            obj = en_words("there", clause.obj.key)
        else:
            obj = en_words(clause.verb.en_prep, prep_key) + en_words(
                clause.obj.ref.en("obj"), clause.obj.key
            )
            if "separable" in clause.verb.traits:
                return obj + tail
    else:
        obj = en_words(clause.verb.en_prep, prep_key) + (clause.obj.frag.en if clause.obj else ())
    if clause.recipient is None:
        return tail + obj
    person = (
        en_words(clause.recipient.ref.en("obj"), clause.recipient.key)
        if clause.recipient.is_pronoun
        else clause.recipient.frag.en
    )
    if clause.recipient_first:
        return tail + person + obj
    return tail + obj + en_words("to", clause.recipient.key) + person


def english(clause: Clause, keys: Keys, mode: str) -> tuple[Word, ...]:
    """The English of a clause; mode is decl, ask (inverted), inf, ing or imp."""
    complement = pred_en(clause) + objects_en(clause, keys)
    if mode == "imp":
        return imperative_en(clause, keys) + complement + clause.tail.en
    if mode in ("inf", "ing"):
        form = en_form(clause.verb.en, "ing" if mode == "ing" else "base")
        return en_words(form, keys.verb) + complement + clause.tail.en
    return finite_clause_en(clause, keys, complement, ask=mode == "ask")


def imperative_en(clause: Clause, keys: Keys) -> tuple[Word, ...]:
    """The verb of a command, or of a prohibition."""
    negative = {
        "": (),
        "pas": en_words("don") + en_words("'t", keys.neg),
        "jamais": en_words("never", keys.neg),
    }[clause.neg]
    return negative + en_words(clause.verb.en, keys.verb)


def finite_clause_en(
    clause: Clause, keys: Keys, complement: tuple[Word, ...], ask: bool
) -> tuple[Word, ...]:
    """Subject, verb group and complement, inverted in a question."""
    head = clause.modal or clause.verb
    ref = clause.subject.ref
    negated = clause.neg in ("pas", "plus")
    aux, rest = verb_group_en(head, clause.tense, ref, keys)
    if not aux and (ask or negated):
        aux, rest = do_support(head, clause, keys, ask)
    if clause.modal:
        rest += en_words(" ".join(clause.modal.en_tail), keys.tail) + infinitive_en(clause, keys)
    subject = clause.subject.frag.en or en_words(ref.en("subj"), clause.subject.key)
    bare = clause.subject.is_pronoun and not ask and clause.contract
    if negated:
        aux = negate_en(aux, keys, bare, clause.contract)
    elif bare and aux and aux[0].text in CONTRACTIONS and not had_like(aux[0], head):
        aux = (replace(aux[0], text=CONTRACTIONS[aux[0].text]), *aux[1:])
    adverb = (en_words("never", keys.neg) if clause.neg == "jamais" else ()) + clause.mid.en
    ending = en_words("anymore", keys.neg) if clause.neg == "plus" else ()
    end = ending + clause.tail.en if clause.tail.open else clause.tail.en + ending
    body = adverb + rest + complement + end
    if ask:
        bound = 2 if len(aux) > 1 and aux[1].text == "'t" else 1
        return aux[:bound] + subject + aux[bound:] + body
    return subject + aux + body


def do_support(
    head: Verb, clause: Clause, keys: Keys, ask: bool
) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The "do" before a verb that has no auxiliary to invert or negate."""
    past = clause.tense == "past"
    support = ((keys.aux,) if past else ()) + ((keys.ask,) if ask else ())
    aux = en_words("did" if past else finite_en("do", "pres", clause.subject.ref), *support)
    return aux, en_words(head.en, keys.verb) if past else en_words(head.en, keys.aux, keys.verb)


def had_like(aux: Word, verb: Verb) -> bool:
    """Whether "'d" for "would" would read as "had".

    It does where the verb has a participle like its base: "he'd read".
    """
    return aux.text == "would" and en_form(verb.en, "pp") == verb.en


def pred_en(clause: Clause) -> tuple[Word, ...]:
    """The English of the predicate of "be"."""
    return clause.predicate.frag(clause.subject.ref).en if clause.predicate else ()


def negate_en(
    aux: tuple[Word, ...], keys: Keys, pronoun_subject: bool, contract: bool
) -> tuple[Word, ...]:
    """The auxiliary with its negation: "don 't", "'m not", "is not"."""
    word = aux[0]
    if word.text == "am":
        return (replace(word, text="'m") if pronoun_subject else word, *en_words("not", keys.neg))
    if not contract:
        text = "cannot" if word.text == "can" else word.text
        if text == "cannot":
            return (replace(word, text=text, keys=word.keys | {keys.neg}),)
        return (word, *en_words("not", keys.neg))
    stem = NEGATIVE_STEMS.get(word.text, word.text + "n")
    return (replace(word, text=stem), *en_words("'t", keys.neg))
