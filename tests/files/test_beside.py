"""The image at half its resolution in a process of its own: the same numbers, and a sentence where it dies."""

import numpy as np
import pytest

from jumpnet.errors import JumpnetWarning
from jumpnet.files import beside, read_file
from jumpnet.guard import interrupts

TEXT = """
[image]
file = "disk.npy"
pixel = 0.05
[background]
A = 1.0
label = 0
[pieces.disk]
label = 1
A = 10.0
[boundary]
"x1-" = { kind = "dirichlet", g = 0.0 }
"x1+" = { kind = "dirichlet", g = 1.0 }
rest = { kind = "neumann" }
[quantities]
heat = { kind = "flux", boundary = "x1+" }
"""


@pytest.fixture
def read(tmp_path, monkeypatch):
    """An image of a disk, on a machine with two cores."""
    y, x = np.mgrid[:32, :32]
    np.save(tmp_path / "disk.npy", (np.hypot(x - 15.5, y - 15.5) < 9).astype(np.uint8))
    (tmp_path / "disk.toml").write_text(TEXT)
    monkeypatch.setattr(beside, "_cores", lambda: 2)
    return read_file(tmp_path / "disk.toml")


@pytest.mark.skipif(not beside.possible(), reason="no child processes here")
def test_the_numbers_of_the_process_are_those_of_this_one(read):
    with beside.half_resolution(read) as coarse:
        assert len(interrupts.children) > 0  # which Ctrl-C ends
        apart = coarse()
    assert apart == pytest.approx(read.coarse_quantities(), rel=1e-9)  # NGSolve's threads add in any order
    assert apart["heat"] > 1.0


@pytest.mark.skipif(not beside.possible(), reason="no child processes here")
def test_a_process_that_dies_costs_a_warning(read):
    before = set(interrupts.children)
    with beside.half_resolution(read) as coarse:
        for pid in interrupts.children - before:
            beside.os.kill(pid, 9)
        with pytest.warns(JumpnetWarning, match=r"pixels of the image cost is not known: .* half its resolution died"):
            assert coarse() == {}
    assert interrupts.children <= before


def test_on_one_core_it_is_computed_here(read, monkeypatch):
    monkeypatch.setattr(beside, "_cores", lambda: 1)
    with beside.half_resolution(read) as coarse:
        assert coarse() == pytest.approx(read.coarse_quantities(), rel=1e-9)


@pytest.mark.parametrize("cores", [1, 2])
def test_a_time_limit_holds_for_it_too(read, monkeypatch, cores):
    """What is not there a moment after the limit is left out, with a sentence."""
    monkeypatch.setattr(beside, "_cores", lambda: cores)
    with beside.half_resolution(read.with_settings(time_limit=1e-3), beyond=1e-3) as coarse:
        with pytest.warns(JumpnetWarning, match="pixels of the image cost is not known: (no mesh|the process)"):
            assert coarse() == {}
