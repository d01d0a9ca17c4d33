"""Code in README, pages and notebooks runs as a reader types it; links lead somewhere; names say what they are."""

import inspect
import json
import re
import tomllib
from pathlib import Path

import pytest

import jumpnet as jn
from jumpnet.files.opening import read_as_file

ROOT = Path(__file__).resolve().parents[1]


def blocks(path: Path) -> list[str]:
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


PAGES = [
    "README.md",
    "docs/quickstart.md",
    "docs/questions.md",
    "docs/files.md",
    "docs/exchange.md",
    "docs/studies.md",
    *(f"docs/tutorials/{name}.md" for name in ("trust", "speed", "extending")),
    *(pytest.param(f"docs/tutorials/{name}.md", marks=pytest.mark.slow) for name in ("image", "researcher")),
]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
def test_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("jumpnet.reporting.page.scene.RESOLUTION", {2: 40})  # pages are looked at in tests/reporting
    monkeypatch.setattr("jumpnet.reporting.figures.solution.RESOLUTION", {1: 100, 2: 40, 3: 20})
    monkeypatch.setattr("jumpnet.reporting.figures.canvas.DPI", 40)
    monkeypatch.setattr("jumpnet.reporting.page.page._pictures", lambda *_: iter(()))
    names: dict[str, object] = {}
    for block in blocks(ROOT / page):
        exec(compile(block, page, "exec"), names)
    solution = names["solution"]
    assert isinstance(solution, jn.Solution) and solution.status is jn.Status.CONVERGED


def test_the_examples_of_the_geometry_page_run() -> None:
    names: dict[str, object] = {}
    for block in blocks(ROOT / "docs/geometry.md"):
        exec(compile(block, "docs/geometry.md", "exec"), names)
    problem = names["problem"]
    assert isinstance(problem, jn.Problem) and problem.partition.names == ("label 0", "label 1", "grain")


OTHERS = ("direct", "elements", "judge", "method", "security")


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
def test_examples_of_pages_that_are_about_something_else_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    for block in blocks(ROOT / f"docs/{name}.md"):
        exec(compile(block, name, "exec"), names)


def test_no_page_has_code_that_is_not_run() -> None:
    run = {getattr(page, "values", (page,))[0] for page in PAGES} | {"docs/geometry.md"}
    run |= {f"docs/{name}.md" for name in OTHERS}
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    assert {str(page.relative_to(ROOT)) for page in pages if blocks(page)} == run
    for page in pages:
        for block in re.findall(r"```toml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            tomllib.loads(block)
            if "[domain]" in block:
                read_as_file(block)


def test_from_a_box_to_a_picture_takes_at_most_fifteen_lines() -> None:
    first = blocks(ROOT / "README.md")[0]
    assert "jn.Box" in first and ".plot(" in first
    assert len([line for line in first.splitlines() if line.strip()]) <= 15


@pytest.mark.parametrize("path", sorted((ROOT / "examples/notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cell by cell, in one namespace; stored without outputs, so that they cannot be out of date."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("jumpnet.reporting.page.scene.RESOLUTION", {2: 40})
    book = json.loads(path.read_text(encoding="utf-8"))
    names: dict[str, object] = {}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None
            exec(compile("".join(cell["source"]), path.name, "exec"), names)
    assert isinstance(names["solution"], jn.Solution)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as mkdocs and GitHub make them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]), ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Files and headings of the repository; addresses elsewhere are not tried, as tests need no network."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        file, _, anchor = target.partition("#")
        place = (page.parent / file).resolve() if file else page
        assert place.exists(), f"{page.name} links to {target}"
        if anchor and place.suffix == ".md" and place.name != "api.md":
            assert anchor in anchors(place), f"{page.name} links to {target}"


def test_the_gallery_shows_every_example() -> None:
    page = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    for path in (ROOT / "examples").glob("*.toml"):
        assert f"gallery/{path.stem}.png" in page, f"run python examples/gallery.py {path.stem}"
        assert (ROOT / "docs/gallery" / f"{path.stem}.png").stat().st_size > 5000


def public_objects() -> dict[str, object]:
    """Everything that users are told of: public names, their public methods, and those of the listed modules."""
    import jumpnet.reporting

    found: dict[str, object] = {}
    modules = {"jn": jn, "jn.models": jn.models, "jn.optim": jn.optim, "jn.baselines": jn.baselines,
               "jumpnet.reporting": jumpnet.reporting}  # fmt: skip
    for prefix, module in modules.items():
        for name in module.__all__:
            thing = getattr(module, name)
            found[f"{prefix}.{name}"] = thing
            # A protocol's own docstring states the contract of its members.
            mine = inspect.isclass(thing) and thing.__module__.startswith("jumpnet")
            if mine and not getattr(thing, "_is_protocol", False):
                for member, value in vars(thing).items():
                    if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                        found[f"{prefix}.{name}.{member}"] = getattr(thing, member)
    return found


def test_every_public_name_says_what_it_is() -> None:
    silent = [
        name
        for name, thing in public_objects().items()
        if (callable(thing) or isinstance(thing, property) or inspect.ismodule(thing)) and not inspect.getdoc(thing)
    ]
    assert silent == []
