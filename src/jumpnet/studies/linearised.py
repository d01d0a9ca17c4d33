"""Data that depend on u, linearised about a state: the problem that one step of the iteration solves."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.errors import JumpnetWarning, ModelError, ProblemError
from jumpnet.expressions import Expression
from jumpnet.fields import (
    CallableField,
    ConstantField,
    ExpressionField,
    Field,
    TensorField,
    finite_number,
)
from jumpnet.geometry import Partition
from jumpnet.problem import Dirichlet, Jump, Neumann, Problem, Robin, inputs
from jumpnet.problem.conditions import BoundaryData, Condition, Pair
from jumpnet.solution import Solution

Array = Float[np.ndarray, "..."]
NOTHING, CONTINUOUS = Dirichlet(0.0), Jump()
# Points among which the nearest tells the piece of a boundary point that rounding has put outside.
POINTS = 2000
VALUES_ONLY = "data that depend on u are known by their values; methods that need derivatives of them cannot be used."


class State:
    """u as known so far, piece by piece: fields, or solutions times factors; with its gradient."""

    def __init__(self, terms: Sequence[tuple[float, Solution]] = (), fields: Sequence[Field] = ()):
        self.terms, self.fields = tuple(terms), tuple(fields)
        self._kept: dict[tuple[int, bool, int], Array] = {}

    def value(self, x: Array, piece: int) -> Array:
        """u (n,) seen from a piece."""
        return self._cached(x, piece, False)

    def gradient(self, x: Array, piece: int) -> Array:
        """grad u (n, d)."""
        return self._cached(x, piece, True)

    def _cached(self, x: Array, piece: int, slope: bool) -> Array:
        """Coefficients ask for u at the same points one after the other."""
        key = piece, slope, hash(x.tobytes())
        if key not in self._kept:
            if len(self._kept) >= 8:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = self._found(x, piece, slope)
        return self._kept[key]

    def _found(self, x: Array, piece: int, slope: bool) -> Array:
        if self.fields:
            one = self.fields[piece]
            return one.gradient(x) if slope else one.value(x)
        parts = [factor * (one.grad(x, piece) if slope else one(x, piece)) for factor, one in self.terms]
        return np.sum(parts, axis=0)

    def blended(self, new: Solution, share: float) -> State:
        """This state moved by a share of the way to a solution."""
        if share == 1.0:
            return State([(1.0, new)])
        if self.fields:
            raise ModelError("the first step does not converge; give another start=, or a continuation=.")
        return State([*((factor * (1 - share), one) for factor, one in self.terms), (share, new)])


@dataclass(frozen=True, eq=False)
class Dependent:
    """A function of x and u, with its derivatives, from a number, a formula in x1, ..., u, or a callable of (x, u)."""

    field: Field
    dim: int

    @staticmethod
    def of(source: Any, dim: int, what: str, names: Mapping[str, float]) -> Dependent:
        """What the user wrote."""
        if isinstance(source, Field):
            return Dependent(_OfX(source), dim)
        if isinstance(source, str):
            return Dependent(ExpressionField(Expression.parse_in(source, _variables(dim), names, what=what)), dim)
        if callable(source):
            return Dependent(CallableField(_Joined(source, dim), dim + 1, what), dim)
        return Dependent(ConstantField(finite_number(source, what), dim + 1), dim)

    @property
    def number(self) -> float | None:
        """The number, where it is one."""
        return self.field.number if isinstance(self.field, ConstantField) else None

    @property
    def plain(self) -> bool:
        """Whether it does not depend on u."""
        if isinstance(self.field, ExpressionField):
            return self.field.expression.symbols[-1] not in self.field.expression.symbolic.free_symbols
        return isinstance(self.field, ConstantField | _OfX)

    def value(self, x: Array, u: Array) -> Array:
        """Values (n,)."""
        return self.field.value(np.column_stack([x, u]))

    def slopes(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Derivatives by x (n, d) and by u (n,)."""
        found = self.field.gradient(np.column_stack([x, u]))
        return found[:, : self.dim], found[:, self.dim]


@dataclass(frozen=True)
class _Joined:
    """A callable of (x, u) as one of (x, u) in one array."""

    function: Callable[..., Any]
    dim: int

    def __call__(self, z: Any) -> Any:
        return self.function(z[..., : self.dim], z[..., self.dim])


@dataclass(frozen=True)
class _OfX(Field):
    """A field of x as one of (x, u)."""

    inner: Field

    def value(self, x: Array) -> Array:
        return self.inner.value(x[:, :-1])

    def gradient(self, x: Array) -> Array:
        return np.column_stack([self.inner.gradient(x[:, :-1]), np.zeros(len(x))])

    def hessian(self, x: Array) -> Array:
        raise ModelError(VALUES_ONLY)

    def spec(self) -> None:
        return None


def _variables(dim: int) -> tuple[str, ...]:
    return (*(f"x{k + 1}" for k in range(dim)), "u")


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
    boundary: Condition | Mapping[str, Condition] = NOTHING
    jumps: Jump | Mapping[Pair, Jump] = CONTINUOUS
    exact: Any = None
    sources: Sequence[Any] = ()
    K: Any = 1.0
    constants: Mapping[str, float] = field(default_factory=dict)

    def with_constants(self, values: Mapping[str, float]) -> NonlinearProblem:
        """The same problem with other values of some of its constants."""
        for name in values:
            if name not in self.constants:
                known = ", ".join(map(repr, self.constants)) or "none"
                raise ProblemError(f"the problem has no constant {name!r}; its constants are: {known}.")
        return replace(self, constants={**self.constants, **values})

    def about(self, state: State) -> Problem:
        """The linear problem about a state."""
        parts, d = inputs.partition(self.partition), self.partition.dim
        names = inputs.constants(self.constants, parts)
        lam, f = (self._each(given, what, names) for given, what in ((self.lam, "lam"), (self.f, "f")))
        sources = [_Reaction(lam[p], f[p], p, state) for p in range(parts.size)]
        matrices = [self._matrix(given, p, state, names) for p, given in enumerate(_matrices(self.A, parts))]
        given = self.boundary
        given = dict.fromkeys(parts.boundary_parts, given) if not isinstance(given, Mapping) else given
        sides = {
            part: _condition(c, part, d, parts, state, names) for part, c in inputs.named_parts(given, parts).items()
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JumpnetWarning)  # derivatives may be negative where the problem is sound
            return Problem(
                parts,
                A=matrices,
                lam=[one.lam() for one in sources],
                f=[one.f() for one in sources],
                boundary=sides,
                jumps=self._jumps(parts, state, names),
                exact=self.exact,
                sources=self.sources,
                K=self.K,
                constants=names,
            )

    def _each(self, given: Any, what: str, names: Mapping[str, float]) -> list[Dependent]:
        listed = inputs.per_piece(given, self.partition, what)
        return [Dependent.of(one, self.partition.dim, f"{what} in piece {p}", names) for p, one in enumerate(listed)]

    def _matrix(self, given: Any, piece: int, state: State, names: Mapping[str, float]) -> Any:
        d, what = self.partition.dim, f"A in piece {piece}"
        if isinstance(given, TensorField):
            return given
        entries = [e for row in given for e in row] if inputs.is_list(given) else [given]
        found = [Dependent.of(entry, d, what, names) for entry in entries]
        if len(found) not in (1, d * d):
            raise ProblemError(f"{what} has {len(found)} entries; a number, a formula or a {d} x {d} matrix is wanted.")
        numbers = [one.number for one in found]
        if all(number is not None for number in numbers):
            return numbers[0] if len(found) == 1 else np.reshape(np.array(numbers, float), (d, d)).tolist()
        return _StateTensor(tuple(found), d, piece, state)

    def _jumps(self, parts: Partition, state: State, names: Mapping[str, float]) -> dict[Pair, Jump]:
        pairs = [interface.pair for interface in parts.interfaces]
        given = self.jumps if isinstance(self.jumps, Mapping) else dict.fromkeys(pairs, self.jumps)
        found = {}
        for pair, jump in given.items():
            R = Dependent.of(jump.R, parts.dim, f"R on interface {pair}", names)
            found[pair] = jump if R.plain else replace(jump, R=_Resistance(R, pair, state))
        return found


def _matrices(given: Any, parts: Partition) -> list[Any]:
    """A of each piece; a matrix is one for all."""
    whole = inputs.is_list(given) and all(inputs.is_list(row) and not any(map(inputs.is_list, row)) for row in given)
    return [given] * parts.size if whole else inputs.per_piece(given, parts, "A")


class _Numeric(Field):
    """A field known by its values."""

    def gradient(self, x: Array) -> Array:
        raise ModelError(VALUES_ONLY)

    def hessian(self, x: Array) -> Array:
        raise ModelError(VALUES_ONLY)

    def spec(self) -> None:
        return None


@dataclass(frozen=True, eq=False)
class _Reaction:
    """s = lam u + f in one piece, linearised about a state."""

    decay: Dependent
    source: Dependent
    piece: int
    state: State

    def lam(self) -> Any:
        if self.decay.plain and self.source.plain:
            return self.decay.number if self.decay.number is not None else _AtState(self._slope)
        return _AtState(self._slope)

    def f(self) -> Any:
        if self.decay.plain and self.source.plain and self.source.number is not None:
            return self.source.number
        return _AtState(lambda x: self._value(x) - self._slope(x) * self._u(x))

    def _u(self, x: Array) -> Array:
        return self.state.value(x, self.piece)

    def _value(self, x: Array) -> Array:
        u = self._u(x)
        return self.decay.value(x, u) * u + self.source.value(x, u)

    def _slope(self, x: Array) -> Array:
        u = self._u(x)
        return self.decay.value(x, u) + self.decay.slopes(x, u)[1] * u + self.source.slopes(x, u)[1]


@dataclass(frozen=True, eq=False)
class _AtState(_Numeric):
    """A function of the state."""

    function: Callable[[Array], Array]

    def value(self, x: Array) -> Array:
        return self.function(x)


@dataclass(frozen=True, eq=False)
class _StateTensor(TensorField):
    """A(x, u) at a state, with div A = A_x + A_u grad u."""

    entries: tuple[Dependent, ...]
    dim: int
    piece: int
    state: State

    def value(self, x: Array) -> Array:
        u = self.state.value(x, self.piece)
        found = np.stack([one.value(x, u) for one in self.entries], axis=1)
        if len(self.entries) == 1:
            return found[:, :, None] * np.eye(self.dim)
        return found.reshape(-1, self.dim, self.dim)

    def divergence(self, x: Array) -> Array:
        u, slope = self.state.value(x, self.piece), self.state.gradient(x, self.piece)
        total = []
        for one in self.entries:
            by_x, by_u = one.slopes(x, u)
            total.append(by_x + by_u[:, None] * slope)
        if len(total) == 1:
            return total[0]
        each = np.stack(total, axis=1).reshape(-1, self.dim, self.dim, self.dim)
        return np.einsum("niji->nj", each)

    @property
    def is_constant(self) -> bool:
        return False

    def spec(self) -> None:
        return None


@dataclass(frozen=True, eq=False)
class _Resistance(_Numeric):
    """R at the mean of both sides."""

    R: Dependent
    pair: Pair
    state: State

    def value(self, x: Array) -> Array:
        u = (self.state.value(x, self.pair[0]) + self.state.value(x, self.pair[1])) / 2
        return self.R.value(x, u)


@dataclass(frozen=True, eq=False)
class _Exchange:
    """b(x, u) = alpha u - g on a part of the boundary, linearised about a state."""

    alpha: Dependent
    g: Dependent
    state: State
    parts: Partition

    def at(self, x: Array, labels: Any) -> tuple[Array, Array]:
        """b_u and b_u u0 - b at points that bound pieces."""
        slope, rest = np.empty(len(x)), np.empty(len(x))
        for piece in np.unique(labels).tolist():
            mine = labels == piece
            at = x[mine]
            u = self.state.value(at, int(piece))
            alpha, g = self.alpha.value(at, u), self.g.value(at, u)
            slope[mine] = alpha + self.alpha.slopes(at, u)[1] * u - self.g.slopes(at, u)[1]
            rest[mine] = slope[mine] * u - alpha * u + g
        return slope, rest


@dataclass(frozen=True, eq=False)
class _Slope(_Numeric):
    """b_u; without labels, in the pieces that points are nearest to."""

    exchange: _Exchange

    def value(self, x: Array) -> Array:
        from scipy.spatial import KDTree

        parts = self.exchange.parts
        labels = np.asarray(parts.label(x)).copy()
        if (lost := labels < 0).any():  # by rounding, outside
            inside, piece = parts.sample_interior(POINTS, seed=0)
            labels[lost] = piece[KDTree(inside).query(x[lost])[1]]
        return self.seen(x, labels)

    def seen(self, x: Array, labels: Any) -> Array:
        """The same at points that bound pieces."""
        return self.exchange.at(x, labels)[0]


@dataclass(frozen=True, eq=False)
class _Rest(BoundaryData):
    """b_u u0 - b."""

    exchange: _Exchange

    def value(self, x: Array, normals: Array, labels: Any) -> Array:
        return self.exchange.at(x, labels)[1]

    def spec(self) -> None:
        return None


def _condition(
    given: Any, part: str, dim: int, parts: Partition, state: State, names: Mapping[str, float]
) -> Condition:
    """A condition linearised about a state; as it is where it does not depend on u."""
    if not isinstance(given, Neumann | Robin) or isinstance(given.g, BoundaryData):
        return given
    where = f"of {type(given).__name__} on {part!r}"
    alpha = Dependent.of(given.alpha if isinstance(given, Robin) else 0.0, dim, f"alpha {where}", names)
    g = Dependent.of(given.g, dim, f"g {where}", names)
    if alpha.plain and g.plain:
        return given
    exchange = _Exchange(alpha, g, state, parts)
    return Robin(_Slope(exchange), _Rest(exchange))
