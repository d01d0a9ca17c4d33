"""The problem files of examples/, each solved and compared with something that the solver knows nothing of."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.files.problemfile import ProblemFile

EXAMPLES = Path(__file__).parents[2] / "examples"


@cache
def solved(name: str, *constants: tuple[str, float]) -> tuple[ProblemFile, jn.Solution]:
    read = jn.read_file(EXAMPLES / f"{name}.toml", dict(constants))
    return read, read.solve()


def value(name: str, quantity: str) -> float:
    read, solution = solved(name)
    return read.quantities(solution)[quantity].value


# Integrals over bodies in space are sampled, those over 26 pieces are many.
SLOW = ("body", "composite")
NAMES = [
    pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name
    for name in sorted(path.stem for path in EXAMPLES.glob("*.toml"))
]


@pytest.mark.parametrize("name", NAMES)
def test_every_example_converges_and_balances(name: str) -> None:
    read, solution = solved(name)
    assert read.file.title and read.file.about
    assert solution.status is jn.Status.CONVERGED
    # The flux is a derivative: a hundred times the tolerance asked for.
    assert max(balance.defect for balance in solution.balances()) <= 100 * read.tol


@pytest.mark.parametrize("k", [1e-3, 10.0, 1e3])
@pytest.mark.parametrize("name", ["cylinder", "sphere"])
def test_a_body_in_a_uniform_field_to_eight_digits(name: str, k: float) -> None:
    """Closed forms; the energy inside, k |grad u|^2 / 2 times the volume, as well."""
    read, solution = solved(name, ("k", k))
    assert solution.errors().relative_l2 <= 1e-8
    d, radius = read.problem.dim, 0.4
    volume = {2: np.pi * radius**2, 3: 4 / 3 * np.pi * radius**3}[d]
    inner = d / (k + d - 1)
    found = read.quantities(solution)["energy"]
    assert found.value == pytest.approx(0.5 * k * inner**2 * volume, rel=1e-8)
    assert found.error <= 1e-8 * found.value


@pytest.mark.parametrize(
    "name, error",
    [
        ("coated-cylinder", 1e-8),
        ("ellipse", 1e-6),
        ("four-materials", 1e-8),
        ("star", 1e-8),
        ("fin", 1e-8),
        ("charge", 1e-8),
    ],
)
def test_the_exact_solution_is_met(name: str, error: float) -> None:
    assert solved(name)[1].errors().relative_l2 <= error


def test_a_neutral_inclusion_is_not_seen_from_outside() -> None:
    read, _ = solved("coated-cylinder")
    matrix = read.builder.scope.constants["matrix"]
    assert value("coated-cylinder", "inflow") == pytest.approx(2 * matrix, rel=1e-8)


def test_fibres_conduct_as_the_square_array_does() -> None:
    """Perrins, McKenzie and McPhedran (Proc. R. Soc. A 369, 1979); the next term is of order f^12."""
    f, T = 0.2, (100.0 + 1) / (100.0 - 1)
    inner = T - f - 0.305827 * f**4 * T / (T**2 - 1.402958 * f**8) - 0.013362 * f**8 / T
    effective = 1 + 2 * f / inner
    through = value("fibres", "heat on the right")
    assert through == pytest.approx(effective, rel=1e-6)  # the coefficients have six digits
    assert through == pytest.approx(-value("fibres", "heat on the left"), rel=1e-9)
    assert 1 / ((1 - f) + f / 100) < effective < (1 - f) + 100 * f  # Reuss and Voigt
    assert value("fibres", "mean of the fibres") == pytest.approx(0.5, abs=1e-9)


def test_a_cavity_keeps_heat_back() -> None:
    """Less passes than through the layers alone, as much at the top as from below; no extremes inside."""
    _, solution = solved("layered-ground")
    layers = 4 * 4 / (0.6 / 1.2 + 1.6 / 2.2 + 0.8 / 1.5)
    top, bottom = value("layered-ground", "heat at the surface"), value("layered-ground", "heat from below")
    assert bottom == pytest.approx(-top, rel=1e-6) and 0.5 * layers < bottom < layers
    assert 10 < value("layered-ground", "mean in the cavity") < 14
    x, piece = solution.partition.sample_interior(500, seed=1)  # type: ignore[union-attr]
    assert 10 - 1e-5 < solution(x, piece).min() and solution(x, piece).max() < 14 + 1e-5


def test_a_chip_gives_off_what_it_takes_in_and_its_temperature_follows_from_a_series() -> None:
    """heat (1 + cos(pi x/5)): two independent one-dimensional problems, solved here with a linear system.

    Between die and solder the temperature falls by the contact resistance times the heat.
    """
    assert value("chip-stack", "heat out") == pytest.approx(-0.05 * 10 * 0.7, rel=1e-9)
    assert value("chip-stack", "mean of the die") == pytest.approx(_mode(0.0)[0], rel=1e-9)
    _, solution = solved("chip-stack")
    x = np.array([[0.0, 0.35], [2.0, 0.35], [5.0, 0.35]])
    expected = _mode(0.0)[1] + _mode(np.pi / 5)[1] * np.cos(np.pi * x[:, 0] / 5)
    np.testing.assert_allclose(solution(x), expected, rtol=1e-7)
    at = np.array([[0.0, 0.7], [3.0, 0.7]])
    upward = -solution.flux(at, 1)[:, 1]
    np.testing.assert_allclose(solution.side(at, 1) - solution.side(at, 2), 20.0 * upward, rtol=1e-7)


def _mode(m: float) -> tuple[float, float]:
    """The mean over the die and the value at 0.35 of the part of the temperature that varies as cos(m x1)."""
    A, ends, q, film = (0.15, 0.05, 0.4), (0.0, 0.7, 0.8, 3.0), 0.05, 0.002
    air = 25.0 if m == 0.0 else 0.0

    def basis(y: float) -> tuple[np.ndarray, np.ndarray]:  # two solutions of u'' = m^2 u, and their slopes
        if m == 0.0:
            return np.array([1.0, y]), np.array([0.0, 1.0])
        return np.array([np.cosh(m * y), np.sinh(m * y)]), m * np.array([np.sinh(m * y), np.cosh(m * y)])

    def heated(y: float) -> tuple[float, float]:  # a particular solution in the die
        return (-q * y**2 / (2 * A[0]), -q * y / A[0]) if m == 0.0 else (q / (A[0] * m**2), 0.0)

    M, rhs = np.zeros((6, 6)), np.zeros(6)
    M[0, :2], rhs[0] = A[0] * basis(0.0)[1], -A[0] * heated(0.0)[1]
    for k in (0, 1):
        (u, du), (p, dp) = basis(ends[k + 1]), heated(ends[k + 1]) if k == 0 else (0.0, 0.0)
        R = 20.0 if k == 0 else 0.0
        M[1 + 2 * k, 2 * k : 2 * k + 4], rhs[1 + 2 * k] = [*(u + R * A[k] * du), *-u], -p - R * A[k] * dp
        M[2 + 2 * k, 2 * k : 2 * k + 4], rhs[2 + 2 * k] = [*A[k] * du, *-A[k + 1] * du], -A[k] * dp
    u, du = basis(3.0)
    M[5, 4:], rhs[5] = film * u + A[2] * du, film * air
    c = np.linalg.solve(M, rhs)[:2]
    y, w = np.polynomial.legendre.leggauss(12)
    of = [float(basis(t)[0] @ c + heated(t)[0]) for t in (*(0.35 + 0.35 * y), 0.35)]
    return float(0.5 * w @ of[:-1]), of[-1]


def test_a_wall_is_a_chain_of_resistances() -> None:
    resistances = (0.02 / 0.7, 0.24 / 0.5, 0.12 / 0.035, 0.02 / 0.7)
    # With q the heat that flows to the right in the first layer, q + 8 in the others, and a step of 0.5:
    q = (25.0 - 0.5 - 8.0 * sum(resistances[1:])) / sum(resistances)
    assert value("wall", "heat lost") == pytest.approx(-(q + 8.0), rel=1e-10)
    _, solution = solved("wall")
    assert solution.jump([[0.38]])[0] == pytest.approx(0.5, rel=1e-10)  # foam minus outer plaster


def test_flux_through_an_edge_of_four_materials() -> None:
    assert value("four-materials", "through the first edge") == pytest.approx(0.5, rel=1e-8)


def test_a_charge_sends_half_its_field_down() -> None:
    """The displacement through the interface is the charge's, times the angle under which it sees it."""
    angle = 2 * np.arctan(1 / 1.5)
    assert value("charge", "displacement through the interface") == pytest.approx(8 / 5 * angle, rel=1e-8)


def test_a_picture_of_a_disk_is_a_disk_to_its_resolution() -> None:
    """A hundred and twenty-eight pixels: errors of the order of a tenth of a pixel, 2/128 wide."""
    read, solution = solved("image")
    dipole = 9 / 11 * 0.55**2

    def exact(x: np.ndarray) -> np.ndarray:
        y = x - [0.1, -0.05]
        r2 = np.sum(y * y, axis=1)
        return y[:, 0] * np.where(r2 < 0.55**2, 2 / 11, 1 - dipole / np.maximum(r2, 0.1))

    x, piece = solution.partition.sample_interior(2000, seed=3)  # type: ignore[union-attr]
    difference = solution(x, piece) - exact(x)
    assert np.sqrt(np.mean(difference**2)) <= 0.1 * 2 / 128
    inside = solution.flux([[0.1, -0.05], [0.3, 0.2], [-0.2, -0.3]])
    np.testing.assert_allclose(inside, np.tile([10 * 2 / 11, 0.0], (3, 1)), atol=0.02)
    assert read.problem.partition.measure(1) == pytest.approx(np.pi * 0.55**2, rel=5e-3)


@pytest.mark.slow
def test_a_ball_from_triangles_is_a_ball_to_their_resolution() -> None:
    pytest.importorskip("trimesh")
    _, solution = solved("body")
    x = np.random.default_rng(4).uniform(-1, 1, (2000, 3))
    r = np.linalg.norm(x, axis=1)
    x, r = x[np.abs(r - 0.5) > 0.01], r[np.abs(r - 0.5) > 0.01]
    exact = x[:, 0] * np.where(r < 0.5, 3 / 12, 1 - 9 / 12 * 0.125 / r**3)
    # Triangles with edges of 0.08 leave 0.08^2/(8 0.5) = 1.6e-3 of the surface, 3e-3 of the radius.
    assert np.sqrt(np.mean((solution(x) - exact) ** 2)) <= 3e-3 * np.sqrt(np.mean(exact**2))


@pytest.mark.slow
def test_a_composite_has_the_tensor_of_the_square_array() -> None:
    """Six digits; the value is that of the series in tests/studies, checked there against a published one."""
    read, solution = solved("composite")
    (found,) = read.effective(solution).values()
    assert found.solutions[0] is solution and found.solutions[1] is not solution
    np.testing.assert_allclose(found.tensor, 1.48797010351 * np.eye(2), rtol=1e-7, atol=1e-7)
    assert not found.violated and found.asymmetry <= 1e-7
    assert value("composite", "heat across") == pytest.approx(1.48797010351, rel=1e-7)


def test_wells_are_reciprocal() -> None:
    """What feeding one well raises at a point is what feeding at the point would raise at the well."""
    read, _ = solved("wells")
    solution = read.solve(tol=1e-9)
    assert solution.mean().value == pytest.approx(20.0, rel=1e-8)
    assert abs(value("wells", "flow into the lens")) <= 1e-4 * 50.0
    problem = read.problem
    place = (-20.0, 30.0), (15.0, -25.0)
    sources = [jn.PointSource(place[0], 50.0), jn.PointSource(place[1], -50.0)]
    other = jn.solve(jn.Problem(problem.partition, problem.A, boundary=jn.Neumann(), sources=sources), tol=1e-8)
    wells = [source.x for source in problem.sources]
    raised = solution([place[0]])[0] - solution([place[1]])[0]
    assert other([wells[0]])[0] - other([wells[1]])[0] == pytest.approx(raised, rel=1e-5)
