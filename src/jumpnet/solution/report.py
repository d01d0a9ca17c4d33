"""The trust report: what is known about a solution without knowing the exact one, and the error where that is known."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jumpnet.solution.diagnostics import Diagnosed, Diagnostics, Judged, Residual, Trial

if TYPE_CHECKING:
    from jumpnet.solution.quantities import Balance


# Errors below this are rounding, which an estimate cannot tell.
ROUNDING = 1e-11


@dataclass(frozen=True)
class Errors:
    """Differences from an exact solution at independent random test points."""

    l2: float
    linf: float
    relative_l2: float
    points: int

    def __str__(self) -> str:
        return f"L2 {self.l2:.2e}, Linf {self.linf:.2e} ({self.points} test points)"


@dataclass(frozen=True)
class TrustReport(Diagnosed):
    """What a careful reader wants to know before using a solution.

    `unit` is what `steps` counts: the steps of a training or the levels of a Trefftz solve. `balances` and `compared`,
    the differences from a reference, are there if they were asked for. `judged` is None where the error was not solved
    for. A solve that minimises nothing, as finite elements do, has no held-out residuals. `assumed` says what the
    problem left out, and what holds in its place.
    """

    diagnostics: Diagnostics
    parameters: int
    unit: str = "step"
    errors: Errors | None = None
    judged: Judged | None = None
    balances: "tuple[Balance, ...]" = ()
    compared: Errors | None = None
    reference: str = ""
    assumed: str = ""

    @property
    def unbalanced(self) -> "tuple[Balance, ...]":
        """The balances that fail, of those that were asked for."""
        return tuple(balance for balance in self.balances if balance.fails)

    @property
    def alarm(self) -> str:
        """A sentence where the solution should not be relied on: not converged, or fluxes that do not balance."""
        if not self.status.ok:
            return f"Not converged: {self.status}."
        if self.unbalanced:
            worst = max(self.unbalanced, key=lambda balance: balance.defect)
            return f"Fluxes do not balance: those of {worst.name!r} are off by {worst.defect:.1e} of their size."
        return ""

    @property
    def worst(self) -> Residual | None:
        """The family of equations with the largest scaled residual on held-out points."""
        return max(self.held_out, key=lambda r: r.scaled, default=None)

    @property
    def seeds(self) -> tuple[Trial, ...]:
        """How each seed came out, where there were several."""
        return self.diagnostics.trials

    @property
    def spread(self) -> float:
        """How far the seeds are from their mean, at most (root mean square); nan where there was one."""
        return max((seed.difference for seed in self.seeds), default=math.nan)

    @property
    def effectivity(self) -> float:
        """The estimated error divided by the true one; nan where either is not known or the error is rounding."""
        known = self.errors is not None and math.isfinite(self.estimate) and self.errors.l2 > ROUNDING
        return self.estimate / self.errors.l2 if known and self.errors is not None else math.nan

    @property
    def chosen_by(self) -> str:
        """What the best of several seeds is the best by."""
        return "estimated error" if self.unit == "level" else "held-out loss"

    def counted(self, steps: int) -> str:
        """A number of steps or levels in words."""
        return f"{steps} {self.unit}{'s' if steps != 1 else ''}"

    def __str__(self) -> str:
        lines = [f"status     {self.status.name.lower()}: {self.status}"]
        if self.diagnostics.method:
            lines.append(f"method     {self.diagnostics.method}")
        lines += [f"reason     {reason}" for reason in self.diagnostics.reasons]
        lines += [f"assumed    {self.assumed}"] if self.assumed else []
        if not self.status.ok and len(self.diagnostics.tried) > 1:
            lines += [f"tried      {one}" for one in self.diagnostics.tried]
        if math.isfinite(self.estimate):
            lines.append(f"estimate   L2 error {self.estimate:.1e}, without the exact solution")
        else:
            lines.append("estimate   unknown")
        lines += self._judged()
        if self.errors is not None:
            lines.append(f"error      {self.errors}")
        if math.isfinite(self.effectivity):
            lines.append(f"ratio      estimate/error {self.effectivity:.2g}")
        if (fit := self.diagnostics.fit) is not None:
            after = f"{self.counted(fit.steps)}, {self.parameters} parameters"
            lines.append(f"solve      loss {fit.loss:.2e} after {after}")
            lines.append(f"held out   loss {fit.held_out_loss:.2e} at points the solve never saw")
        width = max((len(r.term) for r in self.held_out), default=0)
        lines += [
            f"  {r.term:<{width}}  {r.rows:5d} rows   residual {r.physical:.1e}   scaled {r.scaled:.1e}"
            for r in self.held_out
        ]
        lines += self._seeds()
        if self.compared is not None:
            lines.append(f"compared   {self.compared}, relative {self.compared.relative_l2:.1e}, with {self.reference}")
        if self.balances:
            lines.append("balance    what leaves each piece, what its sources ask for, the relative difference")
            width = max(len(balance.name) for balance in self.balances)
        lines += [
            f"  {b.name:<{width}}  {b.outflow.value:.6g}  {b.source.value:.6g}  {b.defect:.1e}" for b in self.balances
        ]
        return "\n".join(lines)

    def _seeds(self) -> list[str]:
        """The best of several seeds, and a line for each."""
        if not self.seeds:
            return []
        off = f"; from their mean they are off by up to {self.spread:.1e}" if math.isfinite(self.spread) else ""
        lines = [f"seeds      the best of {len(self.seeds)} by {self.chosen_by}{off}"]
        for seed in self.seeds:
            estimate = "" if math.isnan(seed.estimate) else f"   estimate {seed.estimate:.1e}"
            lines.append(
                f"  seed {seed.seed}{estimate}   held out {seed.held_out_loss:.1e}   "
                f"{self.counted(seed.steps)}   {seed.status.name.lower()}"
            )
        return lines

    def _judged(self) -> list[str]:
        """What the judge found; why it found nothing, unless that is among the reasons already."""
        if self.judged is None or self.judged.reason in self.diagnostics.reasons:
            return []
        lines = [f"judged     {self.judged}"]
        if self.judged.decided and len(self.judged.by_piece) > 1:
            lines.append("by piece   " + ", ".join(f"{n}: {e:.1e}" for n, e in self.judged.by_piece.items()))
        return lines
