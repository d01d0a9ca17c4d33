"""Conductivities that jump with u, whose effect pointwise residuals miss at points where u takes the value of the
jump."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jumpnet.fields import TensorField
from jumpnet.problem import inputs
from jumpnet.solution import Solution
from jumpnet.studies.nonlinear.dependent_tensor import DependentTensor
from jumpnet.studies.nonlinear.problem import NonlinearProblem

# A is taken to jump where it changes by the first part of itself within the second part of the range of u.
CHANGE, WITHIN = 0.1, 1e-5
# Values of u at which A is sampled first, and sample points per piece for formulas that also use x.
VALUES, POINTS = 400, 5


def jumps(problem: NonlinearProblem, solution: Solution) -> tuple[str, ...]:
    """Sentences about values of u in the range of a solution at which A jumps."""
    return tuple(_jumps(problem, solution))


def _jumps(problem: NonlinearProblem, solution: Solution) -> Iterator[str]:
    parts = inputs.partition(problem.partition)
    x, labels = parts.sample_interior(2000, seed=0, minimum=200, method="even")
    u = solution(x, labels)
    for piece, entries in enumerate(problem.laws.A):
        if isinstance(entries, TensorField) or all(one.plain for one in entries) or not (labels == piece).any():
            continue
        mine = u[labels == piece]
        tensor = DependentTensor(entries, parts.dim)
        for point in x[labels == piece][:: max(1, int(np.sum(labels == piece)) // POINTS)]:
            at = _steepest(tensor, point, float(mine.min()), float(mine.max()))
            if at is not None:
                yield (
                    f"A in piece {parts.names[piece]!r} jumps at u = {at:.6g}, and the points of a solve do not see "
                    "what that does to the flux; give an A that is continuous in u, e.g. a + b*tanh((u - c)/d)"
                )
                break


def _steepest(tensor: DependentTensor, x: np.ndarray, low: float, high: float) -> float | None:
    """A value of u where A has a jump; None where it has none."""

    def at(u: np.ndarray) -> np.ndarray:
        return tensor.value(np.repeat(x[None], len(u), axis=0), u).reshape(len(u), -1)

    def change(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        first, second = at(a), at(b)
        return np.abs(first - second).max(axis=1) / np.maximum(np.abs(first), np.abs(second)).max(axis=1)

    ends = np.linspace(low, high, VALUES)
    a, b = ends[:-1], ends[1:]
    while b[0] - a[0] > WITHIN * (high - low):
        steep = change(a, b) > CHANGE
        if not steep.any():
            return None
        a, b = a[steep], b[steep]
        middle = 0.5 * (a + b)
        a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
    steep = change(a, b) > CHANGE
    return float(a[steep][0]) if steep.any() else None
