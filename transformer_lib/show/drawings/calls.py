"""The classes of the build: what each holds, how it is called, where masks end. Lesson 13."""

from transformer_lib.show.drawings.marks import fitted, text_width
from transformer_lib.show.drawings.scene import Box, Part, Scene, Step, arrow

HIGH, RISE, GAP, APART = 52, 92, 12, 34  # of a box, from row to row, between boxes and groups
LAYERS = {
    "encoder": [("self_attn", "src_mask")],
    "decoder": [("self_attn", "causal and tgt_mask"), ("cross_attn", "src_mask")],
}
CALLS = {
    "encoder": {"embedding": "(src)", "layers": "each (x, src_mask)", "norm": "(x)"},
    "decoder": {
        "embedding": "(tgt_in)",
        "layers": "each (x, memory, tgt_mask, src_mask)",
        "norm": "(x)",
    },
}
INTO = {"encoder": "(src, src_mask)", "decoder": "(tgt_in, memory, tgt_mask, src_mask)"}
WHOLE = "(src, tgt_in, src_mask, tgt_mask)"
ROLES = {
    "embedding": "embedding",
    "layers": "attention",
    "norm": "norm",
    "self_attn": "attention",
    "cross_attn": "attention",
}


def class_tree() -> Scene:
    """The Transformer that is built as a tree of attributes, a step for each checkpoint."""
    boxes: list[Part] = []
    left, middles = 0.0, {}
    for side, calls in CALLS.items():
        row = _row(side, calls, left, 2 * RISE)
        inner = {name: f"gets {mask}" for name, mask in LAYERS[side]}
        width = sum(_wide(*box) for box in inner.items()) + GAP * (len(inner) - 1)
        layers = row[1]
        below = _row(f"{side}.layers", inner, layers.x - width / 2, 3 * RISE)
        middles[side] = layers.x
        top = Box(side, layers.x, RISE, _wide(side, INTO[side]), HIGH, side, "token", INTO[side])
        boxes += [top, *row, *below]
        boxes += [_branch(top, box) for box in row]
        boxes += [_branch(layers, box) for box in below]
        left = row[-1].on("right")[0] + APART
    generator = Box(
        "generator", 0, RISE, _wide("generator", "(x)"), HIGH, "generator", "embedding", "(x)"
    )
    decoder = next(box for box in boxes if box.name == "decoder")
    x = decoder.on("right")[0] + APART + generator.width / 2
    generator = Box("generator", x, RISE, generator.width, HIGH, "generator", "embedding", "(x)")
    middle = (middles["encoder"] + x) / 2
    whole = Box(
        "whole", middle, 0, _wide("MyTransformer", WHOLE), HIGH, "MyTransformer", "output", WHOLE
    )
    sides = [box for box in boxes if box.name in CALLS]
    ways = [_branch(whole, box) for box in (*sides, generator)]
    return fitted(
        "The classes of the build", [whole, *boxes, generator, *ways], _steps(), margin=12
    )


def _wide(name: str, call: str) -> float:
    return 22 + max(text_width(name, 15, bold=True), text_width(call, 13))


def _row(side: str, calls: dict[str, str], left: float, y: float) -> list[Box]:
    row = []
    for name, call in calls.items():
        width = _wide(name, call)
        row.append(Box(f"{side}.{name}", left + width / 2, y, width, HIGH, name, ROLES[name], call))
        left += width + GAP
    return row


def _branch(above: Box, below: Box) -> Part:
    """A line from a class down to what it holds."""
    start, end = above.on("bottom"), below.on("top")
    between = (start[1] + end[1]) / 2
    way = (
        (start, (start[0], between), (end[0], between), end) if start[0] != end[0] else (start, end)
    )
    return arrow(above, below, *way, head=False)


def _steps() -> list[Step]:
    return [
        Step(
            ("encoder",),
            "Checkpoint one, the encoder: ids and their mask go in, the memory comes out.",
        ),
        Step(
            ("decoder",),
            "Checkpoint two, the decoder: it reads ids and the memory; mind the order of its masks.",
        ),
        Step(
            ("whole", "encoder", "decoder", "generator"),
            "Checkpoint three, the whole: two calls, then the generator.",
        ),
    ]
