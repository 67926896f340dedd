import argparse
from dataclasses import fields, replace

import checked
import pytest

from transformer_lib.corpus import DATA, SHIPPED
from transformer_lib.models import MODELS
from transformer_lib.run.options import TrainSettings, add_options, recipe_for
from transformer_lib.transformer import PRESETS

OPTIONS = fields(TrainSettings)


def parsed(*words):
    parser = argparse.ArgumentParser()
    add_options(parser)
    return vars(parser.parse_args(words))


def test_what_is_not_given_is_not_there():
    assert parsed() == {}
    assert parsed("--dropout", "0.1") == {"dropout": 0.1}  # the default, but given


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_every_option_says_what_it_is_and_survives_storing(option):
    assert len(option.metadata["help"]) > 10
    other = {"model": "gru", "preset": "small", "positions": "rotary", "tie": "none"}
    other |= {"precision": "bf16", "tokens": "500", "languages": "de-en", "case": "keep"}
    example = {int: 7, float: 0.5, str: other.get(option.name, "x")}[option.metadata["rule"].kind]
    given = {option.name: (example,) if option.metadata["many"] else example}
    settings = TrainSettings(**given)
    if option.name != "steps":
        with pytest.raises(ValueError, match=f"goes on with {option.name}="):
            TrainSettings().resume(given)
    assert settings != TrainSettings()
    assert TrainSettings.from_stored(settings.to_json()) == settings
    words = parsed(f"--{option.name.replace('_', '-')}", str(example))
    assert TrainSettings(**words) == settings


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"dropout": 1.0}, "dropout: 1.0 is not a number of at least 0 and below 1"),
        ({"dropout": "0.3"}, "dropout: '0.3' is not a number"),
        ({"steps": 0}, "steps: 0 is not a whole number of at least 1"),
        ({"steps": 2.5}, "steps: 2.5 is not a whole number"),
        ({"learning_rate": 0.0}, "learning_rate: 0.0 is not a number above 0"),
        ({"model": "lstm"}, "model: 'lstm' is not one of gru, bahdanau"),
        ({"tokens": "many"}, "tokens: 'many' is not 'words' or a number of pieces"),
        ({"tie": "all"}, "tie=all needs one vocabulary"),
        ({"steps": True}, "steps: True is not a whole number"),
        ({"steps": 1600.0}, "steps: 1600.0 is not a whole number"),
        ({"learning_rate": float("inf")}, "learning_rate: inf is not a number above 0"),
        ({"seed": -1}, "seed: -1 is not a whole number of at least 0"),
        ({"corpus": None}, "corpus: it must be given"),
        ({"model": "gru", "d_model": 64}, "model=gru comes in one size.*leave out d_model=64"),
    ],
)
def test_a_value_that_an_option_does_not_take_is_refused_in_words(wrong, message):
    with checked.unchecked(), pytest.raises(ValueError, match=message):
        TrainSettings(**wrong)


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.name)
def test_a_run_goes_on_only_with_its_own_settings(option):
    run = TrainSettings(corpus=("lessons",), dropout=0.3, warmup=5, seed=3)
    default = {option.name: option.default}
    own = {option.name: getattr(run, option.name)}
    assert run.resume(own) == run.resume({}) == run
    if option.name == "steps":
        assert run.resume({"steps": 9}) == replace(run, steps=9)
    elif default == own:
        assert run.resume(default) == run
    else:
        with pytest.raises(ValueError, match=f"goes on with {option.name}=.*start another run"):
            run.resume(default)


def test_what_does_not_go_together_is_the_runs_difference_when_it_goes_on():
    run = TrainSettings(d_model=16, num_heads=2)
    with pytest.raises(ValueError, match="goes on with model=transformer, not gru"):
        run.resume({"model": "gru"})
    with pytest.raises(ValueError, match="goes on with tie=target, not all"):
        run.resume({"tie": "all"})


def test_a_setting_that_this_version_does_not_know_is_named():
    with pytest.raises(ValueError, match="this version knows no setting depth, mood"):
        TrainSettings.from_stored({"dropout": 0.2, "mood": 1, "depth": 2})


def test_grammars_recipe_is_for_the_transformer_and_what_is_given_counts():
    grammar = {"corpus": ("grammar",)}
    names = ("dropout", "cross_attention_dropout", "label_smoothing", "weight_decay")

    def of(given):
        settings = TrainSettings.begin(given)
        return tuple(getattr(settings, name) for name in names)

    assert of(grammar) == (0.0, 0.3, 0.2, 0.1)
    assert of(grammar | {"label_smoothing": 0.1}) == (0.0, 0.3, 0.1, 0.1)
    others = ({}, {"corpus": ("lessons",)}, grammar | {"model": "gru"})
    assert {of(given) for given in others} == {(0.1, None, 0.1, 0.0)}
    assert recipe_for(grammar).name == recipe_for({"corpus": "grammar"}).name == "grammar.txt"


@pytest.mark.parametrize("path", sorted((DATA / "recipes").iterdir()), ids=lambda path: path.stem)
def test_a_recipe_is_read_by_name_and_by_path(path):
    settings = TrainSettings.from_recipe(path.stem)
    assert settings == TrainSettings.from_recipe(path)
    assert settings != TrainSettings(corpus=settings.corpus)
    assert TrainSettings.from_recipe(path, steps=7) == replace(settings, steps=7)


def test_a_recipe_that_asks_for_what_is_not_there_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("--corpus lessons --depth 9  # deep\n")
    with pytest.raises(ValueError, match="mine.txt: unrecognized arguments: --depth 9"):
        TrainSettings.from_recipe(tmp_path / "mine.txt")
    with pytest.raises(FileNotFoundError):
        TrainSettings.from_recipe("yours")


def test_a_file_is_known_by_its_whole_path_and_a_name_stays(tmp_path, monkeypatch):
    (tmp_path / "own.tsv").touch()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "everyday").touch()
    assert TrainSettings(corpus=("own.tsv",)).corpus == (str(tmp_path / "own.tsv"),)
    assert [TrainSettings(corpus=(name,)).corpus for name in SHIPPED] == [(n,) for n in SHIPPED]
    assert TrainSettings(corpus=tmp_path / "own.tsv").corpus == (str(tmp_path / "own.tsv"),)
    assert TrainSettings(hold_out=("own.tsv",)).hold_out == ("own.tsv",)


def test_the_rate_rises_in_a_line_and_falls_along_half_a_cosine():
    settings = TrainSettings(steps=300, warmup=100, learning_rate=0.2)
    assert [settings.rate(step) for step in (50, 100, 200, 300)] == pytest.approx(
        [0.1, 0.2, 0.1, 0]
    )


def test_choices_are_the_tables_names():
    by_name = {option.name: option.metadata["rule"].choices for option in OPTIONS}
    assert (by_name["model"], by_name["preset"]) == (tuple(MODELS), tuple(PRESETS))
