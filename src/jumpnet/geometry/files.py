"""Files from strangers: bounded, parsed, never executed; and packages that come with an extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from os import PathLike
from pathlib import Path as FilePath
from types import ModuleType

import numpy as np

from jumpnet.errors import GeometryError

Source = str | PathLike[str]


def optional(module: str, extra: str, what: str) -> ModuleType:
    """A package that is installed with an extra."""
    try:
        return import_module(module)
    except ImportError:
        package = {"skimage": "scikit-image"}.get(module.partition(".")[0], module.partition(".")[0])
        raise GeometryError(
            f"{what} needs the package {package}, which is not installed; get it by `pip install 'jumpnet[{extra}]'`."
        ) from None


def checked_path(source: Source, most: int, suffixes: tuple[str, ...], what: str) -> FilePath:
    """The path of a file that exists, is of a known kind and not larger than `most` bytes."""
    path = FilePath(source)
    if suffixes and path.suffix.lower() not in suffixes:
        raise GeometryError(f"{what} must be a file of the kind {', '.join(suffixes)}, not {path.name!r}.")
    try:
        size = path.stat().st_size if path.is_file() else None
    except (OSError, ValueError):
        size = None
    if size is None:
        raise GeometryError(f"there is no file {str(path)!r}; give the path of {what}.")
    if size > most:
        raise GeometryError(f"{path.name} has {size / 1e6:.0f} MB; {what} may have at most {most / 1e6:.0f} MB.")
    return path


@contextmanager
def reading(path: FilePath, what: str) -> Iterator[None]:
    """Whatever a parser raises, as one sentence."""
    try:
        with np.errstate(all="ignore"):
            yield
    except GeometryError as error:
        raise GeometryError(f"{path.name}: {error}") from None
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # parsers of foreign formats raise anything, and all of it means the same
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
        raise GeometryError(f"{path.name} could not be read as {what}: {reason}.") from None
