"""A student's own page: what passed, which mistake on which case, and where to go back to.

It says nothing of other students, nothing of what was remarked for the teacher, and no solution.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from transformer_lib.grading.classroom import Grades
from transformer_lib.grading.marks import Mark
from transformer_lib.grading.page import SIGNS, rendered
from transformer_lib.grading.points import in_digits
from transformer_lib.grading.results import ABSENT, MISTAKE, OPEN, PASSED, UNJUDGED

SAID = {
    PASSED: "passed",
    MISTAKE: "not right yet",
    OPEN: "not attempted",
    UNJUDGED: "could not be judged",
    ABSENT: "not handed in",
}


def as_html(grades: Grades, mark: Mark, site: str = "") -> str:
    """The page in one file, which asks nothing of a network; `site` makes links of sections."""
    return rendered(
        "feedback.html.j2",
        grades=grades,
        mark=mark,
        said=SAID,
        digits=in_digits,
        site=site.rstrip("/"),
    )


def as_markdown(grades: Grades, mark: Mark, site: str = "", lessons: Sequence[str] = ()) -> str:
    """The same to paste somewhere; of these `lessons`, of all where none is named."""
    lines = [f"**{_words(mark.who.name)}: {mark.points} of {mark.out_of} points**"]
    if mark.comment:
        lines.append(_words(mark.comment))
    if mark.row.quiz:
        lines.append(f"Quiz: {mark.row.quiz}. It does not count.")
    lines += [f"Could not be judged: {_words(told)}." for told in mark.row.unread]
    for lesson in grades.lessons:
        if lessons and lesson.number not in lessons:
            continue
        lines.append(f"### {lesson.title}")
        for asked in lesson.asked:
            result = mark.row.results[asked.exercise]
            earned, most = mark.earned[asked.exercise], mark.most[asked.exercise]
            points = f" ({in_digits(earned)} of {in_digits(most)})" if most else ""
            head = f"{SIGNS[result.state]} `{asked.answer}`: {SAID[result.state]}{points}."
            lines.append(f"{head} {_words(result.message)}".rstrip())
            if result.case:
                longest = max(map(len, re.findall("`+", result.case)), default=0)
                fence = "`" * max(3, longest + 1)
                lines.append(f"{fence}text\n{result.case}\n{fence}")
            if result.state not in (PASSED, ABSENT):
                place = f"{asked.lesson} · {asked.section}"
                link = f"[{place}]({site.rstrip('/')}/{asked.address})" if site else place
                lines.append(f"Go back to {link}.")
    return "\n\n".join(lines) + "\n"


def _words(text: str) -> str:
    """A text whose words are only words, while what stands between backticks is code."""
    parts = re.split(r"(`[^`\n]+`)", text)
    plain = [re.sub(r"([\\*_\[\]<>#&`])", r"\\\1", part) for part in parts[::2]]
    code = [*parts[1::2], ""]
    return "".join(a + b for a, b in zip(plain, code, strict=True))


def write_feedback(
    folder: Path, grades: Grades, marked: Sequence[Mark], site: str = ""
) -> list[Path]:
    """Write each student's page as NAME.html and NAME.md; the paths of the first."""
    folder.mkdir(exist_ok=True)
    names: set[str] = set()
    paths = []
    for mark in marked:
        name = whole = _file_name(mark.who.entry or mark.who.name)
        number = 2
        while name.casefold() in names:  # Windows and macOS take Ann and ann for one
            name, number = f"{whole}-{number}", number + 1
        names.add(name.casefold())
        path = folder / f"{name}.html"
        path.write_text(as_html(grades, mark, site), encoding="utf-8")
        (folder / f"{name}.md").write_text(as_markdown(grades, mark, site), encoding="utf-8")
        paths.append(path)
    return paths


def _file_name(text: str) -> str:
    """A name that every file system takes."""
    return re.sub(r'[\x00-\x1f/\\:*?"<>|]', "_", text)[:80]
