"""Where a part of the boundary, or a given flux, begins between two corners, meshes have a vertex."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.fe.meshing.first import first_mesh
from jumpnet.judge.adaptivity import graded_vertices


def heated(domain: jn.Disk, fluxes: bool) -> jn.Problem:
    """Heat that enters through a part of the lower side and leaves to the air through the rest."""
    air = jn.Robin(1.0, 0.0)
    if fluxes:  # the same as data by cases
        return jn.Problem(jn.Partition(domain), A=1.0, boundary=jn.Robin(1.0, lambda x: 1.0 * under(x)))
    parts = jn.Partition(domain, boundary={"heater": "x2 < -0.5 and x1 > -0.123"})
    return jn.Problem(parts, A=1.0, boundary={"heater": jn.Neumann(1.0), "boundary": air})


def under(x: np.ndarray) -> np.ndarray:
    return (x[:, 1] < -0.5) & (x[:, 0] > -0.123)


@pytest.mark.parametrize("fluxes", [False, True])
def test_meshes_have_vertices_where_conditions_change(fluxes: bool) -> None:
    problem = heated(jn.Disk((0, 0), 1.0), fluxes)
    x = graded_vertices(problem, first_mesh(problem, 2 / 12, 8))[0].vertices
    for place in ((-0.123, -np.sqrt(1 - 0.123**2)), (np.sqrt(0.75), -0.5)):
        assert np.nanmin(np.linalg.norm(x - place, axis=1)) < 1e-7  # data by cases are already met by tiny elements


def test_heat_through_a_part_of_a_circle_is_right() -> None:
    """What enters through the heater leaves through the rest; without vertices the mean was off by 1e-5."""
    solution = jn.solve(heated(jn.Disk((0, 0), 1.0), False), method="fem", tol=1e-6)
    assert solution.status is jn.Status.CONVERGED
    arc = np.arcsin(np.sqrt(0.75)) + np.arcsin(0.123)  # from the lowest point to both ends
    rest = 2 * np.pi - arc
    along = np.linspace(0, 1, 10_001)
    t = -np.pi / 2 + np.arcsin(np.sqrt(0.75)) + rest * (along[1:] + along[:-1]) / 2
    u = solution(0.999999999 * np.stack([np.cos(t), np.sin(t)], axis=1))
    assert abs(np.mean(u) * rest - arc) < 1e-5 * arc
