"""Uncertainties by linear theory: covariance, and combinations of parameters that the data do not determine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# A direction of parameters in which one standard deviation is this part of the range is not determined by the data.
WHOLE = 0.5
# A parameter belongs to such a direction if its component exceeds the first number; pairs are reported if their
# correlation exceeds the second (both heuristic).
SHARE, CORRELATED = 0.3, 0.95


@dataclass(frozen=True, eq=False)
class Worth:
    """Covariance in shares of the ranges, correlation, singular values over the noise, members of weak directions."""

    covariance: np.ndarray
    correlation: np.ndarray
    singular_values: np.ndarray
    undetermined: tuple[int, ...]
    correlated: tuple[tuple[int, int, float], ...]


def worth(J: np.ndarray, noise: float) -> Worth:
    """Covariance in shares of the ranges, and what the data do not determine.

    Directions without information get the whole range as their deviation.
    """
    p = J.shape[1]
    _, singular, directions = np.linalg.svd(J, full_matrices=False)
    ratio = np.divide(singular, noise, out=np.full(p, np.inf), where=noise > 0)
    rank = singular > 1e-12 * max(float(singular.max(initial=0.0)), 1e-300)
    deviation = np.where(rank, np.divide(noise, singular, out=np.full(p, np.inf), where=singular > 0), np.inf)
    weak = deviation > WHOLE
    covariance = (directions.T * np.minimum(deviation, 1.0) ** 2) @ directions
    sd = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    correlation = covariance / (sd[:, None] * sd)
    members = sorted({int(k) for row in directions[weak] for k in np.flatnonzero(np.abs(row) > SHARE)})
    pairs = [
        (a, b, float(correlation[a, b])) for a in range(p) for b in range(a) if abs(correlation[a, b]) > CORRELATED
    ]
    return Worth(covariance, correlation, ratio, tuple(members), tuple((b, a, rho) for a, b, rho in pairs))
