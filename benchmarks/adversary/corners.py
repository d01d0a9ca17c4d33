"""Corners of domains and of materials, slits and wedges: powers of the distance with exponents in closed form."""

# ruff: noqa: E731 (formulas are written as formulas)

from typing import Any

import numpy as np
from benchmarks.adversary.cases import Array, Case, by_piece, everywhere
from scipy import optimize, special

import jumpnet as jn

NEAR = (([-0.1, -0.1], [0.1, 0.1]), ([-0.01, -0.01], [0.01, 0.01]))


def _polar(x: Array, cut: float) -> tuple[Array, Array]:
    """Distance and angle in (cut, cut + 2 pi)."""
    angle = np.arctan2(x[:, 1], x[:, 0])
    return np.hypot(x[:, 0], x[:, 1]), cut + np.mod(angle - cut, 2 * np.pi)


def sector(opening: float) -> list[tuple[float, float]]:
    """The corners of a polygon with an angle at 0 between the directions 0 and opening, on the rim of a square."""
    rim = lambda t: (np.cos(t) / max(abs(np.cos(t)), abs(np.sin(t))), np.sin(t) / max(abs(np.cos(t)), abs(np.sin(t))))
    turns = [t for t in np.pi / 4 * np.array([1, 3, 5, 7]) if 1e-9 < t < opening - 1e-9]
    return [(0.0, 0.0), (1.0, 0.0), *(rim(t) for t in turns), rim(opening)]


def reentrant(opening: float, tol: float, *, lam: float = 0.0, mixed: bool = False, network: bool = False) -> Case:
    """u = r^q sin(q theta), or I_q(sqrt(lam) r) for r^q: zero on both sides; mixed: Neumann on the second."""
    q = np.pi / opening * (0.5 if mixed else 1.0)
    cut = 0.5 * (opening - 2 * np.pi)
    root = np.sqrt(lam)

    def u(x: Array) -> Array:
        r, angle = _polar(x, cut)
        radial = r**q if lam == 0.0 else special.ive(q, root * r) * np.exp(root * (r - 1.5))
        return radial * np.sin(q * angle)

    exact = everywhere(u)
    c, s = float(np.cos(opening)), float(np.sin(opening))

    def build() -> jn.Problem:
        domain = jn.Polygon(sector(opening))
        if not mixed:
            return jn.Problem(jn.Partition(domain), lam=lam, boundary=jn.Dirichlet(u))
        free = f"abs({s!r}*x1 - {c!r}*x2) < 1e-9 and {c!r}*x1 + {s!r}*x2 > 0"
        parts = jn.Partition(domain, boundary={"free": free})
        return jn.Problem(parts, lam=lam, boundary={"free": jn.Neumann(0.0), "boundary": jn.Dirichlet(u)})

    name = (
        f"corner of {np.degrees(opening):.0f} degrees"
        + (f", lam = {lam:g}" if lam else "")
        + (", mixed" if mixed else "")
    )
    return Case(f"{name}, tol {tol:g}", "corners", build, tol, exact, focus=NEAR, network=network)


def chessboard(k: float, tol: float, *, network: bool = False, shifted: bool = False) -> Case:
    """Four quadrants, k in the first and third: u = r^q phi, tan(q pi/4) = 1/sqrt(k) (or its partner)."""
    q = 4 / np.pi * np.arctan(k**-0.5)
    if shifted:
        q = 4 - q  # the next exponent with the same symmetry, tan(q pi/4) = -1/sqrt(k)
    B = np.cos(q * np.pi / 4) / np.sin(q * np.pi / 4)

    def u(x: Array, piece: Array) -> Array:
        r = np.hypot(x[:, 0], x[:, 1])
        # Pieces: 1 the first quadrant, 2 the third, 0 the rest; in the rest by the sign of x2 - x1.
        turned = np.where(piece == 2, -1.0, 1.0)[:, None] * x
        one = np.cos(q * (np.arctan2(turned[:, 1], turned[:, 0]) - np.pi / 4)) * np.where(piece == 2, -1.0, 1.0)
        upper = x[:, 1] > x[:, 0]
        other = np.where(upper, 1.0, -1.0)[:, None] * x
        angle = np.mod(np.arctan2(other[:, 1], other[:, 0]) + np.pi / 2, 2 * np.pi) - np.pi / 2
        two = -B * np.sin(q * (angle - 3 * np.pi / 4)) * np.where(upper, 1.0, -1.0)
        return r**q * np.where(piece == 0, two, one)

    def build() -> jn.Problem:
        parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Box((0, 0), (1, 1)), jn.Box((-1, -1), (0, 0))])

        def g(x: Array) -> Array:
            return u(np.asarray(x), np.where(x[:, 0] * x[:, 1] <= 0, 0, np.where(x[:, 0] > 0, 1, 2)))

        return jn.Problem(parts, A=[1.0, k, k], boundary=jn.Dirichlet(g))

    name = f"chessboard, k = {k:g}, exponent {q:.3f}"
    return Case(name, "corners", build, tol, u, focus=NEAR, network=network, slack=10.0)


def wedge(opening: float, k: float, tol: float, *, odd: bool = False, network: bool = False) -> Case:
    """A wedge of k with its tip in the middle of a square: the lowest exponent that is even (odd) about its axis."""
    h = opening / 2

    def even_equation(q: float) -> float:
        return k * np.sin(q * h) * np.cos(q * (np.pi - h)) + np.sin(q * (np.pi - h)) * np.cos(q * h)

    def odd_equation(q: float) -> float:
        return k * np.cos(q * h) * np.sin(q * (np.pi - h)) + np.cos(q * (np.pi - h)) * np.sin(q * h)

    equation = odd_equation if odd else even_equation
    grid = np.linspace(0.05, 2.0, 400)
    signs = np.sign([equation(t) for t in grid])
    first = int(np.flatnonzero(signs[1:] != signs[:-1])[0])
    q: Any = optimize.brentq(equation, grid[first], grid[first + 1], xtol=1e-15)
    inside = np.sin if odd else np.cos

    def core(x: Array) -> Array:
        r, angle = _polar(x, -np.pi)
        return r**q * inside(q * angle)

    B = inside(q * h) / inside(q * (np.pi - h))

    def rest(x: Array) -> Array:
        r, angle = _polar(x, 0.0)  # the axis of the wedge is the cut
        return r**q * B * (np.sin(q * (np.pi - angle)) if odd else np.cos(q * (np.pi - angle)))

    exact = by_piece(rest, core)
    tip = np.tan(h)
    corners = (
        [(0.0, 0.0), (1.0, -tip), (1.0, tip)]
        if tip <= 1
        else [(0.0, 0.0), (1 / tip, -1.0), (1.0, -1.0), (1.0, 1.0), (1 / tip, 1.0)]
    )

    def build() -> jn.Problem:
        parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Polygon(corners)])

        def g(x: Array) -> Array:
            x = np.asarray(x)
            return exact(x, (np.abs(np.arctan2(x[:, 1], x[:, 0])) < h).astype(int))

        return jn.Problem(parts, A=[1.0, k], boundary=jn.Dirichlet(g))

    name = f"wedge of {np.degrees(opening):.0f} degrees, k = {k:g}, exponent {q:.3f}"
    return Case(name, "corners", build, tol, exact, focus=NEAR, network=network, slack=10.0)


def change(tol: float, *, power: float = 0.5, domain: str = "mid-side", network: bool = False) -> Case:
    """The condition changes from Neumann to Dirichlet in mid-side: u = r^p cos(p theta), p = 1/2 or 3/2."""

    def u(x: Array) -> Array:
        r, angle = _polar(x, -np.pi / 2)
        return r**power * np.cos(power * angle)

    def build() -> jn.Problem:
        box = jn.Box((-1, 0), (1, 1))
        parts = jn.Partition(box, boundary={"cold": "x2 < 1e-12 and x1 < 0"})
        sides = {s: jn.Dirichlet(u) for s in ("left", "right", "top")}
        return jn.Problem(parts, boundary={"cold": jn.Dirichlet(0.0), "bottom": jn.Neumann(0.0), **sides})

    return Case(
        f"Neumann turns Dirichlet in mid-side, r^{power:g}, tol {tol:g}",
        "jumping",
        build,
        tol,
        everywhere(u),
        focus=NEAR,
        network=network,
    )


def change_layered(tol: float) -> Case:
    """The condition changes where a wall between two materials ends: r^q with q from k."""
    # theta in (0, pi/2): A = k, Neumann at 0; (pi/2, pi): A = 1, Dirichlet at pi. cos(q t), B sin(q (pi - t)).
    k = 10.0
    q = 2 / np.pi * np.arctan(k**-0.5)  # k tan^2(q pi/2) = 1

    def core(x: Array) -> Array:
        r, angle = _polar(x, -np.pi / 2)
        return r**q * np.cos(q * angle)

    B = np.cos(q * np.pi / 2) / np.sin(q * np.pi / 2)

    def rest(x: Array) -> Array:
        r, angle = _polar(x, -np.pi / 2)
        return r**q * B * np.sin(q * (np.pi - angle))

    exact = by_piece(rest, core)

    def build() -> jn.Problem:
        box = jn.Box((-1, 0), (1, 1))
        parts = jn.Partition(box, [jn.Box((0, 0), (1, 1))], boundary={"cold": "x2 < 1e-12 and x1 < 0"})
        g = lambda x: exact(np.asarray(x), (x[:, 0] > 0).astype(int))
        sides = {s: jn.Dirichlet(g) for s in ("left", "right", "top")}
        return jn.Problem(parts, A=[1.0, k], boundary={"cold": jn.Dirichlet(0.0), "bottom": jn.Neumann(0.0), **sides})

    return Case(f"Neumann turns Dirichlet at a wall, exponent {q:.3f}", "jumping", build, tol, exact, focus=NEAR)


def cases() -> list[Case]:
    """All of this file."""
    full = np.pi
    return [
        reentrant(1.5 * full, 1e-3, network=True),
        reentrant(1.5 * full, 1e-8),
        reentrant(1.5 * full, 1e-6, lam=100.0),
        reentrant(1.5 * full, 1e-3, mixed=True),
        reentrant(1.75 * full, 1e-6),
        reentrant(1.95 * full, 1e-6),
        reentrant(0.75 * full, 1e-8),
        reentrant(full * 0.3, 1e-8),
        reentrant(full * 1.25, 1e-6, lam=1e4),
        chessboard(3.0, 1e-6, network=True),
        chessboard(10.0, 1e-8),
        chessboard(100.0, 1e-3),
        chessboard(1e4, 1e-3),
        chessboard(5.0, 1e-6, shifted=True),
        wedge(full / 2, 10.0, 1e-8, network=True),
        wedge(full / 2, 1e-3, 1e-6),
        wedge(full / 6, 100.0, 1e-6),
        wedge(full / 30, 1e3, 1e-3),
        wedge(full / 3, 1e4, 1e-6, odd=True),
        wedge(full / 18, 1e-6, 1e-6, odd=True),
        change(1e-3, network=True),
        change(1e-8),
        change(1e-6, power=1.5),
        change_layered(1e-6),
    ]
