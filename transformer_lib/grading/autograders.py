"""Grading where students hand in: Gradescope's autograder and GitHub Classroom's workflow.

Both run `grade` on one student's notebooks, so the verdicts are those that a teacher gets. What they
read is documented by them; neither was at hand to try it.
"""

import re
import zipfile
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from transformer_lib.grading.classroom import ABSENT, PASSED, Grades
from transformer_lib.grading.homework import Asked, homework
from transformer_lib.grading.marks import Mark

PROJECT = Path(__file__).parents[2]
SHIPPED = ("pyproject.toml", "README.md", "LICENSE", "transformer_lib/**/*", "data/**/*")
LEFT_OUT = re.compile(r"(^|/)(\.|__pycache__)")
# torch without CUDA, by the line that README has for it
_LIGHT = "export \"$(grep -m 1 -o 'PIP_EXTRA_INDEX_URL=[^ ]*' {folder}/README.md)\""
_SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, when it builds the machine that grades: it installs Python's venv, and
# the library with torch and what grading needs (some 2 GB).
set -e
apt-get update
apt-get install -y --no-install-recommends python3 python3-venv
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {{
  echo "This needs Python 3.11 or later, and here is $(python3 --version): choose a newer Ubuntu." >&2
  exit 1
}}
cd /autograder/source
python3 -m venv .venv
{light}
.venv/bin/python -m pip install -e ./project
"""
_RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission: it grades /autograder/submission as `grade` does anywhere.
cd "${{AUTOGRADER:=/autograder}}"
python=${{PYTHON:-source/.venv/bin/python}}
rm -rf class grades.*
mkdir -p class results
cp -r submission class/student
PYTHONPATH="$PWD/source/project" "$python" -m transformer_lib grade class --out grades.csv \\
  --lessons {lessons} --points source/points.toml --for gradescope 2> >(tee grades.err >&2)
if [ -f grades.gradescope.json ]; then
  cp grades.gradescope.json results/results.json
else
  "$python" - <<'END' > results/results.json
import json, pathlib
print(json.dumps({{"score": 0, "output": pathlib.Path("grades.err").read_text()[-2000:]}}))
END
fi
"""
_WORKFLOW = """\
# GitHub Classroom: put this into the template of the assignment as .github/workflows/classroom.yml.
# Each push is graded by the library of {library}; the points are reported to the classroom, and
# what is said to each exercise stands in the summary of the run. A student can change this file: what
# counts is `grade` on a clone of their repository.
name: Autograding Tests
on: [push, workflow_dispatch]
permissions:
  checks: write
  actions: read
  contents: read
jobs:
  run-autograding-tests:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    if: github.actor != 'github-classroom[bot]'
    steps:
      - uses: actions/checkout@v4
        with:
          path: class/student
      - uses: actions/checkout@v4
        with:
          repository: {library}
          path: library
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - name: Install the library
        run: |
          {light}
          python -m pip install -e ./library
      - name: Grade
        id: grade
        run: |
          python -m transformer_lib grade class --out grades.csv --lessons {lessons} \\
            --points library/points.toml --for github
          cat grades_feedback/*.md >> "$GITHUB_STEP_SUMMARY"
          echo "result=$(base64 --wrap=0 grades.github.json)" >> "$GITHUB_OUTPUT"
      - name: Report
        uses: classroom-resources/autograding-grading-reporter@v1
        env:
          GRADE_RESULTS: ${{{{ steps.grade.outputs.result }}}}
        with:
          runners: grade
"""


def gradescope_results(grades: Grades, mark: Mark) -> dict[str, Any]:
    """What Gradescope reads as results.json: points, and for each exercise a test."""
    numbers = ", ".join(lesson.number for lesson in grades.lessons)
    found = "Each test is an exercise, judged by the lesson's own check."
    nothing = f"In what was handed in there is no notebook of lesson {numbers} that can be read."
    return {
        "score": float(mark.points),
        "output": mark.comment or (found if mark.row.taken else nothing),
        "output_format": "text",
        "test_output_format": "text",
        "stdout_visibility": "hidden",
        "tests": [
            {
                "name": f"{asked.lesson} {asked.answer}",
                "status": "passed"
                if mark.row.results[asked.exercise].state == PASSED
                else "failed",
                "score": float(mark.earned[asked.exercise]),
                "max_score": float(mark.most[asked.exercise]),
                "output": _said(asked, mark),
                "visibility": "visible",
            }
            for asked in grades.asked
        ],
    }


def github_results(grades: Grades, mark: Mark) -> dict[str, Any]:
    """What GitHub Classroom's reporter reads of a runner, as its own graders write it."""
    passed = [mark.row.results[asked.exercise].state == PASSED for asked in grades.asked]
    return {
        "version": 1,
        "status": "pass" if all(passed) else "fail",
        "max_score": float(mark.out_of),
        "tests": [
            {
                "name": f"{asked.lesson} {asked.answer}",
                "status": "pass" if right else "fail",
                "score": float(mark.earned[asked.exercise]),
                "message": _said(asked, mark),
                "test_code": _said(asked, mark),  # of the two this one is shown
                "filename": "",
                "line_no": 0,
                "duration": 0,
            }
            for asked, right in zip(grades.asked, passed, strict=True)
        ],
    }


def _said(asked: Asked, mark: Mark) -> str:
    result = mark.row.results[asked.exercise]
    place = f"Go back to {asked.lesson} · {asked.section}."
    back = "" if result.state in (PASSED, ABSENT) else place
    return "\n\n".join(filter(None, [str(result), result.case, back]))


def write_gradescope(path: Path, lessons: Sequence[str], points: str) -> None:
    """Write the zip file to upload: setup.sh, run_autograder, points.toml and the project.

    Raises ValueError where the library was installed without its project.
    """
    if not (PROJECT / "pyproject.toml").exists():
        raise ValueError(f"{PROJECT} holds no project: call this in a checkout of it")
    numbers = " ".join(homework(lesson).number for lesson in lessons)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        light = _LIGHT.format(folder="project")
        _add_script(file, "setup.sh", _SETUP.format(light=light))
        _add_script(file, "run_autograder", _RUN.format(lessons=numbers))
        file.writestr("points.toml", points)
        for name in _shipped():
            file.write(PROJECT / name, f"project/{name}")


def _add_script(file: zipfile.ZipFile, name: str, text: str) -> None:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o100755 << 16
    file.writestr(info, text)


def _shipped() -> Iterator[str]:
    """The files of the project that grading needs, and no others that somebody keeps there."""
    for path in chain(*(sorted(PROJECT.glob(name)) for name in SHIPPED)):
        name = path.relative_to(PROJECT).as_posix()
        if path.is_file() and not LEFT_OUT.search(name):
            yield name


def write_workflow(path: Path, lessons: Sequence[str], library: str) -> None:
    """Write the workflow that grades a student's repository by the library of OWNER/NAME.

    Raises ValueError where `library` is not the name of a repository.
    """
    if not re.fullmatch(r"[\w-]+/[\w.-]+", library):
        raise ValueError(
            f"--library {library!r}: give the repository that holds the library, as OWNER/NAME"
        )
    numbers = " ".join(homework(lesson).number for lesson in lessons)
    light = _LIGHT.format(folder="library")
    text = _WORKFLOW.format(library=library, lessons=numbers, light=light)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
