"""The order of a lesson's core, and what stands behind it."""

import ast
import re

from rules import parts
from transformer_lib.exercises.quiz import _lessons, _numbered, recalled
from transformer_lib.publish.lessons import DEEPER, FOLD, TIMES, tags
from transformer_lib.publish.render import SVG, VEGALITE

SETS = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)
BREAK_IT_FROM = 4
CLOSING = ["What people get wrong", "What you now know"]


def set_up(notebook):
    """What is not counted as code that is read imports and sets, and is the first code of all."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    wrong = [
        f"tagged `setup`, and not the first code: {cell.source[:40]!r}"
        for cell in code[1:]
        if "setup" in tags(cell)
    ]
    for cell in code[:1]:
        others = [node for node in ast.parse(cell.source).body if not isinstance(node, SETS)]
        if "setup" in tags(cell) and others:
            wrong.append(f"set-up only imports and sets, and not: {ast.unparse(others[0])[:40]!r}")
    return wrong


def opening(notebook):
    """Title, promise, what one will be able to do, three times, what to know before; then a quiz."""
    title, first = notebook.cells[0].source, parts.lesson_of(notebook).sections[0]
    wanted = {
        "a title such as # 09 · Heads": re.match(r"# \d\d · \S", title),
        "a promise": re.search(r"\A# .*\n\n[^*\n].+\n\n\*\*You will", title, re.M),
        "**You will be able to** and its points": _promises(title),
        "**Time:** 70 minutes in class · 110 alone · 30 going deeper.": TIMES.search(title),
        "**Before:** and what to know": re.search(r"\*\*Before:\*\* \S", title),
        "a quiz in a cell of its own below the title": any(map(_asked, first.cells)),
    }
    return [f"it should open with {what}" for what, there in wanted.items() if not there]


def _promises(title):
    return re.findall(r"(?m)^- ", title.partition("**You will be able to**")[2])


def recall(notebook):
    """Three questions open it, two of them on earlier lessons (of the first lesson's own, if none)."""
    here = parts.number(notebook)
    for asked in filter(None, map(_asked, parts.core(notebook))):
        earlier = sum(question.lesson < here for question in asked.values())
        if here != _lessons()[0] and (len(asked) != 3 or earlier < 2):
            return [f"three questions, two on earlier lessons, and not {', '.join(asked)}"]
    return []


def _asked(cell):
    """The questions that a cell shows by `recall("09")`, or by `quiz("08.1", "05.2", "09.1")`."""
    if call := re.fullmatch(r'recall\("(\d\d)"\)', cell.source.strip()):
        return recalled(call[1])
    if re.fullmatch(r"quiz\(.*\)", cell.source.strip(), re.S):
        known = _numbered()
        return {name: known[name] for name in re.findall(r'"(.+?)"', cell.source) if name in known}
    return None


def drawing_first(notebook):
    """A drawing of what the lesson is about stands before its second section."""
    early = [cell for section in parts.lesson_of(notebook).sections[:2] for cell in section.cells]
    return [] if _shows(early, SVG) else ["no drawing before the second section"]


def _shows(cells, kind):
    return any(kind in out.get("data", {}) for cell in cells for out in cell.get("outputs", []))


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
    if int(parts.number(notebook)) >= BREAK_IT_FROM and not parts.count(
        parts.core(notebook), r"\*\*Break it|^## Break it"
    ):
        wrong.append("nothing is broken: ## Break it: … or **Break it.**")
    if not _shows(parts.core(notebook), VEGALITE):
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


def deeper_behind(notebook):
    """Behind the core stands only what goes deeper: tagged, timed, folded."""
    wrong = []
    kinds = ["deeper" in tags(cell) for cell in notebook.cells]
    if kinds != sorted(kinds):
        wrong.append("something of the core stands behind what goes deeper")
    for section in parts.lesson_of(notebook).sections:
        head = section.cells[0]
        if section.heading.startswith(DEEPER) != section.deeper:
            wrong.append(f"heading ## {DEEPER}… and tag `deeper` go together: {section.heading!r}")
        if section.deeper and not section.effort:
            wrong.append(f"no line such as *10 min · ●●○* below {section.heading!r}")
        if section.deeper and not head.metadata.get("jp-MarkdownHeadingCollapsed"):
            wrong.append(f"not folded in JupyterLab: {section.heading!r}")
        if len({"deeper" in tags(cell) for cell in section.cells}) > 1:
            wrong.append(f"half of it is tagged `deeper`: {section.heading!r}")
    return wrong


def folds_close(notebook):
    """A fold begins with its summary and ends its cell, blank lines within."""
    return [
        f"not <details><summary>…</summary>, blank line, text, blank line, </details>: {text[:60]!r}"
        for text in parts.prose(notebook.cells)
        if "<details>" in text and text.count("<details>") != len(FOLD.findall(text))
    ]
