"""What the second edition's form asks and the third's does not; it goes with the last lesson of it."""

from rules import form, parts
from transformer_lib.publish.lessons import MISBELIEFS

CLOSING = [MISBELIEFS, "What you now know"]


def opening(notebook):
    """Title, promise, what one will be able to do, three times, what to know before; then a quiz."""
    first = parts.lesson_of(notebook).sections[0]
    wanted = {
        **form.titled(notebook, "110 alone"),
        "a quiz in a cell of its own below the title": any(map(form.asked, first.cells)),
    }
    return [f"it should open with {what}" for what, there in wanted.items() if not there]


def drawing_first(notebook):
    """A drawing of what the lesson is about stands before its second section."""
    early = [cell for section in parts.lesson_of(notebook).sections[:2] for cell in section.cells]
    return [] if form.shows(early, form.SVG) else ["no drawing before the second section"]


def order(notebook):
    """Sections, exercises with the build as the last, what people get wrong, what one now knows."""
    return form.ordered(notebook, CLOSING)


def ending(notebook):
    """One question to explain to a friend, its answer in the note, key terms, and what comes next."""
    last = parts.lesson_of(notebook).core[-1]
    asked = parts.count(last.cells, r"\A\*\*Explain it to a friend\.\*\* .*\?")
    terms = parts.count(last.cells, r"\A\| term \| 中文 \|")
    wrong = []
    if asked != 1:
        wrong.append(f"{asked} times **Explain it to a friend.** …? in the recap, and not once")
    if not any("Model answer" in note.parts for note in last.notes):
        wrong.append("the recap's note should have a **Model answer.**")
    if terms != 1:
        wrong.append("no key terms, English and Chinese, in the recap")
    if not last.cells[-1].source.startswith("**Next:**"):
        wrong.append("the core should end with **Next:** …")
    return wrong


def notes(notebook):
    """A core section has one note of marked parts, what goes deeper has none."""
    wrong = []
    for section in parts.lesson_of(notebook).sections:
        if len(section.notes) != (not section.deeper):
            wrong.append(f"{len(section.notes)} notes in {section.heading!r}")
        for note in section.notes:
            if not note.parts or not note.text.startswith("**"):
                wrong.append(f"a note should open with **Ask.** or the like: {note.text[:40]!r}")
    return wrong
