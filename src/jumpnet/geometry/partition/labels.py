"""Labels of many points at once: each piece is tested only for points near it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from jumpnet.geometry.bodies.primitives import Box, Interval
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.shape import Shape

INSIDE = 1e-10
"""Points this far beyond the domain, relative to its size, still count as its boundary: users round."""
CLOSED = 1e-14
"""Points this close to a piece belong to it, so that two pieces that touch leave no gap between them."""
WITHIN = 1e-12
"""Points of the sides of a box are moved inward by this, relative to its size, before pieces are asked for them."""

FEW = 8
"""Up to this many pieces, points are compared with every box; beyond, they are sorted into bins first."""


class Labeller:
    """x (n, d) -> label (n,): -1 outside the domain, else the first piece that holds the point, else 0."""

    def __init__(self, domain: Shape, pieces: Sequence[Shape]) -> None:
        self.domain = domain
        self.pieces = tuple(pieces)
        self._boxes = [(p.bounds[0] - 1e-12 * domain.size, p.bounds[1] + 1e-12 * domain.size) for p in pieces]
        self._chain = None
        if isinstance(domain, Interval) and pieces and all(isinstance(p, Interval) for p in pieces):
            self._chain = _chain(self.pieces)
        self._bins = _Bins(domain.bounds, self._boxes) if len(pieces) > FEW and domain.dim > 1 else None

    @property
    def size(self) -> int:
        """The number of pieces, piece 0 included."""
        return len(self.pieces) + 1

    def __call__(self, x: Floats) -> np.ndarray:
        labels = np.full(len(x), -1)
        labels[self.domain.contains(x, INSIDE * self.domain.size)] = 0
        if isinstance(self.domain, Box) and self.domain.dim > 1:
            # A piece that reaches a side does so up to rounding: the side is seen from within.
            lower, upper = self.domain.bounds
            x = np.clip(x, lower + WITHIN * self.domain.size, upper - WITHIN * self.domain.size)
        return self._among_pieces(x, labels)

    def beside(self, x: Floats, normals: Floats, owner: int, step: float) -> tuple[np.ndarray, np.ndarray]:
        """The labels ahead of and behind points of a shape's boundary: of a piece's, or with 0 of the domain's.

        The shape's own inside test is skipped, which for curves is most of the work.
        """
        ahead, behind = x + step * normals, x - step * normals
        if owner == 0:
            return np.full(len(x), -1), self._among_pieces(behind, np.zeros(len(x), int))
        held = self.domain.contains(np.concatenate([ahead, behind]), INSIDE * self.domain.size).reshape(2, -1)
        others = self._among_pieces(ahead, np.where(held[0], 0, -1), besides=owner)
        return others, np.where(held[1], owner, -1)

    def _among_pieces(self, x: Floats, labels: np.ndarray, besides: int = 0) -> np.ndarray:
        """Labels of points: those with label 0 get that of the first piece (but one) that holds them."""
        if self._chain is not None:
            starts, ends, owners = self._chain
            k = np.maximum(np.searchsorted(starts, x[:, 0], side="right") - 1, 0)
            held = (labels == 0) & (x[:, 0] >= starts[k]) & (x[:, 0] <= ends[k])
            held &= owners[k] != besides
            labels[held] = owners[k[held]]
            return labels
        for k, near in self._bins.near(x, labels == 0) if self._bins is not None else self._in_boxes(x):
            index = near[labels[near] == 0]
            if len(index) and k + 1 != besides:
                labels[index[self.pieces[k].contains(x[index], CLOSED * self.domain.size)]] = k + 1
        return labels

    def _in_boxes(self, x: Floats) -> Iterator[tuple[int, np.ndarray]]:
        """For each piece the points in its box."""
        columns = np.ascontiguousarray(x.T)
        for k, (lower, upper) in enumerate(self._boxes):
            held = np.ones(len(x), bool)
            for column, a, b in zip(columns, lower, upper, strict=True):
                if a > -np.inf:
                    held &= column >= a
                if b < np.inf:
                    held &= column <= b
            yield k, np.flatnonzero(held)


class _Bins:
    """A grid of bins over the domain, about one for each piece, and the bins that each piece's box reaches into."""

    def __init__(self, bounds: Bounds, boxes: Sequence[Bounds]) -> None:
        self._lower, upper = (np.asarray(end, float) for end in bounds)
        size = upper - self._lower
        side = (np.prod(size) / len(boxes)) ** (1 / len(size))
        self._shape = np.maximum(np.round(size / side), 1)
        self._scale = self._shape / size
        self._stride = np.r_[1.0, np.cumprod(self._shape[:-1])]
        self._count = int(np.prod(self._shape))
        self._of_piece = []
        for box in boxes:
            low, high = self._place(np.array(box))
            spans = [np.arange(a, b + 1) * stride for a, b, stride in zip(low, high, self._stride, strict=True)]
            self._of_piece.append(np.array([sum(place) for place in product(*spans)], int))
        self._pieces_of = [set[int]() for _ in range(self._count)]
        for k, bins in enumerate(self._of_piece):
            for one in bins:
                self._pieces_of[one].add(k)

    def _place(self, x: Floats) -> Floats:
        return np.clip(np.floor((x - self._lower) * self._scale), 0, self._shape - 1)

    def near(self, x: Floats, open_: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        """For each piece that may hold some of the open points, in order, those in its bins."""
        which = np.flatnonzero(open_)
        if not len(which):
            return
        bins = (self._place(x[which]) @ self._stride).astype(int)
        order = np.argsort(bins, kind="stable")
        which, occupied, starts = which[order], *np.unique(bins[order], return_index=True)
        of_bin = dict(zip(occupied.tolist(), np.split(which, starts[1:]), strict=True))
        for k in sorted(set[int]().union(*(self._pieces_of[one] for one in of_bin))):
            yield k, np.concatenate([of_bin[one] for one in self._of_piece[k].tolist() if one in of_bin])


def _chain(pieces: Sequence[Shape]) -> tuple[Floats, Floats, np.ndarray]:
    """Starts, ends and labels of intervals, from the left."""
    ends = np.array([[p.bounds[0][0], p.bounds[1][0]] for p in pieces])
    order = np.argsort(ends[:, 0])
    return ends[order, 0], ends[order, 1], order + 1
