"""The judge in two and three dimensions: the defect problem on finer and finer spaces, until its solution settles."""

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from jumpnet.errors import GeometryError, JumpnetError
from jumpnet.fe.field import Field
from jumpnet.fe.mesh import Mesh
from jumpnet.fe.meshing import arrays_of, curved_mesh
from jumpnet.fe.space import Space
from jumpnet.judge.defects import Answer, Elements, Smooth
from jumpnet.judge.finding import Finding
from jumpnet.judge.level import Level, solved
from jumpnet.judge.options import JudgeOptions
from jumpnet.judge.singular import changes_on_boundary, singular_corners
from jumpnet.problem import Problem
from jumpnet.solution import Solution

GROWTH = 1.5  # the power of the number of unknowns by which the next space is expected to take longer; 2 in space
CLEAR = 10.0  # an error that is so many times above or below a tolerance needs no better knowledge
ROUNDING = 1e-13  # of the size of u: changes below it are rounding
STEADY = 0.2  # relative change of the eigenvalue nearest to zero at which the spectrum counts as resolved


def ladder(dim: int) -> Iterator[tuple[int, int]]:
    """Refinements and orders, each space about two or three times as large as the one before."""
    first = [(0, 3), (0, 5)] if dim == 2 else [(0, 2), (0, 3), (0, 4)]
    yield from first
    for k in range(1, 10):
        yield from ((k, 4), (k, 6)) if dim == 2 else ((k, 3), (k, 4))


def judge_smooth(solution: Solution, problem: Problem, options: JudgeOptions, tol: float | None) -> Finding:
    """The error of an answer in closed form, on a mesh of the judge's own."""
    parts = problem.partition
    lower, upper = parts.bounds
    size = float(np.max(upper - lower)) / options.across[parts.dim]
    try:
        base = arrays_of(curved_mesh(parts, size, options.curved), options.curved)
    except GeometryError as error:
        return undecided(f"not judged: {error}")
    except Exception as error:  # whatever netgen raises
        return undecided(f"not judged: no mesh could be made ({error}).")
    if not base.sound:
        return undecided("not judged: the curved elements of the mesh fold.")
    meshes = Meshes(problem, base, options)
    spaces = (Space(meshes(k, rung), order) for rung, (k, order) in enumerate(ladder(parts.dim)))
    found = settled(problem, spaces, Smooth(solution), options, tol, _mean(solution, problem))
    return replace(found, singular=meshes.singular)


class Meshes:
    """Meshes of the judge: a first one refined, and graded towards singular points."""

    def __init__(self, problem: Problem, base: Mesh, options: JudgeOptions):
        self._options, self._made, self._refined, self._vertices = options, {}, {}, []
        if problem.dim == 2:
            base, self._vertices = _singular_vertices(problem, base)
        self._refined[0] = base

    @property
    def singular(self) -> bool:
        """Whether there are singular points."""
        return bool(self._vertices)

    def __call__(self, refinements: int, rung: int) -> Mesh:
        """The mesh refined a number of times; with more layers towards singular points from rung to rung."""
        if refinements not in self._refined:
            self._refined[refinements] = self._refined[refinements - 1].refined()
        mesh = self._refined[refinements]
        if not self._vertices:
            return mesh
        if (refinements, rung) not in self._made:
            for vertex in self._vertices:
                mesh = mesh.graded(vertex, self._options.graded + rung * self._options.graded // 2)
            self._made[refinements, rung] = mesh
        return self._made[refinements, rung]


def _singular_vertices(problem: Problem, mesh: Mesh) -> tuple[Mesh, list[int]]:
    """The vertices at singular points; the mesh gets some where conditions or boundary values change inside faces."""
    places, size = list(singular_corners(problem)), problem.partition.domain.size
    changes = {element: (local, share) for element, local, share, _ in changes_on_boundary(problem, mesh)}
    found = []
    for element in sorted(changes, reverse=True):  # a cut element's parts come last: those before it keep their number
        mesh, vertex = mesh.split(element, *changes[element])
        found.append(vertex)
    for place in places:
        gap = np.linalg.norm(mesh.vertices - place, axis=1)
        if np.nanmin(gap) < 1e-6 * size:
            found.append(int(np.nanargmin(gap)))
    return mesh, sorted(set(found))


def judge_elements(
    field: Field, solution: Solution, problem: Problem, options: JudgeOptions, tol: float | None
) -> Finding:
    """The error of finite elements, on their own mesh with higher orders.

    In a space within theirs it would be zero: their residual is orthogonal to that.
    """
    spaces = (Space(field.mesh, field.order + more) for more in range(1, 1 + options.higher))
    return settled(problem, spaces, Elements(field), options, tol, _mean(solution, problem))


def settled(
    problem: Problem,
    spaces: Iterator[Space],
    answer: Answer,
    options: JudgeOptions,
    tol: float | None,
    mean: float | None,
) -> Finding:
    """The error in the first space in which it has settled."""
    began, last, change, least = time.perf_counter(), None, np.inf, 0.0
    for space in spaces:
        if last is not None and not _affordable(space, last, time.perf_counter() - began, options):
            break
        level = solved(problem, space, answer, mean)
        if last is not None:
            change = level.difference(last)
            least = least or ROUNDING * _size(level, answer)
            clear = tol is not None and _clear(level, tol, options) and _clear(last, tol, options)
            if (change <= options.change or change * _rms(level) <= least or clear) and _steady(level, last):
                return finding(problem, level, answer, change)
        last = level
    if last is None:
        return undecided("undecided: no space is affordable.")
    found = finding(problem, last, answer, change)
    return replace(found, reason=_why(last, change, options))


def finding(problem: Problem, level: Level, answer: Answer, change: float) -> Finding:
    """What a level comes to."""
    e = level.sampled()
    return Finding(
        level.field,
        level.integrals(e**2),
        level.integrals(np.ones_like(e)),
        unresolved=level.unresolved(problem, answer),
        change=change,
        unknowns=level.space.size,
        total=level.integrals(e),
        fluxes=level.fluxes(problem),
    )


def undecided(reason: str) -> Finding:
    """Nothing is known."""
    return Finding(None, (np.nan,), (1.0,), unresolved=np.nan, change=np.nan, reason=reason)


def _mean(solution: Solution, problem: Problem) -> float | None:
    """The mean of e where nothing else fixes it."""
    return None if problem.mean is None else problem.mean - solution.mean().value


def _size(level: Level, answer: Answer) -> float:
    """The root mean square of the answer at the middles of the elements."""
    mesh = level.space.mesh
    return float(np.sqrt(np.mean(answer.value(mesh, np.full((1, mesh.dim), 1.0 / (mesh.dim + 1))) ** 2)))


def _rms(level: Level) -> float:
    e = level.sampled()
    return float(np.sqrt(sum(level.integrals(e**2)) / sum(level.integrals(np.ones_like(e)))))


def _clear(level: Level, tol: float, options: JudgeOptions) -> bool:
    """Whether the error is far from a tolerance."""
    rms = _rms(level)
    return rms * options.safety * CLEAR < tol or rms > CLEAR * tol


def _steady(level: Level, before: Level) -> bool:
    """Whether the eigenvalue nearest to zero is resolved, or known to be positive."""
    return not np.isfinite(level.lowest) or abs(level.lowest - before.lowest) <= STEADY * abs(level.lowest)


def _affordable(space: Space, last: Level, spent: float, options: JudgeOptions) -> bool:
    dim = space.mesh.dim
    more = (space.size / last.space.size) ** (GROWTH if dim == 2 else 2.0)
    return space.size <= options.unknowns[dim] and spent * (1 + more) <= options.seconds


def _why(level: Level, change: float, options: JudgeOptions) -> str:
    """Why nothing is decided."""
    if change <= options.change:
        return (
            f"undecided: lam < 0, and the operator's eigenvalue nearest to zero, {level.lowest:.2g}, is not resolved with "
            f"{level.space.size} unknowns."
        )
    return f"undecided: the error still changes by {100 * change:.0f} % with {level.space.size} unknowns."
