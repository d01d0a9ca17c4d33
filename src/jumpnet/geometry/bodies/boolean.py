"""Union, intersection and complement of shapes; a difference is an intersection with a complement."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.geometry import checks
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.patches import Flipped, PointPatch, Trimmed
from jumpnet.geometry.shape import Patch, Shape

STEP = 1e-8
"""The distance from a boundary point at which both sides are sampled, relative to the size of the shape."""


@dataclass(frozen=True)
class Complement(Shape):
    """Everything outside a shape."""

    shape: Shape
    clipped: ClassVar[bool] = True
    connected: ClassVar[bool] = False

    @property
    def dim(self) -> int:
        return self.shape.dim

    @property
    def bounds(self) -> Bounds:
        return np.full(self.dim, -np.inf), np.full(self.dim, np.inf)

    def level(self, x: ArrayLike) -> Floats:
        return -self.shape.level(x)

    def contains(self, x: ArrayLike, slack: float = 0.0) -> np.ndarray:
        # -level < slack; at slack 0 the boundary itself is left out, on both sides
        return ~self.shape.contains(x, np.nextafter(-slack, np.inf))

    def normal(self, x: ArrayLike) -> Floats:
        return -self.shape.normal(x)

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        return tuple(
            PointPatch(p.x, -p.sign) if isinstance(p, PointPatch) else Flipped(p) for p in self.shape.patches(within)
        )

    def spec(self) -> dict[str, Any] | None:
        inner = self.shape.spec()
        return None if inner is None else {"shape": "complement", "of": inner}


@dataclass(frozen=True)
class _Combination(Shape):
    """Several shapes as one, of the same dimension; those of the same kind are taken apart."""

    parts: tuple[Shape, ...]
    connected: ClassVar[bool] = False
    name: ClassVar[str]
    sign: ClassVar[float]
    """1 where the level is the largest of the parts' levels, -1 where it is the smallest."""

    def __post_init__(self) -> None:
        flat: list[Shape] = []
        for part in self.parts:
            flat.extend(part.parts if isinstance(part, type(self)) else (part,))
        dims = {part.dim for part in flat}
        if len(dims) != 1:
            raise GeometryError(
                f"shapes of {' and '.join(str(d) for d in sorted(dims))} dimensions cannot be combined; "
                "give shapes of one dimension."
            )
        object.__setattr__(self, "parts", tuple(flat))

    @property
    def dim(self) -> int:
        return self.parts[0].dim

    @property
    def bounds(self) -> Bounds:
        return self._bounds

    @cached_property
    def _bounds(self) -> Bounds:
        lower, upper = (self.sign * np.array(ends) for ends in zip(*(part.bounds for part in self.parts), strict=True))
        return self.sign * np.max(lower, axis=0), self.sign * np.min(upper, axis=0)

    def level(self, x: ArrayLike) -> Floats:
        return self.sign * np.max([self.sign * part.level(x) for part in self.parts], axis=0)

    def normal(self, x: ArrayLike) -> Floats:
        return _active_normal(self, self.parts, checks.points(x, self.dim), self.sign)

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        return _trimmed(self, self.parts, within)

    def spec(self) -> dict[str, Any] | None:
        specs = [part.spec() for part in self.parts]
        return None if None in specs else {"shape": self.name, "parts": specs}


@dataclass(frozen=True)
class Union(_Combination):
    """The points of any of several shapes."""

    name: ClassVar[str] = "union"
    sign: ClassVar[float] = -1.0

    @property
    def clipped(self) -> bool:  # type: ignore[override]
        return any(part.clipped for part in self.parts)

    def contains(self, x: ArrayLike, slack: float = 0.0) -> np.ndarray:
        return np.any([part.contains(x, slack) for part in self.parts], axis=0)


@dataclass(frozen=True)
class Intersection(_Combination):
    """The points that several shapes share."""

    name: ClassVar[str] = "intersection"
    sign: ClassVar[float] = 1.0

    @property
    def clipped(self) -> bool:  # type: ignore[override]
        return all(part.clipped for part in self.parts)

    def contains(self, x: ArrayLike, slack: float = 0.0) -> np.ndarray:
        return np.all([part.contains(x, slack) for part in self.parts], axis=0)


def complement(shape: Shape) -> Shape:
    """Everything outside `shape`; the complement of a complement is the shape itself."""
    return shape.shape if isinstance(shape, Complement) else Complement(shape)


def _active_normal(whole: Shape, parts: tuple[Shape, ...], x: Floats, sign: float) -> Floats:
    """The normal of the part that decides the level; nan where two parts with different normals do."""
    levels = sign * np.array([part.level(x) for part in parts])
    top = levels.max(axis=0)
    result = np.full(x.shape, np.nan)
    done = np.zeros(len(x), dtype=bool)
    for part, level in zip(parts, levels, strict=True):
        active = np.flatnonzero(top - level <= 1e-12 * whole.size)
        normals = part.normal(x[active])
        clash = done[active] & ~(np.abs(normals - result[active]).max(axis=1) < 1e-9)
        normals[clash] = np.nan
        result[active] = normals
        done[active] = True
    return result


@dataclass(frozen=True, eq=False)
class _Bounding:
    """Which points of a part's boundary bound the whole, and belong to no earlier part; a class, to be pickled."""

    whole: Shape
    earlier: tuple[Shape, ...]
    step: float

    def __call__(self, x: Floats, normals: Floats) -> np.ndarray:
        behind, ahead = x - self.step * normals, x + self.step * normals
        kept = self.whole.contains(behind) & ~self.whole.contains(ahead)
        for part in self.earlier:
            kept &= part.contains(behind) == part.contains(ahead)
        return kept


def _trimmed(whole: Shape, parts: tuple[Shape, ...], within: Bounds | None) -> tuple[Patch, ...]:
    """The parts' patches where they bound the whole, each point once even where two parts share it."""
    if within is None and np.all(np.isfinite(whole.bounds)):
        within = whole.bounds
    size = whole.size if within is None else float(np.linalg.norm(within[1] - within[0]))
    step = STEP * size
    patches: list[Patch] = []
    for k, part in enumerate(parts):
        keep = _Bounding(whole, parts[:k], step)
        for patch in part.patches(within):
            if isinstance(patch, PointPatch):
                if keep(np.array([[patch.x]]), np.array([[patch.sign]]))[0]:
                    patches.append(patch)
                continue
            trimmed = Trimmed(patch, whole.dim, keep)
            if trimmed.share > 0.0:
                patches.append(trimmed)
    return tuple(patches)
