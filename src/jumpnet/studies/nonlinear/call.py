"""Problems whose data depend on u: the public call, by Newton's method or by a network trained on the equations.

A network is trained on the nonlinear equations themselves (trained.py); the other engines solve the linear problems of
Newton's method (newton.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from jumpnet.engines.budget import Budget, checked_limit
from jumpnet.engines.goal import checked_goal
from jumpnet.engines.network import Network
from jumpnet.engines.protocol import Request
from jumpnet.errors import ModelError
from jumpnet.fields import scalar_field
from jumpnet.optim import Status
from jumpnet.problem import inputs
from jumpnet.solution import Solution
from jumpnet.solving.methods import Method, resolved
from jumpnet.solving.verify import verified
from jumpnet.studies.nonlinear.continuity import jumps
from jumpnet.studies.nonlinear.newton import Newton
from jumpnet.studies.nonlinear.problem import NonlinearProblem
from jumpnet.studies.nonlinear.state import State
from jumpnet.studies.nonlinear.trained import trained


def solve_nonlinear(
    problem: NonlinearProblem,
    *,
    start: Any = 0.0,
    tol: float = 1e-6,
    atol: float = 0.0,
    method: Method = "auto",
    continuation: tuple[str, Sequence[float]] | None = None,
    verify: bool = True,
    time_limit: float | None = None,
    seed: int = 0,
    progress: bool | Callable[[Any, float], None] | None = None,
) -> Solution:
    """Solve a problem whose data depend on u, and judge the solution.

    Newton's method solves linear problems one after the other; steps that grow are halved. A network is trained on the
    nonlinear equations themselves.

    Args:
        problem: A `jn.NonlinearProblem`.
        start: Where to begin: a number, a formula or a callable, or one for each piece, or a solution.
        tol: As in `jn.solve`.
        atol: As in `jn.solve`.
        method: As in `jn.solve`; `jn.Network(...)` is trained on the nonlinear equations.
        continuation: Where the start is too far from the solution: `("load", [0.1, 0.3, 1.0])` solves for these values
            of a constant of the problem one after the other, each from the one before.
        verify: Whether the last solution is judged, by the problem linearised about it.
        time_limit: Seconds for all linear problems together, or for a training.
        seed: As in `jn.solve`.
        progress: Called with (step, its size relative to the variation of u), with a network as in `jn.solve`; True
            shows a bar for each linear problem.

    Returns:
        A `Solution` whose `problem` is the linear one about itself: fluxes, balances and the judge's verdict are those
        of the nonlinear problem. Its estimate holds the error that the iteration leaves.
        `solution.diagnostics.nonlinear` has the steps.

    Example:
        >>> import jumpnet as jn
        >>> parts = jn.Partition(jn.Interval(0, 1))
        >>> ends = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)}
        >>> problem = jn.NonlinearProblem(parts, A="1 + u", boundary=ends)  # u = sqrt(1 + 3 x) - 1
        >>> round(float(jn.solve_nonlinear(problem)([[1/3]])[0]), 6)
        0.414214
    """
    if not isinstance(problem, NonlinearProblem):
        raise ModelError(f"solve_nonlinear needs a jn.NonlinearProblem, not {type(problem).__name__}; see jn.solve.")
    goal, asked, budget = checked_goal(tol, atol), resolved(method, {}), Budget(checked_limit(time_limit))
    state = _first(start, problem)
    if isinstance(asked, Network):
        if continuation is not None:
            raise ModelError("a network is not trained by continuation; leave continuation= or method= out.")
        about, found = trained(problem, state, asked, Request(goal, int(seed), budget, progress or False))
        if found_jumps := jumps(problem, found):
            return found.because(*found_jumps, status=Status.UNRESOLVED, estimate=np.nan)
        return verified(about, found, goal, verify, needed=True)
    name, values = continuation or ("", [None])
    if not len(values):
        raise ModelError("continuation has no values; give a name and at least one, the last that of the problem.")
    stages = [problem if value is None else problem.with_constants({name: float(value)}) for value in values]
    options = {"method": asked, "seed": seed, "progress": progress is True}
    newton = Newton(goal, options, budget, progress if callable(progress) else None)
    for stage in stages[:-1]:
        state = State([(1.0, newton.iterated(stage, state, rough=True)[0])])
    return newton.judged(stages[-1], *newton.iterated(stages[-1], state), verify)


def _first(start: Any, problem: NonlinearProblem) -> State:
    """Where to begin."""
    if isinstance(start, Solution):
        return State([(1.0, start)])
    parts = inputs.partition(problem.partition)
    names = inputs.constants(problem.constants, parts)
    listed = inputs.per_piece(start, parts, "start")
    fields = [scalar_field(s, parts.dim, what=f"start in piece {p}", constants=names) for p, s in enumerate(listed)]
    return State(fields=fields)
