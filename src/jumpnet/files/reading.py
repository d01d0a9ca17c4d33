"""From a file to its tables: TOML of bounded size, parsed, checked, never executed."""

import tomllib
from os import PathLike
from pathlib import Path

from pydantic import ValidationError

from jumpnet.errors import ProblemError
from jumpnet.files.messages import explained
from jumpnet.files.schema import File

LARGEST_FILE = 1_000_000  # bytes


def parse(text: str) -> File:
    """The tables of a problem file; ProblemError in one sentence that names the key."""
    if len(text) > LARGEST_FILE:
        raise ProblemError(f"the file has {len(text)} characters; at most {LARGEST_FILE} are read.")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise ProblemError(f"the file is not TOML: {_one_line(problem)}; keys are written as name = value.") from None
    except (RecursionError, ValueError):  # brackets in brackets, integers of thousands of digits
        raise ProblemError(
            "the file is not TOML that can be read: it is nested too deeply or a number is too long."
        ) from None
    try:
        return File.model_validate(document)
    except ValidationError as problem:
        raise explained(problem, document) from None
    except RecursionError:
        raise ProblemError("the file holds tables nested too deeply; combine shapes by `without` instead.") from None


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file."""
    try:
        file = Path(path)
        if file.stat().st_size > LARGEST_FILE:
            raise ProblemError(f"{str(path)!r} has {file.stat().st_size} bytes; at most {LARGEST_FILE} are read.")
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ProblemError(f"{str(path)!r} is not a text file (UTF-8); give a problem file in TOML.") from None
    except FileNotFoundError:
        raise ProblemError(f"there is no file {str(path)!r}; give the path of a problem file.") from None
    except (OSError, ValueError, TypeError) as problem:
        if isinstance(problem, ProblemError):
            raise
        reason = getattr(problem, "strerror", None) or problem
        raise ProblemError(f"{str(path)!r} cannot be read ({reason}); give the path of a problem file.") from None


def _one_line(problem: Exception) -> str:
    return " ".join(str(problem).split()).rstrip(".")
