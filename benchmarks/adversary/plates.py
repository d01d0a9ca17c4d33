"""Plates: jumping and narrow data, hot lids, varying coefficients, narrow sources, layers at sides."""

# ruff: noqa: E731 (formulas are written as formulas)

from collections.abc import Callable

import numpy as np
from benchmarks.adversary.cases import Array, Case, everywhere, symmetry, value_at
from scipy import special

import jumpnet as jn

SQUARE = jn.Box((-1, -1), (1, 1))
HALF = jn.Box((-1, 0), (1, 1))


def _turned(x: Array) -> list[tuple[float, Array]]:
    """The four images of a point under turns by 90 degrees: the four problems with one hot side add up to u = 1."""
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    images = [(1.0, x)]
    for _ in range(3):
        images.append((1.0, images[-1][1] @ turn))
    return images


def lid_exact(x: Array) -> Array:
    """The square with u = 1 on top and 0 elsewhere, by the conformal map sn (modulus (sqrt 2 - 1)^2: K'/K = 2)."""
    k = (np.sqrt(2) - 1) ** 2
    K = special.ellipk(k**2)
    # The top side becomes the interval (-1, 1): z runs from it downwards.
    s, c, d, _ = special.ellipj(K * x[:, 0], k**2)
    s1, c1, d1, _ = special.ellipj(K * (1 - x[:, 1]), 1 - k**2)
    w = (s * d1 + 1j * c * d * s1 * c1) / (c1**2 + k**2 * s**2 * s1**2)
    return np.angle((w - 1) / (w + 1)) / np.pi


def _lids() -> list[Case]:
    corners = (([-1.0, 0.9], [-0.9, 1.0]), ([0.9, 0.9], [1.0, 1.0]))

    def bare() -> jn.Problem:
        return jn.Problem(
            jn.Partition(SQUARE),
            boundary={"top": jn.Dirichlet(1.0), "x1": jn.Dirichlet(0.0), "bottom": jn.Dirichlet(0.0)},
        )

    def disk(k: float, radius: float) -> jn.Problem:
        sides = {"top": jn.Dirichlet(1.0), "x1": jn.Dirichlet(0.0), "bottom": jn.Dirichlet(0.0)}
        return jn.Problem(jn.Partition(SQUARE, [jn.Disk((0, 0), radius)]), A=[1.0, k], boundary=sides)

    whole = (value_at((0.0, 0.0), 0.25, 0.3), symmetry(_turned, 1.0, 0.6, 0.99))
    why = "the four problems with one hot side are turns of each other and add up to u = 1"
    made = [
        Case("hot lid, tol 1e-3", "jumping", bare, 1e-3, everywhere(lid_exact), focus=corners, network=True),
        Case("hot lid, tol 1e-8", "jumping", bare, 1e-8, everywhere(lid_exact), focus=corners),
    ]
    for k, radius, tol in ((10.0, 0.4, 1e-8), (10.0, 0.4, 1e-3), (1e4, 0.8, 1e-6), (1e-3, 0.98, 1e-3)):
        name = f"hot lid with a disk of {radius:g}, k = {k:g}, tol {tol:g}"
        made.append(
            Case(name, "jumping", lambda k=k, r=radius: disk(k, r), tol, defects=whole, why=why, network=k == 1e4)
        )

    def squared() -> jn.Problem:
        sides = {"top": jn.Dirichlet(1.0), "x1": jn.Dirichlet(0.0), "bottom": jn.Dirichlet(0.0)}
        return jn.Problem(jn.Partition(SQUARE, [jn.Box((-0.5, -0.5), (0.5, 0.5))]), A=[1.0, 100.0], boundary=sides)

    made.append(Case("hot lid with a square of k = 100", "jumping", squared, 1e-6, defects=whole, why=why))
    return made


def _angles() -> list[Case]:
    """Dirichlet data that jump in mid-side: arg z, alone and over two materials."""

    def u(x: Array) -> Array:
        return (np.mod(np.arctan2(x[:, 1], x[:, 0]) + np.pi / 2, 2 * np.pi) - np.pi / 2) / np.pi

    def build() -> jn.Problem:
        parts = jn.Partition(HALF, boundary={"hot": "x2 < 1e-12 and x1 < 0"})
        sides = {s: jn.Dirichlet(u) for s in ("left", "right", "top")}
        return jn.Problem(parts, boundary={"hot": jn.Dirichlet(1.0), "bottom": jn.Dirichlet(0.0), **sides})

    def stepped() -> jn.Problem:
        sides = {s: jn.Dirichlet(u) for s in ("left", "right", "top")}
        return jn.Problem(jn.Partition(HALF), boundary={"bottom": jn.Dirichlet("where(x1 < 0, 1, 0)"), **sides})

    near = (([-0.1, 0.0], [0.1, 0.1]), ([-0.01, 0.0], [0.01, 0.01]))
    made = [
        Case("data jump in mid-side, arg z, tol 1e-8", "jumping", build, 1e-8, everywhere(u), focus=near, network=True),
        Case("data jump within a formula, arg z, tol 1e-3", "jumping", stepped, 1e-3, everywhere(u), focus=near),
    ]

    def band(x: Array, e: float = 0.01) -> Array:
        """u = 1 between -e and e of the lower side: a difference of two angles."""
        return (np.arctan2(x[:, 0] + e, x[:, 1]) - np.arctan2(x[:, 0] - e, x[:, 1])) / np.pi

    for e, tol in ((0.1, 1e-6), (1e-2, 1e-3), (1e-4, 1e-3)):

        def heated(e: float = e) -> jn.Problem:
            parts = jn.Partition(HALF, boundary={"hot": f"x2 < 1e-12 and abs(x1) < {e!r}"})
            sides = {s: jn.Dirichlet(lambda x: band(np.asarray(x), e)) for s in ("left", "right", "top")}
            return jn.Problem(parts, boundary={"hot": jn.Dirichlet(1.0), "bottom": jn.Dirichlet(0.0), **sides})

        around = (([-3 * e, 0.0], [3 * e, 3 * e]), ([-0.1, 0.0], [0.1, 0.1]))
        made.append(
            Case(f"hot band of half width {e:g}", "jumping", heated, tol, lambda x, p, e=e: band(x, e), focus=around)
        )
    return made


def _gaussian_data() -> list[Case]:
    """exp(-x1^2/s^2) on the lower side: the Poisson integral is the real part of Faddeeva's function."""
    made = []
    for s, c, tol in ((0.1, 0.0, 1e-8), (0.01, 0.3, 1e-6), (1e-3, 0.3, 1e-3), (1e-4, 0.137, 1e-3), (1e-4, -0.6, 1e-8)):

        def u(x: Array, s: float = s, c: float = c) -> Array:
            return special.wofz(((x[:, 0] - c) + 1j * x[:, 1]) / s).real

        def build(s: float = s, c: float = c, u: Callable = u) -> jn.Problem:
            sides = {side: jn.Dirichlet(u) for side in ("left", "right", "top")}
            low = jn.Dirichlet(f"exp(-((x1 - {c!r})/{s!r})**2)")
            return jn.Problem(jn.Partition(HALF), boundary={"bottom": low, **sides})

        near = (([c - 3 * s, 0.0], [c + 3 * s, 3 * s]), ([c - 30 * s, 0.0], [c + 30 * s, 30 * s]))
        made.append(
            Case(
                f"Dirichlet data of width {s:g}, tol {tol:g}",
                "narrow",
                build,
                tol,
                everywhere(u),
                focus=near,
                network=s == 0.1,
            )
        )
    return made


def source_field(x: Array, center: tuple[float, ...], w: float) -> Array:
    """u of Laplace u = exp(-r^2/w^2)/w^2 in the plane: (log(t) + E1(t))/4 with t = r^2/w^2; it is smooth at 0."""
    t = np.sum((x - np.array(center)) ** 2, axis=1) / w**2
    series = sum((-1.0) ** (n + 1) * np.minimum(t, 1.0) ** n / (n * special.factorial(n)) for n in range(1, 20))
    large = np.log(np.maximum(t, 1.0)) + special.exp1(np.clip(t, 1.0, 700.0)) + np.euler_gamma
    return 0.25 * (np.where(t < 1.0, series, large) - np.euler_gamma)


def _gaussian_sources() -> list[Case]:
    made, center = [], (0.137, -0.211)
    for w, tol in ((0.1, 1e-8), (0.03, 1e-6), (0.01, 1e-6), (1e-3, 1e-6), (1e-3, 1e-3)):
        u = lambda x, w=w: source_field(x, center, w)

        def build(w: float = w, u: Callable = u) -> jn.Problem:
            f = f"exp(-((x1 - {center[0]})**2 + (x2 - {center[1]})**2)/{w**2!r})/{w**2!r}"
            return jn.Problem(jn.Partition(SQUARE), f=f, boundary=jn.Dirichlet(u))

        near = tuple(([c - m * w for c in center], [c + m * w for c in center]) for m in (3, 15) if m * w < 0.5)
        made.append(
            Case(
                f"source of width {w:g}, tol {tol:g}", "narrow", build, tol, everywhere(u), focus=near, network=w == 0.1
            )
        )

    def beside(k: float = 10.0, w: float = 0.02) -> jn.Problem:
        f = f"exp(-((x1 - 0.3)**2 + (x2 + 0.2)**2)/{w**2!r})/{w**2!r}"
        parts = jn.Partition(SQUARE, [jn.Box((-1, -1), (0, 1))])
        g = lambda x: exact(np.asarray(x), (x[:, 0] < 0).astype(int))
        return jn.Problem(parts, A=[1.0, k], f=[f, 0.0], boundary=jn.Dirichlet(g))

    def exact(x: Array, piece: Array, k: float = 10.0, w: float = 0.02) -> Array:
        # Image of the cloud beyond a plane wall: exact as the source's field is harmonic outside it to rounding (15 w).
        own = source_field(x, (0.3, -0.2), w)
        image = source_field(x, (-0.3, -0.2), w)
        return np.where(piece == 0, own - (k - 1) / (k + 1) * image, 2 / (k + 1) * own)

    made.append(
        Case(
            "source of width 0.02 beside a wall, k = 10",
            "narrow",
            beside,
            1e-6,
            exact,
            focus=(([0.24, -0.26], [0.36, -0.14]),),
        )
    )
    return made


def _varying() -> list[Case]:
    """A of x in the plane: exp(50 x), and coefficients that nearly vanish at a side."""
    made = []
    for k, q, tol, net in ((50.0, np.pi, 1e-3, False), (50.0, np.pi, 1e-8, False), (100.0, 3 * np.pi, 1e-3, True)):
        mu = np.sqrt(k**2 / 4 + q**2)

        def u(x: Array, k: float = k, q: float = q, mu: float = mu) -> Array:
            # exp(-k x/2) sinh(mu (1 - x))/sinh(mu) sin(q y): 1 at x = 0, zero at x = 1
            s = x[:, 0]
            return np.exp(-(k / 2 + mu) * s) * -np.expm1(-2 * mu * (1 - s)) / -np.expm1(-2 * mu) * np.sin(q * x[:, 1])

        def steep(k: float = k, u: Callable = u) -> jn.Problem:
            return jn.Problem(jn.Partition(jn.Box((0, 0), (1, 1))), A=f"exp({k:g}*x1)", boundary=jn.Dirichlet(u))

        made.append(
            Case(
                f"plate: A = exp({k:g} x), tol {tol:g}",
                "varying",
                steep,
                tol,
                everywhere(u),
                focus=(([0.0, 0.0], [0.1, 1.0]),),
                network=net,
            )
        )
    for e, tol in ((1e-2, 1e-6), (1e-8, 1e-3)):
        # div((x + e) grad u) = 0: u = J-like: I0(q s) sin(q y) with s = x + e.
        q = 2 * np.pi

        def bessel(x: Array, e: float = e, q: float = q) -> Array:
            s = x[:, 0] + e
            return special.k0(q * s) * np.sin(q * x[:, 1])

        def vanishing(e: float = e, u: Callable = bessel) -> jn.Problem:
            return jn.Problem(jn.Partition(jn.Box((0, 0), (1, 1))), A=f"x1 + {e:g}", boundary=jn.Dirichlet(u))

        near = (([0.0, 0.0], [0.01, 1.0]), ([0.0, 0.0], [100 * e, 1.0]))
        made.append(Case(f"plate: A = x + {e:g}, K0", "varying", vanishing, tol, everywhere(bessel), focus=near))

    def swirl(x: Array) -> Array:
        return np.exp(x[:, 0] * 3) * np.sin(4 * x[:, 1])

    def build() -> jn.Problem:
        # div(A grad u) for A = 1 + r^2 and u = exp(3 x) sin(4 y).
        f = "exp(3*x1)*((1 + x1**2 + x2**2)*(-7)*sin(4*x2) + 6*x1*sin(4*x2) + 8*x2*cos(4*x2))"
        return jn.Problem(jn.Partition(SQUARE), A="1 + x1**2 + x2**2", f=f, boundary=jn.Dirichlet(swirl))

    made.append(Case("plate: A = 1 + r^2, manufactured", "made", build, 1e-8, everywhere(swirl)))
    # A = r^4 (1 + 1e-3/...) is radial: u = r^p cos(theta), p^2 + 4 p = 1 for A = r^4 on a ring.
    p = -2 + np.sqrt(5.0)

    def ring_u(x: Array) -> Array:
        r = np.hypot(x[:, 0], x[:, 1])
        return r**p * np.cos(np.arctan2(x[:, 1], x[:, 0]))

    def ring() -> jn.Problem:
        domain = jn.Disk((0, 0), 1.0) - jn.Disk((0, 0), 0.01)
        return jn.Problem(jn.Partition(domain), A="(x1**2 + x2**2)**2", boundary=jn.Dirichlet(ring_u))

    made.append(
        Case(
            "ring: A = r^4 down to 0.01",
            "varying",
            ring,
            1e-6,
            everywhere(ring_u),
            focus=(([-0.05, -0.05], [0.05, 0.05]),),
        )
    )
    return made


def _steep() -> list[Case]:
    """lam in the plane: layers at the sides, waves, wave beside an eigenvalue."""
    made = []
    for lam, tol in ((1e2, 1e-8), (1e4, 1e-6), (1e6, 1e-3)):
        root = np.sqrt(lam / 2)

        def u(x: Array, s: float = root) -> Array:
            return np.exp(-s * (2 - x[:, 0] - x[:, 1])) + np.exp(-s * (1 + x[:, 0])) * np.exp(-s * (1 + x[:, 1]))

        def layered(lam: float = lam, u: Callable = u) -> jn.Problem:
            return jn.Problem(jn.Partition(SQUARE), lam=lam, boundary=jn.Dirichlet(u))

        d = 3 / root
        near = (([1 - d, 1 - d], [1.0, 1.0]), ([-1.0, -1.0], [-1 + d, -1 + d]))
        made.append(
            Case(
                f"square: lam = {lam:g}, layers in two corners",
                "lam",
                layered,
                tol,
                everywhere(u),
                focus=near,
                network=lam == 1e2,
                slack=10.0,
            )
        )
    for lam, tol in ((-1e2, 1e-8), (-1e4, 1e-6)):
        k = np.sqrt(-lam)

        def wave(x: Array, k: float = k) -> Array:
            return np.sin(k * (0.6 * x[:, 0] + 0.8 * x[:, 1])) + special.jv(0, k * np.hypot(x[:, 0], x[:, 1]))

        def waving(lam: float = lam, u: Callable = wave) -> jn.Problem:
            return jn.Problem(jn.Partition(SQUARE), lam=lam, boundary=jn.Dirichlet(u))

        made.append(Case(f"square: lam = {lam:g}, waves", "lam", waving, tol, everywhere(wave), slack=10.0))
    lam = -((np.pi / 2) ** 2) * 2 * (1 + 1e-5)

    def resonant(x: Array) -> Array:
        rest = np.sqrt(-lam - (np.pi / 2) ** 2)
        return np.cos(np.pi / 2 * x[:, 0]) * np.cos(rest * x[:, 1]) / np.cos(rest)

    def build() -> jn.Problem:
        return jn.Problem(jn.Partition(SQUARE), lam=lam, boundary=jn.Dirichlet(resonant))

    made.append(Case("square: lam at an eigenvalue times 1.00001", "lam", build, 1e-6, everywhere(resonant), slack=1e3))
    return made


def _made() -> list[Case]:
    """Manufactured ones that are not smooth: a kink in a source, a cusp of u inside, a steep front."""

    def kink(x: Array) -> Array:
        return np.maximum(x[:, 0] - 0.1, 0.0) ** 3 + x[:, 1]

    def kinked() -> jn.Problem:
        return jn.Problem(jn.Partition(SQUARE), f="6*max(x1 - 0.1, 0)", boundary=jn.Dirichlet(kink))

    def front(x: Array) -> Array:
        return np.tanh(100 * (x[:, 0] - 0.05))

    def fronted() -> jn.Problem:
        f = "-20000*tanh(100*(x1 - 0.05))*(1 - tanh(100*(x1 - 0.05))**2)"
        return jn.Problem(jn.Partition(SQUARE), f=f, boundary=jn.Dirichlet(front))

    def power(x: Array) -> Array:
        return ((x[:, 0] - 0.1) ** 2 + (x[:, 1] - 0.2) ** 2) ** 0.75

    def powered() -> jn.Problem:
        return jn.Problem(
            jn.Partition(SQUARE), f="2.25*((x1 - 0.1)**2 + (x2 - 0.2)**2)**(-0.25)", boundary=jn.Dirichlet(power)
        )

    def waves(x: Array) -> Array:
        return np.sin(30 * x[:, 0]) * np.cos(40 * x[:, 1])

    def waved() -> jn.Problem:
        return jn.Problem(jn.Partition(SQUARE), f="-2500*sin(30*x1)*cos(40*x2)", boundary=jn.Dirichlet(waves))

    def jumps(x: Array, piece: Array) -> Array:
        return np.where(piece == 0, 25.0 + x[:, 0] * x[:, 1], 1e3 * np.exp(x[:, 0]) * np.sin(x[:, 1]))

    def jumped() -> jn.Problem:
        parts = jn.Partition(SQUARE, [jn.Disk((0.2, 0.0), 0.5)])
        v = "25 + x1*x2 - 1000*exp(x1)*sin(x2)"
        # The normal of the disk is (x1 - 0.2, x2)/0.5.
        w = "2*(x2*(x1 - 0.2) + x1*x2 - 1e-2*1000*exp(x1)*(sin(x2)*(x1 - 0.2) + cos(x2)*x2))"
        return jn.Problem(parts, A=[1.0, 1e-2], boundary=jn.Dirichlet("25 + x1*x2"), jumps={(0, 1): jn.Jump(v=v, w=w)})

    return [
        Case("made: a kink of the source", "made", kinked, 1e-6, everywhere(kink), slack=10.0),
        Case(
            "made: a front of width 0.01", "made", fronted, 1e-6, everywhere(front), focus=(([0.0, -1.0], [0.1, 1.0]),)
        ),
        Case("made: r^1.5 inside", "made", powered, 1e-6, everywhere(power), focus=(([0.0, 0.1], [0.2, 0.3]),)),
        Case("made: waves of 30 and 40", "made", waved, 1e-8, everywhere(waves), network=True),
        Case("made: large jumps on a disk, ambient 25", "made", jumped, 1e-8, jumps, network=True),
    ]


def cases() -> list[Case]:
    """All of this file."""
    return [*_lids(), *_angles(), *_gaussian_data(), *_gaussian_sources(), *_varying(), *_steep(), *_made()]
