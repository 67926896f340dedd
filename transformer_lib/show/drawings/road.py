"""The steps of one lesson, as a row of boxes."""

from itertools import pairwise

from transformer_lib.show.drawings.marks import fitted, text_width
from transformer_lib.show.drawings.scene import Arrow, Box, Scene, arrow, straight

HIGH, GAP, ACROSS = 52, 34, 900  # of a box, between two, of a row


def road_map(*steps: tuple[str, str]) -> Scene:
    """What the lesson does, step by step: of each its name and what it gives, in a few words."""
    boxes, x, y = [], 0.0, 0.0
    for number, (name, told) in enumerate(steps, 1):
        title = f"{number} {name}"
        width = 28 + max(text_width(title, 15, bold=True), text_width(told, 13))
        if x + width > ACROSS:
            x, y = 0.0, y + HIGH + GAP
        boxes.append(Box(f"step.{number}", x + width / 2, y, width, HIGH, title, "token", told))
        x += width + GAP
    ways = [_way(before, after) for before, after in pairwise(boxes)]
    return fitted("The road map of this lesson", [*boxes, *ways])


def _way(before: Box, after: Box) -> Arrow:
    if before.y == after.y:
        return straight(before, after, "right")
    between = (before.y + after.y) / 2
    start, end = before.on("bottom"), after.on("top")
    return arrow(before, after, start, (start[0], between), (end[0], between), end)
