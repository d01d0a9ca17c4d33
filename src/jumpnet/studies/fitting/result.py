"""What a fit returns: estimates, and what they are worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from jumpnet.solution import Solution

if TYPE_CHECKING:
    from jumpnet.studies.fitting.search import Search

# Residuals beyond this many standard deviations are outliers; the deviation is taken from the median, which outliers do
# not inflate.
OUTLYING = 6.0
# Residuals that exceed the noise by this over the root of the degrees of freedom are significant: about three
# deviations.
MISFIT = 2.0


@dataclass(frozen=True, eq=False)
class Fit:
    """Estimates of parameters, and what they rest on, as `jn.fit` returns them.

    Args:
        values: The estimates, by name.
        deviations: Their standard deviations: a third of the distance, to the farther side, at which the least sum of
            squares over all others has risen by nine (of the noise squared); at least those of the covariance.
        covariance: The matrix at the estimate, in the order of `values`.
        correlation: The same, scaled.
        noise: The standard deviation of a measurement of weight 1: as given, or estimated from the residuals.
        misfit: How many times larger residuals are than the noise given; nan where it was estimated from them.
        residuals: Measured minus computed values, weighted.
        singular_values: Those of the weighted Jacobian for parameters in units of their ranges, over the noise: below
            2, a combination of parameters is not determined.
        undetermined: The members of such combinations.
        correlated: Pairs of parameters with their correlation, where it is high.
        on_bounds: Estimates at the end of their range.
        starts: All minima found, best first: values and sum of squares.
        solution: That of the problem with the estimates.
        converged: Whether the search ended at a minimum and the last solve converged.
        solves: The number of problems that were solved.

    Example:
        >>> import jumpnet as jn
        >>> parts, ends = jn.Partition(jn.Interval(0, 1)), jn.Dirichlet(0)
        >>> rod = jn.Problem(parts, A="k", f=-1.0, boundary=ends, constants={"k": 1.0})
        >>> found = jn.fit(rod, {"k": (1, 0.1, 10)}, jn.Data([[0.5], [0.25]], [0.0625, 0.046875]))
        >>> round(found.values["k"], 5), found.undetermined
        (2.0, ())
    """

    values: Mapping[str, float]
    deviations: Mapping[str, float]
    covariance: Float[np.ndarray, "p p"]
    correlation: Float[np.ndarray, "p p"]
    noise: float
    misfit: float
    residuals: Float[np.ndarray, " n"]
    singular_values: Float[np.ndarray, " p"]
    undetermined: tuple[str, ...]
    correlated: tuple[tuple[str, str, float], ...]
    on_bounds: tuple[str, ...]
    starts: tuple[tuple[Mapping[str, float], float], ...]
    converged: bool
    solves: int
    solution: Solution
    _search: Search = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether the search ended at a minimum, and the data determine all parameters."""
        return self.converged and not self.undetermined

    @property
    def outliers(self) -> tuple[int, ...]:
        """The indices of outliers among the measured values (if there are at least ten values)."""
        off = np.abs(self.residuals)
        usual = 1.4826 * float(np.median(off))
        return tuple(np.flatnonzero(off > OUTLYING * usual).tolist()) if len(off) >= 10 and usual > 0 else ()

    def profile(self, name: str, count: int = 9, width: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
        """Values of a parameter about its estimate, up to `width` standard deviations, and the sum of squares over the
        noise squared with all others fitted: less its least value, 1, 4, 9 at one, two, three deviations of a parameter
        that enters linearly.

        Example: `values, chi2 = fit.profile("k")`.
        """
        from jumpnet.studies.fitting.profiles import profile

        return profile(self._search, self, name, count, width)

    def plot(self, path: str | PathLike[str] | None = None, *, profiles: bool = True) -> Any:
        """Measured against predicted values, and the profile of each parameter; written to `path` if given.

        Example: `fit.plot("fit.png")`.
        """
        from jumpnet.reporting.figures.fits import plot_fit

        return plot_fit(self, path, profiles=profiles)

    def __str__(self) -> str:
        width = max(map(len, self.values))
        lines = [
            f"{name.ljust(width)}  {value:.6g} +- {self.deviations[name]:.2g}"
            + ("  (on a bound)" if name in self.on_bounds else "")
            for name, value in self.values.items()
        ]
        lines.append(f"noise {self.noise:.3g} from {len(self.residuals)} values, {self.solves} solves")
        if not self.converged:
            lines.append("the search did not end at a minimum; try more starts, or other ones.")
        if self.undetermined:
            lines.append(
                f"the data do not determine {_listed(self.undetermined)}: fix one of them, or measure elsewhere."
            )
        if self.misfit > 1 + MISFIT / np.sqrt(max(len(self.residuals) - len(self.values), 1)):
            lines.append(
                f"residuals are {self.misfit:.2g} times the noise given: the model does not describe the data, some of "
                "them are wrong, or the noise is larger; the deviations above are then too small."
            )
        if self.outliers:
            numbers = ", ".join(map(str, self.outliers[:5])) + (", ..." if len(self.outliers) > 5 else "")
            lines.append(f"off by much more than most are the values number {numbers} (from 0): look at them.")
        lines += [f"{a} and {b} are correlated: {rho:+.3f}" for a, b, rho in self.correlated]
        if len(self.starts) > 1:
            others = [cost for _, cost in self.starts[1:]]
            lines.append(f"{len(self.starts)} starts; sums of squares {self.starts[0][1]:.4g} to {max(others):.4g}")
        return "\n".join(lines)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} together"
