"""The function u itself: a basis expansion, a network or finite elements, with what is added in closed form.

u = K (scale * network + supplement), where the factors K are those of the pieces. Every value is a functional at sites,
taken through the same charts and the same network as in the solve.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from jumpnet.charts import Atlas
from jumpnet.fe.features import PieceFields, fields_of, voxels_of
from jumpnet.fe.voxel import VoxelField
from jumpnet.models import Frozen, Network, frozen_values, site_values
from jumpnet.problem import Supplement
from jumpnet.rows import Sites
from jumpnet.solution.batches import each_batch


@dataclass(frozen=True, eq=False)
class Representation:
    """Parameters and what they are the parameters of; gives functionals of u at points seen from pieces."""

    network: Network | Frozen
    theta: Float[np.ndarray, " parameters"]
    atlas: Atlas
    scale: float = 1.0
    supplement: Supplement = field(default_factory=Supplement)
    factors: tuple[float, ...] = ()

    @cached_property
    def elements(self) -> PieceFields | None:
        """The field of finite elements on a mesh, where that is the representation."""
        return fields_of(self.network, self.theta)

    @cached_property
    def voxels(self) -> VoxelField | None:
        """The finite volumes on voxels, where that is the representation."""
        return voxels_of(self.network)

    @cached_property
    def _without_factors(self) -> "Representation":
        return replace(self, factors=())

    def functional(
        self, x: np.ndarray, cell: np.ndarray, a0: float | np.ndarray, a1: np.ndarray, a2: np.ndarray | None = None
    ) -> Float[np.ndarray, " n"]:
        """a0 u + a1 . grad u + a2 : hess u at points seen from pieces."""
        if self.factors:
            return self._multiplied(self._without_factors.functional(x, cell, a0, a1, a2), cell)
        if a2 is None and not np.any(a1):
            return self._value(x, cell, a0, a1)
        n, d = x.shape
        whole = (
            np.broadcast_to(a0, n),
            np.broadcast_to(a1, (n, d)),
            np.broadcast_to(0.0 if a2 is None else a2, (n, d, d)),
        )
        order, result = 1 if a2 is None else 2, np.empty(n)

        def evaluate(part: slice, taken: slice | np.ndarray) -> None:
            sites = self.atlas.push(Sites(x[taken], cell[taken], *(a[taken] for a in whole), order=order))
            values = self.scale * site_values(self.network, self.theta, sites)[: part.stop - part.start]
            result[part] = values + self.supplement.functional(x[part], cell[part], whole[0][part], whole[1][part])

        each_batch(evaluate, n)
        return result

    def gradient(self, x: np.ndarray, cell: np.ndarray) -> Float[np.ndarray, "n d"]:
        """The gradient of u at points seen from pieces."""
        directions = np.eye(x.shape[1])
        if (elements := self.elements) is not None:
            slope = self.scale * elements.gradient(x, cell)
            if self.supplement.singular:
                slope = slope + np.stack([self.supplement.functional(x, cell, 0.0, e) for e in directions], axis=1)
            return self._multiplied(slope, cell)
        if self.network.expansion is not None:  # whose charts are its own
            return np.stack([self.functional(x, cell, 0.0, e) for e in directions], axis=1)
        gradient = np.empty(x.shape)

        def evaluate(part: slice, taken: slice | np.ndarray) -> None:
            y, dy, _ = self.atlas.jet(x[taken], cell[taken], 1)  # once for all directions
            none = np.zeros(len(y)), np.broadcast_to(0.0, (len(y), 1, 1))
            for k, e in enumerate(directions):
                sites = Sites(y, cell[taken], none[0], dy[:, :, k], none[1], order=1)
                values = self.scale * site_values(self.network, self.theta, sites)[: part.stop - part.start]
                gradient[part, k] = values + self.supplement.functional(x[part], cell[part], 0.0, e)

        each_batch(evaluate, len(x))
        return self._multiplied(gradient, cell)

    def _value(self, x: np.ndarray, cell: np.ndarray, a0: float | np.ndarray, zero: np.ndarray) -> np.ndarray:
        """a0 u, for which expansions and elements have shorter ways than sites."""
        if (elements := self.elements) is not None:
            return self.scale * a0 * elements.value(x, cell) + self.supplement.functional(x, cell, a0, zero)
        n, d = x.shape
        factor, slope = np.broadcast_to(a0, n), np.broadcast_to(zero, (n, d))
        network, expansion, result = self.network, self.network.expansion, np.empty(n)

        def evaluate(part: slice, taken: slice | np.ndarray) -> None:
            added = self.supplement.functional(x[part], cell[part], factor[part], slope[part])
            if expansion is not None:
                u = frozen_values(expansion, self.theta, x[part], cell[part])
                result[part] = self.scale * factor[part] * u + added
                return
            second = np.broadcast_to(0.0, (len(x[taken]), d, d))
            sites = self.atlas.push(Sites(x[taken], cell[taken], factor[taken], slope[taken], second, order=0))
            result[part] = self.scale * site_values(network, self.theta, sites)[: part.stop - part.start] + added

        each_batch(evaluate, n)
        return result

    def _multiplied(self, values: np.ndarray, cell: np.ndarray) -> np.ndarray:
        """Values (n,) or (n, d) times the factors of the pieces they are seen from."""
        if not self.factors:
            return values
        factor = np.asarray(self.factors)[cell]
        return factor * values if values.ndim == 1 else factor[:, None] * values
