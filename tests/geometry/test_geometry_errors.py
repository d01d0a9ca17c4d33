"""Every mistake gives one sentence that says what to do."""

import re

import numpy as np
import pytest
from geometry_cases import SQUARE

from jumpnet.errors import GeometryError, JumpnetError
from jumpnet.geometry import (
    Ball,
    Box,
    Curve,
    Disk,
    Ellipse,
    Ellipsoid,
    HalfSpace,
    Interval,
    LevelSet,
    Partition,
    Polygon,
    Star,
    Superquadric,
    shape_from_spec,
)

ONE = Partition(SQUARE, [Disk((0, 0), 0.5)])

WRONG = {
    "negative radius": (lambda: Disk((0, 0), -0.5), "radius .* must be positive, not -0.5"),
    "radius text": (lambda: Disk((0, 0), "big"), "radius .* must be a number, not 'big'"),
    "nan radius": (lambda: Disk((0, 0), np.nan), "finite number"),
    "nan centre": (lambda: Ball((0, np.nan, 0), 1), "finite numbers"),
    "centre text": (lambda: Disk("here", 1), "list of numbers"),
    "centre matrix": (lambda: Disk([[0, 0]], 1), "one per dimension"),
    "interval": (lambda: Interval(1, 0), "its start must lie below its end"),
    "box": (lambda: Box((0, 1), (1, 0)), "from 1 to 0 in x2; the lower corner must lie below"),
    "box corners": (lambda: Box((0, 0), (1, 1, 1)), "2 and 3 coordinates"),
    "axes": (lambda: Ellipse((0, 0), (1, -1)), "half-axes .* must be positive"),
    "axes count": (lambda: Ellipsoid((0, 0, 0), (1, 1)), "3 numbers"),
    "ellipse 3d": (lambda: Ellipse((0, 0, 0), (1, 1, 1)), "use Ellipsoid"),
    "rotation": (lambda: Ellipsoid((0, 0), (1, 2), ((1, 1), (0, 1))), "orthogonal 2 x 2"),
    "power": (lambda: Superquadric((0, 0), 1, 0.5), "between 1 and 1000"),
    "half-space": (lambda: HalfSpace((0, 0), 1), "normal of a HalfSpace is zero"),
    "half-space patches": (lambda: HalfSpace((1, 0), 1).patches(), "has no end"),
    "star negative": (lambda: Star((0, 0), "0.1 - cos(theta)"), "must be positive, but it is -0.9"),
    "star open": (lambda: Star((0, 0), "1 + 0.1*theta"), "same at theta = -pi and pi"),
    "star name": (lambda: Star((0, 0), "0.3 + t"), "theta"),
    "star centre": (lambda: Star((0, 0, 0), "0.3"), "2 numbers"),
    "curve open": (lambda: Curve("t", "sin(t)"), "must be closed"),
    "curve eight": (lambda: Curve("sin(t)", "sin(2*t)"), "without crossing itself"),
    "curve flat": (lambda: Curve("cos(t)", "cos(t)"), "enclose a region"),
    "curve half": (lambda: Curve("cos(t)"), "two formulas"),
    "level-set dim": (lambda: LevelSet("x1 - x2"), "give dim=2 or bounds"),
    "level-set both": (lambda: LevelSet("x1", bounds=((0, 0), (1, 1)), dim=3), "dim=3 and bounds in 2"),
    "level-set number": (lambda: LevelSet(3, dim=2), "formula or a callable"),
    "level-set formula": (lambda: LevelSet("x1 + foo", dim=2), "foo"),
    "level-set bounds": (lambda: LevelSet("x1", bounds=3), "pair"),
    "level-set patches": (lambda: LevelSet("x1", dim=2).patches(), "give bounds"),
    "operator": (lambda: Disk((0, 0), 1) | 3, "combines two shapes"),
    "operator dims": (lambda: Disk((0, 0), 1) | Ball((0, 0, 0), 1), "2 and 3 dimensions"),
    "spec": (lambda: shape_from_spec({"shape": "blob"}), "the known shapes are interval"),
    "spec entry": (lambda: shape_from_spec({"shape": "ball", "size": 1}), "does not fit"),
    "partition spec": (lambda: Partition.from_spec({"domain": {}}), "domain and pieces"),
    "domain": (lambda: Partition("square", []), "domain must be a shape"),
    "pieces": (lambda: Partition(SQUARE, 3), "list of shapes, not int"),
    "piece": (lambda: Partition(SQUARE, [3]), "piece 1 must be a shape"),
    "dims": (lambda: Partition(SQUARE, [Ball((0, 0, 0), 0.1)]), "3 dimensions and the domain 2"),
    "endless": (lambda: Partition(HalfSpace((1, 0), 0), []), "no end"),
    "outside": (lambda: Partition(SQUARE, [Disk((3, 0), 0.5)]), "piece 1 lies outside"),
    "leaves": (lambda: Partition(SQUARE, [Disk((0.8, 0), 0.5)]), "leaves the domain at .* `piece & domain`"),
    "leaves a little": (lambda: Partition(SQUARE, [Disk((0.5, 0), 0.501)]), "piece 1 leaves the domain"),
    "leaves superellipse": (lambda: Partition(Superquadric(), [Disk((0.7, 0.7), 0.2)]), "leaves the domain"),
    "overlap": (
        lambda: Partition(SQUARE, [Disk((0, 0), 0.4), Disk((0.9, 0), 0.05), Disk((0.3, 0), 0.3)]),
        r"pieces 1 and 3 overlap at \d+ of \d+ probe points, e.g. x = \(.*\); .* `a - b`",
    ),
    "small overlap": (lambda: Partition(SQUARE, [Disk((-0.4, 0), 0.41), Disk((0.4, 0), 0.4)]), "1 and 2 overlap"),
    "nested": (lambda: Partition(SQUARE, [Disk((0, 0), 0.5), Disk((0, 0), 0.01)]), "pieces 1 and 2 overlap"),
    "twice": (lambda: Partition(SQUARE, [Disk((0, 0), 0.5), Disk((0, 0), 0.5)]), "pieces 1 and 2 overlap"),
    "half-spaces": (lambda: Partition(SQUARE, [HalfSpace((1, 0), 0), HalfSpace((0, 1), 0)]), "overlap"),
    "empty": (lambda: Partition(SQUARE, [LevelSet("x1**2 + 1", dim=2)]), "piece 1 is empty inside the domain"),
    "empty cut": (lambda: Partition(SQUARE, [Disk((-0.5, 0), 0.2) & Disk((0.5, 0), 0.2)]), "do not meet"),
    "empty difference": (lambda: Partition(SQUARE, [Disk((0, 0), 0.2) - Disk((0, 0), 0.3)]), "piece 1 is empty"),
    "empty half-space": (lambda: Partition(SQUARE, [HalfSpace((1, 0), -2)]), "piece 1"),
    "empty domain": (lambda: Partition(LevelSet("1 + x1**2", bounds=((0, 0), (1, 1))), []), "domain is empty"),
    "domain cut": (
        lambda: Partition(LevelSet("x1", bounds=((-1, -1), (1, 1))), []),
        "the domain goes on beyond its bounds",
    ),
    "bounds cut": (
        lambda: Partition(SQUARE, [LevelSet("x1", bounds=((-0.5, -0.5), (0.5, 0.5)))]),
        "piece 1 goes on beyond its bounds",
    ),
    "full": (lambda: Partition(SQUARE, [SQUARE]), "leave nothing for piece 0"),
    "full halves": (lambda: Partition(SQUARE, [HalfSpace((1, 0), 0), HalfSpace((-1, 0), 0)]), "leave nothing"),
    "names": (lambda: Partition(SQUARE, [Disk((0, 0), 0.5)], names=["a"]), "2 non-empty texts"),
    "same names": (lambda: Partition(SQUARE, [Disk((0, 0), 0.5)], names=["a", "a"]), "differ"),
    "chain order": (lambda: Partition.chain([0, 2, 1]), "rising"),
    "chain short": (lambda: Partition.chain([0]), "at least two"),
    "intervals overlap": (lambda: Partition(Interval(0, 1), [Interval(0.1, 0.5), Interval(0.4, 0.6)]), "1 and 2"),
    "interval outside": (lambda: Partition(Interval(0, 1), [Interval(0.5, 1.5)]), "leaves the domain"),
    "intervals full": (lambda: Partition(Interval(0, 1), [Interval(0, 0.5), Interval(0.5, 1)]), "leave nothing"),
    "points": (lambda: ONE.label([0.0, 0.0]), r"shape \(n, 2\), not \(2,\)"),
    "points text": (lambda: ONE.label("x"), "array of numbers"),
    "pair": (lambda: ONE.sample_interface((0, 2), 5, seed=0), r"do not touch; the interfaces are \(0, 1\)"),
    "pair kind": (lambda: ONE.sample_interface(1, 5, seed=0), "pair of pieces"),
    "part": (lambda: ONE.sample_boundary(5, seed=0, part="north"), "parts are x1-, x1.*left, right, bottom, top"),
    "n": (lambda: ONE.sample_interior(-1, seed=0), "n must be a whole number"),
    "n float": (lambda: ONE.sample_boundary(1.5, seed=0), "n must be a whole number"),
    "minimum": (lambda: ONE.sample_interior(10, seed=0, minimum=6), "10 points cannot give each of 2 pieces 6"),
    "method": (lambda: ONE.sample_interior(10, seed=0, method="halton"), '"random", "sobol" or "even"'),
    "seed none": (lambda: ONE.sample_interior(10, seed=None), "seed must be a whole number"),
    "seed negative": (lambda: ONE.sample_interior(10, seed=-1), "seed must be a whole number"),
    "seed float": (lambda: ONE.sample_interior(10, seed=0.5), "seed must be a whole number"),
    "measure": (lambda: ONE.measure(2), "no piece 2; the pieces are 0 to 1"),
    "holes": (lambda: ONE.holes(-1), "no piece -1"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_gives_one_sentence(name):
    make, message = WRONG[name]
    with pytest.raises(JumpnetError) as caught:
        make()
    text = str(caught.value)
    assert re.search(message, text), text
    assert "\n" not in text and text.endswith(".") and len(text) < 300


def test_geometry_mistakes_are_geometry_errors():
    with pytest.raises(GeometryError):
        Disk((0, 0), 0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scale", [1e300, 1e120, 1e-120, 1e-300])
@pytest.mark.parametrize(
    "make",
    [
        lambda s: Partition(Box((-s, -s), (s, s)), [LevelSet("x1", dim=2)]),
        lambda s: Partition(Box((-s, -s, -s), (s, s, s)), [Ball((0, 0, 0), s / 2)]),
        lambda s: Partition(Interval(0, s), [Interval(0, s / 2)]),
        lambda s: Partition(Polygon([(0, 0), (s, 0), (0, s)])),
        lambda s: Partition(Ellipsoid((0, 0, 0), (s, 1, 1))),
        lambda s: Partition(Star((0, 0), f"{s}")),
        lambda s: Partition(SQUARE, [Disk((0, 0), s)]),
    ],
)
def test_sizes_whose_squares_overflow_are_refused(make, scale):
    with pytest.raises(GeometryError, match=r"lengths or coordinates such as .*: choose another unit of length"):
        make(scale)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Partition(SQUARE, [Disk((-0.5, 0), 0.5), Disk((0.5, 0), 0.5)]),  # touching in a point
        lambda: Partition(SQUARE, [Disk((0, 0), 1)]),  # touching the boundary
        lambda: Partition(SQUARE, [Box((-1, -1), (0, 1))]),
        lambda: Partition(Disk((0, 0), 1), [Disk((0, 0), 1) & HalfSpace((1, 0), 0)]),
        lambda: Partition(SQUARE, [LevelSet("x1 - 0.1*sin(9*x2)", dim=2)]),
        lambda: Partition(SQUARE),
        lambda: Partition(Interval(0, 1), [Interval(0, 0.5)]),
        lambda: Partition(LevelSet("x1**2 + x2**2 - 1", bounds=((-1, -1), (1, 1))), [Disk((0, 0), 0.3)]),
    ],
)
def test_what_is_allowed(make):
    parts = make()
    assert parts.label(parts.sample_interior(50, seed=0)[0]).min() >= 0
