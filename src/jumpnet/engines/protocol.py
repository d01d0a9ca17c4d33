"""The protocol of engines: whether one suits a problem, and its solution.

An engine is made from its options: `TrefftzEngine(Trefftz(...))`. It never calls the judge itself. The function that
judges an answer and sets its status is passed in (`Request.accept`); an engine that can improve a refuted answer does.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from jumpnet.engines.budget import Budget
from jumpnet.engines.goal import Goal
from jumpnet.engines.progress import Progress
from jumpnet.problem import Problem
from jumpnet.solution import Solution

# Returns an answer with its final status. The second argument is True if the engine's own estimate does not suffice, so
# that the judge has to be asked.
Accept = Callable[[Solution, bool], Solution]


def as_it_is(found: Solution, needed: bool) -> Solution:
    """The answer unchanged, without the judge."""
    return found


@dataclass(frozen=True)
class Request:
    """What an engine is given: tolerance, seed, time budget, progress display, the function that accepts answers."""

    goal: Goal
    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    progress: bool | Progress = False
    accept: Accept = as_it_is


class Engine(Protocol):
    """A method of solution."""

    def suits(self, problem: Problem) -> str | float:
        """Why the engine does not suit the problem (the end of a sentence), else the operations a try is worth."""
        ...

    def solve(self, problem: Problem, request: Request) -> Solution:
        """The accepted answer, or the best that was found in time; ModelError where the problem is refused."""
        ...
