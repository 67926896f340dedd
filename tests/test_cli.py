import hashlib
import json
import re
import shutil
import subprocess
import sys

import pytest
import torch

from transformer_lib import metrics, translation
from transformer_lib.base import report
from transformer_lib.checkpoints import load_model
from transformer_lib.cli import main, parser
from transformer_lib.corpus import DATA, NAMES, Vocabulary, load_corpus
from transformer_lib.exercises import exercises
from transformer_lib.run import runs

COMMANDS = (
    *("train", "translate", "evaluate", "export", "ladder", "data"),
    *("exercises", "quiz", "assignment", "grade", "autograder"),
)
SMALL = ["--steps", "8", "--evaluate-every", "4", "--max-tokens", "512"]


@pytest.fixture(autouse=True, scope="module")
def short_translations():
    """After eight steps a model knows no end: it would write a hundred words of every sentence."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(translation, "LONGEST_TRANSLATION", 12)
        yield


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    assert main(["train", "--corpus", "everyday", "--out", str(directory), *SMALL]) == 0
    return directory


def test_training_leaves_whole_checkpoints(run):
    assert sorted(path.name for path in run.glob("[!.]*")) == ["step-000004", "step-000008"]


def test_translate_prints_a_line_a_sentence(run, capsys):
    assert main(["translate", "--model", str(run), "I'm home.", "", "Go."]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_what_is_drawn_hangs_on_the_seed(run, capsys):
    def said(*how):
        assert main(["translate", "--model", str(run), *how, "I'm home.", "We are late."]) == 0
        return capsys.readouterr().out

    hot = ("--temperature", "2", "--top-k", "50", "--top-p", "0.9", "--seed")
    assert said(*hot, "1") == said(*hot, "1") != said(*hot, "2")
    assert said("--top-k", "1") == said()


def test_searching_and_drawing_at_once_is_refused(run, capsys):
    assert main(["translate", "--model", str(run), "--beam", "2", "--top-k", "3", "Go."]) == 1
    assert "search or draw" in capsys.readouterr().err


def test_an_exported_model_says_the_same_and_carries_no_training_state(run, tmp_path, capsys):
    assert main(["export", "--model", str(run), "--out", str(tmp_path)]) == 0
    (folder,) = tmp_path.glob("step-*")
    names = {path.name for path in folder.iterdir()}
    assert names == {"model.safetensors", "checkpoint.json", "SHA256SUMS"}
    ours, theirs = load_model(tmp_path), load_model(run)
    assert ours.info == theirs.info
    for mine, other in zip(ours.model.parameters(), theirs.model.parameters(), strict=True):
        assert torch.equal(mine, other)
    assert main(["evaluate", "--model", str(tmp_path), "--split", "valid"]) == 0


def test_an_export_replaces_no_run(run, capsys):
    before = sorted(run.rglob("*"))
    assert main(["export", "--model", str(run), "--out", str(run)]) == 1
    assert "holds something already: choose another --out" in capsys.readouterr().err
    assert sorted(run.rglob("*")) == before


@pytest.mark.parametrize("there", ["notes.txt", "step-000007/checkpoint.json"])
def test_an_export_goes_into_no_folder_of_other_things(there, run, tmp_path, capsys):
    (tmp_path / there).parent.mkdir(exist_ok=True)
    (tmp_path / there).write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    assert main(["export", "--model", str(run), "--out", str(tmp_path)]) == 1
    assert "holds something already: choose another --out" in capsys.readouterr().err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["--corpus", "nothing.txt"],
        ["--corpus", "everyday", "--tokens", "7"],
        ["--resume"],
    ],
)
def test_a_start_that_failed_leaves_nothing_behind(arguments, tmp_path, capsys):
    out = tmp_path / "runs" / "first"
    assert main(["train", *arguments, "--out", str(out)]) == 1
    assert "error: " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_what_was_exported_for_an_engine_says_who_reads_it(tmp_path, capsys):
    (tmp_path / "translate.py").touch()
    assert main(["translate", "--model", str(tmp_path), "Go."]) == 1
    assert "is an export for another engine: run its translate.py" in capsys.readouterr().err


def test_sizes_may_be_chosen_one_by_one(tmp_path):
    sizes = ["--d-model", "24", "--num-heads", "3", "--d-ff", "40", "--num-layers", "1"]
    others = ["--positions", "rotary", "--cross-attention-dropout", "0.2"]
    assert main(["train", "--out", str(tmp_path), *SMALL, *sizes, *others]) == 0
    config = load_model(tmp_path).model.config
    chosen = (config.d_model, config.num_heads, config.d_ff, config.num_layers)
    assert chosen == (24, 3, 40, 1)
    assert (config.positions, config.cross_attention_dropout) == ("rotary", 0.2)


def test_weight_decay_makes_the_weights_smaller(tmp_path):
    decay = ["--weight-decay", "0.9", "--learning-rate", "0.02", "--warmup", "1"]
    sums = []
    for number, given in enumerate((decay[2:], decay)):
        assert main(["train", "--out", str(tmp_path / str(number)), *SMALL, *given]) == 0
        weights = load_model(tmp_path / str(number)).model.parameters()
        sums.append(sum(w.square().sum().item() for w in weights))
    assert sums[1] < 0.95 * sums[0]


def test_validation_on_files_of_ones_own(tmp_path, capsys):
    for name, pairs in {
        "train": load_corpus("everyday").train,
        "valid": [("A zebra.", "Un zèbre.")],
    }.items():
        lines = "".join(f"{pair[0]}\t{pair[1]}\n" for pair in pairs)
        (tmp_path / f"{name}.tsv").write_text(lines, encoding="utf-8")
    files = ["--corpus", str(tmp_path / "train.tsv"), "--valid", str(tmp_path / "valid.tsv")]
    out = str(tmp_path / "run")
    assert main(["train", *files, "--out", out, *SMALL]) == 0
    assert main(["train", "--resume", "--out", out, "--steps", "9"]) == 0
    capsys.readouterr()
    assert main(["evaluate", "--model", out, "--split", "valid", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["held_out"]["pairs"] == 1
    assert main(["evaluate", "--model", out]) == 1
    assert "has no test sentences" in capsys.readouterr().err


def test_a_run_begins_with_its_languages_and_how_they_were_found(tmp_path, capsys):
    lines = "".join(f"Hallo {n}.\tHello {n}.\n" for n in range(9))
    begun = {}
    for name, header in (("mine", ""), ("headed", "German\tEnglish\n")):
        path = tmp_path / f"{name}.tsv"
        path.write_text(header + lines, encoding="utf-8")
        out = str(tmp_path / name)
        assert main(["train", "--corpus", str(path), "--out", out, "--steps", "1"]) == 0
        said = capsys.readouterr().err.splitlines()
        begun[name] = next(line for line in said if not line.startswith("note: "))
    assert begun == {
        "mine": "languages: en → fr (assumed; --languages says otherwise)",
        "headed": "languages: de → en (from the header)",
    }


def test_a_warm_up_that_never_ends_is_said(tmp_path, capsys):
    arguments = ["train", "--corpus", "everyday", *SMALL]
    assert main([*arguments, "--out", str(tmp_path / "a"), "--warmup", "8", "--steps", "8"]) == 0
    assert "--warmup 8 is as long as the run" in capsys.readouterr().err
    assert main([*arguments, "--out", str(tmp_path / "b"), "--warmup", "7", "--steps", "8"]) == 0
    assert "is as long as" not in capsys.readouterr().err


def test_who_stops_it_while_torch_is_loaded_sees_no_traceback():
    stopping = (
        "import runpy, sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'torch': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "runpy.run_module('transformer_lib', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", stopping], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "\nstopped\n")


def test_a_python_without_torch_is_told_which_one_has_it():
    lacking = (
        "import runpy, sys\n"
        "sys.modules['torch'] = None\n"
        "runpy.run_module('transformer_lib', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", lacking], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {sys.executable} has no torch: take the Python of .venv")
    assert done.stderr.count("\n") == 1


def test_a_log_has_a_line_now_and_then(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(report, "LINE_EVERY", 0.0)
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    arguments = ["train", "--corpus", "everyday", "--out", str(tmp_path / "run"), *SMALL]
    assert main(arguments) == 0
    said = capsys.readouterr().err
    assert re.search(r"^7 of 8, \d\d:\d\d so far, loss=\d", said, re.MULTILINE)
    assert "\r" not in said


def test_translate_reads_standard_input_line_by_line(run):
    command = [
        sys.executable,
        "-m",
        "transformer_lib",
        "translate",
        "--model",
        str(run),
        "--beam",
        "2",
    ]
    done = subprocess.run(
        command, input="I'm home.\n\nGo to the zzz.\n", capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) == 3
    assert (
        "note: training never showed these words, they are read as <unk>: zzz (line 3)"
        in done.stderr
    )


@pytest.mark.parametrize("recipe", sorted((DATA / "recipes").iterdir()), ids=lambda path: path.stem)
def test_a_recipe_is_read_as_if_it_stood_on_the_line_and_what_follows_it_counts(recipe):
    words = " ".join(
        line for line in recipe.read_text().splitlines() if not line.startswith("#")
    ).split()
    parse = parser().parse_args
    after = ["--steps", "3", "--out", "runs/r"]
    assert parse(["train", f"@{recipe}", *after]) == parse(["train", *words, *after])
    assert parse(["train", f"@{recipe}", *after]).steps == 3
    assert parse(["train", f"@{recipe}", *after]).corpus[0] in NAMES


def without(run, copy, *names):
    """The run, as a version that had no settings of these names would have stored it."""
    shutil.copytree(run, copy)
    for file in copy.glob("step-*/checkpoint.json"):
        content = json.loads(file.read_text(encoding="utf-8"))
        for name in names:
            del content["info"]["settings"][name]
        file.write_text(json.dumps(content), encoding="utf-8")
        sums = file.with_name("SHA256SUMS")
        lines = [line for line in sums.read_text().splitlines() if not line.endswith(file.name)]
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        sums.write_text("\n".join([*lines, f"{digest}  {file.name}", ""]))
    return copy


def test_a_run_older_than_an_option_goes_on_without_it(run, tmp_path, capsys):
    old = str(without(run, tmp_path / "run", "positions", "weight_decay", "max_len"))
    assert main(["train", "--resume", "--out", old, "--positions", "rotary"]) == 1
    assert "--resume goes on with no --positions, not rotary" in capsys.readouterr().err
    assert main(["train", "--resume", "--out", old, "--steps", "9"]) == 0
    assert main(["evaluate", "--model", old]) == 0


def test_the_curve_of_a_run_is_kept_also_by_an_exported_model(run, tmp_path, capsys):
    assert main(["export", "--model", str(run), "--out", str(tmp_path)]) == 0
    for model in (run, tmp_path):
        assert main(["evaluate", "--model", str(model), "--json"]) == 0
        out = capsys.readouterr().out
        result = json.loads(out[out.index("{") :])
        assert [row["step"] for row in result["curve"]] == [4, 8][: result["step"] // 4]
        assert all(row["validation_loss"] > 0 <= row["bleu"] for row in result["curve"])
        weights = load_model(model).model.parameters()
        assert result["parameters"] == sum(map(torch.Tensor.numel, weights))


def test_evaluate_prints_json_with_seen_and_held_out(run, capsys):
    assert main(["evaluate", "--model", str(run), "--split", "test", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    for part in ("seen", "held_out"):
        assert result[part]["pairs"] == 144
        assert 0 <= result[part]["bleu"] <= 100
        assert "tok:13a" in result[part]["signature"]
        assert 0 <= result[part]["exact_match"] <= 1
        assert result[part]["alignment_error_rate"] is None


def test_evaluate_for_people_names_the_signature(run, capsys):
    assert main(["evaluate", "--model", str(run)]) == 0
    out = capsys.readouterr().out
    assert "held-out: BLEU" in out
    assert "seen: BLEU" in out
    assert "BLEU signature: nrefs:1" in out


def test_evaluate_shows_held_out_sentences_where_asked(run, capsys):
    arguments = ["evaluate", "--model", str(run), "--split", "valid", "--examples", "3"]
    assert main([*arguments, "--json"]) == 0
    examples = json.loads(capsys.readouterr().out)["examples"]
    said = [(example["source"], example["reference"]) for example in examples]
    assert said == [(pair.source, pair.target) for pair in load_corpus("everyday").valid[:3]]
    assert main(arguments) == 0
    assert capsys.readouterr().out.count("reference: ") == 3


def test_the_examples_are_the_translations_that_were_scored(run, capsys, monkeypatch):
    scored = []
    monkeypatch.setattr(
        translation,
        "translation_scores",
        lambda ours, *how: scored.append(ours) or metrics.translation_scores(ours, *how),
    )
    drawn = ["--temperature", "2", "--examples", "9", "--json"]
    assert main(["evaluate", "--model", str(run), *drawn]) == 0
    examples = json.loads(capsys.readouterr().out)["examples"]
    assert [example["translation"] for example in examples] == scored[-1][:9]


def test_resume_goes_on_where_the_run_was_and_an_existing_run_is_not_overwritten(
    run, tmp_path, capsys
):
    arguments = ["train", "--corpus", "everyday", "--out", str(tmp_path / "b"), *SMALL]
    assert main(arguments) == 0
    assert main(arguments) == 1
    assert "holds a run already: go on with it (--resume" in capsys.readouterr().err
    assert main(["train", "--resume", "--out", str(tmp_path / "b"), "--steps", "12"]) == 0
    assert sorted(path.name for path in (tmp_path / "b").iterdir())[-1] == "step-000012"


def test_it_learns_from_train_watches_valid_and_scores_what_was_asked_for(
    run, tmp_path, monkeypatch
):
    corpus, encoded, scored = load_corpus("everyday"), [], []
    encode, translate = runs.encode_pairs, runs.Translator.hypotheses

    def encoding(pairs, *rest):
        encoded.append(pairs)
        return encode(pairs, *rest)

    def translating(self, pairs, **search):
        scored.append((pairs, search["beam_size"]))
        return translate(self, pairs[:2], **search) + [""] * (len(pairs) - 2)

    monkeypatch.setattr(runs, "encode_pairs", encoding)
    assert main(["train", "--out", str(tmp_path), *SMALL[:2], "--max-tokens", "512"]) == 0
    assert sorted(encoded, key=len) == [corpus.valid, corpus.train]
    known = load_model(tmp_path).source_vocabulary
    assert known.words == Vocabulary.build([p.source for p in corpus.train], "en").words

    monkeypatch.setattr(runs.Translator, "hypotheses", translating)
    assert main(["evaluate", "--model", str(run), "--split", "valid", "--beam", "2"]) == 0
    (seen, _), held_out = scored
    assert set(seen) < set(corpus.train)
    assert len(seen) == 144
    assert held_out == (corpus.valid, 2)


def test_settings_that_contradict_a_resumed_run_are_refused(run, tmp_path, capsys):
    assert main(["train", "--resume", "--out", str(run), "--dropout", "0.5"]) == 1
    assert "--resume goes on with --dropout 0.1, not 0.5" in capsys.readouterr().err
    out = str(tmp_path)
    assert main(["train", "--corpus", "everyday", "--out", out, *SMALL, "--dropout", "0.3"]) == 0
    assert main(["train", "--resume", "--out", out, "--dropout", "0.1"]) == 1  # the default
    assert "--resume goes on with --dropout 0.3, not 0.1" in capsys.readouterr().err
    assert main(["train", "--resume", "--out", out, "--dropout", "0.3"]) == 0


def test_the_line_that_began_a_run_goes_on_with_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    pairs = load_corpus("everyday").train[:60]
    for name, chosen in (("a", pairs[:50]), ("b", pairs[50:])):
        for side, language in enumerate(("en", "fr")):
            lines = [f"{pair[side]}\n" for pair in chosen]
            (tmp_path / f"{name}.{language}").write_text("".join(lines), encoding="utf-8")
    files = ["--corpus", "a.en", "a.fr", "--valid", "b.en", "b.fr", "--out", "runs/own"]
    assert main(["train", *files, "--steps", "2"]) == 0
    assert main(["train", *files, "--resume", "--steps", "3"]) == 0, capsys.readouterr().err


def test_the_number_of_threads_is_set(run):
    assert main(["translate", "--model", str(run), "--threads", "2", ""]) == 0
    assert torch.get_num_threads() == 2
    torch.set_num_threads(1)


def test_gold_alignments_are_scored_and_held_out_sentences_obeyed(tmp_path, capsys):
    names = ["ann", "bob", "cat", "dan", "eve", "fay", "gus", "hal", "ida", "jim", "kay", "leo"]
    verbs = {"sings": "chante", "runs": "court", "reads": "lit"}
    rows = [
        f"{n.title()} {e}.\t{n.title()} {f}.\t0-0 1-1 2-2" for n in names for e, f in verbs.items()
    ]
    (tmp_path / "pairs.tsv").write_text("\n".join(rows), encoding="utf-8")
    out = str(tmp_path / "run")
    assert (
        main(
            [
                "train",
                "--corpus",
                str(tmp_path / "pairs.tsv"),
                "--hold-out",
                "Ann sings.",
                "--out",
                out,
                *SMALL,
            ]
        )
        == 0
    )
    assert main(["evaluate", "--model", out, "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["held_out"]["pairs"] == 4  # a tenth of 35, and the one held out by name
    assert 0 <= result["held_out"]["alignment_error_rate"] <= 1


def test_data_is_listed_shown_and_verified(capsys):
    assert main(["data", "list"]) == 0
    assert "everyday: en-fr, train 1156, valid 144, test 144" in capsys.readouterr().out
    assert main(["data", "show", "everyday", "--split", "test", "--number", "3"]) == 0
    assert [line.count("\t") for line in capsys.readouterr().out.splitlines()] == [1, 1, 1]
    assert main(["data", "verify"]) == 0
    assert "everyday.tsv is unchanged" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["translate", "--model", "nowhere", "Hi."], "there is no folder 'nowhere'"),
        (["translate", "--model", "{tmp}", "Hi."], "expected folders named step-000100"),
        (["train", "--corpus", "nothing.txt", "--out", "{tmp}"], "no corpus 'nothing.txt'"),
        (["train", "--device", "cdua", "--out", "{tmp}"], "device 'cdua' is not here"),
        (["train", "--tie", "all", "--out", "{tmp}"], "needs one vocabulary"),
        (["train", "--out", "{tmp}/file"], "File exists"),
    ],
)
def test_what_cannot_be_done_exits_1_and_says_why(arguments, message, capsys, tmp_path):
    (tmp_path / "file").touch()
    assert main([argument.format(tmp=tmp_path) for argument in arguments]) == 1
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["train"],
        ["translate"],
        ["train", "--out", "x", "--steps", "-1"],
        ["train", "--out", "x", "--label-smoothing", "3"],
        ["train", "--out", "x", "--learning-rate", "-1"],
        ["train", "--out", "x", "--tokens", "many"],
    ],
)
def test_a_wrong_call_exits_2(arguments):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_every_help_teaches_by_an_example(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([*command, "--help"])
    assert stop.value.code == 0
    assert f"python -m transformer_lib {(command or ['train'])[0]} " in capsys.readouterr().out


@pytest.mark.parametrize("model", ["gru", "bahdanau", "luong-local-p"])
def test_recurrent_models_are_served_like_the_transformer(model, tmp_path, capsys):
    out = str(tmp_path / model)
    arguments = ["--corpus", "everyday", "--model", model, "--out", out, "--max-tokens", "512"]
    assert main(["train", *arguments, "--steps", "2", "--evaluate-every", "2"]) == 0
    assert main(["train", "--resume", "--out", out, "--steps", "3"]) == 0
    capsys.readouterr()
    assert main(["translate", "--model", out, "--beam", "2", "I'm home."]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert load_model(out).model.config.max_len == 256


def test_a_recurrent_model_has_no_presets(tmp_path, capsys):
    arguments = ["train", "--model", "gru", "--preset", "small", "--out", str(tmp_path)]
    assert main(arguments) == 1
    assert "--model gru comes in one size: leave out --preset small" in capsys.readouterr().err


def test_exercises_are_told_to_tools_without_any_of_their_code(capsys):
    """Neither a solution nor a wrong answer, whole or as an edit: only sentences."""
    assert main(["exercises", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    known = exercises()
    assert [one["exercise"] for one in told] == list(known)
    for one in told:
        assert set(one) == {"exercise", "called", "task", "hints", "mistakes", "sections"}
        assert all([one["task"], one["hints"], one["mistakes"]])
        text = json.dumps(one, ensure_ascii=False)
        assert "def my_" not in text
        assert "class My" not in text
        source = known[one["exercise"]].source()
        body = [line.partition("  #")[0].strip() for line in source.splitlines()[1:]]
        returned = [line for line in body if line.startswith("return ") and len(line) > 24]
        assert not [line for line in returned if line in text]


def test_exercises_for_people_and_one_that_is_not_there(capsys):
    assert main(["exercises", "scoring.masked_softmax"]) == 0
    assert "mistakes\n  - " in capsys.readouterr().out
    assert main(["exercises", "scoring.masked"]) == 1
    assert "Did you mean scoring.masked_softmax" in capsys.readouterr().err
