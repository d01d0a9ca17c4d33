"""The true error of a solution: root mean squares by importance sampling, so that small pieces and features count."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.adversary.cases import Array, Case

UNIFORM = 4000
PER_REGION = 1000
PER_PIECE = 60
NOISE = 1e-12  # of a quantity: what rounding may do to it beside its error bar
ROUNDING = 1e-13  # of the largest |u|: what no solution in double precision can be blamed for


@dataclass(frozen=True)
class Truth:
    """The RMS error and the RMS deviation of u from its mean over the domain (or, of functionals, the worst of them
    relative to its scale, with 1 for the variation)."""

    error: float
    variation: float
    largest: float
    """The largest error seen at a point, or the name of the worst functional's error."""
    worst: str = ""

    @property
    def relative(self) -> float:
        """The error relative to the variation."""
        return self.error / self.variation


def regions(case: Case, parts: Any) -> list[tuple[Array, Array]]:
    """The boxes in which errors are also looked at, cut by that of the domain."""
    low, high = (np.asarray(b, float) for b in parts.bounds)
    cut = [(np.maximum(low, np.asarray(a, float)), np.minimum(high, np.asarray(b, float))) for a, b in case.focus]
    return [(a, b) for a, b in cut if np.all(b > a)]


def sample(case: Case, parts: Any, seed: int = 1234) -> tuple[Array, Array, Array]:
    """Points, pieces and weights: sums of weights times values are integrals over the domain."""
    count = max(UNIFORM, 2 * PER_PIECE * parts.size)
    x, piece = parts.sample_interior(count, seed=seed, minimum=PER_PIECE)
    density = np.array([np.sum(piece == p) / parts.measure(p) for p in range(parts.size)])
    rng, boxes = np.random.default_rng(seed), regions(case, parts)
    for low, high in boxes:
        extra = rng.uniform(low, high, (PER_REGION, parts.dim))
        label = parts.label(extra)
        x, piece = np.concatenate([x, extra[label >= 0]]), np.concatenate([piece, label[label >= 0]])
    expected = density[piece]
    for low, high in boxes:
        inside = np.all((x >= low) & (x <= high), axis=1)
        expected = expected + inside * PER_REGION / np.prod(high - low)
    return x, piece, 1 / expected


def measured(case: Case, solution: Any, parts: Any) -> Truth:
    """How far a solution is from the truth."""
    if case.exact is not None:
        return _pointwise(case, solution, parts)
    if not case.defects:  # quantities with error bars are all that is known
        return Truth(0.0, 1.0, 0.0)
    found = [(float(defect.measure(solution)) / defect.scale, defect.name) for defect in case.defects]
    error, name = max(found, key=lambda one: one[0] if np.isfinite(one[0]) else np.inf)
    return Truth(error, 1.0, error, name)


def _pointwise(case: Case, solution: Any, parts: Any) -> Truth:
    x, piece, weight = sample(case, parts)
    assert case.exact is not None
    exact = case.exact(x, piece)
    wrong = solution(x, piece) - exact
    whole = weight.sum()
    mean = float(weight @ exact) / whole
    variation = float(np.sqrt(weight @ (exact - mean) ** 2 / whole))
    floor = ROUNDING * float(np.max(np.abs(exact)))
    error = float(np.sqrt(weight @ wrong**2 / whole))
    return Truth(error, max(variation, floor), float(np.max(np.abs(wrong))))


def bars(case: Case, solution: Any) -> tuple[float, str]:
    """The largest error of a quantity in units of its error bar, and what it is; nan without bars."""
    worst, what = np.nan, ""
    for one in case.known if solution.status.ok else ():
        value, bar = one.measure(solution)
        if not np.isfinite(bar):
            continue
        ratio = abs(value - one.value) / (bar + NOISE * abs(one.value))
        if not ratio <= worst:
            worst, what = ratio, f"{one.name}: {value:.10g} +- {bar:.1e}, exactly {one.value:.10g}"
    return worst, what
