"""Shapes from point lists, GeoJSON and SVG: right where they can be read, one sentence where not."""

import json
import warnings

import numpy as np
import pytest
from geometry_cases import SQUARE
from hypothesis import given, settings
from hypothesis import strategies as st

from jumpnet.errors import GeometryError, JumpnetWarning
from jumpnet.geometry import Ball, Box, Disk, Ellipsoid, Partition, Path, Polygon, shapes
from jumpnet.geometry.data import files
from jumpnet.geometry.data.svgpath import path_loops

ANGLES = np.arange(60) * np.pi / 30
CIRCLE = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


def test_polygons_know_their_area_length_and_holes():
    square = Polygon([(0, 0), (2, 0), (2, 2), (0, 2)], [[(0.5, 0.5), (0.5, 1.5), (1.5, 1.5), (1.5, 0.5)]])
    assert square.volume == pytest.approx(3.0, rel=1e-14)
    assert sum(patch.measure for patch in square.patches()) == pytest.approx(12.0, rel=1e-14)
    assert square.contains([[0.2, 0.2], [1, 1], [3, 1]]).tolist() == [True, False, False]
    np.testing.assert_allclose(square.level([[0.25, 1], [1, 1], [3, 3]]), [-0.25, 0.5, np.sqrt(2)], atol=1e-14)
    np.testing.assert_allclose(square.normal([[0.5, 1.0], [2.0, 1.0]]), [[1, 0], [1, 0]], atol=1e-14)  # into the hole
    assert np.isnan(square.normal([[2.0, 2.0]])).all()
    assert Polygon(CIRCLE[::-1]).volume == pytest.approx(30 * np.sin(np.pi / 30), rel=1e-14)


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 40), st.integers(0, 10_000), st.booleans())
def test_a_star_shaped_polygon_of_any_kind_is_what_its_sectors_say(n, seed, clockwise):
    rng = np.random.default_rng(seed)
    angle = 2 * np.pi * (np.arange(n) + rng.uniform(-0.3, 0.3, n)) / n
    vertices = rng.uniform(0.2, 1.0, n)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    shape = Polygon(vertices[::-1] if clockwise else vertices)
    x = rng.uniform(-1, 1, (300, 2))
    after = np.roll(vertices, -1, axis=0)
    cross = vertices[:, 0] * after[:, 1] - vertices[:, 1] * after[:, 0]
    assert shape.volume == pytest.approx(0.5 * abs(np.sum(cross)), rel=1e-12)
    along = after - vertices
    gap = x[:, None] - vertices
    share = np.clip(np.sum(gap * along, axis=2) / np.sum(along**2, axis=1), 0, 1)
    distance = np.linalg.norm(gap - share[..., None] * along, axis=2).min(axis=1)
    np.testing.assert_allclose(np.abs(shape.level(x)), distance, rtol=0.02)
    near = distance < 5e-3  # about a chord
    np.testing.assert_allclose(np.abs(shape.level(x[near])), distance[near], atol=1e-12)
    np.testing.assert_array_equal(shape.contains(x), shape.level(x) < 0)
    inside = np.zeros(len(x), dtype=bool)  # in one of the triangles with the centre
    for a, b in zip(vertices, after, strict=True):
        s, t = np.linalg.solve(np.stack([a, b], axis=1), x.T)
        inside ^= (s > 0) & (t > 0) & (s + t < 1)
    np.testing.assert_array_equal(shape.contains(x), inside)


def test_points_give_a_smooth_curve():
    circle = shapes.from_points(0.5 * CIRCLE)
    assert circle.volume == pytest.approx(np.pi / 4, rel=1e-6)  # a cubic spline through 60 points: h^4
    x, normals = circle.patches()[0].sample(500, np.random.default_rng(0))
    np.testing.assert_allclose(normals, x / np.linalg.norm(x, axis=1, keepdims=True), atol=2e-4)
    noisy = 0.5 * CIRCLE + np.random.default_rng(1).normal(0, 0.004, CIRCLE.shape)
    rough, smooth = shapes.from_points(noisy), shapes.from_points(noisy, smoothing=0.006)

    def bend(shape):
        x, normals = shape.patches()[0].sample(500, np.random.default_rng(0))
        return np.linalg.norm(normals - x / np.linalg.norm(x, axis=1, keepdims=True), axis=1).max()

    assert bend(smooth) < 0.5 * bend(rough)
    parts = Partition(SQUARE, [smooth])
    assert [hole.pieces for hole in parts.holes(0)] == [(1,)]
    assert Partition.from_spec(json.loads(json.dumps(parts.spec()))).pieces == parts.pieces


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ([(0, 0), (1, 1)], "at least three points"),
        ([(0, 0), (1, 0), (1, 1)], "at least four points"),
        ([(0, 0)] * 5, "all the same"),
        ([(0, 0), (1, 0), (np.nan, 1), (2, 2)], "finite"),
        ("circle", "list of at least three points"),
        ([(0, 0), (1, 1), (1, 0), (0, 1)], "crosses itself"),
    ],
)
def test_points_that_are_no_curve(points, says):
    with pytest.raises(GeometryError, match=says):
        shapes.from_points(points)


# --- GeoJSON ------------------------------------------------------------------------------------------------------

FEATURES = {
    "type": "FeatureCollection",
    "features": [
        {
            "type": "Feature",
            "properties": {"name": "lake"},
            "geometry": {
                "type": "Polygon",
                "coordinates": [
                    [[0, 0], [4, 0], [4, 4], [0, 4], [0, 0]],
                    [[1, 1], [2, 1], [2, 2], [1, 2], [1, 1]],
                ],
            },
        },
        {
            "type": "Feature",
            "id": 7,
            "properties": None,
            "geometry": {
                "type": "MultiPolygon",
                "coordinates": [[[[5, 0], [6, 0], [6, 1], [5, 0]]], [[[7, 0], [8, 0], [8, 1], [7, 0]]]],
            },
        },
    ],
}


def test_geojson(tmp_path):
    pytest.importorskip("shapely")
    path = tmp_path / "map.geojson"
    path.write_text(json.dumps(FEATURES))
    for regions in (shapes.from_geojson(path), shapes.from_geojson(FEATURES)):
        assert list(regions) == ["lake", "7"]
        assert regions["lake"].volume == pytest.approx(15.0) and regions["7"].volume == pytest.approx(1.0)
        parts = Partition(Box((-1, -1), (9, 5)), list(regions.values()), ["land", *regions])
        assert parts.names == ("land", "lake", "7") and len(parts.holes(0)) == 3
    borehole = {"type": "Feature", "id": "borehole", "geometry": {"type": "Point", "coordinates": [0, 0, 3]}}
    with pytest.warns(JumpnetWarning, match=r"encloses no region is left out: 'borehole \(Point\)'"):
        path.write_text(json.dumps(FEATURES | {"features": [borehole, *FEATURES["features"]]}))
        assert list(shapes.from_geojson(path)) == ["lake", "7"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("{", "could not be read as GeoJSON"),
        ("[1, 2]", "no GeoJSON"),
        ('{"type": "FeatureCollection", "features": []}', "no polygon"),
        ('{"type": "Polygon", "coordinates": [[[0,0],[1,1],[1,0],[0,1],[0,0]]]}', "Self-intersection"),
        ('{"type": "Polygon", "coordinates": "everywhere"}', "not those of a polygon"),
        ('{"type": "Feature", "geometry": {"type": "Point", "coordinates": [0, 0]}}', "no polygon"),
        ('{"type": "GeometryCollection", "geometries": []}', "no polygon"),
        ('{"type": "Feature", "geometry": {"type": ["Polygon"], "coordinates": []}}', "only Polygon"),
        ("[" * 100_000, "could not be read as GeoJSON"),
    ],
)
def test_broken_geojson_is_one_sentence(tmp_path, data, says):
    pytest.importorskip("shapely")
    path = tmp_path / "map.json"
    path.write_text(data)
    with pytest.raises(GeometryError, match=says) as caught:
        shapes.from_geojson(path)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


# --- SVG ----------------------------------------------------------------------------------------------------------

DRAWING = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50">
  <defs><circle id="hidden" cx="1" cy="1" r="1"/></defs>
  <g transform="translate(10, 0)">
    <path id="plate" d="M0 10h20v20H0z m5 5 v5 h5 v-5z"/>
    <circle id="rod" cx="40" cy="20" r="5" transform="rotate(30 40 20)"/>
    <ellipse cx="60" cy="20" rx="8" ry="2" transform="rotate(90 60 20)"/>
  </g>
  <rect id="box" x="80" y="40" width="10" height="5"/>
  <polygon id="tip" points="90,0 95,0 95,5"/>
  <line x1="0" y1="0" x2="9" y2="9"/><path d="M0 0L3 3"/><text>hello</text>
</svg>"""


def test_svg(tmp_path):
    path = tmp_path / "drawing.svg"
    path.write_text(DRAWING)
    found = shapes.from_svg(path, scale=0.1)
    assert list(found) == ["plate", "rod", "ellipse 3", "box", "tip"]
    assert found["plate"].volume == pytest.approx(0.01 * (400 - 25))
    assert found["plate"].contains([[1.1, 3.9], [1.7, 3.2]]).tolist() == [True, False]
    rod = found["rod"]
    assert isinstance(rod, Ball) and (*rod.center, rod.radius) == pytest.approx((5.0, 3.0, 0.5), rel=1e-14)
    ellipse = found["ellipse 3"]
    assert isinstance(ellipse, Ellipsoid) and ellipse.bounds[1] - ellipse.bounds[0] == pytest.approx([0.4, 1.6])
    np.testing.assert_allclose(found["box"].bounds, [[8, 0.5], [9, 1]], atol=1e-12)
    down = shapes.from_svg(path, flip=False, offset=(1, 2))
    np.testing.assert_allclose(down["box"].bounds, [[81, 42], [91, 47]], atol=1e-12)


INKSCAPE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="-10 -20 100 100"
                   xmlns:xlink="http://www.w3.org/1999/xlink">
  <g style="display:none"><rect id="draft" width="3" height="3"/></g>
  <circle id="gone" r="4" display="none"/><style>.st0, .st1 { fill: red; display: none }.st2 {fill:blue}</style>
  <rect class="st2 st1" width="3" height="3"/>
  <rect id="corner" class="st2" x="-10" y="70" width="3" height="10" style="text-transform:none"/>
  <rect id="pad" x="10" y="10" width="30" height="8" rx="2" ry="1"/>
  <rect id="slot" x="0.1" y="0.1" width="0.3" height="0.7" rx="0.15"/>
  <use id="copy" xlink:href="#pad" x="5" transform="translate(0 20) scale(2)"/>
  <defs><g id="pair"><circle id="left" r="1"/><circle cx="9" r="1"/></g></defs><use href="#pair" id="twins" x="50"/>
</svg>"""


def test_svg_as_drawing_programs_write_it(tmp_path):
    path = tmp_path / "drawing.svg"
    path.write_text(INKSCAPE)
    found = shapes.from_svg(path)
    assert list(found) == ["corner", "pad", "slot", "copy", "twins", "twins (6)"]  # nothing that is hidden
    np.testing.assert_allclose(found["corner"].bounds, [[0, 0], [3, 10]], atol=1e-12)  # of the page, not of its units
    assert found["pad"].volume == pytest.approx(240 - (4 - np.pi) * 2, rel=1e-6)
    assert found["slot"].volume == pytest.approx(0.3 * 0.4 + np.pi * 0.15**2, rel=1e-6)
    np.testing.assert_allclose(found["copy"].bounds, [[40, 24], [100, 40]], atol=1e-12)
    assert found["twins (6)"].center == pytest.approx((69.0, 80.0))
    path.write_text('<svg height="1in"><rect y="90" width="3" height="6"/></svg>')
    np.testing.assert_allclose(shapes.from_svg(path)["rect 1"].bounds, [[0, 0], [3, 6]], atol=1e-12)


def test_svg_that_is_not_drawn_as_it_is_read(tmp_path):
    path = tmp_path / "drawing.svg"
    path.write_text('<svg><rect id="half" clip-path="url(#a)" width="3" height="3"/></svg>')
    with pytest.warns(JumpnetWarning, match="only a part of 'half'"):
        shapes.from_svg(path)


@pytest.mark.parametrize(("large", "sweep"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_svg_arcs(large, sweep):
    shape = Path(path_loops(f"M 1 0 A 1 1 0 {large}{sweep}0 1 Z"))
    center = np.array([[0, 0], [1, 1]][large == sweep])
    x, _ = shape.patches()[0].sample(400, np.random.default_rng(0))
    off_chord = np.abs(x.sum(axis=1) - 1) > 1e-9
    np.testing.assert_allclose(np.linalg.norm(x[off_chord] - center, axis=1), 1.0, atol=1e-8)
    small = np.pi / 4 - 0.5
    assert shape.volume == pytest.approx(np.pi - small if large else small, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<svg", "could not be read"),
        ("<svg xmlns='http://www.w3.org/2000/svg'/>", "no closed outline"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]><svg>&a;</svg>', "entities"),
        ("<svg><path d='M 0 0 L 1 1 1 0 0 1 Z'/></svg>", "crosses itself"),
        ("<svg><path d='M 0 0 L 1'/></svg>", "takes 2 numbers"),
        ("<svg><path d='M 0 0 X 1'/></svg>", "unknown command"),
        ("<svg><path d='M 0 0 A 1 1 0 2 1 5 5'/></svg>", "fourth and the fifth"),
        ("<svg><circle r='1cm'/></svg>", "unit"),
        ("<svg><use href='#a'/></svg>", "clone of what is not in the drawing"),
        ("<svg><g id='g'><use href='#g'/></g></svg>", "clones draw more than 50000"),
        ("<svg><svg x='3'><circle r='1'/></svg></svg>", "coordinates of its own"),
        ("<svg><circle r='1' style='transform: scale(2)'/></svg>", "coordinates of its own"),
        ("<svg><circle r='1' transform='explode(3)'/></svg>", "transform"),
        ("<svg><path d='M 0 0 L 1e999 1 1 0 Z'/></svg>", "finite"),
        ("\xff\xfe", "could not be read"),
    ],
)
def test_broken_svg_is_one_sentence(tmp_path, text, says):
    path = tmp_path / "drawing.svg"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(GeometryError, match=says) as caught:
        shapes.from_svg(path)
    assert "\n" not in str(caught.value) and "drawing.svg" in str(caught.value)


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="MmLlHhVvCcSsQqTtAaZz 0123456789.,-e+X", max_size=60))
def test_any_path_is_read_or_refused(d):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            loops = path_loops(d)
            if loops:
                assert Path(loops).volume > 0
        except GeometryError as error:
            assert "\n" not in str(error)


def test_files_are_bounded_and_named(tmp_path, monkeypatch):
    with pytest.raises(GeometryError, match="there is no file"):
        shapes.from_svg(tmp_path / "none.svg")
    with pytest.raises(GeometryError, match=r"kind \.svg"):
        shapes.from_svg(tmp_path / "drawing.exe")
    large = tmp_path / "large.svg"
    large.write_bytes(b" " * 16_000_001)
    with pytest.raises(GeometryError, match="at most 16 MB"):
        shapes.from_svg(large)
    with pytest.raises(GeometryError, match=r"pip install 'jumpnet\[shapes\]'"):
        files.optional("a_package_that_is_not_there", "shapes", "this")


# --- sets of shapes -----------------------------------------------------------------------------------------------


def test_a_stack_is_disjoint():
    pieces = shapes.stack([Disk((0, 0), 0.8), Disk((0, 0), 0.5), Disk((0.9, 0.9), 0.05), Box((0, 0), (0.9, 0.2))])
    parts = Partition(SQUARE, pieces)
    assert parts.label([[0.7, -0.1], [0.4, -0.1], [0.9, 0.9], [0.1, 0.1]]).tolist() == [1, 2, 3, 4]
    assert isinstance(pieces[2], Ball)  # nothing lies over it


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**31), st.floats(0.0, 0.03))
def test_random_inclusions_keep_their_distance(seed, gap):
    box = Box((0, 0), (2, 1))
    disks = shapes.random_disks(20, box, (0.02, 0.08), gap=gap, seed=seed)
    ellipses = shapes.random_ellipses(12, box, ((0.03, 0.02), (0.15, 0.05)), gap=gap, seed=seed)
    assert disks == shapes.random_disks(20, box, (0.02, 0.08), gap=gap, seed=seed)
    for bodies in (disks, ellipses):
        edges = [body.patches()[0].sample(100, np.random.default_rng(0))[0] for body in bodies]
        for k, a in enumerate(edges):
            assert np.all(a >= np.array(box.lower) + gap - 1e-12) and np.all(a <= np.array(box.upper) - gap + 1e-12)
            for j, b in enumerate(edges[:k]):
                assert not bodies[j].contains(a).any()
                assert np.linalg.norm(a[:, None] - b[None], axis=2).min() >= gap - 1e-12
    Partition(box, ellipses)


def test_random_balls_and_what_does_not_fit():
    cube = Box((0, 0, 0), (1, 1, 1))
    balls = shapes.random_balls(15, cube, 0.12, gap=0.02, seed=1)
    centers = np.array([ball.center for ball in balls])
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=2) + np.eye(15)
    assert apart.min() >= 0.26
    for call, says in [
        (lambda: shapes.random_disks(500, Box((0, 0), (1, 1)), 0.1, seed=0), "found room"),
        (lambda: shapes.random_disks(5, Box((0, 0), (1, 1)), 0.6, seed=0), "larger than the box"),
        (lambda: shapes.random_disks(5, cube, 0.1, seed=0), "2 dimensions"),
        (lambda: shapes.random_disks(5, Box((0, 0), (1, 1)), (0.2, 0.1), seed=0), "smallest first"),
        (lambda: shapes.random_ellipses(5, Box((0, 0), (1, 1)), 0.1, seed=0), "given once, or as a pair"),
        (lambda: shapes.random_disks(5, Box((0, 0), (1, 1)), 0.1, gap=-1, seed=0), "zero or more"),
    ]:
        with pytest.raises(GeometryError, match=says):
            call()


def test_periodic_packings_keep_the_gap_from_copies_and_wrap_to_pieces_of_the_same_area():
    box, gap = Box((0, 0), (2, 1)), 0.03
    disks = shapes.random_disks(12, box, 0.13, gap=gap, seed=4, periodic=True)
    centers = np.array([disk.center for disk in disks])
    offset = centers[:, None] - centers
    offset -= np.array([2.0, 1.0]) * np.round(offset / [2.0, 1.0])
    distance = np.linalg.norm(offset, axis=2) + 10 * np.eye(12)
    assert distance.min() >= 0.26 + gap
    pieces = shapes.wrapped(disks, box)
    crossing = np.any((centers < 0.13) | (centers > np.array([2.0, 1.0]) - 0.13), axis=1)
    assert crossing.any() and len(pieces) >= 12 + crossing.sum()
    parts = Partition(box, pieces)
    x = np.random.default_rng(0).uniform((0, 0), (2, 1), (4000, 2))
    away = x[:, None] - centers
    away -= np.array([2.0, 1.0]) * np.round(away / [2.0, 1.0])
    assert np.array_equal(parts.label(x) > 0, (np.linalg.norm(away, axis=2) < 0.13).any(axis=1))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shapes.wrapped(Disk((0, 0), 2.0), Box((0, 0), (1, 1))), "larger than the box"),
        (lambda: shapes.wrapped(Polygon([(0, 0), (1, 0), (0, 1)]), Box((0, 0), (2, 2))), "has no center"),
        (lambda: shapes.wrapped(Disk((0, 0), 0.2), Disk((0, 0), 1.0)), "the Box that they repeat in"),
    ],
)
def test_what_cannot_be_wrapped(make, words):
    with pytest.raises(GeometryError, match=words):
        make()
