"""The outlines between the regions of a label image, as a plane map: nodes, arcs between them, and loops of arcs.

Cells are indexed [x, y] and have size one; the outside carries the label -1. A crack is the edge between two cells with
different labels. Nodes are the corners of the image and the corners of cells where three or more cracks meet; an
arc is a chain of cracks from node to node, or a closed one. Neighbours share their arcs, so that regions made of them
leave no gaps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.checks import Floats

STEPS = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
"""East, north, west, south; a left turn adds one."""
Node = tuple[int, int]
MOST_CRACKS, MOST_ARCS = 1_000_000, 10_000
"""Limits for a traced image: each crack takes some microseconds and each arc some milliseconds."""


@dataclass(frozen=True, eq=False)
class Arc:
    """Corners (m, 2) along a chain of cracks, the labels on its left and right, and its directions at both ends."""

    corners: np.ndarray
    left: int
    right: int
    leaves: int
    arrives: int

    @property
    def closed(self) -> bool:
        """Whether it ends where it begins without passing a node."""
        return self.start == self.end and self.leaves == -1

    @property
    def start(self) -> Node:
        """Its first corner."""
        return int(self.corners[0, 0]), int(self.corners[0, 1])

    @property
    def end(self) -> Node:
        """Its last corner."""
        return int(self.corners[-1, 0]), int(self.corners[-1, 1])

    @property
    def midpoints(self) -> Floats:
        """The middle of every crack."""
        return 0.5 * (self.corners[1:] + self.corners[:-1])


def trace(cells: np.ndarray) -> list[Arc]:
    """All arcs of a label image (nx, ny), those along its border included."""
    p = np.pad(cells, 1, constant_values=-1)
    a, b, c, d = p[:-1, :-1], p[1:, :-1], p[:-1, 1:], p[1:, 1:]  # around a corner: below left, below right, above ...
    cracks = np.stack([b != d, c != d, a != c, a != b], axis=2)  # going east, north, west, south of the corner
    nodes = cracks.sum(axis=2) > 2
    nodes[[0, 0, -1, -1], [0, -1, 0, -1]] = True
    _check(int(cracks.sum()) // 2, MOST_CRACKS, "edges of pixels")
    _check(int(nodes.sum()), MOST_ARCS, "corners")
    left = np.stack([d, c, a, b], axis=2)  # the cell on the left when going that way
    right = np.stack([b, d, c, a], axis=2)
    open_ = cracks.copy()
    arcs = [
        _walk(node, way, nodes, open_, left, right)
        for node in np.argwhere(nodes)
        for way in range(4)
        if open_[(*node, way)]
    ]
    for x, y, way in np.argwhere(open_):
        if open_[x, y, way]:
            arcs.append(_walk(np.array([x, y]), int(way), nodes, open_, left, right))
            _check(len(arcs), MOST_ARCS, "curves")
    return arcs


def _check(count: int, most: int, what: str) -> None:
    if count > most:
        raise GeometryError(
            f"the outlines of its regions have more than {most} {what}, the most that are followed; "
            "clean, coarsen or crop the image."
        )


def _walk(
    start: np.ndarray, way: int, nodes: np.ndarray, open_: np.ndarray, left: np.ndarray, right: np.ndarray
) -> Arc:
    """Follow cracks from a corner to the next node, or round to the corner itself; they are closed behind us."""
    x, y = int(start[0]), int(start[1])
    first, began, corners = way, bool(nodes[x, y]), [(x, y)]
    labels = int(left[x, y, way]), int(right[x, y, way])
    steps = STEPS.tolist()
    while True:
        open_[x, y, way] = False
        x, y = x + steps[way][0], y + steps[way][1]
        open_[x, y, (way + 2) % 4] = False
        corners.append((x, y))
        if nodes[x, y] or (x, y) == corners[0]:
            break
        way = int(np.flatnonzero(open_[x, y])[0])
    return Arc(np.array(corners), *labels, first if began else -1, way)


@dataclass(frozen=True)
class Side:
    """An arc with a direction: forwards as seen from the region on its left, backwards from the other."""

    arc: int
    forward: bool


def loops(arcs: list[Arc], label: int) -> list[list[Side]]:
    """The closed loops round the regions of a label, the region on the left of each.

    Where a region meets itself at a node, the sharpest left turn is taken: cells that touch at a corner only are apart.
    """
    sides = [Side(k, forward) for k, arc in enumerate(arcs) for forward in (True, False)]
    sides = [side for side in sides if (arcs[side.arc].left if side.forward else arcs[side.arc].right) == label]
    leaving: dict[Node, list[Side]] = {}
    for side in sides:
        leaving.setdefault(_ends(arcs, side)[0], []).append(side)
    found = []
    left = set(sides)
    for side in sides:
        if side not in left:
            continue
        loop = [side]
        left.discard(side)
        while not arcs[side.arc].closed:
            _, node, _, arrives = _ends(arcs, loop[-1])
            choice = [s for s in leaving[node] if s in left]
            if not choice:
                break
            loop.append(max(choice, key=lambda s: (_ends(arcs, s)[2] - arrives + 2) % 4))
            left.discard(loop[-1])
            if _ends(arcs, loop[-1])[1] == _ends(arcs, loop[0])[0] and _turns_home(arcs, loop, leaving, left):
                break
        found.append(loop)
    return found


def _turns_home(arcs: list[Arc], loop: list[Side], leaving: dict[Node, list[Side]], left: set[Side]) -> bool:
    """Whether the sharpest left turn at the node just reached leads back to the loop's first side."""
    _, node, _, arrives = _ends(arcs, loop[-1])
    choice = [s for s in leaving[node] if s in left or s == loop[0]]
    return max(choice, key=lambda s: (_ends(arcs, s)[2] - arrives + 2) % 4) == loop[0]


def _ends(arcs: list[Arc], side: Side) -> tuple[Node, Node, int, int]:
    """Start, end, direction on leaving and on arriving."""
    arc = arcs[side.arc]
    if side.forward:
        return arc.start, arc.end, arc.leaves, arc.arrives
    return arc.end, arc.start, (arc.arrives + 2) % 4, (arc.leaves + 2) % 4
