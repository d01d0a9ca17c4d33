"""A problem file for one's own drawing, label image or surface mesh: a piece for each region, label or body."""

import json
from pathlib import Path

import numpy as np

from jumpnet.errors import ProblemError
from jumpnet.geometry.data import geojson, labelimage, meshes, svg

SUFFIXES = (".svg", ".geojson", ".png", ".tif", ".tiff", ".npy", ".stl", ".obj", ".ply")
"""The files for which a problem file can be written."""
MOST = 200
"""More regions or labels than this are not written out one by one."""


def file_for(data: Path, target: Path) -> str:
    """The text of a problem file for a data file: every piece with A = 1, driven from the lower to the upper x1."""
    suffix = data.suffix.lower()
    if suffix not in SUFFIXES:
        raise ProblemError(f"the data file is {data.name!r}; one of these is wanted: {', '.join(SUFFIXES)}.")
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

    def shape(name: str) -> str:
        return f"kind = {_quoted(kind)}, file = {_quoted(data.name)}, name = {_quoted(name)}"

    outline = around[0] if around else next(iter(shapes))
    if around:
        domain = "[domain]                        # the region that holds the others\n" + shape(outline).replace(
            ", ", "\n"
        )
    else:
        listed = "".join(f"  {{ {shape(name)} }},\n" for name in shapes)
        domain = f'[domain]                        # all regions together\nkind = "union"\nparts = [\n{listed}]'
    pieces = [f"[pieces.{_quoted(name)}]\nshape = {{ {shape(name)} }}\nA = 1.0" for name in shapes if name != outline]
    near = 1e-3 * float(upper[0] - lower[0])
    where = f'where = "x1 < {lower[0] + near:.6g}"\n', f'where = "x1 > {upper[0] - near:.6g}"\n'
    first = f"[background]                    # what the pieces leave of the domain\nname = {_quoted(outline)}\nA = 1.0"
    return [f"{block}\n" for block in (domain, first, *pieces)] + _driven("in", "out", where)


def _image(data: Path) -> list[str]:
    labels = labelimage.read_labels(data)
    values, counts = np.unique(labels, return_counts=True)
    _few(len(values), "labels")
    shares = [f"{count / labels.size:.1%}" for count in counts]
    image = f"[image]\nfile = {_quoted(data.name)}\npixel = 1.0                     # its size, in your unit of length"
    background = f'[background]                    # {shares[0]} of the image\nname = "label {values[0]}"'
    pieces = [
        f'[pieces."label {value}"]           # {share}\nlabel = {value}\nA = 1.0'
        for value, share in zip(values[1:], shares[1:], strict=True)
    ]
    blocks = [f"{block}\n" for block in (image, f"{background}\nlabel = {values[0]}\nA = 1.0", *pieces)]
    return blocks + _driven()


def _body(data: Path) -> list[str]:
    body = meshes.from_mesh(data, smooth=False)
    lower, upper = np.asarray(body.bounds[0]), np.asarray(body.bounds[1])
    room = 0.25 * float(np.max(upper - lower))
    corners = [[float(f"{x:.6g}") for x in corner] for corner in (lower - room, upper + room)]
    sizes = " x ".join(f"{x:.4g}" for x in upper - lower)
    box = f'kind = "box"\nlower = {corners[0]}\nupper = {corners[1]}'
    domain = f"[domain]                        # the body is {sizes}\n{box}"
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
