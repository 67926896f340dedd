"""What one matrix cannot rank, and what one layer cannot ask. Lesson 08."""

from collections.abc import Sequence

from transformer_lib.show.drawings.marks import fitted, slanted
from transformer_lib.show.drawings.scene import (
    Box,
    Part,
    Scene,
    Step,
    arrow,
    label,
    straight,
)

WIDE, HIGH, RISE = 140, 50, 88  # of a box, and from one row to the next above it
SAME, CHANGES = "token", "attention"  # white, and coloured: what depends on the last word


def circle_of_three() -> Scene:
    """Three tokens of which each should attend to the next; scores are the same in both directions.

    Each corner says when its row is right. The three demands go round in a circle.
    """
    rock = Box("rock", 0, 0, 160, HIGH, "rock", "token", "right if rs > rp")
    scissors = Box("scissors", 200, 190, 160, HIGH, "scissors", "token", "right if sp > rs")
    paper = Box("paper", -200, 190, 160, HIGH, "paper", "token", "right if rp > sp")
    upper, lower = rock.y + HIGH / 2, paper.y - HIGH / 2
    sides = [
        *slanted("rock_scissors", (40, upper), (160, lower), "attention"),
        *slanted("paper_rock", (-160, lower), (-40, upper), "attention"),
        straight(scissors, paper, "left", role="attention"),
    ]
    middle = (upper + lower) / 2 - 6
    names = [
        label("rs", 116, middle, "score rs", anchor="start"),
        label("sp", 0, paper.y - 20, "score sp"),
        label("rp", -116, middle, "score rp", anchor="end"),
    ]
    together = label(
        "together", 0, paper.y + 62, "all three together: sp > rs > rp > sp", bold=True
    )
    return fitted("Three demands that go round", [rock, scissors, paper, *names, together, *sides])


def two_layers_ask(words: Sequence[str] = ("animal", "street", "it", "tired / wide")) -> Scene:
    """Two layers of self-attention from below, and in each what depends on the last word.

    The query of `it` in the first layer does not; its output does, and so the second query.
    """
    animal, street, it, last = (f"word.{i}" for i in range(4))
    columns = (0, 152, 304, 468)
    parts: dict[str, Part] = {}

    def put(name: str, column: int, level: int, text: str, changes: bool) -> None:
        told = "changes" if changes else "the same"
        place = columns[column], -level * RISE
        parts[name] = Box(name, *place, WIDE, HIGH, text, CHANGES if changes else SAME, told)

    for i, word in enumerate(words):
        put(f"word.{i}", i, 0, word, i == 3)
    for layer in (1, 2):
        changes, low = layer == 2, 3 * layer - 2
        for i in (0, 1):
            put(f"key{layer}.{i}", i, low, f"key of {words[i]}", changes)
        put(f"query{layer}", 2, low, f"query of {words[2]}", changes)
        told = "change" if changes else "the same in both sentences"
        place = columns[1], -(low + 1) * RISE
        look = CHANGES if changes else SAME
        text = f"scores of {words[2]} with {words[0]} and {words[1]}"
        parts[f"scores{layer}"] = Box(f"scores{layer}", *place, 444, HIGH, text, look, told)
        if layer == 1:
            put("value1", 3, low, "its value", True)
            for i in (0, 1, 2):
                put(f"out.{i}", i, 3, f"output of {words[i]}", True)
    flow = []
    for layer, (a, b, c) in {1: (animal, street, it), 2: ("out.0", "out.1", "out.2")}.items():
        scores, query = parts[f"scores{layer}"], parts[f"query{layer}"]
        for start, stop in ((a, f"key{layer}.0"), (b, f"key{layer}.1")):
            flow.append(straight(parts[start], parts[stop], "top"))
            flow.append(straight(parts[stop], scores, "top", role="key"))
        flow.append(straight(parts[c], query, "top", role="query"))
        flow.append(straight(query, scores, "top", role="query", strong=True))
    value, output = parts["value1"], parts["out.2"]
    turn = (parts["scores1"].on("top")[1] + output.on("bottom")[1]) / 2
    enters = output.on("bottom", 36)
    around = value.on("top"), (value.x, turn), (enters[0], turn), enters
    flow += [
        straight(parts[last], value, "top", role="value"),
        arrow(value, output, *around, role="value"),
        straight(parts["scores1"], output, "top", role="weight"),
    ]
    levels = {0: "the words", 1: "first layer asks", 3: "its outputs", 4: "second layer asks"}
    names = [
        label(f"level.{n}", -88, -n * RISE, text, anchor="end", role="aside")
        for n, text in levels.items()
    ]
    steps = (
        Step(
            ("word", "key1", "query1", "scores1"),
            f"First layer: the scores of “{words[2]}” with the two nouns are made of three words.",
        ),
        Step(
            ("word.3", "value1", "scores1", "out"),
            f"The last word comes in as a value: it changes the output of “{words[2]}”.",
        ),
        Step(
            ("out", "key2", "query2", "scores2"),
            "The second layer makes its query of that output, so it can ask for what the last word means.",
        ),
    )
    return fitted("What each layer asks with", [*parts.values(), *names, *flow], steps)
