"""`fit`: parameters of a family of problems from measured values, with their uncertainties.

Residuals r_i = (prediction_i - value_i) weight_i are made small in the least-squares sense by Gauss and Newton's method
in a trust region (scipy's `least_squares`), within bounds. Parameters whose bounds are positive and differ by a factor
of 100 are varied in their logarithm. From the Jacobian J at the end follow the covariance s^2 (J^T J)^-1, and which
combinations of parameters the data do not determine: those along which a standard deviation is as large as the bounds
allow. Standard deviations come from profiles (profiles.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jumpnet.errors import ModelError
from jumpnet.guard.text import shorten
from jumpnet.studies.family import family_of
from jumpnet.studies.fitting.observations import observed
from jumpnet.studies.fitting.profiles import deviations
from jumpnet.studies.fitting.result import Fit
from jumpnet.studies.fitting.search import Minimum, Search
from jumpnet.studies.fitting.unknowns import Unknown
from jumpnet.studies.fitting.worth import worth

# The tolerance of solves: a thousandth of the step of differences (search.py).
TOL = 1e-7
# Of the measured values: no noise is below this, as no prediction is more exact.
ROUNDING = 1e-10
# An estimate nearer to a bound than this part of the range lies on the bound, and its deviation means little.
ON_BOUND = 1e-6


def fit(
    problem: Any,
    unknown: Mapping[str, Any],
    data: Any = None,
    *,
    noise: float | None = None,
    starts: int = 1,
    seed: int = 0,
    **options: Any,
) -> Fit:
    """Parameters of a problem from measured values; estimates with standard deviations come back.

    Args:
        problem: A function of the parameters that returns a `Problem`, a `Problem` whose formulas use `constants`, or
            what `jn.read_file` returns: parameters may be in coefficients, conditions, laws and shapes.
        unknown: Their names to (start, low, high). Where both bounds are positive and differ by a factor of 100, the
            logarithm is varied.
        data: A `jn.Data(x, u)`, or a list of such and of (quantity, value) or (quantity, value, weight), with
            quantities as in `jn.sweep`: ("flux", "top"), ("mean", piece), or a function of the solution. Weights are
            the inverse of relative standard deviations. A file has its own, `[[data]]`, unless others are given.
        noise: The standard deviation of a value of weight 1; without it, it is estimated from the residuals.
        starts: The number of searches, from points of a low-discrepancy sequence in the bounds, the first where
            `unknown` says. Inclusions that are alike can be exchanged: their fits have several equal minima.
        seed: That of the solves, which is the same for all of them.
        options: Those of `jn.solve` (`tol` is 1e-7 unless given).

    Returns:
        A `Fit`: `values`, `deviations`, `covariance`, `undetermined`, `correlated`, `profile(name)`, `solution`.

    Example:
        >>> import jumpnet as jn
        >>> parts = jn.Partition(jn.Interval(0, 2), [jn.Interval(1, 2)])
        >>> ends = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)}
        >>> problem = jn.Problem(parts, A=[1, "k"], boundary=ends, constants={"k": 1})
        >>> fit = jn.fit(problem, {"k": (1, 1e-3, 1e3)}, jn.Data([[0.5], [1.5]], [0.375, 0.875]))
        >>> round(fit.values["k"], 5)
        3.0
    """
    if not isinstance(unknown, Mapping) or not unknown:
        raise ModelError(f"unknown is {shorten(unknown)}; a mapping from names to (start, low, high) is wanted.")
    if noise is not None and not (isinstance(noise, int | float) and 0 < noise < np.inf):
        raise ModelError(f"noise is {noise!r}; a positive standard deviation is wanted, or None.")
    if isinstance(starts, bool) or not isinstance(starts, int) or starts < 1:
        raise ModelError(f"starts is {starts!r}; a whole number, at least 1, is wanted.")
    family = family_of(problem, {}, {"tol": TOL, **options})
    own = getattr(family, "data", None)
    if own is not None:
        family, kept = own()
        data = kept if data is None else data
    unknowns = tuple(Unknown.of(name, given) for name, given in unknown.items())
    search = Search(family, unknowns, tuple(observed(data)))
    if search.count < len(unknowns) + (noise is None):
        raise ModelError(
            f"{search.count} values are given for {len(unknowns)} unknown parameters"
            + (" and the noise; give more values, or noise=." if noise is None else "; give more values.")
        )
    family.problem({one.name: one.start for one in unknowns})  # says what is wrong with it
    return _fitted(search, _minima(search, starts, seed), noise)


def _minima(search: Search, starts: int, seed: int) -> list[Minimum]:
    """The minima from several starts, best first; the first start has to be a problem."""
    found = []
    for number, t in enumerate(search.starts(starts, seed)):
        try:
            found.append(search.minimum(t))
        except ModelError:
            if number == 0:
                raise
    return sorted(found, key=lambda one: one.cost)


def _fitted(search: Search, minima: list[Minimum], noise: float | None) -> Fit:
    """The best of the minima, with the uncertainties of its estimates."""
    best = minima[0]
    free = len(best.r) - len(best.t)
    s = noise if noise is not None else max(float(np.sqrt(best.cost / max(free, 1))), ROUNDING * search.size)
    known, slopes = worth(best.J, s), search.slopes(best.t)
    names, values = [one.name for one in search.unknowns], search.values(best.t)
    spread = deviations(search, best, s, known.covariance)
    return Fit(
        values=values,
        deviations=dict(zip(names, spread.tolist(), strict=True)),
        covariance=slopes[:, None] * known.covariance * slopes,
        correlation=known.correlation,
        noise=s,
        misfit=float("nan") if noise is None or free < 1 else float(np.sqrt(best.cost / free)) / noise,
        residuals=best.r,
        singular_values=known.singular_values,
        undetermined=tuple(names[k] for k in known.undetermined),
        correlated=tuple((names[a], names[b], rho) for a, b, rho in known.correlated),
        on_bounds=tuple(n for n, share in zip(names, best.t, strict=True) if min(share, 1 - share) < ON_BOUND),
        starts=tuple((search.values(one.t), one.cost) for one in minima),
        converged=best.converged,
        solves=search.calls[0],
        solution=search.family.solve(values),
        _search=search,
    )
