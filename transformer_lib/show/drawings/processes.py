"""One update that two processes make together. Lesson 17."""

from collections.abc import Sequence

from transformer_lib.show.drawings.marks import fitted
from transformer_lib.show.drawings.scene import (
    Box,
    Frame,
    Number,
    Part,
    Scene,
    Step,
    Vector,
    arrow,
    label,
    straight,
)

LANES, ROW, TOKEN = (-98, 98), 30, (9, 20)  # of the processes, from row to row, a token of a row
MODEL, BACK, SUM, STEP = 120, 300, 518, 718  # how far right of the dealt rows the columns stand
GRADIENTS = "ab"  # of process 0, of process 1


def shared_update(lengths: Sequence[int]) -> Scene:
    """A batch whose rows have so many tokens, dealt to two; gradients, weighed and added; one step.

    Raises ValueError where the second process would get no row.
    """
    if len(lengths) < 2:
        raise ValueError(f"a batch of {len(lengths)} rows: two processes need two")
    wide, high = max(lengths) * TOKEN[0], ROW * len(lengths)
    whole = Frame("batch", wide / 2, 0, wide + 24, high + 16)
    words = f"a batch: {sum(lengths)} tokens"
    title = label("batch.title", whole.x, -high / 2 - 24, words, bold=True)
    weighed = " + ".join(f"{n}/{sum(lengths)} · {g}" for n, g in _weighed(lengths))
    added = Box(
        "add",
        2 * wide + 116 + SUM,
        0,
        200,
        LANES[1] - LANES[0] + 74,
        "all-reduce",
        "attention",
        weighed,
    )
    rows = [
        part
        for i in range(len(lengths))
        for part in _row(f"batch.{i}", 0, ROW * (i - (len(lengths) - 1) / 2), lengths, i)
    ]
    lanes = [part for p in (0, 1) for part in _lane(p, lengths, whole, added)]
    parts = [whole, title, *rows, *lanes, added]
    return fitted("One update, two processes", parts, _steps(lengths))


def _weighed(lengths: Sequence[int]) -> list[tuple[int, str]]:
    """The tokens of each process, and what its gradient is called."""
    return [(sum(lengths[p::2]), GRADIENTS[p]) for p in (0, 1)]


def _row(name: str, left: Number, y: Number, lengths: Sequence[int], i: int) -> list[Part]:
    """Row i of the batch: its tokens in the colour of their process, then its padding in grey."""
    wide, high = TOKEN
    n, rest = lengths[i], max(lengths) - lengths[i]
    tokens = Vector(name, left + wide * n / 2, y, wide * n, high, ("",) * n, f"head {i % 2}")
    x = left + wide * (n + rest / 2)
    padding = Vector(f"{name}.pad", x, y, wide * rest, high, ("",) * rest, "head 2")
    return [tokens, padding] if rest else [tokens]


def _lane(p: int, lengths: Sequence[int], whole: Frame, added: Box) -> list[Part]:
    """What process p does, from its rows to its step."""
    y, mine, wide = LANES[p], range(p, len(lengths), 2), max(lengths) * TOKEN[0]
    out = -1 if p == 0 else 1  # the side of the lane that looks away from the other
    left = wide + 116  # of the dealt rows
    right = left + wide
    frame = Frame(f"dealt.{p}", left + wide / 2, y, wide + 24, ROW * len(mine) + 16)
    model = Box(f"model.{p}", right + MODEL, y, 130, 56, "model", "embedding", "its copy of θ")
    told = "loss.backward()", "norm", f"gradient {GRADIENTS[p]}"
    back = Box(f"back.{p}", right + BACK, y, 166, 56, *told)
    step = Box(f"step.{p}", right + STEP, y, 130, 56, "step()", "norm", "the same θ")
    tokens = f"process {p}: {sum(lengths[p::2])} tokens"
    under = y - out * (frame.height / 2 + 14)
    side, way, half = (
        ("top", "bottom")[p],
        y + out * 62,
        (whole.on("right")[0] + frame.on("left")[0]) / 2,
    )
    dealing = whole.on("right", y / 4), (half, y / 4), (half, y), frame.on("left")
    return [
        frame,
        *(
            part
            for at, i in enumerate(mine)
            for part in _row(
                f"dealt.{p}.{i}", left, y + ROW * (at - (len(mine) - 1) / 2), lengths, i
            )
        ),
        arrow(whole, frame, *dealing),
        label(f"process.{p}", frame.x, under, tokens, size=14, bold=True),
        straight(frame, model, "right"),
        model,
        straight(model, back, "right"),
        back,
        straight(back, added, "right"),
        straight(added, step, "right"),
        step,
        arrow(
            step, model, step.on(side), (step.x, way), (model.x, way), model.on(side), role="stream"
        ),
        label(f"again.{p}", (model.x + step.x) / 2, way + out * 14, "new θ", size=14),
    ]


def _steps(lengths: Sequence[int]) -> list[Step]:
    total = sum(lengths)
    sums = " + ".join(f"{n} times {g}" for n, g in _weighed(lengths)) + f", divided by {total}"
    home = "step.0>model.0", "step.1>model.1"
    return [
        Step(("batch",), f"A batch of {len(lengths)} rows: {total} real tokens; grey is padding."),
        Step(("batch", "dealt", "process"), "Its rows are dealt out like cards."),
        Step(("dealt", "model", "process"), "Each process has the whole model, with the same θ."),
        Step(("model", "back"), "Each has its own mean loss, and so its own gradient."),
        Step(("back", "add"), f"Both send theirs, and both get the sum: {sums}."),
        Step(("add", "step"), "With the same gradient both make the same step."),
        Step(
            ("step", "model", "again", *home),
            "So θ stays the same in both, and need not be sent again.",
        ),
    ]
