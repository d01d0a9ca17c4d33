"""Solutions as files: safetensors for the numbers, JSON in its header for everything else. Parsed, never executed."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from jumpnet.charts import Atlas
from jumpnet.errors import JumpnetError, SolutionError
from jumpnet.fields import field_from_spec, tensor_from_spec
from jumpnet.geometry import Partition
from jumpnet.models import network_from_spec, network_spec
from jumpnet.optim import History, Status
from jumpnet.problem import Problem
from jumpnet.solution.files import SOLUTION, damaged, read, write
from jumpnet.solution.report import Residual
from jumpnet.solution.solution import Solution

FORMAT = 1
COLUMNS = ("step", "loss", "loss_of_term", "damping", "step_norm", "seconds")


def save(solution: Solution, path: str | PathLike[str]) -> None:
    """Write a solution to one file, atomically."""
    arrays = {"theta": solution.theta} | {f"history.{name}": getattr(solution.history, name) for name in COLUMNS}
    try:
        write(Path(path), SOLUTION, _header(solution), arrays)
    except OSError as problem:
        raise SolutionError(
            f"{str(path)!r} cannot be written ({problem.strerror}); the solution is still in memory, "
            "give another path to solution.save(path)."
        ) from None


def load(path: str | PathLike[str]) -> Solution:
    """Read a solution back; it evaluates bit for bit, without the code that stated the problem."""
    header, tensors = read(path, SOLUTION)
    try:
        return _solution(header, tensors)
    except JumpnetError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, AssertionError) as problem:
        raise damaged(path, problem) from None


def _header(solution: Solution) -> dict[str, Any]:
    problem = None if solution.problem is None else solution.problem.spec()
    missing = list(solution.missing) if problem is None else list(problem.get("missing", ()))
    return {
        "format": FORMAT,
        "dim": solution.dim,
        "pieces": solution.pieces,
        "scale": solution.scale,
        "seed": solution.seed,
        "network": network_spec(solution.network),
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
    network = network_from_spec(header["network"])
    theta = tensors["theta"]
    if theta.shape != (network.size,):
        raise SolutionError(f"the file holds {theta.size} parameters where its network has {network.size}.")
    columns = {name: tensors[f"history.{name}"] for name in COLUMNS}
    return Solution(
        network=network,
        theta=theta,
        atlas=Atlas.from_spec(header["charts"]),
        scale=float(header["scale"]),
        dim=int(header["dim"]),
        pieces=int(header["pieces"]),
        partition=partition,
        tensors=tuple(None if tensor is None else tensor_from_spec(tensor) for tensor in header["tensors"]),
        status=Status[header["status"]],
        loss=float(header["loss"]),
        steps=int(header["steps"]),
        history=History(tuple(header["terms"]), **columns),
        seed=int(header["seed"]),
        held_out=tuple(Residual(*item) for item in header["held_out"]),
        held_out_loss=float(header["held_out_loss"]),
        estimate=float(header.get("estimate", "nan")),
        problem=problem,
        exact=None if header["exact"] is None else tuple(field_from_spec(item) for item in header["exact"]),
        settings=header["settings"],
        missing=tuple(header["missing"]),
    )
