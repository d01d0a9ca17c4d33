"""Error estimates against true errors: `benchmarks/estimates.py` with one seed."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "estimates.py"


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
