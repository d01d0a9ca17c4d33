"""A piecewise polynomial on the line as plain arrays, evaluated at points of named pieces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from jumpnet.fe.line.elements import shapes

BATCH = 1 << 15  # points at a time: tables of functions stay in the cache


@dataclass(frozen=True, eq=False)
class LineExpansion:
    """Elements from left to right: ends, piece, order, and coefficients (elements.py), padded by zeros.

    Points are (n, 1). A point outside the piece named is seen from the element of that piece that is nearest.
    """

    start: Float[np.ndarray, " n"]
    end: Float[np.ndarray, " n"]
    piece: Int[np.ndarray, " n"]
    order: Int[np.ndarray, " n"]
    coefficients: Float[np.ndarray, "n p"]

    @property
    def unknowns(self) -> int:
        """The number of coefficients, those that neighbours share counted once."""
        return int(self.order.sum()) + 1

    def value(self, x: Float[np.ndarray, "n 1"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """u."""
        return self._derivative(x, piece, 0)

    def gradient(self, x: Float[np.ndarray, "n 1"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n 1"]:
        """u'."""
        return self._derivative(x, piece, 1)[:, None]

    def hessian(self, x: Float[np.ndarray, "n 1"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n 1 1"]:
        """u''."""
        return self._derivative(x, piece, 2)[:, None, None]

    def elements(self, x: Float[np.ndarray, " n"], piece: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
        """The element of the piece named that holds each point, or is nearest to it."""
        found = np.clip(np.searchsorted(self.start, x, side="right") - 1, 0, len(self.start) - 1)
        before = np.maximum(found - 1, 0)
        found = np.where((self.piece[found] != piece) & (self.end[before] >= x), before, found)
        wrong = (self.piece[found] != piece) | (self.end[found] < x)
        for p in np.unique(piece[wrong]):
            mine, own = np.flatnonzero(wrong & (piece == p)), self._of_piece[int(p)]
            below = np.clip(np.searchsorted(self.start[own], x[mine], side="right") - 1, 0, len(own) - 1)
            above = np.minimum(below + 1, len(own) - 1)
            nearer = np.abs(self.start[own[above]] - x[mine]) < np.abs(x[mine] - self.end[own[below]])
            inside = (self.start[own[below]] <= x[mine]) & (x[mine] <= self.end[own[below]])
            found[mine] = own[np.where(nearer & ~inside, above, below)]
        return found

    @cached_property
    def _of_piece(self) -> dict[int, np.ndarray]:
        return {int(p): np.flatnonzero(self.piece == p) for p in np.unique(self.piece)}

    def _derivative(self, x: np.ndarray, piece: np.ndarray, order: int) -> Float[np.ndarray, " n"]:
        x, piece = np.asarray(x, float)[:, 0], np.broadcast_to(piece, len(x))
        result = np.empty(len(x))
        for first in range(0, len(x), BATCH):
            part = slice(first, first + BATCH)
            k = self.elements(x[part], piece[part])
            h = self.end[k] - self.start[k]
            # From the nearer end: near a vertex the distance to it is what counts.
            left = x[part] - self.start[k] <= self.end[k] - x[part]
            xi = np.where(left, 2 * (x[part] - self.start[k]) / h - 1, 1 - 2 * (self.end[k] - x[part]) / h)
            top = int(self.order[k].max()) if len(k) else 1
            table = shapes(xi, top)[order]
            result[part] = np.einsum("np,np->n", table, self.coefficients[k, : top + 1]) * (2 / h) ** order
        return result
