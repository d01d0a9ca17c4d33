"""The built-in problems by name, with a sentence about each and the settings they are solved with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from jumpnet.engines.network import Network
from jumpnet.engines.progress import Progress
from jumpnet.errors import ProblemError
from jumpnet.experiments import problems
from jumpnet.geometry import Partition
from jumpnet.models import CategoricalEmbedding
from jumpnet.problem import Problem
from jumpnet.solution import Solution
from jumpnet.solving import approximate, solve

PLANE = Network(charts="box", points=(324, 72, 72))  # the paper's points
# The network of the one-dimensional examples: points inside, at interfaces, at the ends.
CHAIN = Network(charts="local", points=(1000, 2, 1))
# The network of the example in space.
BALL = Network(CategoricalEmbedding(dim=1, neurons=50), points=(600, 200, 200))


@dataclass(frozen=True)
class Example:
    """A problem (or a partition with a function on it, to be approximated) and how to solve it."""

    name: str
    about: str
    make: Callable[[], Problem | tuple[Partition, list[str]]]
    network: Network = field(default_factory=Network)

    def solve(self, *, seed: int = 0, progress: bool | Progress = False, **options: Any) -> Solution:
        """The solution by a network, with this example's settings where no others are given (those of `Network`)."""
        stated, network = self.make(), replace(self.network, **options)
        if isinstance(stated, Problem):
            return solve(stated, method=network, seed=seed, progress=progress)
        return approximate(*stated, method=network, seed=seed, progress=progress)


# By name, in the order of `jumpnet examples`.
EXAMPLES: Mapping[str, Example] = {
    example.name: example
    for example in (
        Example(
            "fa1",
            "approximate five functions on flower-shaped pieces",
            problems.fa1,
            replace(PLANE, points=(880, 120, 0)),
        ),
        Example("fa2", "approximate a function with jumps on five intervals", problems.fa2, CHAIN),
        Example("pde1", "1-D: a chain of five intervals, A vanishes at one end", problems.pde1, CHAIN),
        Example("pde2", "2-D: a heart with a cusp, anisotropic, contrast 1000", problems.pde2, PLANE),
        Example("pde3", "2-D: a wavy chessboard whose interface crosses itself", problems.pde3, PLANE),
        Example("pde4", "2-D: flower-shaped pieces, anisotropic, contrast 10,000", problems.pde4, PLANE),
        Example(
            "pde5",
            "3-D: four balls in a superquadric, anisotropic, contrast 1000",
            problems.pde5,
            replace(PLANE, points=(324, 144, 144)),
        ),
        Example(
            "disk",
            "2-D: an off-centre disk of conductivity 1000 in a uniform field",
            lambda: problems.inclusion(dim=2, k=1000.0, center=(0.2, 0.1)),
        ),
        Example(
            "disk-mixed",
            "2-D: the same disk with Dirichlet, Neumann and Robin sides",
            lambda: problems.inclusion(dim=2, k=1000.0, center=(0.2, 0.1), boundary="mixed"),
        ),
        Example(
            "ball",
            "3-D: a ball of conductivity 1000 in a uniform field",
            lambda: problems.inclusion(dim=3, k=1000.0),
            BALL,
        ),
        Example("ellipse", "2-D: a turned ellipse in an anisotropic background", problems.ellipse_inclusion),
        Example("ellipsoid", "3-D: an ellipsoid in a cube, contrast 1000", problems.ellipsoid3d),
        Example("sphere6d", "6-D: a ball in a ball, contrast 1000", problems.sphere6d),
    )
}


def example(name: str) -> Example:
    """The built-in problem of that name."""
    if name in EXAMPLES:
        return EXAMPLES[name]
    near = get_close_matches(name, EXAMPLES, n=1)
    hint = f"did you mean {near[0]}?" if near else f"the examples are {', '.join(EXAMPLES)}."
    raise ProblemError(f"there is no example {name!r}; {hint}")
