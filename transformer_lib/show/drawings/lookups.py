"""Attention with its numbers: one look-up that grows from lesson 01 to lesson 09.

A key has one column all the way: its vector, its scores, its weights, its value. A query stands to
the right of the scores, what it finds to the right of the weights.
"""

import math
from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from transformer_lib.masks import Mask, masked_softmax
from transformer_lib.show.drawings.marks import fitted, number
from transformer_lib.show.drawings.scene import (
    CELL,
    Box,
    Label,
    Scene,
    Step,
    Vector,
    arrow,
    column,
    label,
    operation,
    row,
    straight,
)

LEFT, TOP, GAP, ASIDE = 0, 0, 54, 150  # of the columns, of the values, between the tables


def soft_lookup(
    query: Float[Tensor, " width"],
    keys: Float[Tensor, "key width"],
    values: Float[Tensor, "key value_width"],
    names: Sequence[str],
    asked: str = "",
) -> Scene:
    """One query, its scores, its shares and what it finds: the look-up of lesson 01."""
    scores = query[None] @ keys.T
    return _look_up(
        "A soft look-up", query[None], keys, values, scores, None, [asked], names, 0, "softmax"
    )


def pooling(
    query: float,
    keys: Float[Tensor, " key"],
    values: Float[Tensor, " key"],
    names: Sequence[str] = (),
) -> Scene:
    """Kernel pooling is the same look-up with another score (lesson 02).

    `names` are those of the keys, x1, x2 and so on if there are none.
    """
    query = keys.new_tensor([[query]])
    scores = 0 - (query - keys).square() / 2  # a minus in front would write −0
    names = names or [f"x{i + 1}" for i in range(len(keys))]
    return _look_up(
        "Pooling is a look-up whose score is −(x − xᵢ)²/2",
        *(query, keys[:, None], values[:, None], scores, None),
        *([""], names, 0, "softmax"),
        score="−(x − xᵢ)²/2",
    )


def scoring(
    query: Float[Tensor, " width"],
    keys: Float[Tensor, "key width"],
    values: Float[Tensor, "key value_width"],
    mask: Mask,
    names: Sequence[str],
    asked: str = "",
) -> Scene:
    """Score, mask, softmax, weighted sum: what the mask hides gets no share (lesson 03)."""
    scores = query[None] @ keys.T
    return _look_up(
        "The scoring pipeline",
        *(query[None], keys, values, scores, mask.reshape(1, -1)),
        *([asked], names, 0, "softmax"),
        score="score, mask",
        met="The query meets every key: a score each, and −∞ where the mask forbids it.",
    )


def scaled_attention(
    queries: Float[Tensor, "query width"],
    keys: Float[Tensor, "key width"],
    values: Float[Tensor, "key value_width"],
    tokens: Sequence[str],
    names: Sequence[str],
    follow: int = 0,
) -> Scene:
    """softmax(QKᵀ/√d)V as blocks with shapes; one query is followed to its output (lesson 04)."""
    return _look_up(
        "softmax(QKᵀ/√d) V",
        *(queries, keys, values, queries @ keys.T, None, tokens, names, follow),
        f"÷ √{keys.size(1)}, then softmax along each row",
        scale=math.sqrt(keys.size(1)),
    )


def _look_up(
    title: str,
    queries: Tensor,
    keys: Tensor,
    values: Tensor,
    scores: Tensor,
    mask: Tensor | None,
    tokens: Sequence[str],
    names: Sequence[str],
    follow: int,
    turn: str,
    *,
    score: str = "q · k",
    scale: float = 1.0,
    met: str = "",
) -> Scene:
    weights = masked_softmax(scores / scale, mask)
    outputs = weights @ values
    many = len(queries) > 1
    value_top = TOP
    weight_top = value_top + values.size(1) * CELL[1] + GAP
    score_top = weight_top + len(queries) * CELL[1] + GAP
    key_top = score_top + len(queries) * CELL[1] + GAP
    right = LEFT + len(keys) * CELL[0] + max(ASIDE, 72 + 10 * len(score))
    middle = LEFT + len(keys) * CELL[0] / 2
    k = _columns("keys", keys, key_top, "key", names)
    q = _rows("queries", queries, right, score_top, "query", follow, tokens)
    s = _rows("scores", scores, LEFT, score_top, "score", follow, mask=mask)
    w = _rows("weights", weights, LEFT, weight_top, "weight", follow, shares=True)
    v = _columns("values", values, value_top, "value", names)
    o = _rows("output", outputs, right, weight_top, "output", follow, tokens)
    one_q, one_s, one_w, one_o = q[follow], s[follow], w[follow], o[follow]
    half = (right + LEFT + len(keys) * CELL[0]) / 2
    meet = Box("meet", half, one_s.y, 12 + 10 * len(score), 30, score, "score")
    turning = Box("turn", middle, (w[-1].y + s[0].y) / 2, 24 + 9 * len(turn), 30, turn, "weight")
    mix = operation("mix", half, one_w.y, "Σ")
    last_v = v[-1]
    flow = [
        *(straight(key, s[-1], "top", role="key") for key in k),
        straight(one_q, meet, "left", role="query"),
        straight(meet, one_s, "left", role="score"),
        arrow(s[0], turning, s[0].on("top"), turning.on("bottom"), role="score"),
        arrow(turning, w[-1], turning.on("top"), w[-1].on("bottom"), role="weight"),
        straight(one_w, mix, "right", role="weight"),
        arrow(last_v, mix, last_v.on("right"), (half, last_v.y), mix.on("top"), role="value"),
        straight(mix, one_o, "right", role="output"),
    ]
    turned = " {}ᵀ" if many else "ᵀ" if keys.size(1) > 1 else ""
    said = [
        _name("keys", "keys" + turned.format("K"), _lying(keys), k[0].y),
        _name("queries", "queries Q" if many else "query", queries, q[0].on("top")[1] - 16, q[0].x),
        _name("scores", "scores", scores, (s[0].y + s[-1].y) / 2),
        _name("weights", "weights", weights, (w[0].y + w[-1].y) / 2),
        _name("values", "values" + turned.format("V"), _lying(values), v[0].y),
        _name("output", "output", outputs, o[0].on("top")[1] - 16, o[0].x),
    ]
    words = _tokens("keys", names, k[0].on("bottom")[1] + 16)
    askers = [
        label(
            f"{one.name}.token", one.on("right")[0] + 8, one.y, token, anchor="start", spoken=False
        )
        for ones in (q, o)
        for one, token in zip(ones, tokens, strict=True)
        if token
    ]
    order = [*words, *k, *said[0], *q, *said[1], meet, *s, *said[2], turning, *w, *said[3]]
    order += [*v, *said[4], mix, *o, *said[5], *askers, *flow]
    met = met or f"The query meets every key: {score} gives one score a key."
    steps = _steps(follow, tokens, names, scores, weights, met, turn)
    return fitted(title, order, steps)


def _steps(
    follow: int,
    tokens: Sequence[str],
    names: Sequence[str],
    scores: Tensor,
    weights: Tensor,
    met: str,
    turn: str,
) -> tuple[Step, ...]:
    asks = tokens[follow]
    best = int(weights[follow].argmax())
    i = follow
    return (
        Step(("keys", "values"), "Every key stands in its column; its value stands far above it."),
        Step(
            ("queries.name", f"queries.{i}"),
            f"“{asks}” asks: one query." if asks else "One query asks.",
        ),
        Step(
            (
                f"queries.{i}",
                "queries.name",
                "scores.name",
                "scores.shape",
                "keys",
                "meet",
                f"scores.{i}",
                f"queries.{i}>meet",
                f"meet>scores.{i}",
            ),
            met,
        ),
        Step(
            (
                "scores.name",
                f"scores.{i}",
                "turn",
                f"weights.{i}",
                "weights.name",
                "weights.shape",
                "scores.0>turn",
                f"turn>weights.{len(weights) - 1}",
            ),
            f"{turn.capitalize()}: the shares sum to 1, “{names[best]}” gets "
            f"{number(float(weights[follow, best]))}.",
        ),
        Step(
            (
                "weights.name",
                f"weights.{i}",
                "values",
                "mix",
                f"output.{i}",
                "output.name",
                f"weights.{i}>mix",
                f"mix>output.{i}",
            ),
            "Each value times its share, summed: one output for the query.",
        ),
    )


def _rows(
    name: str,
    numbers: Tensor,
    left: float,
    top: float,
    role: str,
    follow: int,
    tokens: Sequence[str] = (),
    *,
    shares: bool = False,
    mask: Tensor | None = None,
) -> list[Vector]:
    found = []
    for i, line in enumerate(numbers.tolist()):
        cells = [number(n) for n in line]
        if mask is not None:
            cells = [c if seen else "−∞" for c, seen in zip(cells, mask[i].tolist(), strict=True)]
        found.append(
            row(
                f"{name}.{i}",
                left,
                top + (i + 0.5) * CELL[1],
                cells,
                role,
                label=f"{name} {tokens[i]}".strip() if tokens else name,
                shares=tuple(line) if shares else (),
                strong=i == follow,
            )
        )
    return found


def _columns(
    name: str, numbers: Tensor, top: float, role: str, names: Sequence[str]
) -> list[Vector]:
    return [
        column(
            f"{name}.{j}",
            LEFT + (j + 0.5) * CELL[0],
            top,
            [number(n) for n in line],
            role,
            label=f"{name} {names[j]}",
        )
        for j, line in enumerate(numbers.tolist())
    ]


def _tokens(prefix: str, names: Sequence[str], y: float) -> list[Label]:
    places = [LEFT + (j + 0.5) * CELL[0] for j in range(len(names))]
    return [
        label(f"{prefix}.name{j}", x, y, name, spoken=False)
        for j, (x, name) in enumerate(zip(places, names, strict=True))
    ]


def _lying(numbers: Tensor) -> Tensor:
    """As it is drawn: a column each, or single numbers side by side."""
    return numbers.T if numbers.size(1) > 1 else numbers[:, 0]


def _name(name: str, text: str, numbers: Tensor, y: float, x: float | None = None) -> list[Label]:
    """A table's name and shape, left of it, or above it around x."""
    shape = f"({', '.join(map(str, numbers.shape))})"
    roles = {"keys": "key", "queries": "query", "scores": "score", "weights": "weight"}
    role = {**roles, "values": "value", "output": "output"}[name]
    if x is not None:
        return [label(f"{name}.name", x, y, f"{text} {shape}", role=role, bold=True, spoken=False)]
    words = label(f"{name}.name", LEFT - 16, y - 9, text, role=role, anchor="end", bold=True)
    return [words, label(f"{name}.shape", LEFT - 16, y + 10, shape, size=13, anchor="end")]
