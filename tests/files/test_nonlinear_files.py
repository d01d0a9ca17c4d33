"""Files whose formulas use u, beside closed forms; what they cannot have is refused in one sentence."""

import re
from pathlib import Path

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.files.explaining import explained
from jumpnet.files.opening import read_as_file

# k(T) = 1 + u: (1 + u)^2 is linear (Kirchhoff), here from 4 at the left to 1 at the right.
SLAB = """
[constants]
load = 1.0
[domain]
kind = "interval"
a = 0
b = 1
[background]
A = "load + u"
[boundary]
left = { kind = "dirichlet", g = 1 }
right = { kind = "dirichlet", g = 0 }
[nonlinear]
start = "1 - x"
[quantities]
through = { kind = "flux", boundary = "right" }
"""


def test_a_conductivity_that_depends_on_temperature():
    read = read_as_file(SLAB)
    assert read.nonlinear is not None and explained(read)["nonlinear"]
    solution = read.solve(tol=1e-9)
    x = np.linspace(0, 1, 9)
    assert solution.status is jn.Status.CONVERGED
    np.testing.assert_allclose(solution(x), np.sqrt(4 - 3 * x) - 1, atol=1e-8)
    assert abs(read.quantities(solution)["through"].value + 1.5) < 1e-7


def test_constants_are_swept_and_led_to_their_value():
    read = read_as_file(SLAB.replace('start = "1 - x"', "continuation = { load = [100.0, 10.0] }"))
    table = jn.sweep(read, {"load": [1.0, 2.0]})
    np.testing.assert_allclose(table.values["through"], [-1.5, -2.5], rtol=1e-6)


@pytest.mark.slow
def test_constants_are_fitted():
    data = "[[data]]\npoints = [[0.3], [0.5], [0.7]]\nvalues = [VALUES]\n[fit]\nunknown = { load = [1, 0.5, 5] }\n"
    u = np.sqrt((2 + 1) ** 2 * (1 - np.array([0.3, 0.5, 0.7])) + 4 * np.array([0.3, 0.5, 0.7])) - 2
    measured = read_as_file(SLAB + data.replace("VALUES", ", ".join(map(str, u))))
    assert abs(jn.fit(measured, {"load": (1, 0.5, 5)}).values["load"] - 2) < 1e-4


def test_radiation_sources_contact_and_names_of_coordinates():
    """Two layers: u = -u' at the right end where u + u^3 = 2, a contact of R = 0.5 u; then u is 1 at the end."""
    read = read_as_file(
        """
        [constants]
        c = 1.0
        [domain]
        kind = "interval"
        a = 0
        b = 2
        [background]
        A = 1.0
        f = "0*u*x"
        [pieces.right]
        shape = { kind = "interval", a = 1, b = 2 }
        A = "2 + 0*u"
        lam = "0*u**2"
        [[jumps]]
        between = ["background", "right"]
        R = "0.5*u"
        [boundary]
        left = { kind = "dirichlet", g = 3 }
        right = { kind = "neumann", g = "-c*u**4" }
        [nonlinear]
        start = 1.0
        """
    )
    solution = read.solve(tol=1e-9)
    end = float(solution(np.array([[2.0]]))[0])
    flow = end**4  # through both layers
    before, after = 3 - flow, end + flow / 2
    assert abs((before - after) - 0.5 * (before + after) / 2 * flow) < 1e-8


WRONG = {
    "dirichlet": ("g = 1 }", 'g = "u" }', r"boundary.left.g = 'u': this may not depend on u; A, lam, f"),
    "constant": ('"load + u"', '"load + uu"', "the name 'uu' is unknown"),
    "needless": ('"load + u"', '"load"', "nonlinear: no formula of the file uses u"),
    "mean": ("[constants]", "mean = 1.0\n[constants]", "mean: where formulas use u"),
    "effective": ('kind = "flux", boundary = "right"', 'kind = "effective"', "there is no effective tensor"),
    "continuation": ('start = "1 - x"', "continuation = { lod = [1] }", "its constants are: load"),
    "start": ('start = "1 - x"', "start = -2.0", r"positive definite.*`start` in the table \[nonlinear\]"),
    "not a number": ('"load + u"', '"sqrt(u - 3)"', r"`start` in the table \[nonlinear\]"),
    "data": ("[nonlinear]", "[[data]]\npoints = [[0.5]]\nvalues = [1]\n[nonlinear]", "for fits only"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_one_sentence(name):
    old, new, words = WRONG[name]
    assert old in SLAB
    with pytest.raises(jn.JumpnetError, match=words):
        read_as_file(SLAB.replace(old, new))


def test_a_constant_named_u_is_a_constant(tmp_path):
    text = SLAB.replace("load = 1.0", "load = 1.0\nu = 1.0").replace('[nonlinear]\nstart = "1 - x"\n', "")
    (tmp_path / "a.toml").write_text(text)
    assert jn.read_problem(tmp_path / "a.toml").A[0].is_constant
    (tmp_path / "b.toml").write_text(SLAB)
    with pytest.raises(jn.ProblemError, match=r"take jn.read_file\(path\)"):
        jn.read_problem(tmp_path / "b.toml")


def test_the_file_of_the_documentation():
    """(1 + u/1000)^2 falls linearly, and what flows through the rod is radiated."""
    page = (Path(__file__).parents[2] / "docs/studies.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    solution = (read := read_as_file(text)).solve()
    end, through = float(solution(np.array([[0.5]]))[0]), read.quantities(solution)["through"].value
    assert solution.status is jn.Status.CONVERGED
    assert through == pytest.approx(-5.67e-8 * (end**4 - 300**4), rel=1e-6)
    assert through == pytest.approx(10 * 500 * ((1 + end / 1000) ** 2 - 1.8**2) / 0.5, rel=1e-6)
