"""`fit`: parameters of a family of problems from measured values; with what they are worth.

Residuals r_i = (prediction_i - value_i) weight_i are made small in the least-squares sense by Gauss and Newton's method
in a trust region (scipy's `least_squares`), within bounds. Parameters whose bounds are positive and differ by a factor
of 100 are varied in their logarithm. Derivatives are differences: every solve has the same seed, and an error far below
the step. From the Jacobian J at the end follow the covariance s^2 (J^T J)^-1, and which combinations of parameters the
data do not determine: those along which a standard deviation is as large as the bounds allow.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.errors import JumpnetError, JumpnetWarning, ModelError
from jumpnet.guard.text import shorten
from jumpnet.problem import Data
from jumpnet.solution import Solution
from jumpnet.studies.family import Family, checked_quantities, family_of, measured
from jumpnet.studies.sweeps import Span

# Of the range of a parameter: the step of differences. Errors of a solve are below `TOL`, a thousandth of it.
STEP, TOL = 1e-4, 1e-7
# A direction of parameters in which one standard deviation is this part of the range is not determined by the data.
WHOLE = 0.5
# A parameter belongs to such a direction with a component above the first; pairs are told from a correlation above the
# second (both heuristic).
SHARE, CORRELATED = 0.3, 0.95
# Refused problems (a disk that leaves the domain) count as residuals this many times those of the start.
REFUSED = 10.0
# Nearer to a bound than this part of the range an estimate lies on it, and its deviation says little.
ON_BOUND = 1e-6


@dataclass(frozen=True)
class Unknown:
    """A parameter that is looked for: where to start, and between which bounds."""

    name: str
    start: float
    span: Span

    @staticmethod
    def of(name: str, given: Any) -> Unknown:
        """What (start, low, high) means; ModelError for anything else."""
        try:
            start, low, high = (float(one) for one in given)
        except (TypeError, ValueError):
            start, low, high = np.nan, 0.0, 1.0
        if not (np.isfinite([low, high]).all() and low <= start <= high and low < high):
            raise ModelError(
                f"unknown[{name!r}] is {shorten(given)}; (start, low, high) is wanted, e.g. (1.0, 1e-3, 1e3)."
            )
        return Unknown(name, start, Span(low, high))

    def share(self, value: float) -> float:
        """Where a value lies in the range, from 0 to 1."""
        s = self.span
        if s.is_log:
            return float(np.log(value / s.low) / np.log(s.high / s.low))
        return (value - s.low) / (s.high - s.low)

    def value(self, share: float) -> float:
        """The value at a share of the range."""
        return float(self.span.at(np.asarray(share)))

    def slope(self, share: float) -> float:
        """The derivative of the value by the share."""
        s = self.span
        return self.value(share) * float(np.log(s.high / s.low)) if s.is_log else s.high - s.low


@dataclass(frozen=True, eq=False)
class Observation:
    """Measured numbers and the predictions to compare them with, `weight` times.

    Points are seen from pieces, which `sides` finds. A difference is taken with the same ones on both of its sides: as
    an interface moves, values jump where it passes a point, and that is no derivative.
    """

    value: Float[np.ndarray, " n"]
    weight: Float[np.ndarray, " n"]
    predict: Callable[[Solution, Any], Float[np.ndarray, " n"]]
    sides: Callable[[Solution], Any]


@dataclass(frozen=True, eq=False)
class Fit:
    """Estimates of parameters, and what they rest on, as `jn.fit` returns them.

    Args:
        values: The estimates, by name.
        deviations: Their standard deviations: the largest of those at the estimate and at one of them to either side,
            along the direction that the data determine least, as sensitivities change.
        covariance: The matrix at the estimate, in the order of `values`.
        correlation: The same, scaled.
        noise: The standard deviation of a measurement of weight 1: as given, or estimated from the residuals.
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
        >>> rod = jn.Problem(jn.Partition(jn.Interval(0, 1)), A="k", f=-1.0, constants={"k": 1.0})
        >>> found = jn.fit(rod, {"k": (1, 0.1, 10)}, jn.Data([[0.5], [0.25]], [0.0625, 0.046875]))
        >>> round(found.values["k"], 5), found.undetermined
        (2.0, ())
    """

    values: Mapping[str, float]
    deviations: Mapping[str, float]
    covariance: Float[np.ndarray, "p p"]
    correlation: Float[np.ndarray, "p p"]
    noise: float
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

    def profile(self, name: str, count: int = 9, width: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
        """Values of a parameter about its estimate, up to `width` standard deviations, and the sum of squares over the
        noise squared with all others fitted: less its least value, 1, 4, 9 at one, two, three deviations of a parameter
        that enters linearly.

        Example: `values, chi2 = fit.profile("k")`.
        """
        return self._search.profile(self, name, count, width)

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
        lines += [f"{a} and {b} are correlated: {rho:+.3f}" for a, b, rho in self.correlated]
        if len(self.starts) > 1:
            others = [cost for _, cost in self.starts[1:]]
            lines.append(f"{len(self.starts)} starts; sums of squares {self.starts[0][1]:.4g} to {max(others):.4g}")
        return "\n".join(lines)


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
        starts: The search begins at so many points of a low-discrepancy sequence in the bounds, the first where
            `unknown` says.
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
    search = Search(family, unknowns, tuple(_observed(data)))
    if search.count < len(unknowns) + (noise is None):
        raise ModelError(
            f"{search.count} values are given for {len(unknowns)} unknown parameters"
            + (" and the noise; give more values, or noise=." if noise is None else "; give more values.")
        )
    family.problem({one.name: one.start for one in unknowns})  # says what is wrong with it
    return search.fitted(noise, starts, seed)


@dataclass(frozen=True, eq=False)
class Search:
    """The least-squares problem in shares of the ranges."""

    family: Family
    unknowns: tuple[Unknown, ...]
    observations: tuple[Observation, ...]
    calls: list[int] = field(default_factory=lambda: [0])
    seen: dict[bytes, list[Any]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of measured values."""
        return sum(len(one.value) for one in self.observations)

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
        except JumpnetError:
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

    def minimum(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
        """Shares at a minimum, residuals and Jacobian there, and whether it is one."""
        from scipy.optimize import least_squares

        first = self.residuals(t)
        if not np.isfinite(first).all():
            raise ModelError(
                "the problem is refused at the start "
                + ", ".join(f"{name} = {value:.6g}" for name, value in self.values(t).items())
                + "; start elsewhere."
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
        return found.x, found.fun, np.asarray(found.jac), bool(found.status > 0)

    def fitted(self, noise: float | None, starts: int, seed: int) -> Fit:
        """The best of the minima from several starts, with what its estimates are worth."""
        minima = []
        for number, t in enumerate(self._starts(starts, seed)):
            try:
                minima.append(self.minimum(t))
            except ModelError:
                if number == 0:
                    raise
        minima.sort(key=lambda one: float(one[1] @ one[1]))
        t, r, J, converged = minima[0]
        free = len(r) - len(t)
        s = noise if noise is not None else float(np.sqrt(r @ r / max(free, 1)))
        known, slopes = _worth(J, s), self._slopes(t)
        names, values = [one.name for one in self.unknowns], self.values(t)
        covariance = slopes[:, None] * known.covariance * slopes
        deviations = np.maximum(np.sqrt(np.diag(covariance)), self._beside(t, s, known))
        return Fit(
            values=values,
            deviations=dict(zip(names, deviations.tolist(), strict=True)),
            covariance=covariance,
            correlation=known.correlation,
            noise=s,
            residuals=r,
            singular_values=known.singular_values,
            undetermined=tuple(names[k] for k in known.undetermined),
            correlated=tuple((names[a], names[b], rho) for a, b, rho in known.correlated),
            on_bounds=tuple(n for n, share in zip(names, t, strict=True) if min(share, 1 - share) < ON_BOUND),
            starts=tuple((self.values(one[0]), float(one[1] @ one[1])) for one in minima),
            converged=converged,
            solves=self.calls[0],
            solution=self.family.solve(values),
            _search=self,
        )

    def _slopes(self, t: np.ndarray) -> np.ndarray:
        return np.array([one.slope(share) for one, share in zip(self.unknowns, t, strict=True)])

    def _beside(self, t: np.ndarray, noise: float, known: _Worth) -> np.ndarray:
        """The largest standard deviations at one of them to either side, along the direction that is determined least.

        Where the sensitivities change over that distance, those at the estimate alone promise too much.
        """
        largest = np.zeros(len(t))
        if not (noise > 0 and np.isfinite(known.weakest).all()):
            return largest
        for sign in (1.0, -1.0):
            beside = np.clip(t + sign * known.weakest, 0.0, 1.0)
            r = self.residuals(beside)
            try:
                J = self.jacobian(beside, r)
            except ModelError:
                continue
            if np.isfinite(J).all():
                found = np.sqrt(np.diag(_worth(J, noise).covariance)) * self._slopes(beside)
                largest = np.maximum(largest, found)
        return largest

    def _starts(self, count: int, seed: int) -> list[np.ndarray]:
        from scipy.stats import qmc

        first = np.array([one.share(one.start) for one in self.unknowns])
        if count == 1:
            return [first]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            shares = qmc.Sobol(len(first), scramble=False).random(count - 1)
        return [first, *((shares + np.random.default_rng(seed).random(len(first))) % 1.0)]

    def profile(self, fit: Fit, name: str, count: int, width: float) -> tuple[np.ndarray, np.ndarray]:
        """Values of one parameter, and the least sum of squares of all others there, over the noise squared."""
        names = [one.name for one in self.unknowns]
        if name not in names:
            raise ModelError(f"{name!r} is no parameter of this fit; it has {', '.join(names)}.")
        k, best = names.index(name), np.array([one.share(fit.values[one.name]) for one in self.unknowns])
        reach = width * fit.deviations[name] / self.unknowns[k].slope(best[k])
        shares = np.unique(np.clip(best[k] + reach * np.linspace(-1, 1, count), 0.0, 1.0))
        rest = tuple(one for j, one in enumerate(self.unknowns) if j != k)
        chi2 = []
        for share in shares:
            fixed = {name: self.unknowns[k].value(share)}
            others = Search(_Fixed(self.family, fixed), rest, self.observations)
            r = others.minimum(np.delete(best, k))[1] if rest else others.residuals(np.zeros(0))
            chi2.append(float(r @ r) / fit.noise**2 if fit.noise > 0 else np.nan)
        return np.array([self.unknowns[k].value(share) for share in shares]), np.array(chi2)


@dataclass(frozen=True, eq=False)
class _Fixed(Family):
    """A family with some parameters fixed."""

    family: Family
    fixed: Mapping[str, float]

    def problem(self, values: Mapping[str, float]) -> Any:
        return self.family.problem({**values, **self.fixed})

    def solve(self, values: Mapping[str, float], **options: Any) -> Solution:
        return self.family.solve({**values, **self.fixed}, **options)

    def measure(self, values: Mapping[str, float]) -> Any:
        return self.family.measure({**values, **self.fixed})

    @property
    def key(self) -> str:
        return self.family.key


@dataclass(frozen=True, eq=False)
class _Worth:
    covariance: np.ndarray
    correlation: np.ndarray
    singular_values: np.ndarray
    undetermined: tuple[int, ...]
    correlated: tuple[tuple[int, int, float], ...]
    weakest: np.ndarray
    """One standard deviation along the direction that is determined least."""


def _worth(J: np.ndarray, noise: float) -> _Worth:
    """Covariance in shares of the ranges, and what the data do not determine.

    Directions without information have the deviation of the whole range: more is not known, and not less.
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
    weakest = np.where(weak.any(), np.nan, deviation[-1]) * directions[-1]
    return _Worth(covariance, correlation, ratio, tuple(members), tuple((b, a, rho) for a, b, rho in pairs), weakest)


def _observed(data: Any) -> Sequence[Observation]:
    """What was measured; ModelError for anything else."""
    given = [data] if isinstance(data, Data) or _is_quantity(data) else data
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise ModelError(
            f"data is {shorten(data)}; jn.Data(x, u), or a list of such and of (quantity, value) is wanted."
        )
    return [_values(one) if isinstance(one, Data) else _quantity(one) for one in given]


def _is_quantity(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) in (2, 3) and isinstance(given[1], int | float)


def _values(one: Data) -> Observation:
    x = np.asarray(one.x, float)
    x = x[:, None] if x.ndim == 1 else x
    value, weight = (np.broadcast_to(np.asarray(part, float), len(x)).copy() for part in (one.u, one.weight))
    if not (np.isfinite(x).all() and np.isfinite(value).all() and (weight > 0).all()):
        raise ModelError("data has a point, a value or a weight that is not a finite number, or a weight below 0.")

    def sides(solution: Solution) -> Any:
        return one.piece if one.piece is not None else solution._located(x, None)[1]

    return Observation(value, weight, lambda solution, side: solution(x, side), sides)


def _quantity(one: Any) -> Observation:
    if not _is_quantity(one):
        raise ModelError(
            f"data has {shorten(one)}; jn.Data(x, u), (quantity, value) or (quantity, value, weight) is wanted."
        )
    quantity: Any = one[0]
    value, weight = (*one[1:], 1.0)[:2]
    checked_quantities({"data": quantity})
    number, factor = np.array([float(value)]), np.array([float(weight)])
    return Observation(number, factor, lambda solution, _: np.array([measured(solution, quantity)[0]]), lambda _: None)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} together"
