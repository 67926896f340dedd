"""Feedback in the zip file that an LMS takes back, under the names that it gave.

The names are those that Canvas and Moodle look for in their source. Neither was at hand to try it.
"""

import json
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from transformer_lib.grading.classroom import Grades
from transformer_lib.grading.feedback import as_html, as_markdown
from transformer_lib.grading.marks import Mark

_MOODLE = re.compile(r".+_\d+_assignsubmission_file_?")
_CANVAS = re.compile(r"[^_]+_(LATE_)?\d+_\d+_.+")  # name, user, attachment, file
TAG = "feedback"


def moodle_zip(path: Path, grades: Grades, marked: Sequence[Mark], site: str = "") -> list[str]:
    """Write `Full name_123456_assignsubmission_file_/feedback.html` for each student.

    Moodle takes it as “multiple feedback files in a zip”. Who has no number there is returned.
    """
    without = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for mark in marked:
            folder = mark.who.entry if _MOODLE.fullmatch(mark.who.entry) else ""
            if not folder and mark.who.id.isdigit():
                name = re.sub(r"[_/\\]", " ", mark.who.name)  # what splits a name in Moodle
                folder = f"{name}_{mark.who.id}_assignsubmission_file_"
            if folder:
                file.writestr(f"{folder}/feedback.html", as_html(grades, mark, site))
            else:
                without.append(mark.who.name)
    return without


def canvas_zip(path: Path, grades: Grades, marked: Sequence[Mark], site: str = "") -> list[str]:
    """Write each notebook as Canvas had named it, its lesson's feedback in a cell in front.

    Canvas finds the student and the file by the two numbers in the name, and shows what comes back
    under the name of that file: hence a notebook. Who has none with such a name is returned.
    """
    without = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for mark in marked:
            given = list(_canvas_files(grades, mark, site))
            for name, notebook in given:
                file.writestr(name, notebook)
            if not given:
                without.append(mark.who.name)
    return without


def _canvas_files(grades: Grades, mark: Mark, site: str) -> Iterator[tuple[str, str]]:
    for lesson, path in mark.row.taken.items():
        if _CANVAS.fullmatch(path.name):
            said = as_markdown(grades, mark, site, [lesson])
            with suppress(ValueError, KeyError):  # a script, one of format 3, or it is not there
                yield path.name, json.dumps(_with_cell(json.loads(_content(path)), said))


def _content(path: Path) -> bytes:
    """A file, also one in a zip as an LMS gives it; KeyError or b"" where it is not there."""
    if path.is_file():
        return path.read_bytes()
    for archive in path.parents:
        if archive.is_file():
            with zipfile.ZipFile(archive) as file:
                return file.read(path.relative_to(archive).as_posix())
    return b""


def _with_cell(notebook: dict[str, Any], text: str) -> dict[str, Any]:
    """The notebook with that text in front, in place of what was said to it before."""
    cell = {"cell_type": "markdown", "metadata": {"tags": [TAG]}, "source": text}
    if (notebook.get("nbformat"), notebook.get("nbformat_minor")) >= (4, 5):
        cell["id"] = TAG
    rest = [c for c in notebook["cells"] if TAG not in c.get("metadata", {}).get("tags", [])]
    return {**notebook, "cells": [cell, *rest]}
