"""Bodies inside triangulated surfaces: Mesh.

The nearest point of a surface is found among the triangles near a point; which side the point is on, the normal of what
is nearest tells: of the triangle, of an edge (the mean of two triangles) or of a vertex (weighted by angles), which is
right for every closed surface (Baerentzen and Aanaes, 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from jumpnet.errors import GeometryError
from jumpnet.geometry import checks
from jumpnet.geometry.bodies.surface import Surface, TrianglePatch
from jumpnet.geometry.checks import Bounds, Floats
from jumpnet.geometry.shape import Patch, Shape

if TYPE_CHECKING:
    pass

MOST_FACES = 1_000_000
"""More triangles are refused (heuristic: memory of the search tree)."""


@dataclass(frozen=True, eq=False)
class Mesh(Shape):
    """The body inside a closed surface of triangles.

    Triangles run counter-clockwise seen from outside; a surface that is turned inside out is turned back.

    Args:
        vertices: An array (n, 3) of points.
        faces: An array (m, 3) of whole numbers: for each triangle, the numbers of its vertices.

    Example:
        >>> import jumpnet as jn
        >>> tip = jn.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
        >>> tip.dim
        3
    """

    vertices: Floats
    faces: np.ndarray
    _kernel: Surface = field(init=False, repr=False)

    def __post_init__(self) -> None:
        vertices, faces = _checked(self.vertices, self.faces)
        kernel = Surface(vertices, faces)
        if kernel.volume < 0.0:
            kernel = Surface(vertices, faces[:, ::-1])
        if kernel.volume <= 1e-12 * float(np.prod(np.ptp(vertices, axis=0))):
            raise GeometryError("the surface encloses no volume.")
        object.__setattr__(self, "vertices", kernel.vertices)
        object.__setattr__(self, "faces", kernel.faces)
        object.__setattr__(self, "_kernel", kernel)

    def __repr__(self) -> str:
        return f"Mesh({len(self.vertices)} vertices, {len(self.faces)} triangles)"

    @property
    def connected(self) -> bool:  # type: ignore[override]
        return self._kernel.components.max() == 0

    @property
    def dim(self) -> int:
        return 3

    @property
    def bounds(self) -> Bounds:
        return self.vertices.min(axis=0), self.vertices.max(axis=0)

    @property
    def volume(self) -> float:
        return self._kernel.volume

    def level(self, x: ArrayLike) -> Floats:
        return self._kernel.signed_distance(checks.points(x, 3))[0]

    def level_near(self, x: ArrayLike, within: float) -> Floats:
        """The signed distance where it is below `within`, nan elsewhere; much faster than all distances."""
        return self._kernel.signed_distance(checks.points(x, 3), within)[0]

    def normal(self, x: ArrayLike) -> Floats:
        return self._kernel.signed_distance(checks.points(x, 3))[1]

    def patches(self, within: Bounds | None = None) -> tuple[Patch, ...]:
        of = self._kernel.components
        corners = self.vertices[self.faces]
        return tuple(TrianglePatch(corners[of == k], self._kernel.normals[of == k]) for k in range(of.max() + 1))

    def components(self) -> list[Mesh | None]:
        """A body for each connected surface; None for those that are turned inwards, as cavities are."""
        return [self._component(k) for k in range(self._kernel.components.max() + 1)]

    def _component(self, k: int) -> Mesh | None:
        faces = self.faces[self._kernel.components == k]
        used = np.unique(faces)
        vertices, faces = self.vertices[used], np.searchsorted(used, faces)
        return Mesh(vertices, faces) if Surface(vertices, faces).volume > 0.0 else None

    @classmethod
    def together(cls, parts: Sequence[Mesh]) -> Mesh:
        """One body of several."""
        starts = np.cumsum([0, *(len(part.vertices) for part in parts[:-1])])
        faces = [part.faces + start for part, start in zip(parts, starts, strict=True)]
        return cls(np.concatenate([part.vertices for part in parts]), np.concatenate(faces))

    def spec(self) -> dict[str, Any]:
        return {"shape": "mesh", "vertices": self.vertices.tolist(), "faces": self.faces.tolist()}


def _checked(vertices: object, faces: object) -> tuple[Floats, np.ndarray]:
    """Arrays of the right kind that make a closed surface: each edge once in either direction."""
    try:
        x, f = np.asarray(vertices, dtype=np.float64), np.asarray(faces)
    except (TypeError, ValueError):
        x, f = np.empty((0, 3)), np.empty((0, 3))
    fits = x.ndim == 2 and x.shape[1] == 3 and f.ndim == 2 and f.shape[1] == 3 and f.dtype.kind in "iu"
    if not fits or len(f) < 4 or not np.all(np.isfinite(x)):
        raise GeometryError("a Mesh needs vertices (n, 3) and at least four triangles (m, 3) of whole numbers.")
    if len(f) > MOST_FACES:
        raise GeometryError(f"a Mesh may have at most {MOST_FACES} triangles, not {len(f)}; coarsen it first.")
    if f.min() < 0 or f.max() >= len(x):
        raise GeometryError(f"the triangles of a Mesh name vertex {f.max()}, but there are {len(x)} vertices.")
    f = f.astype(np.int64)
    edges = np.concatenate([f[:, [0, 1]], f[:, [1, 2]], f[:, [2, 0]]])
    codes, back = edges[:, 0] * len(x) + edges[:, 1], edges[:, 1] * len(x) + edges[:, 0]
    loose = ~np.isin(back, codes)
    if loose.any():
        a = x[edges[loose][0]].mean(axis=0)
        raise GeometryError(
            f"the surface is not closed: {int(loose.sum())} edges have a triangle on one side only (or two that run "
            f"the same way), e.g. near ({a[0]:.4g}, {a[1]:.4g}, {a[2]:.4g}); mend the mesh so that it is watertight."
        )
    _, first, count = np.unique(codes, return_index=True, return_counts=True)
    if count.max() > 1:
        a = x[edges[first[count > 1][0]]].mean(axis=0)
        raise GeometryError(
            "more than two triangles of the surface meet at an edge, "
            f"e.g. near ({a[0]:.4g}, {a[1]:.4g}, {a[2]:.4g}); mend the mesh."
        )
    used = np.unique(f)
    return x[used], np.searchsorted(used, f)
