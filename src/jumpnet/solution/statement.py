"""What a solution knows of the problem it solves: all of it, or what a file could hold."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from jumpnet.errors import SolutionError
from jumpnet.fields import Field, TensorField
from jumpnet.geometry import Partition
from jumpnet.guard.text import shorten
from jumpnet.problem import Problem
from jumpnet.solution.batches import labels_of

# A piece by number or name, or one for each point.
Pieces = int | str | Sequence[int] | Sequence[str] | np.ndarray


@dataclass(frozen=True, eq=False)
class Statement:
    """The problem, or those of its parts that are known without it.

    Args:
        dim: The number of dimensions.
        pieces: The number of pieces.
        partition: The geometry; None after loading a file whose geometry was a callable: then name the piece of each
            point.
        tensors: A of each piece, for fluxes; None where it is not known.
        exact: The exact solution, where it is known.
        problem: What was solved; None for a function that was approximated, and where a file could not hold it.
        missing: What of the problem a loaded file could not hold.
    """

    dim: int
    pieces: int
    partition: Partition | None
    tensors: tuple[TensorField | None, ...]
    exact: tuple[Field, ...] | None = None
    problem: Problem | None = None
    missing: tuple[str, ...] = ()

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """All of a problem."""
        partition = problem.partition
        return cls(problem.dim, partition.size, partition, problem.A, problem.exact, problem)

    @classmethod
    def of_function(cls, partition: Partition, u: tuple[Field, ...] | None) -> Self:
        """A function that is approximated, which has no equations."""
        return cls(partition.dim, partition.size, partition, (None,) * partition.size, u)

    @property
    def has_tensors(self) -> bool:
        """Whether A is known in every piece, and with it the flux."""
        return bool(self.tensors) and all(tensor is not None for tensor in self.tensors)

    def points(self, x: ArrayLike) -> Float[np.ndarray, "n d"]:
        """Points (n, d) as an array of floats; on the line (n,) will do."""
        try:
            points = np.asarray(x)
            points = points.astype(float, casting="same_kind" if points.dtype.kind == "c" else "unsafe", copy=False)
        except (TypeError, ValueError):
            raise SolutionError("the points are not real numbers; give an array of shape (n, d).") from None
        if points.ndim == 1 and self.dim == 1:
            points = points[:, None]
        if points.ndim != 2 or points.shape[1] != self.dim:
            raise SolutionError(f"the points have shape {points.shape}; give (n, {self.dim}).")
        return points

    def located(self, x: ArrayLike, piece: Pieces | None) -> tuple[np.ndarray, Int[np.ndarray, " n"]]:
        """Points and the cell each is seen from."""
        points = self.points(x)
        if piece is not None:
            cell = self._numbers_of(piece)
            if cell.dtype.kind not in "iu" and cell.size:
                raise SolutionError(f"piece is {shorten(piece)}; give a number or a name, or one for each point.")
            if cell.shape not in ((), (len(points),)):
                raise SolutionError(
                    f"{cell.size} pieces are named for {len(points)} points; give one, or one for each."
                )
            cell = np.broadcast_to(cell, len(points)).astype(np.int32)
            if cell.size and not (0 <= cell.min() and cell.max() < self.pieces):
                raise SolutionError(
                    f"piece {shorten(piece)} does not exist; pieces are numbered 0 to {self.pieces - 1}."
                )
            return points, cell
        cell = labels_of(self.known_partition, points)
        outside = cell < 0
        if outside.any():
            if not np.isfinite(points[outside]).all():
                raise SolutionError("some of the points are not finite; leave them out.")
            raise SolutionError(
                f"{int(outside.sum())} of {len(points)} points lie outside the domain, e.g. "
                f"{points[outside][0].tolist()}; leave them out, or name the piece to extend: solution(x, piece=0)."
            )
        return points, cell.astype(np.int32)

    def _numbers_of(self, piece: Pieces) -> np.ndarray:
        """Pieces by their numbers; names are looked up."""
        given = np.asarray(piece)
        if given.dtype.kind != "U":
            return given
        number_of = self.known_partition.piece_number
        return np.array([number_of(str(name)) for name in given.ravel()], int).reshape(given.shape)

    @property
    def known_partition(self) -> Partition:
        """The partition; SolutionError where it could not be stored."""
        if self.partition is None:
            raise SolutionError(
                "the geometry of this solution was a callable and could not be stored; "
                "name the piece, solution(x, piece=...), or give the problem back: solution.with_problem(problem)."
            )
        return self.partition

    def tensor(self, piece: int) -> TensorField:
        """A of a piece; SolutionError where it is not known."""
        tensor = self.tensors[piece] if piece < len(self.tensors) else None
        if tensor is None:
            raise SolutionError(
                f"A of piece {piece} is not known here (a function was approximated, or A was a callable that could "
                "not be stored); give the problem back: solution.with_problem(problem)."
            )
        return tensor
