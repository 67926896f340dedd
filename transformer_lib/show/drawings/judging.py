"""From a sentence to a score, by words or by letters. Lesson 15."""

import math
from collections import Counter
from collections.abc import Sequence

from transformer_lib.show.drawings.marks import fitted, text_width
from transformer_lib.show.drawings.scene import Box, Number, Part, Scene, Step, label, row, straight

Token = tuple[str, int]  # as it is written, and its id
GAP, BAND = 64, 66  # between parts side by side, and from one row to the next
OUT, WANTED, RUNS = 2 * BAND, 2 * BAND + 44, 4 * BAND + 10  # heights of the rows below the ids
SHARES = 540  # where the parts of the runs stand that are wanted
LINE = 50  # from one row of letters to the next


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
        Step(("said", "reference", "length", "penalty"), "What is too short loses points."),
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


def shared_letters(said: str, wanted: str, longest: int = 2, beta: Number = 2) -> Scene:
    """chrF of one word: the runs of letters that it shares with the wanted one, seen from each."""
    rows, means, parts = {"said": (said, wanted), "wanted": (wanted, said)}, {}, []
    lines, y = [], 0.0
    runs_of = range(1, longest + 1)
    reach = max(_across(matches(word, word, n, "")) for word in (said, wanted) for n in runs_of)
    for side, (word, other) in rows.items():
        measure, top, found = ("precision", "recall")[side == "wanted"], y, []
        for n in runs_of:
            runs = matches(word, other, n, "")
            name = ("letters", "pairs")[n - 1] if n < 3 else f"runs of {n}"
            boxes = _boxes(f"{name} {side}", runs, y)
            hits = sum(hit for _, hit in runs)
            told = f"{hits} of {len(runs)}"
            found.append(hits / len(runs))
            box = Box(f"{side}.{n}", reach + 70, y, 92, 36, told, "weight")
            parts += [*boxes, box]
            y += LINE
        means[measure] = sum(found) / len(found)
        middle, height = (top + y - LINE) / 2, y - LINE - top + 36
        mean = Box(
            measure, reach + 240, middle, 136, height, measure, "norm", f"mean {means[measure]:.2f}"
        )
        lines += [straight(box, mean, "right") for box in parts if box.name.startswith(f"{side}.")]
        parts.append(mean)
        y += LINE / 2
    precision, recall = means.values()
    together = beta**2 * precision + recall
    score = (1 + beta**2) * precision * recall / together if together else 0.0
    height = y - LINE - LINE / 2 + 36
    box = Box("score", reach + 420, height / 2 - 18, 120, height, "chrF", "norm", f"{score:.2f}")
    ends = [part for part in parts if part.name in means]
    lines += [straight(end, box, "right") for end in ends]
    steps = [
        Step(
            ("letters said", "pairs said", "said", "precision"), "Of what is said: the precision."
        ),
        Step(
            ("letters wanted", "pairs wanted", "wanted", "recall"), "Of what is wanted: the recall."
        ),
        Step(
            ("precision", "recall", "score"), f"Both together, recall counting more: {score:.2f}."
        ),
    ]
    title = f"{said} in the place of {wanted}, letter by letter"
    return fitted(title, [*parts, box, *lines], steps, margin=12)


def _across(found: Sequence[tuple[str, bool]]) -> Number:
    """Where a row of these runs ends."""
    return sum(_wide(run) + 12 for run, _ in found) + 8


def _wide(run: str) -> float:
    return text_width(run, 15, bold=True) + 20


def matches(
    words: Sequence[str], reference: Sequence[str], n: int, between: str = " "
) -> list[tuple[str, bool]]:
    """Every run of `n` words, and whether the reference has it; each of its runs counts once.

    Of two texts the words are letters, with nothing `between`.
    """
    ours, theirs = (
        [between.join(some[i : i + n]) for i in range(len(some) - n + 1)]
        for some in (words, reference)
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
        width = _wide(run)
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
