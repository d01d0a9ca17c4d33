"""The one place where NGSolve is imported: its modules, or a sentence that says how to install them."""

from typing import Any, NamedTuple

from jumpnet.errors import ModelError

HEAP = 100_000_000  # bytes for one element; the default is too small for many integration points in space, and crashes


class NGSolve(NamedTuple):
    """The modules of NGSolve and netgen that are used here."""

    ng: Any
    occ: Any
    comp: Any
    meshing: Any
    core: Any


def ngsolve() -> NGSolve:
    """NGSolve, imported."""
    try:
        import netgen.meshing as meshing  # pyright: ignore[reportMissingImports]
        import netgen.occ as occ  # pyright: ignore[reportMissingImports]
        import ngsolve as ng  # pyright: ignore[reportMissingImports]
        import pyngcore as core  # pyright: ignore[reportMissingImports]
        from ngsolve import comp  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ModelError(
            "finite elements need NGSolve, which is not installed; pip install 'jumpnet[fem]' adds it."
        ) from None
    ng.ngsglobals.msg_level = 0
    meshing.SetMessageImportance(0)  # pyright: ignore[reportAttributeAccessIssue]
    ng.SetHeapSize(HEAP)
    return NGSolve(ng, occ, comp, meshing, core)
