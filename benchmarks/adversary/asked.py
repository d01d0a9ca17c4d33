"""What is asked of a solution: fluxes through parts, means of tiny pieces, integrals, energies, effective tensors."""

# ruff: noqa: E731 (formulas are written as formulas)

from typing import Any

import numpy as np
from benchmarks.adversary.cases import Case, Exact, Known, by_piece, on_boundary
from benchmarks.adversary.duals import asked
from benchmarks.adversary.layers import concentric

import jumpnet as jn

SQUARE = jn.Box((-1, -1), (1, 1))
UNIT = jn.Box((0, 0), (1, 1))


def known(name: str, quantity: Any, value: float) -> Known:
    """A quantity of `jn.sweep` with its exact value."""
    return Known(name, lambda solution: asked(solution, quantity), value)


def _disks() -> list[Case]:
    """A disk in a plate: means, fluxes, energies in closed form, for tiny and large disks."""
    made = []
    for r, k, tol in ((1e-3, 100.0, 1e-6), (0.4, 1e-6, 1e-4), (0.9, 1e6, 1e-4)):
        exact = concentric([r], [1.0, k], center=(0.05, 0.02))
        shifted: Exact = lambda x, piece, e=exact: 3.0 + e(x, piece)
        slope = float((exact(np.array([[0.05 + r / 2, 0.02]]), np.array([1])))[0]) / (r / 2)
        asks = (
            known("mean of the disk", ("mean", 1), 3.0),
            known("energy of the disk", ("energy", 1), 0.5 * k * slope**2 * np.pi * r**2),
            known("flux into the disk", ("flux", (0, 1)), 0.0),
            known("value beside the disk", ("value", (0.05 + 2 * r if r < 0.3 else 0.05, 0.02)), float(
                shifted(np.array([[0.05 + 2 * r if r < 0.3 else 0.05, 0.02]]), np.array([0 if r < 0.3 else 1]))[0])),
        )  # fmt: skip

        def build(r=r, k=k, shifted=shifted) -> jn.Problem:
            parts = jn.Partition(SQUARE, [jn.Disk((0.05, 0.02), r)])
            return jn.Problem(parts, A=[1.0, k], boundary=jn.Dirichlet(on_boundary(shifted)))

        near = (([0.05 - 2 * r, 0.02 - 2 * r], [0.05 + 2 * r, 0.02 + 2 * r]),)
        made.append(Case(f"asked: disk of {r:g}, k = {k:g}", "asked", build, tol, shifted, focus=near, known=asks))
    return made


def _windows() -> list[Case]:
    """Fluxes through small parts of sides, by differences of the stream function."""
    made = []
    c = 0.3
    for width, kind, tol in ((0.1, "values", 1e-6), (1e-3, "values", 1e-6), (1e-2, "fluxes", 1e-4)):
        u = lambda x: np.exp(2 * x[:, 0]) * np.sin(2 * x[:, 1] + 0.3)
        # The stream function of exp(2 z): u_y = 2 e^(2x) cos(2y + 0.3) integrates to e^(2x) cos(2y + 0.3) along x.
        stream = lambda x, y: np.exp(2 * x) * np.cos(2 * y + 0.3)
        value = float(stream(c + width, 1.0) - stream(c, 1.0))

        def build(width=width, kind=kind, u=u) -> jn.Problem:
            parts = jn.Partition(
                UNIT,
                [jn.Disk((0.5, 0.5), 0.2)],
                boundary={"window": f"x2 > 1 - 1e-9 and x1 > {c} and x1 < {c + width!r}"},
            )
            flux = jn.Neumann("2*exp(2*x1)*cos(2*x2 + 0.3)")
            given = jn.Dirichlet(u)
            return jn.Problem(
                parts,
                A=[1.0, 1.0],
                boundary={"window": given, "top": given if kind == "values" else flux, "rest": given},
            )

        near = (([c - width, 1 - width], [c + 2 * width, 1.0]),)
        asks = (known("flux through the window", ("flux", "window"), value),)
        made.append(
            Case(
                f"asked: flux through a window of {width:g}, {kind} around",
                "asked",
                build,
                tol,
                lambda x, piece, u=u: u(x),
                focus=near,
                known=asks,
            )
        )
    return made


def _layers() -> list[Case]:
    """Layers across a plate with contact: the flux through each wall and the mean of each layer."""
    made = []
    for t, k, R, tol in ((1e-3, 1e-4, 0.0, 1e-6), (0.01, 1e5, 1.0, 1e-6), (1e-4, 1e4, 1e-3, 1e-4)):
        # from x = 0 to 1: layers of A = 1, k, 5; a contact R at the first wall.
        ends, A = [0.0, 0.4, 0.4 + t, 1.0], [1.0, k, 5.0]
        q = 1 / (0.4 + t / k + (0.6 - t) / 5 + R)
        starts = [0.0, 0.4 * q + R * q, 0.4 * q + R * q + t * q / k]
        exact = lambda x, piece, q=q, s=starts, e=ends, A=A: (
            np.asarray(s)[piece] + q * (x[:, 0] - np.asarray(e)[piece]) / np.asarray(A)[piece]
        )
        asks = (
            known("flux through the right side", ("flux", "right"), q),
            known("mean of the film", ("mean", 1), starts[1] + q * t / k / 2),
            known("energy of the film", ("energy", 1), 0.5 * q * q / k * t),
            known("integral over the film", ("integral", 1), (starts[1] + q * t / k / 2) * t),
        )

        def build(ends=ends, A=A, R=R) -> jn.Problem:
            strips = [jn.Box((ends[j], 0), (ends[j + 1], 1)) for j in (1, 2)]
            sides = {"left": jn.Dirichlet(0.0), "right": jn.Dirichlet(1.0), "x2": jn.Neumann(0.0)}
            return jn.Problem(jn.Partition(UNIT, strips), A=A, boundary=sides, jumps={(0, 1): jn.Jump(R=R)})

        near = (([ends[1] - t, 0.0], [ends[2] + t, 1.0]),)
        made.append(
            Case(
                f"asked: film of {t:g}, k = {k:g}, R = {R:g}",
                "asked",
                build,
                tol,
                exact,
                focus=near,
                known=asks,
                slack=1e3,
            )
        )
    return made


def _tensors() -> list[Case]:
    """Effective tensors of cells with squares of areas and materials exchanged: T11(1, k) T22(k, 1) = k (Keller)."""
    made = []
    shapes = {
        "disk of 0.49, k = 1e6": ([jn.Disk((0.5, 0.5), 0.49)], 1e6, 1e-4),
        "disk of 0.3, k = 1e-6": ([jn.Disk((0.5, 0.5), 0.3)], 1e-6, 1e-6),
        "ellipse at a tilt, k = 1e4": ([jn.Ellipse((0.5, 0.5), (0.45, 0.15), angle=0.4)], 1e4, 1e-4),
        "box of 0.7, k = 1e3": ([jn.Box((0.1, 0.2), (0.8, 0.9))], 1e3, 1e-4),
    }
    for what, (pieces, k, tol) in shapes.items():

        def product(solution: Any, pieces=pieces, k=k, tol=tol) -> tuple[float, float]:
            # T(1/A) = T(A)^-1 turned by a right angle: of T11 and its partner, T'22 det T = T11.
            parts = jn.Partition(UNIT, pieces)
            one, two = (jn.effective_tensor(parts, A=list(A), tol=tol) for A in ((1.0, k), (1.0, 1 / k)))
            T, other = one.tensor, two.tensor
            value = float(T[0, 0] * other[1, 1] - T[0, 1] * other[0, 1])
            bar = one.estimate * (abs(other[1, 1]) + abs(other[0, 1])) + two.estimate * (abs(T[0, 0]) + abs(T[0, 1]))
            return value, float(bar)

        def build(pieces=pieces, k=k) -> jn.Problem:
            sides = {"x1": jn.Periodic(1.0), "x2": jn.Periodic(0.0)}
            return jn.Problem(jn.Partition(UNIT, pieces), A=[1.0, k], boundary=sides)

        asks = (Known("T of A times T of 1/A", product, 1.0),)
        made.append(
            Case(
                f"asked: tensor, {what}",
                "asked",
                build,
                tol,
                known=asks,
                why="T(1/A) is T(A)^-1 turned by a right angle",
            )
        )
    return made


def _sweeps() -> list[Case]:
    """A table of a sweep: the numbers of every row within their errors."""
    made = []
    for r, ks, tol in ((0.5, (1e-4, 1e-1, 30.0, 1e5), 1e-5), (0.05, (1e-3, 1e3), 1e-3)):

        def worst(solution: Any, r=r, ks=ks, tol=tol) -> tuple[float, float]:
            far = lambda k: (k - 1) / (k + 1) * r * r
            value = lambda k: f"x1 - {far(k)!r}*x1/(x1**2 + x2**2)"

            def made_of(k: float) -> jn.Problem:
                return jn.Problem(
                    jn.Partition(SQUARE, [jn.Disk((0, 0), r)]), A=[1.0, k], boundary=jn.Dirichlet(value(k))
                )

            wanted = {"energy": ("energy", 1), "at": ("value", (r / 2, 0.0))}
            table = jn.sweep(made_of, {"k": list(ks)}, wanted, tol=tol, verify=True)
            k, ratio = np.array(ks), 0.0
            true = {"energy": 0.5 * k * (2 / (1 + k)) ** 2 * np.pi * r * r, "at": r / (1 + k)}
            for name, value in true.items():
                apart = np.abs(table.values[name] - value) / (table.errors[name] + 1e-12 * np.abs(value))
                ratio = max(ratio, float(np.max(apart)))
            return ratio, 1.0

        exact = by_piece(*(lambda x: x[:, 0],) * 2)

        def build(r=r) -> jn.Problem:
            return jn.Problem(jn.Partition(SQUARE, [jn.Disk((0, 0), r)]), boundary=jn.Dirichlet("x1"))

        asks = (Known("largest error of a table in units of its bar", worst, 0.0),)
        made.append(Case(f"asked: sweep of a disk of {r:g}", "asked", build, tol, exact, known=asks))
    return made


def cases() -> list[Case]:
    """All of this file."""
    return [*_disks(), *_windows(), *_layers(), *_tensors(), *_sweeps()]
