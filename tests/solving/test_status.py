"""No wrong answer is called right: statuses, goals, balances and the fall-back on finite elements."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.engines.goal import Goal
from jumpnet.engines.trefftz import adaptivity
from jumpnet.engines.trefftz.balance import Imbalance
from jumpnet.solving.verify import verified

ONE = jn.Partition(jn.Interval(0, 1), [])


def level(residual: float, value: float, size: float = 1.0) -> Any:
    """A level with a residual and one value."""
    rows = SimpleNamespace(rhs=np.full(1, size), weight=np.ones(1), terms=("pde 0",), term=np.zeros(1, int))
    space = SimpleNamespace(cells=None)
    values = np.array([value, -value])
    shown = {"residual": residual, "values": values, "held_rows": rows, "held": np.full(1, residual), "space": space}
    return SimpleNamespace(**shown, constant=0.0, noise=0.0)


def test_levels_that_agree_without_progress_say_nothing() -> None:
    track = adaptivity._Track(Goal(1e-3))
    track.begin(level(5.2e-3, 1.0))
    track.add(level(5.3e-3, 1.0 + 6e-5))
    assert not track.met and not np.isfinite(track.estimate) and np.isnan(track.cautious)


def test_a_residual_that_falls_by_a_decade_shows_the_error_of_the_level_before() -> None:
    track = adaptivity._Track(Goal(1e-3))
    track.begin(level(1e-2, 1.0))
    track.add(level(1e-4, 1.001))
    assert track.estimate == pytest.approx(jn.Trefftz().safety * 1e-3 / 1e-2 * 1e-4)
    assert track.met
    track.add(level(1e-4, 1.001))  # a search that ends here has the worst constant, undiminished
    assert track.cautious == pytest.approx(track.estimate)


def test_levels_at_rounding_show_their_error_by_their_difference() -> None:
    track = adaptivity._Track(Goal(1e-8))
    track.begin(level(1e-15, 1.0))
    track.add(level(2e-15, 1.0 + 1e-14))
    assert track.met and track.estimate == pytest.approx(jn.Trefftz().safety * 1e-14, rel=0.1)


def test_the_goal_is_relative_to_the_variation() -> None:
    values = 25.0 + np.array([-1.0, 1.0])
    assert Goal(1e-3).of(values) == pytest.approx(1e-3)
    assert Goal(1e-3, atol=0.1).of(values) == 0.1
    assert Goal(1e-3).of(np.full(2, 25.0)) == pytest.approx(25e-13)
    assert Goal(1e-3).of(np.array([np.inf, 1.0])) == 0.0


def test_an_imbalance_is_granted_its_quadrature() -> None:
    assert Imbalance("a", 0.8, 0.0, 0.8).exceeds(1e-3)
    assert not Imbalance("a", 1e-3, 1e-3, 1e-9).exceeds(1e-3)
    assert not Imbalance("a", 1e-12, 0.0, 1.0).exceeds(1e-30)
    assert Imbalance("a", np.nan, 0.0, 1.0).exceeds(1e-3)


def test_zero_data_have_the_zero_solution() -> None:
    solution = jn.solve(jn.Problem(ONE, boundary=jn.Dirichlet(0.0)))
    assert solution.status.ok and np.abs(solution([[0.3]])).max() == 0.0


def test_a_coefficient_that_nearly_vanishes_goes_to_elements_on_the_line() -> None:
    """(A u')' = 1, A = x + c: u = x - log((x + c)/c)/log((1 + c)/c) up to the constants of the boundary values."""
    c = 1e-8
    solution = jn.solve(jn.Problem(ONE, A=f"x1 + {c}", f=1.0, boundary=jn.Dirichlet(0.0)), tol=1e-8)
    x = np.linspace(0.001, 1, 50)
    exact = x - np.log((x + c) / c) / np.log((1 + c) / c)
    assert solution.status.ok and len(solution.diagnostics.tried) == 2
    assert np.abs(solution(x[:, None]) - exact).max() < 1e-7


def test_a_heated_chip_on_a_board() -> None:
    """Once called converged with the chip 0.003 above ambient; by balance and finite elements it is 2.907."""
    pytest.importorskip("ngsolve")
    pieces = [jn.Box((0, 0), (60, 6)), jn.Box((20, 6), (40, 10)), jn.Box((10, 10), (50, 13))]
    parts = jn.Partition(jn.Box((0, 0), (60, 40)), pieces)
    sides = {"x2+": jn.Robin(0.01, 0.25), "x2-": jn.Robin(0.005, 0.125), "x1-": jn.Neumann(), "x1+": jn.Neumann()}
    problem = jn.Problem(parts, A=[0.026, 0.3, 100.0, 200.0], f=[0, 0, -0.01, 0], boundary=sides)
    solution = jn.solve(problem, tol=1e-2)
    assert solution.status.ok and solution.verdict.decided
    assert solution.mean(2).value - 25 == pytest.approx(2.907, abs=0.01)


def test_a_training_is_trained_until_it_is_judged() -> None:
    problem = jn.manufactured(ONE, u="sin(3*x1)")
    options: dict[str, Any] = {"method": jn.Network(jn.models.CategoricalEmbedding(dim=1, neurons=15))}
    assert jn.solve(problem, verify=False, **options).status is jn.Status.TRAINED
    judged = jn.solve(problem, tol=1e-6, **options)
    assert judged.status.ok and judged.verdict.rms == pytest.approx(judged.errors().l2, rel=0.5, abs=1e-12)


@pytest.mark.parametrize(
    "wrong",
    [
        {"tol": 0.0},
        {"tol": "small"},
        {"atol": -1.0},
        {"verify": "maybe"},
        {"method": "magic"},
        {"method": "fem", "preset": "paper"},
        {"method": jn.FEM(), "model": jn.models.OneHot()},
    ],
)
def test_wrong_options_are_refused_in_one_sentence(wrong: dict[str, Any]) -> None:
    with pytest.raises(jn.ModelError, match=next(iter(wrong))):
        jn.solve(jn.Problem(ONE), **wrong)


@pytest.mark.parametrize("wrong", [{"order": 0}, {"size": -1.0}, {"unknowns": 0}])
def test_wrong_options_of_elements_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(jn.ModelError, match=next(iter(wrong))):
        jn.FEM(**wrong)


def test_constants_that_fall_from_level_to_level_are_for_the_judge() -> None:
    """Two disks that nearly touch: the estimate holds the constant of the first levels, a hundred times the error."""
    track = adaptivity._Track(Goal(1e-9))
    track.begin(level(1e-1, 1.0))
    track.add(level(1e-3, 1.0 + 1e-2))
    assert track.excess == 1.0
    track.add(level(1e-5, 1.0 + 1e-2 + 1e-6))  # 0.1, halved, against 1e-3
    assert track.excess == pytest.approx(50, rel=0.01)


def test_an_estimate_far_above_the_error_is_judged() -> None:
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.4)])
    problem = jn.Problem(parts, A=[1.0, 10.0], boundary=jn.Dirichlet("x1"))
    found = jn.solve(problem, tol=1e-4)
    assert found.verdict is None and found.diagnostics.fit is not None
    for excess in (1.0, 50.0):
        known = found.with_diagnostics(fit=replace(found.diagnostics.fit, excess=excess))
        judged = verified(problem, known, Goal(1e-4), "auto")
        assert judged.status is jn.Status.CONVERGED
        assert (judged.verdict is not None) == (excess > 10)


def test_layers_far_thinner_than_elements_are_no_success() -> None:
    """u vanishes within 1e-6 of the wall of a disk: two orders of elements agreed on its absence."""
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.4)])
    problem = jn.Problem(parts, lam=[0.0, 1e12], boundary=jn.Dirichlet("x1"))
    with pytest.warns(jn.JumpnetWarning, match="not converged"):
        solution = jn.solve(problem, tol=1e-6, method="fem")
    assert solution.status is jn.Status.UNDECIDED
    assert any("of the walls of piece" in reason for reason in solution.diagnostics.reasons)


@pytest.mark.parametrize("lam", [1e8, 1e14])
def test_layers_on_the_line_are_resolved(lam: float) -> None:
    """Between walls of lam = 0 u is q/k at both: with no layer it was zero there."""
    parts, k = jn.Partition.chain([0.0, 0.4, 0.7, 1.0]), np.sqrt(lam)
    ends = {"left": jn.Dirichlet(0.0), "right": jn.Dirichlet(1.0)}
    solution = jn.solve(jn.Problem(parts, lam=[0.0, lam, 0.0], boundary=ends), tol=1e-8)
    at = 1 / (1 + 0.3 * k)  # (1 - at)/0.3 = k at
    assert solution.status is jn.Status.CONVERGED
    assert float(solution.side([[0.7]], 2)[0]) == pytest.approx(at, rel=1e-6)
