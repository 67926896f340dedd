"""A notebook on its way: what of it is still to run, and what became of each exercise."""

import json
import secrets
import tempfile
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from transformer_lib.grading.crashes import ends_all, how_it_ended, lost_with
from transformer_lib.grading.files import File
from transformer_lib.grading.homework import Homework
from transformer_lib.grading.judge import judge
from transformer_lib.grading.limits import End, Task, run_limited
from transformer_lib.grading.notebooks import Cell, in_words
from transformer_lib.grading.programs import Program, program
from transformer_lib.grading.results import BEST_FIRST, MISTAKE, OPEN, PASSED, UNJUDGED, Result


@dataclass(eq=False)
class Version:
    """A notebook that a student handed in for a lesson, with a result for each of its exercises.

    `seconds` are left of its time, and the steps in `skip` are not to run again.
    """

    file: File
    lesson: Homework
    cells: Sequence[Cell]
    seconds: float = 0.0
    program: Program = field(default_factory=lambda: Program([]))
    results: dict[str, Result] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    word: str = field(default_factory=secrets.token_hex)
    skip: set[int] = field(default_factory=set)
    failed: dict[int, str] = field(default_factory=dict)
    log: Path = Path()

    @property
    def told(self) -> str:
        """What its file is called in what the student handed in."""
        return self.file.told

    @property
    def code(self) -> tuple[str, ...]:
        """What makes it another version than the next."""
        return tuple(cell.source for cell in self.cells if cell.is_code)

    @property
    def passed(self) -> int:
        """How many of the exercises that are counted it passes."""
        return sum(
            self.results[a.exercise].state == PASSED for a in self.lesson.asked if not a.deeper
        )

    @property
    def worth(self) -> tuple[int, ...]:
        """The larger, the better: passes of the core, then all passes, mistakes, and so on."""
        states = [result.state for result in self.results.values()]
        return self.passed, *map(states.count, BEST_FIRST)

    def remark(self, text: str) -> None:
        """Say something of it, once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def plan(self) -> None:
        """Find out what is to run; what has no answer is set down already."""
        try:
            self.program = program(self.cells, self.lesson)
        except Exception as error:  # whatever a file may hold, it costs its own row only
            self.remark(f"it cannot be taken apart ({type(error).__name__})")
            unfound = {asked.exercise: self.remarks[-1] for asked in self.lesson.asked}
            self.program = Program([], unfound)
        for asked in self.lesson.asked:
            why = self.program.unfound.get(asked.exercise, "its turn never came")
            self.results[asked.exercise] = Result(UNJUDGED, why)
        if said := in_words(self.cells):
            self.remark(said)
        for statement in self.program.trains:
            self.remark(f"nothing is trained here, so this was left out: `{statement}`")

    @property
    def runs(self) -> bool:
        """Whether anything of it is left to judge."""
        steps = self.program.steps
        return any(step.exercise and n not in self.skip for n, step in enumerate(steps))


def run(versions: Sequence[Version], logs: Path, mebibytes: float, jobs: int) -> Iterator[Version]:
    """Run the notebooks, and give each when nothing of it is left to do.

    One whose process was ended goes on behind the step at which that happened, in the time that it
    has left.
    """
    tasks: deque[Task] = deque()

    def add(one: Version) -> None:
        one.log = Path(tempfile.mkdtemp(dir=logs)) / "log"
        place = tempfile.mkdtemp(dir=logs)
        arguments = (one.program.steps, one.skip, place, str(one.log), one.word)
        tasks.append(Task(judge, arguments, one.seconds, one))

    for one in versions:
        add(one)
    for task, end in run_limited(tasks, jobs, mebibytes, _imported(versions)):
        if _goes_on(task.about, end, mebibytes):
            add(task.about)
        else:
            yield task.about


def _imported(versions: Sequence[Version]) -> list[str]:
    """The modules that the set-ups of their lessons name, and those of the judge."""
    sources = {source for one in versions for source in one.lesson.setup}
    lines = (line.split() for source in sources for line in source.splitlines())
    named = {words[1] for words in lines if words[:1] in (["from"], ["import"])}
    return [judge.__module__, *sorted(named)]


def _goes_on(one: Version, end: End, mebibytes: float) -> bool:
    """Enter what a process left behind; whether another one is to go on with the rest."""
    steps, begun, finished = one.program.steps, None, False
    for event in _events(one):
        finished = finished or "finished" in event
        if "begun" in event:
            begun = event["begun"]
        elif "ended" in event:
            begun = None
            _enter(one, event["ended"], event)
    if finished:
        return False
    if begun is None:
        _close(one, f"outside of its cells, {how_it_ended(end, mebibytes)}")
        return False
    words = f"in {steps[begun].about}, {how_it_ended(end, mebibytes)}"
    if ends_all(steps[begun], end):
        _close(one, words)
        return False
    one.remark(words)
    one.skip.add(begun)
    for number in lost_with(steps, begun):
        one.skip.add(number)
        _set(one, steps[number].exercise, Result(UNJUDGED, words))
    one.seconds -= end.seconds
    return one.runs


def _events(one: Version) -> Iterator[dict[str, Any]]:
    """What the judge wrote; a line that does not know the word is not the judge's."""
    with suppress(FileNotFoundError), one.log.open("rb") as file:
        for line in file:
            with suppress(ValueError, TypeError, KeyError):
                event = json.loads(line)
                if event["word"] == one.word:
                    yield event


def _set(one: Version, exercise: str, result: Result) -> None:
    """Enter a result; one that is judged at two places keeps its pass."""
    if one.results[exercise].state != PASSED:
        one.results[exercise] = result


def _close(one: Version, words: str) -> None:
    """Nothing more of this notebook is judged."""
    one.remark(words)
    for number, step in enumerate(one.program.steps):
        if step.exercise and number not in one.skip:
            _set(one, step.exercise, Result(UNJUDGED, words))


def _enter(one: Version, number: int, event: dict[str, Any]) -> None:
    """What became of one step; a check that is done is not done again."""
    step = one.program.steps[number]
    if changed := [*event.get("changed", ()), *event.get("meddled", ())]:
        one.remark(f"it changes {', '.join(changed)}")
    if event.get("failed"):
        one.failed[number] = event["failed"]
        one.remark(f"{step.about} {event['failed']}")
    if not step.exercise:
        return
    one.skip.add(number)
    if event.get("missing"):
        what = next((one.failed[n] for n in range(step.home, number) if n in one.failed), "ran")
        result = Result(UNJUDGED, f"its cell {what}, and `{step.answer}` is not defined")
    elif event.get("meddled"):
        result = Result(UNJUDGED, f"while it was judged, it changed {', '.join(event['meddled'])}")
    elif event["passed"]:
        result = Result(PASSED)
        if borrowed := event.get("borrowed"):
            one.remark(f"`{step.answer}` calls the library's `{borrowed}`")
    elif not event["attempted"]:
        result = Result(OPEN)
    else:
        result = Result(MISTAKE, event["message"], event.get("case", ""))
    _set(one, step.exercise, result)
