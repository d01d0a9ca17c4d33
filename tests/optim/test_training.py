"""The optimisers on small problems against scipy and optimistix, and every way in which a training can end."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import least_squares

import jumpnet as jn
from jumpnet._precision import float64
from jumpnet.optim import LBFGS, Adam, History, LevenbergMarquardt, Record, Status, minimise
from jumpnet.optim.loop import Leg, Stop

EPS = np.finfo(float).eps


def rosenbrock(theta: Any) -> Any:
    return jnp.stack([10 * (theta[1] - theta[0] ** 2), 1 - theta[0]])


T = np.linspace(0, 2, 15)


def exponentials(theta: Any) -> Any:
    """A fit that does not reach zero: the data are not of the model's form."""
    return theta[0] * jnp.exp(-theta[1] * T) + theta[2] - jnp.asarray(1 / (1 + T) ** 2 + 0.1 * np.sin(5 * T))


def _square(function: Callable[[Any], Any], theta: Any, data: Any) -> Any:
    return jnp.sum(function(theta) ** 2)


@dataclass(eq=False)
class Small:
    """A least-squares problem of a few unknowns, in the form the optimisers want; two terms: first row and the rest."""

    function: Callable[[Any], Any]
    size: int
    terms: tuple[str, ...] = ("first", "rest")
    output: np.ndarray = field(default_factory=lambda: np.arange(0))

    def __post_init__(self) -> None:
        # Made once, so that compiled code is found again.
        self._both = jax.jit(lambda theta: (self.function(theta), jax.jacfwd(self.function)(theta)))
        self._objective = partial(_square, self.function)

    def residual(self, theta: np.ndarray) -> np.ndarray:
        return self.linearised(theta)[0]

    def linearised(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with float64():
            r, J = self._both(jnp.asarray(theta))
            return np.asarray(r), np.asarray(J)

    def output_columns(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        r, J = self.linearised(theta)
        return r, J[:, self.output]

    def loss_of_terms(self, residual: np.ndarray) -> np.ndarray:
        return np.array([residual[0] ** 2, np.sum(residual[1:] ** 2)])

    def objective(self) -> tuple[Callable, Any]:
        return self._objective, jnp.zeros(0)


ROSENBROCK = Small(rosenbrock, 2)
FIT = Small(exponentials, 3)
START = np.array([-1.2, 1.0])
FIT_START = np.array([1.0, 0.5, 0.0])
LM = partial(LevenbergMarquardt, steps=200, tol=1e-15, polish=0)


# --- against other programs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["qr", "cholesky", "auto"])
def test_levenberg_marquardt_finds_the_zero_of_rosenbrock(step: Any) -> None:
    result, _ = minimise(LM(step=step, tol=1e-20), ROSENBROCK, START)
    assert result.status is Status.CONVERGED and result.loss <= 1e-20
    np.testing.assert_allclose(result.theta, 1, atol=1e-9)


@pytest.mark.parametrize("step", ["qr", "cholesky", "auto"])
def test_levenberg_marquardt_against_scipy_where_the_residual_stays(step: Any) -> None:
    oracle = least_squares(FIT.residual, FIT_START, jac=lambda t: FIT.linearised(t)[1], xtol=1e-15, ftol=1e-15)
    result, _ = minimise(LM(step=step, tol=0.0), FIT, FIT_START)
    assert result.loss == pytest.approx(2 * oracle.cost, rel=1e-9)
    np.testing.assert_allclose(result.theta, oracle.x, rtol=1e-4, atol=1e-4)


def test_levenberg_marquardt_against_optimistix() -> None:
    import optimistix

    with float64():
        oracle = optimistix.least_squares(
            lambda t, _: exponentials(t), optimistix.LevenbergMarquardt(1e-10, 1e-10), jnp.asarray(FIT_START)
        )
        expected = np.asarray(oracle.value)
    result, _ = minimise(LM(tol=0.0), FIT, FIT_START)
    np.testing.assert_allclose(result.theta, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("optimizer", [Adam(rate=0.05, steps=3000), LBFGS(steps=300)], ids=["Adam", "LBFGS"])
def test_gradient_methods_against_scipy(optimizer: Any) -> None:
    oracle = least_squares(FIT.residual, FIT_START)
    result, _ = minimise(optimizer, FIT, FIT_START)
    assert result.loss == pytest.approx(2 * oracle.cost, rel=1e-5)
    np.testing.assert_allclose(result.theta, oracle.x, rtol=1e-2, atol=1e-2)


def test_lbfgs_converges_on_rosenbrock() -> None:
    result, _ = minimise(LBFGS(steps=300, tol=1e-15), ROSENBROCK, START)
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.theta, 1, atol=1e-6)


# --- how a training ends ---------------------------------------------------------------------------------------------


def test_the_step_limit() -> None:
    result, _ = minimise(LM(steps=3), ROSENBROCK, START)
    assert result.status is Status.STEP_LIMIT and result.steps == len(result.history) == 3
    assert "limit of steps" in str(result.status) and not result.status.ok


def test_the_time_limit() -> None:
    result, _ = minimise(LM(tol=0.0, time_limit=1e-9), FIT, FIT_START)
    assert result.status is Status.TIME_LIMIT and result.steps == 1
    assert "time limit" in str(result.status)


def test_a_stall() -> None:
    result, _ = minimise(LM(tol=0.0, stall=15), FIT, FIT_START)
    assert result.status is Status.STALLED and 15 <= result.steps < 200
    assert "progress stopped" in str(result.status)


@pytest.mark.parametrize(
    "losses, limit, ends",
    [
        (np.logspace(0, -8, 150), 1000, False),  # 4 decades in the second half: 7 more in 131 steps
        (np.logspace(0, -7, 300), 520, True),  # 8 more decades at 3.5 in 150 steps, with 220 left
        (np.logspace(0, -8, 150), 250, False),  # no other could do anything with the 100 steps left
        (np.r_[np.logspace(0, -1, 225), np.logspace(-1, -6.5, 75)], 510, False),  # it has just begun
        (np.r_[np.logspace(0, -8, 75), np.full(75, 1e-8)], 1000, True),
        (np.r_[np.logspace(0, -8, 75), np.full(15, 1e-8)], 1000, False),  # too early to say
        (np.r_[np.logspace(0, -4, 75), np.full(75, 1e-4)], 1000, False),  # not yet on its way down
        (np.r_[np.logspace(0, -16, 75), np.full(75, 1e-16)], 1000, False),  # there
    ],
)
def test_a_hopeless_run_gives_way(losses: np.ndarray, limit: int, ends: bool) -> None:
    leg = Leg.begin(SimpleNamespace(best_loss=1.0, steps=0))
    for step, loss in enumerate(losses, start=1):
        state = SimpleNamespace(best_loss=float(loss), steps=step)
        leg = leg.extended(state, [Record(step, float(loss), (), 0.0, 0.0, 0.0)], 0.0)
    stop = Stop(tol=1e-15, polish=500, stall=250)
    assert leg.verdict(stop, limit) is None
    assert leg.verdict(stop, limit, gives_way=True) is (Status.STALLED if ends else None)
    assert leg.verdict(replace(stop, stall=None), limit, gives_way=True) is None


def test_convergence_stops_at_the_tolerance() -> None:
    loose, _ = minimise(LM(tol=1e-6), ROSENBROCK, START)
    tight, _ = minimise(LM(tol=1e-12), ROSENBROCK, START)
    assert loose.status is tight.status is Status.CONVERGED and loose.status.ok
    assert tight.loss <= 1e-12 < loose.loss <= 1e-6 and tight.steps > loose.steps
    assert (loose.history.loss[:-1] > 1e-6).all(), "not a step more than needed"
    assert "tolerance" in str(loose.status)


def test_polishing_goes_on_below_the_tolerance() -> None:
    plain, _ = minimise(LM(tol=1e-6), ROSENBROCK, START)
    polished, _ = minimise(LM(tol=1e-6, polish=10), ROSENBROCK, START)
    assert plain.status is polished.status is Status.CONVERGED
    assert polished.loss < plain.loss and polished.steps > plain.steps


def test_a_tolerance_met_at_the_very_last_step_is_convergence() -> None:
    free, _ = minimise(LM(tol=1e-6), ROSENBROCK, START)
    capped, _ = minimise(LM(tol=1e-6, steps=free.steps), ROSENBROCK, START)
    assert capped.status is Status.CONVERGED


def test_an_interrupt_keeps_the_best_parameters() -> None:
    losses = []

    def stop_after_five(record: Any, best: float) -> None:
        losses.append(best)
        if len(losses) == 5:
            raise KeyboardInterrupt

    result, _ = minimise(LM(), ROSENBROCK, START, progress=stop_after_five)
    assert result.status is Status.INTERRUPTED and result.steps == 5
    assert "best so far" in str(result.status)
    assert result.loss == min(losses)
    assert np.sum(ROSENBROCK.residual(result.theta) ** 2) == pytest.approx(result.loss, rel=10 * EPS)


@pytest.mark.parametrize("optimizer", [LM(), Adam(steps=10), LBFGS(steps=10)], ids=["LM", "Adam", "LBFGS"])
def test_a_loss_that_is_not_finite_from_the_start_is_a_failure(optimizer: Any) -> None:
    result, _ = minimise(optimizer, ROSENBROCK, np.array([np.nan, 1.0]))
    assert result.status is Status.FAILED and result.steps == 0 and len(result.history) == 0
    assert "not a finite number" in str(result.status)


def test_every_status_has_its_own_sentence() -> None:
    assert len({str(status) for status in Status}) == len(Status)
    assert [status for status in Status if status.ok] == [Status.CONVERGED]


def test_a_step_into_nan_returns_to_the_best_parameters() -> None:
    """log of a negative number: the training goes on from where it was best, with more damping."""
    steep = Small(lambda t: jnp.stack([jnp.log(t[0]), t[0] - t[1]]), 2)
    result, _ = minimise(LM(damping=1e-12, steps=60, tol=1e-20), steep, np.array([8.0, 1.0]))
    assert np.isfinite(result.theta).all() and np.isfinite(result.loss)
    assert result.status is Status.CONVERGED
    np.testing.assert_allclose(result.theta, 1, atol=1e-9)


# --- the record ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "optimizer", [LM(steps=7), Adam(steps=60), LBFGS(steps=60, tol=0.0)], ids=["LM", "Adam", "LBFGS"]
)
def test_history_columns(optimizer: Any) -> None:
    seen = []
    result, _ = minimise(optimizer, FIT, FIT_START, progress=lambda record, best: seen.append(record))
    history, n = result.history, result.steps
    assert history.terms == FIT.terms
    for column in fields(History):
        if column.name != "terms":
            values = getattr(history, column.name)
            assert isinstance(values, np.ndarray) and len(values) == n
    assert history.step.tolist() == list(range(1, n + 1))
    assert history.loss_of_term.shape == (n, 2)
    assert result.loss <= history.loss.min() * (1 + 10 * EPS)
    assert (np.diff(history.seconds) >= 0).all() and (history.seconds > 0).all()
    assert history.loss_of_term[-1].sum() == pytest.approx(history.loss[-1], rel=1e-12)
    if isinstance(optimizer, LevenbergMarquardt):
        np.testing.assert_allclose(history.loss_of_term.sum(axis=1), history.loss, rtol=100 * EPS)
        assert (history.damping > 0).all() and (history.step_norm >= 0).all()
    else:
        assert np.isnan(history.damping).all() and np.isnan(history.step_norm).all()
    assert seen[-1].step == n


def test_damping_follows_the_loss_up_at_once_and_down_by_a_factor_at_a_time() -> None:
    optimizer = LM(steps=12, tol=0.0)
    result, _ = minimise(optimizer, FIT, FIT_START)
    damping, loss = result.history.damping, result.history.loss
    wanted = optimizer.damping * loss**optimizer.power
    np.testing.assert_allclose(damping[1:], np.maximum(wanted[1:], damping[:-1] / optimizer.lowered), rtol=1e-12)


def test_output_weights_are_the_best_for_the_other_parameters() -> None:
    """Variable projection: of the two exponentials' fit, the factor and the offset are linear."""
    linear = Small(exponentials, 3, output=np.array([0, 2]))
    _, state = minimise(LM(steps=3, tol=0.0), linear, FIT_START)
    r, P = linear.output_columns(state.theta)
    assert np.linalg.norm(P.T @ r) <= 1e-5 * np.linalg.norm(r)


def test_no_step_is_longer_than_allowed() -> None:
    far = np.array([-30.0, 5.0])
    places = [far]
    state = None
    optimizer = LM(max_step=0.5, damping=1e-8, tol=0.0, steps=1)
    for _ in range(6):
        _, state = minimise(optimizer, ROSENBROCK, far if state is None else None, state=state, steps=1)
        places.append(state.theta)
    lengths = [float(np.linalg.norm(b - a)) for a, b in itertools.pairwise(places)]
    assert max(lengths) <= 0.5 + 2 * EPS * np.linalg.norm(far) and max(lengths) > 0.49  # rounding of theta + step


# --- reproducibility -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", [LM(tol=0.0), Adam(tol=0.0), LBFGS(tol=0.0)], ids=["LM", "Adam", "LBFGS"])
def test_resuming_a_state_is_an_uninterrupted_run_bit_for_bit(optimizer: Any) -> None:
    whole, _ = minimise(optimizer, FIT, FIT_START, steps=100)
    first, state = minimise(optimizer, FIT, FIT_START, steps=50)
    second, last = minimise(optimizer, FIT, state=state, steps=50)
    assert np.array_equal(second.theta, whole.theta) and second.loss == whole.loss
    assert np.array_equal(np.r_[first.history.loss, second.history.loss], whole.history.loss)
    assert np.array_equal(np.r_[first.history.step, second.history.step], whole.history.step)
    assert last.steps == 100 and first.steps == second.steps == 50


@pytest.fixture(scope="module")
def chain() -> jn.Problem:
    return jn.manufactured(jn.Partition.chain([0.0, 0.6, 1.0]), ["x**2", "exp(x)"], A=[1.0, 10.0])


OPTIMIZERS = {"LM": LevenbergMarquardt(steps=40), "Adam": Adam(steps=100), "LBFGS": LBFGS(steps=30)}


@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_same_seed_gives_the_same_bits(chain: jn.Problem, name: str) -> None:
    model = jn.models.CategoricalEmbedding(neurons=8)
    once, again, other = (
        jn.solve(
            chain, seed=seed, verify=False, method=jn.Network(model, optimizer=OPTIMIZERS[name], points=(50, 2, 1))
        )
        for seed in (0, 0, 1)
    )
    assert np.array_equal(once.theta, again.theta)
    assert once.loss == again.loss and once.held_out_loss == again.held_out_loss
    for column in ("step", "loss", "loss_of_term", "damping", "step_norm"):
        assert np.array_equal(getattr(once.history, column), getattr(again.history, column), equal_nan=True)
    assert not np.array_equal(once.theta, other.theta)


@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
def test_several_starts_stay_within_the_step_limit_and_the_best_goes_on(chain: jn.Problem) -> None:
    model = jn.models.CategoricalEmbedding(neurons=8)
    optimizer = LevenbergMarquardt(steps=400, tol=0.0, stall=None)
    once, again = (
        jn.solve(chain, seed=2, verify=False, method=jn.Network(model, optimizer=optimizer, points=(50, 2, 1)))
        for _ in range(2)
    )
    # One record more: the linear solve at the end.
    assert once.steps <= 400 and len(once.history) <= once.steps + 1
    assert once.loss == once.history.loss.min()
    assert np.array_equal(once.theta, again.theta)


def test_an_unconverged_result_is_said_to_be_so(chain: jn.Problem) -> None:
    optimizer = LevenbergMarquardt(steps=3)
    with pytest.warns(jn.JumpnetWarning, match="not converged: the limit of steps"):
        solution = jn.solve(
            chain, method=jn.Network(jn.models.CategoricalEmbedding(neurons=8), optimizer=optimizer, points=(50, 2, 1))
        )
    assert solution.status is jn.Status.STEP_LIMIT and not solution.status.ok


def test_an_interrupted_solve_returns_what_it_has(chain: jn.Problem) -> None:
    def stop(record: Any, best: float) -> None:
        if record.step == 4:
            raise KeyboardInterrupt

    with pytest.warns(jn.JumpnetWarning, match="interrupted"):
        solution = jn.solve(
            chain,
            progress=stop,
            method=jn.Network(jn.models.CategoricalEmbedding(neurons=8), points=(50, 2, 1), trials=3),
        )
    assert solution.status is Status.INTERRUPTED
    assert np.isfinite(solution([[0.3]])).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"seed": -1},
        {"seed": 1.5},
        {"seed": True},
        {"seed": 3, "rng": np.random.default_rng(0)},
        {"rng": "lucky"},
        {"method": 7},
    ],
    ids=lambda wrong: " and ".join(wrong) + type(next(reversed(wrong.values()))).__name__,
)
def test_wrong_options_are_refused_in_one_sentence(chain: jn.Problem, wrong: dict) -> None:
    with pytest.raises(jn.ModelError) as refused:
        jn.solve(chain, **wrong)
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")
