"""What every committed lesson must be, besides green under nbval."""

import ast
import re
from functools import cache
from pathlib import Path

import matplotlib as mpl
import nbformat
import pytest
from rules import drawings, parts

from transformer_lib import exercises
from transformer_lib.publish.lessons import cut, is_predicted

ROOT = Path(__file__).parent.parent
LESSONS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LESSON = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
UNCOMPARED = {"nbval-ignore-output", "nbval-skip"}


@cache
def read(path):
    """A lesson as it is stored, for all tests: none changes it."""
    return nbformat.read(path, as_version=4)


def code(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def tagged(path, tag):
    return [cell for cell in read(path).cells if tag in cell.metadata.get("tags", [])]


def is_chart(data):
    return "image/png" in data or "<img" in data.get("text/html", "")


@cache
def built(path):
    """The cells of the sections in which the student writes a part of the library."""
    sections = [s for s in cut(read(path)) if s.heading.startswith(parts.BUILD)]
    return {cell.id for section in sections for cell in section.cells}


@cache
def library_names():
    names = set()
    for path in (ROOT / "transformer_lib").glob("[!_]*.py"):
        if path.stem in ("cli", "commands"):  # for the command line, not for lessons
            continue
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
    """A chart of trained values cannot be: the cell before it must check what the chart shows; the
    one after it, where the chart answers a prediction, and a check before it would tell. Of the
    rest, a tenth.
    """
    cells = code(path)
    left_out = []
    for before, cell, after in zip([None, *cells], cells, [*cells[1:], None], strict=False):
        if UNCOMPARED & set(cell.metadata.get("tags", [])):
            if any(is_chart(output.get("data", {})) for output in cell.outputs):
                checks = before.source + (after.source if after and is_predicted(cell) else "")
                assert re.search(r"\b(assert|report|report_table)\b", checks), cell.source
            else:
                left_out.append(cell.source)
    assert len(left_out) <= len(cells) / 10, left_out


@LESSON
def test_no_line_is_wider_than_a_projector_and_none_hides_a_magic(path):
    for cell in code(path):
        assert max(map(len, cell.source.splitlines())) <= 100, "it scrolls sideways on a projector"
        assert not re.search(r"^\s*[%!]", cell.source, re.M), (
            "nbval passes over a cell with an unknown magic"
        )


@LESSON
def test_jupyterlab_finds_nothing_to_change_in_it(path):
    """Another name for the kernel, and a lesson that was only opened asks to be saved."""
    metadata = read(path).metadata
    kernel = metadata.kernelspec
    assert (kernel.name, kernel.display_name) == ("python3", "Python 3 (ipykernel)")
    assert "widgets" not in metadata


@LESSON
def test_no_name_of_the_library_is_defined_again_but_in_a_build(path):
    """There the student writes the library's part, with its helpers."""
    defined = {
        node.name
        for cell in code(path)
        if cell.id not in built(path)
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
            if "image/svg+xml" in data:  # a drawing: vector, and with words beside it
                assert drawings.faults(data) == []
            assert "application/vnd.jupyter.widget-view+json" not in data, "a stored progress bar"
            if "image/png" in data:
                assert len(output.metadata["image/png"]["alt"]) > 20
            for picture in re.findall("<img[^>]*", data.get("text/html", "")):
                assert re.search('alt="[^"]{20}', picture)
            assert output.get("name") != "stderr", output.get("text")


@LESSON
def test_nothing_of_one_machine_is_stored(path):
    assert not re.search(r"/(root|home/\w+|tmp|Users|work)/", path.read_text(encoding="utf-8"))


CHECK = re.compile(r'check\("([A-Za-z_.]+)", ([Mm]y_?\w+)\)')  # a function, or a class


def check_calls(path):
    """(exercise, name of the student's function or class) of every check of a lesson."""
    return [CHECK.fullmatch(cell.source.strip()).groups() for cell in tagged(path, "check")]


def parameters(definition):
    """The parameters of a function, or of each method of a class, by its name."""
    functions = definition.body if isinstance(definition, ast.ClassDef) else [definition]
    return {
        function.name: [argument.arg for argument in function.args.args]
        for function in functions
        if isinstance(function, ast.FunctionDef)
    }


def is_open(definition):
    """Whether something is left to write: of a function all, of a class at least a gap."""
    if isinstance(definition, ast.ClassDef):
        return any(isinstance(n, ast.Constant) and n.value is ... for n in ast.walk(definition))
    return ast.unparse(definition.body) == "..."


def test_a_stub_is_open_where_dots_stand():
    for source in (
        "def f(x):\n    # here\n    ...",
        "class A(nn.Module): ...",
        "class A:\n    def __init__(self):\n        super().__init__()\n\n    def forward(self, x): ...",
    ):
        assert is_open(ast.parse(source).body[0]), source
    for source in ("def f(x):\n    return x", "class A:\n    def f(self):\n        return 1"):
        assert not is_open(ast.parse(source).body[0]), source


@LESSON
def test_every_stub_is_the_solution_with_an_empty_body(path):
    """What it shows of the solution is the solution's: name and parameters, of a class its methods'."""
    stubs = {}
    for cell in tagged(path, "exercise"):
        (stub,) = ast.parse(cell.source).body
        assert is_open(stub)
        stubs[stub.name] = parameters(stub)
    called = check_calls(path)
    assert called
    assert list(stubs) == [answer for _, answer in called]
    for name, answer in called:
        exercise = exercises.exercises()[name]
        solution = ast.parse(exercise.source()).body[-1]  # behind what it needs
        assert exercise.name == answer
        assert stubs[answer].items() <= parameters(solution).items()


@LESSON
def test_an_open_exercise_is_stored_as_not_attempted(path):
    for cell in tagged(path, "check"):
        (output,) = cell.outputs
        assert "Not attempted yet" in output.data["text/markdown"]


@LESSON
def test_every_check_passes_with_the_solution_put_into_the_stub(path, monkeypatch):
    """Set-up cell and exercise cells alone, as a student who copies the solution would run them."""
    mpl.use("agg")
    shown = []
    monkeypatch.setattr(exercises, "display", shown.append)
    names = {}
    for cell in tagged(path, "setup"):
        exec(cell.source, names)
    solutions = {e.name: e.source() for e in exercises.exercises().values()}
    for cell, (name, function) in zip(tagged(path, "check"), check_calls(path), strict=True):
        exec(solutions[function], names)
        exec(cell.source, names)
        assert shown[-1].passed, f"{name}: {shown[-1]}"


def minutes(text):
    return int(re.search(r"(\d+) min", text)[1])


@LESSON
def test_what_people_get_wrong_is_refuted_by_the_next_cell(path):
    cells = read(path).cells
    start = next(i for i, c in enumerate(cells) if c.source == "## What people get wrong")
    for cell, after in zip(cells[start:], cells[start + 1 :], strict=False):
        if cell.source.startswith("**“"):
            assert after.cell_type == "code"


@LESSON
def test_the_instructors_minutes_add_up_to_the_lessons(path):
    notes = [cell.source for cell in tagged(path, "instructor")]
    assert notes
    for note in notes:
        assert re.match(r"<details><summary>For the instructor · \d+ min</summary>\n\n", note)
        assert note.endswith("\n\n</details>")
    assert sum(map(minutes, notes)) == minutes(read(path).cells[0].source)


@LESSON
def test_every_cell_knows_its_place_on_a_slide(path):
    places = {"slide", "subslide", "fragment", "notes", "skip"}
    cells = read(path).cells
    kinds = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in cells]
    assert set(kinds) <= places
    assert kinds[0] == "slide"
    for cell, kind in zip(cells, kinds, strict=True):
        tags = cell.metadata.get("tags", [])
        if "instructor" in tags:
            assert kind == "notes"
        if cell.source.startswith("#") and cell.cell_type == "markdown":
            assert kind == "slide"


@LESSON
def test_the_answer_to_a_prediction_is_folded_until_it_is_run(path):
    asked = False
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            asked = asked or "**Predict first" in cell.source
        elif asked and cell.outputs:
            assert cell.metadata.get("jupyter", {}).get("outputs_hidden"), cell.source
            asked = False
