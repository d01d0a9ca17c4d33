"""Profile likelihoods and the deviations from them: the least sum of squares as a function of one parameter.

Linear theory has a parabola, which rises by 1, 4, 9 (of the noise squared) at one, two, three standard deviations.
Where sensitivities change over that distance the parabola does not hold; the profile itself does (profile likelihood).
The deviation that is reported is a third of the distance at which the profile has risen by nine, its 3-sigma interval.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jumpnet.errors import ModelError
from jumpnet.solution import Solution
from jumpnet.studies.family import Family
from jumpnet.studies.fitting.search import Minimum, Search

if TYPE_CHECKING:
    from jumpnet.studies.fitting.result import Fit

# Deviations are read off where the sum of squares has risen by the square of this.
WIDTH = 3.0
# The most solves for that point, the accepted range of the root of the rise, and the largest step (heuristic).
TRIES, NEAR, FARTHER = 4, (2.7, 3.3), 2.0


def deviations(search: Search, at: Minimum, noise: float, covariance: np.ndarray) -> np.ndarray:
    """Standard deviations of the parameters; `covariance` is that of linear theory, in shares of the ranges."""
    sd, slopes = np.sqrt(np.diag(covariance)), search.slopes(at.t)
    found = sd * slopes
    for k in range(len(at.t)):
        if noise > 0 and 0 < sd[k] and WIDTH * sd[k] < 1.0:  # else nothing, or no more than the range, is known
            along = covariance[:, k] / sd[k]
            found[k] = max(found[k], *(_distance(search, at, noise, k, sign * along) / WIDTH for sign in (1.0, -1.0)))
    return found


def _distance(search: Search, at: Minimum, noise: float, k: int, along: np.ndarray) -> float:
    """How far parameter k is from its estimate where its profile has risen by `WIDTH` squared, to one side.

    On the path of linear theory, `along` for one deviation; what other parameters could still mend is taken off by the
    Jacobian at the estimate.
    """
    others, _ = np.linalg.qr(np.delete(at.J, k, axis=1))
    unknown, steps = search.unknowns[k], WIDTH
    far = 0.0
    for _ in range(TRIES):
        t = np.clip(at.t + steps * along, 0.0, 1.0)
        r = search.residuals(t)
        if not np.isfinite(r).all():
            break
        left = r - others @ (others.T @ r)
        rise = float(np.sqrt(max(left @ left - at.cost, 0.0))) / noise
        share = t[k] - at.t[k]
        ratio = float(np.clip(WIDTH / max(rise, 1e-300), 1 / FARTHER, FARTHER))
        far = abs(unknown.value(float(np.clip(at.t[k] + ratio * share, 0.0, 1.0))) - unknown.value(at.t[k]))
        if NEAR[0] <= rise <= NEAR[1] or not 0.0 < t[k] < 1.0:
            break
        steps *= ratio
    return far


def profile(search: Search, fit: Fit, name: str, count: int, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Values of one parameter, and the least sum of squares of all others there, over the noise squared."""
    names = [one.name for one in search.unknowns]
    if name not in names:
        raise ModelError(f"{name!r} is no parameter of this fit; it has {', '.join(names)}.")
    k, best = names.index(name), np.array([one.share(fit.values[one.name]) for one in search.unknowns])
    reach = width * fit.deviations[name] / search.unknowns[k].slope(best[k])
    shares = np.unique(np.clip(best[k] + reach * np.linspace(-1, 1, count), 0.0, 1.0))
    rest = tuple(one for j, one in enumerate(search.unknowns) if j != k)
    chi2 = []
    for share in shares:
        fixed = {name: search.unknowns[k].value(share)}
        others = Search(_Fixed(search.family, fixed), rest, search.observations)
        r = others.minimum(np.delete(best, k)).r if rest else others.residuals(np.zeros(0))
        chi2.append(float(r @ r) / fit.noise**2 if fit.noise > 0 else np.nan)
    return np.array([search.unknowns[k].value(share) for share in shares]), np.array(chi2)


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
