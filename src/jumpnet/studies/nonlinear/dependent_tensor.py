"""A(x, u) as a function of x and u, with the derivatives that nonlinear rows need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.fields import TensorField
from jumpnet.studies.nonlinear.dependent import Dependent

Array = Float[np.ndarray, "..."]


@dataclass(frozen=True, eq=False)
class DependentTensor:
    """A in one piece: a field of x, or entries that depend on u, one for a multiple of the identity."""

    entries: TensorField | tuple[Dependent, ...]
    dim: int

    @property
    def plain(self) -> bool:
        """Whether it does not depend on u."""
        return isinstance(self.entries, TensorField) or all(one.plain for one in self.entries)

    def value(self, x: Array, u: Array) -> Float[np.ndarray, "n d d"]:
        """The matrix."""
        if isinstance(self.entries, TensorField):
            return self.entries.value(x)
        return self._matrix([one.value(x, u) for one in self.entries])

    def slopes(self, x: Array, u: Array) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d d"]]:
        """The divergence at fixed u, and the derivative by u."""
        if isinstance(self.entries, TensorField):
            return self.entries.divergence(x), np.zeros((*x.shape, self.dim))
        found = [one.slopes(x, u) for one in self.entries]
        return self._divergence([by_x for by_x, _ in found]), self._matrix([by_u for _, by_u in found])

    def curvatures(self, x: Array, u: Array) -> tuple[Float[np.ndarray, "n d"], Float[np.ndarray, "n d d"]]:
        """The derivatives of both by u."""
        if isinstance(self.entries, TensorField):
            return np.zeros_like(x), np.zeros((*x.shape, self.dim))
        found = [one.curvatures(x, u) for one in self.entries]
        return self._divergence([by_xu for by_xu, _ in found]), self._matrix([by_uu for _, by_uu in found])

    def conormal(self, x: Array, u: Array, n: Array) -> tuple[Array, Array]:
        """A n and A_u n."""
        by_u = None if self.plain else self.slopes(x, u)[1]
        along = np.zeros_like(x) if by_u is None else np.einsum("nij,nj->ni", by_u, n)
        return np.einsum("nij,nj->ni", self.value(x, u), n), along

    def _matrix(self, entries: list[Array]) -> Array:
        if len(entries) == 1:
            return entries[0][:, None, None] * np.eye(self.dim)
        return np.stack(entries, axis=1).reshape(-1, self.dim, self.dim)

    def _divergence(self, gradients: list[Array]) -> Array:
        """sum_i d_i A_ij, from the gradients of the entries."""
        if len(gradients) == 1:
            return gradients[0]
        each = np.stack(gradients, axis=1).reshape(-1, self.dim, self.dim, self.dim)
        return np.einsum("niji->nj", each)
