"""The current iterate of u, at which data are evaluated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.spatial import KDTree

from jumpnet.errors import ModelError, SolutionError
from jumpnet.fields import Field
from jumpnet.problem import inputs
from jumpnet.solution import Solution

Array = Float[np.ndarray, "..."]
# Points of the pieces among which those near others are found.
POINTS = 2000


class State:
    """The current u and its gradient, piece by piece: fields, or linear combinations of solutions."""

    def __init__(self, terms: Sequence[tuple[float, Solution]] = (), fields: Sequence[Field] = ()):
        self.terms, self.fields = tuple(terms), tuple(fields)
        self._kept: dict[tuple[int, bool, int], Array] = {}

    def value(self, x: Array, piece: int) -> Array:
        """u (n,) seen from a piece."""
        return self._cached(x, piece, False)

    def gradient(self, x: Array, piece: int) -> Array:
        """grad u (n, d)."""
        return self._cached(x, piece, True)

    def _cached(self, x: Array, piece: int, slope: bool) -> Array:
        """Coefficients ask for u at the same points one after the other."""
        key = piece, slope, hash(x.tobytes())
        if key not in self._kept:
            if len(self._kept) >= 8:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = self._found(x, piece, slope)
        return self._kept[key]

    def _found(self, x: Array, piece: int, slope: bool) -> Array:
        if self.fields:
            one = self.fields[piece]
            return one.gradient(x) if slope else one.value(x)
        return np.sum([factor * _of(one, x, piece, slope) for factor, one in self.terms], axis=0)

    def blended(self, new: Solution, share: float) -> State:
        """This state moved by a share of the way to a solution."""
        if share == 1.0:
            return State([(1.0, new)])
        if self.fields:
            raise ModelError("the first step does not converge; give another start=, or a continuation=.")
        return State([*((factor * (1 - share), one) for factor, one in self.terms), (share, new)])


def _of(solution: Solution, x: Array, piece: int, slope: bool) -> Array:
    """Values or gradients of a solution.

    Surveys of data look at boxes about pieces. Finite elements are not known beyond their piece: there the values of
    points in it nearby are taken.
    """
    ask = solution.grad if slope else solution
    try:
        return ask(x, piece)
    except SolutionError:
        parts = inputs.partition(solution.partition)
        beyond = parts.label(x) != piece
        inside, labels = parts.sample_interior(POINTS, seed=0, minimum=POINTS // 10)
        inside = inside[labels == piece]
        near = np.array(x, float)
        near[beyond] = inside[KDTree(inside).query(x[beyond])[1]]
        return ask(near, piece)
