"""`jumpnet bench` at its smallest, what it says when something is missing, and the fits."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from jumpnet.experiments.bench import direct, kernels, peers, pieces, plan, training, watched
from jumpnet.experiments.bench.report import Comparison, Curve, Fit, Report, Table
from jumpnet.experiments.bench.timing import exponent, machine, side_by_side
from jumpnet.optim import LevenbergMarquardt

pytestmark = pytest.mark.usefixtures("blank_images")

TINY = plan.Plan(
    problems=("pde2",),
    repeats=1,
    seeds=1,
    solves=1,
    dense_pieces=3,
    pieces=(3, 6),
    pieces_repeats=1,
    neurons=(3, 6),
    point_factors=(1, 2),
    dimensions=(2, 3),
    tolerances="1e-3",
    evaluated=2500,
    starts=1,
)


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(plan, "FULL", TINY)
    monkeypatch.setattr(plan, "QUICK", TINY)


def without(monkeypatch, *packages):
    """As if these were not installed."""
    monkeypatch.setattr(peers, "find_spec", lambda name: None if name in packages else object())


def test_a_run_writes_tables_figures_and_json(jumpnet, elsewhere, monkeypatch):
    without(monkeypatch, "torch")
    result = jumpnet("bench", "--quick", "--only", "assembly,step", "-o", "out")
    assert result.exit_code == 0, result.output
    assert {path.name for path in (elsewhere / "out").iterdir()} == {
        "bench.json", "bench.md", "assembly.png", "step.png",
    }  # fmt: skip
    report = json.loads((elsewhere / "out" / "bench.json").read_text(encoding="utf-8"))
    assert report["command"] == "jumpnet bench --quick --only assembly,step"
    assert {"python", "jax", "numpy", "load average at start", "load average at the end"} <= set(report["machine"])
    assembly, step = report["tables"]
    (row,) = assembly["rows"]
    assert (row["rows"], row["parameters"]) == (540, 252)
    assert row["ratio to JAX"] == pytest.approx(row["JAX (ms)"] / row["ours (ms)"])
    assert assembly["notes"] == [
        "torch is not installed, so what it would be compared with is left out; pip install 'jumpnet[bench]' adds it."
    ]
    assert step["rows"][0]["dgeqrf + dtrtrs (ms)"] > 0
    assert "| pde2 | 540 | 252 |" in (elsewhere / "out" / "bench.md").read_text(encoding="utf-8")
    assert "| pde2 | 540 | 252 |" in result.stdout and "1/2 assembly: pde2" in result.stderr


def test_an_unknown_comparison(jumpnet):
    result = jumpnet("bench", "--only", "asembly")
    assert result.exit_code == 2
    assert result.stderr == "error: there is no comparison 'asembly'; did you mean assembly?\n"


def test_growth_has_exponents(jumpnet, elsewhere, monkeypatch):
    """The first size is measured; the others would compile for half a minute and get the same times."""
    measured = []

    def first(*calls, repeats):
        measured[:] = measured or [side_by_side(*calls, repeats=repeats)]
        return measured[0]

    monkeypatch.setattr("jumpnet.experiments.bench.growth.side_by_side", first)
    result = jumpnet("-q", "bench", "--only", "growth", "-o", "out")
    assert result.exit_code == 0 and result.stderr == ""
    (table,) = json.loads((elsewhere / "out" / "bench.json").read_text(encoding="utf-8"))["tables"]
    assert [row["varied"] for row in table["rows"]] == ["parameters"] * 2 + ["rows"] * 2 + ["dimension"] * 2
    assert {(fit["quantity"], fit["against"]) for fit in table["fits"]} == {
        (quantity, against)
        for quantity in ("assembly (ms)", "step (ms)")
        for against in ("parameters", "rows", "dimension")
    }
    assert (elsewhere / "out" / "growth.png").exists()


def test_pieces_are_measured_in_processes_of_their_own(monkeypatch):
    started = []

    def printed(*arguments, seconds, **environment):
        started.append(arguments)
        return [pieces.measure(int(arguments[-2]), int(arguments[-1]))]

    monkeypatch.setattr(peers, "printed", printed)
    *rows, time_fit, memory_fit = pieces.growth(TINY, lambda text: None)
    assert [row["pieces"] for row in rows] == [3, 6] and [a[-2] for a in started] == ["3", "6"]
    assert rows[1]["parameters"] == (1 + 6 + 2) * 50 and isinstance(time_fit, Fit) and isinstance(memory_fit, Fit)
    (row,) = pieces.against_dense(TINY, lambda text: None)
    assert row["pieces"] == 3 and row["ratio"] > 0


def test_too_many_pieces_are_left_out(monkeypatch):
    monkeypatch.setattr(peers, "printed", lambda *arguments, seconds, JUMPNET_CACHE: [])
    (note,) = pieces.growth(TINY, lambda text: None)
    assert note == "3 pieces took more than 300 s; they and larger numbers are left out."


def test_the_rival_factors_the_same_system():
    from jumpnet.experiments.bench.systems import one_hot_system

    system = one_hot_system(3)
    theta = system.network.initial(np.random.default_rng(0))
    r, J = system.dense(theta)
    found = kernels.lapack(system, theta)()
    expected = np.linalg.solve(J.T @ J + kernels.DAMPING * np.eye(len(theta)), J.T @ r)
    # The normal equations lose half the digits of QR.
    np.testing.assert_allclose(J @ found, J @ expected, rtol=1e-5, atol=1e-7)


def test_training_beside_the_afternoon(monkeypatch):
    """Times and steps to the target; a seed of ours that does not arrive counts as infinitely slow."""
    runs = training.Run((0.1, 0.2, 0.4), (1.0, 1e-8, 1e-9), 1.0), training.Run((0.1, 0.2), (1.0, 0.1), 1.0)
    theirs = training.Run.of({"seed": 0, "compiling": 3.0, "curve": [[2.0, 1.0], [4.0, 1e-8]]})
    monkeypatch.setattr(training, "ours", lambda name, chosen: runs[: chosen.seeds])
    monkeypatch.setattr(training, "afternoon", lambda way, name, chosen: (theirs,))
    (row,) = training.to_the_papers_error(TINY, lambda text: None)
    assert (row["ours (s)"], row["steps"], row["ratio to torch"], row["seeds there"]) == (0.2, 2, 20.0, "1/1")
    assert row["with compilation, JAX"] == pytest.approx(7 / 1.2)
    (row,) = training.to_the_papers_error(replace(TINY, seeds=2), lambda text: None)
    assert row["ours (s)"] == np.inf and row["seeds there"] == "1/2" and row["ratio to JAX"] == 0


def test_error_against_time_without_ngsolve(jumpnet, elsewhere, monkeypatch):
    without(monkeypatch, "ngsolve")
    monkeypatch.setattr(training, "ours", lambda name, chosen: (training.Run((0.1, 0.2), (1.0, 1e-8), 1.0),))
    monkeypatch.setattr(
        peers, "printed", lambda *words, seconds: [direct.measure("pde2", 1e-3, 1)] if "1e-3" in words else []
    )
    result = jumpnet("bench", "--only", "accuracy", "-o", "out")
    assert result.exit_code == 0, result.output
    assert "NGSolve is not installed" in result.stdout and "pip install 'jumpnet[fem]' adds it." in result.stdout
    assert result.stdout.count("NGSolve is not") == 1  # once, not once for each problem and way
    assert "afternoon.py pde2 did not come to an end in its time and is left out." in result.stdout
    assert (elsewhere / "out" / "accuracy.png").exists()
    (table,) = json.loads((elsewhere / "out" / "bench.json").read_text(encoding="utf-8"))["tables"]
    assert [curve["label"] for curve in table["curves"]] == ["jumpnet, trained", "jumpnet, direct"]
    assert table["rows"][1]["error"] < 1e-3  # its tolerance, relative to a solution of size 1


def test_our_training_is_watched():
    run = training.Run.of(watched.train("pde2", 0, LevenbergMarquardt(steps=5)))
    assert len(run.seconds) == len(run.error) == 5 and list(run.seconds) == sorted(run.seconds)
    assert run.reached(run.error[-1]) is not None and run.reached(0.0) is None


def test_the_scripts_are_missing(monkeypatch, elsewhere):
    monkeypatch.setattr(peers.jumpnet, "__file__", str(elsewhere / "site-packages" / "jumpnet" / "__init__.py"))
    with pytest.raises(peers.UnavailableError, match=r"in the repository only.*run jumpnet bench in a checkout\.$"):
        peers.run("afternoon.py", "pde2", seconds=1)


def test_lines_of_a_program_that_fails_or_is_late():
    hello = "import time; print('{\"a\": 1}', flush=True); "
    assert peers.printed("-c", hello, seconds=20) == [{"a": 1}]
    assert peers.printed("-c", hello + "time.sleep(60)", seconds=3) == [{"a": 1}]
    with pytest.raises(peers.UnavailableError, match=r"failed and is left out \(no luck\)\.$"):
        peers.printed("-c", "raise SystemExit('no luck')", seconds=20)


def test_latency_starts_the_command_twice(monkeypatch):
    from jumpnet.experiments.bench import latency

    caches = []
    monkeypatch.setattr(latency, "_seconds", lambda cache: caches.append(cache) or float(3 - len(caches)))
    monkeypatch.setattr(latency, "reliable", lambda: False)
    note, first, second, ratio = latency.latency(TINY, lambda text: None)
    assert note == "compiled code is not kept on this kind of machine, so the second run compiles again."
    assert (first["seconds"], second["seconds"], ratio["ratio"]) == (2.0, 1.0, 2.0) and caches[0] == caches[1]


def test_an_interruption_keeps_what_was_measured(jumpnet, elsewhere, monkeypatch):
    def interrupted(chosen, tell):
        yield {"problem": "pde2", "ratio": 2.0}
        raise KeyboardInterrupt

    monkeypatch.setattr(
        "jumpnet.experiments.bench.suite.COMPARISONS", {"step": Comparison("step", "Steps", "All.", interrupted)}
    )
    result = jumpnet("bench", "-o", "out")
    assert result.exit_code == 130
    assert "interrupted; kept" in result.stderr and "bench.md" in result.stderr
    assert "| pde2 | 2 |" in (elsewhere / "out" / "bench.md").read_text(encoding="utf-8")


def test_exponents():
    sizes = np.array([10.0, 20.0, 40.0])
    assert exponent(sizes, 3 * sizes**1.5) == pytest.approx(1.5, abs=1e-12)
    assert np.isnan(exponent([10.0], [1.0]))


def test_calls_take_turns():
    calls = []
    times = side_by_side(lambda: calls.append("a"), lambda: calls.append("b"), repeats=2)
    assert calls == ["a", "b"] * 3 and len(times) == 2 and min(times) >= 0


def test_the_report_is_valid_json_and_markdown():
    table = Table("step", "Steps", "All.")
    for item in ({"a": 1, "b": 0.123456}, {"a": 2, "c": np.inf}, Fit("time", "pieces", 1.5), "a note", "a note"):
        table.add(item)
    table.add(Curve("pde2", "ours", (1.0,), (np.nan,)))
    report = Report("jumpnet bench", machine(), [table])
    assert "| 1 | 0.123 | - |\n| 2 | - | - |" in report.markdown()
    assert "- time ~ pieces^1.50\n\n- a note\n" in report.markdown()
    assert json.loads(report.json())["tables"][0]["curves"][0]["error"] == [None]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of process groups")
def test_ctrl_c_in_the_middle_of_a_peer(tmp_path):
    """A process group gets the signal, as from a keyboard."""
    command = [sys.executable, "-m", "jumpnet", "bench", "--quick", "--only", "step,training", "-o", str(tmp_path)]
    said, pipe = [], subprocess.PIPE
    with subprocess.Popen(command, stderr=pipe, stdout=subprocess.DEVNULL, text=True, process_group=0) as process:
        for line in process.stderr or ():
            said.append(line)
            if "afternoon" in line:
                os.killpg(process.pid, signal.SIGINT)
    assert process.returncode == 130 and "interrupted; kept" in said[-1]
    assert "Traceback" not in "".join(said)


def test_evaluation_is_measured_beside_a_matrix_product():
    from jumpnet.experiments.bench.evaluation import EVALUATION

    rows = list(EVALUATION.measure(TINY, lambda text: None))
    assert [row["what"] for row in rows] == ["values", "values, pieces found", "gradients", "map 50 x 50"]
    assert all(row["ratio"] == pytest.approx(row["seconds"] / row["matrix product (s)"]) for row in rows)
