"""Times, places, manners, weather and vocatives: fixed phrases, and what goes with which verb."""

from __future__ import annotations

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

TIME_OF = {
    "past": "past",
    "pastprog": "past",
    "fut": "future",
    "going": "future",
    "prog": "now",
    "since": "since",
    "cond": "",
}

FAR_TIMES = ("week/", "weeks/", "year/", "years/", "month/", "summer/", "moment/")

FAR_VERBS = set(
    (
        "visiter rendre aller acheter vendre rencontrer quitter perdre gagner revenir partir travailler habiter venir "
        "casser finir voir préparer"
    ).split()
)

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

ANYWHERE = {"be", "stay", "work", "sleep", "eat", "read", "wait", "play"}

WEATHER = {
    "now": ["it/a 's/b raining/b = il/a pleut/b", "it/a is/b cold/c = il/a fait/b froid/c",
            "it/a is/b hot/c = il/a fait/b chaud/c", "it/a 's/b snowing/b = il/a neige/b"],
    "past": ["it/a was/b raining/b = il/a pleuvait/b", "it/a was/b cold/c = il/a faisait/b froid/c",
             "it/a was/b hot/c = il/a faisait/b chaud/c", "it/a was/b snowing/b = il/a neigeait/b"],
    "future": ["it/a will/b rain/b = il/a pleuvra/b", "it/a 's/b going/b to/c rain/c = il/a va/b pleuvoir/c",
               "it/a will/b be/b cold/c = il/a fera/b froid/c", "it/a will/b snow/b = il/a neigera/b"],
}  # fmt: skip

# a vocative, the person it names as (plural, feminine, vous), and the determiner-less French
VOCATIVES = [
    ("sir/a = monsieur/a", (False, False, True)), ("madam/a = madame/a", (False, True, True)),
    ("children/a = les/a enfants/a", (True, False, True)), ("mum/a = maman/a", (False, True, False)),
    ("doctor/a = docteur/a", (False, False, True)), ("dad/a = papa/a", (False, False, False)),
    ("girls/a = les/a filles/a", (True, True, True)), ("my/a friends/b = mes/a amis/b", (True, False, True)),
    ("ladies/a = mesdames/a", (True, True, True)), ("boys/a = les/a garçons/a", (True, False, True)),
]  # fmt: skip
