"""The finite-element engine: any problem in one to three dimensions, refined until the tolerance is met."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from jumpnet.engines.fem.elements import Refinement, Report, Tolerance
from jumpnet.engines.fem.options import FEM
from jumpnet.engines.fem.solutions import finite_element_solution
from jumpnet.engines.fem.voxels import VoxelEngine
from jumpnet.engines.progress import ESTIMATE, shown
from jumpnet.engines.protocol import Request
from jumpnet.errors import ModelError
from jumpnet.fe.features import LineFunction
from jumpnet.fe.line import LineOptions, solve_line
from jumpnet.optim import Status
from jumpnet.problem import Problem
from jumpnet.solution import Diagnostics, MeshSize, Solution

# If the judge refutes an answer, the loop goes on for the part AIMED of the last error; at most ROUNDS answers.
AIMED, ROUNDS = 0.1, 4
# The length of the progress bar, in spaces.
MOST_SPACES = 12


@dataclass(frozen=True)
class FemEngine:
    """Finite elements on generated meshes; finite volumes on the voxels of label volumes."""

    options: FEM = field(default_factory=FEM)

    def suits(self, problem: Problem) -> str | float:
        """Any problem without measured values, in up to three dimensions."""
        if problem.data is not None:
            return "the problem has measured values, which finite elements cannot take into account"
        if problem.dim > 3:
            return f"the problem has {problem.dim} dimensions; finite elements are for three at most"
        return np.inf

    def solve(self, problem: Problem, request: Request) -> Solution:
        """The answer, refined until its own estimate reaches the goal and it is accepted."""
        if isinstance(reason := self.suits(problem), str):
            raise ModelError(f"{reason}.")
        voxels = VoxelEngine()
        if self.options == FEM() and not isinstance(voxels.suits(problem), str):
            with suppress(ModelError):  # tensors that are not along the axes
                return voxels.solve(problem, request)
        with shown(request.progress, MOST_SPACES, "finite elements", "space", ESTIMATE) as report:
            improve = solve_fem(problem, self.options, tol=request.goal.tol, seconds=request.budget.left, report=report)
            found = _accepted(problem, improve, request)
        late = found.status is Status.REFUTED and request.budget.left == 0
        return found.with_diagnostics(status=Status.TIME_LIMIT) if late else found


def _accepted(problem: Problem, improve: Callable[[Tolerance], Solution], request: Request) -> Solution:
    """The first answer that is not refuted, else the last; each aims at a smaller error than the one before."""
    found = None
    for number in range(ROUNDS):
        found = improve(partial(_part_of, request, AIMED**number))
        found = request.accept(found, problem.dim > 1)
        if found.status is not Status.REFUTED:
            break
    assert found is not None
    return found


def _part_of(request: Request, part: float, variation: float, size: float) -> float:
    """A part of the largest error that meets the tolerance."""
    return part * request.goal.of_size(variation, size)


def solve_fem(
    problem: Problem,
    options: FEM = FEM(),
    *,
    tol: float = 1e-6,
    seconds: float = np.inf,
    report: Report | None = None,
) -> Callable[[Tolerance], Solution]:
    """A function that solves a problem by finite elements until a given error is met; each call goes on from the last.

    The error is given as a function of the variation of the solution (root mean square deviation from its mean) and of
    its root mean square. On the line, `tol` is what counts, relative to the variation. GeometryError where no mesh can
    be made. `report` is called with a record after each space. Ctrl-C ends with the best so far.
    """
    if problem.dim > 1:
        return Refinement(problem, options, tol, seconds, report).until
    tolerances = _smaller(tol)
    return lambda tolerance: _on_the_line(problem, next(tolerances), seconds)


def _smaller(tol: float) -> Iterator[float]:
    while True:
        yield tol
        tol = max(0.01 * tol, 1e-13)


def _on_the_line(problem: Problem, tol: float, seconds: float) -> Solution:
    began = time.perf_counter()
    found = solve_line(problem, tol, LineOptions(time_limit=seconds))
    expansion = found.expansion
    functions = [LineFunction(expansion, piece) for piece in range(problem.partition.size)]
    status = Status.CONVERGED if found.converged else Status.STALLED
    elements, unknowns = len(expansion.start), expansion.unknowns
    method = f"finite elements on the line: {elements} of orders up to {expansion.order.max()}, {unknowns} unknowns"
    done = Diagnostics(
        status,
        method,
        time.perf_counter() - began,
        float(np.hypot(found.estimate, found.unresolved)),
        reasons=(found.reason,) if found.reason else (),
        mesh=MeshSize(unknowns, elements),
    )
    return finite_element_solution(problem, functions, done)
