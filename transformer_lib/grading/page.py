"""The teacher's page: what the class got wrong, most frequent first, and where the lesson has it.

One file that asks nothing of a network. What students wrote is shown as text, never as HTML.
"""

import re
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from transformer_lib.grading.classroom import Grades
from transformer_lib.grading.results import ABSENT, MISTAKE, OPEN, PASSED, UNJUDGED

SIGNS = {PASSED: "✓", MISTAKE: "✗", OPEN: "○", UNJUDGED: "!", ABSENT: "–"}
_TEMPLATES = Path(__file__).with_name("templates")
_STYLES = ("tokens.css", "site/site.css")  # those of the site, which needs more packages than this


def write_page(grades: Grades, path: Path, site: str = "") -> None:
    """Write the page; with `site`, where the lessons' web site stands, sections are links to it."""
    page = rendered("grades.html.j2", grades=grades, absent=ABSENT, site=site.rstrip("/"))
    path.write_text(page, encoding="utf-8")


def rendered(template: str, **values: object) -> str:
    """A page of grading, from its template, in the site's style."""
    pages = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    static = files("transformer_lib.publish") / "static"
    styles = [Markup((static / name).read_text(encoding="utf-8")) for name in _STYLES]
    return pages.get_template(template).render(signs=SIGNS, told=told, styles=styles, **values)


def told(message: str) -> Markup:
    """A message as HTML: what stands between backticks is code, and all else is only text."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(message))))
