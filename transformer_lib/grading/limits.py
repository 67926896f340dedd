"""Functions in processes of their own, that end when they take too long or too much memory."""

import multiprocessing
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psutil

from transformer_lib.exercises.checking.running import is_asleep

# A server that has imported everything once, and forks, saves seconds a notebook.
_FORKS = sys.platform == "linux"
_CONTEXT = multiprocessing.get_context("forkserver" if _FORKS else "spawn")
_LOOK = 0.05  # seconds between two looks at a process
_SEARCH = 0.5  # seconds between two searches for what it has started itself: that takes longer


@dataclass(frozen=True)
class Task:
    """A function to be called in a process of its own, and what it may take of the processor there.

    `seconds` are those of the process and of what it has started: a machine that is busy with other
    things makes nobody late.
    """

    call: Callable[..., None]
    arguments: tuple
    seconds: float
    about: Any = None


@dataclass(frozen=True)
class End:
    """How a process ended: `why` is "itself", "time", "sleep" or "memory".

    `seconds` it took of the processor, and `passed` by the clock. `code` is its exit code, below 0
    the number of the signal that killed it.
    """

    why: str
    code: int
    seconds: float
    passed: float


def run_limited(
    tasks: deque[Task], jobs: int, mebibytes: float, preload: Sequence[str] = ()
) -> Iterator[tuple[Task, End]]:
    """Run the tasks, at most `jobs` at a time, and give each with its end, as they end.

    More may be put into `tasks` meanwhile. A process may hold `mebibytes` of memory, together with
    all that it has started; that is looked at twenty times a second. `preload` are modules that are
    imported beforehand, where the system can do that. None is left running, not on Ctrl-C either.
    """
    if _FORKS:  # no task's time is spent on what is imported beforehand
        _CONTEXT.set_forkserver_preload(list(preload))
        first = _CONTEXT.Process(target=int)
        first.start()
        first.join()
    running: list[_Running] = []
    try:
        while tasks or running:
            while tasks and len(running) < jobs:
                running.append(_Running(tasks.popleft()))
            time.sleep(_LOOK)
            for one in list(running):
                if end := one.end(mebibytes):
                    running.remove(one)
                    yield one.task, end
    finally:
        for one in running:
            one.stop()


class _Running:
    """A process, and what it has started."""

    def __init__(self, task: Task):
        self.task, self.family = task, set()
        self.process = _CONTEXT.Process(target=task.call, args=task.arguments)
        self.process.start()
        self.began = time.monotonic()
        self.searched = self.spent = 0.0

    def end(self, mebibytes: float) -> End | None:
        """How it ended, None if it goes on; one that takes too much is ended here."""
        memory, passed = self._look(), time.monotonic() - self.began
        if not self.process.is_alive():
            why = "itself"
        elif self.spent > self.task.seconds:
            why = "time"
        elif is_asleep(self.spent, passed, self.task.seconds) and self._waits(passed):
            why = "sleep"
        elif memory > mebibytes:
            why = "memory"
        else:
            return None
        self.stop()
        return End(why, self.process.exitcode, self.spent, passed)

    def _waits(self, passed: float) -> bool:
        """Whether none of them would compute if the processor were free, as far as can be seen.

        On Windows that is not seen: there it is so when twenty times its seconds have passed.
        """
        states = set()
        for member in self.family:
            with suppress(psutil.Error):
                states.add(member.status())
        return psutil.STATUS_RUNNING not in states or passed > 20 * self.task.seconds

    def stop(self) -> None:
        """End it, and all that it has started."""
        self._search()
        for member in self.family:
            with suppress(psutil.Error):  # psutil knows whether a number belongs to another by now
                member.kill()
        self.process.kill()
        self.process.join()

    def _search(self) -> None:
        with suppress(psutil.Error):
            process = psutil.Process(self.process.pid)
            self.family |= {process, *process.children(recursive=True)}

    def _look(self) -> float:
        """Note the processor's time that all of them took so far; the memory that they hold."""
        if time.monotonic() - self.searched > _SEARCH:
            self._search()
            self.searched = time.monotonic()
        memory = spent = 0.0
        for member in self.family:
            with suppress(psutil.Error), member.oneshot():
                memory += member.memory_info().rss
                spent += sum(member.cpu_times()[:4])  # and of what it started, and is over
        self.spent = max(self.spent, spent)  # some may be gone by now
        return memory / 2**20
