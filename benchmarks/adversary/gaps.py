"""Two disks, or a disk beside a wall, at any distance: series in bipolar coordinates; touching disks by their images.

With omega = log((z + a)/(z - a)) = tau - i sigma, circles tau = +-t have centres +-a coth(t), radii a/sinh(t), and

    z = a coth(omega/2),      x = a + 2 a sum exp(-n tau) cos(n sigma) for tau > 0.
"""

# ruff: noqa: E731 (formulas are written as formulas)

import numpy as np
from benchmarks.adversary.cases import Array, Case, Exact, by_piece, on_boundary

import jumpnet as jn

SQUARE = jn.Box((-1, -1), (1, 1))


def _series(coefficients: Array, q: Array) -> Array:
    """sum over n >= 1 of c_n q^n by Horner's rule."""
    total = np.zeros(len(q), complex)
    for c in coefficients[::-1]:
        total = (total + c) * q
    return total


def _complex(x: Array) -> Array:
    return x[:, 0] + 1j * x[:, 1]


def two_disks_exact(radius: float, gap: float, k: float, across: bool) -> Exact:
    """Equal disks at +-c on the x1 axis in a field along x1 (or across, along x2); pieces 1 left, 2 right.

    Outside u = x + sum A_n sinh(n tau) cos(n sigma), in the disks u = x + sum B_n exp(-n |tau|) cos(n sigma).
    """
    t0 = np.log1p(gap / 2 / radius + np.sqrt(gap / radius * (1 + gap / 4 / radius)))  # arccosh(c / radius)
    a = radius * np.sinh(t0)
    n = np.arange(1, int(38 / t0) + 20)
    e = np.exp(-2 * n * t0)
    # A_n exp(2 n t0): the factors that decay are put into the argument of the series.
    if across:
        scaled = 4 * a * (1 - k) / ((1 + k) - (1 - k) * e)
    else:
        scaled = 4 * a * (1 - k) / ((1 + k) + (1 - k) * e)
    far = np.exp(-2 * t0)

    def omega(z: Array) -> Array:
        return np.log((z + a) / (z - a))

    def part(values: Array) -> Array:
        return -np.imag(values) if across else np.real(values)

    def outside(x: Array) -> Array:
        w = omega(_complex(x))
        total = 0.5 * (_series(scaled, far * np.exp(w)) - _series(scaled, far * np.exp(-w)))
        return x[:, 1 if across else 0] + part(total)

    def right(x: Array) -> Array:
        w = omega(_complex(x))
        # B_n = A_n (exp(2 n t0) -+ 1)/2 beside the 2 a of x itself.
        factor = 0.5 * scaled * ((1 + e) if across else (1 - e))
        total = _series(factor, np.exp(-w))
        return x[:, 1 if across else 0] + (np.imag(total) if across else np.real(total))

    def left(x: Array) -> Array:
        mirrored = x * np.array([-1.0, 1.0])
        return right(mirrored) if across else -right(mirrored)

    return by_piece(outside, left, right)


def two_disks(radius: float, gap: float, k: float, tol: float, *, across: bool = False, network: bool = False) -> Case:
    """Two disks with a gap in a square, with data of the closed form."""
    exact, c = two_disks_exact(radius, gap, k, across), radius + gap / 2

    def build() -> jn.Problem:
        parts = jn.Partition(SQUARE, [jn.Disk((-c, 0.0), radius), jn.Disk((c, 0.0), radius)])
        return jn.Problem(parts, A=[1.0, k, k], boundary=jn.Dirichlet(on_boundary(exact)))

    width = np.sqrt(radius * gap)
    focus = (([-3 * width, -3 * width], [3 * width, 3 * width]),)
    name = f"two disks: gap {gap:g}, k = {k:g}" + (", across" if across else "")
    return Case(name, "gaps", build, tol, exact, focus=focus, network=network, slack=1e2)


def wall(gap: float, k: float, tol: float) -> Case:
    """A disk beside a cold flat wall: the right half of two disks."""
    radius = 0.3
    full, c = two_disks_exact(radius, gap, k, across=False), radius + gap / 2
    exact: Exact = lambda x, piece: full(x, 2 * piece)

    def build() -> jn.Problem:
        parts = jn.Partition(jn.Box((0, -1), (1, 1)), [jn.Disk((c, 0.0), radius)])
        sides = {s: jn.Dirichlet(on_boundary(exact)) for s in ("right", "bottom", "top")}
        return jn.Problem(parts, A=[1.0, k], boundary={"left": jn.Dirichlet(0.0), **sides})

    width = np.sqrt(radius * gap)
    return Case(
        f"disk at {gap / 2:g} from a cold wall, k = {k:g}",
        "gaps",
        build,
        tol,
        exact,
        focus=(([0.0, -2 * width], [2 * width, 2 * width]),),
        slack=1e2,
    )


def curved_wall(gap: float, k: float, tol: float, inner: float = 0.4) -> Case:
    """A disk in the unit disk, with a gap between them, u = x1 on the outer circle.

    Circles t1 < t2 around the focus a. In the ring u = a + sum (P e^-n tau + Q e^n tau) cos(n sigma), in the disk
    u = a + sum B e^-n tau cos(n sigma), both in coordinates with the foci at +-a.
    """
    d = 1.0 - inner - gap  # the distance of the centres
    # a^2 = c1^2 - 1 = c2^2 - inner^2 with c1 - c2 = d; the inner circle has the larger t and the smaller centre.
    c1 = (1.0 - inner**2 + d**2) / (2 * d)
    product = (1 + inner + d) * (1 + inner - d) * (1 - inner + d) * gap
    a = np.sqrt(product) / (2 * d)
    t1, t2 = np.arcsinh(a), np.arcsinh(a / inner)
    n = np.arange(1, int(38 / t1) + 20)
    # x = c1 - (distance along the axis): shifted so that the outer disk is the unit disk around 0.
    # On tau = t1: P e^-n t1 + Q e^n t1 = 2 a e^-n t1; at t2: P e- + Q e+ = B e-, -P e- + Q e+ = -k B e-.
    # Q = beta P e^-2 n t2 with beta = (1 - k)/(1 + k).
    beta, decay = (1 - k) / (1 + k), np.exp(-2 * n * (t2 - t1))
    P = 2 * a / (1 + beta * decay)
    B = P * (1 + beta)

    def omega(x: Array) -> Array:
        z = _complex(x) + c1
        return np.log((z + a) / (z - a))

    def ring(x: Array) -> Array:
        w = omega(x)
        total = _series(P, np.exp(-w)) + beta * _series(P, np.exp(w - 2 * t2))
        return a + np.real(total) - c1

    exact = by_piece(ring, lambda x: a + np.real(_series(B, np.exp(-omega(x)))) - c1)

    def build() -> jn.Problem:
        parts = jn.Partition(jn.Disk((0.0, 0.0), 1.0), [jn.Disk((-d, 0.0), inner)])
        return jn.Problem(parts, A=[1.0, k], boundary=jn.Dirichlet("x1"))

    width = np.sqrt(gap)
    focus = (([-1.0, -2 * width], [-1.0 + 2 * width, 2 * width]),)
    return Case(f"disk at {gap:g} from a curved wall, k = {k:g}", "gaps", build, tol, exact, focus=focus, slack=1e3)


def touching_exact(R: float, k: float, across: bool) -> Exact:
    """Equal disks that touch at 0, in a field along x1 or x2: images at +-R/m, each beta as strong (Horner: beta^m)."""
    beta = (k - 1) / (k + 1)
    count = int(np.log(1e-17) / np.log(abs(beta))) + 2
    m = np.arange(1, count)
    strength = beta**m * (-1.0) ** ((m - 1) * across)

    def pick(values: Array) -> Array:
        return -np.imag(values) if across else np.real(values)

    def outside(x: Array) -> Array:
        z = _complex(x)
        total = np.zeros(len(z), complex)
        for s, j in zip(strength, m, strict=True):
            total += s * 2 * R**2 * z / (j**2 * z**2 - R**2)
        return x[:, 1 if across else 0] - pick(total)

    def right(x: Array) -> Array:
        z = _complex(x)
        total = np.zeros(len(z), complex)
        sign = -1.0 if across else 1.0
        for s, j in zip(strength, m, strict=True):
            # A_n (exp(2 n t0) -+ 1)/2 of the series for a gap, in the limit.
            total += s * (R * z / ((j - 1) * z + R) - sign * R * z / (j * z + R))
        return x[:, 1 if across else 0] - (np.imag(total) if across else np.real(total))

    def left(x: Array) -> Array:
        mirrored = x * np.array([-1.0, 1.0])
        return right(mirrored) if across else -right(mirrored)

    return by_piece(outside, left, right)


def touching(k: float, tol: float, *, across: bool = False) -> Case:
    """Two disks that touch, in a square with data of the closed form."""
    R = 0.35
    exact = touching_exact(R, k, across)

    def build() -> jn.Problem:
        parts = jn.Partition(SQUARE, [jn.Disk((-R, 0.0), R), jn.Disk((R, 0.0), R)])
        return jn.Problem(parts, A=[1.0, k, k], boundary=jn.Dirichlet(on_boundary(exact)))

    name = f"touching disks, k = {k:g}" + (", across" if across else "")
    return Case(name, "cusps", build, tol, exact, focus=(([-0.1, -0.1], [0.1, 0.1]),), slack=1e2)


def touching_wall(k: float, tol: float) -> Case:
    """A disk that touches a cold flat wall: the right half of two that touch."""
    R = 0.4
    full = touching_exact(R, k, across=False)
    exact: Exact = lambda x, piece: full(x, 2 * piece)

    def build() -> jn.Problem:
        parts = jn.Partition(jn.Box((0, -1), (1, 1)), [jn.Disk((R, 0.0), R)])
        sides = {s: jn.Dirichlet(on_boundary(exact)) for s in ("right", "bottom", "top")}
        return jn.Problem(parts, A=[1.0, k], boundary={"left": jn.Dirichlet(0.0), **sides})

    return Case(
        f"disk that touches a cold wall, k = {k:g}",
        "cusps",
        build,
        tol,
        exact,
        focus=(([0.0, -0.1], [0.1, 0.1]),),
        slack=1e2,
    )


def cases() -> list[Case]:
    """All of this file."""
    return [
        two_disks(0.3, 0.03, 10.0, 1e-8, network=True),
        two_disks(0.3, 1e-2, 1e3, 1e-6),
        two_disks(0.3, 1e-3, 10.0, 1e-8),
        two_disks(0.3, 1e-4, 1e3, 1e-6),
        two_disks(0.3, 1e-6, 100.0, 1e-3),
        two_disks(0.3, 1e-3, 1e-3, 1e-6, across=True),
        two_disks(0.3, 1e-5, 0.01, 1e-6),
        two_disks(0.4, 1e-2, 1e6, 1e-6, across=True),
        wall(0.02, 10.0, 1e-8),
        wall(1e-4, 1e3, 1e-6),
        curved_wall(0.1, 10.0, 1e-8),
        curved_wall(1e-2, 1e3, 1e-6),
        curved_wall(1e-4, 10.0, 1e-6),
        curved_wall(1e-6, 10.0, 1e-3),
        touching(10.0, 1e-6),
        touching(0.1, 1e-6),
        touching(10.0, 1e-3, across=True),
        touching_wall(10.0, 1e-3),
    ]
