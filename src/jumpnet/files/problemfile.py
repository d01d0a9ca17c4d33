"""A problem file that has been read: the problem it states, how to solve it, and the numbers it asks for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jumpnet.engines.fem import FEM
from jumpnet.engines.network import Network
from jumpnet.engines.progress import Progress
from jumpnet.engines.trefftz import Trefftz
from jumpnet.errors import JumpnetError, JumpnetWarning, ProblemError
from jumpnet.guard.budget import Budget, bounded
from jumpnet.models import CategoricalEmbedding
from jumpnet.optim import LevenbergMarquardt
from jumpnet.problem import Problem
from jumpnet.solution import Solution
from jumpnet.solution.advice import spoken
from jumpnet.solving import solve
from jumpnet.solving.methods import Auto, Method

if TYPE_CHECKING:  # pydantic is loaded with the first file
    from jumpnet.files.building import Builder
    from jumpnet.files.families import FileFamily
    from jumpnet.files.schema import File, FluxEntry, IntegralEntry, Probe
    from jumpnet.geometry.quadrature.rules import Integral
    from jumpnet.solution.effective import EffectiveTensor
    from jumpnet.studies import NonlinearProblem


# Tolerances where a file gives none. An image of a few hundred pixels a side is good for three digits.
# Bodies of five to ten voxels across are known to about a hundredth.
TOL, TOL_OF_IMAGES, TOL_OF_VOLUMES = 1e-6, 1e-3, 2e-2
# What is solved on the way to another value of a constant is where the next one starts; three digits do.
ON_THE_WAY = 1e-3


@dataclass(frozen=True)
class Origin:
    """A file as it was read: all that is needed to read it again with other constants."""

    text: str
    constants: Mapping[str, float]
    name: str
    folder: Path | None
    allowed: tuple[Path, ...]
    budget: Budget | None

    def read(self, values: Mapping[str, float] | None = None) -> ProblemFile:
        """The file, with other values of some of its constants."""
        constants = {**self.constants, **(values or {})}
        return read_as_file(
            self.text, constants, name=self.name, folder=self.folder, allowed=self.allowed, budget=self.budget
        )


@dataclass(frozen=True, eq=False)
class ProblemFile:
    """What a problem file holds, as `jn.read_file` returns it.

    Args:
        title: Its title, or its name.
        problem: The problem that it states, checked.
        file: Its tables.
        builder: What made the problem of the tables.
        name: Its name without folder and ending.
        origin: What it was read from; None of one made otherwise, which cannot be varied.

    Example:
        >>> from pathlib import Path
        >>> from jumpnet.files.starting import started  # what `jumpnet new layers wall.toml` writes
        >>> _ = [path.write_bytes(text) for path, text in started("layers", Path("wall.toml")).items()]
        >>> import jumpnet as jn
        >>> read = jn.read_file("wall.toml")
        >>> solution = read.solve()
        >>> solution.status.name, len(read.quantities(solution)) > 0
        ('CONVERGED', True)
    """

    title: str
    problem: Problem
    file: File
    builder: Builder
    name: str = "problem"
    origin: Origin | None = None
    """What it was read from; None of one made otherwise, which cannot be varied."""

    def solve(self, *, progress: bool | Progress = False, **options: Any) -> Solution:
        """The solution, by the file's settings where no others are given (those of `jn.solve`)."""
        wanted = self.file.solve
        chosen: dict[str, Any] = {"tol": self.tol, "atol": wanted.atol, "seed": wanted.seed, "method": self.method}
        chosen["verify"] = {"auto": "auto", "always": True, "never": False}[wanted.verify]
        chosen["time_limit"] = wanted.time_limit
        with spoken("file"):
            if self.nonlinear is not None:
                return self._newton(self.nonlinear, chosen | options, progress)
            return solve(self.problem, progress=progress, **(chosen | options))

    @property
    def nonlinear(self) -> NonlinearProblem | None:
        """What the file states where its formulas use u; `problem` is then the linear one about the start."""
        return self.builder.nonlinear

    def _newton(self, problem: NonlinearProblem, options: dict[str, Any], progress: bool | Progress) -> Solution:
        """The solution of a problem whose data depend on u; first for the values of a constant that the file gives."""
        from jumpnet.files.nonlinear import continued
        from jumpnet.studies import solve_nonlinear

        options = options | {"verify": options["verify"] is not False}
        start: Any = self.builder.start
        for values in continued(self.file, self.builder.scope):
            assert self.origin is not None  # what has a table [nonlinear] was read
            on_the_way = self.origin.read(values).nonlinear
            assert on_the_way is not None
            start = solve_nonlinear(on_the_way, start=start, **(options | {"tol": ON_THE_WAY, "verify": False}))
        return solve_nonlinear(problem, start=start, progress=progress, **options)

    def with_settings(self, **settings: Any) -> ProblemFile:
        """The same file with other entries in its table [solve], such as tol; None leaves one as it is."""
        given = {name: value for name, value in settings.items() if value is not None}
        entry = type(self.file.solve).model_validate(self.file.solve.model_dump() | given)
        return replace(self, file=self.file.model_copy(update={"solve": entry}))

    def family(
        self, quantities: Mapping[str, Any] | None = None, options: Mapping[str, Any] | None = None
    ) -> FileFamily:
        """The problems of this file for other values of its constants: what `jn.sweep` and `jn.fit` vary."""
        from jumpnet.files.families import FileFamily
        from jumpnet.studies.family import checked_quantities

        if self.origin is None:
            raise ProblemError("this problem was not read from a file; read it with jn.read_file(path).")
        own = None if quantities is None else checked_quantities(quantities)
        return FileFamily(self.origin, own, dict(options or {}), self.file.solve.model_dump())

    @property
    def method(self) -> Method:
        """The method that the file asks for, with its options, as `jn.solve` takes it."""
        wanted = self.file.solve
        if wanted.method == "fem":
            return FEM()
        if wanted.method in ("trefftz", "direct"):
            return Trefftz(trials=wanted.trials)
        if wanted.method in ("network", "train"):
            model = CategoricalEmbedding(neurons=wanted.neurons) if wanted.neurons else None
            optimizer = LevenbergMarquardt(steps=wanted.steps) if wanted.steps else None
            return Network(model, optimizer, trials=wanted.trials)
        return Auto(wanted.trials)

    @property
    def sign(self) -> float:
        """What fluxes A grad u are multiplied by: -1 where the file wants them as heat flow."""
        return -1.0 if self.file.heat else 1.0

    @property
    def tol(self) -> float:
        """The tolerance: the file's own, else 1e-6, or what an image of ordinary size is good for."""
        given = self.file.solve.tol
        if given is not None:
            return given
        if self.file.image is None:
            return TOL
        return TOL_OF_IMAGES if self.problem.dim == 2 else TOL_OF_VOLUMES

    @property
    def asks_resolution(self) -> bool:
        """Whether there are quantities of an image of which one wants to know what its pixels cost."""
        return self.file.image is not None and self.file.image.resolution and bool(self.file.quantities)

    def coarse_quantities(self) -> dict[str, float]:
        """The same integrals with the image at half its resolution; none where there is no image, or it is too coarse.

        How far they are from those of the image itself is about what its pixels cost: the error falls with their size
        at least in proportion.
        """
        if not self.asks_resolution:
            return {}
        try:
            builder = self.builder.coarsened()
            coarse = replace(self, builder=builder, problem=builder.problem())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", JumpnetWarning)  # what is said of it was said of the image itself
                found = coarse.quantities(coarse.solve(verify=False, **_once(coarse.problem)))
        except JumpnetError:
            return {}
        return {name: integral.value for name, integral in found.items()}

    def quantities(self, solution: Solution) -> dict[str, Integral]:
        """The integrals that the file asks for, by name."""
        return {
            name: self._quantity(solution, entry, name)
            for name, entry in self.file.quantities.items()
            if entry.kind != "effective"
        }

    def effective(self, known: Solution | None = None) -> dict[str, EffectiveTensor]:
        """The effective tensors that the file asks for, by name.

        If the file's own problem is one of the cell problems, its solution need not be found again.
        """
        wanted, image = self.file.solve, self.file.image
        options: dict[str, Any] = {"tol": self.tol, "seed": wanted.seed, "time_limit": wanted.time_limit}
        if wanted.method == "fem":
            options["method"] = "fem"
        if image is not None and image.resolution and self.problem.dim == 2:
            options["resolution"] = True
        kinds = {name: entry.boundary for name, entry in self.file.quantities.items() if entry.kind == "effective"}
        made = {kind: self.builder.cell(known, boundary=kind, **options) for kind in dict.fromkeys(kinds.values())}
        return {name: made[kind] for name, kind in kinds.items()}

    def reference(self) -> Solution | None:
        """The solution by finite elements, if the file asks for a comparison and they are installed."""
        from jumpnet.baselines import fem

        if self.file.solve.compare is None:
            return None
        try:
            return fem(self.problem)
        except JumpnetError as problem:
            warnings.warn(f"no comparison with finite elements: {problem}", JumpnetWarning, stacklevel=2)
            return None

    def probes(self) -> dict[str, tuple[np.ndarray, np.ndarray | None]]:
        """The points (n, d) of each probe, and the piece they are seen from if the file names one."""
        return {name: self._probe(entry, f"probes.{name}") for name, entry in self.file.probes.items()}

    def _quantity(self, solution: Solution, entry: FluxEntry | IntegralEntry, name: str) -> Integral:
        from jumpnet.geometry.quadrature.rules import NOTHING
        from jumpnet.solution import quantities

        key = f"quantities.{name}"
        if entry.kind == "flux":
            if entry.boundary is not None:
                return solution.net_flux(entry.boundary).scaled(self.sign)
            pairs = self.builder.pairs(entry.between or [], f"{key}.between")
            found = (solution.net_flux((a, b) if forward else (b, a)) for a, b, forward in pairs)
            return sum(found, NOTHING).scaled(self.sign)
        function = {"mean": quantities.mean, "integral": quantities.integral, "energy": quantities.energy}[entry.kind]
        if entry.over is None:
            return function(solution)
        pieces = self.builder.pieces(entry.over, f"{key}.over")
        if entry.kind != "mean":
            return sum((function(solution, piece) for piece in pieces), NOTHING)
        parts = self.problem.partition
        whole = sum(parts.measure(piece) for piece in pieces)
        return sum((function(solution, piece).scaled(parts.measure(piece) / whole) for piece in pieces), NOTHING)

    def _probe(self, entry: Probe, key: str) -> tuple[np.ndarray, np.ndarray | None]:
        scope = self.builder.scope
        if (entry.line is None) == (entry.points is None):
            raise ProblemError(f"{key} has {'neither' if entry.line is None else 'both'} of points and line; give one.")
        if entry.line is not None:
            start = scope.point(entry.line.start, f"{key}.line.start")
            end = scope.point(entry.line.end, f"{key}.line.end")
            if start == end:
                raise ProblemError(f"{key}.line begins and ends at {start}; give two points, or `points`.")
            x = np.linspace(np.array(start), np.array(end), entry.line.count)
        else:
            x = np.array([scope.point(p, f"{key}.points[{k}]") for k, p in enumerate(entry.points or [])])
        if entry.piece is not None:
            pieces = self.builder.pieces(entry.piece, f"{key}.piece")
            if len(pieces) > 1:
                raise ProblemError(f"{key}.piece is {entry.piece!r}, which is {len(pieces)} pieces; leave it out.")
            return x, np.full(len(x), min(pieces))
        outside = self.problem.partition.label(x) < 0
        if outside.any():
            raise ProblemError(f"{key}: the point {x[outside][0].tolist()} lies outside the domain; leave it out.")
        return x, None

    def check_outputs(self) -> None:
        """Names, parts and points of the outputs, before a long computation."""
        from jumpnet.files.values import at

        self.probes()
        for name, entry in self.file.quantities.items():
            key = f"quantities.{name}"
            if entry.kind == "effective":
                self.builder.check_cell(key)
            elif entry.kind != "flux":
                if entry.over is not None:
                    self.builder.pieces(entry.over, f"{key}.over")
            elif (entry.between is None) == (entry.boundary is None):
                raise ProblemError(
                    f"{key} is a flux through an interface or the boundary; give one: between or boundary."
                )
            elif entry.between is not None:
                self.builder.pairs(entry.between, f"{key}.between")
            else:
                with at(f"{key}.boundary"):
                    self.problem.partition.part_name(str(entry.boundary))


def _once(problem: Problem) -> dict[str, Any]:
    """Options that solve an image in one space, without asking how good that is: three digits of a difference do."""
    if problem.dim != 2:
        return {}
    lower, upper = problem.partition.bounds
    return {"method": FEM(order=3, size=float(np.max(upper - lower)) / 12)}


def read_file(
    path: str | PathLike[str],
    constants: Mapping[str, float] | None = None,
    *,
    allow: Sequence[str | PathLike[str]] = (),
    budget: Budget | None = None,
) -> ProblemFile:
    """Read a problem file (TOML).

    Args:
        path: Where it is. Drawings, images and meshes are read from its folder.
        constants: Numbers in place of some that the file gives names to.
        allow: Other folders that data may be read from.
        budget: What reading and building may take in time and memory; by default `Budget()`.

    Returns:
        What the file holds: `problem`, and `solve()` with the file's settings.

    Example:
        >>> from pathlib import Path
        >>> from jumpnet.files.starting import started  # what `jumpnet new layers wall.toml` writes
        >>> _ = [path.write_bytes(text) for path, text in started("layers", Path("wall.toml")).items()]
        >>> import jumpnet as jn
        >>> jn.read_file("wall.toml").problem.dim
        1
    """
    from jumpnet.files.reading import read_text

    text, allowed = read_text(path), _folders(allow)
    return read_as_file(text, constants, name=Path(path).stem, folder=Path(path).parent, allowed=allowed, budget=budget)


def read_problem(
    path: str | PathLike[str],
    constants: Mapping[str, float] | None = None,
    *,
    allow: Sequence[str | PathLike[str]] = (),
    budget: Budget | None = None,
) -> Problem:
    """The problem that a file (TOML) states.

    Args:
        path: As in `read_file`.
        constants: As in `read_file`.
        allow: As in `read_file`.
        budget: As in `read_file`.

    Returns:
        The problem, checked; where formulas use u, ProblemError says how it is solved instead.

    Example:
        >>> from pathlib import Path
        >>> from jumpnet.files.starting import started  # what `jumpnet new layers wall.toml` writes
        >>> _ = [path.write_bytes(text) for path, text in started("layers", Path("wall.toml")).items()]
        >>> import jumpnet as jn
        >>> jn.read_problem("wall.toml").partition.size > 1
        True
    """
    found = read_file(path, constants, allow=allow, budget=budget)
    if found.nonlinear is not None:
        raise ProblemError(
            f"{str(path)!r} has formulas that use u: it is no linear problem; "
            "take jn.read_file(path), which has solve() and nonlinear."
        )
    return found.problem


def _folders(given: Sequence[str | PathLike[str]]) -> tuple[Path, ...]:
    """Folders that data may be read from."""
    if isinstance(given, str | PathLike):
        given = [given]
    found = tuple(Path(folder) for folder in given)
    for folder in found:
        if not folder.is_dir():
            raise ProblemError(f"--allow is {str(folder)!r}, which is no folder; give one that data files lie in.")
    return found


def read_as_file(
    text: str,
    constants: Mapping[str, float] | None = None,
    *,
    name: str = "problem",
    folder: Path | None = None,
    allowed: tuple[Path, ...] = (),
    budget: Budget | None = None,
) -> ProblemFile:
    """The same for the text of a file."""

    def builder(file: File) -> Builder:
        from jumpnet.files.building import Builder

        return Builder.of(file, constants or {}, folder, allowed)

    found = bounded(budget, lambda: _read(text, builder, name))
    return replace(found, origin=Origin(text, dict(constants or {}), name, folder, allowed, budget))


def _read(text: str, made: Callable[[File], Builder], name: str) -> ProblemFile:
    from jumpnet.files.reading import parse

    file = parse(text)
    with np.errstate(all="ignore"):  # what overflows is not finite, and refused for that
        builder = made(file)
        found = ProblemFile(file.title or name, builder.problem(), file, builder, name)
        found.check_outputs()
    return found
