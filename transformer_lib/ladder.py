"""Every model on the same data, with the same number of updates and of parameters, over three
seeds: the table that grows from lesson 05 to lesson 15.

`python -m transformer_lib ladder` makes the rows of data/ladder.json. A row carries the hash of all
that it depends on; where that has changed since, `read_ladder` calls the row stale.
"""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import torch
from torch import nn

from transformer_lib.batching import TokenBatches, encode_pairs
from transformer_lib.corpus import DATA, Corpus, SentencePair, Vocabulary, load_corpus, tokenize
from transformer_lib.metrics import translation_scores
from transformer_lib.recurrent import KINDS, make_recurrent
from transformer_lib.runtime import seed_everything
from transformer_lib.training import History, fit, warmup_cosine
from transformer_lib.transformer import make_model
from transformer_lib.translation import Translator

STORED = DATA / "ladder.json"
MODELS = (*KINDS, "transformer")
LENGTHS = ((1, 4), (5, 6), (7, 8), (9, 11), (12, 15), (16, 30))  # source words, both included
MAX_LEN = 128


@dataclass(frozen=True)
class LadderSettings:
    """What all rungs share. Small enough for a lesson, on one thread in about two minutes."""

    corpus: str = "lessons"
    steps: int = 500
    max_tokens: int = 1024
    peak: float = 4e-3
    warmup: int = 120
    dropout: float = 0.1
    label_smoothing: float = 0.1

    def learning_rate(self, step: int) -> float:
        """Up to the peak, then along half a cosine to 0."""
        return warmup_cosine(step, peak=self.peak, warmup=self.warmup, steps=self.steps)


def ladder_model(name: str, *vocab_sizes: int, dropout: float = 0.1) -> nn.Module:
    """A freshly initialised model of that name, with as many parameters as the others."""
    if name == "transformer":
        return make_model(
            *vocab_sizes, "tiny", tie_weights="target", dropout=dropout, max_len=MAX_LEN
        )
    return make_recurrent(*vocab_sizes, name, dropout=dropout, max_len=MAX_LEN)


def ladder_batches(
    corpus: Corpus, vocabularies: Iterable[Vocabulary], settings: LadderSettings, seed: int
) -> TokenBatches:
    """The training batches: the order of a seed is the same for every model."""
    encode = [vocabulary.encode for vocabulary in vocabularies]
    examples = encode_pairs(corpus.train, *encode, MAX_LEN)
    return TokenBatches(examples, settings.max_tokens, seed=seed)


def climb(
    name: str, seed: int, settings: LadderSettings, corpus: Corpus, *, progress: bool = True
) -> tuple[Translator, History]:
    """Train one rung: the model of that name, from that seed."""
    seed_everything(seed)
    vocabularies = corpus.vocabularies()
    model = ladder_model(name, *map(len, vocabularies), dropout=settings.dropout)
    history = fit(
        model,
        ladder_batches(corpus, vocabularies, settings, seed),
        steps=settings.steps,
        learning_rate=settings.learning_rate,
        label_smoothing=settings.label_smoothing,
        progress=progress,
    )
    return Translator(model.eval(), *vocabularies), history


def score(translator: Translator, corpus: Corpus) -> dict:
    """BLEU and exact matches on test, on test_long and by source length, and the alignment error
    rate of the head that aligns the valid split best (None without attention).
    """
    test, test_long = (
        list(zip(pairs, translator.hypotheses(pairs), strict=True))
        for pairs in (corpus.test, corpus.test_long)
    )
    scores = {"test": _brief(test), "test_long": _brief(test_long)}
    scores["by_length"] = [
        {"words": f"{low}-{high}", **_brief(some)}
        for low, high in LENGTHS
        if (some := [t for t in test if low <= len(tokenize(t[0].source, "en")) <= high])
    ]
    rates = translator.alignment_error_rates(corpus.valid)
    best = min(rates, key=rates.get) if rates else None
    scores["alignment_error_rate"] = (
        translator.alignment_error_rates(corpus.test)[best] if rates else None
    )
    return scores


def build_ladder(
    models: Iterable[str] = MODELS,
    seeds: Iterable[int] = (0, 1, 2),
    path: Path = STORED,
    settings: LadderSettings | None = None,
    say: Callable[[str], None] = print,
    progress: bool = True,
) -> None:
    """Train and score every model from every seed, and write the rows to `path` as they are done;
    rows that are there and not stale are kept.
    """
    settings = settings or LadderSettings()
    corpus = load_corpus(settings.corpus)
    for seed in seeds:
        for name in models:
            rows = _rows(path)
            wanted = fingerprint(name, seed, settings)
            if any(row["fingerprint"] == wanted for row in rows):
                say(f"{name}, seed {seed}: already there")
                continue
            translator, history = climb(name, seed, settings, corpus, progress=progress)
            row = {
                "model": name,
                "seed": seed,
                "fingerprint": wanted,
                "settings": dataclasses.asdict(settings),
                "torch": torch.__version__,
                "parameters": sum(p.numel() for p in translator.model.parameters()),
                "tokens_per_second": float(history.frame.tokens_per_second.median()),
                **score(translator, corpus),
            }
            kept = [r for r in rows if (r["model"], r["seed"]) != (name, seed)]
            _write(path, [*kept, row])
            say(f"{name}, seed {seed}: test BLEU {row['test']['bleu']:.1f}")


def time_ladder(
    path: Path = STORED, settings: LadderSettings | None = None, steps: int = 15
) -> None:
    """Measure tokens a second anew: every model a few steps in turn, once a seed, in one process, so
    that they can be compared; other work on the machine would spoil it.
    """
    settings = settings or LadderSettings()
    corpus, rows = load_corpus(settings.corpus), _rows(path)
    vocabularies = corpus.vocabularies()
    batches = ladder_batches(corpus, vocabularies, settings, seed=0)
    for row in sorted(rows, key=lambda r: r["seed"]):
        model = ladder_model(row["model"], *map(len, vocabularies), dropout=settings.dropout)
        history = fit(model, batches, steps=steps, learning_rate=1e-3, progress=False)
        row["tokens_per_second"] = float(history.frame.tokens_per_second.median())
    _write(path, rows)


def fingerprint(name: str, seed: int, settings: LadderSettings) -> str:
    """The hash of all that a row depends on: settings, seed, model configuration, corpus files."""
    with torch.device("meta"):  # the sizes alone: no weights, no random numbers
        config = dataclasses.asdict(ladder_model(name, 10, 10, dropout=settings.dropout).config)
    config = {field: value for field, value in config.items() if value is not None}  # as if absent
    sums = (DATA / "SHA256SUMS").read_text(encoding="utf-8")
    said = json.dumps([name, seed, dataclasses.asdict(settings), config, sums], sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def read_ladder(path: Path = STORED, settings: LadderSettings | None = None) -> pd.DataFrame:
    """A row a model and seed; `stale` where settings, model or corpus have changed since it was
    made.
    """
    settings = settings or LadderSettings()
    return pd.DataFrame(
        {
            "model": row["model"],
            "seed": row["seed"],
            "parameters": row["parameters"],
            "tokens/s": row["tokens_per_second"],
            "BLEU": row["test"]["bleu"],
            "exact": 100 * row["test"]["exact_match"],
            "BLEU long": row["test_long"]["bleu"],
            "AER": row["alignment_error_rate"],
            "stale": row["fingerprint"] != fingerprint(row["model"], row["seed"], settings),
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


def ladder_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean ± standard deviation over the seeds, a line a model, in the order of the lessons."""
    measures = ["tokens/s", "BLEU", "exact", "BLEU long", "AER"]
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
    """Where a run of one more seed must fall: the range of the stored seeds, widened by a margin on
    either side.
    """
    values = rows[rows.model == model][measure]
    if values.empty:
        raise ValueError(f"no row of {model!r}: python -m transformer_lib ladder --models {model}")
    return values.min() - margin, values.max() + margin


def _rows(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else []


def _write(path: Path, rows: list[dict]) -> None:
    """Whole or not at all: a run that is killed loses no row."""
    ordered = sorted(rows, key=lambda row: (MODELS.index(row["model"]), row["seed"]))
    unfinished = path.with_suffix(".tmp")
    unfinished.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(path)


def _brief(translated: Iterable[tuple[SentencePair, str]]) -> dict:
    pairs, hypotheses = zip(*translated, strict=True)
    scores = translation_scores(hypotheses, [pair.target for pair in pairs])
    return {name: scores[name] for name in ("pairs", "bleu", "exact_match")}
