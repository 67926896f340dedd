"""One update, round and round; and what of a Transformer can be missing where. Lesson 14."""

from dataclasses import replace

from jaxtyping import Int
from torch import Tensor, nn

from transformer_lib.show.drawings.layers import transformer
from transformer_lib.show.drawings.marks import fitted
from transformer_lib.show.drawings.scene import (
    Box,
    Number,
    Part,
    Scene,
    Step,
    arrow,
    label,
    straight,
)
from transformer_lib.show.drawings.stack import shape_of

WIDE, HIGH, ACROSS, DOWN = 210, 60, 330, 170  # a box, and the way to the next one
FAULTS = (  # of each: what is missing, at which part of the drawing, and on which side of it
    ("positions", "encoder.positions", "left"),
    ("residual", "encoder.layers.0.feed_forward.add", "right"),
    ("√d_head", "encoder.layers.0.self_attn", "left"),
    ("causal mask", "decoder.layers.0.self_attn", "left"),
    ("shift of the target", "decoder.ids", "left"),
    ("padding mask", "decoder.layers.0.cross_attn", "left"),
    ("norm", "encoder.norm", "left"),
)


def training_loop(
    src: Int[Tensor, "batch source"],
    tgt_in: Int[Tensor, "batch target"],
    vocab_size: int,
) -> Scene:
    """What an update does with a batch, a box for each line of the loop, in their order."""
    shapes = shape_of(src), shape_of(tgt_in)
    batch = _box("batch", 0, 0, "batch", "token", "src, tgt_in, tgt_out")
    model = _box("model", 1, 0, "model", "attention", "its parameters: θ")
    loss = _box("loss", 2, 0, "loss", "output", "one number")
    back = _box("gradient", 2, 1, "loss.backward()", "norm", "a gradient for each parameter")
    clip = _box("clip", 1, 1, "clip_grad_norm_", "norm", "length at most 1")
    step = _box("step", 0, 1, "optimizer.step()", "norm", "θ moves, at this update's rate")
    way = clip.on("top")[0] - 60
    logits = shape_of(tgt_in)[:-1] + f", {vocab_size})"
    around = batch.on("top"), (batch.x, -84), (loss.x, -84), loss.on("top")
    home = step.on("top"), (step.x, DOWN / 2), (way, DOWN / 2), model.on("bottom", -60)
    parts = [
        batch,
        label("reads", ACROSS / 2, -14, "src, tgt_in", size=14),
        straight(batch, model, "right"),
        model,
        label("logits", ACROSS * 1.5, -14, "logits", size=14),
        label("logits.shape", ACROSS * 1.5, 20, logits, size=13, spoken=False),
        straight(model, loss, "right"),
        label("says", ACROSS, -100, "tgt_out: what it should say", size=14),
        arrow(batch, loss, *around),
        loss,
        straight(loss, back, "bottom"),
        back,
        straight(back, clip, "left"),
        clip,
        straight(clip, step, "left"),
        step,
        arrow(step, model, *home, role="stream"),
        label("again", ACROSS / 2 - 30, DOWN / 2 - 16, "new θ", size=14),
    ]
    steps = [
        Step(("batch",), f"A batch: src {shapes[0]}, tgt_in and tgt_out {shapes[1]}."),
        Step(
            ("batch", "model", "reads"),
            "The model reads the source, and the target shifted by one position.",
        ),
        Step(
            ("model", "loss", "logits", "says", "batch>loss"), "Its logits meet what it should say."
        ),
        Step(
            ("loss", "gradient"),
            "zero_grad forgets the old gradients. Then backwards: how the loss would change "
            "with each parameter.",
        ),
        Step(
            ("gradient", "clip"),
            "All gradients together are one vector; it is cut to a length of at most 1.",
        ),
        Step(("clip", "step"), "The optimizer decides how far each parameter moves."),
        Step(("step", "model", "again", "step>model"), "New parameters, and the next batch."),
    ]
    return fitted("One update", parts, steps)


def _box(name: str, column: int, line: int, text: str, role: str, told: str) -> Box:
    return Box(name, ACROSS * column, DOWN * line, WIDE, HIGH, text, role, told)


def faults(
    model: nn.Module, src: Int[Tensor, "1 source"], tgt_in: Int[Tensor, "1 target"]
) -> Scene:
    """The Transformer, a number at each part that lesson 14 takes out; the last is in no box."""
    whole = transformer(model, src, tgt_in)
    kept = [part for part in whole.parts if not part.name.startswith("legend")]
    places = {part.name: part for part in kept}
    left = min(part.on("left")[0] for part in kept if isinstance(part, Box)) + 14
    marked, names, steps = [], [], []
    for number, (name, where, side) in enumerate(FAULTS, 1):
        marked.append(_badge(f"fault.{number}", *_corner(places[where], side), number))
        names += _named(number, name, left)
        lit = (where, f"fault.{number}", f"name.{number}")
        steps.append(Step(lit, f"{number}: the model without {name}."))
    last = len(FAULTS) + 1
    names += _named(last, "warm-up (in the rate)", left)
    steps.append(Step((f"name.{last}",), f"{last}: warm-up, which is in no box."))
    title = label("faults", left - 14, 26, "taken out, one at a time", anchor="start", bold=True)
    return fitted("What is broken where", [*kept, *marked, title, *names], steps)


def _corner(part: Part, side: str) -> tuple[Number, Number]:
    """Beside a small part, on the upper corner of a box."""
    if part.height > 30:
        return part.on(side)[0], part.on("top")[1] + 2
    return part.on(side)[0] + (24 if side == "right" else -24), part.y


def _badge(name: str, x: Number, y: Number, number: int) -> Box:
    return Box(name, x, y, 28, 26, str(number), "wrong")


def _named(number: int, text: str, left: Number) -> list[Part]:
    """A line of the list, which has three columns, above the encoder."""
    column, line = divmod(number - 1, 3)
    x, y = left + 180 * column, 66 + 40 * line
    words = label(f"name.{number}.words", x + 26, y, text, anchor="start")
    return [replace(_badge(f"name.{number}", x, y, number)), words]
