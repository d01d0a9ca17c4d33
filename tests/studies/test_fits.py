"""Fits: closed forms, standard deviations that hold, what is not determined, files, wrong input."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.files.opening import read_as_file

ENDS = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)}
TRUTH = {"k": 3.0, "R": 0.2, "at": 0.91}
UNKNOWN = {"k": (1, 1e-2, 1e2), "R": (0.1, 0, 1), "at": (0.8, 0.7, 1.1)}
X = np.linspace(0.02, 1.98, 50)


def rod(k, R, at):
    """Two heated layers with a contact resistance."""
    parts = jn.Partition(jn.Interval(0, 2), [jn.Interval(at, 2)])
    return jn.Problem(parts, A=[1, k], f=[-1, -2], jumps=jn.Jump(R=R), boundary=ENDS)


@pytest.fixture(scope="module")
def values():
    return jn.solve(rod(**TRUTH), tol=1e-10)(X)


def test_values_without_noise_give_the_parameters(values):
    fit = jn.fit(rod, UNKNOWN, jn.Data(X, values))
    for name, true in TRUTH.items():
        assert fit.values[name] == pytest.approx(true, rel=1e-5)
    assert fit.ok and fit.on_bounds == () and fit.noise < 1e-6


def test_estimates_lie_within_three_standard_deviations(values):
    z = []
    for seed in range(2):
        noisy = values + 0.01 * np.random.default_rng(seed).normal(size=len(X))
        fit = jn.fit(rod, UNKNOWN, jn.Data(X, noisy), tol=1e-6)
        z.append([(fit.values[name] - true) / fit.deviations[name] for name, true in TRUTH.items()])
        assert fit.noise == pytest.approx(0.01, rel=0.4)
    assert np.abs(z).max() < 3.5 and np.sqrt(np.mean(np.square(z))) > 0.1


def film(k, K, R):
    """A layer of which only k/(1 + k R) is felt, and a parameter K that nothing depends on."""
    parts = jn.Partition(jn.Interval(0, 2), [jn.Interval(1, 2)])
    return jn.Problem(parts, A=[1, k], jumps=jn.Jump(R=R), boundary=ENDS)


def test_what_the_data_do_not_determine_is_named():
    left = X[X < 0.95]
    u = jn.solve(film(2.0, 1.0, 0.3), tol=1e-10)(left)
    unknown = {"k": (1, 0.1, 10), "K": (1, 0.1, 10), "R": (0.5, 0.0, 1.0)}
    fit = jn.fit(film, unknown, jn.Data(left, u), noise=1e-3)
    assert "K" in fit.undetermined and {"k", "R"} <= set(fit.undetermined) and not fit.ok
    assert "do not determine" in str(fit)
    assert fit.singular_values[-1] < 1e-3 < fit.singular_values[0]
    only = jn.fit(lambda k: film(k, 1.0, 0.3), {"k": (1, 0.1, 10)}, jn.Data(left, u), noise=1e-3)
    assert only.ok and only.values["k"] == pytest.approx(2.0, rel=1e-5)
    pairs = jn.fit(lambda k, R: film(k, 1.0, R), {"k": (1, 0.1, 10), "R": (0.5, 0, 1)}, jn.Data(left, u), noise=1e-4)
    assert [(a, b) for a, b, _ in pairs.correlated] == [("k", "R")]


def test_fluxes_weights_starts_profiles_and_files(tmp_path):
    read = read_as_file(FILE)
    data = [(("flux", "right"), 0.75), (("flux", "right"), 0.75, 2.0), jn.Data([[0.5]], [0.375])]
    fit = jn.fit(read, {"k": (1.0, 1e-2, 1e2)}, data, noise=1e-3, starts=3)
    assert fit.values["k"] == pytest.approx(3.0, rel=1e-6) and len(fit.starts) == 3
    # d flux/dk = 1/(k + 1)^2 = 1/16, d u(1/2)/dk = 1/32: information 1/16^2 + 4/16^2 + 1/32^2.
    exact = 1e-3 / np.sqrt(5 / 256 + 1 / 1024)
    assert np.sqrt(fit.covariance[0, 0]) == pytest.approx(exact, rel=2e-3)
    assert exact * 0.998 < fit.deviations["k"] < 1.02 * exact  # sensitivities fall with k: a little more
    _, chi2 = fit.profile("k", 3, 1.0)
    np.testing.assert_allclose(chi2, [1, 0, 1], atol=0.02)
    fit.plot(tmp_path / "fit.png", profiles=False)
    assert (tmp_path / "fit.png").exists()


FILE = """
[constants]
k = 2.0
[domain]
kind = "interval"
a = 0
b = 2
[background]
A = 1.0
[pieces.right]
shape = { kind = "interval", a = 1, b = 2 }
A = "k"
[boundary]
left = { kind = "dirichlet" }
right = { kind = "dirichlet", g = 1 }
"""


def test_a_file_has_its_own_data_and_the_command_finds_the_constant(tmp_path, capsys):
    import json

    from jumpnet.cli.fit import run
    from jumpnet.cli.options import FileRequest
    from jumpnet.cli.session import Session

    path = tmp_path / "rod.toml"
    measured = "[[data]]\npoints = [[0.5], [1.5]]\nvalues = [0.375, 0.875]\n"
    path.write_text(FILE + measured + "[fit]\nunknown = { k = [1, 0.01, 100] }\n")
    assert jn.fit(jn.read_file(path), {"k": (1, 0.01, 100)}).values["k"] == pytest.approx(3.0, rel=1e-5)
    request = FileRequest(str(path))
    assert run(Session(), request, [], {"noise": 1e-3}, str(tmp_path / "out"), False) == 0
    assert json.loads((tmp_path / "out/fit.json").read_text())["values"]["k"] == pytest.approx(3.0, rel=1e-5)
    with pytest.raises(jn.ModelError, match="NAME=START:LOW:HIGH"):
        run(Session(), request, ["k=1:2"], {}, None, False)


@pytest.mark.parametrize(
    ("unknown", "data", "words"),
    [
        ({}, jn.Data([0.5], [1]), "mapping from names"),
        ({"k": (5, 0, 1)}, jn.Data([0.5], [1]), r"\(start, low, high\)"),
        ({"k": (1, 0.1, 10)}, [], "jn.Data"),
        ({"k": (1, 0.1, 10)}, jn.Data([0.5], [1]), "give more values, or noise"),
        ({"k": (1, 0.1, 10)}, jn.Data([0.5, 0.6], [1, np.nan]), "not a finite number"),
        ({"k": (1, 0.1, 10)}, [("peak", 1.0), ("mean", 1.0)], "function of the solution"),
    ],
)
def test_wrong_input_is_one_sentence(unknown, data, words):
    with pytest.raises(jn.ModelError, match=words):
        jn.fit(lambda k: film(k, 1.0, 0.1), unknown, data)


ENDS = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)}
HEATED = jn.Problem(
    jn.Partition(jn.Interval(0, 2), [jn.Interval(1, 2)]), A=[1, "k"], f=[-1, -2], boundary=ENDS, constants={"k": 3.0}
)
AT = np.linspace(0.05, 1.95, 30)


def noisy(seed=5):
    """Values of the rod with k = 3 and a noise of 0.01."""
    return jn.solve(HEATED)(AT) + 0.01 * np.random.default_rng(seed).normal(size=len(AT))


def test_a_search_from_a_bound_leaves_it():
    for start in (0.01, 100.0):
        found = jn.fit(HEATED, {"k": (start, 0.01, 100)}, jn.Data(AT, noisy()))
        assert abs(found.values["k"] - 3) < 3 * found.deviations["k"] < 1


def test_an_outlier_is_named_and_a_wrong_model_does_not_fit():
    wrong = noisy()
    wrong[7] += 0.5
    found = jn.fit(HEATED, {"k": (1, 0.01, 100)}, jn.Data(AT, wrong), noise=0.01)
    assert found.outliers == (7,) and found.misfit > 5
    assert "number 7" in str(found) and "times the noise given" in str(found)
    good = jn.fit(HEATED, {"k": (1, 0.01, 100)}, jn.Data(AT, noisy()), noise=0.01)
    assert not good.outliers and 0.6 < good.misfit < 1.4 and "times" not in str(good)


def test_values_that_do_not_depend_on_a_parameter_determine_nothing():
    found = jn.fit(HEATED, {"k": (1, 0.01, 100)}, jn.Data([0.0, 2.0, 0.0], [0.0, 1.0, 0.0]))
    assert found.undetermined == ("k",)


def test_the_reason_of_a_refusal_is_said():
    with pytest.raises(jn.ModelError, match=r"at the start k = 1: .*5"):
        jn.fit(HEATED, {"k": (1, 0.01, 100)}, jn.Data([0.5, 5.0], [0.1, 0.2]))
