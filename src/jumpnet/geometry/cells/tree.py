"""A tree of boxes: a box halved along all axes again and again where that was asked for.

The leaves cut the pieces of a partition into cells. Neighbouring leaves differ by at most a factor of two in size.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.geometry.checks import Floats

DEEPEST = 40
"""Levels of a tree; a box of this depth is smaller than rounding."""


class Faces(NamedTuple):
    """Where leaves meet: the leaf below and the leaf above along `axis`, and the corners of what they share."""

    low: np.ndarray
    high: np.ndarray
    axis: np.ndarray
    start: Floats
    end: Floats


@dataclass(frozen=True, eq=False)
class BoxTree:
    """Boxes from `lower` to `upper`, cut as `child` says: the number of a box's first child, -1 where it is a leaf.

    The 2^d children of a box follow each other; the first axis changes slowest.
    """

    lower: Floats
    upper: Floats
    child: np.ndarray

    @staticmethod
    def whole(lower: ArrayLike, upper: ArrayLike) -> BoxTree:
        """One box."""
        return BoxTree(np.array(lower, float), np.array(upper, float), np.array([-1]))

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return len(self.lower)

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """The depth of each box, and its place (in units of its own size) from the lower corner."""
        depth, place = np.zeros(len(self.child), int), np.zeros((len(self.child), self.dim), dtype=np.int64)
        shifts = np.stack(np.meshgrid(*[[0, 1]] * self.dim, indexing="ij"), axis=-1).reshape(-1, self.dim)
        for box in np.flatnonzero(self.child >= 0):  # children come after their box
            own = slice(self.child[box], self.child[box] + len(shifts))
            depth[own], place[own] = depth[box] + 1, 2 * place[box] + shifts
        return depth, place

    @property
    def depth(self) -> np.ndarray:
        """How often each box was halved."""
        return self._places[0]

    @cached_property
    def leaves(self) -> np.ndarray:
        """The boxes that are not cut."""
        return np.flatnonzero(self.child < 0)

    def corners(self, boxes: np.ndarray) -> tuple[Floats, Floats]:
        """Lower and upper corners of boxes."""
        depth, place = self._places
        size = (self.upper - self.lower) * 2.0 ** -depth[boxes, None]
        low = self.lower + place[boxes] * size
        return low, low + size

    def find(self, x: Floats) -> np.ndarray:
        """The leaf of each point; points outside belong to the nearest leaf."""
        scaled = np.clip((x - self.lower) / (self.upper - self.lower), 0.0, 1.0 - 1e-15)
        box, powers = np.zeros(len(x), int), 2 ** np.arange(self.dim - 1, -1, -1)
        inner = np.flatnonzero(self.child[box] >= 0)
        while len(inner):
            scaled[inner] *= 2.0
            half = scaled[inner] >= 1.0
            scaled[inner] -= half
            box[inner] = self.child[box[inner]] + half @ powers
            inner = inner[self.child[box[inner]] >= 0]
        return box

    def split(self, boxes: Iterable[int]) -> BoxTree:
        """With these leaves cut, and others as far as neighbours would else differ by more than a factor of two."""
        tree, wanted = self, np.unique(np.fromiter(boxes, int))
        while len(wanted := wanted[tree.child[wanted] < 0]):
            child = np.concatenate([tree.child, np.full(len(wanted) * 2**self.dim, -1)])
            child[wanted] = len(tree.child) + 2**self.dim * np.arange(len(wanted))
            tree = BoxTree(self.lower, self.upper, child)
            faces = tree.faces
            low, high = tree.depth[faces.low], tree.depth[faces.high]
            wanted = np.unique(np.concatenate([faces.low[low < high - 1], faces.high[high < low - 1]]))
        return tree

    @cached_property
    def faces(self) -> Faces:
        """Where leaves meet."""
        leaves, (depth, place) = self.leaves, self._places
        low, high = self.corners(leaves)
        found: list[Faces] = []
        for axis in range(self.dim):
            for side in (0, 1):
                last = 2 ** depth[leaves] - 1
                inner = place[leaves, axis] < last if side else place[leaves, axis] > 0
                mine, a, b = leaves[inner], low[inner].copy(), high[inner].copy()
                probe = (a + b) / 2
                probe[:, axis] = b[:, axis] if side else a[:, axis]
                probe[:, axis] += (1 if side else -1) * 1e-3 * (b - a)[:, axis]
                other = self.find(probe)
                # A face is the smaller leaf's; of equal ones that of the lower.
                own = (depth[other] < depth[mine]) | ((depth[other] == depth[mine]) & bool(side))
                mine, other, a, b = mine[own], other[own], a[own], b[own]
                (a if side else b)[:, axis] = (b if side else a)[:, axis]
                pair = (mine, other) if side else (other, mine)
                found.append(Faces(*pair, np.full(len(mine), axis), a, b))
        return Faces(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def spec(self) -> dict[str, Any]:
        """The tree as JSON."""
        return {"lower": self.lower.tolist(), "upper": self.upper.tolist(), "child": self.child.tolist()}

    @staticmethod
    def from_spec(spec: dict[str, Any]) -> BoxTree:
        """The tree read back; a tree that no sequence of cuts could have made is refused."""
        damaged = GeometryError("the file's tree of boxes is not one; it is damaged.")
        try:
            lower, upper = np.array(spec["lower"], float), np.array(spec["upper"], float)
            child = np.array(spec["child"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise damaged from None
        sound = lower.ndim == 1 and lower.shape == upper.shape and 1 <= len(lower) <= 3 and bool(np.all(lower < upper))
        sound = sound and bool(np.all(np.isfinite(np.concatenate([lower, upper]))))
        if not (sound and child.ndim == 1 and child.dtype.kind == "i" and np.all(child >= -1)):
            raise damaged
        # Every box but the first is the child of one before it.
        inner, count = np.flatnonzero(child >= 0), 2 ** len(lower)
        expected = 1 + count * np.arange(len(inner))
        if len(child) != 1 + count * len(inner) or not np.array_equal(np.sort(child[inner]), expected):
            raise damaged
        if np.any(child[inner] <= inner):
            raise damaged
        tree = BoxTree(lower, upper, child)
        if tree.depth.max() > DEEPEST:
            raise GeometryError(f"the file's tree of boxes is more than {DEEPEST} levels deep; it is damaged.")
        return tree


class Lines(NamedTuple):
    """Lines (or planes) between two cells of one piece in one leaf: where normal . x > offset, `beyond` is meant.

    One entry for each cell; `beyond` is -1 for those that are alone in their leaf.
    """

    beyond: np.ndarray
    normal: Floats
    offset: Floats

    @staticmethod
    def none(cells: int, dim: int) -> Lines:
        """No lines."""
        return Lines(np.full(cells, -1), np.zeros((cells, dim)), np.zeros(cells))


@dataclass(frozen=True, eq=False)
class CellMap:
    """The cell of a point that is seen from the side of a piece: table[place of its leaf, piece].

    What a leaf holds of a piece may fall apart; then a line tells which of two cells is meant.
    """

    tree: BoxTree
    table: np.ndarray
    lines: Lines

    @cached_property
    def place(self) -> np.ndarray:
        """The row of the table for each box of the tree, -1 for those that are cut."""
        place = np.full(len(self.tree.child), -1)
        place[self.tree.leaves] = np.arange(len(self.tree.leaves))
        return place

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return self.table.shape[1]

    @property
    def dim(self) -> int:
        """The number of coordinates."""
        return self.tree.dim

    def __call__(self, x: Floats, piece: np.ndarray) -> np.ndarray:
        return self.beside_line(self.table[self.place[self.tree.find(x)], piece], x)

    def beside_line(self, cell: np.ndarray, x: Floats) -> np.ndarray:
        """The cell itself, or the one beyond its line."""
        beyond, normal, offset = (part[cell] for part in self.lines)
        return np.where((beyond >= 0) & ((normal * x).sum(axis=-1) > offset), beyond, cell)

    def spec(self) -> dict[str, Any]:
        """The map as JSON."""
        lines = {name: part.tolist() for name, part in self.lines._asdict().items()}
        return {"tree": self.tree.spec(), "table": self.table.tolist(), "lines": lines}

    @staticmethod
    def from_spec(spec: dict[str, Any], cells: int) -> CellMap:
        """The map read back; it must lead to so many cells."""
        tree = BoxTree.from_spec(spec["tree"])
        table = np.array(spec["table"])
        if table.ndim != 2 or table.dtype.kind != "i" or len(table) != len(tree.leaves):
            raise GeometryError("the file's table of cells does not fit its tree of boxes; it is damaged.")
        if table.min() < 0 or table.max() >= cells:
            raise GeometryError(f"the file's table of cells names others than its {cells}; it is damaged.")
        try:
            read = spec["lines"]
            lines = Lines(np.array(read["beyond"]), np.array(read["normal"], float), np.array(read["offset"], float))
        except (KeyError, TypeError, ValueError, OverflowError):
            raise GeometryError("the file's lines between cells cannot be read; it is damaged.") from None
        shapes = [part.shape for part in lines] == [(cells,), (cells, tree.dim), (cells,)]
        if not shapes or lines.beyond.dtype.kind != "i" or not np.isfinite(np.c_[lines.normal, lines.offset]).all():
            raise GeometryError("the file's lines do not fit its cells; it is damaged.")
        if lines.beyond.min() < -1 or lines.beyond.max() >= cells:
            raise GeometryError(f"the file's lines name other cells than its {cells}; it is damaged.")
        return CellMap(tree, table, lines)
