"""What a solution knows of the problem it solves: all of it, or what a file could hold."""

from dataclasses import dataclass
from typing import Self

from jumpnet.fields import Field, TensorField
from jumpnet.geometry import Partition
from jumpnet.problem import Problem


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
