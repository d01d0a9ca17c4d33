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
        from difflib import get_close_matches

        near = get_close_matches(name, public.__all__, n=1, cutoff=0.75) if name[0] != "_" else []
        instead = NEAR.get(name) or "".join(f"jn.{one}" for one in near)
        hint = f"; {instead} is meant, perhaps" if instead else ""
        raise AttributeError(f"module 'jumpnet' has no attribute {name!r}{hint}")

    # What people look for under another name.
    NEAR = {
        "Circle": "jn.Disk", "Sphere": "jn.Ball", "Rectangle": "jn.Box", "Square": "jn.Box", "Cube": "jn.Box",
        "Domain": "jn.Partition", "Geometry": "jn.Partition", "from_svg": "jn.shapes.from_svg",
        "from_stl": "jn.shapes.from_mesh", "from_mesh": "jn.shapes.from_mesh", "from_image": "jn.Partition.from_labels",
        "from_labels": "jn.Partition.from_labels", "DirichletBC": "jn.Dirichlet", "NeumannBC": "jn.Neumann",
        "Trainer": "jn.Network", "train": "jn.solve(problem, method=jn.Network(...))", "read": "jn.read_file",
        "plot_history": "jumpnet.reporting.plot_history",
    }  # fmt: skip

    def __dir__() -> list[str]:
        from importlib import import_module

        return sorted({*globals(), *import_module("jumpnet._public").__all__})


__version__ = "0.2.0"
