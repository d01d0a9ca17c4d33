"""jumpnet: elliptic interface problems by Trefftz functions, finite elements or networks that are allowed to jump.

The public names are those of `_public`; see the documentation for a tour. They are loaded when the first of them is
used, so that `jumpnet --help` does not wait for JAX.
"""

TYPE_CHECKING = False  # as type checkers know it; importing `typing` takes longer than all of this
if TYPE_CHECKING:
    from jumpnet._public import *  # noqa: F403
else:

    def __getattr__(name: str) -> object:
        from importlib import import_module

        public = import_module("jumpnet._public")
        if name == "__all__" or name in public.__all__:
            return getattr(public, name)
        raise AttributeError(f"module 'jumpnet' has no attribute {name!r}")

    def __dir__() -> list[str]:
        from importlib import import_module

        return sorted({*globals(), *import_module("jumpnet._public").__all__})


__version__ = "0.2.0"
