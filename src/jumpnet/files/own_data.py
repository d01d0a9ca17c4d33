"""A problem file for a user's drawing, label image or surface mesh: a piece for each region, label or body."""

import json
import warnings
from pathlib import Path

import numpy as np

from jumpnet.errors import JumpnetWarning, ProblemError
from jumpnet.geometry import Shape
from jumpnet.geometry.data import geojson, labelimage, meshes, svg
from jumpnet.geometry.data.files import instead

SUFFIXES = (".svg", ".geojson", ".png", ".tif", ".tiff", ".npy", ".stl", ".obj", ".ply")
"""The files for which a problem file can be written."""
MOST = 200
"""More regions or labels than this are not written out one by one."""
PROBES = 400
"""Sample points in the box around a region, at which overlaps with others are found."""


def file_for(data: Path, target: Path) -> str:
    """The text of a problem file for a data file: every piece with A = 1, driven from the lower to the upper x1."""
    suffix = data.suffix.lower()
    if suffix not in SUFFIXES:
        raise ProblemError(
            f"the data file is {data.name!r}; one of these is wanted: {', '.join(SUFFIXES)}{instead(data)}."
        )
    if suffix in (".svg", ".geojson"):
        parts = _drawing(data, "svg" if suffix == ".svg" else "geojson")
    elif suffix in (".stl", ".obj", ".ply"):
        parts = _body(data)
    else:
        parts = _image(data)
    head = f"""\
# Made from {data.name}. Give every piece its A, the sides their conditions.
# Look at it:  jumpnet check {target.name} --picture domain.png        Solve it:  jumpnet solve {target.name} -o out
title = {_quoted(data.stem)}
heat = true                     # fluxes are heat flow, -A grad u: what leaves is positive
"""
    return "\n".join([head, *parts])


def _drawing(data: Path, kind: str) -> list[str]:
    shapes = svg.from_svg(data) if kind == "svg" else geojson.from_geojson(data)
    _few(len(shapes), "regions")
    low = {name: np.asarray(shape.bounds[0]) for name, shape in shapes.items()}
    high = {name: np.asarray(shape.bounds[1]) for name, shape in shapes.items()}
    lower, upper = np.min([*low.values()], axis=0), np.max([*high.values()], axis=0)
    around = [name for name in shapes if (low[name] <= lower).all() and (high[name] >= upper).all()]
    size = f"{upper[0] - lower[0]:.4g} x {upper[1] - lower[1]:.4g} in the units of the drawing"

    def shape(name: str) -> str:
        return f"kind = {_quoted(kind)}, file = {_quoted(data.name)}, name = {_quoted(name)}"

    outline = around[0] if around else next(iter(shapes))
    if around:
        domain = f"[domain]                        # the region that holds the others: {size}\n" + shape(
            outline
        ).replace(", ", "\n")
    else:
        listed = "".join(f"  {{ {shape(name)} }},\n" for name in shapes)
        domain = f'[domain]                        # all regions together: {size}\nkind = "union"\nparts = [\n{listed}]'
    scale = "# In another unit of length: scale = 1e-3 in every shape of the drawing, as in the domain.\n"
    covered = _covered({name: shapes[name] for name in shapes if name != outline})
    pieces = [
        f"[pieces.{_quoted(name)}]\nshape = {{ {shape(name)} }}\n{covered[name]}A = 1.0"
        for name in shapes
        if name != outline
    ]
    near = 1e-3 * float(upper[0] - lower[0])
    where = f'where = "x1 < {lower[0] + near:.6g}"\n', f'where = "x1 > {upper[0] - near:.6g}"\n'
    first = f"[background]                    # what the pieces leave of the domain\nname = {_quoted(outline)}\nA = 1.0"
    return [f"{block}\n" for block in (scale + domain, first, *pieces)] + _driven("in", "out", where)


def _covered(shapes: dict[str, Shape]) -> dict[str, str]:
    """The line `without = [...]` of each region: what is drawn over it, or lies within it."""
    names, chance = list(shapes), np.random.default_rng(0)
    points = {name: chance.uniform(*shapes[name].bounds, (PROBES, 2)) for name in names}
    inside = {name: points[name][shapes[name].contains(points[name])] for name in names}
    cut: dict[str, list[str]] = {name: [] for name in names}
    for k, below in enumerate(names):
        for above in names[k + 1 :]:
            (low, high), (other_low, other_high) = shapes[below].bounds, shapes[above].bounds
            if np.any(np.asarray(low) >= other_high) or np.any(np.asarray(other_low) >= high):
                continue
            over = shapes[above].contains(inside[below])
            if over.any() and over.all():  # nothing of it would be seen: the other one goes around it
                cut[above].append(below)
            elif over.any() or shapes[below].contains(inside[above]).any():
                cut[below].append(above)
    return {
        name: f"without = [{', '.join(map(_quoted, others))}]        # which is drawn over it\n" if others else ""
        for name, others in cut.items()
    }


def _image(data: Path) -> list[str]:
    threshold = labelimage.threshold_between(data)
    labels = labelimage.read_labels(data, None if threshold is None else [threshold])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", JumpnetWarning)  # the file says it
        cells = labelimage.read_cells(
            labels, pixel=1.0, origin=None, order="image", background=None, names=None, small="merge", smallest=None
        )
    values = [int(name.removeprefix("label ")) for name in cells.names]
    _few(len(values), "labels")
    shares = np.bincount(cells.pieces.ravel(), minlength=len(values)) / cells.pieces.size
    first = int(np.argmax(shares))
    order = [first, *(k for k in range(len(values)) if k != first)]
    sizes = " x ".join(str(n) for n in cells.pieces.shape)
    image = (
        f"[image]                         # {sizes} {'pixels' if cells.pieces.ndim == 2 else 'voxels'}\n"
        f"file = {_quoted(data.name)}\npixel = 1.0                     # its size, in your unit of length"
    )
    if threshold is not None:
        image += f"\n{f'thresholds = [{threshold:g}]':<31} # a grey image: label 0 below, 1 above (Otsu's value)"
    specks = sorted({int(v) for v in np.unique(labels)} - set(values))
    if specks:
        listed = ", ".join(map(str, specks[:10])) + (" ..." if len(specks) > 10 else "")
        least = labelimage.SMALLEST[cells.pieces.ndim]
        image += (
            f"\n# Regions of fewer than {least} go to their neighbours (change that: smallest = {least}); so these\n"
            f"# labels have no piece: {listed}"
        )
    blocks = [image]
    for k in order:
        head = "[background]" if k == first else f'[pieces."label {values[k]}"]'
        name = f'name = "label {values[k]}"\n' if k == first else ""
        blocks.append(f"{head:<31} # {shares[k]:.2%} of the image\n{name}label = {values[k]}\nA = 1.0")
    return [f"{block}\n" for block in blocks] + _driven()


def _body(data: Path) -> list[str]:
    body = meshes.from_mesh(data, smooth=False)
    lower, upper = np.asarray(body.bounds[0]), np.asarray(body.bounds[1])
    room = 0.25 * float(np.max(upper - lower))
    corners = [[float(f"{x:.6g}") for x in corner] for corner in (lower - room, upper + room)]
    sizes = " x ".join(f"{x:.4g}" for x in upper - lower)
    box = f'kind = "box"\nlower = {corners[0]}\nupper = {corners[1]}'
    domain = (
        f"[domain]                        # the body is {sizes}; `scale` in both changes the unit of length\n{box}\n"
        f"# Only the body itself, with conditions on its surface: in place of these three lines\n"
        f'# kind = "mesh"\n# file = {_quoted(data.name)}\n'
        '# and no [pieces]; parts of the surface: where = "x3 < 0.1" in [boundary.NAME].'
    )
    pieces = (
        '[background]\nname = "surroundings"\nA = 1.0',
        f'[pieces.body]\nshape = {{ kind = "mesh", file = {_quoted(data.name)} }}\nA = 1.0',
    )
    solve = "[solve]\ntol = 1e-2\ntime_limit = 300                # seconds"
    return [f"{block}\n" for block in (domain, *pieces, solve)] + _driven()


def _driven(inlet: str = "x1-", outlet: str = "x1+", where: tuple[str, str] = ("", "")) -> list[str]:
    """u = 1 on one side and 0 on the other, both sides of a box or parts of their own, and the flux through it."""
    sides = ((inlet, where[0], 1.0), (outlet, where[1], 0.0))
    held = [f'[boundary."{name}"]\n{part}kind = "dirichlet"\ng = {value}\n' for name, part, value in sides]
    rest = '[boundary.rest]                 # insulated\nkind = "neumann"\n'
    return [*held, rest, f'[quantities]\n"heat out" = {{ kind = "flux", boundary = "{outlet}" }}\n']


def _few(count: int, what: str) -> None:
    if count > MOST:
        raise ProblemError(f"there are {count} {what}; {MOST} can be written out, and a script can write more.")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)  # TOML's basic strings have the escapes of JSON
