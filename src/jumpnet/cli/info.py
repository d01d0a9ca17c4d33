"""`jumpnet info`: what is installed and what it runs on."""

import os
import platform
import sys

from jumpnet.cli.session import SOLVED, Session

PACKAGES = (
    "jax", "jaxlib", "optax", "numpy", "scipy", "sympy", "matplotlib", "meshio", "safetensors",
    "pydantic",    "typer", "rich",
)  # fmt: skip
# Packages of the extras, listed if they are installed.
OPTIONAL = ("ngsolve", "xfem", "shapely", "tifffile", "trimesh", "xarray", "dask", "torch")


def run(session: Session, as_json: bool = False) -> int:
    """Print a table of facts."""
    import jax

    from jumpnet import __version__
    from jumpnet.experiments.bench.timing import thread_pools, versions

    found = versions((*PACKAGES, *OPTIONAL))
    facts = {
        "jumpnet": __version__,
        "python": f"{platform.python_version()} ({sys.implementation.name})",
        "platform": platform.platform(),
        "devices": ", ".join(f"{d.platform}:{d.id} {d.device_kind}" for d in jax.devices()),
        "cores": str(os.cpu_count()),
        "thread pools": thread_pools(),
        "compiled code": _cache(),
        "precision": "float64 inside jumpnet, whatever JAX is set to outside",
    }
    facts |= {name: found.get(name, "not installed") for name in PACKAGES}
    facts |= {f"{name} (optional)": found.get(name, "not installed") for name in OPTIONAL}
    if as_json:
        session.dump(facts)
        return SOLVED
    session.say_pairs(facts)
    return SOLVED


def _cache() -> str:
    """Where compiled code is kept."""
    from jumpnet._compiled import directory

    place = directory()
    return "not kept (JUMPNET_CACHE)" if place is None else str(place)
