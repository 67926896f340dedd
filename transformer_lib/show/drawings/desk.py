"""A desk with five things on it, one of them red: what does one see first? Lesson 01."""

from collections.abc import Iterable

from transformer_lib.show.drawings.marks import fitted
from transformer_lib.show.drawings.scene import Number, Part, Scene, Shape, label

PITCH = 168  # from the middle of a thing to the middle of the next


def desk() -> Scene:
    """Five things side by side, each with its name below: all are grey but the red cup.

    Each is a full outline and what is drawn on it in white, so that only its colour sets the cup
    apart, and it does not stand in the middle.
    """
    columns = range(-52, -8, 11)
    things = {
        "news": (
            "M-62,0L-62,-92L62,-92L62,0Z",
            _lines(-48, 48, (-74, -68)),
            _lines(-48, -4, columns),
            _lines(6, 48, columns),
        ),
        "book": (
            "M-44,0L-44,-118L44,-118L44,0Z",
            "M-32,0L-32,-118",
            _lines(-14, 26, (-92, -80)),
        ),
        "lamp": (
            "M-44,-96L-22,-134L22,-134L44,-96L2,-96L2,-10Q34,-10 34,0L-34,0Q-34,-10 -2,-10L-2,-96Z",
            _lines(-30, 30, (-108,)),
        ),
        "cup": (
            "M-34,-72L34,-72L33,-60Q62,-60 58,-38Q54,-18 29,-20L28,-8Q26,0 18,0L-18,0Q-26,0 -28,-8Z",
            "M33,-51Q51,-52 49,-39Q47,-28 31,-29Z",
            _lines(-24, 24, (-58,)),
        ),
        "memo": (
            "M-32,0L-32,-60L20,-60L32,-48L32,0Z",
            "M20,-60L20,-48L32,-48",
            _lines(-20, 18, (-38, -26, -14)),
        ),
    }
    parts: list[Part] = []
    for i, (name, (outline, *drawn)) in enumerate(things.items()):
        x, role = i * PITCH, "red" if name == "cup" else "token"
        parts.append(Shape(f"{name}.outline", x, 0, 0, 0, outline, role, filled=True))
        for n, path in enumerate(drawn):
            filled = path.endswith("Z")  # the hole of the handle
            parts.append(Shape(f"{name}.{n}", x, 0, 0, 0, path, "paper", filled))
        parts.append(label(f"{name}.name", x, 34, name, role="aside", size=17))
    reach = len(things) * PITCH / 2
    board = f"M-{reach},64L{reach},64"  # the edge, below the middle of what stands on it
    parts.append(Shape("edge", 2 * PITCH, -52, 2 * reach, 190, board, "words"))
    return fitted("A desk with five things; only the cup is red, everything else is grey", parts)


def _lines(left: Number, right: Number, heights: Iterable[Number]) -> str:
    """Lines of print, one below the other."""
    return "".join(f"M{left},{y}L{right},{y}" for y in heights)
