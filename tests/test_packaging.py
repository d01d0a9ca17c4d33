"""What is published: one version, a wheel that works by itself, workflows for three systems."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import jumpnet as jn

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_stands_in_one_place() -> None:
    assert "version" not in PROJECT["project"] and PROJECT["project"]["dynamic"] == ["version"]
    assert PROJECT["tool"]["hatch"]["version"]["path"] == "src/jumpnet/__init__.py"
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["version"] == jn.__version__ and "2503.15441" in cited["references"][0]["url"]


def test_the_workflows_cover_what_is_promised() -> None:
    tests = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]["tests"]
    matrix = tests["strategy"]["matrix"]
    assert [name.split("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    offered = [re.sub(".*:: ", "", c) for c in PROJECT["project"]["classifiers"] if "Python :: 3." in c]
    assert matrix["python"] == [offered[0], offered[-1]] == ["3.11", "3.14"]
    assert PROJECT["project"]["requires-python"] == f">={offered[0]}"
    # The same extras as `make install` takes.
    extras = re.search(r"^EXTRAS := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert extras and any(f".[{extras[1]}]" in str(step.get("run")) for step in tests["steps"])
    assert set(extras[1].split(",")) <= set(PROJECT["project"]["optional-dependencies"])


@pytest.mark.slow
def test_the_wheel_works_by_itself(tmp_path: Path) -> None:
    """Built as for publishing, unpacked elsewhere, used from a folder that has nothing of the repository."""
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(tmp_path / "dist"), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = (tmp_path / "dist").glob(f"jumpnet-{jn.__version__}-py3-none-any.whl")
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--target",
        str(tmp_path / "site"),
        str(wheel),
    ]
    subprocess.run(install, check=True, capture_output=True)
    (tmp_path / "here").mkdir()

    def run(*arguments: str) -> str:
        env = os.environ | {"PYTHONPATH": str(tmp_path / "site"), "MPLBACKEND": "Agg"}
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path / "here", env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert str(tmp_path / "site") in run("-c", "import jumpnet; print(jumpnet.__file__)")
    run("-m", "jumpnet", "new", "layers")
    assert "converged" in run("-m", "jumpnet", "solve", "layers.toml", "-o", "out")
    assert (tmp_path / "here/out/report.html").stat().st_size > 20_000
    assert "pde5" in run("-m", "jumpnet", "examples")
