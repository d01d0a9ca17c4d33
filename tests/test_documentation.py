"""Every Python example in the README and in the quickstart runs, in order, as a reader would type it."""

import re
from pathlib import Path

import pytest

import jumpnet as jn

ROOT = Path(__file__).resolve().parents[1]


def blocks(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", ["README.md", "docs/quickstart.md", "docs/files.md", "docs/exchange.md"])
@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
def test_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks(ROOT / page):
        exec(compile(block, page, "exec"), names)
    solution = names["solution"]
    assert isinstance(solution, jn.Solution) and solution.status is jn.Status.CONVERGED


def test_the_examples_of_the_geometry_page_run() -> None:
    names: dict[str, object] = {}
    for block in blocks(ROOT / "docs/geometry.md"):
        exec(compile(block, "docs/geometry.md", "exec"), names)
    problem = names["problem"]
    assert isinstance(problem, jn.Problem) and problem.partition.names == ("label 0", "label 1", "grain")


def test_from_a_box_to_a_picture_takes_at_most_fifteen_lines() -> None:
    first = blocks(ROOT / "README.md")[0]
    assert "jn.Box" in first and ".plot(" in first
    assert len([line for line in first.splitlines() if line.strip()]) <= 15
