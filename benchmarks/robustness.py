"""What interruptions leave behind, and what many solves do to a process; the figures of docs/security.md.

python benchmarks/robustness.py interrupts --count 50     Ctrl-C at random moments of several commands
python benchmarks/robustness.py kills --count 20          SIGKILL in training, saving and reporting
python benchmarks/robustness.py soak --count 2000         solves in one process
"""

import argparse
import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILE = ROOT / "examples" / "cylinder.toml"
USERS = ROOT / "benchmarks" / "users"
COMMAND = [sys.executable, "-m", "jumpnet"]
TRAINING = '\n[solve]\nmethod = "train"\nneurons = 60\nsteps = 100000\ntol = 1e-15\n'


def whole(folder: Path) -> list[str]:
    """Files in a folder that are cut off or unfinished."""
    import jumpnet as jn

    bad = []
    for path in folder.rglob("*") if folder.exists() else ():
        if path.suffix == ".part":
            bad.append(f"{path.name}: unfinished")
        elif path.suffix == ".jumpnet":
            try:
                jn.load(path)
            except jn.JumpnetError as problem:
                bad.append(f"{path.name}: {problem}")
        elif path.suffix == ".html" and not path.read_bytes().rstrip().endswith(b"</html>"):
            bad.append(f"{path.name}: cut off")
        elif path.suffix == ".png" and not path.read_bytes().endswith(b"IEND\xaeB`\x82"):
            bad.append(f"{path.name}: cut off")
    return bad


@dataclass(frozen=True)
class Command:
    """A command that is interrupted: what it does, and its arguments in a folder."""

    name: str
    arguments: Callable[[Path], list[str]]


def _training(folder: Path) -> list[str]:
    """A training that does not end by itself."""
    (folder / "long.toml").write_text(FILE.read_text(encoding="utf-8") + TRAINING, encoding="utf-8")
    return ["solve", str(folder / "long.toml"), "-o", str(folder / "out")]


def _solve(file: Path) -> Callable[[Path], list[str]]:
    return lambda folder: ["solve", str(file), "-o", str(folder / "out")]


MIXTURE = (
    Command("direct", _solve(FILE)),
    Command("drawing", _solve(USERS / "sink.toml")),
    Command("image", _solve(USERS / "two-phase.toml")),
    Command("polycrystal", _solve(USERS / "polycrystal.toml")),
    Command("training", _training),
    Command("checkpoint", lambda f: ["examples", "pde4", "-o", str(f / "out"), "--checkpoint", str(f / "a.ckpt")]),
)


def _as_at_a_terminal() -> None:
    """In a child, before the command: programs that a shell starts in the background are told to ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@dataclass(frozen=True)
class Ending:
    """How a command ended: its code (None: before the signal), the seconds it took to, its last words, who is left."""

    code: int | None
    seconds: float
    told: str
    left: bool

    @property
    def shown(self) -> str:
        """In words. A process that the signal itself has ended had not come to us yet: 130 for a shell."""
        return "finished before" if self.code is None else "130, by the signal" if self.code == -2 else str(self.code)


def interrupted(arguments: list[str], moment: float) -> Ending:
    """Ctrl-C so long after a command was started: as a terminal does, to all processes of its group."""
    command = [*COMMAND, *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
        preexec_fn=_as_at_a_terminal,
    )  # fmt: skip
    with process:
        try:
            _, told = process.communicate(timeout=moment)
            return Ending(None, 0.0, told, False)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
        sent = time.monotonic()
        _, told = process.communicate(timeout=300)
        seconds = time.monotonic() - sent
        time.sleep(0.2)
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return Ending(process.returncode, seconds, told, False)
        return Ending(process.returncode, seconds, told, True)


def interrupts(count: int, earliest: float, latest: float, seed: int, names: list[str]) -> int:
    """Ctrl-C at random moments of a mixture of commands; how the processes end."""
    chance, codes, slow, bad, kept = random.Random(seed), Counter(), [0.0], [], 0
    mixture = [command for command in MIXTURE if not names or command.name in names]
    for number in range(count):
        command, moment = mixture[number % len(mixture)], chance.uniform(earliest, latest)
        with tempfile.TemporaryDirectory() as name:
            ended = interrupted(command.arguments(Path(name)), moment)
            bad += whole(Path(name)) + (["a process was left"] if ended.left else [])
        codes[ended.shown] += 1
        slow.append(ended.seconds)
        kept += "kept" in ended.told
        last = (ended.told.strip().splitlines() or [""])[-1][-120:]
        print(f"  {command.name:<12} after {moment:5.2f} s: {ended.shown}, {ended.seconds:.1f} s, {last}", flush=True)
        if ended.code not in (None, 130, -2) or (ended.code == 130 and "Traceback" in ended.told):
            print(ended.told[-600:], flush=True)
    print(
        f"interrupts: {dict(codes)}, {kept} with an answer kept, slowest to end {max(slow):.1f} s, damaged {bad}",
        flush=True,
    )
    return 0 if not bad and set(codes) <= {"130", "130, by the signal", "finished before"} else 1


WRITER = """
import sys, numpy as np
import jumpnet as jn
from jumpnet.reporting import write_report
solution = jn.load(sys.argv[1])
print("ready", flush=True)
for k in range(10**6):
    solution.save(sys.argv[2]) if sys.argv[3] == "saving" else write_report(solution, sys.argv[2])
"""
TRAINER = """
import sys, warnings
warnings.simplefilter("ignore")
import jumpnet as jn
from jumpnet.engines.network import checkpoint
checkpoint.EVERY = 0.02
parts = jn.Partition.chain([0.0, 0.5, 1.0])
problem = jn.Problem(parts, A=[1.0, 2.0], f=["sin(9*x1)", 1.0], boundary=jn.Dirichlet(0.0))
model = jn.models.CategoricalEmbedding(neurons=20)
print("ready", flush=True)
optimizer = jn.optim.LevenbergMarquardt(tol=0.0, steps=int(sys.argv[2]))
method = jn.Network(model, optimizer, points=(100, 2, 2), checkpoint=sys.argv[1])
solution = jn.solve(problem, method=method, verify=False, seed=3)
print(solution.theta.tobytes().hex()[:4000])
"""


def killed(script: str, arguments: list[str], moment: float) -> str | None:
    """Run a script and kill it so long after it is ready; what it printed, if it came to its end."""
    with subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return None
        return process.stdout.read()


def kills(count: int, seed: int) -> int:
    """SIGKILL; what was there before or after is there, and the next run leaves no unfinished file."""
    import jumpnet as jn

    chance, bad = random.Random(seed), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        expected, done = killed(TRAINER, [f"{name}/whole.ckpt", "400"], 600.0), 0
        resumed = None
        for _ in range(count):
            resumed = killed(TRAINER, [f"{name}/run.ckpt", "400"], chance.uniform(0.05, 1.0))
            done += resumed is None
        resumed = resumed or killed(TRAINER, [f"{name}/run.ckpt", "400"], 600.0)
        same = resumed == expected
        left = [path.name for path in folder.glob(".*.part")]
        print(f"kills in training: {done} of {count} runs killed, the last ends bit for bit: {same}, left: {left}")
        bad += left + ([] if same else ["training"])
        first = folder / "first.jumpnet"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            jn.read_file(FILE).solve(tol=1e-4).save(first)
        for what, target in (("saving", folder / "a.jumpnet"), ("reporting", folder / "a.html")):
            damaged: list[str] = []
            for _ in range(count):
                killed(WRITER, [str(first), str(target), what], chance.uniform(0.0, 0.5 if what == "saving" else 6.0))
                damaged += [entry for entry in whole(folder) if "unfinished" not in entry]
            unfinished = len(list(folder.glob(".*.part")))
            jn.load(first).save(folder / "b.jumpnet")
            left = [path.name for path in folder.glob(".*.part")]
            print(
                f"kills in {what}: {count}, damaged {damaged}, unfinished {unfinished}, after the next writing {left}"
            )
            bad += damaged + left
    return 1 if bad else 0


def soak(count: int) -> int:
    """Many solves of changing problems in one process: direct ones, some judged, every fiftieth by finite elements."""
    import jumpnet as jn
    from jumpnet.guard.budget import resident

    warnings.simplefilter("ignore")

    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    def one(number: int) -> None:
        chance = random.Random(number)
        k, radius = chance.uniform(0.01, 100.0), chance.uniform(0.1, 0.5)
        if number % 4 == 0:
            parts = jn.Partition.chain([0.0, chance.uniform(0.2, 0.8), 1.0])
            problem = jn.Problem(parts, A=[1.0, k], f=["sin(3*x1)", 1.0], boundary=jn.Dirichlet(0.0))
        else:
            disk = jn.Disk((chance.uniform(-0.2, 0.2), 0.1), radius)
            parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [disk])
            problem = jn.Problem(parts, A=[1.0, k], boundary=jn.Dirichlet("x1 + x2**2"))
        method = "fem" if number % 50 == 25 else "auto"
        solution = jn.solve(problem, tol=1e-3, verify=number % 10 == 1, method=method)
        solution([[0.3]] if problem.dim == 1 else [[0.3, 0.2]])

    one(25)  # whatever is opened once and for good: the mesher's process waits for the next mesh
    began, memory, first, processes = time.perf_counter(), {}, descriptors(), _children()
    for number in range(count):
        one(number)
        if number + 1 in (100, count) or (number + 1) % 200 == 0:
            gc.collect()
            memory[number + 1] = resident() / 1e6
            print(
                f"  {number + 1} solves, {memory[number + 1]:.0f} MB, {threading.active_count()} threads, "
                f"{descriptors()} descriptors, {time.perf_counter() - began:.0f} s",
                flush=True,
            )
    growth = memory[count] / memory[min(100, count)] - 1.0
    time.sleep(1.0)
    left = {
        "threads": threading.active_count() - 1,
        "processes": _children() - processes,
        "descriptors": descriptors() - first,
    }
    print(f"soak: {count} solves, memory {100 * growth:+.1f} % since the hundredth, left: {left}", flush=True)
    return 0 if growth < 0.05 and not any(left.values()) else 1


def _children() -> int:
    """Processes that this one has started and that are still there, apart from multiprocessing's own tracker."""
    found = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(entry.read_text().rsplit(")", 1)[1].split()[1])
            command = (entry.parent / "cmdline").read_bytes()
        except OSError:
            continue
        found += parent == os.getpid() and b"resource_tracker" not in command
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("interrupts", "kills", "soak"))
    parser.add_argument("--count", type=int)
    parser.add_argument("--earliest", type=float, default=0.0, help="seconds until the earliest Ctrl-C")
    parser.add_argument("--latest", type=float, default=10.0, help="seconds until the latest Ctrl-C")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=[], help="of the commands that are interrupted, these")
    given = parser.parse_args()
    if given.what == "interrupts":
        return interrupts(given.count or 50, given.earliest, given.latest, given.seed, given.only)
    return kills(given.count or 20, given.seed) if given.what == "kills" else soak(given.count or 2000)


if __name__ == "__main__":
    sys.exit(main())
