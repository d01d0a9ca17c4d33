"""The problem file as tables: which keys there are, and what each may hold.

title, about, mean     text; the mean of u where the conditions leave it open
heat                   fluxes are given as heat flow, -A grad u
[constants]            names for numbers; a formula may use those before it
[domain]               a shape; or instead
[image]                a label image: file, pixel, origin
[materials.NAME]       A, lam, K
[background]           what the pieces leave of the domain: name, material (or A, lam, K), f, exact
[pieces.NAME]          shape (or label, labels), and the same as background; centers, without
[boundary.PART]        kind and data of a condition; the part "rest" is all that are not named, "x1" both sides of x1
[[jumps]]              between two pieces: v, w, R
[[sources]]            point sources: x, q
[[data]]               measured values: points, values, weight
[solve]                tol, atol, time_limit, method, verify, seed, trials
[nonlinear]            where formulas use u: start, continuation
[fit]                  unknown constants with their bounds, to be found from the data; noise, starts
[probes.NAME]          points, or a line
[quantities.NAME]      flux, mean, integral, energy, effective
"""

import json
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, StringConstraints

from jumpnet.files.shapes import AnyShape, Entry
from jumpnet.files.values import Coefficient, Formula, Number, Vector

# Limits on what a file may ask for, so that a damaged or hostile one is refused at once; real files are far below.
MOST_PIECES = 400
MOST_POINTS = 100_000  # measurements or sample points
MOST_ENTRIES = 200  # entries of a table
MOST_LABELS = 2000  # labels of an image that are named

Text = Annotated[str, StringConstraints(max_length=4000)]


def _is_name(text: str) -> str:
    if not (1 <= len(text) <= 60 and text.isprintable() and text.strip() == text):
        raise ValueError("a name has 1 to 60 printable characters, without blanks at its ends; give another one")
    return text


Label = Annotated[int, Field(ge=-(2**31), lt=2**31)]
Name = Annotated[str, AfterValidator(_is_name)]


class Material(Entry):
    """What a piece is made of."""

    A: Coefficient = Field(description="the coefficient: a number, a formula (of u too) or a matrix of these")
    lam: Formula = Field(default=0.0, description="the zero-order coefficient")
    K: Number = Field(default=1.0, description="the partition coefficient (solubility): u/K is continuous")


class Filling(Entry):
    """What holds inside a piece: its material by name, or its coefficients."""

    material: Name | None = None
    A: Coefficient | None = None
    lam: Formula | None = None
    K: Number | None = None
    f: Formula = Field(default=0.0, description="the right-hand side; a heat source q is f = -q")
    exact: Formula | None = Field(default=None, description="the solution where it is known, to measure errors by")


class Background(Filling):
    """What the pieces leave of the domain (piece 0)."""

    name: Name = "background"
    label: int | None = Field(default=None, ge=-(2**31), lt=2**31, description="its label in the image")
    labels: list[Label] | None = Field(default=None, min_length=1, max_length=MOST_LABELS, description="several labels")


class Piece(Filling):
    """A part of the domain with its own material."""

    shape: AnyShape | None = None
    label: int | None = Field(
        default=None, ge=-(2**31), lt=2**31, description="its label in the image, instead of shape"
    )
    labels: list[Label] | None = Field(
        default=None, min_length=1, max_length=MOST_LABELS, description="several labels in the image, all one piece"
    )
    centers: list[Vector] | None = Field(
        default=None, min_length=1, max_length=MOST_PIECES, description="one copy of the shape about each of these"
    )
    wrap: bool = Field(default=False, description="bodies that cross a side continue at the opposite one")
    without: list[Name] = Field(default=[], max_length=MOST_PIECES, description="pieces that are cut out of this one")


class PartEntry(Entry):
    """A condition on a part of the boundary: a known one by its name, or a new one by a condition or a piece."""

    where: str | None = Field(default=None, max_length=1000, description='which points, e.g. "x1 < 0 and x2 > 1"')
    piece: Name | None = Field(default=None, description="the outer boundary of this piece")


class DirichletEntry(PartEntry):
    """u = g."""

    kind: Literal["dirichlet"]
    g: Formula = 0.0


class NeumannEntry(PartEntry):
    """A grad u . n = g, n pointing outward."""

    kind: Literal["neumann"]
    g: Formula = 0.0


class RobinEntry(PartEntry):
    """alpha u + A grad u . n = g, n pointing outward."""

    kind: Literal["robin"]
    alpha: Formula
    g: Formula = 0.0


class ConvectionEntry(PartEntry):
    """Heat exchange with a medium: -A grad u . n = h (u - ambient), n pointing outward."""

    kind: Literal["convection"]
    h: Formula
    ambient: Formula = 0.0


class PeriodicEntry(Entry):
    """Both sides of an axis are one: u(x + L e) - u(x) = v from the lower to the upper, with the same flux."""

    kind: Literal["periodic"]
    v: Formula = 0.0


AnyCondition = Annotated[
    DirichletEntry | NeumannEntry | RobinEntry | ConvectionEntry | PeriodicEntry, Field(discriminator="kind")
]


class JumpEntry(Entry):
    """[u] = v + R A grad u . n, [A grad u . n] = w: [q] is q of the first minus the second, n points to the first.

    Where pieces have partition coefficients K, the first is [u/K] = v + R A grad u . n.
    """

    between: list[Name] = Field(min_length=2, max_length=2)
    v: Formula = 0.0
    w: Formula = 0.0
    R: Formula = Field(default=0.0, description="a contact resistance, zero or more")


class SourceEntry(Entry):
    """A point source that releases q."""

    x: Vector
    q: Number


class DataEntry(Entry):
    """Measured values of u."""

    points: list[Vector] = Field(min_length=1, max_length=MOST_POINTS)
    values: list[Number] = Field(min_length=1, max_length=MOST_POINTS)
    weight: Number = Field(default=1.0, description="against the other equations")
    piece: Name | None = Field(default=None, description="seen from this piece, for points on an interface")


class ImageEntry(Entry):
    """A label image beside the problem file (PNG, TIFF, NPY): its labels are the pieces, its frame the domain."""

    file: str
    pixel: Number | Vector = Field(default=1.0, description="the size of a pixel or voxel")
    origin: Vector | None = Field(default=None, description="the lower corner, by default 0")
    order: Literal["image", "xyz"] = "image"
    thresholds: Vector | None = Field(
        default=None, description="of a grey image: label 0 below the first value, 1 up to the second, and so on"
    )
    small: Literal["merge", "keep", "error"] = "merge"
    smallest: int | None = Field(default=None, ge=0, le=10**6, description="regions of fewer pixels are small")
    smooth: bool = True
    resolution: bool = Field(default=True, description="solve at half the resolution too, to tell what pixels cost")


class SolveEntry(Entry):
    """How to solve: the options of `jn.solve`."""

    method: Literal["auto", "trefftz", "fem", "network", "direct", "train"] = Field(
        default="auto",
        description="trefftz (or direct): functions made for it; fem: finite elements; network (or train): a training",
    )
    tol: float | None = Field(
        default=None, gt=0, le=1, allow_inf_nan=False,
        description="relative to the variation of u; by default 1e-6, of images 1e-3, of volumes 2e-2",
    )  # fmt: skip
    atol: float = Field(default=0.0, ge=0, allow_inf_nan=False, description="in units of u")
    time_limit: float | None = Field(
        default=None, gt=0, allow_inf_nan=False,
        description="seconds for the solve and its judge, after which the best answer so far is taken",
    )  # fmt: skip
    verify: Literal["auto", "always", "never"] = Field(default="auto", description="solve for the error of the answer")
    seed: int = Field(default=0, ge=0, lt=2**32)
    trials: int = Field(default=1, ge=1, le=100)
    compare: Literal["fem"] | None = Field(default=None, description="with finite elements, where they are installed")
    neurons: int | None = Field(default=None, ge=1, le=2000, description="of a training")
    steps: int | None = Field(default=None, ge=1, le=100_000, description="of a training")


class NonlinearEntry(Entry):
    """How to solve a problem whose formulas use u: the options of `jn.solve_nonlinear`."""

    start: Formula = Field(default=0.0, description="where Newton's method begins: a number or a formula")
    continuation: dict[str, list[Number]] = Field(
        default={}, max_length=1,
        description="NAME = [VALUE, ...]: solve for these values of a constant first, one after the other",
    )  # fmt: skip


class FitEntry(Entry):
    """Constants to be found from the measured values: the options of `jn.fit`."""

    unknown: dict[str, list[Number]] = Field(min_length=1, max_length=20, description="NAME = [start, low, high]")
    noise: Number | None = Field(default=None, description="the standard deviation of a value of weight 1")
    starts: int = Field(default=1, ge=1, le=1000, description="the number of starting points within the bounds")


class Line(Entry):
    """Points at equal distances from one end to the other."""

    start: Vector
    end: Vector
    count: int = Field(default=101, ge=2, le=MOST_POINTS)


class Probe(Entry):
    """Where values and fluxes are wanted: a list of points or a line."""

    points: list[Vector] | None = Field(default=None, min_length=1, max_length=MOST_POINTS)
    line: Line | None = None
    piece: Name | None = Field(default=None, description="seen from this piece, also beyond its edge")


class FluxEntry(Entry):
    """The integral of A grad u . n over an interface or a part of the boundary; with `heat = true`, of -A grad u . n.

    On an interface n points to the first of the two pieces and the flux is taken on its side.
    """

    kind: Literal["flux"]
    between: list[Name] | None = Field(default=None, min_length=2, max_length=2)
    boundary: Name | None = Field(default=None, description="a part of the boundary, or the rest together")


class IntegralEntry(Entry):
    """The integral or the mean of u, or the energy (grad u . A grad u + lam u^2)/2, over a piece or the domain."""

    kind: Literal["mean", "integral", "energy"]
    over: Name | None = Field(default=None, description="a piece; without it the whole domain")


class EffectiveEntry(Entry):
    """The effective tensor of the box, whatever the conditions of the file are: of a periodic cell, or of a sample."""

    kind: Literal["effective"]
    boundary: Literal["periodic", "linear", "flux", "mixed"] = Field(
        default="periodic",
        description="linear: u = x_k; flux: A grad u . n = n_k; mixed: u = x_k on two sides, the others insulated",
    )


AnyQuantity = Annotated[FluxEntry | IntegralEntry | EffectiveEntry, Field(discriminator="kind")]


class File(Entry):
    """A problem file of jumpnet."""

    title: Text = ""
    about: Text = ""
    constants: dict[str, Number] = Field(default={}, max_length=MOST_ENTRIES)
    heat: bool = Field(
        default=False,
        description="give fluxes as heat flow, -A grad u: what leaves through the boundary is positive",
    )
    mean: Number | None = Field(default=None, description="the mean of u, where the conditions leave it open")
    domain: AnyShape | None = None
    image: ImageEntry | None = Field(default=None, description="instead of the domain and the shapes of pieces")
    materials: dict[Name, Material] = Field(default={}, max_length=MOST_ENTRIES)
    background: Background = Field(default=Background())
    pieces: dict[Name, Piece] = Field(default={}, max_length=MOST_PIECES)
    manufactured: bool = Field(default=False, description="derive f, g and the jumps from `exact`")
    boundary: dict[Name, AnyCondition] = Field(min_length=1, max_length=2 * MOST_ENTRIES)
    jumps: list[JumpEntry] = Field(default=[], max_length=MOST_PIECES)
    sources: list[SourceEntry] = Field(default=[], max_length=MOST_ENTRIES)
    data: list[DataEntry] = Field(default=[], max_length=MOST_ENTRIES)
    solve: SolveEntry = Field(default=SolveEntry())
    nonlinear: NonlinearEntry = Field(default=NonlinearEntry(), description="for formulas that use u")
    fit: FitEntry | None = Field(default=None, description="for `jumpnet fit`")
    probes: dict[Name, Probe] = Field(default={}, max_length=MOST_ENTRIES)
    quantities: dict[Name, AnyQuantity] = Field(default={}, max_length=MOST_ENTRIES)


def json_schema() -> dict[str, Any]:
    """The schema of problem files, for editors that complete and check TOML by one; made of the tables above."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **File.model_json_schema()}


def schema_text() -> str:
    """The same as the text of a file."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
