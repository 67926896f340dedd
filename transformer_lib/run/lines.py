"""Translating a file or a pipe: lines in, as many lines out, in their order."""

import re
import warnings
from collections.abc import Iterable, Iterator
from itertools import islice

from transformer_lib.base.report import progress_bar
from transformer_lib.run.sentences import sentences
from transformer_lib.translation import Translator

LINES = 512  # translated at a time: of an endless pipe, no more are held


def translate_lines(
    translator: Translator, lines: Iterable[bytes], *, progress: bool = False, **search
) -> Iterator[str]:
    """The translation of every line, `LINES` of them at a time; an empty line stays empty.

    Of a line that holds several sentences each is translated by itself. `search` as in
    `Translator.translate`. Raises ValueError for a line that is not UTF-8. A warning names each
    sentence that was cut, and one at the end the words that training never showed, by their lines.
    """
    language = translator.source_vocabulary.language
    unknown: dict[str, list[int]] = {}
    counted = enumerate(progress_bar(lines, unit=" lines", show=progress), start=1)
    while batch := list(islice(counted, LINES)):
        cut = [sentences(_text(line, number), language) for number, line in batch]
        for (number, _), parts in zip(batch, cut, strict=True):
            for part in parts:
                if lost := translator.lost(part):
                    warnings.warn(f"line {number}: {lost}", stacklevel=2)
                for word in translator.source_vocabulary.unknown(part):
                    unknown.setdefault(word, []).append(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said above, with the numbers of the lines
            said = iter(translator.translate([part for parts in cut for part in parts], **search))
        for parts in cut:
            yield _on_one_line(islice(said, len(parts)))
    if unknown:
        shown = ", ".join(f"{word} ({_places(unknown[word])})" for word in list(unknown)[:5])
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        warnings.warn(
            f"training never showed these words, they are read as <unk>: {shown}{more}",
            stacklevel=2,
        )


def _on_one_line(translations: Iterable[str]) -> str:
    """A blank between sentences, and none behind the marks that take a sign's whole width."""
    return re.sub(r"(?<=[。！？」』]) ", "", " ".join(translations))


def _text(line: bytes, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"line {number} is not UTF-8: byte 0x{line[error.start]:02x}. Save the text as UTF-8, "
            "or pipe it through iconv -t UTF-8 -f and the name of its encoding"
        ) from None


def _places(numbers: list[int]) -> str:
    numbers = list(dict.fromkeys(numbers))
    return f"line {', '.join(map(str, numbers[:3]))}" + (", …" if len(numbers) > 3 else "")
