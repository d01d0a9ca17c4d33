"""`jumpnet reproduce`: prints, keeps, goes on; in this process and in others."""

import csv
import os
import re

import pytest

import jumpnet as jn
from jumpnet.experiments.tables import NAMES, STUDIES, row
from jumpnet.experiments.trial import Trial, run_until
from jumpnet.judge import judge
from jumpnet.studies import running

pytestmark = pytest.mark.usefixtures("blank_images")

SHORT = ("--steps", "2", "--jobs", "1", "-o", "out")


@pytest.fixture(autouse=True, scope="module")
def judged_once():
    """The judge takes seconds for a network of two steps: all have the verdict of another solution."""
    verdict = judge(jn.solve(jn.Problem(jn.Partition.chain([0.0, 0.5, 1.0]), f=1.0), method="fem", verify=False))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jumpnet.experiments.trial.judge", lambda solution: verdict)
        patch.setattr("jumpnet.solving.choice.verified", lambda problem, found, *_, **__: found)
        yield


def test_a_table(jumpnet, elsewhere):
    result = jumpnet("reproduce", "pde4", "--trials", "2", "--models", "ce,solve", *SHORT)
    assert result.exit_code == 0, result.stderr
    estimate, heading, line = result.stdout.splitlines()[:3]
    assert estimate.startswith("4 trials to compute, 1 at a time; about") and "ratio" in heading
    assert line.startswith("pde4 CE D=1") and "2.33e-09" in line and "2 step limit" in line
    ce, by_itself = csv.DictReader((elsewhere / "out/reproduction.csv").read_text().splitlines())
    assert float(ce["L2"]) > 0 and ce["steps"] == "2.0" and ce["trials"] == "2" and by_itself["method"] == "solve"
    page = (elsewhere / "out/reproduction.md").read_text()
    assert "| pde4 CE D=1 | default | 2 | 2.3e-09 |" in page and "never edited" in page
    again = jumpnet("reproduce", "pde4", "--trials", "2", "--models", "ce,solve", *SHORT)
    assert "to compute" not in again.stdout and line in again.stdout
    more = jumpnet("reproduce", "pde4", "--trials", "5", "--models", "ce", "--stored", *SHORT)
    assert "to compute" not in more.stdout and "2 step limit" in (elsewhere / "out/reproduction.md").read_text()


@pytest.mark.parametrize(
    ("tables", "figures"),
    [
        (("fa1", "maps"), {"maps-fa1.png"}),
        pytest.param(
            (*NAMES, *STUDIES),
            {"optimizers.png", "maps-pde2-domain.png", "maps-fa1.png", "embedding-fa2-D2.png"},
            marks=pytest.mark.slow,
        ),
    ],
    ids=["two", "all"],
)
def test_experiments_reduced(jumpnet, elsewhere, tables, figures):
    result = jumpnet("reproduce", *tables, "--quick", "--models", "CE", *SHORT)
    assert result.exit_code == 0, result.stderr
    lines = list(csv.DictReader((elsewhere / "out/reproduction.csv").read_text().splitlines()))
    assert {line["table"] for line in lines} == set(tables)
    assert {line["setting"] for line in lines} == {"default", "faithful"} and all(line["L2"] for line in lines)
    page = (elsewhere / "out/reproduction.md").read_text()
    shown = set(re.findall(r"\(reproduction/(.*?)\)", page))
    assert (
        shown == {path.name for path in (elsewhere / "out/reproduction").iterdir()}
        and "compares nothing" in page
        and "ratio" not in page
        and "2.3e-09" not in page
    )
    assert figures <= shown


def test_interrupted_what_is_done_is_kept(jumpnet, monkeypatch, elsewhere):
    work, calls = "jumpnet.experiments.reproduction.run_until", []

    def twice(trial, stopped):
        calls.append(trial)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run_until(trial, stopped)

    monkeypatch.setattr(work, twice)
    first = jumpnet("reproduce", "fa1", "--trials", "2", "--models", "SE,CE", *SHORT)
    assert first.exit_code == 130 and len(list((elsewhere / "out/trials").rglob("*.json"))) == 1
    monkeypatch.setattr(work, lambda trial, stopped: calls.append(trial) or run_until(trial, stopped))
    second = jumpnet("reproduce", "fa1", "--trials", "2", "--models", "SE,CE", *SHORT)
    assert second.exit_code == 0 and ", 1 kept from before" in second.stdout
    assert len(calls) == 2 + 3 and len({trial.name for trial in calls[2:]} | {calls[0].name}) == 4


def test_a_process_of_its_own_gives_what_this_process_gives():
    trials = [Trial(row("fa2", "SE", pieces=5, label="mean"), "default", seed, steps=3) for seed in range(2)]
    alone = {trial: record["l2"] for trial, record in running.in_turn(run_until, trials)}
    elsewhere = {trial: record["l2"] for trial, record in running.in_processes(run_until, trials, 1)}
    assert elsewhere == alone


class Fatal:
    """What ends the process that reads it."""

    def __reduce__(self):
        return os._exit, (9,)


def test_a_worker_that_dies_is_said_in_one_sentence():
    with pytest.raises(running.WorkerError, match="what was done is kept"):
        list(running.in_processes(run_until, [Fatal()], 1, breaks=0))  # each try starts a process
