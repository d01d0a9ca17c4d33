"""The regions of a plane label image, inside smooth curves that neighbours share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.curves import bezier
from jumpnet.geometry.curves.outline import crossing
from jumpnet.geometry.curves.path import Path
from jumpnet.geometry.curves.splines import closed_spline, open_spline
from jumpnet.geometry.data.smoothing import SHORTEST, smoothed, thinned
from jumpnet.geometry.data.tracer import Arc, Node, Side, loops, trace
from jumpnet.geometry.shape import Shape

FINE = 8
"""Chords of a segment when it is checked that curves do not cross."""
SLIDE, MOVE = 0.45, 1.0
"""How far a node may move, in pixels: along the border, and inside."""


def regions(cells: np.ndarray, size: Floats, origin: Floats, smooth: bool) -> list[Shape]:
    """The shapes of labels 1, 2, ... of an image (nx, ny) with labels from 0."""
    plan = _Map(trace(_joined(cells)), np.array(cells.shape))
    curves = plan.curves(smooth)
    shapes: list[Shape] = []
    for label in range(1, int(cells.max()) + 1):
        outlines = [np.concatenate([_run(curves, side) for side in loop]) for loop in loops(plan.arcs, label)]
        shapes.append(Path([(origin + size * outline[:, :3]).reshape(-1, 2) for outline in outlines]))
    return shapes


def _run(curves: list[Floats], side: Side) -> Floats:
    return curves[side.arc] if side.forward else bezier.turned(curves[side.arc])


def _joined(cells: np.ndarray) -> np.ndarray:
    """Pixels of one label that touch at a corner only, between two of another label, are joined.

    No curve then crosses itself. The higher label wins; that moves the outline by less than a pixel.
    """
    cells = cells.copy()
    for _ in range(64):
        a, b, c, d = cells[:-1, :-1], cells[1:, :-1], cells[:-1, 1:], cells[1:, 1:]
        x, y = np.nonzero((a == d) & (b == c) & (a != b))
        if not len(x):
            break
        higher = cells[x, y] > cells[x + 1, y]
        cells[x + higher, y] = np.maximum(cells[x, y], cells[x + 1, y])
    return cells


@dataclass(eq=False)
class _Map:
    """Arcs and where their nodes lie."""

    arcs: list[Arc]
    shape: np.ndarray
    nodes: dict[Node, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for arc in self.arcs:
            for node in (arc.start, arc.end):
                self.nodes[node] = np.array(node, dtype=np.float64)

    def curves(self, smooth: bool) -> list[Floats]:
        """The Bézier segments of every arc; less smooth where curves would cross."""
        longest = np.full(len(self.arcs), np.inf if smooth else 0.0)
        if smooth:
            self._settle_nodes()
        found = [self._curve(arc, limit) for arc, limit in zip(self.arcs, longest, strict=True)]
        for _ in range(40):
            crossed = self._crossing(found)
            if crossed is None:
                return found
            for k in crossed:
                longest[k] = 0.0 if longest[k] <= SHORTEST else min(longest[k], len(self.arcs[k].corners)) / 2.0
                found[k] = self._curve(self.arcs[k], longest[k])
        raise GeometryError("the outlines of the image's regions cannot be told apart; clean the image first.")

    def _border(self, arc: Arc) -> bool:
        return min(arc.left, arc.right) < 0

    def _points(self, arc: Arc) -> Floats:
        """The points to fit a curve to: middles of cracks, and the nodes at the ends."""
        if arc.closed:
            return arc.midpoints
        return np.concatenate([self.nodes[arc.start][None], arc.midpoints, self.nodes[arc.end][None]])

    def _settle_nodes(self) -> None:
        """Nodes go where curves that may end freely would meet; those on the border stay on it."""
        wishes: dict[Node, list[Floats]] = {}
        for arc in self.arcs:
            points = self._points(arc)
            if arc.closed or self._border(arc) or len(points) < 5:
                continue
            held = np.zeros(points.shape, dtype=bool)
            for row, node in ((0, arc.start), (-1, arc.end)):
                held[row] = (np.array(node) == 0) | (np.array(node) == self.shape)
            z, _ = smoothed(points, False, held)
            wishes.setdefault(arc.start, []).append(z[0])
            wishes.setdefault(arc.end, []).append(z[-1])
        for node, found in wishes.items():
            fixed = (np.array(node) == 0) | (np.array(node) == self.shape)
            most = SLIDE if fixed.any() else MOVE
            shift = np.clip(np.mean(found, axis=0) - node, -most, most)
            self.nodes[node] = node + np.where(fixed, 0.0, shift)

    def _curve(self, arc: Arc, longest: float) -> Floats:
        if self._border(arc):
            if arc.closed:
                raise GeometryError("an image needs at least four corners.")
            return bezier.line(self.nodes[arc.start][None], self.nodes[arc.end][None])
        points = self._points(arc)
        if len(points) < 5 or longest < SHORTEST:
            after = np.roll(points, -1, axis=0) if arc.closed else points[1:]
            return bezier.line(points if arc.closed else points[:-1], after)
        held = np.zeros(points.shape, dtype=bool)
        if not arc.closed:
            held[[0, -1]] = True
        z, wave = smoothed(points, arc.closed, held, longest)
        z = z[thinned(len(z), wave, arc.closed)]
        return closed_spline(z) if arc.closed else open_spline(z)

    def _crossing(self, curves: list[Floats]) -> tuple[int, int] | None:
        """Two arcs that cross, or one that crosses itself."""
        ends, owner = [], []
        for k, curve in enumerate(curves):
            longest = float(np.linalg.norm(curve[:, 3] - curve[:, 0], axis=1).max())
            u = np.linspace(0.0, 1.0, max(FINE, int(2.0 * longest)) + 1)  # chords of about half a pixel at most
            x = bezier.sampled(curve, u)
            ends.append(np.stack([x[:, :-1], x[:, 1:]], axis=2).reshape(-1, 2, 2))
            owner.append(np.full(len(ends[-1]), k))
        edges, of = np.concatenate(ends), np.concatenate(owner)
        found = crossing(edges[:, 0], edges[:, 1])
        return None if found is None else (int(of[found[0]]), int(of[found[1]]))
