"""A network trained on the equations of a nonlinear problem, which are linearised at every step of the training."""

from __future__ import annotations

from jumpnet.collocation import Collocation, Stream
from jumpnet.engines.network import Network, NetworkEngine
from jumpnet.engines.protocol import Request
from jumpnet.engines.trefftz.collocation_pool import with_held_out
from jumpnet.problem import Problem
from jumpnet.rows import NonlinearRows
from jumpnet.solution import Solution
from jumpnet.studies.nonlinear.linearised import linearised
from jumpnet.studies.nonlinear.problem import NonlinearProblem
from jumpnet.studies.nonlinear.rows import nonlinear_rows
from jumpnet.studies.nonlinear.state import State


def trained(problem: NonlinearProblem, state: State, method: Network, request: Request) -> tuple[Problem, Solution]:
    """The problem linearised about the best of the trained networks, and that network; not yet judged.

    The state gives equations their weights, and u its unit.
    """
    about = linearised(problem, state)

    def rows(drawn: Collocation, stream: Stream) -> NonlinearRows:
        return nonlinear_rows(problem, about, with_held_out(about, drawn) if stream is Stream.HELD_OUT else drawn)

    found = NetworkEngine(method).trained(about, rows, request)
    itself = linearised(problem, State([(1.0, found)]))
    return itself, found.with_problem(itself)
