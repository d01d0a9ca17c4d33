"""The content of a problem file as plain data: pieces, interfaces, conditions, sizes and contrasts."""

from typing import Any

import numpy as np

from jumpnet.files.problemfile import ProblemFile
from jumpnet.problem import Problem

PROBES = 64  # sample points of coefficients in each piece and on each interface
SEED = 60217  # of the sample points: any number, always the same


def explained(read: ProblemFile) -> dict[str, Any]:
    """Everything that `jumpnet check` shows; JSON can hold it."""
    problem, parts = read.problem, read.problem.partition
    sizes = _sizes(problem)
    conditions = {part: condition.kind for part, condition in problem.boundary.items()}
    return {
        "title": read.title,
        "dimensions": problem.dim,
        "domain": "image" if read.file.domain is None else read.file.domain.kind,
        "constants": dict(read.builder.scope.constants),
        "pieces": [
            {"number": k, "name": name, "measure": parts.measure(k), "A": list(sizes[k])}
            for k, name in enumerate(parts.names)
        ],
        "interfaces": [
            {
                "pair": list(interface.pair),
                "between": [parts.names[k] for k in interface.pair],
                "measure": interface.measure,
                "contrast": _contrast(problem, interface.pair),
                "resistance": _resistance(problem, interface.pair),
            }
            for interface in parts.interfaces
        ],
        "boundary": conditions,
        "contrast": max(high for _, high in sizes) / min(low for low, _ in sizes),
        "equations": {"pieces": parts.size, "boundary": len(conditions), "jumps": 2 * len(parts.interfaces)},
        "sources": [{"x": s.x.tolist(), "q": s.q, "piece": parts.names[s.piece]} for s in problem.sources],
        "measurements": 0 if problem.data is None else len(problem.data),
        "mean": problem.mean,
        "exact solution": problem.exact is not None,
        "nonlinear": read.nonlinear is not None,
        "solve": read.file.solve.model_dump(exclude_none=True),
        "probes": {name: len(x) for name, (x, _) in read.probes().items()},
        "quantities": {name: entry.kind for name, entry in read.file.quantities.items()},
    }


def _sizes(problem: Problem) -> list[tuple[float, float]]:
    """The smallest and the largest eigenvalue of A in each piece."""
    parts = problem.partition
    x, labels = parts.sample_interior(PROBES * parts.size, seed=SEED, minimum=PROBES)
    found = []
    for piece in range(parts.size):
        eigenvalues = np.linalg.eigvalsh(problem.A[piece].value(x[labels == piece]))
        found.append((float(eigenvalues.min()), float(eigenvalues.max())))
    return found


def _resistance(problem: Problem, pair: tuple[int, int]) -> list[float]:
    """The lowest and the highest contact resistance of an interface."""
    x, _ = problem.partition.sample_interface(pair, PROBES, seed=SEED)
    R = problem.resistance(pair, x)
    return [float(R.min()), float(R.max())]


def _contrast(problem: Problem, pair: tuple[int, int]) -> float:
    """The largest ratio of n . A n across an interface."""
    x, normals = problem.partition.sample_interface(pair, PROBES, seed=SEED)
    across = [np.einsum("ni,nij,nj->n", normals, problem.A[piece].value(x), normals) for piece in pair]
    ratio = across[0] / across[1]
    return float(np.maximum(ratio, 1.0 / ratio).max())
