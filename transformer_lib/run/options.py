"""Every option of a training run, stated once: its default, its meaning, what it may be.

The command line, recipes, checkpoints, `--resume` and the ladder read these fields. A new option is
a new field here that says whom it is for: `runs` hands all that is for the corpus, the model or the
training on as a whole, by name.
"""

import argparse
import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import Field, asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from transformer_lib.base.machine import PRECISIONS
from transformer_lib.base.tokens import MAX_LEN
from transformer_lib.corpus import DATA, NAMES, SHIPPED
from transformer_lib.models import MODELS
from transformer_lib.positions import POSITIONS
from transformer_lib.schedules import warmup_cosine
from transformer_lib.transformer import PRESETS

RECIPES = DATA / "recipes"
Files = Sequence[str | Path] | Path  # one, or several


@dataclass(frozen=True)
class Rule:
    """What a value must be: its type, a test, and both in words."""

    kind: type
    words: str
    holds: Callable[[Any], bool] = lambda value: True
    choices: tuple[str, ...] | None = None

    def check(self, value: Any) -> None:
        """Raise ValueError unless `value` is what the words say."""
        kinds = (int, float) if self.kind is float else self.kind
        if isinstance(value, bool) or not isinstance(value, kinds) or not self.holds(value):
            raise ValueError(f"{value!r} is not {self.words}")

    def read(self, text: str) -> Any:
        """The value that `text` spells on a command line or in a recipe."""
        try:
            value = self.kind(text)
            self.check(value)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {self.words}") from None
        return value


def one_of(names) -> Rule:
    """The rule of an option that takes one of a few names."""
    return Rule(str, f"one of {', '.join(names)}", lambda name: name in names, tuple(names))


TEXT = Rule(str, "a text")
WHOLE = Rule(int, "a whole number of at least 0", lambda number: number >= 0)
COUNT = Rule(int, "a whole number of at least 1", lambda number: number >= 1)
POSITIVE = Rule(float, "a number above 0", lambda number: 0 < number < math.inf)
AT_LEAST_0 = Rule(float, "a number of at least 0", lambda number: 0 <= number < math.inf)
SHARE = Rule(float, "a number of at least 0 and below 1", lambda number: 0 <= number < 1)
TOKENS = Rule(
    str, "'words' or a number of pieces", lambda text: text == "words" or text.isdecimal()
)
CASES = ("keep", "lower")


def _option(
    default,
    rule: Rule,
    meaning: str,
    *,
    to: str = "run",
    called: str = "",
    only: str = "",
    many: str | None = None,
    shown: str = "",
):
    """A field for `to`: `corpus` (load_corpus), `model` (its configuration), `training` (fit).

    What is for the `run` is read there. `called` is its name there, where it is another; `only`
    names the one model that takes it; `many` says that it holds several; `shown` stands for its
    value in the help.
    """
    metadata = {"rule": rule, "help": meaning, "to": to, "called": called, "only": only}
    return field(default=default, metadata={**metadata, "many": many, "shown": shown})


@dataclass(frozen=True)
class TrainSettings:
    """A training run, described whole: on one machine the same settings give the same model.

    Raises ValueError for a value that an option does not take, or that does not go with another.
    """

    corpus: Files = _option(
        ("everyday",),
        TEXT,
        f"{', '.join(NAMES)}, a file of pairs, or two files of lines; grammar brings "
        "the settings of its recipe",
        many="+",
        shown="NAME_OR_PATH",
    )
    valid: Files | None = _option(
        None,
        TEXT,
        "files of yours to validate on; all of --corpus is trained on then",
        many="+",
        shown="PATH",
        to="corpus",
    )
    languages: str | None = _option(
        None, TEXT, "source-target, such as de-en, where the file names do not say", to="corpus"
    )
    max_pairs: int | None = _option(
        None,
        COUNT,
        "take this many pairs in all (of train, where the corpus has splits of its own)",
        to="corpus",
    )
    max_words: int | None = _option(
        None, COUNT, "only pairs of at most this many source words", to="corpus"
    )
    hold_out: Sequence[str] = _option(
        (),
        TEXT,
        "source sentences that must not be trained on",
        many="*",
        shown="SENTENCE",
        to="corpus",
    )
    model: str = _option(
        "transformer",
        one_of(MODELS),
        "what to train; the recurrent ones have as many parameters as the tiny Transformer",
    )
    preset: str = _option("tiny", one_of(PRESETS), "sizes of the Transformer", only="transformer")
    num_layers: int | None = _option(
        None, COUNT, "instead of the preset's", only="transformer", to="model"
    )
    d_model: int | None = _option(
        None, COUNT, "instead of the preset's", only="transformer", to="model"
    )
    num_heads: int | None = _option(
        None, COUNT, "instead of the preset's", only="transformer", to="model"
    )
    d_ff: int | None = _option(
        None, COUNT, "instead of the preset's", only="transformer", to="model"
    )
    positions: str | None = _option(
        None,
        one_of(POSITIONS),
        "sinusoidal where not given (lesson 10)",
        only="transformer",
        to="model",
    )
    tokens: str | None = _option(
        None,
        TOKENS,
        "words, or how many byte-pair pieces each language gets; with --tie all, both together; words "
        "where not given, but 4000 pieces for a script without blanks (zh, ja, th and their like)",
    )
    case: str | None = _option(
        None,
        one_of(CASES),
        "what becomes of capitals; where not given, files of yours keep them, and a corpus with a name "
        "of its own is lower-cased",
    )
    tie: str = _option(
        "target",
        one_of(("none", "target", "all")),
        "one matrix for output and target embedding; all: for the source embedding too",
        only="transformer",
        to="model",
        called="tie_weights",
    )
    max_len: int = _option(
        MAX_LEN,
        COUNT,
        "tokens of the longest sentence; longer pairs are left out of train and valid",
        to="model",
    )
    dropout: float = _option(
        0.1, SHARE, "probability that an activation is dropped in training", to="model"
    )
    cross_attention_dropout: float | None = _option(
        None,
        SHARE,
        "probability that a weight on a source word is dropped in training; makes alignments "
        "sharper",
        only="transformer",
        to="model",
    )
    steps: int = _option(1600, COUNT, "updates in all", to="training")
    max_tokens: int = _option(1024, COUNT, "padded positions of a batch, a side")
    accumulate: int = _option(1, COUNT, "batches an update", to="training")
    learning_rate: float = _option(
        4e-3, POSITIVE, "at its peak, after the warm-up; then a cosine to 0"
    )
    warmup: int = _option(300, COUNT, "steps until the peak")
    label_smoothing: float = _option(
        0.1, SHARE, "probability mass spread over all words, the right one included", to="training"
    )
    weight_decay: float = _option(
        0.0,
        SHARE,
        "share of every matrix, times the learning rate, that an update takes off",
        to="training",
    )
    precision: str = _option(
        "fp32", one_of(PRECISIONS), "number format of matrix products", to="training"
    )
    evaluate_every: int = _option(
        500, COUNT, "steps between evaluations, each followed by a checkpoint", to="training"
    )
    seed: int = _option(0, WHOLE, "of the split, the weights and the order of the data")

    def __post_init__(self):
        for option in fields(self):
            value = _normal(option, getattr(self, option.name))
            object.__setattr__(self, option.name, value)
            self._check(option, value)
        if self.tie == "all" and self.tokens in (None, "words"):
            raise ValueError(
                "tie=all needs one vocabulary for both languages: tokens='8000', or another number "
                "of pieces, not tokens='words'"
            )

    def _check(self, option, value) -> None:
        if value is None and option.default is None:
            return
        if value is None:
            raise ValueError(f"{option.name}: it must be given")
        if value != option.default and (only := option.metadata["only"]) and only != self.model:
            raise ValueError(
                f"model={self.model} comes in one size: leave out {option.name}={value}, "
                f"which is for the {only}"
            )
        for one in value if option.metadata["many"] else (value,):
            try:
                option.metadata["rule"].check(one)
            except ValueError as error:
                raise ValueError(f"{option.name}: {error}") from None

    @classmethod
    def begin(cls, given: dict) -> "TrainSettings":
        """A new run's settings: those given, then those of its corpus's recipe, then defaults."""
        recipe = recipe_for(given)
        return cls(**{**(read_recipe(recipe) if recipe else {}), **given})

    @classmethod
    def from_recipe(cls, name_or_path: str | Path, **changes) -> "TrainSettings":
        """The settings of a recipe: a file of options, or the name of one in data/recipes."""
        path = Path(name_or_path)
        path = path if path.is_file() else RECIPES / f"{name_or_path}.txt"
        return cls(**{**read_recipe(path), **changes})

    @classmethod
    def from_stored(cls, stored: dict) -> "TrainSettings":
        """The settings that `to_json` stored; an option that came later has its default."""
        unknown = stored.keys() - {option.name for option in fields(cls)}
        if unknown:
            raise ValueError(f"this version knows no setting {', '.join(sorted(unknown))}")
        return cls(**stored)

    def of(self, whom: str) -> dict:
        """All that is for `corpus`, `model` or `training`, by the names under which it is taken.

        What nobody gave (None), and what another model alone takes, is left out.
        """
        mine = (option for option in fields(self) if option.metadata["to"] == whom)
        return {
            option.metadata["called"] or option.name: value
            for option in mine
            if (value := getattr(self, option.name)) is not None
            and option.metadata["only"] in ("", self.model)
        }

    @property
    def lower(self) -> bool:
        """Whether all text becomes lower-case."""
        if self.case is None:
            return len(self.corpus) == 1 and self.corpus[0] in NAMES
        return self.case == "lower"

    def to_json(self) -> dict:
        """Every setting by its name, for `from_stored`."""
        return asdict(self)

    def resume(self, given: dict) -> "TrainSettings":
        """The settings a stopped run goes on with: its own, but for `steps`.

        Raises ValueError where another option was given and is not the run's, be it a default.
        """
        for name, value in given.items():
            option = next(option for option in fields(self) if option.name == name)
            ours, theirs = getattr(self, name), _normal(option, value)
            if name != "steps" and ours != theirs:
                raise ValueError(
                    f"--resume goes on with {name}={_shown(ours)}, not {_shown(theirs)}: "
                    "leave it out, or start another run"
                )
        return replace(self, steps=given.get("steps", self.steps))

    def rate(self, step: int) -> float:
        """The learning rate of update `step`, from 1: up to the peak, then half a cosine to 0."""
        return warmup_cosine(step, peak=self.learning_rate, warmup=self.warmup, steps=self.steps)


LETTERS = {int: "N", float: "X", str: "TEXT"}
# each by its first option
SECTIONS = {"corpus": "the data", "model": "the model", "steps": "the training"}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give `parser` an argument for every setting; of those not given it says nothing."""
    for option in fields(TrainSettings):
        if option.name in SECTIONS:
            section = parser.add_argument_group(SECTIONS[option.name])
        rule, many = option.metadata["rule"], option.metadata["many"]
        shown = " ".join(option.default) if many and option.default else option.default
        section.add_argument(
            f"--{option.name.replace('_', '-')}",
            type=rule.read,
            choices=rule.choices,
            nargs=many,
            metavar=option.metadata["shown"] or (None if rule.choices else LETTERS[rule.kind]),
            help=option.metadata["help"]
            + (f" (default: {shown})" if shown not in (None, ()) else ""),
            default=argparse.SUPPRESS,
        )


def read_recipe(path: Path) -> dict:
    """The settings that a recipe gives: options as on the command line, and # comments."""
    parser = _RecipeParser(prog=str(path), add_help=False, allow_abbrev=False)
    add_options(parser)
    return vars(parser.parse_args(shlex.split(path.read_text(encoding="utf-8"), comments=True)))


class _RecipeParser(argparse.ArgumentParser):
    def error(self, message: str):
        raise ValueError(f"{self.prog}: {message}")


def recipe_for(given: dict) -> Path | None:
    """The recipe with which a Transformer begins on a shipped corpus, if there is one."""
    corpus = next(option for option in fields(TrainSettings) if option.name == "corpus")
    (name, *_) = _normal(corpus, given.get("corpus", corpus.default)) or ("",)
    path = RECIPES / f"{name}.txt"
    ours = name in SHIPPED and given.get("model", TrainSettings.model) == "transformer"
    return path if ours and path.exists() else None


def _shown(value: Any) -> Any:
    """The value as an option spells it: several side by side."""
    return (shlex.join(value) or None) if isinstance(value, tuple) else value


def _normal(option: Field, value: Any) -> Any:
    """The value as it is kept: several as a tuple, a file by its whole path.

    So a run can go on from another folder. A corpus's name stays.
    """
    if value is None or not option.metadata["many"]:
        return value
    values = [value] if isinstance(value, str | Path) else value
    if option.name == "hold_out":
        return tuple(values)
    return tuple(
        str(Path(text).resolve() if text not in NAMES and Path(text).is_file() else text)
        for text in values
    )
