"""An error told by the student's own line: the line, the shapes that met there, and a cure."""

import ast
import linecache
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any

import torch
from torch import Tensor

from transformer_lib.exercises.checking.comparing import said

_EXERCISES = __name__.rpartition(".checking")[0]
CURES = (  # what torch or Python says, and what helps where it is known
    (
        r"'NoneType'",
        "One of the values there is None: ask `is not None` before you compute with it.",
    ),
    (
        r"(tuple of ints, but found|used as indices|as an index|slice indices|IntTensor|indices must be integers)",
        "An index is an integer. `/` gives floats, `//` integers; `.long()` turns a tensor into integers.",
    ),
    (
        r"Dimension out of range",
        "Axes count from 0: a vector has axis 0 alone, a table 0 and 1. `-1` is always the last.",
    ),
    (
        r"view size is not compatible",
        "After `transpose` the entries no longer stand in memory in the order of the axes, so `view` "
        "refuses: `reshape` copies them first.",
    ),
    (
        r"bitwise_(and|or).*not implemented|unsupported operand.*&.*Tensor",
        "`&` binds more tightly than `<` and `==`: put each comparison into brackets, `(a < b) & (c == d)`.",
    ),
    (
        r"Boolean value of Tensor",
        "`and`, `or`, `not` and `if` want one truth value. For all entries at once it is `&`, `|`, `~`; whether there "
        "is a tensor at all, `is not None` asks.",
    ),
    (
        r"masked_fill.*(bool|Bool)|expected .*mask.*(bool|Bool)",
        "`masked_fill` wants a mask of True and False.",
    ),
    (
        r"bitwise_not.*not implemented|operator.invert|unary ~",
        "`~` turns a mask of True and False round, and nothing else. Is this a mask?",
    ),
    (
        r"before Module.__init__\(\) call",
        "`super().__init__()` has to be the first line of `__init__`.",
    ),
    (
        r"math domain error",
        "A number below 0 has neither a logarithm nor a root, and 0 has no logarithm: treat it by itself first.",
    ),
    (
        r"no attribute 'values'|'torch.return_types|return_types",
        "`max(dim=…)` gives two things: the largest values, `.values`, and where they stand, `.indices`.",
    ),
    (r"Only Tensors of floating point.*gradients", "Integers have no gradient: make them floats."),
    (
        r"expected Tensor as element \d+ in argument \d+, but got (int|float|bool)",
        "`torch.stack` and `torch.cat` join tensors. Of a list of numbers `torch.tensor` makes one.",
    ),
    (
        r"must be Tensor, not (int|float)",
        "torch's functions want tensors. For one number there is `math`: `math.sin`, `math.sqrt`.",
    ),
    (
        r"expected (m1 and m2|scalar type)|same dtype|dtype of input|but got .*(Long|Float|Bool|long|float|bool)",
        "Two kinds of numbers met: `.float()` makes floats of integers and of masks.",
    ),
    (
        r"leaf Variable that requires grad",
        "A parameter is not written into while gradients flow: compute a new tensor.",
    ),
    (
        r"(mean|std|var)\(\).*(Long|integer|dtype)|could not infer output dtype",
        "A mean of integers is no integer: `.float()` first.",
    ),
    (
        r"not callable",
        "What stands before the brackets is a value, not a function: take the brackets away, or was another "
        "name meant?",
    ),
)


def told(error: BaseException, answer: Any) -> str:
    """What went wrong in the student's own line, and how to go on. Never raises."""
    with suppress(Exception):
        return " ".join(_sentences(error, _file_of(answer)))
    return f"{said(error)}."


def _sentences(error: BaseException, file: str) -> Iterator[str]:
    yield f"{said(error)}."
    if (found := _own_frame(error.__traceback__, file)) is None:
        return
    frame, trace = found
    line = linecache.getline(frame.f_code.co_filename, trace.tb_lineno).strip()
    called = _called(trace)
    if line:
        yield f"It was raised in {f'`{called}`, called in ' if called else ''}your line `{line}`."
    met, is_product = [], False
    with suppress(Exception):
        met, is_product = _met(frame, trace)
    if met:
        shapes = [f"`{text}` is {tuple(x.shape)}" for text, x in dict(met).items()]
        yield f"There {' and '.join(shapes)}."
    if called:  # what helps there is not what the line lacks
        return
    cure = ""
    if len(met) == 2 and not isinstance(error, TypeError):
        cure = (_of_a_product if is_product else _of_an_axis)(*met)
    cure = cure or next((text for found, text in CURES if re.search(found, str(error))), "")
    if cure:
        yield cure


def _file_of(answer: Any) -> str:
    """The file in which a function is written, or the first method of a class."""
    inner = list(vars(answer).values()) if isinstance(answer, type) else [answer]
    codes = (getattr(thing, "__code__", None) for thing in inner)
    return next((code.co_filename for code in codes if code), "")


def _own_frame(trace: TracebackType | None, file: str) -> tuple[FrameType, TracebackType] | None:
    """The innermost frame of the answer's own cell."""
    found = None
    while trace:
        if file and trace.tb_frame.f_code.co_filename == file:
            found = trace.tb_frame, trace
        trace = trace.tb_next
    return found


def _called(trace: TracebackType) -> str:
    """What the line calls, if it fails in there: not torch's, nor a function that is given."""
    while trace := trace.tb_next:
        module, code = trace.tb_frame.f_globals.get("__name__", ""), trace.tb_frame.f_code
        others = module.partition(".")[0] not in ("torch", "jaxtyping")
        if others and not module.startswith(_EXERCISES):
            return code.co_qualname.rpartition("<locals>.")[2]
    return ""


def _met(frame: FrameType, trace: TracebackType) -> tuple[list[tuple[str, Tensor]], bool]:
    """The tensors that met where it failed, as they are written; whether in a matrix product."""
    positions = list(frame.f_code.co_positions())[trace.tb_lasti // 2]
    node, text = _expression(frame.f_code.co_filename, positions)
    if isinstance(node, ast.BinOp):
        parts = [node.left, node.right]
    elif isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.Call):
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        lists = [a.elts if isinstance(a, ast.List | ast.Tuple) else [a] for a in node.args]
        parts = [*owner, *(part for one in lists for part in one)]
    else:
        parts = [node.value] if isinstance(node, ast.Subscript) else []
    met = []
    for part in parts:
        with suppress(Exception), torch.no_grad():
            written = ast.get_source_segment(text, part)
            value = eval(compile(written, "<line>", "eval"), frame.f_globals, frame.f_locals)
            if isinstance(value, Tensor):
                met.append((" ".join(written.split()), value))
    product = isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)
    return met, product or bool(re.search(r"\b(matmul|bmm|mm|mv|dot)\(", text))


def _expression(file: str, positions: tuple) -> tuple[ast.expr, str]:
    """The expression at these places of a file, parsed, and its text."""
    first, last, start, end = positions
    lines = [linecache.getline(file, n).encode() for n in range(first, last + 1)]
    lines[-1] = lines[-1][:end]
    lines[0] = lines[0][start:]
    text = f"({b''.join(lines).decode()})"
    return ast.parse(text, mode="eval").body, text


def _of_an_axis(one: tuple[str, Tensor], other: tuple[str, Tensor]) -> str:
    """Where an axis of length 1 lets two shapes meet, "" where none does."""
    small, large = sorted((one, other), key=lambda operand: operand[1].dim())
    a, b = small[1].shape, large[1].shape
    if _meet(a, b):
        return ""
    for at in range(1, len(a) + 1):
        if len(a) < len(b) and _meet((*a[:at], 1, *a[at:]), b):
            return (
                f"`{small[0]}` has no axis for the {b[at - len(a) - 1]} of `{large[0]}`: "
                f"`[{':, ' * at}None]` gives it one of length 1 there, which is then repeated."
            )
    if len(a) == len(b) == 2 and a[-1] == b[-1]:
        return (
            f"Each of the {a[0]} rows of `{small[0]}` is to meet each of the {b[0]} of `{large[0]}`: "
            "`[:, None]` behind the one whose rows go down, `[None]` behind the other."
        )
    return ""


def _of_a_product(one: tuple[str, Tensor], other: tuple[str, Tensor]) -> str:
    """Which row meets which column, and the transpose that lets them, "" where they fit.

    What is computed where they meet, turned or cut, was meant so: a transpose is offered of names alone.
    """
    (left, a), (right, b) = one, other
    if not a.dim() or b.dim() < 2 or a.size(-1) == b.size(-2):
        return ""
    turned = ""
    if left.isidentifier() and right.isidentifier():
        if a.size(-1) == b.size(-1):
            way = ".T" if b.dim() == 2 else ".transpose(-2, -1)"
            turned = f" `{right}{way}` has columns of {b.size(-1)}."
        elif a.dim() == b.dim() == 2 and a.size(0) == b.size(0):
            turned = f" `{left}.T` has rows of {a.size(0)}."
    elif a.dim() == 1 and a.size(0) == b.size(-1):
        turned = " Entry by entry it is `*`."
    n = a.size(-1)
    return (
        f"In `@` a row of `{left}`, which has {n} {'entry' if n == 1 else 'entries'}, meets a column of "
        f"`{right}`, which has {b.size(-2)}.{turned}"
    )


def _meet(a: Sequence[int], b: Sequence[int]) -> bool:
    try:
        torch.broadcast_shapes(a, b)
    except RuntimeError:
        return False
    return True
