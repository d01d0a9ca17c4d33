"""Disks and balls in closed form: single, coated, nested, with contact, cut by a side, anisotropic images."""

# ruff: noqa: E731 (formulas are written as formulas)

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from benchmarks.adversary.cases import Array, Case, Exact, by_piece, on_boundary
from benchmarks.adversary.layers import concentric
from scipy import special

import jumpnet as jn

SQUARE = jn.Box((-1, -1), (1, 1))
CUBE = jn.Box((-1, -1, -1), (1, 1, 1))


def shells(radii: Sequence[float], center: Sequence[float]) -> list:
    """Concentric pieces, outermost first."""
    make = jn.Disk if len(center) == 2 else jn.Ball
    balls = [make(tuple(center), r) for r in radii]
    return [*(a - b for a, b in itertools.pairwise(balls)), balls[-1]]


def round_case(
    name: str,
    group: str,
    tol: float,
    radii: Sequence[float],
    A: Sequence[float],
    *,
    center: Sequence[float] = (0.0, 0.0),
    domain: Any = None,
    neumann: bool = False,
    network: bool = False,
    slack: float = 1.0,
    **others,
) -> Case:
    """Concentric layers with Dirichlet data from the closed form."""
    dim = len(center)
    exact = concentric(radii, A, dim=dim, center=center, **others)
    box = domain or (SQUARE if dim == 2 else CUBE)
    n = len(A)
    resistance = others.get("R") or [0.0] * n
    jumps = {(k, k + 1): jn.Jump(R=resistance[k]) for k in range(n - 1)}

    def build() -> jn.Problem:
        return jn.Problem(
            jn.Partition(box, shells(radii, center)),
            A=list(A),
            lam=list(others.get("lam") or [0.0] * n),
            f=list(others.get("f") or [0.0] * n),
            boundary=jn.Dirichlet(on_boundary(exact)),
            jumps=jumps,
        )

    near = [([c - 1.05 * radii[0] for c in center], [c + 1.05 * radii[0] for c in center])]
    if radii[0] < 0.1:
        near.append(([c - 5 * radii[0] for c in center], [c + 5 * radii[0] for c in center]))
    return Case(name, group, build, tol, exact, focus=tuple(near), network=network, slack=slack)


def _coatings() -> list[Case]:
    made = []
    for t, k, tol in (
        (0.1, 1e3, 1e-8),
        (1e-2, 1e-2, 1e-8),
        (1e-3, 1e3, 1e-6),
        (1e-4, 1e-4, 1e-6),
        (1e-5, 1e3, 1e-3),
        (1e-5, 1e-5, 1e-6),
    ):
        name = f"disk: coating of {t:g}, k = {k:g}"
        made.append(
            round_case(
                name, "coatings", tol, [0.5, 0.5 - t], [1.0, k, 10.0], center=(0.1, 0.0), network=t == 0.1, slack=30.0
            )
        )
    five = [0.8, 0.7, 0.6, 0.5, 0.2]
    made.append(
        round_case(
            "disk: nest of five, 1e-3 and 1e3",
            "coatings",
            1e-8,
            five,
            [1.0, 1e3, 1e-3, 1e3, 1e-3, 1.0],
            network=True,
            slack=30.0,
        )
    )
    ten = [0.9 * 0.9**k for k in range(10)]
    made.append(
        round_case("disk: nest of ten", "coatings", 1e-6, ten, [1.0, *[10.0 ** ((-1) ** k) for k in range(10)]])
    )
    made.append(round_case("disk: nest with a tiny core", "coatings", 1e-6, [0.5, 1e-3], [1.0, 10.0, 1e-6]))
    made.append(round_case("disk: coating hidden (neutral)", "coatings", 1e-8, [0.5, 0.4], [1.0, 4.0, 0.8 / 6.2]))
    made.append(
        round_case(
            "disk: heated core in a coating of 1e-3",
            "coatings",
            1e-6,
            [0.5, 0.499],
            [1.0, 1e-2, 100.0],
            order=0,
            f=[0.0, 0.0, -1.0],
            outer=1.0,
            domain=jn.Disk((0, 0), 1.0),
        )
    )
    return made


def _contrasts() -> list[Case]:
    made = [
        round_case(
            f"disk: k = {k:g}", "contrasts", tol, [0.4], [1.0, k], center=(0.2, 0.1), network=k == 1e12, slack=1e3
        )
        for k, tol in ((1e12, 1e-8), (1e-12, 1e-8), (1e9, 1e-3))
    ]
    made.append(
        round_case(
            "disk: k = 1e6, heated by 1",
            "contrasts",
            1e-8,
            [0.5],
            [1.0, 1e6],
            order=0,
            f=[0.0, -1.0],
            outer=1.0,
            domain=jn.Disk((0, 0), 1.0),
        )
    )
    made.append(
        round_case(
            "disk: outside 1e-9, heated",
            "contrasts",
            1e-6,
            [0.5],
            [1e-9, 1.0],
            order=0,
            f=[0.0, -1.0],
            outer=1.0,
            domain=jn.Disk((0, 0), 1.0),
            slack=1e3,
        )
    )
    made.append(round_case("disk: order 6, k = 1e8", "contrasts", 1e-8, [0.7], [1.0, 1e8], order=6, slack=1e3))
    made.append(round_case("ball: k = 1e10", "contrasts", 1e-6, [0.5], [1.0, 1e10], center=(0.1, 0.0, 0.0), slack=1e3))
    return made


def _tiny() -> list[Case]:
    made = [
        round_case(f"disk: radius {r:g}, order {n}", "thin", tol, [r], [1.0, k], center=(0.3, 0.2), order=n)
        for r, k, n, tol in ((1e-2, 1e3, 1, 1e-8), (1e-3, 1e-3, 1, 1e-6), (1e-4, 1e6, 1, 1e-6))
    ]
    for r, tol in ((1e-2, 1e-6), (1e-3, 1e-6), (1e-4, 1e-3)):
        name = f"disk: heated, radius {r:g}"
        source = [0.0, -1.0 / (np.pi * r**2)]
        made.append(
            round_case(
                name,
                "thin",
                tol,
                [r],
                [1.0, 10.0],
                order=0,
                f=source,
                outer=1.0,
                domain=jn.Disk((0, 0), 1.0),
                network=r == 1e-2,
            )
        )
    made.append(
        round_case(
            "ball: heated, radius 0.01",
            "thin",
            1e-3,
            [0.01],
            [1.0, 10.0],
            center=(0.0, 0.0, 0.0),
            order=0,
            f=[0.0, -3.0 / (4 * np.pi * 1e-6)],
            outer=1.0,
            domain=jn.Ball((0, 0, 0), 1.0),
        )
    )
    return made


def _lam() -> list[Case]:
    unit, made = jn.Disk((0, 0), 1.0), []
    for lam, tol in ((1e2, 1e-8), (1e4, 1e-6), (1e6, 1e-3)):
        name = f"disk: lam = {lam:g} around it"
        made.append(
            round_case(
                name, "lam", tol, [0.4], [1.0, 10.0], order=0, lam=[lam, 0.0], f=[0.0, -1.0], outer=1.0, domain=unit
            )
        )
    made.append(
        round_case(
            "disk: lam = 1e4 around it, in a square",
            "lam",
            1e-6,
            [0.4],
            [1.0, 10.0],
            order=1,
            lam=[1e4, 1e4],
            outer=1.4,
        )
    )
    made.append(round_case("disk: lam = 1e4 inside", "lam", 1e-6, [0.4], [1.0, 1.0], order=1, lam=[0.0, 1e4]))
    for lam, tol in ((-25.0, 1e-8), (-900.0, 1e-6), (-1e4, 1e-3)):
        name = f"disk: lam = {lam:g}"
        made.append(
            round_case(
                name,
                "lam",
                tol,
                [0.4],
                [1.0, 4.0],
                order=0,
                lam=[lam, lam],
                outer=1.0,
                domain=unit,
                network=lam == -25.0,
                slack=10.0,
            )
        )
    first = special.jn_zeros(0, 1)[0] ** 2
    made.append(
        round_case(
            "disk: lam at the first eigenvalue times 1.001",
            "lam",
            1e-6,
            [0.4],
            [1.0, 1.0],
            order=0,
            lam=[-1.001 * first] * 2,
            f=[1.0, 1.0],
            outer=1.0,
            domain=unit,
            slack=1e2,
        )
    )
    made.append(
        round_case(
            "ball: lam = 400 around it",
            "lam",
            1e-6,
            [0.5],
            [1.0, 10.0],
            center=(0.0, 0.0, 0.0),
            order=0,
            lam=[400.0, 0.0],
            f=[0.0, -1.0],
            outer=1.0,
            domain=jn.Ball((0, 0, 0), 1.0),
        )
    )
    made.append(
        round_case(
            "ball: lam = -100",
            "lam",
            1e-6,
            [0.5],
            [1.0, 2.0],
            center=(0.0, 0.0, 0.0),
            order=0,
            lam=[-100.0, -100.0],
            outer=1.0,
            domain=jn.Ball((0, 0, 0), 1.0),
            slack=10.0,
        )
    )
    return made


def _contact() -> list[Case]:
    made = [
        round_case(
            f"disk: contact resistance {R:g}",
            "contact",
            tol,
            [0.4],
            [1.0, 100.0],
            center=(0.1, 0.1),
            R=[R, 0.0],
            network=R == 0.4,
        )
        for R, tol in ((0.4, 1e-8), (1e-6, 1e-8), (1e6, 1e-6))
    ]
    made.append(
        round_case(
            "disk: contact twice, coated", "contact", 1e-6, [0.6, 0.55], [1.0, 1e-2, 1e4], R=[0.3, 3.0, 0.0], slack=10.0
        )
    )
    made.append(
        round_case(
            "ball: contact resistance 0.5", "contact", 1e-6, [0.5], [1.0, 10.0], center=(0.0, 0.1, 0.0), R=[0.5, 0.0]
        )
    )
    return made


def _space() -> list[Case]:
    origin = (0.0, 0.0, 0.0)
    made = [
        round_case(
            "ball: k = 1000 off centre",
            "space",
            1e-8,
            [0.4],
            [1.0, 1e3],
            center=(0.3, -0.2, 0.1),
            network=True,
            slack=10.0,
        ),
        round_case("ball: coated, 0.01 of k = 100", "space", 1e-6, [0.5, 0.49], [1.0, 100.0, 0.1], center=origin),
        round_case("ball: nest of three", "space", 1e-6, [0.8, 0.6, 0.3], [1.0, 100.0, 0.01, 10.0], center=origin),
        round_case("ball: near the wall, 0.02", "space", 1e-3, [0.5], [1.0, 100.0], center=(0.48, 0.0, 0.0)),
        round_case(
            "ball: in a ball, heated",
            "space",
            1e-6,
            [0.5],
            [1.0, 100.0],
            center=origin,
            order=0,
            f=[0.0, -1.0],
            outer=1.0,
            domain=jn.Ball(origin, 1.0),
        ),
    ]
    return made


def _cut() -> list[Case]:
    """Pieces cut by sides of the domain: by reflection, the closed form of the whole disk or ball."""
    made = []
    for k, tol in ((10.0, 1e-8), (1e-4, 1e-6)):
        exact = concentric([0.5], [1.0, k])

        def build(k: float = k, exact: Exact = exact) -> jn.Problem:
            parts = jn.Partition(jn.Box((0, -1), (1, 1)), [jn.Disk((0, 0), 0.5) & jn.HalfSpace((-1, 0), 0.0)])
            sides = {s: jn.Dirichlet(on_boundary(exact)) for s in ("right", "bottom", "top")}
            return jn.Problem(parts, A=[1.0, k], boundary={"left": jn.Dirichlet(0.0), **sides})

        made.append(Case(f"half disk at a cold wall, k = {k:g}", "cut", build, tol, exact, network=k == 10.0))
        quarter = concentric([0.5], [1.0, k], center=(0.0, 0.0))

        def corner(k: float = k, exact: Exact = quarter) -> jn.Problem:
            box = jn.Box((0, 0), (1, 1))
            parts = jn.Partition(box, [jn.Disk((0, 0), 0.5) & jn.HalfSpace((-1, 0), 0.0) & jn.HalfSpace((0, -1), 0.0)])
            sides = {s: jn.Dirichlet(on_boundary(exact)) for s in ("right", "top")}
            return jn.Problem(
                parts, A=[1.0, k], boundary={"left": jn.Dirichlet(0.0), "bottom": jn.Neumann(0.0), **sides}
            )

        made.append(Case(f"quarter disk in a corner, k = {k:g}", "cut", corner, tol, quarter))
    ball = concentric([0.5], [1.0, 20.0], dim=3)

    def half_ball() -> jn.Problem:
        box = jn.Box((0, -1, -1), (1, 1, 1))
        parts = jn.Partition(box, [jn.Ball((0, 0, 0), 0.5) & jn.HalfSpace((-1, 0, 0), 0.0)])
        sides = {s: jn.Dirichlet(on_boundary(ball)) for s in ("x1+", "x2", "x3")}
        return jn.Problem(parts, A=[1.0, 20.0], boundary={"x1-": jn.Dirichlet(0.0), **sides})

    made.append(Case("half ball at a cold wall", "cut", half_ball, 1e-6, ball))
    return made


def affine(name: str, tol: float, ratio: float, k: float, angle: float, *, network: bool = False, radii=(0.3,)) -> Case:
    """The image of a disk in a uniform field under a stretch and a turn M: A = M M^T outside and k M M^T inside."""
    c, s = np.cos(angle), np.sin(angle)
    M = np.array([[c, -s], [s, c]]) @ np.diag([1.0, 1.0 / np.sqrt(ratio)])
    back, A = np.linalg.inv(M), M @ M.T
    plain = concentric(radii, [1.0, *[k] * len(radii)])
    exact = lambda x, piece: plain(x @ back.T, piece)
    axes = (radii[0], radii[0] / np.sqrt(ratio))

    def build() -> jn.Problem:
        ellipse = jn.Ellipse((0.0, 0.0), axes, angle)
        box = (
            jn.Box((-0.5, -0.5), (0.5, 0.5))
            if angle
            else jn.Box((-0.5, -0.5 / np.sqrt(ratio) * 3), (0.5, 0.5 / np.sqrt(ratio) * 3))
        )
        matrices = [A.tolist(), (k * A).tolist()]
        return jn.Problem(jn.Partition(box, [ellipse]), A=matrices, boundary=jn.Dirichlet(on_boundary(exact)))

    return Case(
        name, "anisotropy", build, tol, exact, focus=(([-0.35, -0.35], [0.35, 0.35]),), network=network, slack=10.0
    )


def tensors(name: str, tol: float, inner: float) -> Case:
    """A disk of isotropic k in diag(4, 1)... by the image of a confocal ellipse in an isotropic plane."""
    # x = M y with M = diag(2, 1): the disk of radius R is an ellipse with axes R/2, R in the y plane, A = I there.
    R = 0.4
    a, b = R / 2, R
    # Inside, conductivity tensor of the y plane: M^-1 (inner I) M^-T = inner diag(1/4, 1); along y1 it is inner/4.
    k = inner / 4
    n1 = b / (a + b)
    inside = 1.0 / (1 + n1 * (k - 1))

    def outside(x: Array) -> Array:
        y = x / np.array([2.0, 1.0])
        # By the confocal coordinate q: y lies on the ellipse with the axes sqrt(a^2 + q) and sqrt(b^2 + q).
        p, m = np.sum(y**2, axis=1) - a**2 - b**2, a**2 * b**2 - (y[:, 0] * b) ** 2 - (y[:, 1] * a) ** 2
        q = 0.5 * (p + np.sqrt(p**2 - 4 * m))
        s1, s2 = np.sqrt(np.maximum(a**2 + q, 0)), np.sqrt(np.maximum(b**2 + q, 0))
        depolarisation = a * b / (s1 * (s1 + s2))
        return 2.0 * y[:, 0] * (1 - inside * (k - 1) * depolarisation)

    exact = by_piece(outside, lambda x: 2.0 * inside * x[:, 0] / 2.0)

    def build() -> jn.Problem:
        parts = jn.Partition(SQUARE, [jn.Disk((0, 0), R)])
        return jn.Problem(parts, A=[[[4.0, 0.0], [0.0, 1.0]], inner], boundary=jn.Dirichlet(on_boundary(exact)))

    return Case(name, "anisotropy", build, tol, exact)


def _anisotropy() -> list[Case]:
    made = [
        affine("ellipse 2:1 in A = 4:1", 1e-8, 4.0, 10.0, 0.0, network=True),
        affine("ellipse 10:1 in A = 100:1, turned", 1e-6, 1e2, 10.0, 0.4),
        affine("ellipse 100:1 in A = 1e4:1, turned", 1e-3, 1e4, 10.0, 0.3),
        affine("ellipse 100:1 in A = 1e4:1", 1e-6, 1e4, 1e3, 0.0),
        tensors("disk of k = 10 in A = 4:1", 1e-8, 10.0),
        tensors("disk of k = 0.01 in A = 4:1", 1e-6, 0.01),
    ]
    for ratio, tol in ((1e2, 1e-8), (1e4, 1e-6), (1e-4, 1e-6)):
        # A = diag(1, ratio): exp(sqrt(ratio) n x) would be steep; u = sin(pi x) cosh(pi y/sqrt(ratio)).
        root = np.sqrt(ratio)

        def u(x: Array, root: float = root) -> Array:
            q = np.pi / root
            edge = np.exp(-q * (1 - np.abs(x[:, 1]))) * (1 + np.exp(-2 * q * np.abs(x[:, 1]))) / (1 + np.exp(-2 * q))
            return np.sin(np.pi * x[:, 0]) * edge

        def build(ratio: float = ratio, u=u) -> jn.Problem:
            return jn.Problem(jn.Partition(SQUARE), A=[[[1.0, 0.0], [0.0, ratio]]], boundary=jn.Dirichlet(u))

        made.append(
            Case(
                f"square: A = diag(1, {ratio:g})",
                "anisotropy",
                build,
                tol,
                lambda x, p, u=u: u(x),
                network=ratio == 1e2,
            )
        )
    return made


def cases() -> list[Case]:
    """All of this file."""
    return [*_coatings(), *_contrasts(), *_tiny(), *_lam(), *_contact(), *_space(), *_cut(), *_anisotropy()]
