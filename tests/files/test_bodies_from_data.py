"""A cylinder and a ball in a uniform field, stated in files with an image, a polygon, a volume or a mesh.

The closed form of the true body is met to the resolution of the data: relative errors of temperature of the order of
what the data leave of the body's radius.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import jumpnet as jn

RADIUS = 0.5
FILE = """
[constants]
k = {k}
dipole = "(k - 1)/(k + {n})*0.5**{d}"
{domain}
[background]
A = 1.0
[pieces.body]
{body}
A = "k"
[boundary]
rest = {{ kind = "dirichlet", g = "x1*(1 - dipole/r**{d})" }}
[solve]
method = "{method}"
tol = 1e-4
"""


def box(d: int) -> str:
    return f'[domain]\nkind = "box"\nlower = {[-1] * d}\nupper = {[1] * d}'


def exactly(folder: Path, d: int) -> tuple[str, str]:
    return box(d), f'shape = {{ kind = "{"disk" if d == 2 else "ball"}", center = {[0] * d}, radius = 0.5 }}'


def image(folder: Path, d: int) -> tuple[str, str]:
    n = 128 if d == 2 else 32
    axis = (np.arange(n) + 0.5) / n * 2 - 1
    inside = sum(c**2 for c in np.meshgrid(*[axis] * d, indexing="ij")) < RADIUS**2
    np.save(folder / "labels.npy", inside.astype(np.uint8))
    head = f'[image]\nfile = "labels.npy"\npixel = {2 / n}\norigin = {[-1] * d}\norder = "xyz"'
    return head, "label = 1"


def polygon(folder: Path, d: int) -> tuple[str, str]:
    t = 2 * np.pi * np.arange(128) / 128
    vertices = (RADIUS * np.stack([np.cos(t), np.sin(t)], axis=1)).tolist()
    return box(2), f'shape = {{ kind = "polygon", vertices = {vertices} }}'


def mesh(folder: Path, d: int) -> tuple[str, str]:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.icosphere(subdivisions=3, radius=RADIUS).export(folder / "ball.stl")
    return box(3), 'shape = { kind = "mesh", file = "ball.stl" }'


# What the data leave of the body, relative to the radius, with some room: a fifth of a pixel; the height of an arc over
# its chord; for triangles with edges of 0.08 the same in space.
RESOLUTION: dict[str, tuple[Callable[[Path, int], tuple[str, str]], int, float]] = {
    "disk": (exactly, 2, 1e-8),
    "ball": (exactly, 3, 1e-8),
    "disk, image": (image, 2, 0.2 * 2 / 128 / RADIUS),
    "disk, polygon": (polygon, 2, 5 * (np.pi / 128) ** 2),
    "ball, volume": (image, 3, 0.2 * 2 / 32 / RADIUS),
    "ball, mesh": (mesh, 3, 5 * 0.08**2 / 8 / RADIUS**2),
}


@pytest.mark.filterwarnings("ignore::jumpnet.errors.JumpnetWarning")  # data need not reach the tolerance
@pytest.mark.parametrize("k", [1e-3, 10.0, 1e3])
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if "," in n else n for n in RESOLUTION])
def test_the_closed_form_is_met_to_the_resolution_of_the_data(name: str, k: float, tmp_path: Path) -> None:
    make, d, resolution = RESOLUTION[name]
    domain, body = make(tmp_path, d)
    path = tmp_path / "a.toml"
    # The Trefftz method stalls, and says so, on a polygon with 128 corners; the default call takes finite elements.
    method = "auto" if make is polygon else "direct"
    path.write_text(FILE.format(k=k, n=d - 1, d=d, domain=domain, body=body, method=method))
    solution = jn.read_file(path).solve(**({"tol": 1e-9} if make is exactly else {}))
    x = np.random.default_rng(0).uniform(-1, 1, (2000, d))
    r = np.linalg.norm(x, axis=1)
    x, r = x[np.abs(r - RADIUS) > 0.02], r[np.abs(r - RADIUS) > 0.02]  # where data and body agree on the piece
    dipole = (k - 1) / (k + d - 1) * RADIUS**d
    exact = x[:, 0] * np.where(r < RADIUS, d / (k + d - 1), 1 - dipole / r**d)
    error = np.sqrt(np.mean((solution(x) - exact) ** 2) / np.mean(exact**2))
    assert error <= resolution
