"""Simplices, meshes, spaces and fields on plain arrays: exact for polynomials, curved or not, without any mesher."""

import numpy as np
import pytest
from structured import cube

from jumpnet.fe.assembly import Contact, Outer, Volume, assembled, point_load
from jumpnet.fe.field import Field, Locator
from jumpnet.fe.mesh import on_faces
from jumpnet.fe.refinement import graded, refined, refined_at, split
from jumpnet.fe.simplex import dubiner, gauss, lagrange
from jumpnet.fe.space import Space


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("order", [1, 4, 8])
def test_polynomials_of_the_simplex(dim, order):
    basis, (xi, w) = lagrange(dim, order), gauss(dim, order + 1)
    V = dubiner(dim, order, xi)
    assert np.abs((V.T * w) @ V - np.eye(basis.size)).max() < 1e-12  # orthonormal

    def f(x):
        return (0.3 + x @ np.arange(1, dim + 1)) ** order

    nodes = f(basis.barycentric[:, 1:])
    slope = order * (0.3 + xi @ np.arange(1, dim + 1)) ** (order - 1)
    size = np.abs(nodes).max()
    assert np.abs(basis.value(xi) @ nodes - f(xi)).max() < 1e-12 * size
    gradient = np.einsum("nkd,k->nd", basis.gradient(xi), nodes)
    assert np.abs(gradient - slope[:, None] * np.arange(1, dim + 1)).max() < 1e-10 * size


def bent(x):
    """A map of the unit square or cube to itself that bends what is inside."""
    y = x.copy()
    y[..., 0] += 0.2 * x[..., 0] * (1 - x[..., 0]) * x[..., 1]
    return y


@pytest.mark.parametrize("dim, cells", [(2, 3), (3, 2)])
@pytest.mark.parametrize("change", ["none", "refined", "graded", "graded at neighbours", "refined here and there"])
def test_meshes_keep_their_volume_and_are_continuous(dim, cells, change):
    mesh = cube(dim, cells, 3, bent, lambda x: (x[:, 0] > 0.5).astype(int))
    if change == "refined":
        mesh = refined(mesh)
    elif change != "none":
        if dim == 3:
            pytest.skip("only triangles are cut one by one")
        if change == "refined here and there":
            rng = np.random.default_rng(0)
            for _ in range(3):
                mesh = refined_at(mesh, rng.uniform(size=len(mesh)) < 0.2)
        else:
            mesh = graded(mesh, [0] if change == "graded" else mesh.elements[0], 3)
    xi, w = gauss(dim, 5)
    assert mesh.sound
    assert abs(np.sum(w * np.abs(np.linalg.det(mesh.jacobians(xi)))) - 1) < 1e-12
    outside = on_faces(mesh, mesh.boundary.element[:, 0], mesh.boundary.local[:, 0], 5)
    assert abs(outside.weight.sum() - 2 * dim) < 1e-11
    # The divergence theorem for x.
    assert abs(np.sum(outside.weight[..., None] * outside.x * outside.normal) - dim) < 1e-11
    space = Space(mesh, 4)
    assert np.array_equal(np.unique(space.dofs), np.arange(space.size))
    places = mesh.points(space.basis.barycentric[:, 1:])
    known = np.empty((space.size, dim))
    known[space.dofs.ravel()] = places.reshape(-1, dim)
    assert np.abs(known[space.dofs] - places).max() < 1e-13
    faces = mesh.interfaces
    first, second = (on_faces(mesh, faces.element[:, k], faces.local[:, k], 3) for k in (0, 1))
    assert np.abs(first.x - second.x).max() < 1e-13 and np.abs(first.normal + second.normal).max() < 1e-10
    assert (mesh.piece[faces.element[:, 0]] == 0).all() and (mesh.piece[faces.element[:, 1]] == 1).all()


def test_a_vertex_on_the_boundary():
    mesh = cube(2, 3)
    faces = mesh.boundary
    cut, vertex = split(mesh, int(faces.element[0, 0]), int(faces.local[0, 0]), 0.3)
    assert len(cut) == len(mesh) + 1 and len(cut.boundary) == len(mesh.boundary) + 1 and cut.sound
    assert (
        np.isclose(cut.vertices[vertex] * 9 % 1, 0.7, atol=1e-9).any()
        or np.isclose(cut.vertices[vertex] * 9 % 1, 0.9, atol=1e-9).any()
    )
    same, end = split(mesh, int(faces.element[0, 0]), int(faces.local[0, 0]), 1e-9)
    assert same is mesh and end in mesh.elements


def test_layers_end_above_rounding():
    """Triangles of 1e-15 at corners of 1 would be made of rounding errors."""
    mesh = cube(2, 3)
    corner = int(np.nanargmax(mesh.vertices.sum(axis=1)))
    fine = graded(mesh, [corner], 40)
    assert 1e-12 < fine.size.min() < 1e-9 and fine.sound
    assert len(graded(fine, [corner], 5)) == len(fine)


@pytest.mark.parametrize("dim, cells", [(2, 4), (3, 2)])
def test_fields_are_found_and_evaluated(dim, cells):
    mesh = cube(dim, cells, 3, bent, lambda x: (x[:, 0] > 0.5).astype(int))
    x = np.random.default_rng(0).random((300, dim))
    # In reference coordinates of the bent mesh: what is linear there is not here.
    field = Field(mesh, 5, np.sin(mesh.points(lagrange(dim, 5).barycentric[:, 1:])).sum(axis=2))
    first = Locator(mesh)(x, np.zeros(len(x), int))
    piece = (first.outside > 1e-9).astype(int)
    assert np.abs(field.value(x, piece) - np.sin(x).sum(axis=1)).max() < (1e-6 if dim == 2 else 1e-4)
    assert np.abs(field.gradient(x, piece) - np.cos(x)).max() < (1e-4 if dim == 2 else 3e-3)
    assert field.locate(x, piece).outside.max() < 1e-9


def exact(x):
    return x[..., 0] ** 2 * x[..., 1] - x[..., 1] ** 3 + x[..., -1]


def laplace(x):
    return 2 * x[..., 1] - 6 * x[..., 1]


def slope(x):
    g = np.zeros(x.shape)
    g[..., 0] = 2 * x[..., 0] * x[..., 1]
    g[..., 1] = x[..., 0] ** 2 - 3 * x[..., 1] ** 2
    g[..., -1] += 1.0
    return g


@pytest.mark.parametrize("dim, cells", [(2, 3), (3, 2)])
def test_polynomials_are_solved_exactly_with_jumps_and_contact(dim, cells):
    """u = exact + 2 in piece 1, so that [u] = -2 + R q holds with a resistance as well as without."""
    if dim == 3:
        pytest.importorskip("ngsolve")
    mesh, count = cube(dim, cells, pieces=lambda x: (x[:, 0] > 0.5).astype(int)), 5
    space = Space(mesh, 3)
    xi = gauss(dim, count)[0]
    x = mesh.points(xi)
    eye = np.broadcast_to(np.eye(dim), (*x.shape[:2], dim, dim))
    volume = Volume(eye, np.zeros(x.shape[:2]), -laplace(x))
    faces, outer = mesh.interfaces, mesh.boundary
    at = on_faces(mesh, faces.element[:, 0], faces.local[:, 0], count)
    q = np.sum(slope(at.x) * -at.normal, axis=2)  # n points to the lower piece
    s, v = 1 / 0.3, -2.0 - 0.3 * q
    contact = Contact(np.full(q.shape, s), s * v, -s * v)
    edge = on_faces(mesh, outer.element[:, 0], outer.local[:, 0], count)
    high = 2.0 * (mesh.piece[outer.element[:, 0]] == 1)[:, None]
    fixed = edge.normal[..., 1] > 0.5
    alpha = np.where(fixed, 1e9, 0.5)
    flux = np.sum(slope(edge.x) * edge.normal, axis=2)
    u = exact(edge.x) + high
    load = np.where(fixed, 1e9 * u, flux + 0.5 * u)
    system = assembled(space, count, volume, contact, Outer(alpha, load))
    found = system.solve(system.load)
    wanted = exact(mesh.points(space.basis.barycentric[:, 1:])) + 2.0 * mesh.piece[:, None]
    assert np.abs(space.gathered(found) - wanted).max() < 1e-6
    assert abs(system.mass.sum() - 1) < 1e-12


def test_loads_at_points():
    mesh = cube(2, 3, 2, bent)
    space = Space(mesh, 3)
    x = np.array([[0.3, 0.4], [0.7, 0.1]])
    at = Locator(mesh)(x, np.zeros(2, int))
    given = exact(mesh.points(space.basis.barycentric[:, 1:]))
    unknowns = np.empty(space.size)
    unknowns[space.dofs] = given
    field = Field(mesh, 3, given)
    load = point_load(space, at, np.array([2.0, 0.0]), np.array([[0.0, 0.0], [1.0, -3.0]]))
    gradient = field.gradient(x, np.zeros(2, int))
    assert abs(load @ unknowns - (2 * field.value_at(at)[0] + gradient[1] @ [1.0, -3.0])) < 1e-12


def test_periodic_faces_are_matched():
    def same(corner):
        return np.unique(np.round(np.stack([corner[:, 0] % 1.0, corner[:, 1]], 1), 9), axis=0, return_inverse=True)[1]

    mesh = cube(2, 4, same=same)
    faces = mesh.interfaces
    first, second = (on_faces(mesh, faces.element[:, k], faces.local[:, k], 2).x for k in (0, 1))
    assert len(faces) == 4 and len(mesh.boundary) == 8
    assert np.allclose(np.abs(first - second), [1.0, 0.0])
    assert len(refined(mesh).interfaces) == 8


def test_refined_meshes_know_where_their_elements_come_from():
    coarse = cube(2, 3, 3, bent, lambda x: (x[:, 0] > 0.5).astype(int))
    values = exact(coarse.points(lagrange(2, 3).barycentric[:, 1:]))
    marked = np.arange(len(coarse)) % 3 == 0
    fine = graded(refined_at(coarse.as_origin(), marked), [0, 5], 2)
    assert fine.origin is not None and fine.origin.mesh is coarse
    xi = gauss(2, 3)[0]
    there = Field(coarse, 3, values).value(fine.points(xi).reshape(-1, 2), np.repeat(fine.piece, len(xi)))
    here = Field(fine, 3, fine.prolonged(values, 3))
    assert np.abs(there - (here.values @ here.basis.value(xi).T).ravel()).max() < 1e-12
