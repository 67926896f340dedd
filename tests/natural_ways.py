"""Natural ways in which students lay out a right answer, as notebooks of lesson 03.

All pass in a kernel when they are run from top to bottom, and so they have to when they are graded.
"""

from planted_class import ADDITIVE, MASKED, answered, cell_of, check_of, loose

NEG = "NEG = float('-inf')"
BY_NEG = MASKED
TABLE = "TABLE = {}"
WAYS = {  # cells around the stub of lesson 03's masked softmax: above it, in its place, between it and its check
    "a constant in a cell above": ([NEG], BY_NEG, []),
    "a constant between answer and check": ([], BY_NEG, [NEG]),
    "a negated attribute": (["NEG = -torch.inf"], BY_NEG, []),
    "an annotated constant": (["import math\nNEG: float = -math.inf"], BY_NEG, []),
    "unpacked from a tuple": (["(NEG, POS), EPS = (-torch.inf, torch.inf), 1e-9"], BY_NEG, []),
    "made in two steps": (["POS = torch.inf\nSIGN = -1", "NEG = SIGN * POS"], BY_NEG, []),
    "augmented": (["NEG = torch.inf", "NEG *= -1"], BY_NEG, []),
    "one after the other": (["NEG = 0", "NEG = 1 - torch.inf"], BY_NEG, []),
    "chosen by a condition": (["if True:\n    NEG = -torch.inf\nelse:\n    NEG = 0"], BY_NEG, []),
    "chosen by an exception": (
        ["try:\n    NEG = torch.no_such\nexcept AttributeError:\n    NEG = -torch.inf"],
        BY_NEG,
        [],
    ),
    "in a loop": (["NEG = 0.0\nfor _ in range(2):\n    NEG = NEG - torch.inf"], BY_NEG, []),
    "by the walrus": (["print(NEG := -torch.inf)"], BY_NEG, []),
    "with something open": (
        ["with torch.no_grad():\n    NEG = -torch.ones(()).exp() / 0"],
        BY_NEG,
        [],
    ),
    "from a tensor filled in place": (
        ["FILL = torch.zeros(1)", "FILL.fill_(-torch.inf)", "NEG = FILL.item()"],
        BY_NEG,
        [],
    ),
    "from a tensor filled by torch": (
        ["FILL = torch.zeros(1)\ntorch.nn.init.constant_(FILL, -torch.inf)", "NEG = FILL.item()"],
        BY_NEG,
        [],
    ),
    "from a table with a key set": (
        [TABLE, "TABLE['neg'] = -torch.inf", "NEG = TABLE['neg']"],
        BY_NEG,
        [],
    ),
    "from a list appended to": (
        ["LIST = []\nLIST.append(-torch.inf)", "(NEG,) = LIST"],
        BY_NEG,
        [],
    ),
    "by a helper": (["def neg():\n    return -torch.inf", "NEG = neg()"], BY_NEG, []),
    "by a helper's helper": (
        ["one = lambda: torch.inf", "def neg(sign=-1):\n    return sign * one()", "NEG = neg()"],
        BY_NEG,
        [],
    ),
    "from a data class": (
        [
            "from dataclasses import dataclass",
            "@dataclass\nclass Settings:\n    neg: float = -torch.inf",
            "NEG = Settings().neg",
        ],
        BY_NEG,
        [],
    ),
    "an import of one's own": (["import numpy as np"], BY_NEG.replace("NEG", "-np.inf"), []),
    "everything of a module": (["from math import *"], BY_NEG.replace("NEG", "-inf"), []),
    "an import inside a cell that prints": (
        ["import numpy as np\nprint(np.pi)\nx = 1"],
        BY_NEG.replace("NEG", "-np.inf"),
        [],
    ),
    "a magic above": (["%config InlineBackend.figure_format = 'svg'\n" + NEG], BY_NEG, []),
    "timed": (["%%time\n" + NEG], "%%time\n" + BY_NEG, []),
    "tried out in its cell": (
        [NEG, "some = torch.eye(2)"],
        BY_NEG + "print(my_masked_softmax(some, some > 0))\n",
        [],
    ),
    "tried out above the answer": (
        [NEG, "some = torch.eye(2)"],
        "print(some @ some)\n" + BY_NEG,
        [],
    ),
    "shown": ([NEG], "display(torch.eye(2))\n" + BY_NEG, []),
    "with types": (
        [NEG],
        BY_NEG.replace("(scores, mask)", "(scores: torch.Tensor, mask) -> torch.Tensor"),
        [],
    ),
    "in a cell of its own below the stub": ([NEG], None, [BY_NEG]),
    "in a cell of its own above the stub, which is gone": ([NEG, BY_NEG], "", []),
    "by a name for it": (
        [NEG],
        BY_NEG.replace("my_masked", "masked_by_me"),
        ["my_masked_softmax = masked_by_me_softmax"],
    ),
    "decorated": ([NEG, "def same(f):\n    return f"], "@same\n" + BY_NEG, []),
    "in one line": (
        ["soft = lambda x: x.exp() / x.exp().sum(-1, keepdim=True).clamp(min=1e-30)"],
        "my_masked_softmax = lambda scores, mask: soft((scores - (scores * mask).amax(-1, keepdim=True))"
        ".masked_fill(~mask, -torch.inf))\n",
        [],
    ),
    "spoilt after its check": ([NEG], BY_NEG, []),
    "a default that is another later": (
        [NEG],
        BY_NEG.replace("(scores, mask)", "(scores, mask, neg=NEG)").replace(
            "mask, NEG)", "mask, neg)"
        ),
        ["NEG = 0.0"],
    ),
    "beside training": (
        [
            "net = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters())",
            "for _ in range(10**9):\n    opt.step()\n",
            NEG,
        ],
        BY_NEG,
        [],
    ),
}
ENDLESS = ("beside training",)  # nobody waits for it in a test


def laid_out(way):
    """The notebook of one of the ways."""
    above, answer, between = WAYS[way]
    notebook = answered("03", my_additive_score=ADDITIVE)
    cells, stub = notebook["cells"], cell_of(notebook, "my_masked_softmax")
    if answer is not None:
        stub["source"] = answer
    at = cells.index(stub)
    if way == "spoilt after its check":
        cells.append(loose("def my_masked_softmax(scores, mask):\n    return scores"))
    check = cells.index(check_of(notebook, "my_masked_softmax"))
    cells[check:check] = map(loose, between)
    cells[at:at] = map(loose, above)
    if answer == "":
        cells.remove(stub)
    return notebook


def sources(way):
    """The set-up of the notebook, and its cells from the first added one to the last exercise's check."""
    notebook = laid_out(way)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    (set_up,) = [cell for cell in code if "setup" in cell["metadata"].get("tags", [])]
    added = [
        cell for cell in code if cell["id"] == "new" or "_masked_softmax" in "".join(cell["source"])
    ]
    return ["".join(cell["source"]) for cell in [set_up, *added]]
