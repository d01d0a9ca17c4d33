"""Charts: the coordinates y(x) in which a cell is seen, and functionals pushed forward to them.

Scaling to a box keeps the network's inputs in [-1, 1]; local boxes do so cell by cell; pole charts let a cell see its
holes. A solution outside an inclusion has its singularities inside the inclusion, and a network (or a polynomial) in x
alone cannot imitate them; in the pole coordinates they are smooth.

A chart changes nothing else in the program, because it acts on the functional of a site (chain rule):

    a0' = a0
    a1'_k = sum_i a1_i dy_k/dx_i + sum_ij a2_ij d2y_k/dx_i dx_j
    a2'_kl = sum_ij a2_ij dy_k/dx_i dy_l/dx_j
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from jumpnet.charts.chart import Affine, Box, Chart, Jet, Pole, Slit, is_in
from jumpnet.errors import SolutionError
from jumpnet.rows import Rows, Sites


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


def _combined(jets: Sequence[Jet], combine: Callable[[list[np.ndarray]], np.ndarray]) -> Jet:
    """Several jets as one; all have second derivatives, or none has."""
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
        if not more and isinstance(first, Affine) and is_in(cell, first.cells).all():
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
