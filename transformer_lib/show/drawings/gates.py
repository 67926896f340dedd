"""A GRU cell, entry by entry: what its two gates do. Lesson 05."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor

from transformer_lib.show.drawings.marks import fitted, number
from transformer_lib.show.drawings.scene import (
    CELL,
    Label,
    Part,
    Scene,
    Step,
    Vector,
    arrow,
    label,
    row,
    straight,
)

PITCH = 62  # from row to row
BESIDE = 84  # from a row's end to the line that passes by it


def gru_cell(
    old: Float[Tensor, " width"],
    from_input: Float[Tensor, " width"],
    from_state: Float[Tensor, " width"],
    reset: Float[Tensor, " width"],
    update: Float[Tensor, " width"],
    told: Sequence[str] = (),
) -> Scene:
    """The step of a GRU in torch's form, a column for each entry of the state.

    `from_input` is W_n x, `from_state` is U_n h: the two parts of the proposal, each with its
    bias. The gates lie between 0 and 1, and are coloured by how far they are open. `told` names
    what happens to each entry, below it.
    """
    proposal = (from_input + reset * from_state).tanh()
    new = (1 - update) * proposal + update * old
    lines = {
        "old": ("old state h", old, "output"),
        "state": ("from the old state, U h", from_state, "token"),
        "reset": ("reset gate r", reset, "weight"),
        "input": ("from the input, W x", from_input, "token"),
        "proposal": ("proposal n", proposal, "recurrent"),
        "update": ("update gate z", update, "weight"),
        "new": ("new state h′", new, "output"),
    }
    rows: dict[str, Vector] = {}
    names: list[Label] = []
    for i, (name, (text, entries, role)) in enumerate(lines.items()):
        shares = tuple(entries.tolist()) if role == "weight" else ()
        cells = [number(entry) for entry in entries.tolist()]
        strong = name in ("old", "new")
        rows[name] = row(name, 0, i * PITCH, cells, role, label=text, shares=shares, strong=strong)
        look = {"role": role if role != "token" else "aside", "anchor": "end", "bold": strong}
        names.append(label(f"{name}.name", -112, i * PITCH, text, spoken=False, **look))
    end = len(old) * CELL[0]
    flow, signs = _flow(rows, end)
    below = [
        label(f"told.{i}", (i + 0.5) * CELL[0], 6 * PITCH + 30, text, size=13)
        for i, text in enumerate(told)
    ]
    steps = (
        Step(
            ("old", "state", "reset", "state>proposal"),
            "The reset gate r lets through what the old state says to the proposal.",
        ),
        Step(
            ("state", "reset", "input", "proposal"),
            "With what the input says, and after tanh, this is the proposal n.",
        ),
        Step(
            ("old", "proposal", "update", "new", "told"),
            "The update gate z decides, entry by entry, between the old state and the proposal.",
        ),
    )
    drawn = [*names, *rows.values(), *signs, *below, *flow]
    return fitted("A step of a GRU", drawn, steps)


def _flow(rows: dict[str, Vector], end: float) -> tuple[list[Part], list[Label]]:
    """What goes where: the proposal's parts on the right, the kept state on the left."""
    old, state, proposal, new = (rows[name] for name in ("old", "state", "proposal", "new"))
    left, right, far = -26, end + BESIDE / 2, end + BESIDE
    flow = [
        straight(old, state, "bottom"),
        arrow(state, proposal, *_around(state, proposal, right)),
        straight(rows["input"], proposal, "bottom"),
        arrow(proposal, new, *_around(proposal, new, far, 6), role="recurrent"),
        arrow(old, new, *_around(old, new, left), role="output"),
    ]
    signs = [
        label("reset.sign", right + 8, rows["reset"].y, "times r", anchor="start", spoken=False),
        label(
            "update.sign", far + 8, rows["update"].y, "times 1 − z", anchor="start", spoken=False
        ),
        label(
            "update.kept", left - 8, rows["update"].y + 22, "times z", anchor="end", spoken=False
        ),
    ]
    return flow, signs


def _around(upper: Part, lower: Part, x: float, shift: float = 0) -> tuple:
    """From the side of a row, along x, back into the side of a lower one."""
    side = "right" if x > upper.x else "left"
    start, stop = upper.on(side, shift), lower.on(side, -shift)
    return start, (x, start[1]), (x, stop[1]), stop
