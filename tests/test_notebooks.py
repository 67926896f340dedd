"""What every committed lesson must be, besides green under nbval."""

import ast
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LESSON = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
UNCOMPARED = {"nbval-ignore-output", "nbval-skip"}


def read(path):
    return nbformat.read(path, as_version=4)


def code(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def is_chart(data):
    return "image/png" in data or "<img" in data.get("text/html", "")


def library_names():
    names = set()
    for path in (ROOT / "transformer_lib").glob("[!_]*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names |= {
            n.name
            for n in tree.body
            if isinstance(n, ast.FunctionDef | ast.ClassDef) and n.name[0] != "_"
        }
    return names


def test_there_are_lessons():
    assert {"00_start_here", "15_translation"} <= {path.stem for path in LESSONS}


@LESSON
def test_a_lesson_is_stored_as_executed_from_top_to_bottom(path):
    assert [cell.execution_count for cell in code(path)] == list(range(1, len(code(path)) + 1))


@LESSON
def test_nearly_every_output_is_compared(path):
    """A chart of trained values cannot be: the cell before it must check what the chart shows. Of
    the rest, a tenth.
    """
    cells = code(path)
    left_out = []
    for before, cell in zip([None, *cells], cells, strict=False):
        if UNCOMPARED & set(cell.metadata.get("tags", [])):
            if any(is_chart(output.get("data", {})) for output in cell.outputs):
                assert re.search(r"\b(assert|report|report_table)\b", before.source), cell.source
            else:
                left_out.append(cell.source)
    assert len(left_out) <= len(cells) / 10, left_out


@LESSON
def test_no_cell_is_longer_than_30_lines_and_none_hides_a_magic(path):
    for cell in code(path):
        assert len(cell.source.splitlines()) <= 30
        assert max(map(len, cell.source.splitlines())) <= 100, "it scrolls sideways on a projector"
        assert not re.search(r"^\s*[%!]", cell.source, re.M), (
            "nbval passes over a cell with an unknown magic"
        )


@LESSON
def test_no_name_of_the_library_is_defined_again(path):
    defined = {
        node.name
        for cell in code(path)
        for node in ast.parse(cell.source).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert not defined & library_names()


@LESSON
def test_outputs_are_small_still_and_described(path):
    assert path.stat().st_size < 1_000_000
    for cell in code(path):
        for output in cell.outputs:
            assert output.output_type != "error" or "raises-exception" in cell.metadata.get(
                "tags", []
            )
            data = output.get("data", {})
            assert "image/svg+xml" not in data
            assert "application/vnd.jupyter.widget-view+json" not in data, "a stored progress bar"
            if "image/png" in data:
                assert len(output.metadata["image/png"]["alt"]) > 20
            for picture in re.findall("<img[^>]*", data.get("text/html", "")):
                assert re.search('alt="[^"]{20}', picture)
            assert output.get("name") != "stderr", output.get("text")


@LESSON
def test_nothing_of_one_machine_is_stored(path):
    assert not re.search(r"/(root|home/\w+|tmp|Users|work)/", path.read_text(encoding="utf-8"))


@LESSON
def test_links_between_files_lead_somewhere(path):
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", cell.source):
                assert (path.parent / target).exists(), target
