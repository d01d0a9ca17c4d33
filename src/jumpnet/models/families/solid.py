"""Solid harmonics: harmonic functions of space."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from jumpnet.models.families.coordinates import Spherical
from jumpnet.models.families.registry import Matrix, saved_as
from jumpnet.rows import Sites


@saved_as("solid")
@dataclass(frozen=True)
class Solid(Spherical):
    """Real and imaginary parts of the solid harmonics of degree at most `degree`: harmonic functions of space.

    Growing ones, r^l Y_lm, or with `exterior` decaying ones, Y_lm / r^(l+1): multipoles at the origin. Normalised such
    that each derivative of one is plus or minus another one.
    """

    degree: int
    exterior: bool = False

    def functionals(self, sites: Sites) -> Matrix:
        """The functional of every site, function by function."""
        y, a0, a1, a2 = (np.asarray(part) for part in (sites.x, sites.a0, sites.a1, sites.a2))
        # The functional in the derivatives d/dx + i d/dy, d/dx - i d/dy, d/dz.
        b1, b2 = a1 @ LADDER, LADDER.T @ a2 @ LADDER
        if self.exterior:
            table, up, sign = _irregular(y, self.degree + 2), 1, (1, -1, -1)
        else:
            table, up, sign = _regular(y, self.degree), -1, (1, -1, 1)
        steps = ((up, 1), (up, -1), (up, 0))  # each derivative changes l and m by so much
        none = np.zeros(len(y), complex)
        second = [(i, j, (1 if i == j else 2) * b2[:, i, j]) for i in range(3) for j in range(i + 1)]
        second = second if a2.any() else []
        columns = []
        for l in range(self.degree + 1):
            for m in range(l + 1):
                total = a0 * table[l, m]
                for (dl, dm), s, b in zip(steps, sign, b1.T, strict=True):
                    total = total + s * b * table.get((l + dl, m + dm), none)
                for i, j, b in second:
                    where = (l + 2 * up, m + steps[i][1] + steps[j][1])
                    total = total + sign[i] * sign[j] * b * table.get(where, none)
                columns.append(np.real(total))
                if m:
                    columns.append(np.imag(total))
        return np.stack(columns, axis=1)


# d/dx and d/dy by d/dx + i d/dy and d/dx - i d/dy.
LADDER = np.array([[0.5, 0.5, 0.0], [-0.5j, 0.5j, 0.0], [0.0, 0.0, 1.0]])


def _regular(y: Float[np.ndarray, "n 3"], degree: int) -> dict[tuple[int, int], np.ndarray]:
    """r^l P_lm exp(i m phi)/(l + m)! for |m| <= l <= degree."""
    x, z, r2 = y[:, 0] + 1j * y[:, 1], y[:, 2], np.sum(y * y, axis=1)
    table = {(0, 0): np.ones(len(y), complex)}
    for m in range(degree + 1):
        if m:
            table[m, m] = -x / (2 * m) * table[m - 1, m - 1]
        for l in range(m + 1, degree + 1):
            before = table[l - 2, m] if l >= m + 2 else 0.0
            table[l, m] = ((2 * l - 1) * z * table[l - 1, m] - r2 * before) / ((l + m) * (l - m))
    return _with_negative_orders(table)


def _irregular(y: Float[np.ndarray, "n 3"], degree: int) -> dict[tuple[int, int], np.ndarray]:
    """(l - m)! P_lm exp(i m phi)/r^(l + 1) for |m| <= l <= degree."""
    x, z, r2 = y[:, 0] + 1j * y[:, 1], y[:, 2], np.sum(y * y, axis=1)
    table = {(0, 0): (1 / np.sqrt(r2)).astype(complex)}
    for m in range(degree + 1):
        if m:
            table[m, m] = -(2 * m - 1) * x / r2 * table[m - 1, m - 1]
        for l in range(m + 1, degree + 1):
            before = table[l - 2, m] if l >= m + 2 else 0.0
            table[l, m] = ((2 * l - 1) * z * table[l - 1, m] - ((l - 1) ** 2 - m**2) * before) / r2
    return _with_negative_orders(table)


def _with_negative_orders(table: dict[tuple[int, int], np.ndarray]) -> dict[tuple[int, int], np.ndarray]:
    return table | {(l, -m): (-1) ** m * value.conj() for (l, m), value in table.items() if m}
