"""Other programs for the same problems: scripts in benchmarks/peers, each run in its own process."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jumpnet

# The environment of a measurement: peers are compared on one core.
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
# Packages that are not dependencies: the name, and the extra that installs it.
EXTRAS = {"ngsolve": ("NGSolve", "fem"), "torch": ("torch", "bench")}


class UnavailableError(Exception):
    """A comparison that cannot be made here; the message is the sentence the reader gets instead."""


def needs(package: str) -> None:
    """Say how to install an optional package where it is missing."""
    if find_spec(package) is None:
        name, extra = EXTRAS[package]
        raise UnavailableError(
            f"{name} is not installed, so what it would be compared with is left out; "
            f"pip install 'jumpnet[{extra}]' adds it."
        )


def run(script: str, *arguments: str, seconds: float) -> list[dict[str, Any]]:
    """The lines of JSON that a script of benchmarks/peers prints, as far as it comes in this time."""
    return printed(str(_folder() / script), *arguments, seconds=seconds)


def printed(*arguments: str, seconds: float, **environment: str) -> list[dict[str, Any]]:
    """The lines of JSON that Python prints when it is started with these arguments."""
    try:
        done = subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            timeout=seconds,
            env=os.environ | ONE_THREAD | environment,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        text = late.stdout or b""
        lines = (text.decode() if isinstance(text, bytes) else text).splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        command = " ".join(Path(word).name for word in arguments)
        raise UnavailableError(f"{command} failed and is left out ({reason}).")
    return [json.loads(line) for line in done.stdout.splitlines()]


def _folder() -> Path:
    places = Path(jumpnet.__file__).resolve().parents[2], Path.cwd()
    for place in places:
        if (place / "benchmarks" / "peers").is_dir():
            return place / "benchmarks" / "peers"
    raise UnavailableError(
        "the scripts of benchmarks/peers are in the repository only, so they are left out; "
        "run jumpnet bench in a checkout."
    )
