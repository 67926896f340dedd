"""Attention with its numbers: one look-up that grows from lesson 01 to lesson 09.

Everything lies as the tensors do: a query is a row, a value is a row, and so is an output. Only the
keys are turned, because each then stands above the column of its scores and of its weights. A
product stands where its row and its column meet.
"""

import math
from collections.abc import Sequence

from jaxtyping import Float, Shaped
from torch import Tensor

from transformer_lib.masks import Mask, masked_softmax
from transformer_lib.show.drawings.marks import fitted, number
from transformer_lib.show.drawings.scene import (
    CELL,
    Box,
    Label,
    Part,
    Point,
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

LEFT, GAP, TURN, ASIDE = 0, 54, 78, 124  # of the columns; between tables: above, below, beside


def soft_lookup(
    query: Float[Tensor, " width"],
    keys: Float[Tensor, "key width"],
    values: Float[Tensor, "key value_width"],
    names: Sequence[str],
    asked: str = "",
    entries: Sequence[str] = (),
    gifts: Sequence[str] = (),
) -> Scene:
    """One query, its scores, its weights and what it finds: the look-up of lesson 01.

    `entries` names what the entries of query and keys mean, `gifts` those of values and output.
    """
    scores = query[None] @ keys.T
    return _look_up(
        "A soft look-up",
        *(query[None], keys, values, scores, None),
        *([asked], names, 0, "softmax"),
        entries=entries,
        gifts=gifts,
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
    entries: Sequence[str] = (),
    gifts: Sequence[str] = (),
) -> Scene:
    weights = masked_softmax(scores / scale, mask)
    outputs = weights @ values
    many = len(queries) > 1
    score_top = keys.size(1) * CELL[1] + GAP
    weight_top = score_top + len(queries) * CELL[1] + TURN
    value_top = weight_top - GAP - len(values) * CELL[1]
    end = LEFT + len(keys) * CELL[0]
    right, middle = end + ASIDE, (LEFT + end) / 2
    asking = 12 + 10 * len(score)  # the width of the box between query and scores
    q_left = LEFT - asking - 52 - queries.size(1) * CELL[0]
    k = _columns("keys", keys, "key", names)
    q = _rows("queries", queries, q_left, score_top, "query", follow, tokens)
    s = _rows("scores", scores, LEFT, score_top, "score", follow, mask=mask)
    w = _rows("weights", weights, LEFT, weight_top, "weight", follow, shares=True)
    v = _rows("values", values, right, value_top, "value", len(values), names)
    o = _rows("output", outputs, right, weight_top, "output", follow, tokens)
    one_q, one_s, one_w, one_o = q[follow], s[follow], w[follow], o[follow]
    half = (end + right) / 2
    meet = Box("meet", LEFT - 26 - asking / 2, one_s.y, asking, 30, score, "score")
    turning = Box("turn", middle, (s[-1].y + w[0].y) / 2, 24 + 9 * len(turn), 30, turn, "weight")
    mix = operation("mix", half, one_w.y, "Σ")
    last_v = v[-1]
    flow = [
        *(straight(key, s[0], "bottom", role="key") for key in k),
        straight(one_q, meet, "right", role="query"),
        straight(meet, one_s, "right", role="score"),
        arrow(s[-1], turning, s[-1].on("bottom"), turning.on("top"), role="score"),
        arrow(turning, w[0], turning.on("bottom"), w[0].on("top"), role="weight"),
        straight(one_w, mix, "right", role="weight"),
        arrow(last_v, mix, *_around(last_v, mix), role="value"),  # from below the whole table
        straight(mix, one_o, "right", role="output"),
    ]
    turned = " Kᵀ" if many else "ᵀ" if keys.size(1) > 1 else ""
    said = {
        "keys": _aside("keys", "keys" + turned, _lying(keys), (k[0].y, LEFT - 16, "end")),
        "queries": _over(
            "queries", "queries Q" if many else "query", _bare(queries), q[0], entries
        ),
        "scores": _aside("scores", "scores", scores, ((s[0].y + s[-1].y) / 2, end + 14, "start")),
        "weights": _aside("weights", "weights", weights, ((w[0].y + w[-1].y) / 2, -16, "end")),
        "values": _over("values", "values" + " V" * many, _bare(values), v[0], gifts),
        "output": _over("output", "output", _bare(outputs), o[-1], gifts, below=True),
    }
    said["keys"] += [
        label(f"keys.entry{i}", end + 10, (i + 0.5) * CELL[1], entry, anchor="start", spoken=False)
        for i, entry in enumerate(entries)
    ]
    words = _tokens("keys", names, k[0].on("top")[1] - 14)
    beside = [
        label(
            f"{one.name}.token", one.on(side)[0] + shift, one.y, token, anchor=anchor, spoken=False
        )
        for ones, of, side, shift, anchor in (
            (q, tokens, "left", -8, "end"),
            (v, names, "right", 8, "start"),
            (o, tokens, "right", 8, "start"),
        )
        for one, token in zip(ones, of, strict=True)
        if token
    ]
    order = [*words, *k, *said["keys"], *q, *said["queries"], meet, *s, *said["scores"], turning]
    order += [*w, *said["weights"], *v, *said["values"], mix, *o, *said["output"], *beside, *flow]
    met = met or f"The query meets every key: {score} gives one score a key."
    steps = _steps(follow, tokens, names, scores, weights, met, turn)
    return fitted(title, order, steps)


def _around(table: Part, mix: Part) -> tuple[Point, ...]:
    """The way from below a table to what stands lower on its left."""
    start, end = table.on("bottom"), mix.on("top")
    between = start[1] + GAP / 3
    return start, (start[0], between), (end[0], between), end


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
        Step(
            ("keys", "values"),
            "Each key stands above the column of its scores; its value is a row, on the right.",
        ),
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
                f"scores.{len(scores) - 1}>turn",
                "turn>weights.0",
            ),
            f"{turn.capitalize()}: the weights add up to 1, “{names[best]}” gets "
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
            "Each value times its weight, added up: one output for the query.",
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


def _columns(name: str, numbers: Tensor, role: str, names: Sequence[str]) -> list[Vector]:
    return [
        column(
            f"{name}.{j}",
            LEFT + (j + 0.5) * CELL[0],
            0,
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


def _bare(rows: Tensor) -> Tensor:
    """Rows of single numbers are written without their axis of length 1."""
    return rows if rows.size(1) > 1 else rows[:, 0]


def _lying(rows: Tensor) -> Tensor:
    """As it is drawn: a column each, or single numbers side by side."""
    return rows.T if rows.size(1) > 1 else _bare(rows)


ROLES = {"keys": "key", "queries": "query", "scores": "score", "weights": "weight"}
ROLES |= {"values": "value", "output": "output"}


def _aside(name: str, text: str, numbers: Tensor, place: tuple[float, float, str]) -> list[Label]:
    """A table's name and shape, beside it: at a height, from an x, to one side of it."""
    y, x, anchor = place
    words = label(f"{name}.name", x, y - 9, text, role=ROLES[name], anchor=anchor, bold=True)
    return [words, label(f"{name}.shape", x, y + 10, shape(numbers), size=13, anchor=anchor)]


def _over(
    name: str,
    text: str,
    numbers: Tensor,
    one: Vector,
    entries: Sequence[str] = (),
    *,
    below: bool = False,
) -> list[Label]:
    """A table's name and shape in one line, above its first row or below its last.

    Between the two stands what each of its columns means, where that is known.
    """
    near, further = (18, 20) if below else (-16, -20)
    y = one.on("bottom" if below else "top")[1] + near
    left = one.on("left")[0]
    columns = [
        label(f"{name}.entry{i}", left + (i + 0.5) * CELL[0], y, entry, spoken=False)
        for i, entry in enumerate(entries)
    ]
    y += further * bool(entries)
    said = f"{text} {shape(numbers)}"
    return [
        label(f"{name}.name", one.x, y, said, role=ROLES[name], bold=True, spoken=False),
        *columns,
    ]


def shape(numbers: Shaped[Tensor, "..."]) -> str:
    """A table's shape, as Python writes it."""
    return str(tuple(numbers.shape))
