"""Does a lesson keep the rules of its form?  python tests/edition.py LESSON …

Prints its edition, its minutes beside those by the rule, and each rule that it breaks. Nothing is
counted but minutes: how long a cell, a sentence or a lesson should be is for its readers to say.
"""

import sys

import nbformat
from rules import answers, form, names, parts, second, times, voice

ANY = (
    form.set_up,
    form.recall,
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
SECOND = (second.opening, second.drawing_first, second.order, second.ending, second.notes)
THIRD = (
    form.opening,
    form.road_map,
    form.order,
    form.asides,
    form.sheet,
    form.ending,
    form.notes,
    form.pointed_to,
    times.sittings,
)
RULES = {2: (*ANY, *SECOND), 3: (*ANY, *THIRD)}


def complaints(notebook):
    """Every rule of its edition that a notebook breaks, and where."""
    rules = RULES[parts.edition(notebook)]
    return [f"{rule.__name__}: {said}" for rule in rules for said in rule(notebook)]


def told(notebook):
    """The edition of a notebook and what it takes, a line each."""
    lesson = parts.lesson_of(notebook)
    said, core = times.stated(notebook), parts.code(parts.core(notebook))
    return [
        f"edition: {parts.edition(notebook)}",
        f"in class: {said[0]} minutes, by the notes {sum(n.minutes for s in lesson.core for n in s.notes)}",
        f"alone: {said[1]} minutes, by the rule {times.by_rule(lesson.core):.0f}",
        f"going deeper: {said[2]} minutes, by the rule {times.by_rule(lesson.deeper):.0f}",
        f"sittings: {', '.join(f'{times.by_rule(s):.0f}' for s in parts.sittings(lesson.core))}",
        f"code cells of the core: {len(parts.code(core))}, in sight {sum(map(parts.in_sight, core))}",
    ]


if __name__ == "__main__":
    for path in sys.argv[1:]:
        lesson = nbformat.read(path, as_version=4)
        print(path, *told(lesson), *complaints(lesson), sep="\n  ")
