"""The header's three times: in class what the notes say, alone and deeper by a rule.

Alone: 85 words a minute, 20 seconds a line of code and 10 a folded one, two minutes a prediction, 1.6
times the minutes that an exercise states below its heading, and five minutes for the recall.
"""

from rules import parts
from transformer_lib.publish.lessons import TIMES

WORDS_A_MINUTE, SECONDS_A_LINE, SECONDS_A_FOLDED_LINE = 85, 20, 10
MINUTES_A_PREDICTION, MINUTES_OF_RECALL, TIMES_AN_EXERCISE = 2, 5, 1.6
CORE_IN_CLASS, IN_CLASS, ONE_SITTING = 45, 90, 90
SESSIONS = {"05": 2, "13": 2}  # lessons that are taught in two
TOLERANCE = 0.2


def stated(notebook):
    """(in class, alone, going deeper), as the header has them."""
    found = TIMES.search(notebook.cells[0].source)
    return tuple(map(int, found.group(1, 2, 4))) if found else (0, 0, 0)


def by_rule(sections):
    """The minutes that these sections take a reader alone."""
    exercises = [s for s in sections if s.heading.startswith(parts.EXERCISE)]
    cells = [cell for s in sections if s not in exercises for cell in s.cells]
    reading = parts.words(cells) / WORDS_A_MINUTE
    code = sum(parts.lines(cell) * _seconds_a_line(cell) for cell in parts.code(cells)) / 60
    predicting = MINUTES_A_PREDICTION * sum(map(parts.is_prediction, cells))
    recalling = MINUTES_OF_RECALL * any(parts.asks(cell) for cell in cells)
    practising = TIMES_AN_EXERCISE * sum(s.effort.minutes for s in exercises if s.effort)
    return reading + code + predicting + recalling + practising


def _seconds_a_line(cell):
    folded = cell.metadata.get("jupyter", {}).get("source_hidden")
    return SECONDS_A_FOLDED_LINE if folded else SECONDS_A_LINE


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
    """The header's time is that of the rule, within a fifth."""
    return _compared("alone", stated(notebook)[1], by_rule(parts.lesson_of(notebook).core))


def sittings(notebook):
    """As many as the header says, none longer than ninety honest minutes."""
    found = parts.sittings(parts.lesson_of(notebook).core)
    header = TIMES.search(notebook.cells[0].source)
    said = {None: 1, "two": 2, "three": 3, "four": 4}[header[3]] if header else 1
    wrong = []
    if said != len(found):
        wrong.append(f"the header has {said} sittings, the pauses make {len(found)}")
    for n, sections in enumerate(found, 1):
        if (minutes := by_rule(sections)) > ONE_SITTING:
            wrong.append(
                f"sitting {n} takes {minutes:.0f} minutes by the rule, at most {ONE_SITTING}"
            )
    return wrong


def going_deeper(notebook):
    """The header's time is the sum of the sections' own, and honest."""
    deeper = parts.lesson_of(notebook).deeper
    header, added = stated(notebook)[2], sum(s.effort.minutes for s in deeper if s.effort)
    wrong = _compared("going deeper", header, by_rule(deeper))
    if header != added:
        wrong.append(f"going deeper: the sections have {added} minutes, the header {header}")
    return wrong


def _compared(name, said, found):
    if abs(said - found) <= TOLERANCE * found:
        return []
    return [f"{name}: the header says {said} minutes, the rule {found:.0f}"]
