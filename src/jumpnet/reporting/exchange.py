"""Solutions for other programs: VTK for ParaView, tables, NumPy arrays, xarray; jumps stay sharp."""

from __future__ import annotations

import base64
import csv
import io
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np

from jumpnet.errors import SolutionError
from jumpnet.fields.piecewise import piecewise_values
from jumpnet.geometry import Partition
from jumpnet.guard.text import spreadsheet
from jumpnet.reporting.cells import PieceCells, cut_cells, element_cells
from jumpnet.reporting.figures.canvas import write_file
from jumpnet.reporting.page.scene import parts_of
from jumpnet.reporting.quantities import decided, flux_names
from jumpnet.solution import Solution
from jumpnet.solution.files import file_path
from jumpnet.solution.places import Places

if TYPE_CHECKING:
    import xarray

RESOLUTION = {1: 1000, 2: 200, 3: 48}  # steps along the longer side
MOST_POINTS = 50_000_000  # larger grids are refused: the file would take gigabytes


def export(solution: Solution, path: str | PathLike[str], *, resolution: int | None = None) -> None:
    """Write the solution for other programs; the name decides how.

    .vtu: cells that end at the interfaces, each with the values of its own side, for ParaView (2-D and 3-D). .vti: a
    regular grid of cells, each with the values at its middle. .csv: a table. .npz: NumPy arrays on a grid. `resolution`
    is the number of steps along the longer side.
    """
    write = {".vtu": _vtu, ".vti": _vti, ".csv": _csv, ".npz": _npz}.get(file_path(path).suffix.lower())
    if write is None:
        raise SolutionError(
            f"{str(path)!r} is to be written, but in which form? End its name in .vtu, .vti, .csv or .npz."
        )
    write_file(path, write(solution, _partition(solution), _steps(solution, resolution)))


def to_xarray(solution: Solution, *, resolution: int | None = None) -> xarray.Dataset:
    """The solution on a grid as an xarray Dataset: u, flux and piece over x1, x2, ..., nan outside the domain."""
    try:
        import xarray
    except ImportError:
        raise SolutionError(
            'xarray is not installed; it comes with the extra: pip install "jumpnet[xarray]".'
        ) from None
    axes, label, found = _on_nodes(solution, _partition(solution), _steps(solution, resolution))
    names = [f"x{k + 1}" for k in range(solution.dim)]
    data: dict[str, Any] = {"piece": (names, label)}
    fluxes = [found.pop(name) for name in flux_names(solution.dim) if name in found]
    data |= {name: (names, values) for name, values in found.items()}
    if fluxes:
        data["flux"] = (["component", *names], np.stack(fluxes))
    return xarray.Dataset(
        data,
        coords={name: axis for name, axis in zip(names, axes, strict=True)} | ({"component": names} if fluxes else {}),
        attrs={
            "status": solution.status.name.lower(),
            "estimated error": solution.estimate,
            "pieces": list(_partition(solution).names),
        },
    )


def as_function(solution: Solution, *, piece: int | str | None = None) -> Callable[..., np.ndarray]:
    """u as a function of one argument per coordinate, numbers or arrays of the same shape; nan outside the domain.

    This is what scipy's integrators and most plotting tools call. With `piece` it is that piece's u, continued.
    """
    partition = None if piece is not None else _partition(solution)
    number = _partition(solution).piece_number(piece) if isinstance(piece, str) else piece

    def u(*x: Any) -> Any:
        if len(x) != solution.dim:
            raise SolutionError(f"{len(x)} coordinates are given; give {solution.dim}, each a number or an array.")
        columns = np.broadcast_arrays(*(np.asarray(column, float) for column in x))
        points = np.stack([column.ravel() for column in columns], axis=1)
        seen = np.full(len(points), number) if partition is None else partition.label(points)
        values = np.full(len(points), np.nan)
        if (inside := seen >= 0).any():
            values[inside] = solution(points[inside], seen[inside])
        return values.reshape(columns[0].shape)[()]

    return u


# --- grids -----------------------------------------------------------------------------------------------------------


def _partition(solution: Solution) -> Partition:
    return solution.statement.known_partition


def _steps(solution: Solution, given: int | None) -> int:
    if solution.dim > 3:
        raise SolutionError(
            f"a grid in {solution.dim} dimensions has too many points; call the solution at the points that you want."
        )
    if given is None:
        return RESOLUTION[solution.dim]
    if (
        isinstance(given, bool)
        or not isinstance(given, int | np.integer)
        or not 2 <= given**solution.dim <= MOST_POINTS
    ):
        raise SolutionError(
            f"resolution is {given!r}; give a whole number of steps, with at most {MOST_POINTS} grid points in all."
        )
    return int(given)


def _axes(partition: Partition, steps: int) -> list[np.ndarray]:
    """The coordinates of the nodes of a grid over the domain's box."""
    lower, upper = (np.asarray(end, float) for end in partition.bounds)
    counts = np.maximum(np.ceil((upper - lower) / (upper - lower).max() * steps).astype(int), 1)
    return [np.linspace(a, b, n + 1) for a, b, n in zip(lower, upper, counts, strict=True)]


def _values(solution: Solution, points: np.ndarray, piece: np.ndarray) -> dict[str, np.ndarray]:
    """Everything known at points seen from pieces."""
    found: dict[str, np.ndarray] = {}
    for names, part in parts_of(solution):
        found |= dict(zip(names, part(points, piece).reshape(len(points), -1).T, strict=True))
    return found


def _on_grid(
    solution: Solution, partition: Partition, axes: list[np.ndarray]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The piece of each point of a grid (-1 outside), and the values there, nan outside."""
    shape = tuple(len(axis) for axis in axes)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))
    label = partition.label(points)
    inside = label >= 0
    found = {}
    for name, values in _values(solution, points[inside], label[inside]).items():
        whole = np.full(len(points), np.nan)
        whole[inside] = values
        found[name] = whole.reshape(shape)
    return label.reshape(shape), found


def _on_nodes(
    solution: Solution, partition: Partition, steps: int
) -> tuple[list[np.ndarray], np.ndarray, dict[str, np.ndarray]]:
    axes = _axes(partition, steps)
    label, found = _on_grid(solution, partition, axes)
    return axes, label, found


# --- formats ---------------------------------------------------------------------------------------------------------


def _csv(solution: Solution, partition: Partition, steps: int) -> bytes:
    """A line for each grid point inside the domain."""
    axes, label, found = _on_nodes(solution, partition, steps)
    inside = label >= 0
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)[inside]
    buffer = io.StringIO()
    table = csv.writer(buffer, lineterminator="\n")
    table.writerow([*(f"x{k + 1}" for k in range(solution.dim)), "piece", *found])
    rows = np.column_stack([points, *(values[inside] for values in found.values())]).tolist()
    d = solution.dim
    table.writerows(
        [*row[:d], spreadsheet(partition.names[k]), *row[d:]]
        for row, k in zip(rows, label[inside].tolist(), strict=True)
    )
    return buffer.getvalue().encode()


def _npz(solution: Solution, partition: Partition, steps: int) -> bytes:
    """Arrays indexed along x1, x2, ...: coordinates, piece, values."""
    axes, label, found = _on_nodes(solution, partition, steps)
    buffer = io.BytesIO()
    coordinates = {f"x{k + 1}": axis for k, axis in enumerate(axes)}
    np.savez_compressed(buffer, **coordinates, piece=label, names=np.array(partition.names), **found)  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


def _vectors(found: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same with the components of the flux as vectors of three, which VTK's vectors are."""
    fluxes = [name for name in flux_names(3) if name in found]
    kept = {name: values for name, values in found.items() if name not in fluxes}
    if fluxes:
        flux = np.zeros((found[fluxes[0]].size, 3))
        for k, name in enumerate(fluxes):
            flux[:, k] = found[name]
        kept["flux"] = flux
    return kept


def _in_elements(solution: Solution, part: PieceCells) -> dict[str, np.ndarray]:
    """The same at points that are known by their elements: none has to be looked for."""
    at = Places(solution, part.piece, part.points, np.full(part.points.shape, np.nan), part.known)
    seen = np.full(len(part.points), part.piece)
    found = {"u": at.u()}
    if solution.statement.has_tensors:
        found |= dict(zip(flux_names(solution.dim), at.flux().T, strict=True))
    if solution.exact is not None:
        found["error"] = found["u"] - piecewise_values(solution.exact, part.points, seen)
    if (verdict := decided(solution)) is not None:
        field: Any = verdict.finding.field  # on a mesh, or on the line
        same = part.known is not None and getattr(field, "mesh", None) is part.known.mesh
        found["judged"] = part.known.value(field) if same else verdict.error(part.points, seen)  # pyright: ignore[reportOptionalMemberAccess]
    return found


def _vtu(solution: Solution, partition: Partition, steps: int) -> bytes:
    """An unstructured grid: every piece has its own points, so that a jump is a jump."""
    import tempfile
    from pathlib import Path

    import meshio

    points, blocks, pieces, numbers, data = [], [], [], [], []
    start = 0
    elements = solution.representation.elements
    if elements is not None and solution.dim == 2:
        parts = element_cells(elements.field)
    else:
        parts = cut_cells(partition, steps)
    for part in parts:
        flat = np.zeros((len(part.points), 3))
        flat[:, : solution.dim] = part.points
        points.append(flat)
        seen = np.full(len(flat), part.piece)
        known = _values(solution, part.points, seen) if part.known is None else _in_elements(solution, part)
        data.append(_vectors(known))
        for kind, cells in part.cells.items():
            blocks.append((kind, start + cells))
            pieces.append(np.full(len(cells), part.piece))
            numbers.append(np.full(len(cells), -1) if part.element is None else part.element)
        start += len(flat)
    point_data: dict[str, Any] = {name: np.concatenate([entry[name] for entry in data]) for name in data[0]}
    cell_data: dict[str, Any] = {"piece": pieces} | ({} if elements is None else {"element": numbers})
    mesh = meshio.Mesh(np.concatenate(points), blocks, point_data=point_data, cell_data=cell_data)
    try:
        with tempfile.TemporaryDirectory() as folder:  # meshio writes to names, not to memory
            target = Path(folder) / "solution.vtu"
            meshio.vtu.write(target, mesh)
            return target.read_bytes()
    except OSError as problem:
        raise SolutionError(
            f"the temporary directory cannot be written to ({problem.strerror}); make room in it, or set TMPDIR."
        ) from None


def _vti(solution: Solution, partition: Partition, steps: int) -> bytes:
    """A regular grid whose cells hold the values at their middles: no cell mixes two pieces.

    Written here, as no small library writes the format: one element for each array, its numbers as base64.
    """
    axes = _axes(partition, steps)
    middles = [(axis[1:] + axis[:-1]) / 2 for axis in axes]
    label, found = _on_grid(solution, partition, middles)
    flat = {name: values.ravel(order="F") for name, values in found.items()}  # x1 runs fastest in VTK
    ends = [len(axis) for axis in middles] + [0] * (3 - len(middles))
    extent = " ".join(f"0 {n}" for n in ends)
    spacing = [float(axis[1] - axis[0]) for axis in axes] + [1.0] * (3 - len(axes))
    origin = [float(axis[0]) for axis in axes] + [0.0] * (3 - len(axes))
    root = ElementTree.Element(
        "VTKFile", type="ImageData", version="1.0", byte_order="LittleEndian", header_type="UInt64"
    )
    grid = ElementTree.SubElement(
        root, "ImageData", WholeExtent=extent, Origin=" ".join(map(repr, origin)), Spacing=" ".join(map(repr, spacing))
    )
    cells = ElementTree.SubElement(ElementTree.SubElement(grid, "Piece", Extent=extent), "CellData", Scalars="u")
    arrays = {"piece": label.ravel(order="F").astype("<i4")} | {n: v.astype("<f8") for n, v in _vectors(flat).items()}
    for name, values in arrays.items():
        kind, size = ("Int32", 1) if name == "piece" else ("Float64", values.size // len(values))
        entry = ElementTree.SubElement(
            cells, "DataArray", type=kind, Name=name, NumberOfComponents=str(size), format="binary"
        )
        raw = np.ascontiguousarray(values).tobytes()
        entry.text = base64.b64encode(np.uint64(len(raw)).tobytes() + raw).decode("ascii")
    return ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
