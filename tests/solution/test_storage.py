"""Saved solutions: bit for bit the same without the problem's code, and one sentence for every file that is none."""

import contextlib
import json
import math
import os
import pickle
import shutil
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import jumpnet as jn
from jumpnet.engines.fem.solutions import finite_element_solution
from jumpnet.fe.features import FieldFunction
from jumpnet.fe.field import Field
from jumpnet.fe.mesh import from_corners
from jumpnet.fe.simplex import lagrange
from jumpnet.optim import Status
from jumpnet.solution import Diagnostics, MeshSize

X = np.random.default_rng(0).uniform(-1, 1, (40, 2))
X_ON = np.array([0.2, 0.1]) + 0.4 * np.c_[np.cos(np.arange(5.0)), np.sin(np.arange(5.0))]

READER = """
import sys
import numpy as np
import jumpnet as jn
solution = jn.load(sys.argv[1])
x, on = np.load(sys.argv[2]), np.load(sys.argv[3])
np.savez(sys.argv[4], u=solution(x), grad=solution.grad(x), flux=solution.flux(x), side=solution.side(on, 1),
         jump=solution.jump(on), flux_jump=solution.flux_jump(on), theta=solution.theta, loss=solution.history.loss)
"""


def short_solve(problem: jn.Problem, **options: Any) -> jn.Solution:
    chosen: dict[str, Any] = {"model": jn.models.CategoricalEmbedding(neurons=10), "points": (60, 20, 20)} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.JumpnetWarning)
        network = jn.Network(optimizer=jn.optim.LevenbergMarquardt(steps=3), **chosen)
        return jn.solve(problem, method=network, verify=False)


@pytest.fixture()
def saved(disk: jn.Solution, tmp_path: Path) -> Path:
    path = tmp_path / "a.jumpnet"
    disk.save(path)
    return path


def test_a_loaded_solution_evaluates_bit_for_bit(disk: jn.Solution, saved: Path) -> None:
    again = jn.load(saved)
    assert np.array_equal(again(X), disk(X)) and np.array_equal(again.flux(X), disk.flux(X))
    assert np.array_equal(again.theta, disk.theta) and again.theta.dtype == np.float64
    assert again.status is disk.status and again.loss == disk.loss and again.steps == disk.steps
    assert again.held_out == disk.held_out and again.seed == disk.seed and again.statement.missing == ()
    assert again.errors() == disk.errors()
    for column in ("step", "loss", "loss_of_term", "damping", "step_norm", "seconds"):
        assert np.array_equal(getattr(again.history, column), getattr(disk.history, column))
    assert str(again.report()) == str(disk.report())


def test_what_the_judge_found_is_saved_in_numbers(disk: jn.Solution, tmp_path: Path) -> None:
    judged = disk.with_diagnostics(verdict=jn.judge(disk))
    judged.save(tmp_path / "judged.jumpnet")
    again = jn.load(tmp_path / "judged.jumpnet")
    assert again.judged == judged.judged and again.judged is not None and again.judged.rms > 0
    assert str(again.report()) == str(judged.report())
    assert again.verdict is None  # its field is not in the file
    again.save(tmp_path / "twice.jumpnet")
    assert jn.load(tmp_path / "twice.jumpnet").judged == judged.judged


def test_in_a_fresh_process_that_never_saw_the_problem(disk: jn.Solution, saved: Path, tmp_path: Path) -> None:
    script, x, on, out = (tmp_path / name for name in ("read.py", "x.npy", "on.npy", "out.npz"))
    script.write_text(READER)
    np.save(x, X)
    np.save(on, X_ON)
    done = subprocess.run([sys.executable, script, saved, x, on, out], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with np.load(out) as there:
        for name, here in {
            "u": disk(X),
            "grad": disk.grad(X),
            "flux": disk.flux(X),
            "side": disk.side(X_ON, 1),
            "jump": disk.jump(X_ON),
            "flux_jump": disk.flux_jump(X_ON),
            "theta": disk.theta,
            "loss": disk.history.loss,
        }.items():
            assert np.array_equal(there[name], here), name


def test_saving_again_gives_the_same_file(saved: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.jumpnet"
    jn.load(saved).save(other)
    assert other.read_bytes() == saved.read_bytes()


@pytest.mark.parametrize(
    "model",
    [
        jn.models.ScalarEncoding(neurons=6),
        jn.models.OneHot(neurons=6),
        jn.models.CategoricalEmbedding(2, 6, squash="tanh"),
        jn.models.Separate(neurons=4),
        jn.models.Deep(widths=(4, 4), residual=True),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_model_comes_back(model: Any, disk: jn.Solution, tmp_path: Path) -> None:
    """With random parameters in place of trained ones."""
    network = model.network(disk.network.inputs, disk.network.cells)
    solution = replace(
        disk,
        representation=replace(disk.representation, network=network, theta=network.initial(np.random.default_rng(0))),
    )
    solution.save(tmp_path / "a")
    again = jn.load(tmp_path / "a")
    assert again.network == solution.network
    assert np.array_equal(again(X), solution(X))


def test_an_approximation_comes_back(tmp_path: Path) -> None:
    parts = jn.Partition.chain([0.0, 0.5, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.JumpnetWarning)
        solution = jn.approximate(
            parts,
            ["x", "x**2"],
            method=jn.Network(
                jn.models.CategoricalEmbedding(neurons=5),
                points=(40, 2, 0),
                optimizer=jn.optim.LevenbergMarquardt(steps=3),
            ),
        )
    solution.save(tmp_path / "a")
    again = jn.load(tmp_path / "a")
    x = np.linspace(0, 1, 7)
    assert np.array_equal(again(x), solution(x)) and again.errors() == solution.errors()
    with pytest.raises(jn.SolutionError, match="not known"):
        again.flux(x)


# --- what cannot be stored -------------------------------------------------------------------------------------------


def test_a_callable_coefficient_is_said_to_be_missing(tmp_path: Path) -> None:
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)])
    problem = jn.Problem(parts, A=[1.0, lambda x: 2.0 + x[:, 0] ** 2], boundary=jn.Dirichlet("x1"))
    solution = short_solve(problem)
    solution.save(tmp_path / "a")
    again = jn.load(tmp_path / "a")
    assert again.statement.missing and any("A" in name for name in again.statement.missing)
    assert again.problem is None
    assert np.array_equal(again(X), solution(X)), "values need no coefficients, and the geometry was stored"
    assert np.array_equal(again.flux(X, 0), solution.flux(X, 0))
    with pytest.raises(jn.SolutionError, match="piece 1"):
        again.flux(X, 1)
    restored = again.with_problem(problem)
    assert restored.statement.missing == () and np.array_equal(restored.flux(X), solution.flux(X))


def test_a_callable_geometry_needs_the_piece(tmp_path: Path) -> None:
    phi = jn.LevelSet(lambda x: x[:, 0] ** 2 + x[:, 1] ** 2 - 0.25, bounds=((-0.6, -0.6), (0.6, 0.6)))
    problem = jn.Problem(jn.Partition(jn.Box((-1, -1), (1, 1)), [phi]), A=[1.0, 5.0], boundary=jn.Dirichlet("x1"))
    solution = short_solve(problem)
    solution.save(tmp_path / "a")
    again = jn.load(tmp_path / "a")
    assert again.partition is None and again.statement.missing
    for question in (again, again.jump, again.flux_jump, again.grad):
        with pytest.raises(jn.SolutionError, match="piece"):
            question(X)
    assert np.array_equal(again(X, piece=0), solution(X, piece=0))
    assert np.array_equal(again.side(X, 1), solution.side(X, 1))
    again.save(tmp_path / "b")
    assert jn.load(tmp_path / "b").statement.missing == again.statement.missing
    assert np.array_equal(again.with_problem(problem)(X), solution(X))


def test_another_problem_is_not_taken_for_the_same(disk: jn.Solution) -> None:
    with pytest.raises(jn.SolutionError, match="pieces"):
        disk.with_problem(jn.Problem(jn.Partition.chain([0.0, 1.0])))


# --- files that are not solutions ------------------------------------------------------------------------------------


def refusal(path: Path) -> str:
    with pytest.raises(jn.SolutionError) as refused:
        jn.load(path)
    text = str(refused.value)
    assert "\n" not in text and len(text) < 400
    return text


def header_of(path: Path) -> dict[str, Any]:
    from safetensors import safe_open

    with safe_open(path, framework="np") as file:
        return json.loads(file.metadata()["jumpnet"])


def rewritten(path: Path, header: Any, **tensors: np.ndarray) -> Path:
    save_file(load_file(path) | tensors, path, metadata={"jumpnet": json.dumps(header)})
    return path


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "no file" in refusal(tmp_path / "none.jumpnet")


@pytest.mark.parametrize("content", [b"", b"hello", b"\x00" * 100, b"\xff" * 1000, b'{"a": 1}'], ids=repr)
def test_a_foreign_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    refusal(path)


def test_a_folder(tmp_path: Path) -> None:
    refusal(tmp_path)


def test_other_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    save_file({"w": np.zeros(3)}, path)
    assert "not a jumpnet solution" in refusal(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file(saved: Path, share: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    refusal(saved)


@pytest.mark.parametrize(
    "entry", ["format", "dim", "network", "charts", "partition", "tensors", "status", "history", "settings", "exact"]
)
def test_a_description_with_something_missing(saved: Path, entry: str) -> None:
    header = header_of(saved)
    if header.pop(entry, None) is None and entry == "history":
        header.pop("terms")
    refusal(rewritten(saved, header))


@pytest.mark.parametrize(
    "change",
    [
        {"format": 99},
        {"network": {"network": "transformer"}},
        {"network": {"network": "shallow", "layers": 3}},
        {"network": "shallow"},
        {"charts": [{"chart": "mercator"}]},
        {"charts": [{"chart": "pole"}]},
        {"status": "GOOD"},
        {"scale": "large"},
        {"problem": None, "partition": {"domain": 3}},
        {"problem": {"kind": "?"}},
        {"held_out": [[1]]},
        {"tensors": ["__import__('os').system('true')", None]},
    ],
    ids=str,
)
def test_a_description_that_makes_no_sense(saved: Path, change: dict) -> None:
    with pytest.raises(jn.JumpnetError) as refused:
        jn.load(rewritten(saved, header_of(saved) | change))
    assert "\n" not in str(refused.value)


def test_parameters_of_another_network(saved: Path) -> None:
    assert "parameters" in refusal(rewritten(saved, header_of(saved), theta=np.zeros(3)))


def test_a_description_that_is_not_an_object(saved: Path) -> None:
    refusal(rewritten(saved, [1, 2]))


# --- files made to do harm -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def direct(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Trefftz solution: polynomials of a saved degree, harmonic functions and poles."""
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)])
    problem = jn.Problem(parts, A=[1.0, "2 + x1"], boundary=jn.Dirichlet("x1"))
    path = tmp_path_factory.mktemp("direct") / "a.jumpnet"
    jn.solve(problem, tol=1e-4).save(path)
    return path


def forged(path: Path, to: Path, *place: Any, value: Any) -> Path:
    """The file with one entry of its description changed."""
    shutil.copy(path, to)
    header = entry = header_of(to)
    for key in place[:-1]:
        entry = entry[key]
    entry[place[-1]] = value
    return rewritten(to, header)


@pytest.mark.parametrize("value", [10**5, 10**6, 10**30, -1, 2.5, True, "9", None, [3], math.inf, math.nan], ids=repr)
@pytest.mark.parametrize("cell", [0, 1])
def test_degrees_that_would_keep_the_reader_busy(direct: Path, tmp_path: Path, cell: int, value: Any) -> None:
    began = time.perf_counter()
    text = refusal(forged(direct, tmp_path / "b", "network", "cells", cell, 0, "degree", value=value))
    assert "damaged" in text and time.perf_counter() - began < 5, "refused without looking at the functions"


def test_solutions_in_cut_cells_are_refused_in_one_sentence(direct: Path, tmp_path: Path) -> None:
    text = refusal(forged(direct, tmp_path / "b", "network", "cut", value={"tree": {}, "table": [], "lines": {}}))
    assert "cut cells" in text and "solve the problem again" in text


FORGERIES: dict[str, tuple[tuple[Any, ...], Any]] = {  # what: (entry, value)
    "switch": (("network", "cells", 0, 0, "constant"), 7),
    "functions of other coordinates": (("network", "cells", 0, 0, "family"), "solid"),
    "unknown functions": (("network", "cells", 0, 0, "family"), "wavelets"),
    "transform of another size": (("network", "cells", 0, 0, "transform"), [[1.0]]),
    "center of another size": (("network", "cells", 0, 0, "center"), [0.0] * 5),
    "no functions": (("network", "cells"), []),
    "boxes of a vector": (("charts",), [{"chart": "box", "center": [0, 0], "halfwidth": [1, 1]}]),
    "boxes of one cell": (("charts",), [{"chart": "box", "center": [[0, 0]], "halfwidth": [[1, 1]]}]),
    "no charts": (("charts",), []),
    "empty slots": (("charts",), [{"chart": "slots", "charts": []}]),
    "infinite dimension": (("dim",), math.inf),
    "large dimension": (("dim",), 10**9),
    "other dimension": (("dim",), 3),
    "large number of pieces": (("pieces",), 10**9),
    "no piece": (("pieces",), 0),
    "negative seed": (("seed",), -1),
    "test points for ever": (("settings", "interior"), 10**12),
    "points not a number": (("settings", "interior"), "many"),
    "settings a list": (("settings",), [1]),
    "trials a number": (("settings", "trials"), 3),
    "trials without status": (("settings", "trials"), [{"seed": 1, "steps": 1, "held_out_loss": 1.0}]),
    "residuals as text": (("held_out",), [["pde 0", "many", "a", "b"]]),
    "infinite steps": (("steps",), math.inf),
    "terms of another history": (("terms",), ["pde 0"]),
    "exact of another problem": (("exact",), []),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_a_forged_description_is_refused_in_one_sentence(direct: Path, tmp_path: Path, what: str) -> None:
    place, value = FORGERIES[what]
    refusal(forged(direct, tmp_path / "b", *place, value=value))


@pytest.mark.parametrize("kind", ["slots", "joint"])
def test_charts_in_charts_without_end(direct: Path, tmp_path: Path, kind: str) -> None:
    shutil.copy(direct, tmp_path / "b")
    header = json.dumps(header_of(tmp_path / "b") | {"charts": "CHARTS"})
    text = f'[{{"chart": "{kind}", "charts": ' * 50_000 + "[]" + "}]" * 50_000
    save_file(load_file(tmp_path / "b"), tmp_path / "b", metadata={"jumpnet": header.replace('"CHARTS"', text)})
    refusal(tmp_path / "b")


@pytest.mark.parametrize(
    "change",
    [{"neurons": -10}, {"neurons": 10**9}, {"cells": 10**9}, {"inputs": 2.0}, {"hidden": "eval"}, {"labels": -1}],
    ids=str,
)
def test_networks_of_impossible_sizes(saved: Path, change: dict[str, Any]) -> None:
    header = header_of(saved)
    header["network"] |= change
    with pytest.raises(jn.JumpnetError) as refused:
        jn.load(rewritten(saved, header))
    assert "\n" not in str(refused.value)


def test_parameters_that_are_not_numbers_of_the_right_kind(saved: Path) -> None:
    refusal(rewritten(saved, header_of(saved), theta=jn.load(saved).theta.astype(np.float32)))


def test_histories_of_unequal_length(saved: Path) -> None:
    refusal(rewritten(saved, header_of(saved), **{"history.damping": np.zeros(99)}))


# --- finite elements -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def line() -> jn.Solution:
    """Finite elements on the line."""
    problem = jn.manufactured(jn.Partition.chain([0.0, 0.6, 1.0]), ["x**2", "exp(x)"], A=["1 + x", 10.0])
    return jn.solve(problem, method="fem")


@pytest.fixture(scope="module")
def plane() -> jn.Solution:
    """Values at the nodes of 18 curved triangles in two pieces, drawn at random: no mesher and no solve."""
    parts = jn.Partition(jn.Box((0, 0), (3, 3)), [jn.Box((1, 0), (3, 3))])
    problem = jn.Problem(parts, A=[1.0, "2 + x1"], boundary=jn.Dirichlet("x1"))
    corner = np.stack(np.meshgrid(*[np.arange(4.0)] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    low = np.array([4 * i + j for i in range(3) for j in range(3)])
    elements = np.concatenate([low[:, None] + [0, 1, 5], low[:, None] + [0, 4, 5]])
    nodes = np.einsum("nc,mcd->mnd", lagrange(2, 3).barycentric, corner[elements])
    nodes[..., 1] += 0.1 * np.sin(np.pi * nodes[..., 0]) * np.sin(np.pi * nodes[..., 1] / 3)
    piece = (corner[elements].mean(axis=1)[:, 0] > 1).astype(int)
    values = np.random.default_rng(0).normal(size=(18, 6))
    field = Field(from_corners(elements, piece, nodes, 3), 2, values)
    done = Diagnostics(Status.CONVERGED, "finite elements", 0.0, 0.1, mesh=MeshSize(36, 18, 2))
    return finite_element_solution(problem, [FieldFunction(field, p, 2) for p in range(2)], done)


def assert_the_same(again: jn.Solution, solution: jn.Solution, on: np.ndarray) -> None:
    assert solution.partition is not None
    x, piece = solution.partition.sample_interior(300, seed=1)
    for question in ("__call__", "grad", "flux"):
        assert np.array_equal(getattr(again, question)(x, piece), getattr(solution, question)(x, piece))
    assert np.array_equal(again.jump(on), solution.jump(on))
    assert np.array_equal(again.flux_jump(on), solution.flux_jump(on))
    assert again.status is solution.status and again.settings == solution.settings
    assert np.array_equal(again.estimate, solution.estimate, equal_nan=True)


WALL = np.c_[np.ones(5), np.linspace(0.2, 2.8, 5)]


def test_elements_come_back_bit_for_bit(line: jn.Solution, plane: jn.Solution, tmp_path: Path) -> None:
    for solution, on in ((line, np.array([[0.6]])), (plane, WALL)):
        solution.save(tmp_path / "a")
        again = jn.load(tmp_path / "a")
        assert_the_same(again, solution, on)
        again.save(tmp_path / "b")
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def pickled(what: Any) -> Any:
    return pickle.loads(pickle.dumps(what))  # noqa: S301 - our own


def test_elements_can_be_pickled_before_and_after_they_are_used(line: jn.Solution, plane: jn.Solution) -> None:
    for solution, on in ((line, np.array([[0.6]])), (plane, WALL)):
        for _ in range(2):
            assert_the_same(pickled(solution), solution, on)


def test_networks_and_direct_solutions_can_be_pickled(disk: jn.Solution, direct: Path) -> None:
    for solution in (disk, jn.load(direct)):
        again = pickled(solution)
        assert np.array_equal(again(X), solution(X)) and np.array_equal(again.flux(X), solution.flux(X))
        assert again.problem.boundary.keys() == solution.problem.boundary.keys()
        with pytest.raises(TypeError):
            again.problem.boundary["boundary"] = None


def test_shapes_made_of_others_can_be_pickled() -> None:
    hollow = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.5) - jn.Disk((0.1, 0), 0.2)])
    hollow.sample_interface((0, 1), 10, seed=0)
    again = pickled(hollow)
    assert np.array_equal(again.label(X), hollow.label(X))


def test_loaded_elements_are_judged_as_the_solved_ones(line: jn.Solution, tmp_path: Path) -> None:
    line.save(tmp_path / "a")
    here, there = jn.judge(line), jn.judge(jn.load(tmp_path / "a"))
    assert there.decided == here.decided and there.rms == here.rms


@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
def test_solved_elements_of_the_plane_come_back(disk_problem: jn.Problem, tmp_path: Path) -> None:
    pytest.importorskip("ngsolve")
    solved = jn.solve(disk_problem, method=jn.FEM(order=2, size=0.5), verify=False)
    reference = jn.baselines.fem(disk_problem, order=2, size=0.5)
    for solution in (solved, reference):
        solution.save(tmp_path / "a")
        again = jn.load(tmp_path / "a")
        assert_the_same(again, solution, X_ON)
        assert again.errors() == solution.errors()
        assert_the_same(pickled(solution), solution, X_ON)
    assert jn.judge(jn.load(tmp_path / "a"), tol=1.0).rms == jn.judge(reference, tol=1.0).rms


def changed(name: str, value: Any, *place: Any) -> Any:
    """A change of one entry of an array."""

    def change(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        array = arrays[f"fe.{name}"].copy()
        array[place] = value
        return {f"fe.{name}": array}

    return change


def instead(name: str, of: Any) -> Any:
    """Another array in place of one."""
    return lambda arrays: {f"fe.{name}": np.ascontiguousarray(of(arrays[f"fe.{name}"]))}


FORGED_ARRAYS: dict[str, tuple[str, Any]] = {  # what: (solution, change)
    "nodes that are no numbers": ("plane", changed("nodes", np.nan, 3, 2, 1)),
    "nodes far away": ("plane", changed("nodes", 1e300, 3, 2, 1)),
    "nodes of single precision": ("plane", instead("nodes", lambda a: a.astype(np.float32))),
    "nodes of another order": ("plane", instead("nodes", lambda a: a[:, :6])),
    "nodes in space": ("plane", instead("nodes", lambda a: np.concatenate([a, a[..., :1]], axis=2))),
    "infinite values": ("plane", changed("values", np.inf, 0, 0)),
    "values of fewer elements": ("plane", instead("values", lambda a: a[1:])),
    "values in a row": ("plane", instead("values", lambda a: a.ravel())),
    "vertices that are not there": ("plane", changed("elements", 10**12, 5, 2)),
    "negative vertices": ("plane", changed("elements", -1, 5, 0)),
    "vertices out of order": ("plane", instead("elements", lambda a: a[:, ::-1])),
    "an element without area": ("plane", instead("elements", lambda a: a[:, [0, 0, 2]])),
    "vertices as numbers with a point": ("plane", instead("elements", lambda a: a.astype(float))),
    "vertices the same as none": ("plane", changed("same", 10**6, 15)),
    "no vertices": ("plane", instead("same", lambda a: a[:0])),
    "elements of a third piece": ("plane", changed("piece", 2, 0)),
    "elements of one piece": ("plane", changed("piece", 0, slice(None))),
    "no elements": ("plane", instead("piece", lambda a: a[:0])),
    "a number as pieces": ("plane", instead("piece", lambda a: np.array(0))),
    "ends before starts": ("line", instead("end", lambda a: a - 1.0)),
    "elements from right to left": ("line", instead("start", lambda a: a[::-1])),
    "nan ends": ("line", changed("end", np.nan, 0)),
    "huge orders on the line": ("line", changed("order", 10**9, 0)),
    "orders of zero": ("line", changed("order", 0, 0)),
    "too few coefficients": ("line", instead("coefficients", lambda a: a[:, :3])),
    "coefficients beyond the order": ("line", changed("order", 1, 0)),
    "coefficients of another number": ("line", instead("coefficients", lambda a: a[:1])),
    "pieces without elements": ("line", changed("piece", 0, slice(None))),
}


@pytest.mark.parametrize("what", FORGED_ARRAYS)
def test_forged_arrays_of_elements_are_refused(what: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    name, change = FORGED_ARRAYS[what]
    request.getfixturevalue(name).save(tmp_path / "a")
    path = rewritten(tmp_path / "a", header_of(tmp_path / "a"), **change(load_file(tmp_path / "a")))
    assert "damaged" in refusal(path)


MESHES = {
    "all in one place": instead("nodes", lambda a: 0.0 * a + 0.25),
    "turned inside out, and large": instead("nodes", lambda a: -1e90 * a),
    "pieces in other places": instead("piece", np.sort),
}


@pytest.mark.parametrize("what", MESHES)
def test_meshes_that_are_no_meshes_end(what: str, plane: jn.Solution, tmp_path: Path) -> None:
    """Nothing of them is wrong by itself: questions are answered or refused, soon."""
    plane.save(tmp_path / "a")
    found = jn.load(rewritten(tmp_path / "a", header_of(tmp_path / "a"), **MESHES[what](load_file(tmp_path / "a"))))
    began = time.process_time()
    for ask in (lambda: found([[0.9, 0.9], [0.2, 0.1]]), found.report, lambda: found.flux([[0.9, 0.9]])):
        with contextlib.suppress(jn.JumpnetError), np.errstate(all="ignore"):
            ask()
    assert time.process_time() - began < 10.0


@pytest.mark.parametrize("name", ["start", "end", "piece", "order", "coefficients"])
def test_elements_with_an_array_missing(line: jn.Solution, tmp_path: Path, name: str) -> None:
    path = tmp_path / "a"
    line.save(path)
    arrays, header = load_file(path), header_of(path)
    del arrays[f"fe.{name}"]
    save_file(arrays, path, metadata={"jumpnet": json.dumps(header)})
    assert f"fe.{name}" in refusal(path)


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        *(("order", value) for value in (0, 3, 31, 10**9, 2.0, True, None, "2")),
        *(("map_order", value) for value in (0, 1, 10**30, math.nan)),
        *(("pieces", value) for value in ([], [0], [0, 2], [0, -1], [0, 1.0], "01", 2, None)),
        *(("elements", value) for value in ("line", "hexahedra", ["simplices"], None)),
    ],
    ids=repr,
)
def test_forged_descriptions_of_elements_are_refused(
    plane: jn.Solution, tmp_path: Path, entry: str, value: Any
) -> None:
    plane.save(tmp_path / "a")
    began = time.perf_counter()
    refusal(forged(tmp_path / "a", tmp_path / "b", "network", entry, value=value))
    assert time.perf_counter() - began < 5, "refused without making polynomials of that order"


def test_elements_of_another_dimension(plane: jn.Solution, tmp_path: Path) -> None:
    plane.save(tmp_path / "a")
    for dim in (1, 3, 100):
        refusal(forged(tmp_path / "a", tmp_path / "b", "dim", value=dim))


# --- where a file cannot be written ----------------------------------------------------------------------------------


def test_a_folder_that_does_not_exist(disk: jn.Solution, tmp_path: Path) -> None:
    with pytest.raises(jn.SolutionError, match="cannot be written") as refused:
        disk.save(tmp_path / "none" / "a.jumpnet")
    assert "\n" not in str(refused.value)


def test_a_folder_that_may_not_be_written(disk: jn.Solution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a stand-in for the operating system: a superuser, as in containers, may write anywhere."""

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refused)
    with pytest.raises(jn.SolutionError, match=r"cannot be written \(Permission denied\)"):
        disk.save(tmp_path / "a.jumpnet")


def test_a_path_that_is_a_folder_leaves_no_rubbish(disk: jn.Solution, tmp_path: Path) -> None:
    (tmp_path / "a.jumpnet").mkdir()
    with pytest.raises(jn.SolutionError, match="cannot be written"):
        disk.save(tmp_path / "a.jumpnet")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.jumpnet"]


def test_an_old_file_survives_a_failed_write(saved: Path, disk: jn.Solution, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(jn.SolutionError, match="No space"):
        disk.save(saved)
    assert saved.read_bytes() == before and len(list(saved.parent.iterdir())) == 1
