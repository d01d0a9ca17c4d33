"""Quadrature on plane curves: Gauss's rule on the stretches that belong to what is integrated over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from math import pi
from typing import NamedTuple

import numpy as np

from jumpnet.geometry.bodies.normball import SpherePatch
from jumpnet.geometry.bodies.shell import ShellPatch, gradient, values
from jumpnet.geometry.checks import Floats
from jumpnet.geometry.curves.arc import ArcPatch, Parametrised
from jumpnet.geometry.patches import FacePatch, PlanePatch
from jumpnet.geometry.quadrature.regions import bisected, region_rules, unit_gauss
from jumpnet.geometry.quadrature.rules import ENDS, SLIVERS, Held, Quadrature, Rule
from jumpnet.geometry.shape import Patch

ORDERS = (12, 8)
"""Points of Gauss's rule on a panel: the rule, and the one it is compared with."""
DOUBT = 4.0
"""The error over the difference of both for a flux density r^(a - 1) with a = 0.3: it falls as order^(-2a)."""
PANELS = 32
"""Panels of a closed curve; its nodes at corners are ends of panels too."""
SHARP = 1e-10
"""Nodes at which 1 - cos of the angle exceeds this are corners: a smooth curve turns by far less between points that
close."""
ON = 1e-9
"""Points nearer to a curve than this part of its size are on it."""
GRADED, SHRINK = 12, 0.2
"""Panels towards a corner or the end of a stretch, each a fifth of the next: fluxes may be singular there."""
NOWHERE = np.empty((0, 2))
NEAREST, HALVED, TOUCHING = 32, 40, 1e-7
"""Of the search for places on a curve: points of a panel, bisections, and the distance, relative to the curve."""
TESTED, FINER = 64, 16
"""Points of a panel at which stretches are looked for, and by how much closer they are where none is found."""
MOST_GRADED = 200
"""On curves with more corners (outlines of images) panels are not graded towards them."""


@dataclass(frozen=True, eq=False)
class Path:
    """A curve over the parameters between its nodes (its corners among them), normals to its right times `sign`."""

    position: Callable[[Floats], Floats]
    velocity: Callable[[Floats], Floats]
    nodes: Floats
    closed: bool
    sign: float = 1.0
    corners: Floats = field(default_factory=lambda: np.empty(0))

    def at(self, t: Floats) -> tuple[Floats, Floats, Floats]:
        """Points, unit normals and speeds."""
        v = self.velocity(t)
        speed = np.linalg.norm(v, axis=1)
        with np.errstate(invalid="ignore"):
            return self.position(t), self.sign * np.stack([v[:, 1], -v[:, 0]], axis=1) / speed[:, None], speed


def path_of(patch: Patch) -> Path | None:
    """The patch as a curve, None if it is not given as one."""
    if isinstance(patch, ArcPatch):
        return _closed(patch.curve, patch.nodes, patch.orientation)
    if isinstance(patch, SpherePatch):
        center, radius = patch.center, patch.radius
        turn = np.linspace(0.0, 2.0 * pi, PANELS + 1)
        return Path(
            lambda t: center + radius * np.stack([np.cos(t), np.sin(t)], axis=1),
            lambda t: radius * np.stack([-np.sin(t), np.cos(t)], axis=1),
            turn,
            closed=True,
        )
    if isinstance(patch, FacePatch):
        start, end = patch.lower.copy(), patch.upper.copy()
        start[patch.axis] = end[patch.axis] = patch.upper[patch.axis] if patch.side > 0 else patch.lower[patch.axis]
        normal = np.zeros(2)
        normal[patch.axis] = patch.side
        return _segment(start, end, normal)
    if isinstance(patch, PlanePatch):
        return _clipped(patch)
    return None


def _closed(curve: Parametrised, nodes: Floats, orientation: float) -> Path:
    """Panels of equal numbers of nodes; corners, and the nodes that crowd at sharp turns, are ends of panels too."""
    hair = 1e-9 * (nodes[-1] - nodes[0])
    before, after = curve.velocity(np.roll(nodes[1:], 1) - hair), curve.velocity(nodes[:-1] + hair)
    with np.errstate(invalid="ignore"):
        cosine = np.sum(before * after, axis=1) / (np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1))
    steps = np.diff(nodes)
    crowded = steps < 0.6 * steps.max()
    kept = np.arange(len(nodes)) % max(len(nodes) // PANELS, 1) == 0
    kept[1:] |= crowded
    kept[:-1] |= crowded
    corner = np.append(~(cosine > 1.0 - SHARP), False)
    kept |= corner
    kept[[0, -1]] = True
    return Path(curve.position, curve.velocity, nodes[kept], True, orientation, nodes[corner])


def _segment(start: Floats, end: Floats, normal: Floats) -> Path:
    along = end - start
    right = along[1] * normal[0] - along[0] * normal[1]
    return Path(
        lambda t: start + t[:, None] * along,
        lambda t: np.broadcast_to(along, (len(t), 2)),
        np.linspace(0.0, 1.0, PANELS // 4 + 1),
        False,
        1.0 if right > 0.0 else -1.0,
        np.array([0.0, 1.0]),
    )


def _clipped(patch: PlanePatch) -> Path | None:
    """The line of a half-plane inside its box."""
    (lower, upper), unit = patch.within, patch.unit
    foot, along = patch.offset * unit, np.array([-unit[1], unit[0]])
    low, high = -np.inf, np.inf
    for k in (0, 1):
        if abs(along[k]) > 1e-14:
            a, b = sorted(((lower[k] - foot[k]) / along[k], (upper[k] - foot[k]) / along[k]))
            low, high = max(low, a), min(high, b)
    return _segment(foot + low * along, foot + high * along, unit) if low < high else None


class Known(NamedTuple):
    """What is known of a wall before it is integrated over.

    `corners` are points where stretches may begin and end, where they lie on straight parts of it. At `kinks` what is
    integrated is not smooth, and about `fine` it changes fast. Stretches longer than the part `least` of the wall are
    found, and a shorter one where `there` says that it exists.
    """

    corners: Floats = NOWHERE
    kinks: Floats = NOWHERE
    fine: Floats = NOWHERE
    least: float = 1.0
    there: bool = False


def along(path: Path, held: Held, sign: float, known: Known = Known()) -> Quadrature:
    """Gauss's rule on the stretches of a curve that belong to the integral."""

    def test(t: Floats) -> np.ndarray:
        x, normals, speed = path.at(t)
        return held(x, normals) & (speed > 0.0)

    ends, corners = _with(path, known.corners)
    kinks, fine = (_parameters(path, places) for places in (known.kinks, known.fine))
    ends, corners = np.unique(np.concatenate([ends, kinks, fine])), np.unique(np.concatenate([corners, kinks]))
    count = max(TESTED, int(np.ceil(1.0 / (known.least * (len(ends) - 1)))))
    middles, found = _tested(test, ends, count)
    if known.there and not found.any():
        middles, found = _tested(test, ends, FINER * count)
    change = np.flatnonzero(found[1:] != found[:-1])
    breaks = bisected(test, middles[change], middles[change + 1])
    cuts = np.concatenate([corners if len(corners) <= MOST_GRADED else corners[:0], breaks])
    whole = np.unique(np.concatenate([ends, breaks]))
    belongs = test((whole[:-1] + whole[1:]) / 2)
    panels = np.unique(np.concatenate([whole, *(_graded(ends, cut) for cut in cuts)]))
    start, length = panels[:-1], np.diff(panels)
    # What belongs is not tested in each panel: at a corner the smallest are below the distance at which sides are told.
    kept = (length > 1e-15 * (ends[-1] - ends[0])) & belongs[np.searchsorted(whole, start, side="right") - 1]
    rules = []
    for order in ORDERS:
        t, w = unit_gauss(order)
        x, normals, speed = path.at((start[kept, None] + length[kept, None] * t).ravel())
        rules.append(Rule(x, speed * (length[kept, None] * w).ravel(), sign * normals))
    return Quadrature(tuple(rules), relative=ENDS if len(breaks) else 0.0, doubt=DOUBT)


def _tested(test: Callable[[Floats], np.ndarray], ends: Floats, count: int) -> tuple[Floats, np.ndarray]:
    """Parameters between the nodes of a curve, `count` in each panel, and which of them belong to the integral."""
    middles = (ends[:-1, None] + np.diff(ends)[:, None] * (np.arange(count) + 0.5) / count).ravel()
    return middles, test(middles)


def _parameters(path: Path, places: Floats) -> Floats:
    """The parameters of the places that lie on a curve, by bisection about the nearest of many points of it."""
    if not len(places):
        return np.empty(0)
    t = np.concatenate(
        [np.linspace(a, b, NEAREST, endpoint=False) for a, b in pairwise(path.nodes)] + [path.nodes[-1:]]
    )
    x = path.position(t)
    off = np.stack([np.linalg.norm(x - place, axis=1) for place in places])
    at = np.argmin(off, axis=1)
    low, high = t[np.maximum(at - 1, 0)], t[np.minimum(at + 1, len(t) - 1)]
    apart = lambda s: np.linalg.norm(path.position(s) - places, axis=1)  # noqa: E731
    for _ in range(HALVED):
        middle, hair = (low + high) / 2, 1e-6 * (high - low)
        left = apart(middle - hair) < apart(middle + hair)
        low, high = np.where(left, low, middle), np.where(left, middle, high)
    found = (low + high) / 2
    return found[apart(found) <= TOUCHING * float(np.ptp(x, axis=0).max())]


def _with(path: Path, places: Floats) -> tuple[Floats, Floats]:
    """The nodes of a curve, with the places on its straight stretches, where short ones may end; and its corners."""
    start = path.nodes[:-1]
    a, middle, b = (path.position(start + share * np.diff(path.nodes)) for share in (0.0, 0.5, 1.0))
    near = ON * float(np.ptp(np.concatenate([a, b]), axis=0).max())
    straight = np.linalg.norm(middle - (a + b) / 2, axis=1) <= near
    ends = path.nodes[[0, -1]]
    found = [ends] if not path.closed or path.corners.size else []
    found += [path.corners]
    for k in np.flatnonzero(straight) if len(places) else ():
        chord = b[k] - a[k]
        share = (places - a[k]) @ chord / max(float(chord @ chord), 1e-300)
        off = np.linalg.norm(places - a[k] - share[:, None] * chord, axis=1)
        on = (off <= near) & (share > ON) & (share < 1 - ON)
        found.append(start[k] + share[on] * (path.nodes[k + 1] - start[k]))
    corners = np.unique(np.concatenate(found))
    return np.unique(np.concatenate([path.nodes, corners])), corners


def _graded(ends: Floats, cut: float) -> Floats:
    """Places that approach the end of a stretch from both sides."""
    reach = float(np.diff(ends).max()) * np.power(SHRINK, np.arange(1.0, GRADED + 1.0))
    places = np.concatenate([cut - reach, cut + reach]).astype(np.float64)
    return places[(places > ends[0]) & (places < ends[-1])]


def zero_line(patch: ShellPatch, held: Held, sign: float) -> Quadrature:
    """The zero line of a function, by the lines that cross it."""
    rules = []
    for rule in region_rules(lambda x: values(patch.field, x) < 0.0, *patch.within):
        slope = gradient(patch.field, rule.crossings)
        with np.errstate(divide="ignore", invalid="ignore"):
            normals = slope / np.linalg.norm(slope, axis=1, keepdims=True)
            weights = rule.span / np.abs(normals[np.arange(len(slope)), rule.axis.astype(int)])
        kept = np.isfinite(weights) & held(rule.crossings, normals)
        rules.append(Rule(rule.crossings[kept], weights[kept], sign * normals[kept]))
    return Quadrature(tuple(rules), relative=SLIVERS)
