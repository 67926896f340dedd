"""Does a lesson keep the rules of its form?  python tests/edition.py LESSON …

Prints its minutes beside those by the rule, and each rule that it breaks. Nothing is counted but
minutes: how long a cell, a sentence or a lesson should be is for its readers to say.
"""

import sys

import nbformat
from rules import answers, form, names, parts, times, voice

RULES = (
    form.set_up,
    form.opening,
    form.road_map,
    form.recall,
    form.order,
    form.asides,
    form.sheet,
    form.ending,
    form.notes,
    form.deeper_behind,
    form.pointed_to,
    form.folds_close,
    answers.out_of_sight,
    names.stand_alone,
    names.leave_the_core_alone,
    times.in_class,
    times.alone,
    times.sittings,
    times.going_deeper,
    voice.sources,
    voice.links,
)


def complaints(notebook):
    """Every rule that a notebook breaks, and where."""
    return [f"{rule.__name__}: {said}" for rule in RULES for said in rule(notebook)]


def told(notebook):
    """What a notebook takes, a line each."""
    lesson = parts.lesson_of(notebook)
    said, core = times.stated(notebook), parts.code(parts.core(notebook))
    return [
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
