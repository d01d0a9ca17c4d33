"""Two difficulties at once: sources in coatings, contact at corners, huge and tiny Robin coefficients, offsets."""

# ruff: noqa: E731 (formulas are written as formulas)

from collections.abc import Sequence

import numpy as np
from benchmarks.adversary.cases import Array, Case, by_piece, everywhere, on_boundary
from benchmarks.adversary.layers import along, flat
from benchmarks.adversary.lines import layered
from benchmarks.adversary.rounds import round_case, shells
from scipy import special

import jumpnet as jn

SQUARE = jn.Box((-1, -1), (1, 1))
HALF = jn.Box((-1, 0), (1, 1))
L_SHAPE = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.0), (0.0, 0.0), (0.0, 0.5), (-0.5, 0.5)]


def source_in_layers(
    name: str, tol: float, radii: Sequence[float], A: Sequence[float], layer: int, d: float, R: Sequence[float]
) -> Case:
    """A point source at distance d from the middle, in one of several concentric layers (0 outermost), with contact.

    Each multipole is a small system: (r/o)^n and (i/r)^n in each layer, the outermost without the first, the core
    without the second; the source adds (d/r)^n/n outside and (r/d)^n/n inside, over 2 pi A.
    """
    L, angle = len(A), 0.3
    o, i = [2 * radii[0], *radii], [*radii, radii[-1]]
    gaps = [np.log(r / d) if r > d else np.log(d / r) for r in radii[max(layer - 1, 0) : layer + 1]]
    orders = np.arange(1, int(40 / min(gaps)) + 2)
    a, b = np.zeros((L, len(orders))), np.zeros((L, len(orders)))
    for at, n in enumerate(orders):
        M, rhs = np.zeros((2 * L - 2, 2 * L - 2)), np.zeros(2 * L - 2)

        def put(row: int, k: int, r: float, a0: float, a1: float, n=n, M=M, rhs=rhs) -> None:
            """a0 u + a1 A u' of layer k at r."""
            if k > 0:
                M[row, 2 * k - 1] += (a0 + a1 * A[k] * n / r) * (r / o[k]) ** n
            if k < L - 1:
                M[row, 2 * k] += (a0 - a1 * A[k] * n / r) * (i[k] / r) ** n
            if k == layer:
                size = (d / r if r > d else r / d) ** n / (2 * np.pi * A[k] * n)
                rhs[row] -= (a0 + a1 * A[k] * (-n if r > d else n) / r) * size

        for k, r in enumerate(radii):
            put(2 * k, k, r, 1.0, -R[k])
            put(2 * k, k + 1, r, -1.0, 0.0)
            put(2 * k + 1, k, r, 0.0, r / n)
            put(2 * k + 1, k + 1, r, 0.0, -r / n)
        rows = np.abs(M).max(axis=1)
        found = np.linalg.solve(M / rows[:, None], rhs / rows)
        b[:-1, at], a[1:, at] = found[0::2], found[1::2]
    constant = [0.0]
    for k, r in enumerate(radii):  # the mean over circles: -log(r)/(2 pi A) outside the source, constant inside
        mean = lambda l, r=r: -np.log(max(r, d) if l == layer else r) / (2 * np.pi * A[l]) if l <= layer else 0.0
        through = -R[k] / (2 * np.pi * r) if k < layer else 0.0
        constant.append(constant[k] + mean(k) - through - mean(k + 1))
    place = d * np.array([np.cos(angle), np.sin(angle)])

    def series(coefficients: Array, z: Array) -> Array:
        total = np.zeros(len(z), complex)
        for c in coefficients[::-1]:
            total = (total + c) * z
        return total.real

    def formula(k: int):
        def u(x: Array) -> Array:
            z = (x[:, 0] + 1j * x[:, 1]) * np.exp(-1j * angle)
            total = constant[k] + (series(a[k], z / o[k]) if k else 0.0)
            total = total + (series(b[k], i[k] / z) if k < L - 1 else 0.0)
            if k == layer:
                return total - np.log(np.hypot(*(x - place).T)) / (2 * np.pi * A[k])
            return total - (np.log(np.abs(z)) / (2 * np.pi * A[k]) if k < layer else 0.0)

        return u

    exact = by_piece(*(formula(k) for k in range(L)))

    def build() -> jn.Problem:
        jumps = {(k, k + 1): jn.Jump(R=R[k]) for k in range(L - 1)}
        return jn.Problem(
            jn.Partition(SQUARE, shells(radii, (0.0, 0.0))),
            A=list(A),
            boundary=jn.Dirichlet(on_boundary(exact)),
            jumps=jumps,
            sources=[jn.PointSource(place.tolist(), 1.0)],
        )

    near = [(place - s, place + s) for s in (0.02, 0.2)]
    return Case(name, "combined", build, tol, exact, focus=tuple(near), slack=30.0)


def _contact_at_corners() -> list[Case]:
    """Smooth on both sides of walls with corners and contact: the jump of u is R times a flux that turns with them."""
    made = []
    for R, k, tol in ((0.1, 10.0, 1e-6), (1e-3, 1e3, 1e-6)):
        outer, inner = (lambda x: np.exp(x[:, 0]) * np.cos(x[:, 1])), (lambda x: 2 + x[:, 0] * x[:, 1] - x[:, 1])

        def build(R: float = R, k: float = k) -> jn.Problem:
            parts = jn.Partition(SQUARE, [jn.Polygon(L_SHAPE)])
            return jn.manufactured(parts, ["exp(x1)*cos(x2)", "2 + x1*x2 - x2"], A=[1.0, k], R=R)

        made.append(Case(f"L with contact resistance {R:g}, k = {k:g}", "combined", build, tol, by_piece(outer, inner)))
    return made


def _robin() -> list[Case]:
    """Robin coefficients from 1e-6 to 1e8, jumping along a side, and nearly free constants."""
    u = lambda x: np.exp(x[:, 0]) * np.cos(x[:, 1]) + 3.0

    def build(alphas: Sequence[float]) -> jn.Problem:
        kinds = dict(zip(("left", "right", "bottom", "top"), ((jn.Robin, a) for a in alphas), strict=True))
        return jn.manufactured(jn.Partition(SQUARE), ["exp(x1)*cos(x2) + 3"], boundary=kinds)

    def stepped() -> jn.Problem:
        # alpha jumps by 1e6 in mid-side, g with it: u is smooth.
        alpha = "where(x1 < 0.1, 1e-3, 1e3)"
        lower = jn.Robin(alpha, f"{alpha}*(exp(x1)*cos(x2) + 3) + exp(x1)*sin(x2)")
        sides = {s: jn.Dirichlet("exp(x1)*cos(x2) + 3") for s in ("left", "right", "top")}
        return jn.Problem(jn.Partition(SQUARE), boundary={"bottom": lower, **sides})

    every = everywhere(u)
    return [
        Case("Robin 1e8, 1e-6, 1, 1e4", "combined", lambda: build([1e8, 1e-6, 1.0, 1e4]), 1e-8, every),
        Case("Robin 1e-6 all round", "combined", lambda: build([1e-6] * 4), 1e-6, every, slack=30.0),
        Case("Robin 1e-10 all round", "combined", lambda: build([1e-10] * 4), 1e-8, every, slack=1e4),
        Case("Robin jumps from 1e-3 to 1e3 in mid-side, u smooth", "combined", stepped, 1e-6, every),
    ]


def _anisotropic() -> list[Case]:
    """Narrow data over anisotropic materials, and a tensor that turns fast."""
    made = []
    for ratio, s, c, tol in ((1e4, 1e-2, 0.2, 1e-6), (1e-2, 2e-3, -0.3, 1e-3)):
        # A = diag(1, ratio): the half plane y/sqrt(ratio).
        u = lambda x, q=ratio**-0.5, s=s, c=c: special.wofz((x[:, 0] - c + 1j * q * x[:, 1]) / s).real

        def build(ratio: float = ratio, s: float = s, c: float = c, u=u) -> jn.Problem:
            sides = {side: jn.Dirichlet(u) for side in ("left", "right", "top")}
            low = jn.Dirichlet(f"exp(-((x1 - {c!r})/{s!r})**2)")
            return jn.Problem(jn.Partition(HALF), A=[[[1.0, 0.0], [0.0, ratio]]], boundary={"bottom": low, **sides})

        near = (([c - 5 * s, 0.0], [c + 5 * s, min(1.0, 5 * s * ratio**0.5)]),)
        made.append(
            Case(f"data of width {s:g} over A = diag(1, {ratio:g})", "combined", build, tol, everywhere(u), focus=near)
        )
    for turns, ratio, tol in ((3.0, 100.0, 1e-3), (10.0, 10.0, 1e-3)):
        t = f"({turns!r}*(x1**2 + x2**2))"
        big, small, off = (
            f"{ratio!r}*cos({t})**2 + sin({t})**2",
            f"{ratio!r}*sin({t})**2 + cos({t})**2",
            f"({ratio!r} - 1)*sin({t})*cos({t})",
        )

        def turning(A=((big, off), (off, small))) -> jn.Problem:
            return jn.manufactured(jn.Partition(SQUARE), ["sin(2*x1 + x2)"], A=[[list(row) for row in A]])

        exact = everywhere(lambda x: np.sin(2 * x[:, 0] + x[:, 1]))
        made.append(Case(f"A of {ratio:g}:1 turns by {turns:g} r^2", "combined", turning, tol, exact, slack=10.0))
    return made


def _offsets() -> list[Case]:
    """A small variation on a large constant."""
    made = []
    for offset, size, tol in ((1e6, 1.0, 1e-6), (1e9, 1.0, 1e-3), (1e6, 1e-6, 1e-3)):
        base = round_case("", "", tol, [0.4], [1.0, 100.0], center=(0.2, 0.1)).exact
        assert base is not None
        exact = lambda x, piece, base=base, offset=offset, size=size: offset + size * base(x, piece)

        def build(exact=exact) -> jn.Problem:
            parts = jn.Partition(SQUARE, [jn.Disk((0.2, 0.1), 0.4)])
            return jn.Problem(parts, A=[1.0, 100.0], boundary=jn.Dirichlet(on_boundary(exact)))

        made.append(Case(f"disk: {size:g} about {offset:g}", "offsets", build, tol, exact, slack=1e-2 * offset / size))
    ends, A = [0.0, 0.3, 0.300001, 1.0], [1.0, 1e-6, 50.0]
    robin = {"first": (0.01, 1.0, 0.01 * 1e6), "last": (0.02, 1.0, 0.02 * 1e6)}
    made.append(layered("line: film and ambient 1e6", "offsets", 1e-6, ends, A, f=[-1.0, 0.0, 0.0], slack=1e4, **robin))
    exact = along(flat([0.0, 1.0, 1.01, 2.0], [1.0, 1e-3, 1e3], f=[0.0, -1.0, 0.0], **robin), 1)

    def stack() -> jn.Problem:
        parts = jn.Partition(jn.Box((0, 0), (1, 2)), [jn.Box((0, 1), (1, 1.01)), jn.Box((0, 1.01), (1, 2))])
        sides = {"x1": jn.Neumann(0.0), "bottom": jn.Robin(0.01, 1e4), "top": jn.Robin(0.02, 2e4)}
        return jn.Problem(parts, A=[1.0, 1e-3, 1e3], f=[0.0, -1.0, 0.0], boundary=sides)

    made.append(Case("plane: heated glue and ambient 1e6", "offsets", stack, 1e-6, exact, slack=1e4))
    return made


def _resonant() -> list[Case]:
    """lam < 0 in one material, and lam that alone fixes a constant."""
    made = [
        round_case("disk: lam = -2000 in the core, k = 5", "combined", 1e-6, [0.3], [1.0, 5.0], lam=[0.0, -2000.0]),
        round_case("disk: lam = -30 around lam = 1e4", "combined", 1e-6, [0.3], [1.0, 2.0], lam=[-30.0, 1e4]),
        layered(
            "line: lam = -2e3 between contacts",
            "combined",
            1e-6,
            [0.0, 0.4, 0.7, 1.0],
            [1.0, 1e-2, 10.0],
            lam=[0.0, -20.0, 5.0],
            R=[0.5, 1e-3, 0.0],
            slack=1e3,
        ),
        layered(
            "line: 1e12 beside 1e-12 with contact",
            "combined",
            1e-6,
            [0.0, 0.3, 0.6, 1.0],
            [1.0, 1e12, 1e-6],
            f=[0.0, -1.0, 0.0],
            R=[1e3, 1e-9, 0.0],
            slack=1e6,
        ),
    ]
    for lam in (1e-8, -1e-6):
        u = lambda x, lam=lam: np.cos(np.pi * (x[:, 0] + 1) / 2) + 2.0
        f = f"-(pi**2/4 + {lam!r})*cos(pi*(x1 + 1)/2) - 2*{lam!r}"

        def build(lam: float = lam, f: str = f) -> jn.Problem:
            return jn.Problem(jn.Partition(SQUARE), lam=lam, f=f, boundary=jn.Neumann(0.0))

        made.append(Case(f"square: Neumann, lam = {lam:g}", "combined", build, 1e-6, everywhere(u), slack=1e3))
    return made


def cases() -> list[Case]:
    """All of this file."""
    thin = [0.4, 0.39]
    return [
        source_in_layers(
            "point source 0.02 from a coating of 0.01, k = 1e-3", 1e-6, thin, [1, 1e-3, 10], 0, 0.42, [0, 0]
        ),
        source_in_layers("point source in a coating of 0.02, k = 1e3", 1e-6, [0.4, 0.38], [1, 1e3, 2], 1, 0.39, [0, 0]),
        source_in_layers("point source in a core with contact 0.3", 1e-8, thin, [1, 0.1, 100], 2, 0.3, [0.3, 0.01]),
        source_in_layers("point source 0.1 from a coating of 1e-4", 1e-6, [0.4, 0.3999], [1, 1e4, 1], 0, 0.5, [0, 0]),
        *_contact_at_corners(),
        *_robin(),
        *_anisotropic(),
        *_offsets(),
        *_resonant(),
    ]
