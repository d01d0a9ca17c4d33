"""The effective tensor of a periodic cell, and bounds for it that need no solve.

Voigt's bound is the mean of A, Reuss's the inverse of the mean of A^-1, both as matrices. Where every piece conducts
equally in all directions, Hashin and Shtrikman's bounds are narrower. For two such materials they hold for the traces
of (T - k1)^-1 and (k2 - T)^-1 whatever the arrangement; for more materials only if T is a multiple of the identity.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from jumpnet.fields import is_zero
from jumpnet.geometry import Partition
from jumpnet.geometry.quadrature.integrals import over_piece

if TYPE_CHECKING:
    from jumpnet.problem import Problem
    from jumpnet.solution.solution import Solution

# The conditions of an effective tensor, in words.
CONDITIONS = {
    "periodic": "periodic",
    "linear": "u = x_k on the boundary (an upper bound of larger samples)",
    "flux": "A grad u . n = n_k on the boundary (a lower bound of larger samples)",
    "mixed": "u = x_k on two opposite sides, the others insulated",
}

Tensor = Float[np.ndarray, "d d"]

# The relative tolerance for equal materials and for isotropy.
SAME = 1e-12
# Shares of pieces, by quadrature, and so the bounds, are known up to this part (heuristic).
SHARES = 1e-6


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of the effective tensor; None where a bound does not apply.

    `reuss` and `voigt` are matrices (in the order of quadratic forms), `hashin_shtrikman` two numbers. A contact
    resistance only lowers the tensor: the upper bounds stay.
    """

    voigt: Tensor
    reuss: Tensor | None
    hashin_shtrikman: tuple[float | None, float] | None
    materials: tuple[tuple[float, float], ...]
    """The conductivities and their shares, lowest first, where all are the same in all directions."""

    def violated(self, tensor: Tensor, margin: float = 0.0) -> tuple[str, ...]:
        """The names of the bounds that a tensor breaks by more than a margin."""

        def above(higher: Tensor, lower: Tensor) -> bool:
            return bool(np.linalg.eigvalsh(higher - lower)[0] >= -margin)

        broken = [] if above(self.voigt, tensor) else ["Voigt"]
        if self.reuss is not None and not above(tensor, self.reuss):
            broken.append("Reuss")
        return (*broken, *self._of_hashin_and_shtrikman(tensor, margin))

    def _of_hashin_and_shtrikman(self, tensor: Tensor, margin: float) -> list[str]:
        if self.hashin_shtrikman is None:
            return []
        d, (low, high) = len(tensor), self.hashin_shtrikman
        if len(self.materials) == 2:
            (k1, _), (k2, _) = self.materials
            # The trace of a matrix's inverse is that of the scalar whose inverse is the mean: as if T were that scalar.
            values = np.linalg.eigvalsh(tensor)
            lower = k1 + d / np.sum(1 / np.maximum(values - k1, 1e-300))
            upper = k2 - d / np.sum(1 / np.maximum(k2 - values, 1e-300))
        else:
            lower = upper = float(np.trace(tensor)) / d
            if np.abs(tensor - lower * np.eye(d)).max() > max(margin, 1e-6 * lower):
                return []
        broken = ["Hashin-Shtrikman, lower"] if low is not None and lower < low - margin else []
        return broken + (["Hashin-Shtrikman, upper"] if upper > high + margin else [])


@dataclass(frozen=True, eq=False)
class EffectiveTensor:
    """The mean flux of a box as a function of the mean gradient: <A grad u> = T <grad u>.

    `boundary` names the conditions: "periodic", or those of an apparent tensor of a sample. `resolution` is by how much
    the entries change where the label image is half as fine; nan where that was not asked for.

    `tensor` is symmetric; `asymmetry` is by how much the computed one was not. `estimate` is that of the error
    of its entries: from the judged errors of the mean gradients and fluxes of `solutions`, one for each unit gradient;
    where these were not judged, from the asymmetry, from the difference of the fluxes through opposite sides, from
    quadrature and from their own estimates.
    """

    tensor: Tensor
    asymmetry: float
    estimate: float
    bounds: Bounds
    solutions: tuple[Solution, ...]
    boundary: str = "periodic"
    resolution: float = np.nan

    @property
    def violated(self) -> tuple[str, ...]:
        """The bounds that the tensor breaks by more than its estimated error; none for a sound result."""
        known = self.estimate if np.isfinite(self.estimate) else 0.0
        return self.bounds.violated(self.tensor, known + SHARES * float(np.abs(self.bounds.voigt).max()))

    @property
    def converged(self) -> bool:
        """Whether all solutions reached their tolerance."""
        return all(solution.status.ok for solution in self.solutions)

    def __str__(self) -> str:
        known = max(self.estimate, 1e-15) if np.isfinite(self.estimate) else 1.0
        digits = int(np.clip(np.ceil(-np.log10(known)), 3, 15))
        lines = [
            ("tensor     " if not i else " " * 11) + "  ".join(f"{v:{digits + 5}.{digits}f}" for v in row)
            for i, row in enumerate(self.tensor)
        ]
        error = f"error {self.estimate:.1e}" if np.isfinite(self.estimate) else "error unknown"
        lines.append(f"estimate   {error}; asymmetry before it was made symmetric {self.asymmetry:.1e}")
        if self.boundary != "periodic":
            lines.insert(0, f"conditions {CONDITIONS[self.boundary]}")
        if np.isfinite(self.resolution):
            lines.append(f"resolution entries change by {self.resolution:.1e} with pixels of twice the size")
        low = "none" if self.bounds.reuss is None else _eigenvalues(self.bounds.reuss)
        lines.append(f"bounds     Reuss {low}, Voigt {_eigenvalues(self.bounds.voigt)} (eigenvalues)")
        if self.bounds.hashin_shtrikman is not None:
            below, above = self.bounds.hashin_shtrikman
            lines.append(f"           Hashin-Shtrikman {'none' if below is None else f'{below:.8g}'} to {above:.8g}")
        lines.append(f"           {'all met' if not self.violated else 'broken: ' + ', '.join(self.violated)}")
        return "\n".join(lines)


def _eigenvalues(tensor: Tensor) -> str:
    values = np.linalg.eigvalsh(tensor)
    same = values[-1] - values[0] <= SAME * values[-1]
    return f"{values[0]:.8g}" if same else ", ".join(f"{v:.8g}" for v in values)


def bounds_of(problem: Problem) -> Bounds:
    """The bounds of a cell, from the shares and the coefficients of its pieces."""
    parts, d = problem.partition, problem.dim
    shares = shares_of(parts)
    mean, inverse = np.zeros((d, d)), np.zeros((d, d))
    scalars: dict[float, float] | None = {}
    for piece, share in enumerate(shares):
        own, own_inverse = _means(problem, piece)
        mean, inverse = mean + share * own, inverse + share * own_inverse
        k = own[0, 0]
        if scalars is None or not problem.A[piece].is_constant or np.abs(own - k * np.eye(d)).max() > SAME * k:
            scalars = None
        else:
            known = next((other for other in scalars if abs(other - k) <= SAME * k), k)
            scalars[known] = scalars.get(known, 0.0) + share
    perfect = all(is_zero(jump.R) for jump in problem.jumps.values())
    materials = tuple(sorted((scalars or {}).items()))
    narrow = None
    if materials:
        low, high = (_hashin_shtrikman(materials, k, d) for k in (materials[0][0], materials[-1][0]))
        narrow = (low if perfect else None, high)
    return Bounds(mean, np.linalg.inv(inverse) if perfect else None, narrow, materials)


def shares_of(parts: Partition) -> Float[np.ndarray, " pieces"]:
    """How much of the cell each piece fills; what the others leave is piece 0's. Of a label volume: how many voxels."""
    if parts.dim == 3 and parts.image is not None:
        pieces = parts.image.cells.pieces
        return np.bincount(pieces.ravel(), minlength=parts.size) / pieces.size
    lower, upper = (np.asarray(end, float) for end in parts.bounds)
    volume = float(np.prod(upper - lower))
    others = [over_piece(parts, p)(lambda x, n: np.ones(len(x))).value / volume for p in range(1, parts.size)]
    return np.array([1.0 - sum(others), *others])


def _means(problem: Problem, piece: int) -> tuple[Tensor, Tensor]:
    """The means of A and of A^-1 over a piece."""
    field, d = problem.A[piece], problem.dim
    if field.is_constant:
        center = sum(np.asarray(end, float) for end in problem.partition.bounds) / 2
        A = field.value(np.asarray(center)[None])[0]
        return A, np.linalg.inv(A)
    rule = over_piece(problem.partition, piece)
    volume = rule(lambda x, n: np.ones(len(x))).value

    def mean(of: Callable[[Tensor], Tensor], i: int, j: int) -> float:
        return rule(lambda x, n: of(field.value(x))[:, i, j]).value / volume

    A, inverse = (
        np.array([[mean(of, i, j) for j in range(d)] for i in range(d)]) for of in (np.asarray, np.linalg.inv)
    )
    return A, inverse


def _hashin_shtrikman(materials: tuple[tuple[float, float], ...], reference: float, d: int) -> float:
    """Lower bound with the lowest conductivity as reference, upper bound with the highest."""
    k, share = np.array(materials).T
    return float(1 / np.sum(share / (k + (d - 1) * reference)) - (d - 1) * reference)
