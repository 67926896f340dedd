"""The teacher's page: what the class got wrong, most frequent first, and where the lesson has it.

One file that asks nothing of a network. What students wrote is shown as text, never as HTML.
"""

import re
from pathlib import Path

from markupsafe import Markup, escape

from transformer_lib.grading.classroom import ABSENT, MISTAKE, OPEN, PASSED, UNJUDGED, Grades
from transformer_lib.publish import render

SIGNS = {PASSED: "✓", MISTAKE: "✗", OPEN: "○", UNJUDGED: "!", ABSENT: "–"}


def write_page(grades: Grades, path: Path, site: str = "") -> None:
    """Write the page; with `site`, where the lessons' web site stands, sections are links to it."""
    page = render.render(
        "grades.html.j2",
        grades=grades,
        signs=SIGNS,
        site=site.rstrip("/"),
        told=told,
        styles=[render.static("tokens.css"), render.static("site/site.css")],
    )
    path.write_text(page, encoding="utf-8")


def told(message: str) -> Markup:
    """A message as HTML: what stands between backticks is code, and all else is only text."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(message))))
