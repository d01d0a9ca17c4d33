"""Parts of a training that come from the user: activation, inputs, points, weights, optimiser."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jumpnet as jn
from jumpnet.models import System
from jumpnet.models.activations import ACTIVATIONS, activation
from jumpnet.optim import LevenbergMarquardt, Stop
from jumpnet.rows import batch, equations, weigh

pytestmark = pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")  # of runs that are kept short

PARTS = jn.Partition.chain([-1.0, 0.3, 1.0])
PROBLEM = jn.manufactured(PARTS, u=["sin(3*(x1 - 0.3))", "exp(x1 - 0.3) - 1"], A=[1.0, 10.0])
SMALL = jn.models.CategoricalEmbedding(neurons=8)
COMMON: dict[str, Any] = {"points": (60, 2, 1), "charts": "box"}
SHORT = LevenbergMarquardt(steps=12)


def solved(**options: Any) -> jn.Solution:
    of_call = {name: options.pop(name) for name in ("seed", "time_limit") if name in options}
    network = jn.Network(**{"model": SMALL, "optimizer": SHORT} | COMMON | options)
    return jn.solve(PROBLEM, method=network, verify=False, **of_call)


@pytest.fixture
def names() -> Any:
    before = dict(ACTIVATIONS)
    yield
    for name in set(ACTIVATIONS) - set(before):
        del ACTIVATIONS[name]


# --- activations -----------------------------------------------------------------------------------------------------


def test_a_registered_activation_has_the_derivatives_of_closed_forms(names: None) -> None:
    jn.models.register_activation("own_tanh", jnp.tanh)
    with jax.enable_x64(True):
        s = jnp.linspace(-3, 3, 41)
        for own, closed in zip(activation("own_tanh")(s), activation("tanh")(s), strict=True):
            assert np.allclose(own, closed, rtol=1e-12, atol=1e-13)


def test_a_registered_activation_trains_and_is_saved_by_name(names: None, tmp_path: Path) -> None:
    jn.models.register_activation("own_swish", lambda s: s / (1 + jnp.exp(-s)))
    found = solved(model=jn.models.CategoricalEmbedding(neurons=8, activation="own_swish"))
    found.save(tmp_path / "a.jumpnet")
    x = np.linspace(-0.9, 0.9, 7)[:, None]
    assert np.array_equal(jn.load(tmp_path / "a.jumpnet")(x), found(x))
    del ACTIVATIONS["own_swish"]
    with pytest.raises(jn.JumpnetError, match="register_activation"):
        jn.load(tmp_path / "a.jumpnet")


def test_names_of_activations_stand_for_one_function(names: None) -> None:
    def made(power: int) -> Any:
        return lambda s: jnp.tanh(s) ** power

    for _ in range(2):  # a cell of a notebook that is run again
        assert jn.models.register_activation("own_power", made(3)) == "own_power"
    for name, function, reason in [
        ("own_power", made(2), "another activation"),
        ("tanh", jnp.tanh, "another activation"),
        ("a b", jnp.tanh, "cannot be called"),
        ("own", 3, "a function"),
        ("own", lambda s: s.sum(), "each entry"),
        ("own", lambda s: np.tanh(s), "jax.numpy"),
        ("own", lambda s: jnp.log(s), "finite"),
    ]:
        with pytest.raises(jn.ModelError, match=reason):
            jn.models.register_activation(name, function)
    with pytest.raises(jn.ModelError, match="register_activation"):
        jn.models.OneHot(activation="own")


# --- inputs ----------------------------------------------------------------------------------------------------------


def test_formulas_as_coordinates() -> None:
    chart = jn.charts.Formulas(["sin(2*x1)*x2", ["x1**2", "x1*x2**2"]], dim=2)
    x, cell = np.array([[0.3, -0.4], [0.5, 0.7]]), np.array([0, 1])
    y, dy, d2y = chart.jet(x, cell)
    assert y == pytest.approx(np.array([[np.sin(0.6) * -0.4, 0.09], [np.sin(1.0) * 0.7, 0.5 * 0.49]]))
    assert dy[:, 1] == pytest.approx(np.array([[0.6, 0.0], [0.49, 0.7]]))
    assert d2y is not None
    assert d2y[:, 1] == pytest.approx(np.array([[[2.0, 0.0], [0.0, 0.0]], [[0.0, 1.4], [1.4, 1.0]]]))
    assert d2y[0, 0] == pytest.approx(np.array([[-4 * np.sin(0.6) * -0.4, 2 * np.cos(0.6)], [2 * np.cos(0.6), 0.0]]))
    again = jn.charts.chart_from_spec(json.loads(json.dumps(chart.spec())))
    assert again == chart and np.array_equal(again.values(x, cell), y)


def test_a_network_without_labels_has_a_kink_by_its_inputs(tmp_path: Path) -> None:
    smooth, steps = jn.models.Unlabelled(neurons=10), LevenbergMarquardt(steps=60)
    kink = jn.charts.Formulas([["0.3 - x1", "x1 - 0.3"]], dim=1)
    kinked, without = (solved(model=smooth, charts=charts, optimizer=steps) for charts in ([kink], "box"))
    assert kinked.errors().l2 < 1e-6 < 0.1 < without.errors().l2
    kinked.save(tmp_path / "a.jumpnet")
    x = np.array([[0.2], [0.6]])
    assert np.array_equal(jn.load(tmp_path / "a.jumpnet").grad(x), kinked.grad(x))


@pytest.mark.parametrize(
    ("formulas", "dim", "reason"),
    [("x1", 2, "list"), ([], 2, "list"), (["x1"] * 101, 2, "at most 100"), (["x3"], 2, "x3"), (["x1"], 0, "dim"),
     (["x1"], 10**9, "dim"), ([[]], 2, "empty"), (["1/0"], 1, "zero")],
)  # fmt: skip
def test_wrong_formulas(formulas: Any, dim: int, reason: str) -> None:
    with pytest.raises(jn.JumpnetError, match=reason):
        jn.charts.Formulas(formulas, dim=dim)


def test_formulas_that_do_not_fit_the_problem() -> None:
    with pytest.raises(jn.ModelError, match="2 dimensions"):
        solved(charts=[jn.charts.Formulas(["x2"], dim=2)])
    with pytest.raises(jn.ModelError, match="none for piece 2"):
        jn.charts.Formulas([["x1", "x1"]], dim=1).values(np.zeros((1, 1)), np.array([2]))


# --- points ----------------------------------------------------------------------------------------------------------


def test_points_of_ones_own() -> None:
    asked: list[tuple[int, jn.Stream]] = []

    def rule(partition: jn.Partition, seed: int, stream: jn.Stream) -> jn.Collocation:
        asked.append((seed, stream))
        drawn = jn.collocate(partition, jn.Points(30, 2, 1), seed=seed, stream=stream)
        return drawn.with_interior(partition, np.r_[np.linspace(-0.99, 0.99, 40), 5.0])

    found = solved(points=rule, seed=3)
    assert found.settings["interior"] == 70 and found.settings["points"] == "own", "one lies outside"
    assert asked == [(3, jn.Stream.TRAIN), (3, jn.Stream.HELD_OUT)]
    from jumpnet.reporting import plot_points

    with pytest.raises(jn.SolutionError, match="own"):
        plot_points(found)
    instead = jn.collocate(PARTS, jn.Points(30, 2, 1), seed=0).with_interior(PARTS, [[0.5]], instead=True)
    assert instead.interior.tolist() == [[0.5]] and instead.piece.tolist() == [1]


def test_points_that_are_none() -> None:
    with pytest.raises(jn.ModelError, match=r"returned a ndarray; it must return a jn\.Collocation"):
        solved(points=lambda *_: np.zeros((3, 1)))
    with pytest.raises(jn.ModelError, match="a function"):
        solved(points="many")


# --- weights ---------------------------------------------------------------------------------------------------------


def rows() -> Any:
    return equations(PROBLEM, jn.collocate(PARTS, jn.Points(20, 2, 1), seed=0))


def test_factors_of_conditions_multiply_their_parts_of_the_loss() -> None:
    all_rows, half = rows(), np.ones(1)
    plain = weigh(all_rows, "equilibrated", half)
    own = weigh(all_rows, {"pde": 4.0, "pde 1": 9.0, "jump 0-1": 0.25}, half)
    ratio = {label: (own.weight / plain.weight)[all_rows.term == k] for k, label in enumerate(all_rows.labels)}
    expected = {"pde 0": 2.0, "pde 1": 3.0, "jump 0-1": 0.5, "flux 0-1": 1.0, "boundary x1-": 1.0, "boundary x1+": 1.0}
    assert set(ratio) == set(expected)
    for label, factor in expected.items():
        assert ratio[label] == pytest.approx(factor, rel=1e-14)


def test_a_function_gives_the_weight_of_every_row() -> None:
    found = solved(weights=lambda rows: np.full(len(rows), 0.5))
    assert found.settings["weights"] == "own"
    assert np.all(weigh(rows(), lambda all_rows: np.arange(len(all_rows)), np.ones(1)).weight == np.arange(len(rows())))
    assert solved(weights={"boundary": 3.0}).settings["weights"] == {"boundary": 3.0}


@pytest.mark.parametrize(
    ("weights", "reason"),
    [({"bondary": 2.0}, "no condition here; there are boundary"), ({"pde": -1.0}, "zero or more"), ("strict", "choose"),
     (lambda rows: np.ones(3), "each of the"), (lambda rows: np.full(len(rows), np.nan), "finite")],
)  # fmt: skip
def test_wrong_weights(weights: Any, reason: str) -> None:
    with pytest.raises(jn.ModelError, match=reason):
        solved(weights=weights)


# --- batches and optimisers ------------------------------------------------------------------------------------------


def test_batches_have_the_loss_of_all_rows_on_average_and_one_layout() -> None:
    all_rows, rng = weigh(rows(), "paper", np.ones(1)), np.random.default_rng(0)
    network = SMALL.network(1, 2)
    system, theta = System(network, all_rows), network.initial(rng)
    whole = float(np.sum(system.residual(theta) ** 2))
    batches = [system.batch(0.5, rng) for _ in range(100)]
    assert len({one.rows.layout for one in batches}) == 1 and len(batches[0].rows) == 14, "compiled once"
    assert batches[0].terms == system.terms, "no condition is left out"
    losses = [float(np.sum(one.residual(theta) ** 2)) for one in batches]
    assert np.mean(losses) == pytest.approx(whole, rel=4 * np.std(losses) / whole / np.sqrt(len(losses)))
    assert np.array_equal(batch(all_rows, 1.0, rng).weight, all_rows.weight)
    with pytest.raises(jn.ModelError, match="share"):
        system.batch(0.0, rng)


LONG = Stop(steps=10_000, tol=0.0)


@dataclass(frozen=True)
class Descent:
    """Levenberg-Marquardt under another name, with nothing of ours but `stop`."""

    stop: Stop = LONG

    def init(self, system: Any, theta: np.ndarray) -> Any:
        return LevenbergMarquardt().init(system, theta)

    def advance(self, system: Any, state: Any, limit: int) -> Any:
        return LevenbergMarquardt().advance(system, state, limit)


class Odd(Descent):
    """One that cannot be copied with another limit."""

    def __init__(self, name: str = "") -> None:
        super().__init__()


def test_an_optimiser_of_ones_own_keeps_a_time_limit() -> None:
    found = solved(optimizer=Descent(), time_limit=0.5)
    assert found.status is jn.Status.TIME_LIMIT and found.diagnostics.seconds < 5.0
    with pytest.raises(jn.ModelError, match="a field `stop"):
        solved(optimizer=Odd(), time_limit=0.5)
