"""`solve` and `approximate`: from a problem to a solution, choosing what the user left open."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from jumpnet.charts import Charts, choose_atlases
from jumpnet.collocation import Points, Stream
from jumpnet.driver.direct import better, directly
from jumpnet.driver.labels import resolve_labels
from jumpnet.driver.progress import Progress
from jumpnet.driver.settings import Preset, default_points, resolve
from jumpnet.driver.task import Task, best_of, collocated, own_features, tell
from jumpnet.errors import JumpnetWarning, ModelError
from jumpnet.fields import Values
from jumpnet.fields.piecewise import piecewise_values
from jumpnet.geometry import Partition
from jumpnet.models import FrozenModel, Model
from jumpnet.optim import Direct, LevenbergMarquardt, Optimizer, Status
from jumpnet.problem import Problem, inputs
from jumpnet.rows import Rows, Weights, equations, values
from jumpnet.solution import Solution


def solve(
    problem: Problem,
    *,
    tol: float = 1e-8,
    model: Model | FrozenModel | None = None,
    optimizer: Optimizer | Direct | None = None,
    points: Points | Sequence[int] | None = None,
    charts: Charts | None = None,
    weights: Weights | None = None,
    preset: Preset | None = None,
    seed: int = 0,
    trials: int = 1,
    progress: bool | Progress = False,
) -> Solution:
    """Solve an interface problem.

    Without further options the problem is first solved directly, with features chosen and grown by the program, until
    the estimated root mean square error is below `tol` times the size of the solution; where that does not succeed, a
    network is trained, and the better of the two is returned. `solution.settings["method"]` says what was done.

    With any of the other options a network is trained (`optimizer=jn.optim.Direct()` or a model with frozen features:
    solved directly). Each has a default: a categorical embedding trained by Levenberg-Marquardt on equilibrated rows,
    in charts chosen from the geometry. `points` is `Points(...)` or (interior, boundary, per interface).
    `preset="paper"` takes the paper's charts, weights, points and stopping rule instead.

    `trials` solves with that many seeds (from `seed` on) and returns the best by held-out residual. `progress=True`
    shows a bar; a function of (record, best loss) is called after each step.
    """
    if not isinstance(problem, Problem):
        raise ModelError(f"solve needs a jn.Problem, not {type(problem).__name__}; see jn.Problem(...).")
    chosen = (model, optimizer, points, charts, weights, preset)
    # Beyond three dimensions there are too many polynomials; a trained network needs few neurons there.
    open_choice = all(option is None for option in chosen) and problem.dim <= 3
    if isinstance(optimizer, Direct) or isinstance(model, FrozenModel) or open_choice:
        found = directly(problem, model, optimizer, tol=tol, seed=seed, trials=trials, progress=progress)
        if found.status is Status.STALLED and open_choice:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", JumpnetWarning)  # about the better of the two, below
                trained = solve(problem, optimizer=LevenbergMarquardt(), seed=seed, trials=trials, progress=progress)
            found = better(problem, found, trained)
        tell(found)
        return found
    assert not isinstance(model, FrozenModel) and not isinstance(optimizer, Direct)
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
    atlases = choose_atlases(settings.charts, parts, lambda piece, x: problem.A[piece].value(x))

    def prepared(seed: int) -> Task:
        named = resolve_labels(
            settings.model,
            parts,
            u=None if problem.exact is None else _values_of(problem.exact),
            f=_values_of(problem.f),
            raw=settings.charts == "paper",
            seed=seed,
        )
        networks = [named.network(atlas.inputs, parts.size) for atlas in atlases]
        counts = settings.points or default_points(networks[-1], parts.dim, parts.size, own_features(named))

        def rows(stream: Stream) -> Rows:
            given = settings.points is not None
            return equations(problem, collocated(parts, counts, named, seed=seed, stream=stream, given=given))

        return Task(parts, atlases, networks, counts, rows(Stream.TRAIN), rows(Stream.HELD_OUT), settings)

    solution = best_of(prepared, seed, trials, progress)
    return replace(solution, problem=problem, tensors=problem.A, exact=problem.exact)


def approximate(
    parts: Partition,
    u: Any,
    *,
    model: Model | None = None,
    optimizer: Optimizer | None = None,
    points: Points | Sequence[int] | None = None,
    charts: Charts | None = None,
    preset: Preset | None = None,
    seed: int = 0,
    trials: int = 1,
    progress: bool | Progress = False,
) -> Solution:
    """Approximate a piecewise function: `u` is a number, formula or callable for each piece.

    Trained on its values at random points of the pieces and of the outer boundary; the options are those of `solve`.
    """
    parts = inputs.partition(parts)
    exact = inputs.fields(u, parts, "u", {})
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
    atlases = choose_atlases(settings.charts, parts)

    def prepared(seed: int) -> Task:
        named = resolve_labels(
            settings.model,
            parts,
            u=_values_of(exact),
            f=None,
            raw=settings.charts == "paper",
            seed=seed,
        )
        networks = [named.network(atlas.inputs, parts.size) for atlas in atlases]
        counts = settings.points or default_points(networks[-1], parts.dim, parts.size, own_features(named))
        counts = replace(counts, interface=0)

        def rows(stream: Stream) -> Rows:
            drawn = collocated(parts, counts, named, seed=seed, stream=stream, given=settings.points is not None)
            x = np.concatenate([drawn.interior, drawn.boundary])
            piece = np.concatenate([drawn.piece, drawn.boundary_piece])
            return values(piecewise_values(exact, x, piece), x, piece)

        return Task(parts, atlases, networks, counts, rows(Stream.TRAIN), rows(Stream.HELD_OUT), settings)

    solution = best_of(prepared, seed, trials, progress)
    return replace(solution, tensors=(None,) * parts.size, exact=exact)


def _values_of(fields: Sequence[Values]) -> Callable[[int, np.ndarray], np.ndarray]:
    return lambda piece, x: fields[piece].value(x)
