"""Error estimates against true errors: `benchmarks/estimates.py` with one seed."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.engines.trefftz import adaptivity

SCRIPT = Path(__file__).resolve().parents[3] / "benchmarks" / "estimates.py"


@pytest.mark.parametrize("cases", ["of_examples", "of_conditions", pytest.param("of_paper", marks=pytest.mark.slow)])
def test_the_estimate_is_between_a_third_and_thirty_times_the_error(cases: str) -> None:
    found = importlib.util.spec_from_file_location("estimates_benchmark", SCRIPT)
    assert found is not None and found.loader is not None
    script = importlib.util.module_from_spec(found)
    found.loader.exec_module(script)
    for name, tol, seed, solution, error in script.measured(getattr(script, cases)(), [1e-4, 1e-8], 1):
        ratio = solution.estimate / error
        assert ratio >= 0.1, (name, tol, seed, ratio)
        if error > script.ROUNDING:
            assert script.LOWEST <= ratio <= script.HIGHEST, (name, tol, seed, ratio)
            assert solution.report().effectivity == pytest.approx(ratio)
            assert "estimate/error" in str(solution.report())


def test_what_is_not_finite_is_no_success() -> None:
    """Values and estimate beyond all bounds: infinity is not below infinity."""
    track = adaptivity._Track(adaptivity.Goal(1e-6))
    track.best, track.estimate = SimpleNamespace(values=np.array([np.inf])), np.inf  # type: ignore[assignment]
    assert not track.met


def heated_film(ambient: float) -> jn.Problem:
    """A heated film between materials that are cooled through small transfer coefficients."""
    parts = jn.Partition(jn.Box((0, 0), (1, 2)), [jn.Box((0, 1), (1, 1.01)), jn.Box((0, 1.01), (1, 2))])
    sides = {"bottom": jn.Robin(0.01, 0.01 * ambient), "top": jn.Robin(0.02, 0.02 * ambient)}
    return jn.Problem(parts, A=[1.0, 1e-3, 1e3], f=[0.0, -1.0, 0.0], boundary={"x1": jn.Neumann(0.0), **sides})


@pytest.mark.parametrize("ambient", [1e3, 1e6])
def test_an_ambient_temperature_is_not_solved_for(ambient: float) -> None:
    """With 1e6 in the equations, their rounding errors make u wrong by eight times the tolerance, unseen."""
    plain, solution = (jn.solve(heated_film(a), tol=1e-6, verify=False) for a in (0.0, ambient))
    x = np.random.default_rng(1).uniform((0, 0), (1, 2), (300, 2))
    off = np.sqrt(np.mean((solution(x) - ambient - plain(x)) ** 2))
    assert solution.status.ok
    assert off <= 1e-8 * np.std(plain(x)) + 2e-16 * ambient
    assert off <= solution.estimate
