"""Partitions from label images in 2-D and 3-D."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jumpnet as jn
from jumpnet.errors import GeometryError, JumpnetWarning
from jumpnet.fields import field_from_spec
from jumpnet.geometry import Partition
from jumpnet.geometry.data.labelimage import threshold_between
from jumpnet.geometry.data.tracer import loops, trace


def grid(n, dim=2):
    axes = [(np.arange(n) + 0.5) / n * 2 - 1] * dim
    return np.meshgrid(*axes, indexing="ij")


def ball(n, dim=2, center=(0.05, -0.03, 0.02), radius=0.55):
    return (sum((x - c) ** 2 for x, c in zip(grid(n, dim), center, strict=False)) < radius**2).astype(int)


def partition(cells, **options):
    n, dim = len(cells), cells.ndim
    return Partition.from_labels(cells, pixel=2 / n, origin=(-1,) * dim, order="xyz", **options)


def four_labels(n=96):
    x, y = grid(n)
    cells = np.where(y > 0.3 * x + 0.1, 1, 0)
    cells[x**2 + y**2 < 0.25] = 2
    cells[(x - 0.1) ** 2 + y**2 < 0.04] = 3
    return cells


def consistent(parts, pairs):
    for a, b in pairs:
        x, normals = parts.sample_interface((a, b), 200, seed=0)
        np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-12)
        assert np.all(parts.label(x + 1e-7 * normals) == a) and np.all(parts.label(x - 1e-7 * normals) == b)


# Geometry errors of n pixels: 0.1 pixel in place, and slopes that fall with the pixel size as well.
@pytest.mark.parametrize("n", [64, 256])
def test_a_disk_of_pixels_is_nearly_a_disk(n):
    parts = partition(ball(n))
    (shape,) = parts.pieces
    x, normals = parts.sample_interface((0, 1), 1000, seed=0)
    radial = x - [0.05, -0.03]
    r = np.linalg.norm(radial, axis=1)
    assert np.abs(r - 0.55).max() < 0.2 * 2 / n
    assert np.linalg.norm(normals - radial / r[:, None], axis=1).max() < 1.5 / n
    assert shape.volume == pytest.approx(np.pi * 0.55**2, rel=0.5 / n)
    assert len(shape.loops[0]) < 3 * 60  # a few smooth segments, not one for each pixel
    assert [hole.pieces for hole in parts.holes(0)] == [(1,)]


def test_neighbours_share_their_interfaces():
    cells = four_labels()
    parts = partition(cells)
    measures = {i.pair: i.measure for i in parts.interfaces}
    assert set(measures) == {(0, 1), (0, 2), (1, 2), (2, 3)}
    assert measures[0, 2] + measures[1, 2] == pytest.approx(np.pi, rel=5e-3)
    assert measures[2, 3] == pytest.approx(0.4 * np.pi, rel=5e-3)
    consistent(parts, measures)
    assert sum(parts.measure(k) for k in range(4)) == pytest.approx(4.0, rel=1e-12)
    assert [hole.pieces for hole in parts.holes(2)] == [(3,)]
    x = np.stack([g.ravel() for g in grid(96)], axis=1)
    assert np.mean(parts.label(x) != cells.ravel()) < 3e-3
    again = Partition.from_spec(json.loads(json.dumps(parts.spec())))
    np.testing.assert_array_equal(again.label(x), parts.label(x))


def test_outer_boundary_of_an_image():
    parts = partition(four_labels())
    x, normals, labels, part = parts.sample_boundary(400, seed=0)
    assert set(labels) == {0, 1} and set(part) == {0, 1, 2, 3}
    assert np.all(parts.label(x - 1e-7 * normals) == labels)


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_grains_fill_the_image(seed, count):
    rng = np.random.default_rng(seed)
    sites = rng.uniform(-1, 1, (count, 2))
    x, y = grid(40)
    cells = np.argmin((x[..., None] - sites[:, 0]) ** 2 + (y[..., None] - sites[:, 1]) ** 2, axis=2)
    parts = partition(cells, small="keep")
    assert sum(parts.measure(k) for k in range(parts.size)) == pytest.approx(4.0, rel=1e-10)
    for k, name in enumerate(parts.names):
        cells_of = np.sum(cells == int(name.split()[1]))
        assert parts.measure(k) == pytest.approx(cells_of * 0.05**2, abs=0.02 + 0.1 * cells_of * 0.05**2)
    consistent(parts, [i.pair for i in parts.interfaces if i.measure > 0.1])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 9), st.integers(2, 4))
def test_loops_go_round_every_region_of_any_image(seed, n, labels):
    cells = np.random.default_rng(seed).integers(0, labels, (n, n))
    arcs = trace(cells)
    for label in range(labels):
        total, used = 0.0, 0
        for loop in loops(arcs, label):
            corners = [arcs[s.arc].corners if s.forward else arcs[s.arc].corners[::-1] for s in loop]
            for one, after in zip(corners, [*corners[1:], corners[0]], strict=True):
                assert np.array_equal(one[-1], after[0])
            x = np.concatenate([c[:-1] for c in corners])
            after = np.roll(x, -1, axis=0)
            total += 0.5 * np.sum(x[:, 0] * after[:, 1] - x[:, 1] * after[:, 0])
            used += len(loop)
        assert total == np.sum(cells == label)  # each with the region on its left
        assert used == sum((a.left == label) + (a.right == label) for a in arcs)


def test_wild_images_are_read(recwarn):
    from scipy.ndimage import gaussian_filter

    rng = np.random.default_rng(2)
    cells = (gaussian_filter(rng.normal(size=(36, 36)), 2.0) > 0) + 2 * (
        gaussian_filter(rng.normal(size=(36, 36)), 2) > 0
    )
    parts = Partition.from_labels(cells)
    consistent(parts, [i.pair for i in parts.interfaces])
    checker = Partition.from_labels(np.kron(np.indices((4, 4)).sum(axis=0) % 2, np.ones((6, 6), int)))
    assert checker.size == 2


def test_orientation_names_and_background():
    image = np.zeros((20, 30), int)
    image[:8, :10] = 5  # the upper left corner of the picture
    image[12:, 20:] = 7
    parts = Partition.from_labels(image, pixel=(0.1, 0.2), origin=(1, 2), background=5, names={7: "fibre"})
    assert parts.names == ("label 5", "label 0", "fibre")
    np.testing.assert_allclose(parts.bounds, [[1, 2], [4, 6]])
    assert parts.label([[1.2, 5.8], [2.5, 4.0], [3.8, 2.2]]).tolist() == [0, 1, 2]
    volume = np.zeros((8, 10, 12), int)
    volume[:4] = 1  # the first slices: low x3
    parts = Partition.from_labels(volume, smallest=0)
    np.testing.assert_allclose(parts.bounds[1], [12, 10, 8])
    assert parts.label([[6, 5, 1], [6, 5, 7]]).tolist() == [1, 0]


def test_small_regions():
    cells = ball(48)
    cells[2:4, 2:4] = 1
    with pytest.warns(JumpnetWarning, match="1 region of fewer than 12"):
        parts = partition(cells)
    assert len(parts.holes(0)) == 1
    assert len(partition(cells, small="keep").holes(0)) == 2
    with pytest.raises(GeometryError, match="1 region of fewer than 12"):
        partition(cells, small="error")


def test_polygons_instead_of_curves():
    parts = partition(ball(32), smooth=False)
    assert len(parts.pieces[0].loops[0]) / 3 > 60
    assert parts.measure(1) == pytest.approx(np.pi * 0.55**2, rel=0.03)


# --- volumes ------------------------------------------------------------------------------------------------------


def test_a_ball_of_voxels_is_nearly_a_ball():
    parts = partition(ball(40, 3))
    x, normals = parts.sample_interface((0, 1), 500, seed=0)
    radial = x - [0.05, -0.03, 0.02]
    r = np.linalg.norm(radial, axis=1)
    assert np.abs(r - 0.55).max() < 0.2 * 2 / 40
    assert np.linalg.norm(normals - radial / r[:, None], axis=1).max() < 0.06
    assert parts.measure(1) == pytest.approx(4 / 3 * np.pi * 0.55**3, rel=0.01)
    assert [hole.pieces for hole in parts.holes(0)] == [(1,)]
    again = Partition.from_spec(json.loads(json.dumps(parts.spec())))
    y, labels = parts.sample_interior(500, seed=1)
    np.testing.assert_array_equal(again.label(y), labels)


def test_three_labels_meet_along_a_line():
    x, y, z = grid(20, 3)
    cells = np.where(z < 0.1 * x, 1, 0)
    cells[x**2 + y**2 + z**2 < 0.3] = 2
    parts = partition(cells)
    measures = {i.pair: i.measure for i in parts.interfaces}
    assert measures[0, 2] + measures[1, 2] == pytest.approx(1.2 * np.pi, rel=0.03)
    assert measures[0, 1] == pytest.approx(4 * np.sqrt(1.01) - 0.3 * np.pi, rel=0.03)
    consistent(parts, measures)


def test_grid_fields_differentiate_themselves():
    field = partition(ball(16, 3)).pieces[0].phi
    several = partition(np.where(grid(16, 3)[0] > 0.3, 2, ball(16, 3, radius=0.4)), small="keep").pieces[0].phi
    x = np.random.default_rng(0).uniform(-0.9, 0.9, (200, 3))
    h = 1e-5  # central differences of a C2 spline: h |third derivative|
    for f in (field, several, field_from_spec(json.loads(json.dumps(field.spec())))):
        slope = np.stack([f.value(x + h * e) - f.value(x - h * e) for e in np.eye(3)], axis=1) / (2 * h)
        close = np.isclose(slope, f.gradient(x), atol=1e-4 * np.abs(slope).max()).all(axis=1)
        assert close.mean() > 0.99  # the largest of several has kinks
        bend = np.stack([f.gradient(x + h * e) - f.gradient(x - h * e) for e in np.eye(3)], axis=2) / (2 * h)
        assert np.isclose(bend, f.hessian(x), atol=1e-3 * np.abs(bend).max()).all(axis=(1, 2)).mean() > 0.98
    for broken in ({"shape": [1, 2, 2, 2]}, {"coefficients": "AAAA"}, {"shape": [1, 10**6, 10**6, 10**6]}, {"of": 3}):
        with pytest.raises(jn.ProblemError, match="damaged"):
            field_from_spec(field.spec() | broken)


# --- files --------------------------------------------------------------------------------------------------------


def test_files(tmp_path):
    from PIL import Image

    cells = four_labels(40).astype(np.uint8)
    np.save(tmp_path / "a.npy", cells)
    Image.fromarray(cells).save(tmp_path / "a.png")
    expected = Partition.from_labels(cells)
    names = ["a.npy", "a.png"]
    try:
        import tifffile
    except ImportError:
        pass
    else:
        tifffile.imwrite(tmp_path / "a.tif", cells)
        names.append("a.tif")
    for name in names:
        assert Partition.from_labels(tmp_path / name).pieces == expected.pieces


def test_broken_and_hostile_files_are_one_sentence(tmp_path):
    from PIL import Image

    def written(name, data):
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "real.npy", np.random.default_rng(0).random((8, 8)))
    np.save(tmp_path / "thin.npy", np.zeros((2, 8), int))
    Image.fromarray(np.arange(192, dtype=np.uint8).reshape(8, 8, 3) // 64).save(tmp_path / "colour.png")
    Image.fromarray(np.stack([np.eye(8, dtype=np.uint8)] * 3, axis=-1)[..., [0, 0, 0]]).save(tmp_path / "grey.png")
    assert Partition.from_labels(tmp_path / "grey.png", small="keep").size > 1
    claims = b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (100000, 100000), }"
    for path, says in [
        (tmp_path / "none.png", "no file"),
        (written("a.jpg", b""), "kind .npy, .png.*JPEG mixes"),
        (written("a.png", b"not a picture"), "could not be read"),
        (written("a.npy", b"\x93NUMPY"), "could not be read"),
        (written("huge.npy", claims.ljust(127) + b"\n"), "huge.npy"),
        (written("a.tif", b"II*\x00\xff\xff\xff\xff"), "a.tif|tifffile"),
        (tmp_path / "object.npy", "could not be read"),
        (tmp_path / "real.npy", "whole numbers"),
        (tmp_path / "thin.npy", "at least four"),
        (tmp_path / "colour.png", "has 5 colours"),
    ]:
        with pytest.raises(GeometryError, match=says) as caught:
            Partition.from_labels(path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("labels", "options", "says"),
    [
        (np.zeros((8, 8, 8, 8), int), {}, "two or three axes"),
        ("zeros", {}, "kind"),
        ([["a"] * 8] * 8, {}, "whole numbers"),
        (np.eye(8, dtype=int), {"pixel": -1}, "positive"),
        (np.eye(8, dtype=int), {"order": "rows"}, "order must be"),
        (np.eye(8, dtype=int), {"background": 9}, "none of the labels"),
        (np.eye(8, dtype=int), {"names": {3: "x"}}, "no label 3"),
        (np.eye(8, dtype=int), {"small": "drop"}, "small must be"),
        (np.arange(2500).reshape(50, 50), {"small": "keep"}, r"thresholds = \[128\]"),
        (np.arange(2500).reshape(50, 50), {"small": "merge"}, "nothing but"),
    ],
)
def test_wrong_labels_are_one_sentence(labels, options, says):
    with pytest.raises(GeometryError, match=says):
        Partition.from_labels(labels, **({"small": "keep"} | options))


def noisy(n=60):
    """A grey image of a disk, dark outside, with noise; and its labels."""
    rows, columns = np.mgrid[0:n, 0:n]
    inside = (rows - 0.45 * n) ** 2 + (columns - 0.55 * n) ** 2 < (0.3 * n) ** 2
    return 900.0 + 800.0 * inside + np.random.default_rng(3).normal(0, 100, (n, n)), inside


def test_grey_images_get_their_labels_by_thresholds(tmp_path):
    greys, inside = noisy()
    parts = Partition.from_labels(greys, thresholds=[1300.0])
    assert parts.size == 2 and parts.measure(1) == pytest.approx(inside.sum(), rel=5e-3)
    greys[0, 0] = 65535.0  # a hot pixel
    np.save(tmp_path / "greys.npy", greys)
    assert threshold_between(tmp_path / "greys.npy") == pytest.approx(1300, abs=100)  # three deviations from both
    np.save(tmp_path / "labels.npy", inside.astype(np.uint8))
    assert threshold_between(tmp_path / "labels.npy") is None
    with pytest.raises(GeometryError, match="must rise"):
        Partition.from_labels(greys, thresholds=[5.0, 3.0])
    with pytest.raises(GeometryError, match="not finite"):
        Partition.from_labels(greys * np.nan, thresholds=[5.0])
    with pytest.raises(GeometryError, match=r"thresholds = \[128\]"):
        Partition.from_labels(greys)


def test_images_that_are_not_as_they_look_are_refused(tmp_path):
    tifffile = pytest.importorskip("tifffile")
    cells, path = four_labels(40).astype(np.uint8), tmp_path / "a.tif"
    tifffile.imwrite(path, np.stack([cells] * 4), photometric="rgb", planarconfig="separate", extrasamples=[0])
    with pytest.raises(GeometryError, match="a plane for each colour"):
        Partition.from_labels(path)
    tifffile.imwrite(path, cells, extratags=[(274, "H", 1, 6, True)])
    with pytest.raises(GeometryError, match="turned or mirrored"):
        Partition.from_labels(path)
    with pytest.raises(GeometryError, match="array of whole numbers"):
        Partition.from_labels(cells.astype(complex))
    with tifffile.TiffWriter(path) as writer:
        writer.write(cells)
        writer.write(cells[:20])
    with pytest.raises(GeometryError, match="2 images of different sizes"):
        Partition.from_labels(path)


def test_a_solution_on_an_image_is_saved_and_loaded(tmp_path):
    parts = partition(ball(64))
    problem = jn.Problem(parts, A=[1.0, 10.0], boundary=jn.Dirichlet("x1"))
    solution = jn.solve(problem, tol=1e-2, method="trefftz")
    solution.save(tmp_path / "a.jumpnet")
    x, _ = parts.sample_interior(50, seed=0)
    np.testing.assert_array_equal(jn.load(tmp_path / "a.jumpnet")(x), solution(x))
