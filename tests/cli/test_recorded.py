"""The trials that come with the package: packed without loss, and one for every row of the page."""

import csv
import json
import math

import numpy as np
import pytest

from jumpnet.collocation import Points, Stream
from jumpnet.experiments.document import page
from jumpnet.experiments.predecessors import TEST_POINTS, in_ball
from jumpnet.experiments.recorded import FOLDER, Recorded, line_of, packed, record
from jumpnet.experiments.reproduction import SETTINGS, Reproduction, Wanted
from jumpnet.experiments.store import Store
from jumpnet.experiments.summary import summarise
from jumpnet.experiments.tables import NAMES, experiment, experiment_names, row
from jumpnet.experiments.trial import HYPERCUBE, Trial, run
from jumpnet.fields.piecewise import piecewise_values

LARGEST = 900_000  # bytes of all recorded trials, kept with the sources: ten of nearly all rows take 760,000


def result(trial: Trial, error: float, **more) -> dict:
    numbers = {"l2": error, "linf": 2 * error, "loss": math.nan, "steps": 10, "seconds": 1.0, "parameters": 255}
    about = {"finished": "2026-11-17 20:00 UTC", "versions": {"jumpnet": "0.1.0"}, "status": "trained"}
    return {"trial": trial.name, "spec": trial.spec, "message": "in words", **numbers, **about, **more}


def test_what_is_packed_comes_back(tmp_path):
    trials = [Trial(row("pde4"), "faithful", seed) for seed in (0, 1, 2)]
    errors = (1.23456789e-9, 2e-9, 3e-9)
    line = packed((trial, result(trial, error)) for trial, error in zip(trials, errors, strict=True))
    assert line["same"]["steps"] == 10 and "l2" not in line["same"] and math.isnan(line["same"]["loss"])
    (tmp_path / "pde4.jsonl").write_text(json.dumps(line) + "\n")
    recorded = Recorded(tmp_path)
    back = recorded.get(trials[0])
    assert back["l2"] == 1.23457e-9 and back["status"] == "trained" and back["trial"] == trials[0].name
    assert [recorded.get(trial)["l2"] for trial in trials[1:]] == [2e-9, 3e-9]
    assert recorded.get(Trial(row("pde4"), "faithful", 3)) is None
    assert recorded.get(Trial(row("pde4"), "faithful", 0, steps=5)) is None  # other settings
    assert recorded.get(Trial(row("pde4"), "default", 0)) is None


def test_the_directory_comes_first(tmp_path):
    trial = Trial(row("pde4"), "faithful", 0)
    line = packed([(trial, result(trial, 1e-9))])
    (tmp_path / "pde4.jsonl").write_text(json.dumps(line) + "\n")
    store = Store(tmp_path / "trials", Recorded(tmp_path))
    assert store.get(trial)["l2"] == 1e-9 and Store(tmp_path / "trials").get(trial) is None
    store.put(trial, result(trial, 5e-9))
    assert store.get(trial)["l2"] == 5e-9


def test_trials_of_a_directory_are_added_to_those_recorded_before(tmp_path):
    trials = [Trial(row("pde4"), "faithful", seed) for seed in (0, 1)]
    for folder, trial in zip(("one", "two"), trials, strict=True):
        Store(tmp_path / folder).put(trial, result(trial, 1e-9 * (trial.seed + 1)))
        assert record(tmp_path / folder, tmp_path / "into") == 1
    assert [Recorded(tmp_path / "into").get(trial)["l2"] for trial in trials] == [1e-9, 2e-9]


def test_a_summary_has_median_worst_and_spread():
    trial = Trial(row("pde4"), "faithful", 0)
    summary = summarise(row("pde4"), "faithful", [result(trial, e) for e in (1e-9, 1e-9, 1e-7)])
    assert summary.median == 1e-9 and summary.worst == 1e-7 and summary.l2 == pytest.approx(3.4e-8)
    assert summary.spread == pytest.approx(100 ** (math.sqrt(2) / 3)) and summary.statuses == "3 loss met"
    assert summary.median_ratio == pytest.approx(1e-9 / 2.33e-9) and summary.judged is None
    judged = summarise(row("pde4"), "faithful", [result(trial, 1e-9, judged=2e-9)])
    assert judged.judged == 2e-9 and judged.spread is None and judged.record()["judged"] == 2e-9


def test_a_judged_error_has_a_column_only_where_there_is_one(tmp_path):
    trial = Trial(row("pde4"), "faithful", 0)
    wanted = Wanted(("pde4",), ("CE",), ("faithful",), trials=1)
    for more, expected in (({}, False), ({"judged": 2e-9}, True)):
        Store(tmp_path).put(trial, result(trial, 1e-9, **more))
        text = page(Reproduction(wanted, Store(tmp_path)), [])
        assert ("| judged |" in text) is expected and "| pde4 CE D=1 | faithful | 1 | 2.3e-09 | 1.0e-09 |" in text


def test_the_predecessors_networks_have_its_numbers_of_parameters():
    dims = {"dcsnn3d": 3, "dcsnn6d": 6, "dcsnn10d": 10}
    lines = experiment("predecessors").rows
    sizes = {(line.problem, line.method): line.model.network(dims[line.problem], 2).size for line in lines}
    assert sizes["dcsnn3d", "SE"] == 180 >= sizes["dcsnn3d", "CE"]
    assert sizes["dcsnn6d", "SE"] == 90 >= sizes["dcsnn6d", "CE"]
    assert all(line.measure.startswith("relative_l2") for line in lines)


def test_six_dimensional_points_and_errors_are_drawn_as_the_predecessor_does():
    line = next(line for line in experiment("predecessors").rows if line.problem == "dcsnn6d")
    problem, rule = line.stated(), line.counts
    drawn, same, other = (rule(problem.partition, 0, stream) for stream in (Stream.TRAIN, Stream.TRAIN, Stream.TEST))
    assert drawn.counts() == Points(100, 141, 141) and np.array_equal(drawn.interior, same.interior)
    assert not np.array_equal(drawn.interior, other.interior)
    # Each hundredth of the square of the radius has one point; those above (5/6)^2 are in the outer piece.
    squares = np.sort((drawn.interior**2).sum(axis=1)) / 0.36
    assert np.array_equal(np.floor(100 * squares), np.arange(100)) and (drawn.piece == 0).sum() in (30, 31)
    (at, normal), outward = drawn.interfaces[0, 1], drawn.boundary_normal
    assert np.allclose(at, 0.5 * normal) and np.allclose(drawn.boundary, 0.6 * outward)
    assert np.allclose(np.linalg.norm(outward, axis=1), 1) and np.unique(outward[:, 5]).size == 141
    found = run(Trial(line, "faithful", 0, steps=2))
    assert found["steps"] == 2 and 0 < found[HYPERCUBE] != found["relative_l2"]


def test_zero_outside_has_the_published_error_in_six_dimensions():
    problem = next(line for line in experiment("predecessors").rows if line.problem == "dcsnn6d").stated()
    x = in_ball(problem.partition, TEST_POINTS, np.random.default_rng(0))
    piece = problem.partition.label(x)
    u = piecewise_values(problem.exact, x, piece)
    assert 6.9e-6 < np.linalg.norm(u[piece == 0]) / np.linalg.norm(u) < 7.1e-6


def test_recorded_trials_are_of_the_present_settings_and_small():
    recorded = Recorded()
    wanted = Wanted(experiment_names(), settings=SETTINGS)
    known = {line_of(trial) for line in wanted.lines() for trial in wanted.trials_of(*line) if recorded.get(trial)}
    stored = {json.loads(text)["line"] for path in FOLDER.glob("*.jsonl") for text in path.read_text().splitlines()}
    assert stored == known  # a row whose settings changed has to be computed again
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < LARGEST


def test_the_page_of_the_recorded_trials(jumpnet, elsewhere):
    result = jumpnet("reproduce", *NAMES, "--models", "CE,SE,OH", "--setting", "both", "--stored", "-o", "out")
    assert result.exit_code == 0, result.stderr
    lines = list(csv.DictReader((elsewhere / "out/reproduction.csv").read_text().splitlines()))
    mean = [float(x["L2_ratio"]) for x in lines if x["setting"] == "default" and x["L2_ratio"]]
    median = [float(x["L2_median_ratio"]) for x in lines if x["setting"] == "faithful" and x["L2_median_ratio"]]
    assert len(mean) >= 40 and max(mean) <= 1
    # The aim is 50 of 52; what is recorded must not get worse unnoticed. Which rows miss is on the page.
    assert len(median) >= 30 and sum(ratio > 3 for ratio in median) <= 0.15 * len(median)
