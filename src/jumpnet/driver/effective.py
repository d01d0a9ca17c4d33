"""`effective_tensor`: the cell problems of a periodic box, one for each direction, and the tensor that they give."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from jumpnet.driver.progress import Progress
from jumpnet.driver.solving import solve
from jumpnet.errors import ProblemError
from jumpnet.fields import ConstantField, is_zero
from jumpnet.geometry import Box, Interval, Partition
from jumpnet.problem import Jump, Periodic, Problem, inputs
from jumpnet.problem.conditions import GivenOnBoundary, GivenOnInterface, Pair
from jumpnet.solution import Solution
from jumpnet.solution.effective import EffectiveTensor, bounds_of

# The estimate is this many times what the signs of error suggest.
ROOM = 3.0


def effective_tensor(
    parts: Partition,
    A: Any = 1.0,
    jumps: Jump | Mapping[Pair, Jump] = Jump(),
    *,
    div_A: Any = None,
    constants: Mapping[str, float] | None = None,
    tol: float = 1e-8,
    seed: int = 0,
    known: Solution | None = None,
    progress: bool | Progress = False,
) -> EffectiveTensor:
    """The effective tensor of a periodic cell: T with <A grad u> = T <grad u>.

    `parts` is the cell, a box cut into pieces that goes on periodically (pieces may be cut by its sides); `A` is that
    of `Problem`, `jumps` may hold contact resistances (`Jump(R=...)`, no v and no w). For each direction the problem
    with that unit mean gradient is solved to `tol`; `known` may be a solution of one of them, with the same `A` and
    `jumps`, which is then not solved again. The result's `bounds` are those of Voigt, Reuss and Hashin and
    Shtrikman; `violated` names those that are broken.
    """
    parts = inputs.partition(parts)
    if not isinstance(parts.domain, Box | Interval):
        raise ProblemError(f"the domain of a periodic cell is a Box, not a {type(parts.domain).__name__}.")
    lower, upper = (np.asarray(end, float) for end in parts.bounds)
    length = upper - lower
    solutions = []
    for axis in range(parts.dim):
        sides = {f"x{k + 1}": Periodic(float(length[k]) * (k == axis)) for k in range(parts.dim)}
        problem = Problem(parts, A, boundary=sides, jumps=jumps, div_A=div_A, constants=constants)
        if axis == 0:
            _check_jumps(problem)
        if known is not None and _is_cell_problem(known, axis):
            solutions.append(known)
        else:
            solutions.append(solve(problem, tol=tol, seed=seed, progress=progress))
    return tensor_of(solutions)


def tensor_of(solutions: list[Solution]) -> EffectiveTensor:
    """The tensor of the solutions of all cell problems, in order."""
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
                flux = solution.net_flux(f"x{i + 1}{'-+'[side]}")
                through[side, i, j] = sign * flux.value / face[i]
                quadrature = max(quadrature, flux.error / face[i])
        size = float(np.linalg.norm(upper - lower)) / 4  # of u, about
        relative = float(np.maximum(relative, solution.estimate / size))  # nan, unknown, stays nan
    found = through.mean(axis=0)
    asymmetry = float(np.abs(found - found.T).max())
    across = float(np.abs(through[1] - through[0]).max())
    bounds = bounds_of(problem)
    estimate = ROOM * max(asymmetry, across) + quadrature + relative * float(np.abs(found).max())
    return EffectiveTensor((found + found.T) / 2, asymmetry, estimate, bounds, tuple(solutions))


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
