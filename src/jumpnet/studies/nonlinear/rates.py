"""Data of a problem as functions of x and one of its constants, with their derivatives by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.fields import TensorField
from jumpnet.problem import Jump, Problem, inputs
from jumpnet.problem.conditions import Pair
from jumpnet.solution import Solution
from jumpnet.studies.nonlinear.dependent import Dependent
from jumpnet.studies.nonlinear.dependent_tensor import DependentTensor
from jumpnet.studies.nonlinear.problem import matrices_of

Array = Float[np.ndarray, "..."]
# A' is a multiple of A if it differs from one by this part at most: rounding.
MULTIPLE = 1e-12
# Points of a piece at which coefficients and their derivatives are compared.
POINTS = 200


@dataclass(frozen=True, eq=False)
class Rates:
    """The data of a problem as functions of x and the constant `name`, and their derivatives by it times u."""

    problem: Problem
    name: str
    solution: Solution

    @cached_property
    def at(self) -> float:
        """The value of the constant."""
        return float(self.problem.given["constants"][self.name])

    def law(self, source: Any, what: str) -> Dependent | None:
        """A datum that uses the constant; None for any other."""
        if not isinstance(source, str):
            return None
        others = {n: v for n, v in self.problem.given["constants"].items() if n != self.name}
        found = Dependent.of(source, self.problem.dim, what, others, self.name)
        return None if found.plain else found

    def rate(self, law: Dependent | None, x: Array) -> Array:
        """The derivative of a datum by the constant."""
        return np.zeros(len(x)) if law is None else law.by_u(x, np.full(len(x), self.at))

    @cached_property
    def A(self) -> tuple[DependentTensor | None, ...]:
        """A of the pieces where it uses the constant."""
        parts, found = self.problem.partition, []
        for piece, given in enumerate(matrices_of(self.problem.given["A"], parts)):
            entries = [e for row in given for e in row] if inputs.is_list(given) else [given]
            what = f"A in piece {piece}"
            if isinstance(given, TensorField) or all(self.law(e, what) is None for e in entries):
                found.append(None)
                continue
            others = {n: v for n, v in self.problem.given["constants"].items() if n != self.name}
            laws = tuple(Dependent.of(e, parts.dim, what, others, self.name) for e in entries)
            found.append(DependentTensor(laws, parts.dim))
        return tuple(found)

    @cached_property
    def lam(self) -> tuple[Dependent | None, ...]:
        """lam of each piece."""
        return self._each("lam")

    @cached_property
    def f(self) -> tuple[Dependent | None, ...]:
        """f of each piece."""
        return self._each("f")

    def _each(self, what: str) -> tuple[Dependent | None, ...]:
        given = inputs.per_piece(self.problem.given[what], self.problem.partition, what)
        return tuple(self.law(one, f"{what} in piece {p}") for p, one in enumerate(given))

    @cached_property
    def conditions(self) -> dict[str, tuple[Dependent | None, Dependent | None]]:
        """alpha and g on each part of the boundary."""
        parts, given = self.problem.partition, self.problem.given["boundary"]
        given = given if isinstance(given, Mapping) else dict.fromkeys(parts.boundary_parts, given)
        return {
            part: (self.law(getattr(c, "alpha", 0.0), "alpha"), self.law(c.v if c.kind == "periodic" else c.g, "g"))
            for part, c in inputs.named_parts(given, parts).items()
        }

    @cached_property
    def jumps(self) -> dict[Pair, tuple[Dependent | None, ...]]:
        """v, w and R on each interface."""
        parts, given = self.problem.partition, self.problem.given["jumps"]
        if isinstance(given, Jump):
            given = dict.fromkeys(self.problem.jumps, given)
        by_number = {inputs.numbered(pair, parts): jump for pair, jump in given.items()}
        chosen = {pair: by_number.get(pair, Jump()) for pair in self.problem.jumps}
        return {pair: tuple(self.law(one, "jump") for one in (j.v, j.w, j.R)) for pair, j in chosen.items()}

    @property
    def any(self) -> bool:
        """Whether something depends on the constant."""
        laws = [*self.A, *self.lam, *self.f]
        laws += [law for pair in (*self.conditions.values(), *self.jumps.values()) for law in pair]
        return any(law is not None for law in laws)

    def tensor(self, piece: int, x: Array) -> Array:
        """A' (n, d, d)."""
        law = self.A[piece]
        d = self.problem.dim
        return np.zeros((len(x), d, d)) if law is None else law.slopes(x, np.full(len(x), self.at))[1]

    def flux(self, piece: int, x: Array, normals: Array) -> Array:
        """A' grad u . n."""
        if self.A[piece] is None:
            return np.zeros(len(x))
        return np.einsum("ni,nij,nj->n", normals, self.tensor(piece, x), self.solution.grad(x, piece))

    @cached_property
    def multiples(self) -> tuple[float | None, ...]:
        """c of each piece where A' = c A with one number c; 0 where A does not use the constant, None elsewhere."""
        parts = self.problem.partition
        x, labels = parts.sample_interior(POINTS * parts.size, seed=0, minimum=POINTS // 10, method="even")
        return tuple(self._multiple(p, x[labels == p][:POINTS]) for p in range(parts.size))

    def _multiple(self, piece: int, x: Array) -> float | None:
        if self.A[piece] is None:
            return 0.0
        c = self.factor(piece, x)
        return float(c[0]) if c is not None and np.ptp(c) <= MULTIPLE * np.abs(c).max() else None

    def factor(self, piece: int, x: Array) -> Array | None:
        """c(x) where A' = c(x) A; None where it is not."""
        A, rate = self.problem.A[piece].value(x), self.tensor(piece, x)
        c = np.trace(rate, axis1=1, axis2=2) / np.trace(A, axis1=1, axis2=2)
        good = np.abs(rate - c[:, None, None] * A).max(initial=0.0) <= MULTIPLE * np.abs(rate).max(initial=1e-300)
        return c if good else None
