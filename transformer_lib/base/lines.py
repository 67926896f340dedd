"""Lines in, as many translations out: what `translate` shares with programs that have no torch."""

import sys
from collections.abc import Callable
from pathlib import Path

from transformer_lib.base.sentences import joined, sentences


def serve(translate: Callable[[list[str]], list[str]], source) -> None:
    """Answer each line of standard input, UTF-8 in any locale, by what `translate` makes of it.

    A line is cut into its sentences. `source` is the vocabulary that reads them. Ends the program
    with one line where a line is no text, and without a word where nobody listens any more.
    """
    sys.stdout.reconfigure(encoding="utf-8")
    unknown: dict[str, list[int]] = {}
    try:
        for number, line in enumerate(sys.stdin.buffer, start=1):
            text = text_of(line, number)
            for word in source.unknown(text):
                unknown.setdefault(word, []).append(number)
            parts = sentences(text, source.language)
            print(joined(translate(parts)) if parts else "", flush=True)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except ValueError as error:
        sys.exit(f"error: {error}")
    if unknown:
        print(f"note: {unknown_words(with_lines(unknown))}", file=sys.stderr)


def opened(engine: Callable, model: str | Path):
    """The engine on its model; one line ends the program where the model cannot be read."""
    try:
        return engine(model)
    except Exception as error:  # each engine has errors of its own
        said = str(error).partition("\n")[0]
        sys.exit(f"error: {model} is damaged, or for another version of the engine: {said}")


def text_of(line: bytes, number: int) -> str:
    """The line's text. Raises ValueError, with the number, where it is not UTF-8."""
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"line {number} is not UTF-8: byte 0x{line[error.start]:02x}. Save the text as UTF-8, "
            "or pipe it through: iconv -f LATIN1 -t UTF-8 (LATIN1, or whatever its encoding is)"
        ) from None


def unknown_words(words: list[str]) -> str:
    """What is said of words that training never showed."""
    more = f" and {len(words) - 5} more" if len(words) > 5 else ""
    return (
        f"training never showed these words, they are read as <unk>: {', '.join(words[:5])}{more}"
    )


def with_lines(words: dict[str, list[int]]) -> list[str]:
    """Each word with the numbers of its lines."""
    return [f"{word} ({_places(numbers)})" for word, numbers in words.items()]


def _places(numbers: list[int]) -> str:
    numbers = list(dict.fromkeys(numbers))
    lines = "line" if len(numbers) == 1 else "lines"
    return f"{lines} {', '.join(map(str, numbers[:3]))}" + (", …" if len(numbers) > 3 else "")
