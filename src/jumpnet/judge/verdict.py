"""The verdict on an answer: its error as a field and as numbers, with their reliability."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from jumpnet.errors import SolutionError
from jumpnet.judge.finding import Finding

if TYPE_CHECKING:
    from jumpnet.solution import Solution
    from jumpnet.solution.statement import Pieces

MOST_GAIN = 1e3  # the largest factor claimed for a corrected answer


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the judge found about an answer u_h: the error e = u - u_h.

    Args:
        solution: The answer.
        finding: The error computed by finite elements, or why there is none.
        safety: The factor between the judged and the estimated error: 2, and 5 where the solution has singular points.
        seconds: The time of the judge.

    Example:
        >>> import jumpnet as jn
        >>> problem = jn.Problem(jn.Partition(jn.Interval(0, 1)), f="sin(x1)", boundary=jn.Dirichlet(0))
        >>> solution = jn.solve(problem, verify=True)
        >>> solution.verdict.decided, solution.verdict.estimate < 1e-6
        (True, True)
    """

    solution: "Solution"
    finding: Finding
    safety: float = 2.0
    seconds: float = np.nan

    @property
    def decided(self) -> bool:
        """Whether the error is known; if not, `reason` says why."""
        return self.finding.decided

    @property
    def reason(self) -> str:
        """A sentence where nothing was decided, else empty."""
        return self.finding.reason

    @property
    def rms(self) -> float:
        """The root mean square of e over the domain, as judged; nan if it was not."""
        return self.finding.rms if self.finding.field is not None else float("nan")

    @property
    def by_piece(self) -> tuple[float, ...]:
        """The root mean square of e over each piece."""
        if self.finding.field is None:
            return (float("nan"),) * self.solution.pieces
        return tuple(float(np.sqrt(s / v)) for s, v in zip(self.finding.square, self.finding.volume, strict=True))

    @property
    def unresolved(self) -> float:
        """The root mean square error that defects beyond the judge's space may add."""
        return self.finding.unresolved

    @property
    def change(self) -> float:
        """The change of e under the last refinement, relative to its size."""
        return self.finding.change

    @property
    def singular(self) -> bool:
        """Whether the solution has singular points: corners, changes of condition, jumps in boundary data."""
        return self.finding.singular

    @property
    def estimate(self) -> float:
        """The estimated bound for the root mean square error: safety times rms, plus unresolved."""
        return self.safety * self.rms + self.unresolved

    def error(self, x: ArrayLike, piece: "Pieces | None" = None) -> Float[np.ndarray, " n"]:
        """e at points (n, d)."""
        points, cell = self.solution.statement.located(x, piece)
        return self._field().value(points, np.asarray(cell, int))

    def gradient(self, x: ArrayLike, piece: "Pieces | None" = None) -> Float[np.ndarray, "n d"]:
        """The gradient of e at points (n, d)."""
        points, cell = self.solution.statement.located(x, piece)
        return self._field().gradient(points, np.asarray(cell, int))

    def error_of_integral(self, piece: int | None = None) -> float:
        """The error of the integral of u_h over a piece, or over the domain."""
        self._field()
        return float(sum(self.finding.total) if piece is None else self.finding.total[self._piece(piece)])

    def error_of_mean(self, piece: int | None = None) -> float:
        """The error of the mean of u_h over a piece, or over the domain."""
        volume = sum(self.finding.volume) if piece is None else self.finding.volume[self._piece(piece)]
        return self.error_of_integral(piece) / volume

    def error_of_net_flux(self, over: tuple[int | str, int | str] | str) -> float:
        """The error of `solution.net_flux(over)`: the flux of e, from the equations of the elements."""
        self._field()
        partition = self.solution.statement.known_partition
        number = partition.piece_number
        key = partition.part_name(over) if isinstance(over, str) else (number(over[0]), number(over[1]))
        if key not in self.finding.fluxes:
            raise SolutionError(
                f"the error of the flux over {over!r} is not known; it is for {list(self.finding.fluxes)}."
            )
        return self.finding.fluxes[key]

    def error_of_means(self) -> tuple[Float[np.ndarray, " d"], Float[np.ndarray, " d"]]:
        """The errors of the means over the domain of the gradient (with jumps) and of the flux, (d,) each."""
        self._field()
        if self.finding.means is None:
            raise SolutionError("the errors of mean gradients and fluxes are known in the plane and in space only.")
        return self.finding.means

    @property
    def corrected(self) -> "Corrected":
        """The answer plus its judged error, whose own error is smaller by the factor `corrected.gain`."""
        self._field()
        return Corrected(self)

    def __str__(self) -> str:
        if self.finding.field is None:
            return self.reason
        lines = [
            f"error      {self.rms:.2e} (root mean square), by solving for it with {self.finding.unknowns} unknowns"
        ]
        if not self.decided:
            lines.insert(0, self.reason)
        lines.append(
            f"estimate   {self.estimate:.1e}: {self.safety:g} times that"
            + (", for singular points" if self.singular else "")
            + (f", and {self.unresolved:.1e} for what these cannot resolve" if self.unresolved > 0 else "")
        )
        names = self.solution.partition.names if self.solution.partition is not None else range(self.solution.pieces)
        if len(self.by_piece) > 1:
            lines.append("by piece   " + ", ".join(f"{n}: {e:.1e}" for n, e in zip(names, self.by_piece, strict=True)))
        return "\n".join(lines)

    def _field(self):
        if self.finding.field is None:
            raise SolutionError(f"the error of this solution is not known: {self.reason}")
        return self.finding.field

    def _piece(self, piece: int) -> int:
        return self.solution.statement.known_partition.piece_number(piece)


@dataclass(frozen=True, eq=False)
class Corrected:
    """An answer plus its judged error."""

    verdict: Verdict

    def __call__(self, x: ArrayLike, piece: "Pieces | None" = None) -> Float[np.ndarray, " n"]:
        """u_h + e at points (n, d)."""
        return self.verdict.solution(x, piece) + self.verdict.error(x, piece)

    def grad(self, x: ArrayLike, piece: "Pieces | None" = None) -> Float[np.ndarray, "n d"]:
        """The gradient, (n, d)."""
        return self.verdict.solution.grad(x, piece) + self.verdict.gradient(x, piece)

    @property
    def gain(self) -> float:
        """The error of the answer over that of the corrected one, estimated from the judge's last refinement."""
        verdict = self.verdict
        left = max(verdict.change * verdict.rms + verdict.unresolved, verdict.rms / MOST_GAIN)
        return float(verdict.rms / left) if left > 0 else 1.0
