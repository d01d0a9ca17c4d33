"""The judged error where people look: report, figures, pages, files; finite elements have no residuals."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.geometry.quadrature.rules import Integral
from jumpnet.reporting.page.page import page, verdict
from jumpnet.reporting.page.scene import scene
from jumpnet.solution.quantities import Balance

LINE = jn.Problem(
    jn.Partition.chain([0.0, 1.0, 1.5, 3.0]), A=[1.0, 2.0, 5.0], f=[1.0, 0.0, 1.0], boundary=jn.Dirichlet("x")
)


@pytest.fixture(autouse=True)
def coarse(monkeypatch):
    monkeypatch.setattr("jumpnet.reporting.figures.solution.RESOLUTION", {1: 60, 2: 30})
    monkeypatch.setattr("jumpnet.reporting.page.page._pictures", lambda *_: iter(()))
    monkeypatch.setattr("jumpnet.reporting.page.scene.RESOLUTION", {1: 60, 2: 30})


@pytest.fixture(scope="module")
def elements() -> jn.Solution:
    pytest.importorskip("ngsolve")
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)])
    problem = jn.Problem(parts, A=[1.0, 10.0], boundary=jn.Dirichlet("x1"))
    return jn.solve(problem, method="fem", tol=1e-3, verify=True)


@pytest.fixture(scope="module")
def wrong() -> jn.Solution:
    """An answer to another conductivity, judged."""
    other = jn.Problem(LINE.partition, A=[1.0, 2.0, 6.0], f=[1.0, 0.0, 1.0], boundary=jn.Dirichlet("x"))
    answer = jn.solve(other, method="fem", verify=False).with_problem(LINE)
    return answer.with_diagnostics(verdict=jn.judge(answer))


def test_the_report_says_what_was_judged(elements):
    report = elements.report()
    text = str(report)
    assert re.search(r"judged +error .* by solving for it; estimate .* = 2 x", text) and "by piece   piece 0:" in text
    shown = page(elements)
    assert "error as judged" in shown and "judged L2 error" in shown
    for words in (text, repr(elements), shown):
        assert not re.search(r"\bnan\b", words)
    assert "loss" not in text and "unknowns" in repr(elements)
    found = report.judged
    assert found is not None and found.as_json()["rms"] == elements.verdict.rms
    assert found.as_json()["by piece"].keys() == {"piece 0", "piece 1"}


def test_finite_elements_are_drawn_and_exported(elements, tmp_path):
    assert len(elements.plot(tmp_path / "u.png").axes) == 4  # u, the error as judged, and their colour bars
    keys = [quantity["key"] for quantity in json.loads(scene(elements)[0])["quantities"]]
    assert keys == ["u", "flux", "judged"]  # the residual needs second derivatives
    elements.export(tmp_path / "u.vtu", resolution=10)
    assert b"judged" in (tmp_path / "u.vtu").read_bytes() and b"residual" not in (tmp_path / "u.vtu").read_bytes()


def test_on_the_line(wrong, tmp_path):
    figure = wrong.plot(what="judged")
    x = np.array([[2.0]])
    right = jn.solve(LINE, method="fem", verify=False)
    assert wrong.verdict.error(x) == pytest.approx(right(x) - wrong(x), rel=1e-6)
    assert len(figure.axes) == 1 and len(wrong.plot().axes) == 2
    wrong.export(tmp_path / "u.csv")
    assert "judged" in (tmp_path / "u.csv").read_text().splitlines()[0]


def test_what_was_not_judged_is_not_shown(wrong):
    unknown = wrong.with_diagnostics(verdict=None)
    assert "judged" not in str(unknown.report()) and len(unknown.plot().axes) == 1
    with pytest.raises(jn.SolutionError, match="has not been judged"):
        unknown.plot(what="judged")


def test_why_nothing_was_decided_is_said_once(wrong):
    undecided = jn.judge(replace(wrong, statement=replace(wrong.statement, problem=None)))
    assert not undecided.decided
    known = wrong.with_diagnostics(verdict=undecided)
    assert "judged     not judged: the equations" in str(known.report()) and "could not be told" in page(known)
    told = known.because(undecided.reason)
    assert str(told.report()).count(undecided.reason) == 1
    assert known.report().judged.as_json()["rms"] is None  # pyright: ignore[reportOptionalMemberAccess]


def test_a_red_headline_where_fluxes_do_not_balance(wrong):
    assert wrong.status.ok and "piece 2" in repr(wrong.report(balances=True).unbalanced[0])
    text = page(wrong)
    assert '<p class="verdict bad"><strong>Fluxes do not balance' in text
    assert verdict(wrong.report()).startswith("Converged")  # balances were not asked for
    refuted = wrong.with_diagnostics(status=jn.Status.REFUTED)
    assert "<strong>Not converged: the error that was solved for is above the tolerance.</strong>" in page(refuted)


@pytest.mark.parametrize(
    ("outflow", "source", "rounding", "fails"),
    [
        (Integral(1.0, 0.0, 1.0), Integral(1.001, 0.0, 1.001), 0.0, False),
        (Integral(1.0, 0.0, 1.0), Integral(1.1, 0.0, 1.1), 0.0, True),
        (Integral(1.0, 0.2, 1.0), Integral(1.1, 0.0, 1.1), 0.0, False),  # as far as the quadrature tells
        (Integral(1e-12, 0.0, 1e-12), Integral(0.0, 0.0, 0.0), 1e-8, False),  # of a constant
        (Integral(np.nan, 0.0, 1.0), Integral(0.0, 0.0, 0.0), 0.0, True),
    ],
)
def test_which_balances_fail(outflow, source, rounding, fails):
    assert Balance("piece", outflow, source, rounding).fails is fails


def test_a_constant_balances():
    constant = jn.solve(jn.Problem(LINE.partition, A=[1.0, 1e6, 5.0], boundary=jn.Dirichlet(3.0)))
    assert not constant.report(balances=True).alarm


def test_the_reproduction_shows_the_judged_error_beside_the_true_one(monkeypatch):
    from jumpnet.experiments.figures import _mapped

    monkeypatch.setattr("jumpnet.reporting.figures.solution.RESOLUTION", {2: 40})
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.1, 0.0), 0.5)])
    problem = jn.manufactured(parts, u=["exp(x1)*cos(x2)", "2 + x1*x2"], A=[1.0, 10.0])
    solution = jn.solve(problem, tol=1e-3, verify=False)
    name, title, figure = _mapped("maps-a", "a", solution)
    assert name == "maps-a" and title.startswith("a: solution, pointwise error and judged error (root mean square: ")
    _, true, judged = (axes.images[0] for axes in figure.axes if axes.images)
    assert true.norm.vmin == judged.norm.vmin and true.norm.vmax == judged.norm.vmax, "one colour scale"
    ratio = np.ma.median(judged.get_array() / true.get_array())
    assert ratio == pytest.approx(1.0, abs=0.2)
    bare = replace(solution, statement=replace(solution.statement, problem=None))
    assert _mapped("b", "b", bare)[1] == "b: solution and pointwise error"
