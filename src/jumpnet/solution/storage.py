"""Solutions as files: safetensors for the numbers, JSON in its header for everything else. Parsed, never executed."""

import math
from os import PathLike
from typing import Any

import numpy as np

from jumpnet.charts import Atlas
from jumpnet.errors import JumpnetError, SolutionError
from jumpnet.fe.storage import element_functions, elements_from, store_elements
from jumpnet.fields import field_from_spec, tensor_from_spec
from jumpnet.geometry import Partition
from jumpnet.guard.budget import Budget, bounded
from jumpnet.models import Frozen, Network, network_from_spec, network_spec
from jumpnet.models.checked import finite, listed, number, plain, text, whole
from jumpnet.optim import History, Status
from jumpnet.problem import Problem, Supplement
from jumpnet.rows import Sites
from jumpnet.solution.files import NONSENSE, SOLUTION, damaged, file_path, read, write
from jumpnet.solution.report import Residual
from jumpnet.solution.solution import Solution

FORMAT = 1
# More than this is not meant seriously.
MOST_DIMENSIONS, LARGEST_COUNT, LARGEST_SEED = 100, 10**9, 2**64
COLUMNS = ("step", "loss", "loss_of_term", "damping", "step_norm", "seconds")


def save(solution: Solution, path: str | PathLike[str]) -> None:
    """Write a solution to one file, atomically."""
    arrays = {"theta": solution.theta} | {f"history.{name}": getattr(solution.history, name) for name in COLUMNS}
    network, more = store_elements(solution.network) or (network_spec(solution.network), {})
    try:
        write(file_path(path), SOLUTION, _header(solution, network), arrays | more)
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
        >>> solution = jn.solve(jn.Problem(jn.Partition(jn.Interval(0, 1)), f=-2.0))
        >>> solution.save("u.jumpnet")
        >>> bool(jn.load("u.jumpnet")([[0.3]])[0] == solution([[0.3]])[0])
        True
    """
    return bounded(budget, lambda: _load(path), what=repr(str(path)))


def _load(path: str | PathLike[str]) -> Solution:
    header, tensors = read(path, SOLUTION)
    try:
        return _fitting(_solution(header, tensors))
    except JumpnetError:
        raise
    except NONSENSE as problem:
        raise damaged(path, problem) from None


def _header(solution: Solution, network: dict[str, Any]) -> dict[str, Any]:
    problem = None if solution.problem is None else solution.problem.spec()
    missing = list(solution.missing) if problem is None else list(problem.get("missing", ()))
    return {
        "format": FORMAT,
        "dim": solution.dim,
        "pieces": solution.pieces,
        "scale": solution.scale,
        "seed": solution.seed,
        "network": network,
        "charts": solution.atlas.spec(),
        "partition": None if solution.partition is None else solution.partition.spec(),
        "tensors": [None if tensor is None else tensor.spec() for tensor in solution.tensors],
        "problem": None if missing else problem,
        "exact": _exact_spec(solution),
        "missing": missing,
        "status": solution.status.name,
        "loss": solution.loss,
        "steps": solution.steps,
        "held_out": [[r.term, r.rows, r.physical, r.scaled] for r in solution.held_out],
        "held_out_loss": solution.held_out_loss,
        "estimate": solution.estimate,
        "terms": list(solution.history.terms),
        "settings": solution.settings,
        "supplement": solution.supplement.spec(),
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
    columns = {name: tensors[f"history.{name}"] for name in COLUMNS}
    return Solution(
        network=network,
        theta=theta,
        atlas=Atlas.from_spec(header["charts"]),
        scale=_scale(header["scale"]),
        dim=whole("dim", header["dim"], MOST_DIMENSIONS),
        pieces=whole("pieces", header["pieces"]),
        partition=partition,
        tensors=tuple(None if tensor is None else tensor_from_spec(tensor) for tensor in header["tensors"]),
        status=Status[header["status"]],
        loss=number("loss", header["loss"]),
        steps=whole("steps", header["steps"], LARGEST_COUNT),
        history=History(tuple(text("terms", term) for term in listed("terms", header["terms"])), **columns),
        seed=whole("seed", header["seed"], LARGEST_SEED),
        held_out=tuple(map(_residual, listed("held_out", header["held_out"]))),
        held_out_loss=number("held_out_loss", header["held_out_loss"]),
        estimate=number("estimate", header.get("estimate", math.nan)),
        problem=problem,
        exact=None if header["exact"] is None else tuple(field_from_spec(item) for item in header["exact"]),
        settings=_settings(header["settings"]),
        missing=tuple(text("missing", one) for one in listed("missing", header["missing"])),
        supplement=_supplement(header),
    )


def _scale(value: Any) -> float:
    if not finite("scale", value) > 0:
        raise SolutionError(f"the file says scale = {value:g}, not a positive number; it is damaged or forged.")
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
    """What the network is without; files of older versions have nothing of the kind."""
    spec = header.get("supplement")
    return Supplement() if spec is None else Supplement.from_spec(spec, int(header["dim"]), int(header["pieces"]))


def _settings(spec: Any) -> dict[str, Any]:
    """The settings: notes that are shown, of which the report uses some as numbers or texts."""
    found = plain("settings", spec)
    if not isinstance(found, dict):
        raise SolutionError("the settings in the file are not a table; it is damaged or forged.")
    for name in ("interior", "boundary", "interface", "minimum", "unknowns"):
        if found.get(name) is not None:
            whole(name, found[name], LARGEST_COUNT)
    if found.get("seconds") is not None:
        number("seconds", found["seconds"])
    if "reasons" in found:
        found["reasons"] = [str(reason) for reason in listed("reasons", found["reasons"])]
    if "trials" in found:
        found["trials"] = [_trial(trial) for trial in listed("trials", found["trials"])]
    return found


def _trial(spec: dict[str, Any]) -> dict[str, Any]:
    known = {name: number(name, spec[name]) for name in ("estimate", "difference") if name in spec}
    return spec | {
        "seed": whole("seed", spec["seed"], LARGEST_SEED),
        "steps": whole("steps", spec["steps"], LARGEST_COUNT),
        "held_out_loss": number("held_out_loss", spec["held_out_loss"]),
        "status": Status[spec["status"].upper()].name.lower(),
        **known,
    }


def _fitting(solution: Solution) -> Solution:
    """The solution, if its parts fit together: then no question about it fails for what was in the file."""
    network, parts, history = solution.network, solution.partition, solution.history
    frozen = isinstance(network, Frozen)
    lengths = {len(getattr(history, name)) for name in COLUMNS}
    if not (
        0 < solution.pieces <= _pieces_of(network)
        and solution.atlas.inputs == (solution.dim if frozen else network.inputs)
        and (parts is None or (parts.dim, parts.size) == (solution.dim, solution.pieces))
        and (solution.exact is None or len(solution.exact) == solution.pieces)
        and len(lengths) == 1
        and history.loss_of_term.shape[1:] == (len(history.terms),)
        and solution.theta.dtype == float
    ):
        raise SolutionError("the parts of the file do not fit together; it is damaged or forged.")
    _probe(solution)
    return solution


def _pieces_of(network: Network | Frozen) -> int:
    """How many pieces a network has functions for."""
    if not isinstance(network, Frozen):
        return network.cells
    return len(network.of_cell) if network.cells is None else network.cells.pieces


def _probe(solution: Solution) -> None:
    """Charts and frozen functions at the origin, seen from each piece: shapes that do not fit raise an error.

    Not so finite elements, which are known in their pieces only; their arrays have been looked at one by one.
    """
    d, network = solution.dim, solution.network

    def site(cell: int) -> Sites:
        return Sites(np.zeros((1, d)), np.array([cell]), np.ones(1), np.ones((1, d)), np.zeros((1, d, d)))

    with np.errstate(all="ignore"):  # the origin may be a pole
        for piece in range(solution.pieces):
            solution.atlas.push(site(piece))
        if isinstance(network, Frozen):
            if network.cells is not None and network.cells.dim != d:
                raise SolutionError("the parts of the file do not fit together; it is damaged or forged.")
            for cell, features in enumerate(() if element_functions(network) else network.of_cell):
                features.functionals(site(cell))
