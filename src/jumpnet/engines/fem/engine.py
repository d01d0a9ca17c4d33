"""`solve_fem`: any problem in one to three dimensions by finite elements, refined until the error will do."""

import time
from collections.abc import Callable, Iterator

import numpy as np

from jumpnet.engines.fem.answers import as_solution
from jumpnet.engines.fem.elements import Enough, Refinement, Report
from jumpnet.engines.fem.options import FEM
from jumpnet.errors import ModelError
from jumpnet.fe.features import LineFunction
from jumpnet.fe.line import LineOptions, solve_line
from jumpnet.optim import Status
from jumpnet.problem import Problem
from jumpnet.solution import Solution


def solve_fem(
    problem: Problem,
    options: FEM = FEM(),
    *,
    tol: float = 1e-6,
    seconds: float = np.inf,
    report: Report | None = None,
) -> Callable[[Enough], Solution]:
    """A function that solves a problem by finite elements: better with every call, for an error that will do.

    That is given as a function of the variation of the solution (root mean square deviation from its mean) and of its
    root mean square. On the line, `tol` is what counts, relative to the variation. GeometryError where no mesh can be
    made. `report` is called with a record after each space. Ctrl-C ends with the best so far.
    """
    if problem.data is not None:
        raise ModelError("the problem has measured values, which finite elements cannot take into account.")
    if problem.dim > 3:
        raise ModelError(f"the problem has {problem.dim} dimensions; finite elements are for three at most.")
    if problem.dim > 1:
        return Refinement(problem, options, seconds, report).until
    tolerances = _smaller(tol)
    return lambda enough: _on_the_line(problem, next(tolerances), seconds)


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
    return as_solution(
        problem,
        functions,
        status,
        float(np.hypot(found.estimate, found.unresolved)),
        {
            "method": method,
            "unknowns": unknowns,
            "elements": elements,
            "seconds": time.perf_counter() - began,
            **({"reasons": [found.reason]} if found.reason else {}),
        },
    )
