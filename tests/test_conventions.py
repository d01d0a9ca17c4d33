"""The conventions users rely on: precision, shapes, signs, names, seeds."""

import subprocess
import sys
import warnings
from dataclasses import fields, is_dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jumpnet as jn
from jumpnet.collocation import Points, Stream, collocate

SHORT = jn.optim.LevenbergMarquardt(steps=30)
MODEL = jn.models.CategoricalEmbedding(neurons=10)


def short_solve(problem: jn.Problem, **options: Any) -> jn.Solution:
    chosen: dict[str, Any] = {"model": MODEL, "optimizer": SHORT, "points": (60, 20, 20)} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", jn.JumpnetWarning)
        of_call = {name: chosen.pop(name) for name in ("seed", "progress") if name in chosen}
        return jn.solve(problem, method=jn.Network(**chosen), **of_call)


@pytest.fixture(scope="module")
def problem() -> jn.Problem:
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.2, 0.1), 0.4)])
    return jn.manufactured(parts, u=["x1**2 + x2", "exp(x1)*cos(x2)"], A=[[[2.0, 0.5], [0.5, 1.0]], 10.0])


@pytest.fixture(scope="module")
def solution(problem: jn.Problem) -> jn.Solution:
    return short_solve(problem)


# --- precision -------------------------------------------------------------------------------------------------------

UNTOUCHED = """
import jax, jax.numpy as jnp
before = {k: v for k, v in jax.config.values.items()}
import jumpnet as jn
assert jnp.ones(1).dtype == jnp.float32
import warnings; warnings.simplefilter("ignore")
parts = jn.Partition.chain([0.0, 0.5, 1.0])
problem = jn.Problem(parts, A=[1.0, lambda x: 2 + x[:, 0]], f=1.0)
s = jn.solve(problem, model=jn.models.CategoricalEmbedding(neurons=4), points=(30, 2, 1),
             optimizer=jn.optim.LevenbergMarquardt(steps=2))
assert s([0.25]).dtype == "float64"
assert jnp.ones(1).dtype == jnp.float32 and jnp.arange(3).dtype == jnp.int32
assert {k: v for k, v in jax.config.values.items()} == before
"""


def test_the_users_jax_configuration_is_untouched_in_a_fresh_process() -> None:
    done = subprocess.run([sys.executable, "-c", UNTOUCHED], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_single_precision_around_a_solve_stays(solution: jn.Solution) -> None:
    assert jnp.ones(1).dtype == jnp.float32
    seen = []
    parts = jn.Partition.chain([0.0, 0.5, 1.0])
    short_solve(jn.Problem(parts, f=1.0), points=(30, 2, 1), progress=lambda *_: seen.append(jnp.ones(1).dtype))
    assert seen and set(seen) == {jnp.dtype("float32")}, "the user's own callback runs in the user's precision"
    assert jnp.ones(1).dtype == jnp.float32


def test_a_users_double_precision_stays_too(problem: jn.Problem, solution: jn.Solution) -> None:
    with jax.enable_x64(True):
        assert np.array_equal(short_solve(problem).theta, solution.theta)
        assert jnp.ones(1).dtype == jnp.float64


def jax_arrays_in(value: Any, depth: int = 6) -> list[Any]:
    if isinstance(value, jax.Array):
        return [value]
    if depth == 0 or value is None or isinstance(value, str | float | int | np.ndarray):
        return []
    if isinstance(value, dict):
        return [found for part in value.values() for found in jax_arrays_in(part, depth - 1)]
    if isinstance(value, list | tuple):
        return [found for part in value for found in jax_arrays_in(part, depth - 1)]
    if is_dataclass(value):
        return [found for f in fields(value) for found in jax_arrays_in(getattr(value, f.name), depth - 1)]
    return []


def test_no_jax_array_leaves(solution: jn.Solution) -> None:
    assert jax_arrays_in(solution) == [] and jax_arrays_in(solution.report()) == []
    x = np.zeros((3, 2))
    for answer in (solution(x), solution.grad(x), solution.flux(x), solution.side(x, 0)):
        assert type(answer) is np.ndarray and answer.dtype == np.float64
    assert type(solution.theta) is np.ndarray and solution.theta.dtype == np.float64
    for column in ("loss", "loss_of_term", "damping", "step_norm", "seconds"):
        values = getattr(solution.history, column)
        assert type(values) is np.ndarray and values.dtype == np.float64


@pytest.mark.parametrize("optimizer", [jn.optim.Adam(steps=5), jn.optim.LBFGS(steps=5)], ids=["Adam", "LBFGS"])
def test_no_jax_array_leaves_the_gradient_methods(problem: jn.Problem, optimizer: Any) -> None:
    found = short_solve(problem, optimizer=optimizer)
    assert jax_arrays_in(found) == [] and found.theta.dtype == np.float64


def test_single_precision_input_is_computed_in_double(solution: jn.Solution) -> None:
    x = np.array([[0.25, -0.5]], np.float32)  # exact in both precisions
    assert np.array_equal(solution(x), solution(x.astype(float)))
    assert np.array_equal(solution(x), solution(jnp.asarray(x)))
    assert np.array_equal(solution(x), solution(x.tolist()))


def test_another_thread_gets_the_same_bits(solution: jn.Solution) -> None:
    from concurrent.futures import ThreadPoolExecutor

    x = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(solution, (x, x))
    assert np.array_equal(first, solution(x)) and np.array_equal(second, solution(x))


# --- shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 7])
def test_shapes(solution: jn.Solution, problem: jn.Problem, n: int) -> None:
    x = np.zeros((n, 2))
    assert solution(x).shape == solution.side(x, 1).shape == (n,)
    assert solution.grad(x).shape == solution.flux(x).shape == (n, 2)
    on, _ = problem.partition.sample_interface((0, 1), max(n, 1), seed=0)
    assert solution.jump(on).shape == solution.flux_jump(on).shape == (max(n, 1),)
    A, div, lam, f = problem.pde(0, x)
    assert A.shape == (n, 2, 2) and div.shape == (n, 2) and lam.shape == f.shape == (n,)


# --- signs -----------------------------------------------------------------------------------------------------------


def linear_exactly(problem: jn.Problem, expected: Any) -> None:
    """The problem's solution is linear by construction; a wrong sign anywhere would give another."""
    found = jn.solve(problem, verify=False, method=jn.Network(MODEL, points=(60, 20, 20)))
    x, piece = problem.partition.sample_interior(200, seed=3)
    np.testing.assert_allclose(found(x, piece), expected(x, piece), atol=1e-6)


@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
def test_jumps_in_one_dimension_are_left_minus_right_and_the_normal_points_left() -> None:
    """u = 1 + x left of 0.5 with A = 2 and u = 3 x right of it with A = 1.

    [u] = 1.5 - 1.5 = 0 at 0.5 plus what is added: v = u_0 - u_1; w = (2 * 1)(-1) - (1 * 3)(-1) = 1.
    """
    parts = jn.Partition.chain([0.0, 0.5, 1.0])
    assert parts.sample_interface((0, 1), 1, seed=0)[1].tolist() == [[-1.0]]
    problem = jn.Problem(
        parts,
        A=[2.0, 1.0],
        boundary={"left": jn.Dirichlet(1.0), "right": jn.Dirichlet(3.0)},
        jumps=jn.Jump(v=0.0, w=1.0),
    )
    linear_exactly(problem, lambda x, piece: np.where(piece == 0, 1 + x[:, 0], 3 * x[:, 0]))


@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
def test_a_jump_is_the_lower_piece_minus_the_higher_and_the_normal_points_to_the_lower() -> None:
    """u_0 = x1, u_1 = x1 - 2 in the disk: v = 2; fluxes x1-hat and 10 x1-hat: w = (1 - 10) n_1 with n outward."""
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0.0, 0.0), 0.5)])
    x, n = parts.sample_interface((0, 1), 20, seed=0)
    np.testing.assert_allclose(n, x / 0.5, atol=1e-12)
    problem = jn.Problem(
        parts, A=[1.0, 10.0], boundary=jn.Dirichlet("x1"), jumps={(0, 1): jn.Jump(v=2.0, w="-9*x1/0.5")}
    )
    linear_exactly(problem, lambda x, piece: x[:, 0] - 2 * piece)


@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
def test_neumann_and_robin_have_outward_normals_and_the_full_conormal() -> None:
    """u = 2 x1 - x2 and A = [[2, .5], [.5, 1]]: A grad u = (3.5, 0)."""
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)))
    problem = jn.Problem(
        parts,
        A=[[[2.0, 0.5], [0.5, 1.0]]],
        boundary={
            "left": jn.Neumann(-3.5),
            "right": jn.Robin(4.0, "4*(2 - x2) + 3.5"),
            "top": jn.Neumann(0.0),
            "bottom": jn.Dirichlet("2*x1 + 1"),
        },
    )
    linear_exactly(problem, lambda x, piece: 2 * x[:, 0] - x[:, 1])


@pytest.mark.filterwarnings("ignore::jumpnet.JumpnetWarning")
def test_the_equation_is_div_A_grad_u_minus_lam_u_equals_f() -> None:
    """u = x^2 on (0, 1): 2 - 3 x^2 with A = 1, lam = 3; a heat source is a negative f."""
    parts = jn.Partition.chain([0.0, 1.0])
    problem = jn.Problem(
        parts, lam=3.0, f="2 - 3*x**2", boundary={"left": jn.Dirichlet(0.0), "right": jn.Dirichlet(1.0)}
    )
    linear_exactly(problem, lambda x, piece: x[:, 0] ** 2)


def test_flux_is_A_grad_u(solution: jn.Solution) -> None:
    x = np.array([[-0.9, -0.9], [0.2, 0.1]])
    grad, flux = solution.grad(x), solution.flux(x)
    np.testing.assert_allclose(flux[0], np.array([[2.0, 0.5], [0.5, 1.0]]) @ grad[0], rtol=1e-14)
    np.testing.assert_allclose(flux[1], 10 * grad[1], rtol=1e-14)


# --- names -----------------------------------------------------------------------------------------------------------


def test_names_of_boundary_parts_and_their_aliases() -> None:
    cube = jn.Partition(jn.Box((0, 0, 0), (1, 2, 3)))
    assert cube.boundary_parts == ("x1-", "x1+", "x2-", "x2+", "x3-", "x3+")
    aliases = {"left": "x1-", "right": "x1+", "bottom": "x2-", "top": "x2+"}
    for alias, part in aliases.items():
        with pytest.raises(jn.GeometryError, match="in space name the axis"):
            cube.part_name(alias)
        assert cube.part_name(part) == part
        assert jn.Partition(jn.Box((0, 0), (1, 1))).part_name(alias) == part
    assert jn.Partition.chain([0, 1]).boundary_parts == ("x1-", "x1+")
    assert jn.Partition(jn.Disk((0, 0), 1.0)).boundary_parts == ("boundary",)
    with pytest.raises(jn.GeometryError, match="x3-"):
        cube.part_name("west")
    for part in ("x1-", "x2+"):
        x, n, _, _ = jn.Partition(jn.Box((-1, -1), (1, 1))).sample_boundary(9, seed=0, part=part)
        axis, sign = int(part[1]) - 1, 1.0 if part[2] == "+" else -1.0
        assert (x[:, axis] == sign).all() and (n[:, axis] == sign).all()


def test_the_public_names_are_there() -> None:
    for name in jn.__all__:
        assert hasattr(jn, name)
    for name in ("CategoricalEmbedding", "ScalarEncoding", "OneHot", "Separate", "Deep"):
        assert hasattr(jn.models, name)
    for name in ("LevenbergMarquardt", "Adam", "LBFGS"):
        assert hasattr(jn.optim, name)


def test_equal_mean_labels_are_refused() -> None:
    parts = jn.Partition.chain([0.0, 0.5, 1.0])
    model = jn.models.ScalarEncoding("mean-f", neurons=4)
    with pytest.raises(jn.ModelError, match="index"):
        jn.solve(jn.Problem(parts, f=0.0), verify=False, method=jn.Network(model, points=(30, 2, 1)))


def test_mean_labels_are_evenly_spaced_in_the_order_of_the_means() -> None:
    parts = jn.Partition.chain([0.0, 0.5, 1.0, 1.5])
    problem, model = jn.Problem(parts, f=["2", "-4 + 0*x", "1.9"]), jn.models.ScalarEncoding("mean-f", 4)
    found = short_solve(problem, model=model, points=(30, 2, 1))
    np.testing.assert_allclose(found.network.encoding, [[1.0, -1.0, 0.0]], atol=1e-12)  # type: ignore[attr-defined]


def test_the_papers_mean_labels_are_the_means_divided_by_the_largest() -> None:
    parts = jn.Partition.chain([0.0, 0.5, 1.0])
    problem, model = jn.Problem(parts, f=["2", "-4 + 0*x"]), jn.models.ScalarEncoding("mean-f", 4)
    found = short_solve(problem, model=model, points=(30, 2, 1), charts="paper")
    np.testing.assert_allclose(found.network.encoding, [[0.5, -1.0]], rtol=1e-12)  # type: ignore[attr-defined]


# --- seeds -----------------------------------------------------------------------------------------------------------


def test_streams_of_a_seed_are_independent(problem: jn.Problem) -> None:
    parts, counts = problem.partition, Points(60, 20, 20)
    drawn = {stream: collocate(parts, counts, seed=0, stream=stream) for stream in Stream}
    seen: set[tuple[float, ...]] = set()
    for points in drawn.values():
        mine = {tuple(x) for x in points.interior} | {tuple(x) for x in points.boundary}
        mine |= {tuple(x) for x in points.interfaces[0, 1][0]}
        assert not seen & mine
        seen |= mine
    u = drawn[Stream.TRAIN].interior[:, 0]
    v = drawn[Stream.TEST].interior[:, 0]
    assert abs(np.corrcoef(u, v)[0, 1]) < 4 / np.sqrt(60)  # four standard deviations of a sample correlation


def test_test_points_never_meet_training_points_of_any_small_seed(problem: jn.Problem) -> None:
    parts, counts = problem.partition, Points(60, 20, 20)
    training = {tuple(x) for seed in range(10) for x in collocate(parts, counts, seed=seed).interior}
    test = {tuple(x) for seed in range(10) for x in parts.sample_interior(60, seed=[seed, int(Stream.TEST)])[0]}
    assert not training & test


def test_a_seed_varies_points_and_weights_never_the_problem(problem: jn.Problem, solution: jn.Solution) -> None:
    from jumpnet.experiments import problems

    other = short_solve(problem, seed=1)
    assert other.problem is solution.problem is problem
    assert not np.array_equal(other.theta, solution.theta)
    charts, others = (one.representation.atlas.spec() for one in (solution, other))
    assert charts == others, "charts are chosen from the geometry, not from the seed"
    first, second = problems.fa2(5)[1], problems.fa2(5)[1]
    assert first == second, "random coefficients of an experiment are fixed"


def test_numpys_global_generator_is_not_used(problem: jn.Problem, solution: jn.Solution) -> None:
    np.random.seed(123)
    before = np.random.get_state()[1].copy()  # type: ignore[index]
    again = short_solve(problem)
    assert np.array_equal(np.random.get_state()[1], before)  # type: ignore[index]
    assert np.array_equal(again.theta, solution.theta)
