"""Partition coefficients: the problem for w = u/K, which is continuous where u is not.

With a number K_p > 0 for each piece the law on an interface of a < b is

    u_a/K_a - u_b/K_b = v + R A grad u . n,        [A grad u . n] = w,

as for a dissolved substance: K is its solubility (partition coefficient), u/K its activity, or chemical potential. As
K is constant in each piece, w = u/K meets a problem without it: the same with K A for A, K lam for lam, K alpha for
alpha and g/K for Dirichlet data. So no engine and no judge knows of K: they are given that problem, and what they find
is multiplied by K, piece by piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from jumpnet.errors import ProblemError
from jumpnet.fields import ConstantField, Field, is_zero
from jumpnet.fields.scaled import scaled_field, scaled_tensor, scaled_values
from jumpnet.geometry import Partition
from jumpnet.problem import inputs
from jumpnet.problem.conditions import Array, BoundaryCondition, BoundaryData, GivenOnBoundary, Labels

if TYPE_CHECKING:
    from jumpnet.problem.problem import Problem


@dataclass(frozen=True)
class OverK(BoundaryData):
    """g/K with the K of the piece that the point bounds."""

    g: BoundaryData
    K: tuple[float, ...]

    def value(self, x: Array, normals: Array, labels: Labels) -> Array:
        return self.g.value(x, normals, labels) / np.asarray(self.K)[labels]


def partition_coefficients(given: Any, parts: Partition, names: dict[str, float]) -> tuple[float, ...]:
    """K of each piece, positive numbers; ProblemError for anything else."""
    fields = inputs.fields(given, parts, "K", names)
    return tuple(_number(field, parts.names[piece]) for piece, field in enumerate(fields))


def _number(field: Field, name: object) -> float:
    if isinstance(field, ConstantField):
        value = field.number
    else:
        expression = getattr(field, "expression", None)
        if expression is None or not expression.is_constant:
            raise ProblemError(
                f"K in piece {name!r} varies with x; a partition coefficient is one number for each piece: cut the "
                "piece where it changes."
            )
        value = float(field.value(np.zeros((1, len(expression.variables))))[0])
    if not (np.isfinite(value) and value > 0):
        raise ProblemError(f"K in piece {name!r} is {value:.4g}; a partition coefficient is a positive number.")
    return value


def potential_problem(problem: Problem, mean: float) -> Problem:
    """The problem for w = u/K; where nothing else fixes w, with that mean."""
    K = problem.K
    boundary = {part: _condition(condition, K) for part, condition in problem.boundary.items()}
    data = problem.data
    changed: dict[str, Any] = {
        "K": (1.0,) * len(K),
        "A": tuple(map(scaled_tensor, problem.A, K)),
        "lam": tuple(map(scaled_field, problem.lam, K)),
        "boundary": MappingProxyType(boundary),
        "exact": None if problem.exact is None else _over(problem.exact, K),
        "sources": tuple(replace(s, inverse=s.inverse / K[s.piece]) for s in problem.sources),
        "data": None if data is None else replace(data, u=data.u / np.take(K, data.piece)),
        "mean": None if problem.mean is None else mean,
    }
    found = copy(problem)
    for name, value in changed.items():
        object.__setattr__(found, name, value)
    return found


def _over(fields: Sequence[Field], K: Sequence[float]) -> tuple[Field, ...]:
    return tuple(scaled_field(field, 1.0 / k) for field, k in zip(fields, K, strict=True))


def _condition(condition: BoundaryCondition, K: tuple[float, ...]) -> BoundaryCondition:
    """The condition on w: K alpha w + A grad u . n = g, w = g/K, or w(x + L e) - w(x) = v/K."""
    if condition.kind == "neumann":
        return condition
    if condition.kind == "robin":
        if len(set(K)) == 1:
            return replace(condition, alpha=scaled_field(condition.alpha, K[0]))
        return replace(condition, factor=K)
    g = condition.g
    if isinstance(g, GivenOnBoundary) and (is_zero(g.function) or len(set(K)) == 1):
        return replace(condition, g=GivenOnBoundary(scaled_values(g.function, 1.0 / K[0])))
    return replace(condition, g=OverK(g, K))
