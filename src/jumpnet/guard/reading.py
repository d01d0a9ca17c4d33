"""Untrusted files: regular ones of bounded size only.

A pipe or a device has no size and may have no end; opening one may wait for ever.
"""

import os
import stat
from os import PathLike


def size_of(path: str | PathLike[str]) -> int:
    """The bytes of a regular file; OSError says what else it is."""
    found = os.stat(path)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(21, "it is a folder", str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(22, "it is a pipe or a device, not a file", str(path))
    return found.st_size


def read_bytes(path: str | PathLike[str], most: int) -> bytes:
    """The content of a regular file; OSError where it has more than `most` bytes, also if it grows while it is read."""
    if size_of(path) > most:
        raise OSError(27, f"it has {size_of(path)} bytes; at most {most} are read", str(path))
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(27, f"it has more than the {most} bytes that are read", str(path))
    return content
