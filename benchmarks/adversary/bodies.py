"""Bodies in space: ellipsoids, cylinders, slabs, narrow sources, symmetric pairs; chains of disks."""

# ruff: noqa: E731 (formulas are written as formulas)

import itertools
from collections.abc import Sequence

import numpy as np
from benchmarks.adversary.cases import Array, Case, by_piece, everywhere, on_boundary, symmetry
from benchmarks.adversary.layers import along, concentric, flat
from scipy import special

import jumpnet as jn

CUBE = jn.Box((-1, -1, -1), (1, 1, 1))


def ellipsoid(axes: Sequence[float], k: float, tol: float, *, network: bool = False) -> Case:
    """An ellipsoid in a field along x1: uniform inside, outside by the confocal coordinate and Carlson's RD."""
    a2 = np.array(axes) ** 2
    volume = np.prod(axes)

    def factor(q: Array) -> Array:
        """(a b c/2) times the integral from q of ds/((s + a^2) sqrt((s + a^2)(s + b^2)(s + c^2)))."""
        return volume / 3 * special.elliprd(a2[1] + q, a2[2] + q, a2[0] + q)

    n1 = float(factor(np.array(0.0)))
    inside = 1 / (1 + n1 * (k - 1))

    def outside(x: Array) -> Array:
        q = _confocal(x, a2)
        return x[:, 0] * (1 - inside * (k - 1) * factor(q))

    exact = by_piece(outside, lambda x: inside * x[:, 0])

    def build() -> jn.Problem:
        parts = jn.Partition(CUBE, [jn.Ellipsoid((0.0, 0.0, 0.0), tuple(axes))])
        return jn.Problem(parts, A=[1.0, k], boundary=jn.Dirichlet(on_boundary(exact)))

    name = "ellipsoid " + " x ".join(f"{a:g}" for a in axes) + f", k = {k:g}"
    edge = [1.1 * a for a in axes]
    return Case(name, "space", build, tol, exact, focus=(([-a for a in edge], edge),), network=network, slack=30.0)


def _confocal(x: Array, a2: Array) -> Array:
    """The largest root q of sum x_i^2/(a_i^2 + q) = 1, by Newton's rule from the left."""
    low = np.max(x**2 - a2, axis=1)  # here the sum is at least 1
    q = np.maximum(low, -np.min(a2) * (1 - 1e-9))
    for _ in range(100):
        d = a2 + q[:, None]
        value, slope = np.sum(x**2 / d, axis=1) - 1, -np.sum(x**2 / d**2, axis=1)
        step = value / slope
        q = q - step
        if np.max(np.abs(step)) < 1e-15 * (1 + np.max(q)):  # a few roundings
            break
    return q


def cylinder(k: float, tol: float, squared: bool = False) -> Case:
    """A cylinder through the box along x3: the plane's solution."""
    plane = concentric([0.4], [1.0, k])

    def exact(x: Array, piece: Array) -> Array:
        return plane(x[:, :2], piece)

    def build() -> jn.Problem:
        rod = jn.LevelSet("x1**2 + x2**2 - 0.16", dim=3) if squared else jn.LevelSet("sqrt(x1**2 + x2**2) - 0.4", dim=3)
        parts = jn.Partition(CUBE, [rod])
        g = lambda x: exact(np.asarray(x), (np.hypot(x[:, 0], x[:, 1]) < 0.4).astype(int))
        sides = {"x1": jn.Dirichlet(g), "x2": jn.Dirichlet(g), "x3": jn.Neumann(0.0)}
        return jn.Problem(parts, A=[1.0, k], boundary=sides)

    return Case(f"cylinder through a box, k = {k:g}", "space", build, tol, exact, slack=10.0)


def slab(axis: int, widths: Sequence[float], A: Sequence[float], tol: float, name: str, **given) -> Case:
    """Layers through a cube along an axis, Neumann on the other sides."""
    ends = [0.0, *np.cumsum(widths).tolist()]
    exact = along(flat(ends, A, **given), axis)

    def build() -> jn.Problem:
        upper = [1.0, 1.0, 1.0]
        upper[axis] = ends[-1]
        boxes = []
        for a, b in itertools.pairwise(ends[1:]):
            low, high = [0.0] * 3, list(upper)
            low[axis], high[axis] = a, b
            boxes.append(jn.Box(tuple(low), tuple(high)))
        sides: dict = {f"x{i + 1}": jn.Neumann(0.0) for i in range(3) if i != axis}
        for sign, key, default in (("-", "first", (1.0, 0.0, 0.0)), ("+", "last", (1.0, 0.0, 1.0))):
            alpha, beta, g = given.get(key, default)
            sides[f"x{axis + 1}{sign}"] = jn.Robin(alpha / beta, g / beta) if beta else jn.Dirichlet(g)
        parts = jn.Partition(jn.Box((0, 0, 0), tuple(upper)), boxes)
        return jn.Problem(parts, A=list(A), f=given.get("f", [0.0] * len(A)), boundary=sides)

    return Case(name, "stacks", build, tol, exact, slack=10.0)


def _pairs() -> list[Case]:
    """Two equal balls or chains of disks: u is odd under the reflection that swaps hot and cold."""

    def odd(x: Array) -> list[tuple[float, Array]]:
        return [(1.0, x), (1.0, x * np.array([-1.0] + [1.0] * (x.shape[1] - 1)))]

    def balls() -> jn.Problem:
        parts = jn.Partition(CUBE, [jn.Ball((-0.45, 0, 0), 0.4), jn.Ball((0.45, 0, 0), 0.4)])
        return jn.Problem(parts, A=[1.0, 1e3, 1e3], boundary=jn.Dirichlet("x1 + 25"))

    why = "the problem for u - 25 changes its sign under the reflection of x1"
    made = [Case("two balls, ambient 25", "space", balls, 1e-3, defects=(symmetry(odd, 50.0, 0.5, 0.99),), why=why)]
    for count, gap, k, tol in ((4, 1e-3, 1e3, 1e-6), (6, 0.02, 1e4, 1e-6), (8, 1e-2, 1e-2, 1e-3)):

        def chain(count: int = count, gap: float = gap, k: float = k) -> jn.Problem:
            pitch = 1.8 / count
            centers = [(-0.9 + pitch * (i + 0.5), 0.0) for i in range(count)]
            disks = [jn.Disk(c, 0.5 * (pitch - gap)) for c in centers]
            box = jn.Box((-1, -0.5), (1, 0.5))
            sides = {"left": jn.Dirichlet(24.0), "right": jn.Dirichlet(26.0), "x2": jn.Neumann(0.0)}
            return jn.Problem(jn.Partition(box, disks), A=[1.0, *[k] * count], boundary=sides)

        name = f"chain of {count} disks, gaps {gap:g}, k = {k:g}"
        made.append(Case(name, "chains", chain, tol, defects=(symmetry(odd, 50.0, 0.6, 0.49),), why=why))
    return made


def _narrow() -> list[Case]:
    """A source of width w in space: u = -(w^2 sqrt(pi)/4) erf(r/w) w/r."""
    made, c = [], np.array([0.1, -0.2, 0.15])
    for w, tol in ((0.3, 1e-6), (0.05, 1e-3)):

        def u(x: Array, w: float = w) -> Array:
            t = np.sqrt(np.sum((x - c) ** 2, axis=1)) / w
            small = 2 / np.sqrt(np.pi) * (1 - t**2 / 3 + t**4 / 10 - t**6 / 42 + t**8 / 216)
            ratio = np.where(t < 1e-2, small, special.erf(np.maximum(t, 1e-2)) / np.maximum(t, 1e-2))
            return -np.sqrt(np.pi) / 4 * ratio

        def build(w: float = w, u=u) -> jn.Problem:
            f = f"exp(-((x1 - 0.1)**2 + (x2 + 0.2)**2 + (x3 - 0.15)**2)/{w**2!r})/{w**2!r}"
            return jn.Problem(jn.Partition(CUBE), f=f, boundary=jn.Dirichlet(u))

        made.append(
            Case(
                f"cube: source of width {w:g}",
                "narrow",
                build,
                tol,
                everywhere(u),
                focus=((list(c - 2 * w), list(c + 2 * w)),),
            )
        )
    return made


def _waves() -> list[Case]:
    """lam in a cube, and a tensor."""

    def u(x: Array) -> Array:
        return np.exp(-10 * (1 - x[:, 0])) + np.exp(-6 * (1 - x[:, 1]) - 8 * (1 + x[:, 2]))

    def build() -> jn.Problem:
        return jn.Problem(jn.Partition(CUBE), lam=100.0, boundary=jn.Dirichlet(u))

    return [Case("cube: lam = 100, a layer and an edge", "lam", build, 1e-6, everywhere(u))]


def cases() -> list[Case]:
    """All of this file."""
    return [
        ellipsoid((0.6, 0.4, 0.3), 10.0, 1e-6, network=True),
        ellipsoid((0.7, 0.2, 0.2), 1e3, 1e-6),
        ellipsoid((0.1, 0.6, 0.5), 1e-3, 1e-3),
        ellipsoid((0.6, 0.6, 0.03), 1e2, 1e-3),
        cylinder(20.0, 1e-6),
        cylinder(1e-3, 1e-3, squared=True),
        slab(2, [0.3, 1e-3, 0.5], [1.0, 1e-4, 10.0], 1e-6, "cube: film of 1e-3 between slabs"),
        slab(2, [0.2, 0.1, 0.2, 0.5], [0.3, 100.0, 200.0, 0.026], 1e-3, "cube: board, chip, slab, air with ambient 25",
             f=[0.0, -1.0, 0.0, 0.0], first=(0.5, 1.0, 12.5), last=(1.0, 1.0, 25.0)),
        *_pairs(),
        *_narrow(),
        *_waves(),
    ]  # fmt: skip
