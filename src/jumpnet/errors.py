"""What jumpnet raises when the input, not the program, is at fault.

Every message is one sentence or two: what was given, what is wanted, what to do. The command line prints it and
exits with code 2; whatever else is raised is a fault of ours, and code 3.
"""


class JumpnetError(ValueError):
    """The user's input cannot be used as it is; the message says how to mend it."""


class ExpressionError(JumpnetError):
    """A formula given as text is not in the language of expressions."""


class GeometryError(JumpnetError):
    """A shape or a partition does not describe a region."""


class ProblemError(JumpnetError):
    """Coefficients, conditions or data do not state a solvable problem."""


class ModelError(JumpnetError):
    """A model, a chart or an optimiser is asked for something it cannot be."""


class SolutionError(JumpnetError):
    """A solution is asked for something it cannot answer, or a file is not a solution."""


class BudgetError(JumpnetError):
    """To read and build what a file states takes more time or memory than it may."""


class JumpnetWarning(UserWarning):
    """The input can be used, but the user should know something about it."""
