"""The data of the interactive part of a report: values of every piece on a grid, and both sides of every interface.

A piece's values reach two grid points beyond its end, by its own smooth continuation, so that a page can interpolate
inside a piece by cubics up to the interface and never mixes two pieces. Points of interfaces carry the values of both
sides as they are. How far the interpolation is from the solution is measured at random points and told to the reader.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib import colormaps
from scipy.ndimage import binary_dilation, binary_erosion

from jumpnet.fields.piecewise import piecewise_values
from jumpnet.geometry import Partition
from jumpnet.geometry.shape import Shape
from jumpnet.reporting.curves import Curve, interface_curves
from jumpnet.reporting.figures.lines import runs
from jumpnet.reporting.grid import Grid, Plane, planes, unlabelled
from jumpnet.reporting.page.values import BEYOND, Part, Values, interpolation_error, nearest
from jumpnet.reporting.quantities import decided, flux_names, has_residual
from jumpnet.solution import Solution

RESOLUTION = {1: 1200, 2: 280, 3: 160}  # points along the longer side


@dataclass
class Blob:
    """Arrays one after the other in one string of bytes; the page is told where each begins."""

    parts: list[bytes] = field(default_factory=list)
    size: int = 0

    def add(self, array: np.ndarray, kind: str) -> dict[str, Any]:
        """Append an array as little-endian numbers of a kind: f4, f8, i2."""
        data = np.ascontiguousarray(array, dtype=f"<{kind}").tobytes()
        place = {"at": self.size, "n": int(array.size), "kind": kind}
        padded = data + b"\0" * (-len(data) % 8)  # typed arrays start at multiples of their size
        self.parts.append(padded)
        self.size += len(padded)
        return place

    def text(self) -> str:
        """Everything, compressed, as base64."""
        return base64.b64encode(zlib.compress(b"".join(self.parts))).decode("ascii")


def parts_of(solution: Solution) -> tuple[Part, ...]:
    """The numbers shown of a solution: u, the components of the flux, and the signed errors and residual if known."""
    found: list[Part] = [(("u",), solution)]
    if solution.statement.has_tensors:
        found.append((flux_names(solution.dim), solution.flux))
    if (exact := solution.exact) is not None:
        found.append((("error",), lambda x, p: solution(x, p) - piecewise_values(exact, x, p)))
    if (verdict := decided(solution)) is not None:
        found.append((("judged",), verdict.error))
    if has_residual(solution):
        found.append((("residual",), solution.residual))
    return tuple(found)


def quantities_of(parts: tuple[Part, ...]) -> list[dict[str, Any]]:
    """The quantities that the page can draw, and how each follows from the parts."""
    names = [name for names, _ in parts for name in names]
    fluxes = [name for name in flux_names(len(names)) if name in names]
    offered = [{"key": "u", "title": "u", "parts": ["u"], "kind": "plain", "colours": "viridis"}]
    if fluxes:
        offered.append({"key": "flux", "title": "|A∇u|", "parts": fluxes, "kind": "norm", "colours": "plasma"})
    if "error" in names:
        offered.append({"key": "error", "title": "|u − exact|", "parts": ["error"], "kind": "log", "colours": "magma"})
    if "judged" in names:
        offered.append(
            {"key": "judged", "title": "judged error", "parts": ["judged"], "kind": "log", "colours": "magma"}
        )
    if "residual" in names:
        title = "|div(A∇u) − λu − f|"
        offered.append({"key": "residual", "title": title, "parts": ["residual"], "kind": "log", "colours": "magma"})
    return offered


def scene(solution: Solution, resolution: int | None = None) -> tuple[str, str]:
    """The page's data: a JSON text, and the arrays it points into."""
    partition = solution.partition
    if partition is None:
        raise ValueError("a solution without geometry has no scene")
    blob, parts = Blob(), parts_of(solution)
    points = resolution or RESOLUTION.get(solution.dim, 100)
    offered = quantities_of(parts)
    values = Values(solution, parts, offered)
    if solution.dim == 1:
        views = [_line(solution, partition, blob, values, points)]
    else:
        views = [_plane(partition, plane, blob, values, points) for plane in planes(partition)]
    for quantity in offered:
        quantity |= {"range": values.range(quantity)}
    found = {
        "dim": solution.dim,
        "names": list(partition.names),
        "quantities": offered,
        "colours": {name: _colours(name) for name in sorted({str(q["colours"]) for q in offered})},
        "views": views,
        "interpolation": interpolation_error(solution, values),
    }
    # "<" cannot stand in a script element: the text might end it.
    return json.dumps(found, separators=(",", ":")).replace("<", "\\u003c"), blob.text()


def _plane(partition: Partition, plane: Plane, blob: Blob, values: Values, resolution: int) -> dict[str, Any]:
    grid = _padded(partition, plane, resolution)
    curves = _curves(interface_curves(partition, unlabelled(partition, plane, 2 * resolution)), plane, blob, values)
    inside, everywhere = grid.label >= 0, np.ones(grid.label.shape, bool)
    domain = _level(partition.domain, grid, inside, everywhere).reshape(grid.label.shape)
    return {
        "kind": "map",
        "name": ", ".join(f"{_axis(k)} = {v:.3g}" for k, v in enumerate(plane.fixed) if k not in plane.axes),
        "axes": [_axis(k) for k in plane.axes],
        "fixed": {_axis(k): v for k, v in enumerate(plane.fixed) if k not in plane.axes},
        "lower": [grid.x[0], grid.y[0]],
        "step": [grid.x[1] - grid.x[0], grid.y[1] - grid.y[0]],
        "shape": list(grid.label.shape),
        "inside": [*(float(partition.bounds[0][k]) for k in plane.axes), *(partition.bounds[1][k] for k in plane.axes)],
        "label": blob.add(grid.label, "i2"),
        "domain": blob.add(domain, "f4"),
        "pieces": [_patch(partition, grid, piece, blob, values) for piece in np.unique(grid.label) if piece >= 0],
        "curves": curves,
    }


def _curves(found: Sequence[Curve], plane: Plane, blob: Blob, values: Values) -> list[dict[str, Any]]:
    """Both sides of all stretches of interfaces, evaluated at once."""
    if not found:
        return []
    points = np.concatenate([curve.points for curve in found])
    normals = np.concatenate([curve.normals for curve in found])
    columns = [*points[:, list(plane.axes)].T]
    for side in (0, 1):
        seen = values(points, np.concatenate([np.full(len(curve.points), curve.pair[side]) for curve in found]))
        values.see(seen)
        columns += [seen["u"], _through(seen, normals)]
    table, ends = np.column_stack(columns), np.cumsum([len(curve.points) for curve in found])
    return [
        {"pair": curve.pair, "closed": curve.closed, **blob.add(rows, "f8")}
        for curve, rows in zip(found, np.split(table, ends[:-1]), strict=True)
    ]


def _axis(k: int) -> str:
    """The name of a coordinate, its number as an index."""
    return "x" + str(k + 1).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


def _padded(partition: Partition, plane: Plane, resolution: int) -> Grid:
    """A grid whose outermost points but two lie on the domain's box, so that its boundary is not a staircase."""
    lower, upper = (np.asarray(end)[list(plane.axes)] for end in partition.bounds)
    counts = np.maximum(np.ceil((upper - lower) / (upper - lower).max() * (resolution - 1)).astype(int), 8)
    step = (upper - lower) / counts
    x, y = (lower[k] + step[k] * np.arange(-BEYOND, counts[k] + BEYOND + 1) for k in (0, 1))
    x[-BEYOND - 1], y[-BEYOND - 1] = upper
    # A little towards the middle, what touches the domain's box from outside is not inside.
    middle, points = np.mean(partition.bounds, axis=0), Grid(plane, x, y, np.zeros((len(y), len(x)), int)).points()
    return Grid(plane, x, y, partition.label(middle + (1 - 1e-6) * (points - middle)).reshape(len(y), len(x)))


def _patch(partition: Partition, grid: Grid, piece: int, blob: Blob, values: Values) -> dict[str, Any]:
    """One piece: its window of the grid, its level function there and its values, nan where they are not needed."""
    needed = np.asarray(binary_dilation(grid.label == piece, np.ones((3, 3), bool), iterations=BEYOND), bool)
    rows, columns = np.flatnonzero(needed.any(axis=1)), np.flatnonzero(needed.any(axis=0))
    window = slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)
    mask, inside = needed[window], (grid.label == piece)[window]
    part = Grid(grid.plane, grid.x[window[1]], grid.y[window[0]], grid.label[window])
    points = part.points(mask)
    found = values.around(points, int(piece), inside[mask], nearest(part, inside)[mask])
    values.see({name: value[inside[mask]] for name, value in found.items()})
    entry: dict[str, Any] = {"piece": int(piece), "window": [window[1].start, window[0].start, *mask.shape[::-1]]}
    if piece > 0:
        level = np.full(mask.shape, np.nan)
        level[mask] = _level(partition.pieces[piece - 1], part, inside, mask)
        entry["level"] = blob.add(level, "f4")
    entry["values"] = {}
    for name, value in found.items():
        whole = np.full(mask.shape, np.nan)
        whole[mask] = value
        entry["values"][name] = blob.add(whole, "f8" if name == "u" else "f4")
        if name == "u":
            values.patches.append((grid, int(piece), window, whole))
    return entry


def _level(shape: Shape, part: Grid, inside: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """The level function of a piece near its end, and a number of its sign elsewhere: the page draws its zero line."""
    wider, narrower = (
        np.asarray(change(inside, iterations=BEYOND), bool) for change in (binary_dilation, binary_erosion)
    )
    edge = wider & ~narrower
    far = BEYOND * max(part.x[1] - part.x[0], part.y[1] - part.y[0])
    level = np.where(inside, -far, far)
    near = edge & mask
    level[near] = shape.level(part.points(near))
    return level[mask]


def _line(solution: Solution, partition: Partition, blob: Blob, values: Values, resolution: int) -> dict[str, Any]:
    """A line: both ends of every stretch belong to it."""
    stretches, curves = runs(partition, resolution), []
    listed = []
    for run in stretches:
        found = values(run.x[:, None], np.full(len(run.x), run.piece))
        values.see(found)
        entry = {"piece": run.piece, "from": run.x[0], "to": run.x[-1], "n": len(run.x)}
        listed.append(entry | {"values": {name: blob.add(value, "f8") for name, value in found.items()}})
    for left, right in pairwise(stretches):
        if left.piece == right.piece or left.x[-1] != right.x[0]:
            continue
        low, high = sorted((left, right), key=lambda run: run.piece)
        x = np.array([[left.x[-1]]])
        normal = np.array([[1.0 if low is right else -1.0]])
        row = [left.x[-1], 0.0]
        for run in (low, high):
            side = values(x, np.array([run.piece]))
            row += [side["u"][0], _through(side, normal)[0]]
        curves.append({"pair": [low.piece, high.piece], "closed": False, **blob.add(np.array(row), "f8")})
    ends = [float(partition.bounds[0][0]), float(partition.bounds[1][0])]
    return {"kind": "line", "name": "", "axes": ["x"], "fixed": {}, "inside": ends, "runs": listed, "curves": curves}


def _through(side: dict[str, np.ndarray], normals: np.ndarray) -> np.ndarray:
    """A grad u . n, nan where the flux is not known."""
    if "flux1" not in side:
        return np.full(len(normals), np.nan)
    flux = np.column_stack([side[name] for name in flux_names(normals.shape[1])])
    return np.einsum("ni,ni->n", flux, normals)


def _colours(name: str) -> str:
    """256 colours as hexadecimal digits."""
    return (colormaps[name](np.linspace(0, 1, 256))[:, :3] * 255).round().astype(np.uint8).tobytes().hex()
