"""Shapes from their JSON-able descriptions."""

from collections.abc import Callable, Mapping
from typing import Any

from jumpnet.errors import GeometryError
from jumpnet.fields import Univariate, field_from_spec
from jumpnet.geometry.bodies.boolean import Complement, Intersection, Union
from jumpnet.geometry.bodies.levelset import LevelSet
from jumpnet.geometry.bodies.mesh import Mesh
from jumpnet.geometry.bodies.primitives import Box, HalfSpace, Interval
from jumpnet.geometry.bodies.quadrics import Ball, Ellipsoid, Superquadric
from jumpnet.geometry.curves.closed import Curve, Star
from jumpnet.geometry.curves.path import Path
from jumpnet.geometry.shape import Shape


def _level_set(phi: str | dict[str, Any], bounds: Any, dim: int) -> LevelSet:
    return LevelSet(phi if isinstance(phi, str) else field_from_spec(phi), bounds=bounds, dim=dim)


def _function(source: float | str | dict[str, Any]) -> Any:
    return Univariate.from_spec(source) if isinstance(source, dict) else source


def _star(center: Any, radius: Any) -> Star:
    return Star(center, _function(radius))


def _curve(x: Any, y: Any) -> Curve:
    return Curve(_function(x), _function(y))


def _union(parts: list[dict[str, Any]]) -> Shape:
    return Union(tuple(shape_from_spec(part) for part in parts))


def _intersection(parts: list[dict[str, Any]]) -> Shape:
    return Intersection(tuple(shape_from_spec(part) for part in parts))


def _complement(of: dict[str, Any]) -> Shape:
    return Complement(shape_from_spec(of))


_MAKERS: dict[str, Callable[..., Shape]] = {
    "interval": Interval,
    "box": Box,
    "half-space": HalfSpace,
    "ball": Ball,
    "ellipsoid": Ellipsoid,
    "superquadric": Superquadric,
    "star": _star,
    "curve": _curve,
    "path": Path,
    "mesh": Mesh,
    "level-set": _level_set,
    "union": _union,
    "intersection": _intersection,
    "complement": _complement,
}
"""The classes of shapes by their names in saved files."""


def shape_from_spec(spec: Mapping[str, Any]) -> Shape:
    """The shape that `Shape.spec()` described."""
    name = spec.get("shape") if isinstance(spec, Mapping) else None
    if name not in _MAKERS:
        raise GeometryError(f"a shape cannot be made of {name!r}; the known shapes are {', '.join(_MAKERS)}.")
    try:
        return _MAKERS[name](**{key: value for key, value in spec.items() if key != "shape"})
    except TypeError as error:
        raise GeometryError(f"the description of a {name} does not fit: {error}.") from None
