"""The key terms of the lessons: what each means, and where a text first mentions it.

Names, what they mean and their Chinese come from the lessons' own tables; the forms in which a term
is written from glossary.tsv. A term without such a form is never marked: as a word of everyday
English, it would be marked where it means something else.
"""

import csv
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from markupsafe import Markup

from transformer_lib.publish.lessons import Lesson, slug

ASIDE = re.compile(r"\(.*?\)")  # what stands in parentheses explains a term, and is no part of it
PIECE = re.compile(  # a road map, a tag or a formula
    r"(<p class=\"road\">.*?</p>|<[^>]*>|\$\$.*?\$\$|\$[^$]*\$)", re.S
)
TAG = re.compile(r"<(/?)(a|code|pre|table|summary|h\d)\b")  # in these nothing is marked


@dataclass(frozen=True)
class Term:
    """A key term in two languages, what it means, and where the lessons explain it."""

    english: str
    meaning: str
    chinese: str
    lessons: tuple[Lesson, ...]

    @property
    def slug(self) -> str:
        return term_slug(self.english)

    @property
    def letter(self) -> str:
        return self.slug[0].upper()

    def anchor(self, lesson: Lesson) -> str:
        """Where it stands in one of its lessons: the section that has it in its table."""
        return next(
            section.slug
            for section in lesson.sections
            if self.slug in [term_slug(entry.english) for entry in section.terms]
        )

    @property
    def written(self) -> list[str]:
        """The forms in which a text mentions it, in the singular."""
        return forms()[self.slug]


def term_slug(english: str) -> str:
    """Where a term stands in the glossary: under its name."""
    return slug(ASIDE.sub("", english))


@cache
def forms() -> dict[str, list[str]]:
    """How texts write the terms of glossary.tsv, by the slug of each."""
    with (Path(__file__).parent / "glossary.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {term_slug(row["term"]): list(filter(None, row["written"].split(", "))) for row in rows}


def glossary(lessons: list[Lesson]) -> list[Term]:
    """Every key term once, in alphabetical order, with all lessons that list it."""
    found: dict[str, Term] = {}
    for lesson in lessons:
        for entry in lesson.terms:
            key = term_slug(entry.english)
            first = found.get(key, Term(*entry, lessons=()))
            found[key] = replace(first, lessons=(*first.lessons, lesson))
    return [found[key] for key in sorted(found)]


class Marker:
    """Marks a term where a section first mentions it; its definition stands hidden behind it."""

    def __init__(self, terms: list[Term], section: str):
        self.terms = {form.lower(): term for term in reversed(terms) for form in term.written}
        longest_first = sorted(map(re.escape, self.terms), key=len, reverse=True)
        self.form = re.compile(rf"(?<![\w-])({'|'.join(longest_first)})s?(?![\w-])", re.I)
        self.section, self.seen = section, set()

    def __call__(self, html: str) -> Markup:
        """The text with its first mentions marked, outside of code, formulas, links and tables."""
        if not self.terms:
            return Markup(html)
        depth, pieces = 0, PIECE.split(html)
        for i, piece in enumerate(pieces):
            if tag := TAG.match(piece):
                depth += -1 if tag[1] else 1
            elif i % 2 == 0 and not depth:
                pieces[i] = self.form.sub(self._marked, piece)
        return Markup("".join(pieces))

    def _marked(self, found: re.Match) -> str:
        term = self.terms[found[1].lower()]
        if term.slug in self.seen:
            return found[0]
        self.seen.add(term.slug)
        name = f"{self.section}-{term.slug}"
        return Markup(
            '<dfn tabindex="0" aria-describedby="{0}">{1}</dfn>'
            '<span class="definition" role="tooltip" id="{0}">{2} <span lang="zh">{3}</span></span>'
        ).format(name, Markup(found[0]), term.meaning, ASIDE.sub("", term.chinese))
