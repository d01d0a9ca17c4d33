"""Meshes of paths, and integrals on meshes: areas, lengths, labels and periodic sides are those of the shapes."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.fe.integration import in_piece, on_boundary, on_interface, subdivided
from jumpnet.fe.meshing.graph import Arcs, planar_graph
from jumpnet.fe.meshing.planar import planar_mesh
from jumpnet.fe.meshing.proximity import narrow
from jumpnet.fe.simplex import lattice
from jumpnet.fe.small import determinant
from jumpnet.geometry.curves import bezier

SQUARE = jn.Box((0, 0), (2, 1))


def round_path(center: tuple[float, float], radius: float) -> jn.Path:
    """A circle of four cubic segments, off by 2e-4 of its radius."""
    c, k = np.array(center), 0.5522847498 * radius
    r = radius
    loop = [(r, 0), (r, k), (k, r), (0, r), (-k, r), (-r, k), (-r, 0), (-r, -k), (-k, -r), (0, -r), (k, -r), (r, -k)]
    return jn.Path([c + np.array(loop)])


def stacked() -> jn.Partition:
    """Boxes that touch along parts of their sides (T-junctions), and a disk with a hole in it."""
    low = jn.Polygon([(0, 0), (2, 0), (2, 0.2), (0, 0.2)])
    block = jn.Polygon([(0.3, 0.2), (0.7, 0.2), (0.7, 0.5), (0.3, 0.5)])
    hole = jn.Polygon([(1.3, 0.5), (1.5, 0.5), (1.4, 0.7)])
    ring = jn.Path([*round_path((1.4, 0.6), 0.3).loops, *hole.loops])
    return jn.Partition(SQUARE, [low, block, ring])


@pytest.mark.parametrize("order", [2, 5])
def test_areas_and_lengths_are_those_of_the_shapes(order: int) -> None:
    parts = stacked()
    mesh = planar_mesh(parts, 0.3, (order,))
    assert mesh is not None and mesh.sound
    for piece in range(parts.size):
        area = in_piece(mesh, piece, order + 1).weights.sum()
        assert area == pytest.approx(parts.measure(piece), rel=1e-3 if order == 2 else 1e-6)
    for interface in parts.interfaces:
        a, b = interface.pair
        for pair in ((a, b), (b, a)):
            length = sum(points.weights.sum() for points in on_interface(mesh, pair, order + 2))
            assert length == pytest.approx(interface.measure, rel=1e-3)
    edge = sum(points.weights.sum() for piece in range(parts.size) for points in on_boundary(mesh, 2, piece))
    assert edge == pytest.approx(6.0)


def test_normals_point_to_the_first_piece() -> None:
    parts = stacked()
    mesh = planar_mesh(parts, 0.3, (3,))
    assert mesh is not None
    for points in on_interface(mesh, (0, 3), 3):
        assert np.all(parts.label(points.x + 1e-3 * points.normals) == 0)
    for points in on_interface(mesh, (3, 0), 3):
        assert np.all(parts.label(points.x + 1e-3 * points.normals) == 3)


def test_shapes_that_are_no_paths_are_left_to_others() -> None:
    assert planar_graph(jn.Partition(SQUARE, [jn.Disk((1, 0.5), 0.2)])) is None


def test_pieces_of_an_image_have_elements_of_one_label() -> None:
    rows, columns = np.mgrid[0:48, 0:48]
    labels = (rows > 20).astype(int)
    labels[(rows - 24) ** 2 + (columns - 24) ** 2 < 150] = 2
    parts = jn.Partition.from_labels(labels, pixel=1 / 48)
    mesh = planar_mesh(parts, 0.1, (4, 2))
    assert mesh is not None and mesh.sound
    middle = mesh.points(np.full((1, 2), 1 / 3))[:, 0]
    assert np.array_equal(parts.label(middle), mesh.piece)


def test_periodic_sides_have_the_same_vertices() -> None:
    """Also where the pieces on both sides differ."""
    labels = np.zeros((24, 24), int)
    labels[4:12, 0:9], labels[6:20, 18:24] = 1, 2
    parts = jn.Partition.from_labels(labels, pixel=1 / 24)
    mesh = planar_mesh(parts, 0.2, (2,), [0, 1])
    assert mesh is not None
    x = mesh.vertices
    low, high = (np.sort(x[np.abs(x[:, 0] - side) < 1e-9, 1]) for side in (0.0, 1.0))
    assert low == pytest.approx(high)
    assert len(np.unique(mesh.same)) < len(mesh.same) and not len(mesh.boundary)
    edge = sum(points.weights.sum() for piece in range(parts.size) for points in on_boundary(mesh, 2, piece))
    assert edge == pytest.approx(4.0)


def bent_path(cuts: list[float]) -> np.ndarray:
    """Cubic segments of the parabola y = x (1 - x), from cut to cut."""
    ends = np.array(cuts)
    x = ends[:-1, None] + np.diff(ends)[:, None] * np.array([0, 1, 2, 3]) / 3
    a, h = ends[:-1], np.diff(ends)
    start, stop = a * (1 - a), (a + h) * (1 - a - h)
    inner = np.stack([start + h * (1 - 2 * a) / 3, stop - h * (1 - 2 * (a + h)) / 3], axis=1)
    return np.stack([x, np.column_stack([start, inner, stop])], axis=2)


def test_points_above_a_chord_do_not_depend_on_how_a_curve_is_cut_into_segments() -> None:
    """In its parameter, which counts segments, a curve of short and long ones is not smooth."""
    cuts = [0.0, 0.02, 0.05, 0.4, 0.42, 0.9, 1.0]
    control, one = bent_path(cuts), np.zeros(1, int)
    arcs = Arcs(control, one, one + 6, np.array([[0, 1]]), one, one + 1, one > 0, np.array([[0.0, 0.0], [1.0, 0.0]]))
    share = np.linspace(0, 1, 9)[None]
    t = arcs.above_chords(one, np.zeros(1), np.full(1, 6.0), share)
    x = arcs.at(np.zeros(9, int), t[0])
    assert np.abs(x[:, 0] - share[0]).max() < 1e-13
    assert np.abs(x[:, 1] - x[:, 0] * (1 - x[:, 0])).max() < 1e-13
    assert t[0, 0] == 0.0 and t[0, -1] == 6.0 and bezier.sampled(control, np.array([1.0]))[-1, 0, 0] == 1.0


def test_elements_along_the_curves_of_an_image_are_hardly_distorted() -> None:
    """Their maps had kinks where segments of the curves meet, which high orders could not overcome."""
    rows, columns = np.mgrid[0:60, 0:60] + 0.5
    labels = (np.hypot(rows - 28, 1.6 * (columns - 33)) < 20).astype(int)
    parts = jn.Partition.from_labels(labels, pixel=1 / 60)
    mesh = planar_mesh(parts, 0.1, (8,))
    assert mesh is not None
    det = np.abs(determinant(mesh.jacobians(lattice(2, 8))))
    assert (det.min(axis=1) / det.max(axis=1)).min() > 0.4


def test_straight_walls_on_a_line_ask_for_no_small_elements() -> None:
    """Boxes side by side under a longer one have walls in common, at no distance and without curvature."""
    assert not narrow(stacked(), 0.3)


def test_curved_walls_that_meet_at_an_angle_ask_for_elements_of_limited_size() -> None:
    """Not for smaller and smaller ones towards their corner; walls that touch do."""
    crossing = jn.Partition(SQUARE, [jn.Disk((1.0, 0.0), 0.5) & SQUARE])
    touching = jn.Partition(SQUARE, [jn.Disk((0.5, 0.5), 0.3), jn.Disk((1.1, 0.5), 0.3)])
    assert min((size for _, size in narrow(crossing, 0.2)), default=0.2) > 0.05
    assert min(size for _, size in narrow(touching, 0.2)) < 0.01


def test_elements_cut_into_parts_cover_themselves() -> None:
    xi, cells = subdivided(3)
    assert len(xi) == 10 and len(cells) == 9
    assert sum(abs(np.linalg.det(xi[c[1:]] - xi[c[0]])) / 2 for c in cells) == pytest.approx(0.5)
