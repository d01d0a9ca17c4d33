"""Poles beyond smooth curves: they lie where the curve, continued to complex parameters, has its branch points."""

import numpy as np
import pytest
from scipy.optimize import root_scalar

from jumpnet.charts.schwarz import Approximation, Schwarz

T = 2 * np.pi * np.arange(1200) / 1200


def good(shape: Schwarz) -> Approximation:
    return next(found for found in (shape[rung] for rung in range(99)) if found is not None and found.error < 1e-9)


def test_poles_of_an_ellipse_lie_between_its_foci() -> None:
    found = good(Schwarz(np.cos(T) + 0.5j * np.sin(T)))
    p, enclosed = found.poles
    focus = np.sqrt(0.75)
    assert np.abs(np.imag(p[enclosed])).max() < 0.1  # cuts may be bent
    assert np.abs(np.real(p[enclosed])).max() < focus < np.abs(np.real(p[enclosed])).max() + 0.02


@pytest.mark.parametrize(("lobes", "amplitude"), [(3, 0.2), (5, 0.3)])
def test_poles_of_a_star_end_at_its_branch_points(lobes: int, amplitude: float) -> None:
    def curve(t: np.ndarray | complex) -> np.ndarray:
        return (1 + amplitude * np.cos(lobes * t)) * np.exp(1j * t) / (1 + amplitude)

    # dz/dt = 0 in the middle of a lobe (inside) and of a bay (outside): t imaginary, but for the angle.
    inside, outside = (
        root_scalar(lambda y, s=s: lobes * np.sinh(y) + s * np.cosh(y) - 1 / amplitude, bracket=(0, 5)).root / lobes
        for s in (-1, 1)
    )
    branch = {True: curve(1j * inside), False: curve(np.pi / lobes - 1j * outside)}
    found = good(Schwarz(curve(T)))
    p, enclosed = found.poles
    for side, point in branch.items():
        mine = p[enclosed == side]
        gap = np.abs(curve(T) - point).min()
        # Denser and denser towards the branch point, and hardly nearer to the curve.
        assert np.abs(mine - point).min() < 0.1 * gap
        assert np.abs(mine[:, None] - curve(T)).min() > 0.8 * gap


def test_approximations_become_better_and_are_made_when_asked_for() -> None:
    shape = Schwarz((1 + 0.2 * np.cos(3 * T)) * np.exp(1j * T) / 1.2)
    errors = [one.error for one in (shape[k] for k in range(4)) if one is not None]
    assert errors == sorted(errors, reverse=True)
    assert len(shape._found) == 4
    assert shape[1000] is None
