"""Commands run in this process, in an empty directory, with short trainings."""

import pytest
from typer.testing import CliRunner, Result

from jumpnet.cli.app import app


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def coarse_figures(monkeypatch):
    """Fine grids take seconds; the figures themselves are looked at in tests/reporting."""
    monkeypatch.setattr("jumpnet.reporting.figures.solution.RESOLUTION", {1: 100, 2: 40, 3: 20})
    monkeypatch.setattr("jumpnet.reporting.page.scene.RESOLUTION", {1: 100, 2: 30, 3: 16})
    monkeypatch.setattr("jumpnet.reporting.figures.canvas.DPI", 40)
    monkeypatch.setattr("jumpnet.reporting.page.page._pictures", lambda *_: iter(()))


@pytest.fixture
def blank_images(monkeypatch):
    """Files of figures without the figures, which take long to lay out; tests/reporting looks at them."""
    blank = b"\x89PNG\r\n\x1a\n" + bytes(2000)
    for module in ("figures.canvas", "page.page"):
        monkeypatch.setattr(f"jumpnet.reporting.{module}.image", lambda figure, kind="png", finer=1.0: blank)


@pytest.fixture
def jumpnet():
    """The command: jumpnet("demo", "-o", "out")."""

    def run(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments))

    return run


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """The file of a solution that was trained for a few steps."""
    import warnings

    import jumpnet as jn

    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.JumpnetWarning)
        solution = jn.solve(
            jn.manufactured(parts, u=["x1*x2", "1 + x1"]),
            verify=False,
            method=jn.Network(
                jn.models.CategoricalEmbedding(neurons=10),
                optimizer=jn.optim.LevenbergMarquardt(steps=20),
                points=(80, 30, 30),
                charts="box",
            ),
        )
    path = tmp_path_factory.mktemp("saved") / "disk.jumpnet"
    solution.save(path)
    return path
