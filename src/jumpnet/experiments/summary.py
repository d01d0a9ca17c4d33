"""Summaries of the trials of a row, beside the paper's numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jumpnet.experiments.tables import TRAINED, Row
from jumpnet.experiments.trial import Record, Setting

# A training that has met the paper's tolerance, whatever was found out about its error afterwards.
LOSS_MET = ("converged", "trained")


@dataclass(frozen=True)
class Summary:
    """Means over trials; ratios are ours over the paper's, None where there is nothing to compare."""

    row: Row
    setting: Setting
    records: tuple[Record, ...]

    @property
    def l2(self) -> float | None:
        """The mean L2 error, in the row's measure; None where no trial has one."""
        return self._mean(self.row.measure)

    @property
    def linf(self) -> float | None:
        """The mean largest error."""
        return self._mean("linf")

    @property
    def median(self) -> float | None:
        """The median L2 error: a mean over trials is mostly that of the worst one."""
        return self._mean(self.row.measure, np.median)

    @property
    def worst(self) -> float | None:
        """The L2 error of the worst trial."""
        return self._mean(self.row.measure, np.max)

    @property
    def spread(self) -> float | None:
        """The geometric standard deviation of the L2 errors: the factor by which trials differ; None for one trial."""
        errors = [e for record in self.records if (e := record.get(self.row.measure) or 0.0) > 0]
        return float(np.exp(np.std(np.log(errors)))) if len(errors) > 1 else None

    @property
    def judged(self) -> float | None:
        """The median of the errors that were found by solving for them; None where no trial was judged."""
        return self._mean("judged", np.median)

    @property
    def judged_ratio(self) -> float | None:
        """The median over the judged trials of judged error / true error."""
        found = [r["judged"] / r["l2"] for r in self.records if r.get("judged") is not None and r.get("l2")]
        return float(np.median(found)) if found else None

    @property
    def median_ratio(self) -> float | None:
        """The median L2 error over the paper's mean."""
        return ratio(self.median, self.row.l2)

    @property
    def l2_ratio(self) -> float | None:
        """The mean L2 error over the paper's: below 1 is better than the paper."""
        return ratio(self.l2, self.row.l2)

    @property
    def linf_ratio(self) -> float | None:
        """The mean largest error over the paper's."""
        return ratio(self.linf, self.row.linf)

    @property
    def steps(self) -> float | None:
        """The mean number of steps."""
        return self._mean("steps")

    @property
    def loss(self) -> float | None:
        """The mean loss at the end."""
        return self._mean("loss")

    @property
    def parameters(self) -> int | None:
        """The number of trained parameters or unknowns, of the first trial where they differ."""
        known = [record["parameters"] for record in self.records if "parameters" in record]
        return known[0] if known else self.row.parameters

    @property
    def seconds(self) -> float:
        """The time of all trials."""
        return float(sum(record["seconds"] for record in self.records))

    @property
    def converged(self) -> int:
        """How many trials met the tolerance; of a training, that of the loss."""
        return sum(record["status"] in LOSS_MET for record in self.records)

    @property
    def statuses(self) -> str:
        """How the trials ended, such as 8 loss met, 2 stalled."""
        counts = Counter(self._ending(record["status"]) for record in self.records)
        return ", ".join(f"{count} {status}" for status, count in counts.most_common())

    def _ending(self, status: str) -> str:
        met = self.row.method in TRAINED and status in LOSS_MET
        return "loss met" if met else status.replace("_", " ")

    def record(self) -> dict[str, str | int | float | None]:
        """One line of a results file."""
        row = self.row
        return {
            "table": row.table,
            "setting": self.setting,
            "row": str(row),
            "pieces": row.pieces,
            "method": row.method,
            "label": row.label,
            "D": row.dim,
            "parameters": self.parameters,
            "trials": len(self.records),
            "converged": self.converged,
            "statuses": self.statuses,
            "L2": self.l2,
            "L2_median": self.median,
            "L2_worst": self.worst,
            "L2_spread": self.spread,
            "judged": self.judged,
            "judged_ratio": self.judged_ratio,
            "Linf": self.linf,
            "paper_L2": row.l2,
            "paper_Linf": row.linf,
            "L2_ratio": self.l2_ratio,
            "L2_median_ratio": self.median_ratio,
            "Linf_ratio": self.linf_ratio,
            "loss": self.loss,
            "steps": self.steps,
            "seconds": self.seconds,
        }

    def mean_of(self, name: str) -> float | None:
        """The mean of another of the errors that trials keep."""
        return self._mean(name)

    def _mean(self, name: str, how=np.mean) -> float | None:
        values = [record[name] for record in self.records if record.get(name) is not None]
        return float(how(values)) if values else None


def ratio(ours: float | None, paper: float | None) -> float | None:
    """Ours over the paper's, None where one is missing."""
    return None if ours is None or paper is None else ours / paper


def summarise(row: Row, setting: Setting, records: Sequence[Record]) -> Summary:
    """The summary of a row's trials, seed 0 first."""
    return Summary(row, setting, tuple(records))
