"""The adjectives, the nouns they describe, and their degrees."""

from __future__ import annotations

from dataclasses import dataclass

from bilingual.nouns import expand


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
