"""One run: a problem, a seed, what the program said, and what is true. Runs in a process of its own."""

import json
import os
import sys
import time
import traceback
import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from benchmarks.adversary.cases import Case
from benchmarks.adversary.registry import all_cases
from benchmarks.adversary.truth import bars, measured

import jumpnet as jn


@dataclass(frozen=True)
class Run:
    """What came of one problem with one seed; nan where there is no number."""

    name: str
    group: str
    seed: int
    tol: float
    outcome: str
    """The status in capitals, or REFUSED, TRACEBACK, TIME-OUT, DIED."""
    estimate: float = np.nan
    judged: float = np.nan
    error: float = np.nan
    variation: float = np.nan
    largest: float = np.nan
    pointwise: bool = True
    """Whether the error is that of u (or that of functionals, relative to their scale)."""
    seconds: float = np.nan
    """CPU time of the process, all threads."""
    unknowns: int = 0
    message: str = ""
    escaped: tuple[str, ...] = ()
    """Warnings that are not the program's own."""
    bar: float = np.nan
    """Of the quantities with error bars, the largest error in units of its bar."""


def run(case: Case, seed: int, *, network: bool = False, verify: bool = False, solved: Any = None) -> Run:
    """Build and solve a problem and measure the error; `solved` is called when the answer is there."""
    began, base = time.process_time(), (case.name, case.group, seed, case.tol)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            problem = case.build()
            options: dict[str, Any] = {"tol": case.tol, "seed": seed}
            if network:
                options = {"seed": seed, "method": jn.Network(jn.models.CategoricalEmbedding(dim=1, neurons=50))}
            if verify:
                options["verify"] = True
            solution = jn.solve(problem, **options)
        except jn.JumpnetError as error:
            return Run(
                *base, "REFUSED", seconds=time.process_time() - began, message=str(error), escaped=_escaped(heard)
            )
        except Exception as error:  # whatever else is raised is a bug of the program, and counted as one
            where = traceback.extract_tb(error.__traceback__)[-1]
            message = f"{type(error).__name__}: {error} ({where.filename.rsplit('/', 1)[-1]}:{where.lineno})"
            return Run(
                *base, "TRACEBACK", seconds=time.process_time() - began, message=message, escaped=_escaped(heard)
            )
    seconds = time.process_time() - began
    if solved is not None:
        solved()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        truth = measured(case, solution, problem.partition)
        bar, worst = bars(case, solution)
    verdict = getattr(solution, "verdict", None)
    return Run(
        *base,
        solution.status.name,
        estimate=_number(solution.estimate),
        judged=_number(getattr(verdict, "rms", np.nan)),
        error=truth.error,
        variation=truth.variation,
        largest=truth.largest,
        pointwise=case.exact is not None,
        seconds=seconds,
        unknowns=int(solution.network.size) if hasattr(solution, "network") else 0,
        message=", ".join(filter(None, (truth.worst, worst if bar > 1 else ""))),
        escaped=_escaped(heard),
        bar=bar,
    )


def _number(value: Any) -> float:
    return np.nan if value is None else float(value)


def _escaped(heard: list[warnings.WarningMessage]) -> tuple[str, ...]:
    """Warnings that the program should have kept to itself."""
    others = [w for w in heard if not issubclass(w.category, jn.JumpnetWarning)]
    return tuple(sorted({f"{w.category.__name__}: {w.message}"[:120] for w in others}))


def serve(*, network: bool, verify: bool) -> None:
    """Read names and seeds from the standard input, one JSON list a line; answer each with the run as JSON."""
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing that is printed elsewhere, by compiled code too, may disturb the answers
    sys.stdout = sys.stderr

    def say(word: dict[str, Any]) -> None:
        answer.write(json.dumps(word) + "\n")
        answer.flush()

    say({"ready": len(all_cases())})
    for line in sys.stdin:
        name, seed = json.loads(line)
        case = all_cases()[name]
        result = run(case, int(seed), network=network, verify=verify, solved=lambda: say({"solved": True}))
        say(asdict(result))
