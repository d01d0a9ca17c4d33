"""Elements in space: refinement, level sets cut out of a lattice, curved faces, iterations, bodies of triangles."""

import functools
import operator

import numpy as np
import pytest
from scipy.special import gamma

import jumpnet as jn
from jumpnet.fe import assembly, iterative
from jumpnet.fe.mesh import Mesh, on_faces
from jumpnet.fe.meshing.bisection import bisected, separated
from jumpnet.fe.meshing.edges import graded_edges
from jumpnet.fe.meshing.first import first_mesh
from jumpnet.fe.meshing.implicit import distance, implicit_mesh
from jumpnet.fe.meshing.lattice import lattice
from jumpnet.fe.meshing.proximity import narrow
from jumpnet.fe.simplex import gauss
from jumpnet.fe.small import determinant
from jumpnet.fe.space import Space
from jumpnet.geometry.shape import Shape
from jumpnet.judge.answers import Sources
from jumpnet.judge.edges import singular_edges
from jumpnet.judge.level import solved

CUBE = jn.Box((-1, -1, -1), (1, 1, 1))


def volumes(mesh: Mesh) -> np.ndarray:
    xi, w = gauss(3, mesh.order + 1)
    return np.bincount(mesh.piece, np.abs(determinant(mesh.jacobians(xi))) @ w)


@pytest.mark.parametrize("periodic", [(), (0, 1, 2)])
def test_bisection_leaves_no_gaps(periodic: tuple[int, ...]) -> None:
    mesh = lattice((np.zeros(3), np.ones(3)), 0.25, periodic)
    for k in range(4):
        middle = mesh.vertices[mesh.elements].mean(axis=1)
        mesh = bisected(mesh, np.linalg.norm(middle - [0.02, 0.1, 0.1], axis=1) < 0.5 * 0.7**k)
    assert volumes(mesh).sum() == pytest.approx(1.0, rel=1e-12)
    faces, area = (mesh.interfaces, 3.0) if periodic else (mesh.boundary, 6.0)
    assert on_faces(mesh, faces.element[:, 0], faces.local[:, 0], 2).weight.sum() == pytest.approx(area, rel=1e-12)
    assert len(mesh.boundary if periodic else mesh.interfaces) == 0


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (jn.LevelSet("sqrt((x1 - 0.05)**2 + x2**2 + x3**2) - 0.6", dim=3), 4 / 3 * np.pi * 0.6**3),
        (jn.LevelSet("x1**2 + x2**2 - 0.16", dim=3), 2 * np.pi * 0.16),  # through the box
        (jn.LevelSet("sqrt((x1 - 1)**2 + x2**2 + x3**2) - 0.6", dim=3), 2 / 3 * np.pi * 0.6**3),  # half in the box
    ],
)
def test_level_sets_have_their_volume(shape, volume: float) -> None:
    mesh = implicit_mesh(jn.Partition(CUBE, [shape]), 1 / 3, 3, [], [])
    assert mesh.sound
    assert volumes(mesh)[1] == pytest.approx(volume, rel=1e-3)
    assert volumes(mesh).sum() == pytest.approx(8.0, rel=1e-12)


SUPERQUADRIC = jn.Superquadric((0, 0, 0), (1, 1, 0.5), power=4)
TORUS = jn.LevelSet("(sqrt(x1**2 + x2**2) - 0.7)**2 + x3**2 - 0.09", ((-1.2,) * 3, (1.2,) * 3))


@pytest.mark.parametrize(
    ("domain", "whole", "ball", "within"),
    [
        (SUPERQUADRIC, 4 * gamma(1.25) ** 3 / gamma(1.75), jn.Ball((0.1, 0, 0), 0.3), 4 / 3 * np.pi * 0.3**3),
        (TORUS, 2 * np.pi**2 * 0.7 * 0.09, None, 0.0),
        (
            jn.Ball((0, 0, 0), 1.0),
            4 / 3 * np.pi,
            jn.LevelSet("x1**2 + x2**2 + x3**2 - 0.25", dim=3),
            4 / 3 * np.pi * 0.5**3,
        ),
    ],
)
def test_domains_that_are_no_boxes_have_their_volume(
    domain: Shape, whole: float, ball: Shape | None, within: float
) -> None:
    """Of the mesh, and of the partition's samples."""
    parts = jn.Partition(domain, [] if ball is None else [ball])
    mesh = implicit_mesh(parts, 0.45, 3, [], [])
    assert mesh.sound
    exact = [whole - within, within][: parts.size]
    assert volumes(mesh) == pytest.approx(exact, rel=2e-3)
    box = float(np.prod(np.ptp(parts.bounds, axis=0)))
    assert [parts.measure(k) for k in range(parts.size)] == pytest.approx(exact, abs=3e-4 * box)
    faces = mesh.boundary
    x = on_faces(mesh, faces.element[:, 0], faces.local[:, 0], 4).x
    assert np.abs(distance(domain, x.reshape(-1, 3))).max() < 0.02


@pytest.mark.parametrize(
    ("domain", "piece"),
    [
        (jn.Ball((0, 0, 0), 1.0), jn.LevelSet("(x1 - 1)**2 + x2**2 + x3**2 - 0.25", dim=3)),
        (SUPERQUADRIC & jn.HalfSpace((1, 0, 0), 0.1), None),
    ],
)
def test_edges_of_curved_domains_are_refused(domain: Shape, piece: Shape | None) -> None:
    with pytest.raises(jn.GeometryError, match="edges, or bodies that reach"):
        implicit_mesh(jn.Partition(domain, [] if piece is None else [piece]), 1.0, 3, [], [])


def test_the_judge_in_a_superquadric() -> None:
    """A solution that is zero on the surface sees where that is; the answer is off by 1e-3 x1."""
    parts = jn.Partition(SUPERQUADRIC)
    u, f = "1 - x1**4 - x2**4 - 16*x3**4", "-12*x1**2 - 12*x2**2 - 192*x3**2"
    wrong = jn.Problem(parts, f=f, boundary=jn.Dirichlet("1e-3*x1"), exact=[f"{u} + 1e-3*x1"])
    problem = jn.Problem(parts, f=f, boundary=jn.Dirichlet(0.0), exact=[u])
    solution = jn.solve(wrong, method="trefftz", tol=1e-5, verify=False).with_problem(problem)
    assert 0.5 < jn.judge(solution, tol=1e-5).rms / solution.errors().l2 < 2.0


def test_iterations_and_factors_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ball of k = 1000, with a jump and a contact resistance."""
    parts = jn.Partition(CUBE, [jn.Ball((0.05, 0.0, 0.0), 0.5)])
    jump = jn.Jump(v="x2", w=1.0, R=0.3)
    problem = jn.Problem(parts, A=[1.0, 1e3], jumps=jump, boundary=jn.Dirichlet("x1"))
    space = Space(first_mesh(problem, 0.5, 3), 2)
    monkeypatch.setattr(assembly, "DIRECT", 10**9)
    factor = solved(problem, space, Sources.of(problem), None, 4, assembly.EXACT)
    monkeypatch.setattr(assembly, "DIRECT", 10)
    iterated = solved(problem, space, Sources.of(problem), None, 4, assembly.EXACT)
    assert iterated.system.levels is not None and factor.system.levels is None
    assert np.abs(iterated.unknowns - factor.unknowns).max() < 1e-7


def test_a_fibre_through_the_box() -> None:
    """The plane's solution of a disk, held at the sides."""

    def u(x, inside):
        r2 = x[:, 0] ** 2 + x[:, 1] ** 2
        chi = (1 - 20.0) / (1 + 20.0)
        return np.where(inside, (1 + chi) * x[:, 0], x[:, 0] * (1 + chi * 0.16 / np.maximum(r2, 1e-12)))

    g = jn.Dirichlet(lambda x: u(np.asarray(x), np.hypot(x[:, 0], x[:, 1]) < 0.4))
    rod = jn.Partition(CUBE, [jn.LevelSet("x1**2 + x2**2 - 0.16", dim=3)])
    problem = jn.Problem(rod, A=[1.0, 20.0], boundary={"x1": g, "x2": g, "x3": jn.Neumann(0.0)})
    solution = jn.solve(problem, method="fem", tol=1e-2)
    x, piece = rod.sample_interior(1000, seed=0)
    error = np.sqrt(np.mean((solution(x, piece) - u(x, piece == 1)) ** 2))
    assert solution.status.ok and error <= solution.estimate < 1e-2


def places_of(mesh: Mesh, vertices: np.ndarray) -> np.ndarray:
    """The coordinates of vertices of a mesh, without those of the same place."""
    return np.unique(np.round(mesh.vertices[np.unique(vertices)], 9), axis=0)


def test_layers_towards_a_reentrant_edge_fit_together() -> None:
    """Volumes and areas stay, every inner face has two elements, and the edge is found again in what was made."""
    domain = jn.Box((-1, -1, 0), (1, 1, 1)) - jn.Box((0, -1, 0), (1, 0, 1))
    problem = jn.Problem(jn.Partition(domain), f=1.0, boundary=jn.Dirichlet(0.0))
    mesh = first_mesh(problem, 1.0, 1)
    edge = singular_edges(problem, mesh)
    assert np.abs(mesh.vertices[edge][..., :2]).max() < 1e-12, "the edge x1 = x2 = 0 and no other"
    graded = graded_edges(mesh.as_origin(), edge, 2)
    assert volumes(graded) == pytest.approx(volumes(mesh), rel=1e-12)
    assert np.array_equal(places_of(graded, singular_edges(problem, graded)), places_of(mesh, edge))
    faces = graded.boundary
    area = on_faces(graded, faces.element[:, 0], faces.local[:, 0], 2).weight.sum()
    assert area == pytest.approx(2 * 3 + 8, rel=1e-12)
    off = np.linalg.norm(graded.vertices[:, :2], axis=1)
    assert 0.0 < off[off > 1e-9].min() < 0.25**2


def test_elements_at_corners_are_cut_apart_before_layers() -> None:
    """No element has vertices of two edges of a cube unless they are those of one edge; volumes and faces fit."""
    parts = jn.Partition(CUBE, [jn.Box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))])
    problem = jn.Problem(parts, A=[1.0, 10.0], boundary=jn.Dirichlet("x1"))
    mesh = first_mesh(problem, 1.0, 1)
    edges = singular_edges(problem, mesh)
    apart = separated(mesh, edges)
    assert np.isin(mesh.elements, edges).sum(axis=1).max() > 2 >= np.isin(apart.elements, edges).sum(axis=1).max()
    assert volumes(apart) == pytest.approx(volumes(mesh), rel=1e-12)
    area = on_faces(apart, apart.boundary.element[:, 0], apart.boundary.local[:, 0], 2).weight.sum()
    assert area == pytest.approx(24, rel=1e-12)


def test_iterations_do_not_grow_with_layers_at_an_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    """Flat elements are in the second level: without that there are hundreds with four layers."""
    domain = jn.Box((-1, -1, 0), (1, 1, 1)) - jn.Box((0, -1, 0), (1, 0, 1))
    problem = jn.Problem(jn.Partition(domain), f=1.0, boundary=jn.Dirichlet(0.0))
    mesh = first_mesh(problem, 1.0, 1)
    graded = graded_edges(mesh, singular_edges(problem, mesh), 4)
    monkeypatch.setattr(iterative, "MOST", 60)
    solved(problem, Space(graded, 3), Sources.of(problem))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
@pytest.mark.parametrize("R", [5.0, 161.0])
def test_weak_edges_of_a_chessboard_are_not_called_right(R: float) -> None:
    """u = r^g m(theta) around the edge of four bricks, g = 0.54 and 0.1: few layers do not show all of the error."""
    g = 4 / np.pi * np.arctan(R**-0.5)

    def u(x: np.ndarray) -> np.ndarray:
        r, theta = np.hypot(x[:, 0], x[:, 1]), np.arctan2(x[:, 1], x[:, 0]) % (2 * np.pi)
        half = theta % np.pi
        within = np.cos(g * (half - np.pi / 4)), np.sin(g * (3 * np.pi / 4 - half)) / np.tan(g * np.pi / 4)
        return np.where(theta < np.pi, 1.0, -1.0) * r**g * np.where(half < np.pi / 2, *within)

    parts = jn.Partition(jn.Box((-1, -1, 0), (1, 1, 1)), [jn.Box((0, 0, 0), (1, 1, 1)), jn.Box((-1, -1, 0), (0, 0, 1))])
    problem = jn.Problem(parts, A=[1.0, R, R], boundary=jn.Dirichlet(u))
    solution = jn.solve(problem, tol=3e-2, method=jn.FEM(order=3, size=0.7))
    x, piece = parts.sample_interior(2000, seed=0)
    error = np.sqrt(np.mean((solution(x, piece) - u(x)) ** 2))
    assert not solution.status.ok or error <= solution.estimate
    assert not np.isfinite(solution.estimate) or error <= solution.estimate


def test_edges_of_bodies_and_changes_of_condition_are_singular() -> None:
    """Those of a brick of another conductivity; none of a ball, nor of a brick that is like what is around it."""
    body = jn.Box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    parts = jn.Partition(CUBE, [body])
    mesh = first_mesh(jn.Problem(parts, A=[1.0, 10.0], boundary=jn.Dirichlet("x1")), 1.0, 1)

    def edges(**given) -> np.ndarray:
        return mesh.vertices[np.unique(singular_edges(jn.Problem(parts, **given), mesh))]

    x = edges(A=[1.0, 10.0], boundary=jn.Dirichlet("x1"))
    assert len(x) >= 8 and np.all(np.sum(np.abs(np.abs(x) - 0.5) < 1e-9, axis=1) >= 2)
    assert not len(edges(A=[1.0, 1.0], boundary=jn.Dirichlet("x1")))
    ball = jn.Partition(CUBE, [jn.Ball((0, 0, 0), 0.5)])
    problem = jn.Problem(ball, A=[1.0, 10.0], boundary=jn.Dirichlet("x1"))
    assert not len(singular_edges(problem, first_mesh(problem, 0.5, 3)))


def test_close_walls_in_space_set_the_size_of_elements() -> None:
    """Two balls with a gap; a half ball on a side meets it at a right angle, where nothing is narrow."""
    balls = jn.Partition(CUBE, [jn.Ball((-0.45, 0, 0), 0.42), jn.Ball((0.45, 0, 0), 0.42)])
    found = narrow(balls, 0.3)
    assert found and all(np.linalg.norm(place) < 0.4 or abs(place[0]) > 0.7 for place, _ in found)
    box = jn.Box((-1, -1, 0), (1, 1, 1))
    assert not narrow(jn.Partition(box, [jn.Ball((0, 0, 0), 0.5) & box]), 0.3)


@pytest.mark.slow
def test_a_body_of_triangles() -> None:
    """An octahedron cut by the wall of the box; as conducting as what is around it, so u is linear."""
    corners = np.concatenate([np.eye(3), -np.eye(3)]) * 0.6 + [0.7, 0.0, 0.0]
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    body = jn.Mesh(corners, np.array(faces)) & CUBE
    problem = jn.Problem(jn.Partition(CUBE, [body]), A=[1.0, 1.0], boundary=jn.Dirichlet("x1 + 2*x3"))
    solution = jn.solve(problem, method=jn.FEM(order=2, size=0.5), tol=1e-6, verify=False)
    whole = 0.6**3 * 4 / 3
    mesh = solution.representation.elements.field.mesh  # type: ignore[union-attr]
    assert volumes(mesh)[1] == pytest.approx(whole - 0.3**3 * 2 / 3, rel=1e-6)
    x = np.random.default_rng(0).uniform(-1, 1, (50, 3))
    assert np.abs(solution(x) - x[:, 0] - 2 * x[:, 2]).max() < 1e-7


def test_lattice_of_balls() -> None:
    """Simple cubic, a fifth of the volume, k = 100: 1.72795338 (multipoles)."""
    radius = (3 * 0.2 / (4 * np.pi)) ** (1 / 3)
    parts = jn.Partition(jn.Box((-0.5,) * 3, (0.5,) * 3), [jn.Ball((0, 0, 0), radius)])
    sides = {"x1": jn.Periodic(1.0), "x2": jn.Periodic(0.0), "x3": jn.Periodic(0.0)}
    problem = jn.Problem(parts, A=[1.0, 100.0], boundary=sides)
    solution = jn.solve(problem, method=jn.FEM(order=3, size=1 / 6), tol=0.1, verify=False)
    assert 2 * solution.energy().value == pytest.approx(1.72795338, rel=2e-4)


def test_few_elements_that_fold_make_no_fine_mesh() -> None:
    """A face-centred cell: four elements of 1,669 fold, and halving all made 8,755."""
    box, radius = jn.Box((-0.5,) * 3, (0.5,) * 3), (3 * 0.5 / (16 * np.pi)) ** (1 / 3)
    centers = [(0, 0, 0), (0.5, 0.5, 0), (0.5, 0, 0.5), (0, 0.5, 0.5)]
    balls = []
    for center in centers:
        images = [np.array(center) - shift for shift in np.ndindex(2, 2, 2)]
        inside = [jn.Ball(tuple(c), radius) for c in images if np.abs(c).max() < 0.5 + radius]
        balls.append(inside[0] if len(inside) == 1 else functools.reduce(operator.or_, inside) & box)
    sides = {f"x{k}": jn.Periodic(float(k == 1)) for k in (1, 2, 3)}
    problem = jn.Problem(jn.Partition(box, balls), A=[1.0, *[10.0] * 4], boundary=sides, mean=0.0)
    mesh = first_mesh(problem, 1 / 6, 4)
    assert mesh.sound and len(mesh) < 3000


def test_a_pipe_of_level_sets_shares_its_inner_surface_with_what_is_inside() -> None:
    """Vertices that the first surface was cut at are on the second one up to rounding: no slivers there."""
    pipe, inner = (jn.LevelSet(f"sqrt(x1**2 + x2**2) - {r}", dim=3) for r in (0.7, 0.4))
    mesh = first_mesh(jn.Problem(jn.Partition(CUBE, [pipe - inner, inner]), boundary=jn.Dirichlet(0)), 0.5, 2)
    assert mesh.sound
    assert volumes(mesh)[1:] == pytest.approx([2 * np.pi * (0.49 - 0.16), 2 * np.pi * 0.16], rel=3e-3)


def test_a_superquadric_in_a_box_is_curved_everywhere() -> None:
    """At a coarser first cut 200 of its 894 faces would fold and stay straight: 1.3 % of the volume was missing."""
    body = jn.Superquadric((0.1, 0.0, 0.0), (0.5, 0.4, 0.4), 4)
    mesh = implicit_mesh(jn.Partition(CUBE, [body]), 1 / 3, 3, [], [])
    exact = 8 * 0.5 * 0.4 * 0.4 * gamma(1.25) ** 3 / gamma(1.75)
    assert volumes(mesh)[1] == pytest.approx(exact, rel=1e-4)
