"""Partitions from label images: whole numbers at pixels or voxels become pieces with smooth interfaces."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError, JumpnetWarning
from jumpnet.geometry import checks
from jumpnet.geometry.bodies.primitives import Box
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.data.files import Source, checked_path, optional, reading
from jumpnet.geometry.shape import Shape

MOST_CELLS = 1 << 24
"""Pixels or voxels: 4096 x 4096, or 256 x 256 x 256."""
MOST_LABELS = {2: 2000, 3: 64}
"""By dimension: the most labels that can be pieces (heuristic: time of partition and mesh)."""
LARGEST_LABEL = 2**31
"""Labels are whole numbers below this: 32-bit images."""
MOST_BYTES = 512_000_000
"""Larger files are refused before they are read."""
SMALLEST = {2: 12, 3: 60}
"""Regions of fewer pixels or voxels have no recognisable shape."""
ORIENTATION = 274
"""The tag of TIFF and of EXIF: how an image is to be turned before it is shown; 1 is as it is stored."""
LABEL_IT = "make labels of its greys by the values between them, e.g. thresholds = [128]"
"""Advice for images that hold no labels."""
SUFFIXES = (".npy", ".png", ".tif", ".tiff")
"""The formats that are read."""
Names = Mapping[int, str] | Mapping[str, Sequence[int]]
"""The name of a label, or the labels that a name stands for."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A cleaned label image: piece numbers [x, y(, z)], the size of a cell, the lower corner, the names of pieces."""

    pieces: np.ndarray
    size: Floats
    origin: Floats
    names: tuple[str, ...]

    @property
    def box(self) -> Box:
        """The domain."""
        upper = self.origin + self.size * self.pieces.shape
        return Box(tuple(self.origin.tolist()), tuple(upper.tolist()))


def read_cells(
    labels: ArrayLike | Source,
    *,
    pixel: ArrayLike,
    origin: ArrayLike | None,
    order: str,
    background: int | None,
    names: Names | None,
    small: str,
    smallest: int | None,
    thresholds: ArrayLike | None = None,
) -> Cells:
    """A label image, checked and cleaned; labels with the same name are one piece."""
    from os import PathLike

    is_file = isinstance(labels, str | PathLike)
    array = read_labels(labels, thresholds) if is_file else _array(labels, thresholds)
    cells = _oriented(array, order)
    dim = cells.ndim
    size = np.array(checks.lengths(pixel, dim, "the size of a pixel"))
    corner = np.zeros(dim) if origin is None else np.array(checks.vector(origin, "the origin of an image"))
    if len(corner) != dim:
        raise GeometryError(f"the origin of an image must hold {dim} numbers as the image has axes, not {len(corner)}.")
    given = labels_by_name(names)
    cells, background = _together(cells, given, background)
    cells = _without_small(cells, small, SMALLEST[dim] if smallest is None else checks.count(smallest, "smallest"))
    values, pieces = np.unique(cells, return_inverse=True)
    if len(values) > MOST_LABELS[dim]:
        raise GeometryError(
            f"the image has {len(values)} labels, of which at most {MOST_LABELS[dim]} can be pieces; "
            f"of a grey image, {LABEL_IT}."
        )
    first = values[0] if background is None else background
    if first not in values:
        raise GeometryError(f"the background {background!r} is none of the labels, which are {_some(values)}.")
    rank = np.argsort(np.argsort(values != first, kind="stable"), kind="stable")
    given = {label: name for label, name in given.items() if label in values}
    ordered = [int(v) for v in values[np.argsort(rank)]]
    return Cells(
        rank[pieces].reshape(cells.shape), size, corner, tuple(str(given.get(v, f"label {v}")) for v in ordered)
    )


def labels_by_name(names: Names | None) -> dict[int, str]:
    """The name of each label, from names of labels or labels of names."""
    found: dict[int, str] = {}
    for key, given in (names or {}).items():
        pairs = [(key, given)] if not isinstance(key, str) else [(label, key) for label in _listed(key, given)]
        for label, name in pairs:
            if isinstance(label, bool) or not isinstance(label, int | np.integer) or not isinstance(name, str):
                raise GeometryError(
                    f"names has {key!r}: {given!r}; give a name for a label, {{3: 'quartz'}}, or labels for a name, "
                    "{'quartz': [3, 5]}."
                )
            if int(label) in found:
                raise GeometryError(f"names has the label {label} twice; name it once.")
            found[int(label)] = name
    return found


def _listed(name: str, labels: object) -> Sequence[int]:
    found = [labels] if isinstance(labels, int | np.integer) else labels
    if not isinstance(found, Sequence) or isinstance(found, str) or not found:
        raise GeometryError(f"names has {name!r}: {labels!r}; give a list of labels, such as [3, 5].")
    return found


def _together(cells: np.ndarray, names: Mapping[int, str], background: int | None) -> tuple[np.ndarray, int | None]:
    """The image with one label for each name, the lowest of its labels; and the label of the background."""
    present = np.unique(cells)
    if unknown := set(names) - {int(v) for v in present}:
        raise GeometryError(f"there is no label {sorted(unknown)[0]!r} to be named; the labels are {_some(present)}.")
    first: dict[str, int] = {}
    for label in sorted(names):
        first.setdefault(names[label], label)
    becomes = {label: first[name] for label, name in names.items()}
    if all(label == now for label, now in becomes.items()):
        return cells, background
    new = np.array([becomes.get(int(v), int(v)) for v in present])
    return new[np.searchsorted(present, cells)], None if background is None else becomes.get(background, background)


def coarsened(cells: Cells) -> Cells:
    """The image at half the resolution: the label of most of each 2 x 2 (x 2) pixels, of one of them where none leads.

    The frame stays: where the number of pixels is odd, the last row is repeated.
    """
    pieces = np.pad(cells.pieces, [(0, n % 2) for n in cells.pieces.shape], mode="edge")
    d = pieces.ndim
    blocks = pieces.reshape([m for n in pieces.shape for m in (n // 2, 2)])
    blocks = blocks.transpose(*range(0, 2 * d, 2), *range(1, 2 * d, 2)).reshape(*(n // 2 for n in pieces.shape), -1)
    votes = np.stack([np.sum(blocks == blocks[..., [k]], axis=-1) for k in range(blocks.shape[-1])], axis=-1)
    # Ties go to the first or the last of them in turn, to avoid a bias.
    turn = np.indices(blocks.shape[:-1]).sum(axis=0) % 2
    forward, backward = np.argmax(votes, axis=-1), blocks.shape[-1] - 1 - np.argmax(votes[..., ::-1], axis=-1)
    chosen = np.where(turn == 0, forward, backward)
    found = np.take_along_axis(blocks, chosen[..., None], axis=-1)[..., 0]
    lost = set(range(len(cells.names))) - set(np.unique(found).tolist())
    if lost or min(found.shape) < 4:
        raise GeometryError("the image is too coarse to be made coarser.")
    return Cells(found, cells.size * cells.pieces.shape / found.shape, cells.origin, cells.names)


def pieces_of(cells: Cells, smooth: bool) -> list[Shape]:
    """The shapes of pieces 1, 2, ... of a label image."""
    if len(cells.names) == 1:
        return []
    if cells.pieces.ndim == 2:
        from jumpnet.geometry.data.imagemap import regions

        return regions(cells.pieces, cells.size, cells.origin, smooth)
    from jumpnet.geometry.data.voxels import regions

    return regions(cells.pieces, cells.size, cells.origin)


# --- reading ----------------------------------------------------------------------------------------------------


def read_labels(source: Source, thresholds: ArrayLike | None = None) -> np.ndarray:
    """The labels in a file (PNG, TIFF, NPY), as they are stored there or by the thresholds of a grey image."""
    path = checked_path(source, MOST_BYTES, SUFFIXES, "a label image")
    with reading(path, "a label image"):
        return _array(_stored(path), thresholds)


def threshold_between(source: Source) -> float | None:
    """The value that parts the two phases of a grey image, by Otsu's method; None of a label image.

    Of two neighbouring pixels, most have the same value in a label image, but not in a grey image with noise.
    """
    path = checked_path(source, MOST_BYTES, SUFFIXES, "an image")
    with reading(path, "an image"):
        stored = _stored(path)
        _check_size(stored.shape)
        values = np.asarray(stored, dtype=np.float64)
        if np.mean(values[1:] == values[:-1]) >= 0.5 or not np.isfinite(values).all():
            return None
        # Without the extreme thousandths: hot pixels would leave all others in a few bins.
        counts, edges = np.histogram(values, 256, np.quantile(values, (0.001, 0.999)).tolist())
        below, moment = np.cumsum(counts), np.cumsum(counts * (edges[1:] + edges[:-1]))
        weights = np.maximum(below * (below[-1] - below), 1)  # 0 where all are on one side, as is then the rest
        between = (moment[-1] * below / below[-1] - moment) ** 2 / weights
        return float(f"{edges[1 + int(np.argmax(between))]:.4g}")


def _stored(path: FilePath) -> np.ndarray:
    """The array of a file, with one channel."""
    if path.suffix.lower() == ".npy":
        return np.load(path, allow_pickle=False, mmap_mode="r")
    if path.suffix.lower() == ".png":
        from PIL import Image

        with Image.open(path, formats=["PNG"]) as image:
            _check_size(image.size)
            _check_upright(image.getexif().get(ORIENTATION))
            pixels = np.asarray(image)
            return pixels if image.mode in ("1", "L", "P", "I", "I;16") else _grey(pixels)
    tifffile = optional("tifffile", "images", "reading TIFF files")
    with tifffile.TiffFile(path) as image:
        series = image.series[0]
        coloured = series.axes.endswith("S")
        if "S" in series.axes[:-1]:
            raise GeometryError("it holds a plane for each colour; save labels as greyscale or with a palette.")
        if len(image.series) > 1:
            raise GeometryError(f"it holds {len(image.series)} images of different sizes; save the one that is meant.")
        _check_size(series.shape[:-1] if coloured else series.shape)
        _check_upright(image.pages[0].tags.valueof(ORIENTATION))
        return _grey(series.asarray()) if coloured else series.asarray()


def _grey(pixels: np.ndarray) -> np.ndarray:
    """The labels of an image with colour channels, which must be the same; a last channel that is full is opacity."""
    full = 1 if pixels.dtype == bool else np.iinfo(pixels.dtype).max if pixels.dtype.kind in "iu" else 1.0
    if pixels.shape[-1] in (2, 4) and np.all(pixels[..., -1] == full):
        pixels = pixels[..., :-1]
    if np.all(pixels == pixels[..., :1]):
        return pixels[..., 0]
    colours = len(np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0))
    raise GeometryError(
        f"it has {colours} colours; save labels as greyscale or with a palette (in GIMP: Image, Mode, Indexed)."
    )


def _check_upright(orientation: object) -> None:
    if orientation not in (None, 0, 1):
        raise GeometryError("it is to be shown turned or mirrored; save it as it is shown.")


def _check_size(shape: tuple[int, ...]) -> None:
    if len(shape) not in (2, 3):
        raise GeometryError(f"a label image has two or three axes, not {len(shape)}.")
    if np.prod([float(n) for n in shape]) > MOST_CELLS:
        sizes = " x ".join(str(n) for n in shape)
        raise GeometryError(
            f"an image may have at most {MOST_CELLS} pixels or voxels, not {sizes}; coarsen or crop it."
        )
    if min(shape) < 4:
        raise GeometryError(f"a label image needs at least four pixels along each axis, not {min(shape)}.")


def _array(labels: object, thresholds: ArrayLike | None = None) -> np.ndarray:
    try:
        array = np.asarray(labels)
        _check_size(array.shape)
        if np.iscomplexobj(array):
            raise TypeError
        if thresholds is not None:
            return _by_thresholds(array, thresholds)
        if not (np.issubdtype(array.dtype, np.integer) or array.dtype == bool):
            whole = np.asarray(array, dtype=np.float64)
            if not np.array_equal(whole, np.round(whole)):
                raise GeometryError(f"a label image holds whole numbers, one for each material; {LABEL_IT}.")
        if max(-int(array.min()), int(array.max())) > LARGEST_LABEL:  # beyond 2^63 they would change their sign
            raise GeometryError(f"a label is a whole number of at most {LARGEST_LABEL}; renumber the labels.")
        return np.array(array, dtype=np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        if isinstance(error, GeometryError):
            raise
        raise GeometryError("a label image must be an array of whole numbers.") from None


def _by_thresholds(greys: np.ndarray, thresholds: ArrayLike) -> np.ndarray:
    """0 for greys below the first threshold, 1 for those up to the second, and so on."""
    limits, values = checks.vector(thresholds, "thresholds"), np.asarray(greys, dtype=np.float64)
    if not np.isfinite(values).all():
        raise GeometryError("some of its greys are not finite; replace them first.")
    if np.any(np.diff(limits) <= 0):
        raise GeometryError(f"the thresholds are {list(limits)}; they must rise, from the darkest to the brightest.")
    return np.digitize(values, limits)


def _oriented(array: np.ndarray, order: str) -> np.ndarray:
    """Cells indexed along x1, x2(, x3), rising."""
    if order == "xyz":
        return array
    if order != "image":
        raise GeometryError(
            f'order must be "image" (rows from the top, columns; slices first) or "xyz", not {order!r}.'
        )
    return np.flip(array, axis=-2).T


# --- cleaning ---------------------------------------------------------------------------------------------------


def _without_small(cells: np.ndarray, small: str, smallest: int) -> np.ndarray:
    """Connected regions of fewer than `smallest` cells given to their nearest neighbours, or refused."""
    if small not in ("merge", "keep", "error"):
        raise GeometryError(f'small must be "merge", "keep" or "error", not {small!r}.')
    if small == "keep" or smallest <= 1:
        return cells
    from scipy import ndimage

    tiny = np.zeros(cells.shape, dtype=bool)
    count = 0
    for value in np.unique(cells):
        regions = np.asarray(ndimage.label(cells == value)[0], dtype=np.int64)  # type: ignore[index]
        sizes = np.bincount(regions.ravel())
        drop = sizes < smallest
        drop[0] = False
        count += int(drop.sum())
        tiny |= drop[regions]
    if count == 0:
        return cells
    what = f"{count} region{'s' if count > 1 else ''} of fewer than {smallest} pixels or voxels"
    if small == "error":
        raise GeometryError(f'the image has {what}; clean it, or choose small="merge" or "keep".')
    if tiny.all():
        raise GeometryError(f"the image has nothing but {what}; of a grey image, {LABEL_IT}.")
    warnings.warn(
        f"{what} given to the neighbours; `small` and `smallest` say what is done with them.",
        JumpnetWarning,
        stacklevel=5,
    )
    nearest = np.asarray(ndimage.distance_transform_edt(tiny, return_distances=False, return_indices=True))
    return cells[tuple(nearest)]


def _some(values: np.ndarray) -> str:
    return ", ".join(str(v) for v in values[:10]) + (" ..." if len(values) > 10 else "")
