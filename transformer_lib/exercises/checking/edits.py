"""Wrong answers as small edits of the solution: what a line becomes, and what a teacher says to it.

    dim=-1 → dim=-2
    dim=-1 → dim=0
        Your weights add up to 1 over the queries: softmax goes over the last axis, the keys.

Each line with an arrow is one wrong answer: its left side, wherever the solution has it, becomes its
right side. ` ; ` joins two changes of one answer, `⏎` stands for the end of a line, and an empty right side takes
the text out. The sentence below belongs to all edits above it. Two edits that touch different places
are an answer too: one with two mistakes at once.
"""

import linecache
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

ARROW = re.compile(r"\s*→ ?")
_LINE_END = re.compile(r"\s*⏎ ?")


class Edit(NamedTuple):
    """What becomes of which texts of the solution."""

    changes: tuple[tuple[str, str], ...]

    def spans(self, source: str) -> list[tuple[int, int, str]]:
        """(start, end, new text) of every place; raises ValueError where the text is not found."""
        found = []
        for old, new in self.changes:
            pattern = r"\s*\n\s*".join(map(re.escape, _LINE_END.split(old)))
            places = list(re.finditer(pattern, source))
            if not places:
                raise ValueError(f"the solution has no {old!r}")
            for place in places:
                line = source[source.rfind("\n", 0, place.start()) + 1 :]
                indent = line[: len(line) - len(line.lstrip())]
                found.append((*place.span(), f"\n{indent}".join(_LINE_END.split(new))))
        return sorted(found)


def parse(text: str) -> Iterator[tuple[str, Edit]]:
    """(sentence, edit) of every line with an arrow."""
    open_: list[Edit] = []
    sentence: list[str] = []
    for line in [*text.splitlines(), ""]:
        if "→" in line:
            if sentence:
                yield from ((" ".join(sentence), edit) for edit in open_)
                open_, sentence = [], []
            parts = (ARROW.split(change, maxsplit=1) for change in line.split(" ; "))
            open_.append(Edit(tuple((old.strip(), new) for old, new in parts)))
        elif line.strip():
            sentence.append(line.strip())
    yield from ((" ".join(sentence), edit) for edit in open_)


def edited(source: str, *edits: Edit) -> str | None:
    """The source after all these edits, None where two of them touch the same place."""
    spans = sorted(span for edit in edits for span in edit.spans(source))
    if any(start < end for (_, end, _), (start, _, _) in pairwise(spans)):
        if len(edits) == 1:
            raise ValueError(f"two changes of one edit touch the same place: {edits[0].changes}")
        return None
    for start, end, new in reversed(spans):
        source = source[:start] + new + source[end:]
    return source


def made(source: str, name: str, names: Mapping[str, Any]) -> Callable[..., Any]:
    """What `name` is after this source ran with these names at hand."""
    space = dict(names)
    file = f"<edited: {name} {hash(source)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), space)
    return space[name]
