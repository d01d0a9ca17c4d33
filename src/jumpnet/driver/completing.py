"""What a solution has in closed form, added to what was solved for."""

from dataclasses import replace

from jumpnet.geometry import Partition
from jumpnet.geometry.quadrature import over_piece
from jumpnet.problem import Problem, Supplement
from jumpnet.solution import Solution

# Of bodies whose quadrature is sampled, where a solution's mean is set.
MEAN_POINTS = 4096


def completed(problem: Problem, found: Solution) -> Solution:
    """The solution with what it has in closed form: the fields of point sources, and the constant of a given mean."""
    found = replace(found, supplement=Supplement(0.0, problem.sources))
    if problem.mean is None:
        return found
    return replace(found, supplement=Supplement(problem.mean - _mean(found, problem.partition), problem.sources))


def _mean(solution: Solution, parts: Partition) -> float:
    """The mean over the domain by the cheaper rule of each piece; bodies in space are sampled at some points."""
    whole, total = 0.0, 0.0
    for piece in range(parts.size):
        # Point sources are integrable, but not smooth: for them the better rule.
        rule = over_piece(parts, piece).rules[0 if solution.supplement.singular else -1]
        x, weights = rule.points[:MEAN_POINTS], rule.weights[:MEAN_POINTS]
        if over_piece(parts, piece).sampled:
            weights = weights * (rule.weights.sum() / weights.sum())
        else:
            x, weights = rule.points, rule.weights
        whole, total = whole + float(weights.sum()), total + float(weights @ solution(x, piece))
    return total / whole
