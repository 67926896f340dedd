"""What has to wait for what: a decoder in training and in prediction, box by box. Lesson 12."""

from collections.abc import Sequence
from itertools import pairwise

from transformer_lib.show.drawings.marks import fitted, slanted
from transformer_lib.show.drawings.scene import (
    Box,
    Part,
    Scene,
    arrow,
    beside,
    straight,
)

WIDE, HIGH, APART, RISE = 92, 46, 134, 92  # of a box, from position to position, from row to row


def what_waits(reads: Sequence[str], says: Sequence[str], layers: int = 2) -> Scene:
    """A decoder over these tokens, twice, and in each box the first moment at which it can run.

    Moments are counted from 0. A box of a layer needs those below it, at its own position and at all
    earlier ones. In prediction a token needs the word that was said at the position before.
    """
    if len(reads) != len(says):
        raise ValueError(f"{len(reads)} tokens to read and {len(says)} to say: one for each")
    training = _decoder("training", reads, says, layers, feeds=False)
    prediction = _decoder("prediction", reads, says, layers, feeds=True)
    return beside("What has to wait", training, prediction, gap=40)


def _decoder(
    title: str, reads: Sequence[str], says: Sequence[str], layers: int, *, feeds: bool
) -> Scene:
    boxes: dict[str, Box] = {}
    for t, (token, word) in enumerate(zip(reads, says, strict=True)):
        x = t * APART
        boxes[f"reads.{t}"] = Box(f"reads.{t}", x, 0, WIDE, HIGH, token, "embedding", "is read")
        for n in range(layers):
            moment = n + feeds * t * layers
            told = f"layer {n}", "attention", f"moment {moment}"
            boxes[f"layer.{n}.{t}"] = Box(f"layer.{n}.{t}", x, -RISE * (n + 1), WIDE, HIGH, *told)
        top = -RISE * (layers + 1)
        boxes[f"says.{t}"] = Box(f"says.{t}", x, top, WIDE, HIGH, word, "output", "is said")
    flow: list[Part] = []
    for t in range(len(reads)):
        column = [f"reads.{t}", *(f"layer.{n}.{t}" for n in range(layers)), f"says.{t}"]
        for below, above in pairwise(column):
            flow.append(straight(boxes[below], boxes[above], "top"))
            if above.startswith("layer"):
                kind = below.rpartition(".")[0]
                flow += _earlier(boxes, kind, above, t)
        if feeds and t:
            said, read = boxes[f"says.{t - 1}"], boxes[f"reads.{t}"]
            between = (said.x + read.x) / 2
            way = said.on("right"), (between, said.y), (between, read.y), read.on("left")
            flow.append(arrow(said, read, *way, role="changed", strong=True))
    return fitted(title, [*boxes.values(), *flow], margin=12)


def _earlier(boxes: dict[str, Box], kind: str, above: str, t: int) -> list[Part]:
    """A box hears those below it at every earlier position."""
    found: list[Part] = []
    for j in range(t):
        below = f"{kind}.{j}"
        start = boxes[below].on("top", 14)
        stop = boxes[above].on("bottom", -12 * (t - j))
        found += slanted(f"{below}>{above}", start, stop, "flow")
    return found
