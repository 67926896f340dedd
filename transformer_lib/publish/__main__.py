"""The class's editions from the command line: `python -m transformer_lib.publish --help`."""

import argparse
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path

from transformer_lib.base.report import progress_bar
from transformer_lib.publish.addresses import repository
from transformer_lib.publish.instructor import stored_seconds, write_notebook
from transformer_lib.publish.lessons import find_lessons
from transformer_lib.publish.plan import write_plan
from transformer_lib.publish.playground import write_playground
from transformer_lib.publish.quiz import FORMATS, write_quiz
from transformer_lib.publish.sheets import write_sheets
from transformer_lib.publish.site import write_site
from transformer_lib.publish.slides import write_deck
from transformer_lib.publish.takeaway import write_takeaway

BUILD = Path("build")
AT_ONCE = 2  # lessons that are executed
EXAMPLES = """examples:
  python -m transformer_lib.publish slides              all decks, into build/slides
  python -m transformer_lib.publish slides 03 13        two of them
  python -m transformer_lib.publish site                the web site, into build/site
  python -m transformer_lib.publish sheets              each lesson on one page, and a booklet
  python -m transformer_lib.publish quiz --for moodle   the questions, for Moodle's question bank
  python -m transformer_lib.publish hosted              notebooks for Colab and Kaggle, and the wheel
  python -m transformer_lib.publish playground          a page in which your sentence is translated
  python -m transformer_lib.publish instructor 03       a lesson solved and executed, and the plan
  python -m transformer_lib.publish instructor --no-execute     at once, with the stored outputs

Everything opens without a network, also from the file system. In a deck, S opens the speaker's
view with notes and minutes, D changes dark and light, Esc opens the overview, and ?print-pdf at
the end of its address prepares it for printing.
"""

IMPORTING = """Each choice brings what is said to whoever takes it. Not tried in a real Moodle or Canvas: the files
were read back by other programs, and the words of a menu differ from version to version.

Moodle (--for moodle, quiz_moodle.xml): in the course, More > Question bank, choose Import in the menu
there, Moodle XML format, and leave "Get category from file" on. Each lesson is a category. Then make
a quiz and add questions from the bank, some of them at random if you like.

Canvas (--for qti, quiz_qti.zip): Settings > Import Course Content, content type "QTI .zip file". Each
lesson is a quiz, and its questions also stand in the question bank that you name there. Look through
a quiz before you publish it. The package is QTI 1.2, which other platforms may read too.

The right answers are public: they stand folded in the lessons. For practice that is as it should be;
a mark on them is a mark for recall. What a student has answered in the lessons can be handed in:
python -m transformer_lib quiz --help

examples:
  python -m transformer_lib.publish quiz --for moodle           all questions
  python -m transformer_lib.publish quiz --for qti 04 09 12     those on three lessons
"""


def main(arguments: list[str] | None = None) -> int:
    """Build one edition and return the exit code.

    It is 0 on success, 1 where something could not be done, 2 for a wrong call.
    """
    args = _parser().parse_args(arguments)
    try:
        print(args.run(args))
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except (ImportError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def slides(args: argparse.Namespace) -> str:
    """One deck a lesson."""
    directory = args.out or BUILD / "slides"
    decks = [write_deck(path, directory) for path in _progress(args.lessons, "decks")]
    if len(decks) == 1:
        return f"1 deck: {decks[0]}"
    return f"{len(decks)} decks in {directory}, the first is {decks[0]}"


def site(args: argparse.Namespace) -> str:
    """All pages at once, since they link to each other."""
    return f"Open {write_site(find_lessons(), args.out or BUILD / 'site')}"


def hosted(args: argparse.Namespace) -> str:
    """The notebooks with a cell that installs what is missing, and the wheel that it installs."""
    wheel = write_takeaway(find_lessons(args.lessons), args.out or BUILD / "hosted")
    how = "is installed from there" if repository() else "is uploaded beside the notebook"
    return f"Open a notebook of {wheel.parent} on Colab or Kaggle; {wheel.name} {how}"


def playground(args: argparse.Namespace) -> str:
    """The page alone; `site` has it too."""
    return f"Open {write_playground(args.out or BUILD / 'playground')}"


def sheets(args: argparse.Namespace) -> str:
    """One page a lesson, and the booklet."""
    written = write_sheets(find_lessons(args.lessons), args.out or BUILD / "sheets")
    pdfs = sum(path.suffix == ".pdf" for path in written)
    printed = f"{pdfs} of them as PDF" if pdfs else "no PDF: that needs Chromium or Chrome"
    return f"{len(written) - pdfs} pages, {printed}: open {written[-1]}"


def quiz(args: argparse.Namespace) -> str:
    """The questions as a learning platform reads them."""
    written, count = write_quiz(args.platform, args.lessons, args.out or BUILD / "quiz")
    return f"{count} questions in {written}; --help says how to import them"


def instructor(args: argparse.Namespace) -> str:
    """Solved notebooks, and the plan."""
    directory = args.out or BUILD / "instructor"
    write = partial(write_notebook, directory=directory, execute=args.execute)
    with ThreadPoolExecutor(AT_ONCE) as pool:  # each lesson is executed in a process of its own
        longest_first = sorted(find_lessons(args.lessons), key=stored_seconds, reverse=True)
        jobs = [pool.submit(write, path) for path in longest_first]
        try:
            for job in progress_bar(as_completed(jobs), desc="lessons", total=len(jobs)):
                job.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return f"Open {write_plan(find_lessons(args.lessons), directory)}; the notebooks lie beside it"


def _progress(names: list[str], unit: str) -> Iterable[Path]:
    return progress_bar(find_lessons(names), desc=unit)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m transformer_lib.publish",
        description="Makes slides, a web site, sheets, a quiz, notebooks for Colab, a playground, or the "
        "instructor's edition from the lessons.",
        epilog=EXAMPLES,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(
        required=True, metavar="slides | site | sheets | quiz | hosted | playground | instructor"
    )
    for run, told in (
        (slides, "one self-contained reveal.js deck a lesson, with the speaker's notes"),
        (site, "one static web site of all lessons, with search and a glossary"),
        (sheets, "each lesson's closing sheet on one page, and all as a booklet"),
        (quiz, "the quiz's questions, to import into Moodle or Canvas"),
        (hosted, "the notebooks with a first cell that installs what is missing, and the wheel"),
        (playground, "one page in which a sentence runs through the shipped model"),
        (instructor, "the notebooks with solutions and notes, executed, and a teaching plan"),
    ):
        command = commands.add_parser(
            run.__name__,
            help=told,
            description=told,
            epilog=IMPORTING if run is quiz else None,
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument("--out", type=Path, help=f"folder (build/{run.__name__})")
        command.set_defaults(run=run)
        if run not in (site, playground):
            command.add_argument(
                "lessons", nargs="*", help="numbers, names or paths: 03 13; all without any"
            )
        if run is quiz:
            command.add_argument(
                "--for",
                dest="platform",
                choices=FORMATS,
                required=True,
                help="moodle: Moodle's XML; qti: a package of QTI 1.2, for Canvas",
            )
        if run is instructor:
            command.add_argument(
                "--no-execute",
                dest="execute",
                action="store_false",
                help="keep the stored outputs: seconds instead of minutes",
            )
    return parser


if __name__ == "__main__":
    sys.exit(main())
