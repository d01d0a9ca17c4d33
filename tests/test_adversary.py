"""The adversary benchmark itself: problems build, closed forms hold, the draw and the counts are what they say."""

import math
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.adversary import registry, tables
from benchmarks.adversary.cases import Case
from benchmarks.adversary.check import check
from benchmarks.adversary.work import Run

from jumpnet.errors import JumpnetError

CASES = list(registry.all_cases().values())
# One of each class, none of the slow series and bodies.
SAMPLE = [
    "line: three layers, lam = -400",
    "line: contact resistances and jumps",
    "line: A = x + 1e-08",
    "disk: coating of 0.001, k = 1000",
    "disk: k = 1e-12",
    "disk: lam = 10000 around it",
    "quarter disk in a corner, k = 10",
    "disk of k = 10 in A = 4:1",
    "two disks: gap 0.03, k = 10",
    "disk at 0.1 from a curved wall, k = 10",
    "chessboard, k = 10, exponent 0.390",
    "hot lid, tol 1e-8",
    "Dirichlet data of width 0.01, tol 1e-06",
    "source of width 0.001, tol 1e-06",
    "point source at 0.02 from a disk",
    "disk: Neumann, heated core, mean -3",
    "cell: laminate, k = 1000",
    "point source in a core with contact 0.3",
    "plate: resistive line of width 0.01",
    "disk: K = 1, 1e+06",
    "seam: saw on the lower side, tol 0.001",
    "polar 1 and 25 round a core of 10",
]


def test_there_are_enough_problems_of_every_kind():
    assert len(CASES) >= 150
    assert sum(case.network for case in CASES) == 40
    assert sum(case.group == "made" for case in CASES) <= 0.1 * len(CASES)
    assert all((case.exact is not None) or ((case.defects or case.known) and case.why) for case in CASES)


def test_a_third_and_of_later_problems_half_is_put_aside_by_the_draw():
    assert sorted(registry.aside()) == registry.draw()
    sets = [{case.name for module in modules for case in registry.cases_of(module)} for modules, _ in registry.DRAWN]
    found = [len(names & registry.aside()) for names in sets]
    assert found == [len(names) // share for names, (_, share) in zip(sets, registry.DRAWN, strict=True)]
    assert sum(found) == len(registry.aside())
    parts = [len(registry.select(part, None, False)) for part in ("seen", "aside", "all")]
    assert parts[0] + parts[1] == parts[2] == len(CASES)


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])
def test_problems_build_or_are_refused_in_one_sentence(step: int):
    """Every fifth, and (slow) all."""
    refused = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in CASES[::step]:
            try:
                case.build()
            except JumpnetError as error:
                refused.append(case.name)
                assert "\n" not in str(error)
    assert set(refused) <= {"hot band of half width 0.0001"}  # narrower than the survey of the boundary


@pytest.mark.parametrize("name", SAMPLE)
def test_closed_forms_hold(name: str):
    case = registry.all_cases()[name]
    assert check(case, points=12).fine(case.slack)


def test_a_wrong_formula_is_found():
    case = registry.all_cases()["quarter disk in a corner, k = 10"]
    assert case.exact is not None
    exact = case.exact
    wrong: Case = replace(case, exact=lambda x, piece: exact(x, piece) * (1 + 1e-3 * (piece == 1)))
    assert not check(wrong, points=12).fine(case.slack)
    bent: Case = replace(case, exact=lambda x, piece: exact(x, piece) + 1e-3 * x[:, 0] ** 2)
    assert not check(bent, points=12).fine(case.slack)


def test_counts_and_files(tmp_path: Path):
    good = Run("a", "lines", 0, 1e-6, "CONVERGED", estimate=1e-7, error=1e-8, variation=1.0, seconds=1.0)
    false = replace(good, name="b", error=4e-6)
    stalled = replace(good, name="c", outcome="STALLED", estimate=math.nan, escaped=("RuntimeWarning: overflow",))
    assert tables.kinds(good) == ["converged"]
    assert tables.kinds(false) == ["converged", "false", "off"]
    assert tables.kinds(replace(good, error=math.nan)) == ["converged", "false"]
    assert tables.kinds(replace(good, estimate=math.nan)) == ["converged", "no estimate"]
    assert tables.kinds(stalled) == ["not converged", "warnings"]
    tables.store([good, false, stalled], tmp_path / "runs.json")
    again = tables.load(tmp_path / "runs.json")
    assert [repr(run) for run in again[:2]] == [repr(good), repr(false)]
    assert math.isnan(again[2].estimate)
    assert tables.kinds(replace(good, bar=2.0)) == ["converged", "bar"]
    assert "CONVERGED (false)" in tables.compared([good], [replace(false, name="a")])
