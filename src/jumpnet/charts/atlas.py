"""Charts: the coordinates y(x) in which a cell is seen, and functionals pushed forward to them.

Scaling to a box keeps the network's inputs in [-1, 1]; local boxes do so cell by cell; pole charts let a cell see its
holes. A solution outside an inclusion has its singularities inside the inclusion, and a network (or a polynomial) in x
alone cannot imitate them; in the pole coordinates they are smooth.

A chart changes nothing else in the program, because it acts on the functional of a site (chain rule):

    a0' = a0
    a1'_k = sum_i a1_i dy_k/dx_i + sum_ij a2_ij d2y_k/dx_i dx_j
    a2'_kl = sum_ij a2_ij dy_k/dx_i dy_l/dx_j
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from jumpnet.errors import SolutionError
from jumpnet.rows import Rows, Sites

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
    """Coordinates of some cells in z = T (x - center), where T makes the cell's A the identity: lengths count alike."""

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
        mine = _is_in(cell, self.cells)
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
    """(a + b)/(zeta + sqrt(zeta^2 - f^2)), zeta the complex number of z: a plane pole, drawn out.

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


@dataclass(frozen=True)
class Slots(Chart):
    """Several charts of different cells in the same inputs: a cell sees its own chart there."""

    charts: tuple[Chart, ...]

    @property
    def outputs(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.charts[0].outputs

    def jet(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"], order: int = 2) -> Jet:
        return _combined([chart.jet(x, cell, order) for chart in self.charts], lambda parts: np.sum(parts, axis=0))

    def values(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
        return np.sum([chart.values(x, cell) for chart in self.charts], axis=0)

    def spec(self) -> dict[str, Any]:
        return {"chart": "slots", "charts": [chart.spec() for chart in self.charts]}


@dataclass(frozen=True)
class Joint(Chart):
    """Several charts side by side."""

    charts: tuple[Chart, ...]

    @property
    def outputs(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return sum(chart.outputs for chart in self.charts)

    def jet(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"], order: int = 2) -> Jet:
        jets = [chart.jet(x, cell, order) for chart in self.charts]
        return jets[0] if len(jets) == 1 else _combined(jets, lambda parts: np.concatenate(parts, axis=1))

    def values(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
        return np.concatenate([chart.values(x, cell) for chart in self.charts], axis=1)

    def spec(self) -> dict[str, Any]:
        return {"chart": "joint", "charts": [chart.spec() for chart in self.charts]}


def _is_in(cell: np.ndarray, cells: tuple[int, ...]) -> np.ndarray:
    """Which of them are among some cells; most charts are for one, which is quickly compared."""
    return cell == cells[0] if len(cells) == 1 else np.isin(cell, cells)


def _where_cell(cells: tuple[int, ...], cell: np.ndarray, y: np.ndarray, dy: np.ndarray, d2y: np.ndarray | None) -> Jet:
    mine = _is_in(cell, cells)
    if mine.all():
        return y, dy, d2y

    def kept(part: np.ndarray) -> np.ndarray:
        return np.where(mine.reshape(-1, *[1] * (part.ndim - 1)), part, 0.0)

    return kept(y), kept(dy), None if d2y is None else kept(d2y)


def _combined(jets: Sequence[Jet], combine: Callable[[list[np.ndarray]], np.ndarray]) -> Jet:
    """Several jets as one; second derivatives are in all of them or in none."""
    second = [d2y for _, _, d2y in jets if d2y is not None]
    y, dy = combine([jet[0] for jet in jets]), combine([jet[1] for jet in jets])
    return y, dy, combine(second) if second else None


@dataclass(frozen=True)
class Atlas:
    """All charts side by side: the inputs of the network, before the label."""

    charts: tuple[Chart, ...]

    @property
    def inputs(self) -> int:
        """How many coordinates the model sees."""
        return sum(chart.outputs for chart in self.charts)

    def jet(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"], order: int = 2) -> Jet:
        """All coordinates with their derivatives up to an order."""
        with np.errstate(divide="ignore", invalid="ignore"):  # a pole may be hit in a cell that does not see it
            return Joint(self.charts).jet(x, cell, order)

    def values(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
        """All coordinates, without derivatives."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return Joint(self.charts).values(x, cell)

    def push(self, sites: Sites) -> Sites:
        """The same functionals, written in the charts' coordinates."""
        cell, a1, a2 = np.asarray(sites.cell), np.asarray(sites.a1), np.asarray(sites.a2)
        (first, *more) = self.charts
        if not more and isinstance(first, Affine) and _is_in(cell, first.cells).all():
            return first.push(sites)
        second = sites.order == 2 and bool(a2.any())
        if not second and (sites.order == 0 or not a1.any()):  # values alone
            y = self.values(np.asarray(sites.x), cell)
            none = (np.broadcast_to(0.0, shape) for shape in (y.shape, (*y.shape, y.shape[1])))
            return Sites(y, cell, sites.a0, *none, order=sites.order)
        y, dy, d2y = self.jet(np.asarray(sites.x), cell, order=2 if second else 1)
        b1 = np.einsum("nki,ni->nk", dy, a1)
        if d2y is None:
            return Sites(
                x=y, cell=cell, a0=sites.a0, a1=b1, a2=np.zeros((len(cell), y.shape[1], y.shape[1])), order=sites.order
            )
        b1 = b1 + np.einsum("nkij,nij->nk", d2y, a2)
        return Sites(x=y, cell=cell, a0=sites.a0, a1=b1, a2=dy @ a2 @ np.swapaxes(dy, 1, 2))

    def push_rows(self, rows: Rows) -> Rows:
        """The same equations, written in the charts' coordinates."""
        return replace(rows, sites=self.push(rows.sites))

    def spec(self) -> list[dict[str, Any]]:
        """The charts as JSON."""
        return [chart.spec() for chart in self.charts]

    @staticmethod
    def from_spec(spec: list[dict[str, Any]]) -> "Atlas":
        """The charts read back from JSON."""
        return Atlas(tuple(chart_from_spec(item) for item in spec))


def chart_from_spec(spec: Mapping[str, Any]) -> Chart:
    """A chart read back from JSON."""
    kind = spec.get("chart")
    if kind == "box":
        center, halfwidth = (np.array(spec[name], float) for name in ("center", "halfwidth"))
        if center.ndim != 2 or center.shape != halfwidth.shape:
            raise SolutionError(f"the file has boxes of shapes {center.shape} and {halfwidth.shape}; it is damaged.")
        return Box(center, halfwidth)
    if kind in ("slots", "joint"):
        return (Slots if kind == "slots" else Joint)(tuple(chart_from_spec(item) for item in spec["charts"]))
    if kind in ("affine", "pole", "slit"):
        common = tuple(spec["cells"]), np.array(spec["center"], float), np.array(spec["transform"], float)
        if kind == "slit":
            return Slit(*common, complex(*spec["focus"]), float(spec["axes_sum"]))
        return (Pole if kind == "pole" else Affine)(*common, float(spec["radius"]))
    if kind == "formulas":
        from jumpnet.charts.formulas import Formulas  # which is a chart

        return Formulas(spec["formulas"], spec["dim"])
    raise SolutionError(
        f"the file names a chart {kind!r}, which this version of jumpnet does not know; upgrade jumpnet."
    )
