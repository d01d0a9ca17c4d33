"""What the judge may be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class JudgeOptions:
    """The judge's choices: where it starts, when it is content, and what it may spend.

    `across` is the number of elements along the longest side of the domain at first, by dimension, `curved` the
    order of curved faces. The judge is content when the root mean square error changes by less than `change`,
    relatively, from one space to the next (`singular_change` where there are singular points: the safety factor
    covers it). It ends, content or not, before a space with more than `unknowns` (by dimension), or one that would
    take it beyond `seconds`.
    `safety` is what a judged error is multiplied by in an estimate, `singular_safety` where there are singular points.
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
