"""Files to start from, their schema, folders that are allowed, labels that are missing, limits of time."""

import json
import re
import tomllib
import warnings
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator

import jumpnet as jn
from jumpnet.files.opening import read_as_file
from jumpnet.files.schema import File, json_schema, schema_text
from jumpnet.files.starting import DATA, KINDS, started

ROOT = Path(__file__).parents[2]
QUICK = ("layers", "inclusion", "cell")


def written(folder: Path, kind: str, name: str = "mine.toml") -> Path:
    for path, content in started(kind, folder / name, schema=True).items():
        path.write_bytes(content)
    return folder / name


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_to_start_from_states_a_problem(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, kind)
    text = path.read_text()
    assert text.startswith("#:schema jumpnet.schema.json\n") and text.count("#") >= 6 and "FILE" not in text
    read = jn.read_file(path)
    assert read.title and read.file.solve.tol is not None
    if kind in DATA:  # named as the file is
        assert (tmp_path / f"mine{Path(DATA[kind]).suffix}").exists() and DATA[kind] not in text


@pytest.mark.parametrize(
    "kind",
    [kind if kind in QUICK else pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS if kind != "stl"],
)
def test_a_file_to_start_from_is_solved(kind: str, tmp_path: Path) -> None:
    read = jn.read_file(written(tmp_path, kind))
    solution = read.solve()
    assert solution.status is jn.Status.CONVERGED
    if kind == "layers":  # resistances in series
        series = 0.02 / 0.7 + 0.24 / 0.5 + 0.05 + 0.14 / 0.035 + 1 / 25
        assert read.quantities(solution)["heat lost outside"].value == pytest.approx(25 / series, rel=1e-9)


@pytest.mark.slow
def test_a_file_can_be_written_for_ones_own_data(tmp_path: Path) -> None:
    """Regions that tile, regions in one another, labels, a body: each is a problem that can be stated at once."""
    tiles = '<rect id="a" width="2" height="1"/><rect id="b &quot;" x="2" width="1" height="2"/>'
    (tmp_path / "tiles.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 3 2">{tiles}</svg>')
    np.save(tmp_path / "labels.npy", np.repeat([[3, 7]], 12, axis=0).repeat(6, axis=1))
    for kind in ("drawing", "stl"):
        for path, content in started(kind, tmp_path / f"{kind}.toml").items():
            path.write_bytes(content)
    pieces = {
        "tiles.svg": ("a", 'b "'),
        "labels.npy": ("label 3", "label 7"),
        "drawing.svg": ("floor", "insulation", "pipe"),
        "stl.stl": ("surroundings", "body"),
    }
    for data, names in pieces.items():
        for path, content in started(str(tmp_path / data), tmp_path / "own.toml").items():
            path.write_bytes(content)
        assert jn.read_file(tmp_path / "own.toml").problem.partition.names == names
    with pytest.raises(jn.ProblemError, match=r"the data file is 'x\.pdf'; one of these is wanted: \.svg"):
        started(str(tmp_path / "x.pdf"), tmp_path / "own.toml")
    with pytest.raises(jn.ProblemError, match="in the same folder"):
        started(str(tmp_path / "tiles.svg"), tmp_path.parent / "own.toml")


def test_a_file_for_a_drawing_of_regions_over_one_another_and_for_a_noisy_image(tmp_path: Path) -> None:
    """As people draw: steel, a slot liner over it, copper over that, a frame that is drawn after what it holds."""
    body = '<rect id="steel" width="9" height="9"/><path id="liner" d="M2 9 C2 3 7 3 7 9 Z"/>'
    body += '<path id="copper" d="M3 8 C3 4 6 4 6 8 Z"/><circle id="hole" cx="1.5" cy="2" r=".3"/>'
    body += '<circle id="ring" cx="1.5" cy="2" r=".6"/>'
    (tmp_path / "slot.svg").write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">{body}</svg>')
    labels = np.zeros((30, 40), np.uint8)
    labels[:, 14:], labels[10:20, 5:9] = 200, 90
    labels[3, 3], labels[25, 30] = 17, 255
    np.save(tmp_path / "rock.npy", labels)
    np.save(tmp_path / "scan.npy", 900 + 5.0 * labels + np.random.default_rng(0).normal(0, 50, labels.shape))
    for data, names in {
        "slot.svg": ("steel", "liner", "copper", "hole", "ring"),
        "rock.npy": ("label 200", "label 0", "label 90"),
        "scan.npy": ("label 1", "label 0"),
    }.items():
        ((path, content),) = started(str(tmp_path / data), tmp_path / "own.toml").items()
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", jn.JumpnetWarning)
            parts = jn.read_file(path).problem.partition
        assert parts.names == names
        assert data != "rock.npy" or "17, 255" in path.read_text()
    assert "Otsu" in (tmp_path / "own.toml").read_text()
    with pytest.raises(jn.ProblemError, match="JPEG mixes neighbouring labels"):
        started(str(tmp_path / "x.jpg"), tmp_path / "own.toml")


def test_a_drawing_is_read_once(tmp_path: Path) -> None:
    """Its warnings come once, and twenty regions do not take twenty times as long."""
    body = '<rect id="a" width="9" height="9"/><g mask="url(#m)"><rect id="b" x="2" y="2" width="2" height="2"/></g>'
    (tmp_path / "a.svg").write_text(f'<svg viewBox="0 0 9 9">{body}<circle id="c" cx="6" cy="6" r="1"/></svg>')
    region = 'kind = "svg", file = "a.svg"'
    text = f'domain = {{ {region}, name = "a" }}\n[background]\nA = 1\n[boundary.rest]\nkind = "dirichlet"\n'
    text += "".join(f'[pieces.{name}]\nshape = {{ {region}, name = "{name}" }}\nA = 2\n' for name in "bc")
    with pytest.warns(jn.JumpnetWarning) as caught:
        assert read_as_file(text, folder=tmp_path).problem.partition.size == 3
    assert len(caught) == 1


@pytest.mark.parametrize("kind", ["svg", "geojson"])
def test_a_drawing_in_another_unit(kind: str, tmp_path: Path) -> None:
    square = [[[0, 0], [40, 0], [40, 20], [0, 20], [0, 0]]]
    drawings = {
        "svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 40 20"><rect width="40" height="20"/></svg>',
        "geojson": json.dumps({"type": "Polygon", "coordinates": square}),
    }
    (tmp_path / f"a.{kind}").write_text(drawings[kind])
    read = read_as_file(
        f'[domain]\nkind = "{kind}"\nfile = "a.{kind}"\nscale = 1e-3\n[background]\nA = 1\n'
        '[boundary.rest]\nkind = "dirichlet"\n',
        folder=tmp_path,
    )
    assert np.ptp(read.problem.partition.domain.bounds, axis=0) == pytest.approx([0.04, 0.02])


def test_the_schema_accepts_what_is_read_and_refuses_what_is_not() -> None:
    Draft202012Validator.check_schema(json_schema())
    check = Draft202012Validator(json_schema())
    templates = ROOT.glob("src/jumpnet/files/templates/*.toml")
    for path in [*ROOT.glob("examples/*.toml"), *ROOT.glob("benchmarks/users/*.toml"), *templates]:
        assert list(check.iter_errors(tomllib.loads(path.read_text()))) == [], path.name
    plate = tomllib.loads((ROOT / "src/jumpnet/files/templates/inclusion.toml").read_text())
    for table, entry in {
        "solve": {"tolerance": 1e-3},
        "domain": {"kind": "bax", "lower": [0], "upper": [1]},
        "boundary": {"rest": {"kind": "robin"}},
        "quantities": {"m": {"kind": "mean", "over": 3}},
    }.items():
        assert list(check.iter_errors(plate | {table: entry})), table


def test_the_schema_of_the_documentation_is_that_of_the_reader() -> None:
    page = (ROOT / "docs/problem-file.schema.json").read_text(encoding="utf-8")
    assert page == schema_text(), "jumpnet check --schema > docs/problem-file.schema.json"
    assert json.loads(page)["title"] == "File"


def test_the_page_about_files_names_every_key() -> None:
    page = (ROOT / "docs/files.md").read_text(encoding="utf-8")
    rows = "\n".join(line for line in page.splitlines() if line.startswith("|"))
    words = set(re.findall(r"[\w-]+", rows))
    for table in (schema := json_schema())["$defs"].values():
        assert set(table.get("properties", {})) <= words | {"kind"}, table["title"]
    assert set(schema["properties"]) <= words and set(File.model_fields) == set(schema["properties"])


def test_data_in_other_folders_are_read_where_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "files").mkdir()
    path = written(tmp_path / "files", "drawing")
    (tmp_path / "files/mine.svg").rename(tmp_path / "data/mine.svg")
    with pytest.raises(jn.GeometryError, match=r"domain: .*mine\.svg"):
        jn.read_file(path)
    assert jn.read_problem(path, allow=[tmp_path / "data"]).partition.size == 3
    path.write_text(path.read_text().replace('"mine.svg"', '"../data/mine.svg"'))
    with pytest.raises(jn.GeometryError, match=r"domain\.file is .* or in one that you allow: --allow DIR"):
        jn.read_file(path)
    with pytest.raises(jn.GeometryError, match="allow"):
        jn.read_file(path, allow=[tmp_path / "files"])
    assert jn.read_file(path, allow=[tmp_path / "data"]).problem.partition.size == 3
    with pytest.raises(jn.ProblemError, match="no folder"):
        jn.read_file(path, allow=[tmp_path / "nowhere"])


def test_all_labels_without_a_piece_are_named(tmp_path: Path) -> None:
    labels = np.zeros((20, 20), np.uint8)
    for k, label in enumerate((1, 7, 9)):
        labels[2:12, 1 + 6 * k : 6 + 6 * k] = label
    np.save(tmp_path / "mine.npy", labels)
    text = (written(tmp_path, "image")).read_text().replace("mine.png", "mine.npy").replace("label = 255", "label = 7")
    with pytest.raises(jn.ProblemError, match=r"has the labels 1, 9 \(2 of them\), .*labels = \[1, 9\]"):
        read_as_file(text, folder=tmp_path)
    more = "[pieces.more]\nlabel = 9\nA = 2.0\n[boundary]"
    with pytest.raises(jn.ProblemError, match=r"has the label 1, which no piece has; .*label = 1"):
        read_as_file(text.replace("[boundary]", more), folder=tmp_path)


def test_settings_of_a_file_are_those_of_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "src/jumpnet/files/templates/layers.toml").read_text()
    text = text.replace("tol = 1e-8", 'tol = 1e-5\natol = 1e-9\ntime_limit = 7\nmethod = "fem"')
    given: dict[str, object] = {}
    monkeypatch.setattr("jumpnet.files.problemfile.solve", lambda problem, **options: given.update(options))
    read = read_as_file(text)
    read.solve()
    assert (given["tol"], given["atol"], given["time_limit"], given["method"]) == (1e-5, 1e-9, 7.0, jn.FEM())
    read.with_settings(tol=1e-2, time_limit=3.0, seed=None).solve()
    assert (given["tol"], given["time_limit"], given["seed"]) == (1e-2, 3.0, 0)
    for wrong in ("-1", "0", "inf"):
        with pytest.raises(jn.ProblemError, match=r"solve\.time_limit"):
            read_as_file(text.replace("time_limit = 7", f"time_limit = {wrong}"))
