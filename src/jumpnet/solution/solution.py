"""The solution: answers questions about u, from its parameters alone.

Every answer is a functional at sites, taken through the same charts and the same network as in the solve: a value is
a0 = 1, a derivative a1 = e_i, and a one-sided value is a site whose cell is chosen by the caller.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from jumpnet.collocation import Stream
from jumpnet.errors import SolutionError
from jumpnet.fields import Field
from jumpnet.fields.piecewise import piecewise_values
from jumpnet.fields.scaled import scaled_tensor
from jumpnet.geometry import Partition
from jumpnet.models import Frozen, Network
from jumpnet.problem import Problem
from jumpnet.solution.diagnostics import Diagnosed, Diagnostics, Judged
from jumpnet.solution.report import Errors, TrustReport
from jumpnet.solution.representation import Representation
from jumpnet.solution.statement import Pieces, Statement

if TYPE_CHECKING:
    from jumpnet.judge import Verdict
    from jumpnet.solution.lines import Probe
    from jumpnet.solution.numbers import Number
    from jumpnet.solution.quantities import Balance


# What people look for under another name.
NEAR = {
    "gradient": "solution.grad(x)",
    "evaluate": "solution(x)",
    "predict": "solution(x)",
    "u": "solution(x)",
    "values": "solution(x)",
    "error": "solution.verdict.error(x), solution.estimate or solution.errors()",
    "plot_history": "jumpnet.reporting.plot_history(solution)",
    "probe": "solution.along(start, end)",
    "line": "solution.along(start, end)",
    "average": "solution.mean(piece)",
    "to_vtk": "solution.export('a.vtu')",
}


@dataclass(frozen=True, eq=False)
class Solution(Diagnosed):
    """A solved problem. Call it for values; see the methods for everything else.

    Solutions are made by `jn.solve`, `jn.approximate` and `jn.load`, not by hand.

    Args:
        representation: The function u: a basis expansion, a network or finite elements.
        statement: What is known of the problem.
        diagnostics: How u was found, and what is known of its error.

    Example:
        >>> import jumpnet as jn
        >>> problem = jn.Problem(jn.Partition(jn.Interval(0, 1)), f=-2.0, boundary=jn.Dirichlet(0))
        >>> solution = jn.solve(problem)  # u = x (1 - x)
        >>> round(float(solution([[0.5]])[0]), 9), round(solution.mean().value, 9)
        (0.25, 0.166666667)
    """

    representation: Representation
    statement: Statement
    diagnostics: Diagnostics

    @property
    def problem(self) -> Problem | None:
        """What was solved; None where it is not known here."""
        return self.statement.problem

    @property
    def partition(self) -> Partition | None:
        """The geometry; None where a file could not hold it."""
        return self.statement.partition

    @property
    def exact(self) -> tuple[Field, ...] | None:
        """The exact solution, where it is known."""
        return self.statement.exact

    @property
    def dim(self) -> int:
        """The number of dimensions."""
        return self.statement.dim

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return self.statement.pieces

    @property
    def network(self) -> Network | Frozen:
        """The trained network, or the functions that u is a combination of."""
        return self.representation.network

    @property
    def theta(self) -> Float[np.ndarray, " parameters"]:
        """The parameters of the network, or the weights of the functions."""
        return self.representation.theta

    @property
    def verdict(self) -> "Verdict | None":
        """What the judge found about the error, None where it was not asked."""
        return self.diagnostics.verdict

    @property
    def judged(self) -> Judged | None:
        """What the judge found in numbers, also of a loaded solution; None where it was not asked."""
        verdict = self.verdict
        if verdict is None:
            return self.diagnostics.judged
        names = range(self.pieces) if self.partition is None else self.partition.names
        by_piece = {str(name): float(e) for name, e in zip(names, verdict.by_piece, strict=True)}
        return Judged(
            verdict.rms, verdict.estimate, by_piece, verdict.decided, verdict.reason, verdict.safety, verdict.unresolved
        )

    def with_diagnostics(self, **changes: Any) -> "Solution":
        """The same u with other fields of `diagnostics`.

        Example: `solution.with_diagnostics(verdict=jn.judge(solution))` has its error in reports.
        """
        return replace(self, diagnostics=replace(self.diagnostics, **changes))

    def because(self, *reasons: str, **changes: Any) -> "Solution":
        """The same u with further reasons for its status, and other fields of `diagnostics`."""
        return self.with_diagnostics(reasons=(*self.diagnostics.reasons, *reasons), **changes)

    @property
    def confined(self) -> bool:
        """Whether u ends where its pieces do, as finite elements; other functions go on beyond."""
        return self.representation.elements is not None

    @property
    def unit(self) -> str:
        """What `steps` counts: a "step" of a training, or a "level" of a Trefftz solve."""
        return "step" if self.network.expansion is None else "level"

    def __call__(self, x: ArrayLike, piece: Pieces | None = None) -> Float[np.ndarray, " n"]:
        """u at points (n, d); on an interface use `side`, or name the piece."""
        points, cell = self.statement.located(x, piece)
        return self.representation.functional(points, cell, 1.0, np.zeros(self.dim))

    def grad(self, x: ArrayLike, piece: Pieces | None = None) -> Float[np.ndarray, "n d"]:
        """The gradient of u, (n, d)."""
        return self.representation.gradient(*self.statement.located(x, piece))

    def flux(self, x: ArrayLike, piece: Pieces | None = None) -> Float[np.ndarray, "n d"]:
        """A grad u, (n, d)."""
        points, cell = self.statement.located(x, piece)
        gradient = self.grad(points, cell)
        flux = np.empty_like(gradient)
        for p in np.unique(cell):
            mine = cell == p
            flux[mine] = np.einsum("nij,nj->ni", self.statement.tensor(int(p)).value(points[mine]), gradient[mine])
        return flux

    def side(self, x: ArrayLike, piece: int | str) -> Float[np.ndarray, " n"]:
        """u seen from one piece: on its boundary the exact one-sided value, elsewhere its smooth extension."""
        return self(x, piece)

    def jump(self, x: ArrayLike) -> Float[np.ndarray, " n"]:
        """[u] at points of interfaces: the lower piece's value minus the higher one's."""
        points = self.statement.points(x)
        a, b, _ = self.statement.known_partition.sides(points)
        return self(points, a) - self(points, b)

    def flux_jump(self, x: ArrayLike) -> Float[np.ndarray, " n"]:
        """[A grad u . n] at points of interfaces, n from the higher piece to the lower."""
        points = self.statement.points(x)
        a, b, n = self.statement.known_partition.sides(points)
        return np.sum((self.flux(points, a) - self.flux(points, b)) * n, axis=1)

    def residual(self, x: ArrayLike, piece: Pieces | None = None) -> Float[np.ndarray, " n"]:
        """div(A grad u) - lam u - f: how far the equation inside the pieces is from being met."""
        if self.problem is None:
            raise SolutionError(
                "the equations of this solution are not known here; give the problem back: "
                "solution.with_problem(problem)."
            )
        points, cell = self.statement.located(x, piece)
        (n, d), order = points.shape, np.argsort(cell, kind="stable")
        lam, f, div_A, A = np.empty(n), np.empty(n), np.empty((n, d)), np.empty((n, d, d))
        for mine in np.split(order, np.flatnonzero(np.diff(cell[order])) + 1) if n else ():
            A[mine], div_A[mine], lam[mine], f[mine] = self.problem.pde(int(cell[mine[0]]), points[mine])
        return self.representation.functional(points, cell, -lam, div_A, A) - f

    def net_flux(self, over: tuple[int | str, int | str] | str) -> "Number":
        """The integral of A grad u . n over an interface (a, b), on the side of a and n pointing to a, or over a part
        of the boundary, n pointing outward."""
        from jumpnet.solution.numbers import fluxes

        return fluxes(self, [over])

    def heat_flow(self, over: tuple[int | str, int | str] | str) -> "Number":
        """The heat -A grad u . n that leaves through a part of the boundary, or flows from b to a over (a, b)."""
        return self.net_flux(over).scaled(-1.0)

    def integral(self, f: Any = None, over: Any = None) -> "Number":
        """The integral of u, or of one's own f, over a piece, an interface, a part of the boundary, or the domain.

        `f` is a formula in x1, x2, ... and u, or a function of the points (n, d), of (x, u) or of (x, u, grad u) that
        returns (n,). `over` is a piece by number or name, a list of them, a pair of pieces for their interface (seen
        from the first), or the name of a part of the boundary.

        Example: `solution.integral("u**2", over="disk")`, `solution.integral(lambda x, u: x[:, 0] * u, over="top")`.
        """
        from jumpnet.solution.numbers import integral_of

        return integral_of(self, f, over)

    def along(self, start: ArrayLike, end: ArrayLike, count: int = 101) -> "Probe":
        """u and the flux at `count` points of a line, with their distance `s` from its start; nan outside the domain.

        Example: `line = solution.along((-1, 0), (1, 0))`, then `line.s`, `line.u`, `line.piece`, `line.columns()`.
        """
        from jumpnet.solution.lines import along

        return along(self, start, end, count)

    def mean(self, piece: int | str | None = None) -> "Number":
        """The mean of u over a piece, by number or name, or over the domain."""
        from jumpnet.solution.numbers import over_pieces

        return over_pieces(self, "mean", None if piece is None else [piece])

    def energy(self, piece: int | str | None = None) -> "Number":
        """The integral of (grad u . A grad u + lam u^2)/2 over a piece, by number or name, or over the domain."""
        from jumpnet.solution.numbers import over_pieces

        return over_pieces(self, "energy", None if piece is None else [piece])

    def balances(self) -> "tuple[Balance, ...]":
        """The flux out of each piece, and of the domain, against its sources: equal for the exact solution."""
        from jumpnet.solution.quantities import balances

        return balances(self)

    def errors(self, points: int | None = None, *, seed: int | None = None) -> Errors:
        """Differences from the exact solution at random test points, by default ten times the interior points.

        At least 2,000, as a Trefftz solution may need no interior points at all, and at most 100,000.
        """
        if self.exact is None or self.partition is None:
            raise SolutionError(
                "the exact solution is not known here; give the problem exact= or use manufactured(...)."
            )
        count = points if points is not None else self._test_points()
        if count == 0:
            raise SolutionError("the error is asked for at 0 points; give at least one.")
        entropy = [self.seed if seed is None else seed, int(Stream.TEST)]
        x, piece = self.partition.sample_interior(count, seed=entropy)
        exact = piecewise_values(self.exact, x, piece)
        return _errors(self(x, piece) - exact, exact)

    def report(self, *, balances: bool = False, reference: "Solution | None" = None) -> TrustReport:
        """What is known about how good this solution is.

        With `balances`, the flux balance of each piece and of the domain is part of it; with a `reference`, such as
        `jn.baselines.fem(problem)`, the differences from that.
        """
        known = self.exact is not None and self.partition is not None
        compared = None if reference is None else self.differences(reference)
        return TrustReport(
            self.diagnostics,
            self.network.size,
            self.unit,
            self.errors() if known else None,
            self.judged,
            self.balances() if balances else (),
            compared,
            "" if reference is None else reference.diagnostics.method or "another solution",
            "" if self.problem is None else self.problem.assumed,
        )

    def differences(self, other: "Solution", points: int = 2000) -> Errors:
        """Differences from another solution of the same problem at random points, relative to the size of that."""
        if not isinstance(other, Solution) or (other.dim, other.pieces) != (self.dim, self.pieces):
            raise SolutionError("the reference is no solution of the same problem; give jn.baselines.fem(problem).")
        x, piece = self.statement.known_partition.sample_interior(points, seed=[self.seed, int(Stream.TEST), 2])
        theirs = other(x, piece)
        return _errors(self(x, piece) - theirs, theirs)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the solution to one file (safetensors with a JSON header); see `jumpnet.load`."""
        from jumpnet.solution.storage import save

        save(self, path)

    def plot(self, path: str | PathLike[str] | None = None, **options: Any) -> Any:
        """A figure of the solution (and of its error where the exact one is known); written to `path` if given."""
        from jumpnet.reporting import plot_solution

        return plot_solution(self, path, **options)

    def write_report(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """One HTML file about the solution, with maps to zoom and probe; it opens anywhere, offline."""
        from jumpnet.reporting import write_report

        write_report(self, path, title=title)

    def export(self, path: str | PathLike[str], *, resolution: int | None = None) -> None:
        """Write values for other programs: .vtu or .vti (ParaView), .csv, .npz, by the name of the file."""
        from jumpnet.reporting.exchange import export

        export(self, path, resolution=resolution)

    def to_xarray(self, *, resolution: int | None = None) -> Any:
        """u, flux and piece on a grid as an xarray Dataset, nan outside the domain."""
        from jumpnet.reporting.exchange import to_xarray

        return to_xarray(self, resolution=resolution)

    def as_function(self, *, piece: int | str | None = None) -> Callable[..., Any]:
        """u as a function f(x1, x2, ...) of numbers or arrays, as scipy and plotting tools call it; nan outside."""
        from jumpnet.reporting.exchange import as_function

        return as_function(self, piece=piece)

    def sensitivity(self, name: str, *, tol: float = 1e-6, atol: float = 0.0, **options: Any) -> "Solution":
        """The derivative of u by a constant of its problem, as a solution with status and estimate of its own.

        Its estimate holds what the error of u adds; solve for u to a smaller tol where that is too much.

        Args:
            name: One of the problem's `constants`, in coefficients, conditions or jumps.
            tol: As in `jn.solve`, relative to the variation of the derivative.
            atol: As in `jn.solve`.
            **options: Those of `jn.solve`.

        Returns:
            du/dk: call it for values; means and integrals of it are derivatives of those of u.

        Example:
            >>> import jumpnet as jn
            >>> parts, ends = jn.Partition(jn.Interval(0, 1)), jn.Dirichlet(0)
            >>> rod = jn.Problem(parts, A="k", f=-2.0, boundary=ends, constants={"k": 2.0})
            >>> round(float(jn.solve(rod).sensitivity("k")([[0.5]])[0]), 9)  # u = x (1 - x)/k
            -0.0625
        """
        from jumpnet.studies.sensitivity import sensitivity

        return sensitivity(self, name, tol=tol, atol=atol, **options)

    def with_problem(self, problem: Problem) -> "Solution":
        """The same solution with the problem it solves at hand again (after loading one that held callables)."""
        if not isinstance(problem, Problem):
            raise SolutionError(f"with_problem needs a jn.Problem, not {type(problem).__name__}.")
        if problem.dim != self.dim or problem.partition.size != self.pieces:
            raise SolutionError(
                f"the problem has {problem.dim} dimensions and {problem.partition.size} pieces, the solution "
                f"{self.dim} and {self.pieces}; give the problem this solution was computed for."
            )
        return replace(self, statement=Statement.of(problem))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What is meant by a name that is none here."""
            near = NEAR.get(name) or next(iter(get_close_matches(name, dir(self), n=1, cutoff=0.75)), "")
            hint = f"; {near} is meant, perhaps" if near and name[0] != "_" else ""
            raise AttributeError(f"a Solution has no attribute {name!r}{hint}")

    def __repr__(self) -> str:
        estimate = f", estimated error {self.estimate:.1e}" if np.isfinite(self.estimate) else ""
        losses = {"loss": self.loss, "held-out loss": self.held_out_loss}  # finite elements have neither
        found = "".join(f", {name} {value:.1e}" for name, value in losses.items() if np.isfinite(value))
        mesh = self.diagnostics.mesh
        size, unit = (self.network.size, "parameters") if mesh is None else (mesh.unknowns, "unknowns")
        return (
            f"Solution({self.dim}-D, {self.pieces} pieces, {size} {unit}, {self.status.name.lower()}{estimate}{found})"
        )

    def potential(self) -> "Solution":
        """The solution w = u/K of the problem without partition coefficients (`Problem.K`); itself where K is 1.

        Example: `solution.potential().jump(x)` is zero up to v and R where u itself jumps by the ratio of the K.
        """
        return self._of_potential if self.representation.factors else self

    @cached_property
    def _of_potential(self) -> "Solution":
        known, K = self.statement, self.representation.factors
        if self.problem is not None:
            inner = Statement.of(self.problem.potential())
        else:
            tensors = tuple(t and scaled_tensor(t, k) for t, k in zip(known.tensors, K, strict=True))
            inner = replace(known, tensors=tensors, exact=None)
        return replace(self, representation=replace(self.representation, factors=()), statement=inner).with_diagnostics(
            verdict=None, judged=None
        )

    def _test_points(self) -> int:
        """Ten times the interior points, within bounds."""
        fit = self.diagnostics.fit
        interior = 0 if fit is None or fit.points is None else fit.points.interior
        return int(np.clip(10 * interior, 2000, 100_000))


def _errors(difference: np.ndarray, truth: np.ndarray) -> Errors:
    rms, size = (float(np.sqrt(np.mean(values**2))) for values in (difference, truth))
    return Errors(rms, float(np.abs(difference).max()), rms / size if size > 0 else np.inf, len(difference))
