"""What the seeds of a table's line amount to, beside the paper's numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jumpnet.experiments.tables import Outcome, Row


@dataclass(frozen=True)
class Summary:
    """Means over seeds; ratios are ours over the paper's, None where the paper has no number."""

    row: Row
    outcomes: tuple[Outcome, ...]

    @property
    def l2(self) -> float:
        """The mean L2 error."""
        return float(np.mean([o.errors.l2 for o in self.outcomes]))

    @property
    def linf(self) -> float:
        """The mean largest error."""
        return float(np.mean([o.errors.linf for o in self.outcomes]))

    @property
    def l2_ratio(self) -> float | None:
        """The mean L2 error over the paper's: below 1 is better than the paper."""
        return None if self.row.l2 is None else self.l2 / self.row.l2

    @property
    def linf_ratio(self) -> float | None:
        """The mean largest error over the paper's."""
        return None if self.row.linf is None else self.linf / self.row.linf

    @property
    def worst_ratio(self) -> float | None:
        """The worst seed over the paper's mean, in L2 or Linf, whichever compares worse."""
        if self.row.l2 is None or self.row.linf is None:
            return None
        return max(max(o.errors.l2 / self.row.l2, o.errors.linf / self.row.linf) for o in self.outcomes)

    @property
    def steps(self) -> float:
        """The mean number of steps."""
        return float(np.mean([o.steps for o in self.outcomes]))

    @property
    def seconds(self) -> float:
        """The time of all seeds."""
        return float(np.sum([o.seconds for o in self.outcomes]))

    @property
    def converged(self) -> int:
        """How many seeds reached the tolerance."""
        return sum(o.status.ok for o in self.outcomes)

    def record(self) -> dict[str, str | int | float | None]:
        """One line of a results file."""
        row = self.row
        return {
            "table": row.table,
            "pieces": row.pieces,
            "method": row.method,
            "label": row.label,
            "D": row.dim,
            "parameters": row.parameters,
            "seeds": len(self.outcomes),
            "converged": self.converged,
            "L2": self.l2,
            "Linf": self.linf,
            "paper_L2": row.l2,
            "paper_Linf": row.linf,
            "L2_ratio": self.l2_ratio,
            "Linf_ratio": self.linf_ratio,
            "worst_ratio": self.worst_ratio,
            "steps": self.steps,
            "seconds": self.seconds,
        }

    def seeds(self) -> list[dict[str, str | int | float]]:
        """One line for each seed."""
        return [
            {
                "seed": seed,
                "L2": o.errors.l2,
                "Linf": o.errors.linf,
                "status": o.status.name.lower(),
                "steps": o.steps,
                "seconds": o.seconds,
            }
            for seed, o in enumerate(self.outcomes)
        ]


def summarise(row: Row, outcomes: Sequence[Outcome]) -> Summary:
    """The summary of a line's outcomes, seed 0 first."""
    return Summary(row, tuple(outcomes))
