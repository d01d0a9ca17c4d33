"""The data behind the interactive maps: curves on the interfaces, values of one side only, cubics that hold."""

import base64
import json
import zlib
from functools import cache

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.reporting.curves import interface_curves
from jumpnet.reporting.grid import make_grid, planes
from jumpnet.reporting.page.scene import scene
from jumpnet.reporting.page.values import cubic


@cache
def packed_scene(solution, resolution=60):
    return scene(solution, resolution)


def arrays(solution):
    text, packed = packed_scene(solution)
    data = zlib.decompress(base64.b64decode(packed))

    def array(place):
        return np.frombuffer(data, f"<{place['kind']}", place["n"], place["at"])

    return json.loads(text), array


def test_curves_lie_on_the_interface_in_order(plane):
    (curve,) = interface_curves(plane.partition, make_grid(plane.partition, planes(plane.partition)[0], 80))
    from_center = curve.points - [0.2, 0.1]
    assert np.abs(np.hypot(*from_center.T) - 0.4).max() < 1e-12
    assert curve.pair == (0, 1) and curve.closed
    assert np.allclose(curve.normals, from_center / 0.4)  # from the disk, 1, to the plate, 0
    assert curve.arc[-1] == pytest.approx(2 * np.pi * 0.4, rel=1e-2)
    assert np.diff(curve.arc).max() < 0.1


def test_curves_are_cut_where_the_neighbour_changes():
    box = jn.Box((-1, -1), (1, 1))
    right, upper = jn.HalfSpace((-1, 0), 0.0), jn.HalfSpace((0, -1), 0.0)
    parts = jn.Partition(box, [right & upper, right - upper])
    curves = interface_curves(parts, make_grid(parts, planes(parts)[0], 60))
    assert sorted({curve.pair for curve in curves}) == [(0, 1), (0, 2), (1, 2)]
    for curve in curves:
        a, b, normals = parts.sides(curve.points)
        assert {*zip(a, b, strict=True)} == {curve.pair} and np.allclose(normals, curve.normals)


def test_curves_in_a_plane_of_space(space):
    for plane in planes(space.partition):
        (curve,) = interface_curves(space.partition, make_grid(space.partition, plane, 40))
        assert np.abs(np.linalg.norm(curve.points - [0.2, 0, 0], axis=1) - 0.3).max() < 1e-12


def test_a_domain_with_a_notch_is_drawn_off_its_walls():
    """The notch is a quarter of the box: planes through its middle lie along walls; what touches it is outside."""
    parts = jn.Partition(jn.Box((-1, -1, 0), (1, 1, 1)) - jn.Box((0, -1, 0), (1, 0, 1)))
    through = planes(parts)[0].fixed
    assert 0.0 not in through[:2] and through[2] == 0.5
    problem = jn.Problem(parts, f=-1.0, boundary=jn.Dirichlet(0.0))
    solution = jn.solve(problem, method=jn.FEM(order=2, size=1.0), tol=1.0, verify=False)
    assert json.loads(scene(solution, 20)[0])["views"]


def test_samples_of_interfaces_are_what_python_says(plane):
    found, array = arrays(plane)
    (entry,) = found["views"][0]["curves"]
    x1, x2, u_a, flux_a, u_b, flux_b = array(entry).reshape(-1, 6).T
    x = np.column_stack([x1, x2])
    assert np.array_equal(u_a, plane.side(x, 0)) and np.array_equal(u_b, plane.side(x, 1))
    assert np.allclose(u_a - u_b, plane.jump(x), rtol=0, atol=1e-12)
    assert np.allclose(flux_a - flux_b, plane.flux_jump(x), rtol=0, atol=1e-6)


def test_values_reach_beyond_their_piece_and_no_further(plane):
    found, array = arrays(plane)
    view = found["views"][0]
    height, width = view["shape"]
    label = array(view["label"]).reshape(height, width)
    for entry in view["pieces"]:
        left, top, columns, rows = entry["window"]
        u = array(entry["values"]["u"]).reshape(rows, columns)
        mine = label[top : top + rows, left : left + columns] == entry["piece"]
        assert np.isfinite(u[mine]).all()
        r, c = np.argwhere(np.isfinite(u)).T
        x = np.column_stack(
            [view["lower"][0] + (left + c) * view["step"][0], view["lower"][1] + (top + r) * view["step"][1]]
        )
        assert np.allclose(u[r, c], plane(x, entry["piece"]), rtol=0, atol=1e-9)
    assert np.isnan(u).any() or len(view["pieces"]) == 1


def test_the_box_is_met_exactly(plane):
    """No staircase at the boundary: the outermost grid points inside lie on it."""
    found, array = arrays(plane)
    view = found["views"][0]
    label = array(view["label"]).reshape(view["shape"])
    inside = np.flatnonzero((label >= 0).any(axis=0))
    ends = view["lower"][0] + view["step"][0] * inside[[0, -1]]
    assert np.allclose(ends, [-1, 1], atol=1e-12)


def test_the_interpolation_is_measured(plane):
    coarse, fine = (json.loads(scene(plane, n)[0])["interpolation"] for n in (30, 120))
    assert 0 < fine < coarse / 30 < 0.01  # fourth order: a quarter of the step, 1/256 of the error


def test_cubics_are_cubic():
    x, y = np.meshgrid(np.arange(8.0), np.arange(6.0))
    place = np.array([[1.0, 2.5], [3.3, 4.7]])
    rows, columns = place.T
    assert np.allclose(cubic(x**3 - 2 * y**3 + x * y**2, place), columns**3 - 2 * rows**3 + columns * rows**2)


def test_lines(line):
    found, array = arrays(line)
    view = found["views"][0]
    assert [run["piece"] for run in view["runs"]] == [0, 1, 2]
    row = array(view["curves"][0])
    assert row[0] == 1.0 and row[2] == line.side([[1.0]], 0)[0] and row[4] == line.side([[1.0]], 1)[0]
    assert row[3] - row[5] == pytest.approx(line.flux_jump([[1.0]])[0], abs=1e-9)


def test_what_is_not_known_is_not_offered(plane):
    from dataclasses import replace

    keys = [q["key"] for q in json.loads(scene(plane, 20)[0])["quantities"]]
    assert keys == ["u", "flux", "error", "judged", "residual"]
    bare = replace(
        plane, statement=replace(plane.statement, exact=None, problem=None, tensors=(None, None))
    ).with_diagnostics(verdict=None)
    assert [q["key"] for q in json.loads(scene(bare, 20)[0])["quantities"]] == ["u"]
