"""The judge in two and three dimensions: the defect problem in refined spaces, until its solution has converged."""

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Int

from jumpnet.errors import GeometryError
from jumpnet.fe.field import Field
from jumpnet.fe.mesh import Mesh
from jumpnet.fe.meshing.edges import graded_edges
from jumpnet.fe.meshing.first import first_mesh
from jumpnet.fe.refinement import graded, refined, split
from jumpnet.fe.simplex import gauss
from jumpnet.fe.small import determinant
from jumpnet.fe.space import Space
from jumpnet.geometry.walls.corners import corners_of
from jumpnet.guard.memory import too_much
from jumpnet.judge.answers import Answer, Elements, Smooth, Sources
from jumpnet.judge.edge_exponents import least_exponent
from jumpnet.judge.edges import singular_edges
from jumpnet.judge.finding import Finding
from jumpnet.judge.level import Level, solved
from jumpnet.judge.options import JudgeOptions
from jumpnet.judge.singular import changes_at_vertices, changes_on_boundary, singular_corners
from jumpnet.problem import Problem
from jumpnet.solution import Solution, quantities

GROWTH = {2: 1.2, 3: 1.3}  # the time of a space is expected to grow with this power of the unknowns, by dimension
ROUNDING = 1e-14  # of the size of u: changes below it are rounding
OF_MEAN = {2: 8, 3: 5}  # Gauss points in each direction for the mean of an answer
MOST_LAYERS = 12  # towards a singular point: the smallest elements have 4e-9 of the first size, above rounding
MOST_CUTS = 4  # of a boundary face at changes of its data
TIMED = 500  # points at which an expansion is evaluated to learn how long all of them take
RESONANT = 1e-3  # of |lam|: an eigenvalue below that, and below its own error, ends the loop


def ladder(dim: int) -> Iterator[tuple[int, int]]:
    """Refinements and orders; each space has two or three times as many unknowns as the one before."""
    first = [(0, 3), (0, 5)] if dim == 2 else [(0, 2), (0, 3), (0, 4)]
    yield from first
    for k in range(1, 10):
        yield from ((k, 4), (k, 6)) if dim == 2 else ((k, 3), (k, 4))


def judge_smooth(solution: Solution, problem: Problem, options: JudgeOptions, tol: float | None) -> Finding:
    """The error of an answer in closed form, on a mesh of the judge's own."""
    parts = problem.partition
    lower, upper = parts.bounds
    size, began = float(np.max(upper - lower)) / options.across[parts.dim], time.perf_counter()
    try:
        base = first_mesh(problem, size, options.curved, options.seconds)
    except GeometryError as error:
        return undecided(f"not judged: {error}")
    options = replace(options, seconds=options.seconds - (time.perf_counter() - began))
    if not options.seconds > 0:
        return undecided("not judged: the mesh took all of the time.")
    meshes = Meshes(problem, base, options)
    answer, options = Smooth(solution), _patient(options, meshes.singular)
    spaces = ((Space(meshes(k, rung), order), answer) for rung, (k, order) in enumerate(ladder(parts.dim)))
    if _too_long(answer, base, options.seconds):
        return undecided("not judged: taking its residual at all points would exceed what is left of the time limit.")
    mean, doubt = _mean(solution, problem, base, answer)
    found = settled(problem, spaces, options, tol, mean)
    return replace(found, singular=meshes.singular, unresolved=found.unresolved + doubt)


def _too_long(answer: Smooth, mesh: Mesh, seconds: float) -> bool:
    """Whether an expansion takes longer to evaluate at the points of the first space, to go by a few of them."""
    if not np.isfinite(seconds) or answer.solution.network.expansion is None:
        return False
    order = next(ladder(mesh.dim))[1]
    x, piece = mesh.points(np.full((1, mesh.dim), 1.0 / (mesh.dim + 1)))[:, 0], mesh.piece.astype(np.int32)
    some = np.linspace(0, len(x) - 1, min(TIMED, len(x))).astype(int)
    second = np.broadcast_to(np.eye(mesh.dim), (len(some), mesh.dim, mesh.dim))
    first = np.zeros((len(some), mesh.dim))
    took = np.inf
    for _ in range(2):  # the first call may prepare something
        began = time.perf_counter()
        answer.solution.representation.functional(x[some], piece[some], 1.0, first, second)
        took = time.perf_counter() - began
    return took / len(some) * len(x) * (order + 1) ** mesh.dim > seconds


class Meshes:
    """Meshes of the judge: a first one refined, and graded towards singular points."""

    def __init__(self, problem: Problem, base: Mesh, options: JudgeOptions):
        self._options, self._made, self._refined, self._vertices, self.singular = options, {}, {}, [], False
        if problem.dim == 2:
            base, self._vertices, self.singular = graded_vertices(problem, base)
        self._refined[0] = base

    def __call__(self, refinements: int, rung: int) -> Mesh:
        """The mesh refined a number of times; with more layers towards singular points from rung to rung."""
        if refinements not in self._refined:
            self._refined[refinements] = refined(self._refined[refinements - 1])
        mesh = self._refined[refinements]
        if not self._vertices:
            return mesh
        if (refinements, rung) not in self._made:
            layers = self._options.graded + rung * self._options.graded // 2
            self._made[refinements, rung] = graded(mesh, self._vertices, min(layers, MOST_LAYERS))
        return self._made[refinements, rung]


def graded_vertices(problem: Problem, mesh: Mesh) -> tuple[Mesh, list[int], bool]:
    """The vertices to grade towards, and whether some are singular points.

    Where conditions or boundary values change inside faces, vertices are inserted. Where several pieces meet, u may be
    smooth, but trial functions of the answer need not be.
    """
    singular, size = list(singular_corners(problem)), problem.partition.domain.size
    meeting = [corner.place for corner in corners_of(problem.partition) if len(set(corner.pieces) - {-1}) > 1]
    corners = [corner.place for corner in corners_of(problem.partition)]
    found = [vertex for vertex in changes_at_vertices(problem, mesh) if not _at(mesh.vertices[vertex], corners, size)]
    changing = bool(found)
    for _ in range(MOST_CUTS):  # of one face
        changes = {change.element: change for change in changes_on_boundary(problem, mesh)}
        for element in sorted(changes, reverse=True):  # parts come last: others keep their numbers
            mesh, vertex = split(mesh, element, changes[element].face, changes[element].share)
            found.append(vertex)
        changing |= any(change.singular for change in changes.values())
        if not changes:
            break
    for place in (*singular, *meeting):
        gap = np.linalg.norm(mesh.vertices - place, axis=1)
        if np.nanmin(gap) < 1e-6 * size:
            found.append(int(np.nanargmin(gap)))
    return mesh, sorted(set(found)), bool(singular or changing)


def _singular_vertices(problem: Problem, mesh: Mesh) -> list[int]:
    """The singular points among the vertices of finite elements, whose meshes have them where conditions change."""
    size, found = problem.partition.domain.size, list(changes_at_vertices(problem, mesh))
    for place in singular_corners(problem):
        gap = np.linalg.norm(mesh.vertices - place, axis=1)
        if np.nanmin(gap) < 1e-6 * size:
            found.append(int(np.nanargmin(gap)))
    return sorted(set(found))


def _at(x: np.ndarray, places: list[np.ndarray], size: float) -> bool:
    return any(np.linalg.norm(x - place) < 1e-6 * size for place in places)


def judge_elements(
    field: Field, solution: Solution, problem: Problem, options: JudgeOptions, tol: float | None
) -> Finding:
    """The error of finite elements, on their own mesh with higher orders and more layers at singular points.

    In their own space it would be zero, as their residual is orthogonal to that space.
    """
    singular = np.array((_singular_vertices if problem.dim == 2 else singular_edges)(problem, field.mesh), int)
    options = _patient(options, len(singular) > 0)
    beside = solution.representation.supplement
    spaces = _higher(field, Sources(beside) if beside.given else None, singular, options)
    mean, doubt = _mean(solution, problem)
    found = settled(problem, spaces, options, tol, mean, len(singular) > 0)
    exponent = least_exponent(problem, field.mesh, singular) if len(singular) and problem.dim == 3 else 0.0
    return replace(found, singular=len(singular) > 0, exponent=exponent, unresolved=found.unresolved + doubt)


def _patient(options: JudgeOptions, singular: bool) -> JudgeOptions:
    """The options, with the change that singular points allow."""
    return replace(options, change=max(options.change, options.singular_change)) if singular else options


def _higher(
    field: Field, beside: Sources | None, singular: Int[np.ndarray, " ..."], options: JudgeOptions
) -> Iterator[tuple[Space, Answer]]:
    """Spaces beyond that of elements, and the elements on their meshes, beside the fields of point sources.

    `singular` are vertices in the plane, edges in space.
    """
    for more in range(1, 1 + options.higher):
        if not len(singular):
            yield Space(field.mesh, field.order + more), Elements(field, beside)
            continue
        order = field.order + more
        if field.mesh.dim == 3:  # layers and orders in turn: both at once are expensive in space
            mesh, order = graded_edges(field.mesh.as_origin(), singular, more - 1), order - more // 2
        else:
            mesh = graded(field.mesh.as_origin(), singular.tolist(), min(more * options.layers_per_order, MOST_LAYERS))
        yield (
            Space(mesh, order),
            Elements(replace(field, mesh=mesh, values=mesh.prolonged(field.values, field.order)), beside),
        )


def settled(
    problem: Problem,
    spaces: Iterator[tuple[Space, Answer]],
    options: JudgeOptions,
    tol: float | None,
    mean: float | None,
    singular: bool = False,
) -> Finding:
    """The error in the first space in which it has converged; each space comes with the answer on its mesh.

    For finite elements in the plane without singular points (`analytic`), the modes of the next degree are at most a
    fifth of those of the last, and the error beyond the next degree is likewise a fifth: the first space suffices.
    """
    began, last, before, change, least, answer = time.perf_counter(), None, None, np.inf, 0.0, None
    analytic = problem.dim == 2 and not singular
    alone = problem.dim == 2 or not singular  # at edges in space the second space is the first one with more layers
    for space, answer in spaces:
        if last is not None and not _affordable(space, last, time.perf_counter() - began, options):
            break
        level = solved(problem, space, answer, mean)
        if isinstance(answer, Elements) and last is None and alone:
            decay = level.field.highest() / max(answer.field.highest(), 1e-300) if analytic else np.inf
            clear = tol is not None and _clear(level, tol, options, options.clear_at_once[problem.dim])
            if (clear or decay <= options.change) and _resolved(level, options):
                return finding(problem, level, answer, min(decay, options.next_order))
        if last is not None:
            change = level.difference(last)
            least = least or ROUNDING * _size(level, answer)
            clear = tol is not None and all(_clear(one, tol, options, options.clear) for one in (last, level))
            enough = _settled(level, last, change, options) or change * _rms(level) <= least or clear
            if enough and _resolved(level, options):
                return finding(problem, level, answer, change)
        last, before = level, last
        if before is not None and _resonant(last, options) and _resonant(before, options):
            break
    if last is None or before is None or answer is None:
        return undecided(
            "undecided: the first spaces have more unknowns than it may have, or take longer, or more memory."
        )
    found = finding(problem, last, answer, change)
    return replace(found, reason=_why(last, change, options))


def finding(problem: Problem, level: Level, answer: Answer, change: float) -> Finding:
    """The result of a level."""
    e = level.sampled()
    return Finding(
        level.field,
        level.integrals(e**2),
        level.integrals(np.ones_like(e)),
        unresolved=level.unresolved(problem, answer) + float(np.finfo(float).eps) * _size(level, answer),
        change=change,
        unknowns=level.space.size,
        total=level.integrals(e),
        fluxes=level.fluxes(problem),
        means=level.means(),
    )


def undecided(reason: str) -> Finding:
    """A result without an error, and the reason."""
    return Finding(None, (np.nan,), (1.0,), unresolved=np.nan, change=np.nan, reason=reason)


def _mean(
    solution: Solution, problem: Problem, mesh: Mesh | None = None, answer: Smooth | None = None
) -> tuple[float | None, float]:
    """The mean of e where nothing else fixes it, and what is not known of it.

    An answer in closed form has its constant from the rules of the partition, and would seem to have none of their
    errors: its mean is taken on the mesh. Where point sources are too near for that, the rules of the partition are
    used.
    """
    if problem.mean is None:
        return None, 0.0
    found = quantities.mean(solution)
    if mesh is None or answer is None or problem.sources:
        return problem.mean - found.value, found.error
    xi, w = gauss(mesh.dim, OF_MEAN[mesh.dim])
    weight = w * np.abs(determinant(mesh.jacobians(xi)))
    deviation = answer.value(mesh, xi) - found.value
    mean = found.value + float(np.sum(weight * deviation) / np.sum(weight))
    return problem.mean - mean, abs(mean - found.value)


def _size(level: Level, answer: Answer) -> float:
    """The root mean square of the answer at the centres of elements, or the values whose difference its jumps are."""
    mesh = level.space.mesh
    xi = np.full((1, mesh.dim), 1.0 / (mesh.dim + 1))
    middle = answer.value(mesh, xi)
    if isinstance(answer, Elements) and answer.beside is not None:
        middle = middle + answer.beside.value(mesh, xi)
    return max(float(np.sqrt(np.mean(middle**2))), level.defects.interface.magnitude)


def _rms(level: Level) -> float:
    e = level.sampled()
    return float(np.sqrt(sum(level.integrals(e**2)) / sum(level.integrals(np.ones_like(e)))))


def _clear(level: Level, tol: float, options: JudgeOptions, factor: float) -> bool:
    """Whether the error is above or below a tolerance by a factor."""
    rms = _rms(level)
    return rms * options.safety * factor < tol or rms > factor * tol


def _settled(level: Level, before: Level, change: float, options: JudgeOptions) -> bool:
    """Whether the root mean square of e, and e in norm, change little from level to level."""
    rms = _rms(level)
    return abs(rms - _rms(before)) <= options.change * rms and change <= options.change_in_norm * options.change


def _resolved(level: Level, options: JudgeOptions) -> bool:
    """Whether the space resolves the eigenvalue nearest to zero, and A at the boundary."""
    return _off_resonance(level, options) and not _vanishing(level, options)


def _off_resonance(level: Level, options: JudgeOptions) -> bool:
    """Whether the eigenvalue nearest to zero is known; all eigenvalues are positive without lam < 0."""
    found = level.nearest
    return found is None or found.error + found.penalty <= options.eigenvalue * abs(found.value)


def _resonant(level: Level, options: JudgeOptions) -> bool:
    """Whether an eigenvalue is so close to zero that its sign is not known."""
    found = level.nearest
    if found is None or abs(found.value) > RESONANT * float(np.abs(level.defects.volume.lam).max()):
        return False
    return not max(found.error, found.penalty / options.eigenvalue) <= abs(found.value)


def _affordable(space: Space, last: Level, spent: float, options: JudgeOptions) -> bool:
    dim = space.mesh.dim
    more = (space.size / last.space.size) ** GROWTH[dim]
    if space.size > options.unknowns[dim] or too_much(space.memory):
        return False
    return spent * (1 + more) <= options.seconds


def _vanishing(level: Level, options: JudgeOptions) -> bool:
    """Whether A nearly vanishes on a face where values are given: u changes in a layer thinner than any element."""
    return level.defects.boundary.uneven > options.uneven


def _why(level: Level, change: float, options: JudgeOptions) -> str:
    """Why the error is undecided."""
    if _vanishing(level, options):
        ratio = level.defects.boundary.uneven
        return (
            f"undecided: A falls by a factor of {ratio:.0e} within an element at the boundary, where values are given."
        )
    if level.nearest is not None and not _off_resonance(level, options):
        return (
            f"undecided: lam < 0, and {level.space.size} unknowns do not resolve the operator's eigenvalue nearest to "
            f"zero, {level.nearest.value:.2g}."
        )
    return f"undecided: the error still changes by {100 * change:.0f} % with {level.space.size} unknowns."
