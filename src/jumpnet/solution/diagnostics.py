"""How a solution was found, and what is known of its error: typed fields, made from what an engine did."""

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from jumpnet.optim import History, Status

if TYPE_CHECKING:
    from jumpnet.judge import Verdict


@dataclass(frozen=True)
class Residual:
    """The root mean square residual of one family of equations at points the solve never saw.

    `physical` is in the units of the equation; `scaled` divides by the size of the equation's coefficients and of the
    data, so that families can be compared with each other and with 1.
    """

    term: str
    rows: int
    physical: float
    scaled: float


@dataclass(frozen=True)
class PointCounts:
    """The numbers of collocation points; of a training also the minimum and the method of its `jn.Points`."""

    interior: int
    boundary: int
    interface: int
    minimum: int | None = None
    points: str | None = None


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """The minimisation of a training or of a Trefftz solve.

    Args:
        loss: The sum of squares that was minimised.
        steps: Steps of the training, or trial spaces of a Trefftz solve.
        history: The loss step by step.
        held_out: Residuals at points that the solve never saw, by family of equations.
        held_out_loss: Their sum of squares.
        points: At how many points the equations were taken; None in files that do not say.
        weights: The rule for the weights of the equations, or the weights themselves.
        excess: By how much the reliability constant of a Trefftz estimate exceeds the one that was measured last.
    """

    loss: float
    steps: int
    history: History
    held_out: tuple[Residual, ...]
    held_out_loss: float
    points: PointCounts | None = None
    weights: str | dict[str, float] = ""
    excess: float = 1.0


@dataclass(frozen=True)
class TrainingSettings:
    """What was trained and how, as texts; `embedding` lists the models of a label whose length was searched for."""

    charts: str
    inputs: int
    model: str
    optimizer: str
    embedding: tuple[str, ...] = ()


@dataclass(frozen=True)
class MeshSize:
    """The number of unknowns on a mesh or on voxels; of finite elements also their number and polynomial order."""

    unknowns: int
    elements: int | None = None
    order: int | None = None


@dataclass(frozen=True)
class Trial:
    """The outcome of one of several seeds; `difference` is its distance from the mean of all (root mean square)."""

    seed: int
    status: Status
    steps: int
    held_out_loss: float
    estimate: float = math.nan
    difference: float = math.nan


@dataclass(frozen=True)
class Judged:
    """What the judge found about the error, in numbers; `rms` and `estimate` are nan where it found nothing.

    The estimate is `safety` times the root mean square error, plus `unresolved`.
    """

    rms: float
    estimate: float
    by_piece: dict[str, float]
    decided: bool
    reason: str = ""
    safety: float = 2.0
    unresolved: float = 0.0

    def __str__(self) -> str:
        if not self.decided:
            found = f"; at last it was {self.rms:.1e}" if math.isfinite(self.rms) else ""
            return self.reason.rstrip(".") + found
        more = f" + {self.unresolved:.1e} not resolved" if self.unresolved > 0 else ""
        return (
            f"error {self.rms:.2e} (root mean square), by solving for it; "
            f"estimate {self.estimate:.1e} = {self.safety:g} x {self.rms:.1e}{more}"
        )

    def as_json(self) -> dict[str, Any]:
        """The numbers by name; None where there is none."""
        return {
            "rms": finite_or_none(self.rms),
            "estimate": finite_or_none(self.estimate),
            "by piece": {name: finite_or_none(error) for name, error in self.by_piece.items()},
            "decided": self.decided,
            "reason": self.reason,
        }


def finite_or_none(number: float) -> float | None:
    """A number as JSON has it."""
    return number if math.isfinite(number) else None


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """How a solution was found and what is known of its error.

    Args:
        status: How the solve ended.
        method: The method and its size, in one line.
        seconds: The time it took, without the judge; nan in files that do not say.
        estimate: The estimated root mean square error, nan where there is none.
        seed: What random points and weights were drawn from.
        reasons: Why the status is not CONVERGED, or what the estimate rests on.
        tried: Where several methods were tried, the result of each in one line.
        trials: Where several seeds were solved, each of them.
        verdict: What the judge found about the error (`jumpnet.Verdict`), None where it was not asked.
        judged: What the judge found in numbers, of a solution that was saved with a verdict; the field is not saved.
        fit: The least-squares solve; None where the method is another.
        training: What was trained; None where nothing was.
        mesh: The size of the mesh; None where there is none.
        nonlinear: The steps of a nonlinear iteration, relative to the variation of u.

    Example:
        >>> import jumpnet as jn
        >>> solution = jn.solve(jn.Problem(jn.Partition(jn.Interval(0, 1)), f=-2.0, boundary=jn.Dirichlet(0)))
        >>> solution.diagnostics.status.name, solution.diagnostics.fit.steps
        ('CONVERGED', 1)
    """

    status: Status
    method: str
    seconds: float
    estimate: float = math.nan
    seed: int = 0
    reasons: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()
    trials: tuple[Trial, ...] = ()
    verdict: "Verdict | None" = None
    judged: Judged | None = None
    fit: LeastSquares | None = None
    training: TrainingSettings | None = None
    mesh: MeshSize | None = None
    nonlinear: tuple[float, ...] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """What was done, by name: numbers, texts and lists, as reports show and files hold them."""
        fit = self.fit
        groups = (fit and fit.points, self.training, self.mesh)
        found = {name: value for group in groups if group is not None for name, value in asdict(group).items()}
        found |= {"weights": fit and fit.weights, "seconds": self.seconds, "reasons": self.reasons}
        found |= {"tried": self.tried, "nonlinear": self.nonlinear, "trials": [_named(trial) for trial in self.trials]}
        given = {"method": self.method} | {name: list(v) if isinstance(v, tuple) else v for name, v in found.items()}
        return {name: value for name, value in given.items() if value not in (None, "", []) and value == value}


def _named(trial: Trial) -> dict[str, Any]:
    numbers = asdict(trial) | {"status": trial.status.name.lower()}
    return {name: value for name, value in numbers.items() if value == value}  # without nan


class Diagnosed:
    """Whatever has diagnostics: their numbers by short names, with defaults where the method has no such number."""

    diagnostics: Diagnostics

    @property
    def status(self) -> Status:
        """How the solve ended."""
        return self.diagnostics.status

    @property
    def estimate(self) -> float:
        """The estimated root mean square error, nan where there is none."""
        return self.diagnostics.estimate

    @property
    def seed(self) -> int:
        """What random points and weights were drawn from."""
        return self.diagnostics.seed

    @property
    def loss(self) -> float:
        """The sum of squares that was minimised; nan where the method minimises none."""
        return math.nan if self.diagnostics.fit is None else self.diagnostics.fit.loss

    @property
    def held_out_loss(self) -> float:
        """The sum of squares at points that the solve never saw; nan where the method minimises none."""
        return math.nan if self.diagnostics.fit is None else self.diagnostics.fit.held_out_loss

    @property
    def held_out(self) -> tuple[Residual, ...]:
        """Residuals at points that the solve never saw, by family of equations."""
        return () if self.diagnostics.fit is None else self.diagnostics.fit.held_out

    @property
    def steps(self) -> int:
        """Steps of the training, or trial spaces of a Trefftz solve."""
        return 0 if self.diagnostics.fit is None else self.diagnostics.fit.steps

    @property
    def history(self) -> History:
        """The loss step by step; empty where the method minimises none."""
        return History() if self.diagnostics.fit is None else self.diagnostics.fit.history

    @property
    def settings(self) -> dict[str, Any]:
        """What was done, by name, as in reports; `diagnostics` has the same as typed fields."""
        return self.diagnostics.settings
