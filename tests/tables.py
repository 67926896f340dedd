"""What README, CONTRIBUTING and a page show of the code, written into them: make tables

README's route is that of the lessons' rows and notes (`base.lessons`), CONTRIBUTING's map that of
the imports (`house.py`); the page on engines has their programs, `homework.json` what is graded, and
places are links where the project has a public address. Tests hold all of them to it.
"""

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))

import house

from transformer_lib.base.lessons import LESSONS
from transformer_lib.base.tokens import LONGEST_TRANSLATION, MAX_LEN
from transformer_lib.exercises.own.parts import WARM_UPS
from transformer_lib.grading import homework
from transformer_lib.publish.addresses import linked
from transformer_lib.publish.lessons import Lesson, find_lessons, read_lesson, tags
from transformer_lib.publish.routes import Route, routes
from transformer_lib.run.engines import ENGINES, filled

ROOT = Path(__file__).parent.parent


def route() -> str:
    """The table of README: a line a lesson, a column a route, and what each part adds up to."""
    ways = routes()
    names = [way.name[0].lower() + way.name[1:] for way in ways]
    lines = [_row("lesson", "you will be able to", *names), "|---|---|" + "--:|" * len(ways)]
    for stage, rows in groupby(LESSONS.items(), key=lambda item: item[1].stage):
        numbers = dict(rows)
        lines.append(_row(f"**{stage}**", "", *(f"**{_minutes(way, numbers)}**" for way in ways)))
        for number, row in numbers.items():
            (path,) = find_lessons([number])
            link = f"[{read_lesson(path).title.replace(' · ', ' ', 1)}](notebooks/{path.name})"
            lines.append(_row(link, row.able, *(_minutes(way, [number]) or "" for way in ways)))
    hours = f"**All lessons, about {ways[0].minutes / 60:.0f} hours in class**"
    return "\n".join([*lines, _row(hours, "", *(f"**{way.minutes}**" for way in ways))])


def _minutes(way: Route, numbers) -> int:
    return sum(stop.minutes for stop in way.stops if stop.lesson in numbers)


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def with_route(page: str) -> str:
    """README with today's route."""
    return re.sub(r"(?m)^\| lesson \|(.*\n)+?(?=\n)", lambda _: route() + "\n", page, count=1)


def with_map(page: str) -> str:
    """CONTRIBUTING with today's map."""
    before, _, rest = page.partition("## The house\n")
    said, fence, rest = rest.partition("```\n")
    return f"{before}## The house\n{said}{fence}{house.drawn()}\n{rest[rest.index('```') :]}"


def with_programs(page: str) -> str:
    """The page on engines with today's programs, for a model of the usual lengths."""
    lengths = {"max_len": MAX_LEN, "longest": LONGEST_TRANSLATION}
    programs = (filled(engine.program, **lengths) for engine in ENGINES.values())
    return re.sub(r"(?s)```python\n.*?```", lambda _: f"```python\n{next(programs)}```", page)


def asked() -> str:
    """What each lesson asks for, as grading reads it where there are no notebooks."""
    lessons = [
        homework.Homework(
            lesson.number,
            lesson.stem,
            lesson.title,
            tuple(cell.source for cell in lesson.notebook.cells if "setup" in tags(cell)),
            tuple(_asked(lesson)),
        )
        for lesson in map(read_lesson, find_lessons())
    ]
    return json.dumps([asdict(one) for one in lessons], indent=1, ensure_ascii=False) + "\n"


def _asked(lesson: Lesson) -> Iterator[homework.Asked]:
    for section in lesson.sections:
        stub = None
        for cell in section.cells:
            if "exercise" in tags(cell):
                stub = cell
            elif "check" in tags(cell):
                exercise, answer = re.search(
                    r'check\("([A-Za-z_.]+)", (\w+)\)', cell.source
                ).groups()
                if exercise not in WARM_UPS:  # these are for the student alone
                    yield homework.Asked(
                        lesson.number,
                        exercise,
                        answer,
                        stub.id,
                        stub.source,
                        cell.id,
                        section.heading,
                        f"{lesson.page}#{section.slug}",
                        section.deeper,
                    )


PAGES = {
    "README.md": lambda page: linked(with_route(page)),
    "CONTRIBUTING.md": with_map,
    "transformer_lib/publish/pages/engines.md": with_programs,
    "transformer_lib/publish/pages/where_it_runs.md": linked,
}

if __name__ == "__main__":
    for name, write in PAGES.items():
        page = ROOT / name
        page.write_text(write(page.read_text(encoding="utf-8")), encoding="utf-8")
    homework.FILE.write_text(asked(), encoding="utf-8")
