"""Problems with a known solution: u is given in every piece, and f, g, v, w are derived from it.

All data are evaluated pointwise from the fields of u, A and lam, by the equations themselves; nothing is
multiplied out symbolically, so large formulas stay fast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jumpnet.errors import ProblemError
from jumpnet.fields import Field, TensorField, Values, scalar_field
from jumpnet.geometry import Partition
from jumpnet.guard.text import shorten
from jumpnet.problem import inputs
from jumpnet.problem.conditions import (
    Array,
    BoundaryData,
    Condition,
    Dirichlet,
    Jump,
    JumpData,
    Labels,
    Neumann,
    Robin,
)
from jumpnet.problem.deprecated import partition_once_parts
from jumpnet.problem.potential import partition_coefficients
from jumpnet.problem.problem import Problem

# The description of data that the exact solution defines.
DERIVED = {"kind": "manufactured"}
# A source below this part of its largest term is set to zero: rounding noise would look like data that are not smooth.
ROUNDING = 1e-14


@dataclass(frozen=True)
class DerivedSource(Values):
    """f = A : hess u + div A . grad u - lam u in one piece."""

    u: Field
    A: TensorField
    lam: Field

    def value(self, x: Array) -> Array:
        second = self.A.value(x) * self.u.hessian(x)
        first = self.A.divergence(x) * self.u.gradient(x)
        reaction = self.lam.value(x) * self.u.value(x)
        f = second.sum(axis=(1, 2)) + first.sum(axis=1) - reaction
        size = np.abs(second).sum(axis=(1, 2)) + np.abs(first).sum(axis=1) + np.abs(reaction)
        return np.where(np.abs(f) <= ROUNDING * size, 0.0, f)

    def spec(self) -> dict[str, Any]:
        return DERIVED


@dataclass(frozen=True)
class DerivedOnBoundary(BoundaryData):
    """g = alpha u + beta A grad u . n with u and A of the piece that the point bounds."""

    u: tuple[Field, ...]
    A: tuple[TensorField, ...]
    alpha: Field | None  # None: no value term
    beta: float

    def value(self, x: Array, normals: Array, labels: Labels) -> Array:
        g = np.zeros(x.shape[0])
        for piece in np.unique(labels):
            mine = labels == piece
            if self.alpha is not None:
                g[mine] += self.alpha.value(x[mine]) * self.u[piece].value(x[mine])
            if self.beta:
                g[mine] += self.beta * normal_flux(self.u[piece], self.A[piece], x[mine], normals[mine])
        return g

    def spec(self) -> dict[str, Any]:
        return DERIVED


@dataclass(frozen=True)
class DerivedValueJump(JumpData):
    """v = u_a/K_a - u_b/K_b - R times the mean of A_a grad u_a . n and A_b grad u_b . n."""

    u: tuple[Field, Field]
    A: tuple[TensorField, TensorField]
    R: Field
    K: tuple[float, float] = (1.0, 1.0)

    def value(self, x: Array, normals: Array) -> Array:
        v = self.u[0].value(x) / self.K[0] - self.u[1].value(x) / self.K[1]
        R = self.R.value(x)
        if R.any():
            v -= R * (normal_flux(self.u[0], self.A[0], x, normals) + normal_flux(self.u[1], self.A[1], x, normals)) / 2
        return v

    def spec(self) -> dict[str, Any]:
        return DERIVED


@dataclass(frozen=True)
class DerivedFluxJump(JumpData):
    """w = A_a grad u_a . n - A_b grad u_b . n."""

    u: tuple[Field, Field]
    A: tuple[TensorField, TensorField]

    def value(self, x: Array, normals: Array) -> Array:
        return normal_flux(self.u[0], self.A[0], x, normals) - normal_flux(self.u[1], self.A[1], x, normals)

    def spec(self) -> dict[str, Any]:
        return DERIVED


def normal_flux(u: Field, A: TensorField, x: Array, normals: Array) -> Array:
    """A grad u . n (n,)."""
    return np.einsum("ni,nij,nj->n", normals, A.value(x), u.gradient(x))


@partition_once_parts
def manufactured(
    partition: Partition,
    u: Any,
    A: Any = 1.0,
    lam: Any = 0.0,
    boundary: Any = Dirichlet,
    *,
    div_A: Any = None,
    R: Any = 0.0,
    K: Any = 1.0,
    constants: Mapping[str, float] | None = None,
) -> Problem:
    """The problem whose solution is u: f, boundary data and jumps follow from it.

    Args:
        partition: The pieces, a `jn.Partition`.
        u: The solution, one value for each piece.
        A: As in `Problem`.
        lam: As in `Problem`.
        boundary: Kinds only: `Dirichlet`, `Neumann` or `(Robin, alpha)`, for all parts or per part name.
        div_A: As in `Problem`.
        R: The contact resistance, one for all interfaces or a mapping from pairs.
        K: As in `Problem`.
        constants: As in `Problem`.

    Returns:
        The problem; its `exact` is u.

    Example:
        >>> import jumpnet as jn
        >>> problem = jn.manufactured(jn.Partition.chain([0, 1, 2]), ["x1**2", "3 + x1"], A=[1.0, 5.0])
        >>> jn.solve(problem).errors().l2 < 1e-9
        True
    """
    parts = inputs.partition(partition)
    names = inputs.constants(constants, parts)
    exact = inputs.fields(u, parts, "u", names)
    matrices = inputs.matrices(A, div_A, parts, names)
    decay = inputs.fields(lam, parts, "lam", names)
    ratio = partition_coefficients(K, parts, names)
    kinds = boundary if isinstance(boundary, Mapping) else dict.fromkeys(parts.boundary_parts, boundary)
    conditions = {
        part: _condition(kind, part, parts.dim, exact, matrices, names)
        for part, kind in inputs.named_parts(kinds, parts).items()
    }
    contacts = {pair: Jump(R=r) for pair, r in R.items()} if isinstance(R, Mapping) else Jump(R=R)
    resistances = {pair: jump.R for pair, jump in inputs.jumps(contacts, parts, names).items()}
    jumps = {}
    for interface in parts.interfaces:
        a, b = interface.pair
        sides, fluxes = (exact[a], exact[b]), (matrices[a], matrices[b])
        contact = resistances[a, b]
        jump = DerivedValueJump(sides, fluxes, contact, (ratio[a], ratio[b]))
        jumps[a, b] = Jump(jump, DerivedFluxJump(sides, fluxes), contact)
    source = [DerivedSource(*piece) for piece in zip(exact, matrices, decay, strict=True)]
    return Problem(parts, list(matrices), list(decay), source, conditions, jumps, exact=list(exact), K=ratio)


def _condition(
    kind: Any,
    part: str,
    dim: int,
    u: tuple[Field, ...],
    A: tuple[TensorField, ...],
    names: dict[str, float],
) -> Condition:
    if kind is Dirichlet:
        return Dirichlet(DerivedOnBoundary(u, A, scalar_field(1.0, dim, what="alpha"), 0.0))
    if kind is Neumann:
        return Neumann(DerivedOnBoundary(u, A, None, 1.0))
    if isinstance(kind, tuple) and len(kind) == 2 and kind[0] is Robin:
        alpha = scalar_field(kind[1], dim, what=f"alpha of Robin on {part!r}", constants=names)
        return Robin(alpha, DerivedOnBoundary(u, A, alpha, 1.0))
    raise ProblemError(
        f"boundary[{part!r}] is {shorten(kind)}; a manufactured problem derives its data, so the "
        "kind alone is "
        "wanted: Dirichlet, Neumann or (Robin, alpha)."
    )
