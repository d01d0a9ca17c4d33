"""Sweeps against closed forms; the same table in this process, in others, one of them killed, and from a store."""

import json
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.files.opening import read_as_file
from jumpnet.studies import running
from jumpnet.studies.sweeping import call as sweeps
from jumpnet.studies.sweeping.cases import Case, solved

ENDS = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)}


def layers(k, at=1.0):
    """Two layers up to 2: the flux is 1/(at + (2 - at)/k)."""
    parts = jn.Partition(jn.Interval(0, 2), [jn.Interval(at, 2)])
    return jn.Problem(parts, A=[1, k], boundary=ENDS)


def flux(solution):
    """A quantity of one's own."""
    return solution.net_flux("right")


THROUGH = {"through": ("flux", "right"), "value": ("value", (0.5,)), "mean": "mean", "own": flux}


def test_a_grid_has_the_closed_form_with_errors():
    table = jn.sweep(layers, {"k": jn.Span(1e-2, 1e2, 3), "at": [0.5, 1.0]}, THROUGH)
    k, at = table.parameters["k"], table.parameters["at"]
    assert k.tolist() == [0.01, 0.01, 1.0, 1.0, 100.0, 100.0] and table.ok and len(table) == 6
    exact = 1 / (at + (2 - at) / k)
    np.testing.assert_allclose(table.values["through"], exact, rtol=1e-9)
    np.testing.assert_allclose(table.values["own"], exact, rtol=1e-9)
    np.testing.assert_allclose(table.values["value"], 0.5 * exact, rtol=1e-9)
    assert (np.abs(table.values["mean"] - (exact * at**2 / 2 + (2 - at) * (1 + exact * at) / 2) / 2) < 1e-9).all()
    assert np.isfinite(table.errors["mean"]).all() and np.isfinite(table.errors["own"]).all()
    lines = table.to_csv().splitlines()
    assert lines[0] == "k,at,through,through error,value,value error,mean,mean error,own,own error,estimate,status"
    assert len(lines) == 7 and [float(c) for c in lines[1].split(",")[:2]] == [0.01, 0.5]


def test_constants_of_a_problem_and_of_a_file():
    parts = jn.Partition(jn.Interval(0, 2), [jn.Interval(1, 2)])
    problem = jn.Problem(parts, A=[1, "k"], boundary=ENDS, constants={"k": 1})
    table = jn.sweep(problem, {"k": [1, 3]}, {"through": ("flux", "right")})
    np.testing.assert_allclose(table.values["through"], [0.5, 0.75], rtol=1e-9)
    read = read_as_file(FILE)
    table = jn.sweep(read, {"at": [0.5, 1.0], "k": [3.0]})
    np.testing.assert_allclose(table.values["through"], [1.0, 0.75], rtol=1e-9)
    with pytest.raises(jn.JumpnetError, match="its constants are: k, at"):
        jn.sweep(read, {"depth": [1.0]})
    with pytest.raises(jn.ProblemError, match="its constants are: 'k'"):
        jn.sweep(problem, {"depth": [1.0]})


FILE = """
[constants]
k = 2.0
at = 1.0
[domain]
kind = "interval"
a = 0
b = 2
[background]
A = 1.0
[pieces.right]
shape = { kind = "interval", a = "at", b = 2 }
A = "k"
[boundary]
left = { kind = "dirichlet" }
right = { kind = "dirichlet", g = 1 }
[quantities]
through = { kind = "flux", boundary = "right" }
"""


def test_samples_fill_the_spans_and_depend_on_the_seed_alone():
    spans = {"k": jn.Span(1e-2, 1e2), "at": jn.Span(0.5, 1.5)}
    points = list(sweeps.points_of(spans, 64, 1))
    assert points == list(sweeps.points_of(spans, 64, 1)) != list(sweeps.points_of(spans, 64, 2))
    k, at = (np.array([values[name] for values in points]) for name in ("k", "at"))
    counts, *_ = np.histogram2d(np.log10(k), at, bins=(4, 4), range=[(-2, 2), (0.5, 1.5)])
    assert counts.sum() == 64 and counts.min() >= 2


def test_what_is_refused_is_a_row_and_a_message():
    with pytest.raises(jn.ProblemError, match="positive definite"):  # the first case is stated before all
        jn.sweep(layers, {"k": [-1.0, 1.0]})
    table = jn.sweep(layers, {"k": [1.0, -1.0]}, {"through": ("flux", "right")})
    assert table.status == ("converged", "refused") and "positive definite" in table.messages[1]
    assert np.isnan(table.values["through"][1]) and not table.ok
    assert table.to_csv().splitlines()[-1] == "-1.0,,,,refused"


@pytest.mark.parametrize(
    ("vary", "words"),
    [({}, "mapping from names"), ({"k": "1:2"}, "list of finite numbers"), ({"k": []}, "list of finite numbers")],
)
def test_wrong_values_are_one_sentence(vary, words):
    with pytest.raises(jn.ModelError, match=words):
        jn.sweep(layers, vary)


def test_wrong_spans_and_quantities():
    for wrong in ((2, 1), (0, np.inf), (0, 1, 1), (0, 1, 5, "log")):
        with pytest.raises(jn.ModelError):
            jn.Span(*wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(jn.ModelError, match="give a function of the solution"):
        jn.sweep(layers, {"k": [1.0]}, {"peak": "peak"})
    assert jn.Span(0, 1, 3).values().tolist() == [0.0, 0.5, 1.0] and jn.Span(1e-3, 1e3).values()[-1] == 1e3


def deadly(case: Case, stopped: running.Stopped):
    """The first process that comes to the case number 3 is killed there."""
    mark = Path(os.environ["JUMPNET_TEST_MARK"])
    if case.number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return solved(case, stopped)


def test_what_is_in_the_store_is_not_solved_again(tmp_path, monkeypatch):
    vary = {"k": [1.0, 2.0, 3.0]}
    table = jn.sweep(layers, {"k": [1.0, 3.0]}, THROUGH, store=tmp_path)
    calls = []
    monkeypatch.setattr(sweeps, "solved", lambda case, stopped: calls.append(case) or solved(case, stopped))
    more = jn.sweep(layers, vary, THROUGH, store=tmp_path)
    assert [case.values for case in calls] == [{"k": 2.0}]
    assert more.to_csv().splitlines()[1::2] == table.to_csv().splitlines()[1:]
    jn.sweep(layers, vary, THROUGH, store=tmp_path, again=True)
    jn.sweep(layers, vary, THROUGH, store=tmp_path, tol=1e-8)  # other options are another sweep
    assert len(calls) == 1 + 3 + 3


@pytest.mark.slow
def test_a_killed_process_changes_nothing(tmp_path, monkeypatch):
    vary = {"k": jn.Span(1e-2, 1e2, 6)}
    alone = jn.sweep(layers, vary, THROUGH).to_csv()
    monkeypatch.setenv("JUMPNET_TEST_MARK", str(tmp_path / "killed"))
    monkeypatch.setattr(sweeps, "solved", deadly)
    told = []
    table = jn.sweep(
        layers, vary, THROUGH, workers=2, store=tmp_path / "kept", progress=lambda *counts: told.append(counts)
    )
    assert (tmp_path / "killed").exists()
    assert table.to_csv() == alone
    assert [done for done, *_ in told] == [1, 2, 3, 4, 5, 6] and told[-1][1:] == (6, 0.0)
    monkeypatch.setattr(sweeps, "solved", None)  # all of it comes from the store
    again = jn.sweep(layers, vary, THROUGH, store=tmp_path / "kept")
    assert again.to_csv() == alone


def test_pictures_and_tables_are_written(tmp_path):
    table = jn.sweep(layers, {"k": [1.0, 100.0], "at": [0.5, 1.0]}, THROUGH)
    table.plot(tmp_path / "sweep.png")
    table.write(tmp_path / "sweep.csv")
    assert (tmp_path / "sweep.png").stat().st_size > 1000
    assert (tmp_path / "sweep.csv").read_text() == table.to_csv()
    with pytest.raises(jn.ModelError, match=r"\.csv or \.parquet"):
        table.write(tmp_path / "sweep.xls")


def test_parquet_has_the_same_columns(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = jn.sweep(layers, {"k": [1.0, -1.0]}, {"through": ("flux", "right")})
    table.write(tmp_path / "sweep.parquet")
    read = parquet.read_table(tmp_path / "sweep.parquet").to_pydict()
    assert list(read) == list(table.columns()) and read["status"] == ["converged", "refused"]
    np.testing.assert_array_equal(read["through"], table.values["through"])


def test_without_pyarrow_there_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    table = jn.sweep(layers, {"k": [1.0]}, {"mean": "mean"})
    with pytest.raises(jn.ModelError, match=r"pip install 'jumpnet\[parquet\]'"):
        table.write(tmp_path / "sweep.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "record",
    [
        {},
        [],
        {"status": "\x1b[31m"},
        {"status": ["converged"]},
        {"status": "converged", "quantities": []},
        {"status": "converged", "quantities": {"mean": [1.0]}},
        {"status": "converged", "quantities": {"mean": ["1", 0.0]}},
        {"status": "converged", "quantities": {"mean": [10**400, 0.0]}},
        {"status": "converged", "quantities": {}, "estimate": "a"},
        {"status": "refused", "message": 3},
    ],
    ids=str,
)
def test_stored_records_of_anybody_are_computed_again(record, tmp_path):
    wanted = jn.sweep(layers, {"k": [2.0]}, {"mean": "mean"}, store=tmp_path)
    (path,) = tmp_path.rglob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"record": record}))
    assert jn.sweep(layers, {"k": [2.0]}, {"mean": "mean"}, store=tmp_path).to_csv() == wanted.to_csv()


def test_spans_and_tables_have_bounds(tmp_path):
    for low, high, count in ((-1e308, 1e308, 3), (0, np.inf, 3), (1, 2, 10**9), (1, 2, 10**400)):
        with pytest.raises(jn.ModelError):
            jn.Span(low, high, count)
    with pytest.raises(jn.ModelError, match="samples"):
        jn.sweep(layers, {"k": jn.Span(1, 2)}, samples=10**12)
    table = jn.sweep(layers, {"k": [2.0]}, {"=cmd|' /C calc'!A0": "mean"})
    assert table.to_csv().startswith("k,'=cmd")


def test_nonlinear_problems_are_swept_and_rows_without_a_solution_say_so():
    parts = jn.Partition(jn.Interval(0, 1))
    bratu = jn.NonlinearProblem(parts, f="-k*exp(u)", constants={"k": 1.0})  # no solution above k = 3.514
    table = jn.sweep(bratu, {"k": [1.0, 6.0]}, {"middle": ("value", [0.5])}, tol=1e-6, time_limit=5)
    assert table.status[0] == "converged" and table.status[1] in ("stalled", "time_limit")
    assert table.values["middle"][0] == pytest.approx(0.1405392142, abs=1e-7)
    assert not table.ok
