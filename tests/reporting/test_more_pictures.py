"""Streamlines, jumps along interfaces, collocation points, labels, cut views: what is drawn is what was computed."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure

import jumpnet as jn
from jumpnet.collocation import Points, collocate
from jumpnet.reporting import plot_cuts, plot_embedding, plot_jumps, plot_points, plot_streamlines
from jumpnet.reporting.figures.embedding import label_vectors
from jumpnet.reporting.figures.points import solve_points


@pytest.mark.parametrize("name", ["plane", "space"])
def test_streamlines(name, request, tmp_path):
    solution = request.getfixturevalue(name)
    figure = plot_streamlines(solution, tmp_path / "lines.png", resolution=25)
    assert isinstance(figure, Figure) and (tmp_path / "lines.png").stat().st_size > 5000
    assert any(len(axes.patches) > 3 for axes in figure.axes)  # arrows


def test_a_flux_through_a_plane_has_no_lines_in_it():
    parts = jn.Partition(jn.Box((-1, -1, -1), (1, 1, 1)), [jn.Ball((0, 0, 0), 0.4)])
    solution = jn.solve(jn.Problem(parts, A=[1.0, 5.0], boundary=jn.Dirichlet("x1")), tol=1e-4)
    places = plot_streamlines(solution, resolution=30).axes[:3]
    assert [len(axes.patches) > 0 for axes in places] == [True, True, False]


def test_jumps_are_those_of_the_solution(plane):
    figure = plot_jumps(plane, resolution=60)
    u, jump, flux_jump = figure.axes
    assert [len(axes.lines) for axes in figure.axes] == [2, 2, 2]  # two sides; computed and given
    s = np.asarray(jump.lines[0].get_xdata(), float)
    assert s[-1] == pytest.approx(2 * np.pi * 0.4, rel=1e-2)
    sides = [np.asarray(line.get_ydata(), float) for line in u.lines]
    assert np.allclose(sides[0] - sides[1], jump.lines[0].get_ydata())
    assert np.abs(np.asarray(jump.lines[0].get_ydata()) - jump.lines[1].get_ydata()).max() < 0.5  # v, about -10
    assert "plate" in u.get_title() and flux_jump.get_xlabel() == "arc length"


def test_jumps_in_space_and_without_a_problem(space):
    assert len(plot_jumps(space, resolution=40).axes) == 3
    bare = replace(space, statement=replace(space.statement, problem=None, tensors=(None, None)))
    assert [len(axes.lines) for axes in plot_jumps(bare, pair=(1, 0), resolution=40).axes] == [2, 1]


def test_the_points_are_those_of_the_training(plane, line, space, direct):
    drawn = solve_points(plane)
    expected = collocate(plane.partition, Points(80, 30, 30), seed=plane.seed)
    assert np.array_equal(drawn.interior, expected.interior) and np.array_equal(drawn.boundary, expected.boundary)
    labels = [text.get_text() for text in plot_points(plane).legends[0].get_texts()]
    assert labels == ["inside: 80", "boundary: 30", "interface: 30"]
    for solution in (line, space, direct):
        assert plot_points(solution).axes


def test_labels_of_pieces(plane, tmp_path):
    z = label_vectors(plane)
    assert z.shape[0] == 2
    figure = plot_embedding(plane, tmp_path / "labels.png")
    assert {text.get_text() for text in figure.axes[0].texts} == {"<plate>", "disk & rim"}


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
def test_long_labels_are_drawn_in_a_plane(dim):
    parts = jn.Partition.chain([0, 1, 2, 3, 4])
    problem = jn.manufactured(parts, u=["x", "x", "5 + x", "9"])
    few = jn.optim.LevenbergMarquardt(steps=3)
    model = jn.models.CategoricalEmbedding(dim=dim, neurons=6)
    solution = jn.solve(problem, verify=False, method=jn.Network(model, points=(40, 2, 1), optimizer=few, charts="box"))
    assert plot_embedding(solution).axes[0].collections[0].get_offsets().shape == (4, 2)


def test_cut_views(space, tmp_path):
    figure = plot_cuts(space, tmp_path / "cuts.png", resolution=20)
    assert len(figure.axes) == 2 and (tmp_path / "cuts.png").stat().st_size > 5000


def test_residual_maps_are_logarithmic(plane):
    from matplotlib.colors import LogNorm

    figure = plane.plot(what="residual", resolution=30)
    picture = figure.axes[0].images[0]
    assert isinstance(picture.norm, LogNorm) and picture.norm.vmax <= 1e5 * picture.norm.vmin * (1 + 1e-9)


WRONG = {
    "streamlines of a line": ("line", plot_streamlines, "one dimension"),
    "jumps of a line": ("line", plot_jumps, "one dimension"),
    "cuts of a plane": ("plane", plot_cuts, "three dimensions"),
    "labels of a Trefftz solution": ("direct", plot_embedding, "no labels"),
    "no such interface": ("plane", lambda s: plot_jumps(s, pair=(0, 7), resolution=20), "(0, 1)"),
    "no interface in the plane": ("space", lambda s: plot_jumps(s, at=(0, 0, 0.45), resolution=20), "no interface"),
    "points not told": ("plane", lambda s: plot_points(s.with_diagnostics(fit=None)), "how many"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_wrong_input_is_one_sentence(kind, request):
    name, call, word = WRONG[kind]
    with pytest.raises(jn.SolutionError) as caught:
        call(request.getfixturevalue(name))
    assert word in str(caught.value) and "\n" not in str(caught.value)
