"""Finite elements in saved files: their arrays and a few numbers as JSON, and back, with everything checked.

No mesher is needed to read them. Whatever a damaged or forged file has instead is refused in one sentence.
"""

from math import comb
from typing import Any

import numpy as np

from jumpnet.charts import Box
from jumpnet.errors import SolutionError
from jumpnet.fe.features import FieldFunction, LineFunction
from jumpnet.fe.field import Field
from jumpnet.fe.line import LineExpansion
from jumpnet.fe.mesh import Mesh
from jumpnet.fe.voxel import VoxelField, VoxelFunction
from jumpnet.models.checked import LARGEST, whole
from jumpnet.models.frozen import Features, Frozen
from jumpnet.models.system import Network

# Elements go up to order 15, their maps two orders further, those on the line to 22; no file needs more.
MOST_ORDER = 30
# Numbers of a file, 1.6 GB. A solve with the most unknowns by default has 23 million, with linear elements.
MOST_NUMBERS = 200_000_000
# Coordinates beyond this overflow where they are multiplied.
FARTHEST = 1e100
PREFIX = "fe."  # of the names of arrays

# The arrays of both kinds: whole numbers or not.
LINE = {"start": float, "end": float, "piece": np.int64, "order": np.int64, "coefficients": float}
VOXELS = {
    "pieces": np.int64, "values": float, "flux1": float, "flux2": float, "flux3": float, "conductivity": float,
    "origin": float, "size": float,
}  # fmt: skip
# The arrays of finite elements on a mesh.
SIMPLICES = {"elements": np.int64, "piece": np.int64, "same": np.int64, "nodes": float, "values": float}

Arrays = dict[str, np.ndarray]


def element_functions(network: Network | Frozen) -> list[Any]:
    """The functions of the pieces, where each is a single one of finite elements in the coordinates themselves.

    They share one field, or one expansion; none for any other network.
    """
    expansion = network.expansion
    if expansion is None or expansion.cut is not None:
        return []
    parts = [part for features in expansion.of_cell for part in features.parts]
    single = len(parts) == len(expansion.of_cell) and all(len(features.parts) == 1 for features in expansion.of_cell)
    charts = {id(chart): chart for chart, _ in parts}.values()
    plain = all(isinstance(chart, Box) and not chart.center.any() and np.all(chart.halfwidth == 1) for chart in charts)
    functions: list[Any] = [function for _, function in parts] if single and plain else []
    shared = {id(getattr(function, "field", getattr(function, "expansion", None))) for function in functions}
    kinds = (FieldFunction, LineFunction, VoxelFunction)
    alike = any(all(isinstance(function, kind) for function in functions) for kind in kinds)
    return functions if alike and len(shared) == 1 else []


def store_elements(network: Network | Frozen) -> tuple[dict[str, Any], Arrays] | None:
    """A network of finite elements as JSON and arrays; None for any other."""
    functions = element_functions(network)
    if not functions:
        return None
    first, spec = functions[0], {"network": "elements", "pieces": [int(function.piece) for function in functions]}
    if isinstance(first, LineFunction):
        return spec | {"elements": "line"}, _named(vars(first.expansion), LINE)
    if isinstance(first, VoxelFunction):
        field = first.field
        fluxes = {f"flux{k + 1}": flux for k, flux in enumerate(field.fluxes)}
        return spec | {"elements": "voxels"}, _named({**vars(field), **fluxes}, VOXELS)
    field, mesh = first.field, first.field.mesh
    numbers = {"elements": "simplices", "order": int(field.order), "map_order": int(mesh.order)}
    arrays = _named({**vars(mesh), "values": field.values}, SIMPLICES)
    if (count := _count(arrays)) > MOST_NUMBERS:
        raise SolutionError(
            f"the finite elements have {count} numbers, more than a file may hold ({MOST_NUMBERS}); "
            "solve with larger elements of a higher order, or keep values at points."
        )
    return spec | numbers, arrays


def elements_from(spec: dict[str, Any], arrays: Arrays, dim: int) -> Frozen:
    """The network of finite elements that a file describes; SolutionError for what cannot be one."""
    pieces = spec["pieces"]
    if not isinstance(pieces, list) or not 0 < len(pieces) <= LARGEST:
        raise _refused("the pieces of its elements are no list of numbers")
    labels = [whole("pieces", piece, len(pieces) - 1) for piece in pieces]
    kind = spec["elements"]
    if kind not in ("line", "simplices", "voxels"):
        raise SolutionError(
            f"the file names elements {kind!r:.40}, which this version of jumpnet does not know; upgrade jumpnet."
        )
    if _count(arrays) > MOST_NUMBERS:
        raise _refused(f"its elements have more than {MOST_NUMBERS} numbers")
    if kind == "line":
        expansion = _expansion(arrays, labels, dim)
        functions = [LineFunction(expansion, piece) for piece in labels]
    elif kind == "voxels":
        volumes = _voxels(arrays, labels, dim)
        functions = [VoxelFunction(volumes, piece) for piece in labels]
    else:
        field = _field(spec, arrays, labels, dim)
        functions = [FieldFunction(field, piece, dim) for piece in labels]
    shape = (len(labels), dim)
    identity = Box(np.zeros(shape), np.ones(shape))
    return Frozen(tuple(Features(((identity, function),)) for function in functions))


def _count(arrays: Arrays) -> int:
    return sum(array.size for name, array in arrays.items() if name.startswith(PREFIX))


def _named(found: dict[str, Any], kinds: dict[str, Any]) -> Arrays:
    return {PREFIX + name: np.asarray(found[name], kind) for name, kind in kinds.items()}


def _read(arrays: Arrays, kinds: dict[str, Any]) -> Arrays:
    """The arrays as they should be by kind: finite, and copied, so that they lie in memory as those of a solve do."""
    found = {}
    for name, kind in kinds.items():
        array = arrays.get(PREFIX + name)
        if array is None or array.dtype != kind or not np.all(np.isfinite(array)):
            raise _refused(f"the array {PREFIX}{name} is missing, or not one of finite numbers of its kind")
        found[name] = np.array(array, order="C")
    return found


def _expansion(arrays: Arrays, labels: list[int], dim: int) -> LineExpansion:
    read = _read(arrays, LINE)
    start, end, piece, order, coefficients = (read[name] for name in LINE)
    n = len(start) if start.ndim == 1 else 0
    if dim != 1 or n == 0 or any(read[name].shape != (n,) for name in ("end", "piece", "order")):
        raise _refused("the arrays of elements on the line do not fit together")
    _check_orders(order)
    _check_pieces(piece, labels)
    _check_places(start, end)
    if np.any(end <= start) or np.any(np.diff(start) <= 0):
        raise _refused("the elements on the line are not in order")
    columns = np.arange(coefficients.shape[1] if coefficients.ndim == 2 else 0)
    if coefficients.shape != (n, len(columns)) or len(columns) <= order.max():
        raise _refused("the elements on the line have other coefficients than their orders say")
    if np.any(coefficients[columns > order[:, None]]):  # which would count or not by the company of a point
        raise _refused("the elements on the line have coefficients beyond their orders")
    return LineExpansion(start, end, piece, order, coefficients)


def _field(spec: dict[str, Any], arrays: Arrays, labels: list[int], dim: int) -> Field:
    order, map_order = (whole(name, spec[name], MOST_ORDER) for name in ("order", "map_order"))
    _check_orders(np.array([order, map_order]))
    read = _read(arrays, SIMPLICES)
    elements, piece, same, nodes, values = (read[name] for name in SIMPLICES)
    m = len(piece) if piece.ndim == 1 else 0
    shapes = {
        "elements": (m, dim + 1),
        "nodes": (m, comb(map_order + dim, dim), dim),
        "values": (m, comb(order + dim, dim)),
    }
    if dim not in (2, 3) or m == 0 or same.ndim != 1 or any(read[name].shape != s for name, s in shapes.items()):
        raise _refused("the arrays of its elements do not fit together")
    if not (_within(elements, len(same)) and _within(same, len(same))):
        raise _refused("its elements have vertices that are not there")
    if np.any(np.diff(same[elements], axis=1) < 0) or np.any(np.diff(np.sort(elements, axis=1), axis=1) == 0):
        raise _refused("the vertices of its elements are not in order")
    _check_pieces(piece, labels)
    _check_places(nodes)
    return Field(Mesh(elements, piece, nodes, map_order, same), order, values)


def _voxels(arrays: Arrays, labels: list[int], dim: int) -> VoxelField:
    read = _read(arrays, VOXELS)
    shape = read["values"].shape
    flat = [tuple(n + (j == axis) for j, n in enumerate(shape)) for axis in range(3)]
    shapes = {"pieces": shape, "conductivity": (*shape, 3), "origin": (3,), "size": (3,)}
    shapes |= {f"flux{axis + 1}": flat[axis] for axis in range(3)}
    if dim != 3 or len(shape) != 3 or min(shape) < 1 or any(read[name].shape != s for name, s in shapes.items()):
        raise _refused("the arrays of its voxels do not fit together")
    if read["conductivity"].min() <= 0 or read["size"].min() <= 0:
        raise _refused("its voxels have no size, or do not conduct")
    _check_pieces(read["pieces"], labels)
    _check_places(read["origin"], read["size"])
    fluxes = (read["flux1"], read["flux2"], read["flux3"])
    return VoxelField(read["origin"], read["size"], read["pieces"], read["values"], fluxes, read["conductivity"])


def _within(numbers: np.ndarray, count: int) -> bool:
    return numbers.size > 0 and bool(numbers.min() >= 0 and numbers.max() < count)


def _check_orders(order: np.ndarray) -> None:
    if np.any(order < 1) or np.any(order > MOST_ORDER):
        raise _refused(f"the orders of its elements are not all from 1 to {MOST_ORDER}")


def _check_pieces(piece: np.ndarray, labels: list[int]) -> None:
    """Every piece that is asked for has elements."""
    if not _within(piece, len(labels)) or not set(labels) <= set(np.unique(piece).tolist()):
        raise _refused("its elements are not those of its pieces")


def _check_places(*places: np.ndarray) -> None:
    if any(np.any(np.abs(x) > FARTHEST) for x in places):
        raise _refused(f"coordinates of its elements are beyond {FARTHEST:g}")


def _refused(reason: str) -> SolutionError:
    return SolutionError(f"the file cannot be read: {reason}; it is damaged or forged.")
