"""Trainings of several seeds, in parallel on the cores there are; the best is returned.

Trainings share only compiled code, so each seed gives the bits it would give alone. They run as threads, because a
process would have to import and compile everything again, and the user's functions may not be picklable.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

import numpy as np

from jumpnet.engines.network.checkpoint import Checkpoint
from jumpnet.engines.network.task import Task
from jumpnet.engines.progress import LOSS, Progress, shown
from jumpnet.engines.seeds import spread
from jumpnet.optim import Record, Status
from jumpnet.solution import Solution

# Seconds between two checks for Ctrl-C, which some systems do not deliver to a waiting thread.
LOOK = 0.2

Prepared = Callable[[int], Task]


def best_of(
    prepared: Prepared,
    seeds: range,
    workers: int | None,
    *,
    steps: int,
    progress: bool | Progress,
    checkpoint: Checkpoint | None,
) -> Solution:
    """Of the solutions of all seeds the one with the smallest held-out loss; `steps` is the most of each."""
    at_once = min(len(seeds), workers or cores())
    with shown(progress, steps * len(seeds), "training", "step", LOSS) as report:
        if at_once == 1:
            found = _in_turn(prepared, seeds, report, checkpoint)
        else:
            found = _together(prepared, seeds, at_once, report, checkpoint)
    best = min(found, key=lambda solution: np.nan_to_num(solution.held_out_loss, nan=np.inf))
    return best.with_diagnostics(trials=spread(found)) if len(seeds) > 1 else best


def cores() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_turn(
    prepared: Prepared, seeds: Sequence[int], report: Progress | None, kept: Checkpoint | None
) -> list[Solution]:
    found = []
    for seed in seeds:
        found.append(prepared(seed).solution(seed, report, kept))
        if found[-1].status is Status.INTERRUPTED:
            break
    return found


def _together(
    prepared: Prepared, seeds: Sequence[int], at_once: int, report: Progress | None, kept: Checkpoint | None
) -> list[Solution]:
    """Train in threads; everything else, in particular the user's functions, runs in this one."""
    watch, waiting, running, found = _Watch(report), deque(seeds), {}, {}
    with ThreadPoolExecutor(at_once, thread_name_prefix="jumpnet-trial") as pool:
        try:
            while running or (waiting and not watch.stopped):
                if waiting and len(running) < at_once and not watch.stopped:
                    seed = waiting.popleft()
                    task = prepared(seed)
                    running[pool.submit(task.solution, seed, watch, kept)] = seed
                    continue
                for future in wait(running, LOOK, FIRST_COMPLETED).done:
                    found[running[future]] = future.result()
                    del running[future]
        except KeyboardInterrupt:
            watch.stop()
            found |= {seed: future.result() for future, seed in running.items()}
            if not found:
                raise
        finally:
            watch.stop()  # also where one of them failed: the others must not go on for nothing
    return [found[seed] for seed in sorted(found)]


class _Watch:
    """The progress of trainings in several threads: told one at a time; once it is stopped, it interrupts them all."""

    def __init__(self, report: Progress | None):
        self._report, self._lock, self._stop = report, threading.Lock(), threading.Event()

    @property
    def stopped(self) -> bool:
        return self._stop.is_set()

    def stop(self) -> None:
        self._stop.set()

    def __call__(self, record: Record, best: float) -> None:
        if self.stopped:
            raise KeyboardInterrupt
        if self._report is not None:
            with self._lock:
                try:
                    self._report(record, best)
                except KeyboardInterrupt:
                    self.stop()
                    raise
