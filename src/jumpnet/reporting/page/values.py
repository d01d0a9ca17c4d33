"""Values of a solution on the grids of a page, continued beyond the ends of pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.ndimage import distance_transform_edt

from jumpnet.errors import JumpnetError
from jumpnet.reporting.grid import Grid
from jumpnet.solution import Solution

BEYOND = 2  # grid points by which values reach beyond a piece: what cubics need
CHECKED = 400  # random points at which the interpolation is compared with the solution
SEED = 20177  # of the random points: any number, always the same
TINY = 1e-300  # lower bound of values on a logarithmic scale
# Points and pieces to one or several numbers for each, and the names of these.
Part = tuple[tuple[str, ...], Callable[[np.ndarray, np.ndarray], np.ndarray]]


class Values:
    """Parts of a solution, evaluated at given points; keeps the ranges of the values inside the domain."""

    def __init__(self, solution: Solution, parts: tuple[Part, ...], offered: list[dict[str, Any]]) -> None:
        self.dim, self.parts, self.offered, self.partition = solution.dim, parts, offered, solution.partition
        self.solution = solution
        self.seen: dict[str, list[np.ndarray]] = {q["key"]: [] for q in offered}
        self.patches: list[tuple[Grid, int, tuple[slice, slice], np.ndarray]] = []

    def __call__(self, x: np.ndarray, piece: np.ndarray) -> dict[str, np.ndarray]:
        """Each part at points seen from pieces; nan where it has no value (a formula beyond its range)."""
        found: dict[str, np.ndarray] = {}
        for names, part in self.parts:
            with np.errstate(all="ignore"):
                try:
                    columns = part(x, piece).reshape(len(x), -1)
                except JumpnetError:  # data that are not finite, or small elements, beyond the end of a piece
                    columns = self._inside(part, len(names), x, piece)
            found |= dict(zip(names, columns.T, strict=True))
        return found

    def around(self, x: np.ndarray, piece: int, inside: np.ndarray, nearest: np.ndarray) -> dict[str, np.ndarray]:
        """Each part at points of a piece and some beyond it; `nearest` is for each the nearest of those inside.

        Finite elements end with their piece: u goes on along its gradient, the rest as it is at the nearest point.
        """
        own = np.full(len(x), piece)
        confined = ("u", "flux1", "error") if self.solution.confined else ()
        ending = [part for part in self.parts if part[0][0] in (*confined, "judged")]
        found = Values(self.solution, tuple(part for part in self.parts if part not in ending), [])(x, own)
        known = Values(self.solution, tuple(ending), [])(x[inside], own[inside])
        found |= {name: values[nearest] for name, values in known.items()}
        if self.solution.confined and not inside.all():
            at = nearest[~inside]
            slope = self.solution.grad(x[inside], piece)[at]
            found["u"][~inside] += np.sum(slope * (x[~inside] - x[inside][at]), axis=1)
        return {name: found[name] for names, _ in self.parts for name in names}

    def _inside(
        self, part: Callable[[np.ndarray, np.ndarray], np.ndarray], width: int, x: np.ndarray, piece: np.ndarray
    ) -> np.ndarray:
        """A part at the points that are in their piece; nan elsewhere, and everywhere if that fails too."""
        columns = np.full((len(x), width), np.nan)
        mine = np.zeros(len(x), bool) if self.partition is None else self.partition.label(x) == piece
        try:
            columns[mine] = part(x[mine], piece[mine]).reshape(int(mine.sum()), width)
        except JumpnetError:
            pass
        return columns

    def see(self, values: dict[str, np.ndarray]) -> None:
        """Take values inside the domain into the ranges."""
        for quantity in self.offered:
            rows = np.array([values[name] for name in quantity["parts"]])
            shown = rows[0] if quantity["kind"] == "plain" else np.sqrt((rows**2).sum(axis=0))
            self.seen[quantity["key"]].append(shown[np.isfinite(shown)])

    def range(self, quantity: dict[str, Any]) -> tuple[float, float]:
        """The ends of the colour scale; where it is logarithmic, without the spikes at changes of sign."""
        seen = np.concatenate(self.seen[quantity["key"]]) if self.seen[quantity["key"]] else np.zeros(0)
        if seen.size == 0:
            return 0.0, 1.0
        if quantity["kind"] != "log":
            return float(seen.min()), float(seen.max())
        top = max(float(seen.max()), TINY * 10)
        return max(min(float(np.quantile(seen, 0.01)), top / 10), 1e-8 * top, TINY), top


def nearest(part: Grid, inside: np.ndarray) -> np.ndarray:
    """For each point of a grid the nearest of those inside, by its number among them."""
    steps = part.y[1] - part.y[0], part.x[1] - part.x[0]
    nearest = np.asarray(distance_transform_edt(~inside, sampling=steps, return_distances=False, return_indices=True))
    rows, columns = nearest
    return (np.cumsum(inside.ravel()) - 1).reshape(inside.shape)[rows, columns]


def interpolation_error(solution: Solution, values: Values) -> float | None:
    """The largest difference between cubics on the grid, as the page draws them, and u, at random points of pieces."""
    rng = np.random.default_rng(SEED)
    worst: list[float] = []
    for grid, piece, window, u in values.patches:
        inside = np.argwhere((grid.label == piece)[window])
        share = max(4, round(CHECKED * len(inside) / max((grid.label >= 0).sum(), 1)))
        place = inside[rng.integers(len(inside), size=share)] + rng.uniform(-0.5, 0.5, (share, 2))
        place = np.clip(place, 1.0, np.array(u.shape) - 2.001)
        x = np.column_stack(
            [grid.x[window[1].start] + place[:, 1] * (grid.x[1] - grid.x[0]),
             grid.y[window[0].start] + place[:, 0] * (grid.y[1] - grid.y[0])]
        )  # fmt: skip
        points = grid.plane.lifted(x)
        partition = solution.partition
        mine = partition.label(points) == piece if partition is not None else np.zeros(share, bool)
        if mine.any():
            error = np.abs(cubic(u, place[mine]) - solution(points[mine], piece))
            worst += error[np.isfinite(error)].tolist()
    return max(worst) if worst else None


def cubic(values: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Values between the points of a grid, by cubics through 4 x 4 of them; `place` counts rows and columns."""
    whole = np.floor(place).astype(int)
    t = place - whole
    weights = np.stack(
        [
            -t * (t - 1) * (t - 2) / 6,
            (t + 1) * (t - 1) * (t - 2) / 2,
            -(t + 1) * t * (t - 2) / 2,
            (t + 1) * t * (t - 1) / 6,
        ]
    )
    total = np.zeros(len(place))
    for i in range(4):
        for j in range(4):
            total += weights[i, :, 0] * weights[j, :, 1] * values[whole[:, 0] + i - 1, whole[:, 1] + j - 1]
    return total
