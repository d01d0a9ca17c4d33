"""Problems whose data depend on u, as they are stated: `NonlinearProblem`, and its data as functions of x and u."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from jumpnet.errors import ProblemError
from jumpnet.fields import TensorField
from jumpnet.geometry import Partition
from jumpnet.problem import Jump, Neumann, Robin, inputs
from jumpnet.problem.conditions import BoundaryData, Condition, Pair
from jumpnet.studies.nonlinear.dependent import Dependent

CONTINUOUS = Jump()


@dataclass(frozen=True, eq=False)
class Laws:
    """The data of a problem that may depend on u.

    Args:
        A: The entries of A in each piece, one for a multiple of the identity; or a field of x.
        lam: lam in each piece.
        f: f in each piece.
        exchange: (alpha, g) on the parts of the boundary where one of them depends on u.
        R: The contact resistance on the interfaces where it depends on u.
    """

    A: tuple[TensorField | tuple[Dependent, ...], ...]
    lam: tuple[Dependent, ...]
    f: tuple[Dependent, ...]
    exchange: Mapping[str, tuple[Dependent, Dependent]]
    R: Mapping[Pair, Dependent]

    @property
    def held(self) -> bool:
        """Whether A or R depends on u: linear problems take them at the state, without derivatives."""
        entries = [one for A in self.A if not isinstance(A, TensorField) for one in A]
        return bool(self.R) or any(not one.plain for one in entries)


@dataclass(frozen=True, eq=False)
class NonlinearProblem:
    """An elliptic interface problem whose data may depend on u.

    The equation is div(A(x, u) grad u) - lam(x, u) u = f(x, u); `jn.solve_nonlinear` solves it. Formulas may use `u`
    besides x1, x2, ..., and callables take (x, u). Values on `Dirichlet` and `Periodic` sides, v and w may not.

    Args:
        partition: As in `Problem`.
        A: A number, formula or callable, or a matrix of these.
        lam: As in `Problem`, of u too.
        f: As in `Problem`, of u too.
        boundary: As in `Problem`; g of `Neumann`, alpha and g of `Robin` may depend on u.
        jumps: As in `Problem`; R may depend on u, the mean of both sides.
        exact: The solution, to measure errors.
        sources: As in `Problem`.
        K: As in `Problem`.
        constants: As in `Problem`.

    Example:
        >>> import jumpnet as jn
        >>> ends = {"left": jn.Dirichlet(1), "right": jn.Neumann("-u**4")}  # radiation
        >>> problem = jn.NonlinearProblem(jn.Partition(jn.Interval(0, 1)), A="1 + u", boundary=ends)
        >>> jn.solve_nonlinear(problem, start=1.0).status.name
        'CONVERGED'
    """

    partition: Partition
    A: Any = 1.0
    lam: Any = 0.0
    f: Any = 0.0
    boundary: Condition | Mapping[str, Condition] | None = None
    jumps: Jump | Mapping[Pair, Jump] = CONTINUOUS
    exact: Any = None
    sources: Sequence[Any] = ()
    K: Any = 1.0
    constants: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "boundary", inputs.stated_boundary(self.boundary))

    def with_constants(self, values: Mapping[str, float]) -> NonlinearProblem:
        """The same problem with other values of some of its constants."""
        for name in values:
            if name not in self.constants:
                known = ", ".join(map(repr, self.constants)) or "none"
                raise ProblemError(f"the problem has no constant {name!r}; its constants are: {known}.")
        return replace(self, constants={**self.constants, **values})

    @cached_property
    def names(self) -> Mapping[str, float]:
        """The constants, checked."""
        return inputs.constants(self.constants, inputs.partition(self.partition))

    @cached_property
    def conditions(self) -> dict[str, Any]:
        """The condition on each part of the boundary, as given."""
        parts, given = inputs.partition(self.partition), self.boundary
        given = dict.fromkeys(parts.boundary_parts, given) if not isinstance(given, Mapping) else given
        return inputs.named_parts(given, parts)

    @cached_property
    def interfaces(self) -> dict[Pair, Jump]:
        """The jump on each interface, as given."""
        parts = inputs.partition(self.partition)
        if isinstance(self.jumps, Mapping):
            return {inputs.numbered(pair, parts): jump for pair, jump in self.jumps.items()}
        return dict.fromkeys((interface.pair for interface in parts.interfaces), self.jumps)

    @cached_property
    def laws(self) -> Laws:
        """The data as functions of x and u; ProblemError for what is none."""
        parts = inputs.partition(self.partition)
        resistances = {pair: self._of(jump.R, f"R on interface {pair}") for pair, jump in self.interfaces.items()}
        return Laws(
            tuple(self._entries(given, p) for p, given in enumerate(matrices_of(self.A, parts))),
            self._each(self.lam, "lam"),
            self._each(self.f, "f"),
            dict(self._exchanges()),
            {pair: R for pair, R in resistances.items() if not R.plain},
        )

    def _of(self, source: Any, what: str) -> Dependent:
        return Dependent.of(source, self.partition.dim, what, self.names)

    def _each(self, given: Any, what: str) -> tuple[Dependent, ...]:
        listed = inputs.per_piece(given, self.partition, what)
        return tuple(self._of(one, f"{what} in piece {p}") for p, one in enumerate(listed))

    def _entries(self, given: Any, piece: int) -> TensorField | tuple[Dependent, ...]:
        if isinstance(given, TensorField):
            return given
        d, what = self.partition.dim, f"A in piece {piece}"
        entries = [e for row in given for e in row] if inputs.is_list(given) else [given]
        if len(entries) not in (1, d * d):
            raise ProblemError(
                f"{what} has {len(entries)} entries; a number, a formula or a {d} x {d} matrix is wanted."
            )
        return tuple(self._of(entry, what) for entry in entries)

    def _exchanges(self) -> Iterator[tuple[str, tuple[Dependent, Dependent]]]:
        """alpha and g where they depend on u."""
        for part, given in self.conditions.items():
            if not isinstance(given, Neumann | Robin) or isinstance(given.g, BoundaryData):
                continue
            where = f"of {type(given).__name__} on {part!r}"
            alpha = self._of(given.alpha if isinstance(given, Robin) else 0.0, f"alpha {where}")
            g = self._of(given.g, f"g {where}")
            if not (alpha.plain and g.plain):
                yield part, (alpha, g)


def matrices_of(given: Any, parts: Partition) -> list[Any]:
    """A of each piece; a matrix is one for all."""
    whole = inputs.is_list(given) and all(inputs.is_list(row) and not any(map(inputs.is_list, row)) for row in given)
    return [given] * parts.size if whole else inputs.per_piece(given, parts, "A")
