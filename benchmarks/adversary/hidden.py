"""What points may miss: resistive lines, sources in step with a grid, small steps, bodies of very unlike size."""

# ruff: noqa: E731 (formulas are written as formulas)

from collections.abc import Callable

import numpy as np
from benchmarks.adversary.cases import Array, Case, by_piece, everywhere, on_boundary
from benchmarks.adversary.plates import source_field
from benchmarks.adversary.rounds import round_case
from scipy import special

import jumpnet as jn

SQUARE = jn.Box((-1, -1), (1, 1))
UNIT = jn.Box((0, 0), (1, 1))
HALF = jn.Box((-1, 0), (1, 1))


def _resistive_lines() -> list[Case]:
    """A = 1/(1 + h/(1 + (t - c)^2/s^2)) along a direction t: u = t + h s atan((t - c)/s) takes a step of pi h s."""
    made, c = [], 0.137
    for s, angle, tol in ((1e-2, 0.0, 1e-6), (1e-3, 0.0, 1e-3), (2e-3, 0.5, 1e-3)):
        h = 0.3 / s
        e1, e2 = float(np.cos(angle)), float(np.sin(angle))
        u = lambda x, s=s, h=h, e1=e1, e2=e2: (t := e1 * x[:, 0] + e2 * x[:, 1]) + h * s * np.arctan((t - c) / s)
        A = f"1/(1 + {h!r}/(1 + (({e1!r}*x1 + {e2!r}*x2 - {c!r})/{s!r})**2))"

        def build(A: str = A, u: Callable = u) -> jn.Problem:
            return jn.Problem(jn.Partition(SQUARE), A=A, boundary=jn.Dirichlet(u))

        name = f"plate: resistive line of width {s:g}" + (", oblique" if angle else "")
        made.append(Case(name, "hidden", build, tol, everywhere(u), slack=10.0))
    s, h = 1e-5, 3e4
    u = lambda x: x[:, 0] + h * s * np.arctan((x[:, 0] - c) / s)

    def line() -> jn.Problem:
        ends = {side: jn.Dirichlet(float(u(np.array([[at]]))[0])) for side, at in (("left", 0.0), ("right", 1.0))}
        return jn.Problem(jn.Partition(jn.Interval(0, 1)), A=f"1/(1 + {h}/(1 + ((x1 - {c})/{s})**2))", boundary=ends)

    made.append(Case("line: resistive point of width 1e-5", "hidden", line, 1e-6, everywhere(u), slack=10.0))
    return made


def _in_step() -> list[Case]:
    """Sources and coefficients that vanish, or are alike, on grids of halves."""
    made = []
    for n, tol in ((16, 1e-6), (64, 1e-3)):
        u = lambda x, n=n: x[:, 0] + np.sin(n * np.pi * x[:, 0]) * np.sin(n * np.pi * x[:, 1])

        def build(n: int = n) -> jn.Problem:
            f = f"-2*({n}*pi)**2*sin({n}*pi*x1)*sin({n}*pi*x2)"
            return jn.Problem(jn.Partition(UNIT), f=f, boundary=jn.Dirichlet("x1"))

        made.append(Case(f"square: source sin sin, {n} half waves", "hidden", build, tol, everywhere(u), slack=10.0))
    n = 1024
    u = lambda x: x[:, 0] + np.sin(n * np.pi * x[:, 0])

    def line() -> jn.Problem:
        ends = {"left": jn.Dirichlet(0.0), "right": jn.Dirichlet(1.0)}
        return jn.Problem(jn.Partition(jn.Interval(0, 1)), f=f"-({n}*pi)**2*sin({n}*pi*x1)", boundary=ends)

    made.append(Case("line: source of 1024 half waves", "hidden", line, 1e-3, everywhere(u), slack=100.0))
    for n, tol in ((32, 1e-6), (256, 1e-3)):
        # A = 1/(2 + sin(2 pi n x)): u = 2 x - (cos(2 pi n x) - 1)/(2 pi n).
        v = lambda x, n=n: 2 * x[:, 0] - (np.cos(2 * np.pi * n * x[:, 0]) - 1) / (2 * np.pi * n)

        def wavy(n: int = n) -> jn.Problem:
            sides = {"left": jn.Dirichlet(0.0), "right": jn.Dirichlet(2.0), "x2": jn.Neumann(0.0)}
            return jn.Problem(jn.Partition(UNIT), A=f"1/(2 + sin(2*pi*{n}*x1))", boundary=sides)

        made.append(Case(f"plate: laminate as a formula, {n} waves", "hidden", wavy, tol, everywhere(v), slack=10.0))
    return made


def _small_steps() -> list[Case]:
    """Boundary data that jump by little, jumps of u that are narrow, sources with an edge inside a piece."""

    def step(x: Array) -> Array:
        return 3 * x[:, 0] + 1e-5 * np.arctan2(x[:, 1], x[:, 0]) / np.pi

    def stepped() -> jn.Problem:
        parts = jn.Partition(HALF, boundary={"hot": "x2 < 1e-12 and x1 < 0"})
        sides = {s: jn.Dirichlet(step) for s in ("left", "right", "top")}
        low = {"hot": jn.Dirichlet("3*x1 + 1e-5"), "bottom": jn.Dirichlet("3*x1")}
        return jn.Problem(parts, boundary={**low, **sides})

    made = [Case("data step of 1e-5 on a slope", "hidden", stepped, 1e-8, everywhere(step))]
    c = 0.21
    for s, k, tol in ((1e-2, 5.0, 1e-6), (1e-3, 0.1, 1e-3)):
        field = lambda x, s=s: special.wofz((x[:, 0] - c + 1j * np.abs(x[:, 1])) / s).real
        lower = lambda x, k=k, field=field: -field(x) / (1 + k)
        upper = lambda x, k=k, field=field: k / (1 + k) * field(x)
        exact = by_piece(upper, lower)

        def parted(s: float = s, k: float = k, exact=exact) -> jn.Problem:
            parts = jn.Partition(SQUARE, [jn.Box((-1, -1), (1, 0))])
            g = lambda x: exact(np.asarray(x), (x[:, 1] < 0).astype(int))
            sides = {"top": jn.Dirichlet(g), "bottom": jn.Dirichlet(g), "x1": jn.Dirichlet(g)}
            jumps = {(0, 1): jn.Jump(v=f"exp(-((x1 - {c})/{s!r})**2)")}
            return jn.Problem(parts, A=[1.0, k], boundary=sides, jumps=jumps)

        near = (([c - 4 * s, -4 * s], [c + 4 * s, 4 * s]), ([c - 40 * s, -40 * s], [c + 40 * s, 40 * s]))
        made.append(Case(f"jump of width {s:g} on a wall, k = {k:g}", "hidden", parted, tol, exact, focus=near))

    def edged(x: Array, c: float = 0.123, r: float = 0.0567) -> Array:
        t = np.maximum(np.hypot(x[:, 0] - c, x[:, 1] + c), 1e-300)
        return np.where(t < r, (t**2 - r**2) / r**2, 2 * np.log(np.maximum(t, r) / r))

    def disk_source() -> jn.Problem:
        f = "where((x1 - 0.123)**2 + (x2 + 0.123)**2 < 0.0567**2, 4/0.0567**2, 0)"
        return jn.Problem(jn.Partition(SQUARE), f=f, boundary=jn.Dirichlet(edged))

    focus = (([0.02, -0.22], [0.22, -0.02]),)
    made.append(Case("source with an edge inside a piece", "hidden", disk_source, 1e-3, everywhere(edged), focus=focus))
    w, center = 4e-3, (0.137, -0.211)
    cloud = lambda x: source_field(x, center, w)

    def called() -> jn.Problem:
        f = lambda x: np.exp(-((x[:, 0] - center[0]) ** 2 + (x[:, 1] - center[1]) ** 2) / w**2) / w**2
        return jn.Problem(jn.Partition(SQUARE), f=f, boundary=jn.Dirichlet(cloud))

    focus = (([0.125, -0.223], [0.149, -0.199]),)
    made.append(Case("source of width 0.004 as a callable", "hidden", called, 1e-6, everywhere(cloud), focus=focus))
    return made


def _unlike_sizes() -> list[Case]:
    """Heated disks of radius 0.4, 0.01 and 1e-4 in one material; tiny holes; a level set for a disk."""
    middles, radii = np.array([[-0.4, 0.1], [0.5, 0.5], [0.6, -0.6]]), np.array([0.4, 1e-2, 1e-4])

    def cloud(x: Array) -> Array:
        total = np.zeros(len(x))
        for c, r in zip(middles, radii, strict=True):
            t = np.maximum(np.hypot(*(x - c).T), 1e-300)
            total -= np.where(t < r, 0.5 * (t**2 / r**2 - 1), np.log(np.maximum(t, r) / r))
        return total

    def heated() -> jn.Problem:
        parts = jn.Partition(SQUARE, [jn.Disk(tuple(c), r) for c, r in zip(middles, radii, strict=True)])
        return jn.Problem(parts, A=1.0, f=[0.0, *(-2 / radii**2)], boundary=jn.Dirichlet(cloud))

    near = tuple((c - 3 * r, c + 3 * r) for c, r in zip(middles, radii, strict=True))
    made = [Case("heated disks of 0.4, 0.01 and 1e-4", "hidden", heated, 1e-6, everywhere(cloud), focus=near, slack=10)]
    holes = [((0.3, 0.2), 1e-5), ((-0.5, -0.4), 0.2)]

    def around(x: Array) -> Array:
        logs = [np.log(np.hypot(*(x - np.array(c)).T) / r) for c, r in holes]
        return 0.1 * logs[0] - 0.3 * logs[1] + x[:, 0]

    def drilled() -> jn.Problem:
        domain = SQUARE
        for c, r in holes:
            domain = domain - jn.Disk(c, r)
        return jn.Problem(jn.Partition(domain), boundary=jn.Dirichlet(around))

    near = (([0.3 - 1e-4, 0.2 - 1e-4], [0.3 + 1e-4, 0.2 + 1e-4]),)
    made.append(Case("holes of 1e-5 and 0.2", "hidden", drilled, 1e-6, everywhere(around), focus=near, slack=10.0))
    for k, r, tol in ((50.0, 0.5, 1e-6), (1e-3, 0.05, 1e-3)):
        plain = round_case("", "", tol, [r], [1.0, k], center=(0.1, -0.2))

        def traced(k: float = k, r: float = r, plain: Case = plain) -> jn.Problem:
            assert plain.exact is not None
            shape = jn.LevelSet(f"(x1 - 0.1)**2 + (x2 + 0.2)**2 - {r * r!r}", dim=2)
            return jn.Problem(
                jn.Partition(SQUARE, [shape]), A=[1.0, k], boundary=jn.Dirichlet(on_boundary(plain.exact))
            )

        name = f"level set for a disk of {r:g}, k = {k:g}"
        made.append(Case(name, "hidden", traced, tol, plain.exact, focus=plain.focus))
    return made


def _periodic() -> list[Case]:
    """Periodic cells with contact, with a film of 1e-4, and with lam."""
    made = []
    for width, k, R, tol in ((0.3, 1e4, 0.2, 1e-8), (1e-4, 1e-4, 0.0, 1e-6)):
        # Flux q everywhere: 1 = q (width/k + (1 - width) + 2 R).
        q = 1 / (width / k + 1 - width + 2 * R)

        def u(x: Array, piece: Array, width=width, k=k, R=R, q=q) -> Array:
            t = x[:, 0]
            outside = q * t + np.sign(t) * q * (R + 0.5 * width / k - 0.5 * width)
            return np.where(piece == 1, q / k * t, outside)

        def build(width: float = width, k: float = k, R: float = R) -> jn.Problem:
            cell = jn.Box((-0.5, -0.5), (0.5, 0.5))
            parts = jn.Partition(cell, [jn.Box((-width / 2, -0.5), (width / 2, 0.5))])
            sides = {"x1": jn.Periodic(1.0), "x2": jn.Periodic()}
            return jn.Problem(parts, A=[1.0, k], boundary=sides, jumps={(0, 1): jn.Jump(R=R)})

        near = (([-width, -0.5], [width, 0.5]),)
        name = f"cell: layer of {width:g}, k = {k:g}, R = {R:g}"
        made.append(Case(name, "hidden", build, tol, u, focus=near, slack=1e3))
    return made


def cases() -> list[Case]:
    """All of this file."""
    return [*_resistive_lines(), *_in_step(), *_small_steps(), *_unlike_sizes(), *_periodic()]
