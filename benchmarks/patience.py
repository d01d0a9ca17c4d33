"""How patient a user has to be: time limits, silences on the terminal, and what comes after a solve.

    python -m benchmarks.patience limits [NAME ...]      solves with time limits: what they take
    python -m benchmarks.patience silence [NAME ...]     the longest time without a sign of life on a terminal
    python -m benchmarks.patience after [NAME ...]       report, figures and VTK, once solved

Names are files of benchmarks/users, and "waves" (Helmholtz, k = 200). Limits are measured in CPU seconds: the clocks
of the program are set to its CPU time and the mesher runs in its process, so that other programs on the machine do not
matter. A silence is given in seconds by the clock, with the CPU seconds the command (and its mesher) took meanwhile.
"""

import argparse
import os
import pty
import select
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FILES = HERE / "users"
PLANE = ("sink", "board", "two-phase", "grains", "polycrystal")
# Tolerances that are not met in these seconds; a limit counts as kept up to a fifth more.
TOL, SECONDS, FIFTH = 1e-8, (2.0, 5.0, 10.0), 1.2
WAVES = 200.0
TICKS = os.sysconf("SC_CLK_TCK")


def waves() -> Any:
    """Helmholtz's equation with k = 200 in a square with a disk, between two plane waves."""
    import jumpnet as jn

    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.1, 0), 0.4)])
    k = WAVES
    u = [f"cos({0.6 * k}*x1 + {0.8 * k}*x2)", f"sin({0.5 * k}*x1 - {0.5 * k}*x2)"]
    return jn.manufactured(parts, u, A=[1.0, 2.0], lam=-(k**2))


def limits(name: str) -> None:
    """Print what solves with time limits take."""
    time.perf_counter = time.monotonic = time.process_time  # before the program takes them
    import jumpnet as jn
    from jumpnet.files import read_file
    from jumpnet.guard.child import HERE as NO_CHILDREN

    warnings.simplefilter("ignore")
    os.environ[NO_CHILDREN] = "1"
    square = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Disk((0.5, 0.5), 0.2)])
    jn.solve(jn.Problem(square, A=["1 + x1", 2.0], f=1.0, boundary=jn.Dirichlet(0)), method="fem", tol=1e-3)
    for seconds in SECONDS:
        problem = waves() if name == "waves" else read_file(FILES / f"{name}.toml").problem
        began = time.process_time()
        found = jn.solve(problem, tol=TOL, time_limit=seconds)
        took = time.process_time() - began
        kept = "kept" if took <= FIFTH * seconds else "NOT KEPT"
        how = f"{found.status.name}, estimate {found.estimate:.1e}, {found.diagnostics.method}"
        print(
            f"{name:12} limit {seconds:4.0f} CPU s: took {took:5.1f} ({took / seconds:4.2f}) {kept}, {how}", flush=True
        )


def _cpu(pid: int) -> float:
    """CPU seconds of a process and its children so far."""
    total = 0.0
    for one in (pid, *_children(pid)):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        total += sum(int(fields[k]) for k in (11, 12)) / TICKS
    return total


def _children(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def silence(name: str) -> None:
    """Print the longest times without output on a terminal, and what was seen last before them."""
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "jumpnet", "solve", str(FILES / f"{name}.toml"), "-o", folder]
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True)
        os.close(theirs)
        began = last = time.perf_counter()
        cpu, seen, gaps = 0.0, "the start", []
        while True:
            ready = select.select([ours], [], [], 0.1)[0]
            now = time.perf_counter()
            if ready:
                try:
                    text = os.read(ours, 65536).decode(errors="replace")
                except OSError:
                    break
                if not text:
                    break
                used = _cpu(process.pid)
                gaps.append((now - last, used - cpu, now - began, seen))
                last, cpu = now, used
                words = "".join(c if c.isprintable() else " " for c in text).split()
                seen = " ".join(words)[-60:] or seen
            elif process.poll() is not None:
                break
        process.wait()
        os.close(ours)
    print(f"{name:12} {time.perf_counter() - began:.1f} s, longest silences:")
    for wall, used, at, words in sorted(gaps, reverse=True)[:4]:
        print(f"    {wall:5.1f} s ({used:4.1f} CPU s) until {at:5.1f} s, after {words!r}", flush=True)


def after(name: str) -> None:
    """Print the CPU seconds of report, figures and VTK of a solved file."""
    from jumpnet.files import read_file
    from jumpnet.files.beside import half_resolution
    from jumpnet.files.outputs import results, write

    warnings.simplefilter("ignore")
    read = read_file(FILES / f"{name}.toml")
    with half_resolution(read) as coarse, tempfile.TemporaryDirectory() as folder:
        solution = read.solve()
        began = time.process_time()
        found = results(read, solution, coarse)
        numbers = time.process_time() - began
        solution.save(Path(folder) / "solution.jumpnet")
        write(read, solution, found, Path(folder), lambda path: None)
        took = time.process_time() - began
    print(f"{name:12} {took:.1f} CPU s after the solve, {numbers:.1f} of them for the quantities", flush=True)


def main() -> None:
    """Run one of the three, each file in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("limits", "silence", "after"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args()
    names = given.names or [*PLANE, *(["waves"] if given.what == "limits" else [])]
    if len(names) > 1:
        for name in names:
            subprocess.run([sys.executable, "-m", "benchmarks.patience", given.what, name], check=False)
        return
    {"limits": limits, "silence": silence, "after": after}[given.what](names[0])


if __name__ == "__main__":
    main()
