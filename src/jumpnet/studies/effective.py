"""`effective_tensor`: the cell problems of a periodic box, one for each direction, and the tensor that they give."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from jumpnet.engines.progress import Progress
from jumpnet.errors import JumpnetError, ProblemError
from jumpnet.fields import ConstantField, is_zero
from jumpnet.geometry import Box, Interval, Partition
from jumpnet.optim import Status
from jumpnet.problem import Dirichlet, Jump, Neumann, Periodic, Problem, inputs
from jumpnet.problem.conditions import Condition, GivenOnBoundary, GivenOnInterface, Pair
from jumpnet.solution import Solution
from jumpnet.solution.effective import CONDITIONS, EffectiveTensor, bounds_of
from jumpnet.solution.quantities import means, net_flux
from jumpnet.solving.call import solve
from jumpnet.solving.methods import Method
from jumpnet.solving.verify import Verify

Boundary = Literal["periodic", "linear", "flux", "mixed"]

# Of the square root of a tensor's tolerance: the first tolerance of solutions in space (heuristic).
AIMED = 0.1
# Solutions that ended so are the best there are: smaller tolerances would end in the same way.
LIMITS = (Status.STEP_LIMIT, Status.TIME_LIMIT)
# The estimate is this many times what the signs of error suggest.
ROOM = 3.0


def effective_tensor(
    parts: Partition,
    A: Any = 1.0,
    jumps: Jump | Mapping[Pair, Jump] = Jump(),
    *,
    boundary: Boundary = "periodic",
    div_A: Any = None,
    constants: Mapping[str, float] | None = None,
    tol: float | None = None,
    seed: int = 0,
    known: Solution | None = None,
    resolution: bool = False,
    method: Method = "auto",
    time_limit: float | None = None,
    progress: bool | Progress = False,
) -> EffectiveTensor:
    """The effective tensor of a box: T with <A grad u> = T <grad u>, angles for means over the box.

    For each direction one problem is solved. With `boundary="periodic"` the box is a cell that goes on periodically
    (its sides may cut pieces). A sample that does not has an apparent tensor: "linear" is u = x_k on the boundary,
    "flux" is A grad u . n = n_k, "mixed" is u = x_k on the two sides across x_k with the others insulated, as in an
    experiment; the first is not below and the second not above that of a larger sample.

    Args:
        parts: A box cut into pieces.
        A: As in `Problem`.
        jumps: Contact resistances (`Jump(R=...)`, no v and no w).
        boundary: "periodic", "linear", "flux" or "mixed".
        div_A: As in `Problem`.
        constants: As in `Problem`.
        tol: The tolerance of each solve, by default 1e-6, of label images 1e-3. In space that of the tensor, relative
            to its largest entry: solutions that have its judged error below that may have larger ones.
        seed: As in `solve`.
        known: The solution of a periodic cell problem with the same `A` and `jumps`, which is then not solved again.
        resolution: Whether the tensor of the label image at half its resolution is computed too; the difference is the
            result's `resolution`.
        method: As in `solve`.
        time_limit: Seconds for each solve.
        progress: As in `solve`.

    Returns:
        The tensor with its error. Its `bounds` are those of Voigt, Reuss and (of periodic cells) Hashin and Shtrikman;
        `violated` names those that are broken.

    Example:
        >>> import jumpnet as jn
        >>> layers = jn.Partition(jn.Interval(0, 2), [jn.Interval(1, 2)])
        >>> round(float(jn.effective_tensor(layers, A=[1.0, 3.0]).tensor[0, 0]), 9)  # the harmonic mean
        1.5
    """
    parts = inputs.partition(parts)
    if not isinstance(parts.domain, Box | Interval):
        raise ProblemError(f"the domain of a periodic cell is a Box, not a {type(parts.domain).__name__}.")
    if boundary not in CONDITIONS:
        raise ProblemError(f'boundary is {boundary!r}; choose "periodic", "linear", "flux" or "mixed".')
    data = {"A": A, "jumps": jumps, "div_A": div_A, "constants": constants}
    options = {"seed": seed, "time_limit": time_limit, "progress": progress}
    cells = _CellProblems(boundary, data, options, known)
    goal = (1e-6 if parts.pixel is None else 1e-3) if tol is None else tol
    result = cells.tensor_within(parts, goal, method)
    if not resolution:
        return result
    coarse = cells.tensor(parts.coarsened(), goal, method, verify=False)
    return replace(result, resolution=float(np.abs(result.tensor - coarse.tensor).max()))


@dataclass(frozen=True)
class _CellProblems:
    """The problems whose solutions give a tensor, one for each direction: their data, and the options of `solve`."""

    boundary: Boundary
    data: Mapping[str, Any]
    options: Mapping[str, Any]
    known: Solution | None

    def tensor_within(self, parts: Partition, goal: float, method: Method) -> EffectiveTensor:
        """The tensor to a tolerance; in space from the least exact solutions whose judged error is small enough."""
        for aimed in _aims(parts, goal):  # elements, whose means are judged
            with suppress(JumpnetError):
                found = self.tensor(parts, aimed, "fem" if method == "auto" else method)
                limited = all(solution.status in LIMITS for solution in found.solutions)
                if limited or found.estimate <= goal * float(np.abs(found.tensor).max()):
                    return found
        return self.tensor(parts, goal, method)

    def tensor(self, parts: Partition, tol: float, method: Method, verify: Verify = "auto") -> EffectiveTensor:
        """The tensor from solutions to a tolerance."""
        return tensor_of([self._solved(parts, axis, tol, method, verify) for axis in range(parts.dim)], self.boundary)

    def _solved(self, parts: Partition, axis: int, tol: float, method: Method, verify: Verify) -> Solution:
        """The solution of the problem along an axis."""
        mean = 0.0 if self.boundary == "flux" else None
        problem = Problem(parts, boundary=_conditions(parts, axis, self.boundary), mean=mean, **self.data)
        if axis == 0:
            _check_jumps(problem)
        if verify and self.known is not None and self.boundary == "periodic" and _is_cell_problem(self.known, axis):
            return self.known
        return solve(problem, tol=tol, method=method, verify=verify, **self.options)


def _aims(parts: Partition, goal: float) -> list[float]:
    """Tolerances of solutions that are tried before the goal itself, until the tensor's judged error meets that.

    A tensor's error is the square of the gradients': in space, where digits are dear, half of them are tried first.
    """
    if parts.dim < 3 or parts.pixel is not None:
        return []
    first = AIMED * float(np.sqrt(goal))
    return [first * 10.0**-k for k in range(int(np.ceil(np.log10(max(first / goal, 1.0)))))]


def _conditions(parts: Partition, axis: int, boundary: Boundary) -> dict[str, Condition]:
    """The conditions under which the mean gradient (or, with "flux", the mean flux) is along an axis."""
    lower, upper = (np.asarray(end, float) for end in parts.bounds)
    if boundary == "periodic":
        return {f"x{k + 1}": Periodic(float(upper[k] - lower[k]) * (k == axis)) for k in range(parts.dim)}
    if boundary == "linear":
        return {f"x{k + 1}": Dirichlet(f"x{axis + 1}") for k in range(parts.dim)}
    found: dict[str, Condition] = {f"x{k + 1}": Neumann(0.0) for k in range(parts.dim) if k != axis}
    for side, sign, end in (("-", -1.0, lower), ("+", 1.0, upper)):
        found[f"x{axis + 1}{side}"] = Neumann(sign) if boundary == "flux" else Dirichlet(float(end[axis]))
    return found


def tensor_of(solutions: list[Solution], boundary: Boundary = "periodic") -> EffectiveTensor:
    """The tensor of the solutions of all cell problems, in order."""
    if boundary != "periodic":
        return _apparent(solutions, boundary)
    problem = solutions[0].problem
    assert problem is not None
    parts, d = problem.partition, problem.dim
    lower, upper = (np.asarray(end, float) for end in parts.bounds)
    face = np.prod(upper - lower) / (upper - lower)
    through = np.empty((2, d, d))
    quadrature, relative = 0.0, 0.0
    for j, solution in enumerate(solutions):
        for i in range(d):
            for side, sign in enumerate((-1.0, 1.0)):
                flux = net_flux(solution, f"x{i + 1}{'-+'[side]}")
                through[side, i, j] = sign * flux.value / face[i]
                quadrature = max(quadrature, flux.error / face[i])
        size = float(np.linalg.norm(upper - lower)) / 4  # of u, about
        relative = float(np.maximum(relative, solution.estimate / size))  # nan, unknown, stays nan
    found, judged = through.mean(axis=0), None
    if all(solution.representation.elements is not None for solution in solutions):
        # Means of the flux over the box are as good as the energy: their error is the square of the gradients'.
        found = np.stack([means(solution)[1] for solution in solutions], axis=1)
        judged = _judged(solutions, np.eye(d), found)
    asymmetry = float(np.abs(found - found.T).max())
    across = float(np.abs(through[1] - through[0]).max())
    bounds = bounds_of(problem)
    signs = ROOM * max(asymmetry, across) + quadrature + relative * float(np.abs(found).max())
    estimate = signs if judged is None else judged
    return EffectiveTensor((found + found.T) / 2, asymmetry, estimate, bounds, tuple(solutions))


def _apparent(solutions: list[Solution], boundary: Boundary) -> EffectiveTensor:
    """The tensor of a sample: mean fluxes against mean gradients."""
    problem = solutions[0].problem
    assert problem is not None
    gradients, fluxes, relative = [], [], 0.0
    for solution in solutions:
        gradient, flux = means(solution)
        gradients.append(gradient)
        fluxes.append(flux)
        lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
        size = float(np.linalg.norm(upper - lower)) / 4 * float(np.abs(gradient).max())  # of u, about
        relative = float(np.maximum(relative, solution.estimate / size))  # nan, unknown, stays nan
    found = np.linalg.solve(np.array(gradients), np.array(fluxes)).T  # T G^T = F^T, row by row
    asymmetry = float(np.abs(found - found.T).max())
    bounds = replace(bounds_of(problem), hashin_shtrikman=None)  # which are for periodic cells
    # Samples with insulated sides have tensors that need not be symmetric: that is then no sign of error.
    doubt = 0.0 if boundary == "mixed" else ROOM * asymmetry
    judged = _judged(solutions, np.array(gradients).T, found)
    estimate = doubt + relative * float(np.abs(found).max()) if judged is None else judged
    tensor = found if boundary == "mixed" else (found + found.T) / 2
    return EffectiveTensor(tensor, asymmetry, estimate, bounds, tuple(solutions), boundary)


def _judged(solutions: list[Solution], gradients: np.ndarray, tensor: np.ndarray) -> float | None:
    """The largest error of an entry of T, where T G = F, from the judged errors of G and F; None if one is unknown.

    Columns of G and F are the mean gradients and fluxes of the solutions: T' = (F + dF)(G + dG)^-1.
    """
    known = (solution.verdict for solution in solutions)
    verdicts = [v for v in known if v is not None and v.decided and v.finding.means is not None]
    if len(verdicts) < len(solutions):
        return None
    dG, dF = (np.stack(errors, axis=1) for errors in zip(*(v.error_of_means() for v in verdicts), strict=True))
    better = np.linalg.solve((gradients + dG).T, (tensor @ gradients + dF).T).T
    return max(verdict.safety for verdict in verdicts) * float(np.abs(better - tensor).max())


def _is_cell_problem(known: Solution, axis: int) -> bool:
    """Whether a solution is that of the cell problem along an axis: it rises by the cell's length along it alone."""
    problem = known.problem
    if problem is None or problem.mean is None or problem.sources:
        return False
    if not all(is_zero(f) for f in problem.f):
        return False
    lower, upper = (np.asarray(end, float) for end in problem.partition.bounds)
    for k in range(problem.dim):
        side = problem.boundary.get(f"x{k + 1}-")
        if side is None or side.kind != "periodic":
            return False
        v = side.g.function if isinstance(side.g, GivenOnBoundary) else None
        rise = float(upper[k] - lower[k]) * (k == axis)
        if not (isinstance(v, ConstantField) and v.number == rise):
            return False
    return True


def _check_jumps(problem: Problem) -> None:
    for pair, jump in problem.jumps.items():
        for name, given in (("v", jump.v), ("w", jump.w)):
            function = given.function if isinstance(given, GivenOnInterface) else None
            if function is None or not is_zero(function):
                raise ProblemError(f"{name} on interface {pair} is not zero; a cell problem has only resistances, R.")
