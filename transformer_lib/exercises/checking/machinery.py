"""How an exercise is written down, and how an answer to it is judged: by what it does.

An exercise lists the mistakes people make as functions that make them. An answer that behaves like
one of them on every case, also in raising the same error, gets that mistake's message; so a new
diagnosis is a new wrong answer, and nothing else.
"""

import copy
import ctypes
import dis
import inspect
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

SECONDS = 5.0
GAP = "Not attempted yet: a `...` of the skeleton is still open."
Answer = Callable[..., Any]


class TimeUp(BaseException):
    """Raised inside an answer that runs too long.

    Not an Exception, so that `except Exception` does not swallow it.
    """


@dataclass
class Outcome:
    """What one call did: the value it returned or the error it raised, and what it changed.

    `changed` names the arguments that came out other than they went in.
    """

    value: Any = None
    error: BaseException | None = None
    changed: tuple[str, ...] = ()

    def like(self, other: "Outcome", tolerance: float) -> bool:
        """Whether both returned the same, or failed in the same way."""
        if self.changed != other.changed or type(self.error) is not type(other.error):
            return False
        if self.error is not None:
            return str(self.error) == str(other.error)
        return same(self.value, other.value, tolerance)


class Listening(TorchFunctionMode):
    """While it is open, it hears the names of the functions of torch that are called."""

    def __init__(self):
        super().__init__()
        self.heard: list[str] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.heard.append(getattr(func, "__name__", ""))
        return func(*args, **(kwargs or {}))


@dataclass(frozen=True)
class Verdict:
    """The answer to an answer: one or two sentences, drawn as Markdown in a notebook."""

    passed: bool
    message: str
    attempted: bool = True

    def __repr__(self) -> str:
        sign = "✓" if self.passed else "✗" if self.attempted else "○"
        return f"{sign} {self.message}"

    def _repr_markdown_(self) -> str:
        sign, _, message = repr(self).partition(" ")
        return f"**{sign}** {message}"


@dataclass
class Known:
    """What every check of an exercise needs again: the cases, and what others made of them."""

    cases: Sequence[tuple] | None = None
    outcomes: dict[tuple[Answer, int], Outcome] = field(default_factory=dict)


@dataclass
class Exercise:
    """A task with its cases, hints, solutions, and the answers that people give instead.

    The cases are what an answer is judged by; the hints go from a nudge to a recipe. `cases()`
    makes the arguments of each call, unsaturated and with every axis of another size. `name` is the
    solution's, and the stub's in the lesson. `seconds` is how long an answer may take, `SECONDS` if
    None. `without` is a word, such as softmax: no function of torch whose name has it may be called.
    """

    task: str
    cases: Callable[[], Sequence[tuple]]
    hints: Sequence[str]
    passed: str = ""  # what to think about next, once it is right
    tolerance: float = 1e-4
    seconds: float | None = None
    without: str = ""
    solutions: list[Answer] = field(default_factory=list)
    mistakes: list[tuple[str, Answer]] = field(default_factory=list)
    _known: Known = field(default_factory=Known, init=False, repr=False)

    def solution(self, answer: Answer) -> Answer:
        """File a solution; the one that students are shown comes first.

        A second one, written differently, proves that the check judges what an answer does.
        """
        self.solutions.append(answer)
        return answer

    def mistake(self, message: str) -> Callable[[Answer], Answer]:
        """An answer that people give, and what a good teacher says to it."""

        def add(answer: Answer) -> Answer:
            self.mistakes.append((message, answer))
            return answer

        return add

    @property
    def name(self) -> str:
        return self.solutions[0].__name__

    @property
    def right(self) -> Answer:
        """What an answer is compared with."""
        return self.solutions[0]

    @property
    def parameters(self) -> list[str]:
        return list(inspect.signature(self.solutions[0]).parameters)

    def source(self) -> str:
        """The solution as one would type it: without the line that files it here."""
        lines = inspect.getsource(self.solutions[0]).splitlines()
        return "\n".join(line for line in lines if not line.startswith("@"))

    def judge(self, answer: Any) -> Verdict:
        """Passed, not attempted, or which mistake it is, whatever the answer does."""
        try:
            return self._judge(answer)
        except Exception as error:  # an answer may return anything, also what cannot be compared
            return Verdict(False, f"This could not be judged: {said(error)}")

    def _judge(self, answer: Any) -> Verdict:
        if not callable(answer):
            return Verdict(
                False, f"Give `check` the function itself, `{self.name}`, not what it returned."
            )
        if is_stub(answer):
            return Verdict(False, "Not attempted yet: the function is still empty.", False)
        with as_it_was():
            cases = self._drawn()
            got = self._given_to(answer, cases)
            if all(_by_hand(outcome.error, answer) for outcome in got):
                return Verdict(False, "Not attempted yet: it raises NotImplementedError.", False)
            if any(map(has_gap, got)):
                return Verdict(False, GAP, False)
            verdict = self._verdict(got, cases)
            if verdict.passed and (name := self._forbidden(answer, cases)):
                return Verdict(
                    False, f"Right, but it calls `{name}`, which you should write yourself here."
                )
            return verdict

    def _forbidden(self, answer: Answer, cases: Sequence[tuple]) -> str:
        """What the answer calls although it should do without; "" if nothing."""
        if not self.without:
            return ""
        listening = Listening()

        def listened(*given):
            with listening:
                return answer(*given)

        self._run(listened, cases)
        return next((name for name in listening.heard if self.without in name), "")

    def _run(self, answer: Answer, cases: Sequence[tuple]) -> list[Outcome]:
        return run(answer, cases, self.parameters, self.seconds)

    def _verdict(self, got: Sequence[Outcome], cases: Sequence[tuple]) -> Verdict:
        right = list(self._outcomes(self.right, cases))
        if self._alike(got, right):
            return Verdict(True, " ".join(["Passed.", self.passed]).rstrip())
        for message, mistake in self.mistakes:
            if self._like_on_all(got, self._outcomes(mistake, cases)):
                return Verdict(False, message)
        return Verdict(False, self._worst_difference(got, right, cases))

    def _drawn(self) -> Sequence[tuple]:
        """The cases, drawn at the first check: so what `_outcomes` has found holds in the next."""
        if self._known.cases is None:
            torch.manual_seed(0)
            self._known.cases = self.cases()
        return self._known.cases

    def _given_to(self, answer: Answer, cases: Sequence[tuple]) -> list[Outcome]:
        """What the answer makes of the cases; what it is compared with runs as if it had not."""
        with as_it_was():
            return self._run(answer, cases)

    def _outcomes(self, known: Answer, cases: Sequence[tuple]) -> Iterator[Outcome]:
        """What a solution or a mistake makes of one case after the other; each is run once."""
        for i, case in enumerate(cases):
            if (known, i) not in self._known.outcomes:
                (outcome,) = self._run(known, [case])
                if isinstance(outcome.error, TimeUp):  # of a busy machine
                    yield outcome
                    continue
                self._known.outcomes[known, i] = outcome
            yield self._known.outcomes[known, i]

    def _like_on_all(self, got: Sequence[Outcome], others: Iterable[Outcome]) -> bool:
        """Whether all are alike; after the first that is not, no more is asked."""
        return all(self._alike([a], [b]) for a, b in zip(got, others, strict=True))

    def _worst_difference(
        self, got: Sequence[Outcome], right: Sequence[Outcome], cases: Sequence[tuple]
    ) -> str:
        """The first case that goes wrong, in words.

        One with a wrong result comes before one that only changed its input.
        """
        wrong = [
            (outcome, wanted, self._told(case))
            for outcome, wanted, case in zip(got, right, cases, strict=True)
            if not outcome.like(wanted, self.tolerance)
        ]
        outcome, wanted, given = min(
            wrong,
            key=lambda case: case[0].like(
                replace(case[1], changed=case[0].changed), self.tolerance
            ),
        )
        return difference(outcome, wanted, self._called, given, self.tolerance, self.seconds)

    def _told(self, case: tuple) -> str:
        """The arguments in few words, with their names where they are many."""
        words = list(map(describe, case))
        if len(words) > 3:
            words = [f"{name} {word}" for name, word in zip(self.parameters, words, strict=True)]
        return ", ".join(words)

    @property
    def _called(self) -> str:
        return f"`{self.name}({', '.join(self.parameters)})`"

    def _alike(self, ours: Sequence[Outcome], theirs: Sequence[Outcome]) -> bool:
        return all(a.like(b, self.tolerance) for a, b in zip(ours, theirs, strict=True))


def run(
    answer: Answer, cases: Sequence[tuple], names: Sequence[str], seconds: float | None = None
) -> list[Outcome]:
    """Call `answer` on a fresh copy of each case, in a thread of its own.

    The thread is told to stop after `seconds` in all. One that catches everything, or sits in a
    call that is not Python's, cannot be stopped from outside; it is left behind, and goes with the
    kernel.
    """
    outcomes: list[Outcome] = []

    def work():
        with suppress(TimeUp):  # it may come between two calls
            for case in cases:
                given = copy.deepcopy(case)
                outcome = Outcome()
                try:
                    outcome.value = answer(*given)
                except BaseException as error:  # TimeUp and exit() among them
                    outcome.error = error
                if isinstance(outcome.error, TimeUp):
                    return
                outcome.changed = tuple(
                    name
                    for name, before, after in zip(names, case, given, strict=False)
                    if not same(before, after, 0.0)
                )
                outcomes.append(outcome)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        thread.join(SECONDS if seconds is None else seconds)
    finally:  # also on Ctrl-C
        stop_at = time.monotonic() + 1.0
        while thread.is_alive() and time.monotonic() < stop_at:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(TimeUp)
            )
            thread.join(0.05)
    finished = list(outcomes)
    return finished + [Outcome(error=TimeUp()) for _ in cases[len(finished) :]]


@contextmanager
def as_it_was() -> Iterator[None]:
    """In fp32, and without a trace: random numbers and the default type go on as before."""
    dtype = torch.get_default_dtype()
    torch.set_default_dtype(torch.float32)
    with torch.random.fork_rng(devices=[]):
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)


def _by_hand(error: BaseException | None, answer: Answer) -> bool:
    """Whether the answer itself says `raise NotImplementedError`; torch raises it as well."""
    if not isinstance(error, NotImplementedError):
        return False
    trace = error.__traceback__
    while trace.tb_next:
        trace = trace.tb_next
    return trace.tb_frame.f_code is getattr(answer, "__code__", None) and not str(error)


def has_gap(outcome: Outcome) -> bool:
    """Whether a `...` of the skeleton was still in the way."""
    return outcome.value is ... or "ellipsis" in str(outcome.error)


def is_stub(answer: Answer) -> bool:
    """Whether the function's body does nothing at all."""
    if not hasattr(answer, "__code__"):
        return False
    steps = list(dis.get_instructions(answer))
    nothing = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST"}
    returned = [step.argval for step in steps if step.opname in ("LOAD_CONST", "RETURN_CONST")]
    return {step.opname for step in steps} <= nothing and returned == [None]


def same(a: Any, b: Any, tolerance: float) -> bool:
    """Equal within the tolerance: tensors in shape and value, numbers in value.

    Sequences are compared item by item.
    """
    if is_number(b) and not is_number(a):
        a = _unwrapped(a)
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if (
            a.is_complex()
            or a.shape != b.shape
            or (a.dtype == torch.bool) != (b.dtype == torch.bool)
        ):
            return False
        return torch.allclose(
            a.detach().cpu().double(), b.detach().cpu().double(), 0.0, tolerance, equal_nan=True
        )
    if is_number(a) and is_number(b):
        return bool(abs(a - b) <= tolerance) or (a != a and b != b)
    if isinstance(a, list | tuple) and type(a) is type(b):
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in pairs)
    if isinstance(a, Tensor) or isinstance(b, Tensor) or type(a) is not type(b):
        return False
    return bool(a == b)


def _unwrapped(value: Any) -> Any:
    """The number in a 0-d tensor or a NumPy scalar; anything else as it is."""
    single = getattr(value, "shape", None) == () and hasattr(value, "item")
    return value.item() if single and not getattr(value, "requires_grad", False) else value


def is_number(value: Any) -> bool:
    """An int or a float, but not a truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def describe(value: Any) -> str:
    """What a value is, in few words: a tensor by its shape."""
    if isinstance(value, Tensor):
        kind = "a mask" if value.dtype == torch.bool else "a tensor"
        return f"{kind} of shape {tuple(value.shape)}"
    if is_number(value):
        return f"{value:.4g}"
    if value is None or isinstance(value, bool | str):
        return f"{value!r}"
    if isinstance(value, list | tuple) and len(value) <= 6 and all(map(is_number, value)):
        return f"the {type(value).__name__} {value}"
    if isinstance(value, set | frozenset) and len(value) <= 6:
        return f"{{{', '.join(sorted(map(repr, value)))}}}"
    if callable(value):
        return "a function"
    return f"a {type(value).__name__}"


def failure(got: Outcome, called: str, given: str, seconds: float | None = None) -> str | None:
    """In words, that a call gave no value at all; None if it gave one."""
    call = f"{called}, given {given}," if given else called
    if isinstance(got.error, TimeUp):
        return (
            f"{called} was still running after {SECONDS if seconds is None else seconds:g} seconds. "
            "Does a loop never end? (Should the kernel stay busy, restart it.)"
        )
    if got.error is not None:
        return f"{call} raised {said(got.error)}"
    if got.value is None:
        return f"{call} returned None. Is its last line a `return`?"
    return None


def difference(
    got: Outcome,
    wanted: Outcome,
    called: str,
    given: str,
    tolerance: float,
    seconds: float | None = None,
) -> str:
    """In words, how a call went another way than it should have."""
    if failed := failure(got, called, given, seconds):
        return failed
    if wanted.error is not None:
        return f"{called}, given {given}, should raise {said(wanted.error)}"
    if not same(got.value, wanted.value, tolerance):
        return f"{called}, given {given}, returned {_against(got.value, wanted.value, tolerance)}"
    names = " and ".join(f"`{name}`" for name in got.changed)
    return f"The result is right, but the call changed its input {names}. Work on a copy."


def _against(got: Any, wanted: Any, tolerance: float) -> str:
    if isinstance(wanted, Tensor) and isinstance(got, Tensor):
        if got.shape != wanted.shape:
            return f"a shape of {tuple(got.shape)}; it should be {tuple(wanted.shape)}."
        if wanted.dtype == torch.bool and got.dtype != torch.bool:
            return f"{got.dtype}; a mask is torch.bool."
        if got.isnan().any():
            return "NaN in some places. A division by zero, or infinity minus infinity?"
        off = (got.detach().cpu().double() - wanted.detach().cpu().double()).abs() > tolerance
        place = tuple(off.nonzero()[0].tolist())
        ours, theirs = describe(got[place].item()), describe(wanted[place].item())
        if not place:
            return f"{ours}; it should be {theirs}."
        return (
            f"{ours} at {list(place)}; it should be {theirs}. "
            f"{int(off.sum())} of {off.numel()} entries differ."
        )
    if isinstance(wanted, Tensor) and wanted.dim() == 0 and is_number(got):
        return (
            f"the Python number {got:.4g}; it should be a tensor, {describe(wanted.item())}: a "
            "gradient must be able to flow through it."
        )
    if type(got) is not type(wanted) and not (is_number(got) and is_number(wanted)):
        way = " (`torch.tensor` or `torch.stack` make one)" if isinstance(got, list) else ""
        return f"{describe(got)}; it should be {describe(wanted)}{way}."
    return f"{_value(got)}; it should be {_value(wanted)}."


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else f"{value!r}"[:120]


def said(error: BaseException) -> str:
    """An error as one line of code."""
    sentence = " ".join(str(error).split())[:160]
    return f"`{type(error).__name__}: {sentence}`" if sentence else f"`{type(error).__name__}`"
