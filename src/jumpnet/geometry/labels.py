"""Labels of many points at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.primitives import Interval
from jumpnet.geometry.shape import Shape

INSIDE = 1e-10
"""Points this far beyond the domain, relative to its size, still count as its boundary: users round."""
CLOSED = 1e-14
"""Points this close to a piece belong to it, so that two pieces that touch leave no gap between them."""


class Labeller:
    """x (n, d) -> label (n,): -1 outside the domain, else the first piece that holds the point, else 0."""

    def __init__(self, domain: Shape, pieces: Sequence[Shape]) -> None:
        self.domain = domain
        self.pieces = tuple(pieces)
        self._boxes = [(p.bounds[0] - 1e-12 * domain.size, p.bounds[1] + 1e-12 * domain.size) for p in pieces]
        self._chain = None
        if isinstance(domain, Interval) and pieces and all(isinstance(p, Interval) for p in pieces):
            self._chain = _chain(self.pieces)

    @property
    def size(self) -> int:
        """The number of pieces, piece 0 included."""
        return len(self.pieces) + 1

    def __call__(self, x: Floats) -> np.ndarray:
        labels = np.full(len(x), -1)
        labels[self.domain.contains(x, INSIDE * self.domain.size)] = 0
        if self._chain is not None:
            starts, ends, owners = self._chain
            k = np.maximum(np.searchsorted(starts, x[:, 0], side="right") - 1, 0)
            held = (labels == 0) & (x[:, 0] >= starts[k]) & (x[:, 0] <= ends[k])
            labels[held] = owners[k[held]]
            return labels
        columns = np.ascontiguousarray(x.T)
        for k, (piece, (lower, upper)) in enumerate(zip(self.pieces, self._boxes, strict=True), start=1):
            held = labels == 0
            for column, a, b in zip(columns, lower, upper, strict=True):
                if a > -np.inf:
                    held &= column >= a
                if b < np.inf:
                    held &= column <= b
            index = np.flatnonzero(held)
            if len(index):
                labels[index[piece.contains(x[index], CLOSED * self.domain.size)]] = k
        return labels


def _chain(pieces: Sequence[Shape]) -> tuple[Floats, Floats, np.ndarray]:
    """Starts, ends and labels of intervals, from the left."""
    ends = np.array([[p.bounds[0][0], p.bounds[1][0]] for p in pieces])
    order = np.argsort(ends[:, 0])
    return ends[order, 0], ends[order, 1], order + 1
