"""Places for collocation points that follow data, and sentences about what was found there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from jumpnet.fields import point
from jumpnet.geometry.randomness import EvenlySpread
from jumpnet.problem.trees import Leaves

# Leaves larger than this part of the searched box are resolved by ordinary points (heuristic).
ORDINARY = 1 / 16
# Points of one function that collocation follows, at most. Leaves that together hold less than NEGLIGIBLE of the square
# of the function's changes are left out; flat ones, as beside a jump, count by FLAT times the function's square.
MOST_POINTS, NEGLIGIBLE, FLAT = 192, 1e-6, 1e-6


@dataclass(frozen=True, eq=False)
class Places:
    """Points at which collocation follows data: two in each leaf, `x[0]` for the solve and `x[1]` held out.

    `measure` is the length, area or volume that each stands for, `size` the leaf's. On surfaces, `normal` is outward,
    or from b to a, and `piece` is what lies behind.
    """

    x: Float[np.ndarray, "2 n d"]
    measure: Float[np.ndarray, " n"]
    size: Float[np.ndarray, " n"]
    normal: Float[np.ndarray, "2 n d"]
    piece: Int[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.size)

    def taken(self, which: np.ndarray) -> Places:
        """A selection of them."""
        return Places(self.x[:, which], self.measure[which], self.size[which], self.normal[:, which], self.piece[which])

    @staticmethod
    def join(found: Sequence[Places]) -> Places:
        """Several sets of places as one."""
        x, normal = (np.concatenate([getattr(one, name) for one in found], axis=1) for name in ("x", "normal"))
        measure, size, piece = (
            np.concatenate([getattr(one, name) for one in found]) for name in ("measure", "size", "piece")
        )
        return Places(x, measure, size, normal, piece)


@dataclass(frozen=True)
class Notes:
    """Sentences about what was found."""

    jumps: list[str]
    unresolved: list[str]
    hidden: list[str]

    def add(
        self, what: Callable[[np.ndarray], str], leaves: Leaves, position: Callable[[np.ndarray], np.ndarray]
    ) -> None:
        """Say what the tree found at its smallest size; `what` names the data at a point."""

        def said(places: np.ndarray, how: str) -> str:
            x = position(places[len(places) // 2][None])[0]
            return f"{what(x)} {how} near {point(x)}"

        if len(leaves.rough):
            self.unresolved.append(said(leaves.rough, f"changes within {leaves.smallest:.0e}"))
        if len(leaves.unbounded):
            self.unresolved.append(said(leaves.unbounded, "grows without bound"))
        if len(leaves.jumps):
            self.jumps.append(said(leaves.jumps, "jumps"))


def chosen(leaves: Leaves, ordinary: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Two points (2, n, k) in each of the leaves that matter, the measures they stand for, and the leaves' sizes."""
    kept = np.all(leaves.edge <= ordinary, axis=1)
    measure = leaves.count * leaves.edge.prod(axis=1)
    held = np.where(kept, measure * (leaves.ranges**2 + FLAT * leaves.largest**2), 0.0)
    order = np.argsort(held)
    negligible = np.cumsum(held[order]) <= NEGLIGIBLE * held.sum()
    kept[order[negligible & (held.sum() > 0)]] = False
    which, factor = np.flatnonzero(kept), 1.0
    if len(which) > MOST_POINTS:
        factor = len(which) / MOST_POINTS
        which = which[np.linspace(0, len(which) - 1, MOST_POINTS).round().astype(int)]
    n, k = len(which), leaves.center.shape[1]
    within = EvenlySpread().random((2 * n, k)).reshape(2, n, k) - 0.5
    return (
        leaves.center[which] + within * leaves.edge[which],
        factor * measure[which],
        leaves.edge[which].max(axis=1, initial=0.0),
    )
