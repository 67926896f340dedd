"""The command line: its commands, their options, and how it ends. `commands` does the work."""

import argparse
import re
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from transformer_lib.cli import commands
from transformer_lib.cli.words import Command, in_words
from transformer_lib.corpus import NAMES, SPLITS
from transformer_lib.models import MODELS
from transformer_lib.run.engines import ENGINES
from transformer_lib.run.ladder import SHARED, STORED
from transformer_lib.run.lines import LINES
from transformer_lib.run.options import AT_LEAST_0, COUNT, POSITIVE, WHOLE, add_options

TARGETS = ("canvas", "moodle", "csv", "gradescope", "github")  # who reads what `grade` gives back


def main(arguments: list[str] | None = None) -> int:
    """Run one command, and return its exit code.

    0 is success; 1 says that something could not be done, 2 that the call was wrong.
    """
    args = parser().parse_args(arguments)
    if getattr(args, "threads", None):
        torch.set_num_threads(args.threads)
    try:
        with _notes():
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
    except (ImportError, OSError, ValueError) as error:
        print(f"error: {in_words(error, args.called)}", file=sys.stderr)
        return 1


@contextmanager
def _notes() -> Iterator[None]:
    """A block in which a warning is a note, said each time."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(f"note: {message}", file=sys.stderr)
        warnings.simplefilter("always", UserWarning)
        yield


# --------------------------------------------------------------------------------------- the parser


class _Help(argparse.RawDescriptionHelpFormatter, argparse.ArgumentDefaultsHelpFormatter):
    """Keeps the example's lines, and says every default that there is."""

    def _get_help_string(self, action):
        silent = action.default in (None, False, "", [], argparse.SUPPRESS)
        return action.help if silent else super()._get_help_string(action)


def parser() -> argparse.ArgumentParser:
    """Every command with its options, its help and an example."""
    whole = argparse.ArgumentParser(
        prog="python -m transformer_lib",
        description="Train a translator, translate with it, score it.",
        epilog="Begin with:  python -m transformer_lib train --out runs/first --steps 400\n"
        '      then:  python -m transformer_lib translate --model runs/first "I\'m home."',
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    subparsers = whole.add_subparsers(required=True, metavar="COMMAND", parser_class=Command)
    for add in (
        _train,
        _translate,
        _evaluate,
        _export,
        _ladder,
        _data,
        _exercises,
        _quiz,
        _assignment,
        _grade,
        _autograder,
    ):
        add(subparsers)
    return whole


def _command(subparsers, run, summary: str, example: str, **options) -> argparse.ArgumentParser:
    added = subparsers.add_parser(
        run.__name__,
        help=summary,
        description=summary,
        epilog=f"Example:\n  python -m transformer_lib {example}",
        formatter_class=_Help,
        **options,
    )
    added.set_defaults(run=run)
    return added


def _train(subparsers) -> None:
    p = _command(
        subparsers,
        commands.train,
        "Train a model on sentence pairs and save it as it improves.",
        "train --corpus tatoeba-fra --max-pairs 20000 --max-words 10 --preset tiny --out runs/tatoeba\n"
        "Options from a file, as if they stood here; what comes after them counts:\n"
        "  python -m transformer_lib train @data/recipes/multi30k-de.txt --steps 100 --out runs/short\n"
        "On several GPUs of one machine:\n"
        "  torchrun --nproc-per-node=4 -m transformer_lib train --preset base --out runs/base",
        usage="%(prog)s --out DIRECTORY [--corpus NAME_OR_PATH ...] [option ...]",
        fromfile_prefix_chars="@",
    )
    p.convert_arg_line_to_args = lambda line: shlex.split(line, comments=True)
    add = p.add_argument
    add("--out", type=Path, required=True, help="the run's directory; checkpoints go there")
    add(
        "--resume",
        action="store_true",
        help="go on with the run in --out, with the settings it was started with",
    )
    add("--minutes", type=POSITIVE.read, help="stop after this many minutes; --resume goes on")
    add("--compile", action="store_true", help="let torch.compile write kernels first (for GPUs)")
    _add_machine(p)
    add_options(p)


def _translate(subparsers) -> None:
    p = _command(
        subparsers,
        commands.translate,
        "Translate sentences, or the lines of a file or of standard input.",
        'translate --model runs/tatoeba --beam 4 "I\'m home."\n'
        "  python -m transformer_lib translate --model runs/tatoeba < lines.txt > translated.txt\n\n"
        f"Lines are in UTF-8, {LINES} are translated at a time, and each gives one. Of a text that holds\n"
        "several sentences each is translated by itself.",
    )
    p.add_argument("sentences", nargs="*", metavar="SENTENCE", help="none: read standard input")
    p.add_argument("--file", type=Path, metavar="PATH", help="translate the lines of this file")
    _add_search(p)


def _evaluate(subparsers) -> None:
    p = _command(
        subparsers,
        commands.evaluate,
        "Score a model on sentences it has seen and on held-out ones.",
        "evaluate --model runs/tatoeba --split test --json\n"
        "  python -m transformer_lib evaluate --model runs/tatoeba --corpus mytest.tsv",
    )
    add = p.add_argument
    add("--split", choices=SPLITS[1:], default="test", help="the held-out sentences")
    add(
        "--corpus",
        nargs="+",
        metavar="PATH",
        help="score these pairs of yours instead, a table or two files of lines: any model, also one "
        "whose own data are gone",
    )
    add("--json", action="store_true", help="print JSON: seen and held_out, each with its scores")
    add(
        "--examples",
        type=WHOLE.read,
        default=0,
        metavar="N",
        help="also show the first N held-out sentences with reference and translation",
    )
    _add_search(p)


def _export(subparsers) -> None:
    p = _command(
        subparsers,
        commands.export,
        "Copy the best checkpoint of a run without what training alone needs: to keep, to give away.",
        "export --model runs/tatoeba --out models/tatoeba\n"
        "  python -m transformer_lib export --model runs/tatoeba --out models/served --to ctranslate2",
    )
    p.add_argument("--model", type=Path, required=True, help="a run's directory")
    p.add_argument("--out", type=Path, required=True, help="the directory to write it to")
    p.add_argument(
        "--to",
        choices=ENGINES,
        help="write it for another engine, with the program that calls it, and check that both agree",
    )


def _ladder(subparsers) -> None:
    p = _command(
        subparsers,
        commands.ladder,
        "Train every model of the lessons on the same data, from three seeds, and print the table.",
        "ladder --models gru bahdanau --seeds 0 --steps 50 --out my-ladder.json\n"
        "  python -m transformer_lib ladder --steps 2500 --search    resumes row by row; safe to stop",
    )
    add = p.add_argument
    add("--models", nargs="+", choices=MODELS, default=list(MODELS), help="the rungs")
    add("--seeds", nargs="+", type=WHOLE.read, default=[0, 1, 2], help="of weights and order")
    add("--steps", type=COUNT.read, default=SHARED.steps, help="updates of each model")
    add(
        "--out",
        type=Path,
        help=f"rows that are there and not stale are kept ({STORED.name} in data, for other "
        f"--steps than {SHARED.steps} ladder_STEPS.json)",
    )
    add = p.add_mutually_exclusive_group().add_argument
    add(
        "--search",
        action="store_true",
        help="only try peak rates and dropouts, the same for every model, and store what valid "
        "says; rows made afterwards take the best",
    )
    add("--show", action="store_true", help="only print the table, train nothing")
    add("--times", action="store_true", help="only measure tokens/s anew, on a quiet machine")
    p.add_argument("--threads", type=COUNT.read, default=1, help="CPU threads")


def _data(subparsers) -> None:
    p = _command(
        subparsers,
        commands.data,
        "List, show or verify the shipped corpora, or download real ones.",
        "data show grammar --split test_long --number 3",
    )
    add = p.add_argument
    add("action", choices=commands.ACTIONS, help="what to do")
    add("name", nargs="?", choices=NAMES, help="the corpus to show or download")
    add("--split", choices=SPLITS, default="train", help="the part to show")
    add("--number", type=COUNT.read, default=20, help="how many pairs to show")
    add("--newest", action="store_true", help="tatoeba-fra as it is today, without a checksum")


def _exercises(subparsers) -> None:
    p = _command(
        subparsers,
        commands.exercises,
        "List the exercises: what each asks, its hints, and what is said to its mistakes.",
        "exercises scoring.masked_softmax\n\n"
        "With --json it is meant for tools and tutors: every exercise with its task, hints, mistakes and\n"
        "the sections to go back to, and with no code, neither of a solution nor of a wrong answer.",
    )
    add = p.add_argument
    add("names", nargs="*", metavar="NAME", help="which ones, all where none is named")
    add("--json", action="store_true", help="all of it as JSON, on standard output")


def _quiz(subparsers) -> None:
    p = _command(
        subparsers,
        commands.quiz,
        "Say how many questions of the quiz you have answered, or write your answers down to hand in.",
        'quiz --hand-in "Ann Lee"\n\n'
        "Call it in the folder with the lessons: answer() keeps what you say there. quiz_answers.json has\n"
        "your name, the library's version, and the first and the last letter that you gave to each\n"
        "question. The answers stand folded in the lessons, so it shows what you recall; it is no exam.",
    )
    p.add_argument(
        "--hand-in", metavar="NAME", help="write quiz_answers.json, with this name of yours in it"
    )


def _assignment(subparsers) -> None:
    p = _command(
        subparsers,
        commands.assignment,
        "Write what a student gets of a lesson: notebook, library, data and checks, without solutions.",
        "assignment --lessons 04 --out hand-out\n\n"
        "The checks run from stored outcomes: of each case what the right answer gives, and what each known\n"
        "mistake gives, with its sentence. No source of a solution or of a mistake is handed out, neither of\n"
        "these lessons nor of others; `solution` and `skeleton` say so. Verdicts are those of the course, but\n"
        "two mistakes made at once are not told apart. One exercise is not judged in a hand-out, culprits of\n"
        "lesson 19, because its check holds the answers: it says so, and `grade` judges it.\n\n"
        "The library itself contains the layers: this withholds the exercise's solution, not the subject. The\n"
        "answers to the quiz stand folded in the lesson, and hints say nearly a recipe. It hinders nobody who\n"
        "looks for the course on the web.\n\n"
        "A lesson takes seconds to a minute, all twenty two or three minutes; a hand-out of one lesson has 10 to\n"
        "20 MB, half of it corpora. It works by itself, in somebody else's course too: its README has ten lines.\n"
        "`grade` takes the notebooks back. Not tried: Windows, Colab, any learning management system.",
    )
    add = p.add_argument
    add("--lessons", nargs="+", required=True, metavar="NN", help="for instance 04, or 03 04")
    add("--out", type=Path, required=True, metavar="FOLDER", help="a folder that is new or empty")
    add(
        "--withhold",
        choices=commands.WITHHOLD,
        default="solutions",
        help="solutions, or nothing: then the course's own checks go along",
    )


def _grade(subparsers) -> None:
    p = _command(
        subparsers,
        commands.grade,
        "Judge the exercises of a class by the library's own checks, and name each mistake.",
        "grade submissions --out grades.csv\n\n"
        "submissions holds ann.ipynb, bob.ipynb and so on, or a folder for each student:\n"
        "  submissions/ann/03_scoring_functions.ipynb, submissions/ann/04_scaled_dot_product.ipynb\n"
        "or what an LMS gives: Canvas's files (kleineva_12346_678912_03.ipynb), Moodle's folders (Eva\n"
        "Klein_123456_assignsubmission_file_), zips and zips in them, also all of it in one zip. Canvas\n"
        "and Moodle are known from their documents; with a real one this was not tried.\n"
        "Notebooks and .py are read, everything else is named. Each entry has a row in grades.csv:\n"
        "passed, mistake with what the check says, not attempted, not judged with the reason (as of a\n"
        "file that cannot be read), or not handed in. grades.html is for you: mistakes by frequency, each\n"
        "with the section to go back to.\n\n"
        "Which lesson it is, its title says, before its file's name. Of several versions of a lesson that\n"
        "counts which passes most of the core's exercises (--version best; of equals the newest), or the\n"
        "newest (--version newest): first what an LMS says, Canvas's LATE and the number of the attempt\n"
        "(-1, -2), then the time in a zip, or of the file, which copying may change. An untouched copy of\n"
        "a lesson that was worked on never counts.\n\n"
        "--roster is a table with a header. Read are the columns name (or first name and last name), id,\n"
        "login and email, under these or an LMS's names. A student is found by number, login, e-mail, or\n"
        "name; two that could be meant are never guessed apart, but named as not on the roster.\n\n"
        "Points come from points.toml: the first run writes it, you change it. In grades.csv the columns\n"
        "`by hand` (points that win) and `comment`, and any that you add, are yours: they stay when you\n"
        "grade again, and the table as it was is kept beside it. --only grades one student anew,\n"
        "and looks for no likeness to others. grades_feedback has a page for each student, as HTML and\n"
        "as Markdown, with no solution, and nothing of what is remarked for you. Of the quiz, where it\n"
        "was handed in, the table says the score; it gives no points.\n\n"
        "For an LMS, with the file that it exports, of which all else stays as it is:\n"
        "  python -m transformer_lib grade submissions --out grades.csv --for moodle --gradebook Grades.csv\n"
        "writes grades.moodle.csv to upload, and grades.moodle.zip with the feedback, under the names of\n"
        "the LMS; whom it cannot match it names. Not tried on a Canvas, a Moodle, Gradescope or GitHub\n"
        "Classroom: only against what they document.\n\n"
        "Of a notebook the lesson's own set-up runs, then the student's where it is another, the cells\n"
        "tagged exercise, and of other cells what an answer needs. It is judged as it stands at its check.\n"
        "Nothing is trained: what calls fit or an optimizer's step() is left out, and what takes longer\n"
        "than 5 seconds is stopped. What the notebook's own checks say counts for nothing. A notebook that\n"
        "never ends, crashes, or eats memory costs its own row only; seconds are the processor's, so a\n"
        "busy machine makes nobody late, and what sleeps is ended at four times as many by the clock.\n\n"
        "Remarks say what you may want to look at: a check that was edited, a function of the library\n"
        "that an answer calls and no solution does, and answers of two to four students that are equal\n"
        "but for names, comments and formatting. That is a similarity, no more: short answers, the course's\n"
        "solutions, and what more than four share are left out, and a changed order is not found.\n\n"
        "It is no sandbox. A submission is a program: it runs with your rights, sees your files and the\n"
        "network, and somebody who means to can forge a verdict. Where you do not trust a class, run\n"
        "this in a container or under an account of its own, and read what passed.",
    )
    add = p.add_argument
    add("folder", type=Path, metavar="FOLDER", help="what was handed in")
    add(
        "--out",
        type=Path,
        required=True,
        metavar="FILE.csv",
        help="the table; the page goes beside it",
    )
    add(
        "--lessons",
        nargs="+",
        default=[],
        metavar="NN",
        help="the lessons that were set, for instance 03 04; all that were handed in where not given",
    )
    add(
        "--site",
        default="",
        help="address of the web site (make site), or its folder as seen from the table's: sections are "
        "links, in what goes to an LMS only with an address",
    )
    add(
        "--roster",
        type=Path,
        metavar="NAMES.csv",
        help="the class, also those who handed in nothing: your own list with a header, Canvas's "
        "gradebook, or Moodle's grading worksheet",
    )
    add(
        "--version",
        choices=("best", "newest"),
        default="best",
        help="which of several versions of a lesson counts",
    )
    add(
        "--seconds",
        type=POSITIVE.read,
        default=120.0,
        help="of the processor's time that a notebook may take",
    )
    add(
        "--points", type=Path, metavar="FILE.toml", help="points.toml beside the table if not given"
    )
    add("--only", default="", metavar="NAME_OR_ID", help="grade one student, change only their row")
    add("--for", dest="target", choices=TARGETS, help="also write what that one reads")
    add(
        "--gradebook", type=Path, metavar="EXPORTED.csv", help="what canvas, moodle or csv exported"
    )
    add("--column", default="", metavar="NAME", help="the gradebook's column for the points")
    add("--memory", type=POSITIVE.read, default=2048.0, metavar="MIB", help="a notebook may hold")
    add("--jobs", type=COUNT.read, default=1, help="notebooks at a time")


def _autograder(subparsers) -> None:
    p = _command(
        subparsers,
        commands.autograder,
        "Let Gradescope or GitHub Classroom grade what is handed in there, as `grade` does here.",
        "autograder gradescope --lessons 03 --out autograder.zip\n"
        "  python -m transformer_lib autograder github --lessons 03 --library OWNER/NAME \\\n"
        "    --out .github/workflows/classroom.yml\n\n"
        "gradescope: a zip to upload as the autograder. It holds this project, solutions included, which\n"
        "students do not see there; setup.sh installs torch and the library, run_autograder grades one\n"
        "submission and writes results.json. Its machine needs Python 3.11 or later.\n"
        "github: a workflow for the template of an assignment. --library is a repository with this\n"
        "project that the workflow may read. A student can change the workflow in their repository: what\n"
        "counts is `grade` on the clones.\n"
        "Neither was tried there, only against what they document.",
    )
    add = p.add_argument
    add("where", choices=("gradescope", "github"), help="who is to grade")
    add("--lessons", nargs="+", required=True, metavar="NN", help="the lessons that are set")
    add("--out", type=Path, required=True, metavar="FILE", help="a new file")
    add("--points", type=Path, metavar="FILE.toml", help="gradescope: what results are worth")
    add("--library", default="", metavar="OWNER/NAME", help="github: where the library is")


def _add_machine(p: argparse.ArgumentParser) -> None:
    p.add_argument(
        "--threads",
        type=COUNT.read,
        default=1,
        help="CPU threads; more stall tiny models on a busy machine",
    )
    p.add_argument("--device", help="cpu, cuda or mps; the best one present where not given")


def _add_search(p: argparse.ArgumentParser) -> None:
    add = p.add_argument
    add("--model", type=Path, required=True, help="a run's directory, or one checkpoint in it")
    add("--beam", type=COUNT.read, default=1, help="hypotheses kept at every step; 1 is greedy")
    add(
        "--length-penalty",
        type=AT_LEAST_0.read,
        default=0.0,
        help="favours longer translations; 0.6 to 1 is usual",
    )
    add(
        "--temperature",
        type=AT_LEAST_0.read,
        help="draw at random; below 1 more surely, 0 is greedy",
    )
    add("--top-k", type=COUNT.read, help="draw among the k most likely tokens")
    add("--top-p", type=POSITIVE.read, help="draw among the fewest tokens of this probability")
    add("--seed", type=WHOLE.read, default=0, help="of what is drawn")
    _add_machine(p)
