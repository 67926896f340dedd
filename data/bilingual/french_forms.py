"""French inflection: conjugation of verbs, agreement of adjectives, plural of nouns."""

from __future__ import annotations

from functools import cache

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
    """A finite form of a verb.

    `tense` is "pres", "imparf", "fut" or "cond"; the slots 0 to 5 are je, tu, il, nous, vous, ils.
    """
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
