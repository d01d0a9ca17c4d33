"""Solve every example of this folder and write the page that shows them: docs/gallery.md and docs/gallery/.

    python examples/gallery.py [NAME ...]

With names, only these are solved again; the page always lists all. `sink` is the picture of the README, the file of
`jumpnet new sink`: docs/images/heat-sink.png.
"""

import sys
import tempfile
from pathlib import Path

from jumpnet.files import read_file
from jumpnet.files.starting import started
from jumpnet.reporting import plot_cuts, plot_jumps, plot_solution, plot_streamlines
from jumpnet.reporting.figures.canvas import image

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
    print(f"{name}: {solution.status.name.lower()}, {solution.diagnostics.seconds:.1f} s")


def draw_sink() -> None:
    """Solve the heat sink and draw the picture of the README: temperature and judged error."""
    with tempfile.TemporaryDirectory() as folder:
        for path, content in started("sink", Path(folder) / "sink.toml").items():
            path.write_bytes(content)
        read = read_file(Path(folder) / "sink.toml")
        solution = read.solve(progress=False)
    title = "Temperature above the air (K), and its error as judged; lengths in mm"
    figure = plot_solution(solution, what=("u", "judged"), title=title)
    (DOCS / "images" / "heat-sink.png").write_bytes(image(figure))
    print(f"sink: {solution.status.name.lower()}, {solution.diagnostics.seconds:.1f} s")


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
    for chosen in sys.argv[1:] or [*names(), "sink"]:
        draw_sink() if chosen == "sink" else draw(chosen)
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
