"""What the second edition's form asks and the third's does not; it goes with the last lesson of it."""

import re

from rules import form, parts
from transformer_lib.publish.lessons import MISBELIEFS, TIMES

CLOSING = [MISBELIEFS, "What you now know"]


def opening(notebook):
    """Title, promise, what one will be able to do, three times, what to know before; then a quiz."""
    title, first = notebook.cells[0].source, parts.lesson_of(notebook).sections[0]
    wanted = {
        "a title such as # 09 · Heads": re.match(r"# \d\d · \S", title),
        "a promise": re.search(r"\A# .*\n\n[^*\n].+\n\n\*\*You will", title, re.M),
        "**You will be able to** and its points": form.promises(title),
        "**Time:** 70 minutes in class · 110 alone · 30 going deeper.": TIMES.search(title),
        "**Before:** and what to know": re.search(r"\*\*Before:\*\*\s\S", title),
        "a quiz in a cell of its own below the title": any(map(form.asked, first.cells)),
    }
    return [f"it should open with {what}" for what, there in wanted.items() if not there]


def drawing_first(notebook):
    """A drawing of what the lesson is about stands before its second section."""
    early = [cell for section in parts.lesson_of(notebook).sections[:2] for cell in section.cells]
    return [] if form.shows(early, form.SVG) else ["no drawing before the second section"]


def order(notebook):
    """Sections, exercises with the build as the last, what people get wrong, what one now knows."""
    core = parts.lesson_of(notebook).core
    headings = [section.heading for section in core]
    exercises = [h for h in headings if h.startswith(parts.EXERCISE)]
    wrong = []
    if headings[-2:] != CLOSING:
        wrong.append(f"it should end with {CLOSING}, and ends with {headings[-2:]}")
    if not exercises or not exercises[-1].startswith(parts.BUILD):
        wrong.append("the last exercise should be headed ## Build: …")
    if headings[-2 - len(exercises) : -2] != exercises:
        wrong.append(f"the exercises should stand just before {CLOSING[0]!r}")
    if int(parts.number(notebook)) >= form.BREAK_IT_FROM and not parts.count(
        parts.core(notebook), r"\*\*Break it|^## Break it"
    ):
        wrong.append("nothing is broken: ## Break it: … or **Break it.**")
    if not form.shows(parts.core(notebook), form.VEGALITE):
        wrong.append("no chart that moves without a kernel")
    if not all(section.effort for section in core if section.heading.startswith(parts.EXERCISE)):
        wrong.append("an exercise needs its minutes and dots below its heading: *10 min · ●●○*")
    return wrong


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
