"""What every engine can be asked: whether it suits a problem, and to solve it.

An engine is made from its options: `TrefftzEngine(Trefftz(...))`. It never calls the judge. What is to be made of an
answer, its verdict above all, is handed in (`Request.accept`); an engine that can improve on a refuted answer does.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from jumpnet.engines.budget import Budget
from jumpnet.engines.goal import Goal
from jumpnet.engines.progress import Progress
from jumpnet.problem import Problem
from jumpnet.solution import Solution

# Makes the solution with its status of an answer; the second argument says whether the judge has to be asked, because
# the engine's own estimate does not suffice.
Accept = Callable[[Solution, bool], Solution]


def as_it_is(found: Solution, needed: bool) -> Solution:
    """The answer, unjudged."""
    return found


@dataclass(frozen=True)
class Request:
    """What is asked of an engine: an error, from a seed, within a time, shown or not, and who decides about it."""

    goal: Goal
    seed: int = 0
    budget: Budget = field(default_factory=Budget)
    progress: bool | Progress = False
    accept: Accept = as_it_is


class Engine(Protocol):
    """A method of solution."""

    def suits(self, problem: Problem) -> str | float:
        """Why the engine is not for the problem (a sentence's end), or the seconds of computing it is worth a try."""
        ...

    def solve(self, problem: Problem, request: Request) -> Solution:
        """The accepted answer, or the best that was found in time; ModelError where the problem is refused."""
        ...
