"""Masks as grids, sentence by sentence, and the additive score as a path. Lesson 03."""

from collections.abc import Mapping, Sequence

from transformer_lib.masks import Mask
from transformer_lib.show.drawings.marks import fitted
from transformer_lib.show.drawings.scene import (
    CELL,
    Box,
    Scene,
    Step,
    arrow,
    beside,
    label,
    operation,
    row,
    straight,
)

BETWEEN = 74  # the grids of two sentences


def mask_grids(masks: Mapping[str, Mask], queries: Sequence[str], keys: Sequence[str]) -> Scene:
    """Which key each query may attend to: T may, F may not; queries down, keys across.

    A mask is (sentences, queries, keys). Where it has a single row for all queries, that row is drawn
    and its repetitions are grey: broadcasting makes them.
    """
    return beside(
        "Masks of a batch",
        *(_grids(name, mask, queries, keys) for name, mask in masks.items()),
        gap=40,
    )


def _grids(name: str, mask: Mask, queries: Sequence[str], keys: Sequence[str]) -> Scene:
    given = mask.size(1)
    parts = []
    for b, sentence in enumerate(mask.expand(-1, len(queries), -1)):
        top = b * (len(queries) * CELL[1] + BETWEEN)
        parts.append(label(f"sentence.{b}", 0, top - 46, f"sentence {b}", anchor="start", size=14))
        for j, key in enumerate(keys):
            place = (j + 0.5) * CELL[0]
            parts.append(label(f"key.{b}.{j}", place, top - 16, key, spoken=False, size=13))
        for i, allowed in enumerate(sentence.tolist()):
            y = top + (i + 0.5) * CELL[1]
            cells = ["T" if may else "F" for may in allowed]
            repeated = i >= given
            parts.append(
                row(
                    f"row.{b}.{i}",
                    0,
                    y,
                    cells,
                    "token" if repeated else "weight",
                    label="" if repeated else f"{queries[i]}:" if given > 1 else "all queries:",
                    shares=() if repeated else tuple(0.25 * may for may in allowed),
                )
            )
            parts.append(
                label(f"query.{b}.{i}", -8, y, queries[i], anchor="end", spoken=False, size=13)
            )
    return fitted(f"{name} {tuple(mask.shape)}", parts, margin=12)


def additive_path() -> Scene:
    """The additive score: query and key are projected, added, bent by tanh, and weighed."""
    q = Box("q", 0, 0, 112, 46, "query q", "query", "3 entries")
    k = Box("k", 0, 110, 112, 46, "key k", "key", "2 entries")
    to_q = Box("W_q", 170, 0, 112, 46, "W_q q", "query", "h entries")
    to_k = Box("W_k", 170, 110, 112, 46, "W_k k", "key", "h entries")
    add = operation("add", 290, 55, "+")
    bend = Box("tanh", 400, 55, 112, 46, "tanh", "score", "h entries")
    score = Box("score", 722, 55, 112, 46, "score", "output", "one number")
    weigh = Box("w_v", 560, 55, 140, 46, "w_v", "score", "a weighted sum")
    flow = [
        straight(q, to_q, "right", role="query"),
        straight(k, to_k, "right", role="key"),
        arrow(to_q, add, to_q.on("right"), (add.x, to_q.y), add.on("top"), role="query"),
        arrow(to_k, add, to_k.on("right"), (add.x, to_k.y), add.on("bottom"), role="key"),
        straight(add, bend, "right"),
        straight(bend, weigh, "right"),
        straight(weigh, score, "right"),
    ]
    steps = (
        Step(("q", "k", "W_q", "W_k"), "Two matrices bring query and key to the same width, h."),
        Step(
            ("W_q", "W_k", "add", "tanh"), "The two vectors are added, and tanh bends each entry."
        ),
        Step(("tanh", "w_v", "score"), "w_v weighs the h entries: one number, the score."),
    )
    return fitted("The additive score", [q, to_q, k, to_k, add, bend, weigh, score, *flow], steps)
