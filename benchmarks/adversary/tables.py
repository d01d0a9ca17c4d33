"""What the runs come to: lines, counts by class, lists of what is wrong, and comparisons."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from benchmarks.adversary.work import Run

FALSE = 3.0  # a false success is CONVERGED with an error above FALSE times the tolerance
LOWEST, HIGHEST = 1 / 3, 100.0  # estimate / error of converged runs must lie between these
SMALL = 1e-10  # errors below this part of the variation are not asked for an effectivity
KINDS = (
    "converged",
    "false",
    "off",
    "bar",
    "no estimate",
    "not converged",
    "refused",
    "time-out",
    "traceback",
    "warnings",
)


def relative(run: Run) -> float:
    """The true error relative to the variation."""
    return run.error / run.variation


def is_false(run: Run) -> bool:
    """Whether it is called converged and wrong by more than three tolerances (an error that is not finite included)."""
    return run.outcome == "CONVERGED" and not relative(run) <= FALSE * run.tol


def effectivity(run: Run) -> float:
    """Estimate / true error of a converged run whose error can be seen; nan where that is not asked for."""
    if run.outcome != "CONVERGED" or not run.pointwise or not relative(run) > SMALL:
        return np.nan
    return run.estimate / run.error


def is_off(run: Run) -> bool:
    """Whether the estimate is too far from the error to be of use."""
    ratio = effectivity(run)
    return bool(np.isfinite(ratio)) and not LOWEST <= ratio <= HIGHEST


def kinds(run: Run) -> list[str]:
    """All that is to be counted about a run."""
    found = []
    if run.outcome == "CONVERGED":
        found.append("converged")
        found += (
            ["false"] * is_false(run)
            + ["off"] * is_off(run)
            + ["bar"] * (run.bar > 1)
            + ["no estimate"] * bool(np.isnan(run.estimate))
        )
    elif run.outcome in ("REFUSED", "TIME-OUT"):
        found.append(run.outcome.lower())
    elif run.outcome in ("TRACEBACK", "DIED"):
        found.append("traceback")
    else:
        found.append("not converged")
    return found + ["warnings"] * bool(run.escaped)


HEAD = f"{'status':12} {'estimate':>8} {'error':>8} {'tol':>6} {'est/err':>8} {'seconds':>7}  problem"


def line(run: Run) -> str:
    """One run on one line; estimate and error relative to the variation."""
    mark = "FALSE " if is_false(run) else "off " if is_off(run) else ""
    mark += "BAR " if run.bar > 1 else ""
    text = f"{run.name}, seed {run.seed}" + (f" [{run.message[:150]}]" if run.message else "")
    seen = run.pointwise and run.error > 0 and np.isfinite(run.judged)
    judged = f" judged/true {run.judged / run.error:.2g}" if seen else ""
    if run.escaped:
        text += f" ({len(run.escaped)} warnings: {run.escaped[0][:60]})"
    return (
        f"{run.outcome:12} {run.estimate / run.variation:8.1e} {relative(run):8.1e} {run.tol:6.0e} "
        f"{effectivity(run):8.2g} {run.seconds:7.2f}  {mark}{text}{judged}"
    )


def table(runs: Sequence[Run]) -> str:
    """Counts by class as a Markdown table."""
    rows = [f"| class | runs | {' | '.join(KINDS)} |", "|" + "---|" * (len(KINDS) + 2)]
    groups = sorted({run.group for run in runs})
    for group in [*groups, "all"]:
        mine = [run for run in runs if group in (run.group, "all")]
        found = [kind for run in mine for kind in kinds(run)]
        rows.append(f"| {group} | {len(mine)} | {' | '.join(str(found.count(kind)) for kind in KINDS)} |")
    return "\n".join(rows)


def lists(runs: Sequence[Run]) -> str:
    """The runs that are wrong, by kind."""
    parts = []
    for kind in ("false", "off", "bar", "no estimate", "traceback", "refused", "time-out", "warnings"):
        mine = [run for run in runs if kind in kinds(run)]
        if mine:
            parts.append(f"\n{kind} ({len(mine)}):\n{HEAD}\n" + "\n".join(line(run) for run in mine))
    ratios = [effectivity(run) for run in runs if np.isfinite(effectivity(run))]
    if ratios:
        low, middle, high = np.quantile(ratios, [0.0, 0.5, 1.0])
        parts.append(
            f"\nestimate / error of {len(ratios)} converged runs: {low:.2g} to {high:.2g}, median {middle:.2g}"
        )
    judged = [run.judged / run.error for run in runs if np.isfinite(run.judged) and run.error > 0 and run.pointwise]
    if judged:
        low, middle, high = np.quantile(judged, [0.0, 0.5, 1.0])
        parts.append(f"judged / true error of {len(judged)} runs: {low:.2g} to {high:.2g}, median {middle:.2g}")
    return "\n".join(parts)


def store(runs: Sequence[Run], path: str | Path) -> None:
    """Write the runs as JSON, one a line; numbers to four digits."""

    def short(value: object) -> object:
        if isinstance(value, float):
            return float(f"{value:.4g}") if np.isfinite(value) else str(value)
        return value

    rows = [json.dumps({key: short(value) for key, value in asdict(run).items()}) for run in runs]
    Path(path).write_text("[\n" + ",\n".join(rows) + "\n]\n")


def load(path: str | Path) -> list[Run]:
    """The runs of a file."""
    number = ("estimate", "judged", "error", "variation", "largest", "seconds", "bar")
    found = []
    for row in json.loads(Path(path).read_text()):
        values = {key: float(value) if key in number else value for key, value in row.items()}
        found.append(Run(**{**values, "escaped": tuple(row["escaped"])}))
    return found


def compared(old: Sequence[Run], new: Sequence[Run]) -> str:
    """What changed between two sets of runs: outcomes, false successes, and times that doubled."""
    before = {(run.name, run.seed): run for run in old}
    rows = []
    for run in new:
        was = before.get((run.name, run.seed))
        if was is None:
            continue
        slower = run.seconds > 2 * was.seconds and run.seconds > was.seconds + 0.5
        if run.outcome != was.outcome or is_false(run) != is_false(was) or slower:
            words = [
                f"{r.outcome}{' (false)' if is_false(r) else ''} {relative(r):.1e} {r.seconds:.1f} s"
                for r in (was, run)
            ]
            rows.append(f"{words[0]:40} -> {words[1]:40} {run.name}, seed {run.seed}")
    return "\nchanged:\n" + ("\n".join(rows) or "nothing")
