"""Clocks, fits, and what the machine is."""

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

PACKAGES = ("jumpnet", "jax", "jaxlib", "numpy", "scipy", "ngsolve", "torch")  # whose versions the report names
BUSY = 1.5  # load average above which other programs take part of what is measured


def side_by_side(*calls: Callable[[], object], repeats: int) -> list[float]:
    """Median milliseconds of each call, after one of each that is not counted.

    The calls take turns, so that other load on the machine affects all of them equally.
    """
    times: list[list[float]] = [[] for _ in calls]
    for count in range(repeats + 1):
        for call, mine in zip(calls, times, strict=True):
            began = time.perf_counter()
            call()
            if count:
                mine.append(time.perf_counter() - began)
    return [1e3 * statistics.median(mine) for mine in times]


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The p of cost ~ size^p, by least squares in logarithms; nan where there are fewer than two sizes."""
    if len(set(sizes)) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def thread_pools() -> str:
    """The BLAS libraries and their numbers of threads."""
    import numpy.linalg  # noqa: F401  (its BLAS is listed below)
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_info

    pools = [f"{p['internal_api']} {p.get('version') or ''} x{p['num_threads']}" for p in threadpool_info()]
    return ", ".join(pools) or "none"


def machine() -> dict[str, str]:
    """What a reader must know to compare: versions, processor, threads, and how busy the machine was."""
    found = {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "thread pools": thread_pools(),
        "load average at start": load(),
        "python": platform.python_version(),
    }
    return found | versions(PACKAGES)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def load() -> str:
    """How busy the machine is, in words."""
    try:
        minute, minutes, _ = os.getloadavg()
    except (AttributeError, OSError):  # Windows has none
        return "unknown"
    busy = "; under load, so trust the ratios more than the times" if minute > BUSY else ""
    return f"{minute:.2f} (1 min), {minutes:.2f} (5 min){busy}"


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The versions of those packages that are installed."""
    found = {}
    for package in packages:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found
