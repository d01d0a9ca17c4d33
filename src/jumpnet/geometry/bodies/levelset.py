"""Regions {phi < 0} of any function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.fields import Field, scalar_field
from jumpnet.geometry import checks
from jumpnet.geometry.bodies.shell import ShellPatch, gradient, roots, values
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.shape import Patch, Shape


@dataclass(frozen=True)
class LevelSet(Shape):
    """The region {phi < 0}.

    Args:
        phi: A formula in x1, x2, ..., or a callable (n, d) -> (n,) written with jax.numpy.
        bounds: Two corners of a box. It says where the region lies and is where its boundary is looked for: of several
            regions, those in the bounds are meant. Without it a partition looks in its whole domain.
        dim: The number of dimensions, where `bounds` do not say it.

    Example:
        >>> import jumpnet as jn
        >>> jn.LevelSet("x1**2 + x2**4 - 0.2", dim=2).dim
        2
    """

    phi: str | Callable[..., Any] | Field
    corners: tuple[tuple[float, ...], tuple[float, ...]] | None
    dimension: int
    clipped: ClassVar[bool] = True
    connected: ClassVar[bool] = False

    def __init__(self, phi: str | Callable[..., Any] | Field, bounds: object = None, dim: int | None = None) -> None:
        corners = None if bounds is None else checks.box(bounds, "the bounds of a LevelSet")
        if corners is None and dim is None:
            raise GeometryError("a LevelSet needs its dimension; give dim=2 or bounds=((..), (..)).")
        if dim is not None and checks.count(dim, "dim of a LevelSet") < 1:
            raise GeometryError("dim of a LevelSet must be at least 1.")
        if corners is not None and dim is not None and dim != len(corners[0]):
            raise GeometryError(f"a LevelSet was given dim={dim} and bounds in {len(corners[0])} dimensions.")
        if not isinstance(phi, str | Field) and not callable(phi):
            raise GeometryError(f"phi of a LevelSet must be a formula or a callable, not {phi!r}.")
        object.__setattr__(self, "phi", phi)
        object.__setattr__(self, "corners", corners)
        object.__setattr__(self, "dimension", len(corners[0]) if corners else dim)
        _ = self.field  # a formula that cannot be read is refused here

    @cached_property
    def field(self) -> Field:
        return scalar_field(self.phi, self.dim, what="phi of a LevelSet")

    @property
    def dim(self) -> int:
        return self.dimension

    @property
    def bounds(self) -> Bounds:
        return self._bounds

    @cached_property
    def _bounds(self) -> Bounds:
        if self.corners is None:
            return np.full(self.dim, -np.inf), np.full(self.dim, np.inf)
        return np.array(self.corners[0]), np.array(self.corners[1])

    def level(self, x: ArrayLike) -> Floats:
        x = checks.points(x, self.dim)
        value = values(self.field, x)
        if self.corners is None:
            return value
        beyond = np.maximum(self.bounds[0] - x, x - self.bounds[1]).max(axis=1)
        return np.where(beyond > 0.0, np.maximum(np.abs(value), beyond), value)

    def normal(self, x: ArrayLike) -> Floats:
        slope = gradient(self.field, checks.points(x, self.dim))
        length = np.linalg.norm(slope, axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(length > 0.0, slope / length, np.nan)

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        lower, upper = self.bounds
        if within is not None:
            lower, upper = np.maximum(lower, within[0]), np.minimum(upper, within[1])
        if not (np.all(np.isfinite(lower)) and np.all(np.isfinite(upper))):
            raise GeometryError("the boundary of a LevelSet is looked for in a box; give bounds=(lower, upper).")
        if np.any(lower >= upper):
            return ()
        if self.dim == 1:
            return roots(self.field, float(lower[0]), float(upper[0]))
        shell = ShellPatch(self.field, (lower, upper))
        return (shell,) if shell.measure > 0.0 else ()

    def spec(self) -> dict[str, Any] | None:
        phi = self.phi if isinstance(self.phi, str) else self.field.spec()
        bounds = None if self.corners is None else [list(corner) for corner in self.corners]
        return None if phi is None else {"shape": "level-set", "phi": phi, "bounds": bounds, "dim": self.dim}
