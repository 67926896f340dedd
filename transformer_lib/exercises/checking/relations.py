"""In which relation a wrong answer stands to the right one, where it holds in every failing case.

A relation is a sentence. Of one case a function here gives all the sentences that are true of it;
what is said is the first that is true of every case that went wrong. So none is said by chance of
one case where another refutes it.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import permutations
from typing import Any

import torch
from torch import Tensor

from transformer_lib.exercises.checking.comparing import (
    close,
    is_number,
    kind,
    listed,
    nth,
    plain,
    same,
)

Case = Sequence[tuple[str, Any]]  # names and values of the arguments
_NUMBERS = (  # that an answer is multiplied by, and that say something
    *((n, str(n)) for n in (2, 3, 4, 10, 100)),
    *((1 / n, f"1/{n}") for n in (2, 3, 4, 10, 100)),
    *((math.log(2), "ln 2"), (1 / math.log(2), "1/ln 2")),
    *((math.pi, "π"), (math.pi / 180, "π/180"), (180 / math.pi, "180/π")),
)
Call = Callable[[Sequence[Any]], Any]  # from arguments to a result
MINUS = "The sign is the wrong one: yours is minus the right answer."
_BEHIND = ("the last axis", *(f"the last axis but {n}" for n in ("one", "two", "three", "four")))


def between(pairs: Sequence[tuple[Any, Any, Case]], tolerance: float) -> str | None:
    """The first relation that holds between yours and the right one in all of these cases."""
    return _first([list(_told(*pair, tolerance)) for pair in pairs]) or _of_sums(pairs)


def turned(pairs: Sequence[tuple[Any, Any, Case]], tolerance: float) -> str | None:
    """The first relation that leaves every number as it is: axes, order, sign, list for tensor."""

    def moved(got: Any, wanted: Any, _: Case) -> Iterator[str]:
        if isinstance(got, Tensor) and isinstance(wanted, Tensor):
            a, b = plain(got), plain(wanted)
            if not _constant(b) and got.shape != wanted.shape:
                yield from _of_shapes(got, wanted, tolerance)
            elif not _constant(b):
                yield from _moved(a, b, tolerance)
                if close(a, -b, tolerance):
                    yield MINUS
        elif isinstance(wanted, list | tuple) and isinstance(got, list | tuple):
            if len(got) > 1 and same(tuple(got[::-1]), tuple(wanted), tolerance):
                yield "the order is the other way round."
            elif type(got) is not type(wanted) and same(type(wanted)(got), wanted, tolerance):
                yield f"a {type(wanted).__name__} is wanted, not a {type(got).__name__}."

    return _first([list(moved(*pair)) for pair in pairs])


def of_inputs(
    pairs: Sequence[tuple[Any, Any, Case]], rights: Sequence[Call], tolerance: float
) -> str | None:
    """That yours is the right answer to other inputs: two exchanged, one turned, one left out."""
    cases = zip(pairs, rights, strict=True)
    return _first([list(_of_other_inputs(*pair, right, tolerance)) for pair, right in cases])


def by_trying(
    pairs: Sequence[tuple[Any, Any, Case]],
    yours: Sequence[Call],
    rights: Sequence[Call],
    tolerance: float,
) -> str | None:
    """That yours is no average, or mixes a batch, and the right one does otherwise."""
    cases = list(zip(pairs, yours, rights, strict=True))
    for tried in (_of_equal_values, _of_neighbours):
        found = [list(tried(*pair, own, right, tolerance)) for pair, own, right in cases]
        if sentence := _first(found):
            return sentence
    return None


def unused(
    pairs: Sequence[tuple[Any, Any, Case]],
    yours: Sequence[Call],
    rights: Sequence[Call],
    tolerance: float,
    passing: Sequence[tuple[tuple[Any, Any, Case], Call, Call]] = (),
) -> str | None:
    """That an argument plays no part in yours: it changes, and your answer does not, nowhere."""
    failing = zip(pairs, yours, rights, strict=True)
    played = lambda pair, own, right: list(_without(*pair, own, right, tolerance))
    found = _first([[said for said, stays in played(*case) if stays] for case in failing])
    if found and any((found, False) in played(*case) for case in passing):
        return None
    return found


def on_the_way(pairs: Sequence[tuple[Any, Any, dict[str, Any]]], tolerance: float) -> str | None:
    """That yours is a step of the solution and not its last. Instead of the case: its steps."""
    found = []
    for got, wanted, steps in pairs:
        parts = wanted if isinstance(wanted, tuple) else ()
        on_way = {n: x for n, x in steps.items() if not any(_alike(x, part, 0.0) for part in parts)}
        names = [name for name, value in on_way.items() if _alike(got, value, tolerance)]
        found.append(
            [f"What you return is `{name}`, a step on the way: go on from there." for name in names]
        )
    return _first(found)


def of_cases(
    failing: Sequence[tuple[Case, Call, Call]], passing: Sequence[Case], tolerance: float
) -> str | None:
    """What all cases that fail have, and none that passes; tried out where it can be.

    Of a failing case: its arguments, yours and the right one as functions of others. "Right for a batch
    of one" is said only if each failing case becomes right when it is cut to one.
    """
    known = {sentence for case in passing for sentence, _ in _traits(case)}
    found = []
    for case, yours, right in failing:
        traits = ((s, change) for s, change in _traits(case) if s not in known)
        found.append([s for s, change in traits if _mends(case, change, yours, right, tolerance)])
    return _first(found) if passing else None


def _mends(case: Case, change: dict[int, Any], yours: Call, right: Call, tolerance: float) -> bool:
    """Whether yours is right once these arguments are others, or there are none."""
    values = [change.get(i, value) for i, (_, value) in enumerate(case)]
    with suppress(Exception):
        return not change or _alike(yours(values), right(values), tolerance)
    return False


def _first(found: Sequence[Sequence[str]]) -> str | None:
    """The first sentence that is in all lists, whatever number an axis has there."""
    others = [{_unnumbered(sentence) for sentence in other} for other in found[1:]]
    for sentence in found[0]:
        if all(_unnumbered(sentence) in other for other in others):
            same_number = all(sentence in other for other in found[1:])
            return sentence if same_number else _unnumbered(sentence)
    return None


def _unnumbered(sentence: str) -> str:
    """Without the numbers of axes, which count from the front: the words count from the end."""
    return re.sub(r"ax[ei]s \d+( and \d+)?, ", "", sentence)


# ------------------------------------------------------------------------- two results of one call


def _told(got: Any, wanted: Any, case: Case, tolerance: float) -> Iterator[str]:
    """Every sentence that is true of these two."""
    if is_number(wanted) and isinstance(got, Tensor) and got.numel() == 1 and got.dim():
        yield "The number is wanted by itself, not in a tensor with axes: `.item()`, or a sum over all of them."
    if isinstance(got, Tensor) and isinstance(wanted, Tensor):
        yield from _of_tensors(got, wanted, case, tolerance)
    elif is_number(got) and is_number(wanted):
        yield from _of_numbers(float(got), float(wanted), case, tolerance)
    elif isinstance(wanted, list | tuple | set | frozenset | str) or isinstance(got, list | tuple):
        yield from _of_collections(got, wanted, case, tolerance)


def _of_collections(got: Any, wanted: Any, case: Case, tolerance: float) -> Iterator[str]:
    if isinstance(got, list | tuple) and isinstance(wanted, list | tuple):
        if type(got) is not type(wanted) and same(type(wanted)(got), wanted, tolerance):
            yield f"Right, but in a {type(got).__name__}: a {type(wanted).__name__} is wanted."
        parts = any(isinstance(item, Tensor) for item in wanted)
        if parts and len(got) == len(wanted):
            yield from _part_by_part(got, wanted, case, tolerance)
        if parts and len(got) > 1 and same(tuple(got[::-1]), tuple(wanted), tolerance):
            yield "Right, but in the other order: what you return first is wanted last."
    if isinstance(wanted, tuple) and isinstance(got, Tensor):
        for i, item in enumerate(wanted):
            if _alike(got, item, tolerance):
                yield (
                    f"That is the {nth(i)} of the {len(wanted)} things that are wanted, and it is right. "
                    "Return all of them: `return a, b`."
                )
        if len(got) == len(wanted) and all(map(_alike, got, wanted, [tolerance] * len(wanted))):
            yield "Right, but stacked into one tensor: return them one by one, `return a, b`."
    if isinstance(got, list | tuple) and isinstance(wanted, Tensor):
        for whole in (torch.as_tensor, lambda items: torch.stack(list(items))):
            with suppress(Exception):
                if same(whole(got), wanted, tolerance):
                    yield (
                        "The numbers are right, but a tensor is wanted: `torch.stack` makes one of a list "
                        "of tensors, `torch.tensor` of a list of numbers."
                    )
        for i, item in enumerate(got):
            if _alike(item, wanted, tolerance):
                yield f"Only the {nth(i)} of the {len(got)} things that you return is wanted, and it is right."
    if type(got) is type(wanted) and isinstance(wanted, list | str):
        yield from _of_sequences(got, wanted)
    if isinstance(got, set | frozenset) and isinstance(wanted, set | frozenset):
        if got < wanted:
            yield "All that you return is right, but something is missing."
        if got > wanted:
            yield "All that is wanted is there, and something besides."
        if {tuple(reversed(x)) for x in got if isinstance(x, tuple)} == wanted:
            yield "Right, but each pair is the wrong way round."


def _part_by_part(got: Sequence, wanted: Sequence, case: Case, tolerance: float) -> Iterator[str]:
    """Of several things that are returned: which are right, and what the wrong one is."""
    wrong = [
        i for i, (a, b) in enumerate(zip(got, wanted, strict=True)) if not same(a, b, tolerance)
    ]
    if 0 < len(wrong) < len(got):
        rest = [i for i in range(len(got)) if i not in wrong]
        verb = "is" if len(rest) == 1 else "are"
        head = f"The {listed(rest)} of the {len(got)} things that you return {verb} right."
        if len(wrong) == 1:
            for sentence in _told(got[wrong[0]], wanted[wrong[0]], case, tolerance):
                yield f"{head} Of the {nth(wrong[0])}: {sentence}"
            for i in rest:
                if _alike(got[wrong[0]], got[i], tolerance):
                    yield f"{head} You return it twice."


def _of_sequences(got: Any, wanted: Any) -> Iterator[str]:
    if got[::-1] == wanted:
        yield "Right, but in the opposite order: the last comes first."
    if len(got) == len(wanted) + 1:
        if got[1:] == wanted:
            yield "Right, but for one too many at the beginning."
        if got[:-1] == wanted:
            yield "Right, but for one too many at the end."
    if len(wanted) == len(got) + 1:
        if got == wanted[1:]:
            yield "Right, but the first is missing."
        if got == wanted[:-1]:
            yield "Right, but the last is missing."
    with suppress(TypeError):
        if isinstance(got, list) and sorted(got) == sorted(wanted):
            yield "The right ones, all of them, in another order."
        if isinstance(got, list) and all(is_number(x) for x in [*got, *wanted]):
            steps = {x - y for x, y in zip(got, wanted, strict=False)}
            if len(steps) == 1 and len(got) == len(wanted):
                yield f"Each is {_more(steps.pop())} than it should be. Where does the counting begin?"


def _of_numbers(got: float, wanted: float, case: Case, tolerance: float) -> Iterator[str]:
    if math.isnan(got) or math.isnan(wanted) or math.isinf(got):
        return
    near = lambda x: abs(got - x) <= tolerance + 1e-6 * abs(x)
    if near(-wanted):
        yield MINUS
    if near(1 - wanted):
        yield "Yours is 1 minus the right answer."
    if wanted and near(1 / wanted):
        yield "Yours is 1 divided by the right answer: numerator and denominator are exchanged."
    if wanted > 0 and near(math.log(wanted)):
        yield "Yours is the logarithm of the right answer: an `exp` is missing."
    if wanted < 50 and near(math.exp(wanted)):
        yield "Yours is e to the power of the right answer: one `exp` too many, or a logarithm missing."
    if wanted > 0 and near(wanted / math.log(2)):
        yield "Yours is in bits: the logarithm of base 2, where the natural one, `log`, is wanted."
    if near(wanted**2):
        yield "Yours is the square of the right answer: a root is missing."
    if wanted >= 0 and near(math.sqrt(wanted)):
        yield "Yours is the root of the right answer: a square is missing."
    if abs(got - wanted - round(got - wanted)) < tolerance and abs(got - wanted) < 10:
        yield f"Yours is {_more(round(got - wanted))} than it should be."
    if wanted:
        yield from _factors(got / wanted, case)


def _of_sums(pairs: Sequence[tuple[Any, Any, Case]]) -> str | None:
    """By how many of its sizes a whole number is off, if enough cases say the same."""
    sizes = [[x for x in case if type(x[1]) is int][:2] for *_, case in pairs]
    numbers = all(is_number(got) and type(wanted) is int for got, wanted, _ in pairs)
    if not numbers or not sizes or not all(sizes):
        return None
    a, b = ([name for name, _ in sizes[0]] + [""])[:2]
    terms = [f"{a} · {a}", f"{a} · {b}", a, b] if b else [f"{a} · {a}", a]
    if len(pairs) <= len(terms):
        return None
    values = [dict(size) for size in sizes]
    table = [[math.prod(v[n] for n in term.split(" · ")) for term in terms] for v in values]
    off = [got - wanted for got, wanted, _ in pairs]
    matrix, column = (torch.tensor(x, dtype=torch.float64) for x in (table, off))
    times = torch.linalg.lstsq(matrix, column).solution.round()
    if not torch.equal(matrix @ times, column) or times.abs().max() > 12 or not times.any():
        return None
    parts = [(int(n), term) for n, term in zip(times.tolist(), terms, strict=True) if n]
    said = lambda n, term: term if abs(n) == 1 else f"{abs(n)} · {term}"
    if len({n > 0 for n, _ in parts}) == 1:
        how = "Too many" if parts[0][0] > 0 else "Short"
        return f"{how} by exactly {' + '.join(said(*part) for part in parts)}."
    signed = " ".join(f"{'+' if n > 0 else '−'} {said(n, term)}" for n, term in parts)
    return f"Yours is the right answer {signed}."


def _of_tensors(got: Tensor, wanted: Tensor, case: Case, tolerance: float) -> Iterator[str]:
    if got.is_complex() or wanted.is_complex():
        return
    if got.shape != wanted.shape:
        yield from _of_shapes(got, wanted, tolerance)
        yield from _cut_or_summed(plain(got), plain(wanted), tolerance)
        return
    if close(got, wanted, tolerance):
        yield f"The entries are right, but they are {kind(got)}; {kind(wanted)} are wanted."
        return
    if wanted.dtype == torch.bool and got.dtype == torch.bool:
        if torch.equal(got, ~wanted):
            yield "Yours is the right answer turned round: True where False is wanted, and False where True is."
        yield from _moved(got, wanted, tolerance)
        yield from _rearranged(got, wanted, tolerance)
        yield from _right_but(got, wanted, case, tolerance)
        return
    a, b = plain(got), plain(wanted)
    if not a.any() and b.any():
        yield "Yours is 0 everywhere."
        return
    yield from _moved(a, b, tolerance)
    yield from _rearranged(a, b, tolerance)
    yield from _of_weights(a, b, tolerance)
    if kind(wanted) == "floats":  # ids and lengths are not computed with
        yield from _elementwise(a, b, case, tolerance)
    yield from _right_but(got, wanted, case, tolerance)
    if not _constant(b) and close(a.flatten().sort().values, b.flatten().sort().values, tolerance):
        yield (
            "These are the right numbers, all of them, at other places. Is something cut or joined along the "
            "wrong axis, or a `view` where axes should be exchanged?"
        )


def _of_shapes(got: Tensor, wanted: Tensor, tolerance: float) -> Iterator[str]:
    """Where the shapes differ and the numbers do not: exchanged axes, an axis of length 1."""
    a, b = plain(got), plain(wanted)
    for order in permutations(range(a.dim())) if 1 < a.dim() < 5 else ():
        if a.permute(order).shape == b.shape and close(a.permute(order), b, tolerance):
            moved = [i for i, axis in enumerate(order) if i != axis]
            if len(moved) == 2:
                yield _transposed(*moved, a.dim())
            else:
                yield f"Right, but the axes stand in another order: `.permute{order}` of yours is the answer."
    if a.numel() == b.numel() and close(a.reshape(b.shape), b, tolerance):
        more = [k for k in range(a.dim()) if a.size(k) == 1 and a.squeeze(k).shape == b.shape]
        less = [k for k in range(b.dim()) if b.size(k) == 1 and b.squeeze(k).shape == a.shape]
        for k in more:
            yield (
                f"The numbers are right, but there is an axis of length 1 too many, axis {k}: take it off "
                f"with `[{':, ' * k}0]`."
            )
        for k in less:
            yield (
                f"The numbers are right, but an axis of length 1 is missing, axis {k}: "
                f"`[{':, ' * k}None]` puts it there."
            )
        if not more and not less:
            yield "The right numbers in the right order, but in another shape: `reshape` them."


def _cut_or_summed(a: Tensor, b: Tensor, tolerance: float) -> Iterator[str]:
    """Where the shapes differ: one too many or too few, or a sum that is missing."""
    if a.dim() and a.dim() <= b.dim() and a.numel() < b.numel():
        with suppress(RuntimeError):
            if close(a.expand(b.shape), b, tolerance):
                yield "Right where it stands, but it stands there once: each is wanted by itself, `.expand` repeats it."
    for k in range(a.dim()):
        name = _axis(k, a.dim())
        if a.dim() == b.dim() + 1 and a.size(k) > 1:
            for word, value in (("sum", a.sum(k)), ("mean", a.mean(k)), ("maximum", a.amax(k))):
                if value.shape == b.shape and close(value, b, tolerance):
                    yield f"The {word} over axis {k}, {name}, is still missing."
            for at in {0, a.size(k) - 1} if a.size(k) > 1 else ():
                if (part := a.select(k, at)).shape == b.shape and close(part, b, tolerance):
                    which = "last" if at else "first"
                    yield f"Only the {which} along axis {k}, {name}, is wanted: yours has all of them."
        if a.dim() == b.dim() and a.size(k) > b.size(k):
            n = b.size(k)
            for at, word in ((0, "behind"), (a.size(k) - n, "in front")):
                if (part := a.narrow(k, at, n)).shape == b.shape and close(part, b, tolerance):
                    yield f"Right, but with {a.size(k) - n} too many {word}, along axis {k}."
    for k in range(b.dim()):
        if b.dim() == a.dim() + 1:
            for word, value in (("summed", b.sum(k)), ("averaged", b.mean(k))):
                if value.shape == a.shape and close(value, a, tolerance):
                    yield f"You have {word} over axis {k}, {_axis(k, b.dim())}, which is wanted as it was."
        if a.dim() == b.dim() and b.size(k) > a.size(k):
            n = a.size(k)
            for at, word in ((0, "at the end"), (b.size(k) - n, "at the beginning")):
                if (part := b.narrow(k, at, n)).shape == a.shape and close(part, a, tolerance):
                    yield f"Right, but along axis {k} there are {b.size(k) - n} too few {word}."


def _moved(a: Tensor, b: Tensor, tolerance: float) -> Iterator[str]:
    """The right entries at other places: transposed, reversed, shifted."""
    for i in range(a.dim()):
        for j in range(i + 1, a.dim()):
            if a.size(i) == a.size(j) > 1 and close(a.transpose(i, j), b, tolerance):
                yield _transposed(i, j, a.dim())
    for k in range(a.dim()):
        n, name = a.size(k), _axis(k, a.dim())
        if n < 2:
            continue
        if close(a.flip(k), b, tolerance):
            yield f"Right, but in the opposite order along axis {k}, {name}."
        if n > 2:
            for step, word in ((1, "late"), (-1, "early")):
                body = close(
                    a.narrow(k, max(step, 0), n - 1), b.narrow(k, max(-step, 0), n - 1), tolerance
                )
                if body and not _constant(b):
                    yield f"Right, but shifted by one along axis {k}, {name}: each entry comes one step too {word}."


def _rearranged(a: Tensor, b: Tensor, tolerance: float) -> Iterator[str]:
    """The right slices in another order, or one slice for all of them."""
    for k in range(a.dim()):
        n, name = a.size(k), _axis(k, a.dim())
        if n < 2:
            continue
        if len(b.unique(dim=k).unbind(k)) > 1:
            left = list(b.unbind(k))
            for slice_ in a.unbind(k):
                at = next((i for i, x in enumerate(left) if close(slice_, x, tolerance)), None)
                if at is None:
                    break
                del left[at]
            if not left:
                yield f"The right numbers, but along axis {k}, {name}, they stand in another order."
        first = a.select(k, 0)
        rows = ("all entries" if a.dim() == 1 else "all entries of a row", "all rows")
        behind = a.dim() - 1 - k
        what = rows[behind] if behind < 2 else f"along axis {k}, {name}, all"
        if a.isnan().any():  # two that are NaN are not the same
            continue
        if all(close(x, first, tolerance) for x in a.unbind(k)) and close(
            first, b.select(k, 0), tolerance
        ):
            yield f"In yours {what} are the same: it is the first that is right."
        elif all(close(x, first, tolerance) for x in a.unbind(k)) and not all(
            close(x, b.select(k, 0), tolerance) for x in b.unbind(k)
        ):
            yield f"In yours {what} are the same. They should differ."


def _elementwise(a: Tensor, b: Tensor, case: Case, tolerance: float) -> Iterator[str]:
    """One operation too many or too few, the same at every entry."""
    if a.isnan().any():
        return
    if close(a, -b, tolerance):
        yield MINUS
    if close(a, 1 - b, tolerance):
        yield "Yours is 1 minus the right answer."
    finite = b.isfinite()
    if finite.all() and (size := float((b * b).sum())) > tolerance:
        factor = float((a * b).sum()) / size
        if abs(factor) > tolerance and close(a, factor * b, tolerance * max(1.0, abs(factor))):
            yield from _factors(factor, case)
    if finite.all() and not _constant(b) and a.numel() > 1:
        more = float((a - b).mean())
        if abs(more) > tolerance and close(a, b + more, tolerance):
            near = round(more, 3)
            yield (
                f"Every entry is {_more(near)} than it should be."
                if abs(near - more) < 1e-4
                else (
                    "Every entry is off by the same amount: something is added to all of them, or missing from all."
                )
            )
    if _constant(b):
        return
    for sentence, value in (
        ("a `relu` too many, which makes 0 of what is negative", b.relu()),
        ("a `tanh` too many", b.tanh()),
        ("a `sigmoid` too many", b.sigmoid()),
        ("an `exp` too many, or a logarithm missing", b.exp()),
        ("a logarithm too many, or an `exp` missing", b.clamp(min=0).log()),
        ("a square too many, or a root missing", b * b),
        ("a root too many, or a square missing", b.clamp(min=0).sqrt()),
        ("the absolute value is taken", b.abs()),
        ("it is divided into 1", 1 / b),
    ):
        if not value.isnan().any() and close(a, value, tolerance):
            yield f"Yours is the right answer but for one operation: {sentence}."
    for sentence, value in (
        ("the `tanh` is missing", a.tanh()),
        ("the `relu` is missing", a.relu()),
        ("the `sigmoid` is missing", a.sigmoid()),
    ):
        if close(value, b, tolerance):
            yield f"Yours is the right answer but for one operation: {sentence}."


def _of_weights(a: Tensor, b: Tensor, tolerance: float) -> Iterator[str]:
    """Rows that should add up to 1: over another axis, not yet divided, twice, not yet at all."""
    if not a.dim() or not b.isfinite().all() or (b < -tolerance).any():
        return
    ones = lambda x, k: close(x.sum(k), torch.ones_like(x.sum(k)), tolerance)
    sums = b.sum(-1)
    if (
        not bool(((sums - 1).abs() < 10 * tolerance).logical_or(sums.abs() < tolerance).all())
        or not sums.any()
    ):
        return
    if not a.isfinite().all():
        return
    for k in range(a.dim() - 1):
        if a.size(k) > 1 and ones(a, k) and not ones(a, -1):
            yield (
                f"Yours add up to 1 along axis {k}, {_axis(k, a.dim())}. It is the rows, the last axis, that "
                "should: `dim=-1`."
            )
    if a.dim() > 1 and a.numel() > 1 and abs(float(a.sum()) - 1) < tolerance and not ones(a, -1):
        yield "All entries together add up to 1 in yours. Each row should add up to 1 by itself: `dim=-1`."
    divided = a / a.sum(-1, keepdim=True)
    if divided.isfinite().all() and close(divided, b, tolerance):
        yield "The proportions are right, but the rows do not add up to 1: each is still to be divided by its sum."
    if close(a.softmax(-1), b, tolerance):
        yield "These are scores: the softmax is still missing."
    if close(a, b.softmax(-1), tolerance):
        yield "One softmax too many: these were weights already, and softmax made them more even."


def _right_but(got: Tensor, wanted: Tensor, case: Case, tolerance: float) -> Iterator[str]:
    """Where yours is wrong, if that is a row, a column, a sentence, or what a mask says."""
    off = ~torch.isclose(plain(got), plain(wanted), 0.0, tolerance, equal_nan=True)
    if not off.dim() or off.all():
        return
    for name, mask in case:
        if not isinstance(mask, Tensor) or mask.dtype != torch.bool or not mask.dim():
            continue
        empty = ~mask.any(-1)
        with suppress(RuntimeError):
            spread = empty if empty.dim() == off.dim() else empty[..., None]
            if empty.any() and not (off & ~spread.expand(off.shape)).any():
                yield f"Right, but for the rows in which `{name}` allows nothing."
        with suppress(RuntimeError):
            allowed = mask.expand(off.shape)
            for region, right, wrong in ((allowed, True, False), (~allowed, False, True)):
                if not (off & region).any() and not _constant(plain(wanted)[region]):
                    yield f"Right wherever `{name}` is {right}; wrong where it is {wrong}."
    for k in range(off.dim()):
        n = off.size(k)
        if n < 2:
            continue
        rows = [bool(part.any()) for part in off.unbind(k)]
        line = ("entry" if off.dim() == 1 else "column", "row")[off.dim() - 1 - k :][:1]
        for at, word in {0: "first", -1: "last"}.items():
            what = f"the {word} {line[0]}" if line else f"`[{':, ' * k}{at}]` of what you return"
            if rows[at] and sum(rows) == 1 and n > 2:
                yield f"Right, but for {what}."
            if not rows[at] and sum(rows) == n - 1 and n > 2:
                yield f"Only {what} is right."
    if off.dim() > 1 and off.size(-1) > 1 and off.size(-2) > 1:
        row, column = torch.meshgrid(*map(torch.arange, off.shape[-2:]), indexing="ij")
        for word, region in (
            ("on the diagonal", row == column),
            ("above the diagonal", column > row),
            ("below the diagonal", column < row),
        ):
            if not (off & ~region).any():
                yield f"Right, but for the entries {word}."
    if got.is_floating_point() and got.isnan().any() and not (off & ~got.isnan()).any():
        yield "Right, but for entries that are NaN. Is 0 divided by 0 there, or infinity taken from infinity?"


def _factors(factor: float, case: Case) -> Iterator[str]:
    """What the right answer is multiplied by: a number, a size of the inputs, its root."""
    if abs(factor - 1) < 1e-4 or not math.isfinite(factor) or factor == 0:
        return
    for value, word in _NUMBERS:
        if abs(factor - value) < 1e-3 * value:
            yield f"Yours is the right answer multiplied by {word}."
    sizes: dict[int, list[str]] = {}
    for name, value in case:
        if isinstance(value, Tensor):
            for k, n in enumerate(value.shape):
                sizes.setdefault(n, []).append(f"the length of axis {k} of `{name}`")
        elif isinstance(value, int) and not isinstance(value, bool):
            sizes.setdefault(value, []).append(f"`{name}`")
        elif isinstance(value, list | tuple | str):
            sizes.setdefault(len(value), []).append(f"the length of `{name}`")
    for n, names in sizes.items():
        if n < 2:
            continue
        for value, written in (
            (n, "{}"),
            (math.sqrt(n), "the root of {}"),
            (n - 1, "{} less 1"),
            (n * n, "the square of {}"),
        ):
            for times, word in ((value, "multiplied by"), (1 / value, "divided by")):
                if abs(factor - times) < 1e-3 * abs(times):
                    yield from (
                        f"Yours is the right answer {word} {written.format(name)}."
                        for name in names
                    )


# ------------------------------------------------------------------------------------ other inputs


def _of_other_inputs(
    got: Any, wanted: Any, case: Case, right: Call, tolerance: float
) -> Iterator[str]:
    values = [value for _, value in case]
    for sentence, changed in _changed(case):
        with suppress(Exception):
            again = right([changed.get(i, value) for i, value in enumerate(values)])
            if not _alike(again, wanted, tolerance) and _alike(got, again, tolerance):
                yield sentence


def _changed(case: Case) -> Iterator[tuple[str, dict[int, Any]]]:
    """(what would be said, the arguments that are others)."""
    tensors = [(i, name, x.detach()) for i, (name, x) in enumerate(case) if isinstance(x, Tensor)]
    for at, (i, name, x) in enumerate(tensors):
        for j, other, y in tensors[at + 1 :]:
            if x.dtype == y.dtype:
                yield (
                    f"This is the right answer to another question: `{name}` and `{other}` are exchanged.",
                    {i: y, j: x},
                )
    for i, name, x in tensors:
        if x.dtype == torch.bool:
            yield (
                f"This is the right answer for `{name}` turned round: where it is True, yours does what "
                "belongs to False.",
                {i: ~x},
            )
            yield (
                f"This is the right answer if `{name}` were True everywhere: yours does not use it.",
                {i: torch.ones_like(x)},
            )
        elif x.is_floating_point():
            if x.dim() == 2 and x.size(0) == x.size(1):
                yield (
                    f"This is the right answer for `{name}` transposed: a `.T` is missing, or one too many.",
                    {i: x.T},
                )
            yield (
                f"This is the right answer if `{name}` were 0: it is left out.",
                {i: torch.zeros_like(x)},
            )
            yield f"This is the right answer for minus `{name}`: a sign is the wrong one.", {i: -x}
            if x.dim() > 1:
                for k, n in enumerate(x.shape):
                    if n > 1:
                        yield (
                            f"This is the right answer for `{name}` in the opposite order along axis {k}.",
                            {i: x.flip(k)},
                        )
    for i, (name, value) in enumerate(case):
        if isinstance(value, int) and not isinstance(value, bool):
            for more, word in ((1, "many"), (-1, "few")):
                sentence = (
                    f"This is the right answer for `{name}` {more:+d}: yours counts one too {word}."
                )
                yield sentence, {i: value + more}
        elif isinstance(value, list | str) and len(value) > 1:
            yield f"This is the right answer for `{name}` in the opposite order.", {i: value[::-1]}
            yield f"This is the right answer for `{name}` without its last.", {i: value[:-1]}
            yield f"This is the right answer for `{name}` without its first.", {i: value[1:]}


def _of_equal_values(
    got: Any, wanted: Any, case: Case, yours: Call, right: Call, tolerance: float
) -> Iterator[str]:
    for i, (name, value) in enumerate(case):
        if not isinstance(value, Tensor) or not value.is_floating_point():
            continue
        with suppress(Exception):
            equal = [torch.ones_like(x) if j == i else x for j, (_, x) in enumerate(case)]
            average, own = right(equal), yours(equal)
            if (
                _alike(average, torch.ones_like(wanted), tolerance)
                and own.shape == average.shape
                and not close(own, average, tolerance)
            ):
                yield (
                    f"An average of equal values is that value. With `{name}` 1 everywhere, yours is not 1: "
                    f"either your weights do not add up to 1, or it is not `{name}` itself that you average."
                )


def _of_neighbours(
    got: Any, wanted: Any, case: Case, yours: Call, right: Call, tolerance: float
) -> Iterator[str]:
    """Whether the first of a batch moves in yours alone when the others change."""
    tensors = _tensors(case)
    batch = tensors[0][1].size(0) if tensors else 0
    others = {
        i: x
        for i, x in tensors
        if x.size(0) == batch and x.is_floating_point() and not case[i][0].startswith(("W", "w_"))
    }
    if batch < 2:
        return
    changed = [
        torch.cat([others[i][:1], others[i][1:].flip(0) + 1.3]) if i in others else x
        for i, (_, x) in enumerate(case)
    ]
    with suppress(Exception):
        if _alike(_head(right(changed)), _head(wanted), tolerance) and not _alike(
            _head(yours(changed)), _head(got), tolerance
        ):
            yield (
                "What the first of the batch gets changes in yours when the others change: somewhere the rows of "
                "one meet those of another. Each has to be computed by itself."
            )


def _tensors(case: Case) -> list[tuple[int, Tensor]]:
    """The arguments with axes, by their places."""
    return [(i, x.detach()) for i, (_, x) in enumerate(case) if isinstance(x, Tensor) and x.dim()]


def _head(value: Any) -> Any:
    """What belongs to the first of a batch."""
    return tuple(map(_head, value)) if isinstance(value, tuple) else value[0]


def _without(
    got: Any,
    wanted: Any,
    case: Case,
    yours: Call,
    right: Call,
    tolerance: float,
) -> Iterator[tuple[str, bool]]:
    """Of each argument that matters: that it plays no part in yours, and whether this is so."""
    values = [value for _, value in case]
    for i, (name, value) in enumerate(case):
        if (other := _another(value)) is None:
            continue
        with suppress(Exception):
            changed = [other if j == i else x for j, x in enumerate(values)]
            if not _alike(right(changed), wanted, tolerance):
                stays = _finite(got) and _alike(yours(changed), got, 0.0)
                said = (
                    f"`{name}` plays no part in yours: when it changes, your answer stays as it is."
                )
                yield said, stays


def _another(value: Any) -> Any:
    """Another value of the same form; None where none is known."""
    if isinstance(value, Tensor) and value.dtype == torch.bool:
        return ~value
    if isinstance(value, Tensor) and value.is_floating_point():
        return value.detach() + torch.linspace(0.3, 1.7, value.numel()).view(value.shape)
    if is_number(value) and not isinstance(value, int):
        return value * 1.5 + 0.1
    return None


def _traits(case: Case) -> Iterator[tuple[str, dict[int, Any]]]:
    """What can be said of the inputs of a case, and other inputs of which it cannot be said."""
    tensors = _tensors(case)
    if tensors:
        at, first = tensors[0]
        name, n = case[at][0], first.size(0)
        if n == 1:
            twice = {i: torch.cat([x, x]) for i, x in tensors if x.size(0) == 1}
            said = f"It is right, except where axis 0 of `{name}` has length 1: does a `squeeze` take it away?"
            yield said, twice
        else:
            once = {i: x[:1] for i, x in tensors if x.size(0) == n}
            yield (
                f"It is right only where axis 0 of `{name}` has length 1. With more, it is not.",
                once,
            )
    for i, (name, value) in enumerate(case):
        if value is None or isinstance(value, bool):
            yield (
                f"It is right, except where `{name}` is {'not given' if value is None else value}.",
                {},
            )
        if not isinstance(value, Tensor):
            continue
        if value.dtype == torch.bool:
            yield f"It is right where `{name}` is not given. With it, it is not.", {i: None}
            if value.dim() > 1 and not value.any(-1).all():
                filled = {i: value | ~value.any(-1, keepdim=True)}
                yield (
                    f"It is right, except where `{name}` leaves a row with nothing to attend to.",
                    filled,
                )
            if not value.all():
                said = (
                    f"It is right where `{name}` is True everywhere. Where it is False, it is not."
                )
                yield said, {i: torch.ones_like(value)}
        elif value.is_floating_point() and value.numel() and value.abs().max() > 50:
            small = {i: value.detach() / value.abs().max()}
            yield (
                f"It is right for small numbers. With entries of `{name}` as large as here it is not.",
                small,
            )


# ------------------------------------------------------------------------------------------- words


def _alike(a: Any, b: Any, tolerance: float) -> bool:
    with suppress(Exception):
        return same(a, b, tolerance)
    return False


def _finite(x: Any) -> bool:
    parts = x if isinstance(x, tuple) else (x,)
    return all(bool(part.isfinite().all()) for part in parts if isinstance(part, Tensor))


def _constant(x: Tensor) -> bool:
    return bool((x == x.flatten()[0]).all()) if x.numel() else True


def _axis(k: int, dims: int) -> str:
    """An axis counted from the end, as `dim=-1` does."""
    return _BEHIND[dims - k - 1] if dims - k <= len(_BEHIND) else "the first axis"


def _transposed(i: int, j: int, dims: int) -> str:
    return (
        f"Right, but transposed: {_axis(i, dims)} stands where {_axis(j, dims)} should, and the other way "
        f"round. `.transpose({i - dims}, {j - dims})` of yours is the answer."
    )


def _more(by: float) -> str:
    return f"{abs(by):g} {'more' if by > 0 else 'less'}"
