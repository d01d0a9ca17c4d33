"""The public call: methods by name and by options, the keywords of version 0.1, and `rng=`."""

from typing import Any

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.engines.fem import FemEngine, VoxelEngine
from jumpnet.engines.goal import Goal
from jumpnet.engines.network import NetworkEngine
from jumpnet.engines.protocol import Engine, Request
from jumpnet.engines.trefftz import TrefftzEngine
from jumpnet.solving.methods import Auto, resolved, written

LINE = jn.manufactured(jn.Partition.chain([0.0, 0.6, 1.0]), ["x**2", "exp(x)"], A=[1.0, 10.0])
SMALL = jn.models.CategoricalEmbedding(dim=1, neurons=6)
FEW = jn.optim.LevenbergMarquardt(steps=3)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"model": SMALL}, jn.Network(SMALL)),
        ({"preset": "paper", "trials": 2}, jn.Network(preset="paper", trials=2)),
        ({"optimizer": FEW, "points": (40, 2, 1)}, jn.Network(optimizer=FEW, points=(40, 2, 1))),
        ({"charts": "box", "weights": "paper", "workers": 1}, jn.Network(charts="box", weights="paper", workers=1)),
        ({"optimizer": jn.optim.Direct(1e-12, 1)}, jn.Trefftz(cutoff=1e-12, refinements=1)),
        ({"model": jn.models.Polynomials(5), "trials": 3}, jn.Trefftz(jn.models.Polynomials(5), trials=3)),
        ({"trials": 2}, Auto(2)),
        ({"checkpoint": "a", "method": "network"}, jn.Network(checkpoint="a")),
    ],
    ids=str,
)
def test_old_keywords_become_options_and_the_warning_shows_the_new_call(old: dict[str, Any], new: Any) -> None:
    method = old.pop("method", "auto")
    with pytest.warns(DeprecationWarning, match=r"write jn\.solve\(problem, method=jn\.\w+\(") as heard:
        assert resolved(method, old) == new
    assert written(new) in str(heard[0].message)


def test_a_method_is_written_as_one_would_write_it() -> None:
    assert written(jn.Network(SMALL, trials=2)) == (
        "jn.Network(model=jn.models.CategoricalEmbedding(neurons=6), trials=2)"
    )
    points = "jn.Points(interior=40, boundary=2, interface=1)"
    assert written(jn.Network(optimizer=FEW, points=(40, 2, 1))) == (
        f"jn.Network(optimizer=jn.optim.LevenbergMarquardt(steps=3), points={points})"
    )


def test_an_old_call_gives_the_bits_of_the_new_one() -> None:
    with pytest.warns(DeprecationWarning):
        old = jn.solve(LINE, model=SMALL, points=(60, 2, 1), verify=False)
    new = jn.solve(LINE, method=jn.Network(SMALL, points=(60, 2, 1)), verify=False)
    assert np.array_equal(old.theta, new.theta)


@pytest.mark.parametrize(
    ("method", "old"),
    [
        ("fem", {"model": SMALL}),
        ("trefftz", {"preset": "paper"}),
        (jn.FEM(), {"trials": 2}),
        (jn.Network(), {"model": SMALL}),
        ("auto", {"optimizer": jn.optim.Direct(), "model": SMALL}),
        ("auto", {"optimizer": FEW, "model": jn.models.Polynomials(4)}),
        ("auto", {"optimizer": jn.optim.Direct(), "points": (40, 2, 1)}),
        ("quick", {}),
        (None, {}),
    ],
    ids=str,
)
def test_options_of_one_method_never_choose_another(method: Any, old: dict[str, Any]) -> None:
    with pytest.raises(jn.ModelError) as refused:
        jn.solve(LINE, method=method, **old)
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")


def test_unknown_keywords_are_type_errors() -> None:
    with pytest.raises(TypeError, match=r"solve\(\) got an unexpected keyword argument 'neurons'"):
        jn.solve(LINE, neurons=5)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match=r"approximate\(\) got"):
        jn.approximate(LINE.partition, [1.0, 2.0], tol=1e-3)  # pyright: ignore[reportCallIssue]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: jn.Network(trials=0),
        lambda: jn.Network(preset="best"),  # pyright: ignore[reportArgumentType]
        lambda: jn.Network("CE"),  # pyright: ignore[reportArgumentType]
        lambda: jn.Network(jn.models.Polynomials(4)),  # pyright: ignore[reportArgumentType]
        lambda: jn.Network(optimizer="LM"),  # pyright: ignore[reportArgumentType]
        lambda: jn.Network(optimizer=jn.optim.Direct()),  # pyright: ignore[reportArgumentType]
        lambda: jn.Network(weights="heavy"),  # pyright: ignore[reportArgumentType]
        lambda: jn.Network(points=(1, 2)),
        lambda: jn.Network(workers=0),
        lambda: jn.Trefftz(SMALL),  # pyright: ignore[reportArgumentType]
        lambda: jn.Trefftz(cutoff=0.0),
        lambda: jn.Trefftz(trials=0),
    ],
)
def test_wrong_options_of_a_method_are_refused_where_they_are_given(wrong: Any) -> None:
    with pytest.raises(jn.ModelError) as refused:
        wrong()
    assert "\n" not in str(refused.value) and str(refused.value).endswith(".")


def test_rng_is_a_seed_in_other_words() -> None:
    problem = jn.Problem(jn.Partition.chain([0.0, 0.6, 1.0]), A=[1.0, 10.0], f=1.0)
    method = jn.Trefftz(basis=jn.models.RandomFeatures(neurons=20))

    def theta(**given: Any) -> np.ndarray:
        with pytest.warns(jn.JumpnetWarning):
            return jn.solve(problem, tol=1e-14, method=method, verify=False, **given).theta

    assert np.array_equal(theta(seed=5), theta(rng=5))
    one, other = np.random.default_rng(8), np.random.default_rng(8)
    first = theta(rng=one)
    assert np.array_equal(first, theta(rng=other)) and not np.array_equal(first, theta(rng=one))
    drawn = [theta(rng=np.random.SeedSequence(3)) for _ in range(2)]
    assert np.array_equal(*drawn)


@pytest.mark.parametrize("engine", [TrefftzEngine(), FemEngine(), VoxelEngine(), NetworkEngine(jn.Network(SMALL, FEW))])
def test_engines_have_one_protocol(engine: Engine) -> None:
    suits = engine.suits(LINE)
    if isinstance(suits, str):
        assert suits and not suits.endswith(".")
        return
    assert suits > 0
    heard = []
    found = engine.solve(LINE, Request(Goal(1e-3), accept=lambda found, needed: heard.append(needed) or found))
    assert isinstance(found, jn.Solution) and len(heard) == 1 and found.problem is LINE
    assert found.errors().l2 < 10


def test_six_dimensions_are_no_problem_for_elements_or_polynomials() -> None:
    ball = jn.Problem(jn.Partition(jn.Ball([0.0] * 6, 1.0), []))
    assert "6 dimensions" in str(FemEngine().suits(ball)) and "6 dimensions" in str(TrefftzEngine().suits(ball))
    with pytest.raises(jn.ModelError, match="6 dimensions"):
        jn.solve(ball, method="fem")
