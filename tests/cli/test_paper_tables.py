"""The experiments as data: complete, with the paper's numbers of parameters; trials, their store, summaries."""

import json

import pytest

from jumpnet.errors import ProblemError
from jumpnet.experiments import cost
from jumpnet.experiments.demo import case
from jumpnet.experiments.reproduction import Reproduction, Wanted
from jumpnet.experiments.store import Store
from jumpnet.experiments.summary import summarise
from jumpnet.experiments.tables import NAMES, NETWORKS, STUDIES, _published, experiment, row, rows
from jumpnet.experiments.trial import Trial, run, thinned
from jumpnet.optim import LevenbergMarquardt

DIM = dict.fromkeys(NAMES, 2) | {"fa2": 1, "pde1": 1, "pde5": 3}
NETWORK_ROWS = rows(NAMES, NETWORKS)


def test_every_row_of_the_paper_has_one_here():
    ours = [(r.table, r.pieces, r.method, r.label, r.dim) for r in rows() if r.published]
    papers = [key for key in _published() if key[2] in NETWORKS]
    assert [key for key in ours if key[2] in NETWORKS] == papers and len(papers) == 56
    assert {r.table for r in NETWORK_ROWS} == set(NAMES)


def test_rows_have_names_of_their_own():
    for name in (*NAMES, *STUDIES):
        names = [Trial(r, "default", 0).name for r in experiment(name).rows]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("line", NETWORK_ROWS, ids=str)
def test_parameter_counts_are_the_papers(line):
    from jumpnet.models import ScalarEncoding

    model = line.model
    if isinstance(model, ScalarEncoding):  # mean labels become numbers in the engine; their values do not count
        model = ScalarEncoding(labels=tuple(range(line.pieces)), neurons=line.neurons)
    assert model.network(DIM[line.table], line.pieces).size == line.parameters


def test_points_and_charts():
    assert row("fa1").points == (880, 120, 0) and row("fa1").charts == "box"
    assert row("pde4").points == (324, 72, 72) and row("pde5").points == (324, 144, 144)
    assert row("pde1", pieces=100, dim=10).points[0] == 2000 and row("pde1", pieces=10, dim=1).points[0] == 1000
    assert row("pde1", pieces=10, dim=1).charts == "local"
    assert row("pde5").neurons == 100


def test_the_demo_compares_with_the_right_numbers():
    paper = case().paper
    assert (paper.l2, paper.linf) == (2.33e-9, 2.28e-8)


def result(error: float, status: str = "converged") -> dict:
    when = {"finished": "2026-01-01 10:00 UTC", "versions": {"jumpnet": "0.1.0"}}
    return {"l2": error, "linf": 2 * error, "status": status, "steps": 10, "seconds": 1.0, "parameters": 255} | when


def test_failures_of_the_paper_have_no_number():
    line = row("fa2", "SE", pieces=10, label="index")
    summary = summarise(line, "default", [result(1.0, "stalled")])
    assert line.published and line.l2 is None
    assert summary.l2_ratio is None and summary.converged == 0 and summary.statuses == "1 stalled"


def test_summaries_are_means_and_worst_cases():
    refused = {"status": "refused", "message": "labels are equal", "seconds": 0.0}
    summary = summarise(row("pde4"), "faithful", [result(1e-9), result(3e-9), refused])
    assert summary.l2 == pytest.approx(2e-9) and summary.linf == pytest.approx(4e-9)
    assert summary.worst == 3e-9 and summary.l2_ratio == pytest.approx(2e-9 / 2.33e-9)
    assert summary.converged == 2 and summary.statuses == "2 loss met, 1 refused"
    assert summarise(row("pde4"), "default", [refused]).l2 is None


def test_rows_that_do_not_exist():
    for wrong in (lambda: rows(("pde7",)), lambda: rows(methods=("MLP",)), lambda: row("pde1"), lambda: row("x")):
        with pytest.raises(ProblemError):
            wrong()


MEAN = row("fa2", "SE", pieces=5, label="mean")


@pytest.mark.parametrize("setting", ["default", "faithful"])
def test_a_trial_runs(setting):
    record = run(Trial(MEAN, setting, 0, steps=3))
    assert record["steps"] == 3 and record["status"] == "step_limit" and record["test_points"] == 10_000
    assert record["parameters"] == 200 and record["versions"]["jumpnet"] and json.dumps(record)
    assert ("preset" in record["spec"]) == (setting == "faithful")


def test_what_is_refused_is_a_result():
    from dataclasses import replace

    record = run(Trial(replace(MEAN, method="separate", label="", neurons=500), "default", 0, steps=3))
    assert record["status"] == "refused" and "at least twice as many points" in record["message"]


def test_an_interruption_is_no_result(monkeypatch):
    with pytest.raises(KeyboardInterrupt):
        from jumpnet.experiments.trial import interrupting

        run(Trial(MEAN, "default", 0, steps=3), interrupting(lambda: True))


def test_histories_are_thinned():
    import numpy as np

    from jumpnet.optim import History

    loss = np.r_[np.geomspace(1, 1e-9, 5000), 1.0]
    kept = thinned(History(step=np.arange(5001), loss=loss), 50)
    assert len(kept) == 50 and kept[0] == (1, 1.0) and kept[-1] == (5001, pytest.approx(1e-9))
    assert thinned(History()) == []


def test_the_store_keeps_whole_results_of_the_same_settings(tmp_path):
    store, trial = Store(tmp_path), Trial(MEAN, "default", 0, steps=3)
    assert store.get(trial) is None
    store.put(trial, {"trial": trial.name, "spec": trial.spec, **result(1e-9)})
    assert store.get(trial)["l2"] == 1e-9
    assert store.get(Trial(MEAN, "default", 0, steps=4)) is None  # other settings
    (path,) = tmp_path.rglob("*.json")
    path.write_text(path.read_text()[:40])
    assert store.get(trial) is None  # half a file, as after a crash of the disk
    path.write_text("[]")
    assert store.get(trial) is None


def test_a_second_run_computes_nothing(tmp_path, monkeypatch):
    asked = []
    work = "jumpnet.experiments.reproduction.run_until"
    monkeypatch.setattr(work, lambda trial, stopped: asked.append(trial.name) or _as_if(trial))
    wanted = Wanted(("fa1",), ("CE", "OH"), ("default", "faithful"), trials=2)
    first = Reproduction(wanted, Store(tmp_path))
    steps = first.run()
    next(steps)
    steps.close()  # interrupted after one
    second = Reproduction(wanted, Store(tmp_path))
    assert len(second.waiting) == len(second.trials) - 1 == 7 and second.clock.left(1) > 0
    assert len(list(second.run())) == 7 and len(set(asked)) == len(asked) == 8
    assert Reproduction(wanted, Store(tmp_path)).waiting == []
    assert len(Reproduction(wanted, Store(tmp_path), again=True).waiting) == 8
    assert [len(s.records) for s in second.summaries()] == [2] * 4


def _as_if(trial: Trial) -> dict:
    return {"trial": trial.name, "spec": trial.spec, **result(1e-9)}


def test_what_a_quick_run_wants():
    lines = Wanted(settings=("default", "faithful"), quick=True).lines()
    assert {row.table for row, _ in lines} == {*NAMES, *STUDIES} and len(set(lines)) == len(lines)
    assert all(setting == "default" for row, setting in lines if row.method == "solve")
    quick = Wanted(quick=True).trials_of(MEAN, "default")
    assert len(quick) == 1 and isinstance(quick[0].optimizer, LevenbergMarquardt) and quick[0].optimizer.steps == 60


def test_times_are_guessed_and_then_measured():
    small, large = (Trial(row("fa2", "OH", pieces=p), "faithful", 0) for p in (5, 100))
    assert 0 < cost.guess(small) < cost.guess(large)
    clock = cost.Clock.of([small, large], [])
    before = clock.left(1)
    clock.tell(small, {"seconds": 10 * cost.guess(small)})
    assert clock.left(1) > 5 * cost.guess(large) and clock.left(2) == clock.left(1) / 2 and before > 0
    assert [cost.spoken(s) for s in (20, 600, 7200)] == ["20 s", "10 min", "2.0 h"]


def test_the_recommended_label_is_the_shortest_that_is_good_enough():
    from jumpnet.experiments.document import recommended
    from jumpnet.experiments.figures import dimensions

    study = [r for r in experiment("embedding").rows if r.study and r.pieces == 50]
    errors = {1: 1e-3, 2: 1e-5, 5: 5e-9, 10: 1e-9, 15: 2e-9, "auto": 1e-9}
    found = [summarise(r, "default", [result(errors[r.dim])]) for r in study]
    assert recommended(found) == 5 and recommended([]) is None
    assert dimensions(found).axes[0].get_xlabel() == "D"
