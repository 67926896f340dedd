"""Does a lesson keep the rules of its form?  python tests/edition.py LESSON …

Prints its edition, its minutes beside those by the rule, and each rule that it breaks. Nothing is
counted but minutes: how long a cell, a sentence or a lesson should be is for its readers to say.
"""

import sys

import nbformat
from rules import answers, form, names, parts, times, voice

RULES = (
    form.set_up,
    form.opening,
    form.recall,
    form.drawing_first,
    form.order,
    form.ending,
    form.notes,
    form.deeper_behind,
    form.folds_close,
    answers.out_of_sight,
    names.stand_alone,
    names.leave_the_core_alone,
    times.in_class,
    times.alone,
    times.going_deeper,
    voice.sources,
    voice.links,
)


def complaints(notebook):
    """Every rule that a notebook breaks, and where."""
    return [f"{rule.__name__}: {said}" for rule in RULES for said in rule(notebook)]


def told(notebook):
    """The edition of a notebook and what it takes, a line each."""
    lesson = parts.lesson_of(notebook)
    said = times.stated(notebook)
    return [
        f"edition: {parts.edition(notebook)}",
        f"in class: {said[0]} minutes, by the notes {sum(n.minutes for s in lesson.core for n in s.notes)}",
        f"alone: {said[1]} minutes, by the rule {times.by_rule(lesson.core):.0f}",
        f"going deeper: {said[2]} minutes, by the rule {times.by_rule(lesson.deeper):.0f}",
    ]


if __name__ == "__main__":
    for path in sys.argv[1:]:
        lesson = nbformat.read(path, as_version=4)
        print(path, *told(lesson), *complaints(lesson), sep="\n  ")
