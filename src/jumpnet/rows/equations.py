"""From a problem and its points to rows: each equation of the problem is one family of this file."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Float, Int

from jumpnet.collocation import Collocation
from jumpnet.geometry.cells.cuts import Cuts
from jumpnet.problem import Problem, Supplement
from jumpnet.rows.conditions import ConditionKey, Kind
from jumpnet.rows.table import Rows, row_family, stack

# The distance inside the box at which the pieces of a periodic side are looked up, relative to the domain.
INWARD = 1e-9
# Points and seed of the row that fixes the mean.
MEAN_POINTS, MEAN_SEED = 256, 35
# The order of the groups of conditions in the table.
ORDER = ("pde", "boundary", "jump", "flux", "cut", "data", "mean")


def equations(problem: Problem, points: Collocation) -> Rows:
    """Every equation of the problem at the given points, unweighted; equations of the same kind follow each other."""
    others = [_smooth(problem, rows) for rows in (*_data(problem), *_mean(problem))]
    return stack(sorted([*_pde(problem, points), *_on_surfaces(problem, points), *others], key=_kind))


def on_surfaces(problem: Problem, points: Collocation) -> Rows:
    """The equations at points of the boundary and of interfaces only."""
    return stack(_on_surfaces(problem, points))


def _on_surfaces(problem: Problem, points: Collocation) -> Iterator[Rows]:
    # A is constant and lam = 0 in the piece of a point source, whose field solves the equation: no row changes.
    for rows in (*_boundary(problem, points), *_periodic(problem, points), *_jumps(problem, points)):
        yield _smooth(problem, rows)


def values(u: Float[np.ndarray, " n"], x: Float[np.ndarray, "n d"], piece: Int[np.ndarray, " n"]) -> Rows:
    """Function approximation: u is given at points."""
    pieces = np.unique(piece)
    return stack(
        row_family(ConditionKey(Kind.VALUE, (p,)), u[piece == p], (x[piece == p], p, 1.0, 0.0, 0.0))
        for p in pieces.tolist()
    )


def _kind(rows: Rows) -> tuple[int, int]:
    """Sorting key: groups in ORDER, Dirichlet before Neumann; few runs make a small compiled program."""
    group = rows.terms[0].kind.group
    return ORDER.index(group), int(group == "boundary" and bool(np.any(rows.sites.a1)))


def _pde(problem: Problem, points: Collocation) -> Iterator[Rows]:
    """div(A grad u) - lam u = f, that is A : hess u + (div A) . grad u - lam u = f."""
    for piece in range(problem.partition.size):
        x = points.interior[points.piece == piece]
        if len(x):
            A, div_A, lam, f = problem.pde(piece, x)
            yield row_family(ConditionKey(Kind.PDE, (piece,)), f, (x, piece, -lam, div_A, A))


def boundary_points(problem: Problem, points: Collocation) -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
    """The parts of the boundary that have points: their names, points, normals and pieces."""
    number = points.boundary_part
    if problem.partition.named:  # cells know of walls only
        number = problem.partition.part_numbers(points.boundary, points.boundary_normal, points.boundary_piece)
    for index, part in enumerate(problem.partition.boundary_parts):
        mine = number == index
        if mine.any():
            yield part, points.boundary[mine], points.boundary_normal[mine], points.boundary_piece[mine]


def boundary_key(part: str) -> ConditionKey:
    """The key of the condition on a part; a boundary in one part has no name for it."""
    return ConditionKey(Kind.BOUNDARY, part=None if part == "boundary" else part)


def _boundary(problem: Problem, points: Collocation) -> Iterator[Rows]:
    """u = g, A grad u . n = g, or alpha u + A grad u . n = g, part by part."""
    for part, x, n, piece in boundary_points(problem, points):
        kind, alpha, g = problem.boundary_data(part, x, n, piece)
        key = boundary_key(part)
        if kind == "periodic":
            continue
        if kind == "dirichlet":
            yield row_family(key, g, (x, piece, 1.0, 0.0, 0.0))
        else:
            conormal = _conormals(problem, piece, x, n)
            yield row_family(key, g, (x, piece, alpha if kind == "robin" else 0.0, conormal, 0.0))


def _periodic(problem: Problem, points: Collocation) -> Iterator[Rows]:
    """u(x + L e) - u(x) = v and the same flux along e, for each pair of periodic sides.

    Points drawn on either side are taken on both.
    """
    parts = problem.partition
    lower, upper = (np.asarray(end, float) for end in parts.bounds)
    for axis, along in enumerate(np.eye(parts.dim)):
        low_part = f"x{axis + 1}-"
        if low_part not in problem.boundary or problem.boundary[low_part].kind != "periodic":
            continue
        x = points.boundary[np.abs(points.boundary_normal[:, axis]) > 0.5]
        if not len(x):
            continue
        below, above = x.copy(), x.copy()
        below[:, axis], above[:, axis] = lower[axis], upper[axis]
        step = INWARD * parts.domain.size * along
        first, second = parts.label(below + step), parts.label(above - step)
        normals = np.broadcast_to(along, x.shape)
        v = problem.boundary_data(low_part, below, normals, first)[2]
        value_key, flux_key = (
            ConditionKey(kind, part=f"x{axis + 1}") for kind in (Kind.PERIODIC_VALUE, Kind.PERIODIC_FLUX)
        )
        yield row_family(value_key, v, (above, second, 1.0, 0.0, 0.0), (below, first, -1.0, 0.0, 0.0))
        flux = [_conormals(problem, piece, at, normals) for at, piece in ((above, second), (below, first))]
        yield row_family(
            flux_key, np.zeros(len(x)), (above, second, 0.0, flux[0], 0.0), (below, first, 0.0, -flux[1], 0.0)
        )


def _jumps(problem: Problem, points: Collocation) -> Iterator[Rows]:
    """[u] = v + R A grad u . n and [A grad u . n] = w: the lower piece minus the higher, n from that to the lower.

    The flux that R acts on is the mean of both sides'.
    """
    for (a, b), (x, n) in points.interfaces.items():
        v, w = problem.jump_data((a, b), x, n)
        half = 0.5 * problem.resistance((a, b), x)[:, None]
        flux_a, flux_b = _conormal(problem, a, x, n), _conormal(problem, b, x, n)
        jump, flux = (ConditionKey(kind, (a, b)) for kind in (Kind.JUMP, Kind.FLUX))
        yield row_family(jump, v, (x, a, 1.0, -half * flux_a, 0.0), (x, b, -1.0, -half * flux_b, 0.0))
        yield row_family(flux, w, (x, a, 0.0, flux_a, 0.0), (x, b, 0.0, -flux_b, 0.0))


def traced_cuts(problem: Problem, cuts: Cuts, trace: np.ndarray, size: np.ndarray) -> Rows:
    """u and its flux on cuts between cells of a piece, as unknowns of their own that both sides are to match.

    Cells are coupled through the cuts only. The values are functions of cell `trace`, the fluxes those of the next one;
    `size` is a length of the cells, which scales fluxes to the size of values. Each cell has families of its own.
    """
    flux = np.empty_like(cuts.x)
    for piece in np.unique(cuts.piece):
        mine = cuts.piece == piece
        flux[mine] = _conormal(problem, int(piece), cuts.x[mine], cuts.normal[mine])
    cell, x, piece, flux, value = (
        np.concatenate(sides)
        for sides in ((cuts.low, cuts.high), *((one, one) for one in (cuts.x, cuts.piece, flux, trace)))
    )
    scale, zero = np.abs(flux).max(axis=1) / np.tile(size, 2), np.zeros(len(x))
    values = row_family(ConditionKey(Kind.CUT), zero, (x, cell, 1.0, 0.0, 0.0), (x, value, -1.0, 0.0, 0.0))
    fluxes = row_family(ConditionKey(Kind.CUT_FLUX), zero, (x, cell, 0.0, flux, 0.0), (x, value + 1, -scale, 0.0, 0.0))
    cells, first, term = np.unique(cell, return_index=True, return_inverse=True)
    places = list(zip(piece[first].tolist(), cells.tolist(), strict=True))
    return stack(
        replace(rows, term=term, terms=tuple(ConditionKey(rows.terms[0].kind, (of,), one) for of, one in places))
        for rows in (values, fluxes)
    )


def _data(problem: Problem) -> Iterator[Rows]:
    """u(x_i) = u_i, each with its weight; independent of the collocation points."""
    data = problem.data
    if data is None:
        return
    for piece in np.unique(data.piece).tolist():
        mine = data.piece == piece
        w = data.weight[mine]
        rows = row_family(ConditionKey(Kind.DATA, (piece,)), data.u[mine], (data.x[mine], piece, 1.0, 0.0, 0.0))
        yield rows.weighted(w)


def _mean(problem: Problem) -> Iterator[Rows]:
    """One row that fixes the constant where nothing else does: the mean over points of the largest piece.

    It is taken over one piece, so that the row does not couple all pieces; the engine then adds the constant that gives
    the mean over the domain.
    """
    if problem.mean is None:
        return
    parts = problem.partition
    x, labels = parts.sample_interior(MEAN_POINTS, seed=MEAN_SEED)
    piece = int(np.argmax(np.bincount(labels, minlength=parts.size)))
    x = x[labels == piece]
    one = row_family(ConditionKey(Kind.MEAN, (piece,)), np.zeros(len(x)), (x, piece, 1 / len(x), 0.0, 0.0))
    yield Rows(one.sites, np.array([len(x)]), np.array([problem.mean]), np.ones(1), np.zeros(1, int), one.terms)


def _smooth(problem: Problem, rows: Rows) -> Rows:
    """The equations for u minus the fields of point sources."""
    if not problem.sources:
        return rows
    s = rows.sites
    x, cell, a0, a1 = (np.asarray(part) for part in (s.x, s.cell, s.a0, s.a1))
    known = Supplement(0.0, problem.sources).functional(x, cell, a0, a1)
    return replace(rows, rhs=rows.rhs - np.bincount(rows.row_of_site, known, len(rows)))


def _conormals(problem: Problem, piece: np.ndarray, x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """A n with each point's own A."""
    conormal = np.empty_like(x)
    for p in np.unique(piece):
        conormal[piece == p] = _conormal(problem, int(p), x[piece == p], n[piece == p])
    return conormal


def _conormal(problem: Problem, piece: int, x: np.ndarray, n: np.ndarray) -> np.ndarray:
    """A n, so that (A n) . grad u is the flux through a surface with normal n (A is symmetric)."""
    return np.einsum("nij,nj->ni", problem.A[piece].value(x), n)
