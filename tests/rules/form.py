"""The order of a lesson's core, and what stands behind it."""

import ast
import re
from urllib.parse import unquote

from rules import parts
from transformer_lib.exercises.quiz import _lessons, recalled
from transformer_lib.exercises.quiz.questions import numbered
from transformer_lib.publish.lessons import (
    DEEPER,
    FOLD,
    FRIEND,
    GLOSSARY,
    MISBELIEFS,
    ROAD_MAP,
    SHEET,
    TIMES,
    tags,
)
from transformer_lib.publish.render import SVG, VEGALITE

SETS = (ast.Import, ast.ImportFrom, ast.Assign, ast.Expr)
BREAK_IT_FROM = 4
BEFORE = "Before we start"
CLOSING = [MISBELIEFS, SHEET, FRIEND]


def set_up(notebook):
    """What is not counted as code that is read imports and sets, is the first code, and is folded."""
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    wrong = [
        f"tagged `setup`, and not the first code: {cell.source[:40]!r}"
        for cell in code[1:]
        if "setup" in tags(cell)
    ]
    for cell in code[:1]:
        if parts.in_sight(cell):
            wrong.append("the set-up is not folded (source_hidden)")
        others = [node for node in ast.parse(cell.source).body if not isinstance(node, SETS)]
        if "setup" in tags(cell) and others:
            wrong.append(f"set-up only imports and sets, and not: {ast.unparse(others[0])[:40]!r}")
    return wrong


def opening(notebook):
    """Title, promise, what one will be able to do, three times, what to know before; then a picture."""
    first, second, *_ = parts.lesson_of(notebook).sections
    title = first.cells[0].source
    wanted = {
        "a title such as # 09 · Heads": re.match(r"# \d\d · \S", title),
        "a promise": re.search(r"\A# .*\n\n[^*\n].+\n\n\*\*You will", title, re.M),
        "**You will be able to** and its points": re.findall(
            r"(?m)^- ", title.partition("**You will be able to**")[2]
        ),
        "**Time:** 70 minutes in class · 110 alone, in two sittings · 30 going deeper.": TIMES.search(
            title
        ),
        "**Before:** and what to know": re.search(r"\*\*Before:\*\*\s\S", title),
        "a picture and the question that it raises": pictured(first.cells) and _questions(first),
        f"## {BEFORE}": second.heading == BEFORE,
        f"a quiz and the road map's drawing in {BEFORE!r}": any(map(asked, second.cells))
        and shows(second.cells, SVG),
    }
    return [f"it should open with {what}" for what, there in wanted.items() if not there]


def _questions(section):
    return any("?" in text for text in parts.prose(section.cells[1:]))


def road_map(notebook):
    """The steps that are drawn come back in every section that takes one, with that one marked."""
    _, before, *sections = parts.lesson_of(notebook).core
    drawn = _drawn(before)
    lines, wrong = {}, []
    for section in filter(parts.taught, sections):
        if parts.is_pause(section):
            drawn = _drawn(section) or drawn  # a second part may have a road map of its own
        if section.heading.startswith(tuple(CLOSING)) or parts.is_pause(section):
            continue
        line = _line(section)
        steps = [step.strip() for step in line.replace("**", "").split(" · ")]
        if line.count("**") != 2:
            wrong.append(f"{section.heading!r} has no road map with one step in bold: {line!r}")
        elif missing := [step for step in steps if step not in drawn]:
            wrong.append(f"{section.heading!r} has steps that are not drawn: {', '.join(missing)}")
        lines.setdefault(drawn, {})[tuple(steps)] = section.heading
    differ = [sorted(same.values()) for same in lines.values() if len(same) > 1]
    return wrong or [f"road maps differ: {headings}" for headings in differ]


def _drawn(section):
    return " ".join(filter(None, map(_alt, section.cells)))


def _line(section):
    """The road map below a heading, without what it begins with; "" if there is none."""
    first = section.cells[0].source.split("\n\n")
    found = [text.removeprefix(ROAD_MAP) for text in first if text.startswith(ROAD_MAP)]
    return found[0] if found else ""


def _alt(cell):
    return " ".join(
        out["data"].get("text/plain", "")
        for out in cell.get("outputs", [])
        if SVG in out.get("data", {})
    )


def recall(notebook):
    """Three questions open it, two of them on earlier lessons (of the first lesson's own, if none)."""
    here = parts.number(notebook)
    for known in filter(None, map(asked, parts.core(notebook))):
        earlier = sum(question.lesson < here for question in known.values())
        if here != _lessons()[0] and (len(known) != 3 or earlier < 2):
            return [f"three questions, two on earlier lessons, and not {', '.join(known)}"]
    return []


def asked(cell):
    """The questions that a cell shows by `recall("09")`, or by `quiz("08.1", "05.2", "09.1")`."""
    if call := re.fullmatch(r'recall\("(\d\d)"\)', cell.source.strip()):
        return recalled(call[1])
    if re.fullmatch(r"quiz\(.*\)", cell.source.strip(), re.S):
        known = numbered()
        return {name: known[name] for name in re.findall(r'"(.+?)"', cell.source) if name in known}
    return None


def pictured(cells):
    """Whether there is a drawing, or a figure, which comes out as an <img>."""
    found = [out.get("data", {}) for cell in cells for out in cell.get("outputs", [])]
    return any(SVG in data or "<img" in data.get("text/html", "") for data in found)


def shows(cells, kind):
    return any(kind in out.get("data", {}) for cell in cells for out in cell.get("outputs", []))


def order(notebook):
    """Sections, exercises with the build as the last, what people get wrong, sheet, a friend."""
    core = parts.lesson_of(notebook).core
    *earlier, headings = ([s.heading for s in part] for part in parts.parted(core))
    exercises = [h for h in headings if h.startswith(parts.EXERCISE)]
    wrong = []
    for *before, sheet_of_part in earlier:
        practised = [h.startswith(parts.EXERCISE) for h in before]
        if practised != sorted(practised):
            wrong.append(f"the exercises should stand just before {sheet_of_part!r}")
    last = -len(CLOSING)
    if headings[last:] != CLOSING:
        wrong.append(f"it should end with {CLOSING}, and ends with {headings[last:]}")
    if not exercises or not exercises[-1].startswith(parts.BUILD):
        wrong.append("the last exercise should be headed ## Build: …")
    if headings[last - len(exercises) : last] != exercises:
        wrong.append(f"the exercises should stand just before {CLOSING[0]!r}")
    if int(parts.number(notebook)) >= BREAK_IT_FROM and not parts.count(
        parts.core(notebook), r"\*\*Break it|^## Break it"
    ):
        wrong.append("nothing is broken: ## Break it: … or **Break it.**")
    if not shows(parts.core(notebook), VEGALITE):
        wrong.append("no chart that moves without a kernel")
    if not all(section.effort for section in core if section.heading.startswith(parts.EXERCISE)):
        wrong.append("an exercise needs its minutes and dots below its heading: *10 min · ●●○*")
    return wrong


def asides(notebook):
    """A section warns or sums up, and not both; what sums it up is its last word."""
    wrong = []
    for section in parts.lesson_of(notebook).sections:
        marks = [mark for mark, _ in section.asides]
        said = parts.prose(section.cells)
        if len(set(marks)) > 1:
            wrong.append(f"**Careful** and **In short** in {section.heading!r}: one of the two")
        if "In short" in marks and "> **In short.**" not in said[-1]:
            wrong.append(f"**In short** does not close {section.heading!r}")
    return wrong


def sheet(notebook):
    """On one page: formula, shapes, code, terms with what they mean, and the mistakes."""
    found = [section.cells for section in parts.lesson_of(notebook).sheets] or [[]]
    return [said for cells in found for said in _lacking(cells)]


def _lacking(cells):
    code = [cell for cell in parts.code(cells) if parts.lines(cell) <= 12]
    wanted = {
        "a formula": parts.count(cells, r"^\$\$"),
        "a table of shapes": parts.count(cells, r"^\|.*\bshape\b.*\|$"),
        "five to ten lines of code": code,
        f"the terms, {GLOSSARY}": parts.count(cells, rf"\A{re.escape(GLOSSARY)}"),
        "the mistakes, a list": parts.count(cells, r"^(1\.|-) "),
    }
    return [f"the sheet lacks {what}" for what, there in wanted.items() if not there]


def ending(notebook):
    """One question to explain to a friend, a model answer folded below it, and what comes next."""
    last = parts.lesson_of(notebook).core[-1]
    wrong = []
    if not any("?" in text for text in parts.prose(last.cells)):
        wrong.append("nothing is asked that one could explain to a friend")
    if not last.model_answer:
        wrong.append("no <details><summary>A model answer</summary> below the question")
    if not last.cells[-1].source.startswith("**Next:**"):
        wrong.append("the core should end with **Next:** …")
    return wrong


def notes(notebook):
    """A core section has one note of what concerns a class; a pause and what goes deeper have none."""
    wrong = []
    for section in parts.lesson_of(notebook).sections:
        if len(section.notes) != (not section.deeper and not parts.is_pause(section)):
            wrong.append(f"{len(section.notes)} notes in {section.heading!r}")
        for note in section.notes:
            if not note.parts or not note.text.startswith("**"):
                wrong.append(f"a note should open with **Ask.** or the like: {note.text[:40]!r}")
            if others := set(re.findall(r"\*\*([^*\n]+)\.\*\*", note.text)) - note.parts.keys():
                wrong.append(
                    f"what a lone reader needs stands in the text: {', '.join(sorted(others))}"
                )
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


def pointed_to(notebook):
    """Where the question arises in the core, one line points to what goes deeper."""
    said = " ".join(parts.prose(parts.core(notebook)))
    links = {unquote(link).replace("-", " ") for link in re.findall(r"\]\(#([^)]+)\)", said)}
    return [
        f"nothing points to {section.heading!r}"
        for section in parts.lesson_of(notebook).deeper
        if section.heading.replace("-", " ") not in links
    ]


def folds_close(notebook):
    """A fold begins with its summary and ends its cell, blank lines within."""
    return [
        f"not <details><summary>…</summary>, blank line, text, blank line, </details>: {text[:60]!r}"
        for text in parts.prose(notebook.cells)
        if "<details>" in text and text.count("<details>") != len(FOLD.findall(text))
    ]
