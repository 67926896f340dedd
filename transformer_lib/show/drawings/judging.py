"""From a sentence to a score: through a translator, and how what it says is judged. Lesson 15."""

import math
from collections import Counter
from collections.abc import Sequence

from transformer_lib.show.drawings.marks import fitted, text_width
from transformer_lib.show.drawings.scene import Box, Number, Part, Scene, Step, label, row, straight

Token = tuple[str, int]  # as it is written, and its id
GAP, BAND = 64, 66  # between parts side by side, and from one row to the next
OUT, WANTED, RUNS = 2 * BAND, 2 * BAND + 44, 4 * BAND + 10  # heights of the rows below the ids
SHARES = 540  # where the shares of the runs stand


def sentence_to_score(
    reads: Sequence[Token], says: Sequence[Token], reference: Sequence[str]
) -> Scene:
    """What is read and said, as tokens and as ids, and BLEU with runs of one and of two words.

    `reads` and `says` end with their end mark, which is not judged.
    """
    source = _row("tokens", 0, 0, [word for word, _ in reads], "token")
    ids = _row("ids", 0, BAND, [i for _, i in reads], "embedding")
    model = Box("model", source.width + GAP + 80, BAND, 160, 60, "Transformer", "attention")
    left = model.on("right")[0] + GAP
    said_ids = _row("ids said", left, BAND, [i for _, i in says], "embedding")
    said = _row("said", left, OUT, [word for word, _ in says], "token")
    wanted = _row("reference", left, WANTED, reference, "output")
    words = [word for word, _ in says[:-1]]
    runs, shares = [], []
    for n, name in enumerate(("words", "pairs"), start=1):
        found = matches(words, reference, n)
        runs += _boxes(name, found, RUNS + BAND * (n - 1))
        shares.append((sum(hit for _, hit in found), len(found)))
    penalty = min(1.0, math.exp(1 - len(reference) / len(words)))
    bleu = penalty * math.sqrt(math.prod(a / b for a, b in shares))
    told = [f"{a} of {b}" for a, b in shares]
    length = [
        label("length.title", 0, RUNS + 2 * BAND, "length", role="aside", anchor="end"),
        label(
            *("length.said", 20, RUNS + 2 * BAND),
            f"{len(words)} said, {len(reference)} wanted: e^(1 − {len(reference)}/{len(words)})",
            anchor="start",
        ),
    ]
    judged = [
        Box(name, SHARES, RUNS + BAND * i, 92, 36, text, "weight")
        for i, (name, text) in enumerate(
            zip(
                ("share of words", "share of pairs", "penalty"),
                [*told, f"{penalty:.2f}"],
                strict=True,
            )
        )
    ]
    formula = f"√({' · '.join(f'{a}/{b}' for a, b in shares)}) · {penalty:.2f} = {bleu:.2f}"
    score = Box("score", SHARES + 240, RUNS + BAND, 250, 2 * BAND + 36, "BLEU", "norm", formula)
    lines = [
        straight(source, ids, "bottom"),
        straight(ids, model, "right"),
        straight(model, said_ids, "right"),
        straight(said_ids, said, "bottom"),
        *(straight(box, score, "right") for box in judged),
    ]
    steps = [
        Step(("tokens", "ids"), "A sentence becomes tokens, and each token an id."),
        Step(("ids", "model", "ids said"), "The Transformer reads ids and says ids."),
        Step(
            ("ids said", "said", "reference"),
            "The ids are words again; below them is what was wanted.",
        ),
        Step(("said", "reference", "words", "share of words"), f"Words: {told[0]} are wanted."),
        Step(("said", "reference", "pairs", "share of pairs"), f"Pairs: {told[1]} are wanted."),
        Step(("said", "reference", "length", "penalty"), "What is too short is punished."),
        Step((*(box.name for box in judged), "score"), f"Together: BLEU {bleu:.2f}."),
    ]
    drawn = [
        source,
        ids,
        model,
        said_ids,
        said,
        wanted,
        *_names(source, ids, said_ids, said, wanted),
    ]
    return fitted("From sentence to score", [*drawn, *lines, *runs, *length, *judged, score], steps)


def matches(words: Sequence[str], reference: Sequence[str], n: int) -> list[tuple[str, bool]]:
    """Every run of `n` words, and whether the reference has it; each of its runs counts once."""
    ours, theirs = (
        [" ".join(some[i : i + n]) for i in range(len(some) - n + 1)] for some in (words, reference)
    )
    left, found = Counter(theirs), []
    for run in ours:
        found.append((run, left[run] > 0))
        left[run] -= 1
    return found


def _row(name: str, left: Number, y: Number, cells: Sequence[object], role: str) -> Part:
    return row(name, left, y, [str(cell) for cell in cells], role, label=name)


def _boxes(name: str, found: Sequence[tuple[str, bool]], y: Number) -> list[Part]:
    """Runs side by side: in blue what the reference has, in red what it has not."""
    parts = [label(f"{name}.title", 0, y, name, role="aside", anchor="end")]
    left = 20
    for i, (run, hit) in enumerate(found):
        width = text_width(run, 15, bold=True) + 20
        role = "weight" if hit else "wrong"
        parts.append(Box(f"{name}.{i}", left + width / 2, y, width, 36, run, role))
        left += width + 12
    return parts


def _names(source: Part, ids: Part, said_ids: Part, said: Part, wanted: Part) -> list[Part]:
    """The names of rows: where a line arrives from the left, above it."""
    look = {"bold": True, "spoken": False}
    above = [
        label(f"{row.name}.title", row.x, row.y - 28, row.name, role=row.role, **look)
        for row in (source, said_ids)
    ]
    before = [
        label(
            *(f"{row.name}.title", row.on("left")[0] - 12, row.y, row.name),
            **{"anchor": "end", "role": row.role, **look},
        )
        for row in (ids, said, wanted)
    ]
    return [*above, *before]
