"""A model in another engine says what it says here, or is not written."""

import copy
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
import torch
from checked import unchecked

from transformer_lib.checkpoints import LoadedModel, load_model, save_checkpoint
from transformer_lib.cli import main
from transformer_lib.corpus import DATA, ByteSubwords, Subwords, load_corpus
from transformer_lib.masks import padding_mask
from transformer_lib.models import create_model
from transformer_lib.run import engines, to_ctranslate2, to_onnx
from transformer_lib.run.engines import ENGINES, Engine, export_to
from transformer_lib.transformer import make_model
from transformer_lib.translation import Translator

ROOT = Path(__file__).parent.parent
SHIPPED = DATA / "models" / "lessons"
PACKAGES = {"ctranslate2": ["ctranslate2"], "onnx": ["onnx", "onnxscript", "onnxruntime"]}
NAME = pytest.mark.parametrize("name", ENGINES)


def installed(name):
    for package in PACKAGES[name]:
        pytest.importorskip(package)


def export(name, loaded, out):
    with unchecked():  # the exporter follows what the model calls, not what checks it
        return export_to(name, loaded, out)


def program(folder):
    return engines.runpy.run_path(str(folder / "translate.py"))


@pytest.fixture(scope="module")
def loaded():
    return load_model(SHIPPED)


@pytest.fixture(scope="module")
def held_out():
    return [pair.source for pair in load_corpus("lessons").test[::3]]


@pytest.fixture(scope="module")
def folders(loaded, tmp_path_factory):
    """The shipped model in each engine, written when it is first asked for."""
    written = {}

    def folder(name):
        installed(name)
        if name not in written:
            out = tmp_path_factory.mktemp("served") / name
            said = export(name, loaded, out)
            assert said.startswith("50 of 50 held-out sentences translated alike, ")
            written[name] = out
        return written[name]

    return folder


@NAME
@pytest.mark.filterwarnings("ignore:training never showed")
def test_every_held_out_sentence_is_translated_as_here(name, folders, loaded, held_out):
    ours = Translator(*loaded[:3]).translate(held_out)
    assert len(set(ours)) > 100
    assert program(folders(name))["translate"](held_out) == ours


@pytest.mark.filterwarnings("ignore:training never showed")
def test_a_beam_finds_the_same_in_ctranslate2(folders, loaded, held_out):
    translator = Translator(*loaded[:3])
    ours = translator.translate(held_out, beam_size=5)
    assert ours != translator.translate(held_out)
    assert program(folders("ctranslate2"))["translate"](held_out, beam_size=5) == ours


@pytest.mark.parametrize(("batch", "source", "target"), [(1, 1, 1), (3, 9, 4), (2, 256, 100)])
@torch.no_grad()
def test_the_graph_gives_our_logits_for_any_batch_and_any_lengths(
    folders, loaded, batch, source, target
):
    session = program(folders("onnx"))["engine"]
    sizes = [len(vocabulary) for vocabulary in loaded[1:3]]
    src, tgt_in = (
        torch.randint(4, sizes[0], (batch, source)),
        torch.randint(4, sizes[1], (batch, target)),
    )
    src[0, source // 2 + 1 :] = 0
    given = {"src": src.numpy(), "tgt_in": tgt_in.numpy()}
    ours = loaded.model(src, tgt_in, padding_mask(src, 0))
    assert np.abs(session.run(None, given)[0] - ours.numpy()).max() < 1e-4


@NAME
def test_it_is_served_without_torch(name, folders, loaded):
    """As somebody runs the program, line by line; what is cut and what is empty comes out as here."""
    lines = ["I'm home. Go. He's calm.", "", "Go.", "the " * 300]
    done = serve(folders(name), "\n".join(lines).encode())
    assert done.returncode == 0, done.stderr[-2000:]
    with pytest.warns(UserWarning, match="cut after 255 of 300 tokens|an empty sentence"):
        expected = Translator(*loaded[:3]).translate(lines)
    assert done.stdout.decode().splitlines() == expected


def serve(folder, text):
    """The program run by somebody whose locale knows no é, without torch."""
    without = "import runpy, sys; sys.modules['torch'] = None; runpy.run_path(sys.argv[1], run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-c", without, str(folder / "translate.py")],
        input=text,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )


@NAME
def test_what_is_served_says_what_it_cannot_read(name, folders):
    done = serve(folders(name), b"I'm home.\nA zebra sees my father.\ncaf" + b"\xe9\n")
    assert done.returncode == 1
    assert len(done.stdout.decode().splitlines()) == 2
    assert not done.stdout.isascii()
    assert done.stderr.decode().startswith("error: line 3 is not UTF-8: byte 0xe9. ")
    assert done.stderr.count(b"\n") == 1
    assert b"<unk>: zebra (line 2)" in serve(folders(name), b"Go.\nA zebra.\n").stderr


@NAME
def test_a_model_that_was_cut_is_named_in_one_line(name, folders, tmp_path):
    served = shutil.copytree(folders(name), tmp_path / "served")
    (model,) = [path for path in served.iterdir() if path.name in ("model.bin", "model.onnx")]
    model.write_bytes(model.read_bytes()[:-5000])
    done = serve(served, b"Go.\n")
    assert done.returncode == 1
    assert re.fullmatch(r"error: \S+ is damaged, or .*\n", done.stderr.decode())


def test_a_reader_who_leaves_is_no_error(folders):
    served = folders("ctranslate2") / "translate.py"
    command = f"yes Go. | head -2000 | {sys.executable} {served} | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert done.stdout == "Va !\n"
    assert done.stderr == ""


def other(loaded, vocabularies=None, **options):
    """A model of another kind whose weights are large enough to say many things."""
    vocabularies = vocabularies or loaded[1:3]
    torch.manual_seed(1)
    sizes = {"d_model": 24, "num_heads": 2, "d_ff": 40, "num_layers": 2, "max_len": 40}
    model = make_model(*map(len, vocabularies), **{**sizes, **options}).eval()
    with torch.no_grad():
        for weights in model.parameters():
            weights.mul_(1.5).add_(0.05 * torch.randn_like(weights))
    return LoadedModel(model, *vocabularies, {"settings": {**loaded.info["settings"]}})


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary", "none"])
@pytest.mark.parametrize("tie", ["none", "target"])
def test_ctranslate2_takes_these_kinds(positions, norm_first, tie, loaded, tmp_path):
    installed("ctranslate2")
    kind = {"positions": positions, "norm_first": norm_first, "tie_weights": tie}
    said = export("ctranslate2", other(loaded, **kind), tmp_path / "out")
    alike, of = map(int, re.match(r"(\d+) of (\d+) held-out", said).groups())
    assert alike == of == 50


@pytest.mark.parametrize("positions", ["rotary", "alibi"])
def test_onnx_takes_these_kinds(positions, loaded, tmp_path):
    installed("onnx")
    kind = {"positions": positions, "norm_first": positions == "alibi"}
    said = export("onnx", other(loaded, num_layers=1, **kind), tmp_path / "out")
    assert said.startswith("50 of 50 held-out")


@NAME
def test_subwords_that_both_languages_share_travel_along(name, loaded, tmp_path):
    installed(name)
    pieces = Subwords.build_joint(load_corpus("everyday").train, ("en", "fr"), 300)
    said = export(name, other(loaded, pieces, tie_weights="all", num_layers=1), tmp_path / "out")
    assert said.startswith("50 of 50 held-out")


@NAME
def test_pieces_of_bytes_travel_along_though_many_show_the_same_text(name, loaded, tmp_path):
    """Chinese of their own file: what the engine says is what is said here, sign by sign."""
    installed(name)
    people, things = "我你他她猫狗", ["书", "茶", "苹果", "这只狗", "两个杯子"]
    chinese = [
        f"{who}{when}{does}{what}{mark}"
        for who in people
        for when in ("", "今天")
        for does in ("看见", "需要", "卖")
        for what in things
        for mark in ("。", "吗？")
    ]
    pieces = tuple(
        ByteSubwords.build(chinese, language, size) for language, size in (("zh", 300), ("zh", 320))
    )
    shown = pieces[1].tokens(range(320))
    assert len(set(shown)) < 250, "otherwise this shows nothing"
    assert {"\n", "\r", " "} <= set(shown)
    (tmp_path / "mine.tsv").write_text(
        "".join(f"{one}\t{one}\n" for one in chinese), encoding="utf-8"
    )
    model = other(loaded, pieces, num_layers=1)
    model.info["settings"] = {"corpus": [str(tmp_path / "mine.tsv")], "languages": "zh-en"}
    said = export(name, model, tmp_path / "out")
    alike, of = map(int, re.match(r"(\d+) of (\d+) held-out", said).groups())
    assert alike == of > 30
    ours = Translator(*model[:3]).translate(chinese[:40])
    assert len(set(ours)) > 15
    assert program(tmp_path / "out")["translate"](chinese[:40]) == ours


def test_a_tied_matrix_is_written_once(loaded, tmp_path):
    installed("ctranslate2")
    sizes = {}
    for tie in ("none", "target"):
        export("ctranslate2", other(loaded, tie_weights=tie), tmp_path / tie)
        sizes[tie] = (tmp_path / tie / "model.bin").stat().st_size
    matrix = 4 * len(loaded.target_vocabulary) * 24
    assert abs(sizes["none"] - sizes["target"] - matrix) < 100


def test_what_ctranslate2_lacks_is_said(loaded, tmp_path):
    installed("ctranslate2")
    with pytest.raises(ValueError, match="no positions=alibi: use --to onnx"):
        export("ctranslate2", other(loaded, positions="alibi"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


FAULTS = {  # of each engine: what is broken, and how
    "ctranslate2": (
        to_ctranslate2,
        "_norm",
        lambda spec, norm: (
            setattr(spec, "gamma", np.ones(len(norm.bias), dtype=np.float32)),
            setattr(spec, "beta", norm.bias.detach().numpy()),
        ),
    ),
    "onnx": (to_onnx, "padding_mask", lambda ids, pad_id: (ids != -1)[:, None, None, :]),
}


@NAME
def test_what_does_not_agree_is_not_kept(name, loaded, tmp_path, monkeypatch):
    installed(name)
    monkeypatch.setattr(*FAULTS[name])
    with pytest.raises(ValueError, match=f"{name} does not agree with this library: "):
        export(name, other(loaded, num_layers=1), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------- without any engine

SAYS_NOTHING = "def translate(sentences): return ['' for _ in sentences]"


def silent(difference=0.0, program=SAYS_NOTHING):
    return Engine(lambda *_: None, program, lambda *_: difference)


@pytest.fixture
def mute():
    """A model that ends each translation at once, as the silent engine does."""
    loaded = load_model(SHIPPED)
    torch.nn.init.zeros_(loaded.model.generator.weight)
    loaded.model.generator.bias = torch.nn.Parameter(100.0 * torch.eye(len(loaded[2]))[2])
    return loaded


def test_what_agrees_is_kept_with_its_words_and_program(mute, tmp_path, monkeypatch):
    monkeypatch.setitem(ENGINES, "silent", silent(program=f"{SAYS_NOTHING}  # $max_len, $longest"))
    before = copy.deepcopy(mute.model.bfloat16().state_dict())
    said = export_to("silent", mute, tmp_path / "new" / "out")
    assert (
        said
        == "50 of 50 held-out sentences translated alike, scores of tokens differ by 0e+00 at most"
    )
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["out"]
    names = {path.name for path in (tmp_path / "new" / "out").iterdir()}
    assert names == {"translate.py", "vocabularies.json"}
    assert (tmp_path / "new" / "out" / "translate.py").read_text().endswith("# 256, 100")
    for name, weights in mute.model.state_dict().items():
        assert weights.dtype == torch.bfloat16, "the model itself stays as it was"
        assert torch.equal(weights, before[name])


@pytest.mark.parametrize("difference", [0.1, float("nan")])
def test_numbers_that_differ_are_a_fault_though_words_are_alike(
    difference, mute, tmp_path, monkeypatch
):
    monkeypatch.setitem(ENGINES, "silent", silent(difference))
    with pytest.raises(ValueError, match="50 of 50 .* Nothing is kept"):
        export_to("silent", mute, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_words_that_differ_are_a_fault_though_numbers_are_alike(loaded, tmp_path, monkeypatch):
    monkeypatch.setitem(ENGINES, "silent", silent())
    with pytest.raises(ValueError, match="0 of 50 held-out sentences"):
        export_to("silent", loaded, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("missing", [{"corpus": ["moved.tsv"]}, None])
def test_without_its_corpus_a_model_is_tried_on_rows_of_words(missing, mute, tmp_path, monkeypatch):
    monkeypatch.setitem(ENGINES, "silent", silent())
    settings = mute.info.pop("settings")
    if missing:
        mute.info["settings"] = settings | missing
    said = export_to("silent", mute, tmp_path / "out")
    assert said.startswith("8 of 8 rows of words translated alike")


def test_what_lies_there_is_not_replaced(loaded, tmp_path, monkeypatch):
    monkeypatch.setitem(ENGINES, "silent", silent())
    (tmp_path / "notes.txt").touch()
    with pytest.raises(ValueError, match="holds something already: choose another --out"):
        export_to("silent", loaded, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@NAME
def test_a_recurrent_model_is_refused(name, loaded, tmp_path, capsys):
    model = create_model("gru", *map(len, loaded[1:3]), d_hidden=8)
    save_checkpoint(tmp_path / "run", model, loaded[1:3])
    arguments = ["--model", str(tmp_path / "run"), "--out", str(tmp_path / "out"), "--to", name]
    assert main(["export", *arguments]) == 1
    assert "takes a transformer, and this model is a gru: leave out --to" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "package"), [(name, package) for name in PACKAGES for package in PACKAGES[name]]
)
def test_where_an_engine_is_missing_its_extra_is_named(
    name, package, tmp_path, capsys, monkeypatch
):
    before = PACKAGES[name][: PACKAGES[name].index(package)]
    for found in before:
        monkeypatch.setitem(sys.modules, found, sys)  # there, for all that is asked of it
    monkeypatch.setitem(sys.modules, package, None)
    arguments = ["--model", str(SHIPPED), "--out", str(tmp_path / "out"), "--to", name]
    assert main(["export", *arguments]) == 1
    said = capsys.readouterr().err
    assert f"error: export --to {name} needs {package}: pip install '.[{name}]' " in said
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    assert [one for one in extras[name] if re.match(rf"{package}\b", one)]
    assert list(tmp_path.iterdir()) == []


def test_the_command_says_how_far_they_agree(tmp_path, capsys):
    installed("ctranslate2")
    out = str(tmp_path / "out")
    assert main(["export", "--model", str(SHIPPED), "--out", out, "--to", "ctranslate2"]) == 0
    assert f"{out}: 50 of 50 held-out sentences translated alike" in capsys.readouterr().err
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "python out/translate.py < lines.txt" in card
    assert "Translator" not in card
