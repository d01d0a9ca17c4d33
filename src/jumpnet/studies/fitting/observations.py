"""Measured values and the corresponding predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.errors import ModelError
from jumpnet.guard.text import shorten
from jumpnet.problem import Data
from jumpnet.solution import Solution
from jumpnet.studies.family import checked_quantities, measured


@dataclass(frozen=True, eq=False)
class Observation:
    """Measured numbers and the predictions to compare them with, `weight` times.

    `sides` gives the piece that each point is seen from. Both values of a difference quotient use the same pieces:
    where a moving interface passes a point the value jumps, which is not a derivative.
    """

    value: Float[np.ndarray, " n"]
    weight: Float[np.ndarray, " n"]
    predict: Callable[[Solution, Any], Float[np.ndarray, " n"]]
    sides: Callable[[Solution], Any]


def observed(data: Any) -> Sequence[Observation]:
    """What was measured; ModelError for anything else."""
    given = [data] if isinstance(data, Data) or _is_quantity(data) else data
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise ModelError(
            f"data is {shorten(data)}; jn.Data(x, u), or a list of such and of (quantity, value) is wanted."
        )
    return [_values(one) if isinstance(one, Data) else _quantity(one) for one in given]


def _is_quantity(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) in (2, 3) and isinstance(given[1], int | float)


def _values(one: Data) -> Observation:
    x = np.asarray(one.x, float)
    x = x[:, None] if x.ndim == 1 else x
    value, weight = (np.broadcast_to(np.asarray(part, float), len(x)).copy() for part in (one.u, one.weight))
    if not (np.isfinite(x).all() and np.isfinite(value).all() and (weight > 0).all()):
        raise ModelError("data has a point, a value or a weight that is not a finite number, or a weight below 0.")

    def sides(solution: Solution) -> Any:
        return one.piece if one.piece is not None else solution.statement.located(x, None)[1]

    return Observation(value, weight, lambda solution, side: solution(x, side), sides)


def _quantity(one: Any) -> Observation:
    if not _is_quantity(one):
        raise ModelError(
            f"data has {shorten(one)}; jn.Data(x, u), (quantity, value) or (quantity, value, weight) is wanted."
        )
    quantity: Any = one[0]
    value, weight = (*one[1:], 1.0)[:2]
    checked_quantities({"data": quantity})
    number, factor = np.array([float(value)]), np.array([float(weight)])
    return Observation(number, factor, lambda solution, _: np.array([measured(solution, quantity)[0]]), lambda _: None)
