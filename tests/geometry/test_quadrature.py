"""Integrals over pieces, interfaces and boundaries against closed forms and the divergence theorem."""

import numpy as np
import pytest

import jumpnet as jn
from jumpnet.geometry.quadrature.integrals import over_boundary, over_interface, over_piece
from jumpnet.geometry.quadrature.rules import total

SQUARE = jn.Box((-1, -1), (1, 1))
PARTITIONS = {
    "disk": jn.Partition(SQUARE, [jn.Disk((0.2, 0.1), 0.4)]),
    "nested": jn.Partition(SQUARE, [jn.Disk((0, 0), 0.6) - jn.Disk((0, 0), 0.4), jn.Disk((0, 0), 0.4)]),
    "star": jn.Partition(jn.Superellipse(), [jn.Star((0.1, 0), "0.5 - 0.2*sin(4*theta)")]),
    "boxes": jn.Partition(SQUARE, [jn.Box((0, 0), (1, 1)), jn.Box((-1, 0), (0, 1)), jn.Box((-1, -1), (0, 0))]),
    "half": jn.Partition(SQUARE, [jn.HalfSpace((0.3, 1), 0.2)]),
    "level": jn.Partition(SQUARE, [jn.LevelSet("x1**2 + 2*x2**2 - 0.25", dim=2)]),
    "ellipse": jn.Partition(SQUARE, [jn.Ellipse((0, 0), (0.5, 0.2), 0.3)]),
    "chain": jn.Partition.chain([0, 0.3, 0.5, 1]),
}


def one(x: np.ndarray, normals: np.ndarray) -> np.ndarray:
    return np.ones(len(x))


@pytest.mark.parametrize("name", PARTITIONS)
def test_the_divergence_theorem(name: str) -> None:
    """The flux of x |x|^2 out of a piece is the integral of (d + 2) |x|^2 in it (1e-8: ends of curves)."""
    parts = PARTITIONS[name]

    def field(x: np.ndarray, n: np.ndarray) -> np.ndarray:
        return np.sum(x * n, axis=1) * np.sum(x * x, axis=1)

    for piece in range(parts.size):
        out = total(over_boundary(parts, piece=piece), field)
        for interface in parts.interfaces:
            if piece in interface.pair:
                sign = -1.0 if piece == interface.pair[0] else 1.0
                out = out + total(over_interface(parts, interface.pair), field).scaled(sign)
        inside = over_piece(parts, piece)(lambda x, n: (parts.dim + 2) * np.sum(x * x, axis=1))
        assert abs(out.value - inside.value) <= 2e-8 and out.error + inside.error <= 3e-8


@pytest.mark.parametrize(
    "name, areas, length",
    [
        ("disk", {0: 4 - 0.16 * np.pi, 1: 0.16 * np.pi}, 0.8 * np.pi),
        ("nested", {1: 0.2 * np.pi, 2: 0.16 * np.pi}, 1.2 * np.pi),
        ("level", {1: 0.25 / np.sqrt(2) * np.pi}, None),
    ],
)
def test_areas_and_lengths(name: str, areas: dict[int, float], length: float | None) -> None:
    parts = PARTITIONS[name]
    for piece, area in areas.items():
        assert over_piece(parts, piece)(one).value == pytest.approx(area, rel=1e-10)
    if length is not None:
        assert total(over_interface(parts, (0, 1)), one).value == pytest.approx(length, rel=1e-12)


def test_what_pokes_through_the_edge_of_a_cell_is_seen() -> None:
    star = jn.Star((0.4, 0.4), "0.35 - 0.2*sin(4*theta)")
    assert over_piece(jn.Partition(jn.Box((-1, -1), (2, 2)), [star]), 1)(one).value == pytest.approx(
        star.volume, rel=1e-11
    )


def test_a_ball_in_space_and_what_is_around_it() -> None:
    parts = jn.Partition(jn.Box((-1, -1, -1), (1, 1, 1)), [jn.Ball((0.2, 0.1, 0), 0.4)])
    volume = 4 / 3 * np.pi * 0.4**3
    assert over_piece(parts, 1)(one).value == pytest.approx(volume, rel=1e-12)
    assert total(over_interface(parts, (0, 1)), one).value == pytest.approx(4 * np.pi * 0.16, rel=1e-12)
    around = over_piece(parts, 0)(one)
    assert abs(around.value - (8 - volume)) <= 2 * around.error and around.error < 2e-3


def test_a_face_that_is_cut() -> None:
    parts = jn.Partition(
        jn.Box((-1, -1, -1), (1, 1, 1)), [jn.Ellipsoid((0, 0, 0), (0.5, 0.4, 0.3)), jn.Box((-1, -1, 0.5), (0, 1, 1))]
    )
    assert total(over_boundary(parts, "x3+", piece=2), one).value == pytest.approx(2.0, rel=1e-8)
    assert total(over_interface(parts, (0, 2)), one).value == pytest.approx(2 * 1.0 + 2 * 0.5, rel=1e-8)


@pytest.mark.parametrize("power", [0.3, 0.5, 0.7])
def test_singular_fluxes_at_a_corner_of_a_piece_are_known_as_well_as_they_say(power: float) -> None:
    """r^(a - 1) along two sides of a square, over a whole closed curve."""
    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    parts = jn.Partition(jn.Box((-1, -1), (1, 1)), [jn.Polygon(corners.tolist())])

    def density(x, normals):  # type: ignore[no-untyped-def]
        return np.where(np.abs(x - 0.5).min(axis=1) < 1e-12, np.linalg.norm(x - 0.5, axis=1) ** (power - 1), 0.0)

    found = total(over_interface(parts, (0, 1)), density)
    error = abs(found.value - 2 / power)
    assert error < 3e-3
    assert error < found.error
