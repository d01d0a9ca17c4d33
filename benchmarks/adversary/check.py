"""Are the closed forms right? Differences of the equation, the jumps and the boundary conditions at random points.

Nothing of the solver is used, only the data of the problem as the program understands them. Derivatives are central
differences of sixth order along the eigenvectors of A, of the formula of one piece (which goes on beyond its walls);
of several steps the best is taken for each point, as a wrong formula is wrong with every step.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from benchmarks.adversary.cases import Array, Case, Exact
from benchmarks.adversary.truth import regions

import jumpnet as jn

STEPS = 10.0 ** np.arange(-1.0, -10.5, -0.5)
FIRST = np.array([-1.0, 9.0, -45.0, 0.0, 45.0, -9.0, 1.0]) / 60
SECOND = np.array([2.0, -27.0, 270.0, -490.0, 270.0, -27.0, 2.0]) / 180
PDE = 1e-5  # accepted residuals, relative to the terms of the equation; a wrong factor shows as 1e-2 or more
VALUE = 1e-9  # accepted differences of values, relative to the size of u
FLUX = 1e-5  # accepted differences of fluxes, relative to the fluxes on the wall
ROUNDING = 1e-12  # of differences, in units of A times the size of u over the length of the domain
POINTS = 100


@dataclass(frozen=True)
class Finding:
    """The largest relative residual of each kind of equation; nan where there is none of it."""

    pde: float
    boundary: float
    jumps: float

    def fine(self, slack: float) -> bool:
        """Whether all are as small as rounding and differences allow."""
        worst = [self.pde / PDE, self.boundary, self.jumps]
        return not any(value > slack for value in worst if np.isfinite(value)) and not np.isinf(worst).any()


def check(case: Case, points: int = POINTS) -> Finding:
    """Residuals of a case's formula in its own problem."""
    if case.exact is None:
        raise ValueError(f"{case.name} has no formula")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        problem = case.build()
        x, piece = problem.partition.sample_interior(4 * points, seed=5)
        u = case.exact(x, piece)
        size = float(np.max(np.abs(u)))
        variation = float(np.max(u) - np.min(u)) or size
        floor = _flux_scale(problem, variation)
        checked = Finding(
            _interior(problem, case, points, variation),
            _boundary(problem, case.exact, points, size, floor),
            _jumps(problem, case.exact, points, size, floor),
        )
    if not np.isfinite(u).all():
        return Finding(np.inf, np.inf, np.inf)
    return checked


def _lengths(problem: jn.Problem, piece: int) -> Array:
    low, high = problem.partition.bounds
    return np.asarray(high) - np.asarray(low)


def _along(exact: Exact, x: Array, piece: int, direction: Array, step: Array, weights: Array, power: int) -> Array:
    """A derivative along unit vectors (n, d) with steps (n,)."""
    total = np.zeros(len(x))
    labels = np.full(len(x), piece)
    for k, weight in zip(range(-3, 4), weights, strict=True):
        if weight:
            total += weight * exact(x + k * step[:, None] * direction, labels)
    return total / step**power


def _interior(problem: jn.Problem, case: Case, points: int, variation: float) -> float:
    """The largest relative residual of div(A grad u) - lam u = f at random points of all pieces and near features."""
    parts, worst = problem.partition, 0.0
    count = max(points, 8 * parts.size)
    x, piece = parts.sample_interior(count, seed=11, minimum=count // (4 * parts.size))
    rng = np.random.default_rng(12)
    for low, high in regions(case, parts):
        extra = rng.uniform(low, high, (points // 4, parts.dim))
        label = parts.label(extra)
        x, piece = np.concatenate([x, extra[label >= 0]]), np.concatenate([piece, label[label >= 0]])
    away = np.array([np.min(np.linalg.norm(x - s.x, axis=1)[:, None], axis=1) for s in problem.sources])
    if len(away):
        keep = away.min(axis=0) > 1e-3
        x, piece = x[keep], piece[keep]
    for p in range(parts.size):
        mine = x[piece == p]
        if len(mine):
            worst = max(worst, float(np.max(_residual(problem, case, mine, p, variation))))
    return worst


def _residual(problem: jn.Problem, case: Case, x: Array, p: int, variation: float) -> Array:
    """Residuals (n,) relative to the terms of the equation, with the best step for each point."""
    assert case.exact is not None
    A, div_A, lam, f = problem.pde(p, x)
    eigenvalues, vectors = np.linalg.eigh(A)
    u = case.exact(x, np.full(len(x), p))
    length = float(np.max(_lengths(problem, p)))
    best = np.full(len(x), np.inf)
    largest = eigenvalues[:, -1]
    for relative in (False, True):
        if relative and np.all(eigenvalues[:, 0] > 0.99 * largest):
            break
        for h in STEPS * length:
            total, size = -lam * u - f, np.abs(lam * u) + np.abs(f)
            for i in range(x.shape[1]):
                w, q = eigenvalues[:, i], vectors[:, :, i]
                step = h * (np.sqrt(w / largest) if relative else np.ones(len(x)))
                bend = w * _along(case.exact, x, p, q, step, SECOND, 2)
                slope = np.sum(div_A * q, axis=1) * _along(case.exact, x, p, q, step, FIRST, 1)
                total, size = total + bend + slope, size + np.abs(bend) + np.abs(slope)
            size = size + 1e-3 * largest * variation / length**2
            residual = np.abs(total) / size
            best = np.fmin(best, residual)
    return best


def _flux(problem: jn.Problem, exact: Exact, x: Array, p: int, normals: Array, h: float) -> tuple[Array, Array]:
    """A grad u . n from piece p with one step, and the size of its terms."""
    direction = np.einsum("nij,nj->ni", problem.A[p].value(x), normals)
    length = np.linalg.norm(direction, axis=1)
    value = length * _along(exact, x, p, direction / length[:, None], np.full(len(x), h), FIRST, 1)
    return value, length


def _one_flux(problem, exact, x, p, normals, size) -> tuple[Array, Array]:
    """A grad u . n from piece p with the step where two steps agree best, and how well they do."""
    total = float(np.max(_lengths(problem, p)))
    values = np.array([_flux(problem, exact, x, p, normals, h)[0] for h in STEPS * total])
    length = _flux(problem, exact, x, p, normals, total)[1]
    noise = np.finfo(float).eps * size * length / (STEPS[1:, None] * total)  # small steps of a large constant give zero
    apart = np.abs(np.diff(values, axis=0)) + noise
    apart[~np.isfinite(apart)] = np.inf
    at = np.argmin(apart, axis=0)
    rounding = ROUNDING * length * size / total
    return values[at + 1, np.arange(len(x))], apart[at, np.arange(len(x))] + rounding


def _boundary(problem: jn.Problem, exact: Exact, points: int, size: float, floor: float) -> float:
    """The largest difference on the boundary, relative to what is accepted."""
    parts, worst = problem.partition, 0.0
    for part in parts.boundary_parts:
        x, normals, labels, _ = parts.sample_boundary(points // 2, seed=21, part=part)
        kind, alpha, g = problem.boundary_data(part, x, normals, labels)
        u = exact(x, labels)
        if kind == "dirichlet":
            worst = max(worst, float(np.max(np.abs(u - g))) / (VALUE * size))
            continue
        flux, apart = np.zeros(len(x)), np.zeros(len(x))
        for p in np.unique(labels):
            mine = labels == p
            flux[mine], apart[mine] = _one_flux(problem, exact, x[mine], int(p), normals[mine], size)
        scale = np.max(np.abs(alpha * u)) + np.max(np.abs(g)) + np.max(np.abs(flux)) + floor
        if kind == "periodic":
            worst = max(worst, _periodic(problem, exact, x, normals, labels, g, flux, size, scale))
        else:
            error = np.abs(alpha * u + flux - g) - 10 * apart
            worst = max(worst, float(np.max(error)) / (FLUX * scale))
    return worst


def _flux_scale(problem: jn.Problem, variation: float) -> float:
    """What a flux is small against: the smallest conductivity times the variation over the domain."""
    parts = problem.partition
    x, piece = parts.sample_interior(20 * parts.size, seed=3, minimum=5)
    lowest = min(float(np.min(np.linalg.eigvalsh(problem.A[p].value(x[piece == p])))) for p in range(parts.size))
    return lowest * variation / float(np.max(_lengths(problem, 0)))


def _periodic(problem, exact, x, normals, labels, g, flux, size, scale) -> float:
    """Values and fluxes on opposite sides."""
    low, high = (np.asarray(b) for b in problem.partition.bounds)
    lower = normals.sum(axis=1) < 0
    x, normals, labels, g, flux = x[lower], normals[lower], labels[lower], g[lower], flux[lower]
    if not len(x):
        return 0.0
    y = x - normals * (high - low)
    other = problem.partition.label(y + 1e-9 * normals * (high - low))
    there = np.zeros(len(x))
    for p in np.unique(other):
        mine = other == p
        there[mine] = _one_flux(problem, exact, y[mine], int(p), normals[mine], size)[0]
    value = np.max(np.abs(exact(y, other) - exact(x, labels) - g)) / (VALUE * size)
    return max(float(value), float(np.max(np.abs(there - flux))) / (FLUX * scale))


def _jumps(problem: jn.Problem, exact: Exact, points: int, size: float, floor: float) -> float:
    """The largest difference on the interfaces, relative to what is accepted."""
    parts, worst = problem.partition, 0.0
    for interface in parts.interfaces:
        a, b = interface.pair
        x, normals = parts.sample_interface(interface.pair, max(10, points // 4), seed=31)
        v, w = problem.jump_data(interface.pair, x, normals)
        R = problem.resistance(interface.pair, x)
        one, first = _one_flux(problem, exact, x, a, normals, size)
        two, second = _one_flux(problem, exact, x, b, normals, size)
        ua, ub = exact(x, np.full(len(x), a)), exact(x, np.full(len(x), b))
        mean, apart = 0.5 * (one + two), 10 * (first + second)
        values = np.abs(ua / problem.K[a] - ub / problem.K[b] - v - R * mean) - R * apart
        worst = max(worst, float(np.max(values)) / (VALUE * size))
        scale = np.max(np.abs(one)) + np.max(np.abs(two)) + np.max(np.abs(w)) + floor
        worst = max(worst, float(np.max(np.abs(one - two - w) - apart)) / (FLUX * scale))
    return worst
