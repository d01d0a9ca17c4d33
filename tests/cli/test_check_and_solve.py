"""`jumpnet check` and `jumpnet solve`: what they print, what they write, and how they leave."""

import json
from pathlib import Path

import pytest

import jumpnet as jn
from jumpnet.files.outputs import listed_quantities

EXAMPLES = Path(__file__).parents[2] / "examples"
WALL = str(EXAMPLES / "wall.toml")


def test_check_says_what_it_understood(jumpnet, elsewhere):
    result = jumpnet("check", WALL, "--picture", "wall.png", "--set", "film=2")
    assert result.exit_code == 0, result.output
    for word in ("brick", "foam", "contrast 20", "dirichlet", "film = 2", "heat lost (flux)", "1-2", "wall.png"):
        assert word in result.stdout
    assert (elsewhere / "wall.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("chip-stack", "contact    die - solder, resistance 20"),
        ("wells", "source     50 at [-50.0, -20.0] in sand"),
        ("wells", "mean       20"),
        ("composite", "x1-       periodic"),
    ],
)
def test_check_tells_of_contacts_sources_and_periodic_sides(jumpnet, name, words):
    assert words in jumpnet("check", str(EXAMPLES / f"{name}.toml")).stdout


def test_check_for_scripts(jumpnet):
    found = json.loads(jumpnet("check", WALL, "--json").stdout)
    assert found["dimensions"] == 1 and len(found["interfaces"]) == 3
    assert json.loads(jumpnet("check", "--schema").stdout)["title"] == "File"


def test_what_is_read_is_not_written_over(jumpnet, elsewhere):
    """The picture of scan.toml is scan.png, which may be the image that it names."""
    assert jumpnet("new", "image", "scan.toml").exit_code == 0
    before = (elsewhere / "scan.png").read_bytes()
    for arguments in (("solve", "scan.toml", "-o", "."), ("check", "scan.toml", "--picture", "scan.png")):
        result = jumpnet(*arguments)
        assert result.exit_code == 2 and "would be written over" in result.output
    assert (elsewhere / "scan.png").read_bytes() == before
    result = jumpnet("solve", "scan.toml", "-o", "scan.png")
    assert result.exit_code == 2 and "not a directory" in result.output


def test_files_of_windows(jumpnet, elsewhere):
    (elsewhere / "wall.toml").write_bytes(b"\xef\xbb\xbf" + Path(WALL).read_bytes().replace(b"\n", b"\r\n"))
    assert jumpnet("check", "wall.toml").exit_code == 0


def test_solve_writes_everything(jumpnet, elsewhere):
    result = jumpnet("solve", WALL, "-o", "out")
    assert result.exit_code == 0, result.output
    assert {path.name for path in (elsewhere / "out").iterdir()} == {
        "wall.jumpnet", "wall.png", "wall.csv", "domain.png", "report.txt", "report.html", "quantities.json",
        "probes.csv",
    }  # fmt: skip
    assert "heat lost" in result.stdout and "flux balance" in result.stdout
    found = json.loads((elsewhere / "out/quantities.json").read_text())
    assert found["converged"] and found["balances"]["domain"]["defect"] < 1e-12
    assert len((elsewhere / "out/probes.csv").read_text().splitlines()) == 82
    assert jn.load("out/wall.jumpnet").status is jn.Status.CONVERGED


def test_solve_for_scripts(jumpnet):
    result = jumpnet("-q", "solve", WALL, "--set", "film=0", "--set", "step=0", "--json")
    assert result.exit_code == 0 and result.stderr == ""
    lost = json.loads(result.stdout)["quantities"]["heat lost"]["value"]
    assert lost == pytest.approx(-25 / (0.04 / 0.7 + 0.24 / 0.5 + 0.12 / 0.035), rel=1e-9)


def test_quantities_have_the_errors_that_were_judged(jumpnet, elsewhere, monkeypatch):
    """An answer that is off on purpose: every number of it is within its error of the right one."""
    from jumpnet.files.problemfile import ProblemFile

    text = Path(WALL).read_text()
    for name, more in {"mean": "", "integral": 'over = "foam"', "energy": ""}.items():
        text += f'\n[quantities."{name}"]\nkind = "{name}"\n{more}\n'
    (elsewhere / "wall.toml").write_text(text)
    right = json.loads(jumpnet("-q", "solve", "wall.toml", "--json").stdout)
    assert right["alarm"] is None and right["quantities"]["mean"]["error"] < 1e-9 and right["judged"]["decided"]
    solve = ProblemFile.solve

    def off(read, **options):
        other = jn.files.read_file("wall.toml", {"film": 3.0})
        found = solve(other, **options).with_problem(read.problem)
        return found.with_diagnostics(verdict=jn.judge(found), status=jn.Status.REFUTED)

    monkeypatch.setattr(ProblemFile, "solve", off)
    result = jumpnet("-q", "solve", "wall.toml", "-o", "out")
    assert result.exit_code == 1 and result.stdout.startswith("Not converged: the error that was solved for")
    assert "quantities, with their errors" in result.stdout and "judged     error" in result.stdout
    found = json.loads((elsewhere / "out/quantities.json").read_text())
    assert found["judged"]["decided"] and found["alarm"].startswith("Not converged")
    for name, of in found["quantities"].items():
        lacking = abs(of["value"] - right["quantities"][name]["value"])
        assert of["error"] == pytest.approx(max(2 * lacking, of["quadrature error"]), rel=1e-4, abs=1e-7)
    assert (elsewhere / "out/probes.csv").read_text().splitlines()[0].endswith(",error")


def test_an_error_of_the_quadrature_alone_is_said_to_be_that():
    of = {"value": 1.25, "error": None, "quadrature error": 1e-15, "resolution error": None}
    first, last = listed_quantities({"quantities": {"heat": of}})
    assert "± 1.0e-15 of the quadrature alone" in first and 'verify = "always" solves for it' in last
    assert listed_quantities({"quantities": {"heat": of | {"error": 1e-6}}}) == ["  heat  1.2500000  (± 1.0e-06)"]


def test_no_number_is_known_better_than_to_rounding(jumpnet, elsewhere):
    found = json.loads(jumpnet("-q", "solve", WALL, "--json").stdout)["quantities"]
    found = {name: (of["value"], of["error"]) for name, of in found.items()}
    table = jn.sweep(jn.read_file(WALL), {"film": [8.0]})
    found |= {name: (table.values[name][0], table.errors[name][0]) for name in table.values}
    for value, error in found.values():
        assert 1e-15 * abs(value) < error < 1e-6 * abs(value)


def test_not_converged_is_code_1(jumpnet, elsewhere):
    text = (EXAMPLES / "fin.toml").read_text() + '\n[solve]\nmethod = "train"\nneurons = 5\nsteps = 2\n'
    (elsewhere / "fin.toml").write_text(text)
    result = jumpnet("solve", "fin.toml")
    assert result.exit_code == 1 and "step_limit" in result.stdout


@pytest.mark.parametrize(
    "arguments, word",
    [
        (("check", "nothing.toml"), "there is no file"),
        (("check",), "give the problem file"),
        (("solve", "."), "cannot be read"),
        (("check", WALL, "--set", "film"), "NAME=NUMBER"),
        (("check", WALL, "--set", "filn=2"), "constants.filn is not in the file"),
        (("solve", WALL, "-o", WALL), "not a directory"),
    ],
)
def test_bad_input_is_code_2_and_one_line(jumpnet, arguments, word):
    result = jumpnet(*arguments)
    assert result.exit_code == 2 and result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert word in line


def test_a_surface_with_a_hole_is_code_2_with_the_place(jumpnet, elsewhere):
    pytest.importorskip("trimesh")
    lines = [f"v {x} {y} {z}" for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    lines += ["f 1 2 4", "f 1 4 3", "f 5 7 8", "f 5 8 6", "f 1 5 6", "f 1 6 2"]
    (elsewhere / "body.obj").write_text("\n".join(lines) + "\n")
    (elsewhere / "a.toml").write_text(
        '[domain]\nkind = "box"\nlower = [-1, -1, -1]\nupper = [1, 1, 1]\n[background]\nname = "air"\nA = 1.0\n'
        '[pieces.body]\nshape = { kind = "mesh", file = "body.obj" }\nA = 2.0\n'
        '[boundary]\nrest = { kind = "dirichlet", g = 0.0 }\n'
    )
    result = jumpnet("solve", "a.toml")
    assert result.exit_code == 2 and result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert "not closed" in line and "near (" in line


def test_new_writes_a_file_that_check_reads_and_overwrites_nothing(jumpnet, elsewhere):
    assert "drawing" in jumpnet("new").stdout
    result = jumpnet("new", "drawing", "floor.toml", "--schema")
    assert result.exit_code == 0 and "jumpnet solve floor.toml -o out" in result.stdout
    assert {path.name for path in elsewhere.iterdir()} == {"floor.toml", "floor.svg", "jumpnet.schema.json"}
    assert "insulation" in jumpnet("check", "floor.toml").stdout
    for arguments, words in {
        ("drawing", "floor.toml"): "'floor.toml' already",
        ("drowing",): "did you mean 'drawing'",
        ("image", "a.txt"): "ends in .toml",
    }.items():
        again = jumpnet("new", *arguments)
        assert again.exit_code == 2 and words in again.stderr
    (elsewhere / "data").mkdir()
    (elsewhere / "floor.svg").rename(elsewhere / "data/floor.svg")
    assert jumpnet("check", "floor.toml").exit_code == 2
    assert jumpnet("check", "floor.toml", "--allow", "data").exit_code == 0


def test_limits_are_given_on_the_command_line(jumpnet, monkeypatch):
    from jumpnet.files.problemfile import ProblemFile

    seen, solve = [], ProblemFile.solve

    def noted(read, **options):
        seen.append((read.tol, read.file.solve.time_limit, read.file.solve.seed))
        return solve(read, **options)

    monkeypatch.setattr(ProblemFile, "solve", noted)
    assert jumpnet("-q", "solve", WALL, "--time-limit", "20", "--tol", "1e-4", "--seed", "3").exit_code == 0
    assert jumpnet("-q", "solve", WALL).exit_code == 0
    assert seen == [(1e-4, 20.0, 3), (1e-6, None, 0)]
    for wrong in (("--time-limit", "-1"), ("--time-limit", "soon"), ("--tol", "3")):
        assert jumpnet("solve", WALL, *wrong).exit_code == 2
