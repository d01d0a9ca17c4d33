"""How much is measured: sizes and repetitions of a full and of a quick run."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Plan:
    """Sizes and repetitions.

    Medians are taken over `repeats` calls of a kernel, `solves` calls of a solver and `seeds` trainings: how many steps
    a training takes is a matter of luck, and three seeds are too few (on pde5 their median was 371 steps in one version
    and 882 in the next).
    """

    problems: tuple[str, ...] = ("pde2", "pde4", "pde5")
    repeats: int = 15
    seeds: int = 10
    solves: int = 3
    peer_steps: int = 600  # of the afternoon's training, which may never arrive
    peer_seconds: float = 300.0  # of steps for each of its seeds
    dense_pieces: int = 100
    dense_repeats: int = 1
    pieces: tuple[int, ...] = (25, 50, 100, 200, 400)
    pieces_repeats: int = 5
    pieces_seconds: float = 300.0  # for one number of pieces; when it is not enough, larger ones are left out
    neurons: tuple[int, ...] = (25, 50, 100, 200)
    point_factors: tuple[int, ...] = (1, 2, 4, 8)
    dimensions: tuple[int, ...] = (2, 3, 4, 6, 8)
    finite_elements: tuple[tuple[str, str, str], ...] = (  # problem, way, orders
        ("pde2", "expert", "3,4,5,6,8"),
        ("pde2", "ordinary", "3,4,5,6,8"),
        ("pde4", "expert", "4,6,7,8,10"),
        ("pde4", "ordinary", "4,6,8"),
        ("pde5", "expert", "3,4,5"),
    )
    tolerances: str = "1e-4,1e-6,1e-8"  # of the Trefftz engine
    evaluated: int = 1_000_000  # points at which a solution is looked at
    starts: int = 3  # of the command, with and without a cache


# What the documentation reports.
FULL = Plan()
# A short run that shows that everything works; its numbers mean little.
QUICK = Plan(
    problems=("pde2", "pde4"),
    repeats=7,
    seeds=1,
    solves=1,
    peer_steps=300,
    peer_seconds=20.0,
    dense_pieces=50,
    pieces=(25, 50, 100),
    pieces_repeats=3,
    pieces_seconds=20.0,
    neurons=(25, 50, 100),
    point_factors=(1, 2, 4),
    dimensions=(2, 3, 4),
    finite_elements=(("pde2", "expert", "4,5,6"), ("pde2", "ordinary", "5,6"), ("pde4", "expert", "6,7,8")),
    evaluated=100_000,
    starts=1,
)
