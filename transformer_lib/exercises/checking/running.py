"""An answer is run: on copies, in a thread of its own that can be stopped, and listened to."""

import copy
import ctypes
import inspect
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from transformer_lib.exercises.checking.comparing import same

SECONDS = 5.0  # of the processor's time, so that a busy machine makes nobody late
Answer = Callable[..., Any]


class TimeUp(BaseException):
    """Raised inside an answer that runs too long.

    Not an Exception, so that `except Exception` does not swallow it.
    """


@dataclass
class Outcome:
    """What one call did: the value it returned or the error it raised, and what it changed.

    `changed` names the arguments that came out other than they went in, `left` has what became of them.
    """

    value: Any = None
    error: BaseException | None = None
    changed: tuple[str, ...] = ()
    left: tuple[tuple[str, Any], ...] = ()

    def like(self, other: "Outcome", tolerance: float) -> bool:
        """Whether both returned the same, or failed in the same way."""
        if self.changed != other.changed or type(self.error) is not type(other.error):
            return False
        if self.error is not None:
            return str(self.error) == str(other.error)
        return same(self.value, other.value, tolerance)


class Calls(TorchFunctionMode):
    """While it is open in a thread, it hears which functions of torch and of libraries are called.

    `heard` maps a name to the code that bears it, None for what torch has compiled. A function that
    a notebook defines is not heard: only where the calls go to counts, not how they are spelt.
    """

    LIBRARIES = ("torch", "transformer_lib", "d2l", "sacrebleu")

    def __init__(self):
        super().__init__()
        self.heard: dict[str, Any] = {}

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.heard.setdefault(getattr(func, "__name__", ""), None)
        return func(*args, **(kwargs or {}))

    def __enter__(self):
        self._before = sys.getprofile()
        sys.setprofile(self._hear)
        return super().__enter__()

    def __exit__(self, *error):
        sys.setprofile(self._before)
        return super().__exit__(*error)

    def _hear(self, frame, event, arg):
        if event == "call":
            module = frame.f_globals.get("__name__", "")
            if module.partition(".")[0] in self.LIBRARIES:
                self.heard[frame.f_code.co_qualname] = frame.f_code


def run(
    answer: Answer, cases: Sequence[tuple], names: Sequence[str], seconds: float | None = None
) -> list[Outcome]:
    """Call `answer` on a fresh copy of each case, in a thread of its own.

    The thread is told to stop after `seconds` of processor time in all, or when it is asleep. One
    that catches everything, or sits in a call that is not Python's, cannot be stopped from outside;
    it is left behind, and goes with the kernel.
    """
    outcomes: list[Outcome] = []

    def work():
        with suppress(TimeUp):  # it may come between two calls
            for case in cases:
                given = copy.deepcopy(case)
                both = list(zip(names, case, given, strict=False))
                watched = [
                    x for x in both if same(*x[1:], 0.0)
                ]  # some equal nothing but themselves
                outcome = Outcome()
                try:
                    outcome.value = answer(*given)
                except BaseException as error:  # TimeUp and exit() among them
                    outcome.error = _in_their_words(error, zip(names, given, strict=False))
                if isinstance(outcome.error, TimeUp):
                    return
                outcome.left = tuple((n, b) for n, a, b in watched if not same(a, b, 0.0))
                outcome.changed = tuple(name for name, _ in outcome.left)
                outcomes.append(outcome)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        _wait_for(thread, SECONDS if seconds is None else seconds)
    finally:  # also on Ctrl-C
        stop_at = time.monotonic() + 1.0
        while thread.is_alive() and time.monotonic() < stop_at:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident), ctypes.py_object(TimeUp)
            )
            thread.join(0.05)
    finished = list(outcomes)
    return finished + [Outcome(error=TimeUp()) for _ in cases[len(finished) :]]


def _wait_for(thread: threading.Thread, seconds: float) -> None:
    began, before = time.monotonic(), time.process_time()
    while thread.is_alive():
        thread.join(0.05)
        spent, passed = time.process_time() - before, time.monotonic() - began
        if spent >= seconds or is_asleep(spent, passed, seconds):
            return


def is_asleep(spent: float, passed: float, seconds: float) -> bool:
    """Whether what may take `seconds` of the processor waits for something that never comes.

    Four times as long has passed by the clock, and it has `spent` less than a twentieth of that: a
    busy machine leaves it more.
    """
    return passed > 4 * seconds and spent < passed / 20


def _in_their_words(error: BaseException, given: Iterable[tuple[str, Any]]) -> BaseException:
    """An error that calls the functions of a case by the names of the arguments."""
    if isinstance(error, TypeError) and len(error.args) == 1:
        text = str(error)
        for name, value in given:
            if name and inspect.isfunction(value):
                text = text.replace(f"{value.__qualname__}()", f"{name}()")
        error.args = (text,)
    return error


@contextmanager
def as_it_was() -> Iterator[None]:
    """In fp32, on one thread, and without a trace: what was set outside goes on as before."""
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    torch.set_num_threads(1)  # what is so small is slower on two
    torch.set_default_dtype(torch.float32)
    with torch.random.fork_rng(devices=[]):
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
            torch.set_num_threads(threads)


def locals_of(function: Answer, case: Sequence[Any]) -> dict[str, Any]:
    """What the names in a function stood for when it returned; {} where that cannot be seen."""
    found: dict[str, Any] = {}
    code = getattr(inspect.unwrap(function), "__code__", None)

    def hear(frame, event, arg):
        if event == "return" and frame.f_code is code:
            found.update(frame.f_locals)

    before = sys.getprofile()
    sys.setprofile(hear)
    try:
        function(*copy.deepcopy(tuple(case)))
    finally:
        sys.setprofile(before)
    return found
