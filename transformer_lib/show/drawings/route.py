"""The route through the lessons, from cues to a translator. Lessons 00 and 19."""

from collections.abc import Mapping
from itertools import pairwise

from transformer_lib.base.lessons import LESSONS
from transformer_lib.show.drawings.marks import fitted
from transformer_lib.show.drawings.scene import (
    Arrow,
    Box,
    Frame,
    Number,
    Scene,
    Step,
    arrow,
    straight,
)

STAGES = (  # of each: what it is about, its colour, what a step says
    ("What attention is", "weight", "A weighted average, and who gets which share."),
    (
        "Before the Transformer",
        "recurrent",
        "A translator that reads word by word, without attention and with it.",
    ),
    ("The Transformer", "attention", "Part by part, until all of it stands."),
    ("What it can do", "embedding", "It learns, it translates, it is judged."),
)
WIDE, HIGH, GAP, LANE = 196, 50, 18, 252  # a box, the way to the next one, from stage to stage


def route(built: Mapping[str, str] | None = None) -> Scene:
    """Every lesson in its stage, read downwards and then to the right.

    `built` says what a reader has written in a lesson, `{"00": "softmax"}`; it stands in place of
    what the lesson is about.
    """
    built = built or {}
    parts, steps, frames, ends = [], [], [], []
    for i, (title, role, caption) in enumerate(STAGES):
        lessons = ((n, row) for n, row in LESSONS.items() if row.stage == title)
        boxes = [
            Box(
                f"lesson.{number}",
                LANE * i,
                (HIGH + GAP) * j,
                WIDE,
                HIGH,
                row.label,
                role,
                _short(built.get(number, row.told)),
                number,
            )
            for j, (number, row) in enumerate(lessons)
        ]
        frames.append(_around(f"stage.{i}", title, boxes))
        parts += [frames[-1], *boxes]
        parts += [straight(above, below, "bottom") for above, below in pairwise(boxes)]
        steps.append(Step((frames[-1].name, *(box.name for box in boxes)), caption))
        ends.append((boxes[0].y, boxes[-1].y))
    for (before, (_, last)), (after, (first, _)) in pairwise(zip(frames, ends, strict=True)):
        parts.append(_onwards(before, after, last, first))
    title = "The route, and what you have built" if built else "From cues to a translator"
    return fitted(title, parts, steps)


def _short(name: str, most: int = 22) -> str:
    return name if len(name) <= most else name[: most - 4] + " …"


def _around(name: str, title: str, boxes: list[Box]) -> Frame:
    """A frame with its title above the boxes."""
    top, bottom = -HIGH / 2 - 34, boxes[-1].y + HIGH / 2 + 14
    return Frame(name, boxes[0].x, (top + bottom) / 2, WIDE + 24, bottom - top, title)


def _onwards(frame: Frame, following: Frame, leaves: Number, arrives: Number) -> Arrow:
    """From a stage's last lesson to the first of the next."""
    start, end = frame.on("right", leaves - frame.y), following.on("left", arrives - following.y)
    between = (start[0] + end[0]) / 2
    return arrow(frame, following, start, (between, leaves), (between, arrives), end)
