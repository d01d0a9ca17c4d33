"""`method="auto"`: the Trefftz engine where it suits the problem, else finite elements."""

import time
from contextlib import suppress
from dataclasses import replace

import numpy as np

from jumpnet.engines.budget import Budget
from jumpnet.engines.fem import FemEngine, VoxelEngine
from jumpnet.engines.goal import Goal
from jumpnet.engines.network import Network, NetworkEngine
from jumpnet.engines.protocol import Accept, Engine, Request
from jumpnet.engines.trefftz import Trefftz, TrefftzEngine
from jumpnet.errors import GeometryError, JumpnetError, ModelError
from jumpnet.fe.meshing.first import LateError
from jumpnet.optim import Status
from jumpnet.problem import Problem
from jumpnet.solution import Solution
from jumpnet.solving.completing import completed
from jumpnet.solving.methods import Auto
from jumpnet.solving.verify import Verify, verified

# The part of a time limit for the answer; the rest is for the judge (heuristic).
FOR_ANSWER = 0.55
# A Trefftz solve that ends with an estimate up to this factor above the goal is judged, as its estimate may be
# pessimistic (heuristic).
NEAR = 100.0


def answered(problem: Problem, engine: Engine, request: Request, verify: Verify) -> Solution:
    """The answer of one engine, completed and judged; its budget is what is left of the request's."""
    whole = request.budget
    accept = accepting(problem, request.goal, verify, whole)
    return engine.solve(problem, replace(request, budget=Budget(FOR_ANSWER * whole.left), accept=accept))


def accepting(problem: Problem, goal: Goal, verify: Verify, whole: Budget) -> Accept:
    """The function that completes an engine's answer by what is known in closed form, and by its verdict."""

    def accept(found: Solution, needed: bool) -> Solution:
        return verified(problem, completed(problem, found), goal, verify, needed=needed, seconds=whole.left)

    return accept


def chosen(problem: Problem, options: Auto, request: Request, verify: Verify) -> Solution:
    """The solution by the first method that reaches the goal, else the better one; `settings["tried"]` says which."""
    if problem.dim > 3:  # too many polynomials, and no meshes
        network = Network(trials=options.trials, workers=options.workers, checkpoint=options.checkpoint)
        return answered(problem, NetworkEngine(network), request, verify)
    if not isinstance(VoxelEngine().suits(problem), str):
        with suppress(ModelError):  # raised for tensors that are not along the axes: then elements on smooth surfaces
            return answered(problem, VoxelEngine(), request, verify)
    trefftz = Trefftz(trials=options.trials)
    direct, tried = _trefftz(problem, TrefftzEngine(trefftz, alone=False), request, verify)
    if direct is not None and (direct.status.ok or direct.status is Status.INTERRUPTED or problem.data is not None):
        return direct
    began = time.perf_counter()
    try:
        other = answered(problem, FemEngine(), request, verify)
    except JumpnetError as refused:
        tried.append(f"finite elements: {refused}")
        if isinstance(refused, LateError) and direct is None:  # an engine that does not suit would be later still
            raise
        if isinstance(refused, GeometryError) and (direct is None or (_cut_short(direct) and request.budget.left > 0)):
            other = answered(problem, TrefftzEngine(trefftz), request, verify)
            tried.append(_line(other, time.perf_counter() - began))
        elif direct is None:
            raise
        else:
            other = direct
    else:
        tried.append(_line(other, time.perf_counter() - began))
    found = [one for one in (other, direct) if one is not None]
    best = min(found, key=lambda s: (not s.status.ok, np.nan_to_num(s.estimate, nan=np.inf)))
    return best.with_diagnostics(tried=tuple(tried))


def _trefftz(problem: Problem, engine: Engine, request: Request, verify: Verify) -> tuple[Solution | None, list[str]]:
    """The Trefftz solution, and lines for `tried`; None if the engine does not suit the problem."""
    began, suits = time.perf_counter(), engine.suits(problem)
    if isinstance(suits, str):
        return None, [f"Trefftz: not tried, {suits}"]
    judged = accepting(problem, request.goal, verify, request.budget)

    def accept(found: Solution, needed: bool) -> Solution:
        full = completed(problem, found)
        return judged(found, needed) if full.status.ok or _near(problem, full, request.goal) else full

    budget = Budget(request.budget.left / 2, suits)
    try:
        found = engine.solve(problem, replace(request, budget=budget, accept=accept))
    except (ArithmeticError, LookupError, ValueError, RuntimeError, np.linalg.LinAlgError) as error:
        if problem.data is not None or isinstance(error, JumpnetError):
            raise
        return None, [f"Trefftz: failed ({type(error).__name__}: {error})"]
    return found, [_line(found, time.perf_counter() - began)]


def _cut_short(direct: Solution) -> bool:
    """Whether a Trefftz solve may have ended early in favour of finite elements."""
    return direct.status in (Status.STALLED, Status.TIME_LIMIT)


def _near(problem: Problem, found: Solution, goal: Goal) -> bool:
    """Whether a Trefftz solve that did not converge may still meet the tolerance."""
    if found.status is Status.INTERRUPTED or not np.isfinite(found.estimate):
        return False
    x, piece = problem.partition.sample_interior(400, seed=[found.seed, 7])
    return found.estimate <= NEAR * goal.of(found(x, piece))


def _line(found: Solution, seconds: float) -> str:
    """The outcome of one method in one line."""
    known = f"estimate {found.estimate:.1e}" if np.isfinite(found.estimate) else "error unknown"
    return f"{found.diagnostics.method}: {found.status.name.lower()}, {known}, {seconds:.1f} s"
