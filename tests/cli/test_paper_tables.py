"""The paper's tables as data: complete, runnable, and with the paper's numbers of parameters."""

import pytest

from jumpnet.errors import ProblemError
from jumpnet.experiments import problems
from jumpnet.experiments.demo import cases
from jumpnet.experiments.summary import summarise
from jumpnet.experiments.tables import CHAINS, NAMES, Outcome, paper_rows, row, rows, run_row
from jumpnet.optim import LevenbergMarquardt, Status
from jumpnet.solution import Errors

DIM = dict.fromkeys(NAMES, 2) | {"fa2": 1, "pde1": 1, "pde5": 3}


def test_every_network_of_the_tables_has_a_row():
    networks = [r for r in paper_rows() if r.method in ("CE", "SE", "OH")]
    assert list(rows()) == networks and len(networks) == 56
    assert {r.table for r in networks} == set(NAMES)
    assert len({str(r) for r in networks}) == len(networks)


@pytest.mark.parametrize("line", [r for r in rows() if not isinstance(r.model, type(None))], ids=str)
def test_parameter_counts_are_the_papers(line):
    from jumpnet.models import ScalarEncoding

    model = line.model
    if isinstance(model, ScalarEncoding):  # mean labels become numbers in the driver; their values do not count
        model = ScalarEncoding(labels=tuple(range(line.pieces)), neurons=line.neurons)
    assert model.network(DIM[line.table], line.pieces).size == line.parameters


def test_points_and_charts():
    assert row("fa1").points == (880, 120, 0) and row("fa1").charts == "box"
    assert row("pde4").points == (324, 72, 72) and row("pde5").points == (324, 144, 144)
    assert row("pde1", pieces=100, dim=10).points[0] == 2000 and row("pde1", pieces=10, dim=1).points[0] == 1000
    assert row("pde1", pieces=10, dim=1).charts == "local"
    assert row("pde5").neurons == 100


def test_the_demo_compares_with_the_right_numbers():
    paper = cases()[0].paper
    assert paper is not None and (paper.l2, paper.linf) == (2.33e-9, 2.28e-8)


def test_failures_of_the_paper_have_no_number():
    line = row("fa2", "SE", pieces=10, label="index")
    assert line.l2 is None
    summary = summarise(line, [Outcome(Errors(1.0, 2.0, 1.0, 10), Status.STALLED, 5, 0.1)])
    assert summary.l2_ratio is None and summary.worst_ratio is None and summary.converged == 0


def test_summaries_are_means_and_worst_cases():
    outcomes = [Outcome(Errors(e, 2 * e, e, 10), Status.CONVERGED, 10, 1.0) for e in (1e-9, 3e-9)]
    summary = summarise(row("pde4"), outcomes)
    assert summary.l2 == pytest.approx(2e-9) and summary.linf == pytest.approx(4e-9)
    assert summary.worst_ratio == pytest.approx(3e-9 / 2.33e-9)
    assert summary.record()["converged"] == 2 and summary.seeds()[1]["seed"] == 1


def test_rows_that_do_not_exist():
    for wrong in (lambda: rows(("pde7",)), lambda: rows(models=("FEM",)), lambda: row("pde1")):
        with pytest.raises(ProblemError):
            wrong()


def test_a_row_runs():
    outcome = run_row(row("fa2", "SE", pieces=5, label="mean"), 0, optimizer=LevenbergMarquardt(steps=3))
    assert outcome.steps == 3 and outcome.status is Status.STEP_LIMIT and outcome.errors.points == 10_000


def test_every_table_is_a_problem():
    assert all(hasattr(problems, name) for name in NAMES) and set(CHAINS) <= set(NAMES)
