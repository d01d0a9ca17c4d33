"""The eigenvalue of smallest modulus, by inverse iteration: the distance of a problem with lam < 0 from resonance.

(A u')' - lam u = -mu u with all data zero. A residual r makes an error of up to r/|mu|.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jumpnet.fe.line.elements import ENRICHED, Group, Mesh, tables
from jumpnet.fe.line.statement import LineStatement
from jumpnet.fe.line.system import assemble, coefficients_of

ITERATIONS = 30  # the most steps of the inverse iteration
SETTLED = 1e-3  # relative change at which the iteration ends


def smallest_eigenvalue(statement: LineStatement, mesh: Mesh, rich: list[Group]) -> tuple[float, float]:
    """The smallest modulus of an eigenvalue for the orders of the groups, and its change from two orders less."""
    zero = _without_data(statement)
    fine, coarse = (_inverse_iteration(zero, mesh, rich, lower) for lower in (0, ENRICHED))
    return fine, abs(fine - coarse) / abs(fine)


def _without_data(statement: LineStatement) -> LineStatement:
    joints, ends = statement.joints, statement.ends
    return replace(
        statement,
        joints=replace(joints, v=np.zeros_like(joints.v), w=np.zeros_like(joints.w)),
        ends=replace(ends, g=np.zeros_like(ends.g)),
    )


def _inverse_iteration(zero: LineStatement, mesh: Mesh, rich: list[Group], lower: int) -> float:
    rng = np.random.default_rng(0)
    mass = [_mass(group)[:, : group.order + 1 - lower, : group.order + 1 - lower] for group in rich]
    u = [rng.normal(size=one.shape[:2]) for one in mass]
    modulus, factors = np.inf, None
    for _ in range(ITERATIONS):
        loads = [np.einsum("gij,gj->gi", M, c) for M, c in zip(mass, u, strict=True)]
        norm = np.sqrt(sum(float(np.sum(c * load)) for c, load in zip(u, loads, strict=True)))
        elements = [
            replace(group, F=-np.pad(load / norm, ((0, 0), (0, lower)))).condensed(group.order - lower)
            for group, load in zip(rich, loads, strict=True)
        ]
        before, modulus = modulus, modulus if factors is None else 1.0 / norm
        system = assemble(zero, mesh, elements, factors)
        factors = system.factors
        u = coefficients_of(mesh, elements, system.solve()[0])
        if abs(modulus - before) <= SETTLED * modulus and np.isfinite(before):
            break
    return modulus


def _mass(group: Group) -> np.ndarray:
    """Integrals of products of the functions (g, p, p)."""
    _, w, N, _ = tables(group.order)
    return 0.5 * group.h[:, None, None] * ((N * w[:, None]).T @ N)
