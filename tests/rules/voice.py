"""Nobody is refuted without a source, and papers are linked where they are first named."""

import re

from rules import parts

NOBODY = re.compile(
    r"\b(one (often|sometimes|usually|frequently) (reads|hears|sees|says)|one can often read"
    r"|it is (often|sometimes|usually|commonly|widely) (said|believed|claimed|read|written|thought)"
    r"|(many|most|some) (people|books|blogs|slides|tutorials|courses|textbooks|articles|posts|texts)"
    r"|(people|books|blogs|slides|tutorials|textbooks) (often|sometimes|usually) \w+"
    r"|is on many slides|well[- ]known (code|series|book|blog|course|tutorial)"
    r"|code that many have copied|as everyone knows|folklore)\b",
    re.I,
)
LINK = re.compile(r"\[[^\]]*\]\(https?://[^)\s]*\)")
SOURCE = re.compile(r"\]\(https?://|\(?\b(19|20)\d\d\b\)?|\b\w+ v?\d+\.\d+")
NAME = r"[A-Z][\w’'-]+(?: et al\.| (?:and|&) [A-Z][\w’'-]+)?"
CITED = re.compile(rf"\b({NAME}),? ?\((?:\[)?((?:19|20)\d\d)|\(({NAME}),? ((?:19|20)\d\d)")
SENTENCE = re.compile(r"(?<=[.!?:”])\s+(?=[A-Z“*\[])")


def sources(notebook):
    """Who is refuted is named: by a link, a year, or a version, in the same sentence."""
    return [
        f"who? {' '.join(sentence.split())[:100]!r}"
        for text in parts.prose(notebook.cells)
        for sentence in SENTENCE.split(text)
        if NOBODY.search(sentence) and not SOURCE.search(sentence)
    ]


def links(notebook):
    """A paper, such as Vaswani et al. (2017), is linked where the lesson names it first."""
    named, wrong = set(), []
    for text in parts.prose(notebook.cells):
        linked = [found.span() for found in LINK.finditer(text)]
        for found in CITED.finditer(text):
            author, year = (found[1], found[2]) if found[1] else (found[3], found[4])
            paper = (author.split()[0], year)
            here = any(a < found.end() and found.start() < b for a, b in linked)
            if paper not in named and not here:
                wrong.append(f"no link at the first {author} ({year})")
            named.add(paper)
    return wrong
