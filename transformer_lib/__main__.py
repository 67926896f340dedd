"""Train a translator, translate with it, score it, and look at the data: `python -m transformer_lib
--help`.
"""

import argparse
import json
import re
import shlex
import sys
import warnings
from pathlib import Path

import torch
from torch import nn
from tqdm.auto import tqdm

from transformer_lib.batching import TokenBatches, encode_pairs
from transformer_lib.checkpoints import LoadedModel, load_model, load_run, save_checkpoint
from transformer_lib.corpus import (
    DATA,
    DOWNLOADED,
    SHIPPED,
    SPLITS,
    Corpus,
    Subwords,
    Vocabulary,
    load_corpus,
    verify,
)
from transformer_lib.distributed import process_group, rank, world_size
from transformer_lib.downloads import MULTI30K, TATOEBA, TATOEBA_TODAY, fetch, fetch_unchecked
from transformer_lib.ladder import (
    MODELS,
    STORED,
    LadderSettings,
    build_ladder,
    ladder_table,
    read_ladder,
    time_ladder,
)
from transformer_lib.metrics import translation_scores
from transformer_lib.recurrent import make_recurrent
from transformer_lib.runtime import PRECISIONS, peak_memory, pick_device, seed_everything
from transformer_lib.training import fit, validation_loss, warmup_cosine
from transformer_lib.transformer import POSITIONS, PRESETS, make_model
from transformer_lib.translation import Translator

MAX_LEN = 256


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code is 0 on success, 1 where something could not be done, 2 for a
    wrong call.
    """
    warnings.showwarning = lambda message, *_, **__: print(f"note: {message}", file=sys.stderr)
    warnings.simplefilter("always", UserWarning)
    args = _parse(sys.argv[1:] if arguments is None else arguments)
    if getattr(args, "threads", None):
        torch.set_num_threads(args.threads)
    try:
        return args.run(args) or 0
    except KeyboardInterrupt as stop:
        print(f"\n{stop}" if str(stop) else "\nstopped", file=sys.stderr)
        return 130
    except RuntimeError as error:
        if not re.search("gloo|nccl", str(error), re.IGNORECASE):
            raise
        print(
            "error: another process of this run has stopped, so this one stops too", file=sys.stderr
        )
        return 1
    except BrokenPipeError:
        sys.stderr.close()
        return 1
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


# -------------------------------------------------------------------------------------------- train


def train(args: argparse.Namespace) -> None:
    with process_group(pick_device(args.device)) as device:
        _train(args, device)


def _train(args: argparse.Namespace, device: torch.device) -> None:
    given = {name: getattr(args, name) for name in SETTINGS}
    given |= {"corpus": _absolute(args.corpus), "valid": args.valid and _absolute(args.valid)}
    if args.resume:
        loaded, snapshot = load_run(args.out)
        unchanged = vars(_parser().parse_args(["train", "--out", "."]))
        settings = {name: unchanged[name] for name in SETTINGS} | _settings(loaded)
        for name, value in given.items():
            if name != "steps" and value not in (unchanged[name], settings[name]):
                raise ValueError(
                    f"--resume goes on with {name}={settings[name]}, not {value}: "
                    "leave it out, or start another run"
                )
        settings["steps"] = args.steps or settings["steps"]
    else:
        if any(args.out.glob("step-*")):
            raise ValueError(
                f"{args.out} holds a run already: go on with it (--resume) or choose another --out"
            )
        snapshot = None
        settings = {**given, "steps": args.steps or 1600}
    options = argparse.Namespace(**settings)

    seed_everything(options.seed)
    corpus = _load(options)
    if not corpus.valid:
        raise ValueError(f"{corpus.name} is too small to hold sentences out for valid and test")
    args.out.mkdir(parents=True, exist_ok=True)
    if snapshot:
        if snapshot["step"] >= options.steps:
            _say(f"nothing to do: step {snapshot['step']} is reached, a larger --steps goes on")
            return
        vocabularies = (loaded.source_vocabulary, loaded.target_vocabulary)
        model = loaded.model.to(device)
    else:
        vocabularies = _vocabularies(corpus, options)
        model = _fresh_model(options, *map(len, vocabularies)).to(device)

    encode = [vocabulary.encode for vocabulary in vocabularies]
    examples = encode_pairs(corpus.train, *encode, MAX_LEN)
    if len(examples) < len(corpus.train):
        warnings.warn(
            f"{len(corpus.train) - len(examples)} pairs of over {MAX_LEN} tokens are not trained on",
            stacklevel=1,
        )
    batches = TokenBatches(examples, options.max_tokens, seed=options.seed)
    valid = TokenBatches(
        encode_pairs(corpus.valid, *encode, MAX_LEN), options.max_tokens, shuffle=False
    )
    translator = Translator(model, *vocabularies)
    _say(
        f"{corpus.name}: {len(corpus.train)} pairs to train on, {len(corpus.valid)} valid, {len(corpus.test)} test; "
        f"vocabularies of {len(vocabularies[0])} and {len(vocabularies[1])}"
    )
    if args.recipe:
        _say(f"settings of data/recipes/{args.recipe}, but for those given")
    _say(
        f"{options.model}, {options.preset}: {sum(p.numel() for p in model.parameters()):,} parameters on {device}"
        f"{f', {world_size()} processes' if world_size() > 1 else ''}, {options.steps} steps"
    )

    watched = corpus.valid[:200]

    def evaluate(_) -> dict:
        scores = {
            "validation_loss": validation_loss(model, valid),
            "bleu": translator.evaluate(watched)["bleu"],
        }
        _say(
            f"valid: loss {scores['validation_loss']:.3f}, BLEU {scores['bleu']:.1f} ({len(watched)} sentences, greedy)"
        )
        return scores

    def save(snapshot: dict) -> None:
        evaluations = snapshot["history"]["evaluations"]
        metrics = (
            evaluations[-1] if evaluations and evaluations[-1]["step"] == snapshot["step"] else {}
        )
        folder = save_checkpoint(
            args.out,
            model,
            vocabularies,
            metrics=metrics,
            info={"settings": settings, "curve": evaluations},
            snapshot=snapshot,
        )
        _say(f"saved {folder}")

    try:
        history = fit(
            model,
            batches,
            steps=options.steps,
            learning_rate=lambda step: warmup_cosine(
                step, peak=options.learning_rate, warmup=options.warmup, steps=options.steps
            ),
            label_smoothing=options.label_smoothing,
            weight_decay=options.weight_decay,
            accumulate=options.accumulate,
            precision=options.precision,
            compile=args.compile,
            minutes=args.minutes,
            evaluate=evaluate,
            evaluate_every=options.evaluate_every,
            save=None if rank() else save,
            save_every=options.evaluate_every,
            resume=snapshot,
            progress=sys.stderr.isatty() and not rank(),
        )
    except KeyboardInterrupt as stop:
        how = f"python -m transformer_lib train --resume --out {args.out}"
        raise KeyboardInterrupt("" if rank() else f"{stop}. Go on with: {how}") from None
    frame = history.frame
    _say(
        f"{len(frame)} steps, median {frame.tokens_per_second.median():.0f} target tokens/s, "
        f"memory at most {peak_memory(device):.0f} MiB. Try it:"
    )
    _say(f'  python -m transformer_lib translate --model {args.out} "I\'m home."')


def _absolute(files: list[str]) -> list[str]:
    """Names stay; files get their whole path, so that a run can go on from another folder."""
    return [str(Path(file).resolve()) if Path(file).is_file() else file for file in files]


SIZES = ("num_layers", "d_model", "num_heads", "d_ff")
OF_TRANSFORMERS = (*SIZES, "positions", "cross_attention_dropout")
SETTINGS = (
    *OF_TRANSFORMERS,
    "corpus",
    "languages",
    "max_pairs",
    "max_words",
    "hold_out",
    "valid",
    "model",
    "preset",
    "tokens",
    "tie",
    "dropout",
    "steps",
    "max_tokens",
    "accumulate",
    "learning_rate",
    "warmup",
    "label_smoothing",
    "weight_decay",
    "precision",
    "evaluate_every",
    "seed",
)


def _fresh_model(options: argparse.Namespace, *vocab_sizes: int) -> nn.Module:
    sizes = {"dropout": options.dropout, "max_len": MAX_LEN}
    chosen = {
        name: value for name in OF_TRANSFORMERS if (value := getattr(options, name)) is not None
    }
    if options.model == "transformer":
        return make_model(*vocab_sizes, options.preset, tie_weights=options.tie, **sizes, **chosen)
    if (options.preset, options.tie, chosen) != ("tiny", "target", {}):
        raise ValueError(
            f"--model {options.model} comes in one size, with the output tied to the target: "
            f"leave out --preset {options.preset} --tie {options.tie}, sizes, "
            "--positions and --cross-attention-dropout"
        )
    return make_recurrent(*vocab_sizes, options.model, **sizes)


def _settings(loaded: LoadedModel) -> dict:
    if "settings" not in loaded.info:
        raise ValueError("this model does not say what it was trained on: `train` did not save it")
    return loaded.info["settings"]


def _load(options: argparse.Namespace) -> Corpus:
    """The corpus that a run's settings name: the same split whenever it is loaded."""
    return load_corpus(
        options.corpus[0] if len(options.corpus) == 1 else options.corpus,
        valid=getattr(options, "valid", None),
        languages=options.languages and tuple(options.languages.split("-")),
        max_pairs=options.max_pairs,
        max_words=options.max_words,
        hold_out=options.hold_out,
        seed=options.seed,
    )


def _vocabularies(corpus: Corpus, options: argparse.Namespace) -> tuple:
    if options.tokens == "words":
        if options.tie == "all":
            raise ValueError(
                "--tie all needs one vocabulary for both languages: --tokens and a number"
            )
        return corpus.vocabularies()
    size = int(options.tokens)
    if options.tie == "all":
        return Subwords.build_joint(corpus.train, corpus.languages, size)
    return tuple(
        Subwords.build((pair[side] for pair in corpus.train), language, size)
        for side, language in enumerate(corpus.languages)
    )


# --------------------------------------------------------------------------- translate and evaluate


def translate(args: argparse.Namespace) -> None:
    translator = _translator(args)
    search = _search(args)
    if args.sentences:
        print("\n".join(translator.translate(args.sentences, **search)))
        return
    for line in sys.stdin:
        print(*translator.translate([line.strip()], **search), flush=True)


def evaluate(args: argparse.Namespace) -> None:
    loaded = load_model(args.model, pick_device(args.device))
    translator = Translator(*loaded[:3])
    corpus = _load(argparse.Namespace(**_settings(loaded)))
    held_out = getattr(corpus, args.split)
    if not held_out:
        raise ValueError(f"{corpus.name} has no {args.split} sentences")
    stride = max(1, len(corpus.train) // len(held_out))
    splits = {"seen": corpus.train[::stride][: len(held_out)], "held_out": held_out}
    best_head = _best_head(translator, corpus)
    result = {
        "model": str(args.model),
        "corpus": corpus.name,
        "split": args.split,
        "step": loaded.info["step"],
        "parameters": sum(p.numel() for p in loaded.model.parameters()),
        "curve": loaded.info.get("curve", []),
    }
    search = {**_search(args), "progress": sys.stderr.isatty()}
    for name, pairs in splits.items():
        if "generator" in search:
            search["generator"].manual_seed(args.seed)
        hypotheses = translator.hypotheses(pairs, **search)
        scores = translation_scores(hypotheses, [pair.target for pair in pairs])
        aligned = best_head and any(pair.alignment for pair in pairs)
        scores["alignment_error_rate"] = (
            translator.alignment_error_rates(pairs)[best_head] if aligned else None
        )
        result[name] = scores
    result["examples"] = [
        {"source": pair.source, "reference": pair.target, "translation": hypothesis}
        for pair, hypothesis in list(zip(held_out, hypotheses, strict=True))[: args.examples]
    ]
    if args.json:
        print(json.dumps(result, indent=1, ensure_ascii=False))
        return
    found = f"drawn with seed {args.seed}" if "generator" in search else f"beam {args.beam}"
    print(f"{corpus.name}, {args.split} split, {found}, step {loaded.info['step']}")
    for name, scores in result.items():
        if name in splits:
            error = scores["alignment_error_rate"]
            print(
                f"{name.replace('_', '-'):>9}: BLEU {scores['bleu']:5.1f}   exact match {scores['exact_match']:.3f}   "
                f"alignment error rate {'-' if error is None else f'{error:.3f}'}   ({scores['pairs']} pairs)"
            )
    print(f"BLEU signature: {result['held_out']['signature']}")
    for example in result["examples"]:
        print("", *(f"{name:>11}: {text}" for name, text in example.items()), sep="\n")


def _search(args: argparse.Namespace) -> dict:
    """How to look for a translation, as `Translator.translate` takes it."""
    names = ("temperature", "top_k", "top_p")
    search = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    if search:
        search["generator"] = torch.Generator(pick_device(args.device)).manual_seed(args.seed)
    return {"beam_size": args.beam, "length_penalty": args.length_penalty, **search}


def _best_head(translator: Translator, corpus: Corpus) -> tuple[int, int] | None:
    """The cross-attention head that aligns the valid split best; None where there are no gold links
    between words.
    """
    words = all(
        isinstance(v, Vocabulary)
        for v in (translator.source_vocabulary, translator.target_vocabulary)
    )
    if not words or not any(pair.alignment for pair in corpus.valid):
        return None
    rates = translator.alignment_error_rates(corpus.valid)
    return min(rates, key=rates.get)


def _translator(args: argparse.Namespace) -> Translator:
    return Translator(*load_model(args.model, pick_device(args.device))[:3])


def export(args: argparse.Namespace) -> None:
    loaded = load_model(args.model)
    info = {name: value for name, value in loaded.info.items() if name not in ("step", "metrics")}
    folder = save_checkpoint(
        args.out,
        loaded.model,
        (loaded.source_vocabulary, loaded.target_vocabulary),
        metrics=loaded.info["metrics"],
        info=info,
        step=loaded.info["step"],
    )
    size = sum(path.stat().st_size for path in folder.iterdir())
    _say(f"{folder}: {size / 1e6:.1f} MB, without what training alone needs")


# ------------------------------------------------------------------------------------------- ladder


def ladder(args: argparse.Namespace) -> None:
    settings = LadderSettings(steps=args.steps)
    if args.times:
        time_ladder(args.out, settings)
    elif not args.show:
        build_ladder(args.models, args.seeds, args.out, settings, _say, sys.stderr.isatty())
    print(ladder_table(read_ladder(args.out, settings)).to_string())


# --------------------------------------------------------------------------------------------- data


def data(args: argparse.Namespace) -> None:
    {"list": _list, "show": _show, "verify": _verify, "download": _download}[args.action](args)


def _list(_) -> None:
    for name in SHIPPED:
        corpus = load_corpus(name)
        sizes = ", ".join(
            f"{split} {len(pairs)}" for split in SPLITS if (pairs := getattr(corpus, split))
        )
        print(f"{name}: {'-'.join(corpus.languages)}, {sizes}")
    for name in DOWNLOADED:
        print(f"{name}: to be downloaded (python -m transformer_lib data download {name})")


def _show(args: argparse.Namespace) -> None:
    for source, target, links in getattr(load_corpus(args.name or "everyday"), args.split)[
        : args.number
    ]:
        print(
            source,
            target,
            *([" ".join(f"{i}-{j}" for i, j in sorted(links))] if links else []),
            sep="\t",
        )


def _verify(_) -> None:
    for line in (DATA / "SHA256SUMS").read_text().splitlines():
        print(f"{verify(line.split()[1]).relative_to(DATA)} is unchanged")


def _download(args: argparse.Namespace) -> None:
    if args.name not in DOWNLOADED:
        raise ValueError(
            f"what is to be downloaded? One of {', '.join(DOWNLOADED)}, not {args.name}"
        )
    if args.newest:
        if args.name != "tatoeba-fra":
            raise ValueError(f"only tatoeba-fra has a newest version, not {args.name}")
        path = fetch_unchecked(TATOEBA_TODAY, "fra-eng-newest.zip", show_progress=True)
        print(
            f"{path}\nIt has no checksum and grows every few months: load it by this path, and keep it."
        )
        return
    ends = {
        "tatoeba-fra": (),
        "multi30k-de": ("en.gz", "de.gz"),
        "multi30k-fra": ("en.gz", "fr.gz"),
    }
    remotes = [remote for file, remote in MULTI30K.items() if file.endswith(ends[args.name])]
    for remote in remotes or [TATOEBA]:
        print(fetch(remote, show_progress=True))


# --------------------------------------------------------------------------------------- the parser


def _parse(arguments: list[str]) -> argparse.Namespace:
    """The options. A Transformer that begins on a corpus of ours has those of the corpus's recipe,
    if there is one; what is given counts more.
    """
    args = _parser().parse_args(arguments)
    if args.run is train and args.model == "transformer" and not args.resume:
        recipe = DATA / "recipes" / f"{args.corpus[0]}.txt"
        if args.corpus[0] in SHIPPED and recipe.exists():
            args = _parser().parse_args(["train", f"@{recipe}", *arguments[1:]])
            args.recipe = recipe.name
    return args


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m transformer_lib",
        description="Train a translator, translate with it, score it.",
        epilog="Begin with:  python -m transformer_lib train --out runs/first --steps 400\n"
        '      then:  python -m transformer_lib translate --model runs/first "I\'m home."',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name, run, summary, example, *parents, **options):
        added = commands.add_parser(
            name,
            parents=parents,
            help=summary,
            description=summary,
            epilog=f"Example:\n  python -m transformer_lib {example}",
            formatter_class=_Help,
            **options,
        )
        added.set_defaults(run=run)
        return added

    machine = argparse.ArgumentParser(add_help=False)
    machine.add_argument(
        "--threads",
        type=_positive,
        default=1,
        help="CPU threads; more stall tiny models on a busy machine",
    )
    machine.add_argument("--device", help="cpu, cuda or mps; the best one present where not given")
    search = argparse.ArgumentParser(add_help=False)
    search.add_argument(
        "--beam", type=_positive, default=1, help="hypotheses kept at every step; 1 is greedy"
    )
    search.add_argument(
        "--length-penalty",
        type=float,
        default=0.0,
        help="favours longer translations; 0.6 to 1 is usual",
    )
    add = search.add_argument
    add("--temperature", type=_positive_float, help="draw at random; below 1 more surely")
    add("--top-k", type=_positive, help="draw among the k most likely tokens")
    add("--top-p", type=_positive_float, help="draw among the fewest tokens of this probability")
    add("--seed", type=int, default=0, help="of what is drawn")

    p = command(
        "train",
        train,
        "Train a model on sentence pairs and save it as it improves.",
        "train --corpus fra-eng.zip --max-pairs 20000 --max-words 10 --preset tiny --out runs/tatoeba\n"
        "Options from a file, as if they stood here; what comes after them counts:\n"
        "  python -m transformer_lib train @data/recipes/multi30k-de.txt --steps 100 --out runs/short\n"
        "On several GPUs of one machine:\n"
        "  torchrun --nproc-per-node=4 -m transformer_lib train --preset base --out runs/base",
        machine,
        fromfile_prefix_chars="@",
    )
    p.set_defaults(recipe=None)
    p.convert_arg_line_to_args = lambda line: shlex.split(line, comments=True)
    add = p.add_argument
    add("--out", type=Path, required=True, help="the run's directory; checkpoints go there")
    add(
        "--resume",
        action="store_true",
        help="go on with the run in --out, with the settings it was started with",
    )
    add(
        "--corpus",
        nargs="+",
        default=["everyday"],
        metavar="NAME_OR_PATH",
        help=f"{', '.join(SHIPPED + DOWNLOADED)}, a file of pairs, or two files of lines; grammar "
        "brings the settings of its recipe",
    )
    add(
        "--valid",
        nargs="+",
        metavar="PATH",
        help="files of yours to validate on; all of --corpus is trained on then",
    )
    add("--languages", help="source-target, such as de-en, where the file names do not say")
    add(
        "--max-pairs",
        type=_positive,
        help="take this many pairs in all (of train, where the corpus has splits of its own)",
    )
    add("--max-words", type=_positive, help="only pairs of at most this many source words")
    add(
        "--hold-out",
        nargs="*",
        default=[],
        metavar="SENTENCE",
        help="source sentences that must not be trained on",
    )
    add(
        "--model",
        choices=MODELS,
        default="transformer",
        help="what to train; the recurrent ones have as many parameters as the tiny Transformer",
    )
    add("--preset", choices=PRESETS, default="tiny", help="sizes of the Transformer")
    for name in SIZES:
        add(f"--{name.replace('_', '-')}", type=_positive, help="instead of the preset's")
    add("--positions", choices=POSITIONS, help="sinusoidal where not given (lesson 10)")
    add(
        "--tokens",
        type=_tokens,
        default="words",
        help="words, or how many byte-pair pieces (a language; together with --tie all)",
    )
    add(
        "--tie",
        choices=("none", "target", "all"),
        default="target",
        help="one matrix for output and target embedding; all: for the source embedding too",
    )
    add(
        "--dropout",
        type=_share,
        default=0.1,
        help="probability that an activation is dropped in training",
    )
    add(
        "--cross-attention-dropout",
        type=_share,
        help="probability that a weight on a source word is dropped in training; "
        "makes alignments sharper",
    )
    add("--steps", type=_positive, help="updates in all; 1600 where not given")
    add("--minutes", type=_positive_float, help="stop after this many minutes; --resume goes on")
    add("--max-tokens", type=_positive, default=1024, help="padded positions of a batch, a side")
    add("--accumulate", type=_positive, default=1, help="batches an update")
    add(
        "--learning-rate",
        type=_positive_float,
        default=4e-3,
        help="at its peak, after the warm-up; then a cosine to 0",
    )
    add("--warmup", type=_positive, default=300, help="steps until the peak")
    add(
        "--label-smoothing",
        type=_share,
        default=0.1,
        help="probability mass spread over the other words",
    )
    add(
        "--weight-decay",
        type=_share,
        default=0.0,
        help="share of every weight, times the learning rate, that an update takes off",
    )
    add("--precision", choices=PRECISIONS, default="fp32", help="number format of matrix products")
    add("--compile", action="store_true", help="let torch.compile write kernels first (for GPUs)")
    add(
        "--evaluate-every",
        type=_positive,
        default=500,
        help="steps between evaluations, each followed by a checkpoint",
    )
    add("--seed", type=int, default=0, help="of the split, the weights and the order of the data")

    p = command(
        "translate",
        translate,
        "Translate sentences, or standard input line by line.",
        'translate --model runs/tatoeba --beam 4 "I\'m home."\n'
        "  python -m transformer_lib translate --model runs/tatoeba < lines.txt",
        machine,
        search,
    )
    p.add_argument(
        "--model", type=Path, required=True, help="a run's directory, or one checkpoint in it"
    )
    p.add_argument("sentences", nargs="*", metavar="SENTENCE", help="none: read standard input")

    p = command(
        "evaluate",
        evaluate,
        "Score a model on sentences it has seen and on held-out ones.",
        "evaluate --model runs/tatoeba --split test --json",
        machine,
        search,
    )
    p.add_argument(
        "--model", type=Path, required=True, help="a run's directory, or one checkpoint in it"
    )
    p.add_argument("--split", choices=SPLITS[1:], default="test", help="the held-out sentences")
    p.add_argument(
        "--json", action="store_true", help="print JSON: seen and held_out, each with its scores"
    )
    p.add_argument(
        "--examples",
        type=int,
        default=0,
        metavar="N",
        help="also show the first N held-out sentences with reference and translation",
    )

    p = command(
        "export",
        export,
        "Copy the best checkpoint of a run without what training alone needs: to keep, to give away.",
        "export --model runs/tatoeba --out models/tatoeba",
    )
    p.add_argument("--model", type=Path, required=True, help="a run's directory")
    p.add_argument("--out", type=Path, required=True, help="the directory to write it to")

    p = command(
        "ladder",
        ladder,
        "Train every model of the lessons on the same data, from three seeds, and print the table.",
        "ladder --models gru bahdanau --seeds 0 --steps 50 --out my-ladder.json",
    )
    add = p.add_argument
    add("--models", nargs="+", choices=MODELS, default=list(MODELS), help="the rungs")
    add("--seeds", nargs="+", type=int, default=[0, 1, 2], help="of weights and order")
    add("--steps", type=_positive, default=LadderSettings.steps, help="updates of each model")
    add("--out", type=Path, default=STORED, help="rows that are there and not stale are kept")
    add("--show", action="store_true", help="only print the table, train nothing")
    add("--times", action="store_true", help="only measure tokens/s anew, on a quiet machine")
    add("--threads", type=_positive, default=1, help="CPU threads")

    p = command(
        "data",
        data,
        "List, show or verify the shipped corpora, or download real ones.",
        "data show grammar --split test_long --number 3",
    )
    add = p.add_argument
    add("action", choices=("list", "show", "verify", "download"), help="what to do")
    add("name", nargs="?", choices=SHIPPED + DOWNLOADED, help="the corpus to show or download")
    add("--split", choices=SPLITS, default="train", help="the part to show")
    add("--number", type=_positive, default=20, help="how many pairs to show")
    add("--newest", action="store_true", help="tatoeba-fra as it is today, without a checksum")
    return parser


class _Help(argparse.RawDescriptionHelpFormatter, argparse.ArgumentDefaultsHelpFormatter):
    """Keeps the example's lines, and says every default that there is."""

    def _get_help_string(self, action):
        return (
            action.help if action.default in (None, False, []) else super()._get_help_string(action)
        )


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def _positive_float(text: str) -> float:
    if (value := _number(text)) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not above 0")
    return value


def _share(text: str) -> float:
    if not 0 <= (value := _number(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not at least 0 and below 1")
    return value


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def _tokens(text: str) -> str:
    if text != "words" and not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is neither 'words' nor a number of pieces")
    return text


def _say(text: str) -> None:
    if rank() == 0:
        tqdm.write(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
