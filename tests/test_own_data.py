"""The evening of somebody who has sentences of their own: files in, a model out that is given away."""

import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from checked import unchecked

from transformer_lib import Translator
from transformer_lib.cli import main
from transformer_lib.run.runs import TrainSettings, start_run, train_run

README = Path(__file__).parent.parent / "README.md"
TINY = "--steps 60 --evaluate-every 30 --d-model 32 --d-ff 64 --num-layers 1 --num-heads 2"
TINY = TINY.split()
NOUNS = {"Mann": "man", "Hund": "dog", "Arzt": "doctor", "Sohn": "son", "König": "king"}
VERBS = {"sieht": "sees", "kennt": "knows", "sucht": "looks for", "hört": "hears"}
GERMAN = [
    (f"Der {a} {v} den {b}.", f"The {NOUNS[a]} {VERBS[v]} the {NOUNS[b]}.")
    for a in NOUNS
    for v in VERBS
    for b in NOUNS
    if a != b
]
SIGNS = {"男人": "man", "狗": "dog", "猫": "cat", "国王": "king", "孩子": "child"}
DOES = {"看见": "sees", "认识": "knows", "寻找": "looks for"}
CHINESE = [
    (f"The {SIGNS[a]} {DOES[v]} the {SIGNS[b]}.", f"{a}{v}{b}。")
    for a in SIGNS
    for v in DOES
    for b in SIGNS
    if a != b
]


@pytest.fixture(autouse=True)
def fast():
    with unchecked():
        yield


def table(path, pairs):
    path.write_text("".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8")
    return path


def command(capsys, *words):
    """What a command printed: its exit code, standard output, standard error."""
    code = main([str(word) for word in words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_german_keeps_its_capitals_from_two_plain_files_to_a_model_that_is_given_away(
    tmp_path, capsys
):
    for side, language in enumerate(("de", "en")):
        lines = "".join(f"{pair[side]}\n" for pair in GERMAN)
        (tmp_path / f"mine.{language}").write_text(lines + "\n\n", encoding="utf-8")
    files, run, gift = (
        (tmp_path / "mine.de", tmp_path / "mine.en"),
        tmp_path / "run",
        tmp_path / "gift",
    )
    code, _, said = command(capsys, "train", "--corpus", *files, "--out", run, *TINY)
    assert code == 0
    assert "languages: de → en (from the file names" in said.splitlines()[0]
    assert re.search(r'translate --model \S+ ["\']Der ', said), "a sentence of its own data"

    assert command(capsys, "export", "--model", run, "--out", gift)[0] == 0
    card = (gift / "README.md").read_text(encoding="utf-8")
    for wanted in ("de → en", f"{len(GERMAN)} pairs", "case:mixed", "Licence", "Translator.load"):
        assert wanted in card
    for file in files:
        file.unlink()  # somebody else has no data of ours
    mine = table(tmp_path / "test.tsv", GERMAN[:9])
    code, scores, _ = command(capsys, "evaluate", "--model", gift, "--corpus", mine)
    assert code == 0
    assert "given: BLEU" in scores
    assert "held-out" not in scores
    assert "seen" not in scores
    assert "alignment" not in scores
    assert "trained on some of these is not known: its own data are not here" in scores
    assert "case:mixed" in scores
    code, _, said = command(capsys, "evaluate", "--model", gift)
    assert code == 1
    assert "the data of this model, mine.de, mine.en, are not here: --corpus FILE scores it" in said
    for file in gift.rglob("*"):
        assert file.is_dir() or str(tmp_path).encode() not in file.read_bytes(), file


def test_pairs_that_it_was_trained_on_are_counted_wherever_they_lie(tmp_path, capsys):
    file, run = table(tmp_path / "de-en.tsv", GERMAN), tmp_path / "run"
    assert command(capsys, "train", "--corpus", file, "--out", run, *TINY)[0] == 0
    held = len(GERMAN) // 10 * 2  # a tenth of the sentences for test, and as many for valid
    new = table(tmp_path / "new.tsv", [("Der Gott sieht den Hund.", "The god sees the dog.")])
    there = f"trained on {len(GERMAN) - held} of these {len(GERMAN)} pairs"
    evaluate = ["evaluate", "--model", run, "--corpus"]
    assert there in command(capsys, *evaluate, file)[1]
    assert "trained on" not in command(capsys, *evaluate, new)[1]
    moved = file.rename(tmp_path / "moved.tsv")
    assert there in command(capsys, *evaluate, moved)[1], "by their checksum"
    assert "is not known" in command(capsys, *evaluate, new)[1]
    turned = table(tmp_path / "en-de.tsv", [(b, a) for a, b in GERMAN])
    code, said, notes = command(capsys, *evaluate, turned, "--json")
    assert code == 0
    assert "the file names say en → de, so the columns are exchanged" in notes
    scores = json.loads(said)
    assert scores["trained_on"] == len(GERMAN) - held
    assert scores["given"]["bleu"] == round(scores["given"]["bleu"], 1)


def test_languages_that_were_assumed_are_no_fact_of_the_card(tmp_path, capsys):
    for name, title in (("mine.tsv", "# en → fr (assumed)"), ("en-fr.tsv", "# en → fr")):
        file, run, gift = (
            table(tmp_path / name, GERMAN),
            tmp_path / f"{name}.run",
            tmp_path / f"{name}.gift",
        )
        command(capsys, "train", "--corpus", file, "--out", run, *TINY)
        assert command(capsys, "export", "--model", run, "--out", gift)[0] == 0
        card = (gift / "README.md").read_text(encoding="utf-8")
        assert card.splitlines()[0] == title
        assert "pip install ." in card


def test_chinese_needs_no_option_but_its_name_and_is_scored_by_signs(tmp_path, capsys):
    file, run = table(tmp_path / "en-zh.tsv", CHINESE), tmp_path / "run"
    code, _, said = command(capsys, "train", "--corpus", file, "--out", run, *TINY)
    assert code == 0
    assert "languages: en → zh" in said.splitlines()[0]
    code, scores, _ = command(capsys, "evaluate", "--model", run)
    assert code == 0
    assert "tok:zh" in scores
    translator = Translator.load(run)
    assert translator.target_vocabulary.unknown("龘") == []
    assert translator.target_vocabulary.decode(
        translator.target_vocabulary.encode("猫看见狗。")
    ) == ("猫看见狗。")


def test_a_run_goes_on_only_with_the_data_that_it_had(tmp_path, capsys):
    file, run = table(tmp_path / "de-en.tsv", GERMAN), tmp_path / "run"
    begin = ["train", "--corpus", file, "--out", run, *TINY]
    assert command(capsys, *begin)[0] == 0
    before = sorted(path.name for path in run.glob("step-*"))
    table(file, GERMAN[:40])
    code, _, said = command(capsys, "train", "--resume", "--out", run, "--steps", "90")
    assert code == 1
    assert f"held {len(GERMAN)} pairs then and holds 40 now" in said
    assert sorted(path.name for path in run.glob("step-*")) == before, "nothing is lost"
    assert "may have been trained on" in command(capsys, "evaluate", "--model", run)[2]
    table(file, GERMAN)
    code, _, said = command(capsys, "train", "--resume", "--out", run, "--steps", "90")
    assert code == 0
    assert "note:" not in said


def test_a_run_that_the_clock_ended_says_how_to_go_on(tmp_path, capsys):
    file, run = table(tmp_path / "de-en.tsv", GERMAN), tmp_path / "run"
    short = [*TINY, "--minutes", "0.00001"]
    code, _, said = command(capsys, "train", "--corpus", file, "--out", run, *short)
    assert code == 0
    assert re.search(
        r"stopped by --minutes after step \d+ of 60, saved. Go on with: .*--resume", said
    )


def test_what_was_learned_by_heart_is_called_so(tmp_path, capsys):
    words = "abcdef"
    nonsense = [
        (" ".join(f"w{i}{a}" for a in words), " ".join(f"v{i}{a}" for a in words))
        for i in range(40)
    ]
    file, run = table(tmp_path / "en-fr.tsv", nonsense), tmp_path / "run"
    long = [
        *TINY,
        "--steps",
        "400",
        "--evaluate-every",
        "400",
        "--dropout",
        "0",
        "--learning-rate",
        "0.01",
    ]
    said = command(capsys, "train", "--corpus", file, "--out", run, *long)[2]
    assert re.search(
        r"sentences of train: BLEU \d+, of valid: BLEU \d+. It has learned by heart", said
    )


def test_the_readme_s_programs_train_and_translate(tmp_path, monkeypatch):
    """Its two python blocks run as they stand, in a folder with the file that they name."""
    part = README.read_text(encoding="utf-8").partition("From Python")[2]
    programs = re.findall(r"```python\n(.*?)```", part, re.S)[:2]
    assert len(programs) == 2
    table(tmp_path / "mydata.tsv", GERMAN)
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for program in programs:
            done = subprocess.run(
                [sys.executable, "-c", program.replace("steps=400", "steps=20")],
                capture_output=True,
                text=True,
                encoding="utf-8",
            )
            assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[")


def test_a_training_from_python_takes_a_path_as_text(tmp_path):
    file = table(tmp_path / "mydata.tsv", GERMAN)
    small = {"steps": 4, "evaluate_every": 4, "d_model": 16, "num_heads": 2, "num_layers": 1}
    run = start_run(TrainSettings(corpus=str(file), languages="de-en", **small))
    train_run(run, str(tmp_path / "run"), say=lambda text: None, progress=False)
    assert Translator.load(tmp_path / "run").translate(["Der Hund hört den Mann."])
    before = sorted((tmp_path / "run").rglob("*"))
    with pytest.raises(ValueError, match="run holds a run already: .* in Python resume_run"):
        train_run(start_run(run.settings), tmp_path / "run", say=lambda text: None)
    assert sorted((tmp_path / "run").rglob("*")) == before
