"""Reads the tables of a file: TOML of bounded size, parsed, checked, never executed."""

import re
import tomllib
from os import PathLike
from typing import Any

from pydantic import ValidationError

from jumpnet.errors import ProblemError
from jumpnet.files.messages import explained, key_of
from jumpnet.files.schema import File
from jumpnet.guard.reading import read_bytes
from jumpnet.guard.text import one_line, shorten

LARGEST_FILE = 1_000_000  # bytes
# Tables in tables; shapes made of shapes need two levels each, and drawings by hand have less than ten.
MOST_NESTED = 60
MOST_BITS = 1000  # of an integer: more would not fit a float64
# A part of a dotted TOML key: bare, or in quotation marks (possessive, as files may be hostile).
_PART = r"(?:[A-Za-z0-9_-]++|\"[^\"\n]*+\"|'[^'\n]*+')"
# A key of more parts than that, such as a.b.c; tomllib takes time and memory by the square of their number.
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MOST_NESTED}}}")


def _line(text: str, problem: str) -> str:
    """The line that the parser complains about."""
    found, lines = re.search(r"at line (\d+)", problem), text.splitlines()
    number = int(found[1]) if found else 0
    return f": {shorten(lines[number - 1].strip())}" if 0 < number <= len(lines) else ""


def parse(text: str) -> File:
    """The tables of a problem file; ProblemError in one sentence that names the key."""
    if len(text) > LARGEST_FILE:
        raise ProblemError(f"the file has {len(text)} characters; at most {LARGEST_FILE} are read.")
    if found := _LONG_KEY.search(text):
        raise ProblemError(f"the file has a key of more than {MOST_NESTED} parts, {shorten(found[0])}; shorten it.")
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise ProblemError(
            f"the file is not TOML: {one_line(problem, 300).rstrip('.')}{_line(text, str(problem))}; keys are "
            'written as name = value, texts in quotes: name = "text".'
        ) from None
    except (RecursionError, ValueError):  # brackets in brackets, integers of thousands of digits
        raise ProblemError(
            "the file is not TOML that can be read: it is nested too deeply or a number is too long."
        ) from None
    _check_document(document)
    try:
        return File.model_validate(document)
    except ValidationError as problem:
        raise explained(problem, document) from None
    except RecursionError:
        raise ProblemError("the file holds tables nested too deeply; combine shapes by `without` instead.") from None


def _check_document(document: dict[str, Any]) -> None:
    """Refuse tables nested too deeply and integers too long, before pydantic reports them in its own words."""
    stack: list[tuple[Any, tuple[str | int, ...]]] = [(document, ())]
    while stack:
        value, place = stack.pop()
        if len(place) > MOST_NESTED:
            key = shorten(key_of(place[:4], document))
            raise ProblemError(f"the file has tables nested too deeply below {key}; at most {MOST_NESTED} are read.")
        if isinstance(value, int) and value.bit_length() > MOST_BITS:
            raise ProblemError(f"{key_of(place, document)} is {shorten(value)}; a number of at most 1e100 is wanted.")
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        stack.extend((entry, (*place, step)) for step, entry in entries)


def read_text(path: str | PathLike[str]) -> str:
    """The text of a file; nothing but a regular file is opened."""
    try:
        return read_bytes(path, LARGEST_FILE).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ProblemError(f"{str(path)!r} is not a text file (UTF-8); give a problem file in TOML.") from None
    except FileNotFoundError:
        raise ProblemError(f"there is no file {str(path)!r}; give the path of a problem file.") from None
    except (OSError, ValueError, TypeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise ProblemError(f"{str(path)!r} cannot be read ({reason}); give the path of a problem file.") from None
