"""Running trials: one after the other, in processes of this machine, or on a cluster; results as they come.

Workers compute and return, the caller keeps: a worker that dies takes nothing with it but the trial it was at.
"""

import multiprocessing
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from jumpnet.errors import JumpnetError
from jumpnet.experiments.trial import Record, Trial, interrupting, run
from jumpnet.guard.interrupts import kept_from_children

Done = tuple[Trial, Record]
PATIENCE = "10s"  # until a cluster that does not answer is given up

_stop: Any = None  # in a worker process: the event that ends its training


class WorkerError(JumpnetError):
    """A worker process ended, or the cluster cannot be reached."""


def in_turn(trials: Sequence[Trial]) -> Iterator[Done]:
    """In this process."""
    for trial in trials:
        yield trial, run(trial)


def in_processes(trials: Sequence[Trial], jobs: int) -> Iterator[Done]:
    """In `jobs` processes; an interruption ends the trainings under way at their next step."""
    context = multiprocessing.get_context("spawn")  # a fork would share JAX's threads
    stop = context.Event()
    with ProcessPoolExecutor(jobs, context, _begin, (stop,)) as pool:
        with kept_from_children():
            futures = {pool.submit(_run, trial): trial for trial in trials}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BrokenProcessPool:
            raise WorkerError(
                "a worker process ended by force (was there enough memory?); what was done is kept, "
                "the same command goes on, perhaps with fewer --jobs."
            ) from None
        finally:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)


def _begin(stop: Any) -> None:
    """In a new worker: Ctrl-C is the parent's affair."""
    global _stop
    _stop = stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _run(trial: Trial) -> Record:
    return run(trial, interrupting(_stop.is_set))


def on_cluster(trials: Sequence[Trial], address: str) -> Iterator[Done]:
    """On the workers of a dask.distributed scheduler; the trials of a worker that dies go to another one."""
    try:
        from distributed import Client  # pyright: ignore[reportMissingImports]
        from distributed import as_completed as completed  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise WorkerError(
            "--cluster needs dask.distributed, which is not installed; pip install 'jumpnet[cluster]' adds it."
        ) from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as problem:
        raise WorkerError(
            f"there is no dask scheduler at {address!r} ({problem}); start one with `dask scheduler`, give its address."
        ) from None
    with client:
        futures = {client.submit(run, trial, key=f"jumpnet-{trial.name}", pure=False): trial for trial in trials}
        with client.as_current():
            arriving = completed(futures)
        try:
            for future in arriving:
                yield futures[future], future.result()
        finally:
            client.cancel(list(futures))
