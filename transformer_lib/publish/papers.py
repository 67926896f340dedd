"""The papers, books and tutorials that the lessons link to by authors and year, each once."""

import re
from dataclasses import dataclass

from transformer_lib.publish.lessons import Lesson, tags

LINK = re.compile(  # [Vaswani et al. (2017)](https://…), but nobody's report of a bug
    r"\[([A-Z][^\][]*?),?\s\(?(\d{4})(?:; revised\s\d{4})?\)?\]\((https://(?![^)]*/issues/)[^)\s]+)\)"
)


@dataclass(frozen=True)
class Paper:
    """What the lessons call it, where it stands on the net, and which lessons name it."""

    name: str
    address: str
    lessons: tuple[Lesson, ...]


def papers(lessons: list[Lesson]) -> list[Paper]:
    """Every paper under its authors and year, in their order, at the first address given for it."""
    found: dict[str, Paper] = {}
    for lesson in lessons:
        told = "\n".join(
            cell.source
            for cell in lesson.notebook.cells
            if cell.cell_type == "markdown" and "instructor" not in tags(cell)
        )
        named = {}
        for authors, year, address in LINK.findall(told):
            whose = " ".join(authors.split()).replace(" and ", " & ").removesuffix("'s")
            name = f"{whose} ({year})"
            named.setdefault(name, address)
        for name, address in named.items():
            before = found.get(name, Paper(name, address, ()))
            found[name] = Paper(name, before.address, (*before.lessons, lesson))
    return [found[name] for name in sorted(found)]
