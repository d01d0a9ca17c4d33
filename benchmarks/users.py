"""Problem files like a new user's, from the shell, beside independent values.

    python -m benchmarks.users [NAME ...] [--limit 120] [--peers] [--engine] [--json OUT]

Each file of benchmarks/users is solved as a user does, `jumpnet solve FILE -o DIR`, report, figures and VTK included,
in a process of its own. Shown are wall and CPU seconds, the exit code, and each quantity with its error bars beside the
value of a plain NGSolve script (drawings: benchmarks/peers/users_ngsolve.py, order 3, the finest of uniform
refinements) or of bilinear elements on refined pixels (images: benchmarks/peers/users_staircase.py). `--peers` computes
these values anew and prints how long the scripts take to come within 1e-3 and 1e-5 of their own finest values;
`--engine` runs both side by side: `solve` without reading, report and figures, but with the mesh and the judge, in a
process that has solved a small problem before (imports); on images also TauFactor, where it and torch are installed
(extra `bench`).
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
FILES = HERE / "users"
PEERS = HERE / "peers"
IMAGES = ("two-phase", "grains", "polycrystal")
DRAWINGS = ("sink", "board")
# In space: not part of the run without a name.
SPACE = ("volume", "torus", "bracket")
# Of the independent value: how far a quantity may be off. Staircases differ from smooth curves by the latter.
ALLOWED = {"drawing": 0.005, "body": 0.005, "image": 0.02}
# From the scripts of --peers, entered by hand: of drawings the limit of their refinements (NGSolve, three levels and an
# extrapolation), of images the finest staircase that was run (--finer 1,2)..
# Of bodies: benchmarks/peers/users_space.py, the highest order; of the volume: the balls themselves on 144^3 voxels.
KNOWN: dict[str, dict[str, float]] = {
    "torus": {"heat": 2.4963},
    "bracket": {"heat": 2.36693},
    "volume": {"heat": 1.849},
    "sink": {"temperature of the chip": 1.40439, "temperature of the sink": 1.27876, "heat into the sink": -0.02},
    "board": {
        "temperature of the package": 4.0653,
        "temperature of the plane": 0.156946,
        "heat into the plate": -0.0994312,
    },
    "two-phase": {"heat": 2.4440, "mean of the filler": 0.49173},
    "grains": {"heat": 87.5506},
    "polycrystal": {"heat": 3.19765, "mean of the quartz": 0.62695},
}


@dataclass(frozen=True)
class Run:
    """What came of a command."""

    name: str
    wall: float
    cpu: float
    code: int
    found: dict[str, object]
    words: str

    @property
    def quantities(self) -> dict[str, dict[str, float]]:
        """Values and errors by name."""
        return self.found.get("quantities", {})  # type: ignore[return-value]


def run(name: str, limit: float) -> Run:
    """Solve a file from the shell."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "jumpnet", "solve", str(FILES / f"{name}.toml"), "-o", folder, "--json"]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env=os.environ)
            code, out, words = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            code, out, words = -1, "", (late.stderr or b"").decode(errors="replace")
        wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    start = out.find("{")
    return Run(name, wall, cpu, code, json.loads(out[start:]) if start >= 0 and code in (0, 1) else {}, words)


def described(one: Run) -> list[str]:
    """A run in lines of a table."""
    status = {0: "solved", 1: "not converged", 2: "refused", -1: "time limit"}.get(one.code, f"exit {one.code}")
    lines = [f"{one.name:12} {status:14} {one.wall:6.1f} s wall {one.cpu:6.1f} s CPU"]
    kind = "drawing" if one.name in DRAWINGS else "body" if one.name in ("torus", "bracket") else "image"
    allowed = ALLOWED[kind]
    for name, of in one.quantities.items():
        bars = f"± {of['error'] if of['error'] is not None else of['quadrature error']:.1e}"
        if of.get("resolution error") is not None:
            bars += f", pixels ± {of['resolution error']:.1e}"
        known = KNOWN.get(one.name, {}).get(name)
        beside = ""
        if known is not None:
            off = abs(of["value"] - known) / abs(known)
            beside = f"  independent {known:.6g}, off by {100 * off:.2f} %{'' if off <= allowed else '  TOO FAR'}"
        lines.append(f"    {name:28} {of['value']:.6g} ({bars}){beside}")
    if one.code not in (0, 1):
        lines += [f"    {line}" for line in one.words.strip().splitlines()[-2:]]
    return lines


def materials(name: str) -> list[str]:
    """The arguments of the scripts for an image: the labels of each material and its A."""
    import tomllib

    file = tomllib.loads((FILES / f"{name}.toml").read_text())
    found = []
    for entry in (file["background"], *file["pieces"].values()):
        A = entry["A"] if "A" in entry else file["materials"][entry["material"]]["A"]
        text = f"{A[0][0]}:{A[0][1]}:{A[1][1]}" if isinstance(A, list) else str(A)
        labels = entry.get("labels", [entry.get("label")])
        found += ["--A", f"{','.join(map(str, labels))}={text}"]
    return found


def peer(name: str) -> list[dict[str, float]]:
    """The lines of the script that computes independent values."""
    if name in DRAWINGS:
        command = [sys.executable, str(PEERS / "users_ngsolve.py"), name, "--levels", "5" if name == "sink" else "4"]
    else:
        image = str(FILES / "data" / f"{name}.png")
        command = [sys.executable, str(PEERS / "users_staircase.py"), image, *materials(name)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def peers(name: str, variation: float | None = None) -> None:
    """Print independent values and how long they take; to parts of the variation of u too, where that is given."""
    lines = peer(name)
    last = lines[-1]
    for line in lines:
        print(f"{name:12} {json.dumps({k: v for k, v in line.items() if not isinstance(v, dict)})}")
    first = next(iter(KNOWN[name]))
    key = first if first in last else "heat"
    for tol in (1e-3, 1e-5):
        near = [line for line in lines[:-1] if abs(line[key] - last[key]) <= tol * abs(last[key])]
        when = f"{near[0]['cpu']:.2f} CPU s" if near else "not before the finest"
        print(f"{name:12} within {tol:g} of the finest ({key}): {when}")
        if variation is not None and name in DRAWINGS:  # a temperature, as accurate as `tol` asks of u
            near = [line for line in lines[:-1] if abs(line[key] - last[key]) <= tol * variation]
            when = f"{near[0]['cpu']:.2f} CPU s" if near else "not before the finest"
            print(f"{name:12} within {tol:g} of the variation of u, {variation:.3g}: {when}")


def engine(name: str) -> float:
    """Print how long a solve takes, to 1e-3 and to 1e-5, and what its first quantity is then; the variation of u."""
    import warnings

    import jumpnet as jn
    from jumpnet.files import read_file
    from jumpnet.guard.child import HERE as NO_CHILDREN
    from jumpnet.solution.quantities import variation

    warnings.simplefilter("ignore")
    os.environ[NO_CHILDREN] = "1"  # the mesher in this process, so that its seconds are counted
    square = jn.Partition(jn.Box((0, 0), (1, 1)), [jn.Disk((0.5, 0.5), 0.2)])
    jn.solve(jn.Problem(square, A=["1 + x1", 2.0], f=1.0, boundary=jn.Dirichlet(0)), method="fem", tol=1e-3)
    solution = None
    for tol in (1e-3, 1e-5):
        for verify in ("auto", False):
            read = read_file(FILES / f"{name}.toml")  # anew: meshes are kept with the partition
            wall, cpu = time.perf_counter(), time.process_time()
            solution = read.solve(tol=tol, verify=verify)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            first, value = next(iter(read.quantities(solution).items()))
            judged = "judged" if verify else "not judged"
            print(
                f"{name:12} tol {tol:g}, {judged}: {cpu:.2f} CPU s ({wall:.2f} s), {solution.status.name}, "
                f"{first} {value.value:.8g}",
                flush=True,
            )
    assert solution is not None
    return variation(solution)[0]


def taufactor(name: str) -> None:
    """Print what TauFactor makes of an image, if it is installed and the materials are isotropic."""
    if any(":" in entry for entry in materials(name)):
        print(f"{name:12} TauFactor: only for materials that conduct alike in all directions")
        return
    known = KNOWN[name]["heat"]
    for tol in ("1e-2", "1e-3", "1e-4"):
        image = str(FILES / "data" / f"{name}.png")
        command = [sys.executable, str(PEERS / "users_taufactor.py"), image, *materials(name), "--tol", tol]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{name:12} TauFactor: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
            return
        line = json.loads(done.stdout.splitlines()[-1])
        off = 100 * abs(line["heat"] - known) / known
        print(f"{name:12} TauFactor, tol {tol}: {line['cpu']:.2f} CPU s, heat {line['heat']:.6g}, off by {off:.2f} %")


def main() -> None:
    """Run the files that are named, or all plane ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each command")
    parser.add_argument("--peers", action="store_true", help="compute the independent values")
    parser.add_argument("--engine", action="store_true", help="solve alone, beside the scripts")
    parser.add_argument("--json", metavar="OUT")
    given = parser.parse_args()
    names = given.names or [*DRAWINGS, *IMAGES]
    unknown = [name for name in names if name not in (*DRAWINGS, *IMAGES, *SPACE)]
    if unknown:
        parser.error(f"there is no file {unknown[0]}.toml; choose of {', '.join((*DRAWINGS, *IMAGES, *SPACE))}.")
    if given.peers or given.engine:
        for name in names:
            peers(name, engine(name) if given.engine else None)
            if name in IMAGES:
                taufactor(name)
        return
    done = []
    for name in names:
        done.append(run(name, given.limit))
        print("\n".join(described(done[-1])), flush=True)
    if given.json:
        rows = [{"name": r.name, "wall": r.wall, "cpu": r.cpu, "code": r.code, "found": r.found} for r in done]
        Path(given.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
