"""Any geometry in the plane, by duality: no closed form is needed to know whether two error bars are right.

Across a rectangle let u be 0 on the left side, 1 on the right, the others insulated, and F the flux through it. The
stream function of u solves div(A/det(A) grad v) = 0 with the kinds of the sides exchanged, so that the flux F' of that
problem, from the bottom to the top, is 1/F. Both are solved; F F' = 1 within what their error bars allow.
"""

# ruff: noqa: E731 (formulas are written as formulas)

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from benchmarks.adversary.cases import Case, Known

import jumpnet as jn
from jumpnet.studies.family import measured

SQUARE = jn.Box((-1, -1), (1, 1))
WHY = "fluxes across a rectangle and across its dual have the product 1"


def asked(solution: Any, quantity: Any) -> tuple[float, float]:
    """A quantity and its error as a sweep gives them; the judge is asked if it was not."""
    if solution.verdict is None:
        solution = solution.with_diagnostics(verdict=jn.judge(solution))
    return measured(solution, quantity)


def dual_of(A: Any) -> Any:
    """A/det(A): of a number or formula its inverse, of a matrix that over its determinant."""
    if isinstance(A, str):
        return f"1/({A})"
    if np.ndim(A) == 0:
        return 1 / A
    matrix = np.asarray(A, float)
    return (matrix / np.linalg.det(matrix)).tolist()


def across(parts: jn.Partition, A: Sequence[Any], sides: tuple[str, str]) -> jn.Problem:
    """u rises from 0 to 1 between two sides, and the others are insulated."""
    return jn.Problem(
        parts, A=list(A), boundary={sides[0]: jn.Dirichlet(0.0), sides[1]: jn.Dirichlet(1.0), "rest": jn.Neumann(0.0)}
    )


def dual(name: str, tol: float, make: Callable[[], jn.Partition], A: Sequence[Any], group: str = "duals") -> Case:
    """The problem across the box, with its dual in the measure."""

    def product(solution: Any) -> tuple[float, float]:
        other = jn.solve(across(make(), [dual_of(a) for a in A], ("bottom", "top")), tol=tol, seed=solution.seed)
        if not other.status.ok:
            return np.nan, np.nan
        (one, first), (two, second) = asked(solution, ("flux", "right")), asked(other, ("flux", "top"))
        return one * two, abs(one) * second + abs(two) * first

    known = (Known("flux times that of the dual problem", product, 1.0),)
    return Case(name, group, lambda: across(make(), A, ("left", "right")), tol, known=known, why=WHY)


def _in_square(*shapes: Any) -> Callable[[], jn.Partition]:
    return lambda: jn.Partition(SQUARE, list(shapes))


def _gaps() -> list[Case]:
    """Tips, corners and sides that nearly touch."""
    tips = lambda gap: [jn.Ellipse((s * (0.4 + gap / 2), 0.0), (0.4, 0.1)) for s in (-1, 1)]
    flanks = [jn.Ellipse((0.0, s * 0.105), (0.6, 0.1)) for s in (-1, 1)]
    corners = [jn.Box((-0.6, -0.5), (-0.0005, -0.0005)), jn.Box((0.0005, 0.0005), (0.5, 0.6))]
    baffle = jn.Box((-0.0005, -0.999), (0.0005, 1.0))
    bridge = jn.Box((-0.9995, -0.1), (0.9995, 0.1))
    return [
        dual("dual: ellipse tips, gap 1e-3, k = 100", 1e-6, _in_square(*tips(1e-3)), [1.0, 100.0, 100.0]),
        dual("dual: ellipse tips, gap 1e-4, k = 1e-3", 1e-4, _in_square(*tips(1e-4)), [1.0, 1e-3, 1e-3]),
        dual("dual: ellipse flanks, gap 0.01, k = 1e4", 1e-6, _in_square(*flanks), [1.0, 1e4, 1e4]),
        dual("dual: boxes corner to corner, gap 1e-3, k = 1e3", 1e-4, _in_square(*corners), [1.0, 1e3, 1e3]),
        dual("dual: baffle of 1e-3 with a gap of 1e-3, k = 1e-6", 1e-4, _in_square(baffle), [1.0, 1e-6]),
        dual("dual: bar that ends 5e-4 from both sides, k = 1e5", 1e-4, _in_square(bridge), [1.0, 1e5]),
        dual("dual: disk at 1e-3 from three sides, k = 1e6", 1e-4, _in_square(jn.Disk((0, 0), 0.999)), [1.0, 1e6]),
    ]


def _sharp() -> list[Case]:
    """Angles of one degree, cusps, tangents."""
    w = 0.7 * np.tan(np.deg2rad(0.5))
    needle = jn.Polygon([(-0.7, 0.0), (0.7, -2 * w), (0.7, 2 * w)])
    turns = np.deg2rad(np.arange(10) * 36.0 + 7.0)
    radii = np.where(np.arange(10) % 2 == 0, 0.9, 0.06)
    star = jn.Polygon(np.column_stack([radii * np.cos(turns), radii * np.sin(turns)]).tolist())
    moon = jn.Disk((0, 0), 0.6) - jn.Disk((0.3, 0.1), 0.55)
    tangent, half = jn.Disk((0.1, 0.6), 0.4), jn.Disk((1.0, 0.3), 0.4) & SQUARE
    board = [jn.Box((a, b), (a + 0.5, b + 0.5)) for a, b in ((-0.75, -0.75), (-0.25, -0.25), (0.25, 0.25))]
    return [
        dual("dual: needle of two degrees, k = 1e3", 1e-5, _in_square(needle), [1.0, 1e3]),
        dual("dual: needle of two degrees, k = 1e-4", 1e-5, _in_square(needle), [1.0, 1e-4]),
        dual("dual: star with narrow tips, k = 200", 1e-4, _in_square(star), [1.0, 200.0]),
        dual("dual: moon with cusps, k = 1e-2", 1e-5, _in_square(moon), [1.0, 1e-2]),
        dual("dual: disk tangent to an insulated side, k = 50", 1e-5, _in_square(tangent), [1.0, 50.0]),
        dual("dual: disk cut by a hot side, k = 1e4", 1e-5, _in_square(half), [1.0, 1e4]),
        dual("dual: three boxes that touch at corners, k = 100", 1e-4, _in_square(*board), [1.0] + [100.0] * 3),
    ]


def _level_sets() -> list[Case]:
    """Curves where a formula has nearly double zeros: Cassini's ovals as they part, a ring as thin as its zeros."""
    oval = lambda b: jn.LevelSet(f"(x1**2 + x2**2)**2 - 0.5*(x1**2 - x2**2) + 0.0625 - {b**4!r}", dim=2)
    ring = jn.LevelSet("(x1**2 + x2**2 - 0.3)**2 - 1e-5", dim=2)
    return [
        dual("dual: Cassini's ovals, just apart, k = 50", 1e-4, _in_square(oval(0.4999)), [1.0, 50.0]),
        dual("dual: Cassini's oval, just one, k = 50", 1e-4, _in_square(oval(0.5001)), [1.0, 50.0]),
        dual("dual: ring between nearly double zeros, k = 1e-3", 1e-4, _in_square(ring), [1.0, 1e-3]),
        dual(
            "dual: ring of width 0.002, k = 1e4",
            1e-6,
            _in_square(jn.Disk((0.1, 0.0), 0.5) - jn.Disk((0.1, 0.0), 0.498)),
            [1.0, 1e4],
        ),
    ]


def _materials() -> list[Case]:
    """Matrices and formulas in shapes."""
    turn = lambda t, a, b: (
        (q := np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])) @ np.diag([a, b]) @ q.T
    ).tolist()
    disk, box = jn.Disk((0.1, -0.1), 0.6), jn.Box((-0.5, -0.4), (0.5, 0.4))
    wave = "exp(3*sin(7*x1 + 4*x2))"
    return [
        dual("dual: matrices 300:1 and 1:20 in a disk", 1e-5, _in_square(disk), [turn(0.5, 300, 1), turn(1.9, 1, 20)]),
        dual("dual: matrix 1e4:1 in a box", 1e-4, _in_square(box), [1.0, turn(0.3, 1e2, 1e-2)]),
        dual("dual: exp(3 sin) in a disk", 1e-5, _in_square(disk), [1.0, wave]),
        dual("dual: exp(3 sin) around a box", 1e-5, _in_square(box), [wave, 40.0]),
    ]


def _many() -> list[Case]:
    """Forty disks that overlap the sides of nothing, and label images with features of a pixel."""

    def disks() -> jn.Partition:
        rng, found = np.random.default_rng(5), []
        while len(found) < 40:
            c, r = rng.uniform(-0.95, 0.95, 2), float(10 ** rng.uniform(-2, -0.7))
            clear = all(np.hypot(*(c - d)) > r + q + 2e-3 for d, q in found)
            if np.max(np.abs(c)) + r < 0.999 and clear:
                found.append((c, r))
        return jn.Partition(SQUARE, [jn.Disk(tuple(c), r) for c, r in found])

    def image(kind: str) -> np.ndarray:
        rng, label = np.random.default_rng(7), np.zeros((48, 48), int)
        if kind == "line":
            label[np.arange(4, 44), np.arange(4, 44)] = 1
            label[np.arange(4, 44), np.arange(5, 45)] = 1
        elif kind == "specks":
            label[rng.random(label.shape) < 0.05] = 1
        else:
            label[8:20, 8:40], label[21:40, 20:30] = 1, 1  # a slit of one pixel
        return label

    pictures = [
        dual(
            f"dual: image, {kind}, k = {k:g}",
            1e-3,
            lambda kind=kind: jn.Partition.from_labels(image(kind), small="keep"),
            [1.0, k],
        )
        for kind, k in (("line", 1e3), ("specks", 1e-2), ("slit", 1e4))
    ]
    return [dual("dual: forty disks of 0.01 to 0.2, k = 1e3", 1e-4, disks, [1.0] + [1e3] * 40), *pictures]


def cases() -> list[Case]:
    """All of this file."""
    return [*_gaps(), *_sharp(), *_level_sets(), *_materials(), *_many()]
