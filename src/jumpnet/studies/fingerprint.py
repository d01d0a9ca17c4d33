"""Fingerprints of functions, problems and options: of their code, constants and what they call.

Results that are kept on disk are used again only where it is the same. Of functions it holds their byte code, defaults,
the values that they enclose, and the global names that they use; of what other packages define, names alone.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from jumpnet.geometry import Partition
from jumpnet.problem import Problem

PLAIN = (type(None), bool, int, float, complex, str, bytes)  # types whose values identify themselves


def fingerprint(value: Any) -> str:
    """The fingerprint of a value: values that behave differently have different fingerprints."""
    found = hashlib.sha256()
    _Walk(found).into(value)
    return found.hexdigest()


class _Walk:
    """Hashes objects and everything they consist of, each object once."""

    def __init__(self, found: Any):
        self.found, self.seen = found, {}

    def say(self, *words: Any) -> None:
        """Add words."""
        self.found.update("\0".join(map(str, ("", *words))).encode())

    def into(self, value: Any) -> None:
        """Add a value and what it consists of."""
        if isinstance(value, PLAIN):
            self.say(type(value).__name__, repr(value))
            return
        if id(value) in self.seen:
            self.say("again", self.seen[id(value)][0])
            return
        self.seen[id(value)] = len(self.seen), value  # held, so that its id stays its own
        self._whole(value)

    def _whole(self, value: Any) -> None:
        if isinstance(value, np.ndarray | np.generic):
            self.say("array", value.dtype, value.shape, pickle.dumps(np.asarray(value)).hex())
        elif isinstance(value, Mapping):
            self._each("mapping", sorted(value.items(), key=lambda item: repr(item[0])))
        elif isinstance(value, list | tuple):
            self._each("sequence", value)
        elif isinstance(value, set | frozenset):
            self._each("set", sorted(value, key=repr))
        elif isinstance(value, CodeType):
            self._code(value)
        elif isinstance(value, partial):
            self._each("partial", (value.func, value.args, value.keywords))
        elif isinstance(value, MethodType):
            self._each("method", (value.__func__, value.__self__))
        elif isinstance(value, FunctionType | type | ModuleType | BuiltinFunctionType):
            self._named(value)
        else:
            self._object(value)

    def _each(self, kind: str, values: Any) -> None:
        self.say(kind)
        for one in values:
            self.into(one)
        self.say("end")

    def _code(self, code: CodeType) -> None:
        self.say("code", code.co_code.hex(), code.co_names, code.co_varnames, code.co_freevars)
        self._each("constants", code.co_consts)

    def _named(self, value: Any) -> None:
        """A function, a class or a module: its name, and for the user's own also its content."""
        module = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or ""
        self.say(module, getattr(value, "__qualname__", value.__name__))
        if _foreign(module):
            return
        if isinstance(value, FunctionType):
            known = value.__globals__
            uses = {name: known[name] for name in sorted(_names(value.__code__)) if name in known}
            given = value.__defaults__, value.__kwdefaults__, _enclosed(value)
            self._each("function", (value.__code__, *given, uses))
        elif isinstance(value, type):
            own = {k: v for k, v in vars(value).items() if isinstance(v, (FunctionType, *PLAIN)) and k != "__module__"}
            self._each("class", (own, [base for base in value.__bases__ if base is not object]))

    def _object(self, value: Any) -> None:
        self.into(type(value))
        if isinstance(value, Problem):
            self.into(value.given)
        elif isinstance(value, Partition) and (spec := value.spec()) is not None:
            self.into(spec)
        elif is_dataclass(value):
            self._each("fields", [(one.name, getattr(value, one.name, None)) for one in fields(value)])
        elif getattr(value, "__dict__", None):
            self.into(vars(value))
        else:
            self._pickled(value)

    def _pickled(self, value: Any) -> None:
        try:
            self.say("pickle", pickle.dumps(value).hex())
        except Exception:  # anything may be raised there; what it prints has its address, and is new each time
            self.say("object", repr(value))


def _names(code: CodeType) -> set[str]:
    """The global names that code uses, that of functions inside it too."""
    return set(code.co_names).union(*(_names(one) for one in code.co_consts if isinstance(one, CodeType)))


@cache
def _foreign(module: str) -> bool:
    """Whether a module is of Python, of this package or of another that is installed: then its name says enough."""
    top = module.partition(".")[0]
    if top in ("jumpnet", "builtins") or top in sys.stdlib_module_names:
        return top != "__main__"
    path = getattr(sys.modules.get(module) or sys.modules.get(top), "__file__", None) or ""
    roots = {sysconfig.get_path(kind) for kind in ("purelib", "platlib", "stdlib")}
    return bool(path) and any(path.startswith(root) for root in roots)


def _enclosed(function: FunctionType) -> list[Any]:
    """The values that a function encloses; of a name that has none yet, nothing."""
    found = []
    for cell in function.__closure__ or ():
        try:
            found.append(cell.cell_contents)
        except ValueError:
            continue
    return found
