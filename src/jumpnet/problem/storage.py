"""Problems as plain data: to JSON and back, naming whatever cannot be stored."""

from __future__ import annotations

from typing import Any

import numpy as np

from jumpnet.errors import ProblemError
from jumpnet.fields import field_from_spec, tensor_from_spec
from jumpnet.geometry import Partition
from jumpnet.problem.conditions import Condition, Dirichlet, Jump, Neumann, Periodic, Robin
from jumpnet.problem.manufactured import DERIVED, manufactured
from jumpnet.problem.problem import Problem
from jumpnet.problem.sources import Data, PointSource

Spec = dict[str, Any]
# Conditions by their names in saved files.
KINDS = {"dirichlet": Dirichlet, "neumann": Neumann, "robin": Robin, "periodic": Periodic}


def problem_spec(problem: Problem) -> Spec:
    """A JSON-able description; the entry "missing" names what has none."""
    boundary = {
        part: {"kind": c.kind, "alpha": c.alpha.spec(), "g": c.g.spec()} for part, c in problem.boundary.items()
    }
    jumps = [
        {"pair": list(pair), "v": j.v.spec(), "w": j.w.spec(), "R": j.R.spec()} for pair, j in problem.jumps.items()
    ]
    data = problem.data
    spec: Spec = {
        "dim": problem.dim,
        "partition": problem.partition.spec(),
        "A": [a.spec() for a in problem.A],
        "lam": [field.spec() for field in problem.lam],
        "f": [field.spec() for field in problem.f],
        "boundary": boundary,
        "jumps": jumps,
        "exact": None if problem.exact is None else [field.spec() for field in problem.exact],
        "sources": [{"x": s.x.tolist(), "q": s.q} for s in problem.sources],
        "data": None if data is None else {key: value.tolist() for key, value in vars(data).items()},
        "mean": problem.mean,
        "K": list(problem.K),
    }
    return {**spec, "missing": _missing(spec)}


def _missing(spec: Spec) -> list[str]:
    """Names of all data without a description."""
    names = ["partition"] if spec["partition"] is None else []
    for datum in ("A", "lam", "f", "exact"):
        names += [f"{datum} in piece {i}" for i, s in enumerate(spec[datum] or ()) if s is None]
    for part, condition in spec["boundary"].items():
        names += [f"{key} on {part}" for key in ("alpha", "g") if condition[key] is None]
    for jump in spec["jumps"]:
        names += [f"{key} on interface {tuple(jump['pair'])}" for key in ("v", "w", "R") if jump[key] is None]
    return names


def problem_from_spec(spec: Spec) -> Problem:
    """The problem described; ProblemError if anything is missing."""
    if spec["missing"]:
        raise ProblemError(
            f"the problem was stored without {', '.join(spec['missing'])} (given as callables); "
            "state it again in Python."
        )
    parts = Partition.from_spec(spec["partition"])
    matrices = [tensor_from_spec(s) for s in spec["A"]]
    decay = [field_from_spec(s) for s in spec["lam"]]
    exact = None if spec["exact"] is None else [field_from_spec(s) for s in spec["exact"]]
    if spec["f"][0] == DERIVED:
        kinds = {part: _kind(s) for part, s in spec["boundary"].items()}
        R = {tuple(s["pair"]): field_from_spec(s["R"]) for s in spec["jumps"] if "R" in s}
        return manufactured(parts, exact, matrices, decay, kinds, R=R, K=spec.get("K", 1.0))
    return Problem(
        parts,
        matrices,
        decay,
        [field_from_spec(s) for s in spec["f"]],
        {part: _condition(s) for part, s in spec["boundary"].items()},
        {tuple(s["pair"]): _jump(s) for s in spec["jumps"]},
        exact=exact,
        sources=[PointSource(s["x"], s["q"]) for s in spec.get("sources", ())],
        data=_data(spec.get("data")),
        mean=spec.get("mean"),
        K=spec.get("K", 1.0),
    )


def _kind(spec: Spec) -> Any:
    kind = KINDS[spec["kind"]]
    return (Robin, field_from_spec(spec["alpha"])) if kind is Robin else kind


def _condition(spec: Spec) -> Condition:
    g = field_from_spec(spec["g"])
    if spec["kind"] == "robin":
        return Robin(field_from_spec(spec["alpha"]), g)
    return KINDS[spec["kind"]](g)


def _jump(spec: Spec) -> Jump:
    v, w = field_from_spec(spec["v"]), field_from_spec(spec["w"])
    return Jump(v, w, field_from_spec(spec["R"])) if "R" in spec else Jump(v, w)  # files of older versions have none


def _data(spec: Spec | None) -> list[Data]:
    """The measurements, piece by piece."""
    if spec is None:
        return []
    x, piece, u, weight = (np.array(spec[key]) for key in ("x", "piece", "u", "weight"))
    return [Data(x[piece == p], u[piece == p], weight[piece == p], int(p)) for p in np.unique(piece)]
