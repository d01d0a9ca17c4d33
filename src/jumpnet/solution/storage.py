"""Solutions as files: safetensors for the numbers, JSON in its header for everything else. Parsed, never executed."""

import math
from dataclasses import asdict
from os import PathLike
from typing import Any

import numpy as np

from jumpnet.charts import Atlas
from jumpnet.errors import JumpnetError, SolutionError
from jumpnet.fe.storage import elements_from, store_elements
from jumpnet.fields import field_from_spec, tensor_from_spec
from jumpnet.geometry import Partition
from jumpnet.guard.budget import Budget, bounded
from jumpnet.models import Frozen, Network, network_from_spec, network_spec
from jumpnet.models.checked import finite, listed, number, plain, text, whole
from jumpnet.optim import History, Status
from jumpnet.problem import Problem, Supplement
from jumpnet.solution.consistency import fitting
from jumpnet.solution.diagnostics import (
    Diagnostics,
    Judged,
    LeastSquares,
    MeshSize,
    PointCounts,
    Residual,
    TrainingSettings,
    Trial,
)
from jumpnet.solution.files import NONSENSE, SOLUTION, damaged, file_path, read, write
from jumpnet.solution.representation import Representation
from jumpnet.solution.solution import Solution
from jumpnet.solution.statement import Statement

FORMAT = 1  # the version of the file format; newer ones are refused
# Larger numbers in a file are refused.
MOST_DIMENSIONS, LARGEST_COUNT, LARGEST_SEED = 100, 10**9, 2**64
# Arrays of the history in a file.
COLUMNS = ("step", "loss", "loss_of_term", "damping", "step_norm", "seconds")


def save(solution: Solution, path: str | PathLike[str]) -> None:
    """Write a solution to one file, atomically."""
    arrays = {"theta": solution.theta} | {f"history.{name}": getattr(solution.history, name) for name in COLUMNS}
    network, more = store_elements(solution.network) or (network_spec(solution.network), {})
    path = file_path(path)
    try:
        write(path, SOLUTION, _header(solution, network), arrays | more)
    except (OSError, ValueError) as problem:  # ValueError: no name, or a null character in it
        reason = getattr(problem, "strerror", None) or problem
        raise SolutionError(
            f"{str(path)!r} cannot be written ({reason}); the solution is still in memory, "
            "give another path to solution.save(path)."
        ) from None


def load(path: str | PathLike[str], *, budget: Budget | None = None) -> Solution:
    """Read a solution back; it evaluates bit for bit, without the code that stated the problem.

    Args:
        path: A file that `Solution.save` wrote.
        budget: What reading may take in time and memory; by default `Budget()`.

    Returns:
        The solution.

    Example:
        >>> import jumpnet as jn
        >>> solution = jn.solve(jn.Problem(jn.Partition(jn.Interval(0, 1)), f=-2.0, boundary=jn.Dirichlet(0)))
        >>> solution.save("u.jumpnet")
        >>> bool(jn.load("u.jumpnet")([[0.3]])[0] == solution([[0.3]])[0])
        True
    """
    return bounded(budget, lambda: _load(path), what=repr(str(path)))


def _load(path: str | PathLike[str]) -> Solution:
    header, tensors = read(path, SOLUTION)
    try:
        return fitting(_solution(header, tensors))
    except JumpnetError:
        raise
    except NONSENSE as problem:
        raise damaged(path, problem) from None


def _header(solution: Solution, network: dict[str, Any]) -> dict[str, Any]:
    known, u = solution.statement, solution.representation
    problem = None if known.problem is None else known.problem.spec()
    missing = list(known.missing) if problem is None else list(problem.get("missing", ()))
    return {
        "format": FORMAT,
        "dim": solution.dim,
        "pieces": solution.pieces,
        "scale": u.scale,
        "seed": solution.seed,
        "network": network,
        "charts": u.atlas.spec(),
        "partition": None if solution.partition is None else solution.partition.spec(),
        "tensors": [None if tensor is None else tensor.spec() for tensor in known.tensors],
        "problem": None if missing else problem,
        "exact": _exact_spec(solution),
        "missing": missing,
        "status": solution.status.name,
        "loss": solution.loss,
        "steps": solution.steps,
        "held_out": [[r.term, r.rows, r.physical, r.scaled] for r in solution.held_out],
        "held_out_loss": solution.held_out_loss,
        "estimate": solution.estimate,
        "judged": None if solution.judged is None else asdict(solution.judged),
        "terms": list(solution.history.terms),
        "settings": solution.settings,
        "supplement": u.supplement.spec(),
        "factors": list(u.factors),
    }


def _exact_spec(solution: Solution) -> list[dict[str, Any]] | None:
    specs = [field.spec() for field in solution.exact or ()]
    stored = [spec for spec in specs if spec is not None]
    return stored if specs and len(stored) == len(specs) else None


def _solution(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Solution:
    if header["format"] != FORMAT:
        raise SolutionError(
            f"the file has format {header['format']}, this version of jumpnet reads format {FORMAT}; upgrade jumpnet."
        )
    problem = None if header["problem"] is None else Problem.from_spec(header["problem"])
    spec = header["partition"]
    partition = problem.partition if problem else None if spec is None else Partition.from_spec(spec)
    network = _network(header, tensors)
    theta = tensors["theta"]
    if theta.shape != (network.size,):
        raise SolutionError(f"the file holds {theta.size} parameters where its network has {network.size}.")
    representation = Representation(
        network,
        theta,
        Atlas.from_spec(header["charts"]),
        _scale(header["scale"]),
        _supplement(header),
        tuple(map(_factor, listed("factors", header.get("factors", [])))),
    )
    statement = Statement(
        whole("dim", header["dim"], MOST_DIMENSIONS),
        whole("pieces", header["pieces"]),
        partition,
        tuple(None if tensor is None else tensor_from_spec(tensor) for tensor in header["tensors"]),
        None if header["exact"] is None else tuple(field_from_spec(item) for item in header["exact"]),
        problem,
        tuple(text("missing", one) for one in listed("missing", header["missing"])),
    )
    return Solution(representation, statement, _diagnostics(header, tensors))


def _scale(value: Any) -> float:
    if not finite("scale", value) > 0:
        raise SolutionError(f"the file says scale = {value:g}, not a positive number; it is damaged or forged.")
    return float(value)


def _factor(value: Any) -> float:
    if not finite("factors", value) > 0:
        raise SolutionError(f"the file says factors = {value:g}, not positive numbers; it is damaged or forged.")
    return float(value)


def _residual(entry: list[Any]) -> Residual:
    term, rows, physical, scaled = entry
    numbers = number("residual", physical), number("residual", scaled)
    return Residual(text("term", term), whole("rows", rows, LARGEST_COUNT), *numbers)


def _network(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Network | Frozen:
    """The network; finite elements have arrays of their own."""
    spec = header["network"]
    if spec.get("network") == "elements":
        return elements_from(spec, tensors, whole("dim", header["dim"], MOST_DIMENSIONS))
    return network_from_spec(spec)


def _supplement(header: dict[str, Any]) -> Supplement:
    """The closed-form part of u; files of older versions have none."""
    spec = header.get("supplement")
    return Supplement() if spec is None else Supplement.from_spec(spec, int(header["dim"]), int(header["pieces"]))


def _diagnostics(header: dict[str, Any], tensors: dict[str, np.ndarray]) -> Diagnostics:
    given = plain("settings", header["settings"])
    if not isinstance(given, dict):
        raise SolutionError("the settings in the file are not a table; it is damaged or forged.")
    given = {name: value for name, value in given.items() if value is not None}
    count = {
        name: whole(name, given[name], LARGEST_COUNT) if name in given else None
        for name in ("interior", "boundary", "interface", "minimum", "inputs", "unknowns", "elements", "order")
    }
    unknowns, model = count["unknowns"], given.get("model")
    texts = {
        name: tuple(str(one) for one in listed(name, given.get(name, []))) for name in ("reasons", "tried", "embedding")
    }
    return Diagnostics(
        status=Status[header["status"]],
        method=str(given.get("method", "")),
        seconds=number("seconds", given.get("seconds", math.nan)),
        estimate=number("estimate", header.get("estimate", math.nan)),
        seed=whole("seed", header["seed"], LARGEST_SEED),
        reasons=texts["reasons"],
        tried=texts["tried"],
        trials=tuple(map(_trial, listed("trials", given.get("trials", [])))),
        judged=_judged(header.get("judged")),
        fit=_least_squares(header, tensors, given, count),
        training=None
        if model is None
        else TrainingSettings(
            str(given.get("charts", "")),
            count["inputs"] or 0,
            str(model),
            str(given.get("optimizer", "")),
            texts["embedding"],
        ),
        mesh=None if unknowns is None else MeshSize(unknowns, count["elements"], count["order"]),
        nonlinear=tuple(number("nonlinear", step) for step in listed("nonlinear", given.get("nonlinear", []))),
    )


def _judged(given: dict[str, Any] | None) -> Judged | None:
    """What the judge had found; its field is not in the file."""
    if given is None:
        return None
    by_piece = {text("piece", name): number("by piece", error) for name, error in given["by_piece"].items()}
    numbers = {name: number(name, given[name]) for name in ("rms", "estimate", "safety", "unresolved")}
    return Judged(
        by_piece=by_piece, decided=given["decided"] is True, reason=text("reason", given["reason"]), **numbers
    )


def _least_squares(
    header: dict[str, Any], tensors: dict[str, np.ndarray], given: dict[str, Any], count: dict[str, int | None]
) -> LeastSquares | None:
    terms = tuple(text("terms", term) for term in listed("terms", header["terms"]))
    history = History(terms, **{name: tensors[f"history.{name}"] for name in COLUMNS})
    lengths = {len(getattr(history, name)) for name in COLUMNS}
    if len(lengths) != 1 or history.loss_of_term.shape[1:] != (len(terms),):
        raise SolutionError("the parts of the file do not fit together; it is damaged or forged.")
    fit = LeastSquares(
        loss=number("loss", header["loss"]),
        steps=whole("steps", header["steps"], LARGEST_COUNT),
        history=history,
        held_out=tuple(map(_residual, listed("held_out", header["held_out"]))),
        held_out_loss=number("held_out_loss", header["held_out_loss"]),
        points=_points(given, count),
        weights=_weights(given.get("weights", "")),
    )
    return fit if fit.steps or len(history) or not math.isnan(fit.loss) else None


def _points(given: dict[str, Any], count: dict[str, int | None]) -> PointCounts | None:
    interior, boundary, interface = (count[name] for name in ("interior", "boundary", "interface"))
    if interior is None or boundary is None or interface is None:
        return None
    drawn = given.get("points")
    return PointCounts(interior, boundary, interface, count["minimum"], None if drawn is None else str(drawn))


def _weights(spec: Any) -> str | dict[str, float]:
    if isinstance(spec, dict):
        return {text("weights", name): number("weights", weight) for name, weight in spec.items()}
    return text("weights", spec)


def _trial(spec: dict[str, Any]) -> Trial:
    return Trial(
        whole("seed", spec["seed"], LARGEST_SEED),
        Status[spec["status"].upper()],
        whole("steps", spec["steps"], LARGEST_COUNT),
        number("held_out_loss", spec["held_out_loss"]),
        *(number(name, spec.get(name, math.nan)) for name in ("estimate", "difference")),
    )
