"""Stacks with floating conductors, cells with known effective conductivity, point sources, pure Neumann."""

# ruff: noqa: E731 (formulas are written as formulas)

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from benchmarks.adversary.cases import (
    Array,
    Case,
    Defect,
    by_piece,
    everywhere,
    net_flux,
    on_boundary,
    piece_mean,
    symmetry,
)
from benchmarks.adversary.layers import along, flat

import jumpnet as jn

SQUARE = jn.Box((-1, -1), (1, 1))


# By NGSolve alone, orders 10 and 12 with 12 layers at all corners (benchmarks/peers/board.py): 2.907449819, ...822.
CHIP = 2.90744982


def _released(
    sides: Sequence[tuple[str, float, Sequence[float], Sequence[float]]], ambient: float, heat: float
) -> Defect:
    """alpha (u - ambient), integrated over sides (name, alpha, from, to) by Gauss' rule, is the heat released."""

    def measure(solution: Any) -> float:
        nodes, weights = np.polynomial.legendre.leggauss(20)
        total = 0.0
        for _, alpha, start, end in sides:
            a, b = np.array(start, float), np.array(end, float)
            for k in range(60):
                t = (k + 0.5 * (nodes + 1)) / 60
                values = solution(a + t[:, None] * (b - a))
                total += alpha * float(np.linalg.norm(b - a)) / 60 * 0.5 * float(weights @ (values - ambient))
        return abs(total - heat)

    return Defect("heat out = heat in", measure, heat)


def board(tol: float, ambient: float = 25.0) -> Case:
    """A board with a heated chip under a slab, in air; the chip is CHIP above ambient."""

    def build() -> jn.Problem:
        boxes = [jn.Box((0, 0), (60, 6)), jn.Box((20, 6), (40, 10)), jn.Box((10, 10), (50, 13))]
        parts = jn.Partition(jn.Box((0, 0), (60, 40)), boxes)
        sides = {
            "top": jn.Robin(0.01, 0.01 * ambient),
            "bottom": jn.Robin(0.005, 0.005 * ambient),
            "x1": jn.Neumann(0.0),
        }
        return jn.Problem(parts, A=[0.026, 0.3, 100.0, 200.0], f=[0.0, 0.0, -0.01, 0.0], boundary=sides)

    out = _released([("top", 0.01, (0, 40), (60, 40)), ("bottom", 0.005, (0, 0), (60, 0))], ambient, 0.8)
    mean = piece_mean(2, ambient + CHIP, CHIP)
    name = f"board, heated chip and slab, ambient {ambient:g}, tol {tol:g}"
    return Case(
        name,
        "stacks",
        build,
        tol,
        defects=(out, mean),
        why="balance of heat; the mean by resolved finite elements",
        network=tol == 1e-3,
    )


def plane_stack(name: str, tol: float, ends, A, *, network: bool = False, **given) -> Case:
    """Full-width layers in the plane with Neumann sides: the solution of the line."""
    exact = along(flat(ends, A, **given), 1)

    def build() -> jn.Problem:
        boxes = [jn.Box((0, a), (4, b)) for a, b in itertools.pairwise(ends[1:])]
        sides: dict = {"x1": jn.Neumann(0.0)}
        for side, key, default in (("bottom", "first", (1.0, 0.0, 0.0)), ("top", "last", (1.0, 0.0, 1.0))):
            alpha, beta, g = given.get(key, default)
            sides[side] = jn.Robin(alpha / beta, g / beta) if beta else jn.Dirichlet(g)
        n = len(A)
        R = given.get("R", [0.0] * n)
        jumps = {(k, k + 1): jn.Jump(R=R[k]) for k in range(n - 1)}
        parts = jn.Partition(jn.Box((0, ends[0]), (4, ends[-1])), boxes)
        zero = [0.0] * n
        return jn.Problem(
            parts, A=list(A), lam=given.get("lam", zero), f=given.get("f", zero), boundary=sides, jumps=jumps
        )

    return Case(name, "stacks", build, tol, exact, network=network, slack=1e2)


def _floating() -> list[Case]:
    """Conductors that float in a poor conductor: the heat that they release must leave."""
    made = []
    for k, air, tol in ((1e3, 1e-2, 1e-3), (1e6, 1e-3, 1e-6), (1e2, 1.0, 1e-6)):

        def build(k: float = k, air: float = air) -> jn.Problem:
            parts = jn.Partition(SQUARE, [jn.Disk((-0.4, 0), 0.3), jn.Disk((0.4, 0), 0.3)])
            f = [0.0, -1.0, -1.0]
            return jn.Problem(parts, A=[air, k, k], f=f, boundary=jn.Robin(air, 25.0 * air))

        heat = 2 * np.pi * 0.09
        edges = [
            ("bottom", air, (-1, -1), (1, -1)),
            ("top", air, (-1, 1), (1, 1)),
            ("left", air, (-1, -1), (-1, 1)),
            ("right", air, (1, -1), (1, 1)),
        ]
        mirror = symmetry(lambda x: [(1.0, x), (-1.0, x * np.array([-1.0, 1.0]))], 0.0, 0.5 / air, 0.99)
        made.append(
            Case(
                f"two floating heaters, k = {k:g}, air {air:g}",
                "stacks",
                build,
                tol,
                defects=(_released(edges, 25.0, heat), mirror),
                why="balance of heat, reflection",
                network=k == 1e3,
            )
        )

    def boxes() -> jn.Problem:
        parts = jn.Partition(
            jn.Box((0, 0), (10, 4)), [jn.Box((1, 1), (4, 1.5)), jn.Box((6, 1), (9, 1.5)), jn.Box((1, 2), (9, 2.4))]
        )
        sides = {"top": jn.Robin(0.1, 2.5), "bottom": jn.Neumann(0.0), "x1": jn.Neumann(0.0)}
        return jn.Problem(parts, A=[0.05, 400.0, 400.0, 200.0], f=[0.0, -1.0, -1.0, 0.0], boundary=sides)

    out = _released([("top", 0.1, (0, 4), (10, 4))], 25.0, 3.0)
    mirror = symmetry(
        lambda x: [
            (1.0, np.abs(x) * np.array([5.0, 2.0])),
            (-1.0, np.abs(x) * np.array([-5.0, 2.0]) + np.array([10.0, 0.0])),
        ],
        0.0,
        5.0,
        0.99,
    )
    made.append(
        Case(
            "two heated bars under a bar, Robin above",
            "stacks",
            boxes,
            1e-3,
            defects=(out, mirror),
            why="balance of heat, reflection",
        )
    )
    return made


def _box_flux(boxes: Sequence[tuple[Sequence[float], Sequence[float], int]], k: float) -> Defect:
    """The mean flux along x1 of a chessboard is sqrt(k): A times u on the right minus u on the left of each box.

    Values only: fluxes at the singular corners would say more about quadrature than about u. t^4 (t from 0 to 1) takes
    the nodes to both corners.
    """
    nodes, weights = np.polynomial.legendre.leggauss(60)
    s = 0.5 * (nodes + 1)
    t = np.concatenate([0.5 * s**4, 1 - 0.5 * s**4])
    weight = np.concatenate([weights * s**3, weights * s**3])  # of an integral over t from 0 to 1: they sum to 1

    def measure(solution: Any) -> float:
        total = 0.0
        for low, high, piece in boxes:
            y = low[1] + t * (high[1] - low[1])
            right, left = (solution(np.stack([np.full_like(y, x), y], axis=1), piece) for x in (high[0], low[0]))
            total += (1.0 if piece == 0 else k) * (high[1] - low[1]) * float(weight @ (right - left))
        return abs(total - np.sqrt(k))

    return Defect("mean flux", measure, k)


def _cells() -> list[Case]:
    """Periodic cells: laminates, Keller's chessboard, Rayleigh's lattice of disks."""
    made = []
    contrast, fraction = 1e3, 0.25
    harmonic = 1 / (fraction / contrast + 1 - fraction)

    def u(x: Array, piece: Array) -> Array:
        # u rises by 1 along x1; zero mean over the cell [-1/2, 1/2]^2 by symmetry.
        t = x[:, 0]
        inside = harmonic / contrast * t
        out = harmonic * (t - np.sign(t) * fraction / 2) + np.sign(t) * harmonic / contrast * fraction / 2
        return np.where(piece == 1, inside, out)

    def laminate() -> jn.Problem:
        cell = jn.Box((-0.5, -0.5), (0.5, 0.5))
        parts = jn.Partition(cell, [jn.Box((-fraction / 2, -0.5), (fraction / 2, 0.5))])
        return jn.Problem(parts, A=[1.0, contrast], boundary={"x1": jn.Periodic(1.0), "x2": jn.Periodic()})

    made.append(Case("cell: laminate, k = 1000", "cells", laminate, 1e-8, u, network=True))
    # Keller, Dykhne: a chessboard conducts sqrt(k). One cell of it, [0, 1]^2 with k in two quarters.
    for k, tol in ((4.0, 1e-6), (100.0, 1e-3)):

        def chess(k: float = k) -> jn.Problem:
            parts = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Box((0, 0), (0.5, 0.5)), jn.Box((0.5, 0.5), (1, 1))])
            return jn.Problem(parts, A=[1.0, k, k], boundary={"x1": jn.Periodic(1.0), "x2": jn.Periodic()})

        flux = _box_flux(
            [((0, 0.5), (0.5, 1), 0), ((0.5, 0), (1, 0.5), 0), ((0, 0), (0.5, 0.5), 1), ((0.5, 0.5), (1, 1), 2)], k
        )
        name, why = f"cell: chessboard, k = {k:g}", "Keller 1964, Dykhne 1970"
        made.append(Case(name, "cells", chess, tol, defects=(flux,), why=why))
    return made


def lattice(fraction: float, k: float, value: float, tol: float) -> Case:
    """A square lattice of disks: effective conductivity by Rayleigh's multipoles, stable from 80 to 160 orders."""

    def build() -> jn.Problem:
        parts = jn.Partition(jn.Box((-0.5, -0.5), (0.5, 0.5)), [jn.Disk((0, 0), np.sqrt(fraction / np.pi))])
        return jn.Problem(parts, A=[1.0, k], boundary={"x1": jn.Periodic(1.0), "x2": jn.Periodic()})

    out = net_flux(["x1+"], value, value)
    return Case(
        f"cell: lattice of disks, {fraction:g}, k = {k:g}",
        "cells",
        build,
        tol,
        defects=(out,),
        why="Rayleigh's multipoles",
    )


def _points() -> list[Case]:
    """Point sources by images."""
    q, at = 3.0, np.array([0.3, 0.2])

    def log(x: Array, center: Array) -> Array:
        return -np.log(np.sqrt(np.sum((x - center) ** 2, axis=1))) / (2 * np.pi)

    made = []
    for k, tol in ((10.0, 1e-8), (1e-6, 1e-6)):
        mirrored, gamma = at * np.array([-1.0, 1.0]), (1 - k) / (1 + k)
        exact = by_piece(
            lambda x, g=gamma, m=mirrored: q * (log(x, at) + g * log(x, m)),
            lambda x, g=gamma: q * (1 + g) * log(x, at),
        )

        def build(k: float = k, exact=exact) -> jn.Problem:
            parts = jn.Partition(SQUARE, [jn.Box((-1, -1), (0, 1))])
            g = lambda x: exact(np.asarray(x), (x[:, 0] < 0).astype(int))
            return jn.Problem(parts, A=[1.0, k], boundary=jn.Dirichlet(g), sources=[jn.PointSource(at.tolist(), q)])

        made.append(Case(f"point source beside a wall, k = {k:g}", "points", build, tol, exact, slack=10.0))
    # Outside a disk of radius R at 0: images at R^2/|at|^2 at (strength (1-k)/(1+k)) and at 0 (the opposite).
    R, k, far = 0.3, 100.0, np.array([0.32, 0.0])
    gamma, image = (1 - k) / (1 + k), R**2 / 0.32**2 * np.array([0.32, 0.0])
    exact = by_piece(
        lambda x: q * (log(x, far) + gamma * (log(x, image) - log(x, np.zeros(2)))),
        lambda x: q * ((1 + gamma) * log(x, far) - gamma * np.log(0.32 / R) / (2 * np.pi) * 0.0) + inner_constant,
    )
    # Continuity at (R, 0): the image's logarithm of |x - image| = R/|far| |x - far| on the circle.
    inner_constant = q * gamma * (-np.log(R / 0.32) / (2 * np.pi) + np.log(R) / (2 * np.pi))

    def near_disk() -> jn.Problem:
        parts = jn.Partition(SQUARE, [jn.Disk((0, 0), R)])
        return jn.Problem(
            parts, A=[1.0, k], boundary=jn.Dirichlet(on_boundary(exact)), sources=[jn.PointSource(far.tolist(), q)]
        )

    made.append(
        Case(
            "point source at 0.02 from a disk",
            "points",
            near_disk,
            1e-6,
            exact,
            focus=(([0.2, -0.1], [0.4, 0.1]),),
            slack=10.0,
        )
    )

    def space(x: Array, piece: Array) -> Array:
        p = np.array([0.2, 0.1, 0.0])
        m = p * np.array([-1.0, 1.0, 1.0])
        one = 1 / np.sqrt(np.sum((x - p) ** 2, axis=1)) / (4 * np.pi)
        two = 1 / np.sqrt(np.sum((x - m) ** 2, axis=1)) / (4 * np.pi)
        return np.where(piece == 0, one + (1 - 5) / (1 + 5) * two, 2 / (1 + 5) * one)

    def spatial() -> jn.Problem:
        parts = jn.Partition(jn.Box((-1, -1, -1), (1, 1, 1)), [jn.Box((-1, -1, -1), (0, 1, 1))])
        g = lambda x: space(np.asarray(x), (x[:, 0] < 0).astype(int))
        return jn.Problem(parts, A=[1.0, 5.0], boundary=jn.Dirichlet(g), sources=[jn.PointSource([0.2, 0.1, 0.0], 1.0)])

    made.append(Case("point source beside a wall in space", "points", spatial, 1e-6, space))
    return made


def _neumann() -> list[Case]:
    """Pure Neumann problems with a mean."""

    def u(x: Array) -> Array:
        return 100.0 + x[:, 0] ** 3 - 3 * x[:, 0] * x[:, 1] ** 2

    def build() -> jn.Problem:
        # A grad u . n on the sides of the square.
        sides = {
            "left": jn.Neumann("-(3 - 3*x2**2)"),
            "right": jn.Neumann("3 - 3*x2**2"),
            "bottom": jn.Neumann("-6*x1"),
            "top": jn.Neumann("-6*x1"),
        }
        return jn.Problem(jn.Partition(SQUARE), boundary=sides, mean=100.0)

    def ring(x: Array, piece: Array) -> Array:
        # f = -1 in the disk of radius 1/2, flux out of the unit circle: -1/8 = A du/dr at r = 1.
        r2 = np.sum(x**2, axis=1)
        inner, outer = -(r2 - 0.25) / 40, -np.log(np.maximum(r2, 1e-300) / 0.25) / 16
        return np.where(piece == 0, outer, inner)

    # The mean of the above over the unit disk: (2/1) int r u dr.
    inside = 2 * -((0.5**4 / 4 - 0.25 * 0.5**2 / 2) / 40)
    outside = 2 * -(1 / 16) * (0.5 * np.log(4.0) - 0.5 * (1 - 0.25))
    mean = inside + outside

    def heated() -> jn.Problem:
        parts = jn.Partition(jn.Disk((0, 0), 1.0), [jn.Disk((0, 0), 0.5)])
        return jn.Problem(parts, A=[1.0, 10.0], f=[0.0, -1.0], boundary=jn.Neumann(-1 / 8), mean=-3.0)

    return [
        Case("square: Neumann, mean 100", "neumann", build, 1e-8, everywhere(u), network=True),
        Case("disk: Neumann, heated core, mean -3", "neumann", heated, 1e-8, lambda x, p: ring(x, p) - mean - 3.0),
    ]


def cases() -> list[Case]:
    """All of this file."""
    robin = {"first": (0.005, 1.0, 0.125), "last": (0.01, 1.0, 0.25)}
    return [
        board(1e-3),
        board(1e-6, ambient=0.0),
        plane_stack(
            "plane: board, chip, slab, air with ambient 25",
            1e-3,
            [0.0, 6.0, 10.0, 13.0, 40.0],
            [0.3, 100.0, 200.0, 0.026],
            f=[0.0, -0.01, 0.0, 0.0],
            network=True,
            **robin,
        ),
        plane_stack(
            "plane: glue of 1e-3",
            1e-6,
            [0.0, 1.0, 1.001, 2.0],
            [200.0, 0.1, 400.0],
            f=[-1.0, 0.0, 0.0],
            first=(0.1, 1.0, 2.5),
        ),
        plane_stack(
            "plane: contact resistance 100",
            1e-8,
            [0.0, 1.0, 2.0],
            [200.0, 400.0],
            f=[-1.0, 0.0],
            R=[100.0, 0.0],
            first=(0.1, 1.0, 2.5),
        ),
        plane_stack(
            "plane: fins, lam = 1e3 in a layer", 1e-6, [0.0, 1.0, 1.5], [1.0, 10.0], lam=[1e3, 0.0], f=[0.0, -1.0]
        ),
        *_floating(),
        *_cells(),
        lattice(0.5, 1000.0, 3.071403485258, 1e-8),
        *_points(),
        *_neumann(),
    ]
