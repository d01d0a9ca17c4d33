"""What an engineer looks at first: numbers, signs, conditions, scales that tell their numbers apart, fitting advice."""

from pathlib import Path

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.files.opening import read_as_file
from jumpnet.files.outputs import described, probed, results, shown_quantities, tables
from jumpnet.files.problemfile import ProblemFile
from jumpnet.reporting import Context, plot_domain, plot_solution, plot_streamlines
from jumpnet.reporting.page.page import page
from jumpnet.solution.advice import advice, spoken

LAYERS = (Path(jn.files.__file__).parent / "templates/layers.toml").read_text()
SERIES = 0.02 / 0.7 + 0.24 / 0.5 + 0.05 + 0.14 / 0.035 + 1 / 25  # resistances of the wall
PLATE = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)], names=["plate", "disk"])


@pytest.fixture(scope="module")
def wall() -> tuple[ProblemFile, jn.Solution]:
    read = read_as_file(LAYERS)
    return read, read.solve()


@pytest.fixture(scope="module")
def plate() -> jn.Solution:
    """Temperatures about 25 that differ by a thousandth."""
    return jn.solve(jn.Problem(PLATE, A=[1.0, 50.0], boundary=jn.Dirichlet("25 + 0.001*x1")), tol=1e-6)


def test_heat_flow_out_is_positive_where_the_file_asks_for_it(wall: tuple[ProblemFile, jn.Solution]) -> None:
    read, solution = wall
    plain = read_as_file(LAYERS.replace("heat = true", "heat = false"))
    heat, flux = (results(one, solution) for one in (read, plain))
    name = "heat lost outside"
    assert heat["quantities"][name]["value"] == pytest.approx(25 / SERIES, rel=1e-9)
    assert flux["quantities"][name]["value"] == -heat["quantities"][name]["value"]
    assert (heat["fluxes"], flux["fluxes"]) == ("heat flow, -A grad u", "A grad u")
    assert "heat that leaves each piece" in described(read, solution, heat)
    assert probed(read, solution).splitlines()[0].startswith("probe,x1,piece,u,heat1")
    assert "flux1" in probed(plain, solution).splitlines()[0]
    assert solution.heat_flow("right").value == -solution.net_flux("right").value


def test_numbers_come_first(wall: tuple[ProblemFile, jn.Solution]) -> None:
    read, solution = wall
    found = results(read, solution)
    lines = described(read, solution, found).splitlines()
    assert lines[0].endswith(": converged") and lines[1] == "quantities, with their errors"
    assert lines[2].split()[:3] == ["heat", "lost", "outside"] and lines.index("trust") == 4
    about = Context(quantities=shown_quantities(found), tables=tables(found, True), heat=True, alarm="")
    text = page(solution, "wall", about)
    order = [text.index(words) for words in ("Numbers</h2>", "heat lost outside", "Solution</h2>", "Flux balance")]
    assert order == sorted(order) and "Fluxes are heat flow, −A∇u" in text
    assert text.count("<details>") == 1  # the map as a picture is folded away, as the map itself is there


def test_tensors_are_among_the_numbers_and_in_lines(wall: tuple[ProblemFile, jn.Solution]) -> None:
    read, solution = wall
    found = results(read, solution)
    tensor = {"tensor": [[1.5, 0.25], [0.25, 2.0]], "estimate": 1e-3, "resolution error": None, "text": "one\ntwo"}
    found["effective tensors"] = {"apparent": tensor}
    assert shown_quantities(found)["apparent"] == ("1.5 0.25; 0.25 2", "± 1.0e-03")
    text = page(solution, "wall", Context(quantities=shown_quantities(found), tables=tables(found, True)))
    assert "<pre>one\ntwo</pre>" in text and "1.5 0.25; 0.25 2" in text


def test_names_that_people_look_for_are_answered(wall: tuple[ProblemFile, jn.Solution]) -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'gradient'; solution\.grad\(x\) is meant, perhaps"):
        wall[1].gradient  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match=r"'Circle'; jn\.Disk is meant, perhaps"):
        jn.Circle  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match=r"'histroy'; history is meant, perhaps"):
        wall[1].histroy  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(AttributeError, match=r"'Dirichlett'; jn\.Dirichlet is meant, perhaps"):
        jn.Dirichlett  # noqa: B018  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(jn, "nothing") and not hasattr(wall[1], "nothing")


def test_means_of_a_solution_that_was_not_judged_have_a_bound() -> None:
    text = (Path(jn.files.__file__).parent / "templates/inclusion.toml").read_text()
    read = read_as_file(text)
    solution = read.solve(verify=False).with_diagnostics(estimate=1e-4)
    found = results(read, solution)["quantities"]
    share = read.problem.partition.measure(1) / 4.0
    assert found["mean of the disk"]["error"] == pytest.approx(1e-4 / np.sqrt(share), rel=1e-6)
    assert found["flux through the right side"]["error"] is None


def test_scales_tell_their_numbers_apart(plate: jn.Solution) -> None:
    figure = plot_solution(plate, what="u", resolution=40)
    figure.canvas.draw()
    bar = figure.axes[-1].yaxis
    assert bar.get_offset_text().get_text() == "+ 25"
    assert len({label.get_text() for label in bar.get_ticklabels()}) == len(bar.get_ticklabels()) > 3
    # The label of the axis is beside the numbers of its ticks.
    axes = figure.axes[0]
    label = axes.yaxis.label.get_window_extent()
    assert all(not label.overlaps(tick.get_window_extent()) for tick in axes.yaxis.get_ticklabels())


def test_the_sign_is_said_on_the_figure(plate: jn.Solution) -> None:
    for heat, words in ((False, r"the flux $A \nabla u$"), (True, r"the heat flow $-A \nabla u$")):
        assert words in plot_streamlines(plate, resolution=40, heat=heat).axes[0].get_title()


def test_conditions_are_drawn_on_the_domain() -> None:
    sides = {"left": jn.Dirichlet(1.0), "right": jn.Robin(2.0, 0.0), "x2": jn.Neumann(0.0)}
    figure = plot_domain(jn.Problem(PLATE, A=[1.0, 2.0], boundary=sides), resolution=60)
    said = {text.get_text() for text in figure.legends[0].get_texts()}
    assert said == {"x1-: dirichlet", "x1+: robin", "x2-: neumann", "x2+: neumann"}
    left = next(line for line in figure.axes[0].lines if line.get_label() == "x1-: dirichlet")
    np.testing.assert_allclose(np.asarray(left.get_xdata(), float), -1.0)


def test_advice_is_in_the_words_of_the_interface(plate: jn.Solution) -> None:
    # The values deviate by 5.5e-4 from their mean: 1.1e-5 is 0.02 of that, and some room is left.
    direct = plate.with_diagnostics(status=jn.Status.STALLED, estimate=float(np.nan))
    assert advice(direct) == 'a larger tol=, or method="fem"'
    with spoken("file"):
        assert advice(direct) == 'a larger tol in [solve], or method = "fem" in [solve]'
    with spoken("command"), spoken("file"):  # the outermost counts
        assert advice(direct).startswith("a larger --tol")
    assert advice(direct.with_diagnostics(estimate=1.1e-5)).startswith("tol=0.03 (which it meets as it is)")
    assert "time_limit" in advice(direct.with_diagnostics(status=jn.Status.TIME_LIMIT))
    for status in jn.Status:
        assert "seed" not in advice(direct.with_diagnostics(status=status))


def test_advice_for_a_network_names_seeds(wall: tuple[ProblemFile, jn.Solution]) -> None:
    with pytest.warns(jn.JumpnetWarning, match=r"Try more steps .*, jn.Network\(trials=4\), or another seed="):
        network = jn.solve(
            wall[0].problem,
            verify=False,
            method=jn.Network(
                jn.models.CategoricalEmbedding(neurons=4), optimizer=jn.optim.LevenbergMarquardt(steps=2)
            ),
        )
    with spoken("command"):
        assert advice(network).startswith("another --seed")
