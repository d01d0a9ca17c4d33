"""Problems with known answers, by people who want to break the program: does it ever call a wrong answer right?

    python -m benchmarks.adversary [--part seen|aside|all] [--only CLASS] [--seeds 3] [--limit 60] [--jobs 1]
        [--network] [--verify] [--json FILE] [--compare OLD.json]
    python -m benchmarks.adversary --check [--only CLASS]     are the closed forms right? (no solve)
    python -m benchmarks.adversary --list                     names, classes, tolerances
    python -m benchmarks.adversary --one NAME [--seed 0]      one problem in this process
    python -m benchmarks.adversary --draw                     write aside.txt: a third, drawn with a fixed seed

From the root of the repository, with jumpnet installed (or src on the PYTHONPATH). Every problem has a closed form, or
functionals with known values (symmetries, balances); `--check` verifies each closed form by differences of the
equation, jumps and boundary conditions at random points. Each run is done by a worker that is killed when its CPU time
is over. Per run: status, estimate and true RMS error (both relative to the variation of u, its RMS deviation from its
mean), tol, estimate / error, CPU seconds. Counted, by class:

- false: CONVERGED with a true error above 3 tol times the variation;
- off: CONVERGED, error above 1e-10 of the variation, estimate / error not in [1/3, 100];
- bar: a quantity whose exact value is outside its error bar;
- no estimate: CONVERGED with estimate nan; not converged: any other status; refused: a JumpnetError;
- time-out, traceback (any other exception, or a process that died), warnings: NumPy's and others' that escape.

--network trains a network on the problems marked for it. The part put aside is only run at the end of a development.
"""

import argparse
import json
import sys
from collections import Counter
from dataclasses import asdict

from benchmarks.adversary import registry, tables
from benchmarks.adversary.check import check
from benchmarks.adversary.pool import run_all
from benchmarks.adversary.work import Run, run, serve

from jumpnet.errors import JumpnetError


def main() -> None:
    """Do what the arguments say."""
    parser = argparse.ArgumentParser(
        prog="benchmarks.adversary", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--part", choices=("seen", "aside", "all"), default="seen")
    parser.add_argument("--only", metavar="CLASS", help="a class (or several, with commas), or the name of a problem")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of CPU time for each run")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--network", action="store_true", help="train networks on the problems marked for it")
    parser.add_argument("--verify", action="store_true", help="pass verify=True to solve")
    parser.add_argument("--json", metavar="FILE", help="store the runs")
    parser.add_argument("--compare", metavar="OLD.json", help="say what changed since these runs")
    parser.add_argument("--check", action="store_true", help="verify the closed forms instead of solving")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--one", metavar="NAME")
    parser.add_argument("--seed", type=int, default=0, help="of --one; the first of --seeds")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(network=given.network, verify=given.verify)
    elif given.draw:
        registry.ASIDE.write_text("\n".join(registry.draw()) + "\n")
    elif given.list:
        listed(given)
    elif given.check:
        checked(given)
    elif given.one:
        result = run(registry.all_cases()[given.one], given.seed, network=given.network, verify=given.verify)
        print(json.dumps(asdict(result)) if given.json else f"{tables.HEAD}\n{tables.line(result)}")
    else:
        ran(given)


def listed(given: argparse.Namespace) -> None:
    """Print names, classes and tolerances."""
    apart, chosen = registry.aside(), registry.select("all", given.only, given.network)
    for case in chosen:
        marks = ("aside " if case.name in apart else "") + ("network " if case.network else "")
        print(f"{case.group:10} {case.tol:6.0e} {'u' if case.exact else 'functionals':11} {marks:14} {case.name}")
    print(f"{len(chosen)} problems, {len(apart)} put aside; {dict(Counter(case.group for case in chosen))}")


def checked(given: argparse.Namespace) -> None:
    """Verify closed forms; exit code 1 if one of them is wrong."""
    wrong, count = [], 0
    for case in registry.select("all", given.only, False):
        if case.exact is None:
            continue
        count += 1
        try:
            found = check(case)
        except JumpnetError as error:
            print(f"{'refused':35}  {case.name}: {error}", flush=True)
            continue
        fine = found.fine(case.slack)
        wrong += [] if fine else [case.name]
        print(
            f"{'ok' if fine else 'WRONG':6} {found.pde:8.1e} {found.boundary:8.1e} {found.jumps:8.1e}  {case.name}",
            flush=True,
        )
    print(f"{count} closed forms, {len(wrong)} wrong: {wrong or 'none'}")
    sys.exit(bool(wrong))


def ran(given: argparse.Namespace) -> None:
    """Run problems and print what came of them."""
    chosen = registry.select(given.part, given.only, given.network)
    tasks = [(case, seed) for case in chosen for seed in range(given.seed, given.seed + given.seeds)]
    options = ["--network"] * given.network + ["--verify"] * given.verify
    runs: list[Run] = []

    def tell(result: Run) -> None:
        runs.append(result)
        print(tables.line(result), flush=True)
        if given.json:
            tables.store(runs, given.json)

    print(tables.HEAD, flush=True)
    run_all(tasks, options, given.limit, given.jobs, tell)
    print(f"\n{tables.table(runs)}\n{tables.lists(runs)}")
    if given.compare:
        print(tables.compared(tables.load(given.compare), runs))


if __name__ == "__main__":
    main()
