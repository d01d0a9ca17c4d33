"""Keys of conditions: their labels are those of saved solutions, and what is taken together."""

import pytest

from jumpnet.rows import ConditionKey, Kind, group_of

LABELS = {
    "value 2": ConditionKey(Kind.VALUE, (2,)),
    "pde 0": ConditionKey(Kind.PDE, (0,)),
    "boundary": ConditionKey(Kind.BOUNDARY),
    "boundary left": ConditionKey(Kind.BOUNDARY, part="left"),
    "boundary x1 value": ConditionKey(Kind.PERIODIC_VALUE, part="x1"),
    "boundary x1 flux": ConditionKey(Kind.PERIODIC_FLUX, part="x1"),
    "jump 0-1": ConditionKey(Kind.JUMP, (0, 1)),
    "flux 0-1": ConditionKey(Kind.FLUX, (0, 1)),
    "cut 7 3": ConditionKey(Kind.CUT, (3,), 7),  # cell 7 of piece 3
    "cut flux 0 3": ConditionKey(Kind.CUT_FLUX, (3,), 0),
    "data 1": ConditionKey(Kind.DATA, (1,)),
    "mean 0": ConditionKey(Kind.MEAN, (0,)),
}


@pytest.mark.parametrize("label", LABELS)
def test_labels_are_those_of_saved_solutions(label: str) -> None:
    key = LABELS[label]
    assert str(key) == label
    assert group_of(label) == key.kind.group, "a history read from a file is drawn as one that was just made"


def test_means_are_taken_over_each_interface_and_over_all_else_of_a_group() -> None:
    first, second = (ConditionKey(Kind.JUMP, pair) for pair in ((0, 1), (0, 2)))
    assert first.family != second.family and first.family != ConditionKey(Kind.FLUX, (0, 1)).family
    boundary = {LABELS[label].family for label in ("boundary", "boundary left", "boundary x1 value")}
    assert boundary == {"boundary"} and LABELS["cut 7 3"].family == LABELS["cut flux 0 3"].family


def test_an_interface_has_no_single_piece() -> None:
    assert LABELS["cut 7 3"].piece == 3
    with pytest.raises(ValueError, match="unpack"):
        _ = LABELS["jump 0-1"].piece
