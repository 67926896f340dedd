"""Where one sentence of a text ends and the next begins."""

import re
from collections.abc import Iterable

# Behind these a full stop ends nothing.
_TITLE = re.compile(
    "mr|mrs|ms|messrs|dr|prof|st|sr|jr|rev|hon|gen|col|capt|lt|sgt|gov|sen|rep|vs|cf|ca|approx"
    "|mme|mlle|mmes|mlles|mgr|hr|fr|frl|dipl|ing|bzw|evtl|ggf|vgl|inkl"
)
_NUMBERED = re.compile(
    "no|nr|nos|p|pp|vol|fig|art|ch|sec|ed|eq|kap|abb|bd|s"
)  # nor before a number
_DOTTED = re.compile(r"(?!(?:a\.m|p\.m)$)(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,3}")  # e.g i.e z.B p.ex U.S
_ORDINALS = {"cs", "da", "de", "et", "fi", "hr", "hu", "is", "lv", "nb", "no", "sk", "sl"}
_END = re.compile(r"""[.!?…]+(?:\s?»|["'”’“«)\]])*\s+|[。！？]+[」』”’）]*\s*""")


def sentences(text: str, language: str = "") -> list[str]:
    """The sentences of a text, cut where `.` `!` `?` or `…` stands before a blank and a new start.

    A new start is a capital, a digit, or a letter of a script without capitals, in quotes or not;
    。！？ need no blank before it. Abbreviations (*Mr.*, *e.g.*), initials, and an ordinal's dot in
    a `language` that writes one (*3. Oktober*) end nothing. A text of white space has none.
    """
    found, start = [], 0
    for mark in _END.finditer(text):
        said, rest = text[start : mark.start()], text[mark.end() : mark.end() + 20]
        if _starts(rest) and not _goes_on(said, mark[0].rstrip(), rest, language):
            found.append(text[start : mark.end()].strip())
            start = mark.end()
    return [*found, *([last] if (last := text[start:].strip()) else [])]


def joined(said: Iterable[str]) -> str:
    """Sentences as one text: a blank between them, but none behind marks of full width."""
    return re.sub(r"(?<=[。！？」』]) ", "", " ".join(said))


def _starts(rest: str) -> bool:
    first = re.search(r"\w", rest)
    return first is not None and not first[0].islower()


def _goes_on(said: str, mark: str, rest: str, language: str) -> bool:
    """Whether the mark behind `said` belongs to its last word, or no word stands before it."""
    if not re.search(r"[^\W\d_]", said):
        return True
    if mark != ".":
        return False
    word = re.search(r"[\w.]*$", said)[0]
    if word.isdecimal():
        return language in _ORDINALS
    small = word.lower()
    if _TITLE.fullmatch(small) or _DOTTED.fullmatch(small):
        return True
    if len(word) == 1 and ((word.isupper() and word != "I") or re.match(r"[^\W\d_]\.", rest)):
        return True  # J. Smith, z. B.
    return bool(_NUMBERED.fullmatch(small)) and rest[0].isdecimal()
