"""How a sentence is written: the tree that a search walks, and what a step may keep. Lesson 16."""

from collections.abc import Mapping, Sequence
from itertools import pairwise

from transformer_lib.show.drawings.marks import fitted, number
from transformer_lib.show.drawings.scene import (
    CELL,
    Arrow,
    Box,
    Label,
    Number,
    Part,
    Scene,
    Step,
    arrow,
    label,
    row,
    straight,
)

Words = tuple[str, ...]
FATES = {"open": "attention", "kept": "attention", "dropped": "norm", "finished": "value"}
NODE, ACROSS, DOWN = (84, 44), 120, 54  # a word's box, from step to step, from leaf to leaf
ROW, GAP = 48, 40  # from step to step of the cache, and between its columns


def search_tree(nodes: Mapping[Words, tuple[float, str]], title: str = "A tree") -> Scene:
    """Every beginning as the word that ends it, with a number; steps across, `<bos>` at the left.

    `nodes` maps a beginning to its number and its fate: open in a tree that nobody has searched
    yet, else kept, dropped or finished, and then there is a drawing step for each word, and one
    for the finished sentence with the largest number.
    """
    places = _places(nodes)
    boxes = {(): Box(_named(()), 0, DOWN * places[()], *NODE, "<bos>", "token")}
    lines: list[Part] = []
    for words, (value, fate) in nodes.items():
        if fate not in FATES:
            raise ValueError(f"{' '.join(words)!r} is {fate!r}, and none of {', '.join(FATES)}")
        place = ACROSS * len(words), DOWN * places[words]
        told = f"{'× ' * (fate == 'dropped')}{number(value)}"
        boxes[words] = Box(_named(words), *place, *NODE, words[-1], FATES[fate], told)
        lines.append(_branch(boxes[words[:-1]], boxes[words]))
    fates = {fate for _, fate in nodes.values()}
    legend = _legend(fates - {"open"}, DOWN * max(places.values()) + 62)
    return fitted(title, [*boxes.values(), *lines, *legend], _told(nodes) if legend else ())


def beam_tree(
    shares: Mapping[Words, float], beams: Sequence[Mapping[Words, float]], title: str = "A beam"
) -> Scene:
    """The tree of a beam search: below each word the probability of all that was said.

    `shares` are those of the last word of every beginning, `beams` what was kept after each step
    with its probability; the first of them is {(): 1}.
    """
    nodes = {}
    for before, after in pairwise(beams):
        for words, share in shares.items():
            if words[:-1] in before:
                ends = "finished" if words[-1] == "<eos>" else "kept"
                nodes[words] = before[words[:-1]] * share, ends if words in after else "dropped"
    return search_tree({words: nodes[words] for words in shares if words in nodes}, title)


def _named(words: Words) -> str:
    """The name of its box; a > would be taken for a line."""
    return f"d{len(words)}.{'_'.join(word.strip('<>') for word in words)}"


def _places(nodes: Mapping[Words, object]) -> dict[Words, float]:
    """A row for every node: leaves one below the other, a parent in the middle of its children."""
    if not nodes:
        raise ValueError("no beginnings to draw")
    children: dict[Words, list[Words]] = {}
    for words in nodes:
        if words[:-1] and words[:-1] not in nodes:
            raise ValueError(f"{' '.join(words)!r} is there, but not what it grew from")
        children.setdefault(words[:-1], []).append(words)
    places: dict[Words, float] = {}
    leaves = iter(range(len(nodes)))

    def place(words: Words) -> float:
        below = [place(child) for child in children.get(words, [])]
        places[words] = (below[0] + below[-1]) / 2 if below else float(next(leaves))
        return places[words]

    place(())
    return places


def _branch(parent: Box, child: Box) -> Arrow:
    start, end = parent.on("right"), child.on("left")
    if start[1] == end[1]:
        return straight(parent, child, "right", head=False)
    middle = (start[0] + end[0]) / 2
    return arrow(parent, child, start, (middle, start[1]), (middle, end[1]), end, head=False)


def _legend(fates: set[str], y: Number) -> list[Label]:
    words = {"kept": "kept, goes on", "dropped": "× dropped", "finished": "finished"}
    roles = {"kept": "attention", "dropped": "aside", "finished": "value"}
    shown = [fate for fate in words if fate in fates]
    return [
        label(f"legend.{fate}", 140 * i, y, words[fate], role=roles[fate], bold=True, spoken=False)
        for i, fate in enumerate(shown)
    ]


def _told(nodes: Mapping[Words, tuple[float, str]]) -> list[Step]:
    """A step for each word, and one for the best that is finished."""
    steps = []
    for depth in range(1, max(map(len, nodes)) + 1):
        here = {words: fate for words, (_, fate) in nodes.items() if len(words) == depth}
        said = "; ".join(
            f"{verb} {', '.join(found)}"
            for verb, found in (
                ("kept:", [_quoted(words) for words, fate in here.items() if fate != "dropped"]),
                ("dropped:", [_quoted(words) for words, fate in here.items() if fate == "dropped"]),
            )
            if found
        )
        lit = tuple(f"d{d}" for d in range(depth + 1))
        steps.append(Step((*lit, "legend"), f"{said[0].upper()}{said[1:]}."))
    finished = {words: value for words, (value, fate) in nodes.items() if fate == "finished"}
    if finished:
        best = max(finished, key=finished.get)
        path = [best[:depth] for depth in range(len(best) + 1)]
        steps.append(
            Step(tuple(map(_named, path)), f"Found: {_quoted(best)}, {number(finished[best])}.")
        )
    return steps


def _quoted(words: Words) -> str:
    """The last three words of a beginning."""
    return f"“{'… ' if len(words) > 3 else ''}{' '.join(words[-3:])}”"


def growing_cache(reads: Sequence[str], says: Sequence[str]) -> Scene:
    """Self-attention with a cache: at each step one query, one new key and one new value.

    Row t is step t: the token that is read, its query, all keys and all values, the new ones
    with a thick border, and the token that is said.
    """
    if len(reads) != len(says):
        raise ValueError(f"{len(reads)} tokens to read and {len(says)} to say: one for each")
    width = CELL[0] * len(reads)
    left = {"reads": 0, "query": 84 + GAP}
    left["keys"] = left["query"] + CELL[0] + GAP
    left["values"] = left["keys"] + width + GAP
    left["says"] = left["values"] + width + GAP
    parts: list[Part] = []
    for t, (read, said) in enumerate(zip(reads, says, strict=True)):
        parts += _step(t, read, said, left)
    middle = {"reads": 42, "query": CELL[0] / 2, "says": 42}
    heads = {"reads": "reads", "query": "query", "keys": "keys", "values": "values", "says": "says"}
    roles = {"query": "query", "keys": "key", "values": "value"}
    parts += [
        label(
            f"head.{name}",
            left[name] + middle.get(name, width / 2),
            -44,
            text,
            role=roles.get(name, "words"),
            bold=True,
        )
        for name, text in heads.items()
    ]
    steps = [
        Step((f"step{t}", "head"), f"Step {t} reads “{read}”: {_new(t)}.")
        for t, read in enumerate(reads)
    ]
    return fitted("The cache grows", parts, steps)


def _new(t: int) -> str:
    kept = ("", "k0 and v0 are kept", f"k0 to k{t - 1} and v0 to v{t - 1} are kept")[min(t, 2)]
    return ", ".join(filter(None, (f"q{t}, k{t} and v{t} are new", kept)))


def _step(t: int, read: str, said: str, left: Mapping[str, Number]) -> list[Part]:
    y, name = ROW * t, f"step{t}"
    token = Box(f"{name}.reads", 42, y, 84, 30, read, "token")
    query = row(f"{name}.query", left["query"], y, [f"q{t}"], "query", label="query:", strong=True)
    columns: list[Part] = []
    for kind, letter, role in (("keys", "k", "key"), ("values", "v", "value")):
        if t:
            kept = [f"{letter}{i}" for i in range(t)]
            columns.append(row(f"{name}.{kind}", left[kind], y, kept, role, label=f"{kind} kept:"))
        at = left[kind] + CELL[0] * t
        look = {"label": "new:", "strong": True}
        columns.append(row(f"{name}.new {kind}", at, y, [f"{letter}{t}"], role, **look))
    word = Box(f"{name}.says", left["says"] + 42, y, 84, 30, said, "output")
    new = {part.name.rpartition(" ")[2]: part for part in columns if " " in part.name}
    begins = {part.name.rpartition(".")[2]: part for part in columns if " " not in part.name}
    lines = [
        straight(token, query, "right"),
        straight(query, begins.get("keys", new["keys"]), "right", role="query"),
        straight(new["keys"], begins.get("values", new["values"]), "right", role="weight"),
        straight(new["values"], word, "right", role="value"),
    ]
    return [token, query, *columns, word, *lines]
