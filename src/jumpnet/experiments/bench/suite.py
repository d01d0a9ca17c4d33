"""All comparisons, and the run that goes through them."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from jumpnet.errors import ProblemError
from jumpnet.experiments.bench import evaluation, growth, kernels, latency, pieces, training
from jumpnet.experiments.bench.plan import Plan
from jumpnet.experiments.bench.report import Comparison, Report, Table, Tell
from jumpnet.experiments.bench.timing import load

# All comparisons by name, in the order of the report.
COMPARISONS = {
    comparison.name: comparison
    for comparison in (
        training.TRAINING,
        kernels.ASSEMBLY,
        kernels.STEP,
        pieces.DENSE,
        pieces.GROWTH,
        growth.GROWTH,
        training.ACCURACY,
        evaluation.EVALUATION,
        latency.LATENCY,
    )
}


def chosen(names: Sequence[str]) -> list[Comparison]:
    """The comparisons of these names, in this order; all of them for none."""
    for name in names:
        if name not in COMPARISONS:
            near = get_close_matches(name, COMPARISONS, n=1)
            hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(COMPARISONS)}."
            raise ProblemError(f"there is no comparison {name!r}; {hint}")
    return [COMPARISONS[name] for name in dict.fromkeys(names or COMPARISONS)]


def run(
    report: Report, comparisons: Sequence[Comparison], plan: Plan, tell: Tell, changed: Callable[[Table, bool], None]
) -> None:
    """Measure one after the other; `changed(table, done)` is called after each item and once more at the end."""
    for number, comparison in enumerate(comparisons, start=1):
        table = Table(comparison.name, comparison.title, comparison.included)
        report.tables.append(table)

        def named(text: str, number: int = number, name: str = comparison.name) -> None:
            tell(f"{number}/{len(comparisons)} {name}: {text}")

        for item in comparison.measure(plan, named):
            table.add(item)
            changed(table, False)
        report.machine["load average at the end"] = load()
        changed(table, True)
