"""`judge`: the error of any solution."""

import time
from dataclasses import replace

import numpy as np

from jumpnet.errors import JumpnetError, SolutionError
from jumpnet.fe.features import line_of
from jumpnet.fe.line import LineOptions
from jumpnet.judge.adaptivity import judge_elements, judge_smooth, undecided
from jumpnet.judge.edge_exponents import further_layers
from jumpnet.judge.finding import Finding
from jumpnet.judge.layers import hidden_layer
from jumpnet.judge.line import judge_expansion, judge_line
from jumpnet.judge.options import JudgeOptions
from jumpnet.judge.potential import of_potential, times_K
from jumpnet.judge.verdict import Verdict
from jumpnet.judge.voxels import judge_voxels
from jumpnet.problem.resolution import survey
from jumpnet.solution import Solution


def judge(
    solution: Solution,
    *,
    tol: float | None = None,
    seconds: float | None = None,
    options: JudgeOptions = JudgeOptions(),
) -> Verdict:
    """The error of a solution, found by solving for it.

    e = u - u_h solves the same equations with the residuals of u_h as data; coarse finite elements approximate it to a
    few percent. They are refined until the root mean square of e changes by less than a fifth.

    Args:
        solution: Any solution whose problem is known, also a loaded one.
        tol: A root mean square error; the judge may stop as soon as the error is clearly above or below it.
        seconds: The time limit.
        options: First mesh, stopping criterion and limits.

    Returns:
        The verdict. It is undecided, with a reason, if the error could not be determined; nothing is raised.

    Example:
        >>> import jumpnet as jn
        >>> problem = jn.Problem(jn.Partition(jn.Interval(0, 1)), f="sin(x1)", boundary=jn.Dirichlet(0))
        >>> solution = jn.solve(problem, verify=False)
        >>> jn.judge(solution).rms < 1e-6
        True
    """
    if not isinstance(solution, Solution):
        raise SolutionError(f"judge needs a solution, not {type(solution).__name__}; see jn.solve(problem).")
    if seconds is not None:
        options = replace(options, seconds=float(seconds))
    began = time.perf_counter()
    try:
        if solution.representation.factors:  # tolerances for u do not apply to w
            found = times_K(_found(of_potential(solution), None, options), solution)
        else:
            found = _found(solution, tol, options)
    except (JumpnetError, np.linalg.LinAlgError, RuntimeError, MemoryError) as error:
        # The latter: elements or equations that are singular to rounding, or what NGSolve and SuperLU raise.
        found = undecided(f"not judged: {error}")
    return Verdict(solution, found, _safety(found, options, solution), time.perf_counter() - began)


def weak(solution: Solution) -> bool:
    """Whether an answer meets its equation in the weak sense: where A jumps inside a piece, its flux does not."""
    representation = solution.representation
    if representation.elements is not None or representation.voxels is not None:
        return True
    return solution.dim == 1 and line_of(solution.network) is not None


def _safety(found: Finding, options: JudgeOptions, solution: Solution) -> float:
    """The safety factor of a result; at edges in space from what one more layer of elements changed."""
    if not (found.singular or (solution.problem is not None and survey(solution.problem).hidden)):
        return options.safety
    if solution.dim < 3:
        return options.singular_safety
    layers = further_layers(found.exponent) if found.exponent > 0 else options.layers
    return options.safety * (1 + layers * found.change)


def _found(solution: Solution, tol: float | None, options: JudgeOptions) -> Finding:
    problem = solution.problem
    if problem is None:
        return undecided(
            "not judged: the equations of this solution are not known here; give the problem back: "
            "solution.with_problem(problem)."
        )
    if not options.seconds > 0:
        return undecided("not judged: the time limit left no time for it.")
    if problem.data is not None:
        return undecided("not judged: the problem has measured values, which its equations alone need not meet.")
    if (hidden := survey(problem).hidden) and not weak(solution):
        return undecided(f"not judged: {hidden[0]}.")
    if problem.dim == 1:
        limits = LineOptions(time_limit=options.seconds)
        expansion = line_of(solution.network)
        # Fluxes of elements jump inside pieces, so that there is no strong residual.
        return judge_line(solution, limits) if expansion is None else judge_expansion(problem, expansion, limits)
    if problem.dim > 3:
        return undecided(f"not judged: the problem has {problem.dim} dimensions.")
    if solution.representation.voxels is not None:
        return judge_voxels(solution.representation.voxels, problem)
    if (elements := solution.representation.elements) is not None:
        field, found = elements.field, judge_elements(elements.field, solution, problem, options, tol)
        own = options.safety * found.rms + found.unresolved
        reason = hidden_layer(solution, problem, field.mesh, field.order, max(own, tol or 0.0)) if found.decided else ""
        return replace(found, reason=reason) if reason else found
    return judge_smooth(solution, problem, options, tol)
