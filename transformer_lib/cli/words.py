"""The words of a command: options by their whole names, and errors in its own syntax."""

import argparse
import ast
import difflib
import re
import shlex

OTHERS = {  # an option here: its names elsewhere
    "learning-rate": "lr rate peak-lr max-lr",
    "steps": "epoch epochs num-epochs max-epochs iterations iters updates num-steps max-steps "
    "max-updates train-steps",
    "corpus": "data dataset data-dir data-path train train-data train-file file input pairs "
    "train-src source",
    "valid": "dev dev-file val val-file val-data validation validation-file eval-data",
    "languages": "lang langs language source-lang target-lang src-lang tgt-lang src tgt",
    "max-pairs": "limit max-examples max-samples max-train-samples",
    "max-len": "max-length max-seq-len max-seq-length max-position-embeddings",
    "max-tokens": "batch batch-size bs per-device-train-batch-size",
    "accumulate": "accum accumulation accum-steps grad-accum update-freq gradient-accumulation "
    "gradient-accumulation-steps",
    "warmup": "lr-warmup warmup-steps num-warmup-steps warmup-updates warmup-iters",
    "weight-decay": "wd l2",
    "label-smoothing": "smoothing",
    "precision": "dtype amp fp16 bf16 half",
    "evaluate-every": "eval-every eval-steps eval-interval save-every save-steps log-interval",
    "preset": "size arch architecture config",
    "num-layers": "layers n-layers n-layer num-hidden-layers depth",
    "d-model": "dim width hidden hidden-size hidden-dim embed-dim emb-dim embedding-size n-embd "
    "num-hiddens",
    "num-heads": "heads n-heads n-head nhead num-attention-heads",
    "d-ff": "ff ffn-dim dim-feedforward d-feedforward intermediate-size ffn-num-hiddens",
    "tokens": "bpe subwords vocab vocab-size tokenizer",
    "out": "o output output-dir output-file save save-dir to-dir dest",
    "resume": "continue restore resume-from checkpoint ckpt",
    "minutes": "time time-limit max-time",
    "model": "m checkpoint ckpt model-path model-dir path load run",
    "file": "input input-file i src source data corpus",
    "beam": "beams beam-size beam-width num-beams k",
    "length-penalty": "lenpen len-pen alpha",
    "temperature": "temp t sampling-temperature",
    "device": "gpu gpus cuda cpu accelerator",
    "threads": "cpus workers num-workers num-threads n-jobs",
    "number": "n num count limit head",
    "split": "part subset set",
    "jobs": "workers num-workers n-jobs threads j",
    "seed": "random-seed random-state manual-seed",
}
CALLED = {"beam_size": "--beam", "tie_weights": "--tie", "size": "--tokens"}  # by the library
NAME = re.compile(r"--?[^\W\d_][^\s=]*")
_TEXT = r"""'[^']*'|"[^"]*\""""
_VALUE = rf"\((?:(?:{_TEXT}),? ?)*\)|{_TEXT}|[^\s,:;]*[^\s,:;.]"


class Command(argparse.ArgumentParser):
    """A parser that takes options by their whole names, and says which one was meant.

    What it read holds `called`: the options by the names that the library has for their values.
    """

    def __init__(self, *args, **options):
        super().__init__(*args, allow_abbrev=False, **options)

    def parse_known_args(self, args=None, namespace=None):
        self._refuse(args or ())
        namespace, unknown = super().parse_known_args(args, namespace)
        self._refuse(unknown)  # from a file of options
        if unknown:
            self.error(f"there is no place for {shlex.join(unknown)}")
        known = {action.dest: action.option_strings[-1] for action in self._options()}
        more = {name: option for name, option in CALLED.items() if option in known.values()}
        namespace.called = known | more
        return namespace, unknown

    def error(self, message: str):
        super().error(re.sub(r"\[Errno \d+\] ", "", message))

    def _options(self) -> list[argparse.Action]:
        return [action for action in self._actions if action.option_strings]

    def _refuse(self, words) -> None:
        """End with an error if one of the words, up to `--`, is an option that there is not."""
        known = {name: action for action in self._options() for name in action.option_strings}
        words = list(words)
        words = words[: words.index("--")] if "--" in words else words
        names = [match[0] for word in words if " " not in word and (match := NAME.match(word))]
        lines = []
        for name in dict.fromkeys(name for name in names if name not in known):
            meant = near(name, known)
            asked = (
                f"did you mean {' or '.join(meant)}?" if meant else "--help lists those there are"
            )
            lines += [f"there is no {name}: {asked}"]
            lines += [f"  {option}: {known[option].help}" for option in meant]
        if lines:
            self.error("\n".join(lines))


def near(name: str, known) -> list[str]:
    """The options of `known` that `name` may mean: another tool's word, a beginning, or a slip."""
    bare = name.lstrip("-").replace("_", "-").lower()
    theirs = [f"--{ours}" for ours, others in OTHERS.items() if bare in others.split()]
    long = {option.removeprefix("--"): option for option in known if option.startswith("--")}
    return (
        [option for option in theirs if option in known]
        or [option for option in known if option.startswith(f"--{bare}")]
        or [long[one] for one in difflib.get_close_matches(bare, long, n=3, cutoff=0.7)]
    )


def in_words(error: Exception, called: dict[str, str]) -> str:
    """What an error says, as the command would: `beam_size=4` of the library is `--beam 4`.

    `called` holds the options by the library's names. A name with an underscore counts by itself.
    """
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    if not called:
        return str(error)
    given = rf"({'|'.join(called)})=({_VALUE})"
    alone = rf"({'|'.join(name for name in called if '_' in name) or '(?!)'})(?![\w/\\.=-])"
    return re.sub(
        rf"(?<![\w/\\.'-])(?:{given}|{alone})",
        lambda found: called[found[3]] if found[3] else _typed(called[found[1]], found[2]),
        str(error),
    )


def _typed(option: str, value: str) -> str:
    """An option and a value as Python prints it, as they are typed."""
    try:
        value = ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return f"{option} {value}"  # a word without quotes
    if value is None:
        return f"no {option}"
    if isinstance(value, tuple):
        return f"{option} {'-'.join(value) if option == '--languages' else shlex.join(value)}"
    return f"{option} {shlex.quote(str(value))}"
