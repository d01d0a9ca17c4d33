"""The linear problem about a state, which each step of the iteration solves and the last solution is judged by."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.errors import JumpnetWarning
from jumpnet.fields import TensorField
from jumpnet.geometry import Partition
from jumpnet.problem import Problem, Robin, inputs
from jumpnet.problem.conditions import BoundaryData, Pair
from jumpnet.studies.nonlinear.dependent import Dependent, ValuesOnly
from jumpnet.studies.nonlinear.dependent_tensor import DependentTensor
from jumpnet.studies.nonlinear.problem import NonlinearProblem
from jumpnet.studies.nonlinear.state import State

Array = Float[np.ndarray, "..."]
# Points among which the nearest tells the piece of a boundary point that rounding has put outside.
POINTS = 2000


def linearised(problem: NonlinearProblem, state: State) -> Problem:
    """The linear problem about a state (nonlinear.py has the equations)."""
    parts, laws = inputs.partition(problem.partition), problem.laws
    reactions = [_Reaction(lam, f, p, state) for p, (lam, f) in enumerate(zip(laws.lam, laws.f, strict=True))]
    exchanges = {part: _Exchange(*law, state, parts) for part, law in laws.exchange.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JumpnetWarning)  # derivatives may be negative where the problem is sound
        return Problem(
            parts,
            A=[_tensor(entries, parts.dim, p, state) for p, entries in enumerate(laws.A)],
            lam=[one.lam() for one in reactions],
            f=[one.f() for one in reactions],
            boundary=problem.conditions | {p: Robin(_Slope(one), _Rest(one)) for p, one in exchanges.items()},
            jumps=problem.interfaces
            | {pair: replace(problem.interfaces[pair], R=_Resistance(R, pair, state)) for pair, R in laws.R.items()},
            exact=problem.exact,
            sources=problem.sources,
            K=problem.K,
            constants=problem.names,
        )


def is_linearised(problem: Problem) -> bool:
    """Whether data of a problem were evaluated at a state, so that their dependence on constants is lost."""
    exchange = [condition.alpha for condition in problem.boundary.values()]
    laws = [*problem.A, *problem.lam, *problem.f, *exchange, *(jump.R for jump in problem.jumps.values())]
    return any(isinstance(one, _Numeric | _StateTensor) for one in laws)


def _tensor(entries: TensorField | tuple[Dependent, ...], dim: int, piece: int, state: State) -> Any:
    """A of a piece at a state; numbers where it is constant."""
    if isinstance(entries, TensorField):
        return entries
    numbers = [one.number for one in entries]
    if all(number is not None for number in numbers):
        return numbers[0] if len(entries) == 1 else np.reshape(np.array(numbers, float), (dim, dim)).tolist()
    return _StateTensor(DependentTensor(entries, dim), piece, state)


class _Numeric(ValuesOnly):
    """A field that was evaluated at a state."""


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
        return self.decay.value(x, u) + self.decay.by_u(x, u) * u + self.source.by_u(x, u)


@dataclass(frozen=True, eq=False)
class _AtState(_Numeric):
    """A function of the state."""

    function: Callable[[Array], Array]

    def value(self, x: Array) -> Array:
        return self.function(x)


@dataclass(frozen=True, eq=False)
class _StateTensor(TensorField):
    """A(x, u) at a state, with div A = A_x + A_u grad u."""

    tensor: DependentTensor
    piece: int
    state: State

    def value(self, x: Array) -> Array:
        return self.tensor.value(x, self.state.value(x, self.piece))

    def divergence(self, x: Array) -> Array:
        slope = self.state.gradient(x, self.piece)
        by_x, by_u = self.tensor.slopes(x, self.state.value(x, self.piece))
        return by_x + np.einsum("nij,ni->nj", by_u, slope)

    def drift(self, x: Array) -> Array:
        """A_u grad u0."""
        by_u = self.tensor.slopes(x, self.state.value(x, self.piece))[1]
        return np.einsum("nij,nj->ni", by_u, self.state.gradient(x, self.piece))

    @property
    def is_constant(self) -> bool:
        return False


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
            slope[mine] = alpha + self.alpha.by_u(at, u) * u - self.g.by_u(at, u)
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
