"""Finite elements as a `Solution`: the function of each piece is one frozen feature with weight one."""

from collections.abc import Sequence

import numpy as np

from jumpnet.charts import Atlas, Box
from jumpnet.models.families import Family
from jumpnet.models.frozen import Features, Frozen
from jumpnet.problem import Problem, Supplement
from jumpnet.solution import Diagnostics, Representation, Solution, Statement


def finite_element_solution(
    problem: Problem, functions: Sequence[Family], diagnostics: Diagnostics, constant: float = 0.0
) -> Solution:
    """The solution made of one function for each piece, and a constant."""
    shape = (problem.partition.size, problem.dim)
    identity = Box(np.zeros(shape), np.ones(shape))
    network = Frozen(tuple(Features(((identity, function),)) for function in functions))
    u = Representation(network, np.ones(len(functions)), Atlas((identity,)), supplement=Supplement(constant))
    return Solution(u, Statement.of(problem), diagnostics)
