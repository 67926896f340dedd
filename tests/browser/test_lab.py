"""Three lessons in JupyterLab, as `make lab` starts it: run, moved, answered."""

import pytest
from test_slides import moves

from transformer_lib.exercises import exercises

RAN = "jupyterapp.commands.execute('notebook:run-all-cells').then(() => true)"
CELLS = """[...jupyterapp.shell.currentWidget.content.widgets].map((cell) => ({
  kind: cell.model.type,
  source: cell.model.sharedModel.getSource(),
  count: cell.model.type === "code" ? cell.model.executionCount : null,
  failed: cell.model.type === "code"
    && cell.model.outputs.toJSON().some((output) => output.output_type === "error"),
}))"""


def open_lesson(lab, open_page, stem):
    page = open_page(1400, 1000)
    page.goto(lab(stem))
    page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.sessionContext?.isReady")
    return page


def show(page, number):
    """Scrolls to a cell and makes it the active one."""
    page.evaluate(
        """async (number) => {
          const notebook = jupyterapp.shell.currentWidget.content;
          notebook.activeCellIndex = number;
          await notebook.scrollToItem(number, "center");
        }""",
        number,
    )
    cell = page.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{number}"]')
    cell.wait_for()
    return cell


@pytest.mark.parametrize("stem", ["00_start_here", "03_scoring_functions", "13_the_transformer"])
def test_a_lesson_runs_from_top_to_bottom(lab, open_page, stem):
    page = open_lesson(lab, open_page, stem)
    page.evaluate("jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    assert page.evaluate(RAN)
    code = [cell for cell in page.evaluate(CELLS) if cell["kind"] == "code"]
    assert [cell["source"] for cell in code if cell["failed"]] == []
    assert [cell["count"] for cell in code] == list(range(1, len(code) + 1))


@pytest.mark.parametrize(
    ("stem", "control"),
    [
        ("01_attention_cues", "input[type=range]"),
        ("06_bahdanau_attention", "input[type=range]"),
        ("13_the_transformer", "input[type=range]"),
    ],
)
def test_a_stored_chart_moves_without_a_kernel(lab, open_page, stem, control):
    page = open_lesson(lab, open_page, stem)
    number = next(
        i
        for i, cell in enumerate(page.evaluate(CELLS))
        if "explorer(" in cell["source"] and cell["kind"] == "code"
    )
    cell = show(page, number)
    cell.locator("svg.marks").wait_for()
    assert any(moves(cell, knob) for knob in cell.locator(control).all())


def test_a_lesson_opens_with_its_answers_and_what_goes_deeper_folded(lab, open_page):
    """Of an answer one sees a comment, of a deeper section its heading; a run and a click open them."""
    page = open_lesson(lab, open_page, "09_small")
    cells = page.evaluate(CELLS)
    find = lambda text: next(i for i, c in enumerate(cells) if c["source"].startswith(text))
    answer = show(page, find("# what one head loses"))
    assert answer.inner_text().strip() == "# what one head loses"
    show(page, find("import torch"))
    assert page.evaluate("jupyterapp.commands.execute('notebook:run-cell').then(() => true)")
    show(page, find("# what one head loses"))
    assert page.evaluate("jupyterapp.commands.execute('notebook:run-cell').then(() => true)")
    answer.get_by_text("lost: 0.50").wait_for()
    assert "mixture = gifts" not in answer.inner_text()
    heading = show(page, find("## Going deeper: three guests"))
    assert "●●●" in heading.inner_text()
    below = page.locator(".jp-RenderedMarkdown p", has_text="Each guest is now told")
    assert not below.is_visible()
    heading.locator(".jp-showHiddenCellsButton").click()
    below.wait_for()


def test_an_exercise_is_answered_wrongly_and_then_rightly(lab, open_page):
    """The check names the mistake, and then says that it passed."""
    page = open_lesson(lab, open_page, "00_start_here")
    cells = page.evaluate(CELLS)
    setup = next(i for i, cell in enumerate(cells) if cell["kind"] == "code")
    stub = next(i for i, c in enumerate(cells) if c["source"].startswith("def my_softmax("))
    run = "jupyterapp.commands.execute('notebook:run-cell').then(() => true)"
    show(page, setup)
    assert page.evaluate(run)
    exercise = exercises()["basics.softmax"]
    naive = "def my_softmax(scores):\n    return scores.exp() / scores.exp().sum(-1, keepdim=True)"
    for answer, verdict in (
        (naive, "first subtract the largest score"),
        (exercise.source(), "Passed."),
    ):
        cell = show(page, stub)
        cell.locator(".cm-content").click()
        page.keyboard.press("Control+A")
        page.keyboard.insert_text(answer)
        assert page.evaluate(run)
        checked = show(page, stub + 1)
        assert page.evaluate(run)
        checked.locator(".jp-OutputArea-output", has_text=verdict).wait_for()
