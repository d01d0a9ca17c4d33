"""Files for other programs: read back, with the values of either side where pieces meet."""

import base64
import csv
from xml.etree import ElementTree

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.reporting.cells import cut_cells


def measure(points: np.ndarray, cells: dict[str, np.ndarray]) -> float:
    """The signed length, area or volume of cells; those turned the wrong way count against it."""

    def tetra(a, b, c, d):
        return np.linalg.det(np.stack([b - a, c - a, d - a], axis=1)).sum() / 6

    total = 0.0
    for kind, corners in cells.items():
        x = [points[corner] for corner in corners.T]
        if kind == "line":
            total += np.abs(x[1] - x[0]).sum()
        elif kind in ("triangle", "quad"):
            following = x[1:] + x[:1]
            total += sum(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0] for a, b in zip(x, following, strict=True)).sum() / 2
        elif kind == "tetra":
            total += tetra(*x)
        else:  # a wedge is three tetrahedra, its first face turned outward
            a, b, c, d, e, f = x
            total -= tetra(a, b, c, d) + tetra(b, c, d, e) - tetra(c, d, f, e)
    return float(total)


def test_triangles_fill_the_pieces(plane):
    outer, disk = cut_cells(plane.partition, 80)
    assert measure(disk.points, disk.cells) == pytest.approx(np.pi * 0.16, rel=1e-3)
    assert measure(outer.points, outer.cells) + measure(disk.points, disk.cells) == pytest.approx(4.0, rel=1e-3)
    for part in (outer, disk):
        corners = {kind: part.points[cells] for kind, cells in part.cells.items()}
        assert set(corners) == {"triangle", "quad"}
    edges = []
    for part in (outer, disk):
        on = np.abs(np.hypot(*(part.points - [0.2, 0.1]).T) - 0.4) < 1e-12
        edges.append({tuple(x) for x in part.points[on].round(9).tolist()})
    assert edges[0] == edges[1] and len(edges[0]) > 50  # the same places, once on either side


def test_tetrahedra_fill_the_pieces(space):
    _, ball = cut_cells(space.partition, 24)
    assert set(ball.cells) == {"tetra", "wedge"}
    assert measure(ball.points, ball.cells) == pytest.approx(4 / 3 * np.pi * 0.3**3, rel=0.02)
    assert np.abs(ball.points - [0.2, 0, 0]).max() < 0.3 + 1e-9


def test_a_thin_piece_is_not_lost():
    parts = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Box((0, 0.501), (1, 0.52))])
    assert len(cut_cells(parts, 10)) == 2


def test_vtu_shows_the_jump(plane, tmp_path):
    import meshio

    plane.export(tmp_path / "u.vtu", resolution=40)
    mesh = meshio.read(tmp_path / "u.vtu")
    piece = np.zeros(len(mesh.points), int)
    for block, mine in zip(mesh.cells, mesh.cell_data["piece"], strict=True):
        piece[block.data.ravel()] = np.repeat(mine, block.data.shape[1])
    x = mesh.points[:, :2]
    assert np.allclose(mesh.point_data["u"], plane(x, piece), rtol=0, atol=1e-12)
    assert np.allclose(mesh.point_data["flux"][:, :2], plane.flux(x, piece), rtol=1e-9, atol=1e-9)
    assert mesh.point_data["flux"].shape[1] == 3 and {"error", "residual"} <= set(mesh.point_data)


def test_vti_cells_hold_the_values_at_their_middles(plane, tmp_path):
    plane.export(tmp_path / "u.vti", resolution=20)
    root = ElementTree.parse(tmp_path / "u.vti").getroot()
    grid = root.find("ImageData")
    assert grid.get("WholeExtent") == "0 20 0 20 0 0"
    raw = {entry.get("Name"): base64.b64decode(entry.text)[8:] for entry in root.iter("DataArray")}
    u, label = np.frombuffer(raw["u"]).reshape(20, 20), np.frombuffer(raw["piece"], "<i4").reshape(20, 20)
    x1, x2 = np.meshgrid(np.arange(-0.95, 1, 0.1), np.arange(-0.95, 1, 0.1))  # x1 runs fastest
    x = np.column_stack([x1.ravel(), x2.ravel()])
    assert np.array_equal(label.ravel(), plane.partition.label(x))
    assert np.allclose(u.ravel(), plane(x), rtol=0, atol=1e-10)


def test_csv_and_npz(line, plane, tmp_path):
    line.export(tmp_path / "u.csv", resolution=30)
    rows = list(csv.DictReader((tmp_path / "u.csv").read_text().splitlines()))
    assert len(rows) == 31 and float(rows[3]["u"]) == line([[float(rows[3]["x1"])]])[0]
    plane.export(tmp_path / "u.npz", resolution=10)
    with np.load(tmp_path / "u.npz") as file:
        stored = dict(file)
    assert stored["u"].shape == (11, 11) and stored["names"].tolist() == ["<plate>", "disk & rim"]
    assert stored["u"][3, 7] == plane([[stored["x1"][3], stored["x2"][7]]])[0]


def test_xarray(space):
    pytest.importorskip("xarray")
    data = space.to_xarray(resolution=12)
    assert data.flux.dims == ("component", "x1", "x2", "x3")
    inside = data.sel(x1=0.0, x2=0.0, x3=0.0, method="nearest")
    x = [[float(inside.x1), float(inside.x2), float(inside.x3)]]
    assert float(inside.u) == space(x)[0] and int(inside.piece) == space.partition.label(x)[0]
    assert np.isnan(data.u.values[0, 0, 0])  # a corner of the box is outside the superquadric


def test_a_plain_function(plane, line):
    from scipy.integrate import quad

    u = plane.as_function()
    assert u(0.1, 0.2) == plane([[0.1, 0.2]])[0] and np.ndim(u(0.1, 0.2)) == 0
    x, y = np.meshgrid(np.linspace(-2, 2, 5), np.linspace(-0.5, 0.5, 3))
    assert u(x, y).shape == (3, 5) and np.isnan(u(x, y)[:, 0]).all() and np.isfinite(u(x, y)[:, 2]).all()
    assert plane.as_function(piece=1)(5.0, 5.0) == plane.side([[5.0, 5.0]], 1)[0]
    total = quad(line.as_function(), 0.0, 1.0)[0]
    assert total == pytest.approx(line(np.linspace(0.0005, 0.9995, 1000)).mean(), abs=1e-5)


WRONG = {
    "no format": (lambda s, d: s.export(d / "u"), ".vtu, .vti, .csv or .npz"),
    "unknown format": (lambda s, d: s.export(d / "u.stl"), ".vtu"),
    "resolution": (lambda s, d: s.export(d / "u.csv", resolution=0), "resolution is 0"),
    "too fine": (lambda s, d: s.export(d / "u.csv", resolution=10**6), "at most"),
    "no directory": (lambda s, d: s.export(d / "no" / "u.csv", resolution=5), "cannot be written"),
    "too few coordinates": (lambda s, d: s.as_function()(1.0), "1 coordinates"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_input_is_one_sentence(plane, tmp_path, kind):
    call, word = WRONG[kind]
    with pytest.raises(jn.SolutionError) as caught:
        call(plane, tmp_path)
    assert word in str(caught.value) and "\n" not in str(caught.value)
