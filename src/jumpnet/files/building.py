"""Builds a `Problem` from the tables of a file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from jumpnet.errors import GeometryError, ProblemError
from jumpnet.fields import Field
from jumpnet.files.messages import suggestion
from jumpnet.files.naming import naming
from jumpnet.files.nonlinear import about_start, nonlinear_problem, start_of, uses_u
from jumpnet.files.pieces import shapes_of
from jumpnet.files.schema import (
    Background,
    ConvectionEntry,
    File,
    Filling,
    ImageEntry,
    JumpEntry,
    PeriodicEntry,
    Piece,
    RobinEntry,
)
from jumpnet.files.shapes import make
from jumpnet.files.values import Scope, at, constants
from jumpnet.geometry import Box, Interval, Partition
from jumpnet.geometry.partition.parts import BoundaryPart, boundary_parts
from jumpnet.problem import Data, Dirichlet, Jump, Neumann, Periodic, PointSource, Problem, Robin, manufactured
from jumpnet.problem.conditions import Condition
from jumpnet.problem.inputs import REST
from jumpnet.solution import Solution
from jumpnet.solution.effective import EffectiveTensor
from jumpnet.studies import NonlinearProblem, effective_tensor

MOST_SHOWN = 40
"""Labels that a message lists."""


@dataclass(frozen=True)
class Builder:
    """The pieces of one file by name, its constants, and the partition: makes everything else."""

    file: File
    scope: Scope
    partition: Partition
    members: Mapping[str, tuple[int, ...]]
    """The pieces that a name stands for: several where a shape has several centres."""

    @staticmethod
    def of(
        file: File, instead: Mapping[str, float], folder: Path | None = None, allowed: tuple[Path, ...] = ()
    ) -> "Builder":
        """Constants, domain and pieces."""
        scope = Scope(constants(file.constants, instead), folder=folder, allowed=allowed)
        if file.image is not None:
            return Builder._of_image(file, file.image, scope)
        if file.domain is None:
            raise ProblemError("domain is missing; add it: a shape, or [image] with a label image.")
        domain = make(file.domain, scope, "domain")
        scope = replace(scope, dim=domain.dim)
        shapes = shapes_of(file, scope, domain)
        names = [file.background.name]
        members: dict[str, tuple[int, ...]] = {file.background.name: (0,)}
        for name, group in shapes.items():
            if name in members:
                raise ProblemError(f"pieces.{name}: this is the name of the background too; rename one of them.")
            members[name] = tuple(range(len(names), len(names) + len(group)))
            names += [name] if len(group) == 1 else [f"{name} {k}" for k in range(1, len(group) + 1)]
        with naming(names, "pieces" if file.pieces else "domain"):
            if len(set(names)) < len(names):
                raise GeometryError("pieces: two of them have the same name; rename one of them.")
            partition = Partition(domain, [shape for group in shapes.values() for shape in group], names)
            _ = partition.interfaces  # found now, so that what is wrong with them is said here
        return Builder(file, scope, partition, members)._with_parts()

    @staticmethod
    def _of_image(file: File, image: ImageEntry, scope: Scope) -> "Builder":
        """The same, where a label image gives domain and pieces."""
        if file.domain is not None:
            raise ProblemError("domain: the image is the domain already; leave one of them out.")
        labels, background = _labels_of(file)
        with at("image"):
            partition = Partition.from_labels(
                scope.beside(image.file, "image.file"),
                pixel=_pixel(image, scope),
                origin=None if image.origin is None else scope.vector(image.origin, "image.origin"),
                order=image.order,
                background=background,
                names=labels,
                small=image.small,
                smallest=image.smallest,
                smooth=image.smooth,
                thresholds=None if image.thresholds is None else scope.vector(image.thresholds, "image.thresholds"),
            )
            unnamed = [name for name in partition.names if name not in labels.values()]
            if background is None and unnamed[:1] == [partition.names[0]]:
                unnamed = unnamed[1:]
                names, known = [file.background.name, *partition.names[1:]], partition.image
                partition = Partition(partition.domain, partition.pieces, names).with_image(known)
            if unnamed:
                raise ProblemError(_without_a_piece(unnamed))
            _ = partition.interfaces
        members = {name: (number,) for number, name in enumerate(partition.names)}
        if gone := next((name for name in file.pieces if name not in members), None):
            raise ProblemError(
                f"pieces.{gone}: its regions are all so small that they were given to their neighbours; "
                'give image.small = "keep", or leave the piece out.'
            )
        return Builder(file, replace(scope, dim=partition.dim), partition, members)._with_parts()

    def _with_parts(self) -> "Builder":
        """Parts of the boundary that the file defines, by conditions or by pieces."""
        named: list[BoundaryPart] = []
        for name, entry in self.file.boundary.items():
            where, piece = getattr(entry, "where", None), getattr(entry, "piece", None)
            key = f"boundary.{name}"
            if where is None and piece is None:
                continue
            if where is not None and piece is not None:
                raise ProblemError(f"{key} has both of where and piece; give one of them.")
            pieces = [where] if piece is None else list(self.pieces(piece, f"{key}.piece"))
            if len(pieces) > 1:
                raise ProblemError(f"{key}.piece is {piece!r}, which is {len(pieces)} pieces; name one.")
            with at(key):
                named += boundary_parts(
                    {name: pieces[0]}, self.partition.dim, self.partition.size, self.scope.constants
                )
        if named:
            self.partition._with_parts(tuple(named))
            for part in named:
                if not self.partition.reached(part):
                    lower, upper = self.partition.domain.bounds
                    reach = ", ".join(
                        f"x{k + 1} from {a:.6g} to {b:.6g}" for k, (a, b) in enumerate(zip(lower, upper, strict=True))
                    )
                    raise ProblemError(
                        f"boundary.{part.name}: no point of the boundary belongs to it; change it (there is {reach})."
                    )
        return self

    def problem(self) -> Problem:
        """The problem stated; where formulas use u, the linear one about the start."""
        with naming(self.partition.names, "boundary and pieces"):
            if self.file.manufactured:
                return self._manufactured()
            if self.nonlinear is not None:
                return about_start(self.nonlinear, self.start)
            mean = None if self.file.mean is None else self.scope.number(self.file.mean, "mean")
            return Problem(**self._statement, data=self.data(), mean=mean)

    @cached_property
    def nonlinear(self) -> NonlinearProblem | None:
        """The problem stated, where formulas use u."""
        return None if self.file.manufactured else nonlinear_problem(self.file, self.scope, self._statement)

    @property
    def start(self) -> Field:
        """Where the solution of a nonlinear problem begins."""
        return start_of(self.file, self.scope)

    @cached_property
    def _statement(self) -> dict[str, Any]:
        """The data of the equations, which `Problem` and `NonlinearProblem` take."""
        fillings = self._fillings()
        return {
            "partition": self.partition,
            "A": [self._coefficient(filling, key) for key, filling in fillings],
            "lam": [self.scope.law(self._decay(filling, key), f"{key}.lam") for key, filling in fillings],
            "f": [self.scope.law(filling.f, f"{key}.f") for key, filling in fillings],
            "boundary": self._boundary(_condition),
            "jumps": self._jumps(),
            "exact": self._exact(fillings),
            "sources": self._sources(),
            "K": [self.scope.number(self._ratio(filling), f"{key}.K") for key, filling in fillings],
        }

    def _manufactured(self) -> Problem:
        """The problem of the exact solution."""
        fillings = self._fillings()
        A = [self._coefficient(filling, key) for key, filling in fillings]
        lam = [self.scope.field(self._decay(filling, key), f"{key}.lam") for key, filling in fillings]
        K = [self.scope.number(self._ratio(filling), f"{key}.K") for key, filling in fillings]
        if uses_u(A):
            raise ProblemError("manufactured: A may not depend on u then; give f, boundary and jumps yourself.")
        return manufactured(self.partition, self._exact(fillings), A, lam, self._boundary(_kind), K=K)

    def cell(self, known: Solution | None, **options: Any) -> EffectiveTensor:
        """The effective tensor of the box; `known` is the solution of the file's own problem."""
        A = [self._coefficient(filling, key) for key, filling in self._fillings()]
        return effective_tensor(self.partition, A, self._jumps(), known=known, **options)

    def coarsened(self) -> "Builder":
        """The same with the label image at half its resolution."""
        return replace(self, partition=self.partition.coarsened())

    def check_cell(self, key: str) -> None:
        """Refuse what has no effective tensor."""
        if not isinstance(self.partition.domain, Box | Interval):
            raise ProblemError(f"{key}: the effective tensor is that of a box or an interval; make the domain one.")
        for own, filling in self._fillings():
            if self._ratio(filling) != 1.0:
                raise ProblemError(f"{own}.K: an effective tensor ({key}) is that of pieces without K; leave it out.")
        for k, entry in enumerate(self.file.jumps):
            if entry.v != 0.0 or entry.w != 0.0:
                raise ProblemError(f"jumps[{k}] has v or w; for the effective tensor ({key}) only R may be there.")

    def _sources(self) -> list[PointSource]:
        key = "sources[{}]"
        return [
            PointSource(
                self.scope.point(entry.x, f"{key.format(k)}.x"), self.scope.number(entry.q, f"{key.format(k)}.q")
            )
            for k, entry in enumerate(self.file.sources)
        ]

    def data(self) -> list[Data]:
        """The measured values."""
        found = []
        for k, entry in enumerate(self.file.data):
            key = f"data[{k}]"
            points = [self.scope.point(p, f"{key}.points[{i}]") for i, p in enumerate(entry.points)]
            if len(points) != len(entry.values):
                raise ProblemError(
                    f"{key} has {len(points)} points and {len(entry.values)} values; give as many of each."
                )
            pieces = [None] if entry.piece is None else list(self.pieces(entry.piece, f"{key}.piece"))
            if len(pieces) > 1:
                raise ProblemError(f"{key}.piece is {entry.piece!r}, which is {len(pieces)} pieces; leave it out.")
            values, weight = self.scope.vector(entry.values, f"{key}.values"), self.scope.number(entry.weight, key)
            found.append(Data(points, values, weight, pieces[0]))
        return found

    def parts(self, name: str) -> list[str]:
        """The parts of the boundary that a name stands for: `rest` for all that no other condition names."""
        if name != REST:
            return [self.partition.part_name(name)]
        known = self.partition.boundary_parts
        others = {other: entry for other, entry in self.file.boundary.items() if other != REST}
        named = {part for other, entry in others.items() for part in self._parts(other, entry)}
        if not (left := [part for part in known if part not in named]):
            raise ProblemError(f"{REST!r} is no part: all have a condition of their own; they are {', '.join(known)}.")
        return left

    def pieces(self, name: str, key: str) -> tuple[int, ...]:
        """The pieces that a name stands for."""
        if name not in self.members:
            raise ProblemError(f"{key} is {name!r}; {suggestion(name, self.members, 'pieces')}")
        return self.members[name]

    def pairs(self, names: list[str], key: str) -> list[tuple[int, int, bool]]:
        """The interfaces a < b between two (groups of) pieces, and whether the first named has the lower number."""
        first, second = (self.pieces(name, key) for name in names)
        touching = {interface.pair for interface in self.partition.interfaces}
        found = [(min(a, b), max(a, b), a < b) for a in first for b in second if (min(a, b), max(a, b)) in touching]
        if not found:
            listed = ", ".join(
                f"{self.partition.names[a]} - {self.partition.names[b]}" for a, b in sorted(touching)[:8]
            )
            raise ProblemError(f"{key} is {names}, which do not touch; the interfaces are: {listed or 'none'}.")
        return found

    def _fillings(self) -> list[tuple[str, Filling]]:
        """What each piece is filled with, and its key."""
        found: dict[int, tuple[str, Filling]] = {0: ("background", self.file.background)}
        for name, piece in self.file.pieces.items():
            found |= dict.fromkeys(self.members[name], (f"pieces.{name}", piece))
        return [found[number] for number in sorted(found)]

    def _coefficient(self, filling: Filling, key: str) -> Any:
        if (filling.material is None) == (filling.A is None):
            given = "both" if filling.A is not None else "neither"
            raise ProblemError(f"{key} has {given} of material and A; give one of them.")
        if filling.A is not None:
            return self.scope.tensor_law(filling.A, f"{key}.A")
        materials = self.file.materials
        if filling.material not in materials:
            name = str(filling.material)
            raise ProblemError(f"{key}.material is {name!r}; {suggestion(name, materials, 'materials')}")
        return self.scope.tensor_law(materials[filling.material].A, f"materials.{filling.material}.A")

    def _decay(self, filling: Filling, key: str) -> float | str:
        if filling.material is None or filling.lam is not None:
            return 0.0 if filling.lam is None else filling.lam
        return self.file.materials[filling.material].lam

    def _ratio(self, filling: Filling) -> float | str:
        if filling.material is None or filling.K is not None:
            return 1.0 if filling.K is None else filling.K
        return self.file.materials[filling.material].K

    def _exact(self, fillings: list[tuple[str, Filling]]) -> list[Any] | None:
        without = [key for key, filling in fillings if filling.exact is None]
        if len(without) == len(fillings) and not self.file.manufactured:
            return None
        if without:
            raise ProblemError(f"{without[0]}.exact is missing; the exact solution is given in every piece or in none.")
        return [self.scope.field(filling.exact or 0.0, f"{key}.exact") for key, filling in fillings]

    def _boundary(self, condition: Callable[[Scope, Any, str], Any]) -> dict[str, Any]:
        given = dict(self.file.boundary)
        rest = given.pop(REST, None)
        found = {}
        for name, entry in given.items():
            with at(f"boundary.{name}"):
                for part in self._parts(name, entry):
                    if part in found:
                        raise ProblemError(f"the part {part!r} has a condition already; name it once.")
                    found[part] = condition(self.scope, entry, f"boundary.{name}")
        for part in self.partition.boundary_parts:
            if part not in found and rest is not None:
                found[part] = condition(self.scope, rest, f"boundary.{REST}")
            elif part not in found:
                raise ProblemError(
                    f"boundary.{part} is missing; give it a condition, or all others one: [boundary.rest]."
                )
        return found

    def _parts(self, name: str, entry: Any) -> list[str]:
        """The parts that a name stands for: an axis for both of its sides."""
        sides = [part for part in (f"{name}-", f"{name}+") if part in self.partition.boundary_parts]
        if entry.kind == "periodic" and not sides:
            raise ProblemError(f"{name!r} is no axis; periodic sides of a box are named together, x1 for x1- and x1+.")
        return sides or [self.partition.part_name(name)]

    def _jumps(self) -> dict[tuple[int, int], Jump]:
        found: dict[tuple[int, int], Jump] = {}
        for k, entry in enumerate(self.file.jumps):
            key = f"jumps[{k}]"
            for a, b, forward in self.pairs(entry.between, f"{key}.between"):
                if (a, b) in found:
                    raise ProblemError(f"{key}.between is {entry.between}, which has a jump already; give it once.")
                found[a, b] = self._jump(entry, key, forward)
        if found and self.file.manufactured:
            raise ProblemError("jumps: a manufactured problem derives its jumps; leave them out.")
        return found

    def _jump(self, entry: JumpEntry, key: str, forward: bool) -> Jump:
        v = entry.v
        if not forward:  # [u] changes its sign with the order of the pieces; [A grad u . n] does not, as n turns too
            v = f"-({v})" if isinstance(v, str) else -v
        R: Any = self.scope.law(entry.R, f"{key}.R")
        return Jump(self.scope.field(v, f"{key}.v"), self.scope.field(entry.w, f"{key}.w"), R)


def _without_a_piece(unnamed: Sequence[str]) -> str:
    """The message about all labels of the image that the file does not name."""
    numbers = [name.removeprefix("label ") for name in unnamed]
    listed = ", ".join(numbers[:MOST_SHOWN]) + (", ..." if len(numbers) > MOST_SHOWN else "")
    what = f"the label {listed}" if len(numbers) == 1 else f"the labels {listed} ({len(numbers)} of them)"
    how = f"label = {numbers[0]}" if len(numbers) == 1 else f"labels = [{listed}]"
    return f"image.file has {what}, which no piece has; add [pieces.NAME] with {how}, or to a piece that is there."


def _labels_of(file: File) -> tuple[dict[int, str], int | None]:
    """The name of each label that the file speaks of, and a label of the background if it has one."""
    found: dict[int, str] = {}
    own = _given_labels(file.background, "background")
    found |= dict.fromkeys(own, file.background.name)
    for name, piece in file.pieces.items():
        key = f"pieces.{name}"
        if piece.shape is not None or piece.centers is not None or piece.without or piece.wrap:
            raise ProblemError(f"{key}.shape: the image gives the shapes; give the label of the piece instead.")
        labels = _given_labels(piece, key)
        if not labels:
            raise ProblemError(f"{key}.label is missing; add it: the number that the piece has in the image.")
        for label in labels:
            if label in found or name == file.background.name:
                raise ProblemError(f"{key}.label is {label}, which another piece has; labels and names differ.")
            found[label] = name
    return found, own[0] if own else None


def _given_labels(entry: Background | Piece, key: str) -> list[int]:
    """The labels of an entry."""
    if entry.label is not None and entry.labels is not None:
        raise ProblemError(f"{key} has label and labels; give one of them.")
    return list(entry.labels or ()) if entry.label is None else [entry.label]


def _condition(scope: Scope, entry: Any, key: str) -> Condition:
    if isinstance(entry, PeriodicEntry):
        return Periodic(scope.field(entry.v, f"{key}.v"))
    if entry.kind == "dirichlet":
        return Dirichlet(scope.field(entry.g, f"{key}.g"))
    if isinstance(entry, ConvectionEntry):
        h: Any = scope.law(entry.h, f"{key}.h")
        scope.law(entry.ambient, f"{key}.ambient")  # a mistake in it is told of under its own key
        product: Any = scope.law(f"({entry.h})*({entry.ambient})", f"{key}.ambient")
        return Robin(h, product)
    g: Any = scope.law(entry.g, f"{key}.g")
    if isinstance(entry, RobinEntry):
        alpha: Any = scope.law(entry.alpha, f"{key}.alpha")
        return Robin(alpha, g)
    return Neumann(g)


def _kind(scope: Scope, entry: Any, key: str) -> Any:
    if isinstance(entry, PeriodicEntry):
        raise ProblemError(f"{key}: a manufactured problem has no periodic sides; choose another kind.")
    if "g" in entry.model_fields_set:
        raise ProblemError(f"{key}.g: a manufactured problem derives it; leave it out.")
    if isinstance(entry, ConvectionEntry):
        if "ambient" in entry.model_fields_set:
            raise ProblemError(f"{key}.ambient: a manufactured problem derives it; leave it out.")
        return Robin, scope.field(entry.h, f"{key}.h")
    if isinstance(entry, RobinEntry):
        return Robin, scope.field(entry.alpha, f"{key}.alpha")
    return Dirichlet if entry.kind == "dirichlet" else Neumann


def _pixel(image: ImageEntry, scope: Scope) -> float | list[float]:
    if isinstance(image.pixel, list):
        return scope.vector(image.pixel, "image.pixel")
    return scope.number(image.pixel, "image.pixel")
