"""What can be drawn of a solution: a name, a function of points and pieces, and how to show it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from jumpnet.errors import SolutionError
from jumpnet.fields.piecewise import piecewise_values
from jumpnet.judge import Verdict
from jumpnet.solution import Solution

Values = Callable[[np.ndarray, np.ndarray], np.ndarray]
TINY = np.finfo(float).tiny  # lower bound of values on a logarithmic scale


@dataclass(frozen=True)
class Quantity:
    """A function to draw; `logarithmic` ones span orders of magnitude."""

    name: str
    title: str
    values: Values
    colours: str = "viridis"
    logarithmic: bool = False


def flux_names(dim: int) -> tuple[str, ...]:
    """The names of the components of A grad u in tables and pages."""
    return tuple(f"flux{k + 1}" for k in range(dim))


def remembered(function: Values) -> Values:
    """The function with a cache of its last values: u is drawn and is also part of the error."""
    known: dict[tuple[bytes, bytes], np.ndarray] = {}

    def values(x: np.ndarray, piece: np.ndarray) -> np.ndarray:
        key = (x.tobytes(), piece.tobytes())
        if key not in known:
            known[key] = function(x, piece)
        return known[key]

    return values


def has_residual(solution: Solution) -> bool:
    """Whether the strong residual can be evaluated; finite elements have no second derivatives."""
    u = solution.representation
    return solution.problem is not None and u.elements is None and u.voxels is None


def decided(solution: Solution) -> Verdict | None:
    """The verdict, where the judge found the error of the solution as a field."""
    return solution.verdict if solution.verdict is not None and solution.verdict.decided else None


def quantity(solution: Solution, name: str, u: Values) -> Quantity:
    """The quantity of that name: u, error, exact, judged, residual, grad or flux (the last two by their length)."""
    if name == "u":
        return Quantity(name, "solution $u$", u)
    if name in ("grad", "flux"):
        vectors, title = (solution.grad, r"\nabla u") if name == "grad" else (solution.flux, r"A \nabla u")
        return Quantity(name, f"$|{title}|$", lambda x, p: np.linalg.norm(vectors(x, p), axis=1), "plasma")
    if name == "residual":
        title = r"residual $|\nabla\cdot(A \nabla u) - \lambda u - f|$"
        size = lambda x, p: np.maximum(np.abs(solution.residual(x, p)), TINY)  # noqa: E731
        return Quantity(name, title, size, "magma", logarithmic=True)
    if name == "judged":
        return _judged(solution)
    if name not in ("error", "exact"):
        raise _unknown(name)
    exact = solution.exact
    if exact is None:
        raise SolutionError(
            f'what is "{name}", but the exact solution is not known here; give the problem exact=, or plot "u".'
        )
    if name == "exact":
        return Quantity(name, r"exact solution $u_\mathrm{exact}$", lambda x, piece: piecewise_values(exact, x, piece))

    def error(x: np.ndarray, piece: np.ndarray) -> np.ndarray:
        # A difference of exactly zero has no logarithm; the colour scale ends far above this.
        return np.maximum(np.abs(u(x, piece) - piecewise_values(exact, x, piece)), TINY)

    return Quantity(name, r"error $|u - u_\mathrm{exact}|$", error, "magma", logarithmic=True)


def _judged(solution: Solution) -> Quantity:
    """The error that was solved for."""
    if (verdict := decided(solution)) is None:
        raise SolutionError(
            'what is "judged", but the error of this solution has not been judged; solve with verify=True, or use '
            "solution.with_diagnostics(verdict=jn.judge(solution))."
        )
    size = lambda x, p: np.maximum(np.abs(verdict.error(x, p)), TINY)  # noqa: E731
    return Quantity("judged", "judged error of $u$", remembered(size), "magma", logarithmic=True)


def _unknown(what: object) -> SolutionError:
    return SolutionError(
        f"what is {what!r}; choose u, error, exact, judged, residual, grad or flux, or several of them in a list."
    )


def quantities(solution: Solution, what: str | Sequence[str] | None) -> tuple[Quantity, ...]:
    """Those asked for; by default u, and the error where the exact solution is known or the error was judged."""
    if what is None:
        known = "error" if solution.exact is not None else "judged" if decided(solution) else None
        what = ("u",) if known is None else ("u", known)
    names = (what,) if isinstance(what, str) else tuple(what) if isinstance(what, Sequence) else ()
    if not names:
        raise _unknown(what)
    u = remembered(solution)
    return tuple(quantity(solution, name, u) for name in names)
