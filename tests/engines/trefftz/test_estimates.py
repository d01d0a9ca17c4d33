"""Error estimates against true errors: `benchmarks/estimates.py` with one seed."""

import importlib.util
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

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
