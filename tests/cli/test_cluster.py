"""Trials on a dask.distributed scheduler: in this process, and (slow) with two workers, one of which is killed."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import jumpnet as jn
from jumpnet.errors import JumpnetError
from jumpnet.experiments.reproduction import Reproduction, Wanted
from jumpnet.experiments.store import Store
from jumpnet.experiments.trial import run_until
from jumpnet.studies import running

pytest.importorskip("distributed")


@pytest.fixture
def cluster(tmp_path):
    """The scheduler's address and the processes of two workers."""
    file = tmp_path / "scheduler.json"
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    started = []

    def start(*arguments: str) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
        with open(tmp_path / f"log{len(started)}", "wb") as log:
            process = subprocess.Popen(command, env=environment, cwd=tmp_path, stdout=log, stderr=log)
        started.append(process)
        return process

    try:
        here = ("--host", "127.0.0.1")
        start("dask_scheduler", *here, "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        how = ("--nworkers", "1", "--nthreads", "1", "--no-dashboard", "--no-nanny", "--scheduler-file", str(file))
        workers = [start("dask_worker", *how) for _ in range(2)]
        deadline = time.monotonic() + 60
        while not (file.exists() and file.read_text().endswith("}")) and time.monotonic() < deadline:  # written whole
            time.sleep(0.1)
        yield json.loads(file.read_text())["address"], workers
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.filterwarnings("ignore")  # sockets and loops of dask's own, closed late
def test_a_cluster_computes_what_this_process_computes(tmp_path):
    from distributed import LocalCluster

    trials = Reproduction(Wanted(("fa1",), ("SE",), trials=2, steps=3), Store(tmp_path / "trials")).trials
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        found = running.on_cluster(run_until, trials, cluster.scheduler_address, lambda trial: trial.name)
        there = {trial.name: record["l2"] for trial, record in found}
    alone = {trial.name: record["l2"] for trial, record in running.in_turn(run_until, trials)}
    assert there == alone and len(there) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_worker_killed_in_mid_run_loses_nothing(cluster, tmp_path):
    address, workers = cluster
    wanted = Wanted(("fa1",), ("SE",), trials=4, steps=10)
    found = Reproduction(wanted, Store(tmp_path / "trials"))
    done = []
    for trial, record in found.run(cluster=address):
        done.append(trial.name)
        assert record["steps"] == 10
        if len(done) == 1:
            workers[0].send_signal(signal.SIGKILL)
    assert sorted(done) == sorted(trial.name for trial in found.trials) and len(set(done)) == len(done) == 4
    assert Reproduction(wanted, Store(tmp_path / "trials")).waiting == []
    assert workers[0].wait(10) == -signal.SIGKILL and workers[1].poll() is None


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_sweep_on_a_cluster_is_the_same_table_bit_for_bit(cluster, tmp_path):
    address, workers = cluster
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((-0.4, 0), 0.3), jn.Disk((0.4, 0), 0.3)])
    problem = jn.Problem(parts, A=[1, "k", "k"], boundary=jn.Dirichlet("x1"), constants={"k": 1})
    vary, wanted = {"k": jn.Span(1e-2, 1e3, 12)}, {"through": ("flux", "right"), "mean": ("mean", 1)}

    def killing(done, total, left):
        if done == 1:
            workers[0].send_signal(signal.SIGKILL)

    table = jn.sweep(problem, vary, wanted, cluster=address, progress=killing)
    assert table.ok and table.to_csv() == jn.sweep(problem, vary, wanted).to_csv()
    assert workers[0].wait(10) == -signal.SIGKILL


def test_no_scheduler_is_said_in_one_sentence():
    with pytest.raises(JumpnetError, match="dask scheduler"):
        list(running.on_cluster(run_until, [], "tcp://127.0.0.1:9", str, patience=1.0))


def test_without_dask_there_is_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(JumpnetError, match=r"pip install 'jumpnet\[cluster\]'"):
        list(running.on_cluster(run_until, [], "tcp://127.0.0.1:9", str, patience=1.0))
