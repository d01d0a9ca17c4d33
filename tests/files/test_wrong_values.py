"""What strangers write by mistake: the sentence says what is wanted there, in the words of files."""

import pytest

import jumpnet as jn
from jumpnet.files.opening import read_as_file

FILE = """
[constants]
k = 100.0
[domain]
kind = "box"
lower = [-1, -1]
upper = [1, 1]
[background]
name = "plate"
A = 1.0
[pieces.disk]
shape = { kind = "disk", center = [0.2, 0.1], radius = 0.4 }
A = "k"
[boundary]
rest = { kind = "dirichlet", g = 1.0 }
[probes.middle]
line = { start = [-1, 0], end = [1, 0], count = 11 }
"""
WRONG = {  # what is replaced, by what, what the sentence says
    "a unit": ("A = 1.0", 'A = "1.0 W/(m K)"', "numbers stand without units"),
    "a unit of length": ("radius = 0.4", 'radius = "400 µm"', "convert all data to units that fit"),
    "degrees": ("g = 1.0", 'g = "20 °C"', "write 20."),
    "per cent": ("radius = 0.4", 'radius = "40%"', "numbers stand without units"),
    "no unit": ("g = 1.0", 'g = "2x"', "write products with *"),
    "a unit without quotes": ("A = 1.0", "A = 1.0 W/mK", "A = 1.0 W/mK'; keys are written"),
    "a comma": ("k = 100.0", "k = 100,0", "'k = 100,0'"),
    "a matrix of another dimension": (
        'A = "k"',
        "A = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]",
        "a formula or a 2 x 2 matrix",
    ),
    "a diagonal": ('A = "k"', "A = [1, 2]", "a matrix as a list of rows"),
    "millimetres in metres": (
        "radius = 0.4",
        "radius = 400",
        "times as large as the domain: are both in the same unit",
    ),
    "a line of one point": ("end = [1, 0]", "end = [-1, 0]", "begins and ends at [-1.0, 0.0]"),
    "a word for a source": ('A = "k"', 'A = "k"\nheat = 5', "f = -q, where q is the heat released"),
    "a word for a conductivity": ('A = "k"', 'conductivity = "k"', "A is meant, perhaps"),
    "a table for a list": ("[probes.middle]", '[jumps]\nbetween = ["disk", "plate"]\n[probes.middle]', "[[jumps]]"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_one_sentence_says_what_is_wanted(kind: str) -> None:
    old, new, words = WRONG[kind]
    assert old in FILE
    with pytest.raises(jn.JumpnetError) as refused:
        read_as_file(FILE.replace(old, new))
    sentence = str(refused.value)
    assert words in sentence and "\n" not in sentence and len(sentence) < 350 and "callable" not in sentence


def test_a_mesh_in_another_unit(tmp_path) -> None:
    corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6)]
    faces += [(0, 6, 4), (1, 5, 7), (1, 7, 3)]
    lines = ["v {} {} {}".format(*v) for v in corners] + ["f {} {} {}".format(*(k + 1 for k in f)) for f in faces]
    (tmp_path / "cube.obj").write_text("\n".join(lines))
    cube = jn.shapes.from_mesh(tmp_path / "cube.obj", scale=1000.0, offset=(-500.0,) * 3)
    with pytest.raises(jn.GeometryError, match="same unit"):
        jn.Partition(jn.Box((0.1,) * 3, (0.9,) * 3), [cube])
