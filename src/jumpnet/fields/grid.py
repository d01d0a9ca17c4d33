"""Fields given by numbers on a regular grid, as cubic splines: twice continuously differentiable between them."""

from __future__ import annotations

import base64
import binascii
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jumpnet.errors import ProblemError
from jumpnet.fields.scalar import Array, Field, Spec

CHUNK = 1 << 12
"""Points evaluated at a time: keeps the gathered coefficients in the cache."""
MOST_NUMBERS = 1 << 26  # values of a grid: half a gigabyte in float64


@dataclass(frozen=True, eq=False, repr=False)
class GridField(Field):
    """Spline coefficients (m, n1, ..., nd) on the grid origin + spacing * index, constant beyond it.

    With one set of coefficients the field is that spline. With several, s_0 ... s_(m-1), it says by how much the best
    of the others exceeds spline `of`: negative where that one is the largest.
    """

    coefficients: NDArray[np.float32]
    origin: tuple[float, ...]
    spacing: tuple[float, ...]
    of: int = 0

    @property
    def dim(self) -> int:
        """Number of variables."""
        return len(self.origin)

    def __repr__(self) -> str:
        splines, *grid = self.coefficients.shape
        size, many = " x ".join(map(str, grid)), f"{splines} splines on " if splines > 1 else ""
        return f"GridField({many}{size} numbers, origin={self.origin}, spacing={self.spacing})"

    def value(self, x: Array) -> Array:
        return self._evaluate(x, 0)

    def gradient(self, x: Array) -> Array:
        return self._evaluate(x, 1)

    def hessian(self, x: Array) -> Array:
        return self._evaluate(x, 2)

    def _evaluate(self, x: Array, order: int) -> Array:
        result = np.empty((len(x), *(self.dim,) * order))
        for start in range(0, len(x), CHUNK):
            part = slice(start, start + CHUNK)
            result[part] = self._chunk(x[part], order)
        return result

    def _chunk(self, x: Array, order: int) -> Array:
        shape = np.array(self.coefficients.shape[1:])
        t = (x - np.array(self.origin)) / np.array(self.spacing)
        t = np.clip(np.nan_to_num(t), 1.0, shape - 2.0 - 1e-9)
        cell = np.minimum(np.floor(t).astype(int), shape - 3)
        weights = [
            [_weights(t[:, i] - cell[:, i], k, self.spacing[i]) for k in range(order + 1)] for i in range(self.dim)
        ]
        around = self._around(cell)
        value = _sums(around, [w[0] for w in weights])
        if len(value) == 1:
            first, second = np.zeros(len(x), dtype=int), None
        else:
            others = value.copy()
            others[self.of] = -np.inf
            first, second = np.argmax(others, axis=0), np.full(len(x), self.of)
        if order == 0:
            return _difference(value, first, second)
        result = np.empty((len(x), *(self.dim,) * order))
        for axes in product(range(self.dim), repeat=order):
            chosen = [weights[i][axes.count(i)] for i in range(self.dim)]
            result[(slice(None), *axes)] = _difference(_sums(around, chosen), first, second)
        return result

    def _around(self, cell: np.ndarray) -> Array:
        """The 4^d coefficients around each point, for all splines: (m, n, 4, ..., 4)."""
        index = []
        for i in range(self.dim):
            spread = (len(cell), *(4 if k == i else 1 for k in range(self.dim)))
            index.append((cell[:, i : i + 1] + np.arange(-1, 3)).reshape(spread))
        return self.coefficients[(slice(None), *index)].astype(np.float64)

    def spec(self) -> Spec:
        packed = zlib.compress(np.ascontiguousarray(self.coefficients, dtype="<f4").tobytes(), 6)
        return {
            "kind": "grid",
            "shape": list(self.coefficients.shape),
            "origin": list(self.origin),
            "spacing": list(self.spacing),
            "of": self.of,
            "coefficients": base64.b64encode(packed).decode("ascii"),
        }


def grid_field_from_spec(spec: Spec) -> GridField:
    """The field that `GridField.spec()` described; sizes are checked before anything is unpacked."""
    shape = [int(n) for n in spec["shape"]]
    origin, spacing = (tuple(float(value) for value in spec[name]) for name in ("origin", "spacing"))
    count = int(np.prod([float(n) for n in shape]))
    fits = len(shape) == len(origin) + 1 == len(spacing) + 1 and min(shape[1:], default=0) >= 4 and min(spacing) > 0
    if not fits or not 0 < count <= MOST_NUMBERS or not 0 <= int(spec["of"]) < max(shape[0], 1):
        raise ProblemError(f"a field on a grid cannot have the shape {shape}; the file is damaged.")
    try:
        data = zlib.decompressobj().decompress(base64.b64decode(spec["coefficients"]), 4 * count + 1)
    except (binascii.Error, zlib.error, TypeError, ValueError):
        data = b""
    if len(data) != 4 * count:
        raise ProblemError("the numbers of a field on a grid cannot be unpacked; the file is damaged.")
    return GridField(np.frombuffer(data, dtype="<f4").reshape(shape), origin, spacing, int(spec["of"]))


def spline_coefficients(values: Iterable[Any]) -> NDArray[np.float32]:
    """Coefficients (m, ...) of the cubic splines through arrays of values."""
    from scipy.ndimage import spline_filter

    return np.stack([np.asarray(spline_filter(v, order=3, mode="mirror"), dtype=np.float32) for v in values])


def _weights(u: Array, derivative: int, h: float) -> Array:
    """The four cubic B-splines (4, n) over a cell, u in it, or their derivatives by x."""
    v = 1.0 - u
    if derivative == 0:
        return np.stack([v**3, 4.0 - 6.0 * u**2 + 3.0 * u**3, 4.0 - 6.0 * v**2 + 3.0 * v**3, u**3]) / 6.0
    if derivative == 1:
        return np.stack([-(v**2), 3.0 * u**2 - 4.0 * u, 4.0 * v - 3.0 * v**2, u**2]) / (2.0 * h)
    return np.stack([v, 3.0 * u - 2.0, 3.0 * v - 2.0, u]) / h**2


def _sums(around: Array, weights: list[Array]) -> Array:
    """Splines (m, n), or derivatives of them, from coefficients and weights along each axis."""
    splines, n = around.shape[:2]
    product_ = weights[0].T
    for weight in weights[1:]:
        product_ = (product_[:, :, None] * weight.T[:, None, :]).reshape(n, -1)
    return np.einsum("mnk,nk->mn", around.reshape(splines, n, -1), product_)


def _difference(values: Array, first: np.ndarray, second: np.ndarray | None) -> Array:
    row = np.arange(values.shape[1])
    return values[first, row] if second is None else values[first, row] - values[second, row]
