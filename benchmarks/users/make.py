"""The data of the problem files beside this one, made from fixed seeds.

    python benchmarks/users/make.py

Drawings are written as a drawing program would save them (SVG in millimetres, GeoJSON with a feature per layer); images
are label images as a segmentation leaves them; surfaces are binary STL.
"""

import json
from pathlib import Path

import numpy as np
from PIL import Image
from scipy import ndimage

DATA = Path(__file__).parent / "data"


def sink() -> str:
    """A base plate with seven tapered, rounded fins, and the chip under it: SVG, millimetres, x2 down."""
    width, fins, top, base, height = 48.0, 7, 8.0, 30.0, 40.0
    pitch, foot, tip = width / fins, 2.4, 1.4
    steps = [f"M 0 {height - 6:g} L 0 {base:g}"]
    for k in range(fins):
        middle = (k + 0.5) * pitch
        left, right = middle - foot / 2, middle + foot / 2
        steps.append(f"L {left:.4f} {base:g} L {middle - tip / 2:.4f} {top:g}")
        steps.append(f"A {tip / 2:g} {tip / 2:g} 0 0 1 {middle + tip / 2:.4f} {top:g} L {right:.4f} {base:g}")
    steps.append(f"L {width:g} {base:g} L {width:g} {height - 6:g} L 32 {height - 6:g} L 32 {height - 3.5:g}")
    steps.append(f"L 17 {height - 3.5:g} L 17 {height - 6:g} Z")
    chip = f'<rect id="chip" x="17" y="{height - 6:g}" width="15" height="2.5"/>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}mm" height="{height:g}mm" '
        f'viewBox="0 0 {width:g} {height:g}">\n  <path id="body" d="{" ".join(steps)}"/>\n  {chip}\n</svg>\n'
    )


def board() -> str:
    """The cross-section of a board, 24 x 1.6 mm: copper layers of 0.1 mm, vias that join them, a package on top."""

    def rectangle(a: float, b: float, c: float, d: float) -> list[list[list[float]]]:
        return [[[a, b], [c, b], [c, d], [a, d], [a, b]]]

    vias = [9.0, 11.0, 13.0, 15.0]
    plane = [0.5, *(x for via in vias for x in (via - 0.35, via + 0.35)), 23.5]
    layers = {
        "top copper": [rectangle(1.0, 1.5, 5.0, 1.6), rectangle(7.0, 1.5, 17.0, 1.6), rectangle(19, 1.5, 23, 1.6)],
        "inner plane": [rectangle(a, 0.95, b, 1.05) for a, b in zip(plane[::2], plane[1::2], strict=True)],
        "bottom copper": [rectangle(0.5, 0.0, 23.5, 0.1)],
        "vias": [rectangle(x - 0.15, 0.1, x + 0.15, 1.5) for x in vias],
        "package": [rectangle(8.0, 1.6, 16.0, 2.4)],
        "outline": [[[[0, 0], [24, 0], [24, 1.6], [16, 1.6], [16, 2.4], [8, 2.4], [8, 1.6], [0, 1.6], [0, 0]]]],
    }
    features = [
        {
            "type": "Feature",
            "properties": {"name": name},
            "geometry": {"type": "MultiPolygon", "coordinates": polygons},
        }
        for name, polygons in layers.items()
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}, indent=1) + "\n"


def two_phase() -> np.ndarray:
    """200 x 200 pixels, periodic: the upper 40 % of a smooth random field."""
    noise = np.random.default_rng(20).standard_normal((200, 200))
    field = ndimage.gaussian_filter(noise, 5.0, mode="wrap")
    return np.where(field > np.quantile(field, 0.6), 255, 0).astype(np.uint8)


def cells(count: int, size: int, seed: int) -> np.ndarray:
    """The number of the nearest of `count` random points, for each pixel."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(0, size, (4000, 2))
    kept: list[np.ndarray] = []
    for point in points:  # grains of similar size: points keep their distance
        if all(np.linalg.norm(point - other) > 0.62 * size / np.sqrt(count) for other in kept):
            kept.append(point)
        if len(kept) == count:
            break
    pixels = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing="ij"), axis=-1) + 0.5
    return np.argmin(np.linalg.norm(pixels[:, :, None] - np.array(kept), axis=-1), axis=-1)


def grains() -> np.ndarray:
    """160 x 160 pixels, 40 grains with labels 1 to 40."""
    return (cells(40, 160, 7) + 1).astype(np.uint8)


def polycrystal() -> np.ndarray:
    """240 x 240 pixels: 90 grains of three materials, labels 1, 2 and 3."""
    material = np.random.default_rng(5).choice(3, 90, p=[0.5, 0.3, 0.2]) + 1
    return material[cells(90, 240, 11)].astype(np.uint8)


def volume() -> np.ndarray:
    """48^3 voxels: overlapping balls, label 1, in a matrix, label 0; indexed x, y, z."""
    rng = np.random.default_rng(3)
    x = np.stack(np.meshgrid(*[np.arange(48) + 0.5] * 3, indexing="ij"), axis=-1)
    found = np.zeros((48, 48, 48), np.uint8)
    for center, radius in zip(rng.uniform(0, 48, (18, 3)), rng.uniform(5, 9, 18), strict=True):
        found[np.linalg.norm(x - center, axis=-1) < radius] = 1
    return found


def torus() -> np.ndarray:
    """A ring with a round section that swells and shrinks along it, as triangles (n, 3, 3)."""
    around, section = 36, 18
    u = 2 * np.pi * np.arange(around) / around
    v = 2 * np.pi * np.arange(section) / section
    thick = 0.16 + 0.04 * np.cos(3 * u)
    ring = 0.5 + thick[:, None] * np.cos(v)
    height = thick[:, None] * np.sin(v)
    nodes = np.stack([ring * np.cos(u)[:, None], ring * np.sin(u)[:, None], height + 0 * ring], axis=-1)
    return _quads(nodes)


def _quads(nodes: np.ndarray) -> np.ndarray:
    """The triangles of a grid of nodes that closes in both directions."""
    right, up = np.roll(nodes, -1, 0), np.roll(nodes, -1, 1)
    both = np.roll(right, -1, 1)
    return np.concatenate([np.stack(t, axis=2).reshape(-1, 3, 3) for t in ((nodes, right, both), (nodes, both, up))])


def bracket() -> np.ndarray:
    """An angle of two plates, as triangles: a plane L pulled along x2."""
    outline = np.array([[-0.6, -0.6], [0.6, -0.6], [0.6, -0.3], [-0.3, -0.3], [-0.3, 0.6], [-0.6, 0.6]])
    front, back = (np.insert(outline, 1, y, axis=1) for y in (-0.35, 0.35))
    faces = [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)]
    triangles = [front[list(f)] for f in faces] + [back[list(f[::-1])] for f in faces]
    for k in range(6):
        a, b = front[k], front[(k + 1) % 6]
        c, d = back[k], back[(k + 1) % 6]
        triangles += [np.array([a, c, b]), np.array([b, c, d])]
    return np.array(triangles)


def stl(triangles: np.ndarray) -> bytes:
    """Triangles as a binary STL."""
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    record = np.zeros(len(triangles), np.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]))
    record["n"], record["v"] = normal, triangles
    return b"made by make.py".ljust(80) + np.uint32(len(triangles)).tobytes() + record.tobytes()


def main() -> None:
    """Write all of them."""
    DATA.mkdir(exist_ok=True)
    (DATA / "sink.svg").write_text(sink())
    (DATA / "board.geojson").write_text(board())
    for name, image in (("two-phase", two_phase()), ("grains", grains()), ("polycrystal", polycrystal())):
        Image.fromarray(image).save(DATA / f"{name}.png", optimize=True)
    np.save(DATA / "volume.npy", volume())
    (DATA / "torus.stl").write_bytes(stl(torus()))
    (DATA / "bracket.stl").write_bytes(stl(bracket()))


if __name__ == "__main__":
    main()
