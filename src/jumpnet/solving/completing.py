"""Closed-form parts of a solution, added after the solve: fields of point sources and the constant of a given mean."""

from dataclasses import replace

import numpy as np

from jumpnet.geometry import Partition
from jumpnet.geometry.quadrature.integrals import over_piece
from jumpnet.problem import Problem, Supplement
from jumpnet.solution import Solution, quantities


def completed(problem: Problem, found: Solution) -> Solution:
    """The solution with the fields of point sources and the constant of a given mean added."""
    u = found.representation
    constant = u.supplement.constant  # that an engine has subtracted beforehand
    found = replace(found, representation=replace(u, supplement=Supplement(constant, problem.sources)))
    if problem.mean is None:
        return found
    mean, error = _mean(found, problem.partition)
    estimate = found.estimate + error  # an error of the mean is one of the constant
    with_mean = replace(u, supplement=Supplement(constant + problem.mean - mean, problem.sources))
    return replace(found, representation=with_mean).with_diagnostics(estimate=estimate)


def _mean(solution: Solution, parts: Partition) -> tuple[float, float]:
    """The mean over the domain, and the difference between two rules; bodies in space are sampled.

    Of finite elements it is that over their mesh.
    """
    sampled = any(over_piece(parts, piece).sampled for piece in range(parts.size))
    if sampled or solution.representation.elements is not None:
        found = quantities.mean(solution)
        return found.value, found.error
    whole, total, error = 0.0, 0.0, 0.0
    for piece in range(parts.size):
        quadrature = over_piece(parts, piece)
        rules = quadrature.rules
        better, other = (
            solution(rule.points, piece) - _singular(solution, rule.points, piece) for rule in (rules[0], rules[-1])
        )
        value, area = float(rules[0].weights @ better), float(rules[0].weights.sum())
        # An error of the rule's area shifts the mean by up to the range of u.
        missed = quadrature.relative * area * float(np.ptp(better))
        whole, total = whole + area, total + value
        error += abs(value - float(rules[-1].weights @ other)) + missed
    fields = [one.integral(parts) for one in solution.representation.supplement.singular] if parts.dim > 1 else []
    total += sum(one.value for one in fields)
    error += sum(one.error for one in fields)
    return total / whole, error / whole


def _singular(solution: Solution, x: np.ndarray, piece: int) -> np.ndarray:
    """The fields of point sources, but for the line, where rules integrate them."""
    fields = solution.representation.supplement.singular if solution.dim > 1 else ()
    return Supplement(0.0, fields).functional(x, np.full(len(x), piece), 1.0, 0.0)
