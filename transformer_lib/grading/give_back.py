"""What is written for an LMS or an autograder: a gradebook, a zip file of feedback, results."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer_lib.grading.autograders import github_results, gradescope_results
from transformer_lib.grading.classroom import Grades
from transformer_lib.grading.gradebooks import GRADEBOOKS, as_csv, fill
from transformer_lib.grading.marks import Mark
from transformer_lib.grading.returns import canvas_zip, moodle_zip

ZIPS = {"canvas": canvas_zip, "moodle": moodle_zip}
RESULTS = {"gradescope": gradescope_results, "github": github_results}


def check_target(target: str | None, gradebook: Path | None, column: str) -> None:
    """Raise ValueError, before a class is graded, for what could not be given back afterwards."""
    if target not in GRADEBOOKS:
        if given := [
            name for name, value in (("--gradebook", gradebook), ("--column", column)) if value
        ]:
            raise ValueError(f"{given[0]} needs --for {', '.join(GRADEBOOKS)}: whose is it?")
    elif gradebook:
        fill(GRADEBOOKS[target], gradebook, Grades([], []), [], column)


def give_back(
    target: str,
    out: Path,
    grades: Grades,
    marked: Sequence[Mark],
    gradebook: Path | None = None,
    column: str = "",
    site: str = "",
) -> Iterator[str]:
    """Write it beside `out`, and say what is where, a line each.

    Raises ValueError where one student is wanted, and there are more.
    """
    if results := RESULTS.get(target):
        if len(marked) != 1:
            raise ValueError(
                f"--for {target} writes the results of one student, and {len(marked)} are here"
            )
        path = out.with_suffix(f".{target}.json")
        text = json.dumps(results(grades, marked[0]), indent=1)
        path.write_text(text, encoding="utf-8")
        yield f"for {target}: {path}"
        return
    book = GRADEBOOKS[target]
    path = out.with_suffix(".gradebook.csv" if target == "csv" else f".{target}.csv")
    if gradebook:
        filled = fill(book, gradebook, grades, marked, column)
        path.write_bytes(filled.content)
        yield f"for {book.name}: {path}, {gradebook} with the points of {filled.matched} students"
        yield from (f"  {note}" for note in filled.notes)
    else:
        path.write_bytes(as_csv(book.new(grades, marked, column)))
        yield f"for {book.name}: {path}. With --gradebook your students are matched with its own"
    if write := ZIPS.get(target):
        archive = out.with_suffix(f".{target}.zip")
        without = write(archive, grades, marked, site)
        yield f"feedback to upload: {archive}"
        if without:
            yield f"  not in it, since {book.name} has no file name of theirs: {'; '.join(without)}"
