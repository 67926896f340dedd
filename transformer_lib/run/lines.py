"""Translating a file or a pipe: lines in, as many lines out, in their order."""

import warnings
from collections.abc import Iterable, Iterator
from itertools import islice

from transformer_lib.base.lines import text_of, unknown_words, with_lines
from transformer_lib.base.report import progress_bar
from transformer_lib.base.sentences import sentences
from transformer_lib.translation import Translator

LINES = 512  # translated at a time: of an endless pipe, no more are held


def translate_lines(
    translator: Translator, lines: Iterable[bytes], *, progress: bool = False, **search
) -> Iterator[str]:
    """The translation of every line, `LINES` of them at a time; an empty line stays empty.

    `search` as in `Translator.translate`. Raises ValueError for a line that is not UTF-8. A warning
    names each sentence that was cut, and one at the end the words that training never showed, by
    their lines.
    """
    source = translator.source_vocabulary
    unknown: dict[str, list[int]] = {}
    counted = enumerate(progress_bar(lines, unit=" lines", show=progress), start=1)
    while batch := [(number, text_of(line, number)) for number, line in islice(counted, LINES)]:
        for number, text in batch:
            for part in sentences(text, source.language):
                if lost := translator.lost(part):
                    warnings.warn(f"line {number}: {lost}", stacklevel=2)
            for word in source.unknown(text):
                unknown.setdefault(word, []).append(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said above, with the numbers of the lines
            said = translator.translate([text for _, text in batch], **search)
        yield from said
    if unknown:
        warnings.warn(unknown_words(with_lines(unknown)), stacklevel=2)
