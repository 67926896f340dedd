"""A typed English-French grammar that writes a parallel corpus with gold word alignments.

Every constituent is built in both languages at once: a rule emits words that carry link keys, and two words are
aligned when they share a key.  Nothing is aligned afterwards.  The English sentence determines the French one.

Usage: python data/grammar.py data/grammar
writes OUTDIR/train.tsv, valid.tsv, test.tsv and test_long.tsv; a line is English<TAB>French<TAB>alignment, where the
alignment is a list of links i-j between the tokens that `transformer_lib.corpus.tokenize` gives.

Conventions that make the translation a function of the English sentence:
* "you" is "tu", unless a vocative in the sentence says otherwise ("sir", "madam", "children", ...);
* "I" and "we" are masculine, "they" is masculine unless a feminine antecedent stands earlier in the sentence;
* "it" always has an antecedent earlier in the sentence, whose French gender decides between "il" and "elle";
* the simple past of an event is a passé composé, the simple past of a state is an imparfait.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from transformer_lib.corpus import tokenize


@dataclass(frozen=True)
class Pair:
    """A sentence, its translation, and the links (i, j) between their tokens."""

    en: str
    fr: str
    links: tuple[tuple[int, int], ...]

    def line(self) -> str:
        """The pair as one line of a corpus file."""
        return f"{self.en}\t{self.fr}\t{' '.join(f'{i}-{j}' for i, j in self.links)}"


# ---------------------------------------------------------------------------------------------------------------
# Words with link keys, and synchronous fragments
# ---------------------------------------------------------------------------------------------------------------

new_key: Callable[[], int] = itertools.count().__next__


@dataclass(frozen=True)
class Word:
    """A token to be; words of the two languages that share a key are linked.

    `before_vowel` is the form taken before a vowel sound (l', cet, mon, bel).  `role` tells articles ("art") and
    the words of an indefinite article that "de" swallows ("part") from clitics spelt alike.
    """

    text: str
    keys: frozenset[int] = frozenset()
    before_vowel: str = ""
    role: str = ""


@dataclass(frozen=True)
class Frag:
    """A stretch of English and the stretch of French that translates it.

    `open` tells that it ends in a relative clause, which would draw a following adverbial to itself.
    """

    en: tuple[Word, ...] = ()
    fr: tuple[Word, ...] = ()
    open: bool = False

    def __add__(self, other: Frag) -> Frag:
        ends_open = other.open if other.en or other.fr else self.open
        return Frag(self.en + other.en, self.fr + other.fr, ends_open)


EMPTY = Frag()

ELIDED = {
    "le": "l'", "la": "l'", "je": "j'", "me": "m'", "te": "t'", "se": "s'", "ne": "n'", "de": "d'", "que": "qu'",
    "puisque": "puisqu'", "ce": "cet", "ma": "mon", "ta": "ton", "sa": "son",
}  # fmt: skip


def en_words(text: str, *keys: int) -> tuple[Word, ...]:
    """English words that all carry the same keys."""
    return tuple(Word(token, frozenset(keys)) for token in text.split())


def fr_words(text: str, *keys: int, role: str = "") -> tuple[Word, ...]:
    """French words that all carry the same keys and know their form before a vowel."""
    return tuple(
        Word(token, frozenset(keys), ELIDED.get(token, ""), role) for token in text.split()
    )


def linked(en: str, fr: str) -> Frag:
    """Two stretches, every word of the one linked to every word of the other."""
    key = new_key()
    return Frag(en_words(en, key), fr_words(fr, key))


@cache
def parse_notation(notation: str) -> tuple[tuple[tuple[str, str], ...], ...]:
    """The two sides of a notation such as "last/b week/a = la/a semaine/a dernière/b" as (word, labels)."""
    sides = []
    for side in notation.split(" = "):
        parts = (word.partition("/") for word in side.split())
        sides.append(tuple((text, labels) for text, _, labels in parts))
    return tuple(sides)


def phrase(notation: str) -> Frag:
    """A fixed phrase; words of the two sides with a common label are linked, e.g. "at/a noon/b = à/a midi/b"."""
    sides = parse_notation(notation)
    keys = {label: new_key() for side in sides for _, labels in side for label in labels}
    en, fr = (
        [
            Word(
                text,
                frozenset(keys[label] for label in labels),
                ELIDED.get(text, "") if french else "",
            )
            for text, labels in side
        ]
        for french, side in enumerate(sides)
    )
    return Frag(tuple(en), tuple(fr))


def vowel_sound(word: str, language: str) -> bool:
    """Whether the word calls for "an" (English) or for elision (French)."""
    word = word.lower()
    if language == "en":
        return word.startswith(("hour", "honest")) or (
            word[0] in "aeiou" and not word.startswith(("uni", "use", "eu"))
        )
    if word.startswith("h"):
        return not word.startswith(ASPIRATED)
    return (word[0] in "aeiouàâéèêëîïôùûœ" and not word.startswith(("oui", "onz"))) or word == "y"


ASPIRATED = (
    "hibou",
    "harpe",
    "hamster",
    "haut",
    "héros",
    "haricot",
    "huit",
    "hangar",
    "homard",
    "hockey",
)


def surface_en(words: Sequence[Word]) -> list[Word]:
    """English words with "a" and "an" chosen."""
    out = list(words)
    for i, (word, following) in enumerate(itertools.pairwise(words)):
        if word.text == "a" and vowel_sound(following.text, "en"):
            out[i] = replace(word, text="an")
    return out


def surface_fr(words: Sequence[Word]) -> list[Word]:
    """French words after elision, contraction, loss of "des" after "de", and hyphenation of clitics."""
    out: list[Word] = []
    for word in words:
        last = out[-1] if out else None
        if (
            last is not None
            and last.text.lower() == "de"
            and last.role == ""
            and word.role == "part"
        ):
            out[-1] = replace(last, keys=last.keys | word.keys)
        elif last is not None and word.text.startswith("-"):
            out[-1] = replace(
                last, text=last.text + word.text, keys=last.keys | word.keys, before_vowel=""
            )
        else:
            out.append(word)
    for i, (word, following) in enumerate(itertools.pairwise(out)):
        if word.before_vowel and vowel_sound(following.text, "fr"):
            out[i] = replace(word, text=word.before_vowel)
        elif word.text == "si" and following.text in ("il", "ils"):
            out[i] = replace(word, text="s'")
    merged: list[Word] = []
    for word in out:
        if (
            merged
            and word.role in ("art", "part")
            and (form := CONTRACTED.get((merged[-1].text, word.text)))
        ):
            merged[-1] = replace(merged[-1], text=form, keys=merged[-1].keys | word.keys)
        else:
            merged.append(word)
    return merged


CONTRACTED = {("de", "le"): "du", ("de", "les"): "des", ("à", "le"): "au", ("à", "les"): "aux"}


def spell(words: Sequence[Word], language: str) -> str:
    """The sentence as people write it."""
    text = ""
    for word in words:
        glued = (
            word.text[0] in "',."
            if language == "en"
            else word.text in (",", ".") or text.endswith("'")
        )
        if language == "en" and word.text in ("?", "!"):
            glued = True
        text += word.text if glued or not text else " " + word.text
    return text[0].upper() + text[1:]


def finish(frag: Frag) -> Pair:
    """The pair of sentences of a complete fragment, with the links read off the keys."""
    en, fr = surface_en(frag.en), surface_fr(frag.fr)
    links = tuple((i, j) for i, e in enumerate(en) for j, f in enumerate(fr) if e.keys & f.keys)
    pair = Pair(spell(en, "en"), spell(fr, "fr"), links)
    for text, words, language in ((pair.en, en, "en"), (pair.fr, fr, "fr")):
        if tokenize(text, language) != [word.text.lower() for word in words]:
            raise ValueError(f"tokens and words differ: {text}")
    return pair


# ---------------------------------------------------------------------------------------------------------------
# French morphology
# ---------------------------------------------------------------------------------------------------------------

# infinitive: six present forms / past participle / future stem
IRREGULAR_FR = {
    line.split(":")[0]: [part.split() for part in line.split(":")[1].split("/")]
    for line in """
être: suis es est sommes êtes sont / été / ser
avoir: ai as a avons avez ont / eu / aur
aller: vais vas va allons allez vont / allé / ir
prendre: prends prends prend prenons prenez prennent / pris / prendr
comprendre: comprends comprends comprend comprenons comprenez comprennent / compris / comprendr
apprendre: apprends apprends apprend apprenons apprenez apprennent / appris / apprendr
partir: pars pars part partons partez partent / parti / partir
sortir: sors sors sort sortons sortez sortent / sorti / sortir
dormir: dors dors dort dormons dormez dorment / dormi / dormir
courir: cours cours court courons courez courent / couru / courr
ouvrir: ouvre ouvres ouvre ouvrons ouvrez ouvrent / ouvert / ouvrir
venir: viens viens vient venons venez viennent / venu / viendr
revenir: reviens reviens revient revenons revenez reviennent / revenu / reviendr
souvenir: souviens souviens souvient souvenons souvenez souviennent / souvenu / souviendr
mettre: mets mets met mettons mettez mettent / mis / mettr
écrire: écris écris écrit écrivons écrivez écrivent / écrit / écrir
lire: lis lis lit lisons lisez lisent / lu / lir
dire: dis dis dit disons dites disent / dit / dir
boire: bois bois boit buvons buvez boivent / bu / boir
voir: vois vois voit voyons voyez voient / vu / verr
devoir: dois dois doit devons devez doivent / dû / devr
pouvoir: peux peux peut pouvons pouvez peuvent / pu / pourr
vouloir: veux veux veut voulons voulez veulent / voulu / voudr
savoir: sais sais sait savons savez savent / su / saur
connaître: connais connais connaît connaissons connaissez connaissent / connu / connaîtr
rire: ris ris rit rions riez rient / ri / rir
conduire: conduis conduis conduit conduisons conduisez conduisent / conduit / conduir
construire: construis construis construit construisons construisez construisent / construit / construir
éteindre: éteins éteins éteint éteignons éteignez éteignent / éteint / éteindr
""".strip().splitlines()
}

IMPERFECT = ("ais", "ais", "ait", "ions", "iez", "aient")
FUTURE = ("ai", "as", "a", "ons", "ez", "ont")
GRAVE = {"acheter": "achèt", "lever": "lèv", "espérer": "espèr"}
DOUBLED = {"appeler": "appell"}


@cache
def present(verb: str) -> tuple[str, ...]:
    """The six forms of the présent."""
    if verb in IRREGULAR_FR:
        return tuple(IRREGULAR_FR[verb][0])
    stem, ending = verb[:-2], verb[-2:]
    if ending == "ir":
        return tuple(stem + e for e in ("is", "is", "it", "issons", "issez", "issent"))
    if ending == "re":
        return tuple(stem + e for e in ("s", "s", "", "ons", "ez", "ent"))
    strong = (
        GRAVE.get(verb) or DOUBLED.get(verb) or (stem[:-1] + "i" if stem.endswith("y") else stem)
    )
    return (
        strong + "e",
        strong + "es",
        strong + "e",
        soften(stem, "ons"),
        stem + "ez",
        strong + "ent",
    )


def soften(stem: str, ending: str) -> str:
    """Stem and ending, with the g or c of the stem kept soft before a or o."""
    if ending[0] in "ao" and stem[-1] in "gc":
        return stem[:-1] + {"g": "ge", "c": "ç"}[stem[-1]] + ending
    return stem + ending


def future_stem(verb: str) -> str:
    """What the endings of futur and conditionnel are added to."""
    if verb in IRREGULAR_FR:
        return IRREGULAR_FR[verb][2][0]
    if verb == "envoyer":
        return "enverr"
    if verb.endswith("yer"):
        return verb[:-3] + "ier"
    if verb in DOUBLED or (verb in GRAVE and "é" not in verb):
        return (DOUBLED.get(verb) or GRAVE[verb]) + "er"
    return verb if verb.endswith("r") else verb[:-1]


@cache
def conjugate(verb: str, tense: str, slot: int) -> str:
    """A finite form; tense is "pres", "imparf", "fut" or "cond", slot 0 to 5 is je, tu, il, nous, vous, ils."""
    if tense == "pres":
        return present(verb)[slot]
    if tense == "fut":
        return future_stem(verb) + FUTURE[slot]
    if tense == "cond":
        return future_stem(verb) + IMPERFECT[slot]
    stem = "ét" if verb == "être" else present(verb)[3].removesuffix("ons")
    if verb.endswith("ger"):
        stem = stem.removesuffix("e")
    elif verb.endswith("cer"):
        stem = stem.replace("ç", "c")
    return soften(stem, IMPERFECT[slot])


def participle(verb: str) -> str:
    """The masculine singular past participle."""
    if verb in IRREGULAR_FR:
        return IRREGULAR_FR[verb][1][0]
    return verb[:-2] + {"er": "é", "ir": "i", "re": "u"}[verb[-2:]]


def gerund(verb: str) -> str:
    """The form that follows "en"."""
    return present(verb)[3].removesuffix("ons") + "ant"


def command(verb: str, slot: int) -> str:
    """The impératif of tu (1), nous (3) or vous (4)."""
    form = present(verb)[slot]
    return form[:-1] if slot == 1 and form.endswith(("es", "as")) else form


FEMININE = {
    "blanc": "blanche", "long": "longue", "vieux": "vieille", "beau": "belle", "nouveau": "nouvelle", "bon": "bonne",
    "gros": "grosse", "gentil": "gentille", "frais": "fraîche",
}  # fmt: skip
FEMININE_ENDINGS = (
    ("e", "e"),
    ("eux", "euse"),
    ("er", "ère"),
    ("if", "ive"),
    ("ien", "ienne"),
    ("el", "elle"),
)
BEFORE_VOWEL = {"vieux": "vieil", "beau": "bel", "nouveau": "nouvel"}


@cache
def inflect(adjective: str, fem: bool, plural: bool) -> str:
    """The form of an adjective or participle; phrases such as "en bois" do not vary."""
    if " " in adjective:
        return adjective
    form = adjective
    if fem:
        form = FEMININE.get(adjective) or next(
            (adjective.removesuffix(m) + f for m, f in FEMININE_ENDINGS if adjective.endswith(m)),
            adjective + "e",
        )
    if not plural or form[-1] in "sx":
        return form
    return (
        form[:-2] + "aux" if form.endswith("al") else form + ("x" if form.endswith("eau") else "s")
    )


def plural_fr(noun: str) -> str:
    """The regular plural of a noun, its first word only when it is a phrase ("pommes de terre")."""
    head, space, rest = noun.partition(" ")
    if head[-1] not in "sxz":
        head = (
            head[:-2] + "aux"
            if head.endswith("al")
            else head + ("x" if head.endswith(("eau", "eu", "ou")) else "s")
        )
    return head + space + rest


# ---------------------------------------------------------------------------------------------------------------
# English morphology
# ---------------------------------------------------------------------------------------------------------------

IRREGULAR_EN = {
    base: (past, pp)
    for base, past, pp in (
        line.split()
        for line in """
eat ate eaten|drink drank drunk|read read read|write wrote written|buy bought bought|sell sold sold|lose lost lost
find found found|see saw seen|hear heard heard|meet met met|know knew known|forget forgot forgotten
think thought thought|break broke broken|wear wore worn|take took taken|drive drove driven
build built built|speak spoke spoken|sing sang sung|leave left left|give gave given|send sent sent
lend lent lent|tell told told|bring brought brought|understand understood understood|choose chose chosen
begin began begun|win won won|run ran run|sleep slept slept|swim swam swum|come came come
go went gone|fall fell fallen|get got got|wake woke woken|say said said|put put put|have had had|be was been
show showed shown|light lit lit
""".strip().replace("\n", "|").split("|")
    )
}  # fmt: skip
DOUBLING = {"run", "swim", "put", "get", "win", "begin", "forget"}


@cache
def en_form(verb: str, form: str) -> str:
    """A form of an English verb: "s", "past", "pp", "ing" or "base"."""
    if form == "base":
        return verb
    if form in ("past", "pp") and verb in IRREGULAR_EN:
        return IRREGULAR_EN[verb][form == "pp"]
    if form == "s":
        if verb in ("have", "be"):
            return {"have": "has", "be": "is"}[verb]
        return plural_en(verb)
    stem = verb + verb[-1] if verb in DOUBLING else verb
    if form == "ing":
        return (
            stem[:-1] if stem.endswith("e") and not stem.endswith("ee") and stem != "be" else stem
        ) + "ing"
    if stem.endswith("e"):
        return stem + "d"
    return stem[:-1] + "ied" if stem[-1] == "y" and stem[-2] not in "aeou" else stem + "ed"


def plural_en(noun: str) -> str:
    """The regular -s form of a noun or verb."""
    if noun.endswith(("s", "x", "ch", "sh", "o")) and not noun.endswith(("oo", "io", "ano", "oto")):
        return noun + "es"
    return noun[:-1] + "ies" if noun[-1] == "y" and noun[-2] not in "aeou" else noun + "s"


def compare_en(adjective: str) -> str:
    """The one-word comparative, or "" where English uses "more"."""
    if adjective in COMPARATIVES:
        return COMPARATIVES[adjective]
    if adjective not in SHORT:
        return ""
    if adjective.endswith("y"):
        return adjective[:-1] + "ier"
    if adjective.endswith("e"):
        return adjective + "r"
    return adjective + adjective[-1] * (adjective in ("big", "sad", "hot")) + "er"


COMPARATIVES = {"good": "better", "bad": "worse"}
SHORT = set(
    "big small tall young old new nice heavy light long short easy hard funny happy sad clever rich "
    "strong hot cold dirty fresh shy proud ".split()
)

# ---------------------------------------------------------------------------------------------------------------
# Lexicon.  In every list the frequent entries stand first: entries are drawn with Zipf weights.
# ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Noun:
    """A noun with its class; `other` is the French form for the other sex (of trades)."""

    en: str
    fr: str
    fem: bool
    cls: str
    en_plural: str
    fr_plural: str
    other: str = ""


# class: english french gender [english-plural [french-plural]]; "_" stands for a space, "-" for the regular plural
NOUNS_TABLE = """
person: man homme m men | woman femme f women | boy garçon m | girl fille f | friend ami m | child enfant m children
person: neighbour voisin m | guest invité m | tourist touriste m
kin: mother mère f | brother frère m | sister sœur f | father père m | son fils m - fils | daughter fille f
kin: grandmother grand-mère f - grands-mères | uncle oncle m | cousin cousin m | aunt tante f
job: teacher professeur m - - professeure | doctor médecin m - - médecin | singer chanteur m - - chanteuse
job: student étudiant m - - étudiante | nurse infirmière f - - infirmier
job: lawyer avocat m - - avocate | painter peintre m - - peintre
boss: boss patron m
pet: dog chien m | cat chat m | rabbit lapin m
farm: horse cheval m - chevaux
bird: bird oiseau m - oiseaux | owl hibou m - hiboux
food: apple pomme f | cake gâteau m | orange orange f | egg œuf m | sandwich sandwich m | potato pomme_de_terre f
bread: bread pain m | cheese fromage m | meat viande f | soup soupe f
drink: water eau f | coffee café m | tea thé m | milk lait m
text: book livre m | letter lettre f | newspaper journal m - journaux | novel roman m | message message m | poem poème m
text: postcard carte_postale f - cartes_postales
tool: key clé f | bag sac m | umbrella parapluie m | suitcase valise f | pen stylo m | box boîte f
tool: camera appareil_photo m - appareils_photo | toy jouet m
gift: gift cadeau m | watch montre f | ring bague f
cup: glass verre m | plate assiette f | cup tasse f
garment: dress robe f | coat manteau m | shirt chemise f | hat chapeau m | shoe chaussure f
drive: car voiture f | bicycle vélo m | lorry camion m
transit: train train m | bus bus m - bus | plane avion m
home: house maison f | flat appartement m
castle: castle château m
room: kitchen cuisine f | bedroom chambre f | bathroom salle_de_bains f
at: station gare f | library bibliothèque f | market marché m | museum musée m | restaurant restaurant m | beach plage f
at: office bureau m | hospital hôpital m - hôpitaux | bank banque f | theatre théâtre m
school: school école f
spot: park parc m | garden jardin m | village village m | church église f | forest forêt f
in: street rue f
on: table table f | chair chaise f | bed lit m
floor: floor sol m
river: river rivière f
city: Paris Paris m | London Londres m | Rome Rome m | Lisbon Lisbonne m | Geneva Genève m
country: France France f | Italy Italie f | Canada Canada m | Spain Espagne f
device: phone téléphone m | computer ordinateur m | television télévision f
radio: radio radio f
light: light lumière f | lamp lampe f
door: door porte f | window fenêtre f
film: film film m
stage: play pièce f
song: song chanson f
music: music musique f
match: match match m
match2: match allumette f
picture: picture tableau m - tableaux | photo photo f
instrument: piano piano m | guitar guitare f | harp harpe f
sport: football football m | tennis tennis m | chess échecs m
plant: flower fleur f | tree arbre m
topic: question question f | problem problème m | answer réponse f | exercise exercice m
plan: idea idée f | plan projet m
tale: story histoire f | secret secret m | joke blague f
truth: truth vérité f
address: address adresse f | name nom m
event: party fête f | meeting réunion f | trip voyage m | exam examen m
org: company entreprise f | team équipe f
hand: hands mains f hands mains
tooth: teeth dents f teeth dents
limb: arm bras m - bras
language: French français m | English anglais m | Spanish espagnol m
money: money argent m
"""


def parse_nouns(table: str) -> dict[str, list[Noun]]:
    """The nouns of each class, in order of frequency."""
    nouns: dict[str, list[Noun]] = {}
    for line in table.strip().splitlines():
        cls, _, entries = line.partition(": ")
        for entry in entries.split(" | "):
            en, fr, gender, *rest = (part.replace("_", " ") for part in entry.split())
            en_plural, fr_plural, other = (rest + ["-"] * 3)[:3]
            nouns.setdefault(cls, []).append(
                Noun(
                    en,
                    fr,
                    gender.startswith("f"),
                    cls,
                    plural_en(en) if en_plural == "-" else en_plural,
                    plural_fr(fr) if fr_plural == "-" else fr_plural,
                    "" if other == "-" else other,
                )
            )
    return nouns


NOUNS = parse_nouns(NOUNS_TABLE)

PLURAL_SPORTS = {"chess", "cards"}
MASS = {"money", "music"}
SINGULAR_ONLY = set(
    "truth on school address floor in castle river org radio home event match".split()
)
CHILDREN = {"boy", "girl", "child"}
PEERS = ("brother", "sister", "cousin")
PAIRS = {"shoe"}
UNIQUE = {"mother", "father", "grandmother"}
HUMAN = {"person", "kin", "job", "boss", "name", "pron"}
ANIMAL = {"pet", "bird", "farm"}

MEN = "Paul Thomas Nicolas Hugo Antoine Simon Louis Victor".split()
WOMEN = "Marie Julie Emma Sophie Alice Claire Irene Helen".split()
NAMES = [name for pair in zip(MEN, WOMEN, strict=True) for name in pair]
FRENCH_NAMES = {"Irene": "Irène", "Helen": "Hélène"}

CLASS_GROUPS = {
    "HUMAN": "person kin job boss name pron",
    "ANIMAL": "pet bird farm",
    "THING": "tool gift cup garment text",
    "PLACE": "home room at school spot",
}


def expand(classes: str) -> tuple[str, ...]:
    """The classes (or single nouns) named by a list of classes and groups."""
    return tuple(
        dict.fromkeys(
            cls for name in classes.split() for cls in CLASS_GROUPS.get(name, name).split()
        )
    )


@dataclass(frozen=True)
class Adj:
    """An adjective, the classes it describes, and whether it stands before its noun in French."""

    en: str
    fr: str
    classes: tuple[str, ...]
    before: bool
    use: str


# english : french : place : classes; place is "pre" or "post", with "P" for predicative use only, "N" for attributive
# use only, "M" for a passing state of mind or body, "S" for one of things, "J" for a judgement, "Z" for what has no
# degrees
ADJECTIVES = [
    Adj(
        en.strip(),
        fr.strip(),
        expand(classes),
        place.split()[0] == "pre",
        "".join(place.split()[1:]),
    )
    for en, fr, place, classes in (
        line.split(":")
        for line in """
old : vieux : pre : man woman friend neighbour pet THING drive home on door instrument tree name pron kin
old : ancien : pre N : boss school
new : nouveau : pre N : THING drive home job boss plan on device song
small : petit : pre : child tool gift cup garment book drive home room spot pet bird in river plant
big : grand : pre : home room at bag box suitcase picture on castle
big : gros : pre : pet apple cake
tall : grand : pre N : boy girl child tree
tall : grand : pre P : person kin job boss name pron tree
beautiful : beau : pre : garment home song picture plant river city gift castle woman
young : jeune : pre : person job pet kin name pron
good : bon : pre : food bread text film stage plan story joke teacher doctor lawyer
red : rouge : post Z : garment car door bag
tired : fatigué : post M : HUMAN
happy : heureux : post M : HUMAN
expensive : cher : post J : gift garment drive home instrument camera bag
interesting : intéressant : post J : text film stage trip meeting topic plan tale
ill : malade : post M : HUMAN pet
long : long : pre : text film stage meeting trip dress story song street
famous : célèbre : post Z : singer painter picture song
heavy : lourd : post : bag suitcase box on
blue : bleu : post Z : garment car door cup
difficult : difficile : post J : topic exam
late : en retard : post P Z S : HUMAN transit
sad : triste : post M : HUMAN song film stage story
nice : gentil : pre : boy girl child friend neighbour kin job boss name pron
nice : gentil : pre P : man woman guest tourist
nice : agréable : post : room spot city home party trip
white : blanc : post Z : garment home pet bird cup
light : léger : post P : bag suitcase box coat
light : clair : post P : room home
easy : facile : post : topic exam
broken : cassé : post P Z S : device radio cup lamp chair door umbrella
dirty : sale : post S : garment drive room cup floor
clever : intelligent : post : HUMAN dog
black : noir : post Z : garment car cat dog bag horse
short : court : post P : text film stage dress song story
short : petit : pre P : person kin job boss name
hot : chaud : post S : soup coffee tea
cold : froid : post S : soup coffee tea milk
rich : riche : post : HUMAN
important : important : post J : letter message meeting topic plan
funny : drôle : post : HUMAN film stage tale
angry : en colère : post P M Z : HUMAN
green : vert : post Z : garment door car
delicious : délicieux : post Z J : food bread
strong : fort : post P : HUMAN
shy : timide : post : person job kin name pron
busy : occupé : post P M : HUMAN
hard : difficile : post : topic exam
fresh : frais : post P S : food
wooden : en bois : post N Z : on door box toy
proud : fier : post M P : HUMAN
open : ouvert : post P S Z : door box suitcase library museum bank
empty : vide : post P S Z : bag box suitcase glass plate cup
closed : fermé : post P S Z : door box suitcase library museum bank
full : plein : post P S Z : bag box suitcase glass cup
""".strip().splitlines()
    )
]

PREPOSITIONS = {"for", "at", "to", "about", "of", "after", "in", "on", "from", "with", "like"}
FRENCH_PREPOSITIONS = {"à", "de", "sur", "dans", "avec"}


@dataclass(frozen=True)
class Verb:
    """A verb in both languages with the classes of its subject and object.

    flags: s state (its past is an imparfait), p punctual (no progressive), e takes être, w takes weeks, t has no time;
    l may and L must have a place, m the object is a destination, v the particle follows a pronoun object, o the object
    is generic (le/la/les in French where English has nothing), z the object has no article, b it is a part of the
    body, n "à" with a person is no clitic, d the recipient may stand first, x an English modal, C a conditionnel.
    """

    en: str
    en_tail: tuple[str, ...]
    en_prep: str
    fr: str
    fr_tail: tuple[str, ...]
    fr_prep: str
    reflexive: bool
    subject: tuple[str, ...]
    object: tuple[str, ...]
    flags: str


def parse_verb(line: str) -> Verb:
    """A verb from "english | french | subject classes | object classes | flags"."""
    en, fr, subject, obj, flags = (part.strip() for part in line.split("|"))
    verb_en, *tail_en = en.replace("+", "").split()
    prep_en = tail_en.pop() if tail_en and tail_en[-1] in PREPOSITIONS and "v" not in flags else ""
    parts = fr.split()
    reflexive = parts[0] == "se"
    verb_fr, *tail_fr = parts[reflexive:]
    prep_fr = tail_fr.pop() if tail_fr and tail_fr[-1] in FRENCH_PREPOSITIONS else ""
    return Verb(
        verb_en,
        tuple(tail_en),
        prep_en,
        verb_fr,
        tuple(tail_fr),
        prep_fr,
        reflexive,
        expand(subject or "HUMAN"),
        expand(obj),
        flags,
    )


VERBS = [
    parse_verb(line)
    for line in """
see | voir | | HUMAN ANIMAL film play castle | p
eat | manger | | food bread | l
read | lire | | text | l
buy | acheter | | tool gift cup garment book novel newspaper food bread drive plant | p
like | aimer | | food bread drink music sport city pet | so
have | avoir | | text tool pet drive device gift home money | s
know | connaître | | HUMAN city song story address at | s
write | écrire | | letter poem message novel postcard | l
go to | aller à | | at park church city country | me
visit | rendre visite à | | HUMAN | p
visit | visiter | | museum city country castle church | pw
look for | chercher | | HUMAN tool garment text pet |
need | avoir besoin de | | HUMAN tool device text money drive | s
love | aimer | | HUMAN | s
love | adorer | | food bread music sport city pet | so
lose | perdre | | tool gift garment text | p
lose | perdre | | match | p
find | trouver | | tool gift text garment pet plan kin | p
wait for | attendre | | HUMAN transit letter answer |
listen to | écouter | | HUMAN radio song music |
take | prendre | | tool transit text | p
watch | regarder | | film bird match | l
look at | regarder | | picture HUMAN plant | t
help | aider | | HUMAN |
meet | rencontrer | | person job name pron | p
call | appeler | | HUMAN | p
phone | téléphoner à | | HUMAN | p
talk to | parler à | | HUMAN |
talk about | parler de | | HUMAN film stage text event plan city |
open | ouvrir | | door box suitcase letter | p
close | fermer | | door box suitcase | p
wear | porter | | garment ring watch |
drink | boire | | drink | l
think about | penser à | | HUMAN event plan topic | n
answer | répondre à | | HUMAN letter question message | p
play | jouer de | | instrument | l
play | jouer à | | sport | l
prepare | préparer | | party meeting cake soup |
wash | laver | | garment drive pet cup | l
break | casser | | cup device lamp | p
sell | vendre | | drive home instrument picture | p
forget | oublier | | tool text address exam | p
speak | parler | | language | sz
learn | apprendre | | language song | w
repair | réparer | | device drive radio lamp door |
hear | entendre | | HUMAN song bird dog | p
leave | quitter | | city country home school | p
study | étudier | | language | w
drive | conduire | | car lorry |
be +afraid of | avoir peur de | | HUMAN dog exam horse | s
turn on | allumer | | light device radio | pv
turn off | éteindre | | light device radio | pv
clean | nettoyer | | room home floor |
invite | inviter | | HUMAN | p
understand | comprendre | | HUMAN topic text | p
finish | finir | | text exercise | p
sing | chanter | | song | l
dream of | rêver de | | trip HUMAN castle |
choose | choisir | | garment gift picture film plant | p
miss | rater | | transit film stage meeting | p
look after | se occuper de | | HUMAN pet plant |
remember | se souvenir de | | HUMAN story song address trip | s
build | construire | | house | w
run | diriger | HUMAN | org | s
refuse | refuser | | plan gift | p
save | sauver | | pet child person | p
win | gagner | | match | p
light | allumer | | match2 | p
wash | se laver | | hand | b
brush | se brosser | | tooth | b
break | se casser | | limb | pb
""".strip().splitlines()
]

INTRANSITIVE = [
    parse_verb(line)
    for line in """
work | travailler | | | l
sleep | dormir | HUMAN pet | | l
live | habiter | | | sL
arrive | arriver | HUMAN transit | | pe
leave | partir | HUMAN transit | | pe
play | jouer | child pet | | l
be +hungry | avoir faim | HUMAN pet | | s
dance | danser | | | l
stay | rester | | | eL
wait | attendre | | | l
get up | se lever | | | p
come back | revenir | | | pe
laugh | rire | | |
go out | sortir | | | pe
run | courir | HUMAN pet horse | | l
work | marcher | device radio | | s
walk | marcher | | | l
be +thirsty | avoir soif | HUMAN pet | | s
swim | nager | | | l
fall | tomber | HUMAN | | pe
wake up | se réveiller | | | p
be +cold | avoir froid | | | s
go home | rentrer | | | pe
be +right | avoir raison | | | s
be +wrong | avoir tort | | | s
sing | chanter | HUMAN bird | | l
go to +bed | se coucher | | | p
""".strip().splitlines()
]

# verbs with a recipient; the recipient can stand first in English ("give him the book") when flagged "d"
DITRANSITIVE = [
    parse_verb(line)
    for line in """
give | donner | | tool text garment cake sandwich gift | pd
show | montrer | | text picture gift tool | pd
send | envoyer | | letter message postcard gift picture | pd
lend | prêter | | text tool drive money | pd
tell | raconter | | story joke | pd
bring | apporter | | food drink gift book | pd
explain | expliquer | | topic plan | p
sell | vendre | | drive picture | pd
tell | dire | | truth secret | pd
ask | poser | | question | pd
return | rendre | | text tool money | p
""".strip().splitlines()
]

# verbs with an object that is somewhere or is brought somewhere
PLACING = [
    parse_verb(line)
    for line in """
leave | laisser | | tool text garment | pL
put | mettre | | tool text cup | pL
""".strip().splitlines()
]

# verbs that take an infinitive, with the preposition before it; "x" marks an English modal auxiliary
CONTROL = [
    parse_verb(line)
    for line in """
can | pouvoir | | | xs
want | vouloir | | | s
must | devoir | | | xs
like | vouloir | | | sC
have | devoir | | | s
should | devoir | | | xsC
try | essayer de | | |
begin | commencer à | | | p
hope | espérer | | | s
forget | oublier de | | | p
need | avoir besoin de | | | s
decide | décider de | | | p
refuse | refuser de | | | p
""".strip().splitlines()
]

# verbs that take a clause
REPORTING = [
    parse_verb(line)
    for line in """
think | penser | | | s
know | savoir | | | s
say | dire | | | p
hope | espérer | | | s
forget | oublier | | | p
""".strip().splitlines()
]

BE = parse_verb("be | être | | | s")

TIMES = {
    "past": [
        "yesterday/a = hier/a", "last/b week/a = la/a semaine/a dernière/b", "this/a morning/b = ce/a matin/b",
        "last/a night/b = hier/a soir/b", "on/a Monday/a = lundi/a", "two/a days/b ago/c = il/c y/c a/c deux/a jours/b",
        "last/b year/a = l'/a année/a dernière/b", "on/a Saturday/a = samedi/a",
        "three/a weeks/b ago/c = il/c y/c a/c trois/a semaines/b", "a/a month/b ago/c = il/c y/c a/c un/a mois/b",
        "last/b summer/a = l'/a été/a dernier/b", "last/b month/a = le/a mois/a dernier/b",
    ],
    "future": [
        "tomorrow/a = demain/a", "next/b week/a = la/a semaine/a prochaine/b", "tonight/a = ce/a soir/a",
        "soon/a = bientôt/a", "on/a Monday/a = lundi/a", "next/b year/a = l'/a année/a prochaine/b",
        "on/a Saturday/a = samedi/a", "tomorrow/a morning/b = demain/a matin/b",
        "in/a two/b days/c = dans/a deux/b jours/c", "next/b month/a = le/a mois/a prochain/b",
        "in/a an/b hour/c = dans/a une/b heure/c",
    ],
    "habit": [
        "every/a day/b = tous/a les/a jours/b", "every/a morning/b = tous/a les/a matins/b",
        "in/a the/a evening/b = le/a soir/b", "every/a week/b = toutes/a les/a semaines/b",
        "on/a Sundays/b = le/a dimanche/b", "every/a year/b = tous/a les/a ans/b",
        "twice/a a/b week/c = deux/a fois/a par/b semaine/c", "in/a summer/b = en/a été/b",
        "in/a spring/b = au/a printemps/b",
    ],
    "now": [
        "now/a = maintenant/a", "at/a the/b moment/c = en/a ce/b moment/c", "this/a morning/b = ce/a matin/b",
        "today/a = aujourd'/a hui/a", "this/a evening/b = ce/a soir/b",
    ],
    "duration": [
        "for/a two/b hours/c = pendant/a deux/b heures/c", "for/a an/b hour/c = pendant/a une/b heure/c",
        "all/b day/c = toute/b la/c journée/c", "for/a ten/b minutes/c = pendant/a dix/b minutes/c",
        "all/b night/c = toute/b la/c nuit/c", "for/a three/b days/c = pendant/a trois/b jours/c",
    ],
    "since": [
        "for/a two/b hours/c = depuis/a deux/b heures/c", "for/a ten/b years/c = depuis/a dix/b ans/c",
        "since/a Monday/b = depuis/a lundi/b", "for/a three/b days/c = depuis/a trois/b jours/c",
        "since/a this/b morning/c = depuis/a ce/b matin/c",
        "since/a last/c week/b = depuis/a la/b semaine/b dernière/c",
        "for/a a/b year/c = depuis/a un/b an/c",
    ],
}  # fmt: skip

MID_ADVERBS = [
    "often/a = souvent/a",
    "always/a = toujours/a",
    "sometimes/a = parfois/a",
    "rarely/a = rarement/a",
]
MANNER = {
    "sleep": ["well/a = bien/a", "badly/a = mal/a"],
    "work": ["hard/a = dur/a", "well/a = bien/a", "a/a lot/a = beaucoup/a"],
    "sing": ["well/a = bien/a", "softly/a = doucement/a"],
    "dance": ["well/a = bien/a", "a/a lot/a = beaucoup/a"],
    "walk": ["slowly/a = lentement/a", "a/a lot/a = beaucoup/a"],
    "arrive": ["early/a = tôt/a", "late/a = en/a retard/a"],
    "run": ["fast/a = vite/a"],
    "laugh": ["a/a lot/a = beaucoup/a"],
    "leave": ["early/a = tôt/a"],
    "get": ["early/a = tôt/a"],
    "swim": ["well/a = bien/a"],
}

PLACES = [
    "here/a = ici/a",
    "at/a home/b = à/a la/b maison/b",
    "outside/a = dehors/a",
    "at/a school/b = à/a l'/b école/b",
    "in/a the/b country/c = à/a la/b campagne/c",
    "upstairs/a = en/a haut/a",
    "on/a the/b second/c floor/d = au/ab deuxième/c étage/d",
    "on/a the/b bank/c of/d the/e river/f = sur/a la/b rive/c de/d la/e rivière/f",
]
GENERAL_PLACES = ("room", "at", "spot", "in", "city")
# where people do what; verbs that may also be done at the fixed places above stand in ANYWHERE
PLACES_OF = {
    "work": ("office", "hospital", "library", "bank", "restaurant", "garden", "city"),
    "sleep": ("bedroom", "home"),
    "play": ("garden", "park", "street"),
    "dance": ("street", "kitchen", "theatre"),
    "wait": ("station", "street", "library", "office", "park"),
    "run": ("park", "forest", "street"),
    "walk": ("park", "forest", "street", "village"),
    "swim": ("river",),
    "sing": ("theatre", "church", "street"),
    "eat": ("restaurant", "kitchen", "garden"),
    "drink": ("restaurant", "kitchen", "garden"),
    "read": ("library", "bedroom", "garden"),
    "write": ("library", "bedroom", "office"),
    "live": ("city", "city", "country", "home", "village", "castle"),
}
LASTING = {"travailler", "dormir", "danser", "attendre", "marcher", "jouer", "nager", "courir"}
ENDURING = set(
    "work wait sleep live learn study read play look write build repair talk watch swim listen".split()
)
FAR_TIMES = ("week/", "weeks/", "year/", "years/", "month/", "summer/", "moment/")
FAR_VERBS = set(
    (
        "visiter rendre aller acheter vendre rencontrer quitter perdre gagner revenir partir travailler habiter venir "
        "casser finir voir préparer"
    ).split()
)
# what these verbs bring about is not yet anything that a relative clause could tell of
CREATING = {"write", "build", "prepare", "light"}
MISHAPS = {"lose", "miss", "forget", "break", "fall", "hear"}
ANYWHERE = {"be", "stay", "work", "sleep", "eat", "read", "wait", "play"}
# what people do not plan, so that it is not promised, wanted or ordered
UNPLANNED = set(
    (
        "lose miss forget break fall hear wake understand find laugh see take remember look wear dream think refuse "
        "save"
    ).split()
)

EXCESSIVE = set(
    (
        "old small big tired expensive long heavy difficult hard short hot cold busy shy young proud light easy"
    ).split()
)
DEGREES = [
    "very/a = très/a",
    "too/a = trop/a",
    "really/a = vraiment/a",
    "quite/a = assez/a",
    "so/a = si/a",
]

# a vocative, the person it names as (plural, feminine, vous), and the determiner-less French
VOCATIVES = [
    ("sir/a = monsieur/a", (False, False, True)), ("madam/a = madame/a", (False, True, True)),
    ("children/a = les/a enfants/a", (True, False, True)), ("mum/a = maman/a", (False, True, False)),
    ("doctor/a = docteur/a", (False, False, True)), ("dad/a = papa/a", (False, False, False)),
    ("girls/a = les/a filles/a", (True, True, True)), ("my/a friends/b = mes/a amis/b", (True, False, True)),
    ("ladies/a = mesdames/a", (True, True, True)), ("boys/a = les/a garçons/a", (True, False, True)),
]  # fmt: skip

NUMBERS = (
    "two deux|three trois|four quatre|five cinq|six six|ten dix|seven sept|eight huit|"
    "twelve douze|nine neuf"
).split("|")

# to find what was lost
FIND_BACK = parse_verb("find | retrouver | | tool gift text | p")
MISS = parse_verb("miss | manquer à | | HUMAN | s")
TELL = parse_verb("tell | dire | | | pd")
WONDER = parse_verb("wonder | se demander | | | s")
KNOW = parse_verb("know | savoir | | | s")
CONJUNCTIONS = {"and": "et", "but": "mais", "because": "parce que", "so": "donc"}

COMMAND_NAMES = set(
    (
        "open close read write eat drink wash listen look wait help call take turn clean give show send lend bring "
        "tell come stay get answer prepare learn choose finish sing play repair put explain return"
    ).split()
)
COMMANDS = [
    verb
    for verb in VERBS + DITRANSITIVE + INTRANSITIVE
    if verb.en in COMMAND_NAMES and verb.fr != "ressembler" and (verb.en != "play" or verb.object)
]
WARNINGS = [
    verb for verb in VERBS if verb.en in ("forget", "lose", "break", "miss") and not verb.reflexive
]

WEATHER = {
    "now": ["it/a 's/b raining/b = il/a pleut/b", "it/a is/b cold/c = il/a fait/b froid/c",
            "it/a is/b hot/c = il/a fait/b chaud/c", "it/a 's/b snowing/b = il/a neige/b"],
    "past": ["it/a was/b raining/b = il/a pleuvait/b", "it/a was/b cold/c = il/a faisait/b froid/c",
             "it/a was/b hot/c = il/a faisait/b chaud/c", "it/a was/b snowing/b = il/a neigeait/b"],
    "future": ["it/a will/b rain/b = il/a pleuvra/b", "it/a 's/b going/b to/c rain/c = il/a va/b pleuvoir/c",
               "it/a will/b be/b cold/c = il/a fera/b froid/c", "it/a will/b snow/b = il/a neigera/b"],
}  # fmt: skip

PURPOSES = [
    ("market", "buy", "food bread"), ("park", "play", "sport"), ("library", "read", "text"),
    ("station", "wait for", "train bus"), ("beach", "swim", ""), ("restaurant", "meet", "person"),
    ("library", "study", "language"), ("museum", "look at", "picture"), ("hospital", "visit", "person"),
    ("office", "finish", "text"), ("office", "help", "kin"), ("theatre", "see", "play"), ("park", "walk", ""),
]  # fmt: skip

WHILE_PAIRS = [
    ("eat", "food"), ("wash", "cup"), ("drink", "drink"), ("work", ""), ("wait for", "person"), ("clean", "room"),
    ("walk", ""), ("prepare", "soup"),
]  # fmt: skip
WHILE_WHAT = [
    ("listen to", "music"),
    ("talk to", "person"),
    ("think about", "event"),
    ("dance", ""),
    ("watch", "film"),
]
BEFORE_PAIRS = [
    ("close", "door"), ("read", "text"), ("eat", "food"), ("clean", "room"), ("finish", "text"), ("phone", "person"),
    ("drink", "drink"), ("wash", "hand"), ("turn off", "light"),
]  # fmt: skip
BEFORE_WHAT = [
    ("leave", ""), ("go out", ""), ("go to bed", ""), ("go home", ""), ("answer", "letter"), ("prepare", "soup"),
]  # fmt: skip

REASONS_AGAINST = {"expensive", "long", "difficult", "old", "hot cold"}
# what one would do if one had something
WISHES = [
    ("car", "visit", "city"), ("money", "buy", "drive"), ("car", "go to", "country"),
    ("computer", "write", "letter"), ("bicycle", "go to", "park"), ("money", "buy", "garment"),
    ("phone", "call", "kin"), ("garden", "look after", "plant"),
]  # fmt: skip
SINCE = [
    ("ill", "visit", "other"), ("tired", "go to bed", "same"), ("ill", "look after", "other"),
     ("busy", "go out", "same"), ("late", "wait for", "other"), ("sad", "phone", "other"),
    ("busy", "help", "other"), ("ill", "go out", "same"),
]  # fmt: skip

# a state, the verb that explains it and the class of its object
CAUSES = [
    ("tired", "work", ""), ("happy", "find", "tool"), ("sad", "lose", "tool"), ("angry", "miss", "transit"),
    ("happy", "win", "match"), ("tired", "walk", ""), ("sad", "lose", "text"), ("proud", "repair", "drive"),
    ("angry", "lose", "gift"), ("tired", "dance", ""), ("happy", "finish", "text"), ("ill", "eat", "food"),
    ("proud", "write", "poem"), ("happy", "buy", "drive"), ("angry", "break", "cup"), ("sad", "sell", "home"),
    ("happy", "prepare", "party"),
]  # fmt: skip

# classes of the object, first verb ("-" negates), its tense, conjunction, kind of sequel, what, tense ("-" negates)
SCRIPTS = [
    ("tool gift", "lose", "past", "but", "same", "find back", "past"),
    ("tool text", "lose", "past", "and", "can", "find back", "-pres"),
    ("tool garment text", "look for", "prog", "but", "can", "find", "-pres"),
    ("garment drive gift", "buy", "past", "because", "is", "beautiful new", "past"),
    ("garment drive", "-buy", "past", "because", "is", "expensive", "past"),
    ("text", "read", "past", "because", "is", "interesting short good", "past"),
    ("text", "-read", "past", "because", "is", "long", "past"),
    ("text", "-finish", "past", "because", "is", "long", "past"),
    ("letter postcard message", "write", "past", "but", "give", "send", "-past"),
    ("text", "finish", "perf", "and", "give", "return", "fut"),
    ("gift", "buy", "past", "and", "give", "give", "past"),
    ("garment", "wash", "past", "because", "is", "dirty", "past"),
    ("garment drive", "wash", "fut", "because", "is", "dirty", "pres"),
    ("device", "repair", "past", "because", "is", "broken", "past"),
    ("device", "repair", "past", "but", "does", "work", "-pres"),
    ("drive home", "sell", "past", "because", "is", "old", "past"),
    ("food", "-eat", "past", "because", "is", "fresh", "-past"),
    ("food bread", "eat", "past", "because", "is", "delicious good", "past"),
    ("coffee tea", "-drink", "past", "because", "is", "hot cold", "past"),
    ("kin", "invite", "past", "but", "does", "come back", "-past"),
    ("kin person", "phone", "past", "but", "does", "sleep", "pastprog"),
    ("kin person", "wait for", "prog", "but", "is", "late", "pres"),
    ("kin person", "help", "prog", "because", "is", "tired ill", "pres"),
    ("kin", "visit", "past", "because", "is", "ill", "past"),
    ("kin", "look for", "past", "but", "same", "find", "-past"),
    ("topic", "-understand", "past", "because", "is", "difficult", "past"),
    ("question", "-answer", "past", "because", "is", "difficult", "past"),
    ("city", "visit", "past", "and", "same", "talk about", "fut"),
    ("at", "know", "pres", "and", "same", "go to", "pres"),
    ("at", "know", "pres", "but", "same", "go to", "-pres"),
    ("film", "see", "past", "and", "same", "talk about", "prog"),
    ("film", "watch", "past", "but", "is", "long", "past"),
    ("song", "learn", "past", "and", "same", "sing", "pres"),
    ("song", "listen to", "past", "because", "is", "beautiful", "past"),
    ("picture", "choose", "past", "and", "give", "give", "past"),
    ("transit", "wait for", "prog", "but", "is", "late", "pres"),
    ("transit", "miss", "past", "because", "does", "leave", "plup"),
    ("pet", "save", "past", "and", "same", "look after", "prog"),
    ("door", "close", "past", "but", "other", "open", "past"),
    ("light", "turn on", "past", "but", "other", "turn off", "past"),
    ("picture", "look at", "prog", "because", "is", "beautiful", "pres"),
    ("tool", "need", "pres", "but", "same", "lose", "perf"),
    ("tool text", "need", "pres", "and", "same", "look for", "prog"),
    ("trip", "dream of", "prog", "and", "same", "think about", "pres"),
    ("plant", "buy", "past", "because", "is", "beautiful", "past"),
    ("room", "clean", "past", "because", "is", "dirty", "past"),
]  # fmt: skip


# ---------------------------------------------------------------------------------------------------------------
# Constituents
# ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ref:
    """What agreement and pronouns need to know: person, number, French gender, vous, and human or not."""

    person: int = 3
    plural: bool = False
    fem: bool = False
    vous: bool = False
    human: bool = True

    @property
    def slot_en(self) -> int:
        """Row of the English paradigms; "you" conjugates as a plural."""
        return self.person - 1 + 3 * (self.plural or self.person == 2)

    @property
    def slot_fr(self) -> int:
        """Row of the French paradigms; a polite "vous" conjugates as a plural."""
        return self.person - 1 + 3 * (self.plural or self.vous)

    def en(self, case: str) -> str:
        """The English pronoun in the case "subj", "obj" or "poss"."""
        row = (
            self.slot_en
            if self.slot_en != 2
            else ("he" if not self.fem else "she")
            if self.human
            else "it"
        )
        return PRONOUNS_EN[row][("subj", "obj", "poss").index(case)]

    def fr(self, case: str) -> str:
        """The French pronoun in the case "subj", "dir", "ind", "refl" or "stress"."""
        row = PRONOUNS_FR[self.slot_fr].split()[
            ("subj", "dir", "ind", "refl", "stress").index(case)
        ]
        return row.split("/")[self.fem and "/" in row]


PRONOUNS_EN = {
    0: ("I", "me", "my"), 3: ("we", "us", "our"), 4: ("you", "you", "your"), 5: ("they", "them", "their"),
    "he": ("he", "him", "his"), "she": ("she", "her", "her"), "it": ("it", "it", "its"),
}  # fmt: skip
PRONOUNS_FR = (
    "je me me me moi",
    "tu te te te toi",
    "il/elle le/la lui se lui/elle",
    "nous nous nous nous nous",
    "vous vous vous vous vous",
    "ils/elles les leur se eux/elles",
)
POSSESSIVES_FR = (
    "mon ma mes",
    "ton ta tes",
    "son sa ses",
    "notre notre nos",
    "votre votre vos",
    "leur leur leurs",
)

ME, WE = Ref(1), Ref(1, plural=True)
TU = Ref(2)
HE, SHE, THEY = Ref(3), Ref(3, fem=True), Ref(3, plural=True)


@dataclass(frozen=True)
class NP:
    """A noun phrase; a pronoun has no words of its own, its form depends on its place in the clause."""

    frag: Frag
    ref: Ref
    cls: str
    key: int = -1
    noun: Noun | None = None

    @property
    def is_pronoun(self) -> bool:
        """Whether the phrase is a personal pronoun."""
        return self.cls == "pron"


def pronoun(ref: Ref) -> NP:
    """The personal pronoun for a referent."""
    return NP(EMPTY, ref, "pron", new_key())


def possessive_fr(owner: Ref, fem: bool, plural: bool) -> str:
    """The French possessive determiner."""
    return POSSESSIVES_FR[owner.slot_fr].split()[2 if plural else fem]


def article_fr(fem: bool, plural: bool) -> str:
    """The French definite article."""
    return "les" if plural else "la" if fem else "le"


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
        """Whether the clause ends in a relative clause in either language, so that no adverbial may follow."""
        if self.tail.en or self.tail.fr:
            return self.tail.open
        ends = [self.obj, self.recipient]
        return any(np.frag.open for np in ends if np is not None)


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
BE_FORMS = {"pres": ("am", "is", "are"), "past": ("was", "was", "were")}
CONTRACTIONS = {"am": "'m", "is": "'s", "are": "'re", "will": "'ll", "would": "'d", "have": "'ve"}
NEGATIVE_STEMS = {"will": "won", "can": "can", "must": "mustn", "would": "wouldn"}


@dataclass(frozen=True)
class Keys:
    """The link keys of a verb group: auxiliary, verb, infinitive after a modal, preposition, negation, question."""

    aux: int = field(default_factory=new_key)
    verb: int = field(default_factory=new_key)
    main: int = field(default_factory=new_key)
    to: int = field(default_factory=new_key)
    tail: int = field(default_factory=new_key)
    prep: int = field(default_factory=new_key)
    neg: int = field(default_factory=new_key)
    ask: int = field(default_factory=new_key)


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
    if "x" in verb.flags:
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
    if tense == "since" and "s" not in verb.flags:
        return have, en_words("been", k.aux) + en_words(en_form(base, "ing"), k.verb)
    just = en_words("just", k.aux) if tense == "just" else ()
    return have, just + en_words(en_form(base, "pp"), k.verb)


def infinitive_en(c: Clause, k: Keys) -> tuple[Word, ...]:
    """The infinitive that depends on the clause's modal."""
    assert c.modal is not None
    if "x" in c.modal.flags:
        return en_words(c.verb.en, k.main)
    return en_words("to", k.to) + en_words(c.verb.en, k.main)


def objects_en(c: Clause, k: Keys) -> tuple[Word, ...]:
    """Particles, objects and recipient in English order."""
    lexical = k.main if c.modal else k.verb
    tail = en_words(" ".join(c.verb.en_tail), k.tail if c.verb.fr_tail else lexical)
    prep_key = k.prep if c.verb.fr_prep else lexical
    if c.obj is not None and c.obj.is_pronoun:
        if "m" in c.verb.flags:
            obj = en_words("there", c.obj.key)
        else:
            obj = en_words(c.verb.en_prep, prep_key) + en_words(c.obj.ref.en("obj"), c.obj.key)
            if "v" in c.verb.flags:
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


def clitics_fr(
    c: Clause, k: Keys, lexical: int
) -> tuple[list[tuple[str, int, Word]], tuple[Word, ...]]:
    """The clitics as (case, rank, word), and the pronouns that cannot be clitics as a phrase after the verb."""
    clitics: list[tuple[str, int, Word]] = []
    phrase_after: tuple[Word, ...] = ()
    if c.verb.reflexive:
        keys = {c.obj.key} if "b" in c.verb.flags and c.obj else {lexical}
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
        elif prep == "à" and "n" not in c.verb.flags:
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
        return None if "b" in c.verb.flags else c.subject.ref
    if "e" in c.verb.flags:
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
    past_tense = "imparf" if "s" in head.flags else "compound"
    tense = (
        "cond"
        if "C" in head.flags
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
        auxiliary = "être" if "e" in head.flags or (c.verb.reflexive and not c.modal) else "avoir"
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


def realise(c: Clause, mode: str = "decl", keys: Keys | None = None) -> Frag:
    """A clause in both languages; mode is decl, ask, inf, ing or imp."""
    k = keys or Keys()
    if c.predicate:
        c = replace(c, predicate=Fixed(c.predicate.frag(c.subject.ref)))
    fr = french(c, k, "decl" if mode == "ask" else mode)
    if mode == "ask":
        fr = fr_words("est-ce que", k.ask) + fr
    return Frag(english(c, k, mode), fr)


@dataclass(frozen=True)
class Fixed:
    """A predicate already in words."""

    words: Frag

    def frag(self, ref: Ref) -> Frag:
        """The words, whatever the subject."""
        return self.words


# ---------------------------------------------------------------------------------------------------------------
# Sampling constituents
# ---------------------------------------------------------------------------------------------------------------


def comma() -> Frag:
    """A comma in both languages."""
    return linked(",", ",")


@cache
def zipf(n: int) -> tuple[float, ...]:
    """Cumulative Zipf weights for a list of n entries."""
    return tuple(itertools.accumulate(1 / (rank + 1.6) for rank in range(n)))


@cache
def pools(classes: tuple[str, ...]) -> tuple[tuple[Noun, ...], ...]:
    """The nouns of each named class, or the single noun of that name."""
    every = [noun for nouns in NOUNS.values() for noun in nouns]
    found = (
        tuple(NOUNS.get(name) or [noun for noun in every if noun.en == name]) for name in classes
    )
    return tuple(nouns for nouns in found if nouns)


def accepts(classes: tuple[str, ...], np: NP) -> bool:
    """Whether a list of classes admits the noun phrase."""
    return np.cls in classes or (np.noun is not None and np.noun.en in classes)


def has_noun(classes: tuple[str, ...], noun: Noun) -> bool:
    """Whether a list of classes admits the noun."""
    return noun.cls in classes or noun.en in classes


OWNED_PERSONS = {"friend", "neighbour", "teacher", "doctor", "lawyer", "guest", "boss"}
OWNED_PLACES = {"bedroom", "kitchen", "garden", "office", "school", "street", "village", "bed"}
PLACE_CLASSES = {"room", "at", "school", "spot", "in", "on", "floor", "river", "home", "castle"}
TIME_OF = {
    "past": "past",
    "pastprog": "past",
    "fut": "future",
    "going": "future",
    "prog": "now",
    "since": "since",
    "cond": "",
}


class Grammar:
    """Draws sentences; one object per corpus, with the sentence's "you" as its only state."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.rich = 0.0
        self.you = TU
        self.you_used = False
        self.open_reference = True

    # ---- chance -------------------------------------------------------------------------------------------

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return self.rng.random() < p

    def zipf(self, items: Sequence):
        """An item of a list that is ordered by frequency."""
        return self.rng.choices(items, cum_weights=zipf(len(items)))[0]

    def weighted(self, table: dict):
        """A key of a table of weights."""
        return self.rng.choices(list(table), weights=list(table.values()))[0]

    def phrase(self, notations: Sequence[str]) -> Frag:
        """A fixed phrase from a list ordered by frequency."""
        return phrase(self.zipf(notations))

    # ---- noun phrases -------------------------------------------------------------------------------------

    def noun(self, classes: tuple[str, ...]) -> Noun:
        """A noun of one of the classes."""
        groups = pools(classes)
        return self.zipf(self.rng.choices(groups, weights=[min(len(g), 5) for g in groups])[0])

    def address(self) -> Ref:
        """The addressee of the sentence, noted as mentioned."""
        self.you_used = True
        return self.you

    def person_pronoun(self, avoid: Ref | None = None) -> NP:
        """A pronoun for a person, never of the grammatical person of `avoid` unless both are third."""
        table = {
            "I": 8,
            "you": 7,
            "he": 6,
            "she": 6,
            "we": 4,
            "they": 3 if self.open_reference else 0,
        }
        if avoid is not None and avoid.person < 3:
            for name in ("I", "we") if avoid.person == 1 else ("you",):
                table[name] = 0
        name = self.weighted(table)
        if name == "you":
            return pronoun(self.address())
        return pronoun({"I": ME, "we": WE, "he": HE, "she": SHE, "they": THEY}[name])

    def name(self, avoid: NP | None = None) -> NP:
        """A first name."""
        while True:
            name = self.zipf(NAMES)
            if avoid is None or name not in {word.text for word in avoid.frag.en}:
                break
        return NP(linked(name, FRENCH_NAMES.get(name, name)), Ref(fem=name in WOMEN), "name")

    def owner(self, near: Ref | None) -> Ref:
        """The referent of a possessive; most often the subject of the clause."""
        if near is not None and near.human and self.chance(0.7):
            if near.person == 2:
                self.you_used = True
            return near
        choice = self.weighted({"my": 6, "your": 3, "his": 3, "her": 3, "our": 2})
        return (
            self.address()
            if choice == "your"
            else {"my": ME, "his": HE, "her": SHE, "our": WE}[choice]
        )

    def determiner_kind(self, noun: Noun, plural: bool, neg: bool, habit: bool) -> str:
        """The kind of determiner that suits the noun."""
        cls = noun.cls
        if cls == "kin" or cls == "boss":
            return "my" if self.chance(0.85) else "gen"
        if cls == "drink" or cls == "bread" or noun.en in MASS:
            return "neg" if neg else self.weighted({"mass": 6, "the": 3, "this": 1})
        if cls in ("truth", "river", "instrument", "match", "floor", "light", "radio", "transit"):
            return "the"
        if cls in PLACE_CLASSES - {"home"}:
            return self.weighted({"the": 7, "my": 3 if noun.en in OWNED_PLACES else 0, "this": 1})
        if cls in ("hand", "tooth", "limb"):
            return "my"
        owned = 3 if cls not in ("person", "job") or noun.en in OWNED_PERSONS else 0
        if cls in ("plant", "food", "film", "stage", "bird", "farm", "match", "match2", "topic"):
            owned = 0
        table = {
            "the": 4 * (noun.en != "friend"),
            "a": 3,
            "my": owned,
            "this": 1.2,
            "gen": 0.8 if owned else 0,
        }
        if plural:
            table |= {"num": 1.5, "all": 0.6, "thenum": 0.4}
            if cls not in ("drive", "device", "home", "instrument", "plan", "light", "door"):
                table |= {"many": 0.7, "several": 0.5, "few": 0.5}
        if habit and plural:
            table = {"a": 6, "my": owned, "the": 0.5, "many": 1}
        elif habit:
            table = {"my": owned, "the": 1, "this": 0, "gen": 0}
        if neg:
            table |= {"neg": table.get("a", 1), "a": 0, "num": 0, "several": 0, "few": 0, "all": 0}
        return self.weighted(table)

    def determiner(
        self, kind: str, fem: bool, plural: bool, bare_des: bool, near: Ref | None
    ) -> Frag:
        """The determiner in both languages; `bare_des` asks for "de" before an adjective instead of "des"."""
        key = new_key()
        article = article_fr(fem, plural)
        if kind == "the":
            return Frag(en_words("the", key), fr_words(article, key, role="art"))
        if kind == "generic":
            return Frag((), fr_words(article, role="art"))
        if kind == "a" and not plural:
            return Frag(en_words("a", key), fr_words("une" if fem else "un", key))
        if kind in ("a", "mass"):
            some = en_words("some", key) if self.chance(0.5 if kind == "mass" else 0.4) else ()
            keys = (key,) if some else ()
            de = fr_words("de", *keys, role="part")
            return Frag(
                some, de if bare_des and plural else de + fr_words(article, *keys, role="part")
            )
        if kind in ("neg", "negmass"):
            word = "any" if plural or kind == "negmass" else "a"
            return Frag(en_words(word, key), fr_words("de", key, role="part"))
        if kind == "my":
            owner = self.owner(near)
            return Frag(
                en_words(owner.en("poss"), key), fr_words(possessive_fr(owner, fem, plural), key)
            )
        if kind == "this":
            word = (
                ("these" if plural else "this")
                if self.chance(0.65)
                else ("those" if plural else "that")
            )
            return Frag(
                en_words(word, key), fr_words("ces" if plural else "cette" if fem else "ce", key)
            )
        if kind == "num":
            return linked(*self.zipf(NUMBERS[:6]).split())
        if kind == "thenum":
            return Frag(en_words("the", key), fr_words("les", key, role="art")) + linked(
                *self.zipf(NUMBERS[:3]).split()
            )
        if kind == "many":
            return (
                linked("many", "beaucoup de") if self.chance(0.7) else linked("too many", "trop de")
            )
        if kind == "several":
            return linked("several", "plusieurs")
        if kind == "few":
            return linked("a few", "quelques")
        if kind == "all":
            return phrase("all/a the/b = toutes/a les/b" if fem else "all/a the/b = tous/a les/b")
        raise ValueError(kind)

    def adjectives(self, noun: Noun, kind: str) -> list[Adj]:
        """The attributive adjectives that suit a noun with this kind of determiner."""
        if noun.cls == "kin":
            return []
        return [
            adj
            for adj in ADJECTIVES
            if has_noun(adj.classes, noun)
            and "P" not in adj.use
            and "M" not in adj.use
            and not (adj.fr == "ancien" and kind not in ("my", "gen"))
            and not (adj.fr == "vieux" and noun.cls in ("boss", "school"))
        ]

    def noun_phrase(
        self,
        noun: Noun,
        *,
        kind: str = "",
        plural: bool | None = None,
        neg: bool = False,
        habit: bool = False,
        near: Ref | None = None,
        depth: int = 0,
        plain: bool = False,
    ) -> NP:
        """A noun with determiner and, unless `plain`, perhaps an adjective and a relative clause."""
        if noun.cls in ("city", "country", "language", "sport", "hand", "tooth", "limb"):
            return self.special_noun(noun, near)
        mass = noun.cls in ("bread", "drink") or noun.en in MASS
        if plural is None:
            plural = self.countable(noun) and self.chance(
                1 if habit and noun.en != "newspaper" else 0.3
            )
            plural = plural or noun.en in PAIRS
            plural = plural or (noun.cls == "kin" and noun.en not in UNIQUE and self.chance(0.08))
        kind = kind or self.determiner_kind(noun, plural, neg, habit)
        human = noun.cls in HUMAN
        ref = Ref(3, plural, noun.fem, human=human)
        adj = None
        if (
            not plain
            and self.chance(0.2 + self.rich / 4)
            and (options := self.adjectives(noun, kind))
        ):
            adj = self.zipf(options)
        key = new_key()
        core = Frag(
            en_words(noun.en_plural if plural else noun.en, key),
            fr_words(noun.fr_plural if plural else noun.fr, key),
        )
        if adj:
            core = self.attribute(core, adj, ref)
        if kind == "neg" and mass:
            kind = "negmass"
        if kind == "gen":
            frag = self.genitive(core, ref, named=noun.cls == "kin")
        else:
            frag = self.determiner(kind, noun.fem, plural, bool(adj and adj.before), near) + core
        if (
            not plain
            and depth > 0
            and kind in ("the", "a", "all", "thenum")
            and self.chance(self.rich)
            and (human or not adj)
        ):
            relative = self.relative(noun, ref, depth - 1)
            frag += replace(relative, open=bool(relative.en))
        return NP(frag, ref, noun.cls, new_key(), noun)

    def countable(self, noun: Noun) -> bool:
        """Whether the noun is freely used in the plural."""
        singular = (
            SINGULAR_ONLY
            | PLACE_CLASSES
            | {"instrument", "kin", "boss", "transit", "bread", "drink"}
        )
        return noun.cls not in singular and noun.en not in MASS

    def special_noun(self, noun: Noun, near: Ref | None) -> NP:
        """Names of places, languages and sports, and parts of the body."""
        plural = noun.en in PLURAL_SPORTS or noun.cls in ("hand", "tooth")
        core = linked(noun.en, noun.fr)
        if noun.cls in ("hand", "tooth", "limb"):
            assert near is not None
            key = new_key()
            if near.person == 2:
                self.you_used = True
            article = Frag(
                en_words(near.en("poss"), key),
                fr_words(article_fr(noun.fem, plural), key, role="art"),
            )
            return NP(article + core, Ref(3, plural, noun.fem, human=False), noun.cls, key, noun)
        article = (
            EMPTY
            if noun.cls == "city"
            else self.determiner("generic", noun.fem, plural, False, None)
        )
        return NP(article + core, Ref(3, plural, noun.fem, human=False), noun.cls, new_key(), noun)

    def attribute(self, core: Frag, adj: Adj, ref: Ref) -> Frag:
        """A noun with an adjective before it in English and on its own side in French."""
        key = new_key()
        form = inflect(adj.fr, ref.fem, ref.plural)
        special = (
            BEFORE_VOWEL.get(adj.fr, "") if adj.before and not ref.fem and not ref.plural else ""
        )
        words = fr_words(form, key)
        if special:
            words = (replace(words[0], before_vowel=special),)
        return Frag(
            en_words(adj.en, key) + core.en, words + core.fr if adj.before else core.fr + words
        )

    def genitive(self, core: Frag, ref: Ref, named: bool) -> Frag:
        """Possession by a person: "Paul's car", "la voiture de Paul"."""
        owner = self.name().frag if named or self.chance(0.65) else self.plain_owner()
        key = new_key()
        mark = en_words("'s", key)
        article = fr_words(article_fr(ref.fem, ref.plural), key, role="art")
        return Frag(owner.en + mark + core.en, article + core.fr + fr_words("de", key) + owner.fr)

    def plain_owner(self) -> Frag:
        """A short noun phrase for a possessor."""
        noun = self.noun(("kin", "job", "boss"))
        return self.noun_phrase(
            noun, kind="the" if noun.cls == "job" else "my", plural=False, plain=True
        ).frag

    # ---- relative clauses ---------------------------------------------------------------------------------

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
            and "o" not in verb.flags
            and "pron" in verb.subject
            and not set(verb.flags) & set("bz")
            and verb.en not in ("eat", "drink", "steal", "have")
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
        tense = self.tense(verb, "now" if "s" in verb.flags and self.chance(0.6) else "past")
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
        verbs = [verb for verb in self.object_verbs(noun, "à") if "m" not in verb.flags]
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
        plural = False
        key, link = new_key(), linked("whose", "dont")
        inner = Frag(
            en_words(owned.en, key),
            fr_words(article_fr(owned.fem, plural)) + fr_words(owned.fr, key),
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
            verb = next(v for v in VERBS if v.en == "meet")
            obj = self.object(verb, person, "past")
            return link + realise(Clause(person, verb, "past", obj=obj))
        if kind == "play":
            sport = self.noun_phrase(self.noun(("sport",)))
            return link + realise(Clause(person, verb_for("play", "sport"), "pres", obj=sport))
        return link + realise(
            Clause(person, verb_for(kind, ""), "pres" if self.chance(0.7) else "used")
        )

    # ---- subjects and objects -----------------------------------------------------------------------------

    def subject(self, short: bool = False, depth: int = 0) -> NP:
        """A person as subject."""
        kind = self.weighted(
            {
                "pron": 34,
                "name": 22,
                "kin": 14,
                "noun": 6 if short else 22,
                "pair": 0 if short else 4,
            }
        )
        if kind == "pron":
            return self.person_pronoun()
        if kind == "name":
            return self.name()
        if kind == "pair":
            one = self.name()
            two = self.name(avoid=one)
            frag = one.frag + phrase("and/a = et/a") + two.frag
            return NP(frag, Ref(3, True, one.ref.fem and two.ref.fem), "name")
        noun = self.noun(("kin",) if kind == "kin" else ("person", "job", "boss"))
        return self.subject_noun(noun, depth, short)

    def subject_noun(self, noun: Noun, depth: int = 0, plain: bool = False) -> NP:
        """A noun phrase fit to be a subject: never "some" or a bare plural."""
        plural = False if noun.cls in ("transit", "on") else None
        while True:
            np = self.noun_phrase(noun, depth=depth, plain=plain, plural=plural)
            indefinite = np.frag.en[0].text == "a" and self.chance(0.5)
            if np.frag.fr[0].role != "part" and not indefinite:
                return np

    def subject_of(self, verb: Verb, short: bool = False, depth: int = 0) -> NP:
        """A subject that the verb admits."""
        if "pron" in verb.subject and (len(verb.subject) < 7 or self.chance(0.75)):
            return self.subject(short, depth)
        classes = tuple(c for c in verb.subject if c not in ("pron", "name"))
        noun = self.noun(classes)
        return self.subject_noun(noun, depth, short)

    def object(self, verb: Verb, subject: NP, tense: str, neg: bool = False, depth: int = 0) -> NP:
        """An object that the verb admits."""
        near = subject.ref
        if verb.en in CREATING:
            depth = 0
        if "pron" in verb.object:
            human_only = set(verb.object) <= HUMAN
            if human_only or self.chance(0.4):
                return self.human_object(verb, subject, depth, neg)
        classes = tuple(c for c in verb.object if c not in HUMAN or "pron" not in verb.object)
        noun = self.noun(classes)
        if "z" in verb.flags:
            return NP(linked(noun.en, noun.fr), Ref(human=False), noun.cls, new_key(), noun)
        if "o" in verb.flags and noun.cls not in ("city", "sport"):
            plural = noun.cls not in ("bread", "drink") and noun.en not in MASS
            if self.chance(0.75) or noun.cls in ("bread", "drink", "food") or noun.en in MASS:
                return self.noun_phrase(noun, kind="generic", plural=plural, plain=True)
            return self.noun_phrase(
                noun, near=near, depth=depth, kind="my" if noun.cls == "pet" else "this"
            )
        habit = tense == "pres" and "s" not in verb.flags
        if verb.en == "buy":
            near = None
        plural = None
        kind = ""
        if tense == "imp" or (neg and verb.fr_prep):
            plural = self.chance(0.25) if self.countable(noun) else False
            kind = self.determiner_kind(noun, plural, False, habit)
            definite = kind in ("the", "my", "this", "gen")
            kind = kind if definite or (kind == "mass" and (not neg or verb.fr_prep)) else "the"
        return self.noun_phrase(
            noun, kind=kind, plural=plural, neg=neg, habit=habit, near=near, depth=depth
        )

    def human_object(self, verb: Verb, subject: NP, depth: int, neg: bool = False) -> NP:
        """A person as object."""
        table = {"pron": 4, "name": 3, "kin": 3 if "kin" in verb.object else 0, "noun": 3}
        kind = self.weighted(table)
        if kind == "pron":
            return self.person_pronoun(avoid=subject.ref)
        if kind == "name":
            return self.name(avoid=subject)
        noun = self.noun(("kin",) if kind == "kin" else ("person", "job"))
        if noun == subject.noun:
            return self.human_object(verb, subject, depth, neg)
        definite = noun.cls != "kin" and (
            "o" in verb.flags or (neg and (verb.fr_prep or "s" in verb.flags))
        )
        return self.noun_phrase(
            noun, near=subject.ref, depth=depth, neg=neg, kind="the" if definite else ""
        )

    # ---- places and times ---------------------------------------------------------------------------------

    def place(
        self,
        near: NP | None = None,
        classes: tuple[str, ...] = GENERAL_PLACES,
        fixed: bool = False,
        depth: int = 0,
    ) -> Frag:
        """A place where something is or happens; `fixed` admits phrases such as "at home"."""
        if fixed and self.chance(0.25):
            return self.phrase(PLACES)
        noun = self.noun(classes)
        key = new_key()
        np = self.noun_phrase(noun, depth=depth, near=near.ref if near else None)
        if noun.cls in ("city", "country"):
            return Frag(en_words("in", key) + np.frag.en, located_fr(fr_words("à", key), np))
        prepositions = {"at": ("at", "à"), "school": ("at", "à"), "on": ("on", "sur")}.get(
            noun.cls, ("in", "dans")
        )
        return linked(*prepositions) + np.frag

    def tense(self, verb: Verb, group: str) -> str:
        """A tense of the group that suits the verb: any, now, past, future, cond or before."""
        state, punctual = "s" in verb.flags, "p" in verb.flags
        if group == "future":
            return "fut"
        if "t" in verb.flags and not state:
            return {"now": "prog", "any": "prog", "before": "pastprog"}.get(group, "past")
        if group == "cond":
            return "cond"
        if group == "before":
            return "past" if state else "plup" if punctual or self.chance(0.5) else "pastprog"
        if group == "past":
            return "past"
        if group == "now":
            return "pres" if state else "perf" if punctual else "prog"
        if state:
            return self.weighted({"pres": 7, "past": 3})
        if punctual:
            ahead = verb.en not in MISHAPS
            return self.weighted(
                {"past": 10, "perf": 2.5, "fut": 4 * ahead, "going": 2 * ahead, "just": 1.5}
            )
        return self.weighted(
            {
                "prog": 6,
                "past": 6,
                "pres": 4,
                "fut": 3,
                "going": 1.5,
                "pastprog": 1,
                "since": 2 * (verb.en in ENDURING),
                "perf": 0.6,
                "used": 0.8,
            }
        )

    def negation(self, verb: Verb, tense: str) -> str:
        """A negation that the tense admits, most often none."""
        if tense in ("just", "since", "used") or not self.chance(0.17):
            return ""
        if tense == "perf":
            return "jamais"
        if tense == "pres":
            return self.weighted({"pas": 6, "plus": 2.5, "jamais": 0 if "s" in verb.flags else 4})
        return "pas"

    def timed(self, c: Clause) -> Clause:
        """The clause with the adverb of frequency or time that its tense calls for."""
        flags = (c.modal or c.verb).flags
        if c.tense == "pres" and "s" not in flags:
            if c.open:
                return c if c.neg or c.mid.fr else replace(c, tense="prog")
            if c.neg == "jamais" or (c.neg and (c.obj is not None or self.chance(0.7))):
                return c
            if self.chance(0.45) and not c.neg and not c.mid.fr:
                return replace(c, mid=self.frequency(c.verb))
            return replace(c, tail=c.tail + self.time("habit", c))
        full = c.open or (c.obj is not None and has_clause(c.obj))
        stranded = c.obj is None and c.verb.en_prep
        if c.tense == "since":
            if c.open:
                return replace(c, tense="prog")
            return replace(c, tail=c.tail + self.time("since", c))
        if c.tense == "perf" and not c.neg and not c.mid.fr and self.chance(0.35):
            return replace(c, mid=phrase("already/a = déjà/a"))
        group = TIME_OF.get(c.tense, "")
        if not group or full or "s" in flags or "t" in c.verb.flags or not self.chance(0.42):
            return c
        if (
            c.tense == "past"
            and c.verb.fr in LASTING
            and not c.neg
            and not c.modal
            and not stranded
            and self.chance(0.4)
        ):
            group = "duration"
        return replace(c, tail=c.tail + self.time(group, c))

    def frequency(self, verb: Verb) -> Frag:
        """An adverb of frequency; nobody always learns."""
        return self.phrase([a for a in MID_ADVERBS if verb.en != "learn" or "always" not in a])

    def time(self, group: str, c: Clause) -> Frag:
        """A time of the group on the scale of the verb: weeks to build a house, hours to wash a cup."""
        far = "w" in c.verb.flags or c.verb.fr in FAR_VERBS
        near = "w" not in c.verb.flags
        return self.phrase(
            [t for t in TIMES[group] if (far if any(word in t for word in FAR_TIMES) else near)]
        )

    # ---- clauses ------------------------------------------------------------------------------------------

    def clause(
        self,
        subject: NP | None = None,
        group: str = "any",
        depth: int = 0,
        short: bool = False,
        event: bool = False,
        time: bool = True,
    ) -> Clause:
        """A clause of any frame that suits the subject, or of an action."""
        human = subject is None or subject.cls in HUMAN or subject.ref.human
        table = {
            "transitive": 46,
            "intransitive": 20,
            "ditransitive": 9,
            "placing": 3,
            "be_adjective": 10,
            "be_place": 5,
            "trade": 3,
            "control": 13,
        }
        if subject is not None and not candidates(INTRANSITIVE, subject, lambda v: True):
            table["intransitive"] = 0
        if not human:
            table |= {"transitive": 0, "ditransitive": 0, "placing": 0, "trade": 0, "control": 0}
        if group in ("future", "cond", "before"):
            table |= {"be_adjective": int(human), "trade": 0, "be_place": 3}
        if subject is not None and not self.adjectives_for(subject):
            table["be_adjective"] = 0
        if subject is not None and subject.noun is not None:
            table["trade"] *= subject.cls != "job" and subject.noun.en not in CHILDREN
        if event:
            table |= {"be_adjective": 0, "trade": 0, "be_place": 0, "control": 0}
        frame = self.weighted(table)
        options = (
            {"plain": True}
            if event and frame.endswith("transitive") and frame != "ditransitive"
            else {}
        )
        c = getattr(self, frame)(subject, group, depth if not short else 0, **options)
        return (
            self.timed(c)
            if (time and not (short and self.chance(0.6))) or c.tense in ("since", "pres")
            else c
        )

    def verb(
        self, verbs: Sequence[Verb], subject: NP | None, ok: Callable[[Verb], bool] = lambda v: True
    ) -> Verb:
        """A verb that admits the subject and passes the test."""
        return self.zipf(candidates(verbs, subject, ok))

    def transitive(self, subject: NP | None, group: str, depth: int, plain: bool = False) -> Clause:
        """A verb with an object."""
        planned = plain or group in ("future", "cond")
        verb = self.verb(
            VERBS, subject, lambda v: not (planned and ("s" in v.flags or v.en in UNPLANNED))
        )
        subject = subject or self.subject_of(verb, depth=depth)
        tense = self.tense(verb, group)
        neg = self.negation(verb, tense)
        if tense == "pres" and "m" in verb.flags:
            neg = ""
        obj = self.object(verb, subject, tense, bool(neg), depth)
        c = Clause(subject, verb, tense, neg, obj, contract=self.chance(0.75))
        if neg == "plus" and obj.frag.open:
            c = replace(c, neg="pas")
        if "l" in verb.flags and self.chance(0.16) and not (obj.frag.open or has_clause(obj)):
            c = replace(c, tail=self.place_of(verb, subject))
        return c

    def place_of(self, verb: Verb, subject: NP, depth: int = 0) -> Frag:
        """A place where one does what the verb says."""
        return self.place(
            subject, PLACES_OF.get(verb.en, GENERAL_PLACES), verb.en in ANYWHERE, depth
        )

    def intransitive(
        self, subject: NP | None, group: str, depth: int, plain: bool = False
    ) -> Clause:
        """A verb without object, perhaps with a place or an adverb of manner."""
        planned = (plain or group in ("future", "cond")) and (subject is None or subject.ref.human)
        verb = self.verb(
            INTRANSITIVE,
            subject,
            lambda v: (
                not (
                    planned
                    and (
                        set("sL") & set(v.flags)
                        or v.en in UNPLANNED
                        or (plain and v.en == "arrive")
                    )
                )
            ),
        )
        subject = subject or self.subject_of(verb, depth=depth)
        tense = self.tense(verb, group)
        c = Clause(subject, verb, tense, self.negation(verb, tense), contract=self.chance(0.75))
        if "L" in verb.flags or ("l" in verb.flags and self.chance(0.45)):
            c = replace(c, tail=self.place_of(verb, subject, depth))
        elif (
            verb.en in MANNER
            and verb.subject != ("device", "radio")
            and self.chance(0.4)
            and not plain
            and tense not in ("prog", "just", "perf")
        ):
            c = with_manner(c, self.phrase(MANNER[verb.en]))
        return c

    def ditransitive(self, subject: NP | None, group: str, depth: int) -> Clause:
        """A verb with an object and a recipient."""
        verb = self.verb(DITRANSITIVE, subject)
        subject = subject or self.subject(depth=depth)
        tense = self.tense(verb, group)
        neg = self.negation(verb, tense)
        recipient = self.recipient(subject)
        first = (
            "d" in verb.flags
            and (verb.en in ("tell", "ask") or self.chance(0.5))
            and not (has_clause(recipient.frag))
        )
        # an object with a relative clause must stand last in both languages
        last = first and recipient.is_pronoun
        obj = self.object(verb, subject, tense, bool(neg), depth if last else 0)
        if verb.en == "ask":
            obj = self.noun_phrase(self.noun(("question",)), kind="neg" if neg else "a", plain=True)
        if neg == "plus" and obj.frag.open:
            neg = "pas"
        return Clause(subject, verb, tense, neg, obj, recipient, first, contract=self.chance(0.75))

    def recipient(self, subject: NP) -> NP:
        """The person something is given to."""
        kind = self.weighted({"pron": 5, "name": 3, "kin": 3, "noun": 3})
        if kind == "pron":
            return self.person_pronoun(avoid=subject.ref)
        noun = self.noun(("kin",) if kind == "kin" else ("person", "job"))
        np = (
            self.name(avoid=subject)
            if kind == "name"
            else self.noun_phrase(
                noun,
                near=subject.ref,
                kind="my" if noun.cls == "kin" or noun.en in OWNED_PERSONS else "the",
            )
        )
        return replace(np, key=new_key())

    def placing(self, subject: NP | None, group: str, depth: int) -> Clause:
        """Something left or put somewhere."""
        verb = self.verb(PLACING, subject)
        subject = subject or self.subject(depth=depth)
        tense = self.tense(verb, group)
        neg = self.negation(verb, tense)
        noun = self.noun(verb.object)
        obj = self.noun_phrase(
            noun, kind=self.weighted({"the": 2, "my": 3, "this": 1}), near=subject.ref
        )
        where = ("on", "on", "room") if verb.en == "put" or self.chance(0.4) else ("room", "at")
        return Clause(
            subject,
            verb,
            tense,
            neg,
            obj,
            tail=self.place(subject, where),
            contract=self.chance(0.75),
        )

    def adjectives_for(self, subject: NP, passing: bool = False) -> list[Adj]:
        """The predicative adjectives for the subject, or only those of passing states.

        A relative clause tells of a state or a judgement; a lasting quality stands before the noun ("the small house").
        """
        relative = texts(subject.frag) in (["who"], ["that"])
        return [
            adj
            for adj in ADJECTIVES
            if accepts(adj.classes, subject)
            and "N" not in adj.use
            and ("M" in adj.use or not passing)
            and (set("MSJ") & set(adj.use) or not relative)
            and adj.en not in texts(subject.frag)
        ]

    def be_adjective(self, subject: NP | None, group: str, depth: int = 0) -> Clause:
        """Something is so, more so, or as much so."""
        if subject is None:
            subject = self.thing(depth) if self.chance(0.35) else self.subject(depth=depth)
        options = self.adjectives_for(subject, passing=group in ("future", "cond"))
        if not options:
            return self.be_adjective(None, group, depth)
        adj = self.zipf(options)
        gradable = "Z" not in adj.use
        human = subject.ref.human
        predicate = AdjP(adj)
        if gradable and self.chance(0.3):
            predicate = AdjP(adj, self.degree(adj))
        elif (
            gradable
            and human
            and "M" not in adj.use
            and self.chance(0.35)
            and not (
                adj.en in ("old", "young", "tall")
                and subject.noun is not None
                and subject.noun.en not in PEERS
            )
        ):
            other = (
                self.name(avoid=subject).frag
                if self.chance(0.5)
                else self.noun_phrase(
                    self.noun(PEERS), near=subject.ref, plain=True, kind="my", plural=False
                ).frag
            )
            predicate = AdjP(adj, EMPTY, other, self.weighted({"more": 3, "as": 1}))
        tense = {"past": "past", "before": "past", "future": "fut", "cond": "cond"}.get(group) or (
            "pres"
            if group == "now" or self.chance(0.7) or adj.en in ("old", "young", "tall")
            else "past"
        )
        neg = (
            ""
            if predicate.relation or predicate.degree.en or not self.chance(0.2)
            else self.weighted({"pas": 4, "plus": "M" in adj.use})
        )
        return Clause(subject, BE, tense, neg, predicate=predicate, contract=self.chance(0.75))

    def degree(self, adj: Adj, excess: bool = True) -> Frag:
        """A degree that suits the adjective; not everything can be too much."""
        return self.phrase(
            [d for d in DEGREES if not d.startswith("too") or (excess and adj.en in EXCESSIVE)]
        )

    def thing(self, depth: int = 0) -> NP:
        """A thing or place that can be described."""
        things = "tool garment text drive home room film stage song topic plan food tale device door plant"
        noun = self.noun((*things.split(), "event", "picture"))
        if not any(has_noun(adj.classes, noun) and "N" not in adj.use for adj in ADJECTIVES):
            return self.thing(depth)
        kind = self.weighted({"the": 5, "my": 3, "this": 2})
        if kind == "my" and noun.cls in ("at", "food", "film", "stage", "plant", "spot"):
            kind = "the"
        return self.noun_phrase(noun, kind=kind, depth=depth)

    def be_place(self, subject: NP | None, group: str, depth: int = 0) -> Clause:
        """Someone or something is somewhere."""
        if subject is None:
            things = ("tool", "text", "cup", "garment", "gift")
            subject = (
                self.subject(depth=depth)
                if self.chance(0.6)
                else self.noun_phrase(
                    self.noun(things), kind=self.weighted({"the": 3, "my": 4}), depth=depth
                )
            )
        animate = subject.ref.human or subject.cls in ANIMAL
        where = (
            ("room", "at", "spot", "city", "country")
            if subject.ref.human
            else (
                ("room", "garden", "street", "park")
                if animate
                else ("table", "shelf", "kitchen")
                if subject.cls == "cup"
                else ("on", "on", "room")
            )
        )
        tense = {"past": "past", "before": "past", "future": "fut", "cond": "cond"}.get(group) or (
            "pres" if group == "now" or self.chance(0.65) else "past"
        )
        neg = "pas" if self.chance(0.12) else ""
        return Clause(
            subject,
            BE,
            tense,
            neg,
            tail=self.place(subject, where, subject.ref.human),
            contract=self.chance(0.75),
        )

    def trade(self, subject: NP | None, group: str, depth: int = 0) -> Clause:
        """Someone has a trade."""
        if subject is None or subject.cls == "job":
            kin = self.noun_phrase(self.noun(("kin",)), depth=depth)
            subject = self.rng.choice([self.name(), self.person_pronoun(), kin])
        tense = (
            self.weighted({"pres": 6, "past": 2, "fut": 1})
            if group == "any"
            else {"past": "past", "before": "past"}.get(group, "pres")
        )
        neg = "pas" if self.chance(0.1) else ""
        return Clause(
            subject,
            BE,
            tense,
            neg,
            predicate=Trade(self.noun(("job",))),
            contract=self.chance(0.75),
        )

    def control(self, subject: NP | None, group: str, depth: int) -> Clause:
        """A modal or a verb such as "want" with an infinitive."""
        wanted = {
            "past": ("want", "try", "decide", "refuse", "forget", "begin"),
            "now": ("can", "want", "must", "need"),
            "before": ("want",),
            "any": None,
        }.get(group, ("have",))
        modal = self.zipf([m for m in CONTROL if wanted is None or m.en in wanted])
        if modal.en == "have":
            tenses = (
                {"fut": 1}
                if group == "future"
                else {"cond": 1}
                if group == "cond"
                else {"pres": 3, "past": 3, "fut": 2}
            )
        elif "x" in modal.flags:
            tenses = {"pres": 1}
        elif "C" in modal.flags:
            tenses = {"cond": 1}
        elif "s" in modal.flags:
            tenses = {"pres": 3, "past": 1.5}
        elif modal.en in ("try", "learn"):
            tenses = {"prog": 3, "past": 3}
        else:
            tenses = {"past": 3, "perf": 1}
        if group in ("past", "before"):
            tenses = {"past": 1}
        if group == "now":
            tenses = {"pres": 1}
        tense = self.weighted(tenses)
        negatable = modal.en in ("can", "want", "must", "should", "need") or modal.flags == "x"
        neg = "pas" if negatable and self.chance(0.25) else ""
        inner = self.transitive if self.chance(0.7) else self.intransitive
        while True:
            c = inner(
                subject if subject is not None else self.subject(depth=depth),
                "past",
                depth,
                plain=True,
            )
            if not c.neg:
                break
        if neg and c.obj is not None and not c.obj.is_pronoun:
            c = replace(c, obj=self.object(c.verb, c.subject, "inf", True, 0))
        return replace(c, modal=modal, tense=tense, neg=neg, contract=self.chance(0.75))

    # ---- sentences ----------------------------------------------------------------------------------------

    def statement(self, depth: int) -> Frag:
        """A declarative clause; its time may stand first."""
        group = self.weighted({"past": 3, "future": 2}) if self.chance(0.06) else "any"
        c = self.clause(None, group, depth, time=group == "any")
        event = "s" not in (c.modal or c.verb).flags and c.tense in ("past", "fut")
        if event and (group != "any" or (c.open and self.chance(0.4))):
            return self.time(TIME_OF[c.tense], c) + comma() + realise(c)
        return realise(c)

    def yes_no(self, depth: int) -> Frag:
        """A question for yes or no."""
        subject = pronoun(self.address()) if self.chance(0.45) else None
        while True:
            c = self.clause(subject, "any", depth)
            modal_ok = c.modal is None or (not c.neg and c.modal.en != "must")
            if (
                c.tense != "used"
                and c.subject.ref.person != 1
                and c.neg in ("", "pas")
                and modal_ok
            ):
                return realise(replace(c, contract=True), "ask")

    def wh_question(self, depth: int) -> Frag:
        """A question with where, when, why, what, who, which, how many."""
        return getattr(
            self,
            "ask_"
            + self.weighted(
                {
                    "where": 3,
                    "when": 2,
                    "why": 4,
                    "what": 3,
                    "who": 3,
                    "whom": 2,
                    "which": 4,
                    "many": 2,
                    "be_where": 2,
                    "age": 1,
                    "time": 1,
                }
            ),
        )(depth)

    def asked(self, wh: Frag, c: Clause) -> Frag:
        """A question word before an inverted clause."""
        return wh + realise(replace(c, contract=True), "ask")

    def asker_subject(self) -> NP:
        """The subject of a question."""
        while True:
            np = pronoun(self.address()) if self.chance(0.4) else self.subject(short=True)
            if np.ref.person != 1:
                return np

    def positive(self, make: Callable[[], Clause], tenses: Sequence[str]) -> Clause:
        """A clause without negation or modal in one of the tenses, without time or place."""
        while True:
            c = make()
            if (
                not c.neg
                and not c.modal
                and c.tense in tenses
                and not c.mid.fr
                and c.subject.ref.person != 1
            ):
                return replace(c, tail=EMPTY)

    def ask_where(self, depth: int) -> Frag:
        """Where ...?"""
        names = (
            "find",
            "buy",
            "lose",
            "live",
            "work",
            "sleep",
            "meet",
            "hide",
            "see",
            "wait",
            "eat",
            "play",
            "learn",
        )
        c = self.positive(
            lambda: self.clause(self.asker_subject()), ("past", "pres", "prog", "fut")
        )
        if c.verb.en not in names:
            return self.ask_where(depth)
        return self.asked(linked("where", "où"), c)

    def ask_when(self, depth: int) -> Frag:
        """When ...?"""
        c = self.positive(lambda: self.clause(self.asker_subject()), ("past", "fut", "going"))
        if "s" in c.verb.flags:
            return self.ask_when(depth)
        return self.asked(linked("when", "quand"), c)

    def ask_why(self, depth: int) -> Frag:
        """Why ...?"""
        while True:
            c = self.clause(self.asker_subject(), "any", depth)
            if (
                c.tense in ("past", "prog", "pres")
                and c.neg in ("", "pas")
                and not c.mid.fr
                and not c.modal
                and not (
                    isinstance(c.predicate, AdjP)
                    and (c.predicate.relation or "M" not in c.predicate.adj.use)
                )
            ):
                return self.asked(linked("why", "pourquoi"), c)

    def ask_what(self, depth: int) -> Frag:
        """What ...?"""
        names = (
            "eat",
            "read",
            "buy",
            "drink",
            "write",
            "look",
            "find",
            "prepare",
            "learn",
            "choose",
            "lose",
            "see",
        )
        verb = self.zipf(
            [v for v in VERBS if v.en in names and not v.fr_prep and v.fr != "regarder"]
        )
        tense = self.tense(verb, self.weighted({"now": 3, "past": 3, "future": 1}))
        tense = "past" if tense == "perf" else tense
        c = self.timed(Clause(self.asker_subject(), verb, tense))
        what = new_key()
        return self.asked(Frag(en_words("what", what), fr_words("que", what)), c)

    def ask_whom(self, depth: int) -> Frag:
        """Who did you see?"""
        names = ("see", "meet", "call", "help", "invite", "thank", "look", "wait")
        verb = self.zipf(
            [
                v
                for v in VERBS
                if v.en in names and "pron" in v.object and not v.fr_prep and v.fr != "regarder"
            ]
        )
        tense = (
            "prog"
            if "p" not in verb.flags and self.chance(0.5)
            else self.weighted({"past": 3, "fut": 1})
        )
        return self.asked(
            linked("who", "qui"), self.timed(Clause(self.asker_subject(), verb, tense))
        )

    def ask_who(self, depth: int) -> Frag:
        """Who is singing?"""
        subject = NP(linked("who", "qui"), Ref(), "name")
        while True:
            c = self.clause(subject, self.weighted({"past": 3, "now": 3, "future": 1}), 0)
            if (
                c.subject is subject
                and not c.neg
                and not (isinstance(c.predicate, AdjP) and c.predicate.relation)
            ):
                return realise(c)

    def ask_which(self, depth: int) -> Frag:
        """Which letters did you read? - the participle agrees."""
        verb = self.zipf(
            [
                v
                for v in VERBS
                if v.en
                in (
                    "see",
                    "buy",
                    "read",
                    "choose",
                    "take",
                    "write",
                    "sell",
                    "repair",
                    "open",
                    "wear",
                    "eat",
                    "wash",
                )
                and not v.reflexive
            ]
        )
        noun = self.noun(tuple(cls for cls in verb.object if cls not in HUMAN | {"bread"}))
        plural = self.chance(0.45)
        ref = Ref(3, plural, noun.fem, human=False)
        return self.asked(self.which(noun, ref), self.gapped(verb, ref))

    def which(self, noun: Noun, ref: Ref) -> Frag:
        """which letters - quelles lettres"""
        quel = ("quels", "quelles", "quel", "quelle")[2 * (not ref.plural) + ref.fem]
        return linked("which", quel) + (
            linked(noun.en_plural, noun.fr_plural) if ref.plural else linked(noun.en, noun.fr)
        )

    def gapped(self, verb: Verb, ref: Ref) -> Clause:
        """A clause whose object stands before it."""
        tense = self.weighted({"past": 5, "fut": 1, "prog": 0 if "p" in verb.flags else 2})
        return self.timed(Clause(self.asker_subject(), verb, tense, gap=ref))

    def ask_many(self, depth: int) -> Frag:
        """How many apples did you eat?"""
        verb = self.zipf(
            [
                v
                for v in VERBS
                if v.en
                in (
                    "see",
                    "buy",
                    "read",
                    "eat",
                    "write",
                    "sell",
                    "find",
                    "plant",
                    "draw",
                    "invite",
                    "break",
                )
                and not v.reflexive
            ]
        )
        noun = self.noun(
            tuple(cls for cls in verb.object if cls not in ("name", "pron", "kin", "boss", "bread"))
        )
        ref = Ref(3, True, noun.fem, human=noun.cls in HUMAN)
        if noun.cls == "bread":
            return self.ask_many(depth)
        wh = linked("how many", "combien de") + linked(noun.en_plural, noun.fr_plural)
        return self.asked(wh, self.gapped(verb, ref))

    def ask_be_where(self, depth: int) -> Frag:
        """Where is the key?"""
        noun = self.noun(("tool", "text", "gift", "garment", "kin", "at", "pet"))
        np = self.noun_phrase(noun, plain=True, kind="the" if noun.cls == "at" else "my", near=None)
        be = linked(be_form("pres", np.ref), conjugate("être", "pres", np.ref.slot_fr))
        return linked("where", "où") + be + np.frag

    def ask_age(self, depth: int) -> Frag:
        """How old is your sister?"""
        np = self.noun_phrase(self.noun(("kin", "pet")), plain=True, kind="my", plural=False)
        key, age = new_key(), new_key()
        return (
            Frag(
                en_words("how old", age) + en_words("is", key),
                fr_words("quel âge", age) + fr_words("a", key),
            )
            + np.frag
        )

    def ask_time(self, depth: int) -> Frag:
        """What time will the train arrive?"""
        verb = self.zipf(
            [
                v
                for v in INTRANSITIVE
                if v.en in ("leave", "arrive", "get", "wake", "go") and v.fr != "sortir"
            ]
        )
        c = Clause(
            self.subject_of(verb, short=True),
            verb,
            self.weighted({"fut": 2, "past": 2, "going": 1}),
        )
        return self.asked(phrase("what/a time/b = à/a quelle/a heure/b"), c)

    def imperative(self, depth: int) -> Frag:
        """A command to tu or vous, or "Let's ..."."""
        if self.chance(0.14):
            return self.proposal(depth)
        neg = "pas" if self.chance(0.22) else ""
        who = NP(EMPTY, self.address(), "pron", new_key())
        verb = self.zipf(WARNINGS if neg and self.chance(0.5) else COMMANDS)
        c = Clause(
            who,
            verb,
            "pres",
            neg,
            self.object(verb, who, "imp", bool(neg), 0 if verb in DITRANSITIVE else depth)
            if verb.object
            else None,
        )
        if verb in DITRANSITIVE:
            recipient = self.recipient(who)
            c = replace(c, recipient=recipient, recipient_first="d" in verb.flags)
        elif set("lL") & set(verb.flags) and not verb.object:
            c = replace(c, tail=self.place_of(verb, who))
        return realise(c, "imp")

    def proposal(self, depth: int) -> Frag:
        """Let's read the letter."""
        who = pronoun(WE)
        verb = self.zipf([v for v in COMMANDS if v not in DITRANSITIVE])
        c = Clause(
            who,
            verb,
            "pres",
            obj=self.object(verb, who, "imp", False, depth) if verb.object else None,
        )
        frag, key = realise(c, "imp"), new_key()
        first = replace(frag.fr[0], keys=frag.fr[0].keys | {key})
        return Frag(en_words("let 's", key) + frag.en, (first, *frag.fr[1:]))

    def there_is(self, depth: int) -> Frag:
        """There is a book on the table."""
        tense = self.weighted({"pres": 3, "past": 2})
        where, classes = self.weighted(
            {
                ("table", "tool text cup food gift"): 3,
                ("room", "boy girl child dog cat"): 1,
                ("park garden street", "person bird tree dog"): 3,
                ("museum beach station market", "tourist man woman child policeman"): 2,
            }
        )
        noun = self.noun(tuple(classes.split()))
        neg = self.chance(0.2)
        plural = self.chance(0.5)
        kinds = (
            {"neg": 1}
            if neg
            else {"a": 3, "num": 2, "many": 1, "several": 1, "few": 1}
            if plural
            else {"a": 1}
        )
        np = self.noun_phrase(noun, kind=self.weighted(kinds), plural=plural, depth=0)
        key, no = new_key(), new_key()
        be = be_form(tense, np.ref)
        finite = "a" if tense == "pres" else "avait"
        en = en_words("there", key) + (
            en_words(be + "n", key) + en_words("'t", no) if neg else en_words(be, key)
        )
        fr = (
            fr_words("il", key) + (fr_words("ne", no) if neg else ()) + fr_words("y " + finite, key)
        )
        return (
            Frag(en, fr + (fr_words("pas", no) if neg else ()))
            + np.frag
            + self.place(None, tuple(where.split()))
        )

    def missing(self, depth: int) -> Frag:
        """I miss my sister - ma sœur me manque."""
        one = (
            self.person_pronoun()
            if self.chance(0.6)
            else self.name()
            if self.chance(0.5)
            else self.subject(short=True)
        )
        if self.chance(0.35):
            two = self.person_pronoun(avoid=one.ref)
        elif self.chance(0.6):
            two = self.noun_phrase(
                self.noun(("kin", "kin", "friend", "dog")), kind="my", near=one.ref, plain=True
            )
        else:
            two = self.name(avoid=one)
        tense = self.weighted({"pres": 5, "past": 2, "fut": 2})
        neg = "pas" if self.chance(0.15) else ""
        keys = Keys()
        en = english(Clause(one, MISS, tense, neg, two), keys, "decl")
        fr = french(Clause(two, MISS, tense, neg, one), keys, "decl")
        return Frag(en, fr)

    def age(self, depth: int) -> Frag:
        """My brother is ten years old."""
        np = (
            self.name()
            if self.chance(0.4)
            else self.noun_phrase(
                self.noun((*PEERS, "son", "daughter", "pet")), kind="my", plural=False, plain=True
            )
        )
        key, unit = new_key(), new_key()
        number, nombre = self.zipf(NUMBERS).split()
        return (
            np.frag
            + Frag(en_words("is", key), fr_words("a", key))
            + linked(number, nombre)
            + Frag(en_words("years old", unit), fr_words("ans", unit))
        )

    def weather(self, depth: int = 0, group: str = "") -> Frag:
        """It is raining."""
        group = group or self.weighted({"now": 2, "past": 2, "future": 2})
        return self.phrase(WEATHER[group])

    def purpose(self, depth: int) -> Frag:
        """Someone goes somewhere to do something."""
        place, verb_en, classes = self.rng.choice(PURPOSES)
        subject = self.subject(short=True)
        verb = verb_for("go", "at")
        tense = self.weighted({"past": 4, "prog": 2, "fut": 2})
        place_np = self.noun_phrase(self.noun((place,)), kind="the" if self.chance(0.8) else "this")
        main = Clause(subject, verb, tense, obj=place_np, contract=self.chance(0.7))
        obj = None
        if classes:
            noun = self.noun(tuple(classes.split()))
            inner = verb_for(verb_en, noun.cls, noun.en)
            obj = (
                self.human_object(inner, subject, 0)
                if noun.cls in HUMAN
                else self.noun_phrase(noun, near=subject.ref, depth=depth)
            )
        else:
            inner = verb_for(verb_en, "")
        end = EMPTY
        if self.chance(0.35) and not (obj is not None and obj.frag.open):
            end = self.phrase(TIMES[TIME_OF[tense]][:5])
        to = linked("to", "pour")
        return realise(main) + to + realise(Clause(subject, inner, "inf", obj=obj, tail=end), "inf")

    def together(self, depth: int) -> Frag:
        """Someone does something while doing something else, or before it."""
        subject = self.subject(short=True)
        before = self.chance(0.4)
        tense = (
            self.weighted({"past": 3, "fut": 1})
            if before
            else self.weighted({"prog": 2, "past": 2, "pastprog": 1})
        )
        name, cls = self.zipf(BEFORE_PAIRS if before else WHILE_PAIRS)
        name2, cls2 = self.zipf(BEFORE_WHAT if before else WHILE_WHAT)
        main = Clause(
            subject,
            verb_for(name, cls),
            tense,
            obj=self.plain_object(cls, subject),
            contract=self.chance(0.7),
        )
        rest = Clause(subject, verb_for(name2, cls2), "inf", obj=self.plain_object(cls2, subject))
        if before:
            return realise(main) + linked("before", "avant de") + realise_as(rest, "ing", "inf")
        return realise(main) + linked("while", "en") + realise(rest, "ing")

    def plain_object(self, cls: str, subject: NP) -> NP | None:
        """A short object of the class, or none."""
        if not cls:
            return None
        noun = self.noun((cls,))
        if noun.cls in HUMAN:
            return self.name(avoid=subject)
        return self.noun_phrase(
            noun, near=subject.ref, plural=False if noun.cls == "door" else None
        )

    # ---- complex sentences --------------------------------------------------------------------------------

    def other_subject(self, first: NP, depth: int = 0) -> NP:
        """A second person, not confusable with the first."""
        self.open_reference = False
        while True:
            np = self.subject(short=depth == 0, depth=depth)
            same_noun = np.noun is not None and first.noun is not None and np.noun == first.noun
            clash = np.is_pronoun and (np.ref.person == 3 or np.ref.person == first.ref.person)
            if (
                not clash
                and not same_noun
                and not (set(texts(np.frag)) & set(texts(first.frag)) & set(NAMES))
            ):
                return np

    def same_subject(self, first: NP) -> NP:
        """The first person again, as a pronoun."""
        return pronoun(first.ref)

    def second_subject(self, first: NP, depth: int = 0) -> NP:
        """The same person or another."""
        self.open_reference = False
        return (
            self.same_subject(first)
            if first.ref.human and self.chance(0.4)
            else self.other_subject(first, depth)
        )

    def affirmed(self, subject: NP, group: str, depth: int) -> Clause:
        """A clause that tells of an action, without negation."""
        while True:
            c = self.clause(subject, group, depth, event=True, time=group != "now")
            if not c.neg:
                return c

    def coordination(self, depth: int) -> Frag:
        """Two clauses joined by "and" or "but"."""
        group = self.weighted({"past": 5, "now": 1.5, "future": 2})
        subject = self.subject(depth=depth)
        first = self.affirmed(subject, group, depth)
        self.open_reference = False
        same = self.chance(0.4)
        second = self.affirmed(
            self.same_subject(subject) if same else self.other_subject(subject, depth), group, depth
        )
        conj = linked("but", "mais") if not same and self.chance(0.35) else linked("and", "et")
        return realise(first) + conj + realise(second)

    def stateless_subject(self, depth: int) -> NP:
        """A person as subject of whose state nothing is said yet: no "the woman who is happy is sad"."""
        while True:
            subject = self.subject(depth=depth)
            if not set(texts(subject.frag)) & {adj.en for adj in ADJECTIVES if "M" in adj.use}:
                return subject

    def because(self, depth: int) -> Frag:
        """A state and what brought it about."""
        adj_en, cause, cls = self.rng.choice(CAUSES)
        subject = self.stateless_subject(depth)
        adj = next(a for a in ADJECTIVES if a.en == adj_en and "pron" in a.classes)
        degree = (
            self.degree(adj, excess=False) if self.chance(0.35) and "Z" not in adj.use else EMPTY
        )
        verb = verb_for(cause, cls)
        now = self.chance(0.6)
        main = Clause(
            subject,
            BE,
            "pres" if now else "past",
            predicate=AdjP(adj, degree),
            contract=self.chance(0.75),
        )
        self.open_reference = False
        other = self.same_subject(subject)
        obj = None
        if cls:
            noun = self.noun((cls,))
            kind = (
                "my"
                if noun.cls in ("tool", "text", "garment", "gift", "pet") and self.chance(0.8)
                else "the"
            )
            obj = self.noun_phrase(noun, kind=kind, near=subject.ref, depth=depth)
        inner = Clause(other, verb, "past" if now else "plup", obj=obj, contract=self.chance(0.75))
        if not cls:
            inner = with_manner(inner, phrase(MANNER[cause][-1]))
        elif now and not inner.open and self.chance(0.3):
            inner = replace(inner, tail=self.time("past", inner))
        return realise(main) + linked("because", "parce que") + realise(inner)

    def subordination(self, depth: int) -> Frag:
        """A main clause and a clause of time or condition, in either order."""
        kind = self.weighted(
            {
                "when_past": 4,
                "when_future": 4,
                "as_soon": 2,
                "if": 5,
                "if_cond": 2,
                "while": 3,
                "since": 2,
            }
        )
        subject = self.subject(depth=depth)
        if kind == "when_past":
            sub = self.punctual(subject, "past")
            main = self.durative(self.other_subject(subject, depth), "pastprog", depth)
            conj = linked("when", "quand")
        elif kind in ("when_future", "as_soon"):
            sub = self.punctual(subject, "whenfut")
            main = self.consequence(subject, sub, depth)
            conj = (
                linked("when", "quand")
                if kind == "when_future"
                else linked("as soon as", "dès que")
            )
        elif kind == "if":
            conj = linked("if", "si")
            if self.chance(0.35):
                sub_frag = phrase(
                    self.zipf(["it/a rains/b = il/a pleut/b", "it/a snows/b = il/a neige/b"])
                )
                sub_frag += self.phrase(TIMES["future"][:1]) if self.chance(0.5) else EMPTY
                main = self.clause(subject, "future", depth, short=True, time=False)
                return self.arranged(conj + sub_frag, realise(main))
            sub = self.punctual(subject, "pres")
            main = self.consequence(subject, sub, depth)
        elif kind == "if_cond":
            conj = linked("if", "si")
            owned, name, cls = self.zipf(WISHES)
            thing = self.noun((owned,))
            kind_of = "mass" if owned == "money" else "a"
            obj = self.noun_phrase(thing, kind=kind_of, plural=False, plain=True)
            sub = Clause(subject, verb_for("have", "drive"), "past", obj=obj)
            aim = (
                self.noun_phrase(
                    self.noun((cls,)), near=subject.ref, kind="a" if name == "buy" else ""
                )
                if cls
                else None
            )
            main = Clause(self.same_subject(subject), verb_for(name, cls), "cond", obj=aim)
        elif kind == "while":
            conj = linked("while", "pendant que")
            tense = self.weighted({"prog": 1, "pastprog": 2})
            sub = self.durative(subject, tense, depth)
            main = self.durative(self.other_subject(subject, depth), tense, depth)
            while main.verb == sub.verb:
                main = self.durative(main.subject, tense, depth)
        else:
            return self.since(self.stateless_subject(depth))
        return self.arranged(conj + realise(sub), realise(main))

    def consequence(self, subject: NP, sub: Clause, depth: int) -> Clause:
        """What someone will do when something else has happened."""
        who = self.second_subject(subject, depth)
        while True:
            main = self.clause(who, "future", depth, short=True, time=False)
            if main.verb != sub.verb:
                return main

    def since(self, subject: NP) -> Frag:
        """Since someone is ill, someone else will help them."""
        adj_en, name, who = self.zipf(SINCE)
        adj = next(a for a in ADJECTIVES if a.en == adj_en and "pron" in a.classes)
        tense = self.weighted({"fut": 2, "going": 1})
        if who == "same":
            verb = verb_for(name, "")
            main = Clause(
                self.same_subject(subject), verb, tense, "pas" if name == "go out" else ""
            )
        else:
            other = self.other_subject(subject)
            main = Clause(other, verb_for(name, "kin"), tense, obj=self.same_subject(subject))
        sub = Clause(subject, BE, "pres", predicate=AdjP(adj))
        return self.arranged(linked("since", "puisque") + realise(sub), realise(self.timed(main)))

    def arranged(self, sub: Frag, main: Frag) -> Frag:
        """A subordinate clause before its main clause."""
        return sub + comma() + main

    def punctual(self, subject: NP, tense: str) -> Clause:
        """A short event to hang another one on."""
        verb = self.zipf(
            [v for v in INTRANSITIVE if v.en in ("arrive", "come", "leave", "wake", "go", "get")]
        )
        return Clause(subject, verb, tense)

    def durative(self, subject: NP, tense: str, depth: int) -> Clause:
        """Something that goes on."""
        ok: Callable[[Verb], bool] = lambda v: not set("spLe") & set(v.flags)
        if self.chance(0.45):
            verb = self.verb(INTRANSITIVE, subject, ok)
            place = (
                self.place_of(verb, subject, depth)
                if "l" in verb.flags and self.chance(0.6)
                else EMPTY
            )
            return Clause(subject, verb, tense, tail=place, contract=self.chance(0.75))
        verb = self.verb(VERBS, subject, ok)
        return Clause(
            subject,
            verb,
            tense,
            obj=self.object(verb, subject, tense, False, depth),
            contract=self.chance(0.75),
        )

    def report(self, depth: int) -> Frag:
        """Someone thinks, knows or says that ..."""
        subject = self.subject(short=depth == 0)
        past = self.chance(0.4)
        if self.chance(0.25):
            told = self.recipient(subject)
            head = Clause(subject, TELL, "past", recipient=told, recipient_first=True)
            past = True
        else:
            verb = self.zipf(REPORTING)
            now = "s" in verb.flags or (verb.en == "say" and subject.ref.person == 3)
            head = Clause(subject, verb, "pres" if now and not past else "past")
            past = past or head.tense == "past"
        self.open_reference = False
        group = (
            self.weighted({"before": 3, "cond": 2})
            if past
            else self.weighted({"any": 4, "future": 2})
        )
        who = self.second_subject(subject, depth)
        inner = self.clause(who, group, depth)
        while inner.tense in ("since", "used"):
            inner = self.clause(who, group, depth)
        bare = (who.is_pronoun and self.chance(0.5)) or texts(inner.subject.frag)[:1] in (
            ["that"],
            ["those"],
        )
        that = Frag((), fr_words("que")) if bare else linked("that", "que")
        return realise(head) + that + realise(inner)

    def indirect_question(self, depth: int) -> Frag:
        """Someone does not know where, why, when or if ..."""
        subject = self.subject(short=True)
        word = linked(
            *self.weighted(
                {
                    ("why", "pourquoi"): 3,
                    ("when", "quand"): 1.5,
                    ("if", "si"): 3,
                    ("where", "où"): 2,
                }
            )
        )
        wh = word.en[0].text
        self.open_reference = False
        if wh == "if" and self.chance(0.5):
            head = Clause(subject, WONDER, "prog" if self.chance(0.3) else "pres")
        else:
            head = Clause(subject, KNOW, "pres", "pas" if wh == "if" or self.chance(0.6) else "")
        who = self.other_subject(subject, depth)
        while True:
            inner = self.clause(who, "any", depth, short=True)
            if (
                inner.neg
                or inner.mid.fr
                or inner.modal
                or (inner.tail.en and wh in ("where", "when"))
            ):
                continue
            if wh == "where" and (
                inner.verb.en not in ("find", "buy", "lose", "live", "work", "hide", "meet", "put")
            ):
                continue
            if inner.tense in {
                "where": ("past", "pres", "prog"),
                "when": ("past", "fut", "going"),
            }.get(wh, ("past", "pres", "prog", "fut")) and not (
                wh == "when" and "s" in inner.verb.flags
            ):
                return realise(head) + word + realise(inner)

    def script(self, depth: int) -> Frag:
        """Two clauses where the second takes up the object of the first as a pronoun."""
        classes, verb1, tense1, conj, kind, what, tense2 = self.rng.choice(SCRIPTS)
        neg1, verb1 = ("pas", verb1[1:]) if verb1.startswith("-") else ("", verb1)
        neg2, tense2 = ("pas", tense2[1:]) if tense2.startswith("-") else ("", tense2)
        noun = self.noun(tuple(classes.split()))
        subject = self.subject(short=not self.chance(self.rich), depth=depth)
        verb = verb_for(verb1, noun.cls, noun.en)
        # a singular antecedent after a plural subject, lest "they" have two antecedents
        plural = (
            False
            if noun.cls == "transit" or (subject.ref.person == 3 and subject.ref.plural)
            else None
        )
        kind1 = self.antecedent_determiner(noun, verb, bool(neg1))
        np = self.noun_phrase(noun, kind=kind1, plural=plural, near=subject.ref, plain=kind == "is")
        if kind1 == "the" and self.chance(self.rich) and self.object_verbs(noun, ""):
            relative = self.relative_object(noun, np.ref, 0)
            np = replace(np, frag=np.frag + replace(relative, open=True)) if relative else np
        first = Clause(subject, verb, tense1, neg1, np, contract=self.chance(0.75))
        if tense1 == "past" and not np.frag.open and not has_clause(np) and self.chance(0.35):
            first = replace(first, tail=self.time("past", first))
        self.open_reference = False
        return (
            realise(first)
            + linked(conj, CONJUNCTIONS[conj])
            + self.sequel(subject, np, kind, what, tense2, neg2)
        )

    def antecedent_determiner(self, noun: Noun, verb: Verb, neg: bool) -> str:
        """The determiner of a noun that a pronoun will take up."""
        if noun.cls == "city":
            return ""
        if noun.cls == "kin":
            return "my"
        if noun.cls in ("bread", "drink", "at", "transit", "topic"):
            return "the"
        kinds = ["the", "this"] + ["a"] * (not neg)
        if verb.en != "buy" and noun.cls not in (
            "film",
            "song",
            "food",
            "plant",
            "picture",
            "tale",
            "person",
        ):
            kinds.append("my")
        return self.rng.choice(kinds)

    def sequel(self, subject: NP, np: NP, kind: str, what: str, tense: str, neg: str) -> Frag:
        """The second clause of a script."""
        it = pronoun(np.ref)
        contract = self.chance(0.75)
        if kind == "is":
            options = [a for a in ADJECTIVES if a.en in what.split() and accepts(a.classes, np)]
            adj = self.rng.choice(options)
            negated = what in REASONS_AGAINST
            degree = (
                EMPTY
                if "Z" in adj.use or self.chance(0.4)
                else phrase("too/a = trop/a" if negated and self.chance(0.7) else "very/a = très/a")
            )
            return realise(
                Clause(it, BE, tense, neg, predicate=AdjP(adj, degree), contract=contract)
            )
        if kind == "does":
            verb = next(
                v
                for v in INTRANSITIVE
                if " ".join((v.en, *v.en_tail)) == what and accepts(v.subject, np)
            )
            return realise(Clause(it, verb, tense, neg, contract=contract))
        who = (
            self.same_subject(subject)
            if kind in ("same", "give", "can")
            else self.other_subject(subject)
        )
        if kind == "give":
            verb = next(v for v in DITRANSITIVE if v.en == what)
            recipient = self.recipient(subject)
            while recipient.is_pronoun and recipient.ref.person != 3:
                recipient = self.recipient(subject)
            return realise(Clause(who, verb, tense, neg, it, recipient, contract=contract))
        modal = next(m for m in CONTROL if m.en == "can") if kind == "can" else None
        found = what == "find back"
        verb = FIND_BACK if found else verb_for(what, np.cls, np.noun.en if np.noun else "")
        mid = (
            self.phrase(MID_ADVERBS[:1])
            if tense == "pres" and "s" not in verb.flags and not modal
            else EMPTY
        )
        return realise(Clause(who, verb, tense, neg, it, modal=modal, mid=mid, contract=contract))


def texts(frag: Frag) -> list[str]:
    """The English words of a fragment."""
    return [word.text for word in frag.en]


def has_clause(part: NP | Frag) -> bool:
    """Whether a constituent is long enough to hold a clause."""
    return len((part.frag if isinstance(part, NP) else part).en) > 4


def candidates(verbs: Sequence[Verb], subject: NP | None, ok: Callable[[Verb], bool]) -> list[Verb]:
    """The verbs that admit a subject and pass a test."""
    return [
        v for v in verbs if ok(v) and (accepts(v.subject, subject) if subject is not None else True)
    ]


def with_manner(c: Clause, manner: Frag) -> Clause:
    """The clause with an adverb that ends it in English; short ones precede the French participle ("a bien dormi")."""
    if manner.fr[0].text in ("bien", "mal", "beaucoup"):
        return replace(c, mid=Frag((), manner.fr), tail=Frag(manner.en, ()))
    return replace(c, tail=manner)


@cache
def verb_for(en: str, cls: str, noun: str = "") -> Verb:
    """The verb spelt so that takes the class (or this noun of it) as its object, or none if the class is empty."""
    for verb in VERBS if cls else INTRANSITIVE:
        name = " ".join(part for part in (verb.en, *verb.en_tail, verb.en_prep) if part)
        if en in (name, verb.en) and (not cls or cls in verb.object or noun in verb.object):
            return verb
    raise LookupError(f"{en} {cls}")


def realise_as(c: Clause, english_mode: str, french_mode: str) -> Frag:
    """A clause in different moods: "before leaving", "avant de partir"."""
    k = Keys()
    return Frag(english(c, k, english_mode), french(c, k, french_mode))


# ---------------------------------------------------------------------------------------------------------------
# The corpus
# ---------------------------------------------------------------------------------------------------------------

SHORT_TYPES = {
    "statement": 36, "yes_no": 9, "wh_question": 10, "imperative": 7, "coordination": 7, "because": 4,
    "subordination": 8, "report": 7, "indirect_question": 3, "script": 13, "there_is": 2, "missing": 1.5, "age": 0.6,
    "weather": 0.3, "purpose": 2.5, "together": 2,
}  # fmt: skip
LONG_TYPES = {
    "statement": 3,
    "yes_no": 1,
    "coordination": 4,
    "because": 2,
    "subordination": 4,
    "report": 3,
    "indirect_question": 1,
    "script": 3,
    "purpose": 1,
    "joined": 9,
}
QUESTIONS = {"yes_no", "wh_question"}
MAX_SHORT, MAX_LONG = 16, 35


def sentence(grammar: Grammar, long: bool) -> Pair:
    """One sentence with its final punctuation and, sometimes, a vocative."""
    rng = grammar.rng
    while True:
        grammar.rich = 0.55 if long else 0.18
        grammar.you_used, grammar.open_reference = False, True
        vocative = EMPTY
        grammar.you = TU
        if grammar.chance(0.2):
            vocative, grammar.you = draw_vocative(grammar)
        kind = grammar.weighted(LONG_TYPES if long else SHORT_TYPES)
        depth = 2 if long else 1
        frag = joined(grammar) if kind == "joined" else getattr(grammar, kind)(depth)
        if contradicts(texts(frag)):
            continue
        if vocative.en:
            if not grammar.you_used or set(texts(vocative)) & set(texts(frag)) & set(NAMES):
                continue
            frag = vocative + comma() + frag if rng.random() < 0.5 else frag + comma() + vocative
        mark = (
            "?"
            if kind in QUESTIONS
            else "!"
            if kind == "imperative" and grammar.chance(0.3)
            else "."
        )
        pair = finish(frag + linked(mark, mark))
        if not any(pattern.search(text) for text in (pair.en, pair.fr) for pattern in CLUMSY):
            return pair


# the same word twice running, a name that owns something in its own sentence, "the doctor's doctor", a word again in a
# relative clause ("open the door that she opened"), "but" twice, "cher à" ("dear to" someone), and "too many" with
# "anymore"
CLUMSY = (
    re.compile(r"\b(?!her|you|nous|vous)(\w+) \1\b", re.I),
    re.compile(r"\b([A-Z]\w+)\b.* \1's "),
    re.compile(r"\b(\w+)'s \1\b"),
    re.compile(
        r"\b(?!they|their|your|this|that|have|will|would)(\w{4,})\w* [^,]*\bthat ([\w']+ ){0,4}\1",
        re.I,
    ),
    re.compile(r"\bbut\b.*\bbut\b"),
    re.compile(r"\bch(er|ère)s? (à|au|aux)\b"),
    re.compile(r"\btoo many\b.*\banymore\b"),
)


# words that English leaves open to either sex, by the gender of their French translation, and words that name a sex
EITHER_SEX = {
    noun.en: noun.fem
    for cls in ("person", "kin", "job", "boss")
    for noun in NOUNS[cls]
    if noun.other
    or noun.en in ("friend", "child", "neighbour", "guest", "tourist", "cousin", "boss")
}
ONE_SEX = (
    {noun.en: noun.fem for cls in ("person", "kin") for noun in NOUNS[cls]}
    | {name: name in WOMEN for name in NAMES}
    | {"he": False, "him": False, "his": False, "she": True, "her": True}
)
PRONOUNS_OF_SEX = ("he", "him", "his", "she", "her")
SUBORDINATORS = ("when", "while", "if", "since", "soon")


def contradicts(words: Iterable[str]) -> bool:
    """Whether a pronoun seems to give a person the other sex than French does: "my guest is in her house".

    It does when a noun of either sex stands before it and no word of the pronoun's own sex; "him" and "her" need that
    word before the noun, for they skip their own subject ("the singer left but Irene phoned her").  Or when a noun of
    either sex follows a subordinate clause with a pronoun that had nobody to refer to: "while she slept, my guest ...".
    """
    named: set[bool] = set()
    implied: set[bool] = set()
    early: dict[bool, set[bool]] = {}
    awaited: set[bool] = set()
    subordinate = False
    for word in words:
        subordinate |= word in SUBORDINATORS
        if word in PRONOUNS_OF_SEX and ONE_SEX[word] not in named | implied:
            if implied:
                return True
            if subordinate:
                awaited.add(ONE_SEX[word])
        if word in ("him", "her") and ONE_SEX[word] not in early.get(
            not ONE_SEX[word], {ONE_SEX[word]}
        ):
            return True
        if word in EITHER_SEX:
            if awaited - {EITHER_SEX[word]}:
                return True
            early.setdefault(EITHER_SEX[word], named | implied)
            implied.add(EITHER_SEX[word])
        elif word in ONE_SEX:
            named.add(ONE_SEX[word])
    return False


def draw_vocative(grammar: Grammar) -> tuple[Frag, Ref]:
    """Someone addressed by name or title, and the referent of "you"."""
    if grammar.chance(0.35):
        np = grammar.name()
        return np.frag, Ref(2, False, np.ref.fem)
    notation, (plural, fem, vous) = grammar.zipf(VOCATIVES)
    return phrase(notation), Ref(2, plural, fem, vous)


def joined(grammar: Grammar) -> Frag:
    """Two sentences of any declarative type in one."""
    kinds = {
        "statement": 3,
        "because": 2,
        "subordination": 3,
        "report": 2,
        "script": 3,
        "coordination": 2,
    }
    first = getattr(grammar, grammar.weighted(kinds))(1)
    grammar.open_reference = False
    second = getattr(grammar, grammar.weighted(kinds))(1)
    return (
        first + comma() + linked(*grammar.weighted({("and", "et"): 3, ("but", "mais"): 2})) + second
    )


def draw(
    grammar: Grammar, count: int, seen: set[str], keep: Callable[[Pair, int], bool], long: bool
) -> list[Pair]:
    """`count` new pairs that pass the test, which sees the pair and its English length."""
    pairs: list[Pair] = []
    while len(pairs) < count:
        pair = sentence(grammar, long)
        if pair.en not in seen and keep(pair, len(tokenize(pair.en, "en"))):
            seen.add(pair.en)
            pairs.append(pair)
    return pairs


def generate(seed: int = 2024, train: int = 20000, held_out: int = 1000) -> dict[str, list[Pair]]:
    """The four parts of the corpus; held-out sentences use only words that train has at least twice."""
    grammar = Grammar(random.Random(seed))
    seen: set[str] = set()
    parts = {"train": draw(grammar, train, seen, lambda pair, n: n <= MAX_SHORT, long=False)}
    known = {
        language: Counter(
            token
            for pair in parts["train"]
            for token in tokenize(getattr(pair, language), language)
        )
        for language in ("en", "fr")
    }

    def familiar(pair: Pair) -> bool:
        return all(
            known[language][token] > 1
            for language in known
            for token in tokenize(getattr(pair, language), language)
        )

    for name in ("valid", "test"):
        parts[name] = draw(
            grammar, held_out, seen, lambda pair, n: n <= MAX_SHORT and familiar(pair), long=False
        )
    parts["test_long"] = draw(
        grammar,
        held_out,
        seen,
        lambda pair, n: MAX_SHORT < n <= MAX_LONG and familiar(pair),
        long=True,
    )
    return parts


def write(directory: Path | str, seed: int = 2024) -> dict[str, list[Pair]]:
    """Generate the corpus and write its files; returns what was written."""
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    parts = generate(seed)
    for name, pairs in parts.items():
        text = "".join(pair.line() + "\n" for pair in pairs)
        (directory / f"{name}.tsv").write_text(text, encoding="utf-8", newline="\n")
    return parts


def main(arguments: Iterable[str] | None = None) -> None:
    """Write the corpus to the directory named on the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", metavar="OUTDIR", help="where the four files go")
    parser.add_argument(
        "--seed", type=int, default=2024, help="seed of the generator (default 2024)"
    )
    options = parser.parse_args(None if arguments is None else list(arguments))
    for name, pairs in write(options.directory, options.seed).items():
        print(f"{name}: {len(pairs)} pairs", file=sys.stderr)


if __name__ == "__main__":
    main()
