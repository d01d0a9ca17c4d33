"""The solution along a line: points at equal distances, and everything that can be asked there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from jumpnet.errors import SolutionError
from jumpnet.solution.batches import labels_of
from jumpnet.solution.solution import Solution


@dataclass(frozen=True, eq=False)
class Probe:
    """Points along a line, their distance `s` from its start, the piece of each, u and A grad u.

    Outside the domain the piece is -1 and the values are nan.
    """

    s: Float[np.ndarray, " n"]
    x: Float[np.ndarray, "n d"]
    piece: Int[np.ndarray, " n"]
    u: Float[np.ndarray, " n"]
    flux: Float[np.ndarray, "n d"]

    def __len__(self) -> int:
        return len(self.s)

    def columns(self) -> dict[str, np.ndarray]:
        """All of it by name, as `pandas.DataFrame` takes it: s, x1, ..., piece, u, flux1, ..."""
        d = range(self.x.shape[1])
        points = {f"x{k + 1}": self.x[:, k] for k in d}
        return {"s": self.s, **points, "piece": self.piece, "u": self.u} | {f"flux{k + 1}": self.flux[:, k] for k in d}


def along(solution: Solution, start: ArrayLike, end: ArrayLike, count: int = 101) -> Probe:
    """The solution at `count` points from start to end; see `Solution.along`."""
    ends = [np.atleast_1d(np.asarray(point, float)) for point in (start, end)]
    for name, point in zip(("start", "end"), ends, strict=True):
        if point.shape != (solution.dim,) or not np.isfinite(point).all():
            raise SolutionError(f"{name} is {point.tolist()}; give the {solution.dim} coordinates of a point.")
    if (ends[0] == ends[1]).all():
        raise SolutionError(f"start and end are both {ends[0].tolist()}; give two points.")
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 2:
        raise SolutionError(f"count is {count!r}; give a whole number of points, at least 2.")
    x = np.linspace(ends[0], ends[1], int(count))
    piece = labels_of(solution.statement.known_partition, x).astype(int)
    inside = piece >= 0
    u, flux = np.full(len(x), np.nan), np.full(x.shape, np.nan)
    if inside.any():
        u[inside] = solution(x[inside], piece[inside])
        if solution.statement.has_tensors:
            flux[inside] = solution.flux(x[inside], piece[inside])
    return Probe(np.linalg.norm(x - x[0], axis=1), x, piece, u, flux)
