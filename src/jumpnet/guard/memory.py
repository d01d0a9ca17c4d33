"""The free memory, so that tasks that need more are refused before they begin."""

import os
from pathlib import Path

# The part of the free memory that may be used: predictions are rough, and other programs run.
PART = 0.8
_CGROUP = Path("/sys/fs/cgroup")  # where Linux states the limits of a container


def free_memory() -> float:
    """Bytes that this process may still use; infinite where the system does not say."""
    return min(_of_machine(), _of_container())


def too_much(wanted: float) -> str:
    """The message if this many bytes exceed the free memory; empty otherwise."""
    free = free_memory()
    return f"{_shown(wanted)} GB of memory, and {_shown(free)} GB are free" if wanted > PART * free else ""


def _shown(size: float) -> str:
    return f"{size / 1e9:.2g}" if size < 1e11 else f"{size / 1e9:.0f}"


def _of_machine() -> float:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * float(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:  # not Linux: the total memory
        return float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):
        return float("inf")


def _of_container() -> float:
    """What a control group allows, less what is used in it."""
    try:
        most = (_CGROUP / "memory.max").read_text().strip()
        used = (_CGROUP / "memory.current").read_text().strip()
        return float("inf") if most == "max" else max(float(most) - float(used), 0.0)
    except (OSError, ValueError):
        return float("inf")
