"""Positions inside the score, and how long a code is beside its word. Lesson 10."""

import math
from collections.abc import Sequence

from transformer_lib.show.drawings.marks import circle, fitted, number, rectangle, slanted
from transformer_lib.show.drawings.scene import CELL, Part, Point, Scene, Shape, label, row

DIAL, APART = 62, 212  # the radius of a dial, and from one to the next
BAR, UNIT, LINE = 20, 11, 78  # how high a bar is, of how many pixels its unit, and from row to row


def turned_arrows(query: Point, key: Point, positions: Sequence[tuple[int, int]]) -> Scene:
    """A query and a key of one pair, each turned by its own position in radians.

    `positions` are pairs (of the query, of the key); each gets a dial, with the dot product below.
    """
    parts: list[Part] = []
    for panel, (at_query, at_key) in enumerate(positions):
        x, name = APART * panel, f"dial.{panel}"
        turned = _turned(query, at_query), _turned(key, at_key)
        parts.append(Shape(name, x, 0, 2 * DIAL, 2 * DIAL, circle(DIAL), "head 2"))
        for role, (right, up) in zip(("query", "key"), turned, strict=True):
            tip = x + (DIAL - 3) * right, -(DIAL - 3) * up
            parts += slanted(f"{name}.{role}", (x, 0), tip, role)
            anchor = "middle" if abs(right) < 0.3 else "start" if right > 0 else "end"
            place = x + (DIAL + 8) * right, -(DIAL + 14) * up
            parts.append(
                label(
                    f"{name}.{role}.name",
                    *place,
                    role,
                    role=role,
                    anchor=anchor,
                    spoken=False,
                    size=14,
                )
            )
        product = sum(a * b for a, b in zip(*turned, strict=True))
        where = f"query at {at_query}, key at {at_key}"
        parts.append(label(f"{name}.where", x, DIAL + 42, where, bold=True))
        parts.append(label(f"{name}.product", x, DIAL + 64, f"product {number(product)}"))
    return fitted("A query and a key, each turned by its position", parts)


def _turned(pair: Point, angle: float) -> Point:
    """Counter-clockwise, as in schoolbooks."""
    (x, y), cos, sin = pair, math.cos(angle), math.sin(angle)
    return x * cos - y * sin, x * sin + y * cos


def two_layouts(d_head: int, follow: int = 1) -> Scene:
    """Which entries of a head make a pair: neighbours, or one of each half.

    Arrows follow one pair from the one layout to the other.
    """
    half = d_head // 2
    layouts = {
        "neighbours": [(i, (2 * i, 2 * i + 1)) for i in range(half)],
        "halves": [(i, (i, i + half)) for i in range(half)],
    }
    says = {"neighbours": "pair i is (2i, 2i + 1)", "halves": f"pair i is (i, i + {half})"}
    parts: list[Part] = []
    for line, (name, pairs) in enumerate(layouts.items()):
        y = 150 * line
        parts.append(label(f"{name}.name", -20, y - 9, name, anchor="end", bold=True))
        parts.append(label(f"{name}.says", -20, y + 12, says[name], anchor="end", size=14))
        found = sorted((entry, pair) for pair, entries in pairs for entry in entries)
        for entry, pair in found:
            left = CELL[0] * entry
            beside = y + (34 if line else -30)
            told = f"entry {entry}"
            parts.append(
                row(f"{name}.{entry}", left, y, [f"pair {pair}"], f"head {pair % 4}", label=told)
            )
            middle, look = left + CELL[0] / 2, {"role": "aside", "size": 13, "spoken": False}
            parts.append(label(f"{name}.{entry}.at", middle, beside, str(entry), **look))
    for k, (above, below) in enumerate(
        zip(layouts["neighbours"][follow][1], layouts["halves"][follow][1], strict=True)
    ):
        ends = [(CELL[0] * (entry + 0.5), y) for entry, y in ((above, 15), (below, 135))]
        parts += slanted(f"moves.{k}", *ends, "flow")
    return fitted("Two layouts of the pairs", parts)


def word_beside_code(d_model: int, factor: float) -> Scene:
    """How long a word of entries of size 1 is beside its code: as they are, and the word louder.

    In the last row both are divided by the factor, which leaves their ratio as it is.
    """
    word, code = math.sqrt(d_model), math.sqrt(d_model / 2)
    times = f"{factor:.2f}"
    rows = {
        "as they are": (word, code),
        f"the word times {times}": (factor * word, code),
        f"then both divided by {times}": (word, code / factor),
    }
    parts: list[Part] = []
    for line, (text, lengths) in enumerate(rows.items()):
        y = LINE * line
        parts.append(label(f"row.{line}", -16, y, text, anchor="end", bold=True))
        for k, (name, length) in enumerate(zip(("word", "code"), lengths, strict=True)):
            wide, at = UNIT * length, y + (k - 0.5) * (BAR + 6)
            role = ("embedding", "head 1")[k]
            parts.append(
                Shape(
                    f"bar.{line}.{name}",
                    wide / 2,
                    at,
                    wide,
                    BAR,
                    rectangle(wide, BAR, 0),
                    role,
                    True,
                )
            )
            told = f"{name} {number(round(length, 2))}"
            parts.append(
                label(f"bar.{line}.{name}.long", wide + 10, at, told, anchor="start", size=14)
            )
    return fitted("The length of a word beside that of its code", parts)
