"""The least-squares problem of a fit: residuals, their differences, minima.

Derivatives are differences: every solve has the same seed, and an error far below the step.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.errors import JumpnetError, JumpnetWarning, ModelError
from jumpnet.studies.family import Family
from jumpnet.studies.fitting.observations import Observation
from jumpnet.studies.fitting.unknowns import Unknown

# The step of difference quotients, as a part of a parameter's range. Errors of a solve are below a thousandth of it.
STEP = 1e-4
# Searches begin at least this part of the range away from bounds, as the first trust region is proportional to the
# start.
INSIDE = 0.01
# Refused problems (a disk that leaves the domain) count as residuals this many times those of the start.
REFUSED = 10.0


@dataclass(frozen=True, eq=False)
class Minimum:
    """Shares of the ranges at a minimum, residuals and Jacobian there, and whether the search ended at one."""

    t: np.ndarray
    r: np.ndarray
    J: np.ndarray
    converged: bool

    @property
    def cost(self) -> float:
        """The sum of squares."""
        return float(self.r @ self.r)


@dataclass(frozen=True, eq=False)
class Search:
    """The least-squares problem in shares of the ranges."""

    family: Family
    unknowns: tuple[Unknown, ...]
    observations: tuple[Observation, ...]
    calls: list[int] = field(default_factory=lambda: [0])
    seen: dict[bytes, list[Any]] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Number of measured values."""
        return sum(len(one.value) for one in self.observations)

    @property
    def size(self) -> float:
        """The root mean square of the measured values, weighted."""
        every = np.concatenate([one.weight * one.value for one in self.observations])
        return float(np.sqrt(np.mean(every**2)))

    def values(self, t: np.ndarray) -> dict[str, float]:
        """The parameters at shares of their ranges."""
        return {one.name: one.value(share) for one, share in zip(self.unknowns, t, strict=True)}

    def residuals(self, t: np.ndarray, beside: np.ndarray | None = None) -> Float[np.ndarray, " n"]:
        """Weighted differences between predictions and values; nan where a problem is refused.

        Points are seen from the pieces that they are in for the parameters `beside`, by default t itself.
        """
        self.calls[0] += 1
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", JumpnetWarning)
                solution = self.family.solve(self.values(t), verify=False)
                if beside is None:
                    sides = self.seen[t.tobytes()] = [one.sides(solution) for one in self.observations]
                else:
                    sides = self.seen[beside.tobytes()]
                parts = [
                    one.weight * (one.predict(solution, side) - one.value)
                    for one, side in zip(self.observations, sides, strict=True)
                ]
        except JumpnetError as refused:
            self.refused[:] = [str(refused)]
            return np.full(self.count, np.nan)
        return np.concatenate(parts)

    def jacobian(self, t: np.ndarray, r: np.ndarray) -> Float[np.ndarray, "n p"]:
        """Differences, away from the nearer bound."""
        J = np.empty((len(r), len(t)))
        for k in range(len(t)):
            for step in (STEP, -STEP) if t[k] < 0.5 else (-STEP, STEP):
                moved = self.residuals(np.where(np.arange(len(t)) == k, t[k] + step, t), t)
                J[:, k] = (moved - r) / step
                if np.isfinite(moved).all():
                    break
            else:
                raise ModelError(
                    f"the problem is refused on both sides of {self.unknowns[k].name} = "
                    f"{self.unknowns[k].value(t[k]):.6g}; narrow the bounds."
                )
        return J

    def minimum(self, t: np.ndarray) -> Minimum:
        """The minimum that is found from t."""
        from scipy.optimize import least_squares

        first = self.residuals(t)
        if not np.isfinite(first).all():
            why = self.refused[0] if self.refused else "a prediction is not finite."
            raise ModelError(
                "the problem is refused at the start "
                + ", ".join(f"{name} = {value:.6g}" for name, value in self.values(t).items())
                + f": {why} Start elsewhere, or mend that."
            )
        last: dict[bytes, np.ndarray] = {t.tobytes(): first}

        def r(t: np.ndarray) -> np.ndarray:
            if t.tobytes() not in last:
                found = self.residuals(t)
                large = REFUSED * (np.abs(first) + np.linalg.norm(first))
                last[t.tobytes()] = np.where(np.isfinite(found), found, large + 1e-300)
            return last[t.tobytes()]

        found = least_squares(
            r,
            t,
            lambda t: self.jacobian(t, r(t)),  # pyright: ignore[reportArgumentType]
            bounds=(0.0, 1.0),
            xtol=1e-8,
            ftol=1e-8,
            gtol=1e-13,
            max_nfev=100,
        )
        return Minimum(found.x, found.fun, np.asarray(found.jac), bool(found.status > 0))

    def starts(self, count: int, seed: int) -> list[np.ndarray]:
        """Where to begin: as the user says, then points of a low-discrepancy sequence."""
        from scipy.stats import qmc

        first = np.clip([one.share(one.start) for one in self.unknowns], INSIDE, 1 - INSIDE)
        if count == 1:
            return [first]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            shares = qmc.Sobol(len(first), scramble=False).random(count - 1)
        return [first, *((shares + np.random.default_rng(seed).random(len(first))) % 1.0)]

    def slopes(self, t: np.ndarray) -> np.ndarray:
        """The derivatives of the parameters by their shares."""
        return np.array([one.slope(share) for one, share in zip(self.unknowns, t, strict=True)])
