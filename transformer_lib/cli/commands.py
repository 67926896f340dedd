"""What each command does with its options, and what it prints. `cli` reads the options."""

import argparse
import difflib
import json
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import fields
from pathlib import Path

import torch
from tqdm.auto import tqdm

from transformer_lib.base.distributed import process_group, rank, world_size
from transformer_lib.base.downloads import DOWNLOADED, fetch, fetch_unchecked
from transformer_lib.base.machine import peak_memory, pick_device
from transformer_lib.base.optional import needed
from transformer_lib.checkpoints import load_model
from transformer_lib.corpus import DATA, SHIPPED, SPLITS, Corpus, load_corpus, verify
from transformer_lib.run import runs
from transformer_lib.run.cards import model_card
from transformer_lib.run.engines import export_to
from transformer_lib.run.ladder import (
    build_ladder,
    ladder_table,
    read_ladder,
    search_ladder,
    search_table,
    stored,
    time_ladder,
)
from transformer_lib.run.lines import translate_lines
from transformer_lib.run.options import TrainSettings, recipe_for
from transformer_lib.translation import Translator


def train(args: argparse.Namespace) -> None:
    """Start or resume a run, and say how it goes."""
    names = {option.name for option in fields(TrainSettings)}
    given = {name: value for name, value in vars(args).items() if name in names}
    with process_group(pick_device(args.device)) as device, runs.owned(args.out):
        if args.resume:
            run = runs.resume_run(args.out, given, device)
        else:
            runs.must_hold_no_run(args.out)
            run = runs.start_run(TrainSettings.begin(given), device)
        settings = run.settings
        if run.snapshot and run.snapshot["step"] >= settings.steps:
            _say(f"nothing to do: step {run.snapshot['step']} is reached, a larger --steps goes on")
            return
        _introduce(run, device)
        if not args.resume and (recipe := recipe_for(given)):
            _say(f"settings of data/recipes/{recipe.name}, but for those given")
        history = runs.train_run(
            run,
            args.out,
            _say,
            compile=args.compile,
            minutes=args.minutes,
            progress=not rank(),
        )
        if (reached := len(history.frame)) < settings.steps:
            _say(
                f"stopped by --minutes after step {reached} of {settings.steps}, saved. Go on with: "
                f"python -m transformer_lib train --resume --out {shlex.quote(str(args.out))}"
            )
        if not reached:
            return
        seen, held_out = runs.by_heart(run)
        if seen > held_out + BY_HEART:
            _say(
                f"sentences of train: BLEU {seen:.0f}, of valid: BLEU {held_out:.0f}. It has learned by "
                f"heart: {len(run.corpus.train)} pairs are few. More pairs help, or fewer --steps, or more "
                "--dropout"
            )
        speed = history.frame.tokens_per_second.median()
        _say(
            f"{reached} steps, median {speed:.0f} target tokens/s{_memory(device)}. "
            "Try it:\n"
            f"  python -m transformer_lib translate --model {shlex.quote(str(args.out))} "
            f"{_quoted(_held_out_sentence(run))}"
        )


BY_HEART = 40  # points of BLEU between sentences of train and of valid, above which it is said


def _memory(device: torch.device) -> str:
    try:
        return f", memory at most {peak_memory(device):.0f} MiB"
    except ImportError:
        return ""


def _held_out_sentence(run: runs.Run) -> str:
    """A short source sentence of valid, all of whose words the model knows if there is one."""
    sources = [pair.source for pair in run.corpus.valid]
    unknown = run.translator.source_vocabulary.unknown
    short = (s for s in sources if len(s) <= 60 and s[0].isalpha() and not unknown(s))
    return next(short, sources[0])


def _quoted(sentence: str) -> str:
    """The sentence as one word of a shell, as readably as it can be."""
    return shlex.quote(sentence) if re.search(r'["$`!\\\n]', sentence) else f'"{sentence}"'


def _introduce(run: runs.Run, device: torch.device) -> None:
    corpus, settings, translator = run.corpus, run.settings, run.translator
    words = len(translator.source_vocabulary), len(translator.target_vocabulary)
    size = sum(p.numel() for p in translator.model.parameters())
    shared = f", {world_size()} processes" if world_size() > 1 else ""
    _say(_languages(corpus))
    _say(
        f"{corpus.name}: {len(corpus.train)} pairs to train on, {len(corpus.valid)} valid, "
        f"{len(corpus.test)} test; vocabularies of {words[0]} and {words[1]}"
    )
    _say(
        f"{settings.model}, {settings.preset}: {size:,} parameters on {device}{shared}, "
        f"{settings.steps} steps"
    )
    if settings.warmup >= settings.steps:
        _say(
            f"--warmup {settings.warmup} is as long as the run: the learning rate never falls. "
            "Shorter warm-ups, or more --steps, train better"
        )


def _languages(corpus: Corpus) -> str:
    found = corpus.languages_are
    way_out = "; --languages says otherwise" if found == "assumed" else ""
    return f"languages: {' → '.join(corpus.languages)}" + (f" ({found}{way_out})" if found else "")


def translate(args: argparse.Namespace) -> None:
    """Print the translations of the sentences, or of the lines of a file, a pipe or a person."""
    if args.sentences and args.file:
        raise ValueError(
            f"--file {args.file} and a sentence ({args.sentences[0]!r}): leave out one"
        )
    search = _search(args)
    translator = Translator(*load_model(args.model, pick_device(args.device))[:3])
    if args.sentences:
        print("\n".join(translator.translate(args.sentences, **search)))
    elif args.file or not sys.stdin.isatty():
        shown = sys.stderr.isatty() and not sys.stdout.isatty()
        with args.file.open("rb") if args.file else nullcontext(sys.stdin.buffer) as lines:
            for line in translate_lines(translator, lines, progress=shown, **search):
                print(line, flush=True)
    else:
        for line in sys.stdin:
            print(*translator.translate([line.strip()], **search), flush=True)


def evaluate(args: argparse.Namespace) -> None:
    """Print how a model does on sentences it has seen and on held-out ones."""
    search, loaded = _search(args), load_model(args.model, pick_device(args.device))
    how = {"examples": args.examples, "seed": args.seed, "progress": sys.stderr.isatty()}
    if args.corpus:
        scores = runs.score_files(loaded, args.corpus, **how, **search)
    else:
        scores = runs.score_run(loaded, args.split, **how, **search)
    result = {"model": str(args.model), **scores}
    if args.json:
        print(json.dumps(_rounded(result), indent=1, ensure_ascii=False))
        return
    found = f"drawn with seed {args.seed}" if "generator" in search else f"beam {args.beam}"
    part = "all of it" if args.corpus else f"{args.split} split"
    print(f"{result['corpus']}, {part}, {found}, step {result['step']}")
    judged = "given" if args.corpus else "held_out"
    for name in ("seen", judged):
        if name not in result:
            continue
        scores = result[name]
        error = scores["alignment_error_rate"]
        print(
            f"{name.replace('_', '-'):>9}: BLEU {scores['bleu']:5.1f}   chrF {scores['chrf']:5.1f}   "
            f"exact match {scores['exact_match']:.3f}   "
            + ("" if error is None else f"alignment error rate {error:.3f}   ")
            + f"({scores['pairs']} pairs)"
        )
    if args.corpus and (known := result["trained_on"]) != 0:
        print(
            "Whether it was trained on some of these is not known: its own data are not here"
            if known is None
            else f"It was trained on {known} of these {result['given']['pairs']} pairs: of them this "
            "says what it learned by heart"
        )
    print(f"BLEU signature: {result[judged]['signature']}")
    print(f"chrF signature: {result[judged]['chrf_signature']}")
    if result["ceiling"] < 99.95:
        print(
            f"A perfect translation would have BLEU {result['ceiling']:.1f}: white space is guessed"
        )
    for example in result["examples"]:
        print("", *(f"{name:>11}: {text}" for name, text in example.items()), sep="\n")


def _rounded(result, name: str = ""):
    """The scores with as many digits as are printed."""
    if isinstance(result, dict):
        return {key: _rounded(value, key) for key, value in result.items()}
    if isinstance(result, list):
        return [_rounded(value) for value in result]
    digits = 1 if name in ("bleu", "chrf", "ceiling") else 3
    return round(result, digits) if isinstance(result, float) else result


def _search(args: argparse.Namespace) -> dict:
    """How to look for a translation, as `Translator.translate` takes it.

    Nothing is drawn at temperature 0.
    """
    names = ("temperature", "top_k", "top_p")
    drawn = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    drawn = {} if args.temperature == 0 else drawn
    if drawn and args.beam > 1:
        given = ", ".join(args.called[name] for name in drawn)
        raise ValueError(f"--beam {args.beam} and {given}: search or draw, not both")
    if drawn:
        drawn["generator"] = torch.Generator(pick_device(args.device)).manual_seed(args.seed)
    return {"beam_size": args.beam, "length_penalty": args.length_penalty, **drawn}


def export(args: argparse.Namespace) -> None:
    """Write the best checkpoint of a run without its training state, or for another engine."""
    runs.must_be_empty(args.out)
    loaded = load_model(args.model)
    if args.to:
        _say(f"{args.out}: {export_to(args.to, loaded, args.out)}")
    else:
        folder = runs.give_away(loaded, args.out)
        size = sum(path.stat().st_size for path in folder.iterdir())
        _say(f"{folder}: {size / 1e6:.1f} MB, without what training alone needs")
    card = args.out / "README.md"
    card.write_text(model_card(loaded, args.out, served=bool(args.to)), encoding="utf-8")
    _say(
        f"{card}: what it was trained on, how good it is, how to load it; the licence is yours to say"
    )


def ladder(args: argparse.Namespace) -> None:
    """Make the rows that are missing, or search, or measure speed; print the table."""
    shown, path = sys.stderr.isatty(), args.out or stored(args.steps)
    if args.search:
        search_ladder(args.models, path, _say, shown, steps=args.steps)
        print(search_table(path).to_string())
        return
    if args.times:
        time_ladder(path)
    elif not args.show:
        build_ladder(args.models, args.seeds, path, _say, shown, steps=args.steps)
    print(ladder_table(read_ladder(path, steps=args.steps)).to_string())


def _list(_) -> Iterator[str]:
    for name in SHIPPED:
        corpus = load_corpus(name)
        sizes = ", ".join(
            f"{split} {len(pairs)}" for split in SPLITS if (pairs := getattr(corpus, split))
        )
        yield f"{name}: {'-'.join(corpus.languages)}, {sizes}"
    for name in DOWNLOADED:
        yield f"{name}: to be downloaded (python -m transformer_lib data download {name})"


def _show(args: argparse.Namespace) -> Iterator[str]:
    pairs = getattr(load_corpus(args.name or "everyday"), args.split)
    for source, target, links in pairs[: args.number]:
        shown = [" ".join(f"{i}-{j}" for i, j in sorted(links))] if links else []
        yield "\t".join((source, target, *shown))


def _verify(_) -> Iterator[str]:
    for line in (DATA / "SHA256SUMS").read_text().splitlines():
        yield f"{verify(line.split()[1]).relative_to(DATA)} is unchanged"


def _download(args: argparse.Namespace) -> Iterator[str]:
    if args.name not in DOWNLOADED:
        raise ValueError(
            f"what is to be downloaded? data download takes one of {', '.join(DOWNLOADED)}"
            + (f", not {args.name}" if args.name else "")
        )
    known = DOWNLOADED[args.name]
    if not args.newest:
        for remotes in known.files.values():
            for remote in remotes:
                yield str(fetch(remote, show_progress=True))
        return
    if not known.newest:
        raise ValueError(f"{args.name} has no newest version without a checksum")
    (remote,) = known.files["all"]
    file = f"{Path(remote.file).stem}-newest{Path(remote.file).suffix}"
    yield str(fetch_unchecked(known.newest, file, show_progress=True))
    yield "It has no checksum and grows every few months: load it by this path, and keep it."


def exercises(args: argparse.Namespace) -> None:
    """Print what a tutor needs of the exercises, for people or as JSON."""
    from transformer_lib.exercises import exercises as all_of_them

    known = all_of_them()
    if unknown := [name for name in args.names if name not in known]:
        near = difflib.get_close_matches(unknown[0], known, n=3, cutoff=0.4) or list(known)
        raise ValueError(f"there is no exercise {unknown[0]!r}. Did you mean {', '.join(near)}?")
    told = [{"exercise": name, **known[name].told} for name in args.names or known]
    if args.json:
        print(json.dumps(told, indent=1, ensure_ascii=False))
        return
    for one in told:
        print(f"{one['exercise']}\n  {one['task']}")
        if args.names:
            for title in ("hints", "mistakes", "sections"):
                print(f"  {title}", *one[title], sep="\n  - ")


def quiz(args: argparse.Namespace) -> None:
    """Print the score of the quiz, and write the file to hand in where a name is given."""
    from transformer_lib.exercises.quiz import hand_in, score

    if args.hand_in is not None:
        print(f"Hand in {hand_in(args.hand_in)}")
    print(score())


WITHHOLD = ("solutions", "nothing")


def assignment(args: argparse.Namespace) -> None:
    """Write a hand-out, and say what it holds and where solutions show through all the same."""
    try:
        from transformer_lib.grading.assignment import write_hand_out
    except ModuleNotFoundError as missing:
        raise ImportError(
            f"a hand-out needs {missing.name}: pip install '.[publish]' in the project's folder"
        ) from None
    made = write_hand_out(args.lessons, args.out, args.withhold)
    print(f"{made.folder}: {made.size:.0f} MiB, {len(made.judged)} exercises with their checks.")
    if made.unjudged:
        print(f"Not judged in it, but by `grade`: {', '.join(made.unjudged)}.")
    if args.withhold == "solutions":
        print(
            f"{made.searched} lines of solutions were searched for. None is in the code of a check. The library, the "
            "lesson, or a sentence to a mistake has such a line here: "
            + (
                ", ".join(f"{file} ({len(found)})" for file, found in made.elsewhere.items())
                or "nowhere"
            )
        )


def grade(args: argparse.Namespace) -> None:
    """Judge a class, and write its table, the page for the teacher, and what students get back."""
    needed("psutil", "grading")
    from transformer_lib.grading.classroom import grade_class
    from transformer_lib.grading.feedback import write_feedback
    from transformer_lib.grading.give_back import check_target, give_back
    from transformer_lib.grading.page import write_page
    from transformer_lib.grading.points import default_points, note_unsaid, read_points
    from transformer_lib.grading.roster import read_roster
    from transformer_lib.grading.table import marks, read_table, write_table

    page = args.out.with_suffix(".html")
    if page == args.out:
        raise ValueError(
            f"--out {args.out} is the table's name, and {page} the page's: end it in .csv"
        )
    for path in (args.out, page):
        try:
            path.open("a").close()  # before an hour is spent
        except OSError as error:
            raise ValueError(
                f"{path} cannot be written ({error.strerror}): make its folder, or give another --out"
            ) from None
    before = read_table(args.out)
    worth = args.points or args.out.with_name("points.toml")
    points = read_points(worth)
    check_target(args.target, args.gradebook, args.column)
    grades = grade_class(
        args.folder,
        args.lessons or (before.lessons if args.only else []),
        seconds=args.seconds,
        mebibytes=args.memory,
        jobs=args.jobs,
        roster=read_roster(args.roster) if args.roster else (),
        newest=args.version == "newest",
        progress=True,
        only=args.only,
    )
    if worth.exists():
        note_unsaid(points, worth, grades.asked)
    else:
        worth.write_text(default_points(grades.asked), encoding="utf-8")
    marked = marks(grades, points, before)
    if kept := write_table(args.out, grades, marked, before):
        print(f"the table as it was: {kept}")
    relative = args.site and not re.match(r"[\w+.-]+:|/", args.site)
    feedback = args.out.with_name(f"{args.out.stem}_feedback")
    write_feedback(feedback, grades, marked, f"../{args.site}" if relative else args.site)
    site = "" if relative else args.site  # what is uploaded lies beside nothing of ours
    if args.target:
        for line in give_back(
            args.target, args.out, grades, marked, args.gradebook, args.column, site
        ):
            print(line)
    if args.only:
        print(
            f"{marked[0].who.name}: {marked[0].points} of {marked[0].out_of} points, in {args.out} "
            f"and {feedback}; all else is as it was"
        )
        return
    write_page(grades, page, args.site)
    exercises = sum(row.passed(grades.counted) for row in grades.rows)
    print(
        f"{len(grades.rows)} students, {exercises} of {len(grades.rows) * len(grades.counted)} "
        f"exercises passed: {args.out}, for you {page}, and for each of them a page in {feedback}"
    )


def autograder(args: argparse.Namespace) -> None:
    """Write what lets Gradescope or GitHub Classroom grade by itself."""
    needed("psutil", "grading")
    from transformer_lib.grading.autograders import write_gradescope, write_workflow
    from transformer_lib.grading.homework import homework
    from transformer_lib.grading.points import default_points, read_points

    if args.out.exists():
        raise ValueError(f"{args.out} is there already: another --out, or move it away")
    if args.where == "github":
        write_workflow(args.out, args.lessons, args.library)
        print(f"{args.out}: put it into the assignment's template")
        return
    points = default_points([asked for n in args.lessons for asked in homework(n).asked])
    if args.points:
        read_points(args.points)
        points = args.points.read_text(encoding="utf-8")
    write_gradescope(args.out, args.lessons, points)
    print(f"{args.out}, {args.out.stat().st_size / 1e6:.0f} MB: upload it as the autograder")


ACTIONS = {"list": _list, "show": _show, "verify": _verify, "download": _download}


def data(args: argparse.Namespace) -> None:
    """Print what an action of `ACTIONS` says of the corpora."""
    for line in ACTIONS[args.action](args):
        print(line)


def _say(text: str) -> None:
    if rank() == 0:
        tqdm.write(text, file=sys.stderr)
