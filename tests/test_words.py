"""What a command says to words that it does not know, and its errors in its own syntax."""

import shlex

import pytest

from transformer_lib import cli
from transformer_lib.cli.words import CALLED, OTHERS, in_words, near
from transformer_lib.corpus import load_corpus


def commands():
    (subparsers,) = cli.parser()._subparsers._group_actions
    return subparsers.choices


def refused(line, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(shlex.split(line))
    assert stop.value.code == 2
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("--lr 1e-3", "--learning-rate"),
        ("--epochs 3", "--steps"),
        ("--data mine.tsv", "--corpus"),
        ("--dataset mine.tsv", "--corpus"),
        ("--train-file=mine.tsv", "--corpus"),
        ("--batch-size 64", "--max-tokens"),
        ("--lr-warmup 10", "--warmup"),
        ("--warmup-steps 10", "--warmup"),
        ("--hidden-size 64", "--d-model"),
        ("--dim 64", "--d-model"),
        ("--heads 4", "--num-heads"),
        ("--layers 2", "--num-layers"),
        ("--output-dir runs/x", "--out"),
        ("-o runs/x", "--out"),
        ("--learning_rate 1", "--learning-rate"),
        ("--label-smooting 0.1", "--label-smoothing"),
        ("--step 10", "--steps"),  # a beginning is not taken in silence
        ("--label 0.1", "--label-smoothing"),
        ("--resum", "--resume"),
    ],
)
@pytest.mark.parametrize("out", ["--out runs/x ", ""])
def test_a_word_that_train_does_not_know_is_answered_by_the_one_that_was_meant(
    given, meant, out, capsys
):
    said = refused(f"train {out}{given}", capsys)
    name = given.replace("=", " ").split()[0]
    assert f"there is no {name}: did you mean {meant}?\n  {meant}: " in said
    assert said.startswith("usage: python -m transformer_lib train --out DIRECTORY")


@pytest.mark.parametrize("given", ["--beam-size 4", "--num-beams=4", "--beams 4"])
@pytest.mark.parametrize("command", ["translate", "evaluate"])
def test_other_tools_beams_are_known_where_there_is_one(command, given, capsys):
    said = refused(f"{command} --model runs/x {given}", capsys)
    assert "did you mean --beam?" in said
    assert said.startswith(f"usage: python -m transformer_lib {command} ")


def test_all_that_is_unknown_is_said_at_once_and_without_a_guess_where_there_is_none(capsys):
    said = refused("train --lr 1 --frobnicate --epochs 2", capsys)
    assert [line.split(":")[0] for line in said.split("there is no ")[1:]] == [
        "--lr",
        "--frobnicate",
        "--epochs",
    ]
    assert "there is no --frobnicate: --help lists those there are" in said


def test_what_stands_behind_two_dashes_or_holds_a_blank_is_a_sentence():
    parse = cli.parser().parse_args
    assert parse(["translate", "--model", "x", "--", "--lr", "-Oui."]).sentences == [
        "--lr",
        "-Oui.",
    ]
    assert parse(["translate", "--model", "x", "-Oui, dit-il."]).sentences == ["-Oui, dit-il."]


def test_a_file_of_options_is_read_as_strictly(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("--lr 0.1 --step 3\n")
    said = refused(f"train @{tmp_path / 'mine.txt'} --out runs/x", capsys)
    assert "did you mean --learning-rate?" in said
    assert "did you mean --steps?" in said
    assert "Errno" not in refused(f"train @{tmp_path / 'none.txt'} --out runs/x", capsys)


def test_no_command_takes_a_part_of_a_name(capsys):
    for name, command in commands().items():
        options = [o for action in command._actions for o in action.option_strings if len(o) > 5]
        for option in options:
            assert f"there is no {option[:-1]}: did you mean" in refused(
                f"{name} {option[:-1]}", capsys
            )


def test_the_words_of_others_lead_to_options_that_there_are():
    known = {o for command in commands().values() for o in command._option_string_actions}
    assert {f"--{ours}" for ours in OTHERS} | set(CALLED.values()) <= known
    for ours, others in OTHERS.items():
        assert all(f"--{ours}" in near(f"--{other}", known) for other in others.split())


ASKED = {"beam_size": "--beam", "hold_out": "--hold-out", "max_len": "--max-len"}
ASKED |= {name: f"--{name}" for name in ("corpus", "languages", "model", "positions", "dropout")}


@pytest.mark.parametrize(
    ("python", "command"),
    [
        ("beam_size=4 is too many", "--beam 4 is too many"),
        ("dropout=0.1, not 0.5: leave it out", "--dropout 0.1, not 0.5: leave it out"),
        ("pass languages=('de', 'en').", "pass --languages de-en."),
        ('pass languages="de-en"', "pass --languages de-en"),
        (
            "leave out corpus=('my a.tsv', \"o'b.tsv\")",
            "leave out --corpus 'my a.tsv' 'o'\"'\"'b.tsv'",
        ),
        ("positions=None, not 'rotary'", "no --positions, not 'rotary'"),
        ("hold_out 3, and at most max_len", "--hold-out 3, and at most --max-len"),
        ("no checkpoint in 'runs/dropout=0.1'", "no checkpoint in 'runs/dropout=0.1'"),
        ("the model of runs/max_len.tsv", "the model of runs/max_len.tsv"),
        ("d_head=3 is odd", "d_head=3 is odd"),
    ],
)
def test_an_error_of_the_library_is_said_in_the_commands_syntax(python, command):
    assert in_words(ValueError(python), ASKED) == command
    assert in_words(ValueError(python), {}) == python


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            "--tie all",
            "--tie all needs one vocabulary for both languages: --tokens 8000, or another",
        ),
        ("--model gru --d-model 64", "--model gru comes in one size: leave out --d-model 64"),
        ("--d-model 10 --num-heads 3", "--d-model 10 is not divisible by --num-heads 3"),
        ("--tokens 5", "--tokens 5, but 4 special pieces"),
        ("--max-tokens 5", "does not fit a batch of --max-tokens 5"),
        ("--max-len 1", "has at most --max-len 1 tokens"),
        ("--valid mine.tsv", "has a valid split of its own: leave out --valid mine.tsv"),
        ("--languages de", "--languages de"),
    ],
)
def test_what_a_training_refuses_is_said_in_options(given, said, tmp_path, capsys):
    assert cli.main(["train", "--out", str(tmp_path), *given.split()]) == 1
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: ")
    assert said in error


def test_searching_and_drawing_are_named_as_they_were_typed(capsys):
    asked = [
        "translate",
        "--model",
        "nowhere",
        "--beam",
        "4",
        "--top-k",
        "3",
        "--temperature",
        "1",
        "Go.",
    ]
    assert cli.main(asked) == 1
    said = capsys.readouterr().err
    assert said == "error: --beam 4 and --temperature, --top-k: search or draw, not both\n"


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """A run on pairs of its own, and what it said."""
    folder = tmp_path_factory.mktemp("de en")
    things = ["Haus", "Buch", "Auto", "Boot", "Rad", "Bett"]
    ends = [("ist neu", "is new"), ('ist "gut"', 'is "good"'), ("kostet 5$", "costs 5$")]
    rows = [f"Das {t} {d}.\tThe {t.lower()} {e}.\n" for t in things for d, e in ends]
    (folder / "mine.de-en.tsv").write_text("".join(rows), encoding="utf-8")
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli.commands, "_say", said.append)
        files = ["--corpus", str(folder / "mine.de-en.tsv"), "--out", str(folder / "run")]
        assert cli.main(["train", *files, "--steps", "2", "--evaluate-every", "2"]) == 0
    return folder, said


def test_the_line_to_try_holds_a_held_out_sentence_of_the_data_and_runs(german, capsys):
    folder, said = german
    words = shlex.split(said[-1].splitlines()[-1])
    assert words[:3] == ["python", "-m", "transformer_lib"]
    corpus = load_corpus(folder / "mine.de-en.tsv")
    assert words[-1] in [pair.source for pair in corpus.valid]
    assert cli.main(words[3:]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1


@pytest.mark.parametrize("sentence", ["I'm home.", 'He said "no".', "It costs $5!", "`ls` \\n"])
def test_a_quoted_sentence_is_one_word_of_a_shell(sentence):
    assert shlex.split(cli.commands._quoted(sentence)) == [sentence]


def test_nothing_is_drawn_at_temperature_0(german, capsys):
    folder, _ = german
    asked = ["translate", "--model", str(folder / "run"), "Das Haus ist neu."]
    said = []
    for how in (["--temperature", "0", "--top-k", "7", "--seed", "3"], []):
        assert cli.main([*asked, *how]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
