"""Closed-form parts of a solution, added after the solve: fields of point sources and the constant of a given mean."""

from dataclasses import replace

import numpy as np

from jumpnet.geometry import Partition
from jumpnet.geometry.quadrature.integrals import over_piece
from jumpnet.problem import Problem, Supplement
from jumpnet.solution import Solution

# Sampling points for the mean over bodies in space without a quadrature rule.
MEAN_POINTS = 4096


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
    """The mean over the domain, and the difference between two rules; bodies in space are sampled."""
    whole, total, error = 0.0, 0.0, 0.0
    for piece in range(parts.size):
        quadrature = over_piece(parts, piece)
        rules = quadrature.rules
        if quadrature.sampled:
            # Fields of point sources are integrable, but not smooth: the more accurate rule is used.
            rule = rules[0 if solution.representation.supplement.singular else -1]
            x, weights = rule.points[:MEAN_POINTS], rule.weights[:MEAN_POINTS]
            whole += float(rule.weights.sum())
            total += float(weights @ solution(x, piece)) * float(rule.weights.sum() / weights.sum())
            continue
        better, other = (solution(rule.points, piece) for rule in (rules[0], rules[-1]))
        value, area = float(rules[0].weights @ better), float(rules[0].weights.sum())
        # An error of the rule's area shifts the mean by up to the range of u.
        missed = quadrature.relative * area * float(np.ptp(better))
        whole, total = whole + area, total + value
        error += abs(value - float(rules[-1].weights @ other)) + missed
    return total / whole, error / whole
