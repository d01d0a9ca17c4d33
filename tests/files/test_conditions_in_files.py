"""Contact resistance, periodic sides, sources, measurements, images and bodies in problem files."""

import json
from pathlib import Path

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.files.explaining import explained
from jumpnet.files.opening import read_as_file
from jumpnet.files.outputs import described, results
from jumpnet.files.schema import json_schema

FILE = """
mean = "k/2"
[constants]
k = 4.0
[domain]
kind = "box"
lower = [0, 0]
upper = [2, 1]
[background]
name = "matrix"
A = 1.0
[pieces.disk]
shape = { kind = "disk", center = [0.5, 0.5], radius = 0.25 }
A = "k"
[boundary]
x1 = { kind = "periodic", v = "k" }
x2 = { kind = "neumann" }
[[jumps]]
between = ["disk", "matrix"]
R = "0.1*k"
[[sources]]
x = [1.2, "k/8"]
q = 1.5
[[sources]]
x = [1.8, 0.3]
q = -1.5
"""
DATA = """
[[data]]
points = [[0.5, 0.5], [1.5, 0.2]]
values = [1.0, "k"]
weight = 0.5
"""


def test_a_file_states_what_python_would() -> None:
    problem = read_as_file(FILE).problem
    assert problem.mean == 2.0 and problem.boundary["x1+"].kind == "periodic"
    assert problem.boundary_data("x1-", np.zeros((1, 2)), np.ones((1, 2)), np.zeros(1, int))[2].tolist() == [4.0]
    np.testing.assert_allclose(problem.resistance((0, 1), np.zeros((1, 2))), 0.4)
    assert [(s.q, s.x.tolist(), s.piece) for s in problem.sources] == [(1.5, [1.2, 0.5], 0), (-1.5, [1.8, 0.3], 0)]
    with_data = read_as_file(FILE.replace('mean = "k/2"', "") + DATA).problem
    assert with_data.mean is None and with_data.data is not None
    assert with_data.data.u.tolist() == [1.0, 4.0] and with_data.data.weight.tolist() == [0.5, 0.5]


def test_check_tells_of_all_of_them() -> None:
    found = json.loads(json.dumps(explained(read_as_file(FILE))))
    assert found["boundary"] == {"x1-": "periodic", "x1+": "periodic", "x2-": "neumann", "x2+": "neumann"}
    assert found["mean"] == 2.0 and found["interfaces"][0]["resistance"] == [0.4, 0.4]
    assert [s["piece"] for s in found["sources"]] == ["matrix", "matrix"] and found["measurements"] == 0
    properties = json_schema()["properties"]
    assert {"mean", "sources", "data", "image"} <= set(properties)
    assert {"PeriodicEntry", "EffectiveEntry", "MeshEntry"} <= set(json_schema()["$defs"])


WRONG = {  # what is replaced, by what, and what the sentence says
    "one side": ("x1 = {", "left = {", "boundary.left: 'left' is no axis"),
    "no box": (
        'kind = "box"\nlower = [0, 0]\nupper = [2, 1]',
        'kind = "disk"\ncenter = [1, 0.5]\nradius = 2',
        "boundary.x1: 'x1' is no axis",
    ),
    "manufactured": ('mean = "k/2"', "manufactured = true", "background.exact is missing"),
    "negative": ('R = "0.1*k"', 'R = "-k"', "jumps: R on interface (0, 1)"),
    "not balanced": ("q = 1.5", "q = 2.5", "needs sources that balance the boundary: f and w integrate to -1"),
    "source outside": ('x = [1.2, "k/8"]', "x = [2.2, 0.5]", "sources[0] at"),
    "source of one number": ('x = [1.2, "k/8"]', "x = [1.2]", "sources[0].x has 1 numbers"),
    "source in a varying piece": ("A = 1.0", 'A = "1 + x1"', "sources[0] lies in piece 0 (matrix), where A varies"),
    "mean": ('mean = "k/2"', 'mean = "x1"', "mean"),
    "mean fixed": ('x2 = { kind = "neumann" }', 'x2 = { kind = "dirichlet" }', "mean is 2"),
    "data": ("[[jumps]]", "[[data]]\npoints = [[1, 1]]\nvalues = [1, 2]\n[[jumps]]", "data[0] has 1 points and 2"),
    "data outside": ("[[jumps]]", "[[data]]\npoints = [[3, 1]]\nvalues = [1]\n[[jumps]]", "data[0].x has"),
    "data without points": ("[[jumps]]", "[[data]]\nvalues = [1]\n[[jumps]]", "data[0].points is missing"),
    "image": ("[[jumps]]", '[image]\nfile = "a.png"\n[[jumps]]', "domain: the image is the domain already"),
    "label": ('A = "k"', 'A = "k"\nlabel = 3', "pieces.disk.label is for pieces of an image"),
    "no shape": (
        'shape = { kind = "disk", center = [0.5, 0.5], radius = 0.25 }',
        "",
        "pieces.disk.shape is missing",
    ),
    "mesh": (
        '{ kind = "disk", center = [0.5, 0.5], radius = 0.25 }',
        '{ kind = "mesh", file = "../secret.stl" }',
        "pieces.disk.shape.file is '../secret.stl'",
    ),
    "no domain": ('[domain]\nkind = "box"\nlower = [0, 0]\nupper = [2, 1]', "", "domain is missing"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_one_sentence_names_the_key(kind: str) -> None:
    old, new, words = WRONG[kind]
    assert old in FILE
    with pytest.raises(jn.JumpnetError) as caught:
        read_as_file(FILE.replace(old, new))
    message = str(caught.value)
    assert words in message and "\n" not in message and message[-1] in ".?", message


def test_a_tensor_is_a_quantity_and_a_broken_cell_is_refused_early() -> None:
    text = FILE.split("mean")[1].split("\n", 1)[1]
    text = text.split("[[sources]]")[0] + '[quantities]\n"cell" = { kind = "effective" }\n'
    read = read_as_file(text)
    solution = read.solve(tol=1e-6)
    found = results(read, solution)
    tensor = found["effective tensors"]["cell"]
    assert json.loads(json.dumps(found)) == found
    assert tensor["reuss"] is None and not tensor["bounds broken"]
    assert "effective tensor" in described(read, solution, found)
    with pytest.raises(jn.ProblemError, match=r"jumps\[0\] has v or w"):
        read_as_file(text.replace('R = "0.1*k"', "v = 1"))


def test_what_crosses_a_side_goes_on_at_the_opposite_one() -> None:
    text = FILE.replace("center = [0.5, 0.5]", "center = [0.1, 0.5]").replace('A = "k"', 'A = "k"\nwrap = true')
    read = read_as_file(text)
    assert read.problem.partition.names == ("matrix", "disk 1", "disk 2")
    assert read.problem.partition.label([[0.1, 0.5], [1.95, 0.5], [1.0, 0.5]]).tolist() == [1, 2, 0]
    with pytest.raises(jn.JumpnetError, match=r"pieces.disk.wrap: a shape is larger"):
        read_as_file(text.replace("radius = 0.25", "radius = 0.75"))


PARTS = """
[constants]
edge = 0.5
[domain]
kind = "disk"
center = [0, 0]
radius = 1
[background]
A = 1.0
[pieces.half]
shape = { kind = "half-space", normal = [-1, 0], offset = -0.2 }
A = 2.0
[boundary]
hot = { where = "x2 > edge and x1 < 0.2", kind = "dirichlet", g = 1 }
shell = { piece = "half", kind = "robin", alpha = 2 }
rest = { kind = "neumann" }
[quantities]
"heat in" = { kind = "flux", boundary = "hot" }
"""


def test_parts_of_the_boundary_by_conditions_and_pieces() -> None:
    read = read_as_file(PARTS)
    parts = read.problem.partition
    assert parts.boundary_parts == ("hot", "shell", "boundary")
    assert explained(read)["boundary"] == {"hot": "dirichlet", "shell": "robin", "boundary": "neumann"}
    x, _, piece, number = parts.sample_boundary(500, seed=0)
    first = (x[:, 1] > 0.5) & (x[:, 0] < 0.2)
    assert np.array_equal(number, np.where(first, 0, np.where(piece == 1, 1, 2)))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("x2 > edge", "x2 > egde", "boundary.hot: the boundary part 'hot'"),
        (
            "x2 > edge and",
            "x2 > 5 and",
            "boundary.hot: no point of the boundary belongs to it; change it (there is x1 from",
        ),
        ('piece = "half"', 'piece = "haf"', "boundary.shell.piece is 'haf'; did you mean 'half'?"),
        ('piece = "half"', 'piece = "half", where = "x1 > 0"', "boundary.shell has both of where and piece"),
        ("rest = {", 'rest = { where = "x1 > 0", ', "boundary.rest: a part of the boundary cannot be called 'rest'"),
        ("hot = {", "x1 = {", "boundary.x1: a part of the boundary cannot be called 'x1'"),
        ('boundary = "hot"', 'boundary = "hott"', "quantities.heat in.boundary: there is no boundary part 'hott'"),
    ],
)
def test_wrong_parts_are_named_in_one_sentence(old: str, new: str, words: str) -> None:
    assert old in PARTS
    with pytest.raises(jn.JumpnetError) as caught:
        read_as_file(PARTS.replace(old, new))
    assert words in str(caught.value) and "\n" not in str(caught.value), str(caught.value)


def picture(folder: Path, **changed: str) -> Path:
    labels = np.zeros((24, 32), int)
    labels[6:18, 8:20], labels[12:18, 20:28] = 7, 3
    np.save(folder / "labels.npy", labels)
    lines = {"image": 'file = "labels.npy"\npixel = 0.5\norigin = [1, 2]', "left": "label = 3\nA = 3.0"}
    lines |= {"right": "label = 7\nA = 7.0", "background": 'name = "paper"\nA = 1.0'} | changed
    text = f"[image]\n{lines['image']}\n[background]\n{lines['background']}\n"
    text += f"[pieces.seven]\n{lines['right']}\n[pieces.three]\n{lines['left']}\n"
    path = folder / "a.toml"
    path.write_text(text + '[boundary]\nrest = { kind = "dirichlet" }\n')
    return path


def test_a_label_image_is_domain_and_pieces(tmp_path: Path) -> None:
    """Pieces are numbered by label, whatever the order in the file; names and coefficients follow."""
    read = jn.read_file(picture(tmp_path))
    parts = read.problem.partition
    assert parts.names == ("paper", "three", "seven") and np.allclose(parts.bounds, [[1, 2], [17, 14]])
    assert [A.value(np.zeros((1, 2)))[0, 0, 0] for A in read.problem.A] == [1.0, 3.0, 7.0]
    assert parts.measure(2) == pytest.approx(36.0, rel=0.05)
    found = explained(read)
    assert found["domain"] == "image" and [p["name"] for p in found["pieces"]] == list(parts.names)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"left": "label = 5\nA = 1.0"}, "image: there is no label 5"),
        ({"left": "label = 7\nA = 1.0"}, "pieces.three.label is 7, which another piece has"),
        ({"left": "A = 1.0"}, "pieces.three.label is missing"),
        ({"left": 'label = 3\nA = 1.0\nshape = { kind = "disk", radius = 1.0 }'}, "pieces.three.shape: the image"),
        ({"image": 'file = "none.npy"'}, "image"),
        ({"image": 'file = "/etc/labels.npy"'}, "image.file is '/etc/labels.npy'"),
        ({"image": 'file = "labels.npy"\npixel = -1'}, "image: the size of a pixel"),
        ({"background": "label = 3\nA = 1.0"}, "pieces.three.label is 3, which another piece has"),
    ],
)
def test_what_is_wrong_with_an_image_is_said_in_one_sentence(tmp_path: Path, changed: dict, words: str) -> None:
    with pytest.raises(jn.JumpnetError) as caught:
        jn.read_file(picture(tmp_path, **changed))
    assert words in str(caught.value) and "\n" not in str(caught.value)


HALVES = """
[domain]
kind = "box"
lower = [0, 0]
upper = [1, 1]
[background]
A = 1.0
[pieces.half]
shape = { kind = "half-space", normal = [0, 1], offset = 0.4 }
A = 5.0
[boundary]
left = { kind = "dirichlet", g = "x2**2" }
right = { kind = "neumann", g = 0.5 }
rest = { kind = "dirichlet", g = "x2 + x1" }
[solve]
method = "fem"
tol = 1e-3
verify = "always"
[quantities]
others = { kind = "flux", boundary = "rest" }
top = { kind = "flux", boundary = "top" }
bottom = { kind = "flux", boundary = "bottom" }
"""


def test_a_flux_through_the_rest_is_that_of_its_parts_with_their_errors_added() -> None:
    read = read_as_file(HALVES)
    found = results(read, read.solve())["quantities"]
    for number in ("value", "error", "quadrature error"):
        parts = found["top"][number] + found["bottom"][number]
        assert found["others"][number] == pytest.approx(parts, rel=1e-9), number
    assert found["others"]["error"] > 0
    none = HALVES.replace("rest = {", 'top = { kind = "neumann" }\nbottom = {')
    with pytest.raises(jn.ProblemError, match=r"others\.boundary: 'rest' is no part: all have .* they are x1-, x1"):
        read_as_file(none)


def test_several_labels_are_one_piece(tmp_path: Path) -> None:
    labels = np.ones((24, 24), int)
    labels[:12, 12:], labels[12:, :12], labels[12:, 12:] = 2, 3, 4
    np.save(tmp_path / "four.npy", labels)
    text = (
        '[image]\nfile = "four.npy"\n[background]\nname = "a"\nlabels = [1, 4]\nA = 1.0\n'
        '[pieces.b]\nlabels = [2, 3]\nA = 2.0\n[boundary]\nrest = { kind = "dirichlet", g = "x1" }\n'
    )
    (tmp_path / "four.toml").write_text(text)
    read = jn.read_file(tmp_path / "four.toml")
    assert read.problem.partition.names == ("a", "b") and read.tol == 1e-3
    (tmp_path / "both.toml").write_text(text.replace("labels = [2, 3]", "labels = [2, 3]\nlabel = 2"))
    with pytest.raises(jn.errors.ProblemError, match="has label and labels"):
        jn.read_file(tmp_path / "both.toml")


def test_an_unnamed_label_is_pointed_at(tmp_path: Path) -> None:
    path = picture(tmp_path)
    path.write_text(path.read_text().replace("[pieces.three]\nlabel = 3\nA = 3.0\n", ""))
    with pytest.raises(jn.ProblemError, match=r"image\.file has the label 3, which no piece has"):
        jn.read_file(path)


def test_a_comparison_with_finite_elements_is_part_of_the_results() -> None:
    pytest.importorskip("ngsolve")
    text = FILE.split("mean")[1].split("\n", 1)[1].split("[[jumps]]")[0]
    text = text.replace('x1 = { kind = "periodic", v = "k" }', 'x1 = { kind = "dirichlet", g = "x1" }')
    read = read_as_file(text + '[solve]\ncompare = "fem"\n')
    solution = read.solve()
    found = results(read, solution)
    assert found["compared"]["relative"] <= 1e-5 and "finite elements" in described(read, solution, found)
    report = solution.report(balances=True, reference=read.reference())
    assert "compared" in str(report) and "balance" in str(report)


def test_what_finite_elements_are_without_is_warned_of() -> None:
    read = read_as_file(FILE + '[solve]\ncompare = "fem"\n')
    with pytest.warns(jn.JumpnetWarning, match="no comparison with finite elements: the problem has contact"):
        assert read.reference() is None


CONVECTION = """
[background]
A = 1.0
[domain]
kind = "interval"
a = 0
b = 1
[constants]
h = 2.0
[boundary]
left = { kind = "dirichlet", g = 0 }
right = """


def test_convection_is_a_robin_condition_in_other_words() -> None:
    one = read_as_file(CONVECTION + '{ kind = "convection", h = "h", ambient = 3 }')
    other = read_as_file(CONVECTION + '{ kind = "robin", alpha = "h", g = "3*h" }')
    assert np.array_equal(jn.solve(one.problem)([[0.5]]), jn.solve(other.problem)([[0.5]]))
    with pytest.raises(jn.JumpnetError, match=r"boundary\.right\.ambient"):
        read_as_file(CONVECTION + '{ kind = "convection", h = "h", ambient = "nobody" }')
