"""Labels that the program chooses or leaves out: dim="auto", given labels of deep networks, no label at all."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.driver.embedding import _dims
from jumpnet.experiments import problems
from jumpnet.models import CategoricalEmbedding, Deep, Unlabelled, suggested_dim

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
    solution = jn.approximate(*problems.fa2(10), model=CategoricalEmbedding(dim="auto", neurons=8), **SHORT)
    tried = solution.settings["embedding"]
    assert len(tried) == 3 and [f"dim={dim}" in text for dim, text in zip((2, 4, 8), tried, strict=True)] == [True] * 3


def test_one_that_converges_does_not():
    from dataclasses import replace

    easy = {**SHORT, "optimizer": replace(SHORT["optimizer"], tol=1e9)}
    solution = jn.solve(problems.pde1(10), model=CategoricalEmbedding(dim="auto", neurons=8), charts="local", **easy)
    assert solution.status.ok and len(solution.settings["embedding"]) == 1


def test_a_network_without_label_cannot_jump(tmp_path):
    problem = problems.pde1(5)
    solution = jn.solve(problem, model=Unlabelled(neurons=8), charts="box", **SHORT)
    x = np.linspace(0.1, 6.0, 7)
    assert np.array_equal(solution(x, 0), solution(x, 3))
    solution.save(tmp_path / "plain.jumpnet")
    assert np.array_equal(jn.load(tmp_path / "plain.jumpnet")(x, 2), solution(x, 2))


@pytest.mark.parametrize("labels", ["index", "mean-u", (5.0, 1.0, 2.0, 3.0, 4.0)])
def test_deep_networks_take_given_labels(labels):
    model = Deep(widths=(4, 3), labels=labels)
    solution = jn.approximate(*problems.fa2(5), model=model, **SHORT)
    assert solution.network.size == (2 + 1) * 4 + (4 + 1) * 3 + 3
    with pytest.raises(jn.ModelError, match="labels"):
        Deep(labels="names")  # pyright: ignore[reportArgumentType]
