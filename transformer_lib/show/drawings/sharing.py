"""Heads of queries that share keys and values, and what a cache then keeps. Lesson 18."""

from collections.abc import Sequence

from transformer_lib.show.drawings.marks import fitted, plain, rectangle, thousands
from transformer_lib.show.drawings.scene import (
    Part,
    Scene,
    Shape,
    Step,
    Vector,
    label,
)

CELL, APART, WORDS = (38, 34), 40, 262  # of a head; between two panels; the least of one
QUERIES, KEYS, VALUES = 92, 192, 228  # how low the rows stand below a panel's title
LONG, THICK, BELOW = 560, 34, 54  # of the longest bar, of any bar, and from one to the next


def shared_keys(num_heads: int = 8, num_kv_heads: int = 2, d_head: int = 64) -> Scene:
    """Which head of keys and values each head of queries reads: of its own, of a group, of all.

    Below each, how many numbers a layer keeps for a token: a key and a value for each of their heads.
    """
    if num_kv_heads < 1 or num_heads % num_kv_heads:
        raise ValueError(f"num_heads={num_heads} is not divisible by num_kv_heads={num_kv_heads}")
    ways = {"multi-head": num_heads, "grouped": num_kv_heads, "multi-query": 1}
    parts: list[Part] = []
    pitch = APART + max(CELL[0] * num_heads, WORDS)
    for i, (name, kept) in enumerate(ways.items()):
        parts += _panel(name, i * pitch, num_heads, kept, d_head)
    steps = [
        Step((name,), f"{name.capitalize()}: {_shares(num_heads, kept)}.")
        for name, kept in ways.items()
    ]
    return fitted("Heads that share keys and values", parts, steps, margin=12)


def _shares(num_heads: int, kept: int) -> str:
    """Who shares a head of keys and values, in a sentence."""
    if kept == num_heads:
        return "each head of queries has its own head of keys and values"
    who = f"{num_heads // kept}" if kept > 1 else f"all {num_heads}"
    return f"{who} heads of queries share one head of keys and values"


def _panel(name: str, middle: float, num_heads: int, kept: int, d_head: int) -> list[Part]:
    """Queries above, and below them what they read, in the middle of those who share it."""
    wide, group = CELL[0] * num_heads, num_heads // kept
    left = middle - wide / 2
    share = "to each its own" if group == 1 else f"{group} share one"
    share = f"all {num_heads} share one" if kept == 1 < num_heads else share
    heads = tuple(f"q{h}" for h in range(num_heads))
    queries = Vector(
        f"{name}.queries", middle, QUERIES, wide, CELL[1], heads, "query", "queries", size=17
    )
    found: list[Part] = [
        label(f"{name}.title", middle, 0, f"{name}: {kept} of {num_heads}", bold=True, size=20),
        label(f"{name}.share", middle, 34, share, size=18),
        queries,
    ]
    for g in range(kept):
        x, own = left + (g + 0.5) * group * CELL[0], range(g * group, (g + 1) * group)
        found += [_line(f"{name}.line.{h}", left, h, x) for h in own]
        who = f"{', '.join(heads[h] for h in own)} read"
        for letter, role, y, told in (("k", "key", KEYS, who), ("v", "value", VALUES, "and")):
            cells = (f"{letter}{g}",)
            found.append(Vector(f"{name}.{role}.{g}", x, y, 34, 34, cells, role, told, size=17))
    kept_of_it = f"2 · {kept} · {d_head} = {thousands(2 * kept * d_head)}"
    return [
        *found,
        label(f"{name}.kept", middle, 282, kept_of_it, bold=True, size=20),
        label(f"{name}.formula", middle, 312, "2 · heads · d_head numbers", size=17),
        label(f"{name}.unit", middle, 336, "for a token, in each layer", size=17),
    ]


def _line(name: str, left: float, head: int, to: float) -> Shape:
    """From a head of queries down to the key that it reads."""
    x, top, bottom = left + (head + 0.5) * CELL[0], QUERIES + CELL[1] / 2, KEYS - CELL[1] / 2
    line = f"M{plain(x)},{plain(top)}L{plain(to)},{plain(bottom)}"
    return Shape(name, 0, 0, 0, 0, line, "query")


def bytes_kept(rows: Sequence[tuple[str, int]]) -> Scene:
    """How many bytes the cache of each model keeps for a token: a bar each, its number at the end.

    `rows` are pairs (name, bytes).
    """
    if not rows or max(size for _, size in rows) <= 0:
        raise ValueError("no bytes to draw: rows are pairs (name, bytes)")
    longest = max(size for _, size in rows)
    parts: list[Part] = [
        label("title", 0, -54, "bytes kept for a token", anchor="start", bold=True, size=20)
    ]
    for i, (name, size) in enumerate(rows):
        y, wide = BELOW * i, LONG * size / longest
        bar = Shape(
            f"row.{i}.bar",
            *(wide / 2, y, wide, THICK),
            rectangle(wide, THICK, 0),
            "attention",
            filled=True,
        )
        parts += [
            label(f"row.{i}.name", -14, y, name, anchor="end", size=18),
            bar,
            label(
                f"row.{i}.bytes", wide + 12, y, thousands(size), anchor="start", bold=True, size=18
            ),
        ]
    return fitted("Bytes kept for a token", parts, margin=12)
