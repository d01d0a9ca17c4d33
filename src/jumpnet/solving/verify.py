"""From an answer to a status: what the judge found about it, or why it did not have to be asked.

The Trefftz engine's estimate rests on the saturation assumption and on flux balances, both of which are checked
(engines/trefftz/adaptivity.py). It suffices unless coefficients vary strongly within a piece, so that equal residuals
cause unequal errors, or data are not resolved. Every other answer needs the judge.
"""

from typing import Literal

import numpy as np

from jumpnet.collocation import Stream
from jumpnet.engines.goal import Goal
from jumpnet.errors import ModelError
from jumpnet.judge import JudgeOptions, Verdict, judge
from jumpnet.judge.judging import weak
from jumpnet.optim import Status
from jumpnet.problem import Problem
from jumpnet.problem.resolution import survey
from jumpnet.solution import Solution
from jumpnet.solution.quantities import variation

Verify = bool | Literal["auto"]

# If A varies within a piece by more than this factor, the engine's own estimate does not suffice (heuristic).
MOST_VARIATION = 10.0
# Points at which the variation of u is taken.
POINTS = 4000
# Boundary layers of a width sqrt(A/lam) below this part of the domain may lie between the points at which levels are
# compared: the judge is asked.
THIN = 0.01
# If the reliability constant of a Trefftz estimate exceeds the last measured one by MOST_EXCESS, the estimate is an
# upper bound that may be far from the error. The judge is then asked about answers of up to SMALL unknowns in the
# plane, which takes about a second (heuristic).
MOST_EXCESS, SMALL = 10.0, 2000
# The most unknowns of the judge; an answer of finite elements is judged with up to OWN times its own, and where that
# is more, with twice its own (the next order). The second space of the judge, with two orders and some layers more than
# an answer of order 4, has five times the unknowns (benchmarks/users/board.toml at 1e-4).
MOST_UNKNOWNS, OWN = 400_000, 8
# Statuses of answers that are judged; others were interrupted or never began.
JUDGED = (
    Status.CONVERGED,
    Status.TRAINED,
    Status.STALLED,
    Status.STEP_LIMIT,
    Status.TIME_LIMIT,
    Status.MISSED,
    Status.UNBALANCED,
)


def checked_verify(verify: object) -> Verify:
    """`verify` as given; ModelError if it is not one of the known values."""
    if verify is True or verify is False or verify == "auto":
        return verify  # pyright: ignore[reportReturnType]
    raise ModelError(f'verify is {verify!r}; give "auto", True (always judge) or False (never).')


def verified(
    problem: Problem, found: Solution, goal: Goal, verify: Verify, needed: bool = False, seconds: float = np.inf
) -> Solution:
    """The solution with a status from its judged error, or from its own estimate.

    `needed` says that the method's own estimate does not suffice; `seconds` is the time limit of the judge. Ctrl-C
    during judging returns the answer as it is.
    """
    found = _with_mean(problem, _with_data(problem, found), goal)
    doubts = _doubts(problem, found)
    skipped = verify == "auto" and found.status.ok and not (doubts or needed or _loose(problem, found))
    if verify is False or found.status not in JUDGED or skipped:
        return found
    enough = _enough(problem, found, goal)
    mesh = found.diagnostics.mesh
    own = 0 if mesh is None else max(min(OWN * mesh.unknowns, MOST_UNKNOWNS), 2 * mesh.unknowns)
    most = {dim: max(own, n) for dim, n in JudgeOptions().unknowns.items()}
    try:
        verdict = judge(found, tol=enough, options=JudgeOptions(unknowns=most, seconds=seconds))
    except KeyboardInterrupt:
        return found.with_diagnostics(status=Status.INTERRUPTED, estimate=np.nan)
    if needed:
        doubts = [*doubts, "differences of successive spaces are all that is known"]
    return _judged(found, verdict, enough, doubts)


def _enough(problem: Problem, found: Solution, goal: Goal) -> float:
    """The largest error that meets the goal; for finite elements by integration, which also resolves thin layers."""
    if found.representation.elements is not None:
        return goal.of_size(*variation(found))
    x, piece = problem.partition.sample_interior(POINTS, seed=[found.seed, int(Stream.TEST), 3], method="even")
    return goal.of(found(x, piece))


def _judged(found: Solution, verdict: Verdict, enough: float, doubts: list[str]) -> Solution:
    """The solution with its verdict."""
    if not verdict.decided:
        found = found.because(*doubts, verdict.reason, verdict=verdict)
        if doubts:  # the method's own estimate does not suffice
            status = Status.UNDECIDED if found.status.ok else found.status
            return found.with_diagnostics(status=status, estimate=np.nan)
        return found
    found = found.with_diagnostics(verdict=verdict, estimate=verdict.estimate)
    if verdict.estimate <= enough:
        return found.with_diagnostics(status=Status.CONVERGED, reasons=())
    status = Status.REFUTED if found.status in (Status.CONVERGED, Status.TRAINED) else found.status
    reason = (
        f"the error was solved for: {verdict.rms:.1e}, estimate {verdict.estimate:.1e}, where {enough:.1e} would do"
    )
    return found.because(reason, status=status)


def _with_data(problem: Problem, found: Solution) -> Solution:
    """The solution; not converged if the survey found data that its points do not resolve, or cannot know of."""
    known = survey(problem)
    unresolved = known.unresolved + (() if weak(found) else known.hidden)
    if not unresolved or found.status is not Status.CONVERGED:
        return found
    return found.because(*unresolved, status=Status.UNRESOLVED, estimate=np.nan)


def _with_mean(problem: Problem, found: Solution, goal: Goal) -> Solution:
    """The solution; not converged if the constant that a mean fixes is not known well enough."""
    if problem.mean is None or found.status is not Status.CONVERGED:
        return found
    enough = _enough(problem, found, goal)
    if not found.estimate > enough:
        return found
    reason = f"with the rules for its mean the error may be {found.estimate:.1e}, where {enough:.1e} would do"
    return found.because(reason, status=Status.MISSED)


def _doubts(problem: Problem, found: Solution) -> list[str]:
    """Why the method's own estimate does not suffice."""
    if not found.status.ok:
        return []
    variation = survey(problem).variation
    worst = int(np.argmax(variation))
    if variation[worst] > MOST_VARIATION:
        name = problem.partition.names[worst]
        return [f"A varies by a factor of {variation[worst]:.1e} in piece {name!r}"]
    return []


def _loose(problem: Problem, found: Solution) -> bool:
    """Whether the method's own estimate holds but may be far from the error, and the judge can do better.

    Where the reliability constants of the levels fall, as residuals gather in a gap, the estimate keeps to the larger
    ones. On the line the judge takes milliseconds; near resonances (lam < 0) errors are unlike residuals; layers of a
    width below a hundredth of the domain (large lam) have few of the points at which a method compares its answers.
    """
    fit = found.diagnostics.fit
    high = fit is not None and fit.excess > MOST_EXCESS
    if problem.dim == 1 or (problem.dim == 2 and high and found.network.size <= SMALL):
        return True
    x, piece = problem.partition.sample_interior(POINTS // 10, seed=[0, int(Stream.TEST), 4], method="even")
    size = problem.partition.domain.size
    for l in np.unique(piece).tolist():
        A, _, lam, _ = problem.pde(l, x[piece == l])
        if np.any(lam < 0) or np.any(lam * (THIN * size) ** 2 > np.trace(A, axis1=1, axis2=2) / problem.dim):
            return True
    return False
