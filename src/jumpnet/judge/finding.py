"""The result of a solve of the defect problem: the error as a field, and measures of its reliability."""

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as default
from typing import Protocol

import numpy as np
from jaxtyping import Float, Int


class ErrorField(Protocol):
    """The error e = u - u_h as a function of a point and the piece it is seen from."""

    def value(self, x: Float[np.ndarray, "n d"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """The values of e."""
        ...

    def gradient(self, x: Float[np.ndarray, "n d"], piece: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n d"]:
        """The gradients of e."""
        ...


@dataclass(frozen=True)
class Finding:
    """The solution of the defect problem.

    `square` is the integral of e^2 over each piece, `volume` that of 1. `unresolved` is the root mean square error that
    defects outside the space (oscillating, singular, or between its integration points) may add. `change` is the change
    of e under the last refinement, relative to its norm. `singular` says that the solution has singular points,
    `exponent` how fast it changes at singular edges in space at the least (zero if that is not known).
    `reason` is empty, or a sentence that says why the error is not known; `field` may be None then. `total` is the
    integral of e over each piece. `fluxes` are the integrals of A grad e . n over interfaces, for the key (a, b) on the
    side of a and with n pointing to a, and over the parts of the boundary, n outward. `means` are the means over the
    domain of grad e (jumps included) and of A grad e; None where they were not computed.
    """

    field: ErrorField | None
    square: tuple[float, ...]
    volume: tuple[float, ...]
    unresolved: float = 0.0
    change: float = 0.0
    singular: bool = False
    unknowns: int = 0
    reason: str = ""
    total: tuple[float, ...] = ()
    fluxes: Mapping[tuple[int, int] | str, float] = default(default_factory=dict)
    means: tuple[Float[np.ndarray, " d"], Float[np.ndarray, " d"]] | None = None
    exponent: float = 0.0

    @property
    def decided(self) -> bool:
        """Whether the error is known."""
        return not self.reason

    @property
    def rms(self) -> float:
        """The root mean square of e over the domain."""
        return float(np.sqrt(sum(self.square) / sum(self.volume)))
