"""Level sets of the plane as paths: areas, crossings, curves that touch the boundary, and answers on their meshes."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.experiments.problems import pde3
from jumpnet.fe.meshing.contours import drawn
from jumpnet.fe.meshing.first import first_mesh
from jumpnet.fe.simplex import gauss
from jumpnet.fe.small import determinant

SQUARE = jn.Box((-1, -1), (1, 1))


def areas(problem: jn.Problem) -> np.ndarray:
    mesh = first_mesh(problem, 0.2, 8)
    xi, w = gauss(2, mesh.order + 1)
    return np.bincount(mesh.piece, np.abs(determinant(mesh.jacobians(xi))) @ w)


@pytest.mark.parametrize(
    ("phi", "area"),
    [
        ("x1**2 + x2**2 - 0.25", np.pi / 4),
        ("0.25 - x1**2 - x2**2", 4 - np.pi / 4),
        ("(x1**2 + x2**2 - 0.49)*(x1**2 + x2**2 - 0.16)", np.pi * 0.33),
        ("x1 - 0.3*sin(pi*x2)", 2.0),
        ("x1*x2", 2.0),
        ("x1**2 + x2**2 - 1", np.pi),
    ],
    ids=["disk", "outside", "ring", "wave through the box", "a cross", "touching the sides"],
)
def test_areas(phi: str, area: float) -> None:
    parts = jn.Partition(SQUARE, [jn.LevelSet(phi, bounds=((-1, -1), (1, 1)))])
    assert drawn(parts).pieces[0].volume == pytest.approx(area, rel=1e-7)
    # Where curves touch the boundary, elements are kept from folding.
    assert areas(jn.Problem(parts, boundary=jn.Dirichlet(0)))[1] == pytest.approx(area, rel=1e-9 if area < 3 else 1e-3)


def test_the_papers_chessboard() -> None:
    problem = pde3()
    assert drawn(problem.partition).pieces[0].volume == pytest.approx(
        2.0, rel=1e-9
    )  # (x1, x2) -> (-x2, x1) swaps pieces
    assert areas(problem) == pytest.approx([2.0, 2.0], rel=1e-3)


def test_an_answer_on_a_level_set() -> None:
    """A disk in a uniform field, stated as a level set: u = 2/(1 + k) x1 inside."""
    k, r = 10.0, 0.5
    parts = jn.Partition(SQUARE, [jn.LevelSet(f"x1**2 + x2**2 - {r**2}", bounds=((-1, -1), (1, 1)))])

    def outside(x: np.ndarray) -> np.ndarray:
        return x[:, 0] * (1 - (k - 1) / (k + 1) * r**2 / np.sum(x**2, axis=1))

    found = jn.solve(jn.Problem(parts, A=[1.0, k], boundary=jn.Dirichlet(outside)), tol=1e-5, method="fem")
    assert found.status.ok
    x = np.array([[0.1, 0.2], [-0.3, 0.1], [0.45, 0.0]])
    assert found(x, 1) == pytest.approx(2 / (1 + k) * x[:, 0], abs=2e-6)


def test_level_sets_need_a_box() -> None:
    parts = jn.Partition(jn.Disk((0, 0), 1), [jn.LevelSet("x1", bounds=((-1, -1), (1, 1)))])
    with pytest.raises(jn.GeometryError, match="boxes only"):
        drawn(parts)
