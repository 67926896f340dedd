"""A router, and the experts that it chooses for each token. Lesson 18."""

from collections.abc import Iterable, Mapping, Sequence

from transformer_lib.show.drawings.marks import fitted, number, plain, rectangle
from transformer_lib.show.drawings.scene import (
    Box,
    Number,
    Part,
    Point,
    Scene,
    Shape,
    Step,
    Vector,
    label,
    operation,
    straight,
)

CELL, APART, CHIP = (46, 34), 104, 38  # of a probability; from token to token, weight to weight
EXPERT, BELOW = (104, 40), 54  # of an expert, and from one to the next
BETWEEN, WEIGHT, SUM, SAYS = 112, 132, 208, 288  # from part to part, from the left to the right
COLORS = ("head 0", "head 1", "flow", "head 3")  # of a token
HEARD = {  # of each token, the probabilities of eight experts
    "i": (0.48, 0.07, 0.08, 0.12, 0.06, 0.08, 0.05, 0.06),
    "'m": (0.06, 0.08, 0.05, 0.24, 0.07, 0.06, 0.36, 0.08),
    "home": (0.08, 0.06, 0.06, 0.05, 0.42, 0.07, 0.18, 0.08),
    ".": (0.05, 0.08, 0.06, 0.08, 0.06, 0.45, 0.07, 0.15),
}


def router(probabilities: Mapping[str, Sequence[Number]] = HEARD, top_k: int = 2) -> Scene:
    """Of each token its most probable experts, their weights, and the sum of what they say.

    A weight is the expert's probability, divided by the sum of those that the token chose. A token
    keeps its colour.
    """
    count = len(next(iter(probabilities.values()), ()))
    if any(len(row) != count for row in probabilities.values()) or not 1 <= top_k <= count:
        raise ValueError(f"top_k={top_k}, and one probability for each of {count} experts")
    left, apart = CELL[0] * count + BETWEEN, max(APART, CHIP * top_k + 16)
    middle = apart * (len(probabilities) - 1) / 2
    experts = []
    for e in range(count):
        place = left + EXPERT[0] / 2, middle + BELOW * (e - (count - 1) / 2)
        experts.append(Box(f"expert.{e}", *place, *EXPERT, f"expert {e}", "feed-forward", size=18))
    look = {"role": "aside", "size": 16, "spoken": False}
    said = "router: the probability of each expert"
    parts: list[Part] = [
        label("router", 0, -78, said, anchor="start", bold=True, size=18),
        *(label(f"router.{e}", CELL[0] * (e + 0.5), -42, f"{e}", **look) for e in range(count)),
    ]
    steps, after = [], []
    for t, (token, row) in enumerate(probabilities.items()):
        chosen = sorted(sorted(range(count), key=lambda e: -row[e])[:top_k])
        weights = {e: row[e] / sum(row[e] for e in chosen) for e in chosen}
        parts += _asked(t, token, apart * t, row, [experts[e] for e in chosen])
        after += _answered(t, token, apart * t, weights, experts)
        lit = f"token{t}", "router", *(f"expert.{e}" for e in chosen)
        steps.append(Step(lit, _caption(token, [row[e] for e in chosen], weights.values())))
    return fitted("A router and its experts", [*parts, *experts, *after], steps, margin=12)


def _caption(token: str, chosen: Sequence[Number], weights: Iterable[Number]) -> str:
    if len(chosen) == 1:
        return f"“{token}”: {number(chosen[0])} is the largest, and its expert has the weight 1."
    said = (
        f"“{token}”: {_and(chosen)} are the largest. Divided by their sum, {number(sum(chosen))}:"
    )
    return f"{said} {_and(weights)}."


def _and(numbers: Iterable[Number]) -> str:
    *most, last = map(number, numbers)
    return f"{', '.join(most)} and {last}"


def _asked(
    t: int, token: str, y: Number, row: Sequence[Number], chosen: Sequence[Box]
) -> list[Part]:
    """A token and its row of the table: what it chose is framed, and leads to its expert."""
    color, wide = COLORS[t % len(COLORS)], CELL[0] * len(row)
    cells, told = tuple(map(number, row)), f"{token}: probabilities"
    place = f"token{t}.router", wide / 2, y, wide, CELL[1]
    table = Vector(*place, cells, "weight", told, shares=tuple(row), size=16)
    name = label(f"token{t}", -14, y, token, anchor="end", bold=True, size=20, spoken=False)
    found: list[Part] = [name, table]
    frame = " ".join(rectangle(CELL[0] + more, CELL[1] + more, 0) for more in (3, 0, -3))
    for expert in chosen:
        e = int(expert.name.removeprefix("expert."))
        start, end = table.on("right"), expert.on("left")
        found += [
            Shape(f"token{t}.chosen.{e}", CELL[0] * (e + 0.5), y, *CELL, frame, color),
            _line(f"token{t}.asks.{e}", start, end, color),
        ]
    return found


def _answered(
    t: int, token: str, y: Number, weights: Mapping[int, Number], experts: Sequence[Box]
) -> list[Part]:
    """What the chosen experts say, times their weights, added up."""
    color, right = COLORS[t % len(COLORS)], experts[0].on("right")[0]
    add = operation(f"token{t}.sum", right + SUM, y, "+")
    says = Box(f"token{t}.says", right + SAYS, y, 84, 50, token, "output", "output", size=18)
    found: list[Part] = []
    for i, (e, weight) in enumerate(weights.items()):
        place = right + WEIGHT, y + CHIP * (i - (len(weights) - 1) / 2), 52, 30
        told = f"{token}: expert {e} times"
        cells = (number(weight),)
        chip = Vector(f"token{t}.weight.{e}", *place, cells, "weight", told, size=17)
        found += [
            _line(f"token{t}.answers.{e}", experts[e].on("right"), chip.on("left"), color),
            _line(f"token{t}.adds.{e}", chip.on("right"), add.on("left"), color),
            chip,
        ]
    return [*found, add, straight(add, says, "right", role="output"), says]


def _line(name: str, start: Point, stop: Point, role: str) -> Shape:
    (x, y), (to_x, to_y) = start, stop
    path = f"M{plain(x)},{plain(y)}L{plain(to_x)},{plain(to_y)}"
    return Shape(name, 0, 0, 0, 0, path, role)
