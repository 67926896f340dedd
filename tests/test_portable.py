"""What `make portable` asks for must reach the process that runs a lesson, and what differs must be said."""

import os
import platform
import random
from xml.etree import ElementTree

import bands
import nbformat
import portable
import pytest
import torch
from nbclient import NotebookClient
from portable import SETTINGS

KERNELS = {"avx2": "AVX2", "default": "DEFAULT"}


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="another processor")
def test_a_lesson_runs_on_the_kernels_and_threads_that_were_asked_for():
    """In every setting of `make portable`, and in `make test`."""
    cell = nbformat.v4.new_code_cell(
        "import torch\nfrom transformer_lib.base.machine import use_threads\n\nuse_threads(1)\n"
        "print(torch.backends.cpu.get_cpu_capability(), torch.get_num_threads())"
    )
    lesson = nbformat.v4.new_notebook(cells=[cell])
    NotebookClient(lesson).execute()
    kernels, threads = lesson.cells[0].outputs[0].text.split()
    asked = os.environ.get("ATEN_CPU_CAPABILITY")
    assert kernels == KERNELS.get(asked, torch.backends.cpu.get_cpu_capability())
    assert threads == os.environ.get("TRANSFORMER_LIB_THREADS", "1")


def test_a_setting_holds_no_variable_of_another(monkeypatch):
    monkeypatch.setenv("ATEN_CPU_CAPABILITY", "avx2")
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    own = portable.environment("own")
    assert not {"ATEN_CPU_CAPABILITY", "MKL_CBWR", "TRANSFORMER_LIB_THREADS"} & own.keys()
    assert own["PATH"] == os.environ["PATH"]
    assert portable.environment("baseline")["ATEN_CPU_CAPABILITY"] == "default"


CELL = """\x1b[91mNotebook cell execution failed\x1b[0m
Cell 52: Cell outputs differ

Input:
print(x - y)

Traceback:
 mismatch 'stdout'

 assert reference_output == test_output failed:

  'h 0.20: smea... 348.2\\n' == 'h 0.20: smea... 348.2\\n'
    h 0.10: smeared out  53.8
  - h 0.20: smeared out 848.7
  ?                         ^
  + h 0.20: smeared out 848.6
"""
RAISED = """Notebook cell execution failed
Cell 3: Cell execution caused an exception

Input:
report("BLEU", 77.4, 85, 100)

Traceback:
---------------------------------------------------------------------------
AssertionError                            Traceback (most recent call last)
#x1B[31mAssertionError#x1B[39m: BLEU ≈ 77.4, but expected 85 to 100
"""
BARE = """Notebook cell execution failed
#x1B[32m      1#x1B[39m table = pd.DataFrame(measured)
#x1B[32m----> 2#x1B[39m #x1B[38;5;28;01massert#x1B[39;00m table.loc[2] > 7

#x1B[31mAssertionError#x1B[39m:
"""
TEST = """    def test_it():
>       assert 1 == 2
E       assert 1 == 2
tests/test_it.py:3: AssertionError
"""


@pytest.mark.parametrize(
    ("failure", "line"),
    [
        (CELL, "stored: h 0.20: smeared out 848.6  fresh: h 0.20: smeared out 848.7"),
        (RAISED, "AssertionError: BLEU ≈ 77.4, but expected 85 to 100"),
        (BARE, "----> 2 assert table.loc[2] > 7"),
        (TEST, "E       assert 1 == 2"),
        ("\n", "?"),
    ],
)
def test_the_first_line_that_differs_is_said(failure, line):
    assert portable.first_difference(failure) == line


@pytest.mark.parametrize(
    ("values", "low", "high", "verdict"),
    [
        ([5.0, 6.0, 7.0], 1.9, 10.1, "holds"),  # mean 6, standard deviation 1
        ([5.0, 6.0, 7.0], 2.1, 10.1, "nearly"),
        ([5.0, 6.0, 7.0], 1.9, 9.9, "nearly"),
        ([5.0, 6.0, 7.0], 0, 100, "holds"),
        ([97.0, 99.0, 100.0], 90, 100, "holds"),  # 100 is the end of the scale
        ([5.0, 6.0, 11.0], 1.9, 10.1, "fails"),
    ],
)
def test_a_band_holds_four_standard_deviations(values, low, high, verdict):
    assert bands.verdict(values, low, high) == verdict
    runs = [[[3, "BLEU", value, low, high]] for value in values]
    row = bands.table(runs).iloc[0]
    assert (row.cell, row.number, row.runs, row.verdict) == (3, "BLEU", len(values), verdict)


def test_a_listening_lesson_shifts_its_seeds_and_notes_its_bands(tmp_path):
    cells = [
        "from transformer_lib.base.machine import seed_everything\n"
        "from transformer_lib.base.report import report",
        "import random, torch\nseed_everything(1)",
        "drawn = torch.Generator().manual_seed(0)\n"
        "report('drawn', torch.rand(1, generator=drawn), 0, 1)\n"
        "report('random', random.random(), 0.5, 0.6)",
        "assert False",
    ]
    lesson = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(lesson, tmp_path / "lesson.ipynb")
    numbers, errors = bands.measured(str(tmp_path / "lesson.ipynb"), "own", 7)
    drawn = torch.rand(1, generator=torch.Generator().manual_seed(7)).item()
    assert numbers[0] == [2, "drawn", pytest.approx(drawn), 0.0, 1.0]
    assert numbers[1] == [2, "random", random.Random(8).random(), 0.5, 0.6]
    assert errors == [(3, "AssertionError: ")]


def test_the_table_counts_what_differs_and_names_what_is_red():
    report = ElementTree.ElementTree(
        ElementTree.fromstring(
            '<testsuite><testcase classname="a" name="b"/><testcase classname="c" name="d">'
            '<failure message="m">E   no</failure></testcase>'
            '<testcase classname="e" name="f"><skipped/></testcase></testsuite>'
        )
    )
    found = portable.outcomes(report)
    assert found == {"a::b": None, "c::d": "E   no"}
    probes = {
        "own": {"kernels": "X", "threads": 1, "product": [1.0, 2.0, 3.0], "softmax": [0.5]},
        "AVX2": {"kernels": "Y", "threads": 2, "product": [1.0, 2.5, 3.5], "softmax": [0.5]},
    }
    shown = portable.table(probes, {"own": {"a::b": None}, "AVX2": found}, {"own": 1, "AVX2": 2})
    own, avx2 = (" ".join(line.split()) for line in shown.splitlines()[1:3])
    assert own == "own X 1 0 of 3 0 of 1 1 0 1"
    assert avx2 == "AVX2 Y 2 2 of 3 0 of 1 1 1 2"
    assert shown.endswith("AVX2: c::d\n    E   no")


@pytest.mark.parametrize(
    ("asked", "lessons", "settings", "units"),
    [
        ([], ["changed.ipynb"], ["baseline"], False),
        (["a.ipynb"], ["a.ipynb"], ["baseline"], False),
        (["a.ipynb", "--settings", "AVX2", "own"], ["a.ipynb"], ["AVX2", "own"], False),
        (["--all"], sorted(map(str, portable.NOTEBOOKS.glob("*.ipynb"))), [*SETTINGS], True),
    ],
)
def test_what_changed_meets_the_oldest_kernels_and_all_of_it_all_when_asked(
    asked, lessons, settings, units, monkeypatch
):
    ran = {}
    monkeypatch.setattr(portable, "changed", lambda: [portable.Path("changed.ipynb")])
    monkeypatch.setattr(portable, "probe", lambda setting: {})
    monkeypatch.setattr(portable, "run", lambda s, tests, folder: ran.update({s: tests}) or {})
    monkeypatch.setattr(portable, "table", lambda *_: "")
    monkeypatch.setattr("sys.argv", ["portable.py", *asked])
    assert portable.main() == 0
    assert list(ran) == settings
    assert list(ran.values()) == [[*lessons, "tests" if units else "tests/conftest.py"]] * len(ran)


def test_who_has_changed_no_lesson_is_told_how_to_name_one(monkeypatch, capsys):
    monkeypatch.setattr(portable, "changed", list)
    monkeypatch.setattr("sys.argv", ["portable.py"])
    with pytest.raises(SystemExit):
        portable.main()
    assert "no lesson has changed: name one, or say --all" in capsys.readouterr().err
