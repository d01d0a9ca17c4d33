"""Options of the judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class JudgeOptions:
    """Options of the judge: the first mesh, the stopping criterion, and limits.

    `across` is the number of elements along the longest side of the domain at first, by dimension, `curved` the
    order of curved faces. The judge stops when the relative change of the root mean square error from one space to the
    next is below `change` (`singular_change` if there are singular points, which the safety factor covers). It stops in
    any case before a space with more than `unknowns` (by dimension), or one that is expected to exceed `seconds`.
    An estimate is the judged error times `safety`, or `singular_safety` if there are singular points in the plane; at
    edges in space `safety` times a factor that grows with the change.
    """

    across: Mapping[int, int] = field(default_factory=lambda: {2: 10, 3: 5})
    curved: int = 4
    change: float = 0.2
    singular_change: float = 0.5
    unknowns: Mapping[int, int] = field(default_factory=lambda: {2: 80_000, 3: 250_000})
    seconds: float = float("inf")
    safety: float = 2.0
    singular_safety: float = 5.0
    higher: int = 4
    """Orders beyond its own in which an answer of finite elements is judged."""
    graded: int = 6
    """Layers of elements towards singular points at first; half as many more with each refinement."""
