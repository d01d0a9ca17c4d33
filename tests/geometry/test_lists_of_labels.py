"""Several labels as one piece, and images at half their resolution."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.errors import GeometryError, ProblemError


def image() -> np.ndarray:
    """Four quarters with the labels 1, 2, 3, 4."""
    labels = np.ones((32, 32), int)
    labels[:16, 16:], labels[16:, :16], labels[16:, 16:] = 2, 3, 4
    return labels


def test_labels_of_one_name_are_one_piece() -> None:
    for names in ({"a": [1, 4], "b": [2], "c": [3]}, {1: "a", 4: "a", 2: "b", 3: "c"}):
        parts = jn.Partition.from_labels(image(), pixel=1 / 32, names=names)
        assert parts.names == ("a", "b", "c")
        assert parts.measure(0) == pytest.approx(0.5, abs=2e-2)
        assert parts.label([[0.2, 0.8], [0.8, 0.2], [0.8, 0.8], [0.2, 0.2]]).tolist() == [0, 0, 1, 2]


def test_a_background_may_be_one_of_several_labels() -> None:
    parts = jn.Partition.from_labels(image(), names={"a": [1, 2], "b": [3, 4]}, background=4)
    assert parts.names == ("b", "a")


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"a": [1, 7]}, "no label 7"),
        ({"a": [1], "b": [1]}, "the label 1 twice"),
        ({"a": []}, "a list of labels"),
        ({"a": "12"}, "a list of labels"),
        ({1: 3}, "a name for a label"),
    ],
)
def test_wrong_names_are_refused(names: object, words: str) -> None:
    with pytest.raises(GeometryError, match=words):
        jn.Partition.from_labels(image(), names=names)  # type: ignore[arg-type]


def test_half_the_resolution_keeps_frame_names_and_areas() -> None:
    rows, columns = np.mgrid[0:65, 0:64]
    labels = ((rows - 30) ** 2 + (columns - 33) ** 2 < 20**2).astype(int)
    parts = jn.Partition.from_labels(labels, pixel=(1 / 64, 1 / 65), names={0: "matrix", 1: "disk"})
    coarse = parts.coarsened()
    assert coarse.names == parts.names and np.allclose(coarse.bounds, parts.bounds)
    assert coarse.pixel == pytest.approx((1 / 32, 1 / 33)) and parts.pixel == pytest.approx((1 / 64, 1 / 65))
    assert coarse.measure(1) == pytest.approx(parts.measure(1), rel=0.02)


def test_what_is_no_image_has_no_half_resolution() -> None:
    parts = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Disk((0.5, 0.5), 0.2)])
    assert parts.pixel is None
    with pytest.raises(GeometryError, match="not made of a label image"):
        parts.coarsened()


def test_coefficients_by_the_names_of_pieces() -> None:
    parts = jn.Partition.from_labels(image(), names={"a": [1, 4], "b": [2], "c": [3]})
    problem = jn.Problem(parts, A={"c": 3.0, "a": 1.0, "b": 2.0}, boundary=jn.Dirichlet("x1"))
    assert [A.value(np.zeros((1, 2)))[0, 0, 0] for A in problem.A] == [1.0, 2.0, 3.0]
    with pytest.raises(ProblemError, match="A has no value for 'c'"):
        jn.Problem(parts, A={"a": 1.0, "b": 2.0}, boundary=jn.Dirichlet("x1"))
    with pytest.raises(ProblemError, match="the key 'd'"):
        jn.Problem(parts, A={"a": 1.0, "b": 2.0, "c": 1.0, "d": 1.0}, boundary=jn.Dirichlet("x1"))
