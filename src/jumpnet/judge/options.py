"""Options of the judge."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class JudgeOptions:
    """Options of the judge: the first mesh, the stopping criterion, safety factors and limits.

    e is the error of the answer, found in one space after the other; its relative change is that of its root mean
    square from one space to the next.

    Args:
        across: The number of elements along the longest side of the domain at first, by dimension.
        curved: The order of curved faces.
        graded: Layers of elements towards singular points at first; half as many more with each refinement.
        higher: The most orders beyond its own in which an answer of finite elements is judged.
        layers_per_order: Layers towards singular points for each of these orders, in the plane.
        change: The judge stops when e changes by less.
        singular_change: The same if there are singular points, which the safety factor covers.
        change_in_norm: The norm of the change of e may be this many times `change`, relative to that of e (heuristic).
        clear: An error this factor above or below the tolerance in two spaces is not determined further (heuristic).
        clear_at_once: The same in one space for an answer of finite elements, by dimension (heuristic). In the plane a
            factor of 2.5 gave the heat of benchmarks/users/grains an error bar of a ninth of its error.
        next_order: The part of the error of finite elements that the space of the next order misses (0.05 for order 3
            on a disk).
        eigenvalue: With lam < 0, the largest relative error of the eigenvalue nearest to zero. The component of e along
            its eigenfunction has the same relative error: half of `change`.
        uneven: The verdict is undecided if A in the middle of an element is this many times as large as on its face
            where values are given (heuristic; exp(50 x) has a ratio of 12 on the first mesh).
        unknowns: The size of the largest space, by dimension.
        seconds: No space is begun that is expected to end later.
        safety: An estimate is the judged error times this.
        singular_safety: The same if there are singular points in the plane. At edges in space it is `safety` times
            1 + what further layers change over the last change, times that (relative).
        layers: All further layers of elements towards an edge change e by at most this many times what one has changed,
            where exponents are not known. Layers shrink by a factor of 4, so that the change falls by 4^(2s) at an
            exponent s; 8 is for s = 0.04.

    Example:
        >>> from dataclasses import replace
        >>> from jumpnet.judge import JudgeOptions
        >>> replace(JudgeOptions(), change=0.01).change  # the error to one percent
        0.01
    """

    across: Mapping[int, int] = field(default_factory=lambda: {2: 10, 3: 5})
    curved: int = 4
    graded: int = 6
    higher: int = 4
    layers_per_order: int = 2
    change: float = 0.2
    singular_change: float = 0.5
    change_in_norm: float = 2.5
    clear: float = 10.0
    clear_at_once: Mapping[int, float] = field(default_factory=lambda: {2: 10.0, 3: 2.0})
    next_order: float = 0.1
    eigenvalue: float = 0.1
    uneven: float = 1e3
    unknowns: Mapping[int, int] = field(default_factory=lambda: {2: 80_000, 3: 500_000})
    seconds: float = float("inf")
    safety: float = 2.0
    singular_safety: float = 5.0
    layers: float = 8.0
