"""How a plan is guessed from notes that do not say it.

This file goes when the last lesson of that form does.
"""

import re

from transformer_lib.publish.lessons import Lesson, Section

ERRORS = re.compile(
    r"\b(wrong|slips?|traps?|mistakes?|mistaken|confuse[sd]?|forget|forgotten|hurdle|stumbl\w+|fails?"
    r"|nobody|easily|misread\w*|overlook\w*|Some (will )?(say|see))\b"
)
ORDERS = re.compile(
    r"(Then |Before|After|Afterwards )?(ask|let|vote|draw|do|keep|close|cover|give)\b", re.I
)
CORRECTED = "What people get wrong"


def sort_out(lesson: Lesson) -> dict[str, dict[str, str]]:
    """The notes sorted into what to ask and what goes wrong.

    What goes wrong begins with a sentence that says so, and ends where the next one gives an order.
    """
    ask, errors = {}, {}
    for section in lesson.sections:
        for note in section.notes:
            goes_wrong = False
            for told in sentences(note.text):
                goes_wrong = bool(ERRORS.search(told)) or (goes_wrong and not ORDERS.match(told))
                (errors if goes_wrong else ask).setdefault(section.heading, []).append(told)
    sorted_out = {"Ask": ask, "Goes wrong": errors}
    return {
        part: {heading: " ".join(told) for heading, told in found.items()}
        for part, found in sorted_out.items()
    }


def sentences(text: str) -> list[str]:
    """The sentences of a note, whole, with their formulas and quotations."""
    return re.split(r"(?<=[.!?:”])\s+(?=[A-Z“])", " ".join(text.split()))


def leave_out(lesson: Lesson, minutes: int) -> list[Section]:
    """The sections to leave out so that the lesson fits into a class.

    One after the other, until it fits: the exercises, from the last (they become homework); “What
    people get wrong” (to be read at home); then sections without a prediction, from the last; then
    the others, from the last. What fits again is put back. The opening, the first section and the
    recap stay.
    """
    first, last = lesson.sections[:2], lesson.sections[-1]
    middle = [s for s in reversed(lesson.sections) if s not in first and s is not last]
    middle.sort(key=_rank)  # stable: from the last within each rank
    gone = []
    for section in middle:
        if _minutes(lesson, gone) <= minutes:
            break
        gone.append(section)
    for section in reversed(gone):  # the last one may have been longer than was needed
        if _minutes(lesson, [s for s in gone if s is not section]) <= minutes:
            gone = [s for s in gone if s is not section]
    return [section for section in lesson.sections if section in gone]


def _minutes(lesson: Lesson, gone: list[Section]) -> int:
    return round(sum(s.minutes for s in lesson.sections if s not in gone))


def _rank(section: Section) -> int:
    predicted = any("**Predict first" in cell.source for cell in section.cells)
    return 0 if section.exercises else 1 if section.heading == CORRECTED else 2 + predicted
