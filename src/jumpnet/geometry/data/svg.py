"""Regions from SVG drawings: paths, polygons, rectangles, circles and ellipses, with their transforms.

The file is parsed as XML without entities and nothing outside it is followed, nor executed; elements without an
outline, and what is hidden (`display: none`), are left out. Clones (`use`) are drawn at their places.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError, JumpnetWarning
from jumpnet.geometry import checks
from jumpnet.geometry.bodies.quadrics import Ball, Ellipsoid
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.curves.path import Path, polygon_loop
from jumpnet.geometry.data.files import Source, checked_path, reading
from jumpnet.geometry.data.svgpath import NUMBER, path_loops
from jumpnet.geometry.shape import Shape
from jumpnet.guard.budget import within_budget
from jumpnet.guard.text import shorten

MOST_BYTES = 16_000_000
"""Larger files are refused before they are parsed."""
MOST_OUTLINES = 2000  # each takes some milliseconds; a problem may have 400 pieces
MOST_CLONED = 50_000  # elements that clones, and clones of clones, draw once more; half a second of reading
# Possessive and anchored: linear time also for hostile input.
TRANSFORM = re.compile(r"[\s,]*+(\w++)\s*+\(([^()]*+)\)[\s,]*+")
LEFT_OUT = {"defs", "clipPath", "mask", "marker", "pattern", "symbol", "metadata", "title", "desc", "style", "script"}
"""Elements whose content is not drawn."""
DRAWN = {"path", "polygon", "polyline", "rect", "circle", "ellipse"}
"""Elements that bound regions."""
LABEL = "{http://www.inkscape.org/namespaces/inkscape}label"
"""The attribute in which Inkscape keeps the name of an object."""
CLASS = re.compile(r"\.([\w-]++)")
HREF = "{http://www.w3.org/1999/xlink}href"
PIXELS = {"": 1.0, "px": 1.0, "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0, "pt": 96 / 72, "pc": 16.0}
"""The user units of SVG in a unit of length (CSS: an inch has 96)."""


@dataclass(frozen=True, eq=False)
class _Map:
    """x -> M x + t."""

    matrix: Floats
    shift: Floats

    def __call__(self, x: Floats) -> Floats:
        return x @ self.matrix.T + self.shift

    def after(self, first: _Map) -> _Map:
        """This map after another one."""
        return _Map(self.matrix @ first.matrix, self.matrix @ first.shift + self.shift)


@within_budget("an SVG drawing")
def from_svg(
    source: Source, *, scale: float = 1.0, offset: ArrayLike = (0.0, 0.0), flip: bool = True
) -> dict[str, Shape]:
    """The closed outlines of an SVG file by name (label, else id, else kind and number), in the order of drawing.

    Coordinates are those of the drawing times `scale`, plus `offset`; with `flip`, x2 points up and the lower left
    corner of the page is the origin, without it x2 points down as in the file. Subpaths cut holes (even-odd rule).
    Outlines drawn over one another overlap; `jn.shapes.stack` makes disjoint pieces of them.
    """
    factor, shift = checks.positive(scale, "scale"), checks.vector(offset, "offset")
    if len(shift) != 2:
        raise GeometryError(f"the offset of a drawing must hold 2 numbers, not {len(shift)}.")
    path = checked_path(source, MOST_BYTES, (".svg",), "an SVG drawing")
    with reading(path, "an SVG drawing"):
        text = path.read_bytes().decode("utf-8")
        if "<!ENTITY" in text:
            raise GeometryError("it declares XML entities, which are not read; save it as plain SVG.")
        root = ElementTree.fromstring(text)
        outer = _Map(factor * np.diag([1.0, -1.0 if flip else 1.0]), np.array(shift))
        if flip:
            outer = outer.after(_Map(np.eye(2), -_lower_left(root)))
        return _named(root, outer)


def _named(root: ElementTree.Element, outer: _Map) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {}
    drawn = [found for found in _elements(root, outer) if _kind(found[0]) in DRAWN]
    if len(drawn) > MOST_OUTLINES:
        raise GeometryError(f"there are more than {MOST_OUTLINES} outlines; keep those that matter.")
    for element, place, clone in drawn:
        kind = _kind(element)
        title = clone or _title(element) or f"{kind} {len(shapes) + 1}"
        found = _shape(element, kind, place, title)
        if found is not None:
            shapes[title if title not in shapes else f"{title} ({len(shapes) + 1})"] = found
    if not shapes:
        raise GeometryError("there is no closed outline in it: no path, polygon, rect, circle or ellipse.")
    return shapes


def _kind(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _title(element: ElementTree.Element) -> str | None:
    return element.get(LABEL) or element.get("id")


def _elements(root: ElementTree.Element, outer: _Map) -> Iterator[tuple[ElementTree.Element, _Map, str | None]]:
    """All elements that may be drawn, in the order of the file: the map from their coordinates to ours, and the name of
    the clone that they belong to."""
    named = {element.get("id"): element for element in root.iter() if element.get("id")}
    stack: list[tuple[ElementTree.Element, _Map, str | None]] = [(root, outer, None)]
    hidden, left = _hidden_classes(root), MOST_CLONED + sum(1 for _ in root.iter())
    while stack:
        element, place, clone = stack.pop()
        left -= 1
        if left < 0:
            raise GeometryError(f"its clones draw more than {MOST_CLONED} elements; keep those that matter.")
        if _kind(element) in LEFT_OUT or _is_hidden(element, hidden):
            continue
        if element is not root:
            _check_drawn_as_read(element)
        place = place.after(_transform(element.get("transform") or ""))
        yield element, place, clone
        if _kind(element) == "use":
            target = named.get((element.get("href") or element.get(HREF) or "").removeprefix("#"))
            if target is None:
                raise GeometryError(f"{_title(element) or 'use'} is a clone of what is not in the drawing; unlink it.")
            shift = np.array([_length(element, "x"), _length(element, "y")])
            stack.append((target, place.after(_Map(np.eye(2), shift)), clone or _title(element)))
        stack.extend((child, place, clone) for child in reversed(list(element)))


def _hidden_classes(root: ElementTree.Element) -> set[str]:
    """The classes that a style sheet of the drawing hides."""
    rules = [
        rule.partition("{")
        for sheet in root.iter()
        if _kind(sheet) == "style"
        for rule in (sheet.text or "").split("}")
    ]
    return {name for head, _, body in rules if "display:none" in body.replace(" ", "") for name in CLASS.findall(head)}


def _is_hidden(element: ElementTree.Element, classes: set[str]) -> bool:
    shown = _style(element).get("display") or element.get("display")
    return shown == "none" or not classes.isdisjoint((element.get("class") or "").split())


def _check_drawn_as_read(element: ElementTree.Element) -> None:
    """Refuses coordinates that are not read; warns of outlines of which only a part is seen."""
    kind, name, style = _kind(element), _title(element) or _kind(element), _style(element)
    if kind in ("svg", "symbol") or style.get("transform", "none") != "none":
        raise GeometryError(f"{name} has coordinates of its own, in a style or a nested {kind}; save it as plain SVG.")
    if any((style.get(cut) or element.get(cut) or "none") != "none" for cut in ("clip-path", "mask")):
        warnings.warn(
            f"the drawing shows only a part of {shorten(name)}, which it clips; the whole outline is read.",
            JumpnetWarning,
            stacklevel=2,
        )


def _style(element: ElementTree.Element) -> dict[str, str]:
    """The properties in the style attribute of an element."""
    parts = (part.partition(":") for part in (element.get("style") or "").split(";"))
    return {key.strip(): value.partition("!")[0].strip() for key, _, value in parts}


def _transform(text: str) -> _Map:
    """The map of a transform attribute."""
    result, at = _Map(np.eye(2), np.zeros(2)), 0
    while match := TRANSFORM.match(text, at):
        v = [float(number) for number in re.findall(NUMBER, match[2])]
        result, at = result.after(_one_transform(match[1], v, text)), match.end()
    if text[at:].strip():
        raise GeometryError(f"the transform {shorten(text)} cannot be read.")
    return result


def _one_transform(name: str, v: list[float], text: str) -> _Map:
    none, unit = np.zeros(2), np.eye(2)
    match name, len(v):
        case "matrix", 6:
            return _Map(np.array([[v[0], v[2]], [v[1], v[3]]]), np.array(v[4:]))
        case "translate", 1 | 2:
            return _Map(unit, np.array([*v, 0.0][:2]))
        case "scale", 1 | 2:
            return _Map(np.diag([v[0], v[-1]]), none)
        case "rotate", 1 | 3:
            c, s = np.cos(np.radians(v[0])), np.sin(np.radians(v[0]))
            turn, about = np.array([[c, -s], [s, c]]), np.array(v[1:] or [0.0, 0.0])
            return _Map(turn, about - turn @ about)
        case "skewX", 1:
            return _Map(np.array([[1.0, np.tan(np.radians(v[0]))], [0.0, 1.0]]), none)
        case "skewY", 1:
            return _Map(np.array([[1.0, 0.0], [np.tan(np.radians(v[0])), 1.0]]), none)
    raise GeometryError(f"the transform {shorten(text)} cannot be read.")


def _shape(element: ElementTree.Element, kind: str, place: _Map, title: str) -> Shape | None:
    """The region of an element, None if it encloses nothing, such as a line between two points."""
    if kind == "path":
        loops = [place(loop) for loop in path_loops(element.get("d") or "")]
        return Path(loops) if loops else None
    if kind in ("polygon", "polyline"):
        v = [float(number) for number in re.findall(NUMBER, element.get("points") or "")]
        return Path([polygon_loop(place(np.array(v).reshape(-1, 2)))]) if len(v) >= 6 and len(v) % 2 == 0 else None
    if kind == "rect":
        x, y, w, h = (_length(element, name) for name in ("x", "y", "width", "height"))
        if w <= 0.0 or h <= 0.0:
            return None
        rx, ry = (_length(element, name) for name in ("rx", "ry"))
        rx, ry = min(rx or ry, w / 2), min(ry or rx, h / 2)
        if rx > 0.0 and ry > 0.0:
            arcs = (f"a{rx} {ry} 0 0 1 {dx} {dy}" for dx, dy in ((rx, ry), (-rx, ry), (-rx, -ry), (rx, -ry)))
            sides = (f"M{x + rx} {y}H{x + w - rx}", f"V{y + h - ry}", f"H{x + rx}", f"V{y + ry}")
            d = "".join(side + arc for side, arc in zip(sides, arcs, strict=True))
            return Path([place(loop) for loop in path_loops(d)])
        return Path([polygon_loop(place(np.array([[x, y], [x + w, y], [x + w, y + h], [x, y + h]])))])
    if kind in ("circle", "ellipse"):
        radii = [_length(element, name) for name in (("r", "r") if kind == "circle" else ("rx", "ry"))]
        center = np.array([_length(element, "cx"), _length(element, "cy")])
        return _ellipse(place, center, radii) if min(radii) > 0.0 else None
    return None


def _ellipse(place: _Map, center: Floats, radii: list[float]) -> Shape:
    """The image of an ellipse under an affine map is an ellipse: its axes are singular values."""
    turn, axes, _ = np.linalg.svd(place.matrix @ np.diag(radii))
    middle = tuple(place(center[None])[0].tolist())
    if axes[0] - axes[1] <= 1e-12 * axes[0]:
        return Ball(middle, float(axes[0]))
    return Ellipsoid(middle, tuple(axes.tolist()), tuple(map(tuple, turn.tolist())))


def _length(element: ElementTree.Element, name: str) -> float:
    """A length attribute in user units, 0 if missing; other units than px are refused."""
    text = (element.get(name) or "0").strip()
    match = re.fullmatch(rf"({NUMBER})\s*+(px)?", text)
    if match is None:
        raise GeometryError(f"the length {name}={shorten(text)} has a unit; only plain numbers and px are read.")
    return float(match[1])


def _lower_left(root: ElementTree.Element) -> Floats:
    """The lower left corner of the page in its own coordinates: of its viewBox, else of its height."""
    box = [float(number) for number in re.findall(NUMBER, root.get("viewBox") or "")]
    if len(box) == 4:
        return np.array([box[0], box[1] + box[3]])
    match = re.fullmatch(rf"\s*+({NUMBER})\s*+([a-z]*+)\s*+", root.get("height") or "0")
    return np.array([0.0, float(match[1]) * PIXELS.get(match[2], 1.0) if match else 0.0])
