"""Families of functions of a chart's coordinates, one file each.

Every file of this folder is imported here, so that its families can be read from saved solutions.
"""

from importlib import import_module
from pkgutil import iter_modules

from jumpnet.models.families.registry import FAMILIES, Family, Matrix, family_from_spec, family_spec

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["FAMILIES", "Family", "Matrix", "family_from_spec", "family_spec"]
