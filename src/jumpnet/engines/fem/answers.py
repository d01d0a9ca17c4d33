"""Finite elements as a `Solution`: the function of each piece is one frozen feature with weight one."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from jumpnet.charts import Atlas, Box
from jumpnet.models.families import Family
from jumpnet.models.frozen import Features, Frozen
from jumpnet.optim import History, Status
from jumpnet.problem import Problem
from jumpnet.solution import Solution


def as_solution(
    problem: Problem, functions: Sequence[Family], status: Status, estimate: float, settings: dict[str, Any]
) -> Solution:
    """The functions of the pieces as a solution."""
    shape = (problem.partition.size, problem.dim)
    identity = Box(np.zeros(shape), np.ones(shape))
    return Solution(
        network=Frozen(tuple(Features(((identity, function),)) for function in functions)),
        theta=np.ones(len(functions)),
        atlas=Atlas((identity,)),
        scale=1.0,
        dim=problem.dim,
        pieces=problem.partition.size,
        partition=problem.partition,
        tensors=problem.A,
        status=status,
        loss=np.nan,
        steps=0,
        history=History(),
        seed=0,
        estimate=estimate,
        problem=problem,
        exact=problem.exact,
        settings=settings,
    )
