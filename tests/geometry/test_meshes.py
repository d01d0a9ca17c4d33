"""Bodies inside triangulated surfaces, and their files."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from geometry_cases import CUBE
from hypothesis import given, settings
from hypothesis import strategies as st

from jumpnet.errors import GeometryError, JumpnetWarning
from jumpnet.geometry import Ball, Box, LevelSet, Mesh, Partition, shape_from_spec, shapes

BLOCK = Box((-0.5, -0.3, -0.2), (0.5, 0.3, 0.2))
CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.3, 0.3) for z in (-0.2, 0.2)])
FACES = np.array(
    [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]
)  # fmt: skip


def block(turned=False):
    return Mesh(CORNERS, FACES[:, ::-1] if turned else FACES)


@pytest.mark.parametrize("turned", [False, True])
def test_a_block_of_triangles_is_a_box(turned):
    mesh = block(turned)
    assert mesh.volume == pytest.approx(BLOCK.volume, rel=1e-14) and mesh.connected
    np.testing.assert_array_equal(mesh.bounds, BLOCK.bounds)
    rng = np.random.default_rng(0)
    x = rng.uniform(-0.8, 0.8, (3000, 3))
    np.testing.assert_array_equal(mesh.contains(x), BLOCK.contains(x))
    outside = np.maximum(np.abs(x) - [0.5, 0.3, 0.2], 0.0)
    away = np.any(outside > 0, axis=1)
    np.testing.assert_allclose(mesh.level(x)[away], np.linalg.norm(outside[away], axis=1), rtol=0.02)
    (patch,) = mesh.patches()
    assert patch.measure == pytest.approx(2 * (0.6 + 0.4 + 0.24), rel=1e-14)
    edge, normals = patch.sample(2000, rng)
    assert np.abs(mesh.level(edge)).max() < 1e-15
    np.testing.assert_allclose(normals, BLOCK.normal(edge), atol=1e-14)
    shares = [np.mean(np.abs(normals[:, k]) > 0.5) for k in range(3)]
    np.testing.assert_allclose(shares, np.array([0.24, 0.4, 0.6]) / 1.24, atol=0.05)  # uniform in area
    own = mesh.normal(edge)
    good = np.isfinite(own).all(axis=1)
    assert good.mean() > 0.99
    np.testing.assert_allclose(own[good], normals[good], atol=1e-14)
    again = shape_from_spec(json.loads(json.dumps(mesh.spec())))
    np.testing.assert_array_equal(again.level(x), mesh.level(x))


def test_a_mesh_is_a_piece():
    parts = Partition(CUBE, [block()])
    assert [hole.pieces for hole in parts.holes(0)] == [(1,)]
    x, normals = parts.sample_interface((0, 1), 200, seed=0)
    assert np.all(parts.label(x + 1e-7 * normals) == 0) and np.all(parts.label(x - 1e-7 * normals) == 1)
    two = Mesh(np.concatenate([0.5 * CORNERS - 0.4, 0.5 * CORNERS + 0.4]), np.concatenate([FACES, FACES + 8]))
    assert not two.connected and len(Partition(CUBE, [two]).holes(0)) == 2


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_convex_hulls_contain_what_their_planes_say(seed):
    from scipy.spatial import ConvexHull

    rng = np.random.default_rng(seed)
    hull = ConvexHull(rng.normal(size=(12, 3)))
    outward = hull.equations[:, :3]
    a, b, c = hull.points[hull.simplices].transpose(1, 0, 2)
    turned = np.sum(np.cross(b - a, c - a) * outward, axis=1) < 0
    faces = np.where(turned[:, None], hull.simplices[:, ::-1], hull.simplices)
    mesh = Mesh(hull.points, faces)
    assert mesh.volume == pytest.approx(hull.volume, rel=1e-10)
    x = rng.normal(size=(300, 3))
    height = (x @ outward.T + hull.equations[:, 3]).max(axis=1)
    clear = np.abs(height) > 1e-9
    np.testing.assert_array_equal(mesh.contains(x)[clear], (height < 0)[clear])


@pytest.mark.parametrize(
    ("vertices", "faces", "says"),
    [
        (CORNERS, FACES[:-1], "not closed: 3 edges"),
        (CORNERS, FACES[:3], "at least four triangles"),
        (CORNERS, FACES.astype(float), "whole numbers"),
        (CORNERS, FACES + 5, "name vertex"),
        (CORNERS[:, :2], FACES, "vertices"),
        (CORNERS * np.inf, FACES, "vertices"),
        (CORNERS, np.concatenate([FACES, FACES]), "more than two triangles"),
        (CORNERS * [1, 1, 0], FACES, "no volume"),
        ("block", FACES, "vertices"),
    ],
)
def test_surfaces_that_are_none(vertices, faces, says):
    with np.errstate(invalid="ignore"), pytest.raises(GeometryError, match=says):
        Mesh(vertices, faces)


# --- files --------------------------------------------------------------------------------------------------------


def written(path, mesh):
    trimesh = pytest.importorskip("trimesh")
    trimesh.Trimesh(mesh.vertices, mesh.faces, process=False).export(path)
    return path


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply"])
def test_files(tmp_path, suffix):
    path = written(tmp_path / f"block.{suffix}", block())
    found = shapes.from_mesh(path, scale=2.0, offset=(1, 0, 0))
    assert isinstance(found, Mesh)  # edges that are meant are kept
    np.testing.assert_allclose(found.bounds, [[0, -0.6, -0.4], [2, 0.6, 0.4]], atol=1e-6)
    assert found.volume == pytest.approx(8 * BLOCK.volume, rel=1e-6)


def test_round_surfaces_become_smooth(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / "ball.stl"
    trimesh.creation.icosphere(subdivisions=2, radius=0.5).export(path)
    facets, smooth = shapes.from_mesh(path, smooth=False), shapes.from_mesh(path)
    assert isinstance(facets, Mesh) and isinstance(smooth, LevelSet)
    assert facets.volume == pytest.approx(Ball((0, 0, 0), 0.5).volume, rel=0.04)  # inscribed: (edge / radius)^2
    x, normals = smooth.patches()[0].sample(300, np.random.default_rng(0))
    r = np.linalg.norm(x, axis=1)
    assert np.abs(r - 0.5).max() < 2e-3
    assert np.linalg.norm(normals - x / r[:, None], axis=1).max() < 0.01  # of the facets: 0.15
    again = shape_from_spec(json.loads(json.dumps(smooth.spec())))
    np.testing.assert_array_equal(again.level(x), smooth.level(x))
    assert [hole.pieces for hole in Partition(CUBE, [smooth]).holes(0)] == [(1,)]


def joined(*blocks):
    """Several surfaces in one."""
    starts = np.cumsum([0, *(len(one.vertices) for one in blocks)])
    faces = [one.faces + start for one, start in zip(blocks, starts, strict=False)]
    return SimpleNamespace(vertices=np.concatenate([one.vertices for one in blocks]), faces=np.concatenate(faces))


def cube(center, half):
    whole = Mesh(CORNERS, FACES)
    return SimpleNamespace(vertices=np.array(center) + half * np.sign(whole.vertices), faces=whole.faces)


def test_flipped_and_flat_triangles_and_small_holes_are_mended(tmp_path):
    whole = cube((0, 0, 0), 0.5)
    flipped = whole.faces.copy()
    flipped[3] = flipped[3][::-1]
    flat = np.concatenate([whole.faces, [[0, 1, 1]]])
    for name, faces in [("flipped", flipped), ("inverted", whole.faces[:, ::-1]), ("flat", flat)]:
        path = written(tmp_path / f"{name}.stl", SimpleNamespace(vertices=whole.vertices, faces=faces))
        assert shapes.from_mesh(path).volume == pytest.approx(1.0)
    path = written(tmp_path / "hole.stl", SimpleNamespace(vertices=whole.vertices, faces=whole.faces[:-1]))
    with pytest.warns(JumpnetWarning, match="closed with 1 triangle"):
        assert shapes.from_mesh(path).volume == pytest.approx(1.0)


def test_several_bodies_in_a_file(tmp_path):
    apart = written(tmp_path / "apart.stl", joined(cube((-0.5, 0, 0), 0.2), cube((0.5, 0, 0), 0.2)))
    assert shapes.from_mesh(apart).volume == pytest.approx(2 * 0.4**3)
    cavity = cube((0, 0, 0), 0.2)
    cavity.faces = cavity.faces[:, ::-1]
    hollow = written(tmp_path / "hollow.stl", joined(cube((0, 0, 0), 0.5), cavity))
    assert shapes.from_mesh(hollow).volume == pytest.approx(1 - 0.4**3)
    for name, other in [("crossing", cube((0.3, 0.3, 0.3), 0.5)), ("nested", cube((0, 0, 0), 0.2))]:
        found = shapes.from_mesh(written(tmp_path / f"{name}.stl", joined(cube((0, 0, 0), 0.5), other)))
        x = np.array([[0.0, 0, 0], [0.4, 0.4, 0.4], [0.7, 0.7, 0.7], [0.7, -0.4, 0]])
        assert (found.level(x) < 0).tolist() == [True, True, name == "crossing", False]


def test_surfaces_that_cross_themselves_or_touch_are_refused_with_the_place(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(subdivisions=2, radius=0.5)
    x = np.array(ball.vertices)
    x[5] *= -1.6  # a spike through the ball
    with pytest.raises(GeometryError, match=r"crosses itself, e.g. near \("):
        shapes.from_mesh(written(tmp_path / "spike.stl", SimpleNamespace(vertices=x, faces=ball.faces)))
    other = cube((0, 0, 0), 0.2)
    other.faces = other.faces[:, ::-1]
    other.vertices = other.vertices + [0.4, 0, 0]
    with pytest.raises(GeometryError, match=r"a cavity crosses the surface, e.g. near \(0.5"):
        shapes.from_mesh(written(tmp_path / "cavity.stl", joined(cube((0, 0, 0), 0.5), other)))
    beside = joined(cube((0, 0, 0), 0.5), cube((1, 0, 0), 0.5))
    with pytest.raises(GeometryError, match=r"meet at an edge, e.g. near \(0.5"):
        shapes.from_mesh(written(tmp_path / "touching.stl", beside))


def test_solids_that_stand_on_one_another_are_one_body(tmp_path):
    """A finned plate as CAD programs save it: faces inside the body are no interface. Bars that cross, the same."""
    trimesh = pytest.importorskip("trimesh")

    def bar(size, at):
        found = trimesh.creation.box(size)
        found.apply_translation(at)
        return found

    fins = [bar((3, 30, 20), (2 + 9 * k, 15, 15)) for k in range(2)]
    plate = [bar((40, 30, 5), (20, 15, 2.5)), *fins, bar((1, 1, 1), (42, 0, 0))]
    trimesh.util.concatenate(plate).export(tmp_path / "plate.stl")
    body = shapes.from_mesh(tmp_path / "plate.stl")
    box = Box((-1, -1, -1), (43, 31, 26))
    parts = Partition(box, [body])
    assert parts.interfaces[0].measure == pytest.approx(5740 + 6, rel=5e-3)  # 360 are inside
    assert parts.measure(1) == pytest.approx(9601, rel=2e-3)
    trimesh.util.concatenate([bar((4, 1, 1), (0, 0, 0)), bar((1, 4, 1), (0, 0, 0))]).export(tmp_path / "cross.stl")
    cross = Partition(Box((-3, -3, -3), (3, 3, 3)), [shapes.from_mesh(tmp_path / "cross.stl")])
    assert cross.measure(1) == pytest.approx(7.0, abs=1e-3 * 6**3)
    hollow = [bar((4, 4, 4), (0, 0, 0)), bar((2, 2, 2), (0, 0, 0))]
    hollow[1].invert()
    trimesh.util.concatenate(hollow).export(tmp_path / "hollow.stl")
    assert shapes.from_mesh(tmp_path / "hollow.stl").volume == pytest.approx(56.0)


def test_distances_near_a_surface_are_those_everywhere():
    body = Mesh(
        [[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]],
        [[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]],
    )
    x = np.random.default_rng(0).uniform(-2, 2, (500, 3))
    every, near = body.level(x), body.level_near(x, 0.3)
    assert np.array_equal(near[~np.isnan(near)], every[~np.isnan(near)]) and np.abs(every[np.isnan(near)]).min() > 0.25


def test_broken_and_hostile_files_are_one_sentence(tmp_path):
    pytest.importorskip("trimesh")
    open_block = tmp_path / "open.stl"
    written(open_block, block())
    lines = "".join(f"v {x} {y} {z}\n" for x, y, z in CORNERS)
    faces = "".join(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in FACES)

    def text(name, data):
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return tmp_path / name

    whole = text("whole.obj", "mtllib ../../../../etc/passwd\nusemtl x\n" + lines + faces)
    assert shapes.from_mesh(whole).volume == pytest.approx(BLOCK.volume)
    for path, says in [
        (tmp_path / "none.stl", "no file"),
        (text("a.step", b""), "kind .stl, .obj, .ply"),
        (text("empty.stl", b""), "empty.stl"),
        (text("a.stl", b"solid nothing\nendsolid\n"), "a.stl"),
        (text("lies.stl", b"\x00" * 80 + (2**31).to_bytes(4, "little") + b"\x01" * 50), "lies.stl"),
        (text("hole.obj", lines + "".join(faces.splitlines(True)[:-6])), "not closed"),
        (text("a.ply", b"ply\nformat ascii 1.0\nelement vertex 99999999999\nend_header\n"), "a.ply"),
        (text("nan.obj", lines.replace("0.5", "nan") + faces), "nan.obj"),
    ]:
        with pytest.raises(GeometryError, match=says) as caught:
            shapes.from_mesh(path)
        assert "\n" not in str(caught.value)


def test_coordinates_that_are_not_finite_are_refused(tmp_path):
    """They were left out with their triangles, and the holes closed."""
    ball = cube((0, 0, 0), 0.5)
    x = np.array(ball.vertices, float)
    x[0, 0] = np.nan
    with pytest.raises(GeometryError, match="not finite numbers"):
        shapes.from_mesh(written(tmp_path / "nan.stl", SimpleNamespace(vertices=x, faces=ball.faces)))
