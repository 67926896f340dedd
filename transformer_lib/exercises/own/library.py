"""The file `mine.py` beside the lessons: the student's own library, plain Python to read and edit.

What passes its check is kept there, a section a part. Each section is executed by itself, with the
imports of `HEADER` and nothing else, so that a broken one harms no other. With
`TRANSFORMER_LIB_MINE=off` nothing is kept and nothing read.
"""

import linecache
import os
import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import filelock

from transformer_lib.exercises.own.cells import NotKept, names_from_elsewhere, source_to_keep
from transformer_lib.exercises.own.parts import PARTS

HEADER = """\
# My own library: what has passed its check in the lessons. `mine("EncoderLayer")` gives it back.
# Every part is read by itself, with these imports. `mine.forget("EncoderLayer")` takes one out.
import copy
import math
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_lib.attention import attention_weights, scaled_dot_product_attention
from transformer_lib.batching import TokenBatches, encode_pairs, make_batch
from transformer_lib.corpus import Vocabulary
from transformer_lib.decoding import greedy, with_steps
from transformer_lib.exercises import mine
from transformer_lib.layers import AddNorm, PositionwiseFeedForward
from transformer_lib.masks import causal_mask, length_mask, masked_softmax, padding_mask
from transformer_lib.positions import RotaryPositions
from transformer_lib.schedules import warmup_cosine
from transformer_lib.training import fit
from transformer_lib.transformer import TransformerConfig, make_model
from transformer_lib.translation import Translator
"""
_MARK = "# ---- {part}: {name}, lesson {lesson:02d} ----"
_MARKED = re.compile(r"^# ---- (\w+): (\w+), lesson \d\d ----[ \t]*$", re.M)
_SECONDS = 10.0  # that another kernel may take to write

_loaded: dict[tuple[str, str, str], Any] = {}  # (part, name, source) -> what it gives


class Unreadable(ValueError):
    """What is wrong with the file, in words for a student."""


def is_off() -> bool:
    """Whether nothing is kept and nothing read: tests and stored outputs do not depend on it."""
    return os.environ.get("TRANSFORMER_LIB_MINE", "").lower() == "off"


def mine_path() -> Path:
    """Where the student's library stands: in the folder that the lesson runs in."""
    return Path.cwd() / "mine.py"


def keep(key: str, answer: Callable[..., Any], passes: Callable[[Any], bool]) -> str:
    """Write the source of a part that passed into `mine.py`; says in words what happened.

    It is kept only if `passes` holds for what the written source gives. Never raises for what a
    student or the disk may do.
    """
    try:
        source = source_to_keep(answer, _header())
        again = _executed(key, answer.__name__, source)
        if not passes(again):
            raise NotKept("run by itself it no longer passes: does it hang on another cell?")
        mark = _MARK.format(part=key, name=answer.__name__, lesson=PARTS[key].lesson)
        exchange(key, (key, answer.__name__, f"{mark}\n{source}"))
    except (NotKept, Unreadable) as error:
        return f"It passes, but is not kept: {error}."
    except Exception as error:  # a full disk, another kernel that never lets go
        return f"It passes, but could not be written to mine.py: {error}."
    return f'Kept in `mine.py`: `mine("{key}")` is yours from now on.'


def kept(key: str) -> Any:
    """What the student's section of that part gives, None without one. Raises Unreadable."""
    if is_off() or not mine_path().exists():
        return None
    _, sections = _sections()
    for part, name, section in reversed(sections):
        if part == key:
            return _executed(key, name, section)
    return None


def standing() -> dict[str, str]:
    """Every part that stands in `mine.py`, with what is wrong with it, "" where nothing is."""
    if is_off() or not mine_path().exists():
        return {}
    found = {}
    for key, _, _ in _sections()[1]:
        try:
            kept(key)
            found[key] = ""
        except Unreadable as error:
            found[key] = str(error)
    return found


def _executed(key: str, name: str, source: str) -> Any:
    """What `name` is after this source ran by itself. Made once. Raises Unreadable."""
    if (key, name, source) not in _loaded:
        space = {**_header(), "__name__": f"mine.{key}"}
        file = f"<mine.py: {key}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)  # for tracebacks
        try:
            foreign = names_from_elsewhere(source, _header())
            exec(compile(source, file, "exec"), space)
        except (Exception, SystemExit) as error:
            raise Unreadable(
                f"Your {name} in mine.py does not run ({type(error).__name__}: {error}). Mend it "
                f'there, or pass its check again, or `mine.forget("{key}")`'
            ) from None
        if foreign or name not in space:
            lacks = f"uses {', '.join(foreign)}, unknown there" if foreign else "is not defined"
            raise Unreadable(
                f"Your {name} in mine.py {lacks}. Mend it there, or pass its check again, or "
                f'`mine.forget("{key}")`'
            )
        _loaded[key, name, source] = space[name]
    return _loaded[key, name, source]


def _header() -> dict[str, Any]:
    """The names that the fixed imports give."""
    if not _HEADER_NAMES:
        exec(HEADER, _HEADER_NAMES)
        del _HEADER_NAMES["__builtins__"]
    return _HEADER_NAMES


_HEADER_NAMES: dict[str, Any] = {}


def _sections() -> tuple[str, list[tuple[str, str, str]]]:
    """(all before the first mark, [(part, name, its text with the mark)]) of the file."""
    path = mine_path()
    if not path.exists():
        return HEADER, []
    try:
        text = path.read_text(encoding="utf-8")
    except (UnicodeDecodeError, OSError) as error:
        raise Unreadable(f"mine.py cannot be read ({error}). Mend it, or move it away") from None
    starts = [mark.start() for mark in _MARKED.finditer(text)] + [len(text)]
    pieces = [text[start:end] for start, end in pairwise(starts)]
    found = [(*_MARKED.match(piece).groups(), piece) for piece in pieces]
    return text[: starts[0]] or HEADER, found


def exchange(key: str, *new: tuple[str, str, str]) -> bool:
    """Put `new` in the place of what the file has of that part; whether it had any of it."""
    with filelock.FileLock(mine_path().with_name(".mine.lock"), timeout=_SECONDS):
        preamble, sections = _sections()
        old = [section for section in sections if section[0] == key]
        if [text.strip() for _, _, text in old] != [text.strip() for _, _, text in new]:
            if old:
                _set_aside(old)
            _write(preamble, [*(s for s in sections if s[0] != key), *new])
    return bool(old)


def _write(preamble: str, sections: list[tuple[str, str, str]]) -> None:
    """The whole file at once: whoever reads, or is killed meanwhile, has the old or the new one."""
    parts = (preamble, *(text for _, _, text in sections))
    new = mine_path().with_name(".mine.new")
    with new.open("w", encoding="utf-8") as file:
        file.write("\n\n\n".join(part.rstrip("\n") for part in parts) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, mine_path())


def _set_aside(sections: list[tuple[str, str, str]]) -> None:
    """What goes out of the file is added to `mine.old.py`: nothing that was written is lost."""
    with mine_path().with_name("mine.old.py").open("a", encoding="utf-8") as file:
        file.writelines(text.rstrip("\n") + "\n\n\n" for _, _, text in sections)
