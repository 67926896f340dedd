"""The instructor's notebooks: `make instructor`.

Each exercise is solved, each note and each predicted answer unfolded, what goes deeper is open and
marked, and all of it is executed. The teaching plan beside them is made by `plan.py`.
"""

import copy
import os
from datetime import datetime
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from transformer_lib.exercises import exercises
from transformer_lib.publish.lessons import CHECK, EFFORT, instructor_note, tags, unfolded

AT_HOME = (
    r"\g<0>\n\n> **Behind the core.** To be read at home: no minute of the class is meant for it."
)
STARTED_AND_ENDED = ("iopub.execute_input", "shell.execute_reply")
# A bar would be stored, and stand still; and no one's own library belongs in the edition.
UNDISTURBED = {"TQDM_DISABLE": "1", "TRANSFORMER_LIB_MINE": "off"}


def write_notebook(path: Path, directory: Path, *, execute: bool = True) -> Path:
    """Writes the instructor's edition of a notebook and returns its file.

    An exercise whose solution does not pass its check stops it.
    """
    notebook = solved(nbformat.read(path, as_version=4))
    if execute:
        NotebookClient(
            notebook,
            timeout=1800,
            resources={"metadata": {"path": str(path.parent)}},
            extra_arguments=["--log-level=ERROR"],
        ).execute(env={**os.environ, **UNDISTURBED})
        for cell in notebook.cells:
            if "check" in tags(cell):
                verdict = cell.outputs[-1].data["text/plain"]
                if not verdict.startswith("✓"):
                    raise ValueError(f"{path.name}: {cell.source} says {verdict}")
    directory.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, directory / path.name)
    return directory / path.name


def stored_seconds(path: Path) -> float:
    """How long the stored run of a notebook took, as its cells say; 0 where they do not."""
    seconds = 0.0
    for cell in nbformat.read(path, as_version=4).cells:
        times = cell.metadata.get("execution", {})
        if "shell.execute_reply" in times:
            start, end = (datetime.fromisoformat(times[at]) for at in STARTED_AND_ENDED)
            seconds += (end - start).total_seconds()
    return seconds


def solved(notebook: NotebookNode) -> NotebookNode:
    """A copy in which stubs hold their solutions and nothing is folded."""
    notebook = copy.deepcopy(notebook)
    stub = None
    for cell in notebook.cells:
        _unfold(cell)
        if note := instructor_note(cell):
            cell.source = f"> **For the instructor · {note.minutes} min**\n>\n" + "\n".join(
                f"> {line}".rstrip() for line in note.text.splitlines()
            )
        elif "exercise" in tags(cell):
            stub = cell
        elif "check" in tags(cell):
            stub.source = exercises()[CHECK.search(cell.source)[1]].source()
    return notebook


def _unfold(cell: NotebookNode) -> None:
    cell.metadata.get("jupyter", {}).pop("outputs_hidden", None)
    cell.metadata.pop("collapsed", None)
    if cell.metadata.pop("jp-MarkdownHeadingCollapsed", False):
        cell.source = EFFORT.sub(AT_HOME, cell.source)
    if cell.cell_type == "markdown" and not instructor_note(cell):
        cell.source = unfolded(cell.source)
