"""How the command ends: Ctrl-C at any moment, outputs that cannot be written, and faults of our own."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from jumpnet.cli.app import app

ROOT = Path(__file__).parents[2]
FILE = ROOT / "examples" / "cylinder.toml"
COMMAND = [sys.executable, "-m", "jumpnet"]


def run(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **options.pop("env", {})}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
    return subprocess.run([*COMMAND, *map(str, arguments)], text=True, env=environment, check=False, **pipes)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("seconds", [0.05, 0.4, 1.2])
def test_ctrl_c_while_it_starts(seconds: float, tmp_path: Path) -> None:
    script = "print('ready', flush=True); from jumpnet.cli import main; main()"
    command = [sys.executable, "-c", script, "solve", str(FILE), "-o", str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"  # the interpreter itself has begun
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    # Before it comes to us, the interpreter ends by the signal: a shell calls that 130 too.
    assert process.returncode in (130, -signal.SIGINT), told
    assert process.returncode != 130 or told.splitlines()[-1].startswith("interrupted; "), told


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full device here")
@pytest.mark.skipif(os.name != "posix", reason="signals as terminals send them")
def test_ctrl_c_while_the_interpreter_ends() -> None:
    """It took a second, in which the signal killed the process."""
    script = """
import os, signal
from jumpnet.guard import interrupts
signal.signal(signal.SIGINT, signal.SIG_DFL)  # as at a terminal
interrupts.install()
from jumpnet.cli.endings import end
class Late:
    def __del__(self, kill=os.kill, me=os.getpid(), number=signal.SIGINT):
        kill(me, number)
late = Late()
end(0)
"""
    ended = subprocess.run([sys.executable, "-c", script], check=False, timeout=60)
    assert ended.returncode in (0, 130)


def test_an_output_that_is_full_and_one_of_few_characters() -> None:
    with open("/dev/full", "w") as full:
        ended = run("--version", stdout=full)
        assert ended.returncode == 2 and "No space left" in ended.stderr and "Traceback" not in ended.stderr
        assert run("check", "nothing.toml", stderr=full).returncode == 2
    ended = run("--help", env={"PYTHONIOENCODING": "ascii"})
    assert ended.returncode == 0 and "Exit codes" in ended.stdout


@pytest.mark.skipif(os.name != "posix", reason="shells of Unix")
def test_outputs_that_are_closed(tmp_path: Path) -> None:
    """Nothing is said, but the exit code is right, and files are not written to by who prints."""
    shell = f"exec {sys.executable} -m jumpnet check {{}} >&- 2>&-"
    assert subprocess.run(["sh", "-c", shell.format(FILE)], check=False).returncode == 0
    assert subprocess.run(["sh", "-c", shell.format("nothing.toml")], check=False).returncode == 2


@pytest.mark.skipif(sys.platform != "linux", reason="names of files that are not UTF-8")
def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/a\xff")
    Path(f"{name}.toml").write_bytes((ROOT / "examples" / "wall.toml").read_bytes())
    ended = run("-q", "solve", f"{name}.toml", "-o", name, errors="surrogateescape")
    assert ended.returncode == 0, ended.stderr
    assert len(list(Path(name).iterdir())) == 8


def test_a_reader_that_goes_away() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = run("--version", stdout=writer)
    finally:
        os.close(writer)
    assert ended.returncode == 141 and ended.stderr == ""


def command(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_a_fault_of_ours_is_a_sentence_with_a_code_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("of \x1b[31mours")

    monkeypatch.setattr("jumpnet.cli.check.run", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = command("check", str(FILE))
    assert result.exit_code == 3 and result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: this is a fault of jumpnet") and "\x1b" not in line and "ZeroDivisionError" in line
    (kept,) = tmp_path.iterdir()
    assert str(kept) in line and "Traceback" in kept.read_text()
    result = command("-v", "check", str(FILE))
    assert result.exit_code == 3 and "Traceback" in result.stderr and "\x1b" not in result.stderr


def test_names_from_files_reach_the_terminal_clean(tmp_path: Path) -> None:
    text = FILE.read_text(encoding="utf-8")
    (tmp_path / "a.toml").write_text(text.replace('title = "A', 'title = "\\u001b]0;owned\\u0007\\u202eA', 1))
    result = command("check", str(tmp_path / "a.toml"))
    assert result.exit_code == 0 and "\x1b" not in result.output and "\\u001b]0;owned" in result.output
    (tmp_path / "a.toml").write_text(f'"{"a" * 100_000}" = 1\n' + text)
    result = command("check", str(tmp_path / "a.toml"))
    assert result.exit_code == 2 and len(result.output) < 1000


def test_names_that_no_system_takes(tmp_path: Path) -> None:
    name = "a" * 5000 + ".toml"
    for arguments in (("check", name), ("check", str(FILE), "--allow", name), ("new", "sink", name), ("report", name)):
        result = command(*arguments)
        assert result.exit_code == 2 and "too long" in result.stderr and len(result.stderr) < 2100, arguments


def test_seeds_of_the_command_are_those_of_files() -> None:
    result = command("solve", str(FILE), "--seed", str(2**32))
    assert result.exit_code == 2 and "4294967295" in result.stderr


def test_the_budget_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: Any) -> Any:
        while True:
            sum(range(1000))

    monkeypatch.setattr("jumpnet.files.opening._read", endless)
    result = command("check", str(FILE), "--read-seconds", "0.06")
    assert result.exit_code == 2 and "more than 0.06 seconds" in result.stderr


LEAVING = """
import sys, time
from jumpnet.guard import interrupts
interrupts.install()
from jumpnet.fe.meshing import mesher
mesher._children[mesher.os.getpid()] = child = mesher.child()
print(child._process.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_ends_the_mesher_too() -> None:
    """It is in a session of its own, and would finish its mesh for nobody."""
    with subprocess.Popen([sys.executable, "-c", LEAVING], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        mesher = int(process.stdout.readline())
        os.kill(mesher, signal.SIGSTOP)  # busy, and deaf to the end of its input
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
    for _ in range(100):
        if not Path(f"/proc/{mesher}").exists() or " Z " in Path(f"/proc/{mesher}/stat").read_text():
            break
        time.sleep(0.05)
    else:
        os.kill(mesher, signal.SIGKILL)
        raise AssertionError("the mesher is still there")
