"""The verbs by frame, with the classes of their subjects and objects."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bilingual.nouns import expand

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

# to find what was lost
FIND_BACK = parse_verb("find | retrouver | | tool gift text | p")
MISS = parse_verb("miss | manquer à | | HUMAN | s")
TELL = parse_verb("tell | dire | | | pd")
WONDER = parse_verb("wonder | se demander | | | s")
KNOW = parse_verb("know | savoir | | | s")

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
    """The verb spelt so that takes the class (or this noun of it) as its object, or none if the class is empty."""
    for verb in VERBS if cls else INTRANSITIVE:
        name = " ".join(part for part in (verb.en, *verb.en_tail, verb.en_prep) if part)
        if en in (name, verb.en) and (not cls or cls in verb.object or noun in verb.object):
            return verb
    raise LookupError(f"{en} {cls}")
