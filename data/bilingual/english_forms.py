"""English inflection: forms of verbs, plural of nouns, comparatives."""

from __future__ import annotations

from functools import cache

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


COMPARATIVES = {"good": "better"}

SHORT = set(
    "big small tall young old new nice heavy light long short easy hard funny happy sad clever rich "
    "strong hot cold dirty fresh shy proud ".split()
)


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
