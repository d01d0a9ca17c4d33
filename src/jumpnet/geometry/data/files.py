"""Untrusted files: bounded, parsed, never executed; and packages that come with an extra."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from os import PathLike
from pathlib import Path as FilePath
from types import ModuleType

import numpy as np

from jumpnet.errors import GeometryError
from jumpnet.guard.reading import size_of
from jumpnet.guard.text import one_line, shorten

Source = str | PathLike[str]
# Advice for common kinds of files that are not read.
INSTEAD = {
    ".jpg": "JPEG mixes neighbouring labels; save the segmented image as PNG or TIFF",
    ".dxf": "export it as SVG",
    ".step": "export it as STL",
}
INSTEAD |= {".jpeg": INSTEAD[".jpg"], ".dwg": INSTEAD[".dxf"], ".stp": INSTEAD[".step"], ".iges": INSTEAD[".step"]}


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
    try:
        path = FilePath(source)
    except TypeError:
        raise GeometryError(f"{shorten(source)} is not the path of a file; give the path of {what}.") from None
    if suffixes and path.suffix.lower() not in suffixes:
        raise GeometryError(
            f"{what} must be a file of the kind {', '.join(suffixes)}, not {path.name!r}{instead(path)}."
        )
    try:
        size = size_of(path)
    except (OSError, ValueError):  # not there, or a folder, a pipe, a device
        raise GeometryError(f"there is no file {str(path)!r}; give the path of {what}.") from None
    if size > most:
        raise GeometryError(f"{path.name} has {size / 1e6:.0f} MB; {what} may have at most {most / 1e6:.0f} MB.")
    return path


def instead(path: FilePath) -> str:
    """Advice for a kind of file that is not read, as the end of a sentence; empty for most."""
    hint = INSTEAD.get(path.suffix.lower())
    return f"; {hint}" if hint else ""


@contextmanager
def reading(path: FilePath, what: str) -> Iterator[None]:
    """Turns whatever a parser raises into one sentence; its warnings and log are suppressed."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(), _unlogged("tifffile", "trimesh", "PIL"):
            warnings.filterwarnings("ignore", module=r"(?!jumpnet)")
            yield
    except GeometryError as error:
        raise GeometryError(f"{path.name}: {error}") from None
    except MemoryError:
        raise
    except ImportError:  # parsers guess at other formats, and look for packages that would read those
        raise GeometryError(f"{path.name} could not be read as {what}: it is damaged, or of another kind.") from None
    except Exception as error:  # parsers of foreign formats raise exceptions of any type
        reason = one_line(error, 200) or type(error).__name__
        raise GeometryError(f"{path.name} could not be read as {what}: {reason.rstrip('.')}.") from None


@contextmanager
def _unlogged(*names: str) -> Iterator[None]:
    """Suppresses the logging of packages."""
    loggers, nowhere = [logging.getLogger(name) for name in names], logging.NullHandler()
    before = [logger.propagate for logger in loggers]
    for logger in loggers:
        logger.addHandler(nowhere)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagate in zip(loggers, before, strict=True):
            logger.removeHandler(nowhere)
            logger.propagate = propagate
