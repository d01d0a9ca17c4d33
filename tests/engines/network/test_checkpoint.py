"""Checkpoints: trainings broken off in every way go on bit for bit, and other files are not taken for checkpoints."""

import dataclasses
import json
import os
import random
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from training import trained

import jumpnet as jn
from jumpnet.engines.network import checkpoint
from jumpnet.optim import LBFGS, Adam, LevenbergMarquardt, Status, minimise
from jumpnet.optim.packing import pack, unpack
from jumpnet.solution.files import CHECKPOINT

MODEL = jn.models.CategoricalEmbedding(neurons=8)
# Three starts of 60 steps, then the best of them.
LONG = LevenbergMarquardt(steps=260, tol=0.0, stall=None)
OPTIONS: dict[str, Any] = {"model": MODEL, "optimizer": LONG, "points": (50, 2, 1)}
UNJUDGED = OPTIONS | {"verify": False}  # the judge comes after the training, whose bits are looked at here
OPTIMIZERS = {
    "LM": LONG,
    "LM stalls": LevenbergMarquardt(steps=900, tol=0.0, stall=30),
    "Adam": Adam(steps=400, tol=0.0),
    "LBFGS": LBFGS(steps=120, tol=0.0),
}

pytestmark = pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")


@pytest.fixture(scope="module")
def undisturbed(chain: jn.Problem) -> jn.Solution:
    return trained(jn.solve, chain, **UNJUDGED)


def same(one: jn.Solution, other: jn.Solution) -> bool:
    columns = ("step", "loss", "loss_of_term", "damping", "step_norm")
    return (
        np.array_equal(one.theta, other.theta)
        and (one.loss, one.steps, one.status, one.held_out_loss, one.seed)
        == (other.loss, other.steps, other.status, other.held_out_loss, other.seed)
        and all(np.array_equal(getattr(one.history, c), getattr(other.history, c), equal_nan=True) for c in columns)
    )


class Interrupt:
    """A progress function that interrupts after a given number of calls."""

    def __init__(self, after: int):
        self.left = after

    def __call__(self, record: Any, best: float) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


# --- going on --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == "LBFGS" else n for n in OPTIMIZERS])
def test_a_run_interrupted_again_and_again_ends_with_the_same_bits(
    chain: jn.Problem, tmp_path: Path, name: str
) -> None:
    options = OPTIONS | {"optimizer": OPTIMIZERS[name]}
    whole = trained(jn.solve, chain, **options)
    path, interruptions = tmp_path / "run.ckpt", 0
    every = 37 if "LM" in name else 1
    while True:
        found = trained(jn.solve, chain, **options, checkpoint=path, progress=Interrupt(every))
        if found.status is not Status.INTERRUPTED:
            break
        interruptions += 1
        assert np.isfinite(found.loss) and np.isfinite(found([[0.3]])).all()
    assert same(found, whole) and interruptions >= 3
    assert len(list(tmp_path.iterdir())) == 1, "nothing is left lying about"


@pytest.mark.parametrize(
    "step", [1, 60, 181, 259, *(pytest.param(step, marks=pytest.mark.slow) for step in (2, 59, 61, 120, 180, 200))]
)
def test_an_interruption_at_any_place_is_harmless(
    chain: jn.Problem, undisturbed: jn.Solution, tmp_path: Path, step: int
) -> None:
    path = tmp_path / "run.ckpt"
    assert trained(jn.solve, chain, **UNJUDGED, checkpoint=path, progress=Interrupt(step)).status is Status.INTERRUPTED
    assert same(trained(jn.solve, chain, **UNJUDGED, checkpoint=path), undisturbed)


def test_keeping_a_checkpoint_changes_nothing_and_a_finished_one_answers_at_once(
    chain: jn.Problem, undisturbed: jn.Solution, tmp_path: Path
) -> None:
    path, steps = tmp_path / "run.ckpt", []
    found = trained(jn.solve, chain, **UNJUDGED, checkpoint=path)
    assert same(found, undisturbed)
    content = path.read_bytes()
    again = trained(
        jn.solve, chain, **UNJUDGED, checkpoint=str(path), progress=lambda record, best: steps.append(record.step)
    )
    assert same(again, undisturbed) and steps == [] and path.read_bytes() == content
    np.testing.assert_array_equal(again.history.seconds, found.history.seconds)
    assert again.diagnostics.seconds >= found.history.seconds[-1]


def test_convergence_is_not_overlooked_on_the_way_back(chain: jn.Problem, tmp_path: Path) -> None:
    """Interrupted after the very step that converges: not a step more."""
    options = OPTIONS | {"optimizer": LevenbergMarquardt(steps=300, tol=1e-6, polish=0), "verify": False}
    whole = trained(jn.solve, chain, **options)
    assert whole.status is Status.TRAINED
    path = tmp_path / "run.ckpt"
    assert (
        trained(jn.solve, chain, **options, checkpoint=path, progress=Interrupt(whole.steps)).status
        is Status.INTERRUPTED
    )
    assert same(trained(jn.solve, chain, **options, checkpoint=path), whole)


def test_every_few_seconds_the_newest_step_is_on_disk(chain: jn.Problem, tmp_path: Path) -> None:
    path, kept = tmp_path / "run.ckpt", []

    def look(record: Any, best: float) -> None:
        if record.step in (1, 30, 59):
            kept.append(load_file(path)["0/0/state/steps"].item() - record.step)
        if len(kept) == 3:
            raise KeyboardInterrupt

    trained(jn.solve, chain, **UNJUDGED, checkpoint=path, checkpoint_every=0.0, progress=look)
    assert kept == [0, 0, 0]
    path.unlink()
    stalling = OPTIONS | {"optimizer": OPTIMIZERS["LM stalls"]}
    legs: list[int] = []

    def second(record: Any, best: float) -> None:  # a second start begins: the first has stalled
        legs.append(record.step)
        if record.step == 5 and legs.count(5) == 2:
            raise OSError("crash")

    with pytest.raises(OSError, match="crash"):  # between two writings only the ends of legs are there
        trained(jn.solve, chain, **stalling, checkpoint=path, checkpoint_every=3600.0, progress=second)
    assert {name.split("/")[1] for name in load_file(path)} == {"0"}


def crash_at(call: int) -> Callable[[Any, float], None]:
    calls = iter(range(1, call + 1))

    def crash(record: Any, best: float) -> None:
        if next(calls) == call:
            raise OSError("crash")

    return crash


def test_a_crash_of_the_users_own_function_loses_only_what_was_not_written(
    chain: jn.Problem, undisturbed: jn.Solution, tmp_path: Path
) -> None:
    path = tmp_path / "run.ckpt"
    for call in (70, 100, 150):
        with pytest.raises(OSError, match="crash"):
            trained(jn.solve, chain, **UNJUDGED, checkpoint=path, progress=crash_at(call))
    assert same(trained(jn.solve, chain, **UNJUDGED, checkpoint=path), undisturbed)


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_trials_share_a_checkpoint(chain: jn.Problem, tmp_path: Path, workers: int) -> None:
    path, options = tmp_path / "run.ckpt", UNJUDGED | {"trials": 2, "workers": workers, "seed": 4}
    whole = trained(jn.solve, chain, **options)
    for after in (100, 300, 200):
        trained(jn.solve, chain, **options, checkpoint=path, progress=Interrupt(after))
    found = trained(jn.solve, chain, **options, checkpoint=path)
    assert same(found, whole) and found.diagnostics.trials == whole.diagnostics.trials
    more = trained(jn.solve, chain, **options | {"trials": 3}, checkpoint=path)
    # The differences are those to the best one, which may be another now.
    two, of_three = (
        [dataclasses.replace(one, difference=0.0) for one in spread.diagnostics.trials[:2]] for spread in (whole, more)
    )
    assert two == of_three


def test_approximations_too(tmp_path: Path) -> None:
    given: tuple[Any, Any] = jn.Partition.chain([0.0, 0.6, 1.0]), ["x", "exp(x)"]
    whole = trained(jn.approximate, *given, **OPTIONS)
    path = tmp_path / "run.ckpt"
    trained(jn.approximate, *given, **OPTIONS, checkpoint=path, progress=Interrupt(200))
    assert same(trained(jn.approximate, *given, **OPTIONS, checkpoint=path), whole)


# --- killed ----------------------------------------------------------------------------------------------------------

KILLED = LevenbergMarquardt(steps=600, tol=0.0, stall=None)
SCRIPT = """
import sys, warnings
import jumpnet as jn
warnings.simplefilter("ignore")
path, out = sys.argv[1:]
problem = jn.manufactured(jn.Partition.chain([0.0, 0.6, 1.0]), ["x**2", "exp(x)"], A=[1.0, 10.0])
optimizer = jn.optim.LevenbergMarquardt(steps=600, tol=0.0, stall=None)
model, told = jn.models.CategoricalEmbedding(neurons=8), lambda record, best: print(record.step, flush=True)
method = jn.Network(model, optimizer, (50, 2, 1), checkpoint=path, checkpoint_every=0.02)
jn.solve(problem, method=method, progress=told, verify=False).save(out)
"""


def killed_and_resumed(chain: jn.Problem, folder: Path, kills: int) -> None:
    """Kill a process that many times, each time after some of its steps; the end must be that of an undisturbed one."""
    environment = {**os.environ, "JUMPNET_CACHE": str(folder / "compiled")}

    def start() -> subprocess.Popen[str]:
        command = [sys.executable, "-c", SCRIPT, str(folder / "run.ckpt"), str(folder / "resumed.jumpnet")]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    done, rng = 0, random.Random(kills)
    for _ in range(kills):
        process = start()
        assert process.stdout is not None
        for _ in range(rng.randint(1, KILLED.stop.steps // (kills + 1))):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.communicate()
        done += process.returncode == -signal.SIGKILL
    last = start()
    told, _ = last.communicate()
    assert last.returncode == 0 and done == kills, f"{done} of {kills} kills came before the end"
    assert len(told.split()) < KILLED.stop.steps, "it went on where it had been"
    whole = trained(jn.solve, chain, **UNJUDGED | {"optimizer": KILLED})
    assert same(jn.load(folder / "resumed.jumpnet"), whole)


needs_kill = pytest.mark.skipif(os.name == "nt", reason="no SIGKILL here")


@needs_kill
def test_a_killed_run_goes_on_bit_for_bit(chain: jn.Problem, tmp_path: Path) -> None:
    killed_and_resumed(chain, tmp_path, kills=1)


@needs_kill
@pytest.mark.slow
def test_twenty_kills(chain: jn.Problem, tmp_path: Path) -> None:
    killed_and_resumed(chain, tmp_path, kills=20)


# --- another run's file ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def written(chain: jn.Problem, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("written") / "run.ckpt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained(jn.solve, chain, **UNJUDGED, checkpoint=path, progress=Interrupt(150))
    return path.read_bytes()


def refusal(problem: jn.Problem, path: Path, **changes: Any) -> str:
    """The one sentence with which a checkpoint is refused; the file stays as it is, and no step is made."""
    before, steps = path.read_bytes() if path.is_file() else None, []
    with pytest.raises(jn.SolutionError) as refused:
        trained(jn.solve, problem, **UNJUDGED | changes, checkpoint=path, progress=lambda *_: steps.append(1))
    text = str(refused.value)
    assert "\n" not in text and text.endswith(".") and str(path.name) in text and not steps
    assert before is None or path.read_bytes() == before
    return text


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"seed": 1}, "seed"),
        ({"points": (51, 2, 1)}, "problem, points or weights"),
        ({"weights": "paper"}, "problem, points or weights"),
        ({"model": jn.models.CategoricalEmbedding(neurons=9)}, "model"),
        ({"charts": "box"}, "charts"),
        ({"optimizer": LevenbergMarquardt(steps=261, tol=0.0, stall=None)}, "optimizer"),
        ({"preset": "paper"}, "number of starts"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_options_are_refused(
    chain: jn.Problem, written: bytes, tmp_path: Path, changes: dict[str, Any], what: str
) -> None:
    (tmp_path / "run.ckpt").write_bytes(written)
    text = refusal(chain, tmp_path / "run.ckpt", **changes)
    assert "another run" in text and what in text and "another path" in text


def test_another_problem_or_version_is_refused(
    chain: jn.Problem, written: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.ckpt"
    path.write_bytes(written)
    other = jn.manufactured(chain.partition, ["x**2", "exp(x)"], A=[1.0, 10.5])
    assert "problem, points or weights" in refusal(other, path)
    monkeypatch.setattr(jn, "__version__", "0.0.1")
    assert "version" in refusal(chain, path)


def test_a_function_of_the_users_own_as_step_is_recognised(chain: jn.Problem, tmp_path: Path) -> None:
    def own(J: Any, damping: Any) -> Any:
        return lambda r: np.linalg.lstsq(J.T @ J + np.diag(damping), -J.T @ r)[0]

    def made() -> LevenbergMarquardt:
        return LevenbergMarquardt(steps=10, step=lambda J, damping: own(J, damping))

    path = tmp_path / "run.ckpt"
    trained(jn.solve, chain, **UNJUDGED | {"optimizer": made()}, checkpoint=path, progress=Interrupt(5))
    assert trained(jn.solve, chain, **UNJUDGED | {"optimizer": made()}, checkpoint=path).steps == 10


def test_an_optimiser_whose_state_cannot_be_kept_is_refused_in_one_sentence(chain: jn.Problem) -> None:
    with pytest.raises(jn.ModelError, match=r"^an optimiser whose state is a dict cannot .*\.$"):
        pack({"theta": 1.0})


# --- damaged files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [0, 1, 7, 100, -1, -4000])
def test_a_truncated_file_is_refused(chain: jn.Problem, written: bytes, tmp_path: Path, cut: int) -> None:
    (tmp_path / "run.ckpt").write_bytes(written[:cut])
    refusal(chain, tmp_path / "run.ckpt")


def test_flipped_bits_are_noticed(chain: jn.Problem, written: bytes, tmp_path: Path) -> None:
    path, rng = tmp_path / "run.ckpt", random.Random(0)
    for _ in range(30):
        content = bytearray(written)
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
        refusal(chain, path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"{}", os.urandom(500)], ids=["empty", "zip", "json", "noise"])
def test_foreign_files_are_refused(chain: jn.Problem, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.ckpt").write_bytes(content)
    assert "checkpoint" in refusal(chain, tmp_path / "run.ckpt")


def test_a_saved_solution_is_no_checkpoint_nor_the_other_way_round(
    chain: jn.Problem, undisturbed: jn.Solution, written: bytes, tmp_path: Path
) -> None:
    undisturbed.save(tmp_path / "a.jumpnet")
    assert "is not a jumpnet checkpoint" in refusal(chain, tmp_path / "a.jumpnet")
    (tmp_path / "run.ckpt").write_bytes(written)
    with pytest.raises(jn.SolutionError, match="is not a jumpnet solution"):
        jn.load(tmp_path / "run.ckpt")


@pytest.mark.parametrize("header", [{}, [1], {"format": 99}, {"format": 1, "digest": ""}, 3, "{"], ids=str)
def test_a_senseless_description_is_refused(chain: jn.Problem, tmp_path: Path, header: Any) -> None:
    path = tmp_path / "run.ckpt"
    text = header if isinstance(header, str) else json.dumps(header)
    save_file({"a": np.zeros(1)}, path, metadata={CHECKPOINT: text})
    refusal(chain, path)


SPOILT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "fewer": lambda a: a[:-1],
    "none": lambda a: a[:0],
    "twice": lambda a: np.stack([a, a]),
    "flat": lambda a: np.append(a.ravel(), 1.0),
    "not numbers": lambda a: a * np.nan,
}


@pytest.mark.parametrize("kind", SPOILT)
def test_arrays_of_other_shapes_with_a_right_digest_are_refused(
    chain: jn.Problem, written: bytes, tmp_path: Path, kind: str
) -> None:
    """Each array in turn: one sentence, or a run whose numbers were never looked at again."""
    path = tmp_path / "run.ckpt"
    path.write_bytes(written)
    with safe_open(path, framework="np") as file:
        description = json.loads(file.metadata()[CHECKPOINT])
    arrays, refused = load_file(path), 0
    description.pop("digest")
    for name in sorted(arrays):
        spoilt = arrays | {name: np.ascontiguousarray(SPOILT[kind](np.atleast_1d(arrays[name])))}
        digest = checkpoint._digest(description, spoilt)
        save_file(spoilt, path, metadata={CHECKPOINT: json.dumps(description | {"digest": digest})})
        try:
            trained(jn.solve, chain, **UNJUDGED, checkpoint=path)
        except jn.JumpnetError as problem:
            refused += 1
            assert "\n" not in str(problem)
    assert refused > 0


def test_a_training_interrupted_before_its_first_step_can_be_saved_and_loaded(
    chain: jn.Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its history is empty; the file was refused as damaged once."""

    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(LevenbergMarquardt, "advance", interrupted)
    found = trained(jn.solve, chain, **UNJUDGED)
    assert found.status is Status.INTERRUPTED and len(found.history) == 0
    found.save(tmp_path / "a.jumpnet")
    assert np.array_equal(jn.load(tmp_path / "a.jumpnet").theta, found.theta)


# --- where nothing can be written ------------------------------------------------------------------------------------


def test_an_impossible_path_is_refused_before_any_work(chain: jn.Problem, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "none" / "run.ckpt", tmp_path / "file" / "run.ckpt", tmp_path):
        assert "checkpoint" in refusal(chain, path)


def test_a_folder_without_permission_is_refused_before_any_work(
    chain: jn.Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a stand-in for the operating system: a superuser, as in containers, may write anywhere."""

    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("pathlib.Path.touch", refused)
    assert "(Permission denied)" in refusal(chain, tmp_path / "run.ckpt")


def test_a_full_disk_is_one_warning_and_costs_nothing(
    chain: jn.Problem, undisturbed: jn.Solution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, calls, sync = tmp_path / "run.ckpt", [], os.fsync

    def full(file: int) -> None:
        calls.append(file)
        if 100 < len(calls) < 200:
            raise OSError(28, "No space left on device")
        sync(file)

    monkeypatch.setattr(os, "fsync", full)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = trained(jn.solve, chain, **UNJUDGED, checkpoint=path, checkpoint_every=0.0)
    said = [str(one.message) for one in told if "checkpoint" in str(one.message)]
    assert len(said) == 1 and "No space left" in said[0] and "\n" not in said[0] and len(calls) > 250
    assert same(found, undisturbed)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.ckpt"]
    assert same(trained(jn.solve, chain, **UNJUDGED, checkpoint=path), undisturbed), "written again once there was room"


# --- states ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", [LevenbergMarquardt(tol=0.0), Adam(tol=0.0), LBFGS(tol=0.0)], ids=repr)
def test_states_are_packed_without_the_jacobian_and_go_on_bit_for_bit(optimizer: Any) -> None:
    from jumpnet.models import System
    from jumpnet.rows import ConditionKey, Kind, row_family

    x = np.linspace(0, 1, 40)[:, None]
    rows = row_family(ConditionKey(Kind.VALUE), np.exp(x[:, 0]), (x, 0, 1.0, 0.0, 0.0))
    system = System(MODEL.network(1, 1), rows)
    theta = system.network.initial(np.random.default_rng(0))
    whole, _ = minimise(optimizer, system, theta, steps=100)
    _, state = minimise(optimizer, system, theta, steps=50)
    packed = pack(state)
    assert all(array.size < 20 * theta.size for array in packed.arrays.values())
    second, _ = minimise(optimizer, system, state=unpack(optimizer, system, packed), steps=50)
    assert np.array_equal(second.theta, whole.theta) and second.loss == whole.loss
    assert np.array_equal(second.history.loss, whole.history.loss[50:])
