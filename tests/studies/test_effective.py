"""Effective tensors of periodic cells against series, exact formulas and bounds."""

from dataclasses import replace
from math import comb, factorial
from typing import Any

import numpy as np
import pytest
from scipy.special import zeta

import jumpnet as jn
from jumpnet.geometry.quadrature.integrals import over_piece
from jumpnet.solution.effective import bounds_of

CELL = jn.Box((0, 0), (1, 1))


def lattice_sum(n: int) -> float:
    """The sum of 1/w^n over the square lattice without 0: an Eisenstein series; for n = 2 Rayleigh's order, pi."""
    if n == 2:
        return np.pi
    if n % 4:
        return 0.0
    terms = sum(m ** (n - 1) / (np.exp(2 * np.pi * m) - 1) for m in range(1, 40))  # Lambert's form
    return 2 * zeta(n) + 2 * (2 * np.pi) ** n / factorial(n - 1) * terms * (1 if n % 4 == 0 else -1)


def square_array(k: float, share: float, orders: int = 24) -> float:
    """Rayleigh's method for one disk of conductivity k in a unit cell: multipoles B_m, m odd, about each centre.

    Near a disk u = Re sum (A_n z^n + B_n z^-n), B_n = a^2n (1 - k)/(1 + k) A_n, and the other disks' fields give
    A_n = [n = 1] - sum over m of C(n + m - 1, n) S_(n+m) B_m.
    """
    odd = np.arange(1, 2 * orders, 2)
    a = np.sqrt(share / np.pi)
    scale = a ** odd.astype(float)
    S = np.array([[comb(int(n + m - 1), int(n)) * lattice_sum(int(n + m)) for m in odd] for n in odd])
    beta = (1 - k) / (1 + k)
    # Scaled by a^n: b_n = B_n a^-n.
    M = np.eye(orders) + beta * scale[:, None] * S * scale
    b = np.linalg.solve(M, beta * scale * (odd == 1))
    return float(1 - 2 * np.pi * b[0] * a)


def test_the_series_agrees_with_the_published_formula_and_the_limits() -> None:
    """Perrins, McKenzie and McPhedran (1979) give six digits of the coefficients."""
    f, T = 0.2, 101 / 99
    inner = T - f - 0.305827 * f**4 * T / (T**2 - 1.402958 * f**8) - 0.013362 * f**8 / T
    assert square_array(100.0, f) == pytest.approx(1 + 2 * f / inner, rel=1e-8)
    assert square_array(1.0, 0.3) == pytest.approx(1.0)
    assert square_array(50.0, 0.4) * square_array(1 / 50.0, 0.4) == pytest.approx(1.0, rel=1e-12)  # Keller's theorem
    assert square_array(50.0, 0.7) == pytest.approx(square_array(50.0, 0.7, orders=30), rel=1e-10)


@pytest.mark.parametrize(("k", "share"), [(100.0, 0.2), (1e-3, 0.4), (10.0, 0.6)])
def test_one_disk_in_a_cell(k: float, share: float) -> None:
    radius = np.sqrt(share / np.pi)
    found = jn.effective_tensor(jn.Partition(CELL, [jn.Disk((0.5, 0.5), radius)]), [1.0, k], tol=1e-8)
    expected = square_array(k, share)
    np.testing.assert_allclose(found.tensor, expected * np.eye(2), rtol=1e-8, atol=1e-8 * expected)
    assert np.abs(found.tensor - expected * np.eye(2)).max() <= found.estimate <= 1e-5
    assert found.converged and not found.violated
    np.testing.assert_array_equal(found.tensor, found.tensor.T)
    low, high = found.bounds.hashin_shtrikman  # type: ignore[misc]
    assert low <= expected <= high  # type: ignore[operator]
    assert "all met" in str(found)


@pytest.mark.slow
def test_twenty_five_disks_of_contrast_100_to_six_digits() -> None:
    """25 disks in a cell are one disk in each of 25 cells."""
    centers = [((i + 0.5) / 5, (j + 0.5) / 5) for i in range(5) for j in range(5)]
    parts = jn.Partition(CELL, [jn.Disk(c, 0.2 * np.sqrt(0.2 / np.pi)) for c in centers])
    found = jn.effective_tensor(parts, [1.0, *[100.0] * 25], tol=1e-7)
    np.testing.assert_allclose(found.tensor, square_array(100.0, 0.2) * np.eye(2), rtol=1e-7, atol=1e-7)
    assert found.asymmetry <= 1e-8 and not found.violated


@pytest.mark.slow
def test_where_a_random_array_is_cut_does_not_matter() -> None:
    """Disks over the sides and corners of the cell; moved by any vector they are the same array."""
    disks: list[Any] = jn.shapes.random_disks(4, CELL, (0.12, 0.2), gap=0.05, seed=1, periodic=True)
    found = []
    for shift in ((0.0, 0.0), (0.31, 0.17)):
        moved = [replace(disk, center=tuple((np.array(disk.center) + shift) % 1)) for disk in disks]
        pieces = jn.shapes.wrapped(moved, CELL)
        parts = jn.Partition(CELL, pieces)
        assert sum(over_piece(parts, k)(lambda x, n: np.ones(len(x))).value for k in range(1, parts.size)) == (
            pytest.approx(sum(np.pi * disk.radius**2 for disk in disks), rel=1e-8)
        )
        found.append(jn.effective_tensor(parts, [1.0, *[50.0] * len(pieces)], tol=1e-6))
    assert all(one.converged and not one.violated for one in found)
    assert len(found[0].solutions[0].partition.pieces) > 4  # type: ignore[union-attr]
    np.testing.assert_allclose(found[0].tensor, found[1].tensor, atol=5e-6)
    assert np.abs(found[0].tensor - found[1].tensor).max() <= found[0].estimate + found[1].estimate


@pytest.mark.slow
def test_a_simple_cubic_array_of_balls() -> None:
    """McKenzie, McPhedran and Derrick (Proc. R. Soc. A 362, 1978), two terms; the next are of order f^6 = 1e-6."""
    k, f = 100.0, 0.1
    parts = jn.Partition(jn.Box((0, 0, 0), (1, 1, 1)), [jn.Ball((0.5, 0.5, 0.5), (3 * f / (4 * np.pi)) ** (1 / 3))])
    sides = {"x1": jn.Periodic(1.0), "x2": jn.Periodic(), "x3": jn.Periodic()}
    solution = jn.solve(jn.Problem(parts, A=[1.0, k], boundary=sides), tol=1e-5)
    poles = [(k - 1) / (k + (m + 1) / m) for m in (1, 3, 5)]
    inner = 1 / poles[0] - f - 1.3047 * poles[1] * f ** (10 / 3) - 0.07231 * poles[2] * f ** (14 / 3)
    assert solution.status is jn.Status.CONVERGED
    assert solution.net_flux("x1+").value == pytest.approx(1 + 3 * f / inner, abs=2e-6)
    assert solution.net_flux("x2+").value == pytest.approx(0.0, abs=1e-6)


def test_a_laminate_has_reuss_across_and_voigt_along_and_attains_the_trace_bounds() -> None:
    parts = jn.Partition(CELL, [jn.Box((0.3, 0), (1.0, 1.0))])
    found = jn.effective_tensor(parts, [1.0, 8.0])
    across, along = 1 / (0.3 + 0.7 / 8), 0.3 + 0.7 * 8
    np.testing.assert_allclose(found.tensor, np.diag([across, along]), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.bounds.voigt, along * np.eye(2), rtol=1e-12)
    np.testing.assert_allclose(found.bounds.reuss, across * np.eye(2), rtol=1e-12)
    bounds = found.bounds
    assert not bounds.violated(np.diag([across, along]), 1e-12)
    assert bounds.violated(np.diag([across * 1.001, along]), 1e-12) == ("Hashin-Shtrikman, upper",)
    assert bounds.violated(np.diag([across, along * 0.999]), 1e-12) == ("Hashin-Shtrikman, lower",)
    assert "Reuss" in bounds.violated(np.diag([across * 0.99, along]), 1e-12)
    assert "Voigt" in bounds.violated(np.diag([across, along * 1.01]), 1e-12)


def test_resisting_layers_and_a_varying_coefficient_on_a_line() -> None:
    """Resistances in series, those of the contacts too; with them no lower bound holds."""
    parts = jn.Partition.chain([0.0, 0.5, 2.0])
    found = jn.effective_tensor(parts, [1.0, "2 + x1"], {(0, 1): jn.Jump(R=0.3)})
    resistance = 0.5 + np.log(4 / 2.5) + 0.3
    assert found.tensor[0, 0] == pytest.approx(2.0 / resistance, rel=1e-7)
    assert found.bounds.reuss is None and found.bounds.hashin_shtrikman is None
    assert found.bounds.voigt[0, 0] == pytest.approx(0.25 + (2 * 1.5 + (4 - 0.25) / 2) / 2, rel=1e-9)


def test_the_bounds_of_three_materials() -> None:
    """Three materials: the bounds are those of the shares, and only for tensors that are equal in all directions."""
    parts = jn.Partition(jn.Box((0, 0, 0), (1, 1, 1)), [jn.Ball((0.3, 0.3, 0.3), 0.2), jn.Ball((0.7, 0.7, 0.7), 0.2)])
    sides = {"x1": jn.Periodic(1.0), "x2": jn.Periodic(), "x3": jn.Periodic()}
    bounds = bounds_of(jn.Problem(parts, A=[1.0, 2.0, 5.0], boundary=sides))
    ball = 4 / 3 * np.pi * 0.2**3
    share, k = np.array([1 - 2 * ball, ball, ball]), np.array([1.0, 2.0, 5.0])
    low, high = (1 / np.sum(share / (k + 2 * k0)) - 2 * k0 for k0 in (1.0, 5.0))
    np.testing.assert_allclose(bounds.hashin_shtrikman, (low, high), rtol=1e-6)
    assert bounds.violated(0.99 * low * np.eye(3)) == ("Hashin-Shtrikman, lower",)
    assert bounds.violated(np.diag([low, low, 1.01 * low])) == ()


def test_what_is_no_cell_problem_is_refused_in_one_sentence() -> None:
    with pytest.raises(jn.ProblemError, match="is a Box"):
        jn.effective_tensor(jn.Partition(jn.Disk((0, 0), 1.0)))
    with pytest.raises(jn.ProblemError, match="only resistances"):
        jn.effective_tensor(jn.Partition(CELL, [jn.Disk((0.5, 0.5), 0.2)]), jumps=jn.Jump(v=1.0))


@pytest.mark.parametrize("boundary", ["periodic", "linear", "flux", "mixed"])
def test_the_error_of_a_tensor_of_finite_elements_is_judged(boundary: str) -> None:
    parts = jn.Partition(jn.Box((-0.5, -0.5), (0.5, 0.5)), [jn.Disk((0.0, 0.0), 0.4)])
    better = jn.effective_tensor(parts, [1.0, 10.0], boundary=boundary, tol=1e-8)  # pyright: ignore[reportArgumentType]
    coarse = jn.FEM(order=2, size=0.2)
    with pytest.warns(jn.JumpnetWarning, match="not converged"):
        found = jn.effective_tensor(parts, [1.0, 10.0], boundary=boundary, method=coarse)  # pyright: ignore[reportArgumentType]
    error = float(np.abs(found.tensor - better.tensor).max())
    assert 1e-4 < error <= found.estimate <= 10 * error


def test_a_periodic_image_of_layers():
    """Layers of labels that make up one material; one of them ends at a periodic side, and their walls have ends there.

    Walls of an image end at places on opposite sides that differ by a part of a pixel, and corners there are graded:
    both must be the same on both sides, or some faces have no neighbours and no condition.
    """
    n = 48
    labels = np.zeros((n, n), int)
    labels[:, n // 4 : n // 2], labels[:, 3 * n // 4 :] = 3, 7
    parts = jn.Partition.from_labels(labels, pixel=1 / n, names={"soft": [0], "hard": [3, 7]})
    found = jn.effective_tensor(parts, {"soft": 1.0, "hard": 9.0}, resolution=False)
    assert found.converged and not found.violated
    assert found.tensor == pytest.approx(np.diag([1.8, 5.0]), abs=2e-5)


def test_an_unknown_error_is_said():
    parts = jn.Partition(jn.Interval(0, 2), [jn.Interval(1, 2)])
    found = replace(jn.effective_tensor(parts, A=[1.0, 3.0]), estimate=np.nan)
    assert "error unknown" in str(found)
    assert found.violated == ()
