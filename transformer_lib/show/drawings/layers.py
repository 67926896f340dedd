"""Encoder layer, decoder layer and the whole Transformer, drawn from modules that have run.

Names come from the module tree, shapes from the run, and so does the place of every norm. Lessons
11 to 13.
"""

from collections.abc import Sequence

from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lib.positions import NoPositions
from transformer_lib.show.drawings.marks import ALONE, MIXING, circle, fitted
from transformer_lib.show.drawings.scene import (
    CELL,
    Box,
    Frame,
    Number,
    Part,
    Scene,
    Shape,
    Step,
    arrow,
    label,
    row,
    straight,
)
from transformer_lib.show.drawings.stack import (
    BESIDE,
    HIGH,
    WIDE,
    Stack,
    hear_shapes,
    inside,
    shape_of,
)

ENCODER, BUS, DECODER = 338, 450, 842  # where the streams stand, and the way of the memory
SAYS = {
    "self_attn": "every position hears all that it may attend to: here positions mix.",
    "cross_attn": "the queries come from the target, keys and values from the memory.",
    "feed_forward": "each position by itself.",
}


def encoder_layer(module: nn.Module, x: Float[Tensor, "batch source d_model"]) -> Scene:
    """One encoder layer as it ran on x: the module says where its norms stand."""
    stack = _stack_of_one(x, hear_shapes(module, x), ENCODER)
    _layer(stack, module, "")
    return _finished(f"Encoder layer, {_order(module)}", stack, _with_norms(module))


def decoder_layer(
    module: nn.Module,
    x: Float[Tensor, "batch target d_model"],
    memory: Float[Tensor, "batch source d_model"],
) -> Scene:
    """One decoder layer as it ran on x and the memory, which stands where Bahdanau's states do."""
    stack = _stack_of_one(x, hear_shapes(module, x, memory), DECODER)
    steps = _layer(stack, module, "")
    (cross,) = stack.boxes("cross_attn")
    box = Box("memory", ENCODER, cross.y, 150, HIGH, "memory", "output", shape_of(memory))
    stack.parts += [box, straight(box, cross, "right", role="output")]
    return _finished(f"Decoder layer, {_order(module)}", stack, steps)


def _order(layer: nn.Module) -> str:
    return "pre-norm" if layer.add_norm1.norm_first else "post-norm"


def _stack_of_one(x: Tensor, shapes: dict[str, str], place: Number) -> Stack:
    stack = Stack(place, 0, shapes)
    stack.climb(Box("x", place, 42, 150, HIGH, "x", "output", shape_of(x)))
    return stack


def _finished(title: str, stack: Stack, steps: list[Step]) -> Scene:
    box = Box("output", stack.x, stack.y - 42, 150, HIGH, "output", "output", stack.shapes[""])
    stack.climb(box)
    first = Step(("x",), "One vector a position comes in.")
    last = Step(("output",), "One vector a position goes out, as wide as it came in.")
    return fitted(title, stack.parts, [first, *steps, last])


def transformer(
    model: nn.Module,
    src: Int[Tensor, "1 source"],
    tgt_in: Int[Tensor, "1 target"],
    source: Sequence[str] = (),
    target: Sequence[str] = (),
) -> Scene:
    """The whole Transformer as it ran on one sentence, from ids to probabilities.

    Every box is a module of the model, with its name and the shape that it put out. `source` and
    `target` are the words of the ids.
    """
    shapes = hear_shapes(model, src, tgt_in)
    encoder, decoder = Stack(ENCODER, 0, shapes), Stack(DECODER, 0, shapes)
    steps = _side(encoder, model.encoder, "encoder", src, source)
    memory = encoder.climb(
        Box("memory", ENCODER, encoder.y - 36, 150, HIGH, "memory", "output", shapes["encoder"])
    )
    steps.append(
        Step(
            ("memory",),
            "The memory: the output of the encoder. Every decoder layer reads it.",
        )
    )
    steps += _side(decoder, model.decoder, "decoder", tgt_in, target)
    for part in decoder.boxes("cross_attn"):
        way = memory.on("right"), (BUS, memory.y), (BUS, part.y), part.on("left")
        decoder.parts.append(arrow(memory, part, *way, role="output"))
    steps += _to_probabilities(decoder, shapes[""])
    legend = _legend(ENCODER - BESIDE - WIDE, decoder.y)
    return fitted("The Transformer", [*encoder.parts, *decoder.parts, *legend], steps)


def _side(
    stack: Stack, side: nn.Module, name: str, ids: Tensor, words: Sequence[str]
) -> list[Step]:
    """Encoder or decoder: ids, embedding, positions, layers, and the norm that ends them."""
    _ids(stack, name, ids, words)
    stack.module(f"{name}.embedding", "embedding", "embedding", "13")
    steps = [
        Step((f"{name}.ids",), f"The {name} is given ids: numbers for tokens."),
        Step((f"{name}.embedding",), "Embedding: each id becomes a vector."),
    ]
    if not isinstance(side.positions, NoPositions):
        stack.added(f"{name}.positions", "positions", "10")
        said = "Positions: the code of each position is added; the stream begins."
        steps.append(Step((f"{name}.positions",), said))
    stack.y -= 26
    for i, layer in enumerate(side.layers):
        steps += _layer(stack, layer, f"{name}.layers.{i}")
    if isinstance(side.norm, nn.LayerNorm):
        stack.norm(f"{name}.norm")
        stack.y -= 10
        steps.append(Step((f"{name}.norm",), "Pre-norm leaves the sum unnormed: one last norm."))
    return steps


def _ids(stack: Stack, name: str, ids: Tensor, words: Sequence[str]) -> None:
    cells = [str(number) for number in ids[0].tolist()]
    left = stack.x - CELL[0] * len(cells) / 2
    told = f"{name} ids"
    stack.climb(row(f"{name}.ids", left, 28, cells, "token", label=told))
    stack.parts += [
        label(f"{name}.ids.word{i}", left + CELL[0] * (i + 0.5), 54, word)
        for i, word in enumerate(words)
    ]


def _layer(stack: Stack, layer: nn.Module, prefix: str) -> list[Step]:
    """Draw a layer on the stack, in its frame; the steps that light it."""
    bottom, before = stack.y, len(stack.parts)
    stack.y -= 12
    steps = []
    for name, norm in _pairs(layer):
        stack.sublayer(layer, prefix, name, norm)
        full = inside(prefix, name)
        lit = (full, inside(prefix, norm), *([f"memory>{full}"] * (name == "cross_attn")))
        steps.append(Step(lit, f"{full}: {SAYS[name]}"))
    stack.y -= 16
    left, right = stack.x - BESIDE - WIDE - 14, stack.x + 89
    place, size = ((left + right) / 2, (bottom + stack.y) / 2), (right - left, bottom - stack.y)
    stack.parts.insert(before, Frame(inside("frame", prefix), *place, *size, prefix))
    stack.y -= 14
    return steps


def _with_norms(layer: nn.Module) -> list[Step]:
    """The steps of one layer alone, in which each norm has a step of its own."""
    steps = []
    for name, norm in _pairs(layer):
        said = f"{name}: {SAYS[name]} Then the sum."
        if getattr(layer, norm).norm_first:
            steps.append(Step((norm,), "Pre-norm: beside the stream, of what the box will read."))
            steps.append(Step((name, norm), said))
        else:
            steps.append(Step((name,), said))
            steps.append(Step((norm,), "Post-norm: on the stream, of the sum."))
    return steps


def _pairs(layer: nn.Module) -> list[tuple[str, str]]:
    """The sublayers of a layer in the order of the data, each with its Add & Norm."""
    names = [name for name in SAYS if hasattr(layer, name)]
    return [(name, f"add_norm{i}") for i, name in enumerate(names, 1)]


def _to_probabilities(stack: Stack, shape: str) -> list[Step]:
    """The generator and its softmax, on top of the decoder."""
    stack.module("generator", "generator", "embedding", "13")
    y = stack.y - HIGH / 2
    stack.climb(Box("softmax", stack.x, y, 190, HIGH, "softmax", "weight", shape, "00", False))
    stack.y = y - HIGH / 2 - 22
    stack.parts.append(
        label("probabilities", stack.x, stack.y, "probabilities of the next token", bold=True)
    )
    return [
        Step(("generator",), "Generator: a logit for every token of the vocabulary."),
        Step(
            ("softmax", "probabilities"),
            "Softmax: at every position, a probability for every token.",
        ),
    ]


def _legend(left: Number, top: Number) -> list[Part]:
    """What the signs mean."""
    badge = Box("legend.lesson", left + 20, top + 140, 27, 20, "", "token", lesson="09")
    rows = [
        (Shape("legend.mixes", 0, 0, 0, 0, MIXING, "stream"), "reads other positions"),
        (Shape("legend.alone", 0, 0, 0, 0, ALONE, "stream"), "each position by itself"),
        *(
            (Shape(f"legend.{role}", 0, 0, 0, 0, circle(5), role, True), text)
            for role, text in {"query": "query", "key": "key", "value": "value"}.items()
        ),
    ]
    said = "the lesson that explains it"
    found = [
        badge,
        label("legend.words", left + 44, badge.y, said, anchor="start", size=14, spoken=False),
    ]
    for i, (sign, text) in enumerate(rows):
        y = top + 28 * i
        found += [
            Shape(sign.name, left + 20, y, 0, 0, sign.path, sign.role, sign.filled),
            label(f"{sign.name}.words", left + 44, y, text, anchor="start", size=14, spoken=False),
        ]
    return found
