"""Workers that are killed when their time is over, and started again."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.adversary.cases import Case
from benchmarks.adversary.work import Run

START = 120.0  # seconds that a worker may take to import everything
MEASURE = 120.0  # seconds for the truth, which are not the program's
PATIENCE = 20.0  # elapsed over CPU time, on a machine that is busy with other things


class Worker:
    """A child process that runs problems one after another."""

    def __init__(self, arguments: Sequence[str]) -> None:
        command = [sys.executable, "-m", "benchmarks.adversary", "--serve", *arguments]
        environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg", **os.environ}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        if self._next(START) is None:
            raise RuntimeError("a worker did not start; try: python -m benchmarks.adversary --one NAME")

    def _listen(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _next(self, seconds: float) -> dict | None:
        """The next answer; None if the process ended; queue.Empty if none came within the limit of CPU time."""
        began, cpu = time.perf_counter(), self.cpu()
        while True:
            try:
                line = self.lines.get(timeout=0.2)
                return None if line is None else json.loads(line)
            except queue.Empty:
                if self.cpu() - cpu > seconds or time.perf_counter() - began > PATIENCE * seconds:
                    raise

    def cpu(self) -> float:
        """CPU seconds that the process has taken; elapsed time where the system does not say."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            return time.perf_counter()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def run(self, case: Case, seed: int, limit: float) -> Run:
        """One run; the worker is dead afterwards if its outcome is TIME-OUT or DIED."""
        assert self.process.stdin is not None
        began = self.cpu()
        try:
            self.process.stdin.write(json.dumps([case.name, seed]) + "\n")
            self.process.stdin.flush()
            word = self._next(limit)
            if word == {"solved": True}:
                word = self._next(MEASURE)
        except (queue.Empty, BrokenPipeError) as error:
            outcome = "TIME-OUT" if isinstance(error, queue.Empty) else "DIED"
            seconds = self.cpu() - began
            self.stop()
            return Run(case.name, case.group, seed, case.tol, outcome, seconds=seconds)
        if word is None:
            code = self.process.wait()
            return Run(case.name, case.group, seed, case.tol, "DIED", message=f"exit code {code}")
        return Run(**{**word, "escaped": tuple(word["escaped"])})

    @property
    def alive(self) -> bool:
        """Whether it can run another problem."""
        return self.process.poll() is None

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


def run_all(
    tasks: Sequence[tuple[Case, int]], arguments: Sequence[str], limit: float, jobs: int, tell: Callable[[Run], None]
) -> list[Run]:
    """All runs, `jobs` at a time, in the order in which they end; `tell` is called after each."""
    waiting: queue.Queue[tuple[Case, int]] = queue.Queue()
    for task in tasks:
        waiting.put(task)
    done: list[Run] = []
    lock = threading.Lock()

    def work() -> None:
        worker = None
        while True:
            try:
                case, seed = waiting.get_nowait()
            except queue.Empty:
                break
            if worker is None or not worker.alive:
                worker = Worker(arguments)
            result = worker.run(case, seed, limit)
            with lock:
                done.append(result)
                tell(result)
        if worker is not None:
            worker.stop()

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done
