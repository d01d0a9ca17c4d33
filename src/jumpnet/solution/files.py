"""Files of arrays with a JSON description: safetensors, written all or nothing, parsed and never executed."""

import json
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from jumpnet.errors import SolutionError
from jumpnet.guard.reading import size_of
from jumpnet.guard.text import one_line, shorten
from jumpnet.guard.writing import write_atomically

# The entry of a file's header that holds the description, and what such a file is called.
SOLUTION, CHECKPOINT = "jumpnet", "jumpnet.checkpoint"
# What a file of each kind is called in messages.
CALLED = {SOLUTION: "solution", CHECKPOINT: "checkpoint"}
# Exceptions that reading a damaged or forged description may raise.
NONSENSE = (LookupError, TypeError, ValueError, AttributeError, AssertionError, ArithmeticError, RecursionError)


def file_path(path: str | PathLike[str]) -> Path:
    """The path that a user gave."""
    try:
        return Path(path)
    except TypeError:
        raise SolutionError(f"the path {path!r} is not the name of a file; give text or a pathlib.Path.") from None


def write(path: Path, kind: str, description: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write a file: a full disk or a crash leaves the old one as it was. Raises OSError or ValueError."""
    tensors = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    content = to_bytes(tensors, metadata={kind: json.dumps(description, allow_nan=True)})
    write_atomically(path, content)


def read(path: str | PathLike[str], kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The description and the arrays of a file of the given kind."""
    called, path = CALLED[kind], file_path(path)
    try:
        size_of(path)
        with safe_open(path, framework="np") as file:
            text = (file.metadata() or {}).get(kind)
            arrays = {name: file.get_tensor(name) for name in file.keys()}
    except FileNotFoundError:
        raise SolutionError(f"there is no file {str(path)!r}; give the path of a saved {called}.") from None
    except (SafetensorError, OSError, *NONSENSE) as problem:  # also of numbers that NumPy does not have, as float8
        reason = one_line(getattr(problem, "strerror", None) or problem, 200)
        raise SolutionError(
            f"{str(path)!r} cannot be read as a saved {called} ({reason}); give a file that was saved as one."
        ) from None
    if text is None:
        raise SolutionError(f"{str(path)!r} is not a jumpnet {called}; give the path of one.")
    try:
        description = json.loads(text)
    except NONSENSE as problem:
        raise damaged(path, problem) from None
    return description, arrays


def damaged(path: str | PathLike[str], problem: Exception) -> SolutionError:
    """The error for a file whose description cannot be read."""
    return SolutionError(f"{str(path)!r} is damaged: its description cannot be understood ({shorten(problem, 200)}).")
