"""What the demo shows: two problems with the errors to compare theirs with, and two domains."""

from collections.abc import Callable
from dataclasses import dataclass

from jumpnet.experiments import problems
from jumpnet.experiments.examples import EXAMPLES, Example
from jumpnet.experiments.tables import Row, row
from jumpnet.geometry import Partition


@dataclass(frozen=True)
class Case:
    """A problem of the demo; `paper` is the table's line it is compared with, None where the paper has none."""

    example: Example
    title: str
    paper: Row | None


def cases() -> tuple[Case, ...]:
    """The problems, in the order they are solved in; pde4 has the paper's N = 50, D = 1 and numbers of points."""
    return (
        Case(
            EXAMPLES["pde4"],
            "five pieces, anisotropic, contrast 10,000, N = 50 neurons, D = 1, the paper's numbers of points",
            row("pde4", "CE"),
        ),
        Case(EXAMPLES["disk"], "a disk of conductivity 1000 in a uniform field; errors against the closed form", None),
    )


# Pictures of domains: the name of the file and the domain.
DOMAINS: dict[str, Callable[[], Partition]] = {
    "domain-pde4": lambda: problems.pde4().partition,
    "domain-pde5": lambda: problems.pde5().partition,
}
