"""Where data are sampled: smooth formulas nowhere, others by their arguments, callables on grids."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from jumpnet._precision import float64
from jumpnet.expressions import Expression
from jumpnet.expressions.roughness import rough_arguments
from jumpnet.fields import CallableField, ConstantField, ExpressionField, Values
from jumpnet.fields.tensor import CallableTensor, EntriesTensor, GivenDivergence, ScalarTensor, TensorField
from jumpnet.problem.conditions import GivenOnBoundary, GivenOnInterface
from jumpnet.problem.extrema import extrema_and_zeros, scouted
from jumpnet.problem.manufactured import DerivedFluxJump, DerivedOnBoundary, DerivedSource, DerivedValueJump
from jumpnet.problem.trees import Evaluate, Leaves, resolve

# Arguments of formulas are searched for extrema and zeros at SEARCHED points along each axis, by the number of
# parameters. At most MOST_SEEDS extrema, zeros, or places found by sampling are followed.
SEARCHED = {1: 129, 2: 33, 3: 13}
MOST_SEEDS = 24
# Callables are sampled on a sequence of grids. Each has a quarter of the boxes of the one before along each axis; the
# last one has more than SCOUTED_BELOW times the boxes of the tree's first grid.
SCOUTED_BELOW = 4
# The part of the finest grid, along each axis, on which formulas too long to be searched are sampled: they are slow.
LONG = 0.25
# The number of points per call of a callable: JAX compiles for every new number.
BATCH = 8192


@dataclass(frozen=True)
class SamplingPlan:
    """How a function is sampled: by the arguments of its formulas, or on grids where `formulas` is None.

    `sampled` is the part of the finest grid, along each axis, that is used in the latter case.
    """

    formulas: tuple[tuple[Expression, tuple[Any, ...]], ...] | None
    sampled: float = 1.0

    def leaves(
        self,
        evaluate: Evaluate,
        position: Callable[[np.ndarray], np.ndarray],
        ends: tuple[np.ndarray, np.ndarray],
        coarse: int,
        fine: int,
    ) -> Leaves:
        """The leaves of a function of parameters, whose points are at `position`."""
        if self.formulas is None:
            fine = max(int(self.sampled * fine), coarse)
            # Structure that the finest grid resolves and the tree's first boxes miss shows on one of the grids between
            # them.
            finer = [fine >> by for by in range(0, 2 * fine.bit_length(), 2) if fine >> by > SCOUTED_BELOW * coarse]
            found = [scouted(evaluate, *ends, boxes, MOST_SEEDS) for boxes in finer or [fine]]
        else:
            found = [self._searched(position, ends, *formula) for formula in self.formulas]
        return resolve(evaluate, *ends, coarse, np.concatenate(found))

    @staticmethod
    def _searched(
        position: Callable[[np.ndarray], np.ndarray],
        ends: tuple[np.ndarray, np.ndarray],
        expression: Expression,
        inner: tuple[Any, ...],
    ) -> np.ndarray:
        """Places where arguments in a formula are extreme or change their sign."""
        from jumpnet.expressions.symbolic import compile_vector

        code = compile_vector(inner, (*expression.symbols, *expression.parameters))
        numbers = tuple(expression.parameters.values())
        return extrema_and_zeros(lambda t: code(position(t), numbers), *ends, SEARCHED[len(ends[0])], MOST_SEEDS)


def sampling_plan(fields: Iterable[object], lower: np.ndarray, upper: np.ndarray) -> SamplingPlan | None:
    """The plan for functions of some fields on a box; None if all fields are known to be smooth there."""
    rough: dict[Expression, tuple[Any, ...]] = {}
    long = False
    box = tuple(np.asarray(lower).tolist()), tuple(np.asarray(upper).tolist())
    for field in elementary(fields):
        if isinstance(field, ConstantField):
            continue
        if not isinstance(field, ExpressionField):
            return SamplingPlan(None)
        inner = rough_arguments(field.expression, *box)
        if inner:
            rough[field.expression] = inner
        long = long or inner is None
    if long:
        return SamplingPlan(None, LONG)
    return SamplingPlan(tuple(rough.items())) if rough else None


def elementary(fields: Iterable[object]) -> Iterator[object]:
    """The numbers, formulas and callables that data are made of."""
    for field in fields:
        if isinstance(field, ScalarTensor):
            yield field.field
        elif isinstance(field, EntriesTensor):
            yield from field.entries
        elif isinstance(field, GivenDivergence):
            yield from elementary([field.matrix])
        elif isinstance(field, DerivedSource):
            yield from elementary([field.u, field.A, field.lam])
        elif isinstance(field, DerivedOnBoundary | DerivedValueJump | DerivedFluxJump):
            yield from elementary([*field.u, *field.A])
        elif isinstance(field, GivenOnBoundary | GivenOnInterface):
            yield field.function
        else:
            yield field


def raw_values(field: Values | TensorField) -> Callable[[np.ndarray], np.ndarray]:
    """Values of a field, whether finite or not; callables are called with BATCH points each time."""
    if not isinstance(field, CallableField | CallableTensor):
        return lambda x: quietly(field.value, x)

    def called(x: np.ndarray) -> np.ndarray:
        found = []
        with float64(), np.errstate(all="ignore"):
            for start in range(0, len(x), BATCH):
                part = x[start : start + BATCH]
                padded = np.concatenate([part, np.repeat(part[-1:], BATCH - len(part), axis=0)])
                values = np.asarray(field.function(padded), float)
                found.append(values[: len(part)] if values.ndim else np.full(len(part), values))
        return np.concatenate(found)

    return called


def key_of(field: object) -> Hashable:
    """Equal for fields that are the same function, as far as is known."""
    if isinstance(field, ConstantField):
        return field.number
    if isinstance(field, ExpressionField):
        return field.expression.text, field.expression.constants
    if isinstance(field, CallableField | CallableTensor):
        return id(field.function)
    parts = tuple(elementary([field]))
    return id(field) if parts == (field,) else (type(field).__name__, tuple(key_of(part) for part in parts))


def finite_values(values: np.ndarray) -> np.ndarray:
    """Values with nan for what is not finite."""
    return np.where(np.isfinite(values), values, np.nan)


def quietly(function: Callable[[np.ndarray], np.ndarray], values: np.ndarray) -> np.ndarray:
    """The values of a function, without warnings."""
    with np.errstate(all="ignore"):
        return function(values)
