"""Encoder-decoder, GPT and BERT side by side: the same boxes, other masks, other tasks. Lesson 18.

Residuals and norms are left out. Each grid says who may look at whom: a row for each word that
asks, dark where it may look.
"""

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

BOX, WORD, CELL = (150, 46), (50, 27), 12  # of a box, of a word, of a mask's square
HEIGHTS = {"embedding": -66, "self_attn": -146, "cross_attn": -214, "feed_forward": -282}
TOP, SAYS = -362, -428  # of what stands on the layers, and of the words that are said
ROLES = {"embedding": "embedding", "feed_forward": "feed-forward", "generator": "embedding"}
NEEDS = {
    "encoder": ("self_attn", "feed_forward"),
    "decoder": ("self_attn", "cross_attn", "feed_forward"),
    "gpt": ("self_attn", "feed_forward"),
    "bert": ("self_attn", "feed_forward"),
}
PLACES = {"encoder": 0, "decoder": 310, "gpt": 640, "bert": 950}
READS = {
    "encoder": ("i", "'m", "home", "."),
    "decoder": ("<bos>", "je", "suis", "chez"),
    "gpt": ("<bos>", "i", "'m", "home"),
    "bert": ("i", "[MASK]", "home", "."),
}
SAID = {
    "decoder": ("je", "suis", "chez", "moi"),
    "gpt": ("i", "'m", "home", "."),
    "bert": ("", "'m", "", ""),
}
CAUSAL = ("decoder", "gpt")


def families() -> Scene:
    """The three kinds of Transformer, from the words that they read to the words that they say."""
    parts = [part for name in PLACES for part in _stack(name)]
    at = {part.name: part for part in parts}
    memory, asked = at["encoder.memory"], at["decoder.cross_attn"]
    bus = (PLACES["encoder"] + PLACES["decoder"]) / 2 + 26
    way = memory.on("right"), (bus, memory.y), (bus, asked.y), asked.on("left")
    titles = {
        "encoder-decoder": PLACES["decoder"] / 2,
        "GPT": PLACES["gpt"],
        "BERT": PLACES["bert"],
    }
    return fitted(
        "Three ways to stack the same layers",
        [
            *parts,
            arrow(memory, asked, *way, role="output"),
            *(label(f"title.{t}", x, 44, t, bold=True, size=17) for t, x in titles.items()),
            label("reads", -118, 0, "reads", anchor="end", spoken=False),
            label("says", 310 - 118, SAYS, "says", anchor="end", spoken=False),
        ],
        [
            Step(
                ("encoder",),
                "Encoder: every word may look at all. What the last layer says is the memory.",
            ),
            Step(
                ("decoder", "encoder.memory"),
                "Decoder: a word looks back, asks the memory, and the next word is said.",
            ),
            Step(("gpt",), "GPT: a decoder whose layers ask no memory. Any text is its task."),
            Step(("bert",), "BERT: an encoder alone. It says the words that were hidden."),
        ],
    )


def may_look(name: str, query: int, key: int) -> bool:
    """Whether in the self-attention of this stack a place may look at another."""
    return key <= query or name not in CAUSAL


def _stack(name: str) -> list[Part]:
    """What one stack is made of, in the order of the data."""
    x, needs = PLACES[name], NEEDS[name]
    read = _words(f"{name}.reads", x, 0, READS[name], f"{name} reads")
    boxes = [_box(name, kind, HEIGHTS[kind]) for kind in ("embedding", *needs)]
    boxes.append(_box(name, "generator" if name in SAID else "memory", TOP))
    grids = [_grid(name, kind) for kind in needs if kind.endswith("attn")]
    top, bottom = HEIGHTS["feed_forward"] - 44, HEIGHTS["self_attn"] + 34
    frame = Frame(f"{name}.frame", x + 30, (top + bottom) / 2, 244, bottom - top, "× N")
    parts, chain = [read], [read, *boxes]
    for below, above in zip(chain, boxes, strict=False):
        parts += [straight(below, above, "top", role="stream"), above]
    parts += [frame, *(row for grid in grids for row in grid)]
    if name in SAID:
        said = _words(f"{name}.says", x, SAYS, SAID[name], "says")
        parts += [straight(boxes[-1], said, "top", role="stream"), said]
    return parts


def _box(name: str, kind: str, y: Number) -> Box:
    """One module; the shape's line says whom an attention may ask."""
    role = "attention" if kind.endswith("attn") else ROLES.get(kind, "output")
    seen = {"self_attn": "causal" if name in CAUSAL else "sees all", "cross_attn": "asks memory"}
    mixes = kind.endswith("attn") if kind in ("self_attn", "cross_attn", "feed_forward") else None
    return Box(f"{name}.{kind}", PLACES[name], y, *BOX, kind, role, seen.get(kind, ""), "", mixes)


def _words(name: str, x: Number, y: Number, words: Sequence[str], told: str) -> Vector:
    width, height = WORD
    return Vector(name, x, y, width * len(words), height, tuple(words), "token", f"{told}:")


def _grid(name: str, kind: str) -> list[Vector]:
    """Who may look at whom, beside the box: a row a query."""
    n, x = len(READS[name]), PLACES[name] + BOX[0] / 2 + 42
    seen = [
        [float(kind == "cross_attn" or may_look(name, i, j)) for j in range(n)] for i in range(n)
    ]
    return [
        Vector(
            f"{name}.{kind}.row{i}",
            *(x, HEIGHTS[kind] + CELL * (i - (n - 1) / 2), CELL * n, CELL),
            ("",) * n,
            "weight",
            shares=tuple(row),
        )
        for i, row in enumerate(seen)
    ]
