"""Boundaries: seams of periodic sides, Robin coefficients that jump or vanish, loads that cancel, waves, thin rings."""

# ruff: noqa: E731 (formulas are written as formulas)

import numpy as np
from benchmarks.adversary.cases import Array, Case, everywhere
from benchmarks.adversary.plates import source_field
from scipy import special

import jumpnet as jn

SQUARE = jn.Box((-1, -1), (1, 1))
UNIT = jn.Box((0, 0), (1, 1))
HALF = jn.Box((-1, 0), (1, 1))
NEAR = (([-0.1, 0.0], [0.1, 0.1]), ([-0.01, 0.0], [0.01, 0.01]))


def _z(x: Array) -> Array:
    return x[:, 0] + 1j * x[:, 1]


def _seams() -> list[Case]:
    """Given values that do not match (or have a kink) where periodic sides meet: sums of sin(2 pi n z)/n and /n^2."""
    saw = lambda x: -np.angle(1 - np.exp(2j * np.pi * _z(x))) / np.pi
    kink = lambda x: special.spence(1 - np.exp(2j * np.pi * _z(x))).real / np.pi**2
    forms = {"saw": "0.5 - x1", "kink": "1/6 - x1 + x1**2"}
    made = []
    for (name, g), u, tol in zip([*forms.items()] * 2, (saw, kink) * 2, (1e-3, 1e-6, 1e-6, 1e-3), strict=True):

        def build(g: str = g, u=u) -> jn.Problem:
            sides = {"x1": jn.Periodic(), "bottom": jn.Dirichlet(g), "top": jn.Dirichlet(u)}
            return jn.Problem(jn.Partition(UNIT), boundary=sides)

        near = (([0.0, 0.0], [0.05, 0.05]), ([0.95, 0.0], [1.0, 0.05]))
        made.append(
            Case(f"seam: {name} on the lower side, tol {tol:g}", "seams", build, tol, everywhere(u), focus=near)
        )

    def flux() -> jn.Problem:
        # u_y = 0 at the bottom but for the mean: the derivative of the kink along y is the conjugate of the saw.
        sides = {"x1": jn.Periodic(), "bottom": jn.Neumann("-2*log(2*sin(pi*x1))/pi"), "top": jn.Dirichlet(kink)}
        return jn.Problem(jn.Partition(UNIT), boundary=sides)

    made.append(Case("seam: flux with a logarithm at the seam", "seams", flux, 1e-4, everywhere(kink), focus=near))
    sheared = lambda x: x[:, 0] * x[:, 1] + 0.1 * np.sin(2 * np.pi * x[:, 0]) * np.cosh(2 * np.pi * x[:, 1])

    def shear() -> jn.Problem:
        sides = {"x1": jn.Periodic("x2"), "bottom": jn.Dirichlet(sheared), "top": jn.Dirichlet(sheared)}
        return jn.Problem(jn.Partition(UNIT), boundary=sides)

    made.append(Case("seam: a rise that is a function", "seams", shear, 1e-8, everywhere(sheared)))

    def cut() -> jn.Problem:  # both layers cross the seam; the data jump there by nothing but have a corner inside
        parts = jn.Partition(UNIT, [jn.Box((0, 0.5), (1, 1))])
        sides = {"x1": jn.Periodic(), "bottom": jn.Dirichlet("exp(cos(2*pi*x1))"), "top": jn.Neumann(0.0)}
        return jn.Problem(parts, A=[1.0, 1e-7], boundary=sides)

    n = np.arange(1, 40)
    bessel = special.iv(n, 1.0)

    def series(x: Array, piece: Array) -> Array:
        # mode n: cosh-like with flux k tanh at y = 1/2, the upper layer's end insulated.
        q, k = 2 * np.pi * n, 1e-7
        r = k * np.tanh(q / 2)
        low = lambda y: (np.cosh(q * (0.5 - y)) + r * np.sinh(q * (0.5 - y))) / (np.cosh(q / 2) + r * np.sinh(q / 2))
        high = lambda y: np.cosh(q * (1 - y)) / np.cosh(q / 2) / (np.cosh(q / 2) + r * np.sinh(q / 2))
        y = x[:, 1:]
        with np.errstate(over="ignore", invalid="ignore"):
            modes = np.where(piece[:, None] == 0, low(y), high(y))
        return special.iv(0, 1.0) + 2 * np.sum(bessel * np.cos(q * x[:, :1]) * np.nan_to_num(modes), axis=1)

    made.append(Case("seam: layers of 1 and 1e-7 round it", "seams", cut, 1e-6, series, slack=1e3))
    return made


def _robin() -> list[Case]:
    """alpha that begins in mid-side (u = Re z log z), vanishes on a part, is 1e8 next to a flux, or oscillates."""
    made = []

    def zlogz(x: Array) -> Array:
        z = _z(x)
        r = np.maximum(np.abs(z), 1e-300)
        return x[:, 0] * np.log(r) - x[:, 1] * (np.mod(np.angle(z) + np.pi / 2, 2 * np.pi) - np.pi / 2)

    for alpha, tol in ((10.0, 1e-6), (1e5, 1e-4)):
        # -u_y is 0 for x > 0 and pi for x < 0 on the lower side.
        def begins(alpha: float = alpha) -> jn.Problem:
            a, g = f"where(x1 < 0, {alpha!r}, 0)", f"where(x1 < 0, {alpha!r}*x1*log(abs(x1) + 1e-300) + pi, 0)"
            sides = {s: jn.Dirichlet(zlogz) for s in ("left", "right", "top")}
            return jn.Problem(jn.Partition(HALF), boundary={"bottom": jn.Robin(a, g), **sides})

        name = f"Robin {alpha:g} begins in mid-side, z log z"
        made.append(Case(name, "robin", begins, tol, everywhere(zlogz), focus=NEAR))
    wavy = lambda x: np.exp(x[:, 0]) * np.cos(x[:, 1]) + 2.0

    def smooth(alpha: str) -> jn.Problem:
        low = jn.Robin(alpha, f"({alpha})*(exp(x1)*cos(x2) + 2) + exp(x1)*sin(x2)")
        sides = {s: jn.Neumann(f"{c}*exp(x1)*{t}(x2)") for s, c, t in (("left", -1, "cos"), ("right", 1, "cos"))}
        return jn.Problem(
            jn.Partition(SQUARE), boundary={"bottom": low, "top": jn.Neumann("-exp(x1)*sin(x2)"), **sides}
        )

    for what, alpha, tol in (
        ("is 1 on a tenth of a side", "where(x1 > 0.8, 1, 0)", 1e-6),
        ("is 1e6 on a hundredth of a side", "where(x1*x1 < 1e-4, 1e6, 0)", 1e-4),
        ("oscillates", "1 + sin(60*x1)", 1e-6),
        ("is a peak of width 1e-3", "1e3*exp(-((x1 - 0.123)/1e-3)**2)", 1e-4),
        ("rises from 1e-8 to 1e8", "10**(8*x1)", 1e-6),
    ):
        build = lambda alpha=alpha: smooth(alpha)
        made.append(Case(f"Robin that {what}, the rest insulated", "robin", build, tol, everywhere(wavy), slack=10.0))
    root = lambda x: np.sqrt(_z(x) + 0j).real

    def stiff() -> jn.Problem:
        # u = r^(1/2) cos(theta/2): no flux for x > 0, none of u for x < 0; alpha = 1e8 changes that by 1e-7 or so.
        parts = jn.Partition(HALF, boundary={"cold": "x2 < 1e-12 and x1 < 0"})
        sides = {s: jn.Dirichlet(root) for s in ("left", "right", "top")}
        return jn.Problem(parts, boundary={"cold": jn.Robin(1e8, 0.0), "bottom": jn.Neumann(0.0), **sides})

    made.append(
        Case("Robin 1e8 beside insulation, r^0.5", "robin", stiff, 1e-4, everywhere(root), focus=NEAR, slack=1e6)
    )
    return made


def _cancelling() -> list[Case]:
    """Loads that are large and cancel."""
    pair = ((0.31, 0.2), (-0.27, -0.33))
    made = []
    for w, size, tol in ((0.05, 1e6, 1e-6), (0.01, 1e3, 1e-4)):
        u = lambda x, w=w, size=size: size * (source_field(x, pair[0], w) - source_field(x, pair[1], w))

        def build(w: float = w, size: float = size, u=u) -> jn.Problem:
            one, two = (f"exp(-((x1 - {a})**2 + (x2 - {b})**2)/{w * w!r})" for a, b in pair)
            f = f"{size / w**2!r}*({one} - {two})"
            return jn.Problem(jn.Partition(SQUARE), f=f, boundary=jn.Dirichlet(u))

        near = tuple(([c - 3 * w for c in at], [c + 3 * w for c in at]) for at in pair)
        name = f"two sources of width {w:g} that cancel"
        made.append(Case(name, "cancelling", build, tol, everywhere(u), focus=near))
    tiny = lambda x: x[:, 0] + 1e-3 * np.cos(20 * np.pi * x[:, 0]) * np.cos(14 * np.pi * x[:, 1])

    def insulated() -> jn.Problem:
        f = f"-{1e-3 * (400 + 196)!r}*pi**2*cos(20*pi*x1)*cos(14*pi*x2)"
        sides = {"left": jn.Neumann(-1.0), "right": jn.Neumann(1.0), "x2": jn.Neumann(0.0)}
        return jn.Problem(jn.Partition(UNIT), f=f, boundary=sides, mean=0.5)

    made.append(Case("waves of 1e-3 under a slope, Neumann", "cancelling", insulated, 1e-6, everywhere(tiny)))
    for n, size, tol in ((50, 1e-3, 1e-6), (300, 1e-3, 1e-6), (41, 1.0, 1e-4)):
        # A wave of the values on one side decays like exp(-n y).
        wave = lambda x, n=n, size=size: 3 * x[:, 0] + size * np.sin(n * x[:, 0]) * np.exp(-n * x[:, 1])

        def sides(n: int = n, size: float = size, wave=wave) -> jn.Problem:
            others = {s: jn.Dirichlet(wave) for s in ("left", "right", "top")}
            return jn.Problem(
                jn.Partition(HALF), boundary={"bottom": jn.Dirichlet(f"3*x1 + {size}*sin({n}*x1)"), **others}
            )

        near = (([-1.0, 0.0], [1.0, 3.0 / n]),)
        made.append(
            Case(f"values {size:g} sin({n} x) on a side", "cancelling", sides, tol, everywhere(wave), focus=near)
        )
    rough = lambda x: x[:, 1] + np.sin(40 * x[:, 0]) * np.exp(-40 * x[:, 1])

    def fluxes() -> jn.Problem:
        others = {s: jn.Dirichlet(rough) for s in ("left", "right", "top")}
        return jn.Problem(jn.Partition(HALF), boundary={"bottom": jn.Neumann("40*sin(40*x1) - 1"), **others})

    near = (([-1.0, 0.0], [1.0, 0.1]),)
    made.append(Case("fluxes 40 sin(40 x) on a side", "cancelling", fluxes, 1e-6, everywhere(rough), focus=near))
    dipole = [(0.0, 0.0), (0.004, 0.0)]

    def close(x: Array) -> Array:
        r = [np.maximum(np.hypot(*(x - np.array(c)).T), 1e-300) for c in dipole]
        parts = [np.where(t < 1e-3, 0.5 * (t**2 / 1e-6 - 1), np.log(np.maximum(t, 1e-3) / 1e-3)) for t in r]
        return parts[0] - parts[1]

    def heated() -> jn.Problem:
        parts = jn.Partition(SQUARE, [jn.Disk(c, 1e-3) for c in dipole])
        return jn.Problem(parts, A=1.0, f=[0.0, 2e6, -2e6], boundary=jn.Dirichlet(close))

    near = (([-0.01, -0.01], [0.014, 0.01]), ([-0.1, -0.1], [0.1, 0.1]))
    made.append(
        Case("a hot and a cold disk of 1e-3, side by side", "cancelling", heated, 1e-4, everywhere(close), focus=near)
    )
    return made


def _thin_domains() -> list[Case]:
    """Rings with fluxes on both sides."""
    made = []
    for width, tol in ((0.1, 1e-8), (1e-2, 1e-6), (1e-3, 1e-4)):
        inner = 1 - width
        u = lambda x, a=inner: (1 + a**2 / np.sum(x**2, axis=1)) * x[:, 0]

        def build(a: float = inner) -> jn.Problem:
            parts = jn.Partition(
                jn.Disk((0, 0), 1.0) - jn.Disk((0, 0), a), boundary={"inner": f"x1**2 + x2**2 < {((1 + a) / 2) ** 2!r}"}
            )
            sides = {"inner": jn.Neumann(0.0), "rest": jn.Neumann(f"{1 - a * a!r}*x1")}
            return jn.Problem(parts, boundary=sides, mean=0.0)

        made.append(Case(f"ring of {width:g} with fluxes", "thin", build, tol, everywhere(u), slack=30.0))
    return made


def cases() -> list[Case]:
    """All of this file."""
    return [*_seams(), *_robin(), *_cancelling(), *_thin_domains()]
