"""The adjectives, the nouns they describe, and their degrees."""

from __future__ import annotations

from dataclasses import dataclass

from bilingual.nouns import expand

TRAITS = {
    "predicative": "it only follows be",
    "attributive": "it only stands beside its noun",
    "mood": "it tells a passing state of mind or body",
    "condition": "it tells a passing state of a thing",
    "judgement": "it tells what somebody thinks of a thing",
    "absolute": "it has no degrees",
}


@dataclass(frozen=True)
class Adj:
    """An adjective with its TRAITS, the classes it describes, and its place in French.

    `before` says whether French puts it before its noun.
    """

    en: str
    fr: str
    classes: tuple[str, ...]
    before: bool
    traits: frozenset[str]


def parse_adjective(line: str) -> Adj:
    """An adjective from "english : french : pre or post, and traits : classes"."""
    en, fr, use, classes = (part.strip() for part in line.split(":"))
    place, *traits = use.split()
    if unknown := set(traits) - set(TRAITS):
        raise ValueError(f"{line}: no such trait: {' '.join(sorted(unknown))}")
    return Adj(en, fr, expand(classes), place == "pre", frozenset(traits))


ADJECTIVES = [
    parse_adjective(line)
    for line in """
old : vieux : pre : man woman friend neighbour pet THING drive home on door instrument tree name pron kin
old : ancien : pre attributive : boss school
new : nouveau : pre attributive : THING drive home job boss plan on device song
small : petit : pre : child tool gift cup garment book drive home room spot pet bird in river plant
big : grand : pre : home room at bag box suitcase picture on castle
big : gros : pre : pet apple cake
tall : grand : pre attributive : boy girl child tree
tall : grand : pre predicative : person kin job boss name pron tree
beautiful : beau : pre : garment home song picture plant river city gift castle woman
young : jeune : pre : person job pet kin name pron
good : bon : pre : food bread text film stage plan story joke teacher doctor lawyer
red : rouge : post absolute : garment car door bag
tired : fatigué : post mood : HUMAN
happy : heureux : post mood : HUMAN
expensive : cher : post judgement : gift garment drive home instrument camera bag
interesting : intéressant : post judgement : text film stage trip meeting topic plan tale
ill : malade : post mood : HUMAN pet
long : long : pre : text film stage meeting trip dress story song street
famous : célèbre : post absolute : singer painter picture song
heavy : lourd : post : bag suitcase box on
blue : bleu : post absolute : garment car door cup
difficult : difficile : post judgement : topic exam
late : en retard : post predicative absolute condition : HUMAN transit
sad : triste : post mood : HUMAN song film stage story
nice : gentil : pre : boy girl child friend neighbour kin job boss name pron
nice : gentil : pre predicative : man woman guest tourist
nice : agréable : post : room spot city home party trip
white : blanc : post absolute : garment home pet bird cup
light : léger : post predicative : bag suitcase box coat
light : clair : post predicative : room home
easy : facile : post : topic exam
broken : cassé : post predicative absolute condition : device radio cup lamp chair door umbrella
dirty : sale : post condition : garment drive room cup floor
clever : intelligent : post : HUMAN dog
black : noir : post absolute : garment car cat dog bag horse
short : court : post predicative : text film stage dress song story
short : petit : pre predicative : person kin job boss name
hot : chaud : post condition : soup coffee tea
cold : froid : post condition : soup coffee tea milk
rich : riche : post : HUMAN
important : important : post judgement : letter message meeting topic plan
funny : drôle : post : HUMAN film stage tale
angry : en colère : post predicative mood absolute : HUMAN
green : vert : post absolute : garment door car
delicious : délicieux : post absolute judgement : food bread
strong : fort : post predicative : HUMAN
shy : timide : post : person job kin name pron
busy : occupé : post predicative mood : HUMAN
hard : difficile : post : topic exam
fresh : frais : post predicative condition : food
wooden : en bois : post attributive absolute : on door box toy
proud : fier : post mood predicative : HUMAN
open : ouvert : post predicative condition absolute : door box suitcase library museum bank
empty : vide : post predicative condition absolute : bag box suitcase glass plate cup
closed : fermé : post predicative condition absolute : door box suitcase library museum bank
full : plein : post predicative condition absolute : bag box suitcase glass cup
""".strip().splitlines()
]

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
