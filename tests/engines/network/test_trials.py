"""Several seeds at once: the bits of one after the other, Ctrl-C, failures, progress, and the process's BLAS limit."""

import _thread
import itertools
import threading
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from training import trained

import jumpnet as jn
from jumpnet.engines.progress import _Course
from jumpnet.linalg.threads import one_blas_thread
from jumpnet.optim import LevenbergMarquardt, Status

OPTIONS: dict[str, Any] = {
    "model": jn.models.CategoricalEmbedding(neurons=8),
    "optimizer": LevenbergMarquardt(steps=8),
    "points": (50, 2, 1),
}
pytestmark = pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")


@pytest.fixture(scope="module")
def each(chain: jn.Problem) -> list[jn.Solution]:
    return [trained(jn.solve, chain, seed=seed, **OPTIONS) for seed in (0, 1, 2)]


@pytest.mark.parametrize("workers", [1, 2, 3, None])
def test_trials_return_the_seed_with_the_smallest_held_out_loss(
    chain: jn.Problem, each: list[jn.Solution], workers: int | None
) -> None:
    best = trained(jn.solve, chain, seed=0, trials=3, workers=workers, **OPTIONS)
    assert best.held_out_loss == min(one.held_out_loss for one in each)
    alone = each[best.seed]
    assert np.array_equal(best.theta, alone.theta) and np.array_equal(best.history.loss, alone.history.loss)
    told = [(trial.seed, trial.held_out_loss, trial.status, trial.steps) for trial in best.report().seeds]
    assert told == [(s.seed, s.held_out_loss, Status.STEP_LIMIT, 8) for s in each]
    x, piece = chain.partition.sample_interior(4000, seed=5)
    values = np.array([one(x, piece) for one in each])
    largest = np.sqrt(np.mean((values - values.mean(axis=0)) ** 2, axis=1)).max()
    assert best.report().spread == pytest.approx(largest, rel=0.2)
    assert "off by up to" in str(best.report())


def test_the_report_shows_every_seed_also_after_loading(chain: jn.Problem, tmp_path: Any) -> None:
    best = trained(jn.solve, chain, seed=5, trials=2, **OPTIONS)
    best.save(tmp_path / "a.jumpnet")
    for text in (str(best.report()), str(jn.load(tmp_path / "a.jumpnet").report())):
        assert "the best of 2" in text and text.count("8 steps   step_limit") == 2
        assert "seed 5" in text and "seed 6" in text
    assert "seed" not in str(trained(jn.solve, chain, **OPTIONS).report())


def test_approximations_have_trials_too() -> None:
    best = trained(jn.approximate, jn.Partition.chain([0.0, 0.6, 1.0]), ["x", "x**2"], trials=2, workers=2, **OPTIONS)
    assert [t.seed for t in best.diagnostics.trials] == [0, 1]


def endless(**changes: Any) -> dict[str, Any]:
    return OPTIONS | {"optimizer": LevenbergMarquardt(steps=10**6, tol=0.0, stall=None)} | changes


def test_ctrl_c_in_the_waiting_thread_stops_all_and_keeps_the_best(chain: jn.Problem) -> None:
    seen: set[int] = set()

    def interrupt_once_both_run(record: Any, best: float) -> None:
        assert threading.current_thread() is not threading.main_thread()
        seen.add(threading.get_ident())
        if len(seen) == 2 and record.step >= 5:
            seen.add(0)
            _thread.interrupt_main()

    found = trained(jn.solve, chain, trials=4, workers=2, **endless(progress=interrupt_once_both_run))
    assert found.status is Status.INTERRUPTED and np.isfinite(found([[0.3]])).all()
    spread = found.diagnostics.trials
    assert [t.status for t in spread] == [Status.INTERRUPTED] * 2, "no other seed was begun"
    assert found.held_out_loss == min(t.held_out_loss for t in spread)


def test_an_interrupt_by_the_progress_function_stops_all(chain: jn.Problem) -> None:
    def stop(record: Any, best: float) -> None:
        if record.step == 20:
            raise KeyboardInterrupt

    found = trained(jn.solve, chain, trials=3, workers=2, **endless(progress=stop))
    assert found.status is Status.INTERRUPTED and len(found.diagnostics.trials) <= 2


def test_a_failing_trial_ends_the_others_and_is_told(chain: jn.Problem) -> None:
    def fail(record: Any, best: float) -> None:
        if record.step == 10:
            raise OSError("no paper")

    with pytest.raises(OSError, match="no paper"):
        trained(jn.solve, chain, trials=3, workers=2, **endless(progress=fail))
    assert not [t for t in threading.enumerate() if t.name.startswith("jumpnet-trial")]


def test_progress_is_told_one_at_a_time(chain: jn.Problem) -> None:
    inside, most, steps = 0, 0, 0

    def count(record: Any, best: float) -> None:
        nonlocal inside, most, steps
        inside += 1
        most, steps = max(most, inside), steps + 1
        inside -= 1

    trained(jn.solve, chain, trials=4, workers=4, **OPTIONS | {"progress": count})
    assert most == 1 and steps == 4 * 8


def test_steps_of_trainings_at_once_are_counted_together() -> None:
    course = _Course()

    def train() -> None:
        for start in (range(1, 61), range(1, 61), range(61, 101)):
            for step in start:
                course.advance(step, 1.0)

    threads = [threading.Thread(target=train) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert course.done == 2 * 160


@pytest.mark.parametrize("workers", [0, -1, 1.5, "two"])
def test_wrong_workers_are_refused(chain: jn.Problem, workers: Any) -> None:
    with pytest.raises(jn.ModelError, match=r"workers is .*; give a whole number.*\.$"):
        jn.solve(chain, method=jn.Network(trials=2, workers=workers))


# --- the BLAS limit --------------------------------------------------------------------------------------------------


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"}


class Visitor(threading.Thread):
    """A thread that enters the limit, stays until told, and leaves."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.told = threading.Event(), threading.Event()

    def run(self) -> None:
        with one_blas_thread():
            self.entered.set()
            self.told.wait(10)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
def test_the_limit_holds_until_the_last_one_leaves_and_is_then_put_back(order: tuple[int, ...]) -> None:
    before = blas_threads()
    limit = threadpoolctl.ThreadpoolController().limit(limits=2, user_api="blas")
    clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", lambda **_: None)
    clear(force=True)
    if blas_threads() != {2}:
        pytest.skip("this BLAS cannot be given two threads")
    try:
        visitors = [Visitor() for _ in range(3)]
        for visitor in visitors:
            visitor.start()
            assert visitor.entered.wait(10)
        for index in order:
            assert blas_threads() == {1}
            visitors[index].told.set()
            visitors[index].join()
        assert blas_threads() == {2}
    finally:
        limit.restore_original_limits()
        clear(force=True)
    assert blas_threads() == before
