"""Training beside prediction: row t of the one is step t of the other. Lesson 12."""

from collections.abc import Sequence
from itertools import pairwise

from transformer_lib.show.drawings.marks import fitted
from transformer_lib.show.drawings.scene import (
    CELL,
    Box,
    Frame,
    Number,
    Scene,
    Step,
    Vector,
    label,
    row,
    straight,
)

ROW, GAP, BETWEEN = 46, 24, 70  # from row to row, from a row to its word, from life to life


def two_lives(reads: Sequence[str], says: Sequence[str]) -> Scene:
    """A decoder that reads these tokens and has to say those: all at once, and one by one."""
    if len(reads) != len(says):
        raise ValueError(f"{len(reads)} tokens to read and {len(says)} to say: one for each")
    rows, width = range(len(says)), CELL[0] * (len(reads) + 1) + GAP
    training = [_step("training", reads, says, t, 0, len(reads)) for t in rows]
    prediction = [_step("prediction", reads, says, t, width + BETWEEN, t + 1) for t in rows]
    hidden = [
        row(f"training.{t}.hidden", CELL[0] * (t + 1), ROW * t, [""] * (len(reads) - t - 1), "norm")
        for t in rows[:-1]
    ]
    ends = [*hidden, training[-1][0]]
    middle, height = ROW * rows[-1] / 2, ROW * rows[-1] + 56
    return fitted(
        "Two lives",
        [
            Frame("pass", width / 2, middle, width + 32, height),
            label("training", width / 2, -48, "training: all rows in one pass", bold=True),
            *(part for pair in training for part in pair),
            *hidden,
            *(straight(end, word, "right") for end, (_, word) in zip(ends, training, strict=True)),
            label(
                *("prediction", width * 1.5 + BETWEEN, -48, "prediction: a pass for each row"),
                bold=True,
            ),
            *(part for pair in prediction for part in pair),
            *(straight(*pair, "right") for pair in prediction),
            *(straight(one[1], other[0], "bottom") for one, other in pairwise(prediction)),
        ],
        [
            Step(
                (f"training.{t}", f"prediction.{t}"),
                f"Row {t} may attend to “{' '.join(reads[: t + 1])}”, and has to say “{word}”.",
            )
            for t, word in enumerate(says)
        ],
    )


def _step(
    life: str, reads: Sequence[str], says: Sequence[str], t: int, left: Number, cells: int
) -> tuple[Vector, Box]:
    """What a step may attend to, and the word to say: behind so many cells."""
    attended = row(
        f"{life}.{t}.seen", left, ROW * t, reads[: t + 1], "weight", label="may attend to"
    )
    x = left + CELL[0] * (cells + 0.5) + GAP
    return attended, Box(f"{life}.{t}.word", x, ROW * t, CELL[0], CELL[1], says[t], "output")
