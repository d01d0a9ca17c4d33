"""Meshes do not depend on the units of a problem, nor on where it lies."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.fe.meshing.first import first_mesh
from jumpnet.fe.meshing.frame import Frame
from jumpnet.fe.simplex import gauss
from jumpnet.fe.small import determinant

PLACES = [(1e-9, 0.0), (1e4, 0.0), (1e-3, 1.0)]


def _plane(unit: float, at: float) -> jn.Partition:
    corners = at + unit * np.array([(-0.3, -0.4), (0.5, 0.3), (-0.1, 0.6)])
    disk = jn.Disk((at + 0.6 * unit, at - 0.5 * unit), 0.3 * unit)
    return jn.Partition(jn.Box((at - unit, at - unit), (at + unit, at + unit)), [jn.Polygon(corners.tolist()), disk])


def _drawing(unit: float, at: float) -> jn.Partition:
    corners = at + unit * np.array([(-0.3, -0.4), (0.5, 0.3), (-0.1, 0.6)])
    return jn.Partition(jn.Box((at - unit, at - unit), (at + unit, at + unit)), [jn.Polygon(corners.tolist())])


def _space(unit: float, at: float) -> jn.Partition:
    low, high, middle = ((at + s * unit,) * 3 for s in (-1.0, 1.0, 0.2))
    flat = jn.Ellipsoid((at - 0.5 * unit,) * 3, (0.4 * unit, 0.2 * unit, 0.3 * unit))
    return jn.Partition(jn.Box(low, high), [jn.Ball(middle, 0.4 * unit), flat])


@pytest.mark.parametrize("make", [_plane, _drawing, _space])
@pytest.mark.parametrize(("unit", "at"), PLACES)
def test_meshes_in_any_units(make, unit: float, at: float):
    parts = make(unit, at)
    known = make(1.0, 0.0)
    mesh = first_mesh(jn.Problem(parts, boundary=jn.Dirichlet(0)), unit, 3)
    assert mesh.sound
    xi, w = gauss(mesh.dim, 4)
    volume = np.bincount(mesh.piece, np.abs(determinant(mesh.jacobians(xi))) @ w, parts.size)
    wanted = [known.measure(piece) * unit**parts.dim for piece in range(parts.size)]
    np.testing.assert_allclose(volume, wanted, rtol=1e-2)


def test_frames_do_not_round():
    parts = _space(3e-5, 0.0)
    frame, x = Frame.of(parts), np.random.default_rng(0).uniform(-3e-5, 3e-5, (50, 3))
    assert np.array_equal(frame.outward(frame.inward(x)), x)
    assert 1.0 <= 6e-5 / frame.unit < 2.0
