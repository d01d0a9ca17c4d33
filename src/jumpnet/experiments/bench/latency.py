"""From the shell prompt to a result."""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from jumpnet._compiled import reliable
from jumpnet.experiments.bench.peers import ONE_THREAD
from jumpnet.experiments.bench.plan import Plan
from jumpnet.experiments.bench.report import Comparison, Item, Tell

# A shallow network trained from the shell: what start-up time is measured by.
COMMAND = ("jumpnet", "-q", "examples", "pde4")


def latency(plan: Plan, tell: Tell) -> Iterator[Item]:
    """The command for pde4 with an empty cache, and once more."""
    first, second = [], []
    for count in range(plan.starts):
        with tempfile.TemporaryDirectory() as cache:
            for times, name in ((first, "empty cache"), (second, "again")):
                tell(f"{' '.join(COMMAND)}, {name}, {count + 1} of {plan.starts}")
                times.append(_seconds(cache))
    if not reliable():
        yield "compiled code is not kept on this kind of machine, so the second run compiles again."
    for name, times in (("first run, empty cache", first), ("second run", second)):
        yield {"command": " ".join(COMMAND), "run": name, "seconds": statistics.median(times)}
    yield {
        "command": " ".join(COMMAND),
        "run": "first / second",
        "ratio": statistics.median(first) / statistics.median(second),
    }


def _seconds(cache: str) -> float:
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", *COMMAND],
        capture_output=True,
        # Where the cache would be off by itself, naming a place would turn it on.
        env=os.environ | ONE_THREAD | {"JUMPNET_CACHE": cache if reliable() else "off"},
        check=False,
    )
    seconds = time.perf_counter() - began
    if done.returncode == 130:
        raise KeyboardInterrupt
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return seconds


LATENCY = Comparison(
    "latency",
    "From the shell prompt to a result",
    "The whole process: Python, imports, compilation or cache, training to the end (beyond the paper's error), report.",
    latency,
)
