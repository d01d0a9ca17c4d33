"""Labels that the program chooses or leaves out: dim="auto", given labels, no label; how networks with them begin."""

from dataclasses import replace

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.charts import choose_atlases
from jumpnet.collocation import Points, Stream, collocate
from jumpnet.engines.network.embedding import _dims
from jumpnet.engines.network.labels import initial, initial_raw, resolve_labels
from jumpnet.experiments import problems
from jumpnet.models import CategoricalEmbedding, Deep, System, Unlabelled, suggested_dim
from jumpnet.rows import values

pytestmark = pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
SHORT = {"optimizer": jn.optim.LevenbergMarquardt(steps=3), "points": (60, 2, 1)}


def test_a_label_begins_with_15_percent_of_the_pieces_and_never_exceeds_them():
    assert [suggested_dim(pieces) for pieces in (1, 2, 5, 6, 10, 50, 100)] == [1, 1, 1, 1, 2, 8, 15]
    assert _dims(2) == [1, 2] and _dims(10) == [2, 4, 8] and _dims(100) == [15, 30, 60]
    assert CategoricalEmbedding(dim="auto", neurons=50).network(1, 100).size == (1 + 15 + 2) * 50 + 15 * 100


@pytest.mark.parametrize("dim", [0, -1, 1.5, "many"])
def test_wrong_dims(dim):
    with pytest.raises(jn.ModelError, match="auto"):
        CategoricalEmbedding(dim=dim)


def test_a_training_that_does_not_converge_gets_longer_labels():
    solution = jn.approximate(
        *problems.fa2(10), method=jn.Network(CategoricalEmbedding(dim="auto", neurons=8), **SHORT)
    )
    tried = solution.settings["embedding"]
    assert len(tried) == 3 and [f"dim={dim}" in text for dim, text in zip((2, 4, 8), tried, strict=True)] == [True] * 3


def test_one_that_converges_does_not():
    easy = {**SHORT, "optimizer": replace(SHORT["optimizer"], tol=1e9)}
    model = CategoricalEmbedding(dim="auto", neurons=8)
    solution = jn.solve(problems.pde1(10), method=jn.Network(model, charts="local", **easy), verify=False)
    assert solution.status is jn.Status.TRAINED and len(solution.settings["embedding"]) == 1


def test_a_network_without_label_cannot_jump(tmp_path):
    problem = problems.pde1(5)
    solution = jn.solve(problem, method=jn.Network(Unlabelled(neurons=8), charts="box", **SHORT))
    x = np.linspace(0.1, 6.0, 7)
    assert np.array_equal(solution(x, 0), solution(x, 3))
    solution.save(tmp_path / "plain.jumpnet")
    assert np.array_equal(jn.load(tmp_path / "plain.jumpnet")(x, 2), solution(x, 2))


@pytest.mark.parametrize("labels", ["index", "mean-u", (5.0, 1.0, 2.0, 3.0, 4.0)])
def test_deep_networks_take_given_labels(labels):
    model = Deep(widths=(4, 3), labels=labels)
    solution = jn.approximate(*problems.fa2(5), method=jn.Network(model, **SHORT))
    assert solution.network.size == (2 + 1) * 4 + (4 + 1) * 3 + 3
    with pytest.raises(jn.ModelError, match="labels"):
        Deep(labels="names")  # pyright: ignore[reportArgumentType]


def started(network, charts, pieces):
    """Initial parameters of a network on a chain, and those it would have by itself."""
    parts, _ = problems.fa2(pieces)
    drawn = collocate(parts, Points(20 * pieces, 2, 1), seed=0, stream=Stream.TRAIN)
    atlas = choose_atlases(charts, parts)[0]
    system = System(network, atlas.push_rows(values(np.zeros(len(drawn.piece)), drawn.interior, drawn.piece)))
    return system, initial(system, np.random.default_rng(3)), network.initial(np.random.default_rng(3))


@pytest.mark.parametrize(("charts", "in_x"), [("box", 10.0), ("local", 1.0)])
def test_a_number_for_each_of_many_pieces_begins_with_steep_neurons(charts, in_x):
    network = jn.models.ScalarEncoding(neurons=30).network(1, 100)
    system, steep, plain = started(network, charts, 100)
    slopes = (steep[:60] / plain[:60]).reshape(2, 30)
    # The widest pair of 20 random points of a piece is on average 19/21 of it apart.
    np.testing.assert_allclose(slopes, np.array([[in_x], [9.9]]) * np.ones(30), rtol=0.15)
    np.testing.assert_array_equal(steep[90:], plain[90:])
    # Every neuron has its step (argument zero) at a point of the training.
    sites, labels = system.rows.sites, np.linspace(-1, 1, 100)
    arguments = np.outer(sites.x[:, 0], steep[:30]) + np.outer(labels[sites.cell], steep[30:60]) + steep[60:90]
    assert np.abs(arguments).min(axis=0).max() < 1e-12


@pytest.mark.parametrize(
    ("model", "pieces"),
    [
        (jn.models.ScalarEncoding(), 10),
        (jn.models.ScalarEncoding(tuple(0.01 * k for k in range(10))), 10),  # close, but few
        (CategoricalEmbedding(), 100),
        (jn.models.OneHot(), 20),
        (Unlabelled(), 50),
    ],
)
def test_all_others_begin_as_before(model, pieces):
    _, theta, plain = started(model.network(1, pieces), "local", pieces)
    np.testing.assert_array_equal(theta, plain)


@pytest.mark.parametrize(
    "model", [jn.models.ScalarEncoding(tuple(range(9))), CategoricalEmbedding(), jn.models.OneHot()]
)
def test_in_the_papers_coordinates_networks_begin_as_they_would_in_scaled_ones(model):
    network = model.network(1, 9)
    system, _, plain = started(network, "paper", 9)
    theta, x, piece = initial_raw(system, np.random.default_rng(3)), system.rows.sites.x, system.rows.sites.cell
    low, high = x.min(), x.max()
    scaled = (2 * x - low - high) / (high - low)
    if network.numbered:  # its labels, too
        before = jn.models.ScalarEncoding(tuple(np.linspace(-1, 1, 9))).network(1, 9)
    else:
        before = network
    want = before.values(plain, replace(system.rows.sites, x=scaled))
    np.testing.assert_allclose(network.values(theta, system.rows.sites), want, rtol=1e-5)
    assert 0 < piece.max() < 9 and not np.allclose(theta, plain)


def test_in_the_papers_coordinates_neurons_are_as_steep_as_their_labels_are_close():
    labels = np.r_[np.linspace(0.0, 0.049, 50), np.linspace(1.0, 5.9, 50)]  # one half a hundred times closer
    network = jn.models.ScalarEncoding(tuple(labels.tolist()), neurons=200).network(1, 100)
    system, _, plain = started(network, "paper", 100)
    theta, sites = initial_raw(system, np.random.default_rng(3)), system.rows.sites
    slopes = (theta[:400] / plain[:400]).reshape(2, 200)
    np.testing.assert_allclose(slopes[0], 1 / (1.5 * 2 * np.pi / 100), rtol=0.15)  # three pieces in all
    far = (slopes[1] > 1 / 0.301) & (slopes[1] < 1 / 0.199)  # three labels on one side at an end, else two
    near = (slopes[1] > 1 / 0.00301) & (slopes[1] < 1 / 0.00199)
    assert np.all(far | near) and 60 < near.sum() < 140
    arguments = np.outer(sites.x[:, 0], theta[:200]) + np.outer(labels[sites.cell], theta[200:400]) + theta[400:600]
    assert np.abs(arguments).min(axis=0).max() < 1e-9
    np.testing.assert_array_equal(theta[600:], plain[600:])


def test_the_papers_labels_are_means_of_u_and_divided_ones_of_f():
    parts = jn.Partition.chain([0.0, 1.0, 2.0])
    means = {"mean-u": (2.0, 4.0), "mean-f": (0.5, 1.0)}
    for labels, expected in means.items():
        model = jn.models.ScalarEncoding(labels=labels)
        found = resolve_labels(model, parts, u=_steps, f=_steps, raw=True, seed=0)
        assert found.labels == expected


def _steps(piece, x):
    """2 in the first piece, 4 in the second."""
    return np.full(len(x), 2.0 * (piece + 1))
