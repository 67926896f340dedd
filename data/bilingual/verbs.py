"""The verbs by frame, with the classes of their subjects and objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bilingual.nouns import expand

PREPOSITIONS = {"for", "at", "to", "about", "of", "after", "in", "on", "from", "with", "like"}
FRENCH_PREPOSITIONS = {"à", "de", "sur", "dans", "avec"}


TRAITS = {
    "state": "its past is an imparfait",
    "punctual": "it has no progressive",
    "être": "its compound tenses take être",
    "weeks": "it takes weeks rather than hours",
    "timeless": "no time stands beside it",
    "placeable": "it may have a place",
    "needs-place": "it must have a place",
    "destination": "its object is where one goes",
    "separable": "its particle follows a pronoun object",
    "generic": "its object takes an article in French where English has none",
    "bare": "its object takes no article",
    "body": "its object is a part of the body",
    "stressed": "a person after its à is no clitic",
    "double-object": "its recipient may stand first in English",
    "modal": "it is an English modal auxiliary",
    "conditional": "its French is a conditionnel",
}


@dataclass(frozen=True)
class Verb:
    """A verb in both languages with its TRAITS and the classes of its subject and object."""

    en: str
    en_tail: tuple[str, ...]
    en_prep: str
    fr: str
    fr_tail: tuple[str, ...]
    fr_prep: str
    reflexive: bool
    subject: tuple[str, ...]
    object: tuple[str, ...]
    traits: frozenset[str]


def parse_verb(line: str) -> Verb:
    """A verb from "english | french | subject classes | object classes | traits"."""
    en, fr, subject, obj, listed = (part.strip() for part in line.split("|"))
    traits = frozenset(listed.split())
    if unknown := traits - set(TRAITS):
        raise ValueError(f"{line}: no such trait: {' '.join(sorted(unknown))}")
    verb_en, *tail_en = en.split()
    particle = "separable" in traits
    prep_en = tail_en.pop() if tail_en and tail_en[-1] in PREPOSITIONS and not particle else ""
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
        traits,
    )


def parse_verbs(table: str) -> list[Verb]:
    """The verbs of a table, one a line, in order of frequency."""
    return [parse_verb(line) for line in table.strip().splitlines()]


VERBS = parse_verbs("""
see | voir | | HUMAN ANIMAL film play castle | punctual
eat | manger | | food bread | placeable
read | lire | | text | placeable
buy | acheter | | tool gift cup garment book novel newspaper food bread drive plant | punctual
like | aimer | | food bread drink music sport city pet | state generic
have | avoir | | text tool pet drive device gift home money | state
know | connaître | | HUMAN city song story address at | state
write | écrire | | letter poem message novel postcard | placeable
go to | aller à | | at park church city country | destination être
visit | rendre visite à | | HUMAN | punctual
visit | visiter | | museum city country castle church | punctual weeks
look for | chercher | | HUMAN tool garment text pet |
need | avoir besoin de | | HUMAN tool device text money drive | state
love | aimer | | HUMAN | state
love | adorer | | food bread music sport city pet | state generic
lose | perdre | | tool gift garment text | punctual
lose | perdre | | match | punctual
find | trouver | | tool gift text garment pet plan kin | punctual
wait for | attendre | | HUMAN transit letter answer |
listen to | écouter | | HUMAN radio song music |
take | prendre | | tool transit text | punctual
watch | regarder | | film bird match | placeable
look at | regarder | | picture HUMAN plant | timeless
help | aider | | HUMAN |
meet | rencontrer | | person job name pron | punctual
call | appeler | | HUMAN | punctual
phone | téléphoner à | | HUMAN | punctual
talk to | parler à | | HUMAN |
talk about | parler de | | HUMAN film stage text event plan city |
open | ouvrir | | door box suitcase letter | punctual
close | fermer | | door box suitcase | punctual
wear | porter | | garment ring watch |
drink | boire | | drink | placeable
think about | penser à | | HUMAN event plan topic | stressed
answer | répondre à | | HUMAN letter question message | punctual
play | jouer de | | instrument | placeable
play | jouer à | | sport | placeable
prepare | préparer | | party meeting cake soup |
wash | laver | | garment drive pet cup | placeable
break | casser | | cup device lamp | punctual
sell | vendre | | drive home instrument picture | punctual
forget | oublier | | tool text address exam | punctual
speak | parler | | language | state bare
learn | apprendre | | language song | weeks
repair | réparer | | device drive radio lamp door |
hear | entendre | | HUMAN song bird dog | punctual
leave | quitter | | city country home school | punctual
study | étudier | | language | weeks
drive | conduire | | car lorry |
be afraid of | avoir peur de | | HUMAN dog exam horse | state
turn on | allumer | | light device radio | punctual separable
turn off | éteindre | | light device radio | punctual separable
clean | nettoyer | | room home floor |
invite | inviter | | HUMAN | punctual
understand | comprendre | | HUMAN topic text | punctual
finish | finir | | text exercise | punctual
sing | chanter | | song | placeable
dream of | rêver de | | trip HUMAN castle |
choose | choisir | | garment gift picture film plant | punctual
miss | rater | | transit film stage meeting | punctual
look after | se occuper de | | HUMAN pet plant |
remember | se souvenir de | | HUMAN story song address trip | state
build | construire | | house | weeks
run | diriger | HUMAN | org | state
refuse | refuser | | plan gift | punctual
save | sauver | | pet child person | punctual
win | gagner | | match | punctual
light | allumer | | match2 | punctual
wash | se laver | | hand | body
brush | se brosser | | tooth | body
break | se casser | | limb | punctual body
""")

INTRANSITIVE = parse_verbs("""
work | travailler | | | placeable
sleep | dormir | HUMAN pet | | placeable
live | habiter | | | state needs-place
arrive | arriver | HUMAN transit | | punctual être
leave | partir | HUMAN transit | | punctual être
play | jouer | child pet | | placeable
be hungry | avoir faim | HUMAN pet | | state
dance | danser | | | placeable
stay | rester | | | être needs-place
wait | attendre | | | placeable
get up | se lever | | | punctual
come back | revenir | | | punctual être
laugh | rire | | |
go out | sortir | | | punctual être
run | courir | HUMAN pet horse | | placeable
work | marcher | device radio | | state
walk | marcher | | | placeable
be thirsty | avoir soif | HUMAN pet | | state
swim | nager | | | placeable
fall | tomber | HUMAN | | punctual être
wake up | se réveiller | | | punctual
be cold | avoir froid | | | state
go home | rentrer | | | punctual être
be right | avoir raison | | | state
be wrong | avoir tort | | | state
sing | chanter | HUMAN bird | | placeable
go to bed | se coucher | | | punctual
""")

# verbs with a recipient
DITRANSITIVE = parse_verbs("""
give | donner | | tool text garment cake sandwich gift | punctual double-object
show | montrer | | text picture gift tool | punctual double-object
send | envoyer | | letter message postcard gift picture | punctual double-object
lend | prêter | | text tool drive money | punctual double-object
tell | raconter | | story joke | punctual double-object
bring | apporter | | food drink gift book | punctual double-object
explain | expliquer | | topic plan | punctual
sell | vendre | | drive picture | punctual double-object
tell | dire | | truth secret | punctual double-object
ask | poser | | question | punctual double-object
return | rendre | | text tool money | punctual
""")

# verbs with an object that is somewhere or is brought somewhere
PLACING = parse_verbs("""
leave | laisser | | tool text garment | punctual needs-place
put | mettre | | tool text cup | punctual needs-place
""")

# verbs that take an infinitive, with the preposition before it
CONTROL = parse_verbs("""
can | pouvoir | | | modal state
want | vouloir | | | state
must | devoir | | | modal state
like | vouloir | | | state conditional
have | devoir | | | state
should | devoir | | | modal state conditional
try | essayer de | | |
begin | commencer à | | | punctual
hope | espérer | | | state
forget | oublier de | | | punctual
need | avoir besoin de | | | state
decide | décider de | | | punctual
refuse | refuser de | | | punctual
""")

# verbs that take a clause
REPORTING = parse_verbs("""
think | penser | | | state
know | savoir | | | state
say | dire | | | punctual
hope | espérer | | | state
forget | oublier | | | punctual
""")

BE = parse_verb("be | être | | | state")

# to find what was lost
FIND_BACK = parse_verb("find | retrouver | | tool gift text | punctual")
MISS = parse_verb("miss | manquer à | | HUMAN | state")
TELL = parse_verb("tell | dire | | | punctual double-object")
WONDER = parse_verb("wonder | se demander | | | state")
KNOW = parse_verb("know | savoir | | | state")


def verbs_named(verbs: list[Verb], names: str) -> list[Verb]:
    """The verbs of a list whose English verb is among the names."""
    return [verb for verb in verbs if verb.en in names.split()]


COMMANDS = [
    verb
    for verb in verbs_named(
        VERBS + DITRANSITIVE + INTRANSITIVE,
        "open close read write eat drink wash listen look wait help call take turn clean give show send lend bring "
        "tell come stay get answer prepare learn choose finish sing play repair put explain return",
    )
    if verb.en != "play" or verb.object
]
WARNINGS = [verb for verb in verbs_named(VERBS, "forget lose break miss") if not verb.reflexive]

# what these verbs bring about is not yet anything that a relative clause could tell of
CREATING = {"write", "build", "prepare", "light"}
MISHAPS = {"lose", "miss", "forget", "break", "fall", "hear"}

# what people do not plan, so that it is not promised, wanted or ordered
UNPLANNED = set(
    (
        "lose miss forget break fall hear wake understand find laugh see take remember look wear dream think refuse "
        "save"
    ).split()
)

LASTING = {"travailler", "dormir", "danser", "attendre", "marcher", "jouer", "nager", "courir"}

ENDURING = set(
    "work wait sleep live learn study read play look write build repair talk watch swim listen".split()
)


@cache
def verb_for(en: str, cls: str, noun: str = "") -> Verb:
    """The verb spelt so that takes the class, or this noun of it, as its object.

    Where the class is empty it takes none.
    """
    for verb in VERBS if cls else INTRANSITIVE:
        name = " ".join(part for part in (verb.en, *verb.en_tail, verb.en_prep) if part)
        if en in (name, verb.en) and (not cls or cls in verb.object or noun in verb.object):
            return verb
    raise LookupError(f"{en} {cls}")
