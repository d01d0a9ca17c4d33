"""Materials and walls: waves of A, polar axes, steps within a piece, K and lam of unlike size, varying contact."""

# ruff: noqa: E731 (formulas are written as formulas)

import numpy as np
from benchmarks.adversary.cases import Array, Case, by_piece, everywhere, on_boundary
from benchmarks.adversary.layers import concentric
from benchmarks.adversary.lines import layered
from benchmarks.adversary.rounds import round_case, shells

import jumpnet as jn

SQUARE = jn.Box((-1, -1), (1, 1))
CUBE = jn.Box((-1, -1, -1), (1, 1, 1))


def _waves() -> list[Case]:
    """1 + a sin(n t + 0.3) along t = e . x as the coefficient: u is the integral of its inverse."""
    made = []
    for a, n, angle, tol in ((0.999, 200, 0.0, 1e-3), (0.999, 20, 0.7, 1e-6), (0.99, 60, 0.4, 1e-4)):
        e1, e2, root = float(np.cos(angle)), float(np.sin(angle)), float(np.sqrt(1 - a * a))

        def u(x: Array, a=a, n=n, e1=e1, e2=e2, root=root) -> Array:
            s = (n * (e1 * x[:, 0] + e2 * x[:, 1]) + 0.3) / 2
            turns = np.round(s / np.pi)
            return 2 / (n * root) * (np.arctan((np.tan(s) + a) / root) + np.pi * turns)

        def build(a=a, n=n, e1=e1, e2=e2, u=u) -> jn.Problem:
            A = f"1 + {a!r}*sin({n}*({e1!r}*x1 + {e2!r}*x2) + 0.3)"
            return jn.Problem(jn.Partition(SQUARE), A=A, boundary=jn.Dirichlet(u))

        name = f"plate: A = 1 + {a:g} sin({n} t)" + (", oblique" if angle else "")
        made.append(Case(name, "materials", build, tol, everywhere(u), slack=100.0))
    return made


def _polar() -> list[Case]:
    """Conductivities p along r and q round a core, A = p rr + q tt: u = (c r^s + d r^-s) cos, s = sqrt(q/p)."""
    made = []
    for p, q, k, tol in ((1.0, 25.0, 10.0, 1e-6), (1.0, 1e-4, 1e3, 1e-6), (1e-2, 9.0, 1.0, 1e-4)):
        a, s = 0.5, float(np.sqrt(q / p))
        # Inside k b r cos; at a: c a^s + d a^-s = b a, p s (c a^s - d a^-s)/a = k b.
        c, d = 0.5 * a ** (1 - s) * (1 + k / (p * s)), 0.5 * a ** (1 + s) * (1 - k / (p * s))

        def outer(x: Array, c=c, d=d, s=s) -> Array:
            r = np.hypot(*x.T)
            return (c * r**s + d * r**-s) * x[:, 0] / r

        exact = by_piece(outer, lambda x: x[:, 0])

        def build(p=p, q=q, k=k, exact=exact) -> jn.Problem:
            r2 = "(x1**2 + x2**2)"
            off = f"{p - q!r}*x1*x2/{r2}"
            A = [[f"({p!r}*x1**2 + {q!r}*x2**2)/{r2}", off], [off, f"({p!r}*x2**2 + {q!r}*x1**2)/{r2}"]]
            parts = jn.Partition(SQUARE, [jn.Disk((0, 0), 0.5)])
            return jn.Problem(parts, A=[A, k], boundary=jn.Dirichlet(on_boundary(exact)))

        made.append(Case(f"polar {p:g} and {q:g} round a core of {k:g}", "materials", build, tol, exact, slack=10.0))
    return made


def _steps() -> list[Case]:
    """Steps of A, lam and f that a formula takes within a piece, on circles and lines that no wall follows."""
    made = []
    for r, k, tol in ((0.4, 50.0, 1e-3), (0.03, 1e-3, 1e-3)):
        plain = round_case("", "", tol, [r], [1.0, k], center=(0.137, -0.071))
        assert plain.exact is not None
        exact = lambda x, piece, r=r, plain=plain: plain.exact(x, (np.hypot(x[:, 0] - 0.137, x[:, 1] + 0.071) < r) * 1)

        def build(r=r, k=k, exact=exact) -> jn.Problem:
            A = f"where((x1 - 0.137)**2 + (x2 + 0.071)**2 < {r * r!r}, {k!r}, 1)"
            return jn.Problem(jn.Partition(SQUARE), A=A, boundary=jn.Dirichlet(on_boundary(exact)))

        made.append(
            Case(
                f"A steps to {k:g} in a circle of {r:g} that is no piece",
                "steps",
                build,
                tol,
                exact,
                focus=plain.focus,
                slack=1e9,
            )
        )
    near = (([0.07, -1.0], [0.17, 1.0]),)
    line = lambda x: np.where(x[:, 0] < 0.123, x[:, 0], 0.123 + (x[:, 0] - 0.123) / 30)

    def wall() -> jn.Problem:
        sides = {"x1": jn.Dirichlet(line), "x2": jn.Neumann(0.0)}
        return jn.Problem(jn.Partition(SQUARE), A="where(x1 < 0.123, 1, 30)", boundary=sides)

    made.append(
        Case("A steps to 30 on a line that is no wall", "steps", wall, 1e-6, everywhere(line), focus=near, slack=1e9)
    )
    w = 30.0
    low = lambda t: np.cosh(w * (t - 0.123))
    decay = lambda x: np.where(x[:, 0] < 0.123, low(x[:, 0]), 1.0)

    def decays() -> jn.Problem:
        sides = {"x1": jn.Dirichlet(decay), "x2": jn.Neumann(0.0)}
        return jn.Problem(jn.Partition(SQUARE), lam=f"where(x1 < 0.123, {w * w!r}, 0)", boundary=sides)

    made.append(
        Case("lam steps from 900 to 0 on a line", "steps", decays, 1e-4, everywhere(decay), focus=near, slack=1e9)
    )
    return made


def _solubility() -> list[Case]:
    """Partition coefficients K from 1e-6 to 1e6: u/K solves with A K and lam K."""
    made = []
    for K, A, lam, R, tol in (
        ((1.0, 1e6), (1.0, 1.0), (0.0, 0.0), (0.0,), 1e-6),
        ((1.0, 1e-6), (1.0, 1e3), (0.0, 0.0), (0.0,), 1e-6),
        ((1.0, 1e3, 1e-3), (1.0, 1e-3, 10.0), (0.0, 1e-3, 2.0), (0.2, 0.0), 1e-6),
    ):
        radii = [0.5, 0.3][: len(K) - 1]
        times = [a * k for a, k in zip(A, K, strict=True)]
        w = concentric(radii, times, lam=[l * k for l, k in zip(lam, K, strict=True)], R=list(R), center=(0.1, 0.2))
        exact = lambda x, piece, w=w, K=K: np.asarray(K)[piece] * w(x, piece)

        def build(K=K, A=A, lam=lam, R=R, exact=exact, radii=radii) -> jn.Problem:
            jumps = {(k, k + 1): jn.Jump(R=R[k]) for k in range(len(R))}
            return jn.Problem(
                jn.Partition(SQUARE, shells(radii, (0.1, 0.2))), A=list(A), lam=list(lam), K=list(K),
                boundary=jn.Dirichlet(on_boundary(exact)), jumps=jumps,
            )  # fmt: skip

        name = "disk: K = " + ", ".join(f"{k:g}" for k in K)
        made.append(Case(name, "solubility", build, tol, exact, slack=1e4))
    return made


def _reactions() -> list[Case]:
    """lam of 1e6 to 1e10 beside nearly none."""
    shell = {"lam": [0.0, 1e5, 0.0], "slack": 1e3}
    return [
        round_case("disk: lam = 1e6, 1e-4 around", "reactions", 1e-6, [0.4], [1.0, 1.0], lam=[1e-4, 1e6], slack=10.0),
        round_case("disk: lam = 1e8 in the core", "reactions", 1e-6, [0.4], [1.0, 10.0], lam=[0.0, 1e8], slack=100.0),
        round_case("disk: lam = 1e5 in a shell of 0.1", "reactions", 1e-6, [0.5, 0.4], [1.0, 1.0, 5.0], **shell),
        round_case(
            "ball: lam = 1e6 in the core",
            "reactions",
            1e-3,
            [0.5],
            [1.0, 1.0],
            center=(0.0, 0.0, 0.0),
            lam=[0.0, 1e6],
            slack=100.0,
        ),
        layered(
            "line: lam 1e10 beside none",
            "reactions",
            1e-6,
            [0.0, 0.4, 0.7, 1.0],
            [1.0, 1.0, 1.0],
            lam=[0.0, 1e10, 1e-3],
            f=[-1.0, -1.0, -1.0],
            slack=1e4,
        ),
    ]


def _contact() -> list[Case]:
    """Contact resistances exp(9 x) along a wall under a uniform flux, and chains of many."""
    made = []
    for decades, k, tol in ((4, 1.0, 1e-6), (8, 1e3, 1e-4)):
        b = float(decades * np.log(10) / 2)
        # [u] = R q with q = 1: R(x) goes on harmonically and evenly above the wall.
        upper = lambda x, b=b: x[:, 1] + np.exp(b * x[:, 0]) * np.cos(b * x[:, 1])
        exact = by_piece(upper, lambda x, k=k: x[:, 1] / k)

        def build(b=b, k=k, exact=exact) -> jn.Problem:
            parts = jn.Partition(SQUARE, [jn.Box((-1, -1), (1, 0))])
            g = lambda x: exact(np.asarray(x), (x[:, 1] < 0).astype(int))
            sides = {s: jn.Dirichlet(g) for s in ("top", "bottom", "x1")}
            return jn.Problem(parts, A=[1.0, k], boundary=sides, jumps={(0, 1): jn.Jump(R=f"exp({b!r}*x1)")})

        made.append(
            Case(f"contact over {decades} decades along a wall, k = {k:g}", "contact", build, tol, exact, slack=10.0)
        )
    rng = np.random.default_rng(11)
    ends = np.concatenate([[0.0], np.cumsum(10 ** rng.uniform(-3, 0, 60))]).tolist()
    A, R = (10 ** rng.uniform(-4, 4, 60)).tolist(), (10 ** rng.uniform(-5, 3, 60)).tolist()
    made.append(
        layered("line: 60 layers with contact of 1e-5 to 1e3", "contact", 1e-8, ends, A, R=R, f=[-1.0] * 60, slack=1e6)
    )
    made.append(
        layered(
            "line: a contact of 1e30",
            "contact",
            1e-6,
            [0.0, 0.5, 1.0],
            [1.0, 1.0],
            R=[1e30, 0.0],
            last=(1.0, 0.0, 1.0),
            slack=1e6,
        )
    )
    heated = {"order": 0, "f": [0.0, -1.0], "R": [1e12], "outer": 1.0, "domain": jn.Disk((0, 0), 1.0), "slack": 1e6}
    made.append(round_case("disk: contact 1e12, heated", "contact", 1e-6, [0.5], [1.0, 1.0], **heated))
    return made


def _oscillating() -> list[Case]:
    """Jumps of u and of its flux that go up and down along a wall: u decays from it within a wave."""
    made = []
    for n, v, w, k, r, tol in (
        (40, 1.0, 0.0, 10.0, 0.5, 1e-6),
        (200, 1.0, 0.0, 1e-2, 0.4, 1e-4),
        (60, 0.0, 60.0, 5.0, 0.6, 1e-6),
    ):
        # outside b (r0/r)^n, inside a (r/r0)^n, times cos(n t): b - a = v, n (-b - k a)/r0 = w; x1 is added to both.
        a, b = np.linalg.solve([[-1.0, 1.0], [-k * n / r, -n / r]], [v, w])

        def field(x: Array, n=n, r=r, a=a, b=b, inside=False, k=k) -> Array:
            z = (x[:, 0] + 1j * x[:, 1]) / r
            return a * (z**n).real if inside else b * (z**-n).real

        exact = by_piece(lambda x, f=field: f(x) + x[:, 0], lambda x, f=field: f(x, inside=True) + x[:, 0])

        def build(n=n, v=v, w=w, k=k, r=r, exact=exact) -> jn.Problem:
            parts = jn.Partition(SQUARE, [jn.Disk((0, 0), r)])
            normal = f"x1/{r!r}"
            jump = jn.Jump(f"{v!r}*cos({n}*theta)", f"{w!r}*cos({n}*theta) + {1 - k!r}*{normal}")
            return jn.Problem(parts, A=[1.0, k], boundary=jn.Dirichlet(on_boundary(exact)), jumps={(0, 1): jump})

        near = (([-1.1 * r, -1.1 * r], [1.1 * r, 1.1 * r]),)
        name = f"jump of {n} waves round a disk, v = {v:g}, w = {w:g}"
        made.append(Case(name, "oscillating", build, tol, exact, focus=near, slack=10.0))
    return made


def _tangent() -> list[Case]:
    """A disk of k that touches the cold circle around it from within, and a point source in it: images in a strip."""
    made = []
    # w = 1/(z - 1) takes the disks of radius 1 (about 0) and 1/2 (about 1/2) to Re w < -1/2 and Re w < -1.
    z0, h = 0.4 + 0.1j, 0.5
    w0 = 1 / (z0 - 1)
    t0, s0 = w0.real + 1, w0.imag
    for k, tol in ((10.0, 1e-6), (0.05, 1e-4)):
        ratio = (k - 1) / (k + 1)
        powers = ratio ** np.arange(400)

        def inner(x: Array, k=k, ratio=ratio, powers=powers) -> Array:
            w = 1 / (x[:, 0] + 1j * x[:, 1] - 1)
            t, s = w.real[:, None] + 1, w.imag[:, None] - s0
            m = np.arange(1, len(powers))
            images = np.concatenate([[0.0], 2 * h * m])
            weights = np.concatenate([[ratio], powers[m] * ratio - powers[m - 1]])
            total = 0.5 * np.log((t[:, 0] - t0) ** 2 + s[:, 0] ** 2)
            return -(total + 0.5 * np.log((t + t0 - images) ** 2 + s**2) @ weights) / (2 * np.pi * k)

        def outer(x: Array, k=k, ratio=ratio, powers=powers) -> Array:
            w = 1 / (x[:, 0] + 1j * x[:, 1] - 1)
            t, s = w.real[:, None] + 1, w.imag[:, None] - s0
            m = 2 * h * np.arange(len(powers))
            near = 0.5 * np.log((t - t0 + m) ** 2 + s**2) @ powers
            far = 0.5 * np.log((2 * h - t - t0 + m) ** 2 + s**2) @ powers
            return -(1 + ratio) * (near - far) / (2 * np.pi * k)

        exact = by_piece(outer, inner)

        def build(k=k) -> jn.Problem:
            parts = jn.Partition(jn.Disk((0, 0), 1.0), [jn.Disk((0.5, 0.0), 0.5)])
            return jn.Problem(
                parts, A=[1.0, k], boundary=jn.Dirichlet(0.0), sources=[jn.PointSource((z0.real, z0.imag), 1.0)]
            )

        near = (([0.8, -0.3], [1.0, 0.3]),)
        made.append(
            Case(f"disk of {k:g} tangent to a cold wall, heated", "tangent", build, tol, exact, focus=near, slack=1e3)
        )
    return made


def _points() -> list[Case]:
    """Point sources at 1e-2 to 1e-4 from a flat wall between two materials: images."""
    made = []
    for d, k, tol in ((1e-2, 100.0, 1e-6), (1e-4, 10.0, 1e-4), (1e-3, 1e-3, 1e-6)):
        log = lambda x, at: np.log(np.maximum(np.hypot(x[:, 0] - 0.13, x[:, 1] - at), 1e-300)) / (2 * np.pi)
        ratio = (1 - k) / (1 + k)
        exact = by_piece(
            lambda x, d=d, q=ratio, g=log: -g(x, d) - q * g(x, -d), lambda x, d=d, k=k, g=log: -2 / (1 + k) * g(x, d)
        )

        def build(d=d, k=k, exact=exact) -> jn.Problem:
            parts = jn.Partition(SQUARE, [jn.Box((-1, -1), (1, 0))])
            g = lambda x: exact(np.asarray(x), (x[:, 1] < 0).astype(int))
            sides = {s: jn.Dirichlet(g) for s in ("top", "bottom", "x1")}
            return jn.Problem(parts, A=[1.0, k], boundary=sides, sources=[jn.PointSource((0.13, d), 1.0)])

        near = (([0.13 - 5 * d, -5 * d], [0.13 + 5 * d, 5 * d]), ([0.03, -0.1], [0.23, 0.1]))
        made.append(
            Case(f"point source {d:g} from a flat wall, k = {k:g}", "points", build, tol, exact, focus=near, slack=30.0)
        )
    return made


def _units() -> list[Case]:
    """The same problems in units of nanometres and gigawatts."""
    made = []
    for length, size, conductivity, tol in ((1e-9, 1e-20, 1e15, 1e-8), (1e7, 1e12, 1e-12, 1e-6)):
        exact = concentric([0.4], [1.0, 30.0], center=(0.2, 0.1))
        scaled = lambda x, piece, L=length, U=size, e=exact: U * e(np.asarray(x) / L, piece)

        def build(L=length, k=conductivity, scaled=scaled) -> jn.Problem:
            parts = jn.Partition(jn.Box((-L, -L), (L, L)), [jn.Disk((0.2 * L, 0.1 * L), 0.4 * L)])
            return jn.Problem(parts, A=[k, 30.0 * k], boundary=jn.Dirichlet(on_boundary(scaled)))

        made.append(
            Case(f"disk: lengths of {length:g}, u of {size:g}, A of {conductivity:g}", "units", build, tol, scaled)
        )
    return made


def cases() -> list[Case]:
    """All of this file."""
    made = [*_waves(), *_polar(), *_steps(), *_solubility(), *_reactions(), *_contact()]
    return [*made, *_oscillating(), *_tangent(), *_points(), *_units()]
