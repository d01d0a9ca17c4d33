"""A short run of the fuzzing of every reader; `make fuzz` is the long one."""

import os
from pathlib import Path

import pytest
from fuzzing import CORPUS, READERS
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

# Cases of each reader, together about six seconds; a checkpoint trains, an image is traced.
CASES = {"toml": 40, "formula": 20, "checkpoint": 6, "solution": 40, "store": 60, "tiff": 12, "npy": 15}


@pytest.mark.parametrize("name", READERS)
def test_any_input_is_read_or_refused_in_a_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUMPNET_READ_SECONDS", "20")
    monkeypatch.chdir(tmp_path)

    @settings(
        max_examples=CASES.get(name, 30),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 2**40))
    def attempt(number: int) -> None:
        assert READERS[name].attempt(READERS[name].case(number), tmp_path) != "BudgetError"

    attempt()
    assert not any(path.suffix == ".part" for path in tmp_path.iterdir())


@pytest.mark.parametrize("name", READERS)
def test_what_was_found_before(name: str, tmp_path: Path) -> None:
    for path in sorted((CORPUS / name).glob("*")):
        READERS[name].attempt(path.read_bytes(), tmp_path)
    assert os.path.isdir(CORPUS)
