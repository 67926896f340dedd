"""A property of a module as two calls, of which the second has one token changed. Lesson 19."""

from collections.abc import Sequence

from transformer_lib.show.drawings.marks import fitted
from transformer_lib.show.drawings.scene import (
    CELL,
    Box,
    Part,
    Scene,
    Step,
    label,
    operation,
    row,
    straight,
)

DOWN, GAP, WIDE, HIGH = 120, 46, 190, 54  # from call to call, between parts, a module


def asked_twice(tokens: Sequence[str], other: str) -> Scene:
    """A causal module gets these tokens, and then the same with another last one.

    The outputs before the last must stay as they were; the last one may differ.
    """
    last = len(tokens) - 1
    if last < 1:
        raise ValueError(f"{len(tokens)} tokens; it takes one that is changed and one before it")
    parts: list[Part] = []
    left = CELL[0] * len(tokens) + GAP + WIDE + GAP  # of the outputs
    for call, y, final in (("first", 0, tokens[last]), ("second", DOWN, other)):
        changed = final != tokens[last]
        kept = row(f"{call}.kept", 0, y, tokens[:last], "token", label="the module reads")
        ends = row(
            f"{call}.last",
            CELL[0] * last,
            y,
            [final],
            "changed" if changed else "token",
            strong=changed,
        )
        x = CELL[0] * len(tokens) + GAP + WIDE / 2
        asked = Box(f"{call}.module", x, y, WIDE, HIGH, "attend", "attention", "its code unread")
        outputs = [f"o{i}" for i in range(last)]
        answer = row(f"{call}.answer", left, y, outputs, "output", label="it gives")
        free = row(f"{call}.free", left + CELL[0] * last, y, [""], "norm")
        parts += [kept, ends, asked, answer, free]
        parts += [straight(ends, asked, "right"), straight(asked, answer, "right")]
    answers = {part.name: part for part in parts}
    first, second = answers["first.answer"], answers["second.answer"]
    equal = operation("equal", first.x, DOWN / 2, "=")
    parts += [equal, straight(first, equal, "bottom"), straight(second, equal, "top")]
    above, below = -HIGH / 2 - 16, DOWN + HIGH / 2 + 20
    parts += [
        label("once", CELL[0] * len(tokens) / 2, above, "ask once", bold=True),
        label("again", CELL[0] * len(tokens) / 2, below, "ask again", bold=True),
        label("must", first.x + 26, DOWN / 2 + 5, "must stay", anchor="start", role="aside"),
        label("may", left + CELL[0] * (last + 0.5), DOWN + 36, "may differ", role="aside"),
    ]
    return fitted(
        "A property, as two calls",
        parts,
        [
            Step(("first", "once"), "Ask once, and keep the outputs."),
            Step(("second", "again"), f"Ask again, with “{other}” in place of “{tokens[last]}”."),
            Step(
                ("first.answer", "second.answer", "equal", "must"),
                "The outputs before the change must be equal, whatever they are.",
            ),
        ],
    )
