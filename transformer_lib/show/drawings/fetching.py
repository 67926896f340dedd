"""What attention fetches from memory: by the formula, and in blocks. Lesson 17."""

from transformer_lib.show.drawings.marks import fitted, thousands
from transformer_lib.show.drawings.scene import Box, Frame, Part, Scene, arrow, label

DEEP, APART, HIGH, RIGHT = 120, 300, 50, 700  # from row to row, from lane to lane; of a box, a lane
Place = tuple[str, int, int, str, str]  # name, left, right, what stands in it, its role
Crossing = tuple[str, str, int, str]  # from, to, where across, how many entries


def what_is_fetched(n: int, d: int, rows: int) -> Scene:
    """All entries that cross between memory and processor, for one head of n queries of width d.

    Above the formula, step by step; below blocks of so many rows of queries, whose scores never
    leave the processor. Raises ValueError where n is not a multiple of `rows`.
    """
    if rows < 1 or n % rows:
        raise ValueError(f"n={n} is not a multiple of rows={rows}: the blocks are equally large")
    blocks = n // rows
    by_formula, in_blocks = 4 * n * n + 4 * n * d, 2 * n * d * blocks + 2 * n * d
    formula = _lane(
        "formula",
        0,
        f"the formula: 4 · n · n + 4 · n · d = {thousands(by_formula)} entries cross",
        (
            ("qk", 0, 88, "Q and K", "token"),
            ("scores", 160, 280, "scores", "score"),
            ("weights", 340, 460, "weights", "weight"),
            ("v", 490, 570, "V", "value"),
            ("out", 600, RIGHT, "output", "output"),
        ),
        (
            ("products", 0, 228, "products", "attention"),
            ("softmax", 242, 386, "softmax", "attention"),
            ("average", 400, RIGHT, "average", "attention"),
        ),
        (
            ("qk", "products", 44, "2 · n · d"),
            ("products", "scores", 186, "n · n"),
            ("scores", "softmax", 256, "n · n"),
            ("softmax", "weights", 360, "n · n"),
            ("weights", "average", 430, "n · n"),
            ("v", "average", 530, "n · d"),
            ("average", "out", 650, "n · d"),
        ),
    )
    told = f"{blocks} · 2 · n · d + 2 · n · d = {thousands(in_blocks)} entries cross"
    streamed = _lane(
        "blocks",
        APART,
        f"in blocks of {rows} queries: {told}",
        (
            ("q", 0, 88, "Q", "query"),
            ("kv", 240, 400, "K and V", "token"),
            ("out", 600, RIGHT, "output", "output"),
        ),
        (("all", 0, RIGHT, "a block of scores and weights at a time", "attention"),),
        (
            ("q", "all", 44, "n · d"),
            ("kv", "all", 320, f"{blocks} times 2 · n · d"),
            ("all", "out", 650, "n · d"),
        ),
    )
    title = f"What crosses between memory and processor, for n = {n} and d = {d}"
    return fitted(title, [*formula, *streamed])


def _lane(
    name: str,
    top: int,
    title: str,
    memory: tuple[Place, ...],
    processor: tuple[Place, ...],
    crossings: tuple[Crossing, ...],
) -> list[Part]:
    boxes = {}
    for row, y in ((memory, top), (processor, top + DEEP)):
        for key, left, right, told, role in row:
            middle = (left + right) / 2
            boxes[key] = Box(f"{name}.{key}", middle, y, right - left, HIGH, told, role)
    found: list[Part] = [
        label(f"{name}.title", RIGHT / 2, top - 66, title, bold=True, size=16),
        Frame(f"{name}.memory", RIGHT / 2, top - 9, RIGHT + 28, HIGH + 38, "memory"),
        Frame(f"{name}.processor", RIGHT / 2, top + DEEP + 9, RIGHT + 28, HIGH + 38),
        label(f"{name}.under", -4, top + DEEP + 40, "processor", size=14, anchor="start"),
        *boxes.values(),
    ]
    for start, stop, x, entries in crossings:
        source, target = boxes[start], boxes[stop]
        down = source.y < target.y
        ends = source.on("bottom" if down else "top")[1], target.on("top" if down else "bottom")[1]
        found.append(arrow(source, target, (x, ends[0]), (x, ends[1])))
        where = f"{name}.{start}.{stop}"
        found.append(label(where, x + 8, top + DEEP / 2, entries, size=14, anchor="start"))
    return found
