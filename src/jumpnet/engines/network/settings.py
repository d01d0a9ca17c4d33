"""Default model, points and optimiser, and the two presets."""

from collections.abc import Sequence
from dataclasses import dataclass

from jumpnet.charts import Charts
from jumpnet.collocation import PointRule, Points
from jumpnet.engines.network.options import Network
from jumpnet.models import CategoricalEmbedding, Model, suggested_dim
from jumpnet.models import Network as Trained
from jumpnet.optim import LevenbergMarquardt, Optimizer
from jumpnet.rows import Weights

# The largest dimension of labels in a default model: with 5, 100 pieces converge in a tenth of the time that 15 take
# (fa2, pde1).
MOST_LABELS = 5

# Damping divided by the loss in the paper's setting; the paper does not state it. In the paper's coordinates and units
# it is ten times ours. Chosen by losses at training and held-out points (docs/method.md, "The paper's setting";
# benchmarks/paper_setting.py).
PAPER_DAMPING = 1e-3


@dataclass(frozen=True)
class Settings:
    """All settings of a training, with defaults filled in."""

    model: Model
    optimizer: Optimizer
    points: Points | PointRule | None
    charts: Charts
    weights: Weights
    scaled: bool
    starts: int


def resolve(dim: int, pieces: int, options: Network) -> Settings:
    """The user's choices, completed."""
    paper, points = options.preset == "paper", options.points
    return Settings(
        model=options.model or default_model(dim, pieces),
        optimizer=options.optimizer or (paper_optimizer() if paper else LevenbergMarquardt()),
        points=_points(points, paper_points(dim) if paper else None),
        charts=options.charts if options.charts is not None else "paper" if paper else "auto",
        weights=options.weights or ("paper" if paper else "equilibrated"),
        scaled=not paper,
        starts=1 if paper else 3,
    )


def _points(given: Points | PointRule | Sequence[int] | None, otherwise: Points | None) -> Points | PointRule | None:
    """Counts, or a rule that draws the points."""
    if given is None:
        return otherwise
    return given if callable(given) else Points.of(given)


def paper_optimizer(steps: int = 1000) -> LevenbergMarquardt:
    """Levenberg-Marquardt by QR with the paper's stops: a loss of 1e-15 or 1000 steps, no polishing, no restarts."""
    return LevenbergMarquardt(step="qr", steps=steps, polish=0, stall=None, damping=PAPER_DAMPING)


def default_model(dim: int, pieces: int) -> Model:
    """A categorical embedding: one label number for a few pieces, 15 % of them for more, but not more than five."""
    labels = min(suggested_dim(pieces), MOST_LABELS)
    return CategoricalEmbedding(dim=labels, neurons=50 if dim <= 2 or pieces <= 2 else 100)


def paper_points(dim: int) -> Points:
    """The paper's counts: 1-D 1000 points, 2-D (324, 72, 72), 3-D and beyond (324, 144, 144)."""
    return {1: Points(1000, 2, 1), 2: Points(324, 72, 72)}.get(dim, Points(324, 144, 144))


def default_points(network: Trained, dim: int, pieces: int, own: int) -> Points:
    """Enough rows for the network's parameters, and enough points for what each piece must determine by itself.

    `own` is how many features a piece has to itself (separate networks), 0 for a shared network.
    """
    minimum = max(20, 2 * own)
    base = paper_points(dim)
    # Two interior points per parameter: with one, solutions that are not manufactured are fitted at the points and
    # wrong between them (a held-out loss of 1e-2 at a training loss of 1e-8 was observed).
    interior = max(base.interior, 2 * network.size, minimum * pieces * 2)
    surface = max(base.boundary, network.size // 3)
    return Points(interior, surface, surface, minimum)
