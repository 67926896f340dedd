"""The residual stream with its norms, and a feed-forward network as what it looks for and writes.

Lesson 11.
"""

from itertools import pairwise

from jaxtyping import Float
from torch import Tensor

from transformer_lib.show.drawings.marks import fitted
from transformer_lib.show.drawings.marks import number as written
from transformer_lib.show.drawings.scene import (
    CELL,
    Arrow,
    Box,
    Part,
    Scene,
    Step,
    Vector,
    arrow,
    column,
    fork,
    label,
    operation,
    row,
    straight,
)

WAYS = {  # of each row: what it says of the norm, and its formula
    "none": ("no norm", "x + f(x)"),
    "post": ("post-norm: on the stream", "LN(x + f(x))"),
    "pre": ("pre-norm: beside the stream", "x + f(LN(x))"),
}
SUBLAYERS = (("self_attn", "attention", "attention"), ("feed_forward", "network", "feed-forward"))
FIRST, REACH, APART = 120, 220, 330  # to the first dot, from a dot to its sum, from dot to dot
ABOVE, LANE = 78, 186  # from the stream to a sublayer, from a stream to the next
RISE, READS, BETWEEN = 80, 96, 24  # from pattern to pattern, to the first one, between cells


def norms_on_the_stream() -> Scene:
    """A layer lying on its side, three times: without norms, in post-norm and in pre-norm."""
    parts: list[Part] = []
    for i, (way, (told, formula)) in enumerate(WAYS.items()):
        parts += _layer(way, i * LANE, f"{told}, {formula}")
    steps = [
        Step(("none",), "Without norms: what each sublayer says is added to the stream."),
        Step(("post",), "Post-norm: each sum is normed, so the stream itself goes through norms."),
        Step(
            ("pre",), "Pre-norm: only what a sublayer reads is normed. The stream is only added to."
        ),
    ]
    return fitted("The residual stream, and where the norms stand", parts, steps, margin=12)


def _layer(way: str, y: float, told: str) -> list[Part]:
    """One layer whose stream is a straight line at this height."""
    heading = label(f"{way}.title", -42, y - ABOVE - 42, told, anchor="start", bold=True)
    parts: list[Part] = [heading]
    start = Box(f"{way}.x", 0, y, 84, 44, "x", "output")
    on_stream, beside = [start], []
    for i, (name, text, role) in enumerate(SUBLAYERS):
        here = fork(f"{way}.{name}.in", FIRST + i * APART, y)
        box = Box(f"{way}.{name}", here.x + REACH / 2, y - ABOVE, 138, 44, text, role)
        add = operation(f"{way}.{name}.add", here.x + REACH, y, "+")
        on_stream += [here, add]
        beside.append(box)
        last = here
        if way == "pre":
            last = Box(f"{way}.norm{i + 1}", here.x, y - ABOVE / 2, 64, 26, "norm", "norm")
            beside += [last, straight(here, last, "top", head=False)]
        elif way == "post":
            on_stream.append(Box(f"{way}.norm{i + 1}", add.x + 60, y, 64, 26, "norm", "norm"))
        beside.append(arrow(last, box, last.on("top"), (last.x, box.y), box.on("left")))
        beside.append(arrow(box, add, box.on("right"), (add.x, box.y), add.on("top")))
    end = FIRST + len(SUBLAYERS) * APART + 66
    on_stream.append(Box(f"{way}.output", end, y, 92, 44, "output", "output"))
    return [*parts, *on_stream, *beside, *map(_stream, on_stream, on_stream[1:])]


def _stream(before: Part, after: Part) -> Arrow:
    head = isinstance(after, Box) and after.height > 30
    return straight(before, after, "right", role="stream", head=head)


def looks_and_writes(
    x: Float[Tensor, " d_model"],
    W1: Float[Tensor, "d_model d_ff"],
    b1: Float[Tensor, " d_ff"],
    W2: Float[Tensor, "d_ff d_model"],
    token: str,
) -> Scene:
    """A network and one token: of each hidden entry its pattern, its size, and what it writes."""
    before = x @ W1 + b1
    kept = before.clamp(min=0)
    middle, wide = (len(b1) - 1) / 2 * RISE, CELL[0] * len(x)
    source = column("x", 0, middle - CELL[1] * len(x) / 2, _cells(x), "token", label=f"x, {token}")
    split = fork("x.out", CELL[0] / 2 + 26, middle)
    named = label("x.title", 0, source.on("top")[1] - 18, token, bold=True, spoken=False)
    parts: list[Part] = [source, named, split, straight(source, split, "right", head=False)]
    lefts, at = {}, READS
    for name, (text, width) in {
        "reads": ("pattern: a column of W1", wide),
        "before": ("x · + b1", CELL[0]),
        "kept": ("cut at 0", CELL[0]),
        "writes": ("writes: a row of W2", wide),
        "says": ("h times the row", wide),
    }.items():
        lefts[name] = at
        title = label(f"{name}.title", at + width / 2, -38, text, size=14, role="aside")
        parts.append(title)
        at += width + BETWEEN
    says = []
    for j in range(len(b1)):
        y = j * RISE
        reads = row(f"reads.{j}", lefts["reads"], y, _cells(W1[:, j]), "key", label=f"pattern {j}")
        sums = row(f"before.{j}", lefts["before"], y, _cells(before[j : j + 1]), "score")
        look = {"label": f"h{j}", "strong": True}
        size = row(f"kept.{j}", lefts["kept"], y, _cells(kept[j : j + 1]), "weight", **look)
        writes = row(f"writes.{j}", lefts["writes"], y, _cells(W2[j]), "value", label=f"row {j}")
        line = row(f"says.{j}", lefts["says"], y, _cells(kept[j] * W2[j]), "output")
        lane = [reads, sums, size, writes, line]
        says.append(line)
        parts += [*lane, label(f"kept.{j}.name", size.x, y + 26, f"h{j}", size=14, spoken=False)]
        parts += [_to_pattern(split, reads), *(straight(a, b, "right") for a, b in pairwise(lane))]
    place = "written", lefts["says"], len(b1) * RISE - 16
    total = row(*place, _cells(kept @ W2), "output", strong=True, label="written")
    beside = total.on("left")[0] - 12, total.y
    parts += [
        total,
        label("written.name", *beside, "their sum is written", anchor="end", spoken=False),
        straight(says[-1], total, "bottom"),
    ]
    steps = [
        Step(
            ("x", "reads", "before"),
            "Each pattern meets the token: multiply entry by entry, add up, add b1.",
        ),
        Step(("before", "kept"), "The cut: what is negative becomes 0, what is positive stays."),
        Step(("kept", "writes", "says"), "Each hidden entry writes its row of W2, times its size."),
        Step(("says", "written"), "What is written is the sum of these rows."),
    ]
    return fitted(f"The network and the token {token}", parts, steps, margin=12)


def _to_pattern(split: Part, reads: Vector) -> Arrow:
    if reads.y == split.y:
        return straight(split, reads, "right")
    side = "top" if reads.y < split.y else "bottom"
    return arrow(split, reads, split.on(side), (split.x, reads.y), reads.on("left"))


def _cells(entries: Float[Tensor, " n"]) -> list[str]:
    return [written(entry) for entry in entries.tolist()]
