"""Regions from GeoJSON: polygons with holes, alone or as features with names."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from jumpnet.errors import GeometryError, JumpnetWarning
from jumpnet.geometry import checks
from jumpnet.geometry.curves.path import Path, polygon_loop
from jumpnet.geometry.data.files import Source, checked_path, optional, reading
from jumpnet.guard.budget import within_budget
from jumpnet.guard.text import shorten

MOST_BYTES = 64_000_000
"""Larger files are refused before they are parsed: JSON takes ten times its size in memory."""
WITHOUT_AREA = ("Point", "MultiPoint", "LineString", "MultiLineString")
"""Geometries that are no regions, such as boreholes and borders, which lie in files beside them."""
MOST_FEATURES = 2000  # each takes some milliseconds; a problem may have 400 pieces


@within_budget("a GeoJSON file")
def from_geojson(
    source: Source | Mapping[str, Any], *, name: str = "name", simplify: float = 0.0, scale: float = 1.0
) -> dict[str, Path]:
    """The polygons of a GeoJSON file (or of the same as a dictionary), by name, in their order.

    A feature is named by its property `name`, else by its id, else by its number. Coordinates are those of
    the file times `scale`, also degrees of longitude and latitude: project them first. `simplify` leaves out vertices
    that matter less than this length.
    """
    tolerance, factor = checks.number(simplify, "simplify"), checks.positive(scale, "scale")
    if isinstance(source, Mapping):
        return _regions(source, name, tolerance, factor)
    path = checked_path(source, MOST_BYTES, (".geojson", ".json"), "a GeoJSON file")
    with reading(path, "GeoJSON"):
        return _regions(json.loads(path.read_text(encoding="utf-8-sig")), name, tolerance, factor)


def _regions(data: Any, key: str, tolerance: float, factor: float) -> dict[str, Path]:
    regions: dict[str, Path] = {}
    left_out: list[str] = []
    for number, (feature, geometry) in enumerate(_geometries(data), start=1):
        if number > MOST_FEATURES:
            raise GeometryError(f"there are more than {MOST_FEATURES} features; keep those that matter.")
        properties = feature.get("properties")
        given = properties.get(key) if isinstance(properties, Mapping) else None
        given = feature.get("id") if given is None else given
        title = f"feature {number}" if given is None else str(given)
        if title in regions:
            title = f"{title} ({number})"
        if geometry.get("type") in WITHOUT_AREA:
            left_out.append(f"{title} ({geometry['type']})")
            continue
        regions[title] = _region(geometry, title, tolerance, factor)
    if left_out and regions:
        what = f"what encloses no region is left out: {shorten(', '.join(left_out))}."
        warnings.warn(what, JumpnetWarning, stacklevel=2)
    if not regions:
        raise GeometryError("there is no polygon in it; wanted are features of the type Polygon or MultiPolygon.")
    return regions


def _geometries(data: Any) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Features and their geometries; a bare geometry is a feature without properties."""
    kind = data.get("type") if isinstance(data, Mapping) else None
    if kind == "FeatureCollection":
        features = data.get("features")
        for feature in features if isinstance(features, list) else ():
            yield from _geometries(feature)
    elif kind == "Feature" and isinstance(data.get("geometry"), Mapping):
        yield data, data["geometry"]
    elif kind in ("Polygon", "MultiPolygon"):
        yield {}, data
    elif not isinstance(kind, str):
        raise GeometryError("this is no GeoJSON; an object with a type, such as FeatureCollection, is wanted.")


def _region(geometry: Mapping[str, Any], title: str, tolerance: float, factor: float) -> Path:
    shapely = optional("shapely", "shapes", "reading GeoJSON")
    if geometry.get("type") not in ("Polygon", "MultiPolygon"):
        raise GeometryError(
            f"{title} is a {shorten(geometry.get('type'))}; only Polygon and MultiPolygon enclose a region."
        )
    try:
        found = shapely.geometry.shape(geometry)
        found = found if factor == 1.0 else shapely.transform(found, lambda x: factor * x)
        found = found.simplify(tolerance) if tolerance > 0.0 else found
        reason = shapely.is_valid_reason(found)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, shapely.errors.ShapelyError):
        raise GeometryError(f"the coordinates of {title} are not those of a polygon.") from None
    if found.is_empty or not found.is_valid:
        raise GeometryError(
            f"{title} is no region: {reason if not found.is_empty else 'it is empty'}; mend the polygon."
        )
    return from_shapely(found)


def from_shapely(geometry: Any) -> Path:
    """The region of a shapely Polygon or MultiPolygon, with its holes."""
    polygons = list(getattr(geometry, "geoms", [geometry]))
    if not polygons or not all(hasattr(polygon, "exterior") for polygon in polygons):
        raise GeometryError(f"a region is made of a shapely Polygon or MultiPolygon, not of {type(geometry).__name__}.")
    rings = [ring for polygon in polygons for ring in (polygon.exterior, *polygon.interiors)]
    return Path([polygon_loop([point[:2] for point in ring.coords]) for ring in rings])
