"""Running trials: one after the other, in processes of this machine, or on a cluster; results as they come."""

from collections.abc import Iterator, Sequence

from jumpnet.experiments.trial import Record, Trial, interrupting, run
from jumpnet.studies import running
from jumpnet.studies.running import Stopped, WorkerError

__all__ = ["WorkerError", "in_processes", "in_turn", "on_cluster"]

Done = tuple[Trial, Record]


def in_turn(trials: Sequence[Trial]) -> Iterator[Done]:
    """In this process."""
    for trial in trials:
        yield trial, run(trial)


def in_processes(trials: Sequence[Trial], jobs: int) -> Iterator[Done]:
    """In `jobs` processes; an interruption ends the trainings under way at their next step."""
    return running.in_processes(_run, trials, jobs)


def on_cluster(trials: Sequence[Trial], address: str) -> Iterator[Done]:
    """On the workers of a dask.distributed scheduler; the trials of a worker that dies go to another one."""
    return running.on_cluster(_run, trials, address, lambda trial: trial.name)


def _run(trial: Trial, stopped: Stopped) -> Record:
    return run(trial, interrupting(stopped))
