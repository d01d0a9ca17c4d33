"""Every command does what it says, with the exit code that says how it went."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import jumpnet as jn
from jumpnet.cli.app import app
from jumpnet.cli.session import Session
from jumpnet.experiments.examples import EXAMPLES
from jumpnet.solving import choice

pytestmark = pytest.mark.usefixtures("blank_images")
STEPS = ("--steps", "3")


@pytest.fixture(autouse=True)
def unjudged(monkeypatch):
    """The judge takes longer with networks of three steps than all the rest; tests/judge and check_and_solve ask it."""
    verified = choice.verified

    def unless_trained(problem, found, *given, **options):
        return found if found.unit == "step" else verified(problem, found, *given, **options)

    monkeypatch.setattr(choice, "verified", unless_trained)


def files(folder) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_without_a_command_there_is_help(jumpnet):
    result = jumpnet()
    assert result.exit_code == 0
    for command in ("demo", "examples", "report", "reproduce", "info"):
        assert command in result.stdout


def test_version(jumpnet):
    assert jumpnet("--version").stdout == f"jumpnet {jn.__version__}\n"


def test_info(jumpnet):
    result = jumpnet("info")
    assert result.exit_code == 0
    for word in ("jumpnet", "jax", "numpy", "devices", "cpu", "thread pools", "cores"):
        assert word in result.stdout


def test_an_example_goes_on_from_its_checkpoint(jumpnet):
    command = ("examples", "pde1", "--steps", "3", "--checkpoint", "run.ckpt")
    first, again = jumpnet(*command), jumpnet(*command)
    assert "pde1: 3 steps" in first.stderr and "pde1: 0 steps" in again.stderr
    assert first.stdout == again.stdout and "wrote run.ckpt" in first.stdout
    other = jumpnet(*command, "--seed", "1")
    assert other.exit_code == 2 and "another run" in other.stderr


def test_examples_are_listed(jumpnet):
    result = jumpnet("examples")
    assert result.exit_code == 0
    assert all(name in result.stdout and EXAMPLES[name].about in result.stdout for name in EXAMPLES)


def test_an_example_that_does_not_converge(jumpnet, elsewhere):
    result = jumpnet("examples", "pde1", "--steps", "3", "-o", "out")
    assert result.exit_code == 1
    assert "step_limit" in result.stdout and "pde 0" in result.stdout
    assert "warning: not converged" in result.stderr
    assert "pde1: 3 steps" in result.stderr  # plain lines, as stderr is no terminal here
    assert "\x1b" not in result.stderr and "\r" not in result.stderr
    assert files(elsewhere / "out") == {"pde1.jumpnet", "pde1.png", "pde1.html"}
    assert jn.load("out/pde1.jumpnet").steps == 3


def test_an_example_that_converges(jumpnet, saved, monkeypatch, elsewhere):
    solved = jn.load(saved).with_diagnostics(status=jn.Status.CONVERGED)
    monkeypatch.setattr("jumpnet.experiments.examples.Example.solve", lambda self, **options: solved)
    result = jumpnet("examples", "disk")
    assert result.exit_code == 0, result.output
    assert "converged: the tolerance was reached" in result.stdout and files(elsewhere) == set()


def test_quiet_says_results_only(jumpnet):
    result = jumpnet("-q", "examples", "pde1", "--steps", "2")
    assert result.exit_code == 1 and result.stderr == "" and "held out" in result.stdout


def test_seeds_give_different_results(jumpnet):
    first, again, other = (jumpnet("-q", "examples", "pde1", "--steps", "2", "--seed", s).stdout for s in "001")
    assert first == again != other


def test_report(jumpnet, saved, elsewhere):
    result = jumpnet("report", str(saved), "-o", "out.html")
    assert result.exit_code == 1  # the solution in the file did not converge
    assert "held out" in result.stdout and "jump 0-1" in result.stdout and "out.html" in result.stdout
    assert (elsewhere / "out.html").stat().st_size > 20_000


def test_demo(jumpnet, elsewhere, monkeypatch):
    """With a wall in the place of the drawing, which takes seconds and is solved by a slow test of tests/files."""
    monkeypatch.setattr("jumpnet.experiments.demo.DRAWING", "layers")
    result = jumpnet("demo", "-o", "out", *STEPS)
    assert result.exit_code == 1
    assert files(elsewhere / "out") == {
        "pde4.png", "domain-pde4.png", "domain-pde5.png", "pde4.jumpnet", "history-pde4.png", "report.html", "layers",
    }  # fmt: skip
    assert files(elsewhere / "out/layers") == {
        "layers.toml", "layers.jumpnet", "layers.png", "layers.csv", "domain.png", "report.html", "report.txt",
        "quantities.json", "probes.csv",
    }  # fmt: skip
    assert all(name in result.stdout for name in files(elsewhere / "out") | files(elsewhere / "out/layers"))
    for words in ("2.33e-09", "2.28e-08", "A wall of three layers: converged", "heat lost outside", "5.43", "(± "):
        assert words in result.stdout


def interrupting(at: int):
    """A progress whose training is interrupted at a step, as by Ctrl-C."""
    from contextlib import contextmanager

    @contextmanager
    def progress(self, name, total):
        def update(record, best):
            if record.step == at:
                raise KeyboardInterrupt

        yield update

    return progress


def test_interrupted_while_training_the_best_so_far_is_kept(jumpnet, monkeypatch, elsewhere):
    monkeypatch.setattr(Session, "progress", interrupting(at=3))
    result = jumpnet("demo", "-o", "out")
    assert result.exit_code == 130
    assert files(elsewhere / "out") == {"pde4.jumpnet"}
    assert result.stderr.splitlines()[-1].startswith("interrupted; kept") and "pde4.jumpnet" in result.stderr
    assert jn.load("out/pde4.jumpnet").status is jn.Status.INTERRUPTED


def test_interrupted_without_a_place_for_files(jumpnet, monkeypatch):
    monkeypatch.setattr(Session, "progress", interrupting(at=3))
    result = jumpnet("examples", "pde1")
    assert result.exit_code == 130 and "nothing was written" in result.stderr


def subprocess_of(*arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"PYTHONWARNINGS": "default", "COLUMNS": "100"}
    return subprocess.run(
        [sys.executable, "-m", "jumpnet", *arguments], capture_output=True, text=True, env=environment
    )


def test_python_m_jumpnet():
    result = subprocess_of("--help")
    assert result.returncode == 0 and "demo" in result.stdout and result.stderr == ""


def test_a_wrong_name_in_a_process_of_its_own():
    result = subprocess_of("examples", "dsik")
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr == "error: there is no example 'dsik'; did you mean disk?\n"


COMMANDS = ("demo", "examples", "check", "solve", "report", "reproduce", "bench", "info")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example(jumpnet, command):
    result = jumpnet(command, "--help")
    assert result.exit_code == 0 and f"Example: jumpnet {command}" in " ".join(result.stdout.split())


def test_results_for_scripts(jumpnet, saved, elsewhere):
    facts = json.loads(jumpnet("info", "--json").stdout)
    assert facts["jumpnet"] == jn.__version__ and "compiled code" in facts
    assert "pde4" in json.loads(jumpnet("examples", "--json").stdout)
    result = jumpnet("-q", "report", str(saved), "-o", "out.html", "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == 1 and not found["converged"] and found["files"] == ["out.html"]
    assert found["residuals"]["jump 0-1"]["scaled"] > 0 and found["steps"] == 20
    found = json.loads(jumpnet("-q", "examples", "pde1", "--steps", "2", "--json").stdout)
    assert found["name"] == "pde1" and found["status"] == "step_limit"


def test_the_shell_completes_commands_and_examples():
    def completed(words: str) -> str:
        asked = {"_JUMPNET_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
        return CliRunner().invoke(app, [], env=asked, prog_name="jumpnet").stdout

    assert completed("jumpnet so").split() == ["solve"]
    assert "pde4" in completed("jumpnet examples pde").split()
