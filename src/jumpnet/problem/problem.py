"""The `Problem`: a partition, its equations, and the values of all data at any point.

div(A grad u) - lam u = f   in each piece,      [u/K] = v + R A grad u . n,  [A grad u . n] = w   on each interface,
and u = g, A grad u . n = g, alpha u + A grad u . n = g or periodic   on each part of the boundary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from jumpnet.errors import ProblemError
from jumpnet.fields import ConstantField, Field, TensorField, Values, point
from jumpnet.fields.piecewise import piecewise_values
from jumpnet.geometry import Partition
from jumpnet.guard.text import shorten
from jumpnet.problem import inputs
from jumpnet.problem.conditions import (
    Array,
    Assumed,
    BoundaryCondition,
    Condition,
    Jump,
    JumpCondition,
    Kind,
    Labels,
    Pair,
)
from jumpnet.problem.deprecated import partition_once_parts
from jumpnet.problem.sources import Data, Measured, PointSource, Singular, measured, one_number, point_sources


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Problem:
    """An elliptic interface problem, checked: div(A grad u) - lam u = f in each piece, with jumps between them.

    A value is a number, a formula in x1, x2, ..., a callable of x (n, d) written with jax.numpy, or for `A` a d x d
    matrix of numbers and formulas. One value holds for all pieces; a list has one for each piece, a mapping one for
    each name.

    Args:
        partition: The pieces, a `jn.Partition`.
        A: The coefficient, symmetric positive definite.
        lam: The coefficient of u.
        f: The right-hand side; a heat source q is f = -q.
        boundary: One condition, or a mapping from the names of parts of the boundary, "rest" for all others. Without it
            u = 0 everywhere on the boundary, with a warning.
        jumps: One `Jump`, or a mapping from pairs of pieces (a, b), a < b. Pairs that are left out have no jumps.
        div_A: The divergence of A; needed only for a callable `A` that JAX cannot differentiate.
        exact: The solution, to measure errors.
        sources: A list of `PointSource`.
        data: One or several `Data` (measured values).
        mean: The mean of u over the domain where nothing else fixes the constant: lam zero, Neumann or periodic
            conditions only and no data. It is that of `exact`, or zero, unless given, and None in all other problems.
        K: The partition coefficient (solubility) of each piece, a positive number: u/K takes the place of u in the
            jump, u_a/K_a - u_b/K_b = v + R A grad u . n. It is 1 unless given: then u itself is continuous.
        constants: Numbers by the names that formulas may use.

    `given` keeps all of that as it was.

    Example:
        >>> import jumpnet as jn
        >>> parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.5)])
        >>> problem = jn.Problem(parts, A=[1.0, "k"], boundary=jn.Dirichlet("x1"), constants={"k": 10.0})
        >>> problem.dim, sorted(problem.jumps)
        (2, [(0, 1)])
    """

    partition: Partition
    A: tuple[TensorField, ...]
    lam: tuple[Field, ...]
    f: tuple[Values, ...]
    boundary: Mapping[str, BoundaryCondition]
    jumps: Mapping[Pair, JumpCondition]
    exact: tuple[Field, ...] | None
    sources: tuple[Singular, ...]
    data: Measured | None
    mean: float | None
    K: tuple[float, ...]
    given: Mapping[str, Any]

    @partition_once_parts
    def __init__(
        self,
        partition: Partition,
        A: Any = 1.0,
        lam: Any = 0.0,
        f: Any = 0.0,
        boundary: Condition | Mapping[str, Condition] | None = None,
        jumps: Jump | Mapping[Pair, Jump] = Jump(),
        *,
        div_A: Any = None,
        exact: Any = None,
        sources: Sequence[PointSource] = (),
        data: Data | Sequence[Data] = (),
        mean: float | None = None,
        K: Any = 1.0,
        constants: Mapping[str, float] | None = None,
    ) -> None:
        from jumpnet.problem.checks import check
        from jumpnet.problem.constant import mean_of
        from jumpnet.problem.potential import partition_coefficients

        parts = inputs.partition(partition)
        boundary = inputs.stated_boundary(boundary)
        stated = {
            "partition": parts, "A": A, "lam": lam, "f": f, "boundary": boundary, "jumps": jumps, "div_A": div_A,
            "exact": exact, "sources": sources, "data": data, "mean": mean, "K": K, "constants": constants,
        }  # fmt: skip
        names = inputs.constants(constants, parts)
        matrices = inputs.matrices(A, div_A, parts, names)
        decay = inputs.fields(lam, parts, "lam", names)
        given = {
            "partition": parts,
            "A": matrices,
            "lam": decay,
            "f": inputs.values(f, parts, "f", names),
            "boundary": inputs.boundary(boundary, parts, names),
            "jumps": inputs.jumps(jumps, parts, names),
            "exact": None if exact is None else inputs.fields(exact, parts, "exact", names),
            "sources": point_sources(sources, parts, matrices, decay),
            "data": measured(data, parts),
            "mean": None if mean is None else one_number(mean, "mean"),
            "K": partition_coefficients(K, parts, names),
            "given": stated,
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "mean", mean_of(self, self.mean) if check(self) else None)

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles hold: read-only mappings cannot be pickled, plain ones can."""
        return vars(self) | {"boundary": dict(self.boundary), "jumps": dict(self.jumps)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        read_only = {name: MappingProxyType(state[name]) for name in ("boundary", "jumps")}
        vars(self).update(state | read_only)

    def with_constants(self, values: Mapping[str, float]) -> Problem:
        """The same problem with other values of some of the `constants` that its formulas use.

        Example: `jn.Problem(parts, A=[1, "k"], constants={"k": 1}).with_constants({"k": 10})`.
        """
        known = dict(self.given["constants"] or {})
        for name in values:
            if name not in known:
                listed = ", ".join(map(repr, known)) or "none"
                raise ProblemError(
                    f"the problem has no constant {shorten(name)}; its constants are: {listed}. Use the name in "
                    "formulas and give it a value, constants={...}."
                )
        stated: dict[str, Any] = dict(self.given) | {"constants": known | dict(values)}
        return Problem(**stated)

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return self.partition.dim

    def pde(self, piece: int, x: Array) -> tuple[Array, Array, Array, Array]:
        """A (n, d, d), div A (n, d), lam (n,) and f (n,) at points of one piece."""
        matrix, where = self.A[piece], f"in piece {piece}"
        return (
            finite(matrix.value(x), x, f"A {where}"),
            finite(matrix.divergence(x), x, f"div A {where}"),
            finite(self.lam[piece].value(x), x, f"lam {where}"),
            finite(self.f[piece].value(x), x, f"f {where}"),
        )

    @property
    def partitioned(self) -> bool:
        """Whether u/K, not u, is continuous where nothing else is said: some partition coefficient is not 1."""
        return any(k != 1.0 for k in self.K)

    @property
    def assumed(self) -> str:
        """What holds on the boundary because no condition was given there; empty where one was."""
        return (
            "u = 0 on the whole boundary: no condition was given" if isinstance(self.given["boundary"], Assumed) else ""
        )

    def constant_in(self, piece: int) -> bool:
        """Whether A, lam and f are constant in a piece."""
        return self.A[piece].is_constant and all(
            isinstance(field[piece], ConstantField) for field in (self.lam, self.f)
        )

    def boundary_data(self, part: str, x: Array, normals: Array, labels: Labels) -> tuple[Kind, Array, Array]:
        """The kind of condition on a part, and alpha (n,) and g (n,) of alpha u + beta A grad u . n = g."""
        name = self.partition.part_name(part)
        condition = self.boundary[name]
        seen = getattr(condition.alpha, "seen", None)  # one that depends on the piece too
        alpha = condition.alpha.value(x) if seen is None else seen(x, labels)
        alpha = finite(alpha, x, f"alpha on {name!r}")
        if condition.factor:
            alpha = alpha * np.asarray(condition.factor)[labels]
        g = finite(condition.g.value(x, normals, labels), x, f"g on {name!r}")
        return condition.kind, alpha, g

    def jump_data(self, pair: Pair, x: Array, normals: Array) -> tuple[Array, Array]:
        """v (n,) and w (n,) at points of the interface of a pair of pieces, with normals from b to a."""
        jump = self.jumps[pair]
        return (
            finite(jump.v.value(x, normals), x, f"v on interface {pair}"),
            finite(jump.w.value(x, normals), x, f"w on interface {pair}"),
        )

    def resistance(self, pair: Pair, x: Array) -> Array:
        """R (n,) at points of the interface of a pair of pieces."""
        return finite(self.jumps[pair].R.value(x), x, f"R on interface {pair}")

    def exact_values(self, x: Array, labels: Labels) -> Array:
        """The exact solution (n,) seen from the pieces given."""
        if self.exact is None:
            raise ProblemError("this problem has no exact solution; give it as exact= or use manufactured(...).")
        return piecewise_values(self.exact, x, labels)

    def potential(self, mean: float = 0.0) -> Problem:
        """The problem for w = u/K, without partition coefficients; `mean` is that of w where nothing else fixes it."""
        from jumpnet.problem.potential import potential_problem

        return potential_problem(self, mean)

    def spec(self) -> dict[str, Any]:
        """A JSON-able description; its entry "missing" names what cannot be stored (callables)."""
        from jumpnet.problem.storage import problem_spec

        return problem_spec(self)

    @staticmethod
    def from_spec(spec: dict[str, Any]) -> Problem:
        """The problem described by `spec()`; ProblemError if anything is missing."""
        from jumpnet.problem.storage import problem_from_spec

        return problem_from_spec(spec)

    def __repr__(self) -> str:
        size, faces = self.partition.size, len(self.partition.interfaces)
        return f"Problem({self.dim}-D, {size} piece{'s' * (size != 1)}, {faces} interface{'s' * (faces != 1)})"


def finite(values: Array, x: Array, what: str) -> Array:
    """The values, if all are finite."""
    good = np.isfinite(values)
    if not good.all():
        bad = ~good.reshape(x.shape[0], -1).all(axis=1)
        raise ProblemError(
            f"{what} is not finite at {int(bad.sum())} of {x.shape[0]} points, e.g. "
            f"{point(x[int(np.argmax(bad))])}; it must be finite wherever it is used."
        )
    return values
