"""Finite elements as features of a solution: the function of each piece is one frozen feature with weight one."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from jumpnet.errors import SolutionError
from jumpnet.fe.field import Field, Located
from jumpnet.fe.line import LineExpansion
from jumpnet.fe.voxel import VoxelField, VoxelFunction
from jumpnet.models.frozen import Frozen
from jumpnet.models.system import Network
from jumpnet.rows import Sites

# Of an element: how far beyond its piece a point may lie, as those of a curved interface do beyond straight elements.
BEYOND = 0.3
# Of the domain: small elements may have points farther beyond them, where a mesh follows curves less closely than that.
ASTRAY = 1e-3


@dataclass(frozen=True, eq=False)
class FieldFunction:
    """The function of one piece of finite elements on a fitted mesh, from plain arrays."""

    field: Field
    piece: int
    inputs: int
    size: int = 1

    def functionals(self, sites: Sites) -> Float[np.ndarray, "sites functions"]:
        """a0 u + a1 . grad u at every site."""
        x, a0, a1 = (np.asarray(part, float) for part in (sites.x, sites.a0, sites.a1))
        if sites.order > 1 and np.any(sites.a2):
            raise SolutionError("second derivatives of finite elements are not known; ask for values and gradients.")
        at = located(self.field, x, np.full(len(x), self.piece))
        found = a0 * self.field.value_at(at)
        if np.any(a1):
            found = found + np.sum(a1 * self.field.gradient_at(at), axis=1)
        return found[:, None]


@dataclass(frozen=True, eq=False)
class PieceFields:
    """A field of which each piece's solution is a multiple, evaluated for many points of all pieces at once."""

    field: Field
    factor: Float[np.ndarray, " pieces"]

    def value(self, x: Float[np.ndarray, "n d"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The values at points seen from pieces."""
        return self.factor[piece] * self.field.value_at(located(self.field, x, piece))

    def gradient(self, x: Float[np.ndarray, "n d"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n d"]:
        """The gradients."""
        return self.factor[piece][:, None] * self.field.gradient_at(located(self.field, x, piece))


def fields_of(network: Network | Frozen, theta: Float[np.ndarray, " pieces"]) -> PieceFields | None:
    """The field of a network whose features are one field, piece by piece; None of any other."""
    families = _one_of_each(network)
    ours = [family for family in families if isinstance(family, FieldFunction)]
    if not ours or len(ours) < len(families):
        return None
    if any(family.field is not ours[0].field or family.piece != piece for piece, family in enumerate(ours)):
        return None
    return PieceFields(ours[0].field, np.asarray(theta, float))


def voxels_of(network: Network | Frozen) -> VoxelField | None:
    """The finite volumes that are the features of a network; None of any other."""
    families = _one_of_each(network)
    return families[0].field if families and isinstance(families[0], VoxelFunction) else None


def line_of(network: Network | Frozen) -> LineExpansion | None:
    """The finite elements on a line that are the features of a network; None of any other."""
    families = _one_of_each(network)
    return families[0].expansion if families and isinstance(families[0], LineFunction) else None


def _one_of_each(network: Network | Frozen) -> list[object]:
    """The one family of functions that each piece has; none where a piece has several, or is cut into cells."""
    expansion = network.expansion
    features = expansion.of_cell if expansion is not None and expansion.cut is None else ()
    families: list[object] = [one.parts[0][1] for one in features if len(one.parts) == 1]
    return families if len(families) == len(features) else []


def located(field: Field, x: Float[np.ndarray, "n d"], piece: Int[np.ndarray, " n"]) -> Located:
    """Where points are in the elements of their pieces; SolutionError for points that are in none and near none."""
    at = field.locate(x, piece)
    beyond = at.outside > BEYOND
    if beyond.any():
        far = beyond & (at.outside * field.mesh.size[at.element] > ASTRAY * float(np.ptp(field.mesh.nodes)))
        lost = np.flatnonzero(far)
        if len(lost):
            raise SolutionError(
                f"{len(lost)} points are not in piece {piece[lost[0]]}, e.g. {x[lost[0]].tolist()}; finite elements "
                "are known in their piece and on its boundary only."
            )
        return Located(at.element, np.where(beyond[:, None], _within(at.xi), at.xi), at.outside)
    return at


def _within(xi: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """Points moved into the reference simplex: polynomials extrapolate badly."""
    inside = np.maximum(xi, 0.0)
    return inside / np.maximum(inside.sum(axis=1, keepdims=True), 1.0)


@dataclass(frozen=True, eq=False)
class LineFunction:
    """The function of one piece of finite elements on the line."""

    expansion: LineExpansion
    piece: int
    inputs: int = 1
    size: int = 1

    def functionals(self, sites: Sites) -> Float[np.ndarray, "sites functions"]:
        """a0 u + a1 u' + a2 u'' at every site."""
        x, a0, a1, a2 = (np.asarray(part, float) for part in (sites.x, sites.a0, sites.a1, sites.a2))
        piece = np.full(len(x), self.piece)
        found = a0 * self.expansion.value(x, piece)
        if np.any(a1):
            found = found + a1[:, 0] * self.expansion.gradient(x, piece)[:, 0]
        if sites.order > 1 and np.any(a2):
            found = found + a2[:, 0, 0] * self.expansion.hessian(x, piece)[:, 0, 0]
        return found[:, None]
