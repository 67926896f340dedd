"""A training run from start to score.

What `TrainSettings` describe is made, trained, kept, resumed and judged here.
"""

import math
import os
import platform
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import filelock
import torch
from torch import nn

from transformer_lib.base.distributed import rank
from transformer_lib.base.machine import seed_everything
from transformer_lib.batching import TokenBatches, encode_pairs
from transformer_lib.checkpoints import (
    LoadedModel,
    checkpoints_in,
    load_run,
    remove_unfinished,
    save_checkpoint,
)
from transformer_lib.corpus import (
    AnyVocabulary,
    ByteSubwords,
    Corpus,
    SentencePair,
    Subwords,
    Vocabulary,
    blankless,
    load_corpus,
    load_pairs,
)
from transformer_lib.metrics import ceiling
from transformer_lib.models import create_model
from transformer_lib.run.options import TrainSettings
from transformer_lib.training import History, fit, validation_loss
from transformer_lib.transformer import make_model
from transformer_lib.translation import Translator

BYTE_PIECES = 4000  # of a script without blanks, where --tokens says nothing
WATCHED = 200  # sentences of valid at most, evenly spread, that are translated at every evaluation


@dataclass(frozen=True)
class Run:
    """A run ready to train: its settings, and the corpus and the translator they describe."""

    settings: TrainSettings
    corpus: Corpus
    translator: Translator
    snapshot: dict | None = None  # of the checkpoint from which it goes on

    def batches(self, split: str = "train") -> TokenBatches:
        """The split as batches; those of train come in the seed's order, for every model alike."""
        pairs, training = getattr(self.corpus, split), split == "train"
        encode = (vocabulary.encode for vocabulary in self.translator.vocabularies)
        examples = encode_pairs(pairs, *encode, self.settings.max_len)
        if not examples:
            raise ValueError(
                f"no pair of {split} has at most max_len={self.settings.max_len} tokens"
            )
        if len(examples) < len(pairs):
            warnings.warn(
                f"{len(pairs) - len(examples)} pairs of {split} have over {self.settings.max_len} "
                "tokens and are left out",
                stacklevel=2,
            )
        seed = self.settings.seed
        return TokenBatches(examples, self.settings.max_tokens, shuffle=training, seed=seed)

    def fit(self, **machine) -> History:
        """Train the model by its settings; `machine` holds what else `training.fit` takes."""
        settings = self.settings
        return fit(
            self.translator.model,
            self.batches(),
            **settings.of("training"),
            learning_rate=settings.rate,
            save_every=settings.evaluate_every,
            resume=self.snapshot,
            **machine,
        )


@contextmanager
def owned(out: Path) -> Iterator[None]:
    """A block in which no other process trains into `out`, which is made where it is missing.

    Where it ends before anything was saved, nothing that it made is left. Raises ValueError where
    another process does, and says which, and since when. The lock is the system's: a process that is
    killed leaves none behind, only what this block then clears away. Of several processes that train
    together the first holds it.
    """
    if rank():
        yield
        return
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    out.mkdir(parents=True, exist_ok=True)
    lock, owner = filelock.FileLock(out / ".run.lock"), out / ".run.owner"
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        try:
            who = owner.read_text(encoding="utf-8")
        except OSError:
            who = "another process"
        raise ValueError(
            f"{out} is being trained into by {who}: wait for it, stop it, or choose another --out"
        ) from None
    except NotImplementedError:  # some network folders
        warnings.warn(f"{out} cannot be locked: let no second run write there", stacklevel=3)
    try:
        now = datetime.now().astimezone().isoformat(" ", "seconds")
        owner.write_text(
            f"process {os.getpid()} on {platform.node()}, since {now}", encoding="utf-8"
        )
        remove_unfinished(out)
        yield
    finally:
        owner.unlink(missing_ok=True)
        lock.release()
        if made and not checkpoints_in(out):
            with suppress(OSError):  # something else was put there
                (out / ".run.lock").unlink(missing_ok=True)
                for folder in made:
                    folder.rmdir()


def must_hold_no_run(out: Path) -> None:
    """Raises ValueError where there are checkpoints already: a new run would mix with them."""
    if checkpoints_in(out):
        raise ValueError(
            f"{out} holds a run already: go on with it (--resume; in Python resume_run), or choose "
            "another --out"
        )


def must_be_empty(out: Path) -> None:
    """Raises ValueError where a folder to be written holds anything."""
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} holds something already: choose another --out")


def start_run(
    settings: TrainSettings, device: torch.device | str = "cpu", corpus: Corpus | None = None
) -> Run:
    """A new run: everything drawn from the settings' seed. `corpus` spares the loading."""
    seed_everything(settings.seed)
    corpus = read_corpus(settings) if corpus is None else corpus
    vocabularies = _vocabularies(corpus, settings)
    model = new_model(settings, *map(len, vocabularies)).to(device)
    return Run(settings, corpus, Translator(model, *vocabularies))


def resume_run(out: Path, given: dict, device: torch.device | str = "cpu") -> Run:
    """The run in `out`, ready to go on from its newest checkpoint as if it had not stopped.

    Of the settings `given` only `steps` may be another (`TrainSettings.resume`). Raises ValueError
    where the corpus holds other pairs than those that it was trained on.
    """
    loaded, snapshot = load_run(out)
    settings = stored_settings(loaded).resume(given)
    seed_everything(settings.seed)
    model, *vocabularies = loaded[:3]
    corpus = read_corpus(settings)
    if changed := _other_data(loaded, corpus):
        raise ValueError(
            f"{out} cannot go on: {changed}. Bring the old data back, or start another run with another "
            "--out"
        )
    return Run(settings, corpus, Translator(model.to(device), *vocabularies), snapshot)


def train_run(run: Run, out: str | Path, say: Callable[[str], None] = print, **machine) -> History:
    """Train the run, with an evaluation and a checkpoint in `out` every `evaluate_every` steps.

    `machine` goes to `training.fit`: `compile`, `minutes`, `progress`. Ctrl-C saves first and says
    how to go on. Raises ValueError where `out` holds another run.
    """
    if not run.snapshot:
        must_hold_no_run(Path(out))
    if not run.corpus.valid:
        raise ValueError(
            f"{run.corpus.name} is too small to hold sentences out for valid and test: give more pairs, "
            "some hundreds at least"
        )
    out, data = Path(out), run.corpus.fingerprint
    out.mkdir(parents=True, exist_ok=True)
    translator, held_out = run.translator, run.corpus.valid
    watched = held_out[:: math.ceil(len(held_out) / WATCHED)]
    valid = run.batches("valid")

    def evaluate(model: nn.Module) -> dict:
        loss, bleu = validation_loss(model, valid), translator.evaluate(watched)["bleu"]
        say(f"valid: loss {loss:.3f}, BLEU {bleu:.1f} ({len(watched)} sentences, greedy)")
        return {"validation_loss": loss, "bleu": bleu}

    def save(snapshot: dict) -> None:
        curve = snapshot["history"]["evaluations"]
        fresh = curve and curve[-1]["step"] == snapshot["step"]
        info = {
            "settings": run.settings.to_json(),
            "languages_are": run.corpus.languages_are,
            "data": data,
            "curve": curve,
        }
        metrics = curve[-1] if fresh else {}
        kept = {"metrics": metrics, "info": info, "snapshot": snapshot}
        folder = save_checkpoint(out, translator.model, translator.vocabularies, **kept)
        say(f"saved {folder}")

    try:
        return run.fit(evaluate=evaluate, save=None if rank() else save, **machine)
    except KeyboardInterrupt as stop:
        how = f"python -m transformer_lib train --resume --out {out}"
        raise KeyboardInterrupt("" if rank() else f"{stop}. Go on with: {how}") from None


def give_away(loaded: LoadedModel, out: Path) -> Path:
    """Write the model alone, and of its files of data the names, not where they lay."""
    info = {name: value for name, value in loaded.info.items() if name not in ("step", "metrics")}
    settings = dict(info.get("settings", {}))
    for name in settings.keys() & {"corpus", "valid"}:
        settings[name] = settings[name] and [Path(file).name for file in settings[name]]
    known = {"metrics": loaded.info["metrics"], "step": loaded.info["step"]}
    vocabularies = loaded.source_vocabulary, loaded.target_vocabulary
    info |= {"settings": settings} if settings else {}
    return save_checkpoint(out, loaded.model, vocabularies, info=info, **known)


def score_run(
    loaded: LoadedModel, split: str = "test", *, examples: int = 0, seed: int = 0, **search
) -> dict:
    """What a model makes of `split`, and of as many sentences of train that it has seen.

    `search` as in `Translator.translate`; what is drawn at random starts from `seed` for either.
    The alignment error rate is that of the head that aligns valid best, None without gold links.
    """
    settings = stored_settings(loaded)
    try:
        corpus = read_corpus(settings)
    except FileNotFoundError:
        files = ", ".join(Path(file).name for file in settings.corpus + (settings.valid or ()))
        raise FileNotFoundError(
            f"the data of this model, {files}, are not here: --corpus FILE scores it on pairs of yours"
        ) from None
    if changed := _other_data(loaded, corpus):
        warnings.warn(f"{changed}: what is held out here may have been trained on", stacklevel=2)
    held_out = getattr(corpus, split)
    if not held_out:
        raise ValueError(f"{corpus.name} has no {split} sentences")
    stride = max(1, len(corpus.train) // len(held_out))
    parts = {"seen": corpus.train[::stride][: len(held_out)], "held_out": held_out}
    head = best_head(Translator(*loaded[:3]), corpus.valid)
    scores = _scored(loaded, parts, head, examples, seed, search)
    return {"corpus": corpus.name, "split": split, **scores}


def score_files(
    loaded: LoadedModel, files: Sequence[str], *, examples: int = 0, seed: int = 0, **search
) -> dict:
    """What a model makes of pairs in files of yours, whatever it was trained on.

    So it scores a model, too, whose own data are gone. `trained_on` counts the pairs on which it was
    trained, None where that cannot be told any more. The rest is as in `score_run`.
    """
    pairs, trained = load_pairs(files, loaded.languages), _trained_on(loaded, files)
    known = None if trained is None else sum(pair[:2] in trained for pair in pairs)
    name = " + ".join(Path(file).name for file in files)
    scores = _scored(loaded, {"given": pairs}, None, examples, seed, search)
    return {"corpus": name, "split": None, "trained_on": known, **scores}


def _trained_on(loaded: LoadedModel, files: Sequence[str]) -> set[tuple[str, str]] | None:
    """The pairs that it was trained on, where its own files, or these, are what its data were."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for corpus in (None, tuple(map(str, files))):
            with suppress(OSError, ValueError):
                settings = replace(stored_settings(loaded), languages="-".join(loaded.languages))
                found = read_corpus(replace(settings, corpus=corpus or settings.corpus))
                if found.fingerprint == loaded.info.get("data"):
                    return {pair[:2] for pair in found.train}
    return None


def _scored(loaded: LoadedModel, parts: dict, head, examples: int, seed: int, search: dict) -> dict:
    translator, judged = Translator(*loaded[:3]), list(parts.values())[-1]
    result = {
        "ceiling": ceiling([pair.target for pair in judged], loaded.target_vocabulary),
        "step": loaded.info["step"],
        "parameters": sum(p.numel() for p in loaded.model.parameters()),
        "curve": loaded.info.get("curve", []),
    }
    for name, pairs in parts.items():
        if "generator" in search:
            search["generator"].manual_seed(seed)
        hypotheses = translator.hypotheses(pairs, **search)
        result[name] = translator.scores(hypotheses, pairs)
        result[name]["alignment_error_rate"] = error_of_head(translator, pairs, head)
    result["examples"] = [
        {"source": pair.source, "reference": pair.target, "translation": hypothesis}
        for pair, hypothesis in list(zip(judged, hypotheses, strict=True))[:examples]
    ]
    return result


def best_head(translator: Translator, pairs: Sequence[SentencePair]) -> tuple[int, int] | None:
    """The cross-attention head, (layer, head), that aligns `pairs` best.

    None where the pairs have no gold links, the model no attention, or the tokens are no words.
    """
    if not all(isinstance(vocabulary, Vocabulary) for vocabulary in translator.vocabularies):
        return None
    if not translator.aligned(pairs):
        return None
    rates = translator.alignment_error_rates(pairs)
    return min(rates, key=rates.get, default=None)


def error_of_head(
    translator: Translator, pairs: Sequence[SentencePair], head: tuple[int, int] | None
) -> float | None:
    """The alignment error rate of that head on `pairs`; None where there is none to measure."""
    if head is None or not translator.aligned(pairs):
        return None
    return translator.alignment_error_rates(pairs)[head]


def stored_settings(loaded: LoadedModel) -> TrainSettings:
    """The settings that `train` wrote beside a model."""
    if "settings" not in loaded.info:
        raise ValueError("this model does not say what it was trained on: `train` did not save it")
    return TrainSettings.from_stored(loaded.info["settings"])


def by_heart(run: Run) -> tuple[float, float]:
    """BLEU on sentences of train, and on as many of valid: far apart where it learned by heart."""
    watched = run.corpus.valid[:WATCHED]
    stride = max(1, len(run.corpus.train) // len(watched))
    seen = run.corpus.train[::stride][: len(watched)]
    return tuple(run.translator.evaluate(pairs)["bleu"] for pairs in (seen, watched))


def _other_data(loaded: LoadedModel, corpus: Corpus) -> str:
    """How the corpus differs from the one that it was trained on; no word where it does not."""
    before, today = loaded.info.get("data"), corpus.fingerprint
    if before in (None, today):  # nothing is known of a model that was saved before this was kept
        return ""
    if before["pairs"] != today["pairs"]:
        return f"{corpus.name} held {before['pairs']} pairs then and holds {today['pairs']} now"
    return f"{corpus.name} holds other pairs than it did"


def read_corpus(settings: TrainSettings) -> Corpus:
    """The corpus that the settings name: the same split whenever it is loaded."""
    name = settings.corpus[0] if len(settings.corpus) == 1 else settings.corpus
    return load_corpus(name, seed=settings.seed, **settings.of("corpus"))


def new_model(settings: TrainSettings, *vocab_sizes: int) -> nn.Module:
    """The model that the settings name, freshly initialised."""
    if settings.model != "transformer":
        return create_model(settings.model, *vocab_sizes, **settings.of("model"))
    return make_model(*vocab_sizes, settings.preset, **settings.of("model"))


def _vocabularies(corpus: Corpus, settings: TrainSettings) -> tuple[AnyVocabulary, AnyVocabulary]:
    languages, lower = corpus.languages, settings.lower
    if settings.tie == "all":
        pieces = ByteSubwords if any(map(blankless, languages)) else Subwords
        return pieces.build_joint(corpus.train, languages, int(settings.tokens), lower)
    sides = ([pair[side] for pair in corpus.train] for side in (0, 1))
    return tuple(
        _vocabulary(sentences, language, settings.tokens, lower)
        for sentences, language in zip(sides, languages, strict=True)
    )


def _vocabulary(
    sentences: list[str], language: str, tokens: str | None, lower: bool
) -> AnyVocabulary:
    if tokens == "words" or (tokens is None and not blankless(language)):
        return Vocabulary.build(sentences, language, lower=lower)
    pieces = ByteSubwords if blankless(language) else Subwords
    return pieces.build(sentences, language, int(tokens or BYTE_PIECES), lower=lower)
