"""Every model on the same data, from three seeds: as many updates, as many parameters.

It is the table that grows from lesson 05 to lesson 15. `python -m transformer_lib ladder --search`
gives each model the same combinations of peak rate and dropout; `ladder` trains it with its best of
them and keeps what it wrote on test. There is a ladder for each number of updates, `--steps`: 500,
and 2,500 for what longer training changes. A row carries all that it depends on; where that is
another today, `read_ladder` calls the row stale.
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path

import filelock
import pandas as pd
import torch

from transformer_lib.base.machine import seed_everything
from transformer_lib.corpus import DATA, SPLITS, Corpus, SentencePair, load_corpus, tokenize
from transformer_lib.metrics import paired_bootstrap, translation_scores
from transformer_lib.models import MODELS, create_model, describe_model
from transformer_lib.run.options import TrainSettings
from transformer_lib.run.runs import Run, best_head, error_of_head, new_model, start_run
from transformer_lib.training import Diverged, History
from transformer_lib.translation import Translator

STORED = DATA / "ladder.json"
LENGTHS = ((1, 4), (5, 6), (7, 8), (9, 11), (12, 15), (16, 30))  # source words, both included
SHARED = TrainSettings(corpus=("lessons",), tokens="words", steps=500, warmup=120)
SMALL = {"d_model": 64, "d_hidden": 128}  # a recurrent model with a third of a rung's parameters
RATES = (2e-3, 4e-3, 8e-3)
COMBINATIONS = [
    {"learning_rate": rate, "dropout": dropout} for rate in RATES for dropout in (0.0, 0.1)
]
LONG = 2500  # updates of the second ladder


def stored(steps: int = SHARED.steps) -> Path:
    """The file with the ladder of so many updates."""
    return STORED if steps == SHARED.steps else STORED.with_stem(f"{STORED.stem}_{steps}")


def searched(path: Path = STORED) -> Path:
    """The file with the search whose best the rows in `path` were made with."""
    return path.with_stem(f"{path.stem}_search")


def combinations(name: str, steps: int = SHARED.steps) -> list[dict]:
    """What the search tries: three peak rates and two dropouts; after many updates the rates alone.

    The dropout is then the one that the search at 500 updates found for this model.
    """
    if steps != LONG:
        return COMBINATIONS
    return [{"learning_rate": rate, "dropout": rung(name).dropout} for rate in RATES]


def rung(name: str, seed: int = 0, path: Path | None = None, **changes) -> TrainSettings:
    """The settings of one rung: those all share, and what a whole search found best for this model.

    The search stands beside `path`. One with other `changes`, or in which a combination is missing,
    decides nothing. Small enough for a lesson: about two minutes of one thread.
    """
    shared = dataclasses.replace(SHARED, model=name, **changes)
    path = path or stored(shared.steps)
    found = [
        row
        for row in _rows(searched(path))
        if row["model"] == name and not _stale(row, dataclasses.replace(shared, **row["chosen"]))
    ]
    whole = len(found) == len(combinations(name, shared.steps))
    best = max(found, key=lambda row: row["valid"]["bleu"])["chosen"] if whole else {}
    return dataclasses.replace(shared, seed=seed, **{**best, **changes})


def search_ladder(
    models: Iterable[str] = MODELS,
    path: Path | None = None,
    say: Callable[[str], None] = print,
    progress: bool = True,
    **changes,
) -> None:
    """Train every model from seed 0 in each of its `combinations`, and store its BLEU on valid.

    The rows come beside those of the ladder in `path`; those that are there and not stale are kept.
    A combination with which the loss is no number any more is stored as BLEU 0.
    """
    shared = dataclasses.replace(SHARED, **changes)
    corpus, path = load_corpus(*SHARED.corpus), searched(path or stored(shared.steps))
    for name in models:
        for chosen in combinations(name, shared.steps):
            settings = dataclasses.replace(shared, model=name, **chosen)
            place = {"model": name, "chosen": chosen}
            if any(not _stale(row, settings) for row in _rows(path) if _is_at(place, row)):
                say(f"{name}, {chosen}: already there")
                continue
            try:
                translator, _ = climb(settings, corpus, progress=progress)
                translated = zip(corpus.valid, translator.hypotheses(corpus.valid), strict=True)
                valid = _brief(translated)
            except Diverged as error:
                say(f"{name}, {chosen}: {error}")
                valid = {"pairs": len(corpus.valid), "bleu": 0.0, "exact_match": 0.0}
            found = {**_depends_on(settings), "valid": valid}
            _put(path, place, {"seed": settings.seed, **found})
            say(f"{name}, {chosen}: valid BLEU {found['valid']['bleu']:.1f}")


def search_table(path: Path = STORED) -> pd.DataFrame:
    """BLEU on valid, a line a model, a column a peak rate / dropout; `best` names the highest."""
    lines = {}
    for row in _rows(searched(path)):
        combination = "{learning_rate:g} / {dropout:g}".format_map(row["chosen"])
        lines.setdefault(row["model"], {})[combination] = round(row["valid"]["bleu"], 1)
    table = pd.DataFrame(lines).T
    return table.assign(best=table.idxmax(axis=1))


def climb(
    settings: TrainSettings, corpus: Corpus, *, progress: bool = True
) -> tuple[Translator, History]:
    """Train one rung on `corpus`, which the settings name."""
    run = start_run(settings, corpus=corpus)
    return run.translator, run.fit(progress=progress)


def climb_small(
    name: str, corpus: Corpus, *, progress: bool = True, **changes
) -> tuple[Translator, History]:
    """Train a recurrent model of a third of the size, all else as its rung: for a lesson.

    Half a minute of one thread. `changes` are settings unlike the rung's (`steps=400`).
    """
    settings = dataclasses.replace(rung(name), **changes)
    seed_everything(settings.seed)
    vocabularies = corpus.vocabularies()
    sizes = {"dropout": settings.dropout, **SMALL}
    translator = Translator(create_model(name, *map(len, vocabularies), **sizes), *vocabularies)
    return translator, Run(settings, corpus, translator).fit(progress=progress)


def score(translator: Translator, corpus: Corpus) -> dict:
    """BLEU and exact matches on the test splits and by source length, and the alignment error.

    The alignment error rate is that of the head that aligns valid best; None without attention.
    `written` holds the translations of test.
    """
    translated = {
        split: list(zip(pairs := getattr(corpus, split), translator.hypotheses(pairs), strict=True))
        for split in SPLITS[2:]
    }
    scores, test = {split: _brief(pairs) for split, pairs in translated.items()}, translated["test"]
    scores["by_length"] = [
        {"words": f"{low}-{high}", **_brief(some)}
        for low, high in LENGTHS
        if (some := [t for t in test if low <= len(tokenize(t[0].source, "en")) <= high])
    ]
    head = best_head(translator, corpus.valid)
    scores["alignment_error_rate"] = error_of_head(translator, corpus.test, head)
    scores["written"] = [hypothesis for _, hypothesis in test]
    return scores


def build_ladder(
    models: Iterable[str] = MODELS,
    seeds: Iterable[int] = (0, 1, 2),
    path: Path | None = None,
    say: Callable[[str], None] = print,
    progress: bool = True,
    **changes,
) -> None:
    """Train and score every model from every seed, and write the rows to `path` as they are done.

    Rows that are there and not stale are kept. `changes` are settings other than `rung`'s.
    """
    corpus = load_corpus(*SHARED.corpus)
    path = path or stored(changes.get("steps", SHARED.steps))
    for seed in seeds:
        for name in models:
            settings, place = rung(name, seed, path, **changes), {"model": name, "seed": seed}
            if any(not _stale(row, settings) for row in _rows(path) if _is_at(place, row)):
                say(f"{name}, seed {seed}: already there")
                continue
            translator, history = climb(settings, corpus, progress=progress)
            row = {
                **_depends_on(settings),
                "torch": torch.__version__,
                "parameters": sum(p.numel() for p in translator.model.parameters()),
                "tokens_per_second": float(history.frame.tokens_per_second.median()),
                **score(translator, corpus),
            }
            _put(path, place, row)
            say(f"{name}, seed {seed}: test BLEU {row['test']['bleu']:.1f}")


def time_ladder(path: Path = STORED, steps: int = 15) -> None:
    """Measure tokens a second anew, and nothing else; other work on the machine would spoil it.

    Every model trains a few steps in turn, once a seed, in one process: so they can be compared.
    """
    corpus, rows = load_corpus(*SHARED.corpus), _rows(path)
    for row in sorted(rows, key=lambda row: row["seed"]):
        settings = dataclasses.replace(TrainSettings.from_stored(row["settings"]), steps=steps)
        _, history = climb(settings, corpus, progress=False)
        row["tokens_per_second"] = float(history.frame.tokens_per_second.median())
    _write(path, rows)


def read_ladder(path: Path | None = None, **changes) -> pd.DataFrame:
    """A row a model and seed; `stale` where its settings, model or corpus are others today.

    `changes` are the settings other than `rung`'s that the rows were made with: `steps=2500` reads
    the ladder of so many updates.
    """
    path = path or stored(changes.get("steps", SHARED.steps))
    return pd.DataFrame(
        {
            "model": row["model"],
            "seed": row["seed"],
            "parameters": row["parameters"],
            "tokens/s": row["tokens_per_second"],
            "BLEU": row["test"]["bleu"],
            "exact": 100 * row["test"]["exact_match"],
            "BLEU long": row["test_long"]["bleu"],
            "BLEU joined": row["test_joined"]["bleu"],
            "AER": row["alignment_error_rate"],
            "stale": _stale(row, rung(row["model"], row["seed"], path, **changes)),
        }
        for row in _rows(path)
    )


def read_lengths(path: Path = STORED) -> pd.DataFrame:
    """BLEU and exact matches by source length, a row a model, seed and length."""
    return pd.DataFrame(
        {"model": row["model"], "seed": row["seed"], **part}
        for row in _rows(path)
        for part in row["by_length"]
    )


def length_curves(
    models: Iterable[str], corpus: Corpus, path: Path = STORED
) -> tuple[dict[str, tuple[list, list]], dict[str, list]]:
    """What `plot_curves` draws of BLEU against the tokens of the source: curves, and their spread.

    A point for each group of `LENGTHS` on test, at the mean of its sentences, and one for
    test_long: mean and standard deviation over the seeds.
    """
    tokens, long = (
        [len(tokenize(pair.source, "en")) for pair in pairs]
        for pairs in (corpus.test, corpus.test_long)
    )
    groups = [[n for n in tokens if low <= n <= high] for low, high in LENGTHS]
    at = [sum(group) / len(group) for group in [*groups, long]]
    scores = read_lengths(path).pivot(index=["model", "seed"], columns="words", values="bleu")
    scores = scores[[f"{low}-{high}" for low, high in LENGTHS]]
    scores["long"] = read_ladder(path).set_index(["model", "seed"])["BLEU long"]
    curves = {model: (at, scores.loc[model].mean().tolist()) for model in models}
    return curves, {model: scores.loc[model].std().tolist() for model in models}


def ladder_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean ± standard deviation over the seeds, a line a model, in the order of the lessons."""
    if rows.empty:
        raise ValueError("there is no row to show: python -m transformer_lib ladder makes them")
    measures = ["tokens/s", "BLEU", "exact", "BLEU long", "BLEU joined", "AER"]
    digits = {"tokens/s": 0, "AER": 3}
    lines = {}
    for name, group in rows.groupby("model", sort=False):
        line = {"seeds": len(group), "parameters": f"{group.parameters.iloc[0]:,}"}
        for measure in measures:
            values, places = group[measure].dropna().astype(float), digits.get(measure, 1)
            spread = "" if len(values) < 2 else f" ± {values.std():.{places}f}"
            line[measure] = f"{values.mean():.{places}f}{spread}" if len(values) else "-"
        lines[name + (" (stale)" if group.stale.any() else "")] = line
    return pd.DataFrame(lines).T


def band(rows: pd.DataFrame, model: str, measure: str, margin: float) -> tuple[float, float]:
    """Where a run of one more seed must fall: the range of those stored, widened by a margin."""
    values = rows[rows.model == model][measure]
    if values.empty:
        raise ValueError(f"no row of {model!r}: python -m transformer_lib ladder --models {model}")
    return values.min() - margin, values.max() + margin


def written(model: str, seed: int, path: Path = STORED) -> list[str]:
    """What the stored run has made of the sentences of test, in their order."""
    for row in _rows(path):
        if (row["model"], row["seed"]) == (model, seed):
            return row["written"]
    raise ValueError(
        f"{path} has no row of {model} from seed {seed}: "
        f"python -m transformer_lib ladder --models {model} --seeds {seed}"
    )


def seed_by_seed(first: str, second: str, corpus: Corpus, path: Path = STORED) -> pd.DataFrame:
    """By how many points of BLEU on test the first model leads, and p: a line a seed.

    p is `metrics.paired_bootstrap`'s of the two translations, from the same seed, of all sentences.
    """
    rows = _rows(path)
    ours, theirs = (
        {row["seed"]: row for row in rows if row["model"] == name} for name in (first, second)
    )
    if not ours or ours.keys() != theirs.keys():
        raise ValueError(
            f"{path} has {first} from seeds {[*ours]} and {second} from {[*theirs]}: "
            f"python -m transformer_lib ladder --models {first} {second}"
        )
    references = [pair.target for pair in corpus.test]
    lines = {
        seed: {
            "lead": ours[seed]["test"]["bleu"] - theirs[seed]["test"]["bleu"],
            "p": paired_bootstrap(ours[seed]["written"], theirs[seed]["written"], references),
        }
        for seed in ours
    }
    return pd.DataFrame.from_dict(lines, orient="index")


def clearly_apart(seeds: pd.DataFrame) -> str:
    """Whether the first of two models is clearly higher (">"), lower ("<") or neither ("·").

    Clearly: with every seed of `seed_by_seed`'s table, in the same direction, each time p < 0.05.
    """
    if (seeds.p >= 0.05).any():
        return "·"
    return ">" if (seeds.lead > 0).all() else "<" if (seeds.lead < 0).all() else "·"


def _depends_on(settings: TrainSettings) -> dict:
    """All that a row hangs on: its settings, the model's configuration, the corpus's files."""
    with torch.device("meta"):  # the sizes alone: no weights, no random numbers
        config = describe_model(new_model(settings, 10, 10))["config"]
    sums = (DATA / "SHA256SUMS").read_bytes()
    return {
        "settings": settings.to_json(),
        "config": {name: size for name, size in config.items() if "vocab_size" not in name},
        "corpus": hashlib.sha256(sums).hexdigest()[:16],
    }


def _stale(row: dict, settings: TrainSettings) -> bool:
    """Whether the row's run would be another one today.

    A field that came after the row counts with its default: it changed nothing. A row that holds
    what is not known any more is stale.
    """
    today, fields = _depends_on(settings), dataclasses.fields(MODELS[settings.model].config)
    defaults = {field.name: field.default for field in fields if field.name in today["config"]}
    try:
        return today != {
            "settings": TrainSettings.from_stored(row["settings"]).to_json(),
            "config": defaults | row["config"],
            "corpus": row["corpus"],
        }
    except (KeyError, ValueError):
        return True


def _rows(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def _is_at(place: dict, row: dict) -> bool:
    return row | place == row


def _put(path: Path, place: dict, row: dict) -> None:
    """The row in its place, whoever has added others since this run began."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(path.with_suffix(".lock")):
        others = [other for other in _rows(path) if not _is_at(place, other)]
        _write(path, [*others, place | row])


def _write(path: Path, rows: list[dict]) -> None:
    """Whole or not at all: a run that is killed loses no row."""
    order = list(MODELS)
    ordered = sorted(rows, key=lambda row: (order.index(row["model"]), row["seed"]))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)


def _brief(translated: Iterable[tuple[SentencePair, str]]) -> dict:
    pairs, hypotheses = zip(*translated, strict=True)
    scores = translation_scores(hypotheses, [pair.target for pair in pairs])
    return {name: scores[name] for name in ("pairs", "bleu", "exact_match")}
