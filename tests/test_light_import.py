"""A package that one thing alone needs is missed by that thing alone, which says what to install."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from transformer_lib.base.optional import needed

ROOT = Path(__file__).parent.parent

BLOCKED = ["psutil", "vl_convert", "d2l", "tokenizers", "ipywidgets", "resource"]
PROGRAM = """
import contextlib, importlib, io, json, pkgutil, sys
import IPython  # older ones need resource themselves

sys.modules |= dict.fromkeys(sys.argv[1:])  # Python's own way to say that a module is not there

import altair as alt
import transformer_lib
from transformer_lib import cli
from transformer_lib.show import pictures
from transformer_lib.batching import TokenBatches, encode_pairs
from transformer_lib.corpus import Subwords, load_corpus
from transformer_lib.lab.d2l_bridge import load_d2l
from transformer_lib.metrics import corpus_bleu
from transformer_lib.publish import render
from transformer_lib.base.machine import peak_memory
from transformer_lib.base.report import progress_bar
from transformer_lib.training import fit
from transformer_lib.transformer import make_model
from transformer_lib.translation import Translator

for found in pkgutil.walk_packages(transformer_lib.__path__, "transformer_lib."):
    if not found.name.startswith("transformer_lib.grading."):
        importlib.import_module(found.name)

corpus = load_corpus("everyday")
pairs, vocabularies = corpus.train[:40], corpus.vocabularies()
sources, references, _ = zip(*pairs)
model = make_model(*map(len, vocabularies), "tiny", d_model=16, num_heads=2, d_ff=16)
batches = TokenBatches(encode_pairs(pairs, *(v.encode for v in vocabularies), 50), 256)
history = fit(model, batches, steps=10, learning_rate=0.01)
greedy = Translator(model, *vocabularies).translate(sources)
chart = alt.Chart(alt.Data(values=[{"x": 1}])).mark_point().properties(description="A dot.")


def told(call):
    try:
        call()
    except ImportError as missing:
        return str(missing)


def command(*arguments):
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        try:
            code = cli.main(list(arguments))
        except SystemExit as end:
            code = end.code
    return code, said.getvalue()


small = "--steps 2 --evaluate-every 2 --max-tokens 256 --d-model 16 --num-heads 2 --d-ff 16".split()
print(json.dumps({
    "losses": history.frame.loss.tolist(),
    "bleu": [corpus_bleu(said, references).score for said in (greedy, references)],
    "counted": list(progress_bar(range(3))),
    "chart": pictures.Moving(chart)._repr_mimebundle_()[0],
    "help": command("--help"),
    "train": command("train", "--out", "words", *small),
    "train in pieces": command("train", "--out", "pieces", "--tokens", "100", *small),
    "grade": command("grade", ".", "--out", "grades.csv"),
    "sentences": [
        told(peak_memory),
        told(lambda: Subwords.build_joint(pairs, corpus.languages, 100)),
        told(load_d2l),
        told(render.vega),
    ],
}))
"""


@pytest.fixture(scope="module")
def without(tmp_path_factory):
    """What the program finds in a Python that has none of these packages."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *BLOCKED],
        cwd=tmp_path_factory.mktemp("elsewhere"),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_a_model_trains_decodes_and_is_scored(without):
    assert len(without["losses"]) == 10
    assert without["losses"][-1] < without["losses"][0]
    poor, whole = without["bleu"]
    assert 0 <= poor < whole == pytest.approx(100)


def test_a_chart_is_shown_with_words_but_without_a_still(without):
    assert list(without["chart"]) == ["application/vnd.vegalite.v5+json", "text/plain"]
    assert without["chart"]["text/plain"] == "A dot."


def test_a_bar_counts_without_widgets(without):
    assert without["counted"] == [0, 1, 2]


def test_the_command_helps_and_trains_and_says_no_memory(without):
    code, said = without["help"]
    assert code == 0
    assert "Train a translator" in said
    code, said = without["train"]
    assert code == 0
    assert re.search(r"2 steps, median \d+ target tokens/s\. Try it:", said)


def test_what_needs_a_package_says_what_to_install(without):
    assert without["sentences"] == [
        "reading the process's memory needs psutil: pip install psutil",
        "cutting words into pieces needs tokenizers: pip install tokenizers",
        "the book's code needs d2l: pip install d2l==0.17.0",
        "a page with charts needs vl_convert: pip install vl-convert-python",
    ]
    assert without["train in pieces"] == [1, f"error: {without['sentences'][1]}\n"]
    code, said = without["grade"]
    assert (code, said) == (
        1,
        "error: grading needs psutil: pip install psutil\n",
    )


def test_what_it_says_to_install_is_what_the_project_asks_for(without):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *project["optional-dependencies"]["lessons"]]
    for sentence in without["sentences"]:
        name = sentence.partition("pip install ")[2]
        assert [one for one in asked if re.match(rf"{name}\b", one)], name


def test_a_package_that_lacks_one_of_its_own_is_not_said_to_be_missing(tmp_path, monkeypatch):
    (tmp_path / "lacking.py").write_text("import something_else_that_nobody_has")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="^No module named 'something_else"):
        needed("lacking", "this test")
