"""The derivative of a solution by a constant of its problem: again the solution of an interface problem.

With s = du/dk and data differentiated by k at fixed x, written A', lam', f', ..., the equations of u give

    div(A grad s) - lam s = f' + lam' u - div(A' grad u)
    Dirichlet: s = g'           Neumann, Robin: alpha s + A grad s . n = g' - alpha' u - A' grad u . n
    [A grad s . n] = w' - [A' grad u . n]
    [s] = v' + R' q + R q'  + R A grad s . n          q, q': means of A grad u . n and A' grad u . n on both sides

Where A' = c A, with c(x) a number at each point, div(A' grad u) = c (lam u + f) + grad c . A grad u: no second
derivatives of u, which finite elements do not have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.engines.goal import Goal, checked_goal
from jumpnet.errors import ModelError, ProblemError, SolutionError
from jumpnet.fields import ConstantField
from jumpnet.guard.text import shorten
from jumpnet.optim import Status
from jumpnet.problem import Dirichlet, Jump, Neumann, Periodic, PointSource, Problem, Robin
from jumpnet.problem.conditions import BoundaryData, JumpData, Pair
from jumpnet.solution import Solution
from jumpnet.solution.quantities import variation
from jumpnet.solving import solve
from jumpnet.studies.nonlinear.dependent import Dependent, ValuesOnly
from jumpnet.studies.nonlinear.linearised import is_linearised
from jumpnet.studies.nonlinear.rates import POINTS, Rates

Array = Float[np.ndarray, "..."]


def sensitivity(solution: Solution, name: str, *, tol: float = 1e-6, atol: float = 0.0, **options: Any) -> Solution:
    """du/dk; see `Solution.sensitivity`."""
    problem = solution.problem
    if problem is None:
        raise SolutionError("this solution does not know its problem; give it back: solution.with_problem(problem).")
    stated = _checked(problem, name)
    rates = Rates(stated, name, solution)
    if not rates.any:
        raise ProblemError(f"no datum of the problem uses the constant {name!r}: the solution does not depend on it.")
    found = solve(sensitivity_problem(rates), tol=tol, atol=atol, **options)
    return _with_error_of_u(found, rates, checked_goal(tol, atol))


def _checked(problem: Problem, name: str) -> Problem:
    """The problem, if it is one whose derivative can be stated."""
    known = dict(problem.given["constants"] or {})
    if is_linearised(problem):
        raise ModelError("data depend on u; derivatives of nonlinear problems are not there: solve for two values.")
    if name not in known:
        listed = ", ".join(map(repr, known)) or "none"
        raise ProblemError(f"the problem has no constant {shorten(name)}; its constants are: {listed}.")
    if problem.partitioned or problem.data is not None:
        what = "partition coefficients K" if problem.partitioned else "measured values"
        raise ModelError(f"derivatives of problems with {what} are not there: solve for two values of {name!r}.")
    return problem


def sensitivity_problem(rates: Rates) -> Problem:
    """The problem that du/dk solves."""
    problem = rates.problem
    return Problem(
        problem.partition,
        A=list(problem.A),
        lam=list(problem.lam),
        f=[_load(rates, piece) for piece in range(problem.partition.size)],
        boundary={part: _condition(rates, part) for part in problem.boundary},
        jumps={pair: _jump(rates, pair) for pair in problem.jumps},
        sources=[PointSource(s.x.tolist(), -_constant(rates, s.piece) * s.q) for s in problem.sources],
        mean=None if problem.mean is None else 0.0,
    )


def _constant(rates: Rates, piece: int) -> float:
    """c, where a point source needs A' = c A."""
    c = rates.multiples[piece]
    if c is None:
        raise ModelError(
            f"piece {piece} has a point source, and the derivative of its A by {rates.name!r} is no multiple of A: "
            f"that is not there; solve for two values of {rates.name!r}."
        )
    return c


def _load(rates: Rates, piece: int) -> Any:
    """f of the problem for du/dk in a piece: a number where that can be known."""
    lam, f, c = rates.problem.lam[piece], rates.problem.f[piece], rates.multiples[piece]
    if c is not None and rates.lam[piece] is None and isinstance(lam, ConstantField) and c * lam.number == 0.0:
        if rates.f[piece] is None and c == 0.0:
            return 0.0
        if rates.f[piece] is None and isinstance(f, ConstantField):
            return -c * f.number
    return _Load(rates, piece, c)


@dataclass(frozen=True, eq=False)
class _Load(ValuesOnly):
    """f' + lam' u - div(A' grad u)."""

    rates: Rates
    piece: int
    c: float | None

    def value(self, x: Array) -> Array:
        r, piece = self.rates, self.piece
        u = r.solution(x, piece)
        return r.rate(r.f[piece], x) + r.rate(r.lam[piece], x) * u - self._divergence(x, u)

    def _divergence(self, x: Array, u: Array) -> Array:
        """div(A' grad u)."""
        r, piece = self.rates, self.piece
        law = r.A[piece]
        if law is None:
            return np.zeros(len(x))
        _A, div_A, lam, f = r.problem.pde(piece, x)
        if self.c is not None:
            return self.c * (lam * u + f)
        at = np.full(len(x), r.at)
        rate, div_rate = r.tensor(piece, x), law.curvatures(x, at)[0]
        c = r.factor(piece, x)
        if c is not None:
            # div(c A) = c div A + A grad c, so A grad c = div A' - c div A
            along = np.einsum("ni,ni->n", div_rate - c[:, None] * div_A, r.solution.grad(x, piece))
            return c * (lam * u + f) + along
        if r.solution.confined:
            raise ModelError(
                f"the derivative of A in piece {piece} by {r.name!r} is no multiple of A, and finite elements have no "
                f'second derivatives; solve with method="trefftz", or for two values of {r.name!r}.'
            )
        cell = np.full(len(x), piece)
        return r.solution.representation.functional(x, cell, 0.0, div_rate, rate)


def _condition(rates: Rates, part: str) -> Any:
    """The condition on a part of the boundary."""
    condition = rates.problem.boundary[part]
    alpha, g = rates.conditions[part]
    if condition.kind == "periodic":
        if any(law is not None and _touches(rates, p, part) for p, law in enumerate(rates.A)):
            raise ModelError(
                f"A of a piece at the periodic side {part!r} uses {rates.name!r}: that is not there; "
                f"solve for two values of {rates.name!r}."
            )
        return Periodic(0.0 if g is None else _Rate(rates, g))
    data = _Boundary(rates, alpha, g, flux=condition.kind != "dirichlet")
    if condition.kind == "dirichlet":
        return Dirichlet(0.0 if g is None else data)
    return Robin(condition.alpha, data) if condition.kind == "robin" else Neumann(data)


def _touches(rates: Rates, piece: int, part: str) -> bool:
    _, _, pieces, _ = rates.problem.partition.sample_boundary(POINTS, seed=0, part=part)
    return bool((pieces == piece).any())


@dataclass(frozen=True, eq=False)
class _Rate(ValuesOnly):
    """The derivative of a datum."""

    rates: Rates
    law: Dependent

    def value(self, x: Array) -> Array:
        return self.rates.rate(self.law, x)


@dataclass(frozen=True, eq=False)
class _Boundary(BoundaryData):
    """g' - alpha' u - A' grad u . n; of values g' alone."""

    rates: Rates
    alpha: Dependent | None
    g: Dependent | None
    flux: bool

    def value(self, x: Array, normals: Array, labels: Any) -> Array:
        found = self.rates.rate(self.g, x)
        for piece in np.unique(labels).tolist() if self.flux else ():
            mine = labels == piece
            at = x[mine]
            found[mine] -= self.rates.flux(int(piece), at, normals[mine])
            if self.alpha is not None:
                found[mine] -= self.rates.rate(self.alpha, at) * self.rates.solution(at, int(piece))
        return found


def _jump(rates: Rates, pair: Pair) -> Jump:
    """The conditions on an interface."""
    v, w, R = rates.jumps[pair]
    given, fixed = rates.problem.jumps[pair].R, all(rates.A[p] is None for p in pair)
    plain = v is None and R is None and (fixed or (isinstance(given, ConstantField) and given.number == 0.0))
    return Jump(
        0.0 if plain else _JumpOfValues(rates, pair),
        0.0 if w is None and fixed else _JumpOfFlux(rates, pair),
        R=given,
    )


@dataclass(frozen=True, eq=False)
class _JumpOfFlux(JumpData):
    """w' - [A' grad u . n]."""

    rates: Rates
    pair: Pair

    def value(self, x: Array, normals: Array) -> Array:
        a, b = (self.rates.flux(piece, x, normals) for piece in self.pair)
        return self.rates.rate(self.rates.jumps[self.pair][1], x) - a + b


@dataclass(frozen=True, eq=False)
class _JumpOfValues(JumpData):
    """v' + R' q + R q'."""

    rates: Rates
    pair: Pair

    def value(self, x: Array, normals: Array) -> Array:
        r = self.rates
        v, _, R = r.jumps[self.pair]
        moved = np.mean([r.flux(piece, x, normals) for piece in self.pair], axis=0)
        found = r.rate(v, x) + r.problem.resistance(self.pair, x) * moved
        if R is not None:
            q = np.mean([np.sum(r.solution.flux(x, np.full(len(x), p)) * normals, axis=1) for p in self.pair], axis=0)
            found += r.rate(R, x) * q
        return found


def _with_error_of_u(found: Solution, rates: Rates, goal: Goal) -> Solution:
    """The estimate with what the error of u adds: that times the largest relative derivative of the coefficients.

    For A' = c A the energy of what is added is at most max |c| times that of the error of u; the same is assumed of
    root mean squares.
    """
    added = _largest(rates) * rates.solution.estimate
    estimate = found.estimate + added
    if found.status is not Status.CONVERGED or estimate <= goal.of_size(*variation(found)):
        return found.with_diagnostics(estimate=estimate)
    reason = f"the error of u, {rates.solution.estimate:.1e}, may add {added:.1e}: solve for u to a smaller tol"
    return found.because(reason, estimate=estimate, status=Status.UNDECIDED)


def _largest(rates: Rates) -> float:
    """The largest derivative of A, lam, alpha and R, relative to their size and to that of A over lengths."""
    parts = rates.problem.partition
    lower, upper = parts.bounds
    size = float(np.max(upper - lower))
    x, labels = parts.sample_interior(POINTS * parts.size, seed=0, minimum=POINTS // 10, method="even")
    relative, conducts = [0.0], []
    for piece in range(parts.size):
        at = x[labels == piece][:POINTS]
        A, _, lam, _ = rates.problem.pde(piece, at)
        conducts.append(np.linalg.norm(A, 2, axis=(1, 2)))
        if rates.A[piece] is not None:
            relative.append(np.linalg.norm(np.linalg.solve(A, rates.tensor(piece, at)), 2, axis=(1, 2)).max())
        relative.append((np.abs(rates.rate(rates.lam[piece], at)) / (np.abs(lam) + conducts[-1] / size**2)).max())
    least, most = float(min(map(np.min, conducts))), float(max(map(np.max, conducts)))
    for part, (alpha, _) in rates.conditions.items():
        if alpha is not None:
            on, normals, behind, _ = parts.sample_boundary(POINTS, seed=0, part=part)
            known = np.abs(rates.problem.boundary_data(part, on, normals, behind)[1])
            relative.append((np.abs(rates.rate(alpha, on)) / (known + least / size)).max())
    for pair, (_, _, R) in rates.jumps.items():
        if R is not None:
            on, _ = parts.sample_interface(pair, POINTS, seed=0)
            relative.append((np.abs(rates.rate(R, on)) / (rates.problem.resistance(pair, on) + size / most)).max())
    return float(max(relative))
