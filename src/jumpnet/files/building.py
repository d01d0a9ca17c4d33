"""From the tables of a file to a `Problem`."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jumpnet.errors import GeometryError, JumpnetError, ProblemError
from jumpnet.files.messages import suggestion
from jumpnet.files.schema import MOST_PIECES, File, Filling, JumpEntry, Piece, RobinEntry
from jumpnet.files.shapes import make
from jumpnet.files.values import Scope, at, constants
from jumpnet.geometry import Partition, Shape
from jumpnet.problem import Dirichlet, Jump, Neumann, Problem, Robin, manufactured

REST = "rest"
"""The boundary part that stands for all that are not named."""


@dataclass(frozen=True)
class Builder:
    """The pieces of one file by name, its constants, and the partition: makes everything else."""

    file: File
    scope: Scope
    partition: Partition
    members: Mapping[str, tuple[int, ...]]
    """The pieces that a name stands for: several where a shape has several centres."""

    @staticmethod
    def of(file: File, instead: Mapping[str, float], folder: Path | None = None) -> "Builder":
        """Constants, domain and pieces."""
        scope = Scope(constants(file.constants, instead), folder=folder)
        domain = make(file.domain, scope, "domain")
        scope = replace(scope, dim=domain.dim)
        shapes = _shapes(file, scope)
        names = [file.background.name]
        members: dict[str, tuple[int, ...]] = {file.background.name: (0,)}
        for name, group in shapes.items():
            if name in members:
                raise ProblemError(f"pieces.{name}: this is the name of the background too; rename one of them.")
            members[name] = tuple(range(len(names), len(names) + len(group)))
            names += [name] if len(group) == 1 else [f"{name} {k}" for k in range(1, len(group) + 1)]
        with _naming(names, "pieces" if file.pieces else "domain"):
            if len(set(names)) < len(names):
                raise GeometryError("pieces: two of them have the same name; rename one of them.")
            partition = Partition(domain, [shape for group in shapes.values() for shape in group], names)
            _ = partition.interfaces  # found now, so that what is wrong with them is said here
        return Builder(file, scope, partition, members)

    def problem(self) -> Problem:
        """The problem stated."""
        fillings = self._fillings()
        A = [self._coefficient(filling, key) for key, filling in fillings]
        lam = [self.scope.field(self._decay(filling, key), f"{key}.lam") for key, filling in fillings]
        exact = self._exact(fillings)
        with _naming(self.partition.names, "boundary and pieces"):
            if self.file.manufactured:
                return manufactured(self.partition, exact, A, lam, self._boundary(_kind))
            f = [self.scope.field(filling.f, f"{key}.f") for key, filling in fillings]
            return Problem(self.partition, A, lam, f, self._boundary(_condition), self._jumps(), exact=exact)

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
        found: list[tuple[str, Filling]] = [("background", self.file.background)]
        for name, piece in self.file.pieces.items():
            found += [(f"pieces.{name}", piece)] * len(self.members[name])
        return found

    def _coefficient(self, filling: Filling, key: str) -> Any:
        if (filling.material is None) == (filling.A is None):
            given = "both" if filling.A is not None else "neither"
            raise ProblemError(f"{key} has {given} of material and A; give one of them.")
        if filling.A is not None:
            return self.scope.tensor(filling.A, f"{key}.A")
        materials = self.file.materials
        if filling.material not in materials:
            name = str(filling.material)
            raise ProblemError(f"{key}.material is {name!r}; {suggestion(name, materials, 'materials')}")
        return self.scope.tensor(materials[filling.material].A, f"materials.{filling.material}.A")

    def _decay(self, filling: Filling, key: str) -> float | str:
        if filling.material is None or filling.lam is not None:
            return 0.0 if filling.lam is None else filling.lam
        return self.file.materials[filling.material].lam

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
                part = self.partition.part_name(name)
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
        return Jump(self.scope.field(v, f"{key}.v"), self.scope.field(entry.w, f"{key}.w"))


def _condition(scope: Scope, entry: Any, key: str) -> Dirichlet | Neumann | Robin:
    g = scope.field(entry.g, f"{key}.g")
    if isinstance(entry, RobinEntry):
        return Robin(scope.field(entry.alpha, f"{key}.alpha"), g)
    return Dirichlet(g) if entry.kind == "dirichlet" else Neumann(g)


def _kind(scope: Scope, entry: Any, key: str) -> Any:
    if "g" in entry.model_fields_set:
        raise ProblemError(f"{key}.g: a manufactured problem derives it; leave it out.")
    if isinstance(entry, RobinEntry):
        return Robin, scope.field(entry.alpha, f"{key}.alpha")
    return Dirichlet if entry.kind == "dirichlet" else Neumann


def _shapes(file: File, scope: Scope) -> dict[str, list[Shape]]:
    """The shapes of every entry, cut where the file says so."""
    shapes = {name: _copies(piece, scope, f"pieces.{name}") for name, piece in file.pieces.items()}
    if sum(len(group) for group in shapes.values()) > MOST_PIECES:
        raise ProblemError(f"pieces: there are more than {MOST_PIECES} of them, which is the most that are read.")
    cut = {}
    for name, piece in file.pieces.items():
        cut[name] = shapes[name]
        for other in piece.without:
            key = f"pieces.{name}.without"
            if other == name or other not in shapes:
                raise ProblemError(f"{key} has {other!r}; {suggestion(other, set(shapes) - {name}, 'other pieces')}")
            with at(key):
                cut[name] = [_less(shape, shapes[other]) for shape in cut[name]]
    return cut


def _less(shape: Shape, others: list[Shape]) -> Shape:
    for other in others:
        shape = shape - other
    return shape


def _copies(piece: Piece, scope: Scope, key: str) -> list[Shape]:
    """The shape of an entry, once or about each of its centres."""
    if piece.centers is None:
        return [make(piece.shape, scope, f"{key}.shape")]
    if not hasattr(piece.shape, "center"):
        raise ProblemError(f"{key}.centers: a {piece.shape.kind} has no center to move; leave centers out.")
    if piece.shape.center is not None:  # type: ignore[union-attr]
        raise ProblemError(f"{key} has centers and shape.center; give one of them.")
    copies = (piece.shape.model_copy(update={"center": center}) for center in piece.centers)
    return [make(copy, scope, f"{key}.centers[{k}]") for k, copy in enumerate(copies)]


@contextmanager
def _naming(names: Sequence[str], otherwise: str) -> Iterator[None]:
    """What is said of piece 3 is said of the name it has in the file, and begins with a key."""
    try:
        yield
    except JumpnetError as problem:
        message = str(problem)
        if message.split(".")[0].split(":")[0].split("[")[0] in File.model_fields:
            raise
        found = _NUMBERED.search(message)
        piece = int(found[2]) if found else len(names)
        key = otherwise if piece >= len(names) else "background" if piece == 0 else f"pieces.{names[piece]}"
        for words, instead in _REMEDIES.items():
            message = message.replace(words, instead)
        raise type(problem)(f"{key}: {_NUMBERED.sub(lambda m: _named(m, names), message)}") from None


# What is done by operators in Python, in the words of files.
_REMEDIES = {
    "cut it off with `piece & domain`": 'cut it off with a shape of kind "intersection"',
    "subtract one from the other, `a - b`": "name one in `without` of the other",
    "cut it off with a Box, `a & box`": 'cut it off with a shape of kind "intersection"',
    "cut the domain with a Box, `a & box`": 'make it a shape of kind "intersection"',
}
_NUMBERED = re.compile(r"\b(piece|pieces|interface) \(?(\d+)(?:(?: and |, )(\d+)\)?)?")


def _named(match: re.Match[str], names: Sequence[str]) -> str:
    called = [names[int(number)] for number in match.groups()[1:] if number is not None and int(number) < len(names)]
    return f"{match[0]} ({', '.join(called)})" if called else match[0]
