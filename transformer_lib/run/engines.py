"""A trained Transformer handed to another engine, with the program that calls it there.

The folder holds the model in the engine's format, the vocabularies, and `translate.py`, which needs
the engine and our `corpus`, no torch. What is written is tried at once: it agrees, or it is gone.
"""

import copy
import json
import math
import runpy
import string
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import torch

from transformer_lib.base.tokens import EOS_ID, SPECIAL
from transformer_lib.batching import Example
from transformer_lib.checkpoints import LoadedModel
from transformer_lib.corpus import SentencePair
from transformer_lib.models import describe_model
from transformer_lib.run import to_ctranslate2, to_onnx
from transformer_lib.run.runs import must_be_empty, read_corpus, stored_settings
from transformer_lib.transformer import Transformer
from transformer_lib.translation import Translator

CHECKED = 50  # sentences at most, evenly spread over the held-out ones
ROUNDING = 1e-3  # of a logit or a log-probability; a fault in a layer makes some tenths
ALIKE = 0.9  # of the translations: rounding may turn one whose best words are nearly equal


class Engine(NamedTuple):
    """What writes a model for an engine, the program that serves it, and a measure of its error."""

    write: Callable[..., None]  # of model, vocabularies and folder
    program: str  # with $max_len and $longest, both in tokens, left open
    difference: Callable[..., float]  # of model, folder and examples


ENGINES = {
    "ctranslate2": Engine(to_ctranslate2.write, to_ctranslate2.PROGRAM, to_ctranslate2.difference),
    "onnx": Engine(to_onnx.write, to_onnx.PROGRAM, to_onnx.difference),
}


def export_to(name: str, loaded: LoadedModel, out: Path) -> str:
    """Write the model for that engine of `ENGINES` into `out`, and say how far the two agree.

    It is written in single precision. Raises ImportError where the engine is not installed,
    ValueError where it cannot express the model, where `out` holds something, and where engine and
    model do not agree: then nothing is left.
    """
    if not isinstance(loaded.model, Transformer):
        kind = describe_model(loaded.model)["model"]
        raise ValueError(
            f"--to {name} takes a transformer, and this model is a {kind}: leave out --to"
        )
    must_be_empty(out)
    translator = Translator(copy.deepcopy(loaded.model).float().cpu().eval(), *loaded[1:3])
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as unfinished:
        folder = Path(unfinished) / "model"
        folder.mkdir()
        _write(ENGINES[name], translator, folder)
        said = _agreement(name, translator, folder, *_sentences(loaded))
        if out.exists():
            out.rmdir()
        folder.rename(out)
    return said


def filled(program: str, max_len: int, longest: int) -> str:
    """The program for a model that reads `max_len` tokens and writes at most `longest`."""
    return string.Template(program).substitute(max_len=max_len, longest=longest)


def _write(engine: Engine, translator: Translator, folder: Path) -> None:
    engine.write(translator.model, translator.vocabularies, folder)
    stored = [vocabulary.to_json() for vocabulary in translator.vocabularies]
    text = json.dumps(stored, ensure_ascii=False)
    (folder / "vocabularies.json").write_text(text, encoding="utf-8")
    program = filled(engine.program, translator.model.config.max_len, translator.longest)
    (folder / "translate.py").write_text(program, encoding="utf-8")


def _agreement(
    name: str, translator: Translator, folder: Path, pairs: list[SentencePair], what: str
) -> str:
    """How many translations are alike, and how far numbers are apart, or ValueError: too far."""
    model, vocabularies = translator.model, translator.vocabularies
    rows = zip(*(_rows(len(v), model.config.max_len) for v in vocabularies), strict=True)
    examples = [Example([*src, EOS_ID], [*tgt, EOS_ID]) for src, tgt in rows]
    difference = ENGINES[name].difference(model, folder, examples)
    theirs = runpy.run_path(str(folder / "translate.py"))["translate"]
    translations = theirs([pair.source for pair in pairs])
    both = zip(translator.hypotheses(pairs), translations, strict=True)
    alike = sum(ours == other for ours, other in both)
    said = (
        f"{alike} of {len(pairs)} {what} translated alike, scores of tokens differ by "
        f"{difference:.0e} at most"
    )
    if not difference <= ROUNDING or alike < ALIKE * len(pairs):
        raise ValueError(
            f"{name} does not agree with this library: {said}, where at least {ALIKE:.0%} and at "
            f"most {ROUNDING:.0e} are rounding. Nothing is kept; is {name} of a version that "
            "pyproject.toml names?"
        )
    return said


def _sentences(loaded: LoadedModel) -> tuple[list[SentencePair], str]:
    """Held-out sentences of the model's corpus, or, where it cannot be read, words in a row."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            corpus = read_corpus(stored_settings(loaded))
            held_out = corpus.test or corpus.valid
        except (OSError, ValueError):
            held_out = []
    if held_out:
        return held_out[:: math.ceil(len(held_out) / CHECKED)], "held-out sentences"
    rows = _rows(len(loaded.source_vocabulary), loaded.model.config.max_len)
    return [SentencePair(loaded.source_vocabulary.decode(row), "") for row in rows], "rows of words"


def _rows(vocab_size: int, max_len: int) -> list[list[int]]:
    """The same tokens every time: rows of 1, 3, 5 to 15, as far as a model of `max_len` reads."""
    generator = torch.Generator().manual_seed(0)
    lengths = [min(length, max_len - 1) for length in range(1, 16, 2)]
    return [
        torch.randint(len(SPECIAL), vocab_size, (length,), generator=generator).tolist()
        for length in lengths
    ]
