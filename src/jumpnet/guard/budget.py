"""Limits of time and memory for reading and building untrusted files.

Every reader has limits of its own (bytes, points, nesting), which are said where they are. This is the limit for
everything else: a thread watches the clock and the memory, and ends the work at its next Python instruction.
"""

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from jumpnet.errors import BudgetError, JumpnetError
from jumpnet.guard.text import one_line

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

# Seconds between two checks, and until an exception that a library has swallowed is raised again.
INTERVAL, AGAIN = 0.05, 0.5
LONGEST = 1000  # characters of a sentence
SECONDS, GIGABYTES = "JUMPNET_READ_SECONDS", "JUMPNET_READ_GB"


def _from_environment(name: str, otherwise: float) -> float:
    try:
        value = float(os.environ[name])
        return value if value > 0 else otherwise
    except (KeyError, ValueError):
        return otherwise


@dataclass(frozen=True)
class Budget:
    """What reading and building may take.

    The defaults are $JUMPNET_READ_SECONDS and $JUMPNET_READ_GB where these are set: 60 s, since the largest file within
    the stated limits takes less than half of that, and 2 GB.

    Args:
        seconds: By the clock.
        gigabytes: Beyond what the process had at the beginning.
        strict: Lets the system refuse memory beyond the limit to the whole process meanwhile, which stops a single
            large array too; the command line does that, where it can.

    Example:
        >>> import jumpnet as jn
        >>> jn.Budget(seconds=10, gigabytes=1).seconds
        10
    """

    seconds: float = field(default_factory=lambda: _from_environment(SECONDS, 60.0))
    gigabytes: float = field(default_factory=lambda: _from_environment(GIGABYTES, 2.0))
    strict: bool = False

    def __post_init__(self) -> None:
        for name in ("seconds", "gigabytes"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise BudgetError(f"a budget's {name} must be a positive number, not {value!r}.")


class Exceeded(BaseException):
    """Raised in the thread that reads; not an Exception, so that no library catches it."""

    key: str | None = None


class _Active(threading.local):
    budget: Budget | None = None


_active = _Active()


def bounded(budget: Budget | None, work: Callable[[], Result], what: str = "the file") -> Result:
    """What `work()` returns; BudgetError says at which key it took too much. Inside another budget, that one holds.

    Sentences about what is wrong come out on one line and not too long, whatever of the file they quote.
    """
    if _active.budget is not None:
        return work()
    watch = _Watch(Budget() if budget is None else budget)
    try:
        try:
            _active.budget = watch.budget
            watch.start()
            with _memory_limit(watch.budget):
                return work()
        finally:
            try:
                watch.stop()
            except Exceeded:  # arrived before stop() was ready for it; there is none after it for `AGAIN` seconds
                watch.stop()
            _active.budget = None
    except JumpnetError as problem:
        sentence = one_line(problem, LONGEST)
        raise problem if sentence == str(problem) else type(problem)(sentence) from None
    except Exceeded as exceeded:
        raise _too_much(watch, exceeded.key or what) from None
    except MemoryError as problem:
        watch.reason = watch.reason or "memory"
        raise _too_much(watch, getattr(problem, "key", None) or what) from None


def within_budget(what: str) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """A reader that keeps to the budget in force, or to the default one."""

    def decorated(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        @wraps(function)
        def run(*args: Parameters.args, **options: Parameters.kwargs) -> Result:
            return bounded(None, lambda: function(*args, **options), what)

        return run

    return decorated


@contextmanager
def key(name: str) -> Iterator[None]:
    """Names the key that is being read, for messages: the innermost counts."""
    try:
        yield
    except (Exceeded, MemoryError) as problem:
        if getattr(problem, "key", None) is None:
            problem.key = name  # pyright: ignore[reportAttributeAccessIssue]
        raise


def _too_much(watch: "_Watch", where: str) -> BudgetError:
    limits = {
        "seconds": (f"{watch.budget.seconds:g} seconds", "--read-seconds", SECONDS),
        "memory": (f"{watch.budget.gigabytes:g} GB of memory", "--read-gb", GIGABYTES),
    }
    limit, option, variable = limits[watch.reason or "seconds"]
    return BudgetError(
        f"{where}: to read and build this takes more than {limit}; simplify it, or allow more ({option}, {variable})."
    )


class _Watch:
    """Checks the clock and the memory in a separate thread, and raises Exceeded in the thread that made it."""

    def __init__(self, budget: Budget) -> None:
        self.budget, self.reason = budget, ""
        self._thread, self._lock, self._done = threading.get_ident(), threading.Lock(), threading.Event()
        self._began, self._memory = time.monotonic(), resident()

    def start(self) -> None:
        """Begin to look."""
        threading.Thread(target=self._look, name="jumpnet-budget", daemon=True).start()

    def stop(self) -> None:
        """End it; an exception that may be under way arrives here, and no later.

        CPython has no way to withdraw one: with NULL for the exception it looks for one for ever after.
        """
        while True:
            try:
                with self._lock:
                    self._done.set()
                if self.reason:
                    _raise_in(self._thread, Exceeded)  # takes the place of the one under way
                    while True:
                        time.sleep(0.0)
                return
            except Exceeded:
                if self._done.is_set():
                    return

    def _look(self) -> None:
        due = 0.0
        while not self._done.wait(INTERVAL):
            with self._lock:
                now = time.monotonic()
                if now < due or self._done.is_set():
                    continue
                reason = self._exceeded(now)
                if reason:
                    self.reason, due = reason, now + AGAIN
                    _raise_in(self._thread, Exceeded)

    def _exceeded(self, now: float) -> str:
        if now - self._began > self.budget.seconds:
            return "seconds"
        return "memory" if resident() - self._memory > self.budget.gigabytes * 1e9 else ""


def _raise_in(thread: int, exception: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(exception))


def resident() -> int:
    """Bytes of memory that the process has now (elsewhere than on Linux: had at most); 0 where that is not known."""
    with suppress(OSError, ValueError, IndexError):
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    with suppress(ImportError, OSError):
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return 0


@contextmanager
def _memory_limit(budget: Budget) -> Iterator[None]:
    """The system's own limit for the data of a process, on Linux and if it is asked for."""
    resource: Any = None
    with suppress(ImportError, OSError, ValueError, IndexError):
        if budget.strict and sys.platform == "linux":
            import resource

            with open("/proc/self/statm", "rb") as file:
                data = int(file.read().split()[5]) * os.sysconf("SC_PAGE_SIZE")
            before = soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
            limit = data + int(budget.gigabytes * 1e9)
            if soft == resource.RLIM_INFINITY or limit < soft:
                resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
            else:
                resource = None
    try:
        yield
    finally:
        if resource is not None:
            resource.setrlimit(resource.RLIMIT_DATA, before)  # pyright: ignore[reportPossiblyUnboundVariable]
