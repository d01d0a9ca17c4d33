"""The two nouns of the geometry layer: a Shape (a region) and a Patch (a piece of its boundary).

Everything above (partitions, samplers, charts) speaks to these two interfaces only, so that a new kind of
region needs nothing but a level function with normals and a boundary that can be sampled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.geometry.checks import Bounds, Floats


class Patch(ABC):
    """A piece of a boundary with outward unit normals; points of it can be drawn uniformly."""

    closed: ClassVar[bool] = False
    """Whether it is known to be one closed curve or surface."""

    @property
    @abstractmethod
    def measure(self) -> float:
        """Its length or area; in 1-D the number of its points."""

    @abstractmethod
    def sample(self, n: int, rng: np.random.Generator, quasi: bool = False) -> tuple[Floats, Floats]:
        """`n` points (n, d), uniform in length or area, and their outward unit normals (n, d)."""


class Shape(ABC):
    """A region {level < 0} with an outward normal on its boundary."""

    clipped: ClassVar[bool] = False
    """Whether a partition cuts the shape off at its domain (unbounded regions)."""
    connected: ClassVar[bool] = True
    """Whether the boundary is known to be one connected curve or surface."""

    @property
    @abstractmethod
    def dim(self) -> int:
        """The number of coordinates."""

    @property
    @abstractmethod
    def bounds(self) -> Bounds:
        """Lower and upper corner of a box that holds the region, infinite where the region is."""

    @abstractmethod
    def level(self, x: ArrayLike) -> Floats:
        """A continuous function (n,): negative inside, zero on the boundary, positive outside."""

    @abstractmethod
    def normal(self, x: ArrayLike) -> Floats:
        """Outward unit normals (n, d) at boundary points; nan where there is none."""

    @abstractmethod
    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        """The boundary (the part in the box `within`, where the boundary itself has no end)."""

    @abstractmethod
    def spec(self) -> dict[str, Any] | None:
        """A JSON-able description for `shape_from_spec`; None if the shape holds a callable."""

    @property
    def volume(self) -> float | None:
        """Length, area or volume where a closed form is known; the bounds are then tight."""
        return None

    def contains(self, x: ArrayLike, slack: float = 0.0) -> np.ndarray:
        """Whether each point lies inside, level < slack; a tiny slack takes in the boundary itself."""
        return self.level(x) < slack

    @cached_property
    def size(self) -> float:
        """The diagonal of the bounds (1 if they are infinite): the unit for tolerances."""
        lower, upper = self.bounds
        diagonal = float(np.linalg.norm(upper - lower))
        return diagonal if np.isfinite(diagonal) and diagonal > 0.0 else 1.0

    def __or__(self, other: Shape) -> Shape:
        from jumpnet.geometry.bodies.boolean import Union

        return Union((self, _shape(other, "|")))

    def __and__(self, other: Shape) -> Shape:
        from jumpnet.geometry.bodies.boolean import Intersection

        return Intersection((self, _shape(other, "&")))

    def __sub__(self, other: Shape) -> Shape:
        return self & ~_shape(other, "-")

    def __invert__(self) -> Shape:
        from jumpnet.geometry.bodies.boolean import complement

        return complement(self)


def _shape(other: object, operator: str) -> Shape:
    if not isinstance(other, Shape):
        raise GeometryError(
            f"the operator {operator} combines two shapes, not a shape and {type(other).__name__}; "
            "give a shape such as jumpnet.Disk on both sides."
        )
    return other
