"""A round of speculative decoding, and which of its guesses are kept. Lesson 16."""

from collections.abc import Sequence
from itertools import pairwise

from transformer_lib.show.drawings.marks import fitted, number
from transformer_lib.show.drawings.scene import (
    Box,
    Number,
    Part,
    Scene,
    Step,
    Vector,
    label,
    straight,
)

WIDE, HIGH, APART = 96, 44, 126  # of a word's box, and from position to position
GUESSED, READ, SAID = 0, 92, 212  # the three rows
LONG, THICK, BELOW = 620, 30, 62  # of a bar for probability 1, of any bar, from word to word


def round_of_guesses(last: str, guesses: Sequence[str], says: Sequence[str]) -> Scene:
    """One round at temperature 0, which ends with the first word that the model says otherwise.

    The draft guesses, and one pass of the model reads it all. `last` was said before; `says` are the
    model's words, one behind `last` and one behind each guess.
    """
    if len(says) != len(guesses) + 1:
        raise ValueError(f"{len(guesses)} guesses want {len(guesses) + 1} words, not {len(says)}")
    right = next((i for i, guess in enumerate(guesses) if guess != says[i]), len(guesses))
    drafted = [
        Box(f"draft.{i}", APART * (i + 1), GUESSED, WIDE, HIGH, guess, "embedding", f"guess {i}")
        for i, guess in enumerate(guesses)
    ]
    read = [
        Box(f"read.{i}", APART * i, READ, WIDE, HIGH, token, "token")
        for i, token in enumerate([last, *guesses])
    ]
    width = APART * len(guesses) + WIDE
    middle = (width - WIDE) / 2, (READ + SAID) / 2
    one_pass = Box("pass", *middle, width, 30, "one pass of the model", "attention")
    said = [
        Box(f"says.{i}", APART * i, SAID, WIDE, HIGH, word, *_verdict(i, right, len(guesses)))
        for i, word in enumerate(says)
    ]
    lines = [straight(a, b, "right") for a, b in pairwise(drafted)]
    lines += [straight(a, b, "bottom") for a, b in zip(drafted, read[1:], strict=True)]
    heads = (
        ("draft", GUESSED, "the draft"),
        ("read", READ, "is read"),
        ("says", SAID, "the model"),
    )
    names = [
        label(f"{name}.head", -WIDE / 2 - 24, y, text, bold=True, anchor="end")
        for name, y, text in heads
    ]
    kept = [f"says.{i}" for i in range(right + 1)]
    words = " ".join(says[: right + 1])
    steps = [
        Step(("draft",), f"The draft guesses {len(guesses)} words, one after the other."),
        Step(("draft", "read", "pass"), "One pass of the model reads them all."),
        Step(
            ("draft", "read", "pass", *kept, "says.head"),
            f"{_told(right, len(guesses))} Kept: “{words}”.",
        ),
    ]
    return fitted("One round of guesses", [*drafted, *read, one_pass, *said, *lines, *names], steps)


def _verdict(i: int, right: int, count: int) -> tuple[str, str]:
    """The role of a word that the model says, and what it means."""
    if i < right:
        return "value", f"= guess {i}"
    if i > right:
        return "norm", "not looked at"
    return ("output", "one more") if right == count else ("wrong", f"≠ guess {i}")


def _told(right: int, count: int) -> str:
    if right == count:
        return "All guesses are accepted, and the pass gives one word more."
    return f"Guess {right} is refused, and the model's word takes its place."


def accepted_and_redrawn(words: Sequence[str], p: Sequence[Number], q: Sequence[Number]) -> Scene:
    """Of each word a bar for the model's probability and the draft's: what both have is accepted.

    What the draft has above the model is refused, what the model has above the draft is redrawn;
    over all words the two are equally long.
    """
    if not len(words) == len(p) == len(q):
        raise ValueError(f"{len(words)} words, {len(p)} and {len(q)} probabilities: one for each")
    parts: list[Part] = []
    for i, (word, of_model, of_draft) in enumerate(zip(words, p, q, strict=True)):
        parts += _bars(f"word{i}", BELOW * i, word, of_model, of_draft)
    legend = (
        ("accepted", "weight", "guessed and accepted"),
        ("refused", "wrong", "guessed and refused"),
        ("redrawn", "value", "redrawn"),
    )
    parts += [
        label(
            f"legend.{name}",
            x,
            BELOW * len(words) - 8,
            text,
            role=role,
            bold=True,
            anchor="start",
            spoken=False,
        )
        for (name, role, text), x in zip(legend, (0, 200, 390), strict=True)
    ]
    return fitted("What is accepted, what is refused, what is redrawn", parts)


def _bars(name: str, y: Number, word: str, p: Number, q: Number) -> list[Part]:
    """What both have, and behind it what one of them has alone."""
    both, more = min(p, q), abs(p - q)
    told: list[Part] = [
        label(f"{name}.word", -16, y - 8, word, bold=True, anchor="end"),
        label(
            f"{name}.sizes",
            -16,
            y + 11,
            f"p {number(p)} · q {number(q)}",
            anchor="end",
            size=13,
            role="aside",
        ),
    ]
    if both:
        told.append(_bar(f"{name}.accepted", 0, y, both, "weight", "accepted:"))
    if round(more, 12):
        role, says = ("wrong", "refused:") if q > p else ("value", "redrawn:")
        told.append(_bar(f"{name}.{says[:-1]}", both, y, more, role, says))
    return told


def _bar(name: str, begin: Number, y: Number, size: Number, role: str, told: str) -> Vector:
    width = LONG * size
    return Vector(name, LONG * begin + width / 2, y, width, THICK, (number(size),), role, told)
