"""Fluxes and energies of a file are given with the error of the solution: the judge is asked for it by itself."""

from pathlib import Path

import jumpnet as jn
from jumpnet.files.starting import started


def test_fluxes_of_a_file_are_judged_by_default_and_cover_a_sharper_answer(tmp_path: Path) -> None:
    file = tmp_path / "disk.toml"
    file.write_bytes(started("inclusion", file)[file])
    read = jn.read_file(file)
    solution = read.with_settings(tol=1e-4).solve()
    found = read.quantities(solution)
    exact = read.quantities(read.with_settings(tol=1e-10).solve(verify=False))
    assert solution.verdict is not None and set(found) == set(read.file.quantities)
    for name, number in found.items():
        assert abs(number.value - exact[name].value) < number.error + exact[name].quadrature_error < 1e-3


def test_a_file_may_do_without(tmp_path: Path) -> None:
    file = tmp_path / "disk.toml"
    file.write_bytes(started("inclusion", file)[file])
    read = jn.read_file(file).with_settings(verify="never")
    found = read.quantities(read.solve())
    assert [name for name, number in found.items() if number.error > 0] == ["mean of the disk"]
