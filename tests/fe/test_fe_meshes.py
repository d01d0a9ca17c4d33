"""Meshes of problems: on the exact walls, small between close walls, made in a process that may die."""

import os
import time

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.errors import GeometryError
from jumpnet.fe.field import Locator
from jumpnet.fe.mesh import on_faces
from jumpnet.fe.meshing import generation, mesher
from jumpnet.fe.meshing.first import first_mesh
from jumpnet.fe.meshing.proximity import narrow
from jumpnet.fe.refinement import refined_at

pytest.importorskip("ngsolve")

SQUARE = jn.Box((-1, -1), (1, 1))


def problem_of(*pieces):
    parts = jn.Partition(SQUARE, list(pieces))
    return jn.Problem(parts, A=[1.0, *range(2, 2 + len(pieces))], boundary=jn.Dirichlet("x1"))


def off_the_circle(mesh, radius):
    faces = mesh.interfaces
    at = on_faces(mesh, faces.element[:, 0], faces.local[:, 0], 6)
    return np.abs(np.linalg.norm(at.x, axis=2) - radius).max()


def test_curved_elements_follow_the_exact_wall_and_so_do_refined_ones():
    from jumpnet.fe.meshing.fitting import fitted

    problem = problem_of(jn.Disk((0, 0), 0.5))
    mesh = first_mesh(problem, 0.5, 4)
    coarse = off_the_circle(mesh, 0.5)
    finer = refined_at(mesh, np.ones(len(mesh), bool))
    assert coarse < 1e-4
    assert off_the_circle(finer, 0.5) > 0.5 * coarse  # refinement alone keeps the curve
    assert off_the_circle(fitted(problem.partition, finer), 0.5) < 0.3 * coarse


def test_maps_along_circles_are_smooth_enough_for_spaces_of_lower_orders():
    """Their highest components, which those spaces lack, were 1e-8 along the splines of the mesher."""
    problem = problem_of(jn.Disk((0, 0), 0.5))
    mesh = first_mesh(problem, 2 / 12, 8)
    modes = np.stack([mesh.basis.modes(mesh.nodes[..., k]) for k in (0, 1)])
    assert mesh.sound
    assert np.abs(modes[..., mesh.basis.degrees == 8]).max() < 1e-10
    assert off_the_circle(mesh, 0.5) < 1e-11


@pytest.mark.parametrize("gap, size", [(1e-2, 0.1), (1e-4, 0.01)])
def test_elements_are_small_between_close_walls(gap, size):
    parts = problem_of(jn.Disk((-0.4 - gap / 2, 0), 0.4), jn.Disk((0.4 + gap / 2, 0), 0.4)).partition
    found = narrow(parts, 0.5)
    smallest = min(found, key=lambda one: one[1])
    assert np.linalg.norm(smallest[0]) < 0.05
    assert 0.1 * size < smallest[1] < 2 * size
    assert narrow(problem_of(jn.Disk((0, 0), 0.4)).partition, 0.2) == []


@pytest.mark.parametrize("width", [1e-3, 1e-5])
def test_points_beside_a_layer_that_is_thinner_than_its_elements(width):
    """The nearest node of the piece around it may belong to the wrong side."""
    cell = jn.Box((-0.5, -0.5), (0.5, 0.5))
    parts = jn.Partition(cell, [jn.Box((-width / 2, -0.5), (width / 2, 0.5))])
    mesh = first_mesh(jn.Problem(parts, A=[1.0, 1.0], boundary=jn.Dirichlet(0)), 0.1, 4)
    x = np.random.default_rng(0).uniform(-0.5, 0.5, (400, 2)) * [6 * width, 1.0]
    beside = x[np.abs(x[:, 0]) > width / 2]
    at = Locator(mesh)(beside, np.zeros(len(beside), int))
    centre = mesh.vertices[mesh.elements[at.element]].mean(axis=1)
    assert at.outside.max() < 1e-9
    assert np.array_equal(np.sign(centre[:, 0]), np.sign(beside[:, 0]))


def test_walls_that_two_shapes_share_are_not_close():
    ring = jn.Disk((0, 0), 0.6) - jn.Disk((0, 0), 0.4)
    sizes = [size for _, size in narrow(problem_of(ring, jn.Disk((0, 0), 0.4)).partition, 10.0)]
    assert all(size > 0.1 for size in sizes)


def test_a_mesher_that_hangs_or_dies_costs_a_sentence(monkeypatch):
    with pytest.raises(mesher.MeshingError, match="took too long"):
        mesher.apart("of_solids", problem_of(jn.Disk((0, 0), 0.5)).partition, 0.2, 2, (), (), seconds=1e-3)
    assert isinstance(mesher.apart("of_solids", problem_of().partition, 0.9, 1, (), ()).piece, np.ndarray)
    child = mesher._children[os.getpid()]
    child._process.kill()
    for _ in range(100):
        if not child.alive:
            break
        time.sleep(0.02)
    assert len(mesher.apart("of_solids", problem_of().partition, 0.9, 1, (), ())) > 0  # a new one

    def failing(*_, seconds):
        raise mesher.MeshingError("the mesher died")

    monkeypatch.setattr("jumpnet.fe.meshing.first.apart", failing)
    with pytest.raises(GeometryError, match="no mesh could be made"):
        first_mesh(problem_of(jn.Disk((0, 0), 0.5)), 0.2, 2)


def test_the_mesher_imports_nothing_from_the_folder_it_is_started_in(tmp_path, monkeypatch):
    for name in ("pickle", "struct", "numpy", "jumpnet"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger was let in')")
    monkeypatch.chdir(tmp_path)
    child = mesher._children.pop(os.getpid(), None)
    if child is not None:
        child.end()
    assert len(mesher.apart("of_solids", problem_of().partition, 0.9, 1, (), ())) > 0
    assert mesher._children[os.getpid()].alive


def test_shapes_with_functions_of_a_user_are_meshed_here(monkeypatch):
    monkeypatch.setattr(generation, "of_solids", lambda *given: given)
    assert mesher.apart("of_solids", lambda t: t, 0.1)[1] == 0.1
