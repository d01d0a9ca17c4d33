"""Maps of curved elements at many points, each in an element of its own: by powers, three times as fast as by nodes."""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
from jaxtyping import Float, Int

from jumpnet.fe.mesh import Mesh

Places = Float[np.ndarray, "n d"]
Labels = Int[np.ndarray, " n"]

# Powers are those of the distance from the middle times this, which is below 1 on the simplex: rounding is then
# multiplied by less than a thousand (order 8).
STRETCH = 1.5


@dataclass(frozen=True, eq=False)
class Maps:
    """x(xi) of the elements of a mesh, as sums of powers of the coordinates."""

    mesh: Mesh

    @cached_property
    def _exponents(self) -> Int[np.ndarray, "powers d"]:
        order, d = self.mesh.order, self.mesh.dim
        return np.array([a for a in product(range(order + 1), repeat=d) if sum(a) <= order])

    @cached_property
    def _coefficients(self) -> Float[np.ndarray, "m d powers"]:
        table = self._products(self._powers(self.mesh.basis.barycentric[:, 1:]), None)
        return np.ascontiguousarray(np.matmul(np.linalg.inv(table), self.mesh.nodes).transpose(0, 2, 1))

    def _powers(self, xi: Places) -> Float[np.ndarray, "d degrees n"]:
        s = STRETCH * (xi.T - 1.0 / (self.mesh.dim + 1))
        found = np.ones((self.mesh.dim, self.mesh.order + 1, len(xi)))
        for k in range(self.mesh.order):
            np.multiply(found[:, k], s, out=found[:, k + 1])
        return found

    def _products(self, powers: np.ndarray, along: int | None) -> Float[np.ndarray, "n powers"]:
        """The products of powers, or their derivatives along an axis."""
        found = np.empty((len(self._exponents), powers.shape[2]))
        for row, exponents in zip(found, self._exponents.tolist(), strict=True):
            factor = 1.0
            if along is not None:
                factor = STRETCH * exponents[along]
                exponents[along] = max(exponents[along] - 1, 0)
            np.multiply(powers[0, exponents[0]], factor, out=row)
            for axis in range(1, len(exponents)):
                row *= powers[axis, exponents[axis]]
        return np.ascontiguousarray(found.T)

    def value(self, xi: Places, element: Labels) -> Places:
        """The images of reference points, each in its own element."""
        return np.einsum("ndk,nk->nd", self._coefficients[element], self._products(self._powers(xi), None))

    def jacobian(self, xi: Places, element: Labels) -> Float[np.ndarray, "n d d"]:
        """dx_i/dxi_j."""
        powers = self._powers(xi)
        coefficients, axes = self._coefficients[element], range(self.mesh.dim)
        return np.stack([np.einsum("ndk,nk->nd", coefficients, self._products(powers, k)) for k in axes], axis=2)
