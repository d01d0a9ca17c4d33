"""One chart: coordinates of cells, with their first and second derivatives."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from jumpnet.rows import Sites

# y, dy/dx and d2y/dx2; None for the latter where only first derivatives were asked for.
Jet = tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "n k d"], Float[np.ndarray, "n k d d"] | None]


class Chart(ABC):
    """Coordinates y(x) of some cells, with first and second derivatives in closed form."""

    outputs: int

    @abstractmethod
    def jet(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"], order: int = 2) -> Jet:
        """y and its derivatives up to an order at points seen from cells; zero in cells that the chart is not for."""

    @abstractmethod
    def values(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
        """y alone: a map of a million points needs no derivatives."""

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """The chart as JSON; `chart_from_spec` reads it back."""


@dataclass(frozen=True)
class Box(Chart):
    """(x - center_l)/halfwidth_l in cell l; equal rows for the domain's box, 0 and 1 for x itself."""

    center: Float[np.ndarray, "cells d"]
    halfwidth: Float[np.ndarray, "cells d"]

    @property
    def outputs(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.center.shape[1]

    def jet(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"], order: int = 2) -> Jet:
        h = self.halfwidth[cell]
        d = x.shape[1]
        second = np.zeros((len(x), d, d, d)) if order > 1 else None
        return (x - self.center[cell]) / h, np.eye(d) / h[:, None, :], second

    def values(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
        return (x - self.center[cell]) / self.halfwidth[cell]

    def spec(self) -> dict[str, Any]:
        return {"chart": "box", "center": self.center.tolist(), "halfwidth": self.halfwidth.tolist()}


@dataclass(frozen=True)
class Turned(Chart):
    """Coordinates of some cells in z = T (x - center), where T maps the cell's A to the identity."""

    cells: tuple[int, ...]
    center: Float[np.ndarray, " d"]
    transform: Float[np.ndarray, "d d"]

    @property
    def outputs(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return len(self.center)

    def jet(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"], order: int = 2) -> Jet:
        t, (n, d) = self.transform, x.shape
        y, dy, d2y = self.local((x - self.center) @ t.T, order)
        dy = np.broadcast_to((dy.reshape(-1, d) @ t).reshape(dy.shape), (n, d, d))  # one product, not n small ones
        if order < 2:
            return _where_cell(self.cells, cell, y, dy, None)
        second = np.zeros((n, d, d, d)) if d2y is None else np.einsum("nkab,ai,bj->nkij", d2y, t, t, optimize=True)
        return _where_cell(self.cells, cell, y, dy, second)

    def values(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
        mine = is_in(cell, self.cells)
        if mine.all():
            return self.local_values((x - self.center) @ self.transform.T)
        y = np.zeros((len(x), self.outputs))
        y[mine] = self.local_values((x[mine] - self.center) @ self.transform.T)
        return y

    @abstractmethod
    def local(self, z: Float[np.ndarray, "n d"], order: int) -> Jet:
        """y and its derivatives by z; None for second ones that were not asked for or vanish."""

    @abstractmethod
    def local_values(self, z: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        """y alone."""

    def spec(self) -> dict[str, Any]:
        return {"chart": NAMES[type(self)]} | {f.name: _as_json(getattr(self, f.name)) for f in fields(self)}


@dataclass(frozen=True)
class Affine(Turned):
    """z/radius."""

    radius: float

    def local(self, z: Float[np.ndarray, "n d"], order: int) -> Jet:
        return z / self.radius, np.eye(z.shape[1])[None] / self.radius, None

    def local_values(self, z: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        return z / self.radius

    def push(self, sites: Sites) -> Sites:
        """The functionals of sites in the chart's own cells: the derivatives of y are the same everywhere."""
        to, a2 = self.transform / self.radius, np.asarray(sites.a2)
        y, a1 = (np.asarray(sites.x) - self.center) @ to.T, np.asarray(sites.a1) @ to.T
        if a2.any():  # to a2 to^T as one product for all sites
            twice = (to[:, None, :, None] * to[None, :, None, :]).reshape(to.size, to.size)
            a2 = (a2.reshape(-1, to.size) @ twice.T).reshape(a2.shape)
        return replace(sites, x=y, a1=a1, a2=a2)


@dataclass(frozen=True)
class Pole(Turned):
    """radius^(d-1) z/|z|^d: the dipole field about a point inside a hole, which solves the cell's own equation."""

    radius: float

    def local(self, z: Float[np.ndarray, "n d"], order: int) -> Jet:
        d, r, unit = z.shape[1], self.radius, np.eye(z.shape[1])
        z = z / r
        rho2 = np.sum(z * z, axis=1)
        p = (rho2 ** (-d / 2))[:, None]
        s = d / rho2[:, None]  # d(rho^-d)/dz = -s z rho^-d
        dy = p[..., None] * (unit - s[..., None] * z[:, :, None] * z[:, None, :])
        if order < 2:
            return p * z, dy / r, None
        zi, zj, zk = z[:, :, None, None], z[:, None, :, None], z[:, None, None, :]
        outer = unit[:, :, None] * zk + unit[:, None, :] * zj + unit[None, :, :] * zi
        d2y = (p * s)[..., None, None] * ((d + 2) / rho2[:, None, None, None] * zi * zj * zk - outer)
        return p * z, dy / r, d2y / r**2

    def local_values(self, z: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        z = z / self.radius
        return z * (np.sum(z * z, axis=1) ** (-z.shape[1] / 2))[:, None]


@dataclass(frozen=True)
class Slit(Turned):
    """(a + b)/(zeta + sqrt(zeta^2 - f^2)), zeta the complex number of z: a pole of the plane, extended to a segment.

    The singularities lie on the segment between the foci +-f of an ellipse with semi-axes a, b inside the hole, and
    |y| = 1 on that ellipse. For f = 0 it is the pole chart.
    """

    focus: complex
    axes_sum: float

    def _roots(self, z: Float[np.ndarray, "n d"]) -> tuple[np.ndarray, np.ndarray]:
        """zeta and sqrt(zeta^2 - f^2)."""
        zeta = z[:, 0] + 1j * z[:, 1]
        # Two square roots, turned to the foci, put the branch cut on the segment between them and nowhere else.
        f = abs(self.focus)
        if f == 0:
            return zeta, zeta
        direction = self.focus / f
        turned = zeta / direction + 0.0  # no -0.0 beyond the foci, where both roots must take the same side
        return zeta, direction * np.sqrt(turned - f) * np.sqrt(turned + f)

    def local_values(self, z: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
        zeta, root = self._roots(z)
        return (self.axes_sum / (zeta + root)).view(float).reshape(-1, 2)

    def local(self, z: Float[np.ndarray, "n d"], order: int) -> Jet:
        zeta, root = self._roots(z)
        w = self.axes_sum / (zeta + root)
        # d/dz1 = w', d/dz2 = i w' for a complex-differentiable w.
        factors = np.array([1, 1j])
        first = (-w / root)[:, None] * factors
        y, dy = (np.stack([part.real, part.imag], axis=1) for part in (w, first))
        if order < 2:
            return y, dy, None
        second = (w / root**2 + w * zeta / root**3)[:, None, None] * np.outer(factors, factors)
        return y, dy, np.stack([second.real, second.imag], axis=1)


# The names of charts in saved solutions.
NAMES: dict[type, str] = {Affine: "affine", Pole: "pole", Slit: "slit"}


def _as_json(value: Any) -> Any:
    """Numbers, complex ones, tuples and arrays as JSON has them."""
    return [value.real, value.imag] if isinstance(value, complex) else np.asarray(value).tolist()


def is_in(cell: np.ndarray, cells: tuple[int, ...]) -> np.ndarray:
    """Whether each cell is one of the given cells; most charts have one cell, which is a single comparison."""
    return cell == cells[0] if len(cells) == 1 else np.isin(cell, cells)


def _where_cell(cells: tuple[int, ...], cell: np.ndarray, y: np.ndarray, dy: np.ndarray, d2y: np.ndarray | None) -> Jet:
    mine = is_in(cell, cells)
    if mine.all():
        return y, dy, d2y

    def kept(part: np.ndarray) -> np.ndarray:
        return np.where(mine.reshape(-1, *[1] * (part.ndim - 1)), part, 0.0)

    return kept(y), kept(dy), None if d2y is None else kept(d2y)
