"""Coordinates that the user writes down: any formulas of x as further inputs of a network."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from jumpnet.charts.chart import Chart, Jet
from jumpnet.errors import ModelError
from jumpnet.expressions import Expression, Recompiled

MOST = 100  # formulas; each is an input of the network
MOST_PIECES = 100_000  # the most pieces that a file may state: what is larger is damaged


@dataclass(frozen=True)
class Formulas(Recompiled, Chart):
    """Formulas of x1..xd as coordinates, beside x itself: `Formulas(["sin(4*x1)", "exp(-r**2)"], dim=2)`.

    In the place of a formula there may be a list of them, one for each piece: `[["0.5 - r", "r - 0.5"]]` is the
    distance from a circle with the slope of either side on it, which "abs(r - 0.5)" does not have. Derivatives come
    from the formulas, and a saved solution holds their texts. Scale them to about [-1, 1], as initial weights expect.
    """

    formulas: Sequence[str | Sequence[str]]
    dim: int

    def __post_init__(self) -> None:
        if isinstance(self.dim, bool) or not isinstance(self.dim, int | np.integer) or not 1 <= self.dim <= MOST:
            raise ModelError(f"dim is {self.dim!r}; give the dimension of the domain, such as 2.")
        if isinstance(self.formulas, str) or not isinstance(self.formulas, Sequence) or not self.formulas:
            raise ModelError("formulas must be a list of texts, such as ['sin(4*x1)'].")
        if len(self.formulas) > MOST:
            raise ModelError(f"there are {len(self.formulas)} formulas; at most {MOST} can be inputs of a network.")
        given = [one if isinstance(one, str) else tuple(one) for one in self.formulas]
        object.__setattr__(self, "formulas", tuple(given))
        _ = self._expressions

    @cached_property
    def _expressions(self) -> tuple[tuple[Expression, ...], ...]:
        """The formulas of each coordinate: one, or one for each piece."""

        def parsed(one: str | Sequence[str]) -> tuple[Expression, ...]:
            texts = (one,) if isinstance(one, str) else one
            if not 1 <= len(texts) <= MOST_PIECES:
                raise ModelError("a list of formulas for the pieces is empty, or too long; give one for each piece.")
            return tuple(Expression.parse(text, int(self.dim), what="a coordinate") for text in texts)

        return tuple(map(parsed, self.formulas))

    @property
    def outputs(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return len(self.formulas)

    def jet(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"], order: int = 2) -> Jet:
        n, d = x.shape
        y, first = self.values(x, cell), self._of_order(x, cell, 1)
        return y, first, self._of_order(x, cell, 2).reshape(n, -1, d, d) if order > 1 else None

    def values(self, x: Float[np.ndarray, "n d"], cell: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
        return self._of_order(x, cell, 0)[:, :, 0]

    def _of_order(self, x: np.ndarray, cell: np.ndarray, order: int) -> np.ndarray:
        """Derivatives of an order, (n, coordinates, d^order)."""
        if x.shape[1] != self.dim:
            raise ModelError(f"the coordinates are written in {self.dim} dimensions; the problem has {x.shape[1]}.")
        found = np.empty((len(x), self.outputs, x.shape[1] ** order))
        for k, of_piece in enumerate(self._expressions):
            if len(of_piece) == 1:
                found[:, k] = of_piece[0].compiled(order)(x)
                continue
            for piece in np.unique(cell).tolist():
                if piece >= len(of_piece):
                    raise ModelError(f"a coordinate has {len(of_piece)} formulas, and none for piece {piece}.")
                mine = cell == piece
                found[mine, k] = of_piece[piece].compiled(order)(x[mine])
        return found

    def spec(self) -> dict[str, Any]:
        formulas = [one if isinstance(one, str) else list(one) for one in self.formulas]
        return {"chart": "formulas", "formulas": formulas, "dim": int(self.dim)}
