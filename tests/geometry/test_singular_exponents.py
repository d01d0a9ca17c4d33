"""Powers at corners: known ones, and the conditions that they must meet."""

import numpy as np
import pytest

from jumpnet.geometry.walls.singular_exponents import Sector, exponents

QUARTER, REST = np.pi / 2, 3 * np.pi / 2


@pytest.mark.parametrize("angle", [QUARTER, 2.0, REST])
def test_one_piece_between_two_sides(angle: float) -> None:
    sector = (Sector(angle, 1.3, 7.0),)
    whole, half = np.pi / angle, np.pi / (2 * angle)
    both, neither, first, last = (
        exponents(sector, ends, 9.99) for ends in ((True, True), (False, False), (True, False), (False, True))
    )
    for found in (both, neither):
        np.testing.assert_allclose(found, whole * np.arange(1, len(found) + 1), rtol=1e-12)
    for found in (first, last):
        np.testing.assert_allclose(found, half * np.arange(1, 2 * len(found), 2), rtol=1e-12)
    assert len(both) == int(9.99 / whole)


@pytest.mark.parametrize("k", [2.0, 10.0, 1e4, 1e6])
def test_four_quarters(k: float) -> None:
    """Where two materials meet crosswise, the least power is known: 4/pi atan(1/sqrt(k))."""
    crosswise = exponents(tuple(Sector(QUARTER, 1.0, s) for s in (1.0, k, 1.0, k)), None, 6.0)
    least = 4 / np.pi * np.arctan(1 / np.sqrt(k))
    np.testing.assert_allclose(crosswise[:3], [least, 2 - least, 2.0], rtol=1e-9)


@pytest.mark.parametrize("k", [1e-3, 0.5, 10.0, 1e6])
def test_a_right_angle_in_another_material(k: float) -> None:
    """Even and odd functions about the diagonal: k tan(p pi/4) = -tan(p 3 pi/4), or with 1/k."""
    found = exponents((Sector(QUARTER, 1.0, k), Sector(REST, 1.0, 1.0)), None, 8.0)
    inner, outer = np.tan(found * np.pi / 4), np.tan(found * 3 * np.pi / 4)
    even, odd = k * inner + outer, inner + k * outer
    scale = np.abs(inner) + np.abs(outer)
    simple = np.abs(found - np.round(found)) > 1e-9
    assert np.all(np.minimum(np.abs(even), np.abs(odd))[simple] < 1e-8 * (1 + k) * scale[simple])
    assert np.any(np.abs(found - 2) < 1e-12), "with a logarithm"
    # Two in every stretch of one, where those that coincide count twice.
    assert abs(len(found) + np.count_nonzero(~simple) - 16) <= 1


def test_complex_powers_come_in_pairs_and_fit() -> None:
    sectors = (Sector(1.7, 1.2, 10.0), Sector(4.5, 0.9, 2.6))
    found = exponents(sectors, None, 12.0)
    assert np.iscomplexobj(found) and np.any(found.imag > 0.01)
    np.testing.assert_allclose(np.sort_complex(found.conj()), found)
    # Once around the point, u and v are what they were.
    for p in found:
        total = np.eye(2, dtype=complex)
        for angle, stretch, s in sectors:
            c, n = np.cos(p * angle), np.sin(p * angle)
            total = stretch**p * np.array([[c, -n / s], [s * n, c]]) @ total
        assert abs(np.linalg.det(total - np.eye(2))) < 1e-6 * np.abs(total).max() ** 2
