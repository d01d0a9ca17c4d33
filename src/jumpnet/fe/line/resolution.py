"""A mesh on which the data are resolved: intervals halved until polynomials of degree 15 meet A, 1/A, lam and f.

The data are first sampled everywhere (bottom up, from cells of 1/4096 of the domain with 16 points each), so that a
source whose width is 1e-5 of the domain is not missed; then halving goes on (top down) where the finest cells are too
coarse, down to rounding: towards jumps, kinks and degenerate coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from jumpnet.fe.line.elements import gauss
from jumpnet.fe.line.statement import LineStatement

POINTS = 16  # in a cell
FINEST, COARSEST = 12, 3  # levels of bisection at which data are sampled everywhere, in the domain and in each interval
AGAIN, LEAST = 9, 1  # the same for other data on cells that resolve the first
ROUNDING = 256 * np.finfo(float).eps  # relative deviation that is ascribed to rounding in the data
# Near ends of intervals and points that formulas name, data are sampled at distances of 4^-1 to 4^-NEAR of a cell.
NEAR = 20
NOISY = 1500  # finest cells that are not resolved: the data are noise, or oscillate faster than can be followed
DEEPEST = 400  # halvings below the finest cells: near x = 0 floating-point numbers resolve far smaller lengths
SHORTEST = 16 * np.finfo(float).eps  # cells are not halved below this length, relative to |x|


TINY = 1e-300  # smaller values of A have no finite inverse


@dataclass(frozen=True, eq=False)
class Cells:
    """Parts of intervals, and the values of A, lam, f and 1/A at Gauss's points in each (4, n, POINTS)."""

    start: Float[np.ndarray, " n"]
    end: Float[np.ndarray, " n"]
    interval: Int[np.ndarray, " n"]
    values: Float[np.ndarray, "4 n k"]

    @staticmethod
    def of(statement: LineStatement, start: np.ndarray, end: np.ndarray, interval: np.ndarray) -> Cells:
        """The cells with their data."""
        x = start[:, None] + 0.5 * (end - start)[:, None] * (1 + gauss(POINTS)[0])
        return Cells(start, end, interval, Cells.data(statement, x, statement.piece[interval]))

    @staticmethod
    def data(statement: LineStatement, x: Float[np.ndarray, "n k"], piece: Int[np.ndarray, " n"]) -> np.ndarray:
        """A, lam, f and 1/A (4, n, k) at points of pieces."""
        A, lam, f = (function(x, piece) for function in (statement.A, statement.lam, statement.f))
        return np.stack([A, lam, f, 1 / np.maximum(A, TINY)])

    def __len__(self) -> int:
        return len(self.start)

    def __getitem__(self, index: np.ndarray) -> Cells:
        return Cells(self.start[index], self.end[index], self.interval[index], self.values[:, index])

    def halves(self, statement: LineStatement) -> Cells:
        """Both halves of each cell, one after the other."""
        middle = 0.5 * (self.start + self.end)
        start, end = np.stack([self.start, middle], axis=1).ravel(), np.stack([middle, self.end], axis=1).ravel()
        return Cells.of(statement, start, end, np.repeat(self.interval, 2))


@dataclass(frozen=True, eq=False)
class Resolution:
    """The cells, and by how much the means of lam, f and 1/A depend on the rule (zero where they are resolved)."""

    start: Float[np.ndarray, " n"]
    end: Float[np.ndarray, " n"]
    interval: Int[np.ndarray, " n"]
    unresolved: Float[np.ndarray, "n 3"]
    wave: Float[np.ndarray, " n"]
    """The largest sqrt(-lam/A) in each cell."""
    decay: float
    """The largest |lam|."""
    layer: Float[np.ndarray, " n"]
    """The largest sqrt(lam/A) in each cell: the inverse of the width of layers."""


def resolve(statement: LineStatement, tol: float, known: Resolution | None = None) -> Resolution:
    """The coarsest cells, by halving, whose data are resolved to `tol`.

    `known` cells resolve A, lam and the sharp features of f already: fewer points are looked at, in parts of those.
    """
    found: list[tuple[Cells, np.ndarray]] = []
    blocks = _blocks(statement) if known is None else (known.start, known.end, known.interval)
    levels = (FINEST, COARSEST) if known is None else (AGAIN, LEAST)
    cells, level = _uniform(statement, *blocks, *levels)
    special = np.unique(np.concatenate(blocks[:2])) if known is None else np.zeros(0)
    scale = _Scale.of(statement, cells, special)
    good, gap = scale.resolved(cells, cells.halves(statement), tol)
    rough, gaps = cells[~good], gap[~good]
    while level.max(initial=0) > 0:  # pairs of the finest level that one cell can replace
        low = np.flatnonzero(level == level.max())[::2]
        parent = Cells.of(statement, cells.start[low], cells.end[low + 1], cells.interval[low])
        pairs = cells[np.stack([low, low + 1], axis=1).ravel()]
        merged = good[low] & good[low + 1] & scale.resolved(parent, pairs, tol)[0]
        leaf = np.stack([low, low + 1], axis=1)[~merged].ravel()
        leaf = leaf[good[leaf]]
        found.append((cells[leaf], np.zeros((len(leaf), 3))))
        cells, level, good = _replaced(cells, level, good, low, parent, merged)
    found.append((cells[good], np.zeros((int(good.sum()), 3))))
    found += _deeper(statement, scale, rough, gaps, tol)
    return _joined(found)


def _replaced(
    cells: Cells, level: np.ndarray, good: np.ndarray, low: np.ndarray, parent: Cells, merged: np.ndarray
) -> tuple[Cells, np.ndarray, np.ndarray]:
    """The cells with pairs replaced by their parents, which are good where they were merged."""
    kept = np.ones(len(cells), bool)
    kept[low + 1] = False
    start, end, values = cells.start, cells.end.copy(), cells.values.copy()
    end[low], values[:, low] = parent.end, parent.values
    level, good = level.copy(), good.copy()
    level[low] -= 1
    good[low] = merged
    return Cells(start, end, cells.interval, values)[kept], level[kept], good[kept]


def _deeper(
    statement: LineStatement, scale: _Scale, cells: Cells, gap: np.ndarray, tol: float
) -> list[tuple[Cells, np.ndarray]]:
    """Cells halved until their data are resolved, or as far as it goes."""
    found = []
    for _ in range(DEEPEST):
        if not len(cells):
            return found
        if len(cells) > NOISY:
            break
        halves = cells.halves(statement)
        quarters = halves.halves(statement)
        good, gap = scale.resolved(halves, quarters, tol)
        good |= halves.end - halves.start <= SHORTEST * np.maximum(np.abs(halves.start), np.abs(halves.end))
        found.append((halves[good], gap[good]))
        cells, gap = halves[~good], gap[~good]
    return [*found, (cells, gap)]


@dataclass(frozen=True, eq=False)
class _Scale:
    """The size of the data over the whole domain, of 1/A, |lam| and |f|, against which deviations are measured."""

    statement: LineStatement
    special: Float[np.ndarray, " s"]
    length: float
    resistance: float
    lam: float
    f: float

    @staticmethod
    def of(statement: LineStatement, cells: Cells, special: np.ndarray) -> _Scale:
        w = 0.5 * gauss(POINTS)[1]
        h = cells.end - cells.start
        sizes = np.array([h @ (np.abs(one) @ w) for one in cells.values[1:]])
        for _, away, at, _ in _near(statement, cells, special):
            sizes = np.maximum(sizes, (away * np.abs(at[1:])).max(axis=(1, 2), initial=0.0))
        decay, load, resistance = sizes.tolist()
        return _Scale(statement, special, statement.length, resistance, decay, load)

    def resolved(self, cells: Cells, halves: Cells, tol: float) -> tuple[np.ndarray, np.ndarray]:
        """Whether the halves' data lie on the cells' polynomials; and the changes of the means of lam, f and 1/A."""
        fine = halves.values.reshape(4, len(cells), 2 * POINTS)
        deviation = np.abs(cells.values @ _TO_HALVES.T - fine)
        rounding = deviation <= ROUNDING * np.abs(fine).max(axis=2, keepdims=True)
        h, w = cells.end - cells.start, 0.5 * gauss(POINTS)[1]
        wide = 0.5 * np.concatenate([w, w])
        part = np.maximum(h / self.length, h * (fine[3] @ wide) / self.resistance)
        good = ((deviation[0] / fine[0]).max(axis=1) * part <= tol) | rounding[0].all(axis=1)
        for k, size in ((1, self.lam), (2, self.f), (3, self.resistance)):
            good &= (h * (deviation[k] @ wide) <= tol * size) | rounding[k].all(axis=1)
        good &= self._resolved_near(cells, tol)
        gap = np.abs(cells.values[1:] @ w - fine[1:] @ wide).T
        return good, np.where(good[:, None], 0.0, gap)

    def _resolved_near(self, cells: Cells, tol: float) -> np.ndarray:
        """The same close to special points, which cells have at their ends: is nothing narrow hidden there?"""
        good = np.ones(len(cells), bool)
        sizes = ((1, self.lam), (2, self.f), (3, self.resistance))
        for own, away, at, table in _near(self.statement, cells, self.special):
            values = cells.values[:, own]
            deviation = np.abs(values @ table.T - at)
            rounding = deviation <= ROUNDING * np.maximum(np.abs(at), np.abs(values).max(axis=2)[..., None])
            part = np.maximum(away / self.length, away * at[3] / self.resistance)
            close = [deviation[0] / at[0] * part <= tol, *(away * deviation[k] <= tol * size for k, size in sizes)]
            good[own] &= (np.stack(close) | rounding).all(axis=(0, 2))
        return good


def _near(
    statement: LineStatement, cells: Cells, special: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Cells with a special point at their left, then right end: which, distances, data there, and interpolation."""
    for ends, sign, table in ((cells.start, 1.0, _TO_LEFT_END), (cells.end, -1.0, _TO_LEFT_END[:, ::-1])):
        own = np.flatnonzero(np.isin(ends, special) & _varies(statement)[cells.interval])
        away = (cells.end - cells.start)[own, None] * 0.25 ** np.arange(1, NEAR + 1)
        x = np.clip(ends[own, None] + sign * away, cells.start[own, None], cells.end[own, None])
        yield own, away, Cells.data(statement, x, statement.piece[cells.interval[own]]), table


def _blocks(statement: LineStatement) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Starts, ends and intervals of what is left when intervals with varying data are cut at marks."""
    marks, varies = np.asarray(statement.marks, float), _varies(statement)
    owner = np.searchsorted(statement.start, marks, side="right") - 1
    inside = (owner >= 0) & (marks > statement.start[owner]) & (marks < statement.end[owner]) & varies[owner]
    start = np.concatenate([statement.start, marks[inside]])
    order = np.argsort(start)
    interval = np.concatenate([np.arange(len(statement.start)), owner[inside]])
    return start[order], np.sort(np.concatenate([statement.end, marks[inside]])), interval[order]


def _varies(statement: LineStatement) -> np.ndarray:
    """Whether any of the data varies in each interval."""
    return np.any([data.varies[statement.piece] for data in (statement.A, statement.lam, statement.f)], axis=0)


def _uniform(
    statement: LineStatement, start: np.ndarray, end: np.ndarray, interval: np.ndarray, finest: int, coarsest: int
) -> tuple[Cells, Int[np.ndarray, " n"]]:
    """Blocks cut into 2^level cells, with the level of each; those with constant data are not cut."""
    share = (end - start) / statement.length
    level = np.clip(np.ceil(finest + np.log2(share)), coarsest, finest).astype(int)
    count = 1 << np.where(_varies(statement)[interval], level, 0)
    block = np.repeat(np.arange(len(start)), count)
    k, n = np.arange(len(block)) - np.repeat(np.cumsum(count) - count, count), count[block]
    a, b = start[block], end[block]
    first, last = a + (b - a) * (k / n), np.where(k + 1 == n, b, a + (b - a) * ((k + 1) / n))
    return Cells.of(statement, first, last, interval[block]), np.log2(n).astype(int)


def _joined(found: list[tuple[Cells, np.ndarray]]) -> Resolution:
    start, end, interval = (
        np.concatenate([getattr(cells, name) for cells, _ in found]) for name in ("start", "end", "interval")
    )
    A, lam = (np.concatenate([cells.values[k] for cells, _ in found]) for k in (0, 1))
    wave, layer = (np.sqrt(np.maximum(sign * lam / A, 0.0).max(axis=1)) for sign in (-1.0, 1.0))
    order = np.lexsort((start, interval))
    gap = np.concatenate([gap for _, gap in found])
    decay = float(np.abs(lam).max())
    return Resolution(start[order], end[order], interval[order], gap[order], wave[order], decay, layer[order])


def _interpolation(y: Float[np.ndarray, " m"]) -> Float[np.ndarray, "m k"]:
    """From the points of a cell to others in (-1, 1), by the barycentric formula."""
    x = gauss(POINTS)[0]
    weights = np.array([1 / np.prod(x[k] - np.delete(x, k)) for k in range(POINTS)])
    ratio = weights / (y[:, None] - x)
    return ratio / ratio.sum(axis=1, keepdims=True)


# From the points of a cell to those of its halves, and to points that approach its left end.
_TO_HALVES = _interpolation(np.concatenate([0.5 * (gauss(POINTS)[0] - 1), 0.5 * (gauss(POINTS)[0] + 1)]))
_TO_LEFT_END = _interpolation(2 * 0.25 ** np.arange(1, NEAR + 1) - 1)
