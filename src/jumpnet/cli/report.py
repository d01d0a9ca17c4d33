"""`jumpnet report`: a saved solution, in words and as a page."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jumpnet.cli.session import Session, exit_code
from jumpnet.errors import SolutionError
from jumpnet.guard.budget import Budget

if TYPE_CHECKING:
    from jumpnet.solution import Solution, TrustReport


def summary(solution: "Solution", report: "TrustReport | None" = None) -> dict[str, Any]:
    """The trust report for scripts; JSON can hold it."""
    report = solution.report() if report is None else report
    done = report.diagnostics
    finite = {"estimate": solution.estimate, "loss": solution.loss, "held out loss": solution.held_out_loss}
    return {
        "status": solution.status.name.lower(),
        "converged": solution.status.ok,
        "alarm": report.alarm or None,
        "method": done.method,
        **{name: value if math.isfinite(value) else None for name, value in finite.items()},
        "judged": None if report.judged is None else report.judged.as_json(),
        "error": None if report.errors is None else {"l2": report.errors.l2, "linf": report.errors.linf},
        "parameters": report.parameters,
        f"{report.unit}s": solution.steps,
        "seconds": done.seconds if math.isfinite(done.seconds) else None,
        "residuals": {r.term: {"rows": r.rows, "physical": r.physical, "scaled": r.scaled} for r in report.held_out},
        "balances": {balance.name: {"defect": balance.defect, "fails": balance.fails} for balance in report.balances},
    }


def run(session: Session, file: str, output: str | None, as_json: bool, budget: Budget) -> int:
    """Print the trust report and write the page."""
    from jumpnet.solution import load

    solution = load(file, budget=budget)
    page = Path(output) if output is not None else Path(file).with_suffix(".html")
    if page.exists() and page.samefile(file):
        raise SolutionError(
            f"the page would take the place of the solution {file!r}; give it a name of its own, -o OUT.html."
        )
    from jumpnet.reporting import Context, write_report
    from jumpnet.reporting.page.page import checked_report

    report = checked_report(solution)
    context = Context(saved=Path(file).name, command=session.command, alarm=report.alarm)
    write_report(solution, page, title=Path(file).stem, context=context)
    session.keep(page)
    if as_json:
        session.say_json(summary(solution, report))
    else:
        if report.alarm:
            session.alarm(report.alarm)
        session.say(str(report))
        session.say_written()
    return exit_code(solution.status)
