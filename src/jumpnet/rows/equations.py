"""From a problem and its points to rows: each equation of the problem is one family of this file."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from jumpnet.collocation import Collocation
from jumpnet.geometry.cells import Cuts
from jumpnet.problem import Problem
from jumpnet.rows.table import Rows, row_family, stack


def equations(problem: Problem, points: Collocation) -> Rows:
    """Every equation of the problem at the given points, unweighted; equations of the same kind follow each other."""
    families = [*_pde(problem, points), *_boundary(problem, points), *_jumps(problem, points)]
    return stack(sorted(families, key=_kind))


def values(u: Float[np.ndarray, " n"], x: Float[np.ndarray, "n d"], piece: Int[np.ndarray, " n"]) -> Rows:
    """Function approximation: u is given at points."""
    pieces = np.unique(piece)
    return stack(row_family(f"value {p}", u[piece == p], (x[piece == p], int(p), 1.0, 0.0, 0.0)) for p in pieces)


def _kind(rows: Rows) -> tuple[int, int]:
    """Kinds in the order of the text books, Dirichlet before Neumann: few runs make a small compiled program."""
    kind = ["pde", "boundary", "jump", "flux", "cut"].index(rows.terms[0].split()[0])
    return kind, rows.layout[0].order if len(rows) else 0


def _pde(problem: Problem, points: Collocation) -> Iterator[Rows]:
    """div(A grad u) - lam u = f, that is A : hess u + (div A) . grad u - lam u = f."""
    for piece in range(problem.partition.size):
        x = points.interior[points.piece == piece]
        if len(x):
            A, div_A, lam, f = problem.pde(piece, x)
            yield row_family(f"pde {piece}", f, (x, piece, -lam, div_A, A))


def _boundary(problem: Problem, points: Collocation) -> Iterator[Rows]:
    """u = g, A grad u . n = g, or alpha u + A grad u . n = g, part by part."""
    for index, part in enumerate(problem.partition.boundary_parts):
        mine = points.boundary_part == index
        if not mine.any():
            continue
        x, n, piece = points.boundary[mine], points.boundary_normal[mine], points.boundary_piece[mine]
        kind, alpha, g = problem.boundary_data(part, x, n, piece)
        term = part if part == "boundary" else f"boundary {part}"  # a boundary in one part has only this name
        if kind == "dirichlet":
            yield row_family(term, g, (x, piece, 1.0, 0.0, 0.0))
        else:
            conormal = np.empty_like(x)
            for p in np.unique(piece):
                conormal[piece == p] = _conormal(problem, int(p), x[piece == p], n[piece == p])
            yield row_family(term, g, (x, piece, alpha if kind == "robin" else 0.0, conormal, 0.0))


def _jumps(problem: Problem, points: Collocation) -> Iterator[Rows]:
    """[u] = v and [A grad u . n] = w: the lower piece minus the higher, n from the higher to the lower."""
    for (a, b), (x, n) in points.interfaces.items():
        v, w = problem.jump_data((a, b), x, n)
        yield row_family(f"jump {a}-{b}", v, (x, a, 1.0, 0.0, 0.0), (x, b, -1.0, 0.0, 0.0))
        flux_a, flux_b = _conormal(problem, a, x, n), _conormal(problem, b, x, n)
        yield row_family(f"flux {a}-{b}", w, (x, a, 0.0, flux_a, 0.0), (x, b, 0.0, -flux_b, 0.0))


def cuts(problem: Problem, cuts: Cuts) -> Rows:
    """[u] = 0 and [A grad u . n] = 0 where a piece is cut into cells; sites are in cells, not in pieces."""
    families = []
    for piece in np.unique(cuts.piece):
        mine = cuts.piece == piece
        x, low, high = cuts.x[mine], cuts.low[mine], cuts.high[mine]
        flux = _conormal(problem, int(piece), x, np.eye(problem.dim)[cuts.axis[mine]])
        zero = np.zeros(len(x))
        families.append(row_family(f"cut {piece}", zero, (x, low, 1.0, 0.0, 0.0), (x, high, -1.0, 0.0, 0.0)))
        families.append(row_family(f"cut flux {piece}", zero, (x, low, 0.0, flux, 0.0), (x, high, 0.0, -flux, 0.0)))
    return stack(families)


def _conormal(problem: Problem, piece: int, x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """A n, so that (A n) . grad u is the flux through a surface with normal n (A is symmetric)."""
    return np.einsum("nij,nj->ni", problem.A[piece].value(x), n)
