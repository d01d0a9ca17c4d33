"""Results in a store are used again only where nothing they depend on has changed."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.studies.family import family_of
from jumpnet.studies.fingerprint import fingerprint

ROD = jn.Partition(jn.Interval(0, 1))


def key(problem, quantities=None, **options):
    """The key of a family's results."""
    return family_of(problem, quantities, options).key


def made(source, name="rod"):
    """A function of a module with this text."""
    known = {"jn": jn, "ROD": ROD, "__name__": "users_module"}
    exec(source, known)  # noqa: S102
    return known[name]


ONE = """
factor = 2.0
def helper(k): return factor * k
def rod(k): return jn.Problem(ROD, A=helper(k))
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [("factor = 2.0", "factor = 3.0"), ("factor * k", "factor + k"), ("A=helper(k)", "A=2*helper(k)")],
)
def test_a_function_with_what_it_calls(before, after):
    assert key(made(ONE)) == key(made(ONE)) != key(made(ONE.replace(before, after)))


def with_factor(factor):
    """A function that encloses a number."""
    return lambda k: jn.Problem(ROD, A=factor * k)


def test_values_that_a_function_encloses_and_arguments():
    assert key(with_factor(2.0)) == key(with_factor(2.0)) != key(with_factor(3.0))
    base = made("def rod(m, k): return jn.Problem(ROD, A=m*k)")
    assert key(partial(base, 2.0)) == key(partial(base, 2.0)) != key(partial(base, 3.0))
    both = [lambda k: jn.Problem(ROD, A=k), lambda k: jn.Problem(ROD, A=2 * k)]  # of one line of source
    assert key(both[0]) != key(both[1])


@pytest.mark.parametrize("kind", [jn.Problem, jn.NonlinearProblem])
def test_all_data_of_a_problem(kind):
    def stated(A="k", g=1.0, far=lambda x: x[:, 0], R=0.0, k=1.0, end=0.5):
        parts = jn.Partition(jn.Interval(0, 1), [jn.Interval(end, 1)])
        ends = {"left": jn.Dirichlet(far), "right": jn.Dirichlet(g)}
        return kind(parts, A=A, boundary=ends, jumps=jn.Jump(R=R), constants={"k": k})

    same = key(stated())
    assert same == key(stated())
    changes = [{"A": "2*k"}, {"g": 2.0}, {"far": lambda x: 2 * x[:, 0]}, {"R": 0.1}, {"k": 2.0}, {"end": 0.6}]
    assert len({same, *(key(stated(**change)) for change in changes)}) == 1 + len(changes)


def test_quantities_and_options():
    rod = jn.Problem(ROD, A="k", constants={"k": 1.0})
    asked = [{"a": lambda s: s.mean().value}, {"a": lambda s: 2 * s.mean().value}, {"a": "mean"}, {"a": ("mean", 0)}]
    keys = [key(rod, one) for one in asked] + [key(rod, tol=1e-8), key(rod, method=jn.FEM(order=3))]
    assert len({*keys, key(rod, method=jn.FEM(order=4))}) == 7
    assert key(rod, method=jn.FEM(order=3)) == keys[-1]


def test_files_that_a_problem_file_names(tmp_path):
    square = '{{"type": "Polygon", "coordinates": [[[0, 0], [{side}, 0], [{side}, 1], [0, 1], [0, 0]]]}}'
    text = """
[constants]
k = 1.0
[domain]
kind = "box"
lower = [-2, -2]
upper = [3, 3]
[pieces.chip]
shape = { kind = "geojson", file = "chip.geojson" }
A = "k"
[background]
A = 1.0
[boundary]
rest = { kind = "dirichlet", g = "x1" }
"""

    def of_file(side):
        (tmp_path / "chip.geojson").write_text(square.format(side=side))
        (tmp_path / "plate.toml").write_text(text)
        return key(jn.read_file(tmp_path / "plate.toml"))

    assert of_file(1) == of_file(1) != of_file(2)


def test_it_is_the_same_in_another_process():
    code = (
        "import numpy as np, jumpnet as jn; from jumpnet.studies.fingerprint import fingerprint; "
        "print(fingerprint([{'b': 1, 'a': {'x', 'y', 'z'}}, np.arange(3), jn.FEM(order=3)]))"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = fingerprint([{"b": 1, "a": {"x", "y", "z"}}, np.arange(3), jn.FEM(order=3)])
    assert other.stdout.strip() == here


def test_objects_that_hold_each_other_end():
    ring: list = [1]
    ring.append(ring)
    assert fingerprint(ring) != fingerprint([1, [1]])
