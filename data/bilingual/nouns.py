"""The nouns by class, the names, and the sets of nouns that behave alike.

In every list the frequent entries stand first: entries are drawn with Zipf weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bilingual.english_forms import plural_en
from bilingual.french_forms import plural_fr


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
PLURAL_SPORTS = {"chess"}
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
BODY = {"hand", "tooth", "limb"}
OWNED_PERSONS = {"friend", "neighbour", "teacher", "doctor", "lawyer", "guest", "boss"}
OWNED_PLACES = {"bedroom", "kitchen", "garden", "office", "school", "street", "village", "bed"}
PLACE_CLASSES = {"room", "at", "school", "spot", "in", "on", "floor", "river", "home", "castle"}
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


@cache
def pools(classes: tuple[str, ...]) -> tuple[tuple[Noun, ...], ...]:
    """The nouns of each named class, or the single noun of that name."""
    every = [noun for nouns in NOUNS.values() for noun in nouns]
    found = (
        tuple(NOUNS.get(name) or [noun for noun in every if noun.en == name]) for name in classes
    )
    return tuple(nouns for nouns in found if nouns)


def has_noun(classes: tuple[str, ...], noun: Noun) -> bool:
    """Whether a list of classes admits the noun."""
    return noun.cls in classes or noun.en in classes


NUMBERS = (
    "two deux|three trois|four quatre|five cinq|six six|ten dix|seven sept|eight huit|"
    "twelve douze|nine neuf"
).split("|")
