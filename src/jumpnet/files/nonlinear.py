"""Files whose formulas use u: the nonlinear problem, and the linear one about the start."""

from collections.abc import Mapping
from typing import Any

from jumpnet.errors import ProblemError
from jumpnet.fields import Field
from jumpnet.files.schema import File
from jumpnet.files.values import Scope
from jumpnet.problem import Jump, Neumann, Problem, Robin
from jumpnet.studies import NonlinearProblem
from jumpnet.studies.nonlinear.dependent import Dependent
from jumpnet.studies.nonlinear.linearised import linearised
from jumpnet.studies.nonlinear.state import State


def uses_u(data: Any) -> bool:
    """Whether a datum, or one of several, depends on u."""
    match data:
        case Mapping():
            return any(map(uses_u, data.values()))
        case list():
            return any(map(uses_u, data))
        case Robin():
            return uses_u([data.alpha, data.g])
        case Neumann():
            return uses_u(data.g)
        case Jump():
            return uses_u(data.R)
        case _:
            return isinstance(data, Dependent)


def nonlinear_problem(file: File, scope: Scope, statement: Mapping[str, Any]) -> NonlinearProblem | None:
    """The problem whose data depend on u, None if no datum does; ProblemError for data that may not."""
    if not uses_u(statement):
        if "nonlinear" in file.model_fields_set:
            raise ProblemError("nonlinear: no formula of the file uses u; leave it out.")
        return None
    if file.mean is not None:
        raise ProblemError("mean: where formulas use u a constant cannot be left open; leave mean out.")
    if file.data and file.fit is None:
        raise ProblemError(
            "data[0]: where formulas use u, measured values are for fits only; name unknowns in [fit], or leave it out."
        )
    for name, entry in file.quantities.items():
        if entry.kind == "effective":
            raise ProblemError(f"quantities.{name}: where formulas use u there is no effective tensor; leave it out.")
    continued(file, scope)
    return NonlinearProblem(**statement)


def start_of(file: File, scope: Scope) -> Field:
    """Where Newton's method begins."""
    return scope.field(file.nonlinear.start, "nonlinear.start")


def continued(file: File, scope: Scope) -> list[dict[str, float]]:
    """Values of a constant to solve for on the way to its own."""
    for name, values in file.nonlinear.continuation.items():
        if name not in file.constants:
            known = ", ".join(file.constants) or "none"
            raise ProblemError(f"nonlinear.continuation.{name} is no constant of the file; its constants are: {known}.")
        return [{name: value} for value in scope.vector(values, f"nonlinear.continuation.{name}")]
    return []


def about_start(problem: NonlinearProblem, start: Field) -> Problem:
    """The linear problem about the start; ProblemError says so where data are no numbers there."""
    state = State(fields=[start] * problem.partition.size)
    try:
        return linearised(problem, state)
    except ProblemError as refused:
        raise ProblemError(
            f"{refused} This is so at the start; another one is given by `start` in the table [nonlinear]."
        ) from None
