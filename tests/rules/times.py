"""The header's three times: in class what the notes say, alone and deeper by a rule.

Alone: 150 words a minute, 10 seconds a line of code, a minute a prediction, and for each exercise the
minutes below its heading (10, 20 or 40 where it builds the lesson's part).
"""

from rules import parts
from transformer_lib.publish.lessons import TIMES

WORDS_A_MINUTE, SECONDS_A_LINE = 150, 10
BUILDS = (10, 20, 40)
CORE_IN_CLASS, IN_CLASS = 45, 90
SESSIONS = {"05": 2, "13": 2}  # lessons that are taught in two
TOLERANCE = 0.2


def stated(notebook):
    """(in class, alone, going deeper), as the header has them."""
    found = TIMES.search(notebook.cells[0].source)
    return tuple(map(int, found.groups())) if found else (0, 0, 0)


def by_rule(sections):
    """The minutes that these sections take a reader alone."""
    exercises = [s for s in sections if s.heading.startswith(parts.EXERCISE)]
    cells = [cell for s in sections if s not in exercises for cell in s.cells]
    reading = parts.words(cells) / WORDS_A_MINUTE
    code = sum(map(parts.lines, parts.code(cells))) * SECONDS_A_LINE / 60
    predicting = sum(map(parts.is_prediction, cells))
    return reading + code + predicting + sum(s.effort.minutes for s in exercises if s.effort)


def in_class(notebook):
    """The minutes of the notes add up to the header's, and fit into the class that the plan promises."""
    lesson = parts.lesson_of(notebook)
    minutes = {s.heading: sum(note.minutes for note in s.notes) for s in lesson.core}
    core = sum(minutes[s.heading] for s in lesson.core if parts.taught(s))
    total, sessions = sum(minutes.values()), SESSIONS.get(parts.number(notebook), 1)
    wrong = []
    if total != stated(notebook)[0]:
        wrong.append(f"the notes have {total} minutes, the header {stated(notebook)[0]}")
    if core > CORE_IN_CLASS * sessions:
        wrong.append(f"{core} minutes without the exercises, at most {CORE_IN_CLASS * sessions}")
    if total > IN_CLASS * sessions:
        wrong.append(f"{total} minutes with the exercises, at most {IN_CLASS * sessions}")
    return wrong


def alone(notebook):
    lesson = parts.lesson_of(notebook)
    return _compared("alone", stated(notebook)[1], by_rule(lesson.core))


def going_deeper(notebook):
    """The header's time is the sum of the sections' own, and honest."""
    deeper = parts.lesson_of(notebook).deeper
    header, added = stated(notebook)[2], sum(s.effort.minutes for s in deeper if s.effort)
    wrong = _compared("going deeper", header, by_rule(deeper))
    if header != added:
        wrong.append(f"going deeper: the sections have {added} minutes, the header {header}")
    return wrong


def builds(notebook):
    return [
        f"{section.heading!r} takes {section.effort.minutes} minutes, and a build one of {BUILDS}"
        for section in parts.lesson_of(notebook).core
        if section.heading.startswith(parts.BUILD) and section.effort
        if section.effort.minutes not in BUILDS
    ]


def _compared(name, said, found):
    if abs(said - found) <= TOLERANCE * found:
        return []
    return [f"{name}: the header says {said} minutes, the rule {found:.0f}"]
