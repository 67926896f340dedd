"""What a result is worth: points.toml, a small table that a teacher edits."""

import difflib
import re
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from transformer_lib.exercises import exercises
from transformer_lib.grading.classroom import ABSENT, MISTAKE, OPEN, PASSED, UNJUDGED, Result
from transformer_lib.grading.homework import Asked

RIGHT_BUT = "right, but"
PARTS = {
    PASSED: Decimal(1),
    RIGHT_BUT: Decimal("0.5"),
    MISTAKE: Decimal(0),
    OPEN: Decimal(0),
    UNJUDGED: Decimal(0),
    ABSENT: Decimal(0),
}
TABLES = ("exercises", "states", "mistakes")
_HEAD = """\
# What is an exercise worth? `grade` wrote this file, and reads it each time it grades a class.
# Change the numbers, and grade again. A line that is missing counts as it was written at first.

# The part of an exercise's points that a result earns, from 0 to 1.
[states]
{states}

# One mistake may earn another part than the rest: name it by words of the check's sentence, as
# grades.csv has it. Of two lines that fit, the first counts.
# [mistakes."basics.softmax"]
# "At large scores this fails" = 0.25

# The points of each exercise; what is not counted has 0.
[exercises]
"""


@dataclass(frozen=True)
class Points:
    """What each exercise gives, and which part of it a result or a named mistake earns."""

    exercises: dict[str, Decimal]
    states: dict[str, Decimal]
    mistakes: dict[str, dict[str, Decimal]]

    def most(self, asked: Asked) -> Decimal:
        """The points of an exercise; where the file does not say, 1, and 0 behind the core."""
        return self.exercises.get(asked.exercise, Decimal(not asked.deeper))

    def earned(self, asked: Asked, result: Result) -> Decimal:
        """The points that a result gives."""
        return self.most(asked) * self._part(asked, result)

    def _part(self, asked: Asked, result: Result) -> Decimal:
        if result.state != MISTAKE:
            return self.states[result.state]
        for words, part in self.mistakes.get(asked.exercise, {}).items():
            if words in result.message:
                return part
        right = result.message.lower().startswith(RIGHT_BUT)
        return self.states[RIGHT_BUT if right else MISTAKE]


def read_points(path: Path) -> Points:
    """The table in a file, the defaults where there is none.

    Raises ValueError with the line of what is no table of points, and what to write there.
    """
    if not path.exists():
        return Points({}, PARTS, {})
    text = path.read_text(encoding="utf-8-sig")
    try:
        tables = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(
            f"{path} is no TOML: {error}. A line of it is a name in quotes, = and a number"
        ) from None
    file = _File(path, text)
    for name, table in tables.items():
        if name not in TABLES or not isinstance(table, dict):
            raise file.error(name, f"{name!r} is none of the tables {', '.join(TABLES)}")
    given = {name: list(_leaves(tables.get(name, {}))) for name in TABLES}
    points, states = dict[str, Decimal](), dict(PARTS)
    mistakes: dict[str, dict[str, Decimal]] = {}
    for keys, value in given["exercises"]:
        points[file.exercise(keys)] = file.number(keys, value)
    for keys, value in given["states"]:
        if keys[-1] not in PARTS:
            raise file.error(keys[-1], f"there is no state {keys[-1]!r}, only {', '.join(PARTS)}")
        states[keys[-1]] = file.number(keys, value, most=1)
    for (*keys, words), value in given["mistakes"]:
        exercise = file.exercise(keys or [words])
        if not keys:
            raise file.error(
                words, f'of which mistake? Words of it stand below [mistakes."{words}"]'
            )
        mistakes.setdefault(exercise, {})[words] = file.number([words], value, most=1)
    return Points(points, states, mistakes)


def _leaves(table: Any, *keys: str) -> Iterator[tuple[list[str], Any]]:
    """(keys, value) of all below a table, since TOML reads `basics.mix` as a table in a table."""
    if not isinstance(table, dict):
        yield [*keys], table
        return
    for key, value in table.items():
        yield from _leaves(value, *keys, key)


@dataclass(frozen=True)
class _File:
    """A file of points, and what is wrong in one of its lines."""

    path: Path
    text: str

    def error(self, key: str, what: str) -> ValueError:
        lines = self.text.splitlines()
        at = next((n for n, line in enumerate(lines, 1) if key in line.partition("#")[0]), 1)
        return ValueError(f"{self.path}, line {at}: {what}")

    def exercise(self, keys: Sequence[str]) -> str:
        name, known = ".".join(keys), exercises()
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.4) or ["basics.mix"]
            raise self.error(
                keys[-1],
                f"there is no exercise {name!r}. Did you mean {', '.join(near)}? Mistakes stand "
                'below [mistakes."EXERCISE"]',
            )
        return name

    def number(self, keys: Sequence[str], value: Any, most: int | None = None) -> Decimal:
        good = isinstance(value, int | Decimal) and not isinstance(value, bool)
        if not good or Decimal(value).is_nan() or not 0 <= value <= (most or 10**6):
            among = f"from 0 to {most}" if most else "of 0 or more"
            raise self.error(keys[-1], f"{keys[-1]!r} is {value}: it should be a number {among}")
        return Decimal(value)


def default_points(asked: Sequence[Asked]) -> str:
    """The file with the defaults for these exercises, and comments that say how to change them."""
    states = "\n".join(f'"{state}" = {part}' for state, part in PARTS.items())
    return _HEAD.format(states=states) + lines_of(asked)


def lines_of(asked: Sequence[Asked]) -> str:
    """The lines of the file that give these exercises their default points."""
    return "".join(
        f'"{a.exercise}" = {int(not a.deeper)}  # lesson {a.lesson}, `{a.answer}`'
        f"{', behind the core' if a.deeper else ''}\n"
        for a in asked
    )


def note_unsaid(points: Points, path: Path, asked: Sequence[Asked]) -> None:
    """Warn of exercises that a file says nothing of, with the lines to add."""
    if unsaid := [one for one in asked if one.exercise not in points.exercises]:
        warnings.warn(
            f"{path} says nothing of these, and they count as here; add the lines below "
            f"[exercises]:\n{lines_of(unsaid)}".rstrip(),
            stacklevel=2,
        )


def in_digits(points: Decimal) -> str:
    """A number of points as people write it: 2, 2.5, 0.33."""
    return re.sub(r"\.?0+$", "", str(points.quantize(Decimal("0.01"), ROUND_HALF_UP)))
