"""Solve every example of this folder and write the page that shows them: docs/gallery.md and docs/gallery/.

    python examples/gallery.py [NAME ...]

With names, only these are solved again; the page always lists all.
"""

import sys
from pathlib import Path

from jumpnet.files import read_file
from jumpnet.reporting import plot_cuts, plot_jumps, plot_solution, plot_streamlines
from jumpnet.reporting.canvas import image

HERE = Path(__file__).resolve().parent
DOCS = HERE.parent / "docs"
# What shows an example best; the solution itself for all others.
SHOWN = {
    "body": plot_cuts,
    "charge": plot_streamlines,
    "chip-stack": plot_streamlines,
    "fibres": plot_streamlines,
    "sphere": plot_cuts,
    "star": plot_jumps,
    "wells": plot_streamlines,
}


def names() -> list[str]:
    """All examples, in order."""
    return sorted(path.stem for path in HERE.glob("*.toml"))


def draw(name: str) -> None:
    """Solve an example and draw it."""
    read = read_file(HERE / f"{name}.toml")
    solution = read.solve(progress=False)
    figure = SHOWN[name](solution) if name in SHOWN else plot_solution(solution, what="u")
    (DOCS / "gallery").mkdir(exist_ok=True)
    (DOCS / "gallery" / f"{name}.png").write_bytes(image(figure))
    print(f"{name}: {solution.status.name.lower()}, {solution.settings['seconds']:.1f} s")


def page() -> str:
    """The page: a picture, the text and the command of each example."""
    parts = [
        "# Gallery\n\nEvery problem file of `examples/`, solved and drawn by `python examples/gallery.py`. Each is "
        "solved by the tests too, and compared with what is known about it."
    ]
    for name in names():
        read = read_file(HERE / f"{name}.toml")
        about = " ".join((read.file.about or "").split())
        lines = [f"## {read.title}", about, f"![{read.title}](gallery/{name}.png)"]
        parts.append(
            "\n\n".join(line for line in lines if line) + f"\n\n```\njumpnet solve examples/{name}.toml -o out\n```"
        )
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    for chosen in sys.argv[1:] or names():
        draw(chosen)
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
