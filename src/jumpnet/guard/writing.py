"""Every file that the package writes: whole or not at all, and nothing left behind.

The content goes to a file of a unique name in the same directory, to the disk, and then takes the place of the old one
in one step; the directory is brought to the disk too. A killed process leaves its unfinished file; the next writing
into that directory removes it.
"""

import os
import re
import stat
import time
from contextlib import suppress
from os import PathLike
from pathlib import Path
from secrets import token_hex

from jumpnet.guard.interrupts import unfinished

# Names of unfinished files hold machine and process, so that other processes can tell whether the writer is alive.
PART = re.compile(r"\.jumpnet-([0-9a-f]{8})-(\d{1,20})-[0-9a-f]{12}\.part")
# Seconds after which an unfinished file of another machine (in a shared directory) is abandoned.
ABANDONED = 86_400.0


def write_atomically(path: str | PathLike[str], content: bytes, *, durable: bool = True) -> None:
    """Write a file atomically: after any failure either the old or the new content is there. Raises OSError or
    ValueError.

    Devices, pipes and the like are written to as they are; links are followed; the permissions of an old file stay.
    Without `durable`, for files that are checked when they are read, a power cut may leave neither of them.
    """
    target = Path(os.path.realpath(path))
    old = _status(target)
    if old is not None and stat.S_ISDIR(old.st_mode):
        raise IsADirectoryError(21, os.strerror(21), str(path))
    if old is not None and not os.access(target, os.W_OK):
        raise PermissionError(13, os.strerror(13), str(path))
    if old is not None and not stat.S_ISREG(old.st_mode):
        target.write_bytes(content)
        return
    sweep(target.parent)
    part = target.with_name(f".jumpnet-{_machine()}-{os.getpid()}-{token_hex(6)}.part")
    unfinished.add(str(part))
    try:
        with part.open("xb") as file:
            if old is not None:
                os.chmod(part, stat.S_IMODE(old.st_mode))
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(part, target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    finally:
        unfinished.discard(str(part))
    if durable:
        _to_disk(target.parent)


def check_writable(path: Path) -> None:
    """Try out, before a long computation, that a file can be written here. Raises OSError or ValueError."""
    probe = path.with_name(f".jumpnet-{_machine()}-{os.getpid()}-{token_hex(6)}.part")
    probe.touch()
    probe.unlink()
    sweep(path.parent)


def sweep(folder: Path) -> None:
    """Remove unfinished files of processes that are no more."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            found = PART.fullmatch(entry.name)
            if found is not None and _is_abandoned(found[1], int(found[2]), entry.path):
                with suppress(OSError):
                    os.unlink(entry.path)


def _is_abandoned(machine: str, process: int, path: str) -> bool:
    if machine != _machine() or os.name == "nt":  # where asking for a process with a signal would end it
        with suppress(OSError):
            return time.time() - os.stat(path).st_mtime > ABANDONED
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return process == os.getpid() and path not in unfinished  # of an earlier process with our number


def _machine() -> str:
    """A word for this machine, or container: process numbers mean something within it only."""
    import platform
    import zlib

    return f"{zlib.crc32(platform.node().encode()):08x}"


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _to_disk(folder: Path) -> None:
    """Flushes the entry of a directory to the disk, where the file system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
