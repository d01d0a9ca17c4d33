"""The equations of a nonlinear problem as rows about any state, for networks.

With the entries of A, lam, f, alpha, g and R at (x, u), and q = A grad u . n, the equations are

    A : hess u + (A_x + A_u grad u) . grad u - lam u - f = 0          A_x: the divergence of A at fixed u
    alpha u + q - g = 0
    q_a - q_b - w = 0                       u_a - u_b - v - R (q_a + q_b)/2 = 0, R at the mean of u_a and u_b

Here all of them are differentiated by u, A and R too, other than for the linear problems of Newton's method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from jumpnet.collocation import Collocation
from jumpnet.errors import ModelError
from jumpnet.problem import Problem
from jumpnet.rows import ConditionKey, Jets, Kind, NonlinearRows, Rows, equations
from jumpnet.rows.equations import boundary_key, boundary_points
from jumpnet.studies.nonlinear.dependent import Dependent
from jumpnet.studies.nonlinear.dependent_tensor import DependentTensor
from jumpnet.studies.nonlinear.problem import NonlinearProblem

Array = Float[np.ndarray, "..."]


class Site(NamedTuple):
    """The derivatives of F by u, grad u and hess u at one site of each row of a family."""

    a0: Array
    a1: Array
    a2: Array | float = 0.0


Family = Callable[[list[Jets]], tuple[Array, list[Site]]]
"""Values of F, and the derivatives at each site, from the jets at the first, second, ... sites of the rows."""


def nonlinear_rows(problem: NonlinearProblem, about: Problem, points: Collocation) -> NonlinearRows:
    """The equations at points; `about` is the linear problem about the state that weights are taken from."""
    if problem.sources or about.partitioned:
        raise ModelError(
            "a network is not trained on nonlinear equations with point sources or partition coefficients K; "
            "leave method out, or give another."
        )
    rows = equations(about, points)
    families = [(sites, family) for key, family in _families(problem, about, points) if len(sites := _sites(rows, key))]
    return NonlinearRows(rows, _general(rows, families).layout, lambda jets: _about(rows, families, jets))


def _sites(rows: Rows, key: ConditionKey) -> np.ndarray:
    """The sites of the rows of a condition (rows, sites of a row)."""
    if key not in rows.terms:
        return np.zeros((0, 1), int)
    mine = np.flatnonzero(rows.term == rows.terms.index(key))
    start = np.cumsum(rows.counts) - rows.counts
    return start[mine][:, None] + np.arange(int(rows.counts[mine[0]]))


def _general(rows: Rows, families: list[tuple[np.ndarray, Family]]) -> Rows:
    """Rows with whatever coefficients there may be about any state."""
    s = rows.sites
    a0, a1 = np.array(s.a0), np.array(s.a1)
    for sites, _ in families:
        a0[sites.ravel()], a1[sites.ravel()] = 1.0, 1.0
    return replace(rows, sites=replace(s, a0=a0, a1=a1))


def _about(rows: Rows, families: list[tuple[np.ndarray, Family]], jets: Jets) -> Rows:
    s = rows.sites
    a0, a1, a2, rhs = np.array(s.a0), np.array(s.a1), np.array(s.a2), rows.rhs.copy()
    row_of_site = rows.row_of_site
    for sites, family in families:
        at = [Jets(*(part[column] for part in jets)) for column in sites.T]
        value, found = family(at)
        known = -value
        for column, jet, one in zip(sites.T, at, found, strict=True):
            a0[column], a1[column] = one.a0, one.a1
            known = known + one.a0 * jet.u + np.einsum("ni,ni->n", one.a1, jet.grad)
            if isinstance(one.a2, np.ndarray):
                a2[column] = one.a2
                known = known + np.einsum("nij,nij->n", one.a2, jet.hess)
        rhs[row_of_site[sites[:, 0]]] = known
    return replace(rows, sites=replace(s, a0=a0, a1=a1, a2=a2), rhs=rhs)


def _families(problem: NonlinearProblem, about: Problem, points: Collocation) -> Iterator[tuple[ConditionKey, Family]]:
    """The conditions that depend on u."""
    laws, d = problem.laws, problem.partition.dim
    A = [DependentTensor(entries, d) for entries in laws.A]
    if any(not one.plain for one in A) and any(c.kind == "periodic" for c in about.boundary.values()):
        raise ModelError("a network is not trained on a periodic problem whose A depends on u; leave method out.")
    for piece, (tensor, lam, f) in enumerate(zip(A, laws.lam, laws.f, strict=True)):
        if not (tensor.plain and lam.plain and f.plain):
            x = points.interior[points.piece == piece]
            yield ConditionKey(Kind.PDE, (piece,)), _pde(x, tensor, lam, f)
    for part, x, n, piece in boundary_points(about, points):
        kind, alpha, g = about.boundary_data(part, x, n, piece)
        law = laws.exchange.get(part)
        if law is not None or (kind in ("neumann", "robin") and any(not A[p].plain for p in np.unique(piece))):
            fixed = (alpha if kind == "robin" else np.zeros(len(x)), g)
            yield boundary_key(part), _boundary(x, n, piece, A, law, fixed)
    for pair, (x, n) in points.interfaces.items():
        a, b = (A[p] for p in pair)
        R = laws.R.get(pair)
        if a.plain and b.plain and R is None:
            continue
        v, w = about.jump_data(pair, x, n)
        yield ConditionKey(Kind.FLUX, pair), _flux(x, n, a, b, w)
        yield ConditionKey(Kind.JUMP, pair), _jump(x, n, a, b, v, R or about.resistance(pair, x))


def _pde(x: Array, A: DependentTensor, lam: Dependent, f: Dependent) -> Family:
    def family(jets: list[Jets]) -> tuple[Array, list[Site]]:
        ((u, grad, hess),) = jets
        T, (div, T_u), (div_u, T_uu) = A.value(x, u), A.slopes(x, u), A.curvatures(x, u)
        along, decay = np.einsum("nij,nj->ni", T_u, grad), lam.value(x, u)
        value = np.einsum("nij,nij->n", T, hess) + np.einsum("ni,ni->n", div + along, grad) - decay * u - f.value(x, u)
        a0 = np.einsum("nij,nij->n", T_u, hess) + np.einsum("ni,ni->n", div_u, grad)
        a0 += np.einsum("ni,nij,nj->n", grad, T_uu, grad) - decay - lam.by_u(x, u) * u - f.by_u(x, u)
        return value, [Site(a0, div + 2 * along, T)]

    return family


def _boundary(
    x: Array,
    n: Array,
    piece: np.ndarray,
    A: list[DependentTensor],
    law: tuple[Dependent, Dependent] | None,
    fixed: tuple[Array, Array],
) -> Family:
    def family(jets: list[Jets]) -> tuple[Array, list[Site]]:
        ((u, grad, _),) = jets
        conormal, by_u = np.empty_like(x), np.empty_like(x)
        for p in np.unique(piece):
            mine = piece == p
            conormal[mine], by_u[mine] = A[p].conormal(x[mine], u[mine], n[mine])
        alpha, g = fixed if law is None else (one.value(x, u) for one in law)
        slopes = (0.0, 0.0) if law is None else (one.by_u(x, u) for one in law)
        alpha_u, g_u = slopes
        value = alpha * u + np.einsum("ni,ni->n", conormal, grad) - g
        return value, [Site(alpha + alpha_u * u - g_u + np.einsum("ni,ni->n", by_u, grad), conormal)]

    return family


class Flux(NamedTuple):
    """A grad u . n, and its derivatives by u and grad u."""

    value: Array
    a0: Array
    a1: Array


def _fluxes(x: Array, n: Array, sides: tuple[DependentTensor, DependentTensor], jets: list[Jets]) -> list[Flux]:
    """The fluxes on both sides of an interface."""
    found = []
    for A, (u, grad, _) in zip(sides, jets, strict=True):
        conormal, by_u = A.conormal(x, u, n)
        found.append(Flux(np.einsum("ni,ni->n", conormal, grad), np.einsum("ni,ni->n", by_u, grad), conormal))
    return found


def _flux(x: Array, n: Array, a: DependentTensor, b: DependentTensor, w: Array) -> Family:
    def family(jets: list[Jets]) -> tuple[Array, list[Site]]:
        first, second = _fluxes(x, n, (a, b), jets)
        return first.value - second.value - w, [Site(first.a0, first.a1), Site(-second.a0, -second.a1)]

    return family


def _jump(x: Array, n: Array, a: DependentTensor, b: DependentTensor, v: Array, R: Dependent | Array) -> Family:
    def family(jets: list[Jets]) -> tuple[Array, list[Site]]:
        first, second = _fluxes(x, n, (a, b), jets)
        mean, through = (jets[0].u + jets[1].u) / 2, (first.value + second.value) / 2
        r, slope = (R.value(x, mean), R.by_u(x, mean)) if isinstance(R, Dependent) else (R, 0.0)
        sites = [
            Site(sign - slope * through / 2 - r * one.a0 / 2, -r[:, None] * one.a1 / 2)
            for sign, one in ((1.0, first), (-1.0, second))
        ]
        return jets[0].u - jets[1].u - v - r * through, sites

    return family
