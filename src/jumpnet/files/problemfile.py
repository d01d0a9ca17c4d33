"""A problem file that has been read: the problem it states, how to solve it, and the numbers it asks for."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jumpnet.engines.fem import FEM
from jumpnet.engines.network import Network
from jumpnet.engines.progress import Progress
from jumpnet.engines.trefftz import Trefftz
from jumpnet.errors import JumpnetError, JumpnetWarning, ProblemError
from jumpnet.fe.meshing.first import LateError
from jumpnet.files.asked import number_of, probe_points
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
    from jumpnet.files.opening import Origin
    from jumpnet.files.schema import File
    from jumpnet.solution.effective import EffectiveTensor
    from jumpnet.solution.numbers import Number
    from jumpnet.studies import NonlinearProblem


# Tolerances where a file gives none. An image of a few hundred pixels a side is good for three digits.
# Bodies of five to ten voxels across are known to about a hundredth.
TOL, TOL_OF_IMAGES, TOL_OF_VOLUMES = 1e-6, 1e-3, 2e-2
# The tolerance of solutions that only serve as the start of the next value of a constant.
ON_THE_WAY = 1e-3


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
        chosen["verify"] = {"auto": self._needs_judge or "auto", "always": True, "never": False}[wanted.verify]
        chosen["time_limit"] = wanted.time_limit
        with spoken("file"):
            if self.nonlinear is not None:
                return self._newton(self.nonlinear, chosen | options, progress)
            return solve(self.problem, progress=progress, **(chosen | options))

    @property
    def _needs_judge(self) -> bool:
        """Whether a quantity is wanted whose error only the judge can give: an estimate bounds means and integrals."""
        return any(entry.kind in ("flux", "energy") for entry in self.file.quantities.values())

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

    @property
    def data(self) -> set[Path]:
        """The drawings, images and meshes that it was read from."""
        return {self.builder.scope.beside(name, "file") for name in _files(self.file.model_dump())}

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
        """Whether the file asks for quantities of an image with their resolution error."""
        return self.file.image is not None and self.file.image.resolution and bool(self.file.quantities)

    def coarse_quantities(self) -> dict[str, float]:
        """The same integrals with the image at half its resolution; none where there is no image, or it is too coarse.

        The difference from the integrals of the image itself estimates the resolution error, which falls at least in
        proportion to the pixel size. LateError where the file's time limit leaves no time for a mesh.
        """
        if not self.asks_resolution:
            return {}
        try:
            builder = self.builder.coarsened()
            coarse = replace(self, builder=builder, problem=builder.problem())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", JumpnetWarning)  # what is said of it was said of the image itself
                found = coarse.quantities(coarse.solve(verify=False, **_once(coarse.problem)))
        except LateError:
            raise
        except JumpnetError:
            return {}
        return {name: number.value for name, number in found.items()}

    def quantities(self, solution: Solution) -> dict[str, Number]:
        """The numbers that the file asks for, by name."""
        return {
            name: number_of(self.builder, solution, entry, name, self.sign)
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
        return {
            name: probe_points(self.builder, self.problem.partition, entry, f"probes.{name}")
            for name, entry in self.file.probes.items()
        }


def _once(problem: Problem) -> dict[str, Any]:
    """Options that solve an image in one space, without asking how good that is: three digits of a difference do."""
    if problem.dim != 2:
        return {}
    lower, upper = problem.partition.bounds
    return {"method": FEM(order=3, size=float(np.max(upper - lower)) / 12)}


def _files(tables: Any) -> Iterator[str]:
    """The entries `file` of tables within tables."""
    entries = tables.items() if isinstance(tables, dict) else enumerate(tables) if isinstance(tables, list) else ()
    for key, entry in entries:
        if key == "file" and isinstance(entry, str):
            yield entry
        yield from _files(entry)
