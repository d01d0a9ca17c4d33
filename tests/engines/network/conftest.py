"""The problem that trainings are tried on."""

import pytest

import jumpnet as jn


@pytest.fixture(scope="module")
def chain() -> jn.Problem:
    return jn.manufactured(jn.Partition.chain([0.0, 0.6, 1.0]), ["x**2", "exp(x)"], A=[1.0, 10.0])
