"""A domain cut into pieces: labels, interfaces, outer boundary, and points on all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.geometry import checks
from jumpnet.geometry.bodies.primitives import Box, Interval
from jumpnet.geometry.bodies.specs import shape_from_spec
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.data import labelimage
from jumpnet.geometry.data.files import Source
from jumpnet.geometry.partition import sampling
from jumpnet.geometry.partition.draws import Draws
from jumpnet.geometry.partition.holes import Hole, find_holes
from jumpnet.geometry.partition.interface_detection import Pair, Trace, Wall, Walls
from jumpnet.geometry.partition.labels import Labeller
from jumpnet.geometry.partition.parts import BoundaryPart, boundary_parts, parts_from_spec
from jumpnet.geometry.partition.sides import find_sides
from jumpnet.geometry.partition.validity import check_layout, check_shapes
from jumpnet.geometry.randomness import Seed, numbers
from jumpnet.geometry.shape import Shape
from jumpnet.guard.budget import within_budget

ALIASES = {"left": "x1-", "right": "x1+", "bottom": "x2-", "top": "x2+"}
"""Sides in words, on the line and in the plane; in space conventions differ on which axis points up."""


@dataclass(frozen=True, eq=False)
class LabelImage:
    """The label image that a partition was made from."""

    cells: labelimage.Cells
    smooth: bool


@dataclass(frozen=True)
class Interface:
    """Where the pieces a < b touch, and the length or area of it (in 1-D: the number of points)."""

    pair: Pair
    measure: float


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Partition:
    """A domain and its pieces: piece i is `pieces[i-1]`, piece 0 is the rest.

    Args:
        domain: A shape.
        pieces: Shapes that do not overlap and lie in the domain; half-spaces, level sets and complements are cut off.
        names: One for each piece, piece 0 first. Wherever a piece is asked for, its name does as well as its number.
        boundary: Names for parts of the outer boundary: {"inlet": "x1 < -0.9 and x2 > 0", "die": 2}, by a condition on
            the point or by the piece that it bounds; a point belongs to the first that it meets.

    Example:
        >>> import jumpnet as jn
        >>> parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.5)], names=["plate", "disk"])
        >>> parts.size, round(parts.measure("disk"), 6)
        (2, 0.785398)
    """

    domain: Shape
    pieces: tuple[Shape, ...]
    names: tuple[str, ...]
    named: tuple[BoundaryPart, ...]
    image: LabelImage | None = field(default=None, repr=False, compare=False)

    def __init__(
        self,
        domain: Shape,
        pieces: Sequence[Shape] = (),
        names: Sequence[str] | None = None,
        *,
        boundary: Mapping[str, str | int] | None = None,
    ) -> None:
        if not isinstance(pieces, Shape | Iterable):
            raise GeometryError(f"the pieces must be a list of shapes, not {type(pieces).__name__}.")
        pieces = (pieces,) if isinstance(pieces, Shape) else tuple(pieces)
        check_shapes(domain, pieces)
        check_layout(domain, pieces)
        object.__setattr__(self, "domain", domain)
        object.__setattr__(self, "pieces", pieces)
        object.__setattr__(self, "names", _checked_names(names, len(pieces) + 1))
        if isinstance(boundary, Mapping):
            boundary = {part: self.names.index(one) if one in self.names else one for part, one in boundary.items()}
        object.__setattr__(self, "named", boundary_parts(boundary, domain.dim, len(pieces) + 1))
        sampling.check_rest(self._labeller)

    @cached_property
    def _labeller(self) -> Labeller:
        return Labeller(self.domain, self.pieces)

    @classmethod
    def chain(cls, breakpoints: ArrayLike, names: Sequence[str] | None = None) -> Partition:
        """Consecutive intervals between rising breakpoints, numbered from the left, piece 0 the first."""
        ends = checks.vector(breakpoints, "the breakpoints of a chain")
        if len(ends) < 2 or any(a >= b for a, b in pairwise(ends)):
            raise GeometryError("the breakpoints of a chain must be at least two rising numbers.")
        pieces = [Interval(a, b) for a, b in pairwise(ends[1:])]
        return cls(Interval(ends[0], ends[-1]), pieces, names)

    @classmethod
    @within_budget("the image")
    def from_labels(
        cls,
        labels: ArrayLike | Source,
        *,
        pixel: ArrayLike = 1.0,
        origin: ArrayLike | None = None,
        order: str = "image",
        background: int | None = None,
        names: labelimage.Names | None = None,
        small: str = "merge",
        smallest: int | None = None,
        smooth: bool = True,
        thresholds: ArrayLike | None = None,
    ) -> Partition:
        """The pieces of a label image in 2-D or 3-D: an array of whole numbers, or a file (NPY, PNG, TIFF).

        Each label is a piece, `background` (by default the lowest) piece 0, the others follow by number. `names` gives
        labels names, {3: "quartz"}, or names labels, {"quartz": [3, 5]}: all labels of a name are one piece. `pixel` is
        the size of a pixel or voxel, `origin` the lower corner. In the order "image" rows run from the top, then
        columns; slices, if there are any, come first; in the order "xyz" the array is indexed along x1, x2, x3. Regions
        of fewer than `smallest` pixels (12, in 3-D 60) are given to their neighbours, kept, or refused: `small` is
        "merge", "keep" or "error". Interfaces are smooth curves or surfaces, as smooth as the pixels allow; with
        smooth=False (2-D only) they are polygons. A grey image gets its labels by `thresholds`: 0 below the first, 1 up
        to the second, and so on.
        """
        cells = labelimage.read_cells(
            labels,
            pixel=pixel,
            origin=origin,
            order=order,
            background=background,
            names=names,
            small=small,
            smallest=smallest,
            thresholds=thresholds,
        )
        return cls._of_cells(cells, smooth)

    @classmethod
    def _of_cells(cls, cells: labelimage.Cells, smooth: bool) -> Partition:
        found = cls(cells.box, labelimage.pieces_of(cells, smooth), cells.names)
        return found.with_image(LabelImage(cells, smooth))

    def with_image(self, image: LabelImage | None) -> Partition:
        """The partition with the image it was made from."""
        object.__setattr__(self, "image", image)
        return self

    @property
    def pixel(self) -> tuple[float, ...] | None:
        """The size of a pixel of the label image that the pieces were made of; None where there was none."""
        image = self.image
        return None if image is None else tuple(float(length) for length in image.cells.size)

    def coarsened(self) -> Partition:
        """The pieces of the same label image at half its resolution, to estimate the error of its resolution."""
        image = self.image
        if image is None:
            raise GeometryError("the partition was not made of a label image, or it was stored since; make it anew.")
        cells = labelimage.coarsened(image.cells)
        made = Partition(cells.box, labelimage.pieces_of(cells, image.smooth), self.names)
        return made._with_parts(self.named).with_image(LabelImage(cells, image.smooth))

    def __repr__(self) -> str:
        return f"Partition({self.domain!r}, {self.size} pieces)"

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.domain.dim

    @property
    def size(self) -> int:
        """The number of pieces, piece 0 included."""
        return len(self.pieces) + 1

    @property
    def bounds(self) -> Bounds:
        """The box of the domain."""
        return self.domain.bounds

    def label(self, x: ArrayLike) -> np.ndarray:
        """The piece of each point (n,), -1 outside the domain; the domain's boundary belongs to it."""
        return self._labeller(checks.points(x, self.dim))

    # --- interfaces and outer boundary ----------------------------------------------------------------------

    @cached_property
    def walls(self) -> Walls:
        """The surfaces of all shapes, and where pieces meet on them."""
        walls = [Wall(0, patch) for patch in self.domain.patches()]
        for k, piece in enumerate(self.pieces, start=1):
            walls += [Wall(k, patch) for patch in piece.patches(self.bounds)]
        return Walls(self._labeller, tuple(walls), self.dim, sampling.STEP * self.domain.size)

    @cached_property
    def interfaces(self) -> tuple[Interface, ...]:
        """The pairs of pieces that touch, in order."""
        return tuple(Interface(pair, measure) for pair, measure in self.walls.interfaces.items())

    @cached_property
    def boundary_parts(self) -> tuple[str, ...]:
        """The names of the parts of the outer boundary: those given, then x1-, x1+, ... of a box, else "boundary"."""
        return (*(part.name for part in self.named), *(self._sides[side] for side in self._sides_left))

    @cached_property
    def _sides(self) -> tuple[str, ...]:
        """The default names of parts: the sides of a box by their walls."""
        if isinstance(self.domain, Box | Interval):
            return tuple(f"x{axis}{side}" for axis in range(1, self.dim + 1) for side in "-+")
        return ("boundary",)

    @cached_property
    def _sides_left(self) -> tuple[int, ...]:
        """The sides that named parts do not cover."""
        if not self.named:
            return tuple(range(len(self._sides)))
        seen = np.zeros(len(self._sides), bool)
        for trace in self.walls.pilot:
            outer = trace[self.walls.on_outer_boundary(trace)]
            free = ~np.any([part.holds(outer.points, outer.behind) for part in self.named], axis=0)
            seen[self._side(outer.wall[free])] = True
        return tuple(np.flatnonzero(seen).tolist())

    def reached(self, part: BoundaryPart) -> bool:
        """Whether some of the boundary belongs to a named part, as far as a survey tells."""
        k = self.named.index(part)
        walls = self.walls
        outer = [trace[walls.on_outer_boundary(trace)] for trace in walls.pilot]
        return any(np.any(self.part_of(t.points, t.wall, t.behind) == k) for t in outer if len(t))

    def _side(self, wall: np.ndarray) -> np.ndarray:
        return wall if len(self._sides) > 1 else np.zeros_like(wall)

    def part_numbers(self, x: Floats, normals: Floats, piece: np.ndarray) -> np.ndarray:
        """The part numbers (in `boundary_parts`) of points of the outer boundary with outward normals and pieces."""
        side = np.zeros(len(x), int)
        if len(self._sides) > 1:  # x1-, x1+, x2-, ...
            axis = np.argmax(np.abs(normals), axis=1)
            side = 2 * axis + (normals[np.arange(len(x)), axis] > 0)
        return self.part_of(x, side, piece)

    def part_of(self, x: Floats, wall: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """The part numbers (in `boundary_parts`) of points of the outer boundary on walls of the domain."""
        if not self.named:
            return self._side(wall)
        # A sliver that the survey of sides missed goes to the last named part.
        number = np.full(max(len(self._sides), len(self.walls.walls)), len(self.named) - 1)
        number[list(self._sides_left)] = len(self.named) + np.arange(len(self._sides_left))
        found = number[self._side(wall)]
        for k in reversed(range(len(self.named))):
            found = np.where(self.named[k].holds(x, piece), k, found)
        return found

    def part_name(self, name: str) -> str:
        """The part with a given name or, on the line and in the plane, left, right, bottom, top."""
        aliases = ALIASES if self.dim <= 2 else {}
        part = aliases.get(name, name) if isinstance(name, str) else name
        if part not in self.boundary_parts:
            known = list(self.boundary_parts) + [a for a, p in aliases.items() if p in self.boundary_parts]
            if self.dim > 2 and isinstance(name, str) and name in (*ALIASES, "front", "back"):
                raise GeometryError(
                    f"the boundary part {name!r} has a meaning in the plane only; in space name the axis and its end: "
                    f"{', '.join(known)}."
                )
            raise GeometryError(f"there is no boundary part {name!r}; the parts are {', '.join(known)}.")
        return part

    # --- measures -------------------------------------------------------------------------------------------

    def measure(self, piece: int | str) -> float:
        """Length, area or volume of a piece.

        Where no closed form is known it is sampled: to about 1e-4 of the domain's box, in space 3e-4.
        """
        return self._measures[self.piece_number(piece)]

    @cached_property
    def _measures(self) -> tuple[float, ...]:
        return sampling.measures(self._labeller)

    def piece_bounds(self, piece: int | str) -> Bounds:
        """A tight box of a piece: of its shape, or of dense samples of it."""
        return self._piece_boxes[self.piece_number(piece)]

    @cached_property
    def _piece_boxes(self) -> tuple[Bounds, ...]:
        return sampling.piece_boxes(self._labeller, self.walls)

    def holes(self, piece: int | str) -> tuple[Hole, ...]:
        """What a piece surrounds: other pieces (touching ones together) or holes of the domain. None in 1-D."""
        piece = self.piece_number(piece)
        if piece not in self._holes:
            self._holes[piece] = find_holes(piece, self._labeller, self.walls)
        return self._holes[piece]

    @cached_property
    def _holes(self) -> dict[int, tuple[Hole, ...]]:
        return {}

    # --- points ---------------------------------------------------------------------------------------------

    def sample_interior(
        self, n: int, *, seed: Seed, minimum: int = 0, method: str = "random"
    ) -> tuple[Floats, np.ndarray]:
        """`n` points uniform in the domain and their labels; a piece short of `minimum` gets some of the others'."""
        n, minimum = checks.count(n, "n"), checks.count(minimum, "minimum")
        if minimum * self.size > n:
            raise GeometryError(
                f"{n} points cannot give each of {self.size} pieces {minimum}; "
                f"ask for at least {minimum * self.size} points or a smaller minimum."
            )

        def draw() -> tuple[Floats, np.ndarray]:
            rng, quasi = numbers(method, seed, 0)
            return sampling.interior(self._labeller, n, minimum, rng, quasi, lambda k: self.piece_bounds(k))

        return self._draws.get(("interior", minimum, method), n, seed, draw)

    @cached_property
    def _draws(self) -> Draws:
        return Draws()

    def sample_boundary(
        self, n: int, *, seed: Seed, part: str | None = None, method: str = "random"
    ) -> tuple[Floats, Floats, np.ndarray, np.ndarray]:
        """`n` points uniform on the outer boundary (or a part of it): points, outward normals, labels, part
        numbers.

        Part numbers count in `boundary_parts`. In 1-D both ends are returned, whatever `n`.
        """
        walls, parts = self.walls, self.boundary_parts
        chosen = None if part is None else parts.index(self.part_name(part))

        def wanted(trace):  # type: ignore[no-untyped-def]
            found = walls.on_outer_boundary(trace)
            return found if chosen is None else found & (self.part_of(trace.points, trace.wall, trace.behind) == chosen)

        key, n = (1,) if chosen is None else (1, chosen), checks.count(n, "n")

        def draw() -> tuple[Floats, Floats, np.ndarray, np.ndarray]:
            what = "the boundary" if chosen is None else f"the part {parts[chosen]!r} of the boundary"
            trace = walls.draw(n, *numbers(method, seed, *key), wanted, what)
            return trace.points, trace.normals, trace.behind, self.part_of(trace.points, trace.wall, trace.behind)

        return self._draws.get(("boundary", chosen, method), n, seed, draw)

    @cached_property
    def boundary_survey(self) -> tuple[Floats, Floats, np.ndarray, np.ndarray]:
        """Points all over the outer boundary, as `sample_boundary` gives them; always the same."""
        every = Trace.join(self.walls.pilot)
        trace = every[self.walls.on_outer_boundary(every)]
        return trace.points, trace.normals, trace.behind, self.part_of(trace.points, trace.wall, trace.behind)

    def sample_interface(self, pair: Pair, n: int, *, seed: Seed, method: str = "random") -> tuple[Floats, Floats]:
        """`n` points uniform on the interface of the pieces a < b and unit normals pointing from b to a.

        In 1-D every point of the interface is returned once, whatever `n`.
        """
        a, b = self.interface_pair(pair)
        n = checks.count(n, "n")

        def draw() -> tuple[Floats, Floats]:
            trace = self.walls.draw_between(n, *numbers(method, seed, 2, a, b), (a, b))
            return trace.points, np.where(trace.ahead == a, 1.0, -1.0)[:, None] * trace.normals

        return self._draws.get(("interface", a, b, method), n, seed, draw)

    def sides(self, x: ArrayLike) -> tuple[np.ndarray, np.ndarray, Floats]:
        """The pieces a < b that meet at points of interfaces, and the unit normals from b to a."""
        return find_sides(checks.points(x, self.dim), self.pieces, self._labeller, sampling.STEP * self.domain.size)

    # --- storage --------------------------------------------------------------------------------------------

    def spec(self) -> dict[str, Any] | None:
        """A JSON-able description, None if a shape holds a callable."""
        domain, pieces = self.domain.spec(), [piece.spec() for piece in self.pieces]
        if domain is None or None in pieces:
            return None
        named = {"boundary": [part.spec() for part in self.named]} if self.named else {}
        return {"domain": domain, "pieces": pieces, "names": list(self.names), **named}

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Partition:
        """The partition that `spec()` described."""
        if not isinstance(spec, Mapping) or not {"domain", "pieces"} <= set(spec):
            raise GeometryError("the description of a partition needs the entries domain and pieces.")
        pieces = [shape_from_spec(piece) for piece in spec["pieces"]]
        found = cls(shape_from_spec(spec["domain"]), pieces, spec.get("names"))
        return found._with_parts(parts_from_spec(spec.get("boundary", []), found.dim, found.size))

    def _with_parts(self, named: tuple[BoundaryPart, ...]) -> Partition:
        """The partition with named parts of the boundary."""
        object.__setattr__(self, "named", named)
        return self

    # --- checks ---------------------------------------------------------------------------------------------

    def piece_number(self, piece: int | str) -> int:
        """The number of a piece that is given by its number or its name."""
        if isinstance(piece, str):
            if piece not in self.names:
                listed = ", ".join(self.names[:10])
                raise GeometryError(f"there is no piece {piece!r}; the pieces are {listed}.")
            return self.names.index(piece)
        if isinstance(piece, bool) or not isinstance(piece, int | np.integer) or not 0 <= piece < self.size:
            raise GeometryError(f"there is no piece {piece!r}; the pieces are 0 to {self.size - 1}.")
        return int(piece)

    def interface_pair(self, pair: Pair) -> Pair:
        """The interface between two pieces, given by their numbers."""
        known = self.walls.interfaces
        try:
            a, b = sorted(self.names.index(l) if l in self.names else int(l) for l in pair)
        except (TypeError, ValueError):
            raise GeometryError(f"an interface is named by a pair of pieces such as (0, 1), not {pair!r}.") from None
        if (a, b) not in known:
            listed = ", ".join(str(p) for p in list(known)[:10]) or "none"
            raise GeometryError(f"pieces {a} and {b} do not touch; the interfaces are {listed}.")
        return a, b


def _checked_names(names: Sequence[str] | None, size: int) -> tuple[str, ...]:
    if names is None:
        return tuple(f"piece {k}" for k in range(size))
    if isinstance(names, str) or len(names) != size or not all(isinstance(n, str) and n for n in names):
        raise GeometryError(f"names must hold {size} non-empty texts, one for each piece, piece 0 first.")
    for name in names:
        checks.name(name, "a piece")
    if len(set(names)) != size:
        raise GeometryError("names must differ from piece to piece.")
    return tuple(names)
