import dataclasses
import json
from functools import partial

import pytest

from transformer_lib.cli import main
from transformer_lib.corpus import SPLITS, Corpus, SentencePair, load_corpus
from transformer_lib.models import MODELS, Kind
from transformer_lib.recurrent import PlainSeq2Seq
from transformer_lib.recurrent_parts import RecurrentConfig
from transformer_lib.run import ladder
from transformer_lib.run.ladder import (
    COMBINATIONS,
    band,
    build_ladder,
    clearly_apart,
    ladder_table,
    length_curves,
    read_ladder,
    read_lengths,
    rung,
    search_ladder,
    search_table,
    seed_by_seed,
    time_ladder,
)
from transformer_lib.run.options import TrainSettings
from transformer_lib.run.runs import start_run
from transformer_lib.training import Diverged


@pytest.fixture(scope="module")
def small():
    corpus = load_corpus("grammar")
    cut = {split: getattr(corpus, split)[:8] for split in SPLITS[1:]}
    return Corpus(corpus.name, corpus.languages, train=corpus.train[:40], **cut)


@pytest.fixture(scope="module")
def once(tmp_path_factory, small):
    path, said = tmp_path_factory.mktemp("ladder") / "ladder.json", []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ladder, "load_corpus", lambda name: small)
        build_ladder(["gru", "bahdanau"], [0, 1], path, said.append, progress=False, steps=2)
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
    frame = read_ladder(path, steps=2)
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
    build_ladder(["gru", "bahdanau"], [0, 1], path, said.append, progress=False, steps=2)
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
            build_ladder(["gru", "bahdanau"], [0, 1], path, print, progress=False, steps=2)
    assert json.loads(path.read_text()) == rows[:3]


def test_a_row_of_other_settings_is_stale_and_says_so(built):
    path, _ = built
    later = read_ladder(path, steps=3)
    assert later.stale.all()
    assert list(ladder_table(later).index) == ["gru (stale)", "bahdanau (stale)"]
    assert list(ladder_table(read_ladder(path, steps=2)).index) == ["gru", "bahdanau"]


def test_a_row_notices_the_seed_the_settings_the_model_and_the_corpus(built, monkeypatch):
    path, _ = built

    def stale(**changed):
        return read_ladder(path, **{"steps": 2, **changed}).stale.tolist()

    assert stale() == [False] * 4
    assert stale(learning_rate=1e-3) == stale(dropout=0.2) == [True] * 4
    with monkeypatch.context() as patch:
        bigger = Kind(PlainSeq2Seq, RecurrentConfig, {"d_hidden": 290})
        patch.setitem(MODELS, "gru", bigger)
        assert stale() == [True, True, False, False]
    rows = json.loads(path.read_text())
    path.write_text(json.dumps([rows[0] | {"seed": 1}, rows[1] | {"corpus": "another"}]))
    assert stale() == [True] * 2
    older = {"settings": {"peak": 0.004}, "fingerprint": "3e2b25aef26794c8"}
    path.write_text(
        json.dumps([rows[0] | older, {k: v for k, v in rows[1].items() if k != "config"}])
    )
    assert stale() == [True] * 2


def test_an_option_that_came_later_makes_no_row_stale(built):
    path, _ = built
    rows = json.loads(path.read_text())
    for row in rows:
        del row["settings"]["weight_decay"], row["config"]["dropout"], row["config"]["max_len"]
    path.write_text(json.dumps(rows))
    assert not read_ladder(path, steps=2).stale.any()
    assert read_ladder(path, steps=2, weight_decay=0.1).stale.all()


def test_mean_and_spread_by_hand(built):
    path, _ = built
    rows = json.loads(path.read_text())[:2]
    for row, bleu in zip(rows, (20.0, 23.0), strict=True):
        row["test"]["bleu"] = bleu
    path.write_text(json.dumps(rows))
    table = ladder_table(read_ladder(path, steps=2))
    assert table.loc["gru", "BLEU"] == "21.5 ± 2.1"
    assert table.loc["gru", "AER"] == "-"


def test_a_band_is_the_stored_range_and_a_margin(built):
    frame = read_ladder(built[0], steps=2)
    frame["BLEU"] = [1.0, 2.0, 5.0, 9.0]
    assert band(frame, "bahdanau", "BLEU", 0.5) == (4.5, 9.5)
    with pytest.raises(ValueError, match="no row of 'luong-dot'"):
        band(frame, "luong-dot", "BLEU", 0.5)


def test_lengths_are_told_apart(built):
    path, _ = built
    lengths = read_lengths(path)
    assert lengths.groupby(["model", "seed"]).pairs.sum().eq(8).all()


def test_a_length_curve_has_a_point_a_group_and_one_for_the_long_sentences(tmp_path):
    lengths = [2] + [low + 1 for low, _ in ladder.LENGTHS[1:]]
    test, long = ([SentencePair("a " * n, "b") for n in sizes] for sizes in (lengths, [20]))
    corpus = Corpus("small", ("en", "fr"), [], [], test, long)
    rows = [json.loads(ladder.STORED.read_text())[0] for _ in range(2)]
    for seed, (row, bleu, of_long) in enumerate(zip(rows, (20, 26), (8, 14), strict=True)):
        row["seed"], row["test_long"]["bleu"] = seed, of_long
        row["by_length"] = [
            part | {"bleu": bleu + place} for place, part in enumerate(row["by_length"])
        ]
    path, name = tmp_path / "ladder.json", rows[0]["model"]
    path.write_text(json.dumps(rows))
    curves, spread = length_curves([name], corpus, path)
    assert curves == {name: ([2, 6, 8, 10, 13, 17, 20], [23, 24, 25, 26, 27, 28, 11])}
    assert spread[name] == pytest.approx([18**0.5] * 7)


def test_every_model_sees_the_same_batches(small):
    def order(name, seed):
        run = start_run(rung(name, seed), corpus=small)
        return [batch.src.tolist() for batch in run.batches()]

    assert order("gru", 0) == order("transformer", 0) != order("gru", 1)


def test_a_small_one_is_a_rung_but_for_its_size(small, monkeypatch):
    whole = rung("luong-dot", steps=2)
    losses = ladder.climb(whole, small, progress=False)[1].frame.loss
    alike = {"learning_rate": whole.learning_rate, "dropout": whole.dropout}
    translator, history = ladder.climb_small("luong-dot", small, progress=False, steps=2)
    assert (translator.model.config.d_model, translator.model.config.d_hidden) == (64, 128)
    assert history.frame.loss.tolist() != losses.tolist()
    monkeypatch.setattr(ladder, "SMALL", {})
    _, history = ladder.climb_small("luong-dot", small, progress=False, steps=2, **alike)
    assert history.frame.loss.tolist() == losses.tolist()


def test_a_rung_is_settings_like_any_other():
    gru = rung("gru", 2, steps=7)
    assert isinstance(gru, TrainSettings)
    assert (gru.model, gru.seed, gru.steps, gru.corpus) == ("gru", 2, 7, ("lessons",))


def test_times_can_be_measured_anew_and_nothing_else_changes(built):
    path, _ = built
    before = read_ladder(path, steps=2)
    time_ladder(path, steps=2)
    after = read_ladder(path, steps=2)
    assert (after["tokens/s"] != before["tokens/s"]).all()
    assert after.drop(columns="tokens/s").equals(before.drop(columns="tokens/s"))


@pytest.fixture(scope="module")
def searched(tmp_path_factory, small):
    path, said = tmp_path_factory.mktemp("search") / "rows.json", []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ladder, "load_corpus", lambda name: small)
        search_ladder(["gru"], path, said.append, progress=False, steps=2)
        search_ladder(["gru"], path, said.append, progress=False, steps=2)
    return path.with_name("rows_search.json"), said


def test_the_search_tries_the_same_combinations_on_valid_alone(searched, small):
    path, said = searched
    rows = json.loads(path.read_text())
    assert [row["chosen"] for row in rows] == COMBINATIONS
    peaks, dropouts = {2e-3, 4e-3, 8e-3}, {0.0, 0.1}
    assert {(r["settings"]["learning_rate"], r["settings"]["dropout"]) for r in rows} == {
        (peak, dropout) for peak in peaks for dropout in dropouts
    }
    assert {(row["settings"]["steps"], row["valid"]["pairs"]) for row in rows} == {(2, 8)}
    assert not any("test" in row for row in rows)
    assert [("already there" in line) for line in said] == [False] * 6 + [True] * 6


def test_a_rung_takes_the_best_of_the_search_and_others_what_all_share(searched, tmp_path):
    rows = json.loads(searched[0].read_text())
    for number, row in enumerate(rows):
        row["valid"]["bleu"] = float(number == 4)
    beside = tmp_path / "ladder_search.json"
    beside.write_text(json.dumps(rows))
    chosen = partial(rung, path=tmp_path / "ladder.json", steps=2)  # what the search was made with
    assert search_table(tmp_path / "ladder.json").best.gru == "0.008 / 0"
    assert (chosen("gru").learning_rate, chosen("gru").dropout) == (8e-3, 0.0)
    assert (chosen("gru", dropout=0.5).dropout, chosen("gru", 3).seed) == (0.5, 3)
    shared = TrainSettings(corpus=("lessons",), tokens="words", warmup=120, model="gru")
    assert chosen("gru", steps=500) == dataclasses.replace(shared, steps=500)  # other updates
    assert chosen("bahdanau") == dataclasses.replace(shared, steps=2, model="bahdanau")
    beside.write_text(json.dumps(rows[1:]))  # half a search decides nothing
    assert chosen("gru") == dataclasses.replace(shared, steps=2)


def test_a_combination_that_diverges_scores_nothing_and_the_search_goes_on(
    tmp_path, small, monkeypatch
):
    climb, said = ladder.climb, []
    monkeypatch.setattr(ladder, "load_corpus", lambda name: small)

    def diverging(settings, corpus, **options):
        if settings.learning_rate == 8e-3:
            raise Diverged("loss is nan at step 2")
        return climb(settings, corpus, **options)

    monkeypatch.setattr(ladder, "climb", diverging)
    search_ladder(["gru"], tmp_path / "rows.json", said.append, progress=False, steps=2)
    rows = json.loads((tmp_path / "rows_search.json").read_text())
    assert [row["valid"]["bleu"] == 0 for row in rows][4:] == [True, True]
    assert len(rows) == 6
    assert sum("loss is nan" in line for line in said) == 2


def test_a_ladder_of_more_updates_has_files_and_a_search_of_its_own():
    assert ladder.stored() == ladder.STORED
    assert ladder.stored(2500).name == "ladder_2500.json"
    assert ladder.searched(ladder.stored(2500)).name == "ladder_2500_search.json"
    for name in MODELS:
        tried = ladder.combinations(name, ladder.LONG)
        assert [each["learning_rate"] for each in tried] == [2e-3, 4e-3, 8e-3]
        assert {each["dropout"] for each in tried} == {rung(name).dropout}


@pytest.mark.parametrize("steps", [ladder.SHARED.steps, ladder.LONG])
def test_the_stored_ladders_are_whole_and_of_today(steps):
    rows = read_ladder(steps=steps)
    assert list(zip(rows.model, rows.seed, strict=True)) == [
        (name, seed) for name in MODELS for seed in range(3)
    ]
    assert not rows.stale.any()
    assert rows.AER.isna().equals(rows.model == "gru")  # it has no attention to align with
    assert rows[["exact", "BLEU", "BLEU long", "BLEU joined"]].notna().all(axis=None)
    tried = search_table(ladder.stored(steps))
    assert set(tried.index) == set(MODELS)
    assert tried.notna().all(axis=None)


def test_two_ladders_into_one_file_lose_no_row(tmp_path, small, monkeypatch):
    path, said, climb = tmp_path / "rows.json", [], ladder.climb
    monkeypatch.setattr(ladder, "load_corpus", lambda name: small)

    def another_builds_meanwhile(*args, **kwargs):
        monkeypatch.setattr(ladder, "climb", climb)
        build_ladder(["bahdanau"], [0], path, said.append, progress=False, steps=1)
        return climb(*args, **kwargs)

    monkeypatch.setattr(ladder, "climb", another_builds_meanwhile)
    build_ladder(["gru"], [0], path, said.append, progress=False, steps=1)
    assert [row["model"] for row in json.loads(path.read_text())] == ["gru", "bahdanau"]


def test_clearly_apart_is_every_seed_in_one_direction_and_no_chance(built, small, monkeypatch):
    path, _ = built
    rows = json.loads(path.read_text())
    references = [pair.target for pair in small.test]

    def write(*wrong):
        for row, number in zip(rows, wrong, strict=True):
            row["written"] = references[number:] + ["?"] * number
            row["test"]["bleu"] = 100.0 - number
        path.write_text(json.dumps(rows))
        return clearly_apart(seed_by_seed("gru", "bahdanau", small, path))

    assert write(0, 0, 7, 7) == ">"
    assert write(7, 7, 0, 0) == "<"
    assert write(0, 7, 7, 0) == "·"  # the seeds disagree
    assert write(0, 5, 7, 5) == "·"  # one of them sees no difference
    monkeypatch.setattr(ladder, "paired_bootstrap", lambda ours, theirs, _: 0.06)
    assert write(0, 0, 7, 7) == "·"
    monkeypatch.setattr(ladder, "paired_bootstrap", lambda ours, theirs, _: 0.04)
    assert write(0, 0, 7, 7) == ">"


def test_models_that_cannot_be_compared_are_refused_in_words(built, small):
    path, _ = built
    with pytest.raises(ValueError, match=r"has gru from seeds \[0, 1\] and luong-dot from \[\]"):
        seed_by_seed("gru", "luong-dot", small, path)


def test_the_command_searches_beside_its_rows(built, capsys):
    path, _ = built
    assert main(["ladder", "--search", "--models", "gru", "--steps", "1", "--out", str(path)]) == 0
    assert "0.002 / 0 " in capsys.readouterr().out
    assert len(json.loads(path.with_name("ladder_search.json").read_text())) == 6


def test_a_ladder_without_rows_says_how_to_make_them(tmp_path, capsys):
    assert main(["ladder", "--show", "--out", str(tmp_path / "none.json")]) == 1
    assert "no row to show: python -m transformer_lib ladder" in capsys.readouterr().err


def test_the_command_prints_the_table(built, capsys):
    path, _ = built
    assert main(["ladder", "--show", "--steps", "2", "--out", str(path)]) == 0
    assert "bahdanau" in capsys.readouterr().out


def test_the_stored_rows_are_not_stale():
    stored = read_ladder()
    assert sorted(set(stored.model)) == sorted(MODELS)
    assert stored.groupby("model").seed.apply(list).map(lambda s: s == [0, 1, 2]).all()
    assert not stored.stale.any(), "run: python -m transformer_lib ladder"
