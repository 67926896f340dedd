import json

import pytest

from transformer_lib import ladder
from transformer_lib.__main__ import main
from transformer_lib.corpus import Corpus, load_corpus
from transformer_lib.ladder import (
    MODELS,
    LadderSettings,
    band,
    build_ladder,
    fingerprint,
    ladder_batches,
    ladder_model,
    ladder_table,
    read_ladder,
    read_lengths,
    time_ladder,
)

SHORT = LadderSettings(steps=2)


@pytest.fixture(scope="module")
def small():
    corpus = load_corpus("grammar")
    cut = {split: getattr(corpus, split)[:8] for split in ("valid", "test", "test_long")}
    return Corpus(corpus.name, corpus.languages, train=corpus.train[:40], **cut)


@pytest.fixture(scope="module")
def once(tmp_path_factory, small):
    path, said = tmp_path_factory.mktemp("ladder") / "ladder.json", []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ladder, "load_corpus", lambda name: small)
        build_ladder(["gru", "bahdanau"], [0, 1], path, SHORT, said.append, progress=False)
    return path.read_text(), said


@pytest.fixture
def built(once, tmp_path, monkeypatch, small):
    """A ladder of four rungs, to be changed at will."""
    monkeypatch.setattr(ladder, "load_corpus", lambda name: small)
    path = tmp_path / "ladder.json"
    path.write_text(once[0])
    return path, once[1]


def test_a_row_a_model_and_seed(built):
    path, said = built
    frame = read_ladder(path, SHORT)
    assert frame[["model", "seed"]].values.tolist() == [
        ["gru", 0],
        ["gru", 1],
        ["bahdanau", 0],
        ["bahdanau", 1],
    ]
    assert not frame.stale.any()
    assert frame.AER.isna().tolist() == [True, True, False, False]
    assert len(said) == 4


def test_rows_that_are_there_are_kept_and_interrupted_work_goes_on(built):
    path, _ = built
    rows = json.loads(path.read_text())
    path.write_text(json.dumps(rows[:3]))
    said = []
    build_ladder(["gru", "bahdanau"], [0, 1], path, SHORT, said.append, progress=False)
    assert sum("already there" in line for line in said) == 3
    assert len(json.loads(path.read_text())) == 4


def test_a_write_that_is_cut_off_loses_no_row(built, monkeypatch):
    path, _ = built
    rows = json.loads(path.read_text())
    path.write_text(json.dumps(rows[:3]))

    def half(self, text, **options):
        self.write_bytes(text.encode()[: len(text) // 2])
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(type(path), "write_text", half)
        with pytest.raises(OSError, match="no space"):
            build_ladder(["gru", "bahdanau"], [0, 1], path, SHORT, print, progress=False)
    assert json.loads(path.read_text()) == rows[:3]


def test_a_row_of_other_settings_is_stale_and_says_so(built):
    path, _ = built
    later = read_ladder(path, LadderSettings(steps=3))
    assert later.stale.all()
    assert list(ladder_table(later).index) == ["gru (stale)", "bahdanau (stale)"]
    assert list(ladder_table(read_ladder(path, SHORT)).index) == ["gru", "bahdanau"]


def test_a_fingerprint_notices_the_seed_the_model_the_settings_and_the_corpus(monkeypatch):
    seen = {fingerprint(name, seed, SHORT) for name in MODELS for seed in (0, 1)}
    assert len(seen) == 2 * len(MODELS)
    assert fingerprint("gru", 0, SHORT) in seen
    assert fingerprint("gru", 0, LadderSettings(steps=3)) not in seen
    monkeypatch.setitem(ladder.KINDS, "gru", (ladder.KINDS["gru"][0], {"d_hidden": 290}))
    assert fingerprint("gru", 0, SHORT) not in seen


def test_mean_and_spread_by_hand(built):
    path, _ = built
    rows = json.loads(path.read_text())[:2]
    for row, bleu in zip(rows, (20.0, 23.0), strict=True):
        row["test"]["bleu"] = bleu
    path.write_text(json.dumps(rows))
    table = ladder_table(read_ladder(path, SHORT))
    assert table.loc["gru", "BLEU"] == "21.5 ± 2.1"
    assert table.loc["gru", "AER"] == "-"


def test_a_band_is_the_stored_range_and_a_margin(built):
    frame = read_ladder(built[0], SHORT)
    frame["BLEU"] = [1.0, 2.0, 5.0, 9.0]
    assert band(frame, "bahdanau", "BLEU", 0.5) == (4.5, 9.5)
    with pytest.raises(ValueError, match="no row of 'luong-dot'"):
        band(frame, "luong-dot", "BLEU", 0.5)


def test_lengths_are_told_apart(built):
    path, _ = built
    lengths = read_lengths(path)
    assert lengths.groupby(["model", "seed"]).pairs.sum().eq(8).all()


def test_every_model_sees_the_same_batches(small):
    first, second, third = (
        [batch.src.tolist() for batch in ladder_batches(small, small.vocabularies(), SHORT, seed)]
        for seed in (0, 0, 1)
    )
    assert first == second != third


def test_every_rung_has_as_many_parameters_as_the_others():
    sizes = [sum(p.numel() for p in ladder_model(name, 1125, 2448).parameters()) for name in MODELS]
    assert max(sizes) / min(sizes) < 1.01


def test_times_can_be_measured_anew_and_nothing_else_changes(built):
    path, _ = built
    before = read_ladder(path, SHORT)
    time_ladder(path, SHORT, steps=2)
    after = read_ladder(path, SHORT)
    assert (after["tokens/s"] != before["tokens/s"]).all()
    assert after.drop(columns="tokens/s").equals(before.drop(columns="tokens/s"))


def test_the_command_prints_the_table(built, capsys):
    path, _ = built
    assert main(["ladder", "--show", "--steps", "2", "--out", str(path)]) == 0
    assert "bahdanau" in capsys.readouterr().out


def test_the_stored_rows_are_not_stale():
    stored = read_ladder()
    assert sorted(set(stored.model)) == sorted(MODELS)
    assert stored.groupby("model").seed.apply(list).map(lambda s: s == [0, 1, 2]).all()
    assert not stored.stale.any(), "run: python -m transformer_lib ladder"
