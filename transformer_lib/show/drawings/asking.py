"""When a decoder asks, and through which window it looks. Lesson 07."""

from collections.abc import Collection, Sequence

from transformer_lib.show.drawings.marks import fitted
from transformer_lib.show.drawings.marks import number as written
from transformer_lib.show.drawings.scene import (
    CELL,
    Box,
    Part,
    Scene,
    Step,
    arrow,
    beside,
    label,
    row,
    straight,
)

WIDE, HIGH, RISE = 112, 54, 98  # of a box, and from one to the next above it
STREAM, SIDE = 222, 360  # from the attention to the state, and to what stands right of it
PITCH, SHADE = 36, 0.3  # from row to row of a window, and how dark it is


def query_before_or_after() -> Scene:
    """Bahdanau's decoder beside Luong's, with the one arrow strong that decides: the query."""
    return beside("The query, before or after the step", _order(False), _order(True), gap=20)


def _order(after: bool) -> Scene:
    """One decoder, its state climbing; the attention stands where the state asks."""
    old = _box("old", STREAM, 0, "state s(t−1)", "output")
    gru = _box("gru", STREAM, -RISE, "GRU cell", "recurrent")
    new = _box("new", STREAM, -2 * RISE, "state s(t)", "output")
    out = _box("out", STREAM, -3 * RISE, "h̃(t)" if after else "readout", "output")
    read = _box("read", SIDE, gru.y, "last word", "embedding")
    said = _box("said", SIDE, out.y, "word t", "embedding")
    asks, finds = (new, out) if after else (old, gru)
    look = _box("look", 0, (asks.y + finds.y) / 2, "attention", "attention")
    query = asks.on("left"), (look.x, asks.y), look.on("bottom")
    context = look.on("top"), (look.x, finds.y), finds.on("left")
    between = (look.x + STREAM) / 2 - WIDE / 4
    look_of = {"bold": True, "size": 14, "spoken": False}
    named = [
        label(
            "query.title", between, asks.y + 18, f"query {asks.label[6:]}", role="query", **look_of
        ),
        label("context.title", between, finds.y - 16, "context c(t)", **look_of),
    ]
    climb = [
        straight(low, high, "top", role="flow")
        for low, high in ((old, gru), (gru, new), (new, out))
    ]
    flow = [
        arrow(asks, look, *query, role="query", strong=True),
        arrow(look, finds, *context, role="output"),
        straight(read, gru, "left"),
        straight(out, said, "right"),
    ]
    order = (read, gru, new, look, out, said) if after else (look, read, gru, new, out, said)
    title = "Luong: first step, then look" if after else "Bahdanau: first look, then step"
    return fitted(title, [old, *order, *named, *climb, *flow], margin=12)


def _box(name: str, x: float, y: float, text: str, role: str) -> Box:
    return Box(name, x, y, WIDE if x != SIDE else 92, HIGH, text, role)


def moving_window(
    centers: Sequence[float],
    half_width: int,
    source: Sequence[str],
    target: Sequence[str],
    links: Collection[tuple[int, int]] = (),
) -> Scene:
    """The source positions that each step may attend to, a row a step; the centre is framed.

    `centers` has one for each step, which says a word of `target`. A centre between two positions,
    or outside the source, frames none. `links` are pairs (source position, step): a dot each.
    """
    parts: list[Part] = [
        label("source.title", len(source) * CELL[0] / 2, -64, "source position", bold=True)
    ]
    for i, word in enumerate(source):
        x = (i + 0.5) * CELL[0]
        parts.append(label(f"source.{i}", x, -38, word, size=14))
        parts.append(label(f"source.number{i}", x, -17, str(i), size=14, role="aside"))
    steps = []
    for t, center in enumerate(centers):
        parts += _row(t, center, half_width, len(source), links)
        said = f"step {t}: {target[t]}"
        parts.append(label(f"step.{t}.word", -12, _height(t), said, anchor="end"))
        steps.append(Step(("source", f"step.{t}"), _caption(t, center, half_width, len(source))))
    told = "shaded: the window; framed: its centre" + "; dot: a link" * bool(links)
    below = len(source) * CELL[0] / 2, _height(len(centers)) + 6
    parts.append(label("source.legend", *below, told, size=14, role="aside"))
    return fitted(f"A window with D = {half_width}", parts, steps, margin=12)


def _height(step: int) -> float:
    return (step + 0.5) * PITCH


def _inside(center: float, half_width: int, length: int) -> list[int]:
    return [i for i in range(length) if abs(i - center) <= half_width]


def _row(
    t: int, center: float, half_width: int, length: int, links: Collection[tuple[int, int]]
) -> list[Part]:
    """What lies inside and what outside, from the left; of the centre a frame on top."""
    inside = _inside(center, half_width, length)
    framed = int(center) if center in inside else None
    dots = ["●" if (i, t) in links else "" for i in range(length)]
    below = ["" if i == framed else dot for i, dot in enumerate(dots)]  # the frame has its own
    first, behind = (inside[0], inside[-1] + 1) if inside else (length, length)
    ends = {"before": (0, first, "token"), "window": (first, behind, "weight")}
    ends["behind"] = behind, length, "token"
    rows: list[Part] = []
    for name, (start, stop, role) in ends.items():
        if start < stop:
            shares = (SHADE,) * (stop - start) if name == "window" else ()
            place = f"step.{t}.{name}", start * CELL[0], _height(t)
            rows.append(row(*place, below[start:stop], role, shares=shares))
    if framed is not None:
        place = f"step.{t}.center", framed * CELL[0], _height(t)
        rows.append(row(*place, [dots[framed]], "output", shares=(SHADE,), strong=True))
    return rows


def _caption(t: int, center: float, half_width: int, length: int) -> str:
    inside = _inside(center, half_width, length)
    where = f"Step {t}: the centre is {written(center)}, and the window holds"
    if not inside:
        return f"{where} no position."
    if len(inside) == 1:
        return f"{where} position {inside[0]}."
    return f"{where} the positions {inside[0]} to {inside[-1]}."
