"""Hostile inputs for every reader: case number n of a reader is always the same bytes, mutated or grown by a grammar.

`test_fuzz.py` tries some of them with hypothesis, `run.py` (`make fuzz`) as many as there is time for; what was found
once is in `corpus/`, a folder for each reader, and is tried every time.
"""

from __future__ import annotations

import io
import json
import random
import re
import struct
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load, save

import jumpnet as jn
from jumpnet.expressions import Expression
from jumpnet.files.opening import read_as_file
from jumpnet.guard.budget import bounded

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
EXAMPLES = sorted((HERE.parents[1] / "examples").glob("*.toml"))
CORNERS = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
FACES = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
         (1, 5, 7), (1, 7, 3)]  # fmt: skip


@dataclass(frozen=True)
class Reader:
    """What is fuzzed: good files to begin with, a way to spoil them, and how they are read."""

    name: str
    suffix: str
    seeds: Callable[[], list[bytes]]
    spoil: Callable[[bytes, random.Random], bytes]
    read: Callable[[Path], object]

    def case(self, number: int) -> bytes:
        """Input number n."""
        chance = random.Random(f"{self.name}/{number}")
        return self.spoil(chance.choice(self.seeds()), chance)

    def attempt(self, content: bytes, folder: Path) -> str:
        """How it went: "read", or the name of the error of ours; any other error is a fault, and is raised."""
        path = folder / f"input{self.suffix}"
        path.write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", jn.JumpnetWarning)
                self.read(path)
        except jn.JumpnetError as refused:
            sentence = str(refused)
            assert sentence and "\n" not in sentence and len(sentence) < 2000, sentence[:3000]
            return type(refused).__name__
        return "read"


# --- ways to spoil ---------------------------------------------------------------------------------------------------

NUMBERS = ("0", "-1", "1e308", "1e-320", "nan", "inf", "-inf", "1" + "0" * 400, "0x" + "f" * 5000, "1e99999", ".", "-",
           "2147483648", "18446744073709551616", "0.1", "1e100", "99999999")  # fmt: skip
TEXTS = ("", "\u001b[31m", "\u202e", "\u0000", "é" * 50, "a" * 100_000, "../../etc/passwd", "<script>", "$(id)", "{}",
         "=1+1", "%s%n", "\\u0000", "select", "__class__", "']]>", "&lol;")  # fmt: skip


def bytewise(content: bytes, chance: random.Random) -> bytes:
    """Bits turned, parts lost, doubled, or replaced by numbers at the limits of their kind."""
    spoilt = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 4, 16))):
        at, kind = chance.randrange(len(spoilt) + 1), chance.randrange(6)
        length = min(chance.choice((1, 2, 4, 8, 100, 5000)), len(spoilt))
        if kind == 0 and at < len(spoilt):
            spoilt[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del spoilt[at : at + length]
        elif kind == 2:
            spoilt[at:at] = spoilt[at : at + length] * chance.choice((1, 1, 3, 50))
        elif kind == 3:
            spoilt[at : at + length] = chance.randbytes(min(length, 100))
        elif kind == 4:
            form, value = chance.choice(
                (("<I", 2**32 - 1), ("<I", 2**31), ("<d", float("nan")), ("<f", 1e38), ("<H", 0))
            )
            spoilt[at : at + struct.calcsize(form)] = struct.pack(form, value)
        else:
            spoilt = spoilt[: at or 1]
        spoilt = spoilt or bytearray(b"\0")
    return bytes(spoilt)


_NUMBER = re.compile(rb"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


def textwise(content: bytes, chance: random.Random) -> bytes:
    """Numbers replaced, words and lines moved; now and then by bytes."""
    if chance.random() < 0.25:
        return bytewise(content, chance)
    for _ in range(chance.choice((1, 2, 3))):
        found = list(_NUMBER.finditer(content))
        if found and chance.random() < 0.5:
            one = chance.choice(found)
            content = content[: one.start()] + chance.choice(NUMBERS).encode() + content[one.end() :]
            continue
        parts = re.split(rb"(\s+|[\"'=<>{}\[\](),:])", content)
        at = chance.randrange(len(parts))
        choice = chance.randrange(4)
        if choice == 0:
            parts[at] = chance.choice((*TEXTS, *NUMBERS)).encode()
        elif choice == 1:
            parts.insert(at, parts[chance.randrange(len(parts))] * chance.choice((1, 2, 1000)))
        elif choice == 2:
            del parts[at : at + chance.choice((1, 3, 20))]
        else:
            parts[at:at] = parts[at : at + 40] * chance.choice((1, 5, 200))
        content = b"".join(parts)[:2_000_000]
    return content


def jsonwise(value: Any, chance: random.Random) -> Any:
    """A description with an entry somewhere replaced by something that is not meant there."""
    odd = (None, True, -1, 0, 10**9, 10**400, 1e308, float("nan"), float("inf"), [], {}, [[]], "", *TEXTS, "x1", "1/0")
    if not isinstance(value, dict | list) or not value or chance.random() < 0.05:
        return chance.choice(odd)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, changed = chance.choice(keys), value.copy()
    act = chance.random()
    if act < 0.1:
        changed.pop(key)
    elif act < 0.15:
        changed[key] = value[chance.choice(keys)]
    elif act < 0.2 and isinstance(changed, list):
        changed *= chance.choice((2, 50))
    else:
        changed[key] = jsonwise(value[key], chance)
    return changed


# --- the readers -----------------------------------------------------------------------------------------------------

# Tables that no example has: formulas of u, partition coefficients, contact resistances, unknowns of a fit.
TABLES = b"""
[constants]
k = 2.0
[domain]
kind = "box"
lower = [0, 0]
upper = [1, 1]
[materials.iron]
A = "k*(1 + 0.1*u**2)"
lam = "exp(-u)"
K = 0.5
[background]
A = [["1 + u**2", 0.1], [0.1, 2]]
f = "sin(u) + x1"
[pieces.core]
material = "iron"
shape = { kind = "disk", center = [0.5, 0.5], radius = 0.2 }
[boundary.x1]
kind = "dirichlet"
g = "x2"
[boundary.rest]
kind = "robin"
alpha = "1 + abs(u)"
g = "u**4"
[[jumps]]
between = ["core", "background"]
v = "x1"
R = "0.1 + u**2"
[[data]]
points = [[0.1, 0.2], [0.5, 0.5]]
values = [1.0, "k/2"]
weight = 2
[solve]
tol = 1e-3
time_limit = 10.0
verify = "never"
[nonlinear]
start = "x1*x2"
continuation = { k = [1, "3/2"] }
[fit]
unknown = { k = [1, 0.1, 10] }
noise = 0.1
starts = 3
[quantities.heat]
kind = "flux"
between = ["core", "background"]
"""
FUNCTIONS = ("sin", "exp", "log", "sqrt", "abs", "sign", "max", "min", "atan2", "where", "tanh", "asin", "cosh")
ATOMS = ("x1", "x2", "r", "theta", "pi", "e", "k", "u", "0", "1", "2", "20", "0.1", "1e300", "9**99", "x", "-3")


def formula(chance: random.Random, depth: int = 0) -> str:
    """A formula by the grammar of formulas, mostly of numbers that grow."""
    if depth > 5 or chance.random() < 0.2:
        return chance.choice(ATOMS)
    part = [formula(chance, depth + 1) for _ in range(3)]
    if chance.random() < 0.5:
        return f"({part[0]}{chance.choice(('+', '-', '*', '/', '**', '**'))}{part[1]})"
    name = chance.choice(FUNCTIONS)
    if name == "where":
        joined = chance.choice(
            (f"{part[0]} < {part[1]}", f"not {part[1]} >= {part[0]}", f"{part[0]} < 1 and 2 > {part[1]}")
        )
        return f"where({joined}, {part[1]}, {part[2]})"
    return f"{name}({', '.join(part[: 2 if name in ('max', 'min', 'atan2') else 1])})"


def _formula(content: bytes, chance: random.Random) -> bytes:
    return formula(chance).encode() if chance.random() < 0.8 else textwise(content, chance)


def _read_formula(path: Path) -> object:
    found = Expression.parse(path.read_bytes().decode("utf-8", "replace"), 2, {"k": 3.0, "u": -0.7})
    return found.compiled(2)(np.array([[0.3, -0.2], [0.0, 0.0]]))


def _toml(content: bytes, chance: random.Random) -> bytes:
    lines = content.decode().splitlines()
    for _ in range(chance.choice((1, 2))):
        at = chance.randrange(len(lines))
        name, equals, _ = lines[at].partition("=")
        if equals and chance.random() < 0.6:
            text = json.dumps(chance.choice((*TEXTS, formula(chance), formula(chance)))).replace("\\u0000", "\\u0001")
            lines[at] = (
                f"{name}= {chance.choice((text, chance.choice(NUMBERS), '[[1, 2], [2, 1]]', 'true', '{a = 1}'))}"
            )
        elif chance.random() < 0.5:
            lines.insert(at, chance.choice(lines))
        else:
            lines[at] = ".".join(["a"] * chance.choice((3, 100, 5000))) + " = 1"
    return "\n".join(lines).encode() if chance.random() < 0.8 else textwise(content, chance)


def _svg() -> list[bytes]:
    head = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10">'
    bodies = (
        '<path d="M1 1 h2 v2 h-2 z M4 4 c1 0 2 1 2 2 s-1 2 -2 2 z"/>',
        '<g transform="translate(1 2) rotate(30)"><rect x="1" y="1" width="2" height="3"/><circle cx="6" r="1"/></g>',
        '<path d="M2 2 a1 1 0 011 1 A2 1 30 1 0 2 2 q1 1 2 0 t1 1 z"/><polygon points="5,5 7,5 6,8"/>',
    )
    return [f"{head}{body}</svg>".encode() for body in bodies]


def _geojson() -> list[bytes]:
    square = [[[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]], [[0.2, 0.2], [0.4, 0.2], [0.4, 0.4], [0.2, 0.2]]]
    feature = {"type": "Feature", "properties": {"name": "a"}, "geometry": {"type": "Polygon", "coordinates": square}}
    return [json.dumps(one).encode() for one in (feature, {"type": "FeatureCollection", "features": [feature] * 2})]


def _jsonwise(content: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.3:
        return textwise(content, chance)
    return json.dumps(jsonwise(json.loads(content), chance)).encode()


def _stl() -> list[bytes]:
    triangles = [[CORNERS[k] for k in face] for face in FACES]
    ascii_ = "\n".join(
        "facet normal 0 0 0\nouter loop\n" + "\n".join("vertex {} {} {}".format(*v) for v in t) + "\nendloop\nendfacet"
        for t in triangles
    )
    raw = b"".join(struct.pack("<12fH", 0, 0, 0, *(c for v in t for c in v), 0) for t in triangles)
    return [f"solid a\n{ascii_}\nendsolid a\n".encode(), b"\0" * 80 + struct.pack("<I", len(triangles)) + raw]


def _obj() -> list[bytes]:
    lines = ["v {} {} {}".format(*v) for v in CORNERS] + ["f {} {} {}".format(*(k + 1 for k in f)) for f in FACES]
    return ["\n".join(["mtllib a.mtl", *lines]).encode()]


def _ply() -> list[bytes]:
    head = "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\n"
    head += "element face 12\nproperty list uchar int vertex_indices\nend_header\n"
    lines = ["{} {} {}".format(*v) for v in CORNERS] + ["3 {} {} {}".format(*f) for f in FACES]
    raw = b"".join(struct.pack("<3f", *v) for v in CORNERS) + b"".join(struct.pack("<B3i", 3, *f) for f in FACES)
    return [(head + "\n".join(lines) + "\n").encode(), head.replace("ascii", "binary_little_endian").encode() + raw]


def _labels() -> np.ndarray:
    labels = np.zeros((16, 16), np.uint8)
    labels[4:11, 5:12], labels[8:, 8:] = 1, 2
    return labels


def _png() -> list[bytes]:
    from PIL import Image

    found = []
    for mode in ("L", "P", "1"):
        buffer = io.BytesIO()
        Image.fromarray(_labels()).convert(mode).save(buffer, "PNG")
        found.append(buffer.getvalue())
    return found


def _tiff() -> list[bytes]:
    import tifffile

    found = []
    for options in ({}, {"compression": "zlib"}, {"bigtiff": True}):
        buffer = io.BytesIO()
        tifffile.imwrite(buffer, _labels(), **options)
        found.append(buffer.getvalue())
    return found


def _npy() -> list[bytes]:
    found = []
    for kind in (np.uint8, np.int64, np.float64, np.uint64):
        buffer = io.BytesIO()
        np.save(buffer, _labels().astype(kind))
        found.append(buffer.getvalue())
    return found


def _image(path: Path) -> object:
    """As problem files do: interfaces within the same budget as the pieces."""
    return bounded(None, lambda: jn.Partition.from_labels(path, small="keep").interfaces, what=repr(path.name))


@cache
def _solutions() -> list[bytes]:
    """A Trefftz solution, a network, elements on a line and in the plane, as files; last a checkpoint."""
    import tempfile

    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)], names=["plate", "hole"])
    disk = jn.Problem(parts, A=[1.0, "10 + x1"], boundary=jn.Dirichlet("x1"))
    line = jn.Problem(jn.Partition.chain([0.0, 0.5, 1.0]), A=[1.0, 2.0], f=["sin(x1)", 1.0], boundary=jn.Dirichlet(0.0))
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        found = [
            jn.solve(disk, tol=1e-2, verify=False),
            jn.solve(line, method=_network(Path(folder) / "c"), verify=False),
            jn.solve(line, method="fem", tol=1e-3, verify=False),
            jn.solve(disk, method="fem", tol=1e-2),
        ]
        for number, solution in enumerate(found):
            solution.save(Path(folder) / str(number))
        return [(Path(folder) / name).read_bytes() for name in ("0", "1", "2", "3", "c")]


def _tensors(content: bytes, chance: random.Random) -> bytes:
    """A file of arrays with its description, its arrays or its bytes spoilt."""
    if chance.random() < 0.2:
        return bytewise(content, chance)
    length = struct.unpack("<Q", content[:8])[0]
    (kind, text), *_ = json.loads(content[8 : 8 + length])["__metadata__"].items()
    tensors = dict(load(content))
    description = json.loads(text)
    if chance.random() < 0.75:
        description = jsonwise(description, chance)
    else:
        name = chance.choice(sorted(tensors))
        old = np.atleast_1d(tensors[name])
        tensors[name] = chance.choice(
            (old[:-1], old.astype(np.float32), old.ravel(), np.zeros((0,)), old * np.nan, -old, np.stack([old, old]))
        ).copy()  # fmt: skip
    if kind == "jumpnet.checkpoint" and isinstance(description, dict) and "digest" in description:
        from jumpnet.engines.network.checkpoint import _digest

        description.pop("digest")
        description["digest"] = _digest(description, tensors)
    return save(tensors, metadata={kind: json.dumps(description)})


def _solution(path: Path) -> object:
    found = jn.load(path)
    found(np.full((2, found.dim), 0.9))
    return str(found.report())


@cache
def _chain() -> jn.Problem:
    return jn.Problem(jn.Partition.chain([0.0, 0.5, 1.0]), A=[1.0, 2.0], f=["sin(x1)", 1.0], boundary=jn.Dirichlet(0.0))


def _checkpoint(path: Path) -> object:
    return jn.solve(_chain(), method=_network(path), verify=False)


def _network(path: Path) -> jn.Network:
    model, few = jn.models.CategoricalEmbedding(neurons=5), jn.optim.LevenbergMarquardt(steps=3)
    return jn.Network(model, few, (40, 2, 2), checkpoint=path)


def _records() -> list[bytes]:
    trial = _trial()
    record = {
        "trial": trial.name, "spec": trial.spec, "seconds": 1.0, "finished": "2026-01-01 10:00 UTC", "l2": 1e-3,
        "versions": {"jumpnet": "0.1.0"}, "status": "converged", "history": [[1, 0.5]], "parameters": 50, "steps": 3,
    }  # fmt: skip
    return [json.dumps(record).encode()]


@cache
def _trial() -> Any:
    from jumpnet.experiments.tables import experiment
    from jumpnet.experiments.trial import Trial

    return Trial(experiment("pde4").rows[0], "default", 0)


def _store(path: Path) -> object:
    from jumpnet.experiments.store import Store
    from jumpnet.experiments.summary import summarise

    trial, store = _trial(), Store(path.parent)
    target = store._path(trial)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(path.read_bytes())
    record = store.get(trial)
    return record and summarise(trial.row, trial.setting, [record]).record()


READERS = {
    reader.name: reader
    for reader in (
        Reader(
            "toml",
            ".toml",
            lambda: [path.read_bytes() for path in EXAMPLES] + [TABLES] * 6,
            _toml,
            lambda path: read_as_file(path.read_bytes().decode("utf-8", "replace"), folder=path.parent),
        ),
        Reader("formula", ".txt", lambda: [b"where(x1 < 0, sin(pi*x2), exp(-r**2))"], _formula, _read_formula),
        Reader("svg", ".svg", _svg, textwise, jn.shapes.from_svg),
        Reader("geojson", ".geojson", _geojson, _jsonwise, jn.shapes.from_geojson),
        Reader("stl", ".stl", _stl, textwise, jn.shapes.from_mesh),
        Reader("obj", ".obj", _obj, textwise, jn.shapes.from_mesh),
        Reader("ply", ".ply", _ply, textwise, jn.shapes.from_mesh),
        Reader("png", ".png", _png, bytewise, _image),
        Reader("tiff", ".tif", _tiff, bytewise, _image),
        Reader("npy", ".npy", _npy, bytewise, _image),
        Reader("solution", ".jumpnet", lambda: _solutions()[:4], _tensors, _solution),
        Reader("checkpoint", ".ckpt", lambda: _solutions()[4:], _tensors, _checkpoint),
        Reader("store", ".json", _records, _jsonwise, _store),
    )
}
