"""Charts: their derivatives, what they do to functionals, and which of them a geometry gets.

Derivatives are compared with automatic differentiation of the formulas in the charts' docstrings; the automatic choice
with what is known of disks, balls, ellipses in anisotropic backgrounds and nested pieces.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jumpnet as jn
from jumpnet._precision import float64
from jumpnet.charts import Atlas, Box, Chart, Pole, Slit, Slots, chart_from_spec, choose_atlases
from jumpnet.rows import Sites

EPS = np.finfo(float).eps
# Some hundred operations per entry, measured against the largest entry.
ROUNDING = 1000 * EPS

T2 = np.array([[1.3, 0.2], [0.2, 0.8]])
T3 = np.array([[1.2, 0.3, 0.1], [0.3, 0.9, -0.2], [0.1, -0.2, 1.1]])
BOX = Box(np.array([[0.0, 0.0], [0.1, -0.3], [0.5, 0.5]]), np.array([[1.0, 1.0], [0.5, 0.25], [2.0, 3.0]]))
POLE = Pole((0, 2), np.array([0.1, -0.05]), T2, 0.3)
POLE3 = Pole((1,), np.array([0.1, -0.05, 0.02]), T3, 0.4)
SLIT = Slit((0, 1), np.array([0.05, 0.02]), T2, 0.2 + 0.1j, 0.6)
ROUND_SLIT = Slit((0, 1), np.array([0.05, 0.02]), T2, 0.0j, 0.6)
SLOTS = Slots((Pole((0,), np.zeros(2), np.eye(2), 0.3), Slit((2,), np.zeros(2), np.eye(2), 0.2j, 0.5)))
CHARTS: dict[str, Chart] = {
    "box": BOX,
    "pole": POLE,
    "pole in space": POLE3,
    "slit": SLIT,
    "slit of a disk": ROUND_SLIT,
    "slots": SLOTS,
}


def dimension(chart: Chart) -> int:
    return 3 if chart is POLE3 else 2


def plain(chart: Chart) -> Callable[[Any, Any], Any]:
    """y(x) at one point, in JAX, as the docstrings write it."""

    def y(x: Any, cell: Any) -> Any:
        if isinstance(chart, Box):
            return (x - jnp.asarray(chart.center)[cell]) / jnp.asarray(chart.halfwidth)[cell]
        if isinstance(chart, Slots):
            return sum(plain(part)(x, cell) for part in chart.charts)
        assert isinstance(chart, Pole | Slit)
        z = jnp.asarray(chart.transform) @ (x - jnp.asarray(chart.center))
        d = len(z)
        if isinstance(chart, Pole):
            found = chart.radius ** (d - 1) * z / jnp.sum(z * z) ** (d / 2)
        else:
            zeta, f = z[0] + 1j * z[1], chart.focus
            # The root with the cut between the foci: zeta sqrt(1 - f^2/zeta^2), right for |zeta| > |f|.
            w = chart.axes_sum / (zeta + zeta * jnp.sqrt(1 - f**2 / zeta**2))
            found = jnp.stack([w.real, w.imag])
        return jnp.where(jnp.isin(cell, jnp.array(chart.cells)), found, 0.0)

    return y


WAVES = np.linspace(0.3, 0.9, 6)


def composed(chart: Chart) -> Callable[[Any, Any], Any]:
    """v(x) = g(x, y(x)) with g = sin(k . (x, y)) + the sum of cubes."""

    def v(x: Any, cell: Any) -> Any:
        both = jnp.concatenate([x, plain(chart)(x, cell)])
        return jnp.sin(jnp.asarray(WAVES[: dimension(chart) + chart.outputs]) @ both) + jnp.sum(both**3)

    return v


@cache
def differentiated(name: str) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Points, cells, and there by automatic differentiation: (y, dy, d2y) and (v, dv, d2v)."""
    chart = CHARTS[name]
    x, cell = around(dimension(chart), 24), np.arange(24) % 3

    def jets(x: Any, cell: Any) -> Any:
        fs = plain(chart), composed(chart)
        return [(f(x, cell), jax.jacfwd(f)(x, cell), jax.jacfwd(jax.jacfwd(f))(x, cell)) for f in fs]

    with float64():
        # Unoptimised: compiling is what costs here, not running.
        compiled = jax.jit(jax.vmap(jets), compiler_options={"xla_backend_optimization_level": 0})
        of_y, of_v = jax.tree.map(np.asarray, compiled(jnp.asarray(x), jnp.asarray(cell)))
    return x, cell, of_y, of_v


def around(dim: int, n: int, low: float = 0.5, high: float = 1.4, seed: int = 0) -> np.ndarray:
    """Points in a shell about the origin."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, dim))
    return z / np.linalg.norm(z, axis=1, keepdims=True) * rng.uniform(low, high, (n, 1))


@pytest.mark.parametrize("name", CHARTS)
def test_derivatives_against_automatic_differentiation(name: str) -> None:
    x, cell, expected, _ = differentiated(name)
    for ours, theirs in zip(CHARTS[name].jet(x, cell), expected, strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=ROUNDING * max(1.0, np.abs(theirs).max()))


@pytest.mark.parametrize("name", ["pole", "pole in space", "slit", "slots"])
def test_zero_in_other_cells_even_at_the_pole_itself(name: str) -> None:
    chart = CHARTS[name]
    own = {c for part in getattr(chart, "charts", (chart,)) for c in part.cells}
    other = next(c for c in range(3) if c not in own)
    at = chart.charts[0].center if isinstance(chart, Slots) else chart.center  # type: ignore[attr-defined]
    for part in Atlas((chart,)).jet(at[None], np.array([other])):
        assert (part == 0).all()


@pytest.mark.parametrize("name", CHARTS)
def test_pushed_forward_functionals_against_direct_evaluation(name: str) -> None:
    """a0 v + a1 . grad v + a2 : hess v of v(x) = g(x, y(x)), from the derivatives of g alone and of the composition."""
    chart = CHARTS[name]
    x, cell, _, (v, dv, d2v) = differentiated(name)
    d, n = dimension(chart), len(x)
    rng = np.random.default_rng(1)
    second = rng.standard_normal((n, d, d))
    sites = Sites(x, cell, rng.standard_normal(n), rng.standard_normal((n, d)), (second + second.swapaxes(1, 2)) / 2)

    def functional(s: Sites, *jet: np.ndarray) -> np.ndarray:
        return s.a0 * jet[0] + np.sum(s.a1 * jet[1], axis=1) + np.sum(s.a2 * jet[2], axis=(1, 2))

    pushed = Atlas((Box(np.zeros((3, d)), np.ones((3, d))), chart)).push(sites)
    y, k = np.asarray(pushed.x), WAVES[: d + chart.outputs]
    phase = y @ k
    g = np.sin(phase) + np.sum(y**3, axis=1)
    dg = np.cos(phase)[:, None] * k + 3 * y**2
    d2g = -np.sin(phase)[:, None, None] * np.outer(k, k) + 6 * y[:, :, None] * np.eye(y.shape[1])
    size = np.abs(pushed.a1).max() + np.abs(pushed.a2).max()
    np.testing.assert_allclose(
        functional(pushed, g, dg, d2g), functional(sites, v, dv, d2v), rtol=0, atol=10 * ROUNDING * size
    )


@pytest.mark.parametrize("name", CHARTS)
def test_spec_round_trip_is_bit_for_bit(name: str) -> None:
    import json

    chart = CHARTS[name]
    again = chart_from_spec(json.loads(json.dumps(chart.spec())))
    x, cell = around(dimension(chart), 9), np.arange(9) % 3
    for a, b in zip(chart.jet(x, cell), again.jet(x, cell), strict=True):
        assert np.array_equal(a, b)
    assert again.outputs == chart.outputs


def test_an_atlas_comes_back_from_its_spec() -> None:
    atlas = Atlas((BOX, POLE, SLIT, SLOTS))
    again = Atlas.from_spec(atlas.spec())
    assert again.inputs == atlas.inputs == 8
    assert again.spec() == atlas.spec()
    with pytest.raises(jn.SolutionError, match="upgrade"):
        chart_from_spec({"chart": "from the future"})


# --- what the coordinates are for ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["pole", "pole in space", "slit", "slit of a disk"])
def test_coordinates_solve_the_cells_own_equation(name: str) -> None:
    """T = A^(-1/2) up to a factor, so A ~ T^-2 (T symmetric): A : hess y_k = 0."""
    chart: Any = CHARTS[name]
    A = np.linalg.inv(chart.transform @ chart.transform)
    x = around(dimension(chart), 50)
    _, _, d2y = chart.jet(x, np.full(len(x), chart.cells[0]))
    residual = np.einsum("ij,nkij->nk", A, d2y)
    assert np.abs(residual).max() <= ROUNDING * np.abs(d2y).max() * np.abs(A).max()


def test_a_pole_is_a_unit_field_on_its_sphere() -> None:
    chart = Pole((0,), np.zeros(3), np.eye(3), 0.4)
    y = chart.jet(around(3, 20, 0.4, 0.4), np.zeros(20, int))[0]
    np.testing.assert_allclose(np.linalg.norm(y, axis=1), 1, rtol=20 * EPS)


def test_a_slit_has_length_one_on_its_ellipse_and_less_outside() -> None:
    a, b, angle = 0.5, 0.2, 0.7
    turn = np.exp(1j * angle)
    chart = Slit((0,), np.array([0.1, 0.2]), T2, turn * np.sqrt(a**2 - b**2), a + b)
    t = np.linspace(0, 2 * np.pi, 60, endpoint=False)

    def y(scale: float) -> np.ndarray:
        ellipse = turn * (scale * a * np.cos(t) + 1j * scale * b * np.sin(t))
        x = np.c_[ellipse.real, ellipse.imag] @ np.linalg.inv(T2).T + chart.center
        return np.linalg.norm(chart.jet(x, np.zeros(len(t), int))[0], axis=1)

    np.testing.assert_allclose(y(1.0), 1, rtol=100 * EPS)
    assert (y(1.1) < 1).all() and (y(3.0) < 0.6).all() and (y(0.95) > 1).all()


def test_a_slit_without_foci_is_a_pole() -> None:
    """(a + b)/(2 zeta) with a = b = R is R conj(zeta)/|zeta|^2: the plane pole, its second coordinate turned round."""
    x, cell = around(2, 30), np.zeros(30, int)
    pole = Pole((0,), np.zeros(2), T2, 0.3).jet(x, cell)
    slit = Slit((0,), np.zeros(2), T2, 0.0j, 0.6).jet(x, cell)
    flip = np.array([1.0, -1.0])
    for p, s in zip(pole, slit, strict=True):
        np.testing.assert_allclose(
            s, p * flip.reshape(1, 2, *[1] * (p.ndim - 2)), rtol=0, atol=ROUNDING * np.abs(p).max()
        )


@pytest.mark.parametrize("angle", [0.0, np.pi / 2, np.pi, -3 * np.pi / 4, 0.3, 2.0])
def test_a_slit_is_smooth_across_everything_but_the_focal_segment(angle: float) -> None:
    focus = 0.3 * np.exp(1j * angle)
    chart = Slit((0,), np.zeros(2), np.eye(2), focus, 0.7)
    h = 1e-7
    # Circles round the segment, through every direction; the line of the foci beyond them, crossed at right angles.
    t = np.linspace(0, 2 * np.pi, 400)
    along, across = focus / abs(focus), 1j * focus / abs(focus)
    beyond = np.r_[np.linspace(-2, -0.32, 40), np.linspace(0.32, 2, 40)]
    pairs = [(r * np.exp(1j * t), r * np.exp(1j * (t + h / r))) for r in (0.31, 0.5, 2.0)]
    pairs.append((along * beyond + across * h / 2, along * beyond - across * h / 2))
    pairs.append((across * beyond + along * h / 2, across * beyond - along * h / 2))
    for one, other in pairs:
        jets = [chart.jet(np.c_[z.real, z.imag], np.zeros(len(z), int)) for z in (one, other)]
        slope = max(np.abs(jets[0][1]).max(), 1.0)
        assert np.abs(jets[0][0] - jets[1][0]).max() <= 4 * slope * h
        assert np.abs(jets[0][1] - jets[1][1]).max() <= 4 * np.abs(jets[0][2]).max() * h
    inside = along * np.linspace(-0.25, 0.25, 11)
    sides = [chart.jet(np.c_[z.real, z.imag], np.zeros(11, int))[0] for z in (inside + across * h, inside - across * h)]
    assert (np.linalg.norm(sides[0] - sides[1], axis=1) > 0.1).all(), "the cut lies between the foci"


@pytest.mark.parametrize("zero", [0.0, -0.0])
@pytest.mark.parametrize("focus", [0.3 + 0j, -0.3 + 0j, 0.3j, -0.3j])
def test_a_slit_is_right_on_the_very_line_of_its_foci(focus: complex, zero: float) -> None:
    """Where both square roots stand on their cuts, the sign of a zero must not decide."""
    chart = Slit((0,), np.zeros(2), np.eye(2), focus, 0.7)
    s = np.array([-1.5, -0.5, 0.5, 1.5])
    z = np.stack([s, np.full(4, zero)], axis=1) if focus.real else np.stack([np.full(4, zero), s], axis=1)
    on, beside = (chart.jet(at, np.zeros(4, int)) for at in (z, z + 1e-9 * (z == 0)))
    for a, b in zip(on, beside, strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


# --- the automatic choice --------------------------------------------------------------------------------------------


def tensor_of(problem: jn.Problem) -> Callable[[int, np.ndarray], np.ndarray]:
    return lambda piece, x: problem.A[piece].value(x)


def fullest(charts: Any, parts: jn.Partition, tensor: Any = None) -> Atlas:
    """The last of the atlases to choose from: that with the charts of holes."""
    return choose_atlases(charts, parts, tensor)[-1]


def automatic(pieces: list, A: Any = 1.0, domain: Any = None) -> tuple[jn.Partition, Atlas]:
    domain = jn.Box((-1, -1), (1, 1)) if domain is None else domain
    parts = jn.Partition(domain, pieces)
    return parts, fullest("auto", parts, tensor_of(jn.Problem(parts, A=A)))


def test_a_disk_gets_a_round_slit_about_its_centre() -> None:
    _, atlas = automatic([jn.Disk((0.2, -0.1), 0.3)])
    box, slit = atlas.charts
    assert isinstance(box, Box) and isinstance(slit, Slit)
    assert slit.cells == (0,)
    # The fit is algebraically exact for disks; the boundary points are exact to rounding.
    np.testing.assert_allclose(slit.center, (0.2, -0.1), atol=1e-9)
    assert abs(slit.focus) < 0.05 * 0.3
    assert slit.axes_sum == pytest.approx(0.6, abs=1e-9)


def test_an_off_centre_ball_gets_one_pole_about_its_centre() -> None:
    _, atlas = automatic([jn.Ball((0.3, -0.2, 0.1), 0.35)], domain=jn.Box((-1, -1, -1), (1, 1, 1)))
    _, pole = atlas.charts
    assert isinstance(pole, Pole) and pole.cells == (0,)
    np.testing.assert_allclose(pole.center, (0.3, -0.2, 0.1), atol=1e-9)
    np.testing.assert_allclose(pole.transform, np.eye(3), atol=100 * EPS)
    assert pole.radius == pytest.approx(0.35, abs=1e-9)


@pytest.mark.parametrize("background", [(1.0, 1.0), (4.0, 1.0), (1.0, 9.0)])
def test_an_ellipse_in_an_anisotropic_background_gets_the_foci_of_its_image(background: tuple[float, float]) -> None:
    """In the coordinates z = T x that make A isotropic the ellipse is another ellipse: those foci count."""
    axes, angle, center = (0.5, 0.25), np.pi / 6, np.array([0.1, -0.15])
    _, atlas = automatic([jn.Ellipse(tuple(center), axes, angle)], A=[np.diag(background), 10.0])
    slit = atlas.charts[1]
    assert isinstance(slit, Slit)
    T = np.diag(1 / np.sqrt(background)) * np.prod(background) ** 0.25
    np.testing.assert_allclose(slit.transform, T, atol=100 * EPS)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    lengths, directions = np.linalg.eigh(T @ turn @ np.diag(np.square(axes)) @ turn.T @ T)
    focus = np.sqrt(lengths[1] - lengths[0]) * complex(*directions[:, 1])
    np.testing.assert_allclose(slit.center, center, atol=1e-8)
    assert min(abs(slit.focus - focus), abs(slit.focus + focus)) < 1e-7
    assert slit.axes_sum == pytest.approx(np.sqrt(lengths).sum(), abs=1e-8)
    t = np.linspace(0, 2 * np.pi, 20)
    x = center + (np.c_[axes[0] * np.cos(t), axes[1] * np.sin(t)]) @ turn.T
    np.testing.assert_allclose(np.linalg.norm(slit.jet(x, np.zeros(20, int))[0], axis=1), 1, atol=1e-6)


def test_an_elongated_ellipsoid_gets_several_poles_on_its_long_axis() -> None:
    _, atlas = automatic([jn.Ellipsoid((0, 0, 0), (0.8, 0.3, 0.3))], domain=jn.Box((-1, -1, -1), (1, 1, 1)))
    poles = atlas.charts[1:]
    assert len(poles) >= 3 and all(isinstance(pole, Pole) for pole in poles)
    centers = np.array([pole.center for pole in poles if isinstance(pole, Pole)])
    np.testing.assert_allclose(centers[:, 1:], 0, atol=1e-6)
    assert np.abs(centers[:, 0]).max() < np.sqrt(0.8**2 - 0.3**2)


def test_nested_pieces_each_get_the_charts_of_their_own_holes() -> None:
    """A disk in a ring in a square: the square sees the ring's outline, the ring the disk."""
    core = jn.Disk((0.1, 0.0), 0.2)
    ring = jn.Disk((0.0, 0.0), 0.6) - core
    _, atlas = automatic([ring, core], A=[1.0, 10.0, 100.0])
    slits = [chart for chart in atlas.charts[1:] if isinstance(chart, Slit)]
    assert [slit.cells for slit in slits] == [(0,), (1,)]
    np.testing.assert_allclose(slits[0].center, (0, 0), atol=1e-8)
    np.testing.assert_allclose(slits[1].center, (0.1, 0), atol=1e-8)
    assert slits[0].axes_sum == pytest.approx(1.2, abs=1e-8)
    assert slits[1].axes_sum == pytest.approx(0.4, abs=1e-8)


def test_charts_are_finite_in_their_own_cells() -> None:
    parts, atlas = automatic([jn.Star((0.3, 0.3), "0.3 + 0.1*cos(3*theta)"), jn.Ellipse((-0.4, -0.4), (0.4, 0.1), 1.0)])
    x, cell = parts.sample_interior(500, seed=0)
    assert all(np.isfinite(part).all() for part in atlas.jet(x, cell))
    assert atlas.inputs == 2 + 2 * 2
    # The chart about a hole stays of the size of the box's coordinates outside it.
    assert np.abs(atlas.jet(x, cell)[0]).max() < 10


@pytest.mark.parametrize(
    "pieces",
    [
        [jn.HalfSpace((0, 1), 0.1)],
        [jn.Box((-1, -1), (0, 1))],
        [jn.Box((-1, -0.2), (1, 0.3)), jn.Box((-1, 0.3), (1, 1))],
    ],
    ids=["half-plane", "half a box", "layers"],
)
def test_layers_have_no_holes_and_get_the_box_alone(pieces: list) -> None:
    parts, atlas = automatic(pieces)
    assert all(parts.holes(piece) == () for piece in range(parts.size))
    assert len(atlas.charts) == 1 and atlas.inputs == 2


def test_no_poles_in_one_dimension_or_for_approximation() -> None:
    chain = jn.Partition.chain([0, 1, 2, 3])
    assert fullest("auto", chain, tensor_of(jn.Problem(chain))).inputs == 1
    disk = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.3)])
    assert fullest("auto", disk).inputs == 2


def test_many_pieces_are_seen_in_their_own_boxes() -> None:
    ends = np.linspace(0, 2, 11)
    chain = jn.Partition.chain(ends)
    (box,) = fullest("auto", chain, tensor_of(jn.Problem(chain))).charts
    assert isinstance(box, Box)
    np.testing.assert_allclose(box.center[:, 0], (ends[1:] + ends[:-1]) / 2, atol=1e-2)
    np.testing.assert_allclose(box.halfwidth[:, 0], 0.1, rtol=0.05)


def test_beyond_four_holes_cells_share_inputs() -> None:
    """Five rings with a core each: the background has five holes, each ring one; inputs do not grow to ten charts."""
    rings, cores = [], []
    for x, y in ((-0.6, -0.6), (-0.6, 0.6), (0.6, -0.6), (0.6, 0.6), (0.0, 0.0)):
        cores.append(jn.Disk((x, y), 0.1))
        rings.append(jn.Disk((x, y), 0.25) - cores[-1])
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [*rings, *cores])
    atlas = fullest("auto", parts, tensor_of(jn.Problem(parts)))
    assert atlas.inputs == 2 + 5 * 2
    x, cell = parts.sample_interior(400, seed=0)
    y = atlas.jet(x, cell)[0]
    ring = (cell >= 1) & (cell <= 5)
    assert (np.abs(y[ring][:, 2:4]) > 0).all() and (y[ring][:, 4:] == 0).all()
    assert (y[cell > 5][:, 2:] == 0).all()


def test_where_there_are_holes_the_box_alone_is_offered_too() -> None:
    """A manufactured solution has no singularities in its holes: a short training decides."""
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Disk((0, 0), 0.3)])
    atlases = choose_atlases("auto", parts, tensor_of(jn.Problem(parts)))
    assert [atlas.inputs for atlas in atlases] == [2, 4]
    assert [len(choose_atlases(name, parts)) for name in ("auto", "paper", "box", "local")] == [1, 1, 1, 1]


def test_charts_by_name_and_by_list() -> None:
    parts = jn.Partition(jn.Box((-1, -2), (3, 2)), [jn.Disk((0, 0), 0.5)])
    x, cell = parts.sample_interior(50, seed=0)
    assert np.array_equal(fullest("paper", parts).jet(x, cell)[0], x)
    boxed = fullest("box", parts).jet(x, cell)[0]
    np.testing.assert_allclose(boxed, (x - (1, 0)) / (2, 2), rtol=0, atol=4 * EPS)
    local = fullest("local", parts).jet(x, cell)[0]
    np.testing.assert_allclose(local[cell == 1], x[cell == 1] / 0.5, rtol=0, atol=0.05)
    given = fullest([Pole((0,), np.zeros(2), np.eye(2), 0.5)], parts)
    assert given.inputs == 4
    with pytest.raises(jn.ModelError, match="auto"):
        fullest("polar", parts)  # type: ignore[arg-type]


def test_values_alone_are_those_of_the_jet():
    from jumpnet.charts.atlas import Atlas, Slots
    from jumpnet.charts.chart import Affine, Box, Pole, Slit

    rng = np.random.default_rng(3)
    x, cell = rng.uniform(-1, 1, (50, 2)), rng.integers(0, 3, 50).astype(np.int32)
    turn = np.array([[1.2, 0.3], [0.0, 0.8]])
    charts = (
        Box(np.zeros((3, 2)), np.full((3, 2), 2.0)),
        Affine((0, 1, 2), np.array([0.1, 0.2]), turn, 1.5),
        Pole((0,), np.array([2.0, 0.0]), turn, 0.4),
        Slit((0, 1), np.array([0.0, 2.5]), turn, 0.3 + 0.2j, 0.7),
        Slots((Slit((1,), np.array([0.0, 2.5]), turn, 0.0, 0.7), Pole((2,), np.array([2.0, 2.0]), turn, 0.4))),
    )
    np.testing.assert_allclose(Atlas(charts).values(x, cell), Atlas(charts).jet(x, cell, 1)[0], rtol=1e-13, atol=1e-13)
