"""How fast solutions change at edges in space, and what that says of further layers of elements."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.fe.meshing.first import first_mesh
from jumpnet.judge.edge_exponents import further_layers, least_exponent
from jumpnet.judge.edges import singular_edges

CUBE = jn.Box((-1, -1, -1), (1, 1, 1))
BRICK = jn.Box((-0.4, -0.5, -0.3), (0.5, 0.4, 0.3))


def exponent(problem: jn.Problem) -> float:
    mesh = first_mesh(problem, 0.7, 2)
    return least_exponent(problem, mesh, singular_edges(problem, mesh))


def at_right_angle(k: float) -> float:
    """The exponent of a square of conductivity k in a plane of one: tan(s pi/4) and its inverse are in the ratio k."""
    # Odd about the diagonal: k sin(a) cos(b) + cos(a) sin(b) = 0 with a = s pi/4 and b = 3 a, or 1 and k exchanged.
    s = np.linspace(0.01, 0.9999, 200_001)
    found = []
    for p, q in ((k, 1.0), (1.0, k)):
        value = p * np.sin(s * np.pi / 4) * np.cos(3 * s * np.pi / 4) + q * np.cos(s * np.pi / 4) * np.sin(
            3 * s * np.pi / 4
        )
        found += list(s[:-1][np.diff(np.sign(value)) != 0])
    return min(found)


def test_a_reentrant_edge_has_the_exponent_of_the_corner_in_the_plane():
    domain = jn.Box((-1, -1, 0), (1, 1, 1)) - jn.Box((0, -1, 0), (1, 0, 1))
    assert exponent(jn.Problem(jn.Partition(domain), boundary=jn.Dirichlet("x1"))) == pytest.approx(2 / 3, abs=1e-3)


@pytest.mark.parametrize("k", [10.0, 0.01])
def test_a_brick(k):
    problem = jn.Problem(jn.Partition(CUBE, [BRICK]), A=[1.0, k], boundary=jn.Dirichlet("x1"))
    assert exponent(problem) == pytest.approx(at_right_angle(k), abs=1e-3)


def test_an_anisotropic_brick_is_one_of_another_angle():
    """With A = diag(1, 1, 4) everywhere, a re-entrant edge along x1 has its angle in stretched coordinates."""
    domain = jn.Box((0, -1, -1), (1, 1, 1)) - jn.Box((0, 0, -1), (1, 1, 0))
    problem = jn.Problem(jn.Partition(domain), A=[np.diag([1.0, 1.0, 4.0])], boundary=jn.Dirichlet("x2"))
    assert exponent(problem) == pytest.approx(2 / 3, abs=1e-3)  # right angles along the axes stay


def test_right_angles_between_values_and_fluxes_are_smooth():
    parts = jn.Partition(CUBE, [jn.Box((-1, -1, -1), (0, 1, 1))])
    sides = {part: jn.Dirichlet("x1") if part == "x3" else jn.Neumann(0.0) for part in ("x1", "x2", "x3")}
    assert exponent(jn.Problem(parts, A=[1.0, 5.0], boundary=sides)) == 1.0


def test_contact_resistances_count_as_insulation_too():
    parts = jn.Partition(CUBE, [BRICK])
    resistances = jn.Jump(R=0.1)
    assert exponent(jn.Problem(parts, A=[1.0, 1.9], jumps=resistances, boundary=jn.Dirichlet("x1"))) == pytest.approx(
        1 / 3, abs=1e-3
    )


def test_a_chessboard_of_bricks_has_a_small_exponent():
    bricks = jn.Box((-1, -1, -1), (0, 0, 1)) | jn.Box((0, 0, -1), (1, 1, 1))
    problem = jn.Problem(jn.Partition(CUBE, [bricks]), A=[1.0, 1000.0], boundary=jn.Dirichlet("x1"))
    assert exponent(problem) == pytest.approx(4 / np.pi * np.arctan(1000**-0.5), abs=1e-3)
    assert further_layers(0.04) == pytest.approx(8.5, abs=0.1)
    assert further_layers(0.9) == pytest.approx(1 / 3)
