"""Each route runs: what a lesson asks for behind **Before:** stands earlier in it."""

import re
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import pytest

from transformer_lib.exercises.own.parts import PARTS
from transformer_lib.publish.lessons import find_lessons, read_lesson
from transformer_lib.publish.routes import Route, Stop, routes

WHOLE, DAY, GPT = ROUTES = routes()
LESSONS = [path.stem[:2] for path in find_lessons()]
LINK = r"\[[^]]*\]\((\d\d)_\w+\.ipynb\)"
ASKED = re.compile(rf"(?:(part \w+) of )?{LINK}(?: (to|\(?or) {LINK})?")


class Need(NamedTuple):
    """One of these lessons; of it the part that is named, or all if it is taught in parts."""

    lessons: tuple[str, ...]
    part: str = ""

    def is_met(self, stop: Stop) -> bool:
        if stop.lesson not in self.lessons:
            return False
        taught = re.match("part (one|two)", stop.part)
        return not taught or taught[0] == self.part


@cache
def lesson(number):
    return read_lesson(*find_lessons([number]))


def before(number):
    return lesson(number).notebook.cells[0].source.partition("**Before:** ")[2]


def needs(text, part=""):
    """What stands behind **Before:**; "for the beam, …" is needed by all, and by a part with the beam."""
    found = []
    for clause in re.split("; ", " ".join(text.split())):
        aim = re.match("for (?:the |its )?([^,]+), ", clause)
        if aim and part and not any(word in part for word in re.split(" and (?:the )?", aim[1])):
            continue
        for named, first, joined, last in ASKED.findall(clause):
            if joined == "to":
                found += [Need((number,), named) for number in LESSONS if first <= number <= last]
            else:
                found.append(Need((first, last) if last else (first,), named))
    return found


def unmet(route):
    """What a stop of the route needs and no earlier one has."""
    return [
        (stop.lesson, need)
        for place, stop in enumerate(route.stops)
        for need in needs(before(stop.lesson), stop.part)
        if not any(need.is_met(earlier) for earlier in route.stops[:place])
    ]


def without(route, number):
    return replace(route, stops=tuple(stop for stop in route.stops if stop.lesson != number))


def test_what_a_lesson_asks_for_is_read_as_it_is_written():
    text = (
        "[lesson 03](03_a.ipynb), the mask, and lessons [08](08_b.ipynb) to\n[10](10_c.ipynb), or "
        "so; part one of [lesson 05](05_d.ipynb); for the beam and the\nscores, [lesson 11](11_e.ipynb)"
        " (or [lesson 13](13_f.ipynb), the whole)."
    )
    always = [Need(("03",)), *(Need((n,)) for n in ("08", "09", "10")), Need(("05",), "part one")]
    assert needs(text, "the cache") == always
    assert needs(text) == needs(text, "scores") == [*always, Need(("11", "13"))]


@pytest.mark.parametrize("number", LESSONS)
def test_before_names_whatever_a_core_builds_upon(number):
    """Each lesson whose part it takes by `mine(…)`, and none that stands behind it but in a choice."""
    core = "\n".join(cell.source for section in lesson(number).core for cell in section.cells)
    builders = {f"{PARTS[name].lesson:02}" for name in re.findall(r'mine\("(\w+)"\)', core)}
    asked = needs(before(number))
    assert builders - {number} <= {known for need in asked for known in need.lessons}
    assert all(min(need.lessons) < number for need in asked)
    assert bool(asked) == (number != LESSONS[0])


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_route_runs(route):
    assert unmet(route) == []


@pytest.mark.parametrize(
    ("route", "number", "misses"),
    [
        (WHOLE, "07", "15"),
        (DAY, "09", "11"),
        (DAY, "02", "04"),
        (DAY, "05", "12"),
        (GPT, "18", "14"),
        (GPT, "14", "17"),
    ],
)
def test_a_route_without_a_lesson_that_others_need_does_not_run(route, number, misses):
    assert misses in [lesson for lesson, _ in unmet(without(route, number))]


def test_a_part_of_a_lesson_does_not_stand_for_another_part():
    first = Stop("05", 20, "part one: words")
    route = Route("", "", (*WHOLE.stops[:5], first))
    assert unmet(route) == []
    for later in (Stop("16", 60), Stop("16", 40, "the beam"), Stop("16", 40, "the cache")):
        told = unmet(replace(route, stops=(*route.stops, *DAY.stops[6:11], later)))
        assert (("16", Need(("05",), "part two")) in told) == (later.part != "the cache")
    assert unmet(replace(route, stops=(*route.stops, Stop("06", 65)))) == [("06", Need(("05",)))]


def test_the_minutes_are_those_of_the_lessons():
    """A stop without a part has its lesson's; a part, fewer. The day has six hours, the weeks ten times 90."""
    assert [stop.lesson for stop in WHOLE.stops] == LESSONS
    for route in ROUTES:
        for stop in route.stops:
            measured = lesson(stop.lesson).minutes
            assert stop.minutes < measured if stop.part else stop.minutes == measured, stop
    assert not any(stop.part for stop in WHOLE.stops)
    assert (DAY.minutes, GPT.minutes) == (360, 900)
