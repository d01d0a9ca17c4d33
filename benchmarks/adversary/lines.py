"""One dimension: layers, resonances, layers at boundaries, varying and degenerate coefficients, narrow sources."""

# ruff: noqa: E731 (formulas are written as formulas)

import numpy as np
from benchmarks.adversary.cases import Array, Case, Exact, everywhere
from benchmarks.adversary.layers import along, flat
from scipy import special

import jumpnet as jn

LINE = jn.Interval(0.0, 1.0)


def _chain(ends, A, lam=None, f=None, first=(1.0, 0.0, 0.0), last=(1.0, 0.0, 1.0), jumps=None) -> jn.Problem:
    """The problem of a flat profile on a line."""
    zero = [0.0] * len(A)
    return jn.Problem(
        jn.Partition.chain(ends),
        A=list(A),
        lam=list(lam or zero),
        f=list(f or zero),
        boundary={"left": _condition(first), "right": _condition(last)},
        jumps=jumps or jn.Jump(),
    )


def _condition(end) -> jn.Dirichlet | jn.Neumann | jn.Robin:
    alpha, beta, g = end
    if beta == 0.0:
        return jn.Dirichlet(g / alpha)
    return jn.Robin(alpha / beta, g / beta) if alpha else jn.Neumann(g / beta)


def layered(name: str, group: str, tol: float, ends, A, *, network: bool = False, slack: float = 1.0, **others) -> Case:
    """A case of constant layers on a line."""
    given = {k: others[k] for k in ("lam", "f", "first", "last") if k in others}
    exact = along(flat(ends, A, **given, **{k: others[k] for k in ("R", "v", "w") if k in others}))
    n = len(A)
    jumps = {
        (k, k + 1): jn.Jump(
            v=others.get("v", [0.0] * n)[k], w=others.get("w", [0.0] * n)[k], R=others.get("R", [0.0] * n)[k]
        )
        for k in range(n - 1)
    }
    focus = tuple(([a - d], [a + d]) for a in ends for d in [0.01 * (ends[-1] - ends[0])])
    return Case(
        name,
        group,
        lambda: _chain(ends, A, jumps=jumps, **given),
        tol,
        exact,
        focus=focus,
        network=network,
        slack=slack,
    )


def _smooth(name, group, tol, A, lam, f, u, *, focus=(), network=False, slack=1.0, domain=LINE) -> Case:
    """A case of one piece with Dirichlet data from the formula."""
    exact: Exact = everywhere(lambda x: u(x[:, 0]))
    low, high = domain.a, domain.b
    ends = {side: jn.Dirichlet(float(u(np.array([at]))[0])) for side, at in (("left", low), ("right", high))}
    return Case(
        name,
        group,
        lambda: jn.Problem(jn.Partition(domain), A=A, lam=lam, f=f, boundary=ends),
        tol,
        exact,
        focus=focus,
        network=network,
        slack=slack,
    )


def _resonances() -> list[Case]:
    """lam < 0: near an eigenvalue (n pi)^2, and far above the first ones."""
    made = []
    for n, off, tol in ((1, 1e-3, 1e-6), (3, 1e-6, 1e-6), (10, 1e-4, 1e-8)):
        lam = -((n * np.pi) ** 2) * (1 + off)
        name = f"line: lam at eigenvalue {n} times 1 + {off:g}"
        made.append(layered(name, "lines", tol, [0.0, 1.0], [1.0], lam=[lam], f=[1.0], network=n == 1, slack=1e3))
    for lam, tol in ((-1e3, 1e-6), (-1e4, 1e-8), (-1e4, 1e-3)):
        name = f"line: lam = {lam:g}, tol {tol:g}"
        made.append(layered(name, "lam", tol, [0.0, 1.0], [1.0], lam=[lam], slack=10.0))
    A, lam = [1.0, 100.0, 1.0], [-400.0, -400.0, -400.0]
    made.append(layered("line: three layers, lam = -400", "lines", 1e-8, [0.0, 0.3, 0.7, 1.0], A, lam=lam))
    return made


def _boundary_layers() -> list[Case]:
    """lam > 0: layers of width sqrt(A/lam) at ends and walls."""
    made = [
        layered(f"line: lam = {lam:g}", "lam", tol, [0.0, 1.0], [1.0], lam=[lam], f=[-lam], network=lam == 1e4)
        for lam, tol in ((1e2, 1e-8), (1e4, 1e-6), (1e6, 1e-3))
    ]
    ends, A = [0.0, 0.5, 1.0], [1.0, 1e-6]
    made.append(layered("line: A = 1e-6 beside 1, lam = 1", "lam", 1e-6, ends, A, lam=[1.0, 1.0], f=[-1.0, -2.0]))
    made.append(layered("line: lam = 1e6 beside 0", "lam", 1e-6, ends, [1.0, 1.0], lam=[1e6, 0.0], f=[0.0, -1.0]))
    return made


def _layers() -> list[Case]:
    """Layers of constant coefficients: contrasts, thin ones, many, floating, with contact and jumps."""
    made = []
    for k, tol in ((1e3, 1e-8), (1e-6, 1e-6), (1e12, 1e-8), (1e-12, 1e-8)):
        name = f"line: heated layer of A = {k:g}"
        ends = [0.0, 0.4, 0.6, 1.0]
        made.append(
            layered(name, "contrasts", tol, ends, [1.0, k, 1.0], f=[0.0, -1.0, 0.0], network=k == 1e3, slack=1e3)
        )
    for width, k, tol in ((1e-3, 1e-3, 1e-8), (1e-5, 1e-5, 1e-8), (1e-7, 1e-7, 1e-6)):
        name = f"line: film of width {width:g} and A = {k:g}"
        made.append(
            layered(name, "thin", tol, [0.0, 0.5, 0.5 + width, 1.0], [1.0, k, 2.0], network=k == 1e-3, slack=1e2)
        )
    ends = np.linspace(0.0, 1.0, 61).tolist()
    A = [1.0 if k % 2 else 1e4 for k in range(60)]
    made.append(layered("line: 60 layers, 1 and 1e4", "chains", 1e-6, ends, A, f=[-1.0] * 60, slack=10.0))
    ends = [0.0, *np.cumsum([0.5**k for k in range(1, 16)]).tolist(), 1.0]
    A = [10.0 ** (k % 4) for k in range(16)]
    made.append(layered("line: 16 layers that halve in width", "chains", 1e-6, ends, A, f=[-1.0] * 16, slack=1e2))
    robin = ((0.01, 1.0, 0.25), (0.005, 1.0, 0.125))
    ends, A, f = [0.0, 6.0, 10.0, 13.0, 40.0], [0.3, 100.0, 200.0, 0.026], [0.0, -0.01, 0.0, 0.0]
    name = "line: board, chip, slab, air with ambient 25"
    made.append(layered(name, "stacks", 1e-3, ends, A, f=f, first=robin[1], last=robin[0], network=True))
    A, weak = [1e-6, 1e3, 1e-6], (1e-6, 1.0, 25e-6)
    name = "line: floating layer, Robin of 1e-6, ambient 25"
    made.append(layered(name, "stacks", 1e-6, [0.0, 1.0, 2.0, 3.0], A, f=[0.0, -1e-6, 0.0], first=weak, last=weak))
    name = "line: contact resistances and jumps"
    ends, R, v, w = [0.0, 0.3, 0.6, 1.0], [5.0, 1e3], [1.0, 0.0], [0.0, -3.0]
    made.append(layered(name, "contact", 1e-8, ends, [1.0, 10.0, 0.1], f=[1.0, 0.0, -1.0], R=R, v=v, w=w, network=True))
    return made


def _varying() -> list[Case]:
    """A of x: steep, nearly degenerate, oscillating; 1-D integrals of 1/A in closed form."""
    made = []
    for k, tol, net in ((50.0, 1e-3, False), (50.0, 1e-8, False), (100.0, 1e-3, True), (-100.0, 1e-6, False)):
        u = lambda x, k=k: np.expm1(-k * x) / np.expm1(-k)
        at = 0.0 if k > 0 else 1.0
        focus = (([at - 0.1], [at + 0.1]),)
        made.append(
            _smooth(
                f"line: A = exp({k:g} x), tol {tol:g}",
                "varying",
                tol,
                f"exp({k:g}*x1)",
                0.0,
                0.0,
                u,
                focus=focus,
                network=net,
            )
        )
    k = 50.0
    # A u' = -x + c with u(0) = u(1) = 0.
    rise, bend = -np.expm1(-k) / k, (1 - (1 + k) * np.exp(-k)) / k**2
    c = bend / rise
    u = lambda x: c * -np.expm1(-k * x) / k - (1 - (1 + k * x) * np.exp(-k * x)) / k**2
    made.append(
        _smooth("line: A = exp(50 x), heated", "varying", 1e-3, "exp(50*x1)", 0.0, -1.0, u, focus=(([0.0], [0.1]),))
    )
    for e, tol in ((1e-2, 1e-8), (1e-4, 1e-6), (1e-8, 1e-6)):
        u = lambda x, e=e: np.log1p(x / e) / np.log1p(1 / e)
        focus = (([0.0], [1e-2]), ([0.0], [10 * e]))
        made.append(_smooth(f"line: A = x + {e:g}", "varying", tol, f"x1 + {e:g}", 0.0, 0.0, u, focus=focus))
    e = 1e-6
    u = lambda x: (np.sqrt(x + e) - np.sqrt(e)) / (np.sqrt(1 + e) - np.sqrt(e))
    made.append(
        _smooth("line: A = sqrt(x + 1e-6)", "varying", 1e-6, "sqrt(x1 + 1e-6)", 0.0, 0.0, u, focus=(([0.0], [1e-4]),))
    )
    u = lambda x: ((x + 1e-3) ** 2 - 1e-6) / (1.001**2 - 1e-6)
    made.append(_smooth("line: A = 1/(x + 0.001)", "varying", 1e-8, "1/(x1 + 0.001)", 0.0, 0.0, u))
    for n, tol in ((200, 1e-6), (2000, 1e-3)):
        u = lambda x, n=n: x + 0.9 / n * (1 - np.cos(n * x))
        made.append(_smooth(f"line: 1/A = 1 + 0.9 sin({n} x)", "varying", tol, f"1/(1 + 0.9*sin({n}*x1))", 0.0, 0.0, u))
    # Euler's equation: (x^2 u')' - 2 u = 0 has x and x^-2.
    u = lambda x: x**-2.0
    made.append(
        _smooth(
            "line: A = x^2 near 0.01",
            "varying",
            1e-6,
            "x1**2",
            2.0,
            0.0,
            u,
            focus=(([0.01], [0.05]),),
            domain=jn.Interval(0.01, 1.0),
        )
    )
    # Airy: u'' - K x u = 0.
    scale = 1e6 ** (1 / 3)
    u = lambda x: special.airy(scale * x)[0]
    made.append(
        _smooth(
            "line: Airy, lam = 1e6 x from -0.5",
            "lam",
            1e-6,
            1.0,
            "1e6*x1",
            0.0,
            u,
            domain=jn.Interval(-0.5, 1.0),
            slack=10.0,
            network=True,
        )
    )
    return made


def _narrow() -> list[Case]:
    """Sources of one narrow Gaussian, exp(-(x - c)^2/w^2)/w: integrals of the error function."""
    made = []
    for width, tol in ((0.1, 1e-8), (0.01, 1e-6), (1e-3, 1e-6), (1e-4, 1e-3), (1e-5, 1e-3), (1e-5, 1e-8)):
        c = 0.5 + 1 / np.e**3

        def u(x: Array, w: float = width, c: float = c) -> Array:
            t = (x - c) / w
            return 0.5 * w * (np.sqrt(np.pi) * t * special.erf(t) + np.exp(-np.minimum(t**2, 700.0)))

        f = f"exp(-((x1 - {c!r})/{width!r})**2)/{width!r}"
        focus = (([c - 5 * width], [c + 5 * width]),)
        name = f"line: source of width {width:g}, tol {tol:g}"
        made.append(_smooth(name, "narrow", tol, 1.0, 0.0, f, u, focus=focus, network=width == 1e-3, slack=1e2))
    return made


def _neumann() -> list[Case]:
    """Pure Neumann with a given mean, and a point source on a line."""

    def build() -> jn.Problem:
        parts = jn.Partition.chain([0.0, 0.5, 1.0])
        ends = {"left": jn.Neumann(-1.0), "right": jn.Neumann(1.0)}
        return jn.Problem(parts, A=[1.0, 1e4], boundary=ends, mean=25.0)

    rough = lambda x, p: np.where(p == 0, x[:, 0], 0.5 + (x[:, 0] - 0.5) / 1e4)
    mean = 0.5 * 0.25 + 0.5 * (0.5 + 0.25 / 1e4)
    made = [
        Case("line: Neumann, mean 25", "neumann", build, 1e-8, lambda x, p: rough(x, p) - mean + 25.0, network=True)
    ]

    def pulled() -> jn.Problem:
        parts = jn.Partition.chain([0.0, 0.5, 1.0])
        return jn.Problem(parts, A=[1.0, 10.0], boundary=jn.Dirichlet(0.0), sources=[jn.PointSource([0.3], 2.0)])

    # Fluxes A u' = a, a - 2, a - 2; u(1) = 0: 0.3 a + 0.2 (a - 2) + 0.05 (a - 2) = 0.
    a = 0.5 / 0.55

    def hat(x: Array, p: Array) -> Array:
        s = x[:, 0]
        return np.where(p == 0, a * s - 2 * np.maximum(s - 0.3, 0.0), (a - 2) / 10 * (s - 1))

    made.append(Case("line: point source beside a layer", "points", pulled, 1e-8, hat))
    return made


def cases() -> list[Case]:
    """All of this file."""
    return [*_resonances(), *_boundary_layers(), *_layers(), *_varying(), *_narrow(), *_neumann()]
