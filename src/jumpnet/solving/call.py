"""`solve` and `approximate`: from a problem to a solution, choosing what the user left open."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from jumpnet.charts import Atlas, Charts, choose_atlases
from jumpnet.collocation import Collocation, PointRule, Points, Stream
from jumpnet.engines.budget import Budget, checked_limit
from jumpnet.engines.fem import FEM
from jumpnet.engines.network.checkpoint import Checkpoint
from jumpnet.engines.network.embedding import grown
from jumpnet.engines.network.labels import resolve_labels
from jumpnet.engines.network.settings import Preset, Settings, default_points, resolve
from jumpnet.engines.network.task import Task, collocated, own_features, tell
from jumpnet.engines.network.trials import Prepared, best_of
from jumpnet.engines.progress import Progress
from jumpnet.engines.seeds import check_trials
from jumpnet.engines.trefftz.direct import directly
from jumpnet.engines.trefftz.drawing import with_held_out
from jumpnet.engines.trefftz.search import Goal
from jumpnet.errors import ModelError
from jumpnet.fields import Values
from jumpnet.fields.piecewise import piecewise_values
from jumpnet.geometry import Partition
from jumpnet.models import FrozenModel, Model
from jumpnet.optim import Direct, Optimizer, Status
from jumpnet.problem import Problem, inputs
from jumpnet.rows import Rows, Weights, equations, values
from jumpnet.solution import Solution
from jumpnet.solving.choice import FOR_ANSWER, by_elements, chosen
from jumpnet.solving.completing import completed
from jumpnet.solving.verify import Verify, checked_verify, verified


def solve(
    problem: Problem,
    *,
    tol: float = 1e-6,
    atol: float = 0.0,
    verify: Verify = "auto",
    time_limit: float | None = None,
    method: str | FEM = "auto",
    model: Model | FrozenModel | None = None,
    optimizer: Optimizer | Direct | None = None,
    points: Points | PointRule | Sequence[int] | None = None,
    charts: Charts | None = None,
    weights: Weights | None = None,
    preset: Preset | None = None,
    seed: int = 0,
    trials: int = 1,
    workers: int | None = None,
    progress: bool | Progress = False,
    checkpoint: str | PathLike[str] | None = None,
) -> Solution:
    """Solve an interface problem.

    Without further options the problem is solved directly (`method="trefftz"`), with features chosen and grown by the
    program, until the estimated root mean square error is below `tol` times the variation of the solution (its root
    mean square deviation from its mean over the domain), or below `atol`; where that does not succeed, by finite
    elements (`method="fem"` or `jn.FEM(...)`). `solution.settings["method"]` says what was done, `["tried"]` what else.

    `verify="auto"` solves for the error of the answer (`jn.judge`, `solution.verdict`) unless the direct solver's own
    estimate meets the tolerance and its assumptions hold; `True` always does, `False` never.

    `time_limit` is in seconds. What is there when it ends comes back, with its judged error where the judge had time
    (about half of the limit is left to it).

    With any of the other options a network is trained (`optimizer=jn.optim.Direct()` or a model with frozen features:
    solved directly). Each has a default: a categorical embedding trained by Levenberg-Marquardt on equilibrated rows,
    in charts chosen from the geometry. `points` is `Points(...)`, (interior, boundary, per interface), or a function
    (partition, seed, stream) -> `Collocation`. `weights` is "equilibrated", "balanced", "paper", factors of the loss by
    condition ({"boundary": 10.0}), or a function of the rows.
    `preset="paper"` takes the paper's charts, weights, points and stopping rule instead.

    `trials` solves with that many seeds (from `seed` on), `workers` trainings at a time (by default one on each core),
    and returns the best by held-out residual; how all of them came out is in its report. `progress=True` shows a bar; a
    function of (record, best loss) is called after each step, from the threads of the trials but never by two at once.
    Ctrl-C ends a training with the best so far.

    `checkpoint` names a file to which a training is written every few seconds. The same call with the same file goes on
    where it was broken off, by Ctrl-C or a crash, and ends with the same bits as if it had never been.
    """
    if not isinstance(problem, Problem):
        raise ModelError(f"solve needs a jn.Problem, not {type(problem).__name__}; see jn.Problem(...).")
    goal, verify, limit = checked_goal(tol, atol), checked_verify(verify), checked_limit(time_limit)
    whole = Budget(limit)
    check_trials(seed, trials, workers)
    kept = None if checkpoint is None else Checkpoint(checkpoint, int(seed))

    def trained(model: Model | None, optimizer: Optimizer | None) -> Solution:
        parts = problem.partition
        settings = resolve(
            parts.dim,
            parts.size,
            model=model,
            optimizer=optimizer,
            points=points,
            charts=charts,
            weights=weights,
            preset=preset,
        )
        settings = within(settings, limit)
        atlases = choose_atlases(settings.charts, parts, lambda piece, x: problem.A[piece].value(x))
        steps, seeds = settings.optimizer.stop.steps, range(seed, seed + trials)

        def attempt(model: Model) -> Solution:
            prepared = _preparation(
                parts,
                replace(settings, model=model),
                atlases,
                rows=lambda drawn: equations(problem, drawn),
                u=problem.exact,
                f=problem.f,
                held_out=lambda drawn: with_held_out(problem, drawn),
            )
            return best_of(prepared, seeds, workers, steps=steps, progress=progress, checkpoint=kept)

        found = grown(settings.model, parts.size, attempt, once=kept is not None)
        return replace(found, problem=problem, tensors=problem.A, exact=problem.exact)

    given = [option is not None for option in (model, optimizer, points, charts, weights, preset)]
    if any(given) and method != "auto":
        raise ModelError(f"method is {method!r}, and options of a network or a direct solve are given; leave one out.")
    if method == "fem" or isinstance(method, FEM):
        elements = method if isinstance(method, FEM) else FEM()
        found = by_elements(problem, goal, verify, elements, progress=progress, limit=limit)
    elif not any(given) and method == "auto" and problem.dim <= 3:
        found = chosen(problem, goal, verify, seed=seed, trials=trials, progress=progress, limit=limit)
    elif method == "trefftz" or isinstance(optimizer, Direct) or isinstance(model, FrozenModel):
        options: dict[str, Any] = {"goal": goal, "seed": seed, "trials": trials, "progress": progress}
        found = directly(problem, model, optimizer, budget=Budget(FOR_ANSWER * limit), **options)
        found = verified(problem, completed(problem, found), goal, verify, seconds=whole.left)
    elif method in ("auto", "network"):  # the only way beyond three dimensions, where there are too many polynomials
        found = verified(problem, completed(problem, trained(model, optimizer)), goal, verify, seconds=whole.left)
    else:
        raise ModelError(f'method is {method!r}; choose "auto", "trefftz", "fem", "network" or jn.FEM(...).')
    if verify is not False or found.status is not Status.TRAINED:  # whoever asks for no verdict gets no warning
        tell(found)
    return found


def within(settings: Settings, limit: float) -> Settings:
    """Settings of a training that ends in time for the judge."""
    seconds = min(FOR_ANSWER * limit, settings.optimizer.stop.time_limit or np.inf)
    if not np.isfinite(seconds):
        return settings
    own: Any = settings.optimizer
    if hasattr(own, "time_limit"):
        return replace(settings, optimizer=replace(own, time_limit=seconds))
    try:  # an optimiser of the user's, which has a `stop` and perhaps nothing else of ours
        return replace(settings, optimizer=replace(own, stop=replace(own.stop, time_limit=seconds)))
    except TypeError:
        raise ModelError(
            f"{type(own).__name__} cannot be given a time limit; make it a dataclass with a field `stop` "
            "(jn.optim.Stop)."
        ) from None


def checked_goal(tol: float, atol: float) -> Goal:
    """The error that is asked for; ModelError where it is not a number that makes sense."""
    if not (isinstance(tol, int | float) and not isinstance(tol, bool) and 0 < tol < np.inf):
        raise ModelError(f"tol is {tol!r}; give the error you can live with, relative to the variation of u: 1e-6.")
    if not (isinstance(atol, int | float) and not isinstance(atol, bool) and 0 <= atol < np.inf):
        raise ModelError(f"atol is {atol!r}; give the error you can live with, in units of u, or 0.")
    return Goal(float(tol), float(atol))


def approximate(
    parts: Partition,
    u: Any,
    *,
    model: Model | None = None,
    optimizer: Optimizer | None = None,
    points: Points | PointRule | Sequence[int] | None = None,
    charts: Charts | None = None,
    preset: Preset | None = None,
    seed: int = 0,
    trials: int = 1,
    workers: int | None = None,
    progress: bool | Progress = False,
    checkpoint: str | PathLike[str] | None = None,
) -> Solution:
    """Approximate a piecewise function: `u` is a number, formula or callable for each piece.

    Trained on its values at random points of the pieces and of the outer boundary; the options are those of `solve`.
    """
    parts = inputs.partition(parts)
    exact = inputs.fields(u, parts, "u", {})
    check_trials(seed, trials, workers)
    kept = None if checkpoint is None else Checkpoint(checkpoint, int(seed))
    settings = resolve(
        parts.dim,
        parts.size,
        model=model,
        optimizer=optimizer,
        points=points,
        charts=charts,
        weights="paper",
        preset=preset,
    )

    def rows(drawn: Collocation) -> Rows:
        x = np.concatenate([drawn.interior, drawn.boundary])
        piece = np.concatenate([drawn.piece, drawn.boundary_piece])
        return values(piecewise_values(exact, x, piece), x, piece)

    atlases = choose_atlases(settings.charts, parts)
    steps, seeds = settings.optimizer.stop.steps, range(seed, seed + trials)

    def attempt(model: Model) -> Solution:
        prepared = _preparation(parts, replace(settings, model=model), atlases, rows=rows, u=exact, f=None)
        return best_of(prepared, seeds, workers, steps=steps, progress=progress, checkpoint=kept)

    found = measured(grown(settings.model, parts.size, attempt, once=kept is not None))
    tell(found)
    return replace(found, tensors=(None,) * parts.size, exact=exact)


def measured(found: Solution) -> Solution:
    """An approximation with its error: the residuals of values at points it never saw are that."""
    count = sum(residual.rows for residual in found.held_out)
    square = sum(residual.rows * residual.physical**2 for residual in found.held_out)
    status = Status.CONVERGED if found.status is Status.TRAINED else found.status
    return replace(found, status=status, estimate=float(np.sqrt(square / count)) if count else np.nan)


def _preparation(
    parts: Partition,
    settings: Settings,
    atlases: Sequence[Atlas],
    *,
    rows: Callable[[Collocation], Rows],
    u: Sequence[Values] | None,
    f: Sequence[Values] | None,
    held_out: Callable[[Collocation], Collocation] = lambda drawn: drawn,
) -> Prepared:
    """What makes the task of a seed: its labels, networks, points, and `rows` of these. Without f, no interfaces."""

    def prepared(seed: int) -> Task:
        model = resolve_labels(
            settings.model, parts, u=_values_of(u), f=_values_of(f), raw=settings.charts == "paper", seed=seed
        )
        networks = [model.network(atlas.inputs, parts.size) for atlas in atlases]
        counts = settings.points or default_points(networks[-1], parts.dim, parts.size, own_features(model))
        if f is None and isinstance(counts, Points):
            counts = replace(counts, interface=0)

        def of(stream: Stream) -> Collocation:
            return collocated(parts, counts, model, seed=seed, stream=stream, given=settings.points is not None)

        train, unseen = of(Stream.TRAIN), of(Stream.HELD_OUT)
        drawn = counts if isinstance(counts, Points) else train.counts()
        return Task(parts, atlases, networks, drawn, rows(train), rows(held_out(unseen)), settings)

    return prepared


def _values_of(fields: Sequence[Values] | None) -> Callable[[int, np.ndarray], np.ndarray] | None:
    return None if fields is None else lambda piece, x: fields[piece].value(x)
