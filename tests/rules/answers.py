"""No answer stands in clear below its question.

JupyterLab shows of a folded output its first line, which may be the answer, unless the code above it
is folded too: then it shows the first line of the code, and nothing of the output. Running the cell
opens the output alone.
"""

import ast

from rules import parts
from transformer_lib.publish.lessons import SHOWN, place, tags

TOLD = {"report", "report_table", "assert_close"}
WITHIN = "<details>"


def out_of_sight(notebook):
    """Below a prediction: a folded cell, folded checks, and the sentence that reads it, folded."""
    wrong = []
    cells = parts.read(notebook.cells)
    for at, cell in enumerate(cells):
        if parts.is_prediction(cell):
            asked = cell.source.partition("**Predict first")[2][:50]
            wrong += [f"{what}, below {asked!r}" for what in _below(cells[at + 1 :])]
    return wrong


def _below(cells):
    until = next((i for i, cell in enumerate(cells) if cell.cell_type != "code"), len(cells))
    answers, after = cells[:until], cells[until : until + 1]
    if not answers:
        return ["no cell that answers"]
    wrong = [fault for cell in answers for fault in _in_sight(cell)]
    if _checks(answers[0].source):
        wrong.append("an assert or a band gives the answer away: give it a cell of its own")
    if any(not cell.source.startswith((WITHIN, "#")) for cell in after):
        wrong.append("what reads the answer is not folded (<details>)")
    return wrong


def _in_sight(cell):
    hidden = cell.metadata.get("jupyter", {})
    if not (hidden.get("source_hidden") and hidden.get("outputs_hidden")):
        yield "code and output should both be folded (source_hidden, outputs_hidden)"
    if place(cell) in SHOWN and "hide-input" not in tags(cell):
        yield "the code would stand on the slide (tag hide-input)"
    if not cell.source.startswith("# ") or any(c.isdigit() for c in cell.source.split("\n")[0]):
        yield "the first line of the code, which is shown, should be a comment without numbers"


def _checks(source):
    """Whether code asserts something, or holds a band."""
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in TOLD)
        for node in ast.walk(ast.parse(source))
    )
