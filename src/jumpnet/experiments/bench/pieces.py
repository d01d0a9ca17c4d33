"""Many pieces: one-hot steps against dense QR, and how time and memory grow with the number of pieces.

    python -m jumpnet.experiments.bench.pieces 100 5

measures one number of pieces in a process of its own (so that its peak memory is its own) and prints JSON.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from jumpnet.experiments.bench import peers
from jumpnet.experiments.bench.kernels import lapack, one_step
from jumpnet.experiments.bench.plan import Plan
from jumpnet.experiments.bench.report import Comparison, Fit, Item, Tell
from jumpnet.experiments.bench.systems import one_hot_system
from jumpnet.experiments.bench.timing import exponent, side_by_side
from jumpnet.models import System

FEW_PIECES = 5  # the memory of the program itself is measured with these
COLUMNS = ("pieces", "rows", "parameters", "our step (ms)", "peak memory (MB)")  # of the table of costs


def against_dense(plan: Plan, tell: Tell) -> Iterator[Item]:
    """A one-hot step against dense QR of the same augmented matrix."""
    tell(f"{plan.dense_pieces} pieces, our step")
    try:
        found = _in_own_process(plan.dense_pieces, plan)
    except peers.UnavailableError as why:
        yield str(why)
        return
    tell(f"{plan.dense_pieces} pieces, dense QR")
    system = one_hot_system(plan.dense_pieces)
    theta = system.network.initial(np.random.default_rng(0))
    with threadpool_limits(1):
        (dense,) = side_by_side(lapack(system, theta), repeats=plan.dense_repeats)
    row = {name: found[name] for name in COLUMNS}
    yield row | {"dgeqrf + dtrtrs (ms)": dense, "ratio": dense / found["our step (ms)"]}


def growth(plan: Plan, tell: Tell) -> Iterator[Item]:
    """Step time and peak memory against the number of pieces."""
    done = []
    for pieces in plan.pieces:
        tell(f"{pieces} pieces")
        try:
            found = _in_own_process(pieces, plan)
        except peers.UnavailableError as why:
            yield str(why)
            break
        done.append(found)
        yield found
    for quantity in ("our step (ms)", "peak memory (MB)"):
        known = [found for found in done if found[quantity]]
        if len(known) > 1:
            costs = [found[quantity] for found in known]
            yield Fit(quantity, "pieces", exponent([found["pieces"] for found in known], costs))


def _in_own_process(pieces: int, plan: Plan) -> dict[str, Any]:
    """What `measure` finds."""
    arguments = ("-m", "jumpnet.experiments.bench.pieces", str(pieces), str(plan.pieces_repeats))
    # Without a cache: code that is compiled and stored leaves more memory behind than code that is loaded.
    found = peers.printed(*arguments, seconds=plan.pieces_seconds, JUMPNET_CACHE="off")
    if not found:
        raise peers.UnavailableError(
            f"{pieces} pieces took more than {plan.pieces_seconds:.0f} s; they and larger numbers are left out."
        )
    return found[0]


def measure(pieces: int, repeats: int) -> dict[str, Any]:
    """Median milliseconds of a step, and the most memory that the steps took beside what the program itself needs."""
    _first_step(one_hot_system(FEW_PIECES))
    before = _memory("VmRSS")
    system = one_hot_system(pieces)
    with threadpool_limits(1):
        step = _first_step(system)
        _forget_peak()  # compilation is not what grows
        (milliseconds,) = side_by_side(step, repeats=repeats)
    peak = _memory("VmHWM")
    memory = None if before is None or peak is None else (peak - before) / 1024
    return dict(zip(COLUMNS, (pieces, len(system.rows), system.size, milliseconds, memory), strict=True))


def _first_step(system: System) -> Callable[[], object]:
    """A step that has been made once, so that it is compiled."""
    step = one_step(system, system.network.initial(np.random.default_rng(0)))
    step()
    return step


def _memory(name: str) -> int | None:
    """Resident memory of this process in kB, now (VmRSS) or at its peak (VmHWM); None where there is no /proc.

    getrusage would not do: its peak begins with that of the process which started this one.
    """
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), None)


def _forget_peak() -> None:
    """Let the peak begin anew."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


DENSE = Comparison(
    "onehot",
    "One-hot encoding with many pieces: our step against dense QR",
    "N = 50 neurons on a 1-D chain, 20 points per piece. Ours: factorisation, solve, next residual and Jacobian. "
    "Dense: LAPACK's QR of the augmented matrix and the triangular solve. One BLAS thread.",
    against_dense,
)
GROWTH = Comparison(
    "pieces",
    "One-hot encoding: cost against the number of pieces",
    "A step as above. Memory: the most that the process holds during steps, less what it holds with five pieces."
    " One BLAS thread.",
    growth,
)

if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(int(sys.argv[1]), int(sys.argv[2]))) + "\n")
