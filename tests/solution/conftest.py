"""Two small solutions shared by the tests of this folder: a disk in a square and a chain of two intervals."""

import warnings

import pytest

import jumpnet as jn


@pytest.fixture(scope="session")
def disk_problem() -> jn.Problem:
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)])
    matrix = [["2 + x1**2", "0.3*x1*x2"], ["0.3*x1*x2", "3 + x2"]]
    return jn.manufactured(parts, u=["x1**2 + x2", "exp(x1)*cos(x2)"], A=[matrix, 10.0])


@pytest.fixture(scope="session")
def disk(disk_problem: jn.Problem) -> jn.Solution:
    """Not converged, and not meant to be: the questions below have exact answers for any network."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.JumpnetWarning)
        return jn.solve(
            disk_problem,
            verify=False,
            method=jn.Network(
                jn.models.CategoricalEmbedding(neurons=10),
                points=(60, 20, 20),
                optimizer=jn.optim.LevenbergMarquardt(steps=30),
            ),
        )


@pytest.fixture(scope="session")
def chain() -> jn.Solution:
    problem = jn.manufactured(jn.Partition.chain([0.0, 0.6, 1.0]), ["x**2", "exp(x)"], A=["1 + x", 10.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.JumpnetWarning)
        return jn.solve(
            problem,
            verify=False,
            method=jn.Network(
                jn.models.CategoricalEmbedding(neurons=8),
                points=(50, 2, 1),
                optimizer=jn.optim.LevenbergMarquardt(steps=30),
            ),
        )
