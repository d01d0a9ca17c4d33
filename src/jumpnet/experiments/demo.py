"""The content of the demo: a drawing, a problem of the paper with the paper's errors, and two domains."""

from collections.abc import Callable
from dataclasses import dataclass

from jumpnet.experiments import problems
from jumpnet.experiments.examples import EXAMPLES, Example
from jumpnet.experiments.tables import Row, row
from jumpnet.geometry import Partition


@dataclass(frozen=True)
class Case:
    """A problem of the paper; `paper` is the table's line it is compared with."""

    example: Example
    title: str
    paper: Row


DRAWING = "sink"
"""The kind of file (`jumpnet new`) that is solved."""


def case() -> Case:
    """The paper's problem that is solved by a network: pde4, with the paper's N = 50, D = 1 and numbers of points."""
    title = "five pieces, anisotropic, contrast 10,000, N = 50 neurons, D = 1, the paper's numbers of points"
    return Case(EXAMPLES["pde4"], title, row("pde4", "CE"))


# Pictures of domains: the name of the file and the domain.
DOMAINS: dict[str, Callable[[], Partition]] = {
    "domain-pde4": lambda: problems.pde4().partition,
    "domain-pde5": lambda: problems.pde5().partition,
}
