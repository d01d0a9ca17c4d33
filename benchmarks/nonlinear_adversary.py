"""Nonlinear problems with closed forms that nothing was tuned on, and some without a solution.

    python -m benchmarks.nonlinear_adversary [--tol 1e-6] [--limit SECONDS] [NAME ...]

Printed for each: how it ended, the root mean square error over the variation of u, estimate over error, the judged
error over the true one, the number of linear problems, CPU seconds; and WRONG where an answer is called right whose
error is above its estimate, or which does not exist. An answer that is another solution of the problem than the one
written here is not wrong: there the start decides.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import brentq

import jumpnet as jn

Exact = Callable[[np.ndarray, np.ndarray], np.ndarray]
ROD = jn.Partition(jn.Interval(0, 1))
LAYERS = jn.Partition(jn.Interval(0, 1), [jn.Interval(0.5, 1)])
SQUARE = jn.Partition(jn.Box((-1, -1), (1, 1)))
# Below this part of the variation an error is rounding: of the closed form too.
ROUNDING = 1e-13


@dataclass(frozen=True)
class Case:
    """A problem, its solution (None: it has none), where to start, and options of `solve_nonlinear`."""

    problem: jn.NonlinearProblem
    exact: Exact | None
    start: Any = 0.0
    options: dict[str, Any] = field(default_factory=dict)


CASES: dict[str, Callable[[], Case]] = {}


def case(make: Callable[[], Case]) -> Callable[[], Case]:
    """Registers a case under the name of its function."""
    CASES[make.__name__.replace("_", " ")] = make
    return make


def ends(left: Any, right: Any) -> dict[str, Any]:
    """Values at both ends."""
    return {"left": jn.Dirichlet(left), "right": jn.Dirichlet(right)}


def on_line(function: Callable[[np.ndarray], np.ndarray]) -> Exact:
    """A function of x on the line as one of points and pieces."""
    return lambda x, piece: function(x[:, 0])


# --- several solutions -----------------------------------------------------------------------------------------------


def bratu(load: float, low: float, high: float, start: Any) -> Case:
    """u'' = -load exp(u): theta = sqrt(2 load) cosh(theta/4) has two roots below load = 3.5138."""
    theta = brentq(lambda t: t - np.sqrt(2 * load) * np.cosh(t / 4), low, high)

    def exact(x: np.ndarray) -> np.ndarray:
        return -2 * np.log(np.cosh((x - 0.5) * theta / 2) / np.cosh(theta / 4))

    return Case(jn.NonlinearProblem(ROD, f=f"-{load}*exp(u)"), on_line(exact), start)


@case
def bratu_lower() -> Case:
    return bratu(1.0, 0.1, 4.0, 0.0)


@case
def bratu_upper() -> Case:
    return bratu(1.0, 5.0, 20.0, "16*x1*(1 - x1)")


@case
def bratu_near_the_fold() -> Case:
    return bratu(3.5, 0.1, 4.79, 0.0)


@case
def bratu_near_the_fold_upper() -> Case:
    return bratu(3.5, 4.81, 9.0, "6*x1*(1 - x1)")


@case
def liouville() -> Case:
    """In the plane ln(8/(1 + r^2)^2) has the Laplacian -exp(u)."""
    side = jn.Dirichlet("log(8/(1 + x1**2 + x2**2)**2)")
    return Case(
        jn.NonlinearProblem(SQUARE, f="-exp(u)", boundary=side),
        lambda x, piece: np.log(8 / (1 + np.sum(x**2, axis=1)) ** 2),
        "2 - x1**2 - x2**2",  # from zero, another solution is found
    )


@case
def lam_changes_its_sign() -> Case:
    """sin(2 pi x), with lam = u."""
    source = "-4*pi**2*sin(2*pi*x1) - sin(2*pi*x1)**2"
    return Case(
        jn.NonlinearProblem(ROD, lam="u", f=source), on_line(lambda x: np.sin(2 * np.pi * x)), "0.8*sin(2*pi*x1)"
    )


# --- A(u): Kirchhoff's transform -------------------------------------------------------------------------------------


def kirchhoff(A: Any, inverse: Callable[[np.ndarray], np.ndarray], ends_: tuple[float, float], theta: Any) -> Case:
    """One layer between two values: theta(u), the integral of A, is linear in x."""
    low, high = theta(ends_[0]), theta(ends_[1])
    exact = on_line(lambda x: inverse(low + (high - low) * x))
    return Case(jn.NonlinearProblem(ROD, A=A, boundary=ends(*ends_)), exact)


@case
def conductivity_rises_by_150() -> Case:
    return kirchhoff("exp(5*u)", lambda t: np.log(5 * t) / 5, (0.0, 1.0), lambda u: np.exp(5 * u) / 5)


@case
def conductivity_rises_by_22000() -> Case:
    return kirchhoff("exp(10*u)", lambda t: np.log(10 * t) / 10, (0.0, 1.0), lambda u: np.exp(10 * u) / 10)


@case
def conductivity_falls_by_120() -> Case:
    return kirchhoff("1/(1 + u)**2", lambda t: t / (1 - t), (0.0, 10.0), lambda u: u / (1 + u))


@case
def conductivity_of_tiny_values() -> Case:
    return kirchhoff(
        "1 + 1e12*u", lambda t: 2e-12 * t / (1e-12 + np.sqrt(1e-24 + 2e-12 * t)), (0.0, 1e-12),
        lambda u: u + 5e11 * u**2,
    )  # fmt: skip


@case
def porous_medium() -> Case:
    exact = on_line(lambda x: np.cbrt(1 + (0.05**3 - 1) * x))
    return Case(jn.NonlinearProblem(ROD, A="u**2", boundary=ends(1, 0.05)), exact, "1 - 0.95*x1")


@case
def porous_medium_degenerate() -> Case:
    """A is zero at the right end: u = (1 - x)^(1/3)."""
    return Case(
        jn.NonlinearProblem(ROD, A="u**2", boundary=ends(1, 0)), on_line(lambda x: np.cbrt(1 - x)), "1 - 0.99*x1"
    )


@case
def conductivity_jumps_with_u() -> Case:
    """A = 1 below u = 1/2, 10 above."""
    return kirchhoff(
        "where(u < 0.5, 1, 10)", lambda t: np.where(t < 0.5, t, 0.5 + (t - 0.5) / 10), (0.0, 1.0),
        lambda u: u if u < 0.5 else 0.5 + 10 * (u - 0.5),
    )  # fmt: skip


def nearly_jumping(width: float) -> Case:
    """A rises from 1 to 10 within a width about u = 1/2."""

    def theta(u: np.ndarray) -> np.ndarray:
        z = (u - 0.5) / width
        return 5.5 * u + 4.5 * width * (np.logaddexp(z, -z) - np.log(2))

    u = 0.5 + width * np.sinh(np.linspace(-np.arcsinh(0.5 / width), np.arcsinh(0.5 / width), 200_001))

    def exact(x: np.ndarray) -> np.ndarray:
        low, high = theta(np.array([0.0, 1.0]))
        return np.interp(low + (high - low) * x, theta(u), u)

    return Case(jn.NonlinearProblem(ROD, A=f"5.5 + 4.5*tanh((u - 0.5)/{width})", boundary=ends(0, 1)), on_line(exact))


@case
def conductivity_nearly_jumps() -> Case:
    return nearly_jumping(0.03)


@case
def conductivity_very_nearly_jumps() -> Case:
    return nearly_jumping(1e-4)


@case
def layers_with_strong_contrast() -> Case:
    """exp(2 u) beside (1 + u^2)/1000, from 0 to 3; R between them 0."""

    def through(q: float) -> float:
        left = np.log(1 + q) / 2  # exp(2 u)/2 rises by q/2
        return left + left**3 / 3 + 500 * q - 12.0  # u + u^3/3 at the right end

    q = brentq(through, 0, 10)

    def exact(x: np.ndarray) -> np.ndarray:
        left = np.log(1 + 2 * q * np.minimum(x, 0.5)) / 2
        theta = 12.0 - 1000 * q * (1 - np.maximum(x, 0.5))  # u + u^3/3, Cardano
        root = np.cbrt(1.5 * theta + np.sqrt(1 + 2.25 * theta**2))
        return np.where(x < 0.5, left, root - 1 / root)

    return Case(
        jn.NonlinearProblem(LAYERS, A=["exp(2*u)", "(1 + u**2)/1000"], boundary=ends(0, 3)), on_line(exact), "3*x1"
    )


@case
def disk_in_a_plate() -> Case:
    """k (1 + u), k = 1 and 20: u + u^2/2 is that of a disk in a uniform field."""
    chi = (1 - 20) / (1 + 20) * 0.4**2

    def theta(x: np.ndarray, piece: np.ndarray) -> np.ndarray:
        r2 = np.maximum(np.sum(x**2, axis=1), 1e-30)
        return 1.5 + x[:, 0] * np.where(piece == 0, 1 + chi / r2, 2 / 21)

    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.4)])
    side = jn.Dirichlet(f"sqrt(1 + 2*(1.5 + x1*(1 + {chi!r}/(x1**2 + x2**2)))) - 1")
    return Case(
        jn.NonlinearProblem(parts, A=["1 + u", "20*(1 + u)"], boundary=side),
        lambda x, piece: np.sqrt(1 + 2 * theta(x, piece)) - 1,
        1.0,
    )


@case
def disk_in_a_plate_exponential() -> Case:
    """k exp(3 u), k = 1 and 0.1, u from about -0.2 to 1.1."""
    chi = (1 - 0.1) / (1 + 0.1) * 0.3**2

    def theta(x: np.ndarray, piece: np.ndarray) -> np.ndarray:
        r2 = np.maximum(np.sum(x**2, axis=1), 1e-30)
        return 5.0 + 4 * x[:, 0] * np.where(piece == 0, 1 + chi / r2, 2 / 1.1)

    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.3)])
    side = jn.Dirichlet(f"log(3*(5 + 4*x1*(1 + {chi!r}/(x1**2 + x2**2))))/3")
    return Case(
        jn.NonlinearProblem(parts, A=["exp(3*u)", "0.1*exp(3*u)"], boundary=side),
        lambda x, piece: np.log(3 * theta(x, piece)) / 3,
        0.5,
    )


@case
def ball_of_varying_conductivity() -> Case:
    """1 + u in a ball: u + u^2/2 = 1.5 + x."""
    parts = jn.Partition(jn.Ball((0, 0, 0), 1.0))
    problem = jn.NonlinearProblem(parts, A="1 + u", boundary=jn.Dirichlet("sqrt(4 + 2*x1) - 1"))
    return Case(problem, lambda x, piece: np.sqrt(4 + 2 * x[:, 0]) - 1, 1.0)


@case
def conductivity_and_source_depend_on_u() -> Case:
    """u = exp(x) with A = 1 + u^2, (A u')' = e^x + 3 e^3x; f = 3 u^3 + u."""
    problem = jn.NonlinearProblem(ROD, A="1 + u**2", f="3*u**3 + u", boundary=ends(1, float(np.e)))
    return Case(problem, on_line(np.exp), 1.0)


# --- conditions ------------------------------------------------------------------------------------------------------


@case
def radiation_from_both_ends() -> Case:
    """u'' = -4, u' = 2 u^4 on the left, -u^4 on the right."""
    a = brentq(lambda a: (a + 2 * a**4 - 2) ** 4 + 2 * a**4 - 4, 0.5, 2)
    ends_ = {"left": jn.Neumann("-2*u**4"), "right": jn.Neumann("-u**4")}
    return Case(jn.NonlinearProblem(ROD, f=-4.0, boundary=ends_), on_line(lambda x: a + 2 * a**4 * x - 2 * x**2), 1.0)


@case
def radiation_in_kelvin() -> Case:
    """A rod of k = 50 between 1000 K and space."""
    s = 5.67e-8
    q = brentq(lambda q: q - s * (1000 - q * 0.4 / 50) ** 4, 0, 1e5)
    parts = jn.Partition(jn.Interval(0, 0.4))
    ends_ = {"left": jn.Dirichlet(1000), "right": jn.Neumann(f"-{s}*u**4")}
    return Case(jn.NonlinearProblem(parts, A=50.0, boundary=ends_), on_line(lambda x: 1000 - q * x / 50), 500.0)


@case
def radiating_disk() -> Case:
    """u = 2^(1/4) + 1 - r^2 in the unit disk."""
    parts = jn.Partition(jn.Disk((0, 0), 1.0))
    problem = jn.NonlinearProblem(parts, f=-4.0, boundary=jn.Neumann("-u**4"))
    return Case(problem, lambda x, piece: 2**0.25 + 1 - np.sum(x**2, axis=1), 1.0)


@case
def radiating_ball() -> Case:
    """u = 2^(1/4) + 1 - r^2 in the unit ball."""
    parts = jn.Partition(jn.Ball((0, 0, 0), 1.0))
    problem = jn.NonlinearProblem(parts, f=-6.0, boundary=jn.Neumann("-u**4"))
    return Case(problem, lambda x, piece: 2**0.25 + 1 - np.sum(x**2, axis=1), 1.0)


@case
def resistance_falls_with_u() -> Case:
    """R = 2 exp(-3 u) at the mean of both sides."""
    q = brentq(lambda q: 1 - q - 2 * np.exp(-1.5) * q, 0, 5)  # both sides are q/2 and 1 - q/2, their mean 1/2
    return Case(
        jn.NonlinearProblem(LAYERS, jumps=jn.Jump(R="2*exp(-3*u)"), boundary=ends(0, 1)),
        on_line(lambda x: np.where(x < 0.5, q * x, 1 - q * (1 - x))),
    )


@case
def resistance_and_conductivity() -> Case:
    """1 + u on both sides of R = u^2, from 1 to 3."""

    def sides(q: float) -> tuple[float, float]:
        return np.sqrt(4 + q) - 1, np.sqrt(16 - q) - 1  # (1 + u)^2/2 changes by q/2 in each half

    def closes(q: float) -> float:
        a, b = sides(q)
        return b - a - ((a + b) / 2) ** 2 * q

    q = brentq(closes, 0, 6)
    return Case(
        jn.NonlinearProblem(LAYERS, A="1 + u", jumps=jn.Jump(R="u**2"), boundary=ends(1, 3)),
        on_line(lambda x: np.where(x < 0.5, np.sqrt(4 + 2 * q * x), np.sqrt(np.maximum(16 - 2 * q * (1 - x), 0))) - 1),
        2.0,
    )


@case
def stern_and_gouy_chapman() -> Case:
    """A layer without charges (eps 1/8, width 1/2) on a wall at 6, then u'' = sinh u."""
    parts = jn.Partition(jn.Interval(-0.5, 8), [jn.Interval(0, 8)])
    edge = brentq(lambda d: (6 - d) * 0.25 - 2 * np.sinh(d / 2), 0, 6)
    g = np.tanh(edge / 4)

    def exact(x: np.ndarray) -> np.ndarray:
        far = g * np.exp(-np.maximum(x, 0))
        return np.where(x < 0, edge - 2 * (6 - edge) * x, 2 * np.log((1 + far) / (1 - far)))

    right = float(exact(np.array([8.0]))[0])
    problem = jn.NonlinearProblem(parts, A=[0.125, 1.0], f=[0.0, "sinh(u)"], boundary=ends(6, right))
    return Case(problem, on_line(exact))


@case
def dead_core() -> Case:
    """u'' = 12 sqrt(u) is met by x^4: sqrt has no derivative at the left end."""
    return Case(jn.NonlinearProblem(ROD, f="12*sqrt(abs(u))", boundary=ends(0, 1)), on_line(lambda x: x**4), "x1")


@case
def partition_coefficient_and_reaction() -> Case:
    """u = K exp(x), K = 1 and 3, A = 1 and 1/3, f = u^2 - K^2 exp(2 x) + A u."""
    exact = on_line(lambda x: np.where(x < 0.5, 1, 3) * np.exp(x))
    f = ["u**2 - exp(2*x1) + u", "u**2 - 9*exp(2*x1) + u/3"]
    problem = jn.NonlinearProblem(LAYERS, A=[1.0, "1/3"], f=f, K=[1, 3], boundary=ends(1, 3 * float(np.e)))
    return Case(problem, exact, "exp(x1)")


@case
def constant_solution() -> Case:
    """u^3 = 1 with insulated ends."""
    return Case(
        jn.NonlinearProblem(ROD, lam="u**2", f=-1.0, boundary=jn.Neumann(0)), on_line(np.ones_like), 0.5,
        {"atol": 1e-8},
    )  # fmt: skip


# --- no solution -----------------------------------------------------------------------------------------------------


@case
def bratu_beyond_the_fold() -> Case:
    return Case(jn.NonlinearProblem(ROD, f="-3.6*exp(u)"), None)


@case
def source_without_a_way_out() -> Case:
    """u'' = 1 + u^2 between insulated ends."""
    return Case(jn.NonlinearProblem(ROD, f="1 + u**2", boundary=jn.Neumann(0)), None)


@case
def more_flux_than_can_be_carried() -> Case:
    """A = exp(-u): the integral of A is at most 1, a flux of 2 over a length of 1 has no solution."""
    ends_ = {"left": jn.Dirichlet(0), "right": jn.Neumann(2)}
    return Case(jn.NonlinearProblem(ROD, A="exp(-u)", boundary=ends_), None)


def shown(name: str, made: Case, tol: float, limit: float) -> bool:
    """Solve a case and print; whether it is a wrong answer that is called right."""
    began = time.process_time()
    options = {"tol": tol, "time_limit": limit} | made.options
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jn.JumpnetWarning)
            found = jn.solve_nonlinear(made.problem, start=made.start, **options)
    except jn.JumpnetError as refused:
        print(f"{name}: refused, {refused}", flush=True)
        return False
    seconds, steps = time.process_time() - began, len(found.diagnostics.nonlinear)
    judged = found.verdict.rms if found.verdict is not None else np.nan
    x, piece = made.problem.partition.sample_interior(4000, seed=11)
    if made.exact is None:
        wrong, ratios = found.status.ok, ""
    else:
        exact = made.exact(x, piece)
        error, size = float(np.sqrt(np.mean((found(x, piece) - exact) ** 2))), float(np.std(exact))
        wrong = found.status.ok and error > max(found.estimate, ROUNDING * float(np.abs(exact).max()))
        ratios = (
            f"error {error / max(size, 1e-300):.1e}, estimate/true {found.estimate / max(error, 1e-300):.2g}, "
            f"judged/true {judged / max(error, 1e-300):.3g}, "
        )
    reason = "" if found.status.ok else f"; {'; '.join(found.diagnostics.reasons)}"
    print(
        f"{name}: {'WRONG ' if wrong else ''}{found.status.name}, {ratios}{steps} steps, {seconds:.1f} s CPU{reason}",
        flush=True,
    )
    return wrong


def main() -> None:
    """Run the cases whose names contain one of the words given, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--limit", type=float, default=60.0)
    given = parser.parse_args()
    names = [name for name in CASES if not given.words or any(word in name for word in given.words)]
    wrong = [shown(name, CASES[name](), given.tol, given.limit) for name in names]
    print(f"{len(wrong)} cases, {sum(wrong)} wrong answers called right")


if __name__ == "__main__":
    main()
