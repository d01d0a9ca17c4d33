"""Figures: written, not empty, and sharp where the solution jumps (looked at in the arrays that are drawn)."""

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

import jumpnet as jn
from jumpnet.reporting import plot_domain, plot_history, plot_solution
from jumpnet.reporting.figures.history import loss_by_kind
from jumpnet.reporting.figures.lines import runs
from jumpnet.reporting.figures.maps import colour_scale, log_ticks
from jumpnet.reporting.figures.surfaces import center_of, surface
from jumpnet.reporting.grid import make_grid, on_grid, outlines, planes
from jumpnet.reporting.quantities import quantities


def colours_in(path) -> int:
    pixels = np.asarray(Image.open(path).convert("RGB")).astype(np.int64)
    return len(np.unique(pixels @ [65536, 256, 1]))


@pytest.mark.parametrize("name", ["line", "plane", "space"])
def test_a_figure_is_returned_and_written(name, request, tmp_path):
    solution = request.getfixturevalue(name)
    figure = solution.plot(tmp_path / "u.png", resolution=60)
    assert isinstance(figure, Figure)
    assert colours_in(tmp_path / "u.png") > 20
    assert len(figure.axes) >= 2  # u and the error


def test_pyplot_is_not_touched(plane):
    import matplotlib.pyplot as plt

    before, settings = plt.get_fignums(), dict(matplotlib.rcParams)
    plane.plot(resolution=30)
    assert plt.get_fignums() == before
    assert dict(matplotlib.rcParams) == settings


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg", ""])
def test_the_name_decides_the_format(plane, tmp_path, suffix):
    path = tmp_path / f"figure{'.' if suffix else ''}{suffix}"
    plane.plot(path, resolution=20, what="u")
    head = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml", "": b"\x89PNG"}[suffix]
    assert path.read_bytes().startswith(head)


@pytest.mark.parametrize("what", ["u", "error", "exact", "grad", "flux", ["flux", "u"]])
def test_what_can_be_drawn(plane, what):
    assert plot_solution(plane, what=what, resolution=20).axes


def test_maps_take_each_value_from_its_own_piece(plane):
    """u is near 0 outside the disk and near 10 inside: a smeared pixel would lie between."""
    grid = make_grid(plane.partition, planes(plane.partition)[0], 201)
    u, exact = (on_grid(grid, q.values) for q in quantities(plane, ["u", "exact"]))
    inside, outside = grid.label == 1, grid.label == 0
    assert inside.sum() > 1000 and outside.sum() > 1000
    assert exact[inside].min() > 9.7 and exact[outside].max() < 1.1
    points = grid.points(inside)
    assert np.array_equal(u[inside], plane.side(points, 1))
    # Across every edge between a pixel of the disk and one of the plate the map jumps by the full amount.
    across = inside[:, 1:] != inside[:, :-1]
    across &= (grid.label[:, 1:] >= 0) & (grid.label[:, :-1] >= 0)
    assert np.abs(np.diff(exact, axis=1))[across].min() > 9.0
    assert np.isnan(u[grid.label < 0]).all() and not np.isnan(u[grid.label >= 0]).any()


def test_interface_lines_follow_the_interface(plane):
    grid = make_grid(plane.partition, planes(plane.partition)[0], 301)
    disk, domain = outlines(plane.partition, grid)
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    contour = axes.contour(grid.x, grid.y, np.ma.masked_invalid(disk), levels=[0.0])
    line = np.concatenate([path.vertices for path in contour.get_paths()])
    # Linear interpolation of a smooth level function: the distance is of the order of the cell squared.
    assert np.abs(np.hypot(line[:, 0] - 0.2, line[:, 1] - 0.1) - 0.4).max() < (grid.x[1] - grid.x[0]) ** 2 * 5
    assert (domain[grid.label >= 0] <= 1e-9).all()


def test_lines_are_broken_at_the_interfaces(line):
    stretches = runs(line.partition, 300)
    assert [run.piece for run in stretches] == [0, 1, 2]
    assert [run.x[-1] for run in stretches] == [1.0, 1.5, 3.0]
    figure = line.plot(what="exact")
    drawn = [np.asarray(curve.get_ydata()) for curve in figure.axes[0].lines if len(curve.get_ydata()) > 2]
    assert drawn[0][-1] == pytest.approx(1.0) and drawn[1][0] == pytest.approx(6.0)
    assert drawn[1][-1] == pytest.approx(6.5) and drawn[2][0] == pytest.approx(2.25)


def test_pieces_on_both_sides_of_another_are_separate_lines():
    parts = jn.Partition(jn.Interval(0.0, 3.0), [jn.Interval(1.0, 2.0)])
    assert [run.piece for run in runs(parts, 100)] == [0, 1, 0]


def test_slices_go_through_the_point_asked_for(space):
    figure = plot_solution(space, what="u", at=(0.1, 0.2, -0.1), resolution=30)
    titles = " ".join(axes.get_title() for axes in figure.axes)
    assert "$x_3 = -0.1$" in titles and "$x_1 = 0.1$" in titles and "$x_2 = 0.2$" in titles


def test_slices_cut_most_pieces_by_default():
    balls = [jn.Ball((a, b, 0.0), 0.3) for a in (-0.5, 0.5) for b in (-0.5, 0.5)]
    parts = jn.Partition(jn.Box((-1, -1, -1), (1, 1, 1)), balls)
    assert planes(parts)[0].fixed == pytest.approx((-0.5, -0.5, 0.0))


def test_beyond_three_dimensions_planes_are_drawn():
    parts = jn.Partition(jn.Ball((0.0,) * 4, 1.0), [jn.Ball((0.0,) * 4, 0.5)])
    assert len(planes(parts)) == 3
    grid = make_grid(parts, planes(parts)[0], 40)
    assert set(np.unique(grid.label)) == {-1, 0, 1}
    assert grid.points().shape == (grid.label.size, 4)


def test_error_scale_ignores_the_lines_where_the_error_is_zero(plane):
    error = quantities(plane, "error")[0]
    values = np.full((100, 100), 1e-6)
    values[50] = 1e-5
    values[3, :20] = 1e-300
    scale = colour_scale(error, [values])
    assert scale.vmax == 1e-5 and scale.vmin == pytest.approx(1e-6)


@pytest.mark.parametrize(("low", "high"), [(1e-9, 3e-9), (2e-9, 3e-8), (1e-12, 1e-3), (1e-100, 1.0)])
def test_logarithmic_bars_have_a_few_labels(low, high):
    assert 1 <= len(log_ticks(low, high)) <= 10
    assert all(low <= tick <= high for tick in log_ticks(low, high))


@pytest.mark.parametrize("name", ["line", "plane", "space"])
def test_domains(name, request, tmp_path):
    partition = request.getfixturevalue(name).partition
    plot_domain(partition, tmp_path / "domain.png", title="pieces")
    assert colours_in(tmp_path / "domain.png") > 20


def test_domain_names_its_pieces(plane):
    texts = {text.get_text() for text in plot_domain(plane.partition).axes[0].texts}
    assert texts == {"<plate>", "disk & rim"}


def test_surfaces_lie_on_the_piece(space):
    partition = space.partition
    ball = partition.pieces[0]
    found = surface(ball, partition.domain, center_of(ball, partition.domain, np.zeros((0, 3))))
    assert np.abs(ball.level(found.faces.reshape(-1, 3))).max() < 1e-9
    outward = found.faces.mean(axis=1) - np.array([0.2, 0.0, 0.0])
    assert (np.einsum("ni,ni->n", found.normals, outward) > 0).all()


def test_a_half_space_is_cut_off_at_the_domain():
    box = jn.Box((-1, -1, -1), (1, 1, 1))
    parts = jn.Partition(box, [jn.HalfSpace((0, 0, 1), -0.2)])
    x, label = parts.sample_interior(500, seed=0, minimum=20)
    found = surface(parts.pieces[0], box, center_of(parts.pieces[0], box, x[label == 1]))
    assert np.abs(found.faces).max() < 1 + 1e-9 and found.faces[..., 2].max() < -0.2 + 1e-9
    assert plot_domain(parts).axes


def test_history_groups_the_terms(plane, tmp_path):
    kinds = loss_by_kind(plane.history)
    assert list(kinds) == ["pde", "boundary", "jump", "flux"]
    assert np.allclose(sum(kinds.values()), plane.history.loss, rtol=1e-6)
    figure = plot_history(plane.history, tmp_path / "history.png")
    assert len(figure.axes) == 2 and colours_in(tmp_path / "history.png") > 20


WRONG = {  # kind: (call on a solution in the plane, a word of the sentence)
    "unknown quantity": (lambda s, d: s.plot(what="temperature"), "temperature"),
    "quantity not text": (lambda s, d: s.plot(what=3), "what is 3"),
    "no quantity": (lambda s, d: s.plot(what=[]), "what is []"),
    "resolution too small": (lambda s, d: s.plot(resolution=1), "resolution is 1"),
    "resolution not whole": (lambda s, d: s.plot(resolution=50.5), "50.5"),
    "resolution too large": (lambda s, d: s.plot(resolution=10**6), "1000000"),
    "point of the wrong size": (lambda s, d: s.plot(at=(0, 0, 0)), "2 coordinates"),
    "point not a number": (lambda s, d: s.plot(at="middle"), "middle"),
    "point not finite": (lambda s, d: s.plot(at=(0, np.nan)), "nan"),
    "format unknown": (lambda s, d: s.plot(d / "u.docx", resolution=20), ".docx"),
    "directory missing": (lambda s, d: s.plot(d / "no" / "u.png", resolution=20), "cannot be written"),
    "path is a directory": (lambda s, d: s.plot(d, resolution=20), "cannot be written"),
    "path is a number": (lambda s, d: s.plot(7, resolution=20), "7"),
    "null in the path": (lambda s, d: s.plot("a\0b.png", resolution=20), "cannot be written"),
    "domain too coarse": (lambda s, d: plot_domain(s.partition, resolution=1), "resolution is 1"),
    "domain of a shape": (lambda s, d: plot_domain(s.partition.domain), "Box"),
    "domain directory missing": (lambda s, d: plot_domain(s.partition, d / "no" / "u.png"), "cannot be written"),
    "domain in 4-D": (lambda s, d: plot_domain(jn.Partition(jn.Ball((0,) * 4, 1), [])), "4 dimensions"),
    "history empty": (lambda s, d: plot_history(type(s.history)()), "empty"),
    "history directory missing": (lambda s, d: plot_history(s.history, d / "no" / "u.png"), "cannot be written"),
    "report directory missing": (lambda s, d: s.write_report(d / "no" / "u.html"), "cannot be written"),
    "report path is a directory": (lambda s, d: s.write_report(d), "cannot be written"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_input_is_one_sentence(plane, tmp_path, kind, monkeypatch):
    monkeypatch.setattr("jumpnet.reporting.page.page.page", lambda *_, **__: "a page takes seconds to draw")
    call, word = WRONG[kind]
    with pytest.raises(jn.JumpnetError) as caught:
        call(plane, tmp_path)
    assert word in str(caught.value)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")


def test_error_without_an_exact_solution(plane):
    from dataclasses import replace

    unknown = replace(plane, statement=replace(plane.statement, exact=None, problem=None)).with_diagnostics(
        verdict=None
    )
    assert len(unknown.plot(resolution=20).axes) == 2  # the map and its colour bar
    with pytest.raises(jn.SolutionError, match="exact solution is not known"):
        unknown.plot(what="error")
    with pytest.raises(jn.SolutionError, match="with_problem"):
        replace(plane, statement=replace(plane.statement, partition=None)).plot()
