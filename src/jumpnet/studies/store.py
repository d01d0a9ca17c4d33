"""Records on disk: one JSON file for each task, written whole or not at all.

A task is done if its file is there and was made from the same settings. Nothing can be lost by an interruption or
counted twice: two runs of a task have the same file.
"""

import json
from pathlib import Path
from typing import Any

from jumpnet.errors import SolutionError
from jumpnet.guard.reading import read_bytes
from jumpnet.guard.writing import write_atomically

LARGEST = 10_000_000  # bytes; a record has a few thousand


def read_record(path: Path) -> Any:
    """What a file of JSON holds; None if there is none or if it cannot be read."""
    try:
        return json.loads(read_bytes(path, LARGEST))
    except (OSError, ValueError, RecursionError):
        return None


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write a record; SolutionError where that is not possible."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, (json.dumps(record, indent=1) + "\n").encode())
    except OSError as problem:
        raise SolutionError(f"the result {str(path)!r} cannot be written ({problem}).") from None
