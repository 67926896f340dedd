"""What a sequence does with its places: self-attention, its rivals, and positions as clock hands.

Lessons 08 and 10.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from jaxtyping import Float
from torch import Tensor

from transformer_lib.positions import sinusoid_table
from transformer_lib.show.drawings.lookups import scaled_attention, shape
from transformer_lib.show.drawings.marks import circle, fitted, plain, slanted
from transformer_lib.show.drawings.scene import (
    CELL,
    Box,
    Number,
    Part,
    Scene,
    Shape,
    Step,
    arrow,
    beside,
    label,
    row,
    straight,
)

HAND = 25  # the radius of a clock
PITCH = 46  # from token to token of a layer


def self_attention(
    x: Float[Tensor, "time width"],
    w_q: Float[Tensor, "width d_head"],
    w_k: Float[Tensor, "width d_head"],
    w_v: Float[Tensor, "width value_width"],
    tokens: Sequence[str],
    follow: int = 0,
) -> Scene:
    """Queries, keys and values from one sequence: lesson 04's look-up, fed by one x (lesson 08)."""
    scene = scaled_attention(x @ w_q, x @ w_k, x @ w_v, tokens, tokens, follow)
    parts = {part.name: part for part in scene.parts}
    keys, queries, values = parts["keys.0"], parts["queries.0"], parts["values.0"]
    inner = parts[f"keys.{(len(x) - 1) // 2}"]
    middle = inner.on("right")[0]  # between two words
    high = min(keys.on("top")[1], values.on("top")[1]) - 68
    source = Box("x", middle, high - 84, 190, 50, "X", "output", shape(x))
    to_k = Box("k_proj", middle, high, 130, 46, "K = X · W_k", "key", shape(x @ w_k))
    to_q = Box("q_proj", queries.x, high, 130, 46, "Q = X · W_q", "query", shape(x @ w_q))
    to_v = Box("v_proj", values.x, high, 130, 46, "V = X · W_v", "value", shape(x @ w_v))
    lines = [
        straight(source, to_k, "bottom"),
        arrow(to_k, inner, to_k.on("bottom"), inner.on("top", middle - inner.x), role="key"),
        arrow(source, to_q, source.on("left"), (to_q.x, source.y), to_q.on("top")),
        straight(to_q, queries, "bottom", role="query"),
        arrow(source, to_v, source.on("right"), (to_v.x, source.y), to_v.on("top")),
        straight(to_v, values, "bottom", role="value"),
    ]
    first = Step(
        ("x", "k_proj", "q_proj", "v_proj"), "One X, three projections: keys, queries, values."
    )
    boxes = {"queries.name": "q_proj", "values.name": "v_proj"}  # which say the names
    table = [part for part in scene.parts if part.name not in boxes]
    steps = [
        replace(step, lit=tuple(boxes.get(name, name) for name in step.lit)) for step in scene.steps
    ]
    projected = [source, to_k, to_q, to_v, *lines]
    return fitted("Self-attention", [*projected, *table], [first, *steps])


def three_layers(time: int = 7, width: int = 5) -> Scene:
    """Convolution, recurrence, self-attention: how far it is from x0 to the last (lesson 08).

    The convolution is centred, and `width` is its window.
    """
    half, far = width // 2, time - 1
    every = [(i, j) for i in range(time) for j in range(time)]
    near = [(i, j) for i, j in every if abs(i - j) <= half]
    steady = [(i, i) for i in range(time)]
    layers = math.ceil(far / half)
    return beside(
        f"Who hears whom in one layer, and how y{far} hears x0",
        _layer(
            f"Convolution, k = {width}",
            time,
            near,
            (0, half),
            f"y{far} hears x0 after {layers} layers",
        ),
        _layer(
            "Recurrence", time, steady, (0, 0), f"in 1 layer, after {far} steps from state to state"
        ),
        _layer(
            "Self-attention", time, every, (0, far), "in 1 layer: every token hears every token"
        ),
        gap=30,
    )


def _layer(
    title: str, time: int, links: Sequence[tuple[int, int]], shown: tuple[int, int], says: str
) -> Scene:
    """All links faint, and strong the one that x0 takes first; recurrence has a chain."""
    below = [Box(f"x.{i}", PITCH * i, 110, 36, 30, f"x{i}", "token") for i in range(time)]
    above = [Box(f"y.{i}", PITCH * i, 0, 36, 30, f"y{i}", "output") for i in range(time)]
    faint = "".join(f"M{PITCH * i},95L{PITCH * j},15" for i, j in links)
    i, j = shown
    parts = [
        Shape("links", 0, 0, 0, 0, faint, "head 2"),
        *slanted("way", (PITCH * i, 95), (PITCH * j, 15), "attention"),
        *below,
        *above,
    ]
    if shown == (0, 0):
        parts += [straight(a, b, "right", role="attention") for a, b in pairwise(above)]
    words = label("says", PITCH * (time - 1) / 2, 156, says)
    return fitted(title, [*parts, words])


def clock_hands(d_model: int, places: int, pairs: int = 3, tokens: Sequence[str] = ()) -> Scene:
    """A position as clock hands: each pair of entries is a hand, and each turns slower (lesson 10).

    The first `pairs` of a code of `d_model` entries, at the first positions, with the tokens there.
    """
    table = sinusoid_table(places, d_model).double()
    parts: list[Part] = [
        label(f"token{t}", 120 * t, -80, token) for t, token in enumerate(tokens[:places])
    ]
    for t in range(places):
        parts.append(label(f"position{t}", 120 * t, -56, f"position {t}", bold=True))
        for pair in range(pairs):
            sine, cosine = table[t, 2 * pair : 2 * pair + 2].tolist()
            parts += _clock(f"clock{pair}.{t}", 120 * t, 104 * pair, sine, cosine)
    for pair in range(pairs):
        text = f"dimensions {2 * pair}, {2 * pair + 1}"
        turn = f"{_frequency(pair, d_model)} rad a position"
        parts.append(label(f"pair{pair}", -74, 104 * pair - 9, text, anchor="end"))
        parts.append(label(f"pair{pair}.turn", -74, 104 * pair + 11, turn, anchor="end", size=13))
        parts.append(
            label(
                f"pair{pair}.says", -74, 104 * pair + HAND + 16, "(sin, cos)", anchor="end", size=13
            )
        )
    steps = [
        Step(
            (f"clock{pair}", f"pair{pair}"),
            f"Pair {pair}: its hand turns by {_frequency(pair, d_model)} rad a position.",
        )
        for pair in range(pairs)
    ]
    return fitted("A position as clock hands", parts, steps)


def _frequency(pair: int, d_model: int) -> str:
    """The angular frequency of a pair, with two digits."""
    return f"{10000 ** (-2 * pair / d_model):.2g}"


def _clock(name: str, x: Number, y: Number, sine: float, cosine: float) -> list[Part]:
    """A dial whose hand stands straight up at position 0, and its sine and cosine below."""
    hand = f"M0,0L{plain(sine * (HAND - 4))},{plain(-cosine * (HAND - 4))}"
    numbers = f"({sine:.2f}, {cosine:.2f})".replace("-", "−")
    return [
        Shape(f"{name}.dial", x, y, 2 * HAND, 2 * HAND, circle(HAND), "token"),
        Shape(f"{name}.hand", x, y, 0, 0, hand, "stream"),
        label(f"{name}.numbers", x, y + HAND + 16, numbers, size=13),
    ]


def added_positions(embedded: Float[Tensor, "time d_model"], tokens: Sequence[str]) -> Scene:
    """The stream begins as a sum: a vector for the word and a code for its position (lesson 10)."""
    codes = sinusoid_table(*embedded.shape)
    wide = CELL[0] * embedded.size(1) + 60
    blocks = {
        "word": (embedded, "embedding"),
        "position": (codes, "token"),
        "x": (embedded + codes, "output"),
    }
    parts: list[Part] = []
    for b, (name, (numbers, role)) in enumerate(blocks.items()):
        middle = wide * b + (wide - 60) / 2
        parts.append(label(f"{name}.title", middle, -32, name, bold=True, spoken=False))
        parts += [
            row(
                f"{name}.{t}",
                wide * b,
                CELL[1] * t,
                [f"{n:.2f}".replace("-", "−") for n in line],
                role,
                label=f"{name} {tokens[t]}",
            )
            for t, line in enumerate(numbers.tolist())
        ]
        if b < 2:
            height = CELL[1] * (len(tokens) - 1) / 2
            parts.append(label(f"{name}.sign", wide * (b + 1) - 30, height, "+="[b], size=22))
    parts += [
        label(f"token{t}", -12, CELL[1] * t, token, anchor="end", spoken=False)
        for t, token in enumerate(tokens)
    ]
    steps = [
        Step(("word",), "A vector for the word, wherever it stands."),
        Step(("position",), "A code for the position, whatever stands there."),
        Step(("x",), "Their sum is where the stream begins."),
    ]
    return fitted("Word plus position", parts, steps)
