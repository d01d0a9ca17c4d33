"""Problems whose data depend on u: a sequence of linear ones, each solved and the last one judged.

With s(x, u) = lam(x, u) u + f(x, u) the equation is div(A(x, u) grad u) = s(x, u). About a state u0, Newton's method
asks

    div(A(x, u0) grad u) - s_u(x, u0) u = s(x, u0) - s_u(x, u0) u0,

and on the boundary alpha u + A grad u . n = g, with b(x, u) = alpha(x, u) u - g(x, u), becomes

    b_u(x, u0) u + A grad u . n = b_u(x, u0) u0 - b(x, u0).

A and a contact resistance R are taken at u0, as their derivatives would not leave an elliptic problem of this form:
there the steps contract by a factor, which is measured and counted in the error.

The last solution is judged with the problem linearised about itself, whose residual is that of the nonlinear problem.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float

from jumpnet.collocation import Stream
from jumpnet.engines.goal import Goal
from jumpnet.errors import JumpnetWarning, ModelError, ProblemError
from jumpnet.expressions import Expression
from jumpnet.fields import (
    CallableField,
    ConstantField,
    ExpressionField,
    Field,
    TensorField,
    finite_number,
    scalar_field,
)
from jumpnet.geometry import Partition
from jumpnet.optim import Status
from jumpnet.problem import Dirichlet, Jump, Neumann, Problem, Robin, inputs
from jumpnet.problem.conditions import BoundaryData, Condition, Pair
from jumpnet.solution import Solution
from jumpnet.solving import solve
from jumpnet.solving.call import checked_goal
from jumpnet.solving.verify import verified

Array = Float[np.ndarray, "..."]
# Steps of one continuation value; of a tolerance, the part left to the iteration, and to the last linear solve.
MOST_STEPS, ITERATED, SOLVED = 40, 0.1, 0.3
# Linear problems on the way are solved to this part of the last step, at least to `COARSE`.
WAY, COARSE = 0.03, 1e-3
# A step that grows by this factor is halved, so many times; damping ends when steps shrink again.
GROWN, HALVINGS = 1.5, 6
# Contraction by less than this is no convergence.
SLOW = 0.95
# Points at which steps are measured.
POINTS = 2000
NOTHING, CONTINUOUS = Dirichlet(0.0), Jump()


class State:
    """u as known so far, piece by piece: fields, or solutions times factors; with its gradient."""

    def __init__(self, terms: Sequence[tuple[float, Solution]] = (), fields: Sequence[Field] = ()):
        self.terms, self.fields = tuple(terms), tuple(fields)
        self._kept: dict[tuple[int, bool, int], Array] = {}

    def value(self, x: Array, piece: int) -> Array:
        """u (n,) seen from a piece."""
        return self._cached(x, piece, False)

    def gradient(self, x: Array, piece: int) -> Array:
        """grad u (n, d)."""
        return self._cached(x, piece, True)

    def _cached(self, x: Array, piece: int, slope: bool) -> Array:
        """Coefficients ask for u at the same points one after the other."""
        key = piece, slope, hash(x.tobytes())
        if key not in self._kept:
            if len(self._kept) >= 8:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = self._found(x, piece, slope)
        return self._kept[key]

    def _found(self, x: Array, piece: int, slope: bool) -> Array:
        if self.fields:
            one = self.fields[piece]
            return one.gradient(x) if slope else one.value(x)
        parts = [factor * (one.grad(x, piece) if slope else one(x, piece)) for factor, one in self.terms]
        return np.sum(parts, axis=0)

    def blended(self, new: Solution, share: float) -> State:
        """This state moved by a share of the way to a solution."""
        if share == 1.0:
            return State([(1.0, new)])
        if self.fields:
            raise ModelError("the first step does not converge; give another start=, or a continuation=.")
        return State([*((factor * (1 - share), one) for factor, one in self.terms), (share, new)])


@dataclass(frozen=True, eq=False)
class Dependent:
    """A function of x and u, with its derivatives, from a number, a formula in x1, ..., u, or a callable of (x, u)."""

    field: Field
    dim: int

    @staticmethod
    def of(source: Any, dim: int, what: str, names: Mapping[str, float]) -> Dependent:
        """What the user wrote."""
        if isinstance(source, Field):
            return Dependent(_OfX(source), dim)
        if isinstance(source, str):
            return Dependent(ExpressionField(Expression.parse_in(source, _variables(dim), names, what=what)), dim)
        if callable(source):
            return Dependent(CallableField(_Joined(source, dim), dim + 1, what), dim)
        return Dependent(ConstantField(finite_number(source, what), dim + 1), dim)

    @property
    def number(self) -> float | None:
        """The number, where it is one."""
        return self.field.number if isinstance(self.field, ConstantField) else None

    @property
    def plain(self) -> bool:
        """Whether it does not depend on u."""
        if isinstance(self.field, ExpressionField):
            return self.field.expression.symbols[-1] not in self.field.expression.symbolic.free_symbols
        return isinstance(self.field, ConstantField | _OfX)

    def value(self, x: Array, u: Array) -> Array:
        """Values (n,)."""
        return self.field.value(np.column_stack([x, u]))

    def slopes(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Derivatives by x (n, d) and by u (n,)."""
        found = self.field.gradient(np.column_stack([x, u]))
        return found[:, : self.dim], found[:, self.dim]


@dataclass(frozen=True)
class _Joined:
    """A callable of (x, u) as one of (x, u) in one array."""

    function: Callable[..., Any]
    dim: int

    def __call__(self, z: Any) -> Any:
        return self.function(z[..., : self.dim], z[..., self.dim])


@dataclass(frozen=True)
class _OfX(Field):
    """A field of x as one of (x, u)."""

    inner: Field

    def value(self, x: Array) -> Array:
        return self.inner.value(x[:, :-1])

    def gradient(self, x: Array) -> Array:
        return np.column_stack([self.inner.gradient(x[:, :-1]), np.zeros(len(x))])

    def hessian(self, x: Array) -> Array:
        raise NotImplementedError

    def spec(self) -> None:
        return None


def _variables(dim: int) -> tuple[str, ...]:
    return (*(f"x{k + 1}" for k in range(dim)), "u")


@dataclass(frozen=True, eq=False)
class NonlinearProblem:
    """An elliptic interface problem whose data may depend on u.

    The equation is div(A(x, u) grad u) - lam(x, u) u = f(x, u); `jn.solve_nonlinear` solves it. Formulas may use `u`
    besides x1, x2, ..., and callables take (x, u). Values on `Dirichlet` and `Periodic` sides, v and w may not.

    Args:
        partition: As in `Problem`.
        A: A number, formula or callable, or a matrix of these.
        lam: As in `Problem`, of u too.
        f: As in `Problem`, of u too.
        boundary: As in `Problem`; g of `Neumann`, alpha and g of `Robin` may depend on u.
        jumps: As in `Problem`; R may depend on u, the mean of both sides.
        exact: The solution, to measure errors.
        sources: As in `Problem`.
        K: As in `Problem`.
        constants: As in `Problem`.

    Example:
        >>> import jumpnet as jn
        >>> ends = {"left": jn.Dirichlet(1), "right": jn.Neumann("-u**4")}  # radiation
        >>> problem = jn.NonlinearProblem(jn.Partition(jn.Interval(0, 1)), A="1 + u", boundary=ends)
        >>> jn.solve_nonlinear(problem, start=1.0).status.name
        'CONVERGED'
    """

    partition: Partition
    A: Any = 1.0
    lam: Any = 0.0
    f: Any = 0.0
    boundary: Condition | Mapping[str, Condition] = NOTHING
    jumps: Jump | Mapping[Pair, Jump] = CONTINUOUS
    exact: Any = None
    sources: Sequence[Any] = ()
    K: Any = 1.0
    constants: Mapping[str, float] = field(default_factory=dict)

    def with_constants(self, values: Mapping[str, float]) -> NonlinearProblem:
        """The same problem with other values of some of its constants."""
        for name in values:
            if name not in self.constants:
                known = ", ".join(map(repr, self.constants)) or "none"
                raise ProblemError(f"the problem has no constant {name!r}; its constants are: {known}.")
        return replace(self, constants={**self.constants, **values})

    def about(self, state: State) -> Problem:
        """The linear problem about a state."""
        parts, d = inputs.partition(self.partition), self.partition.dim
        names = inputs.constants(self.constants, parts)
        lam, f = (self._each(given, what, names) for given, what in ((self.lam, "lam"), (self.f, "f")))
        sources = [_Reaction(lam[p], f[p], p, state) for p in range(parts.size)]
        matrices = [self._matrix(given, p, state, names) for p, given in enumerate(_matrices(self.A, parts))]
        given = self.boundary
        given = dict.fromkeys(parts.boundary_parts, given) if not isinstance(given, Mapping) else given
        sides = {
            part: _condition(c, part, d, parts, state, names) for part, c in inputs.named_parts(given, parts).items()
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JumpnetWarning)  # derivatives may be negative where the problem is sound
            return Problem(
                parts,
                A=matrices,
                lam=[one.lam() for one in sources],
                f=[one.f() for one in sources],
                boundary=sides,
                jumps=self._jumps(parts, state, names),
                exact=self.exact,
                sources=self.sources,
                K=self.K,
                constants=names,
            )

    def _each(self, given: Any, what: str, names: Mapping[str, float]) -> list[Dependent]:
        listed = inputs.per_piece(given, self.partition, what)
        return [Dependent.of(one, self.partition.dim, f"{what} in piece {p}", names) for p, one in enumerate(listed)]

    def _matrix(self, given: Any, piece: int, state: State, names: Mapping[str, float]) -> Any:
        d, what = self.partition.dim, f"A in piece {piece}"
        if isinstance(given, TensorField):
            return given
        entries = [e for row in given for e in row] if inputs.is_list(given) else [given]
        found = [Dependent.of(entry, d, what, names) for entry in entries]
        if len(found) not in (1, d * d):
            raise ProblemError(f"{what} has {len(found)} entries; a number, a formula or a {d} x {d} matrix is wanted.")
        numbers = [one.number for one in found]
        if all(number is not None for number in numbers):
            return numbers[0] if len(found) == 1 else np.reshape(np.array(numbers, float), (d, d)).tolist()
        return _StateTensor(tuple(found), d, piece, state)

    def _jumps(self, parts: Partition, state: State, names: Mapping[str, float]) -> dict[Pair, Jump]:
        pairs = [interface.pair for interface in parts.interfaces]
        given = self.jumps if isinstance(self.jumps, Mapping) else dict.fromkeys(pairs, self.jumps)
        found = {}
        for pair, jump in given.items():
            R = Dependent.of(jump.R, parts.dim, f"R on interface {pair}", names)
            found[pair] = jump if R.plain else replace(jump, R=_Resistance(R, pair, state))
        return found


def _matrices(given: Any, parts: Partition) -> list[Any]:
    """A of each piece; a matrix is one for all."""
    whole = inputs.is_list(given) and all(inputs.is_list(row) and not any(map(inputs.is_list, row)) for row in given)
    return [given] * parts.size if whole else inputs.per_piece(given, parts, "A")


class _Numeric(Field):
    """A field known by its values."""

    def gradient(self, x: Array) -> Array:
        raise NotImplementedError

    def hessian(self, x: Array) -> Array:
        raise NotImplementedError

    def spec(self) -> None:
        return None


@dataclass(frozen=True, eq=False)
class _Reaction:
    """s = lam u + f in one piece, linearised about a state."""

    decay: Dependent
    source: Dependent
    piece: int
    state: State

    def lam(self) -> Any:
        if self.decay.plain and self.source.plain:
            return self.decay.number if self.decay.number is not None else _AtState(self._slope)
        return _AtState(self._slope)

    def f(self) -> Any:
        if self.decay.plain and self.source.plain and self.source.number is not None:
            return self.source.number
        return _AtState(lambda x: self._value(x) - self._slope(x) * self._u(x))

    def _u(self, x: Array) -> Array:
        return self.state.value(x, self.piece)

    def _value(self, x: Array) -> Array:
        u = self._u(x)
        return self.decay.value(x, u) * u + self.source.value(x, u)

    def _slope(self, x: Array) -> Array:
        u = self._u(x)
        return self.decay.value(x, u) + self.decay.slopes(x, u)[1] * u + self.source.slopes(x, u)[1]


@dataclass(frozen=True, eq=False)
class _AtState(_Numeric):
    """A function of the state."""

    function: Callable[[Array], Array]

    def value(self, x: Array) -> Array:
        return self.function(x)


@dataclass(frozen=True, eq=False)
class _StateTensor(TensorField):
    """A(x, u) at a state, with div A = A_x + A_u grad u."""

    entries: tuple[Dependent, ...]
    dim: int
    piece: int
    state: State

    def value(self, x: Array) -> Array:
        u = self.state.value(x, self.piece)
        found = np.stack([one.value(x, u) for one in self.entries], axis=1)
        if len(self.entries) == 1:
            return found[:, :, None] * np.eye(self.dim)
        return found.reshape(-1, self.dim, self.dim)

    def divergence(self, x: Array) -> Array:
        u, slope = self.state.value(x, self.piece), self.state.gradient(x, self.piece)
        total = []
        for one in self.entries:
            by_x, by_u = one.slopes(x, u)
            total.append(by_x + by_u[:, None] * slope)
        if len(total) == 1:
            return total[0]
        each = np.stack(total, axis=1).reshape(-1, self.dim, self.dim, self.dim)
        return np.einsum("niji->nj", each)

    @property
    def is_constant(self) -> bool:
        return False

    def spec(self) -> None:
        return None


@dataclass(frozen=True, eq=False)
class _Resistance(_Numeric):
    """R at the mean of both sides."""

    R: Dependent
    pair: Pair
    state: State

    def value(self, x: Array) -> Array:
        u = (self.state.value(x, self.pair[0]) + self.state.value(x, self.pair[1])) / 2
        return self.R.value(x, u)


@dataclass(frozen=True, eq=False)
class _Exchange:
    """b(x, u) = alpha u - g on a part of the boundary, linearised about a state."""

    alpha: Dependent
    g: Dependent
    state: State
    parts: Partition

    def at(self, x: Array, labels: Any) -> tuple[Array, Array]:
        """b_u and b_u u0 - b at points that bound pieces."""
        slope, rest = np.empty(len(x)), np.empty(len(x))
        for piece in np.unique(labels).tolist():
            mine = labels == piece
            at = x[mine]
            u = self.state.value(at, int(piece))
            alpha, g = self.alpha.value(at, u), self.g.value(at, u)
            slope[mine] = alpha + self.alpha.slopes(at, u)[1] * u - self.g.slopes(at, u)[1]
            rest[mine] = slope[mine] * u - alpha * u + g
        return slope, rest


@dataclass(frozen=True, eq=False)
class _Slope(_Numeric):
    """b_u; without labels, in the pieces that points are nearest to."""

    exchange: _Exchange

    def value(self, x: Array) -> Array:
        from scipy.spatial import KDTree

        parts = self.exchange.parts
        labels = np.asarray(parts.label(x)).copy()
        if (lost := labels < 0).any():  # by rounding, outside
            inside, piece = parts.sample_interior(POINTS, seed=0)
            labels[lost] = piece[KDTree(inside).query(x[lost])[1]]
        return self.seen(x, labels)

    def seen(self, x: Array, labels: Any) -> Array:
        """The same at points that bound pieces."""
        return self.exchange.at(x, labels)[0]


@dataclass(frozen=True, eq=False)
class _Rest(BoundaryData):
    """b_u u0 - b."""

    exchange: _Exchange

    def value(self, x: Array, normals: Array, labels: Any) -> Array:
        return self.exchange.at(x, labels)[1]

    def spec(self) -> None:
        return None


def _condition(
    given: Any, part: str, dim: int, parts: Partition, state: State, names: Mapping[str, float]
) -> Condition:
    """A condition linearised about a state; as it is where it does not depend on u."""
    if not isinstance(given, Neumann | Robin) or isinstance(given.g, BoundaryData):
        return given
    where = f"of {type(given).__name__} on {part!r}"
    alpha = Dependent.of(given.alpha if isinstance(given, Robin) else 0.0, dim, f"alpha {where}", names)
    g = Dependent.of(given.g, dim, f"g {where}", names)
    if alpha.plain and g.plain:
        return given
    exchange = _Exchange(alpha, g, state, parts)
    return Robin(_Slope(exchange), _Rest(exchange))


@dataclass(frozen=True)
class Iteration:
    """How an iteration went: the root mean square of each step, relative to the variation of u."""

    steps: tuple[float, ...]
    contraction: float


def solve_nonlinear(
    problem: NonlinearProblem,
    *,
    start: Any = 0.0,
    tol: float = 1e-6,
    atol: float = 0.0,
    continuation: tuple[str, Sequence[float]] | None = None,
    verify: bool = True,
    progress: Callable[[int, float], None] | None = None,
    **options: Any,
) -> Solution:
    """Solve a problem whose data depend on u: linear problems one after the other, the last solution judged.

    Steps that grow are halved.

    Args:
        problem: A `jn.NonlinearProblem`.
        start: Where to begin: a number, a formula or a callable, or one for each piece, or a solution.
        tol: As in `jn.solve`.
        atol: As in `jn.solve`.
        continuation: Where the start is too far from the solution: `("load", [0.1, 0.3, 1.0])` solves for these values
            of a constant of the problem one after the other, each from the one before.
        verify: Whether the last solution is judged, by the problem linearised about it.
        progress: Called with (step, its size relative to the variation of u).
        options: Those of `jn.solve`, which solves the linear problems.

    Returns:
        A `Solution` whose `problem` is the linear one about itself: fluxes, balances and the judge's verdict are those
        of the nonlinear problem. Its estimate holds the error that the iteration leaves.
        `solution.settings["nonlinear"]` has the steps.

    Example:
        >>> import jumpnet as jn
        >>> parts = jn.Partition(jn.Interval(0, 1))
        >>> ends = {"left": jn.Dirichlet(0), "right": jn.Dirichlet(1)}
        >>> problem = jn.NonlinearProblem(parts, A="1 + u", boundary=ends)  # u = sqrt(1 + 3 x) - 1
        >>> round(float(jn.solve_nonlinear(problem)([[1/3]])[0]), 6)
        0.414214
    """
    if not isinstance(problem, NonlinearProblem):
        raise ModelError(f"solve_nonlinear needs a jn.NonlinearProblem, not {type(problem).__name__}.")
    goal = checked_goal(tol, atol)
    state = _first(start, problem)
    name, values = continuation or ("", [None])
    if not len(values):
        raise ModelError("continuation has no values; give a name and at least one, the last that of the problem.")
    run = _Run(problem, goal, dict(options), progress)
    for value in values[:-1]:
        assert value is not None
        run.problem = problem.with_constants({name: float(value)})
        state = State([(1.0, run.iterated(state, rough=True)[0])])
    last = values[-1]
    run.problem = problem if last is None else problem.with_constants({name: float(last)})
    found, steps = run.iterated(state)
    return run.judged(found, steps, verify)


@dataclass
class _Run:
    """One solve of a nonlinear problem."""

    problem: NonlinearProblem
    goal: Goal
    options: dict[str, Any]
    progress: Callable[[int, float], None] | None

    def iterated(self, state: State, rough: bool = False) -> tuple[Solution, Iteration]:
        """The solution of the last linear problem, and the steps; with `rough`, to three digits only."""
        parts = inputs.partition(self.problem.partition)
        x, piece = parts.sample_interior(POINTS, seed=[0, int(Stream.TEST), 9], method="even")
        enough = COARSE if rough else ITERATED * self.goal.tol
        steps: list[float] = []
        share, before, found = 1.0, _at(state, x, piece), None
        while len(steps) < MOST_STEPS:
            last = steps[-1] if steps else 1.0
            inner = max(SOLVED * self.goal.tol, min(COARSE, WAY * last**2 if last < 1 else COARSE))
            found = self._solved(state, inner)
            after = found(x, piece)
            size = max(float(np.std(after)), 1e-300)
            step = float(np.sqrt(np.mean((after - before) ** 2))) / size
            if steps and step > GROWN * steps[-1] and share > 2.0**-HALVINGS and len(steps) > 1:
                share /= 2
            elif steps and step < steps[-1]:
                share = min(1.0, 2 * share)
            steps.append(step)
            if self.progress is not None:
                self.progress(len(steps), step)
            small = step <= enough or step * size <= ITERATED * self.goal.atol
            if small and (inner <= SOLVED * self.goal.tol * 1.0001 or rough):
                return found, Iteration(tuple(steps), _contraction(steps))
            state = state.blended(found, share)
            before = _at(state, x, piece) if share < 1 else after
        assert found is not None
        return found, Iteration(tuple(steps), 1.0)

    def _solved(self, state: State, tol: float) -> Solution:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", JumpnetWarning)  # what is said of the last one is said of the whole
            return solve(self.problem.about(state), tol=tol, verify=False, **self.options)

    def judged(self, found: Solution, steps: Iteration, verify: bool) -> Solution:
        """The solution with the problem linearised about it, judged; the estimate with what the iteration leaves."""
        about = self.problem.about(State([(1.0, found)]))
        settings = found.settings | {"nonlinear": [float(step) for step in steps.steps]}
        whole = replace(found, problem=about, tensors=about.A, exact=about.exact, settings=settings)
        if steps.contraction > SLOW:
            reason = f"the iteration did not converge: its last step was {steps.steps[-1]:.1e} of the variation of u"
            settings["reasons"] = [*settings.get("reasons", ()), reason]
            return replace(whole, status=Status.STALLED, estimate=np.nan, settings=settings)
        if verify:
            whole = verified(about, whole, self.goal, True, needed=True)
        parts = about.partition
        x, piece = parts.sample_interior(POINTS, seed=[0, int(Stream.TEST), 9], method="even")
        values = found(x, piece)
        # Steps shrink by the contraction; where A depends on u, errors of a linear solve are felt that much more too.
        left = steps.steps[-1] * float(np.std(values)) * steps.contraction / (1 - steps.contraction)
        estimate = whole.estimate / (1 - min(steps.contraction, 0.5)) + left
        status, enough = whole.status, self.goal.of(values)
        if status in (Status.CONVERGED, Status.REFUTED) and np.isfinite(estimate):
            status = Status.CONVERGED if estimate <= enough else Status.REFUTED
        return replace(whole, estimate=estimate, status=status)


def _contraction(steps: Sequence[float]) -> float:
    """By which factor steps became smaller: of the last ones above rounding, the largest."""
    ratios = [b / a for a, b in pairwise(steps) if a > 1e-13]
    return max(ratios[-2:], default=0.0)


def _at(state: State, x: Array, piece: Array) -> Array:
    found = np.empty(len(x))
    for p in np.unique(piece).tolist():
        found[piece == p] = state.value(x[piece == p], int(p))
    return found


def _first(start: Any, problem: NonlinearProblem) -> State:
    """Where to begin."""
    if isinstance(start, Solution):
        return State([(1.0, start)])
    parts = inputs.partition(problem.partition)
    names = inputs.constants(problem.constants, parts)
    listed = inputs.per_piece(start, parts, "start")
    fields = [scalar_field(s, parts.dim, what=f"start in piece {p}", constants=names) for p, s in enumerate(listed)]
    return State(fields=fields)


__all__ = ["Iteration", "NonlinearProblem", "solve_nonlinear"]
