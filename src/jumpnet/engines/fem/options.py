"""Options of the finite-element engine."""

from dataclasses import dataclass

from jumpnet.errors import ModelError


@dataclass(frozen=True)
class FEM:
    """Finite elements: `jn.solve(problem, method=jn.FEM(order=4, size=0.1))`.

    If neither `order` nor `size` is given, the mesh is refined until the tolerance is met. On the line both are always
    chosen adaptively.

    Args:
        order: The degree of the elements, from 1 to 10.
        size: The diameter of an element, in units of x.
        unknowns: The size of the largest system; by default 250,000 in the plane, 200,000 in space.
        bulk: Bisected elements hold this part of the sum of squared error indicators (Doerfler marking); 0.9 by default
            (heuristic). Smaller values take more spaces, each with fewer unknowns.

    Example:
        >>> import jumpnet as jn
        >>> problem = jn.Problem(jn.Partition(jn.Interval(0, 1), []), f=-2.0, boundary=jn.Dirichlet(0))
        >>> solution = jn.solve(problem, method=jn.FEM())  # -u'' = 2, u(0) = u(1) = 0
        >>> round(float(solution([[0.5]])[0]), 9)
        0.25
    """

    order: int | None = None
    size: float | None = None
    unknowns: int | None = None
    bulk: float = 0.9

    def __post_init__(self) -> None:
        if self.order is not None and not (isinstance(self.order, int) and 1 <= self.order <= 10):
            raise ModelError(f"order is {self.order!r}; give a whole number from 1 to 10, or leave it out.")
        if self.size is not None and not (isinstance(self.size, int | float) and 0 < self.size < float("inf")):
            raise ModelError(f"size is {self.size!r}; give the diameter of an element, or leave it out.")
        if self.unknowns is not None and not (isinstance(self.unknowns, int) and self.unknowns > 0):
            raise ModelError(f"unknowns is {self.unknowns!r}; give a positive whole number, or leave it out.")

        if not (isinstance(self.bulk, int | float) and 0 < self.bulk <= 1):
            raise ModelError(f"bulk is {self.bulk!r}; give a part between 0 and 1.")

    def most(self, dim: int) -> int:
        """The largest number of unknowns."""
        return self.unknowns or {2: 250_000}.get(dim, 200_000)
