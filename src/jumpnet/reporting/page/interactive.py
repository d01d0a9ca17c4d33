"""The part of a report that answers to mouse, touch and keys: maps and lines with probes, in plain JavaScript."""

from jumpnet.reporting.assets import asset
from jumpnet.reporting.page.escaping import escape
from jumpnet.reporting.page.scene import scene
from jumpnet.solution import Solution

SCRIPTS = ("data.js", "views.js", "controls.js")  # in the order in which they use each other


def script() -> str:
    """The code of the page, in one element; without a viewer on the page it only makes the copy buttons work."""
    return "<script>" + "\n".join(asset(name) for name in SCRIPTS) + "</script>"


def viewer(solution: Solution, resolution: int | None = None) -> str:
    """The viewer and its data."""
    text, arrays = scene(solution, resolution)
    return (
        _controls(solution.dim)
        + f'<script type="application/json" id="scene">{text}</script>\n'
        + f'<script type="text/plain" id="arrays">{arrays}</script>'
    )


def _controls(dim: int) -> str:
    words = "The solution on a line" if dim == 1 else "A map of the solution"
    label = f"{words}. Arrow keys move the cursor, Enter probes, n goes along the interfaces, plus and minus zoom."
    return asset("viewer.html").replace("{label}", escape(label))
