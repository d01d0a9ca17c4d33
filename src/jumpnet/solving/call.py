"""`solve` and `approximate`: from a problem to a solution, with defaults for what the user left open."""

from typing import Any, Unpack

import numpy as np

from jumpnet.engines.budget import Budget, checked_limit
from jumpnet.engines.goal import Goal, checked_goal
from jumpnet.engines.network import Network, NetworkEngine
from jumpnet.engines.progress import Progress
from jumpnet.engines.protocol import Request
from jumpnet.engines.seeds import RNG, check_trials, seed_of
from jumpnet.errors import ModelError
from jumpnet.geometry import Partition
from jumpnet.optim import Status
from jumpnet.problem import Problem, inputs
from jumpnet.problem.deprecated import partition_once_parts
from jumpnet.solution import Solution
from jumpnet.solving.choice import answered, chosen
from jumpnet.solving.methods import Auto, Deprecated, Method, engine_of, resolved
from jumpnet.solving.potential import by_potential
from jumpnet.solving.unconverged import warn_if_unconverged
from jumpnet.solving.verify import Verify, checked_verify


def solve(
    problem: Problem,
    *,
    tol: float = 1e-6,
    atol: float = 0.0,
    method: Method = "auto",
    verify: Verify = "auto",
    time_limit: float | None = None,
    seed: int = 0,
    rng: RNG | None = None,
    progress: bool | Progress = False,
    **deprecated: Unpack[Deprecated],
) -> Solution:
    """Solve an interface problem.

    Args:
        problem: What to solve, a `jn.Problem`.
        tol: The tolerance for the root mean square error of u, relative to its variation (the root mean square
            deviation from its mean over the domain).
        atol: The same in units of u; the larger of the two counts.
        method: "auto" solves by the Trefftz method ("trefftz") and, where that does not succeed, by
            finite elements ("fem"); beyond three dimensions it trains a network ("network"). Each of the three can be
            asked for by its name or by its options: `jn.Trefftz(...)`, `jn.FEM(...)`, `jn.Network(...)`.
        verify: "auto" solves for the error of the answer (`jn.judge`) unless the method's own estimate meets the
            tolerance and its assumptions hold; True always does, False never.
        time_limit: Seconds. When they are over, the best answer so far is returned, with its judged error if there was
            time for the judge (about half of the limit is reserved for it).
        seed: Points and initial weights are drawn from it. The same seed gives the same bits.
        rng: A NumPy Generator or SeedSequence to draw the seed from, instead of `seed`.
        progress: True shows a bar; a function of (record, best loss) is called after each step, from the threads of the
            trials but never by two at once. Ctrl-C ends a solve with the best so far.
        **deprecated: Options of a network as keywords of version 0.1; give them to `jn.Network` instead.

    Returns:
        The solution. Its `status` and `estimate` say how good it is, `settings["method"]` what was done, and
        `settings["tried"]` what else was tried.

    Example:
        >>> import jumpnet as jn
        >>> partition = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.5)], names=["plate", "disk"])
        >>> problem = jn.Problem(partition, A={"plate": 1.0, "disk": 10.0}, boundary=jn.Dirichlet("x1"))
        >>> solution = jn.solve(problem, tol=1e-8)
        >>> solution.status.name
        'CONVERGED'
    """
    asked = resolved(method, deprecated)
    if not isinstance(problem, Problem):
        raise ModelError(
            f"solve needs a jn.Problem, not {type(problem).__name__}; see jn.Problem(...), and jn.solve_nonlinear for "
            "data that depend on u."
        )
    goal, verify, whole = checked_goal(tol, atol), checked_verify(verify), Budget(checked_limit(time_limit))
    check_trials(seed := seed_of(seed, rng), 1)
    if problem.partitioned:
        options: dict[str, Any] = {"method": asked, "verify": verify, "time_limit": time_limit, "progress": progress}
        return by_potential(problem, goal, lambda w, own: solve(w, tol=own.tol, atol=own.atol, seed=seed, **options))
    request = Request(goal, int(seed), whole, progress)
    if isinstance(asked, Auto):
        found = chosen(problem, asked, request, verify)
    else:
        found = answered(problem, engine_of(asked), request, verify)
    if verify is not False or found.status is not Status.TRAINED:  # a user without a judge gets no warning
        warn_if_unconverged(found)
    return found


@partition_once_parts
def approximate(
    partition: Partition,
    u: Any,
    *,
    method: Network | str = Network(),
    seed: int = 0,
    rng: RNG | None = None,
    progress: bool | Progress = False,
    **deprecated: Unpack[Deprecated],
) -> Solution:
    """Approximate a piecewise function by a network that is allowed to jump.

    Args:
        partition: The pieces.
        u: A number, formula or callable for each piece. Its values at random points of the pieces and of the outer
            boundary are trained on.
        method: The network and its training, `jn.Network(...)`.
        seed: As in `solve`.
        rng: As in `solve`.
        progress: As in `solve`.
        **deprecated: As in `solve`.

    Returns:
        The approximation. Its `estimate` is the root mean square error at points that the training never saw.

    Example:
        >>> import jumpnet as jn
        >>> partition = jn.Partition(jn.Interval(0, 2), [jn.Interval(0, 1)])
        >>> method = jn.Network(jn.models.CategoricalEmbedding(neurons=8), points=(80, 2, 1))
        >>> jn.approximate(partition, ["sin(x1)", "2 + x1"], method=method).estimate < 1e-4
        True
    """
    asked = resolved("network" if method == Network() else method, deprecated, "approximate(partition, u, ")
    if not isinstance(asked, Network):
        raise ModelError(f"method is {method!r}; a function is approximated by a network: jn.Network(...).")
    partition = inputs.partition(partition)
    exact = inputs.fields(u, partition, "u", {})
    check_trials(seed := seed_of(seed, rng), 1)
    request = Request(Goal(np.inf), int(seed), progress=progress, accept=_measured)
    found = NetworkEngine(asked).approximate(partition, exact, request)
    warn_if_unconverged(found)
    return found


def _measured(found: Solution, needed: bool) -> Solution:
    """An approximation with its estimated error: the residuals at held-out points."""
    count = sum(residual.rows for residual in found.held_out)
    square = sum(residual.rows * residual.physical**2 for residual in found.held_out)
    status = Status.CONVERGED if found.status is Status.TRAINED else found.status
    return found.with_diagnostics(status=status, estimate=float(np.sqrt(square / count)) if count else np.nan)
