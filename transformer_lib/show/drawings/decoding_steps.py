"""One decoder step of three papers in one layout: Bahdanau's, Luong's, and cross-attention.

The memory stands left, in the columns of the look-up; the decoder's state climbs on the right. What
changes from one to the next is where the query leaves, and which projections there are. Lessons 05
to 07, 12.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from transformer_lib.show.drawings.marks import fitted
from transformer_lib.show.drawings.scene import (
    CELL,
    Box,
    Label,
    Number,
    Operation,
    Part,
    Scene,
    Step,
    Vector,
    arrow,
    fork,
    label,
    operation,
    row,
    straight,
)

MEMORY, KEYS, SCORES, WEIGHTS, VALUES = 0, -96, -180, -262, -346  # heights of the rows
MIX, STATE = 150, 420  # from the last column to where values are mixed, and to the decoder's state


def bahdanau_step(words: Sequence[str]) -> Scene:
    """The query is the state before the step; what it finds goes into the GRU (lesson 06)."""
    stream = _stream(words)
    before = _box("state", stream, MEMORY, "state s(t−1)", "output")
    asks = fork("asks", stream, SCORES)
    gru = _box("gru", stream, WEIGHTS, "GRU cell", "recurrent", "05")
    after = _box("after", stream, VALUES, "state s(t)", "output")
    parts, mix = _attend(words, asks, "additive score", projected=False)
    climb = _climb(before, asks, gru, after)
    found = _arrow_with_name(mix, gru, "context c(t)")
    word = _word(gru)
    says = _said(mix, gru, after, word[0])
    steps = _attending(
        "The decoder asks before it steps: its query is s(t−1).", "state", projected=False
    )
    steps += [
        Step(
            ("mix", "context", "gru", "word", "after"),
            "Context and last word go through the GRU: the next state.",
        ),
        Step(
            ("context", "split", "after", "word", "readout"),
            "State, context and last word, side by side: the readout says word t.",
        ),
    ]
    return fitted(
        "Bahdanau's step", [before, asks, *parts, *found, *word, gru, after, *climb, *says], steps
    )


def luong_step(words: Sequence[str]) -> Scene:
    """The query is the state after the step; what it finds is joined to it (lesson 07)."""
    stream = _stream(words)
    before = _box("state", stream, MEMORY, "state s(t−1)", "output")
    gru = _box("gru", stream, KEYS, "GRU cell", "recurrent", "05")
    asks = fork("asks", stream, SCORES)
    join = _box("join", stream, WEIGHTS, "tanh Wc [c; s]", "feed-forward")
    after = _box("after", stream, VALUES, "h̃(t)", "output")
    parts, mix = _attend(words, asks, "dot or general", projected=False)
    climb = _climb(before, gru, asks, join, after)
    found = _arrow_with_name(mix, join, "context c(t)")
    fed = Box("fed", gru.x + 190, gru.y + 62, 130, 42, "h̃(t−1)", "output")
    way = fed.on("left"), (gru.x + 40, fed.y), gru.on("bottom", 40)
    word = [*_word(gru), fed, arrow(fed, gru, *way, role="output")]  # input feeding
    moved = Box("moved", fed.x, SCORES, 130, 42, "state s(t)", "output")
    on = [moved, straight(asks, moved, "right", role="stream", head=True)]
    says = Box("says", fed.x, VALUES, 130, 42, "word t", "embedding")
    on += [straight(after, says, "right", role="flow"), says]
    steps = [
        Step(
            ("state", "word", "fed", "gru"),
            "The decoder steps first: last word and last h̃ go through the GRU.",
        )
    ]
    steps += _attending("Then it asks: its query is s(t).", "moved", projected=False)
    steps.append(
        Step(
            ("mix", "context", "asks", "join", "after", "says"),
            "Context and state are joined: h̃(t) says the word, and is fed to the next step.",
        )
    )
    drawn = [before, *word, gru, asks, *on, *parts, *found, join, after, *climb]
    return fitted("Luong's step", drawn, steps)


def cross_attention_step(words: Sequence[str]) -> Scene:
    """Cross-attention is Bahdanau's with projections, and its context is added (lesson 12)."""
    stream = _stream(words)
    before = _box("state", stream, MEMORY, "stream", "output")
    asks = fork("asks", stream, SCORES)
    add = operation("add", stream, WEIGHTS, "+")
    after = _box("after", stream, VALUES, "stream", "output")
    parts, mix = _attend(words, asks, "q · k / √d_k", projected=True)
    climb = _climb(before, asks, add, after)
    out = Box("out_proj", (mix.x + stream) / 2, WEIGHTS, 110, 32, "out_proj", "output")
    found = [
        straight(mix, out, "right", role="output"),
        out,
        straight(out, add, "right", role="output"),
    ]
    steps = _attending(
        "The decoder asks: a projection of its stream is the query.", "q_proj", projected=True
    )
    steps.append(
        Step(
            ("mix", "out_proj", "add", "after"),
            "What is found is projected and added to the stream.",
        )
    )
    return fitted("Cross-attention", [before, asks, *parts, *found, add, after, *climb], steps)


def _attending(asks: str, by: str, *, projected: bool) -> list[Step]:
    k, q, v = ([name] * projected for name in ("k_proj", "q_proj", "v_proj"))
    return [
        Step(("memory", *k, "keys"), "The memory: a vector for each word of the source."),
        Step((by, "asks", "asks>q_proj" if projected else "asks>meet"), asks),
        Step(("asks", *q, "meet", "keys", "scores"), "The query meets every key: a score each."),
        Step(("scores", "softmax", "weights"), "Softmax along the source: the weights sum to 1."),
        Step(
            ("memory", *v, "values", "weights", "mix"),
            "Values times weights, summed: the context.",
        ),
    ]


def _stream(words: Sequence[str]) -> Number:
    return CELL[0] * len(words) + STATE


def _box(name: str, x: Number, y: Number, text: str, role: str, lesson: str = "") -> Box:
    return Box(name, x, y, 150, 42, text, role, lesson=lesson)


def _climb(*parts: Part) -> list[Part]:
    return [
        straight(below, above, "top", role="stream", head=isinstance(above, Box))
        for below, above in pairwise(parts)
    ]


def _word(gru: Box) -> list[Part]:
    box = Box("word", gru.x + 190, gru.y, 130, 42, "last word", "embedding")
    return [box, straight(box, gru, "left", role="flow")]


def _said(mix: Operation, gru: Box, after: Box, word: Part) -> list[Part]:
    """The readout, right of the next state: it reads that state, the context and the last word."""
    box = Box("readout", word.x, after.y, 130, 32, "readout", "feed-forward")
    split = fork("split", gru.on("left")[0] - 30, mix.y)
    above = after.on("top")[1] - 13  # not above the name of the values
    ends = split.on("top"), (split.x, above), (box.x, above), box.on("top")
    return [
        split,
        box,
        straight(after, box, "right", role="stream", head=True),
        straight(word, box, "top", role="flow"),
        arrow(split, box, *ends, role="output"),
    ]


def _arrow_with_name(mix: Operation, box: Box, text: str) -> list[Part]:
    middle = (mix.on("right")[0] + box.on("left")[0]) / 2
    words = label("context", middle, mix.y - 16, text, size=14, bold=True)
    return [straight(mix, box, "right", role="output"), words]


def _attend(
    words: Sequence[str], asks: Operation, score: str, *, projected: bool
) -> tuple[list[Part], Operation]:
    """The look-up over the memory's columns, from its query to where values are mixed."""
    m, k, v, s = "mkvs" if projected else "hhhe"  # the letters of lesson 12, and of 06 and 07
    memory = _cells("memory", words, MEMORY, m, "output")
    keys = _cells("keys", words, KEYS, k, "key")
    scores = _cells("scores", words, SCORES, s, "score")
    weights = _cells("weights", words, WEIGHTS, "α", "weight")
    values = _cells("values", words, VALUES, v, "value")
    right, middle = memory.on("right")[0], memory.x
    meet = Box("meet", right + MIX - 40, SCORES, 140, 32, score, "score")
    softmax = Box("softmax", middle, (SCORES + WEIGHTS) / 2, 110, 30, "softmax", "weight")
    mix = operation("mix", right + MIX - 60, WEIGHTS, "Σ")
    named = [
        _name(part, part.on("left")[0] - 14, part.y, anchor="end")
        for part in (keys, scores, weights)
    ]
    named += [_name(values, middle, VALUES - 28), _name(memory, middle, MEMORY + 52)]
    named.append(_query(meet, asks, projected))
    named += [
        label(f"memory.word{i}", CELL[0] * (i + 0.5), MEMORY + 28, word)
        for i, word in enumerate(words)
    ]
    up = [
        *_through("k_proj", memory, keys, (middle, (MEMORY + KEYS) / 2), "key", projected),
        arrow(keys, meet, keys.on("right"), (meet.x, keys.y), meet.on("bottom"), role="key"),
        *_asked(asks, meet, projected),
        straight(meet, scores, "left", role="score"),
        straight(scores, softmax, "top", role="score"),
        straight(softmax, weights, "top", role="weight"),
        straight(weights, mix, "right", role="weight"),
        arrow(values, mix, values.on("right"), (mix.x, values.y), mix.on("top"), role="value"),
        *_aside(memory, values, projected),
    ]
    return [memory, keys, meet, scores, softmax, weights, values, mix, *named, *up], mix


def _name(part: Vector, x: Number, y: Number, **look: str) -> Label:
    """A row's name, in its colour."""
    words = f"{part.name}.title", x, y, part.name
    return label(*words, role=part.role, bold=True, spoken=False, **look)


def _query(meet: Box, asks: Operation, projected: bool) -> Label:
    """The name of what meets the keys, above its line."""
    start, end = meet.on("right")[0], asks.on("left")[0]
    middle = (start + end) / 2 if not projected else (3 * start + end) / 4 - 20
    look = {"role": "query", "bold": True, "spoken": False}
    return label("query.title", middle, SCORES - 16, "query", **look)


def _cells(name: str, words: Sequence[str], y: Number, letter: str, role: str) -> Vector:
    return row(name, 0, y, [f"{letter}{i}" for i in range(len(words))], role, label=name)


def _through(
    name: str, below: Part, above: Part, place: tuple, role: str, projected: bool
) -> list[Part]:
    """Upwards, through a projection where there is one."""
    if not projected:
        return [straight(below, above, "top", role=role)]
    box = Box(name, *place, 90, 30, name, role)
    return [straight(below, box, "top", role=role), box, straight(box, above, "top", role=role)]


def _asked(asks: Operation, meet: Box, projected: bool) -> list[Part]:
    if not projected:
        return [straight(asks, meet, "left", role="query")]
    box = Box("q_proj", (asks.x + meet.on("right")[0]) / 2, SCORES, 80, 30, "q_proj", "query")
    return [
        straight(asks, box, "left", role="query"),
        box,
        straight(box, meet, "left", role="query"),
    ]


def _aside(memory: Vector, values: Vector, projected: bool) -> list[Part]:
    """Left of the columns, from the memory to the values."""
    way = memory.on("left")[0] - 110
    if not projected:
        ends = memory.on("left"), (way, MEMORY), (way, VALUES), values.on("left")
        return [arrow(memory, values, *ends, role="value")]
    box = Box("v_proj", way, (MEMORY + KEYS) / 2, 80, 30, "v_proj", "value")
    return [
        arrow(memory, box, memory.on("left"), (way, MEMORY), box.on("bottom"), role="value"),
        box,
        arrow(box, values, box.on("top"), (way, VALUES), values.on("left"), role="value"),
    ]


def one_vector(source: Sequence[str], target: Sequence[str]) -> Scene:
    """Encoder, one vector, decoder: all that the decoder learns passes through it (lesson 05).

    The encoder reads in both directions; the vector is where each of the two ends.
    """
    reads = [Box(f"encoder.word{i}", 92 * i, 0, 76, 34, w, "token") for i, w in enumerate(source)]
    there = [_state(f"encoder.right{i}", box.x, 82, f"→h{i}") for i, box in enumerate(reads)]
    back = [_state(f"encoder.left{i}", box.x, -82, f"←h{i}") for i, box in enumerate(reads)]
    vector = Box("vector", reads[-1].x + 170, 0, 120, 50, "one vector", "output")
    says = _chain("decoder", ["<bos>", *target[:-1]], vector.x + 140, "s")
    words = [
        Box(f"said.{i}", state.x, -84, 76, 34, word, "token")
        for i, (state, word) in enumerate(zip(_states(says), target, strict=True))
    ]
    chains = [there, back[::-1], [vector, *_states(says)]]
    hand = [
        straight(a, b, "right" if a.x < b.x else "left", role="stream", head=True)
        for chain in chains
        for a, b in pairwise(chain)
    ]
    seen = [straight(word, state, "bottom") for word, state in zip(reads, there, strict=True)]
    seen += [straight(word, state, "top") for word, state in zip(reads, back, strict=True)]
    first, last, gate = back[0], there[-1], vector.x - 85
    over = first.on("top"), (first.x, -132), (vector.x, -132), vector.on("top")
    under = last.on("right"), (gate, last.y), (gate, 0), vector.on("left")
    ends = [arrow(first, vector, *over, role="stream"), arrow(last, vector, *under, role="stream")]
    out = [straight(s, w, "top") for s, w in zip(_states(says), words, strict=True)]
    again = [
        replace(
            arrow(
                *(vector, state, vector.on("bottom"), (vector.x, 46), (state.x - 18, 46)),
                *(state.on("bottom", -18),),
                role="output",
            ),
            name=f"vector.again>{state.name}",
        )
        for state in _states(says)
    ]
    sides = [
        label(f"{name}.title", (row[0].x + row[-1].x) / 2, y, name, bold=True)
        for name, row, y in (("encoder", reads, 130), ("decoder", _states(says), 130))
    ]
    steps = [
        Step(
            ("encoder",),
            "The encoder reads word by word, from the left and from the right; its states remember.",
        ),
        Step(
            (first.name, last.name, "vector"),
            "Where either reading ends: side by side, these two are all that is handed over.",
        ),
        Step(
            ("vector", "decoder", "said"),
            "The decoder starts from it, reads it again at each step, and says a word. The "
            "readout, which is not drawn, reads the vector and the word as well.",
        ),
    ]
    drawn = [*reads, *there, *back, vector, *says, *words, *sides, *hand, *seen, *ends]
    return fitted("Encoder, one vector, decoder", [*drawn, *again, *out], steps)


def _state(name: str, x: Number, y: Number, text: str) -> Box:
    return Box(name, x, y, 62, 50, text, "recurrent")


def _chain(name: str, words: Sequence[str], left: Number, letter: str) -> list[Part]:
    """A state for each word, in the order of the words, and what it reads below it."""
    parts: list[Part] = []
    for i, word in enumerate(words):
        state = _state(f"{name}.{i}", left + 92 * i, 0, f"{letter}{i}")
        read = Box(f"{name}.word{i}", state.x, 84, 76, 34, word, "token")
        parts += [read, straight(read, state, "top"), state]
    return parts


def _states(parts: Sequence[Part]) -> list[Part]:
    return [part for part in parts if isinstance(part, Box) and part.role == "recurrent"]
