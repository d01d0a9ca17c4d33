"""What jumpnet raises when the input, not the program, is at fault.

Every message is one sentence or two: what was given, what is wanted, what to do. The command line prints it and
exits with code 2; whatever else is raised is a fault of ours, and code 3.
"""

import sys
import warnings


class JumpnetError(ValueError):
    """The user's input cannot be used as it is; the message says how to mend it.

    Example:
        >>> import jumpnet as jn
        >>> try:
        ...     jn.Disk((0, 0), -1.0)
        ... except jn.JumpnetError:
        ...     print("refused")
        refused
    """


class ExpressionError(JumpnetError):
    """A formula given as text is not in the language of expressions.

    Example:
        >>> import jumpnet as jn
        >>> try:
        ...     jn.LevelSet("x1 +", dim=1)
        ... except jn.ExpressionError:
        ...     print("refused")
        refused
    """


class GeometryError(JumpnetError):
    """A shape or a partition does not describe a region.

    Example:
        >>> import jumpnet as jn
        >>> try:
        ...     jn.Interval(1, 0)
        ... except jn.GeometryError:
        ...     print("refused")
        refused
    """


class ProblemError(JumpnetError):
    """Coefficients, conditions or data do not state a solvable problem.

    Example:
        >>> import jumpnet as jn
        >>> try:
        ...     jn.Problem(jn.Partition(jn.Interval(0, 1)), A=-1.0)
        ... except jn.ProblemError:
        ...     print("refused")
        refused
    """


class ModelError(JumpnetError):
    """A model, a chart or an optimiser is asked for something it cannot be.

    Example:
        >>> import jumpnet as jn
        >>> try:
        ...     jn.FEM(order=0)
        ... except jn.ModelError:
        ...     print("refused")
        refused
    """


class SolutionError(JumpnetError):
    """A solution is asked for something it cannot answer, or a file is not a solution.

    Example:
        >>> import jumpnet as jn
        >>> try:
        ...     jn.load("nothing.jumpnet")
        ... except jn.SolutionError:
        ...     print("refused")
        refused
    """


class BudgetError(JumpnetError):
    """To read and build what a file states takes more time or memory than it may; see `jn.Budget`.

    Example:
        >>> import jumpnet as jn
        >>> issubclass(jn.BudgetError, jn.JumpnetError)
        True
    """


class JumpnetWarning(UserWarning):
    """The input can be used, but the user should know something about it.

    Example:
        >>> import warnings
        >>> import jumpnet as jn
        >>> warnings.simplefilter("error", jn.JumpnetWarning)  # whoever wants an exception instead
        >>> warnings.resetwarnings()
    """


def warn(message: str, kind: type[Warning] = JumpnetWarning) -> None:
    """A warning that points at the first line outside the package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "jumpnet":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, stacklevel=level)
