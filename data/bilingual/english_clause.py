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
    verb: Verb, tense: str, ref: Ref, k: Keys
) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
    """The auxiliary that inverts and takes "not", and the rest of the group."""
    base = verb.en
    if "modal" in verb.traits:
        return en_words(base, k.aux, k.verb), ()
    if tense in ("pres", "whenfut", "past"):
        word = en_words(finite_en(base, "past" if tense == "past" else "pres", ref), k.aux, k.verb)
        return (word, ()) if base == "be" else ((), word)
    if tense in ("prog", "pastprog"):
        aux = be_form("pres" if tense == "prog" else "past", ref)
        return en_words(aux, k.aux), en_words(en_form(base, "ing"), k.verb)
    if tense in ("fut", "cond"):
        return en_words("will" if tense == "fut" else "would", k.aux), en_words(base, k.verb)
    if tense == "going":
        return en_words(be_form("pres", ref), k.aux), en_words("going to", k.aux) + en_words(
            base, k.verb
        )
    if tense == "used":
        return (), en_words("used to", k.aux) + en_words(base, k.verb)
    have = en_words("had" if tense == "plup" else finite_en("have", "pres", ref), k.aux)
    if tense == "since" and "state" not in verb.traits:
        return have, en_words("been", k.aux) + en_words(en_form(base, "ing"), k.verb)
    just = en_words("just", k.aux) if tense == "just" else ()
    return have, just + en_words(en_form(base, "pp"), k.verb)


def infinitive_en(c: Clause, k: Keys) -> tuple[Word, ...]:
    """The infinitive that depends on the clause's modal."""
    assert c.modal is not None
    if "modal" in c.modal.traits:
        return en_words(c.verb.en, k.main)
    return en_words("to", k.to) + en_words(c.verb.en, k.main)


def objects_en(c: Clause, k: Keys) -> tuple[Word, ...]:
    """Particles, objects and recipient in English order."""
    lexical = k.main if c.modal else k.verb
    tail = en_words(" ".join(c.verb.en_tail), k.tail if c.verb.fr_tail else lexical)
    prep_key = k.prep if c.verb.fr_prep else lexical
    if c.obj is not None and c.obj.is_pronoun:
        if "destination" in c.verb.traits:
            obj = en_words("there", c.obj.key)
        else:
            obj = en_words(c.verb.en_prep, prep_key) + en_words(c.obj.ref.en("obj"), c.obj.key)
            if "separable" in c.verb.traits:
                return obj + tail
    else:
        obj = en_words(c.verb.en_prep, prep_key) + (c.obj.frag.en if c.obj else ())
    if c.recipient is None:
        return tail + obj
    person = (
        en_words(c.recipient.ref.en("obj"), c.recipient.key)
        if c.recipient.is_pronoun
        else c.recipient.frag.en
    )
    if c.recipient_first:
        return tail + person + obj
    return tail + obj + en_words("to", c.recipient.key) + person


def english(c: Clause, k: Keys, mode: str) -> tuple[Word, ...]:
    """The English of a clause; mode is decl, ask (inverted), inf, ing or imp."""
    objects = objects_en(c, k)
    if mode in ("inf", "ing"):
        verb = en_words(en_form(c.verb.en, "ing" if mode == "ing" else "base"), k.verb)
        return verb + pred_en(c) + objects + c.tail.en
    if mode == "imp":
        negative = {
            "": (),
            "pas": en_words("don") + en_words("'t", k.neg),
            "jamais": en_words("never", k.neg),
        }[c.neg]
        return negative + en_words(c.verb.en, k.verb) + pred_en(c) + objects + c.tail.en
    head = c.modal or c.verb
    ref = c.subject.ref
    aux, rest = verb_group_en(head, c.tense, ref, k)
    if not aux and (mode == "ask" or c.neg in ("pas", "plus")):
        past = c.tense == "past"
        keys = ((k.aux,) if past else ()) + ((k.ask,) if mode == "ask" else ())
        aux = en_words("did" if past else finite_en("do", "pres", ref), *keys)
        rest = en_words(head.en, k.verb) if past else en_words(head.en, k.aux, k.verb)
    if c.modal:
        head_tail = en_words(" ".join(c.modal.en_tail), k.tail)
        rest = rest + head_tail + infinitive_en(c, k)
    subject = c.subject.frag.en or en_words(ref.en("subj"), c.subject.key)
    negated = c.neg in ("pas", "plus")
    bare = bool(subject and c.subject.is_pronoun and mode == "decl" and c.contract)
    if negated:
        aux = negate_en(aux, k, bare, c.contract)
    elif bare and aux and aux[0].text in CONTRACTIONS and not had_like(aux[0], head):
        aux = (replace(aux[0], text=CONTRACTIONS[aux[0].text]), *aux[1:])
    adverb = (en_words("never", k.neg) if c.neg == "jamais" else ()) + c.mid.en
    ending = en_words("anymore", k.neg) if c.neg == "plus" else ()
    end = ending + c.tail.en if c.tail.open else c.tail.en + ending
    body = adverb + rest + pred_en(c) + objects + end
    if mode == "ask":
        bound = 2 if len(aux) > 1 and aux[1].text == "'t" else 1
        return aux[:bound] + subject + aux[bound:] + body
    return subject + aux + body


def had_like(aux: Word, verb: Verb) -> bool:
    """Whether "'d" for "would" would read as "had", since the verb has a participle like its base: "he'd read"."""
    return aux.text == "would" and en_form(verb.en, "pp") == verb.en


def pred_en(c: Clause) -> tuple[Word, ...]:
    """The English of the predicate of "be"."""
    return c.predicate.frag(c.subject.ref).en if c.predicate else ()


def negate_en(
    aux: tuple[Word, ...], k: Keys, pronoun_subject: bool, contract: bool
) -> tuple[Word, ...]:
    """The auxiliary with its negation: "don 't", "'m not", "is not"."""
    word = aux[0]
    if word.text == "am":
        return (replace(word, text="'m") if pronoun_subject else word, *en_words("not", k.neg))
    if not contract:
        text = "cannot" if word.text == "can" else word.text
        if text == "cannot":
            return (replace(word, text=text, keys=word.keys | {k.neg}),)
        return (word, *en_words("not", k.neg))
    stem = NEGATIVE_STEMS.get(word.text, word.text + "n")
    return (replace(word, text=stem), *en_words("'t", k.neg))
