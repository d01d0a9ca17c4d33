"""Solutions that train in a second: figures need something to draw, not something accurate."""

import warnings

import pytest

import jumpnet as jn

FEW = jn.optim.LevenbergMarquardt(steps=20)


def quickly(problem: jn.Problem, points: tuple[int, int, int], judged: bool = False) -> jn.Solution:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.JumpnetWarning)
        model = jn.models.CategoricalEmbedding(neurons=10)
        return jn.solve(problem, verify=judged, method=jn.Network(model, optimizer=FEW, points=points, charts="box"))


@pytest.fixture(scope="session")
def line() -> jn.Solution:
    parts = jn.Partition.chain([0.0, 1.0, 1.5, 3.0])
    return quickly(jn.manufactured(parts, u=["x", "5 + x", "x**2"]), (60, 2, 1))


@pytest.fixture(scope="session")
def plane() -> jn.Solution:
    """A disk in which u is 10 higher than around it."""
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)], names=["<plate>", "disk & rim"])
    return quickly(jn.manufactured(parts, u=["x1*x2", "10 + x1"], A=[1.0, 5.0]), (80, 30, 30), judged=True)


@pytest.fixture(scope="session")
def space() -> jn.Solution:
    parts = jn.Partition(jn.Superquadric((0, 0, 0), (1, 1, 0.5), power=4), [jn.Ball((0.2, 0, 0), 0.3)])
    return quickly(jn.manufactured(parts, u=["x1", "x2 + 3"]), (80, 30, 30))


@pytest.fixture(scope="session")
def direct() -> jn.Solution:
    """A plate with a disk, solved directly with two seeds."""
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)])
    return jn.solve(
        jn.Problem(parts, A=[1.0, 10.0], boundary=jn.Dirichlet("x1")), tol=1e-6, method=jn.Trefftz(trials=2)
    )
