"""A closed triangulated surface: its nearest points, signed distances and samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from jumpnet.geometry.checks import Floats
from jumpnet.geometry.randomness import Stream
from jumpnet.geometry.shape import Patch

if TYPE_CHECKING:
    from scipy.spatial import KDTree


PARTS = 20_000
"""For the search, triangles are divided until none is larger than the surface area over this number, approximately."""
CANDIDATES = 8
"""The number of nearest midpoints whose triangles are examined."""
CHUNK = 1 << 14
"""Points per batch of the search, which bounds the memory for candidates."""


@dataclass(frozen=True, eq=False)
class Surface:
    """A closed triangulated surface."""

    vertices: Floats
    faces: np.ndarray

    @cached_property
    def corners(self) -> Floats:
        """The corners of every triangle (m, 3, 3)."""
        return self.vertices[self.faces]

    @cached_property
    def volume(self) -> float:
        """Positive if normals point outwards."""
        a, b, c = self.corners.transpose(1, 0, 2)
        middle = self.vertices.mean(axis=0)
        return float(np.sum((a - middle) * np.cross(b - middle, c - middle)) / 6.0)

    @cached_property
    def components(self) -> np.ndarray:
        """The number of the connected surface of every triangle."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        f, n = self.faces, len(self.vertices)
        ends = np.concatenate([f[:, [0, 1]], f[:, [1, 2]]])
        graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
        return connected_components(graph, directed=False)[1][f[:, 0]]

    @cached_property
    def normals(self) -> Floats:
        """Unit normals of triangles (m, 3); zero for those without area."""
        a, b, c = self.corners.transpose(1, 0, 2)
        return _unit(np.cross(b - a, c - a))

    @cached_property
    def _feature_normals(self) -> Floats:
        """(m, 7, 3): of each triangle, its three edges (ab, bc, ca) and its three vertices."""
        f, n = self.faces, len(self.vertices)
        result = np.zeros((len(f), 7, 3))
        result[:, 0] = self.normals
        pairs = np.stack([f, np.roll(f, -1, axis=1)], axis=2)
        codes = pairs[..., 0] * n + pairs[..., 1]
        flat, back = codes.ravel(), (pairs[..., 1] * n + pairs[..., 0]).ravel()
        sorted_ = np.argsort(flat)
        other = sorted_[np.searchsorted(flat[sorted_], back)] // 3
        result[:, 1:4] = _unit(self.normals[:, None] + self.normals[other].reshape(-1, 3, 3))
        around = np.zeros((n, 3))
        for k in range(3):
            u = _unit(self.corners[:, (k + 1) % 3] - self.corners[:, k])
            v = _unit(self.corners[:, (k + 2) % 3] - self.corners[:, k])
            angle = np.arccos(np.clip(np.sum(u * v, axis=1), -1.0, 1.0))
            np.add.at(around, f[:, k], angle[:, None] * self.normals)
        result[:, 4:7] = _unit(around)[f]
        return result

    @cached_property
    def _search(self) -> tuple[KDTree, np.ndarray]:
        """A tree of midpoints of parts of triangles, and the triangle of each part."""
        from scipy.spatial import KDTree

        parts, owner = self.corners, np.arange(len(self.faces))
        areas = np.linalg.norm(np.cross(parts[:, 1] - parts[:, 0], parts[:, 2] - parts[:, 0]), axis=1)
        largest = areas.sum() / PARTS
        for _ in range(12):  # the longest edge is halved until the part is small
            area = np.linalg.norm(np.cross(parts[:, 1] - parts[:, 0], parts[:, 2] - parts[:, 0]), axis=1)
            big = area > largest
            if not big.any():
                break
            p = parts[big]
            lengths = np.linalg.norm(np.roll(p, -1, axis=1) - p, axis=2)
            turn = (np.argmax(lengths, axis=1)[:, None] + np.arange(3)) % 3
            p = np.take_along_axis(p, turn[:, :, None], axis=1)
            middle = 0.5 * (p[:, 0] + p[:, 1])
            halves = [np.stack([p[:, 0], middle, p[:, 2]], axis=1), np.stack([middle, p[:, 1], p[:, 2]], axis=1)]
            parts = np.concatenate([parts[~big], *halves])
            owner = np.concatenate([owner[~big], owner[big], owner[big]])
        return KDTree(parts.mean(axis=1)), owner

    def signed_distance(self, x: Floats, within: float = np.inf) -> tuple[Floats, Floats]:
        """Distances (n,), negative inside, and the normals (n, 3) of the nearest triangles, nan at their edges.

        Farther away than `within`, both are nan.
        """
        found = [self._chunk(x[start : start + CHUNK], within) for start in range(0, max(len(x), 1), CHUNK)]
        return np.concatenate([d for d, _ in found]), np.concatenate([n for _, n in found])

    def _chunk(self, every: Floats, within: float) -> tuple[Floats, Floats]:
        tree, owner = self._search
        count = min(CANDIDATES, len(owner))
        found = np.asarray(tree.query(np.nan_to_num(every), k=count, distance_upper_bound=within)[1])
        found = found.reshape(len(every), count)
        seen = found[:, 0] < len(owner)
        x, found = every[seen], found[seen]
        result = np.full(len(every), np.nan), np.full((len(every), 3), np.nan)
        if not len(x):
            return result
        near = owner[np.where(found < len(owner), found, found[:, :1])]
        foot, feature = _nearest(np.repeat(x, count, axis=0), self.corners[near.ravel()])
        offset = x[:, None] - foot.reshape(len(x), count, 3)
        distance = np.linalg.norm(offset, axis=2)
        best = np.argmin(distance, axis=1)
        row = np.arange(len(x))
        triangle, kind = near[row, best], feature.reshape(len(x), count)[row, best]
        side = np.sum(offset[row, best] * self._feature_normals[triangle, kind], axis=1)
        distance = distance[row, best] * np.where(side < 0.0, -1.0, 1.0)
        result[0][seen], result[1][seen] = distance, np.where((kind == 0)[:, None], self.normals[triangle], np.nan)
        return result


def _nearest(x: Floats, corners: Floats) -> tuple[Floats, np.ndarray]:
    """The nearest points of triangles (n, 3, 3), and where they lie: 0 inside, 1-3 on an edge, 4-6 at a vertex."""
    a, edge = corners, np.roll(corners, -1, axis=1) - corners
    normal = np.cross(edge[:, 0], -edge[:, 2])
    square = np.maximum(np.sum(normal * normal, axis=1), 1e-300)
    gap = x[:, None] - a
    inner = np.all(np.einsum("nki,nki->nk", np.cross(normal[:, None], edge), gap) > 0.0, axis=1)
    plane = x - (np.sum(gap[:, 0] * normal, axis=1) / square)[:, None] * normal
    share = np.sum(gap * edge, axis=2) / np.maximum(np.sum(edge * edge, axis=2), 1e-300)
    share = np.clip(share, 0.0, 1.0)
    on_edge = a + share[..., None] * edge
    best = np.argmin(np.linalg.norm(on_edge - x[:, None], axis=2), axis=1)
    row = np.arange(len(x))
    at = share[row, best]
    feature = np.where(at <= 0.0, 4 + best, np.where(at >= 1.0, 4 + (best + 1) % 3, 1 + best))
    return np.where(inner[:, None], plane, on_edge[row, best]), np.where(inner, 0, feature)


def _unit(v: Floats) -> Floats:
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300)


@dataclass(frozen=True, eq=False)
class TrianglePatch(Patch):
    """Triangles (m, 3, 3) with their normals, sampled uniformly in area."""

    corners: Floats
    normals: Floats
    closed: ClassVar[bool] = True

    @cached_property
    def _areas(self) -> Floats:
        a, b, c = self.corners.transpose(1, 0, 2)
        return np.cumsum(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))

    @property
    def measure(self) -> float:
        return float(self._areas[-1])

    def sample(self, n: int, rng: np.random.Generator, quasi: bool = False) -> tuple[Floats, Floats]:
        u = Stream(3, rng, quasi).draw(n)
        k = np.minimum(np.searchsorted(self._areas, u[:, 0] * self._areas[-1], side="right"), len(self._areas) - 1)
        a, b, c = self.corners[k].transpose(1, 0, 2)
        r = np.sqrt(u[:, 1:2])  # uniform in the triangle
        return a + r * ((1.0 - u[:, 2:]) * (b - a) + u[:, 2:] * (c - a)), self.normals[k]
