"""The small trained model of lessons 16 and 17 is whole, small, and as good as its data sheet says."""

import pytest

from transformer_lib.checkpoints import load_model
from transformer_lib.corpus import DATA, load_corpus
from transformer_lib.translation import Translator

FOLDER = DATA / "models" / "lessons"


@pytest.fixture(scope="module")
def loaded():
    return load_model(FOLDER)


def test_it_takes_no_more_than_two_megabytes():
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) <= 2e6


def test_it_carries_the_settings_of_the_command_that_made_it(loaded):
    settings = loaded.info["settings"]
    said = (DATA / "README.md").read_text(encoding="utf-8")
    for name in ("d_model", "num_heads", "d_ff", "steps", "evaluate_every"):
        assert f"--{name.replace('_', '-')} {settings[name]}" in said
    assert settings["corpus"] == ["lessons"]


def test_its_score_is_in_its_band(loaded):
    translator = Translator(*loaded[:3])
    pairs = load_corpus("lessons").test[::8]
    assert 87 <= translator.evaluate(pairs)["bleu"] <= 97
    rates = translator.alignment_error_rates([pair for pair in pairs if pair.alignment])
    assert 0.10 <= min(rates.values()) <= 0.20
