"""Runs many tasks in turn, in processes of this machine, or on a cluster, and yields results as they come. The caller
keeps the results: if a worker dies, only its current task is lost, which another worker repeats.
"""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from jumpnet.errors import JumpnetError
from jumpnet.guard.interrupts import kept_from_children

Task = TypeVar("Task")
Record = dict[str, Any]
Stopped = Callable[[], bool]
Work = Callable[[Any, Stopped], Record]
"""What a worker does: a task, and a function that tells whether it is to stop, in; a record out. Of a module, so that
processes find it by its name."""

_stop: Any = None  # in a worker process: the event that ends its work


class WorkerError(JumpnetError):
    """A worker process ended, or the cluster cannot be reached."""


def results(
    work: Work, tasks: Sequence[Task], jobs: int, cluster: str | None, name: Callable[[Task], str]
) -> Iterator[tuple[Task, Record]]:
    """The tasks and their records as they come: from a cluster at an address, from processes, or from this one."""
    if cluster is not None:
        return on_cluster(work, tasks, cluster, name)
    return in_turn(work, tasks) if jobs == 1 else in_processes(work, tasks, jobs)


def in_turn(work: Work, tasks: Sequence[Task]) -> Iterator[tuple[Task, Record]]:
    """In this process."""
    for task in tasks:
        yield task, work(task, lambda: False)


def in_processes(work: Work, tasks: Sequence[Task], jobs: int, breaks: int = 2) -> Iterator[tuple[Task, Record]]:
    """In `jobs` processes; an interruption ends the work under way at its next step.

    Where a process is killed, others go on with all that is not done; where more than `breaks` pools of processes end
    so in a row, without a finished task, the tasks are at fault.
    """
    waiting, broken = dict(enumerate(tasks)), 0
    while waiting:
        before = len(waiting)
        try:
            for number, record in _pooled(work, waiting, jobs):
                yield waiting.pop(number), record
        except BrokenProcessPool:
            broken = 1 if len(waiting) < before else broken + 1
            if broken > breaks:
                raise WorkerError(
                    "a worker process ended by force (was there enough memory?); what was done is kept, "
                    "the same command continues, perhaps with fewer --jobs."
                ) from None


def _pooled(work: Work, waiting: dict[int, Any], jobs: int) -> Iterator[tuple[int, Record]]:
    """The tasks of one pool of processes by number, as they come; BrokenProcessPool where one of these is killed."""
    context = multiprocessing.get_context("spawn")  # a fork would share JAX's threads
    stop = context.Event()
    with ProcessPoolExecutor(jobs, context, _begin, (stop,)) as pool:
        with kept_from_children():
            futures = {pool.submit(_run, work, task): number for number, task in waiting.items()}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _begin(stop: Any) -> None:
    """In a new worker: Ctrl-C is the parent's affair."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(work: Work, task: Any) -> Record:
    return work(task, _stop.is_set)


def _alone(work: Work, task: Any) -> Record:
    """On a worker of a cluster, which nobody interrupts."""
    return work(task, lambda: False)


def on_cluster(
    work: Work, tasks: Sequence[Task], address: str, name: Callable[[Task], str], patience: float = 10.0
) -> Iterator[tuple[Task, Record]]:
    """On the workers of a dask.distributed scheduler; the tasks of a worker that dies go to another one.

    A scheduler that does not answer is given up after `patience` seconds.
    """
    try:
        from distributed import Client  # pyright: ignore[reportMissingImports]
        from distributed import as_completed as completed  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise WorkerError(
            "--cluster needs dask.distributed, which is not installed; pip install 'jumpnet[cluster]' adds it."
        ) from None
    try:
        client = Client(address, timeout=patience, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        raise WorkerError(
            f"there is no dask scheduler at {address!r} ({problem}); start one with `dask scheduler`, give its address."
        ) from None
    with client:
        futures = {client.submit(_alone, work, task, key=f"jumpnet-{name(task)}", pure=False): task for task in tasks}
        with client.as_current():
            arriving = completed(futures)
        try:
            for future in arriving:
                yield futures[future], future.result()
        finally:
            client.cancel(list(futures))


def spoken(seconds: float) -> str:
    """A time in words, rounded."""
    for limit, size, unit in ((90, 1, "s"), (90 * 60, 60, "min")):
        if seconds < limit:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds / 3600:.1f} h"
