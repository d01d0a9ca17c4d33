"""What a problem file means, and what is said of one that makes no sense."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.files.explaining import explained
from jumpnet.files.opening import read_as_file
from jumpnet.files.outputs import probed
from jumpnet.files.schema import json_schema

FILE = """
title = "two"
[constants]
k = 4.0
double = "2*k"
[domain]
kind = "box"
lower = [-1, -1]
upper = [1, 1]
[materials]
metal = { A = [["k", 0.5], [0.5, "double"]], lam = 0.1 }
[background]
name = "plate"
A = "1 + x1**2"
[pieces.disk]
shape = { kind = "disk", center = [0.2, 0.1], radius = "k/10" }
material = "metal"
f = "-k*theta*0 - 1"
[boundary]
left = { kind = "robin", alpha = 2, g = "y" }
right = { kind = "neumann" }
rest = { kind = "dirichlet", g = "x" }
[[jumps]]
between = ["disk", "plate"]
v = 0.3
w = "x1"
[probes.here]
points = [[0.2, 0.1], [0.9, 0.9]]
[quantities]
mean = { kind = "mean", over = "disk" }
"""


def test_a_file_states_the_problem_that_python_would() -> None:
    problem = read_as_file(FILE).problem
    x, disk = np.array([[0.3, 0.2], [0.1, 0.0]]), np.array([1, 1])
    A, _, lam, f = problem.pde(1, x)
    np.testing.assert_array_equal(A[0], [[4, 0.5], [0.5, 8]])
    assert problem.A[1].is_constant and lam[0] == 0.1 and f.tolist() == [-1, -1]
    kind, alpha, g = problem.boundary_data("left", np.array([[-1.0, 0.5]]), np.array([[-1.0, 0.0]]), disk[:1] * 0)
    assert (kind, alpha[0], g[0]) == ("robin", 2.0, 0.5)
    # [u] is disk minus plate in the file, plate minus disk in the problem; the normal turns with it, so w stays.
    v, w = problem.jump_data((0, 1), x, np.ones_like(x))
    assert v.tolist() == [-0.3, -0.3] and w.tolist() == [0.3, 0.1]
    assert read_as_file(FILE, {"k": 3.0}).problem.partition.measure(1) == pytest.approx(np.pi * 0.09)


def test_what_was_understood_is_plain_data() -> None:
    found = json.loads(json.dumps(explained(read_as_file(FILE))))
    assert [p["name"] for p in found["pieces"]] == ["plate", "disk"]
    assert found["interfaces"][0]["measure"] == pytest.approx(0.8 * np.pi)
    assert found["boundary"] == {"x1-": "robin", "x1+": "neumann", "x2-": "dirichlet", "x2+": "dirichlet"}
    assert found["constants"] == {"k": 4.0, "double": 8.0} and found["probes"] == {"here": 2}


def test_the_schema_knows_every_table() -> None:
    assert {"domain", "pieces", "boundary", "solve", "quantities"} <= set(json_schema()["properties"])


WRONG = {  # what is replaced, by what, and what the sentence says
    "radius": ('radius = "k/10"', "radius = -1", "pieces.disk.shape: the radius"),
    "unknown key": (
        'radius = "k/10"',
        "radus = 1",
        "pieces.disk.shape.radus is not a key of problem files; did you mean",
    ),
    "kind": ('kind = "disk"', 'kind = "dsk"', "pieces.disk.shape.kind is 'dsk'; did you mean 'disk'?"),
    "no kind": ('kind = "disk", ', "", "pieces.disk.shape has no kind"),
    "formula": ('"k/10"', '"kk/10"', "pieces.disk.shape.radius = 'kk/10': the name 'kk' is unknown; did you mean 'k'?"),
    "code": ('"1 + x1**2"', "\"__import__('os')\"", "background.A = "),
    "attribute": ('"1 + x1**2"', '"x1.real"', "background.A = 'x1.real': attribute access is not allowed"),
    "not positive": ('"1 + x1**2"', '"x1"', "background: A in piece 0 (plate) is not positive definite"),
    "matrix": ('[0.5, "double"]]', "[0.5]]", "materials.metal.A is"),
    "material": (
        'material = "metal"',
        'material = "mettal"',
        "pieces.disk.material is 'mettal'; did you mean 'metal'?",
    ),
    "both": ('material = "metal"', 'material = "metal"\nA = 1', "pieces.disk has both of material and A"),
    "outside": ("center = [0.2, 0.1]", "center = [0.9, 0.1]", "pieces.disk: piece 1 (disk) leaves the domain"),
    "dimension": ("center = [0.2, 0.1]", "center = [0.2]", "pieces.disk: piece 1 (disk) has 1 dimensions"),
    "part": ("left = {", "lft = {", "boundary.lft: there is no boundary part 'lft'"),
    "missing part": ('rest = { kind = "dirichlet", g = "x" }', "", "boundary.x2- is missing"),
    "condition": ('kind = "neumann"', 'kind = "noumenon"', "boundary.right.kind is 'noumenon'"),
    "alpha": ("alpha = 2, ", "", "boundary.left.alpha is missing"),
    "jump": ('["disk", "plate"]', '["disk", "disc"]', "jumps[0].between is 'disc'; did you mean 'disk'?"),
    "constant": ("k = 4.0", "k = nan", "constants.k is nan; a finite number"),
    "constant hides": ("double", "theta", "constants.theta: "),
    "text for a number": ("alpha = 2", "alpha = [2]", "boundary.left.alpha is [2]; a number, or a formula"),
    "probe": ("[0.9, 0.9]", "[1.9, 0.9]", "probes.here: the point [1.9, 0.9] lies outside"),
    "quantity": ('over = "disk"', 'over = "dsik"', "quantities.mean.over is 'dsik'; did you mean 'disk'?"),
    "not TOML": ("[constants]", "[constants", "the file is not TOML"),
    "another file": ('kind = "disk", center', 'kind = "svg", file = "../secret.svg", center', "is not a key"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_one_sentence_names_the_key(kind: str) -> None:
    old, new, words = WRONG[kind]
    assert old in FILE
    with pytest.raises(jn.JumpnetError) as caught:
        read_as_file(FILE.replace(old, new))
    message = str(caught.value)
    assert words in message and "\n" not in message and message[-1] in ".?"


@pytest.mark.parametrize("name", ["/etc/passwd.svg", "../x.svg", "a\\u0000b.svg"])
def test_only_files_beside_the_problem_file_are_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.toml"
    shape = f'shape = {{ kind = "svg", file = "{name}" }}'
    path.write_text(FILE.replace('shape = { kind = "disk", center = [0.2, 0.1], radius = "k/10" }', shape))
    with pytest.raises(jn.GeometryError, match=r"pieces.disk.shape.file is .*a file in the folder"):
        jn.read_file(path)


@pytest.mark.parametrize(
    "content", [b"\xff\xfe\x00", b"a = " + b"[" * 100_000, b"x" * 1_000_001, b"a = 1" + b"0" * 9000]
)
def test_bytes_that_are_no_problem_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(content)
    with pytest.raises(jn.ProblemError) as caught:
        jn.read_problem(path)
    assert "\n" not in str(caught.value)


def test_shapes_by_their_names() -> None:
    square = "[[0,0],[0.4,0],[0.4,0.4],[0,0.4]]"
    for shape, area in {
        '{ kind = "box", lower = [0, 0], upper = [0.5, "k/8"] }': 0.25,
        '{ kind = "ellipse", center = [0, 0], axes = [0.5, 0.2], angle = 30 }': 0.1 * np.pi,
        '{ kind = "superellipse", center = [0, 0], axes = [0.5, 0.5], power = 2 }': 0.25 * np.pi,
        '{ kind = "star", center = [0, 0], radius = "0.1*k + 0*theta" }': 0.16 * np.pi,
        '{ kind = "curve", x = "0.5*cos(t)", y = "k/10*sin(t)" }': 0.2 * np.pi,
        '{ kind = "level-set", phi = "x1**2 + x2**2 - k/16" }': 0.25 * np.pi,
        '{ kind = "half-space", normal = [1, 0] }': 2.0,
        f'{{ kind = "polygon", vertices = {square} }}': 0.16,
        '{ kind = "union", parts = [{ kind = "box", lower = [0, 0], upper = [1, 1] }] }': 1.0,
        '{ kind = "difference", of = { kind = "box", lower = [0, 0], upper = [1, 1] }, '
        'without = { kind = "box", lower = [0, 0], upper = [0.5, 1] } }': 0.5,
    }.items():
        text = FILE.replace('{ kind = "disk", center = [0.2, 0.1], radius = "k/10" }', shape)
        text = text.replace("[[0.2, 0.1], [0.9, 0.9]]", "[[0.9, 0.9]]")
        # Where no closed form is known a measure is an estimate, to about 1e-4 of the domain.
        assert read_as_file(text).problem.partition.measure(1) == pytest.approx(area, abs=2e-3), shape


def test_probes_are_a_table() -> None:
    read = jn.read_file(Path(__file__).parents[2] / "examples" / "cylinder.toml")
    solution = read.solve()
    rows = list(csv.DictReader(probed(read, solution).splitlines()))
    assert len(rows) == 201 and [rows[k]["piece"] for k in (0, 120)] == ["plate", "cylinder"]
    x = [[float(rows[120]["x1"]), float(rows[120]["x2"])]]
    assert float(rows[120]["u"]) == pytest.approx(solution(x)[0], rel=1e-12)
    assert float(rows[120]["flux1"]) == pytest.approx(solution.flux(x)[0, 0], rel=1e-12)


def test_a_piece_of_an_image_whose_regions_all_vanish_is_named(tmp_path: Path) -> None:
    np.save(tmp_path / "specks.npy", np.eye(8, dtype=int))
    (tmp_path / "specks.toml").write_text(
        '[image]\nfile = "specks.npy"\n[background]\nA = 1.0\nlabel = 0\n[pieces.speck]\nlabel = 1\nA = 2.0\n'
        '[boundary]\nrest = { kind = "dirichlet", g = "x1" }\n'
    )
    with pytest.warns(jn.JumpnetWarning, match="given to the neighbours"), pytest.raises(jn.ProblemError) as error:
        jn.read_file(tmp_path / "specks.toml")
    assert "pieces.speck" in str(error.value) and "keep" in str(error.value)
