"""A stored drawing says in words what it shows, runs nothing, and asks nobody for anything."""

import re

ACTIVE = re.compile(r"<script|<foreignObject|\son\w+\s*=|javascript:", re.I)
ELSEWHERE = re.compile(
    r"""(href|src)\s*=\s*["'](?!#|data:)|url\(\s*["']?(?!#|data:)|@import|<!ENTITY|<\?xml-stylesheet""",
    re.I,
)


def faults(data):
    """What is wrong with an output that holds an SVG image."""
    svg, told = data["image/svg+xml"], data.get("text/plain", "")
    wrong = []
    if len(told) <= 20 or told.startswith("<"):
        wrong.append("no alt text in text/plain")
    if ACTIVE.search(svg):
        wrong.append("it could run something")
    if ELSEWHERE.search(svg):
        wrong.append("it asks for something from elsewhere")
    if "viewBox" not in svg:
        wrong.append("no viewBox, so no size")
    return wrong
