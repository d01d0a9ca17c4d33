"""The Trefftz engine: the rows of a problem and the functions of a trial space make one linear least-squares problem.

Which functions, and how many, is decided by the adaptive loop (adaptivity.py), from residuals at held-out points.
"""

import time
from dataclasses import dataclass, field

import numpy as np

from jumpnet.charts import choose_atlases
from jumpnet.engines.progress import shown
from jumpnet.engines.protocol import Request
from jumpnet.engines.residuals import held_out_residuals
from jumpnet.engines.seeds import spread
from jumpnet.engines.trefftz.adaptivity import Attempt, attempt, fixed
from jumpnet.engines.trefftz.assembly import DirectSolver
from jumpnet.engines.trefftz.options import Trefftz
from jumpnet.engines.trefftz.spaces import space_of
from jumpnet.geometry.walls.corners import corners_of
from jumpnet.optim import History, Status
from jumpnet.problem import Problem, Supplement
from jumpnet.problem.resolution import survey
from jumpnet.rows import Rows
from jumpnet.solution import Diagnostics, LeastSquares, PointCounts, Representation, Solution, Statement

# Floating-point operations after which the next engine is tried, unless the residual still falls fast: about four
# seconds of one core (heuristic).
SPEND = 1.5e11
# With more corners (drawings), each of which has singular functions, or more segments of outlines (images), finite
# elements are faster (heuristic).
MOST_CORNERS, MOST_SEGMENTS = 40, 100


@dataclass(frozen=True)
class TrefftzEngine:
    """The Trefftz method by linear least squares; `alone` says that no other engine is tried afterwards."""

    options: Trefftz = field(default_factory=Trefftz)
    alone: bool = True

    def suits(self, problem: Problem) -> str | float:
        """Why the engine does not suit the problem, else the floating-point operations a try is worth."""
        parts = problem.partition
        if problem.data is not None:  # finite elements take no measured values, so there is no time limit
            return np.inf
        if parts.dim > 3:
            return f"there are too many polynomials in {parts.dim} dimensions"
        if survey(problem).hidden:
            return "A jumps inside a piece"
        if parts.dim != 2:
            return SPEND
        shapes = (parts.domain, *parts.pieces)
        segments = sum(len(loop) // 3 for shape in shapes for loop in getattr(shape, "loops", ()))
        if segments > MOST_SEGMENTS:
            return f"the pieces are drawn with {segments} segments"
        corners = len(corners_of(parts))
        return f"the pieces have {corners} corners" if corners > MOST_CORNERS else SPEND

    def solve(self, problem: Problem, request: Request) -> Solution:
        """The answer of all seeds with the smallest estimate."""
        found = []
        for seed in range(request.seed, request.seed + self.options.trials):
            found.append(self._of_seed(problem, request, int(seed)))
            if found[-1].status is Status.INTERRUPTED:
                break
        best = min(found, key=lambda s: (not s.status.ok, np.nan_to_num(s.estimate, nan=np.inf), s.held_out_loss))
        if len(found) > 1:
            best = best.with_diagnostics(trials=spread(found))
        return request.accept(best, False)

    def _of_seed(self, problem: Problem, request: Request, seed: int) -> Solution:
        began = time.perf_counter()
        solver = DirectSolver(problem, seed, self.options)
        if self.options.basis is not None:
            found = fixed(solver, space_of(self.options.basis, problem, self.options), request.goal)
        else:
            with shown(request.progress, self.options.levels) as report:
                found = attempt(solver, request.goal, report, self.alone, request.budget)
        return _solution(problem, found, seed, time.perf_counter() - began)


def _solution(problem: Problem, found: Attempt, seed: int, seconds: float) -> Solution:
    """The attempt as a solution."""
    level = found.level
    (atlas,) = choose_atlases("paper", problem.partition)
    fit = LeastSquares(
        level.loss,
        len(found.records),
        History.of(list(found.records), level.held_rows.labels),
        held_out_residuals(level.held_rows, level.held, 1.0),
        level.residual**2,
        _points_used(level.rows),
        "balanced",
        found.excess,
    )
    done = Diagnostics(found.status, found.described(), seconds, found.estimate, seed, tuple(found.reasons), fit=fit)
    u = Representation(*level.without_traces(), atlas, supplement=Supplement(level.constant))
    return Solution(u, Statement.of(problem), done)


def _points_used(rows: Rows) -> PointCounts:
    """How many points of each kind the equations are taken at."""
    kind = np.array([key.kind.group for key in rows.terms])[rows.term]
    interior, boundary, interface = (int(np.sum(kind == group)) for group in ("pde", "boundary", "jump"))
    return PointCounts(interior, boundary, interface)
